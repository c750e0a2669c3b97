package yield

import (
	"fmt"
	"strings"
	"testing"

	"argosy/internal/crawl"
)

// Pages that differ in numbers alone go on where these do not follow from the address, as long as other pages that are new by little do; those of
// a calendar, of a list's pages and of what counts readers end as soon as equal ones do.
func TestNumbersThatFollow(t *testing.T) {
	of := func(i, most int) uint32 { return xx(uint32(i)) % uint32(most) }
	draw := func(i int) (says []uint32) {
		for k := range 6 {
			says = append(says, 1+of(7*i+k, 49))
		}
		return says
	}
	for name, c := range map[string]struct {
		at      string
		numbers func(i int) []uint32
		drawn   bool
		most    int
	}{
		"years":   {"/person/%d", func(i int) []uint32 { return []uint32{1600 + of(i, 300), 1650 + of(i*7+1, 300)} }, false, 3000},
		"sparse":  {"/person?tree=1&id=I%d00371", func(i int) []uint32 { return []uint32{1600 + of(i, 300), 1650 + of(i*7+1, 300)} }, false, 3000},
		"ages":    {"/book/3/%d", func(i int) []uint32 { return []uint32{of(i, 90), of(i*3+1, 90), of(i*5+2, 140)} }, false, 3000},
		"private": {"/person/%d", func(i int) []uint32 { return []uint32{1600 + of(i, 300), 1650 + of(i*7+1, 300)}[:2*(i%4/2)] }, false, 3000},
		"stock": {"/stock?of=%d", func(i int) []uint32 {
			if i%20 != 7 {
				return []uint32{0}
			}
			return []uint32{1 + of(i, 9000)}
		}, false, 3000},
		"weeks": {"/week/%d", func(i int) []uint32 { return []uint32{uint32(2000 + i/52)} }, false, limit + 40},
		"pages": {"/list?from=%d0", func(i int) []uint32 { return []uint32{uint32(i*10 + 1), uint32(i*10 + 10), uint32(i / 7)} }, false, limit + 40},
		"calendar": {"/week/%d", func(i int) []uint32 {
			return []uint32{uint32(i * 7 % 30), uint32(i * 7 / 30 % 12), uint32(2000 + i/52)}
		}, false, limit + 40},
		"a date":                          {"/2026/11/%d", func(i int) []uint32 { return []uint32{of(i, 9000), of(i*7, 9000)} }, false, limit + 40},
		"draws of dates":                  {"/draw/%04d-%02d-%02d", draw, false, 3000},
		"draws of dates, for each reader": {"/draw/%04d-%02d-%02d", draw, true, limit + 40},
		"moments":                         {"/at/%d", draw, false, limit + 40},
		"days of months": {"/day/%04d-%02d-%02d", func(i int) []uint32 {
			return []uint32{uint32(i % 9), uint32(i % 104 / 9), uint32(i / 104), uint32(i * 2 / 5), uint32(i % 7)}
		}, false, limit + 40},
		"choices":   {"/find?a=%[1]d&b=%[1]d&c=%[1]d", func(i int) []uint32 { return []uint32{of(i, 9000), of(i*7, 9000)} }, false, limit + 40},
		"one of 40": {"/row/%d", func(i int) []uint32 { return []uint32{7, of(i, 40), 2026} }, false, limit + 80},
		"readers":   {"/row/%d", func(i int) []uint32 { return []uint32{of(i, 900), of(i*7, 900)} }, true, 500},
	} {
		m, n := New(), 0
		for ; n < 3000 && m.Cuts() == 0; n++ {
			at := n
			if name == "a date" {
				at = n % 28
			}
			if name == "moments" {
				at = 1_700_000_000 + 60*n
			}
			url := fmt.Sprintf("http://h.test"+c.at, at)
			if strings.Count(c.at, "%") == 3 && strings.Contains(c.at, "-") {
				url = fmt.Sprintf("http://h.test"+c.at, 1995+n/104, n%104/9+1, n%104%9*3+1)
			}
			a := Answer{URL: parsed(t, url), Page: true, Marked: true, Text: uint64(n+1) << 32, Sample: []uint32{2, 4, 6, 8}, Numbers: c.numbers(n)}
			a.Template = m.Template(a.URL)
			a.Via, a.Links, a.Found, a.Feeds = a.Template, 1, 1, Feeds{Own: 1, Led: 1, Same: 1}
			if m.Want(a.Template, a.Via, a.URL.Key()).Mark == crawl.MarkTwice {
				if a.Twice = true; c.drawn {
					a.Text, a.Numbers, a.Changed = 1<<32, nil, true
				}
			}
			m.Take(&a)
		}
		if least := c.most; n > c.most || c.most == 3000 && n < least {
			t.Errorf("%s: cut after %d answers, want %d", name, n, c.most)
		}
	}
}

// What is shown of two things side by side follows from the two numbers of its address once either thing was shown beside another. What only the
// two have together does not. As there are as many such pages as pairs, they are not spared when they name few more.
func TestNumbersOfTwoThings(t *testing.T) {
	const things = 80
	of := func(i, most int) uint32 { return xx(uint32(i)) % uint32(most) }
	for name, c := range map[string]struct {
		numbers func(a, b int) []uint32
		own     int // URLs of their kind that pages name
		most    int
	}{
		"compared":  {func(a, b int) []uint32 { return []uint32{of(a, 900), of(a*7+1, 9000), of(b, 900), of(b*7+1, 9000)} }, 1, limit},
		"all named": {func(a, b int) []uint32 { return []uint32{of(a, 900), of(a*7+1, 9000), of(b, 900), of(b*7+1, 9000)} }, 0, limit},
		"between":   {func(a, b int) []uint32 { return []uint32{of(a*things+b, 900), of(a*things+b+1<<20, 9000)} }, 1, 3000},
		"some": {func(a, b int) []uint32 {
			return []uint32{of(a, 900), of(b, 900), of(a*things+b, 9000), of(a*things+b+1<<20, 900)}
		}, 1, 3000},
	} {
		m, n := New(), 0
		for i := 0; n < 3000 && m.Cuts() == 0; i++ {
			at := i * 1009 % (things * things) // all pairs, in no order
			x, y := at/things, at%things
			if x >= y {
				continue
			}
			a := Answer{URL: parsed(t, fmt.Sprintf("http://h.test/compare/%d-%d", x, y)), Page: true, Marked: true, Text: uint64(at+1) << 32, Sample: []uint32{2, 4, 6, 8}, Numbers: c.numbers(x, y)}
			a.Template = m.Template(a.URL)
			a.Via, a.Links, a.Found, a.Feeds = a.Template, 1, 1, Feeds{Own: c.own, Led: c.own, Same: c.own}
			a.Twice = m.Want(a.Template, a.Via, a.URL.Key()).Mark == crawl.MarkTwice
			m.Take(&a)
			n++
		}
		if n > c.most || c.most == 3000 && n < c.most {
			t.Errorf("%s: cut after %d answers, want %d", name, n, c.most)
		}
	}
}
