package yield

import (
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// When a part of URLs is known to make no difference: so many pairs that differ in it only gave the same text, of so many
// different URLs, and at most one in agreeOne did not.
const (
	agreeOpaque, urlsOpaque = 6, 2 // where the values look random
	agreeOther, urlsOther   = 24, 4
	agreeOrder, urlsOrder   = 12, 3
	agreeNamed              = 2 // where a part of this name is known to make none in another template
	agreeOne                = 16

	maxGuesses    = 2048
	maxCandidates = 8
)

// Kinds of parts.
const (
	partInner  = 'p' // a parameter of a segment
	partParam  = 'q' // of the query
	partDir    = 's' // a segment
	partRandom = 'o' // everything that looks random
	partOrder  = 'r' // the order of parameters, and that one is there twice
	partFirst  = 'f' // all but the first of the parameters of one name, and the order of names
	partLast   = 'l' // all but the last
)

// Part is a part of the URLs of a template.
type Part struct {
	Kind     byte   `cbor:"1,keyasint"`
	Name     string `cbor:"2,keyasint,omitempty"`
	Seg      int    `cbor:"3,keyasint,omitempty"`
	Template uint32 `cbor:"4,keyasint"`
}

// String says which part it is.
func (p Part) String() string {
	switch p.Kind {
	case partInner:
		return "the parameter ;" + p.Name
	case partParam:
		return "the parameter " + p.Name
	case partDir:
		return "the part of the path after /" + p.Name
	case partRandom:
		return "what looks random"
	}
	return "the order of parameters"
}

func (p Part) sort() bool { return p.Kind == partOrder || p.Kind == partFirst || p.Kind == partLast }

// named is the part's name in all templates.
func (p Part) named() uint64 {
	return xxh3.HashStringSeed(p.Name, uint64(p.Kind)<<8|uint64(p.Seg))
}

func (p Part) hash() uint64 { return p.named() ^ uint64(p.Template)*0x9e3779b97f4a7c15 }

// guess is a part that may make no difference.
type guess struct {
	Part   Part   `cbor:"1,keyasint"`
	Agree  int64  `cbor:"2,keyasint,omitempty"` // pairs that gave the same text
	URLs   int64  `cbor:"3,keyasint,omitempty"` // of so many different ones
	Differ int64  `cbor:"4,keyasint,omitempty"`
	Plain  int64  `cbor:"5,keyasint,omitempty"` // pairs whose values do not look random
	Group  uint32 `cbor:"6,keyasint,omitempty"` // that stands for it; 0 until it is known to make no difference

	dirty bool
}

// compare holds an answer against those whose URLs differ in one part only. It reports whether its URL differs from another
// one in parts that are known to make no difference.
func (m *Model) compare(t *Template, a *Answer) (spelled bool, event Event) {
	if !a.Page || a.Moved || a.Missing {
		return false, Nothing
	}
	p := &m.pieces // of this URL: Take has split it
	spelled = m.strip(t.ID, p, nil) != m.strip(0, p, nil)
	for _, part := range candidates(t.ID, p, !strings.HasPrefix(t.Pattern, bagPrefix)) {
		at := part.hash()
		if part.random(p) || m.named[part.named()] > 0 {
			t.All = true
		}
		rest := m.strip(t.ID, p, &part)
		key := xxh3.HashStringSeed(rest, at)
		was, ok := m.rests.get(key)
		text := a.Text &^ 1
		if !ok {
			m.rests.add(key, text)
			continue
		}
		g := m.guesses[at]
		if g == nil {
			if len(m.guesses) >= maxGuesses {
				continue
			}
			g = &guess{Part: part}
			m.guesses[at] = g
		}
		g.dirty = true
		if was&^1 != text {
			g.Differ++
			m.rests.add(key, text)
		} else {
			if was&1 == 0 {
				g.URLs++
			}
			g.Agree++
			if !part.random(p) {
				g.Plain++
			}
			m.rests.add(key, text|1)
		}
		event = max(event, m.weigh(g))
	}
	return spelled, event
}

// random reports whether the value of a part looks random.
func (p Part) random(u *pieces) bool {
	switch p.Kind {
	case partInner:
		return slices.ContainsFunc(u.inner, func(q innerParam) bool { return q.name == p.Name && classify(q.value) == opaque })
	case partParam:
		return slices.ContainsFunc(u.params, func(q param) bool { return q.name == p.Name && classify(q.value) == opaque })
	case partDir:
		return p.Seg < len(u.segs) && classify(u.segs[p.Seg]) == opaque
	}
	return p.Kind == partRandom
}

// weigh decides whether a part makes no difference.
func (m *Model) weigh(g *guess) Event {
	if g.Group != 0 {
		if group := m.groups[g.Group]; g.Differ*agreeOne > g.Agree {
			g.Group = 0
			m.named[g.Part.named()]--
			m.learned[g.Part.Template] = slices.DeleteFunc(m.learned[g.Part.Template], func(o *guess) bool { return o == g })
			group.Cut, group.dirty = false, true
			m.cuts--
			return Lifted
		}
		return Nothing
	}
	agree, urls := int64(agreeOther), int64(urlsOther)
	switch {
	case g.Part.sort():
		agree, urls = agreeOrder, urlsOrder
	case g.Differ == 0 && m.named[g.Part.named()] > 0:
		agree, urls = agreeNamed, 1
	case g.Plain == 0:
		agree, urls = agreeOpaque, urlsOpaque
	}
	if g.Agree < agree || g.URLs < urls || g.Differ*agreeOne > g.Agree {
		return Nothing
	}
	group := m.newGroup()
	part := g.Part
	group.Part, group.Cut, group.Next = &part, true, m.Answers+firstTrial
	g.Group = group.ID
	m.cuts++
	m.learn(g)
	return Learned
}

// learn takes in a part that makes no difference.
func (m *Model) learn(g *guess) {
	m.named[g.Part.named()]++
	m.learned[g.Part.Template] = append(m.learned[g.Part.Template], g)
}

// candidates are the parts of a URL that may make no difference.
func candidates(t uint32, p *pieces, dirs bool) []Part {
	var out []Part
	random := 0
	add := func(part Part, value string) {
		if classify(value) == opaque {
			random++
		}
		if len(out) < maxCandidates && !slices.Contains(out, part) {
			out = append(out, part)
		}
	}
	for _, q := range p.inner {
		add(Part{Kind: partInner, Name: q.name, Template: t}, q.value)
	}
	for _, q := range p.params {
		add(Part{Kind: partParam, Name: q.name, Template: t}, q.value)
	}
	for i, s := range p.segs {
		if dirs && classify(s) != word {
			var b []byte
			for j, q := range p.segs[:i] {
				if j > 0 {
					b = append(b, '/')
				}
				b = appendClass(b, q, classify(q))
			}
			add(Part{Kind: partDir, Name: string(b), Seg: i, Template: t}, s)
		}
	}
	if random > 1 || slices.ContainsFunc(p.params, func(q param) bool { return classify(q.name) == opaque }) {
		out = append(out, Part{Kind: partRandom, Template: t})
	}
	if len(p.params) > 1 {
		out = append(out, Part{Kind: partOrder, Template: t}, Part{Kind: partFirst, Template: t}, Part{Kind: partLast, Template: t})
	}
	return out
}

// strip writes path and query of a URL without the parts of its template that make no difference, and without one more.
func (m *Model) strip(t uint32, p *pieces, more *Part) string {
	var b strings.Builder
	drop := func(kind byte, name string, seg int, value string) bool {
		random := classify(value) == opaque || kind == partParam && classify(name) == opaque
		one := func(q Part) bool {
			return q.Kind == kind && q.Name == name && (kind != partDir || q.Seg == seg) || q.Kind == partRandom && random
		}
		if kind == partDir {
			one = func(q Part) bool { return q.Kind == partDir && q.Seg == seg || q.Kind == partRandom && random }
		}
		return more != nil && one(*more) || slices.ContainsFunc(m.learned[t], func(g *guess) bool { return one(g.Part) })
	}
	next := 0
	for i, s := range p.segs {
		b.WriteByte('/')
		if !drop(partDir, "", i, s) {
			b.WriteString(s)
		} else {
			b.WriteByte('*')
		}
		for ; next < len(p.inner) && p.inner[next].seg == i; next++ {
			if q := p.inner[next]; !drop(partInner, q.name, 0, q.value) {
				b.WriteString(";" + q.name + "=" + q.value)
			}
		}
	}
	sort := byte(0)
	for _, g := range m.learned[t] {
		if g.Part.sort() {
			sort = max(sort, g.Part.Kind)
		}
	}
	if more != nil && more.sort() {
		sort = more.Kind
	}
	params := make([]param, 0, len(p.params))
	for _, q := range p.params {
		if !drop(partParam, q.name, 0, q.value) {
			params = append(params, q)
		}
	}
	params = order(params, sort)
	for i, q := range params {
		if i == 0 {
			b.WriteByte('?')
		} else {
			b.WriteByte(p.sep)
		}
		b.WriteString(q.name + "=" + q.value)
	}
	return b.String()
}

// order sorts parameters, and drops those that are there twice, by a kind of part; 0 leaves them as they are.
func order(params []param, kind byte) []param {
	switch kind {
	case 0:
		return params
	case partLast:
		slices.Reverse(params)
	}
	slices.SortStableFunc(params, func(x, y param) int {
		if c := strings.Compare(x.name, y.name); c != 0 || kind != partOrder {
			return c
		}
		return strings.Compare(x.value, y.value)
	})
	return slices.CompactFunc(params, func(x, y param) bool { return x.name == y.name && (kind != partOrder || x.value == y.value) })
}

// Rest returns a URL without the parts that make no difference; changed says that it has some, and part which group stands
// for them. Of two URLs with equal rests one is enough.
func (m *Model) Rest(u crawl.URL) (rest crawl.Key, part uint32, changed bool) {
	if len(m.learned) == 0 {
		return rest, 0, false
	}
	t := m.find(u)
	if t == nil || len(m.learned[t.ID]) == 0 {
		return rest, 0, false
	}
	p := &m.pieces
	p.split(u)
	part = m.learned[t.ID][0].Group
	for _, g := range m.learned[t.ID] {
		part = min(part, g.Group)
	}
	return crawl.KeyOf(u.Site(), m.strip(t.ID, p, nil)), part, true
}
