package yield

import (
	"fmt"
	"testing"

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
