package yield

import (
	"bytes"
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// Bounds of a template's shape.
const (
	maxDirs    = 24 // different names in one place of a path before any name there means the same
	maxValues  = 8  // different words as a parameter's value, likewise
	maxViews   = 16 // names in the first place where there are several: what a program shows of one thing
	maxBeside  = 12 // names behind a number: what stands beside things, likewise
	maxOrdered = 12 // segments of which the order counts
	maxSlugged = 16 // templates below a first segment in which any words stand beside numbers
	commonFrom = 4  // places where a name stands that is no thing's
	maxRun     = 3  // equal segments in a row that count
	maxPattern = 160
)

// class is what a segment or a value looks like.
type class uint8

const (
	word   class = iota // no digit
	mixed               // letters and numbers: page-17.html
	number              // digits only
	opaque              // random to the eye: a session, a hash, a long number
)

// classify says what a segment or a value looks like.
func classify(s string) class {
	if len(s) > 4 && s[0] == '(' && s[2] == '(' {
		s = s[3:] // (S(1f3a9c0d)), as ASP.NET writes sessions into paths: the letter says of what kind it is
	}
	digits, turns, hex, other := 0, 0, true, false
	last := byte(0)
	for i := 0; i < len(s); i++ {
		c := s[i]
		kind := byte('a')
		switch {
		case c == '%':
			hex, other = false, true
			kind = '.'
			i += 2 // what is encoded is not a number
		case c >= '0' && c <= '9':
			digits++
			kind = '0'
		case c|0x20 >= 'a' && c|0x20 <= 'f':
		case c|0x20 > 'f' && c|0x20 <= 'z':
			hex = false
		case c == '-' || c == '(' || c == ')':
			continue // between the groups of a UUID, and around a session
		default:
			hex, other = false, true
			kind = '.'
		}
		if last != 0 && kind != last {
			turns++
		}
		last = kind
	}
	switch {
	case digits == 0:
		return word
	case digits == len(s) && digits < 9:
		return number
	case digits == len(s), hex && len(s) >= 8 && turns > 0 && !strings.Contains(s, "--") && (turns > 2 || strings.Count(s, "-") != 1), !other && len(s) >= 8 && turns >= 3:
		return opaque
	}
	return mixed
}

// appendClass writes what is the same in segments that differ in their numbers only.
func appendClass(b []byte, s string, c class) []byte {
	switch c {
	case word:
		return append(b, s...)
	case number:
		return append(b, '#')
	case opaque:
		return append(b, '*')
	}
	s, _ = maskTokens(s)
	for i := 0; i < len(s); i++ {
		if s[i] == '%' && i+2 < len(s) {
			b = append(b, s[i:i+3]...)
			i += 2
		} else if s[i] < '0' || s[i] > '9' {
			b = append(b, s[i])
		} else if n := len(b); n == 0 || b[n-1] != '#' {
			b = append(b, '#')
		}
	}
	return b
}

// tokenMarks stand between the tokens of a segment, one of which may be a session: 5.1f3a9c0d.html, 5&sid=1f3a9c0d.
const tokenMarks = ".,&~=_:!@^|$+"

// maskTokens puts a star for each token of a segment that looks random; ok says that there is one, and something besides.
func maskTokens(s string) (masked string, ok bool) {
	const least = 8 // bytes of a token
	if len(s) <= least || !strings.ContainsAny(s, tokenMarks) {
		return s, false
	}
	name := s[:len(s)-len(extension(s))]
	if !strings.ContainsAny(name, tokenMarks) {
		return s, false
	}
	var b strings.Builder
	for from := 0; from <= len(name); {
		to := len(name)
		if i := strings.IndexAny(name[from:], tokenMarks); i >= 0 {
			to = from + i
		}
		if token := name[from:to]; len(token) >= least && randomToken(token) {
			ok = true
			b.WriteByte('*')
		} else {
			b.WriteString(token)
		}
		if to < len(name) {
			b.WriteByte(name[to])
		}
		from = to + 1
	}
	return b.String() + s[len(name):], ok
}

// randomToken reports whether a token of eight bytes or more looks random: digits of 16 of both kinds, or many changes between letters and digits.
func randomToken(s string) bool {
	hex, turns, digit := true, 0, false
	for i := 0; i < len(s); i++ {
		c := s[i]
		switch {
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'f':
		case c|0x20 > 'f' && c|0x20 <= 'z':
			hex = false
		default:
			return false
		}
		if was := digit; i > 0 && was != (c <= '9') {
			turns++
		}
		digit = c <= '9'
	}
	return hex && turns > 1 || len(s) >= 12 && turns > 4
}

// moment reports whether a number is most likely a moment: seconds, thousandths or millionths since 1970, within these years.
func moment(s string) bool {
	if len(s) != 10 && len(s) != 13 && len(s) != 16 || s[0] != '1' || s[1] < '5' {
		return false
	}
	return strings.IndexFunc(s, func(c rune) bool { return c < '0' || c > '9' }) < 0
}

// node is a place in the tree of templates where a name stands: which ones were seen there. When it is full, those that it
// knows stay what they are, and all others mean the same.
type node struct {
	Names []uint32 `cbor:"1,keyasint,omitempty"`
}

// pattern writes the template of a URL. What a name means depends on how many were seen in its place; unseen are the
// places where names stand that were not seen there before.
func (m *Model) pattern(u crawl.URL) []byte {
	p := &m.pieces
	p.split(u)
	m.unseen = m.unseen[:0]
	if m.grows(p) {
		return m.bag(m.buf, p, 1, param{})
	}
	return m.shape(p, false)
}

// shape writes the template of a URL whose path does not grow; with slugs any words may stand beside the numbers of a path.
func (m *Model) shape(p *pieces, slugs bool) []byte {
	b := m.path(append(m.buf[:0], '/'), p, slugs)
	for _, ip := range p.inner {
		b = append(b, ';')
		b = appendClass(b, ip.name, classify(ip.name))
	}
	if p.query {
		b = m.querySet(append(b, '?'), p)
	}
	m.buf = b
	return b
}

// grows reports whether a path repeats names or is so deep that their order says nothing.
func (m *Model) grows(p *pieces) bool {
	if len(p.segs) > maxOrdered && len(p.segs)-p.empty() > maxOrdered {
		return true
	}
	for i, s := range p.segs {
		if s == "" || classify(s) == number {
			continue
		}
		for _, t := range p.segs[:i] {
			if s == t || len(s) == len(t) && sameClass(s, t) {
				return true
			}
		}
	}
	return false
}

// empty is how many segments of a path stand between two slashes.
func (p *pieces) empty() (n int) {
	for _, s := range p.segs[:len(p.segs)-1] {
		if s == "" {
			n++
		}
	}
	return n
}

// sameClass reports whether two segments of one length differ in digits only.
func sameClass(s, t string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] != t[i] && (s[i] < '0' || s[i] > '9' || t[i] < '0' || t[i] > '9') {
			return false
		}
	}
	return true
}

