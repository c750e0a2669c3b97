package yield

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// A page that is a template of its own, and of which a few words differ each time, is held against pages of other templates where each page draws the
// session anew. Where pages hand an id on, a page may be what it was at one commit or another, and is held against none.
func TestSessionOfPagesWithOtherWordsAround(t *testing.T) {
	for _, drawn := range []bool{true, false} {
		m, rng := New(), rand.New(rand.NewPCG(1, 2))
		sid := func() string { return fmt.Sprintf("%016x", rng.Uint64()|1<<63) }
		visit := func(page string) {
			url := page + "s=" + sid()
			sample := make([]uint32, 24)
			for k := range sample {
				if sample[k] = xx(uint32(len(page)*1000+int(page[len(page)-2])) + uint32(k)<<20); k%8 == 0 {
					sample[k] = rng.Uint32()
				}
			}
			slices.Sort(sample)
			u := parsed(t, url)
			next := "http://h.test/next?s=" + sid()
			if !drawn {
				next = "http://h.test/next?" + url[len(page):]
			}
			a := Answer{URL: u, Template: m.Template(u), Page: true, Marked: true, Text: rng.Uint64(), Sample: sample, Links: 5}
			m.Feed(&a.Feeds, parsed(t, next), a.Template, url)
			m.Take(&a)
		}
		for i := range 60 {
			visit(fmt.Sprintf("http://h.test/item?id=%d&", i%10))
		}
		if _, learned := m.Rest(parsed(t, "http://h.test/item?id=3&s="+sid())); !learned {
			t.Fatalf("drawn anew %v: the session of items is not known", drawn)
		}
		for range 4 {
			visit("http://h.test/about?")
			visit("http://h.test/help?")
		}
		if _, learned := m.Rest(parsed(t, "http://h.test/about?s="+sid())); learned != drawn {
			t.Errorf("drawn anew %v: the session of a page by itself is known: %v", drawn, learned)
		}
	}
}
