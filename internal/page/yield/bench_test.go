package yield

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// BenchmarkTake measures what it costs to judge a page that was marked, and to keep what is remembered of it: pages of chapters come about
// in their order, two in three of their phrases were not there before, and ten answers are kept at once.
func BenchmarkTake(b *testing.B) {
	random := rand.New(rand.NewPCG(1, 1))
	m := New()
	put := func([]byte, []byte) error { return nil }
	drop := func([]byte) error { return nil }
	answers := make([]Answer, b.N)
	for i := range answers {
		no := i/64*64 + random.IntN(64)
		u, err := crawl.Parse(fmt.Sprintf("http://s.test/section/chapter-%d/page-%d.html", no/40, no))
		if err != nil {
			b.Fatal(err)
		}
		a := Answer{URL: u, Page: true, Marked: true, Text: random.Uint64(), Links: 20, Found: 6}
		for j := range parse.MaxPhrases {
			mark := uint32(j) * 0x9e3779b1
			if j%3 > 0 {
				mark = random.Uint32()
			}
			a.Sample = append(a.Sample, mark)
		}
		for range 4 {
			a.Figures, a.Numbers = append(a.Figures, random.Uint32()), append(a.Numbers, uint32(no)+random.Uint32N(2))
		}
		answers[i] = a
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range answers {
		a := &answers[i]
		a.Template = m.Template(a.URL)
		a.Via = a.Template
		m.Take(a)
		if i%10 == 9 {
			if err := m.Flush(put, drop); err != nil {
				b.Fatal(err)
			}
		}
	}
}
