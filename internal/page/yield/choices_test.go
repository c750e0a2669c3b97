package yield

import "testing"

// Choices whose order makes no difference are one list, however many of them are made: their templates are one trap once they bring nothing, stay one when
// one of them brings something, and are not heard by themselves.
func TestChoicesAreOneTrap(t *testing.T) {
	m := New()
	choice := func(url string, dry int64, order bool) *Template {
		u := parsed(t, url)
		c := m.of(u)
		c.Dry, c.Barren, c.Marked, c.Cost = dry, 100, 100, 100
		m.groups[c.Group].Sum = 100
		if order {
			m.learn(&guess{Part: Part{Kind: partOrder, Template: c.ID}, Group: m.newGroup().ID})
		}
		return c
	}
	one := choice("http://h.test/find?colour=1&size=2", dryAfter, true)
	two := choice("http://h.test/find?colour=1&price=2", dryAfter, true)
	fresh := choice("http://h.test/find?price=1&size=2", dryAfter-1, true)
	pages := choice("http://h.test/find?page=1&size=2", dryAfter, false)
	other := choice("http://h.test/seek?colour=1&size=2", dryAfter, true)
	g := m.joinChoices(one)
	if two.Group != g.ID || one.Group != g.ID || other.Group != g.ID || g.Sum != 300 {
		t.Fatalf("groups %d and %d, sum %d", one.Group, two.Group, g.Sum)
	}
	for _, c := range []*Template{fresh, pages} {
		if c.Group == g.ID {
			t.Errorf("%s is one of them", c.Pattern)
		}
	}
	one.New = 1
	if m.brought(one, two, &Answer{}, newPays); one.Group != g.ID || g.Sum != 300-newPays {
		t.Errorf("one has brought something: group %d, sum %d", one.Group, g.Sum)
	}
	g.Sum = g.limit()
	m.cut(g, &Answer{URL: parsed(t, "http://h.test/find?colour=1&size=2"), Template: one.ID})
	if m.brought(one, two, &Answer{}, newPays); g.Cut || one.Group != g.ID || two.Group != g.ID {
		t.Errorf("one has brought something after the cut: cut %v, groups %d and %d", g.Cut, one.Group, two.Group)
	}
	if !m.filters(pages) || m.filters(m.of(parsed(t, "http://h.test/about?page=1"))) {
		t.Error("the pages of a list stand beside its choices, and those of another do not")
	}
}

// Where combinations of choices are cut, one URL of each new kind of that list is tried; those of another list are asked for as any URL is: the second page of
// a list has all its choices in its address.
func TestCombinationsOfAnotherListAreNotCut(t *testing.T) {
	m := New()
	for _, url := range []string{"http://h.test/find?colour=1&size=2", "http://h.test/find?colour=1&price=2"} {
		c := m.of(parsed(t, url))
		c.Barren, c.Marked = 100, 100
		m.learn(&guess{Part: Part{Kind: partOrder, Template: c.ID}, Group: m.newGroup().ID})
		m.cut(m.groups[c.Group], &Answer{URL: parsed(t, url), Template: c.ID})
	}
	via := m.of(parsed(t, "http://h.test/"))
	via.New, via.Marked = 1, 1
	if v := m.Judge(parsed(t, "http://h.test/find?price=1&size=2"), via.ID, false); !v.Try {
		t.Errorf("a new kind of the list: %+v", v)
	}
	if v := m.Judge(parsed(t, "http://h.test/seek?price=1&size=2"), via.ID, false); v != (Verdict{}) {
		t.Errorf("a kind of another list: %+v", v)
	}
}
