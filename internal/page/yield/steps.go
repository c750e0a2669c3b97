package yield

import (
	"slices"
	"strings"

	"github.com/zeebo/xxh3"
)

// The order of a path's names: of /shirts/red/large and /shirts/large/red one is enough where a site writes what a reader chooses into the path. Each choice
// is of a template of its own, so pages are held against each other whatever the template, but below one first segment only.

// maxSteps is how many names a path has at most behind its first one whose order is looked at.
const maxSteps = maxOrdered

// steps returns the order of the names behind the first segment of a URL's path as a part; ok reports whether it may make no difference: there are
// several names, each once, and nothing that looks like a number or is random.
func (p *pieces) steps(t uint32) (part Part, ok bool) {
	n := len(p.segs) - 1
	if n > 0 && p.segs[n] == "" {
		n--
	}
	if n < 2 || n > maxSteps || len(p.inner) > 0 || classify(p.low[0]) > mixed {
		return part, false
	}
	for i, s := range p.low[1 : n+1] {
		if s == "" || classify(s) > mixed || slices.Contains(p.low[1:i+1], s) {
			return part, false
		}
	}
	return Part{Kind: partSteps, Name: p.low[0], Template: t}, true
}

// inOrder returns the segments of a path with the names behind the first one sorted. How the last one ends stays at the end.
func inOrder(segs []string) []string {
	out := slices.Clone(segs)
	n := len(out)
	if out[n-1] == "" {
		n--
	}
	end := extension(out[n-1])
	out[n-1] = strings.TrimSuffix(out[n-1], end)
	slices.Sort(out[1:n])
	out[n-1] += end
	return out
}

// stepped holds an answer against those whose URLs differ in the order of their paths' names only.
func (m *Model) stepped(t *Template, p *pieces, a *Answer) Event {
	part, ok := p.steps(t.ID)
	if !ok {
		return Nothing
	}
	rest, at := m.strip(0, p, &part), part.pairs() // what differs is the order alone
	same, pair, first := m.chosen.pair(xxh3.HashStringSeed(rest, at), a.Text, xxh3.HashString(a.URL.Path()))
	if m.chosen.shared(a.Text, at, rest) {
		pair = false // what other names show as well, such as that nothing is there, says nothing of theirs
	}
	all := m.guesses[part.anywhere().hash()]
	if !pair && (all == nil || !all.proven(0)) {
		return Nothing
	}
	g := m.guessOf(part)
	if g == nil {
		return Nothing
	}
	was := *g
	g.dirty, m.changed = true, true
	if pair {
		g.pair(same, first)
	}
	m.everywhere(g, &was)
	event := m.weigh(g)
	if g.Differ > was.Differ && m.wrong(g) {
		for _, o := range m.allLearned() {
			if o.Part.named() == part.named() {
				event = max(event, m.weigh(o))
			}
		}
	}
	return event
}

// wrong reports whether a part that was known to make no difference does make one: the order of names, in all templates together, of which each has few pairs.
func (m *Model) wrong(g *guess) bool {
	if all := m.guesses[g.Part.anywhere().hash()]; g.Part.Kind == partSteps && all != nil {
		return all.wrong()
	}
	return g.wrong()
}

// permutes reports whether a template is of paths whose names are known to be choices, as their order makes no difference below its first segment.
func (m *Model) permutes(t *Template) bool {
	return m.permuted[t.First] > 0 && (t.bag() || strings.Count(t.Pattern, "/") > 2)
}
