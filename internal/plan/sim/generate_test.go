package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// The same seed makes the same world, another one another; every kind's worlds are sound.
func TestKindsAreWorlds(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range Kinds() {
		if seen[k.Name] {
			t.Errorf("two kinds %s", k.Name)
		}
		seen[k.Name] = true
		w := k.World(4)
		if fmt.Sprint(w.Speed, w.Nodes) != fmt.Sprint(k.World(4).Speed, k.World(4).Nodes) {
			t.Errorf("%s: one seed, two worlds", k.Name)
		}
		if fmt.Sprint(w.Speed) == fmt.Sprint(k.World(5).Speed) {
			t.Errorf("%s: two seeds, one world", k.Name)
		}
		for i := range w.Nodes {
			for j, s := range w.Speed[i] {
				if !(s > 0) || math.IsInf(s, 1) || w.Nodes[i].Slots < 1 {
					t.Fatalf("%s: speed %g of pair %d, %d; %d places", k.Name, s, i, j, w.Nodes[i].Slots)
				}
			}
		}
	}
}

// What is expected of a lease is the mean of what leases draw.
func TestExpectedSpeedIsTheMean(t *testing.T) {
	for _, limit := range []float64{0, 5e5, 1e6, 3e6} {
		w := World{Noise: 0.7, Speed: [][]float64{{1e6}}, Sites: []Site{{Limit: limit}}}
		e := &engine{w: &w, rng: rand.New(rand.NewPCG(1, 2))}
		sum := 0.0
		const n = 200_000
		for range n {
			sum += e.draw(0, 0) / n
		}
		if got := w.path(0, 0); math.Abs(got/sum-1) > 0.01 {
			t.Errorf("limit %g: expected %.4g, mean of draws %.4g", limit, got, sum)
		}
	}
}

// A site that asks for pauses gives a page each pause, and the node's time in between is not the pair's slowness.
func TestPauses(t *testing.T) {
	w := World{
		Horizon: 100_000, Nodes: []Node{{ID: "n", Slots: 1}}, Sites: []Site{{Name: "s", Gap: 2}},
		Speed: [][]float64{{4e6}}, Page: 1e6, Lease: LeaseShape{Bits: math.MaxFloat64, Seconds: 10},
	}
	r := run(t, w, "random")
	if math.Abs(r.Bits-5e7) > 2e6 || math.Abs(r.Bound-5e7) > 1e6 {
		t.Errorf("%.3g bits of %.3g, want 5e7", r.Bits, r.Bound)
	}
	e := &engine{w: &w}
	l := &lease{speed: 5e5, pace: 4e6, rate: 5e5}
	e.leases, e.touched, e.now = [][]*lease{{l}}, []int64{0}, 8000
	e.progress(0)
	if math.Abs(l.done/l.worked-4e6) > 1 {
		t.Errorf("measured %.3g bits a second, want 4e6", l.done/l.worked)
	}
}

// A planner that is told the truth does at least as well as one that learns.
func TestKnowledgeHelps(t *testing.T) {
	for _, k := range Kinds() {
		if k.Name != "equal" && k.Name != "blocked" {
			continue
		}
		for seed := range seeds {
			w := k.World(seed)
			bound := w.Bound()
			knows, err := RunBound(w, strategyOf(t, "flow,explore=0"), bound, true)
			if err != nil {
				t.Fatal(err)
			}
			if learns := runBound(t, w, "flow", bound); learns.Bits > 1.05*knows.Bits || knows.Probes > 0 {
				t.Errorf("%s, seed %d: %.3f with true figures and %d probes, %.3f without", k.Name, seed, knows.Share(), knows.Probes, learns.Share())
			}
		}
	}
}
