package sim

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
	runs "argosy/internal/testkit/seeds"
)

// seeds is in how many worlds of each kind strategies are compared, by their means.
var seeds = runs.Of(1, 10)

func strategyOf(t *testing.T, spec string) schedule.Strategy {
	t.Helper()
	st, err := strategy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	return st
}

func run(t *testing.T, w World, spec string) Result {
	t.Helper()
	return runBound(t, w, spec, w.Bound())
}

func runBound(t *testing.T, w World, spec string, bound float64) Result {
	t.Helper()
	r, err := RunBound(w, strategyOf(t, spec), bound, false)
	if err != nil {
		t.Fatalf("%s: %v", spec, err)
	}
	return r
}

// worlds are small ones of every kind.
func worlds(seed uint64) map[string]World {
	base := Throughput(China(60, 0.3, seed), 2, 10, seed)
	return map[string]World{
		"china": base, "skewed": Skewed(base, 1), "turns-bad": TurnsBad(base, 1, 8), "coming": Coming(base),
		"changing": Changing(6, 20, 20, 0.8, 1, seed),
	}
}

// The same world, strategy and seed give the same result, and no strategy beats what full knowledge could reach.
func TestDeterministicAndBounded(t *testing.T) {
	all := worlds(1)
	for _, name := range []string{"china", "changing"} {
		w := all[name]
		w.Horizon /= int64(runs.Of(16, 8))
		bound := w.Bound()
		for _, spec := range strategy.Names() {
			a, b := runBound(t, w, spec, bound), runBound(t, w, spec, bound)
			if fmt.Sprint(a) != fmt.Sprint(b) {
				t.Errorf("%s, %s: two runs differ: %.0f and %.0f bits", name, spec, a.Bits, b.Bits)
			}
			if s := a.Share(); s > 1.03 || s < 0 || s != s { // the speeds of leases are drawn around those that the bound knows
				t.Errorf("%s, %s: %.3f of the bound", name, spec, s)
			}
		}
	}
}

// A run leaves the world as it was.
func TestWorldIsLeftAlone(t *testing.T) {
	w := worlds(2)["turns-bad"]
	before := fmt.Sprint(w.Speed, w.Success)
	run(t, w, "random")
	if fmt.Sprint(w.Speed, w.Success) != before {
		t.Error("the world has changed")
	}
}

// flow is above every other strategy, its probes charged, and never below random. By day it is compared with those that come close.
func TestLongFlowIsAboveTheOthers(t *testing.T) {
	others := []string{"nearest,top=auto", "greedy"}
	if runs.Many() {
		others = append(others, "random", "feedback,load=on", "roundrobin", "geo", "nearest,top=1", "nearest", "bandwidth", "packing")
	}
	for name := range worlds(0) {
		sum := map[string]float64{}
		for seed := range seeds {
			w := worlds(seed)[name]
			bound := w.Bound()
			for _, spec := range append(others, "flow") {
				sum[spec] += runBound(t, w, spec, bound).Share() / float64(seeds)
			}
		}
		for _, spec := range others {
			if sum["flow"] < sum[spec] {
				t.Errorf("%s: flow %.3f, %s %.3f", name, sum["flow"], spec, sum[spec])
			}
		}
		t.Logf("%s: %v", name, sum)
	}
}

// Unequal nodes are used for what they are worth: a strong one is full, the others do not wait for it.
func TestLongFlowWithUnequalNodes(t *testing.T) {
	minutes := int(runs.Of(8, 15))
	for _, terms := range []Terms{
		{Nodes: 12, Sites: 50, Minutes: minutes, Capacity: 2, Tells: 0.3, Noise: 0.2, Strong: 1, Factor: 30},
		{Nodes: 12, Sites: 50, Minutes: minutes, Capacity: 2, Tells: 0.3, Noise: 0.2, Strong: 3, Factor: 5},
		{Nodes: 12, Sites: 50, Minutes: minutes, Tells: 0.3, Noise: 0.2, Strong: 1, Factor: 100, Places: 6},
		{Nodes: 12, Sites: 50, Minutes: minutes, Capacity: 0.7, Tells: 0.3, Noise: 0.2},
	} {
		sum := map[string]float64{}
		for seed := range seeds {
			w := Made(terms, seed)
			bound := w.Bound()
			for _, spec := range []string{"flow", "greedy", "random", "nearest,top=auto"} {
				r, err := RunBound(w, strategyOf(t, spec), bound, false)
				if err != nil {
					t.Fatal(err)
				}
				sum[spec] += r.Share() / float64(seeds)
			}
			knows, err := RunBound(w, strategyOf(t, "flow,explore=0"), bound, true)
			if err != nil {
				t.Fatal(err)
			}
			sum["oracle"] += knows.Share() / float64(seeds)
		}
		for _, spec := range []string{"greedy", "random", "nearest,top=auto"} {
			if sum["flow"] < sum[spec] {
				t.Errorf("%v: flow %.3f, %s %.3f", terms, sum["flow"], spec, sum[spec])
			}
		}
		if sum["oracle"] < 0.9 {
			t.Errorf("%v: with true figures %.3f of the bound", terms, sum["oracle"])
		}
		t.Logf("%v: %v", terms, sum)
	}
}

