package yield

import "strings"

// Choices: what readers choose of a list, one after the other in any order. A site's addresses show which these are, as those that differ in their order
// only show the same. All combinations of choices are one trap, and what a list of them has left says nothing new.

// choices returns the keys of the names of parameters that are choices: the order of those of a template makes no difference.
func (m *Model) choices() map[uint64]bool {
	if m.choosing == nil {
		m.choosing = map[uint64]bool{}
		for _, list := range m.learned {
			for _, g := range list {
				if t := m.byID[g.Part.Template]; t != nil && g.Part.sort() {
					for _, key := range t.keys {
						m.choosing[key] = true
					}
				}
			}
		}
	}
	return m.choosing
}

// combined reports whether keys are those of several parameters, all of which are choices.
func (m *Model) combined(keys []uint64) bool {
	return len(keys) >= 4 && m.allChoices(keys) // two names have two keys each
}

// allChoices reports whether keys are those of parameters all of which are choices.
func (m *Model) allChoices(keys []uint64) bool {
	if len(keys) == 0 || len(m.choices()) == 0 {
		return false
	}
	n := 1
	for n < len(keys) && keys[n] == keys[0]+uint64(n) {
		n++
	}
	for i := 0; i < len(keys); i += n {
		if !m.choices()[keys[i]] {
			return false
		}
	}
	return true
}

// combination reports whether a template's URLs are combinations of two choices or more.
func (m *Model) combination(t *Template) bool { return m.permutes(t) || m.combined(t.keys) }

// together reports whether two templates are combinations of choices of one kind: of names of parameters, or of those in paths below one first segment.
func (m *Model) together(t, o *Template) bool {
	if m.permutes(t) {
		return t.First == o.First && m.permutes(o)
	}
	return m.combined(t.keys) && m.combined(o.keys) && !m.permutes(o)
}

// narrows reports whether a template is of combinations of choices, and the one that has named it of what these are chosen from: a list with one or more of them.
func (m *Model) narrows(t, via *Template) bool {
	if m.permutes(t) {
		return t.First == via.First && m.permutes(via)
	}
	return m.combined(t.keys) && m.allChoices(via.keys)
}

// joinChoices makes one group of the templates that are combinations of choices, and whose last pages have brought nothing: what fits one, two and three
// choices is the same list over and over.
func (m *Model) joinChoices(t *Template) *Group {
	if m.combination(t) {
		return m.joinAll(t, func(o *Template) bool { return o.Dry >= dryAfter && m.together(t, o) })
	}
	if !m.sorts(t) {
		return m.groups[t.Group]
	}
	path, _, _ := strings.Cut(t.Pattern, "?")
	return m.joinAll(t, func(o *Template) bool {
		other, _, _ := strings.Cut(o.Pattern, "?")
		return o.Dry >= dryAfter && path == other && m.sorts(o)
	})
}

// cutChoices returns the cut group that has most answers that counted as nothing of combinations of choices like those of a template, or of one list, of
// which all have one path; nil if there is none.
func (m *Model) cutChoices(t *Template, ofList bool) (cut *Group) {
	most := int64(0)
	path, _, _ := strings.Cut(t.Pattern, "?")
	if m.cuts == 0 || !m.combination(t) {
		return nil
	}
	for id := uint32(1); id <= m.Templates; id++ {
		if o := m.byID[id]; o != nil && o.Barren > most && m.together(t, o) {
			if other, _, _ := strings.Cut(o.Pattern, "?"); ofList && path != other && !m.permutes(t) {
				continue
			}
			if g := m.groups[o.Group]; g.Cut && g.Part == nil {
				cut, most = g, o.Barren
			}
		}
	}
	return cut
}
