package yield

import (
	"slices"
	"strings"

	"argosy/internal/crawl"
)

// What people are told of a Model.

// Traps returns the groups of which URLs wait, by what these look like, most first.
func (m *Model) Traps() []crawl.Trap {
	var out []crawl.Trap
	for _, g := range m.groups {
		if g.Waiting <= 0 {
			continue
		}
		r := crawl.Trap{Example: g.Example, Waiting: g.Waiting}
		if g.Part != nil {
			r.Part = g.Part.String()
			if t := m.byID[g.Part.Template]; t != nil {
				r.Template, r.Answers = t.shown(), t.Answers
			}
			out = append(out, r)
			continue
		}
		var best *Template
		for _, t := range m.byID {
			if t.Group == g.ID {
				r.Answers += t.Answers
				r.Empty += t.Barren
				r.Varied += t.Varied
				if best == nil || t.shownBefore(best) {
					best = t
				}
			}
		}
		if u, err := crawl.Parse(g.Example); err == nil { // the example is of the template that is shown
			if t, _ := m.find(u); t != nil && (best == nil || t.Group == g.ID) {
				best = t
			}
		}
		if best != nil {
			r.Template = best.shown()
			if r.Answers == 0 { // its templates are other groups' by now
				r.Answers, r.Empty, r.Varied = best.Answers, best.Barren, best.Varied
			}
		}
		out = append(out, m.apart(g, r)...)
	}
	slices.SortFunc(out, func(x, y crawl.Trap) int {
		if x.Waiting != y.Waiting {
			return int(y.Waiting - x.Waiting)
		}
		if x.Template < y.Template {
			return -1
		}
		return 1
	})
	return out
}

// apart tells a group's waiting URLs apart by what they look like, so that none stands under the name of others: whole is what is
// told of all. A chain is told of as one, and what looks like nothing that is told apart stays with whole.
func (m *Model) apart(g *Group, whole crawl.Trap) []crawl.Trap {
	if whole.Kind() == crawl.TrapOpen {
		return []crawl.Trap{whole}
	}
	var out []crawl.Trap
	for _, b := range g.Behind {
		r := crawl.Trap{Template: shown(b.Shape), Example: b.Example, Waiting: b.Waiting}
		if t := m.byHash[b.Hash]; t != nil {
			r.Answers, r.Empty, r.Varied = t.Answers, t.Barren, t.Varied
		}
		if r.Template == whole.Template || r.Kind() != whole.Kind() {
			continue
		}
		whole.Waiting -= r.Waiting
		if t := m.byHash[b.Hash]; t != nil && t.Group == g.ID { // whole counts them
			whole.Answers, whole.Empty, whole.Varied = whole.Answers-r.Answers, whole.Empty-r.Empty, whole.Varied-r.Varied
		}
		out = append(out, r)
	}
	if whole.Waiting > 0 {
		whole.Answers, whole.Empty, whole.Varied = max(0, whole.Answers), max(0, whole.Empty), max(0, whole.Varied)
		if whole.Kind() == crawl.TrapOpen {
			whole.Answers, whole.Empty, whole.Varied = 0, 0, 0 // no chain is left of many
		}
		out = append(out, whole)
	}
	return out
}

// shown is a template's pattern for people.
func (t *Template) shown() string { return shown(t.Pattern) }

func shown(pattern string) string {
	if of, bag := strings.CutPrefix(pattern, bagPrefix); bag {
		return "/" + of
	}
	return pattern
}

// shownBefore reports whether a template stands for its group rather than o: one with an example does, then the one with
// more answers.
func (t *Template) shownBefore(o *Template) bool {
	if (t.Example != "") != (o.Example != "") {
		return t.Example != ""
	}
	return t.Answers > o.Answers || t.Answers == o.Answers && t.ID < o.ID
}

// Largest returns the template with the most answers, and how many these are.
func (m *Model) Largest() (pattern string, answers int64) {
	for id := uint32(1); id <= m.Templates; id++ {
		if t := m.byID[id]; t != nil && t.Answers > answers {
			pattern, answers = t.shown(), t.Answers
		}
	}
	return pattern, answers
}
