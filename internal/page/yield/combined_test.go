package yield

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// Songs of an hour, all of which other hours have had: each list is another one, and all are had. Where it is drawn anew for each reader it ends, as does a
// calendar, whose days differ in names of days and months; and so do pairs of things, and what looks random.
func TestCombinationsOfKnownPhrases(t *testing.T) {
	const pages, songs, each, frame = 1000, 250, 12, 24
	song := func(sample []uint32, i int) []uint32 {
		return append(sample, xx(uint32(i)*2)&^1, xx(uint32(i)*2+1)&^1)
	}
	list := func(i int) (sample []uint32) {
		rng := rand.New(rand.NewPCG(uint64(i), 1))
		for range each {
			sample = song(sample, rng.IntN(songs))
		}
		return sample
	}
	for name, c := range map[string]struct {
		url         string // of a page by its number
		least, most int
		of          func(i int, a *Answer)
	}{
		"songs": {"/hour/%d", pages, pages, func(i int, a *Answer) { a.Sample = append(a.Sample, list(i)...) }},
		"drawn": {"/hour/%d", 0, limit + pages/10, func(i int, a *Answer) {
			if a.Twice = i%drawnSoon == 0; a.Twice {
				a.Changed = true
				return
			}
			a.Sample = append(a.Sample, list(i)...)
		}},
		"days": {"/day/%d", 0, limit + pages/10, func(i int, a *Answer) {
			a.Sample = append(a.Sample, xx(uint32(7000+i%7))&^1, xx(uint32(8000+i/30%12))&^1)
		}},
		"pairs":  {"/pair/%d-%[1]d", 0, limit + pages/10, func(i int, a *Answer) { a.Sample = append(a.Sample, list(i)...) }},
		"random": {"/at/f%07xa9b1c3", 0, limit + pages/10, func(i int, a *Answer) { a.Sample = append(a.Sample, list(i)...) }},
	} {
		m, asked := New(), 0
		for i := range songs {
			m.fresh(0, song(nil, i))
		}
		for i := range 12 {
			m.fresh(0, []uint32{xx(uint32(7000+i)) &^ 1, xx(uint32(8000+i)) &^ 1})
		}
		via := uint32(0)
		for i := range pages {
			u := parsed(t, "http://h.test"+fmt.Sprintf(c.url, i))
			if m.Judge(u, via, false).Wait {
				continue
			}
			asked++
			a := Answer{URL: u, Template: m.Template(u), Via: via, Page: true, Marked: true, Text: uint64(i+10) << 32, Links: 1, Found: 1, Feeds: Feeds{Own: 1, Led: 1, Same: 1}}
			for k := range uint32(frame) {
				a.Sample = append(a.Sample, xx(9000+k)&^1)
			}
			c.of(i, &a)
			a.Sample = sorted(a.Sample)
			via = a.Template
			m.Take(&a)
		}
		if asked < c.least || asked > c.most {
			t.Errorf("%s: %d of %d pages asked for, want %d to %d", name, asked, pages, c.least, c.most)
		}
	}
}
