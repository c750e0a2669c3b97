package yield

import (
	"fmt"
	"testing"
)

// beside has a Model judge a page of its own for each thing, and one of each kind beside it, which says what of says, until most things were had.
// It returns how many were asked for of each kind.
func beside(t *testing.T, most int, kinds []string, of func(thing int, kind string) Answer) (m *Model, asked map[string]int) {
	t.Helper()
	m, asked = New(), map[string]int{}
	for i := range most {
		u := parsed(t, fmt.Sprintf("http://h.test/thing/%d", 100_000+i))
		thing, page := m.Template(u), u
		m.Take(&Answer{URL: u, Template: thing, Page: true, Marked: true, Text: uint64(i+10) << 32, Sample: []uint32{xx(uint32(i)), xx(uint32(i)) + 2}})
		for _, kind := range kinds {
			u := parsed(t, fmt.Sprintf("http://h.test/thing/%d/%s", 100_000+i, kind))
			if m.Judge(u, thing, false).Wait {
				continue
			}
			asked[kind]++
			a := of(i, kind)
			a.URL, a.Template, a.Via, a.Parent, a.Page, a.Marked = u, m.Template(u), thing, page, true, true
			m.Take(&a)
		}
	}
	return m, asked
}

// Pages beside things say the same for all of them, but for a number: no rule of what is known ends them. Those of a kind that say something
// are had all the same, and so are the versions of things, of which each is a text that was there.
func TestButtons(t *testing.T) {
	const things = 3 * limit
	says := func(mark int, n uint32) Answer {
		return Answer{Text: uint64(mark) << 32, Sample: []uint32{xx(n) &^ 1, xx(n+1000) &^ 1, xx(n+2000) &^ 1, xx(n+3000) &^ 1}}
	}
	button := func(thing int, kind string) Answer { return says(1000+thing*8+len(kind), uint32(len(kind))) }
	m, asked := beside(t, things, []string{"cite", "share", "report"}, button)
	all := 0
	for kind, n := range asked {
		if all += n; n < limit/4 {
			t.Errorf("%s: %d asked for", kind, n)
		}
	}
	if all < limit || all > limit+3*(strangers+sameAfter) {
		t.Errorf("%d pages beside %d things asked for, want %d", all, things, limit)
	}
	if g := m.groups[m.byID[m.Find(parsed(t, "http://h.test/thing/100007"))].Group]; g.Cut || g.Less > 0 {
		t.Errorf("things: cut %v, %d less", g.Cut, g.Less)
	}
	if _, asked := beside(t, things, []string{"cite", "photo"}, func(thing int, kind string) Answer {
		if kind == "photo" && thing%100 == 0 {
			return says(9000+thing, uint32(5000+thing*4))
		}
		return button(thing, kind)
	}); asked["photo"] < things {
		t.Errorf("%d of %d pages asked for of which one in a hundred says something", asked["photo"], things)
	}
	if _, asked := beside(t, things, []string{"version"}, func(thing int, kind string) Answer {
		return says(9000+thing, uint32(50+thing%200))
	}); asked["version"] < things {
		t.Errorf("%d of %d pages asked for that say 200 things", asked["version"], things)
	}
}
