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
