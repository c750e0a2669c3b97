package yield

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// A part is learned only from URLs that differ in it: a session that makes no difference says nothing of the shop's name,
// which is the same in all of them; and what a template's answers added before the session was known is given back.
func TestPartIsLearnedFromWhatDiffersInIt(t *testing.T) {
	m := New()
	kinds := map[byte]int{}
	for i := range 400 {
		u, err := crawl.Parse(fmt.Sprintf("http://h.test/shop-1/item/%d;s=a%07xb%d", i%20, i*7919, i%7))
		if err != nil {
			t.Fatal(err)
		}
		id := m.Template(u)
		sample := make([]uint32, 12)
		for k := range sample {
			sample[k] = uint32(i%20*100 + k)
		}
		m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: uint64(i%20+1) << 40, Sample: sample, Links: 5, Found: 5})
	}
	for _, parts := range m.learned {
		for _, g := range parts {
			kinds[g.Part.Kind]++
		}
	}
	if len(kinds) != 1 || kinds[partInner] != 1 {
		t.Fatalf("learned %v, want the session alone", kinds)
	}
	for _, tm := range m.byID {
		if g := m.groups[tm.Group]; g.Cut || g.Sum > 0 {
			t.Errorf("template %s: sum %d, cut %v", tm.Pattern, g.Sum, g.Cut)
		}
	}
}

// Texts of which a quotation differs are the same where those of other articles are clearly different; where most of a text is
// the same on all pages and the rest on none, that two pages are nearly the same says nothing.
func TestPartIsLearnedFromTextsThatAreNearlyTheSame(t *testing.T) {
	for _, share := range []int{0, 36} { // phrases that all articles have in common
		m := New()
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range 600 {
			u, err := crawl.Parse(fmt.Sprintf("http://h.test/item/%d;s=a%07xb%d", i*7%30, i*7919, i%7))
			if err != nil {
				t.Fatal(err)
			}
			sample := make([]uint32, 48)
			for k := range sample {
				switch {
				case k < share:
					sample[k] = xx(uint32(k))
				case k < 40 && share == 0:
					sample[k] = xx(uint32(i*7%30*100 + k))
				default:
					sample[k] = rng.Uint32()
				}
			}
			slices.Sort(sample)
			m.Take(&Answer{URL: u, Template: m.Template(u), Page: true, Marked: true, Text: rng.Uint64(), Sample: sample, Links: 5})
		}
		learned := 0
		for _, parts := range m.learned {
			learned += len(parts)
		}
		if want := share == 0; (learned > 0) != want {
			t.Errorf("%d of 48 phrases are in all texts: learned %d parts", share, learned)
		}
	}
}

func xx(n uint32) uint32 { return uint32(xxh3.HashString(fmt.Sprint(n))) }

// Values that differ in a number are of a series, not of sessions: pages whose texts differ in the same number are of different
// things, whatever stands around the number.
func TestStemsOfASeries(t *testing.T) {
	for _, series := range [][]string{{"3.html", "14.html"}, {"page-3", "page-77"}, {"v1.2", "v1.30"}} {
		if a, b := stem(series[0]), stem(series[1]); a == 0 || a != b {
			t.Errorf("%q: %d and %d", series, a, b)
		}
	}
	for _, ids := range [][]string{{"a1b2c3d4", "9f8e7d6c"}, {"words", "words"}} {
		if a, b := stem(ids[0]), stem(ids[1]); a != 0 && a == b {
			t.Errorf("%q: one stem, %d", ids, a)
		}
	}
}