// Where pages are missing by chance, and sites end, nobody is moved for it: flow is within a twentieth of the simple control, in
// worlds so short that little can be learned, of nodes that say nothing of themselves.
func TestFlowIsNotMovedByChance(t *testing.T) {
	sum, moves := map[string]float64{}, map[string]int{}
	const seeds = 6
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 0x73686f7274))
		w := World{Seed: seed, Horizon: 40_000, Noise: 0.1, Page: 3e5, Root: 3e5, Lease: LeaseShape{Bits: 2.4e7, Seconds: 5}, Whole: true, Part: 1000}
		for i := range 4 {
			w.Nodes = append(w.Nodes, Node{ID: name("n", i), Slots: 20})
			w.Speed, w.Success = append(w.Speed, nil), append(w.Success, nil)
			for range 20 {
				w.Speed[i] = append(w.Speed[i], 4e5*math.Pow(10, r.Float64()))
				w.Success[i] = append(w.Success[i], 0.9)
			}
		}
		for j := range 20 {
			w.Sites = append(w.Sites, Site{Name: name("s", j), Size: 1e9, Width: 2})
		}
		bound := w.Bound()
		for _, spec := range []string{"flow", "greedy", "random"} {
			x, err := RunBound(w, strategyOf(t, spec), bound, false)
			if err != nil {
				t.Fatal(err)
			}
			sum[spec], moves[spec] = sum[spec]+x.Share()/seeds, moves[spec]+x.Moves
		}
	}
	if sum["flow"] < 0.95*sum["greedy"] {
		t.Errorf("of the bound: %v", sum)
	}
	t.Logf("of the bound: %v, moved: %v", sum, moves)
}

// One node, one site, no noise: the world does sums.
func TestOneLease(t *testing.T) {
	w := World{
		Horizon: 100_000, Nodes: []Node{{ID: "n", Slots: 1, Bandwidth: 5e6}}, Sites: []Site{{Name: "s", Limit: 2e6}},
		Speed: [][]float64{{9e6}}, Page: 1e6, Lease: LeaseShape{Bits: math.MaxFloat64, Seconds: 10},
	}
	r := run(t, w, "random")
	if math.Abs(r.Bits-2e8) > 2e6 || math.Abs(r.Bound-2e8) > 1 {
		t.Errorf("%.3g bits of %.3g, want 2e8", r.Bits, r.Bound)
	}
	w.Sites[0].Size = 3e7
	if r = run(t, w, "random"); math.Abs(r.Bits-3e7) > 1 || math.Abs(r.Bound-3e7) > 1 {
		t.Errorf("%.3g bits of %.3g, want 3e7", r.Bits, r.Bound)
	}
}

// What was collected counts in the minute in which it was told of, not in that in which its lease ends, or the world.
func TestMinutes(t *testing.T) {
	w := World{
		Horizon: 180_000, Nodes: []Node{{ID: "n", Slots: 1}}, Sites: []Site{{Name: "s"}},
		Speed: [][]float64{{1e6}}, Page: 1e4, Lease: LeaseShape{Bits: math.MaxFloat64, Seconds: 50}, Part: partEach,
	}
	sum := 0.0
	r := run(t, w, "random")
	for k, bits := range r.Minutes {
		if sum += bits; k < 3 && math.Abs(bits-6e7) > 2e6 {
			t.Errorf("%.3g bits in minute %d, want 6e7", bits, k+1)
		}
	}
	if math.Abs(sum-r.Bits) > 1 {
		t.Errorf("%.4g bits in all minutes, %.4g in all", sum, r.Bits)
	}
}

// However few pages a part tells of, as large a share of them is had as in all: what is cut off at none and all is not missing.
func TestFewPagesAreHadAsOften(t *testing.T) {
	for _, share := range []float64{0.05, 0.5, 0.95} {
		w := World{
			Horizon: 4000 * second, Nodes: []Node{{ID: "n", Slots: 1}}, Sites: []Site{{Name: "s"}}, Success: [][]float64{{share}},
			Speed: [][]float64{{1.3e6}}, Page: 1e6, Lease: LeaseShape{Bits: math.MaxFloat64, Seconds: 50}, Part: partEach,
		}
		if had := run(t, w, "random").Bits / (1.3e6 * 4000); math.Abs(had-share) > 0.02 {
			t.Errorf("%.3f of the pages are had, want %.2f", had, share)
		}
	}
}

