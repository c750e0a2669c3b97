package yield

import (
	"slices"
	"strings"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// Names of parameters that bring nothing, by themselves or beside others: an order of lists, what is put into a basket, a third choice beside two. Templates
// that have such a name are one trap, whatever their paths and their other parameters are.

// maxNames is how many parameters a template has at most whose names are counted: it bounds what a site's addresses take of memory.
const maxNames = 16

// maxAmong is up to how many parameters of a URL it is told apart how many stand beside a name.
const maxAmong = 4

// tally is what the templates have brought that have one name of a parameter, among so many parameters or more.
type tally struct {
	brought int64 // answers that were new, not in part only, and those that they have named
	partly  int64 // answers that were new in part
	barren  int64 // answers that counted as nothing
}

// vain reports whether hardly anything comes with a name.
func (y *tally) vain() bool {
	return y != nil && y.barren >= limit/knownCosts && (y.brought+y.partly)*sameAfter <= y.barren
}

// poor reports whether a template has brought, and named, next to nothing.
func (t *Template) poor() bool { return t.bore().brought*sameAfter <= t.Barren }

// bore is what a template has brought.
func (t *Template) bore() tally { return tally{t.New - t.Partly + t.Named, t.Partly, t.Barren} }

// keys returns of each name of a pattern's parameters one key for each number of parameters that the pattern has at least.
func keys(pattern string) (out []uint64) {
	_, query, ok := strings.Cut(pattern, "?")
	all := 1 + strings.Count(query, "&")
	if !ok || all > maxNames {
		return nil
	}
	n := min(all, maxAmong)
	for one := range strings.SplitSeq(query, "&") {
		if name, _, _ := strings.Cut(one, "="); name != "" {
			hash := keyOf(name)
			for k := range uint64(n) {
				out = append(out, hash+k)
			}
		}
	}
	return out
}

// tally takes what a template, which may be nil, has brought since the last time into the tallies of its parameters.
func (m *Model) tally(t *Template) {
	if t == nil || len(t.keys) == 0 {
		return
	}
	is := t.bore()
	for _, key := range t.keys {
		y := m.tallies[key]
		if y == nil {
			y = &tally{}
			m.tallies[key] = y
		}
		y.brought, y.partly, y.barren = y.brought+is.brought-t.tallied.brought, y.partly+is.partly-t.tallied.partly, y.barren+is.barren-t.tallied.barren
	}
	t.tallied = is
}

// inVain returns a key of parameters that bring nothing, of the keys of a template, 0 if there is none: all of its names must be such. A number of a page
// beside an order may lead on.
func (m *Model) inVain(keys []uint64) (key uint64) {
	for len(keys) > 0 {
		n := 1
		for n < len(keys) && keys[n] == keys[0]+uint64(n) {
			n++
		}
		i := slices.IndexFunc(keys[:n], func(k uint64) bool { return m.tallies[k].vain() })
		if i < 0 {
			return 0
		}
		if key == 0 || m.tallies[keys[i]].brought < m.tallies[key].brought {
			key = keys[i]
		}
		keys = keys[n:]
	}
	return key
}

// has reports whether a template has parameters of a key.
func (t *Template) has(key uint64) bool { return slices.Contains(t.keys, key) }

// Asks reports whether a template's URLs have parameters: Take then wants to know the URL of each answer, marked or not.
func (m *Model) Asks(template uint32) bool {
	t := m.byID[template]
	return t != nil && len(t.keys) > 0
}

// things notes the values of a URL's parameters whose names have brought much: each is a thing that was had.
func (m *Model) things(t *Template, u crawl.URL) {
	if len(t.keys) == 0 || u.IsZero() {
		return
	}
	m.pieces.split(u)
	for _, q := range m.pieces.params {
		if m.tallies[keyOf(q.name)].rich() {
			m.rests.add(q.thing(), 0)
		}
	}
}

// newThing reports whether a URL, which is in m.pieces and would wait with a cut group, is tried since it asks for a thing that was not had: a value of a
// name that has brought more than it has not. From then on the thing was had.
func (m *Model) newThing(g *Group) (some bool) {
	for i := range m.pieces.params {
		q := &m.pieces.params[i]
		if g.Things > 0 && m.tallies[keyOf(q.name)].rich() && !m.rests.add(q.thing(), 0) {
			some = true
		}
	}
	if some {
		g.Things--
		g.dirty, m.changed = true, true
	}
	return some
}

// rich reports whether most of what comes with a name is new.
func (y *tally) rich() bool { return y != nil && y.brought >= sameAfter && y.brought > y.barren }

// keyOf is the key of a name, whatever stands beside it.
func keyOf(name string) uint64 { return xxh3.HashString("?" + name) }

// thing is a mark of the value that a name has.
func (q param) thing() uint64 { return xxh3.HashStringSeed(q.low, keyOf(q.name)) }

// cutWith returns the cut group that has most answers that counted as nothing of those templates that have parameters of a key, nil if there is none.
func (m *Model) cutWith(key uint64) (cut *Group) {
	most := int64(0)
	for id := uint32(1); id <= m.Templates; id++ {
		if t := m.byID[id]; t != nil && t.Barren > most && t.has(key) {
			if g := m.groups[t.Group]; g.Cut && g.Part == nil {
				cut, most = g, t.Barren
			}
		}
	}
	return cut
}
