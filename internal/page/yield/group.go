package yield

import "strings"

// Which templates belong together, and what groups take from each other.

// dated reports whether a template is of the days, weeks or hours of a calendar.
func (t *Template) dated() bool { return t.Dated > 0 && t.Dated*10 >= t.Marked*9 }

// loose reports whether a group has brought nothing yet.
func (g *Group) loose() bool { return g.New == 0 }

// share takes off the limit of each group what the cut groups have cost that it leads into: they are one trap.
func (m *Model) share() {
	spent := map[uint32]int64{}
	for _, t := range m.byID {
		if m.groups[t.Group].Cut {
			spent[t.Group] += t.Barren
		}
	}
	less := map[uint32]int64{}
	type pair struct{ from, to uint32 }
	done := map[pair]bool{}
	for _, t := range m.byID {
		if !m.groups[t.Group].Cut {
			continue
		}
		for _, id := range t.From {
			v := m.byID[id]
			if v == nil || m.groups[v.Group].Cut || done[pair{v.Group, t.Group}] {
				continue
			}
			done[pair{v.Group, t.Group}] = true
			less[v.Group] += spent[t.Group]
		}
	}
	for _, g := range m.groups {
		if n := min(less[g.ID], limit-minLimit); n != g.Less {
			g.Less, g.dirty, m.changed = n, true, true
		}
	}
}

// unrelated reports whether neither of two templates leads to the other.
func (m *Model) unrelated(t, o *Template) bool {
	return t.Group != o.Group && !m.leads(t, o) && !m.leads(o, t)
}

// fruitless reports whether a template has brought nothing and named nothing new.
func (t *Template) fruitless() bool { return t.New == 0 && t.Named == 0 && t.Spared == 0 && !t.bag() }

// joinSibling makes one group of those of two templates without fruit whose paths differ in one name only: the histories of two
// articles of a wiki, the sets of tags that begin with one or the other.
func (m *Model) joinSibling(t *Template) *Group {
	for id := uint32(1); id <= m.Templates; id++ {
		o := m.byID[id]
		if o != nil && o != t && o.Group != t.Group && o.Barren >= sameAfter && o.fruitless() && siblings(t.Pattern, o.Pattern) {
			return m.join(t, o)
		}
	}
	return m.groups[t.Group]
}

// siblings reports whether two patterns differ in one name of their paths only.
func siblings(a, b string) bool {
	from := 0
	for i := 0; i < len(a) && i < len(b) && a[i] == b[i]; i++ {
		if a[i] == '/' {
			from = i + 1
		}
	}
	name := func(s string) int {
		if i := strings.IndexAny(s[from:], "/?;"); i >= 0 {
			return from + i
		}
		return len(s)
	}
	x, y := name(a), name(b)
	return from > 0 && x < len(a) && a[x:] == b[y:]
}
