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

// A button may be a redirect, in a path: to where one logs in, or back to the page that has it. No two of its addresses are equal, and no file is
// behind any. One that leads to a page now and then that nothing else names goes on.
func TestButtonsThatRedirect(t *testing.T) {
	const things = 4 * limit
	for name, c := range map[string]struct {
		most  int
		names int // in its address
		of    func(i int) (text uint64, found int)
	}{
		"to log in":            {limit + 3*(strangers+sameAfter), 1, func(int) (uint64, int) { return 2 << 32, 0 }},
		"back":                 {limit + 3*(strangers+sameAfter), 1, func(i int) (uint64, int) { return uint64(1_000_000+i) << 32, 0 }},
		"back, in many words":  {2 * limit, 20, func(i int) (uint64, int) { return uint64(1_000_000+i/12) << 32, 0 }},
		"to a page one in 50":  {things, 1, func(i int) (uint64, int) { return uint64(1_000_000+i) << 32, i % 50 / 49 }},
		"to a page of its own": {things, 1, func(i int) (uint64, int) { return uint64(1_000_000+i) << 32, 1 }},
	} {
		m, asked := New(), 0
		take := func(a Answer, format string, i int) uint32 {
			a.URL, a.Marked = parsed(t, fmt.Sprintf("http://h.test"+format, i, xx(uint32(i)))), true
			a.Template = m.Template(a.URL)
			m.Take(&a)
			return a.Template
		}
		for i := range things {
			thing := take(Answer{Page: true, Text: uint64(i+10) << 32, Sample: []uint32{xx(uint32(i)), xx(uint32(i)) + 2}}, "/thing/%d?is=%x", i)
			path := fmt.Sprintf("/add/thing/%%d/key/%%08xf00d/as-%c/", 'a'+i%c.names)
			if m.Judge(parsed(t, fmt.Sprintf("http://h.test"+path, i, xx(uint32(i)))), thing, false).Wait {
				continue
			}
			asked++
			text, found := c.of(i)
			via := take(Answer{Via: thing, Moved: true, Text: text, Links: 1, Found: found, Feeds: Feeds{Own: found}}, path, i)
			if found > 0 {
				take(Answer{Via: via, Page: true, Text: uint64(2_000_000+i) << 32, Sample: []uint32{xx(uint32(i + things)), xx(uint32(i+things)) + 2}}, "/behind/%d?is=%x", i)
			}
		}
		if asked > c.most || c.most == things && asked < things {
			t.Errorf("%s: %d of %d asked for, want %d", name, asked, things, c.most)
		}
	}
}
