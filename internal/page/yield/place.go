package yield

import (
	"slices"

	"github.com/zeebo/xxh3"
)

// Names in one place of a path that make no difference: languages into which nothing was translated, branches that are all the same. Each is of a
// template of its own, so their pages are held against each other whatever the template.

const (
	placeNames  = 8  // names in a place, from which on they may make no difference,
	placeShare  = 8  // all but one in so many of which
	placeEach   = 8  // have so many pages that say what those of others do: where one thing was translated others may be
	placeAgree  = 64 // so many pages in all,
	placeURLs   = 12 // of so many different rests
	placeDiffer = 64 // and so rare must exceptions be
)

// place is the first place of a path where many names stand, and these; nil if there is none.
func (m *Model) place(p *pieces) (prefix []byte, seg int, n *node) {
	b := append(m.tmp[:0], '/')
	for i, s := range p.low[:len(p.low)-1] {
		if s == "" || classify(s) != word {
			return nil, 0, nil
		}
		if n := m.nodes[xxh3.Hash(b)]; n != nil && len(n.Names) >= placeNames {
			return b, i, n
		}
		b = append(append(b, s...), '/')
	}
	return nil, 0, nil
}

// places holds an answer against those whose URLs differ in such a name only.
func (m *Model) places(t *Template, p *pieces, a *Answer, whole uint64) Event {
	prefix, seg, n := m.place(p)
	if n == nil {
		return Nothing
	}
	part := Part{Kind: partPlace, Name: string(prefix), Seg: seg, Template: t.ID}
	rest, at := m.strip(t.ID, p, &part), part.pairs()
	same, pair, first := m.chosen.pair(xxh3.HashStringSeed(rest, at), a.Text, whole)
	common := m.chosen.shared(a.Text, at, rest)
	if !pair || common {
		return Nothing
	}
	g := m.guessOf(part)
	if g == nil {
		return Nothing
	}
	was := *g
	g.dirty, m.changed = true, true
	g.pair(same, first)
	m.everywhere(g, &was)
	if all := m.guesses[part.anywhere().hash()]; all != nil && same {
		name := xxh3.HashStringSeed(p.low[seg], at^valueSeed)
		had, _ := m.chosen.get(name)
		m.chosen.add(name, had+1)
		if had+1 == placeEach {
			all.Values++
		}
		all.Random = all.Values >= placeNames && placeShare*all.Values >= (placeShare-1)*int64(len(n.Names))
	}
	return m.weigh(g)
}

// noPlace reports whether names in a place make no difference: of all templates, or of one where they make none in others.
func (g *guess) noPlace(elsewhere int) bool {
	if g.Differ*placeDiffer > g.Agree {
		return false
	}
	if g.Part.Template == 0 {
		return g.Random && g.Agree >= placeAgree && g.URLs >= placeURLs
	}
	return elsewhere > 0 && g.Agree >= placeEach
}

// place reports whether a segment is a name that is left out.
func (l less) place(seg int) bool {
	return slices.ContainsFunc(l, func(q left) bool { return q.Kind == partPlace && q.Seg == seg })
}
