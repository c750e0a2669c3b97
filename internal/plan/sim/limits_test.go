package sim

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"argosy/internal/plan/learn"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// atOnce is how many leases ran at the same time at most.
func atOnce(ends []End) (most int) {
	type edge struct {
		at   float64
		step int
	}
	var edges []edge
	for _, x := range ends {
		at := float64(x.At)
		edges = append(edges, edge{at - 1000*x.Seconds, 1}, edge{at, -1})
	}
	slices.SortFunc(edges, func(a, b edge) int {
		if a.at != b.at {
			return int(math.Copysign(1, a.at-b.at))
		}
		return a.step - b.step
	})
	n := 0
	for _, e := range edges {
		n += e.step
		most = max(most, n)
	}
	return most
}

// What a crawl's sites share, an address or a domain, they share in its replay: no more leases at once than the job allows.
func TestSharedAddressesAreReplayed(t *testing.T) {
	for _, c := range []struct{ addr, domain, want int }{{0, 0, 12}, {2, 0, 2}, {0, 3, 3}, {12, 5, 5}} {
		r, _ := recorded(false)
		r.PerIP, r.PerDom, r.Sites = c.addr, c.domain, map[string]RecordedSite{}
		for j := range 12 {
			r.Sites[fmt.Sprint("s", j)] = RecordedSite{Addrs: []string{"192.0.2.1", fmt.Sprint("2001:db8::", j)}, Domain: "example.org"}
		}
		w, _, err := r.World(1)
		if err != nil {
			t.Fatal(err)
		}
		var ends []End
		w.Ended = func(x End) { ends = append(ends, x) }
		if _, err := Replay(w, strategyOf(t, "roundrobin")); err != nil {
			t.Fatal(err)
		}
		if got := atOnce(ends); got > c.want || got == 0 || c.want < 12 && got < c.want {
			t.Errorf("%d leases an address, %d a domain: %d at once in %d", c.addr, c.domain, got, len(ends))
		}
	}
}

// A processor that every bit costs something is a limit like the line's: no more is collected, the bound says the same, and what leases take
// of it and of memory is learned.
func TestProcessorsAreLimits(t *testing.T) {
	w := World{
		Horizon: 100 * second, Page: 1e5, Lease: LeaseShape{Bits: math.MaxFloat64, Seconds: 10}, Part: 1000, Work: Work{CPU: 1e-6, Memory: 5e6},
		Job: JobPlacing{Product: "milk"}, Nodes: []Node{{ID: "n0", Slots: 8, CPU: 2, Bandwidth: 1e9}}, Speed: [][]float64{{1e7, 1e7, 1e7}},
	}
	for j := range 3 {
		w.Sites = append(w.Sites, Site{Name: fmt.Sprint("s", j)})
	}
	const most = 2e6 * 100 // two cores, a megabit a core second
	if b := w.Bound(); math.Abs(b/most-1) > 0.01 {
		t.Errorf("bound %.4g, want %.4g", b, float64(most))
	}
	e := newEngine(w, strategyOf(t, "random"), most, false)
	if err := e.run(false); err != nil {
		t.Fatal(err)
	}
	if e.res.Bits > most || e.res.Bits < 0.9*most {
		t.Errorf("collected %.4g of %.4g", e.res.Bits, float64(most))
	}
	need, known := e.book.Need(predict.Kind{Product: "milk", Site: -1, Node: -1})
	if !known || math.Abs(need[schedule.CPU]-2.0/3) > 0.05 || need[schedule.Mem] != 5e6 {
		t.Errorf("a lease of three needs %v (known: %v), want two thirds of a core and 5 MB", need, known)
	}
}

