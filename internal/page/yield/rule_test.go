package yield

import (
	"fmt"
	"testing"
)

// rows has a Model judge answers of /row/0, /row/1, …, each named by the one before, until they are cut, and returns how many that took.
func rows(t *testing.T, most int, of func(i int) Answer) (n int) {
	t.Helper()
	m := New()
	for ; n < most && m.Cuts() == 0; n++ {
		a := of(n)
		a.URL = parsed(t, fmt.Sprintf("http://h.test/row/%d", n))
		a.Template = m.Template(a.URL)
		a.Via, a.Marked, a.Links, a.Found, a.Feeds = a.Template, true, 1, 1, Feeds{Own: 1, Led: 1, Same: 1}
		m.Take(&a)
	}
	return n
}

func TestRowsWithoutEnd(t *testing.T) {
	phrases := func(i, n int) (s []uint32) {
		for k := range n {
			s = append(s, xx(uint32(i*n+k))&^1)
		}
		return s
	}
	const never = 4 * limit
	for name, c := range map[string]struct {
		least, most int
		of          func(i int) Answer
	}{
		"the same words in another order": {100, limit + 2*dryAfter, func(i int) Answer {
			return Answer{Page: true, Text: 7<<32 | uint64(i), Sample: phrases(i, 20)}
		}},
		"four redirects to each page, which are equal": {100, limit, func(i int) Answer {
			if i%5 > 0 {
				return Answer{Moved: true, Text: uint64(i) << 32}
			}
			return Answer{Page: true, Text: 1 << 32, Sample: phrases(0, 20)}
		}},
		"new texts": {never, never, func(i int) Answer { return Answer{Page: true, Text: uint64(i+1) << 32, Sample: phrases(i, 20)} }},
		"new figures in sentences": {reportsCost * (limit - 2*newPays), reportsCost*limit + 2*dryAfter, func(i int) Answer {
			a := Answer{Page: true, Text: uint64(i+1) << 32, Sample: phrases(0, 20)}
			for _, f := range phrases(i, someSaid) {
				a.Figures = append(a.Figures, f|1)
			}
			return a
		}},
		"few figures in sentences": {100, limit + 2*dryAfter, func(i int) Answer {
			a := Answer{Page: true, Text: uint64(i+1) << 32, Sample: phrases(0, 20)}
			for _, f := range phrases(i, someSaid-1) {
				a.Figures = append(a.Figures, f|1)
			}
			return a
		}},
	} {
		if n := rows(t, never, c.of); n < c.least || n > c.most {
			t.Errorf("%s: %d answers, want %d to %d", name, n, c.least, c.most)
		}
	}
}

// Choices in every order are paths of many shapes, none of which gets many answers before the next one comes. They are cut together, and
// what a productive page names below the same directory is tried a few times only.
func TestManyShapesAreOneTrap(t *testing.T) {
	const each = 12
	m := New()
	list := m.Template(parsed(t, "http://h.test/pick/list"))
	m.Take(&Answer{URL: parsed(t, "http://h.test/pick/list"), Template: list, Page: true, Marked: true, Text: 1 << 32, Sample: []uint32{2, 4, 6}})
	answers, passed := 0, 0
	for shape := range 200 {
		name := string(rune('a'+shape%10)) + string(rune('a'+shape/10))
		for i := range each {
			u := parsed(t, fmt.Sprintf("http://h.test/pick/%s/%s-x", name, string(rune('a'+i))))
			if m.Judge(u, list).Wait {
				continue
			}
			if m.Cuts() > 0 {
				passed++
			}
			answers++
			id := m.Template(u)
			m.Take(&Answer{URL: u, Template: id, Via: list, Page: true, Marked: true, Text: uint64(answers+1) << 32, Sample: []uint32{2, 4, 6}, Links: 10, Found: 5, Feeds: Feeds{Own: 5}})
			m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: uint64(answers+1) << 32, Sample: []uint32{2, 4, 6}, Links: 10, Found: 5, Feeds: Feeds{Own: 5}})
		}
	}
	if m.Cuts() == 0 || answers > limit {
		t.Errorf("%d cuts after %d answers", m.Cuts(), answers)
	}
	if passed > strangers+each {
		t.Errorf("%d URLs of further shapes were asked for", passed)
	}
}

// A page to print, whose text is that of the page itself, is told by the address of that page.
func TestPageToPrint(t *testing.T) {
	m := New()
	for i := range 20 {
		for _, form := range []string{"http://h.test/show?day=%d", "http://h.test/show?day=%d&print=1"} {
			u := parsed(t, fmt.Sprintf(form, i))
			id := m.Template(u)
			m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: uint64(i+1) << 32, Sample: []uint32{2, 4, 6}})
		}
	}
	rest, changed := m.Rest(parsed(t, "http://h.test/show?day=99&print=1"))
	if want := parsed(t, "http://h.test/show?day=99").Key(); !changed || rest.Bare != want {
		t.Errorf("changed %v, the page itself is %v, want %v", changed, rest.Bare, want)
	}
}
