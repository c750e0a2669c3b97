package yield

import (
	"slices"

	"github.com/zeebo/xxh3"
)

// Several parameters at once that make no difference: what a reader has chosen and a program remembers (?tone=dark&width=full&menu=left). Of
// two URLs that a site's pages name hardly any differ in one of them only.

// maxSettings is how many parameters a URL has at most whose values are held to be settings.
const maxSettings = 6

// settings holds an answer against those whose URLs differ in the values of their parameters, of all or of all but one, which may say what the
// page is of. Values of a few words are of many templates, so those are held against each other that have the same names.
func (m *Model) settings(t *Template, p *pieces, a *Answer, whole uint64) (event Event) {
	if len(p.params) < 2 || len(p.params) > maxSettings {
		return Nothing
	}
	for _, part := range p.settings(t.ID) {
		rest := m.strip(t.ID, p, &part)
		at := part.pairs()
		same, pair, first := m.chosen.pair(xxh3.HashStringSeed(rest, at), a.Text, whole)
		common := m.chosen.shared(a.Text, at, rest)
		g := m.guesses[part.hash()]
		if g == nil {
			if !pair {
				continue
			}
			if g = m.guessOf(part); g == nil {
				continue
			}
		}
		was := *g
		g.dirty, m.changed = true, true
		g.counts(slices.ContainsFunc(p.params, func(q param) bool { return q.name != part.Name && classify(q.value) == number }))
		if pair && !common {
			g.pair(same && !(g.Number && a.Found > a.Same), first) // of a series, if it names what was not there
		}
		if len(a.Sample) >= minAlike {
			m.alike(g, &m.chosen, xxh3.HashStringSeed(rest, at^likeSeed), a.Sample, pair)
		}
		if max(g.Agree, g.Alike) > 1 && !g.wrong() {
			t.All = true // pairs are seen only where both were marked
		}
		m.everywhere(g, &was)
		event = max(event, m.weigh(g))
		if part.Name == "" && g.Group != 0 {
			break // the others are less
		}
	}
	return event
}

// settings are the parts of a URL's query that may be settings.
func (p *pieces) settings(t uint32) (out []Part) {
	names := uint64(0)
	for _, q := range p.params {
		names ^= xxh3.HashString(q.name)
	}
	seg := int(names >> 33)
	out = append(out, Part{Kind: partSettings, Seg: seg, Template: t})
	for _, q := range p.params {
		if len(p.params) > 2 {
			out = append(out, Part{Kind: partSettings, Name: q.name, Seg: seg, Template: t})
		}
	}
	return out
}

// setting reports whether the value of a parameter is left out, though not that there is one.
func (l less) setting(q param) bool {
	return slices.ContainsFunc(l, func(p left) bool { return p.Kind == partSettings && p.Name != q.name })
}

// pairs is where the texts of URLs that differ in a part are held against each other.
func (p Part) pairs() uint64 {
	if p.anyTemplate() {
		p = p.anywhere()
	}
	return p.hash()
}

// anywhere is the part in all templates.
func (p Part) anywhere() Part {
	p.Template = 0
	return p
}

// everywhere reports whether a part makes no difference in all templates, or does in all.
func (p Part) everywhere() bool {
	return p.letters() || p.Kind == partOrder || p.anyTemplate()
}

// anyTemplate reports whether texts of URLs that differ in a part are held against each other whatever their templates.
func (p Part) anyTemplate() bool {
	return p.Kind == partSettings || p.Kind == partPlace || p.Kind == partSteps
}

// but says of settings which they are.
func (p Part) but() string {
	if p.Name == "" {
		return "what values the parameters have"
	}
	return "what values the parameters have, but for " + p.Name
}

// has reports whether there was a URL with this rest but for a part.
func (m *Model) has(rest uint64, p Part) bool {
	if p.anyTemplate() {
		return m.chosen.has(rest)
	}
	return m.rests.has(rest)
}