// path writes segments in their order.
func (m *Model) path(b []byte, p *pieces, slugs bool) []byte {
	run := 0
	for i, s := range p.low {
		c := classify(s)
		last := i == len(p.low)-1
		if s == "" && !last && i > 0 { // what stands between two slashes
			continue
		}
		if c == number && i > 0 && classify(p.segs[i-1]) == number {
			if run++; run >= maxRun && !last {
				continue
			}
		} else {
			run = 0
		}
		if i > 0 {
			b = append(b, '/')
		}
		space, _, spaced := strings.Cut(s, ":")
		switch {
		case last && !p.query && i > 0 && spaced && len(space) > 1 && classify(space) == word:
			b = m.name(b, space, maxBeside)
			b = append(append(b, ":*"...), extension(s)...)
		case c == mixed && slugs && (titled(s) && !m.common(s) || !titled(s) && m.crowded(b)):
			if b = append(b, '*'); classify(extension(s)) != mixed { // .147 is the number
				b = append(b, extension(s)...)
			}
		case c == word && slugs && i > 0 && !last && s != "" && m.crowded(b) && slices.ContainsFunc(p.low[i+1:], titled):
			b = append(b, '*')
		case c == mixed:
			b = m.name(b, string(appendClass(m.tmp[:0], s, c)), maxDirs)
		case c != word:
			b = appendClass(b, s, c)
		case s == "":
		case last && !p.query && i > 0 && (classify(p.segs[i-1]) == number && !year(p.segs[i-1]) || slugs && titled(p.segs[i-1])):
			n := len(b)
			if b = m.name(b, s, maxBeside); b[n] == '*' {
				b = append(b, extension(s)...)
			}
		case last && !p.query:
			b = append(b, '*')
			b = append(b, extension(s)...)
		default:
			b = m.name(b, s, maxDirs)
		}
	}
	return b
}

// year reports whether a number may be one: what is below years are months and days under any name.
func year(s string) bool { return len(s) == 4 && s >= "1900" && s < "2200" }

// bagPrefix begins the patterns of paths whose order says nothing.
const bagPrefix = "~"

// isBag reports whether a pattern is of such paths.
func isBag(pattern []byte) bool { return bytes.HasPrefix(pattern, []byte(bagPrefix)) }

// ordered returns how many segments of a path of a bag say something: as many as lead to the first place where several names stand, and that
// name, if these are so few as the views are that a program has of a thing; else one.
func (m *Model) ordered(p *pieces) int {
	b := append(m.tmp[:0], '/')
	for i, s := range p.low[:len(p.low)-1] {
		if s == "" || classify(s) != word {
			return 1
		}
		b = append(append(b, s...), '/')
		n := m.nodes[xxh3.Hash(b)]
		switch {
		case n == nil || len(n.Names) > maxViews:
			return 1
		case len(n.Names) > 1:
			return min(i+2, len(p.segs)-1)
		}
	}
	return 1
}

