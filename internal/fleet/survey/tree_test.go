package survey

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
)

// Branches add up, however deep.
func TestBranchCounts(t *testing.T) {
	root := &Branch{State: "fetched"}
	at := root
	for i := range 200_000 {
		next := &Branch{State: "fetched", OnTopic: i%10 == 0, URL: "x"}
		at.Under = append(at.Under, next, &Branch{State: "pending"})
		at = next
	}
	root.count()
	if root.Pages != 200_001 || root.Relevant != 20_000 {
		t.Errorf("%d pages, %d on the topic", root.Pages, root.Relevant)
	}
}

func numbered(n int) (k crawl.Key) {
	if n > 0 {
		binary.BigEndian.PutUint32(k[:], uint32(n))
	}
	return k
}

// Every page is in the trees, once, whatever pages are said to have named which: loops, pages that are not there, other crawlers' pages.
func TestTreeHasAll(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var tree Tree
		var want, got []string
		pages, crawlers := 1+rng.IntN(12), rng.IntN(4)
		for c := range crawlers + 1 {
			for n := 1; n <= pages; n++ {
				if rng.IntN(4) == 0 || crawlers > 0 && c == 0 {
					continue
				}
				u := frontier.URL{Layer: crawl.Layer{Owner: uint32(c)}, Key: numbered(n), Parent: numbered(rng.IntN(pages + 1)), Depth: uint16(rng.IntN(4)), State: crawl.Fetched, URL: fmt.Sprintf("%d %d", c, n)}
				tree.Add(u)
				want = append(want, u.URL)
			}
		}
		roots := tree.Roots()
		counted := 0
		for _, r := range roots {
			counted += r.Pages
		}
		for level := roots; len(level) > 0; {
			var next []*Branch
			for _, b := range level {
				got = append(got, b.URL)
				next = append(next, b.Under...)
			}
			level = next
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) || counted != len(want) {
			t.Fatalf("seed %d: the trees have %v and count %d pages, the crawl %v", seed, got, counted, want)
		}
	}
}

// What a seed names is dealt out to a crawler that has not fetched it; when that one comes back to the seed, by a link on a page that it was
// dealt, the page still stands under the seed that named it, and the crawler's own copy of the seed under the page.
func TestTreeOfDealtPages(t *testing.T) {
	var tree Tree
	for _, u := range []frontier.URL{
		{Layer: crawl.Layer{Owner: 2}, Key: numbered(1), Parent: numbered(2), Depth: 2, URL: "the second's copy"},
		{Layer: crawl.Layer{Owner: 2}, Key: numbered(2), Parent: numbered(1), Depth: 1, URL: "a page"},
		{Layer: crawl.Layer{Owner: 1}, Key: numbered(1), URL: "the seed"},
	} {
		tree.Add(u)
	}
	r := tree.Roots()
	if len(r) != 1 || r[0].URL != "the seed" || len(r[0].Under) != 1 || r[0].Under[0].URL != "a page" || len(r[0].Under[0].Under) != 1 {
		t.Errorf("%+v", r)
	}
}

// A part of trees is what stands under a page, what names something and what is above that, and the next so many; what is left out is told.
func TestPartsOfTrees(t *testing.T) {
	trees := func() []*Branch {
		leaf := func(url string, crawler uint32) *Branch { return &Branch{URL: url, Crawler: crawler} }
		a := leaf("/a", 1)
		a.Under = []*Branch{leaf("/a/1", 1), leaf("/a/2", 1), {URL: "/a/3", Anchor: "The Moon", Under: []*Branch{leaf("/a/3/x", 1)}}, leaf("/a/4", 1)}
		b := leaf("/b", 1)
		b.Under = []*Branch{{URL: "/a", Crawler: 2, Under: []*Branch{leaf("/of-2", 2)}}}
		return []*Branch{a, b}
	}
	var flat func(bs []*Branch) (out []string)
	flat = func(bs []*Branch) (out []string) {
		for _, b := range bs {
			out = append(out, b.URL)
			if b.Folded > 0 {
				out = append(out, fmt.Sprint("+", b.Folded))
			}
			out = append(out, flat(b.Under)...)
		}
		return out
	}
	for _, c := range []struct {
		part   TreePart
		want   []string
		folded int
	}{
		{TreePart{Most: 100}, []string{"/a", "/a/1", "/a/2", "/a/3", "/a/3/x", "/a/4", "/b", "/a", "/of-2"}, 0},
		{TreePart{Most: 4}, []string{"/a", "+2", "/a/1", "/a/2", "/b", "+1"}, 0},
		{TreePart{Most: 1}, []string{"/a", "+4"}, 1},
		{TreePart{Most: 2, Skip: 1}, []string{"/b", "/a", "+1"}, 0},
		{TreePart{Most: 2, Under: "/a"}, []string{"/a/1", "/a/2"}, 2},
		{TreePart{Most: 2, Under: "/a", Skip: 2}, []string{"/a/3", "+1", "/a/4"}, 0},
		{TreePart{Most: 9, Under: "/a", Crawler: 2}, []string{"/of-2"}, 0},
		{TreePart{Most: 9, Under: "/none"}, nil, 0},
		{TreePart{Most: 9, Skip: 9}, nil, 0},
		{TreePart{Most: 9, Find: "moon"}, []string{"/a", "/a/3"}, 0},
		{TreePart{Most: 9, Find: "OF-"}, []string{"/b", "/a", "/of-2"}, 0},
	} {
		if got, folded := c.part.Of(trees()); !slices.Equal(flat(got), c.want) || folded != c.folded {
			t.Errorf("%+v: %q and %d more, want %q and %d", c.part, flat(got), folded, c.want, c.folded)
		}
	}
}
