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

// BenchmarkFlush measures what it costs to keep one answer of a large site: of hundreds of templates and two thousand parts one each has changed.
func BenchmarkFlush(b *testing.B) {
	m := New()
	put := func([]byte, []byte) error { return nil }
	drop := func([]byte) error { return nil }
	for i := range uint32(maxTemplates) {
		u, err := crawl.Parse(fmt.Sprintf("http://s.test/%c/?%c%c=1", 'a'+i%24, 'a'+i/24%26, 'a'+i/624))
		if err != nil {
			b.Fatal(err)
		}
		m.Template(u)
		m.guessOf(Part{Kind: partParam, Name: "q", Template: i})
		m.guessOf(Part{Kind: partOrder, Template: i})
	}
	b.ReportMetric(float64(len(m.byID)), "templates")
	b.ReportAllocs()
	for b.Loop() {
		t := m.byID[7]
		m.guesses[Part{Kind: partOrder, Template: t.ID}.hash()].dirty = true
		m.touch(t, m.groups[t.Group])
		if err := m.Flush(put, drop); err != nil {
			b.Fatal(err)
		}
	}
}
