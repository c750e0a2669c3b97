package schedule

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"argosy/internal/plan/predict"
)

// What is recalled of leases is what was held of those that run still, and of the tasks of those that have ended, whatever
// began and ended in between.
func TestRecallFollowsLeases(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 300 {
		m := &Memory{kept: map[uint32]*kept{}}
		was := map[uint64]held{}
		for id := uint64(1); id <= 20; id++ {
			if r.IntN(2) == 0 {
				was[id] = held{lease: id, task: uint32(100 + id), kept: &kept{}, use: float64(id)}
			}
		}
		for _, id := range slices.Sorted(maps.Keys(was)) {
			m.runs = append(m.runs, was[id])
		}
		var running []Running
		want := map[uint64]bool{}
		for id := uint64(1); id <= 25; id++ {
			if _, had := was[id]; (had || id > 20) && r.IntN(2) == 0 {
				running = append(running, Running{Lease: id, Task: uint32(100 + id)})
				want[id] = true
			}
		}
		running = append(running, Running{Task: 7}) // a probe that begins in this very cycle
		p := m.recall(nil, running)
		for i, l := range running {
			if h, had := was[l.Lease]; p.runs[i] != h && (had || p.runs[i].lease != 0) {
				t.Fatalf("lease %d: %+v, want %+v", l.Lease, p.runs[i], h)
			}
		}
		for id, h := range was {
			if got := p.of(h.task); (got == h.kept) == want[id] {
				t.Fatalf("task of lease %d, running %v: recalled %v", id, want[id], got != nil)
			}
		}
	}
}

// Leases that a snapshot brings counted and those that came on top of them hold as if all were counted anew.
func TestCountedLeasesHold(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	lease := func() Running {
		k := r.IntN(4)
		return Running{Site: fmt.Sprint(k), Domain: fmt.Sprint(k / 2), Addrs: []string{fmt.Sprint(k % 3)}}
	}
	for range 300 {
		s := &Snapshot{PerSite: 1 + r.IntN(3), PerIP: r.IntN(4), PerDomain: r.IntN(4)}
		for range r.IntN(6) {
			s.Running = append(s.Running, lease())
		}
		for range 8 {
			l := lease()
			s.Tasks = append(s.Tasks, Task{Site: l.Site, Domain: l.Domain, Addrs: l.Addrs})
		}
		counted := *s
		all := count(s, 0)
		counted.counted = &all
		for range r.IntN(4) {
			l := lease()
			s.Running, counted.Running = append(s.Running, l), append(counted.Running, l)
		}
		a, _ := gate(s)
		b, _ := gate(&counted)
		if !slices.Equal(a, b) {
			t.Fatalf("%v pass where leases were counted, %v else", b, a)
		}
	}
}

// A task that has just been where looks found it best, and had there what was expected, is not looked at; after as many leases as looks
// have found so, or if it had something else, it is. Where its node was the limit it may rest, too. Among few tasks every one is looked at.
func TestRests(t *testing.T) {
	book := predict.New(predict.Config{})
	s := &Snapshot{Book: book, Memory: &Memory{kept: map[uint32]*kept{}}, Running: make([]Running, sampled)}
	for n := range 10 {
		id := fmt.Sprint("n", n)
		s.Nodes = append(s.Nodes, Node{ID: id, Book: book.Node(id), Capacity: 10})
		s.Memory.nodes = append(s.Memory.nodes, id)
	}
	site := book.Site("s")
	for range 20 {
		book.Reported(3, site, predict.Report{Bits: 8e6, Seconds: 1, Good: 10, All: 10}, 1)
	}
	s.Tasks = []Task{{ID: 1, Site: "s", Book: site, Last: "n3"}}
	rests := func(k kept) bool {
		k.node, k.use = []int32{2, 3}, []float64{8, 8}
		s.Memory.kept[1] = &k
		return newContext(s, &Composition{}, false).rests(0) != nil
	}
	as, other := []float64{5, 8}, []float64{5, 30}
	for _, x := range []struct {
		what string
		kept kept
		want bool
	}{
		{"settled", kept{value: as, same: 2}, true},
		{"rested as often as it was found the same", kept{value: as, same: 2, rested: 2}, false},
		{"rested as long as may be", kept{value: as, same: 100, rested: mostSparing - 1}, false},
		{"another node was best", kept{value: as}, false},
		{"it had less than was expected", kept{value: other, same: 2}, false},
	} {
		if got := rests(x.kept); got != x.want {
			t.Errorf("%s: rests %v", x.what, got)
		}
	}
	limited, shut := book.Site("limited"), book.Site("shut")
	for range 20 {
		book.Reported(3, limited, predict.Report{Bits: 4e6, Seconds: 1, Good: 10, All: 10, Limited: true}, 1)
		book.Reported(3, shut, predict.Report{Seconds: 1, All: 10}, 1)
	}
	for site, want := range map[int]bool{limited: true, shut: false, book.Site("untried"): false} {
		if s.Tasks[0].Book = site; rests(kept{value: as, same: 2}) != want {
			t.Errorf("a task of site %d (its node was the limit %d, its site gives no pages %d) rests %v", site, limited, shut, !want)
		}
	}
	s.Tasks[0].Book = site
	s.Tasks[0].Last = "n5"
	if rests(kept{value: as, same: 2}) {
		t.Error("a task rests that was at a node that was not kept")
	}
	s.Tasks[0].Last, s.Running = "n3", s.Running[:10]
	if rests(kept{value: as, same: 2}) {
		t.Error("a task rests among few")
	}
}

// Each figure ends up on its side of the k-th smallest, equal ones and all equal ones included.
func TestHalves(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	for range 2000 {
		xs := make([]float64, 1+rng.IntN(40))
		for i := range xs {
			xs[i] = float64(rng.IntN(1 + rng.IntN(30)))
		}
		k, f := rng.IntN(len(xs)), &flow{}
		got := f.halves(xs, k)
		sorted := slices.Sorted(slices.Values(xs))
		if got[k] != sorted[k] || slices.Max(got[:k+1]) != got[k] || slices.Min(got[k:]) != got[k] {
			t.Fatalf("%v, %d: %v", xs, k, got)
		}
	}
}
