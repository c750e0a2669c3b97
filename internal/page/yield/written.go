package yield

import (
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// How URLs are written: the case of their letters, how often something is encoded, and words that say nothing.

// lower writes what stands in a path in lower case, but for what is encoded.
func lower(s string) string {
	at := 0
	for ; at < len(s) && (s[at] < 'A' || s[at] > 'Z'); at++ {
		if s[at] == '%' {
			at += 2
		}
	}
	if at >= len(s) {
		return s
	}
	b := []byte(s)
	for ; at < len(b); at++ {
		switch c := b[at]; {
		case c == '%':
			at += 2
		case c >= 'A' && c <= 'Z':
			b[at] = c + 'a' - 'A'
		}
	}
	return string(b)
}

// once writes what is encoded several times (%252541) as if it were so once (%41).
func once(s string) string {
	const again = "%25" // an encoded %
	at := strings.Index(s, again)
	if at < 0 {
		return s
	}
	b := append(make([]byte, 0, len(s)), s[:at]...)
	for rest := s[at:]; rest != ""; {
		if more := strings.TrimPrefix(rest, again); len(more) < len(rest) {
			for strings.HasPrefix(more, again[1:]) {
				more = more[len(again)-1:]
			}
			if len(more) > 1 && isHex(more[0]) && isHex(more[1]) {
				b, rest = append(b, '%', upper(more[0]), upper(more[1])), more[2:]
				continue
			}
			b, rest = append(b, again...), more // of a % that is encoded itself
			continue
		}
		b, rest = append(b, rest[0]), rest[1:]
	}
	return string(b)
}

func isHex(c byte) bool { return c >= '0' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f' }

// upper is a digit of 16 in upper case.
func upper(c byte) byte {
	if c >= 'a' {
		return c - ('a' - 'A')
	}
	return c
}

// plain holds a text against that of the page whose URL is the same without the part.
func (m *Model) plain(p *pieces, part Part, text uint64) (same, known bool) {
	const one = 1
	was, known := m.rests.get(bare(m.strip(0, p, &part)))
	return known && was&^one == text&^one, known
}

// shared reports whether a text was shown by things of other numbers as well: that views of one thing are equally empty says nothing of their names.
// at is a part, and rest what is left of the URL without it.
func (s *set) shared(text, at uint64, rest string) bool {
	key, own := text^at^shownSeed, xxh3.HashStringSeed(rest, shownSeed)
	was, known := s.get(key)
	if !known || was == own {
		s.add(key, own)
		return false
	}
	s.add(key, 0)
	return true
}

// everywhere adds to what is known of a part in all templates what an answer has added to a guess: a server tells the case of letters apart or it
// does not.
func (m *Model) everywhere(g, was *guess) {
	all := m.guessOf(g.Part.anywhere())
	if all == nil {
		return
	}
	all.Agree, all.URLs, all.Differ = all.Agree+g.Agree-was.Agree, all.URLs+g.URLs-was.URLs, all.Differ+g.Differ-was.Differ
	all.Alike, all.AlikeURLs, all.Unlike = all.Alike+g.Alike-was.Alike, all.AlikeURLs+g.AlikeURLs-was.AlikeURLs, all.Unlike+g.Unlike-was.Unlike
	all.dirty = true
}

// wordless leaves of a name that has words and numbers the numbers, and how it ends; ok says that it is one.
func wordless(s string) (numbers string, ok bool) {
	if classify(s) != mixed {
		return s, false
	}
	end := extension(s)
	name := s[:len(s)-len(end)]
	var b strings.Builder
	words, digits, run := false, false, false
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c >= '0' && c <= '9' {
			if !run && digits {
				b.WriteByte('-')
			}
			digits, run = true, true
			b.WriteByte(c)
			continue
		}
		run = false
		if c == '%' { // what is encoded is no number
			i, words = i+2, true
		}
		words = words || c|0x20 >= 'a' && c|0x20 <= 'z'
	}
	if !words || !digits {
		return s, false
	}
	return b.String() + end, true
}

// wordless leaves out the words of a segment beside a number: within it, or in the segment before.
func (p *pieces) wordless(i int, s string) (numbers string, ok bool) {
	if numbers, ok = wordless(s); ok {
		return numbers, ok
	}
	if i > 0 && s != "" && classify(s) == word && classify(p.segs[i-1]) == number {
		return "*" + extension(s), true
	}
	return s, false
}

// wordlessURI writes path and query of a URL without words beside numbers in the path; with before those of all between its first segment and its
// last, if this has a number, say nothing either.
func (p *pieces) wordlessURI(uri string, before bool) string {
	any := false
	before = before && titled(p.segs[len(p.segs)-1])
	var b strings.Builder
	b.Grow(len(uri))
	for i, s := range p.segs {
		b.WriteByte('/')
		if numbers, ok := p.wordless(i, s); ok && (classify(s) == word || titled(s)) {
			s, any = numbers, true
		} else if before && 0 < i && i < p.lead() && classify(s) == word {
			s, any = "*", true
		}
		b.WriteString(s)
	}
	if !any {
		return uri
	}
	if i := strings.IndexByte(uri, '?'); i >= 0 {
		b.WriteString(uri[i:])
	}
	return b.String()
}

// titled reports whether a value is a number and words: 12-any-words may be another thing than 13-any-words, whatever both say.
func titled(s string) bool {
	const least = 3 // letters of a word
	words, digits := false, false
	letters, numbers, other := 0, 0, false
	token := func() {
		words = words || letters >= least && numbers == 0 && !other
		digits = digits || numbers > 0 && letters == 0 && !other
		letters, numbers, other = 0, 0, false
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '%' && i+2 < len(s) && s[i+1] >= '8': // of a letter beyond ASCII
			letters, i = letters+1, i+2
		case c == '%' && i+2 < len(s):
			token()
			i += 2
		case strings.IndexByte("-_.+,'", c) >= 0:
			token()
		case c >= '0' && c <= '9':
			numbers++
		case c|0x20 >= 'a' && c|0x20 <= 'z':
			letters++
		default:
			other = true
		}
	}
	token()
	return words && digits
}

// slugs reports whether a URL has words beside a number that may be any. What is behind a date is named by its words.
func (p *pieces) slugs() bool {
	if _, ok := p.wordless(p.lead(), p.segs[p.lead()]); ok {
		return !p.dated()
	}
	return slices.ContainsFunc(p.params, func(q param) bool {
		_, ok := wordless(q.value)
		return ok
	}) && !p.dated()
}

// wording is what the words beside numbers are.
func (p *pieces) wording() string {
	var b strings.Builder
	write := func(s string) {
		for i := 0; i < len(s); i++ {
			if s[i] < '0' || s[i] > '9' {
				b.WriteByte(s[i])
			}
		}
		b.WriteByte('/')
	}
	write(p.segs[p.lead()])
	for _, q := range p.params {
		write(q.value)
	}
	return b.String()
}
