package lab

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"argosy/internal/plan/learn"
	"argosy/internal/plan/sim"
)

// recording is of three nodes and eight sites in which everybody had a turn with everybody; the last node is slow everywhere.
func recording() sim.Recording {
	r := sim.Recording{Strategy: "roundrobin", Left: map[string]float64{}, Lease: sim.LeaseShape{Bits: 1000, Seconds: 5}, Widths: 1}
	speed := []float64{4e6, 3e6, 5e4}
	for i := range speed {
		r.Nodes = append(r.Nodes, sim.RecordedNode{ID: fmt.Sprint("n", i), Leases: 64})
	}
	const second = 1000
	for turn := range 12 {
		for site := range 8 {
			node := (turn + site) % len(speed)
			at := int64(1e12 + turn*5*second)
			l := sim.RecordedLease{Node: fmt.Sprint("n", node), Site: fmt.Sprint("s", site), Started: at, Ended: at + 5*second, Worked: 5, Asked: 50, Good: 50, Bits: 5 * speed[node]}
			r.Leases = append(r.Leases, l)
			for k := range 5 {
				r.Facts = append(r.Facts, learn.Fact{
					At: at + int64(k+1)*second, Kind: learn.Report, Node: l.Node, Site: l.Site, Bits: speed[node], Seconds: 1, Good: 10, All: 10,
				})
			}
		}
	}
	return r
}

// What is advised follows from the recording: the node that is of no use costs nothing, the best is missed most, and a
// strategy that knows the speeds of nodes is faster than one that does not.
func TestAdvice(t *testing.T) {
	r := recording()
	a, err := Advise(context.Background(), &r, 8, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	if a.Guess.Pairs != 24 || a.Guess.Tried != 24 {
		t.Errorf("%+v", a.Guess)
	}
	if a.Drops[2].Node != "n0" || a.Drops[2].Loss < a.Drops[1].Loss {
		t.Errorf("drops %+v", a.Drops)
	}
	for _, d := range a.Drops {
		if d.Node == "n2" && d.Loss > 0.05 {
			t.Errorf("the node that is of no use costs %.2f of the rate", d.Loss)
		}
	}
	rate := map[string]float64{}
	for i := range a.Strategies {
		rate[a.Strategies[i].Strategy], _ = a.Strategies[i].Rate()
	}
	if rate["flow"] < 1.2*rate["roundrobin"] || rate["greedy"] < 1.2*rate["random"] {
		t.Errorf("rates %v", rate)
	}
}

// unfinished is of one node with one place, and four sites with as many pages left as were had: two of them ten times as fast as the others.
func unfinished() sim.Recording {
	const second, pages = 1000, 500
	r := sim.Recording{Strategy: "roundrobin", Left: map[string]float64{}, Lease: sim.LeaseShape{Bits: 50, Seconds: 60}, Widths: 1, Nodes: []sim.RecordedNode{{ID: "n0", Leases: 1}}}
	at := int64(1e12)
	for range 10 {
		for site, seconds := range []int64{10, 10, 1, 1} {
			l := sim.RecordedLease{Node: "n0", Site: fmt.Sprint("s", site), Started: at, Ended: at + seconds*second, Worked: float64(seconds), Given: pages, Asked: pages / 10, Good: pages / 10, Bits: 1e6}
			r.Leases, r.Left[l.Site] = append(r.Leases, l), pages
			for k := range seconds {
				r.Facts = append(r.Facts, learn.Fact{At: at + (k+1)*second, Kind: learn.Report, Node: l.Node, Site: l.Site, Bits: l.Bits / l.Worked, Seconds: 1, Good: l.Good / l.Worked, All: l.Asked / l.Worked})
			}
			at = l.Ended
		}
	}
	return r
}

// Who takes what is fast first is fast for a while, and what is slow is left: where a crawl goes on, advice counts that, too.
func TestAdviceGoesOn(t *testing.T) {
	r := unfinished()
	x, _, err := Replay(context.Background(), &r, []string{"flow", "roundrobin"}, 2)
	if err != nil {
		t.Fatal(err)
	}
	fast, _ := x[0].Rate()
	slow, _ := x[1].Rate()
	if fast < 2*slow { // or the test could not fail
		t.Fatalf("while as much was had as in the recording flow has %.2f of what roundrobin has", fast/slow)
	}
	a, err := Advise(context.Background(), &r, 2, func(string) {})
	if err != nil {
		t.Fatal(err)
	}
	rate := map[string]float64{}
	for i := range a.Strategies {
		rate[a.Strategies[i].Strategy], _ = a.Strategies[i].Rate()
	}
	if ratio := rate["flow"] / rate["roundrobin"]; ratio < 0.87 || ratio > 1.2 {
		t.Errorf("flow is advised for %.2f times what roundrobin has, where both have the same to do with one node", ratio)
	}
	if math.Abs(a.Ahead-2) > 0.02 {
		t.Errorf("it looks %.2f times as far as the recording does, want twice", a.Ahead)
	}
	r = recording()
	if a, err = Advise(context.Background(), &r, 1, func(string) {}); err != nil || a.Ahead != 1 {
		t.Errorf("of a crawl that has nothing left it looks %.2f times as far (%v)", a.Ahead, err)
	}
}

// A recording without a page cannot be replayed, and says so.
func TestNothingRecorded(t *testing.T) {
	if _, _, err := Replay(context.Background(), &sim.Recording{}, []string{"flow"}, 1); err == nil {
		t.Error("no error")
	}
}

// Where no replay of a recording has a page nothing is advised: what a node less costs is no share of nothing.
func TestNothingAdvised(t *testing.T) {
	r := recording()
	for i := range r.Nodes {
		r.Nodes[i].Gone = 1 // before it began
	}
	if a, err := Advise(context.Background(), &r, 1, func(string) {}); !errors.Is(err, sim.ErrUnsound) {
		t.Errorf("%+v, %v", a.Drops, err)
	}
}

// Strategies are as fast as the first where their draws say so, and others are not named.
func TestAlike(t *testing.T) {
	a := Advice{Strategies: []Replays{
		{Strategy: "a", Rates: []float64{10, 20, 30, 20}}, {Strategy: "b", Rates: []float64{10.1, 19.8, 30.2, 20}}, {Strategy: "c", Rates: []float64{9, 18, 27, 18}},
		{Strategy: "half as fast on average", Rates: []float64{8, 4, 24, 8}}, {Strategy: "now faster, now slower", Rates: []float64{13, 14, 40, 14}},
	}}
	if got := a.Alike(); !slices.Equal(got, []string{"b", "now faster, now slower"}) {
		t.Errorf("%q", got)
	}
	once := Advice{Strategies: []Replays{{Strategy: "a", Rates: []float64{10}}, {Strategy: "b", Rates: []float64{9.95}}, {Strategy: "c", Rates: []float64{9.5}}}}
	if got := once.Alike(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("of one draw: %q", got)
	}
}

// Two draws that happen to agree do not say that one node would do; many that do say it.
func TestFewDrawsReserveNothingLess(t *testing.T) {
	for draws, want := range map[int]int{1: 4, 2: 4, 5: 3, 12: 2, 100: 1} {
		a := Advice{
			Strategies: []Replays{{Rates: make([]float64, draws)}}, Drops: make([]Drop, 4),
			Reserve: []Fewer{{3, 1.02, 0.02}, {2, 1.02, 0.03}, {1, 1.02, 0.034}},
		}
		if got := a.Reserved(); got != want {
			t.Errorf("%d draws: %d nodes, want %d", draws, got, want)
		}
	}
}
