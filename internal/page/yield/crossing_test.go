package yield

import (
	"fmt"
	"testing"

	"argosy/internal/crawl"
)

// What is said of a name on a day is new unless the name or the day tells it, or it is drawn anew for each reader.
func TestNumbersOfNamesAndDays(t *testing.T) {
	const names, all = 30, 1500
	of := func(key, most int) uint32 { return 1 + xx(uint32(key))%uint32(most) }
	for what, c := range map[string]struct {
		numbers func(name, day, visit int) []uint32
		had     bool
	}{
		"levels": {func(name, day, _ int) []uint32 { return []uint32{of(name*1000+day, 900), of(name*1000+day+1<<20, 900)} }, true},
		"small": {func(name, day, _ int) []uint32 {
			return []uint32{of(name*1000+day, 5), of(name*1000+day+1<<20, 5), of(name*1000+day+1<<21, 5)}
		}, true},
		"of the day":  {func(_, day, _ int) []uint32 { return []uint32{of(day, 900), of(day+1<<20, 900)} }, false},
		"of the name": {func(name, _, _ int) []uint32 { return []uint32{of(name, 900), of(name+1<<20, 900)} }, false},
		"of either":   {func(name, day, _ int) []uint32 { return []uint32{of(name, 900), of(day+1<<20, 900)} }, false},
		"drawn":       {func(_, _, visit int) []uint32 { return []uint32{of(visit, 900), of(visit+1<<20, 900)} }, false},
		"levels beside what is drawn": {func(name, day, visit int) []uint32 {
			return []uint32{of(name*1000+day, 900), of(name*1000+day+1<<20, 900), of(visit, 900)}
		}, true},
	} {
		m, n := New(), 0
		for ; n < all && m.Cuts() == 0; n++ {
			name, day := n%names, n/names
			url := fmt.Sprintf("http://h.test/of/%s/2026-%02d-%02d", string([]byte{'k' + byte(name/5), 'o', 'p' + byte(name%5), 'a'}), day/28+1, day%28+1)
			a := Answer{URL: parsed(t, url), Page: true, Marked: true, Text: uint64(n+1) << 32, Sample: []uint32{2, 4, 6, 8}, Numbers: c.numbers(name, day, n)}
			a.Template = m.Template(a.URL)
			a.Via, a.Links, a.Found, a.Feeds = a.Template, 1, 1, Feeds{Own: 1, Led: 1, Same: 1}
			if m.Want(a.Template, a.Via, a.URL.Key()).Mark == crawl.MarkTwice {
				a.Twice = true
				for i, v := range c.numbers(name, day, n+all) {
					if v != a.Numbers[i] {
						a.Numbers[i], a.Changed = crawl.Drawn, true
					}
				}
			}
			m.Take(&a)
		}
		if had := n == all; had != c.had {
			t.Errorf("%s: %d answers of %d until the cut", what, n, all)
		}
	}
}

// A code at the end of paths of many kinds stands for what the page is called; a number of a list's page does not.
func TestCodes(t *testing.T) {
	for end, want := range map[string]bool{"berfo01.html": true, "k204": true, "page-2": false, "about": false, "17": false, "1f3a9c0d7e21": false} {
		m := New()
		m.pieces.split(parsed(t, "http://h.test/players/b/"+end))
		if got := m.coded(&Template{Pattern: bagPrefix + "players/…"}); got != want {
			t.Errorf("%s: %v", end, got)
		}
		if m.coded(&Template{Pattern: "/players/*/*"}) {
			t.Errorf("%s stands for a thing in paths of one kind", end)
		}
	}
}

// Coordinates are of one place, and not a list of two things.
func TestCoordinates(t *testing.T) {
	for s, want := range map[string]bool{"52.5163,13.3777": true, "-33.8,151.2": true, "52,13": false, "91.5,13.2": false, "red,blue": false, "1.5,2.5,3.5": false, "NaN.,1.0": false} {
		if got := coordinates(s); got != want || got == (separator(s) == ",") {
			t.Errorf("%s: %v", s, got)
		}
	}
}
