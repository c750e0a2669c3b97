package sim

import (
	"container/heap"
	"fmt"
	"math"
	"slices"
	"testing"

	"argosy/internal/plan/learn"
)

// As in a fleet, the node that has measured a site had its task last: to give it to another costs what moving does.
func TestWhoMeasuredHadItLast(t *testing.T) {
	w := World{Horizon: 60 * second, Page: 1e6, Root: 1e5, Sites: []Site{{Name: "s0", Size: 1e9}}, Nodes: []Node{{ID: "n0", Slots: 2}, {ID: "n1", Slots: 2}}, Speed: [][]float64{{1e6}, {1e6}}}
	e := newEngine(w, strategyOf(t, "bandwidth"), 1, false)
	e.start()
	measured := ""
	for len(e.queue) > 0 && len(e.waiting) < 2 {
		ev := heap.Pop(&e.queue).(event)
		e.now = ev.at
		if len(e.leases[0])+len(e.leases[1]) > 0 && measured == "" {
			measured = e.w.Nodes[slices.IndexFunc(e.leases, func(of []*lease) bool { return len(of) > 0 })].ID
			break
		}
		if err := e.handle(ev); err != nil {
			t.Fatal(err)
		}
	}
	if s, _ := e.snapshot(); measured == "" || len(s.Tasks) != 1 || s.Tasks[0].Last != measured {
		t.Errorf("%q has measured the site, and its task: %+v", measured, s.Tasks)
	}
}

// Sites are numbered as their tasks were, whichever had the first lease: what goes by the order of sites decides as it did.
func TestSitesAreNumberedAsTheyWere(t *testing.T) {
	r, _ := recorded(false)
	for i := range r.Leases {
		var j uint32
		fmt.Sscanf(r.Leases[i].Site, "s%d", &j)
		r.Leases[i].Task = 100 - j
	}
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	for j := range w.Sites {
		if want := fmt.Sprint("s", len(w.Sites)-1-j); w.Sites[j].Name != want {
			t.Errorf("site %d is %s, want %s", j, w.Sites[j].Name, want)
		}
	}
}

// A packet is lost where one delay is longer than those around it; where all are from a time on the way is another.
func TestLostPacketsAreToldFromOtherWays(t *testing.T) {
	for lost, want := range map[int]float64{0: -1, 10: 0.1} {
		var r Recording
		for pair := range 20 {
			for k := range 40 {
				s := 0.05
				if k >= 25 {
					s = 0.4
				}
				if lost > 0 && (k+pair)%lost == 5 {
					s += 0.5
				}
				r.Facts = append(r.Facts, learn.Fact{At: int64(k) * second, Kind: learn.Delay, Node: fmt.Sprint("n", pair), Site: "s", Seconds: s})
			}
		}
		if got := r.lost(); math.Abs(got-want) > 0.02 {
			t.Errorf("%v of the packets are lost, want %v", got, want)
		}
	}
}

// Pages that are asked for while others of their lease are under way wait for these, and tell no delay: of several at once the first of a lease does.
func TestLeasesTellDelaysAsCrawlsDo(t *testing.T) {
	for width, want := range map[int]int{1: 5, 8: 1} {
		w := World{Horizon: 60 * second, Page: 1e6, Sites: []Site{{Name: "s0", Width: width}}, Nodes: []Node{{ID: "n0", Slots: 1}}, Speed: [][]float64{{1e7}}, Delay: [][]float64{{20}}}
		e := newEngine(w, strategyOf(t, "random"), 1, false)
		l := &lease{done: 20e6}
		if got := e.delays(l, 20); got != want {
			t.Errorf("%d at once: the first 20 pages of a lease tell %d delays, want %d", width, got, want)
		}
		l.toldDone = l.done
		if got := e.delays(l, 20); got != want && width == 1 || got != 0 && width > 1 {
			t.Errorf("%d at once: later ones tell %d", width, got)
		}
	}
}

// A planner with true figures knows what nodes can store, too: few sites go where that is not too little for them.
func TestTrueFiguresAreOfStoringToo(t *testing.T) {
	share := 0.0
	for seed := range uint64(3) {
		w := Made(Terms{Nodes: 20, Sites: 3, Minutes: 5, Capacity: 10, Stores: 1, Tells: 0.3}, seed)
		r, err := RunBound(w, strategyOf(t, "flow"), w.Bound(), true)
		if err != nil {
			t.Fatal(err)
		}
		share += r.Share() / 3
	}
	if share < 0.95 {
		t.Errorf("with true figures %.3f of the bound", share)
	}
}