// A node shares its bandwidth: two slow paths get all they can, the third the rest.
func TestSharing(t *testing.T) {
	w := World{
		Horizon: 100_000, Nodes: []Node{{ID: "n", Slots: 3, Bandwidth: 5e6}}, Sites: []Site{{Name: "a"}, {Name: "b"}, {Name: "c"}},
		Speed: [][]float64{{1e6, 1e6, 9e6}}, Page: 1e6, Lease: LeaseShape{Bits: math.MaxFloat64, Seconds: 20},
	}
	if r := run(t, w, "random"); math.Abs(r.Bits-5e8) > 5e6 || math.Abs(r.Share()-1) > .02 {
		t.Errorf("%.4g bits, share %.3f", r.Bits, r.Share())
	}
}

// A lease without a limit of pages is modified as one of as many pages as a job gives that states none: a node that is fast keeps working.
func TestModifiedFromNoLimit(t *testing.T) {
	w := World{
		Horizon: 100_000, Nodes: []Node{{ID: "n", Slots: 1}}, Sites: []Site{{Name: "s"}},
		Speed: [][]float64{{1e9}}, Page: 1e6, Lease: LeaseShape{Bits: math.MaxFloat64, Seconds: 10},
	}
	if r := run(t, w, "feedback"); r.Share() < 0.9 {
		t.Errorf("%.3f of the bound in %d leases", r.Share(), r.Leases)
	}
}

// A hundred nodes and ten thousand sites for ten minutes, the bound apart.
func BenchmarkLargeWorld(b *testing.B) {
	w := Made(Terms{Nodes: 100, Sites: 10_000, Minutes: 10, Capacity: 2, Limits: true, Tells: 0.3, Noise: 0.2}, 1)
	w.Cycle = 1000
	for _, spec := range []string{"random", "flow"} {
		b.Run(spec, func(b *testing.B) {
			for b.Loop() {
				st, err := strategy.New(spec)
				if err != nil {
					b.Fatal(err)
				}
				r, err := RunBound(w, st, 1, false)
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(r.Leases), "leases")
				b.ReportMetric(float64(r.Probes), "probes")
				b.ReportMetric(r.Bits, "bits")
			}
		})
	}
}

// While sites wait, what ends is planned by at once: ten sites of a tenth of a second, one after the other, take one second.
func TestWaitingSitesFollowAtOnce(t *testing.T) {
	w := World{
		Horizon: 20_000, Nodes: []Node{{ID: "n", Slots: 1}}, Speed: [][]float64{nil}, Page: 1e5,
		Lease: LeaseShape{Bits: math.MaxFloat64, Seconds: 10}, Target: 1e7,
	}
	for j := range 10 {
		w.Sites = append(w.Sites, Site{Name: name("s", j), Size: 1e6})
		w.Speed[0] = append(w.Speed[0], 1e7)
	}
	x, err := RunBound(w, strategyOf(t, "random"), 1, false)
	if err != nil {
		t.Fatal(err)
	}
	if x.Reached < 1000 || x.Reached > 1200 {
		t.Errorf("all was had after %d ms, want 1,100", x.Reached)
	}
}

// Where sites end and shut nodes out, pages that are lost by chance do not keep work from the fastest nodes: flow is above the simple
// control, which looks at success only as far as it slows a node down.
func TestLongFlowWhereSitesEndAndShutNodesOut(t *testing.T) {
	sum := map[string]float64{}
	for seed := range uint64(3) {
		w := Made(Terms{Nodes: 12, Sites: 120, Minutes: 10, Capacity: 2, Limits: true, Tells: 0.3, Noise: 0.2, Blocked: 0.2, Sizes: 1}, seed)
		for _, spec := range []string{"flow", "greedy"} {
			x, err := RunBound(w, strategyOf(t, spec), 1, false)
			if err != nil {
				t.Fatal(err)
			}
			sum[spec] += x.Bits
		}
	}
	if sum["flow"] < sum["greedy"] {
		t.Errorf("flow has %.4g of what greedy has", sum["flow"]/sum["greedy"])
	}
	t.Logf("flow has %.4g of what greedy has", sum["flow"]/sum["greedy"])
}

// Where four nodes have all done in a minute flow measures no more than pays: it is above the simple control.
func TestFlowWhereThereIsLittleToDo(t *testing.T) {
	sum := map[string]float64{}
	for seed := range uint64(4) {
		w := Made(Terms{Nodes: 4, Sites: 20, Minutes: 1, Capacity: 2, Limits: true, Tells: 0.3, Noise: 0.2, Sizes: 0.5}, seed)
		for _, spec := range []string{"flow", "greedy"} {
			x, err := RunBound(w, strategyOf(t, spec), 1, false)
			if err != nil {
				t.Fatal(err)
			}
			sum[spec] += x.Bits
		}
	}
	t.Logf("flow has %.4g of what greedy has", sum["flow"]/sum["greedy"])
	if sum["flow"] < sum["greedy"] {
		t.Errorf("flow has %.4g of what greedy has", sum["flow"]/sum["greedy"])
	}
}