// What leases took of nodes' processors and memory is what they take in a replay.
func TestWorkIsReplayed(t *testing.T) {
	r, _ := recorded(false)
	for i := range r.Facts {
		if f := &r.Facts[i]; f.Kind == learn.Report {
			f.CPU, f.Memory = f.Bits/f.Seconds*2e-7, 3e6
		}
	}
	r.Nodes[0].CPU, r.Nodes[0].Memory = 4, 1e9
	r.Placing = JobPlacing{Type: "", Product: "milk", Need: schedule.Vector{0.1, 1e6, 0}}
	w, _, err := r.World(1)
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(w.Work.CPU/2e-7-1) > 1e-6 || math.Abs(w.Work.Memory/3e6-1) > 1e-6 || w.Nodes[0].CPU != 4 || w.Nodes[0].Memory != 1e9 || !reflect.DeepEqual(w.Job, r.Placing) {
		t.Errorf("%+v, %+v, %+v", w.Work, w.Nodes[0], w.Job)
	}
}

// A crawl that was interrupted for an hour is recorded as one that was not.
func TestLeaveOut(t *testing.T) {
	const from, gone = 1e12 + 30*second, 3600 * second
	want, _ := recorded(true)
	want.Nodes[3].Came, want.Nodes[4].Gone, want.Nodes[4].Died = 1e12+40*second, 1e12+50*second, 1e12+20*second
	got, _ := recorded(true)
	got.Nodes = slices.Clone(want.Nodes)
	late := func(at *int64) {
		if *at > from {
			*at += gone
		}
	}
	for i := range got.Nodes {
		late(&got.Nodes[i].Came)
		late(&got.Nodes[i].Gone)
		late(&got.Nodes[i].Died)
	}
	for i := range got.Leases {
		late(&got.Leases[i].Ended)
		if l := &got.Leases[i]; l.Started >= from {
			l.Started += gone
		}
	}
	for i := range got.Facts {
		late(&got.Facts[i].At)
	}
	got.LeaveOut(from, from+gone)
	if !reflect.DeepEqual(got, want) {
		t.Error("what is left is not what it was before")
	}
}

// As many packets are lost in a replay as were in the crawl: none where none was.
func TestLostPacketsAreReplayed(t *testing.T) {
	for _, every := range []int{0, 10} {
		r, _ := recorded(false)
		k := 0
		for i := range r.Facts {
			if f := &r.Facts[i]; f.Kind == learn.Delay {
				if k++; every > 0 && k%every == 0 {
					f.Seconds += 0.7
				}
			}
		}
		w, _, err := r.World(1)
		if err != nil {
			t.Fatal(err)
		}
		e, late := newEngine(w, strategyOf(t, "random"), 1, false), 0.0
		const tries = 20_000
		for range tries {
			if e.ping(10) > 10+lostMS {
				late++
			}
		}
		want := 0.0
		if every > 0 {
			want = 1 / float64(every)
		}
		if got := late / tries; math.Abs(got-want) > 0.2*want {
			t.Errorf("one in %d was lost: %.3f in the replay", every, got)
		}
	}
}

// A replay that decides as its recording did has what that had, when it had it, whatever the strategy would do else.
func TestAgainIsAsRecorded(t *testing.T) {
	for _, moved := range []bool{false, true} {
		r, _ := recorded(moved)
		w, _, err := r.World(1)
		if err != nil {
			t.Fatal(err)
		}
		given := map[string][]string{}
		w.Noise, w.Ended = 0, func(x End) {
			given[w.Sites[x.Site].Name] = append(given[w.Sites[x.Site].Name], w.Nodes[x.Node].ID)
		}
		x, err := Replay(w, r.Again(strategyOf(t, "random")))
		if err != nil {
			t.Fatal(err)
		}
		if bits, seconds := r.Reached(); math.Abs(x.Rate*seconds/bits-1) > 0.05 {
			t.Errorf("moved %v: %.3f of the recorded rate", moved, x.Rate*seconds/bits)
		}
		for _, l := range r.Leases {
			if of := given[l.Site]; len(of) > 0 {
				if of[0] != l.Node {
					t.Errorf("moved %v: %s went to %s, recorded %s", moved, l.Site, of[0], l.Node)
				}
				given[l.Site] = of[1:]
			}
		}
	}
}
