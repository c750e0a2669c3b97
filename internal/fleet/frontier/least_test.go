package frontier

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/page/topic"
)

// What the n best URLs promise at least is what sorting all that wait says, whichever tasks count, and of each as many as may.
func TestLeastIsOfTheBest(t *testing.T) {
	t.Parallel()
	const sites = 12
	about, err := topic.Words("asynchronous iterators", "en")
	if err != nil {
		t.Fatal(err)
	}
	rng := rand.New(rand.NewPCG(3, 4))
	f := open(t, vfs.NewMem())
	walk := &walk{t: t, f: f}
	walk.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	walk.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{
		Scope: crawl.ScopeAny, Seeds: []string{"http://s.test/"}, Topic: about, Order: crawl.OrderBest, Tunnel: -1,
	}}})
	seed, err := f.Next(1, 1)
	if err != nil || len(seed) != 1 {
		t.Fatal(seed, err)
	}
	walk.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{{
		ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 9, Targets: seed,
	}}})
	found := crawl.Found{Parent: seed[0].Key, Score: 0.5}
	for i := range 400 {
		anchor := []string{"await", "asynchronous", "asynchronous iterators", "weather", "iterators of snow"}[rng.IntN(5)]
		found.Links = append(found.Links, crawl.Link{URL: fmt.Sprintf("http://s%d.test/%d", rng.IntN(sites), i), Anchor: anchor})
	}
	walk.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{
		Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: 1, Final: true, Found: []crawl.Found{found},
		Outcomes: []crawl.Outcome{{Key: seed[0].Key, URL: seed[0].URL, State: crawl.Fetched, Status: 200, HTML: true, Score: 0.5}},
	}}})
	cuts := map[float64]bool{}
	for range 200 {
		most := map[uint32]int{}
		f.Tasks(func(t *Task) { most[t.ID] = []int{0, 1, 3, 1000}[rng.IntN(4)] })
		n := 1 + rng.IntN(100)
		by := map[uint32]float64{}
		f.Tasks(func(t *Task) { by[t.ID] = []float64{1, 1, 3, 50}[rng.IntN(4)] })
		got, err := f.Least(1, 0, n, func(t *Task) float64 { return by[t.ID] }, func(t *Task) int { return most[t.ID] })
		if want := leastBySorting(t, f, n, by, most); err != nil || got != want {
			t.Fatalf("the best %d of %v: %v, %v; want %v", n, most, got, err, want)
		}
		cuts[got] = true
	}
	if len(cuts) < 4 {
		t.Errorf("only %v came of it", cuts)
	}
}

// leastBySorting is what Least returns, from all queues.
func leastBySorting(t *testing.T, f *Frontier, n int, by map[uint32]float64, most map[uint32]int) float64 {
	t.Helper()
	it, err := f.db.NewIter(&pebble.IterOptions{LowerBound: []byte{'q'}, UpperBound: after([]byte{'q'})})
	if err != nil {
		t.Fatal(err)
	}
	defer it.Close()
	taken, counts := map[uint32]int{}, []float64(nil)
	for ok := it.First(); ok; ok = it.Next() {
		id := binary.BigEndian.Uint32(it.Key()[1:5])
		if taken[id] < most[id] {
			taken[id]++
			counts = append(counts, Lowered(promised(binary.BigEndian.Uint64(it.Key()[5:])), by[id]))
		}
	}
	if len(counts) <= n {
		return 0
	}
	slices.Sort(counts)
	return counts[len(counts)-n]
}

// What a promise counts for gives the promise again, or a hair less.
func TestLoweredIsRaised(t *testing.T) {
	t.Parallel()
	for _, by := range []float64{1, 1.5, 20, 90} {
		for p := 0.01; p < 1; p += 0.01 {
			back := Raised(Lowered(p, by), by)
			if low := Lowered(p, by); back > p || p-back > 1e-4 || low > p || by > 1 && low == p {
				t.Errorf("%v by %v: %v, and back %v", p, by, low, back)
			}
		}
	}
}