// choice returns the first of a URL's parameters by its name, if it has a word for its value that was seen there, one of a few as what a program
// shows of a thing is; without a value, if it is not among those that are told apart.
func (m *Model) choice(p *pieces) (of param) {
	if !p.query || len(p.params) == 0 {
		return param{}
	}
	of = p.params[0]
	for _, q := range p.params[1:] {
		if q.name < of.name {
			of = q
		}
	}
	if classify(of.low) != word || classify(of.name) != word {
		return param{}
	}
	unseen := len(m.unseen)
	b := m.path(append(make([]byte, 0, maxPattern), '/'), p, false)
	m.unseen = m.unseen[:unseen]
	b = append(append(append(b, '?'), of.name...), '=')
	n := m.nodes[xxh3.Hash(b)]
	switch {
	case n == nil || len(n.Names) < 2 || m.knows(b, randomValue):
		return param{}
	case !m.knows(b, of.low):
		of.low = "*"
	}
	return of
}

// bag writes the first segments, how the last one ends, and the names of parameters, and of one the value, too: the template of all paths the order
// of whose other segments says nothing.
func (m *Model) bag(b []byte, p *pieces, ordered int, choice param) []byte {
	b = append(b[:0], bagPrefix...)
	for i, s := range p.low[:ordered] {
		if i > 0 {
			b = append(b, '/')
		}
		if c := classify(s); c == word && len(p.segs) > 1 && s != "" {
			b = m.name(b, s, maxDirs)
		} else {
			b = appendClass(b, s, max(c, mixed))
		}
	}
	b = append(b, "/…"...)
	b = append(b, extension(p.low[len(p.low)-1])...)
	if p.query {
		names := make([]string, 0, len(p.params))
		for _, q := range p.params {
			name := string(appendClass(nil, q.name, classify(q.name)))
			if q.name == choice.name {
				name += "=" + choice.low
			}
			names = append(names, name)
		}
		slices.Sort(names)
		b = append(b, '?')
		b = append(b, strings.Join(slices.Compact(names), "&")...)
	}
	m.buf = b
	return b
}

// querySet writes the names of parameters, in order and each once, and values that are one of a few words.
func (m *Model) querySet(b []byte, p *pieces) []byte {
	p.sorted = append(p.sorted[:0], p.params...)
	slices.SortStableFunc(p.sorted, func(x, y param) int { return strings.Compare(x.name, y.name) })
	for i, q := range p.sorted {
		if i > 0 {
			if q.name == p.sorted[i-1].name {
				continue
			}
			b = append(b, '&')
		}
		b = appendClass(b, q.name, classify(q.name))
		repeats := i+1 < len(p.sorted) && p.sorted[i+1].name == q.name
		if q.value == "" || repeats {
			continue
		}
		b = append(b, '=')
		switch c := classify(q.low); {
		case c == opaque || c == mixed:
			if !m.knows(b, randomValue) && len(m.nodes) < maxNodes {
				m.unseen = append(m.unseen, place{xxh3.Hash(b), uint32(xxh3.HashString(randomValue))})
			}
			b = append(b, '#') // of a value only that it is one
		case c != word || len(q.value) >= 8 && m.knows(b, randomValue):
			b = append(b, '#')
		default:
			b = m.name(b, q.low, maxValues)
		}
	}
	return b
}

// randomValue is the name that stands for all values that look random; where such ones stand, a long word is one by chance.
const randomValue = "*"

// common reports whether a name with a number was seen in several places, as pages and posts of topics are (page-2, post-17).
func (m *Model) common(s string) bool {
	return m.spots[uint32(xxh3.Hash(appendClass(m.tmp[:0], s, mixed)))] >= commonFrom
}

// crowded reports whether many names were seen in a place.
func (m *Model) crowded(b []byte) bool {
	n := m.nodes[xxh3.Hash(b)]
	return n != nil && len(n.Names) >= maxValues
}

// knows reports whether a name was seen in a place.
func (m *Model) knows(b []byte, s string) bool {
	n := m.nodes[xxh3.Hash(b)]
	return n != nil && slices.Contains(n.Names, uint32(xxh3.HashString(s)))
}

// name writes a name, or what stands for any.
func (m *Model) name(b []byte, s string, most int) []byte {
	at := xxh3.Hash(b)
	n := m.nodes[at]
	name := uint32(xxh3.HashString(s))
	if n == nil || !slices.Contains(n.Names, name) {
		if n != nil && len(n.Names) >= most || n == nil && len(m.nodes) >= maxNodes {
			return append(b, '*')
		}
		m.unseen = append(m.unseen, place{at, name})
	}
	return append(b, s...)
}

// place is where a name stands.
type place struct {
	at   uint64
	name uint32
}

// extension returns the end of a file's name from its last dot on, if it is short.
func extension(s string) string {
	if i := strings.LastIndexByte(s, '.'); i > 0 && len(s)-i <= 6 {
		return s[i:]
	}
	return ""
}
