package sim

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"argosy/internal/plan/strategy"
)

var (
	oddSpecs = flag.String("sim.odd", "", "strategies, separated by spaces, that are compared with flow in odd worlds of half an hour")
	oddSeeds = flag.Int("sim.odd.seeds", 4, "worlds of each kind")
)

// oddWorlds differ from the base in ways that no kind of the comparison does. Nothing was chosen with them.
var oddWorlds = []struct {
	name   string
	change func(t *Terms)
	then   func(w *World, r *rand.Rand)
}{
	{"nodes with a heavy tail", nil, func(w *World, r *rand.Rand) {
		for i := range w.Nodes {
			strengthen(w, i, math.Pow(r.Float64(), -1/0.8)/3)
		}
	}},
	{"six nodes here for four minutes of eight", nil, func(w *World, _ *rand.Rand) { comeAndGo(w, 6) }},
	{"speeds that go up and down in 20 minutes", nil, tides},
	{"sites slower than any path", nil, func(w *World, _ *rand.Rand) {
		for j := range w.Sites {
			w.Sites[j].Limit = 2e4
		}
	}},
	{"one site with half of all", func(t *Terms) { t.Sizes = 0.1 }, func(w *World, _ *rand.Rand) {
		all := 0.0
		for j := range w.Sites {
			w.Sites[j].Size /= 3
			all += w.Sites[j].Size
		}
		w.Sites[0].Size, w.Sites[0].Limit = all, 0
	}},
	{"next to no bandwidth, many places", func(t *Terms) { t.Capacity = 0.03 }, nil},
	{"all paths equal", func(t *Terms) { t.Noise = 0 }, func(w *World, _ *rand.Rand) {
		for i := range w.Speed {
			for j := range w.Speed[i] {
				w.Speed[i][j], w.Delay[i][j] = 3e5, 50
			}
		}
	}},
	{"two nodes", func(t *Terms) { t.Nodes = 2 }, nil},
	{"one node", func(t *Terms) { t.Nodes = 1 }, nil},
	{"one site", func(t *Terms) { t.Sites = 1 }, nil},
	{"eight nodes that no site answers", nil, func(w *World, _ *rand.Rand) {
		w.Success = alike(w, 0.98)
		for i := range min(8, len(w.Nodes)) {
			clear(w.Success[i])
		}
	}},
	{"one node of all let in by each site", nil, func(w *World, r *rand.Rand) {
		w.Success = alike(w, 0.05)
		for j := range w.Sites {
			w.Success[r.IntN(len(w.Nodes))][j] = 0.98
		}
	}},
	{"bandwidths unequal, and nobody says them", func(t *Terms) { t.Spread = 1.5 }, func(w *World, _ *rand.Rand) {
		for i := range w.Nodes {
			w.Nodes[i].Unsaid = true
		}
	}},
	{"lines of half of the nodes shrink to a twentieth", nil, func(w *World, _ *rand.Rand) {
		w.Changes = append(w.Changes, Change{At: w.Horizon / 3, Apply: func(w *World) {
			for i := 0; i < len(w.Nodes); i += 2 {
				w.Nodes[i].Bandwidth /= 20
			}
		}})
	}},
	{"delays that tell the opposite", nil, func(w *World, _ *rand.Rand) {
		for i := range w.Delay {
			for j := range w.Delay[i] {
				w.Delay[i][j] = 2000 / w.Delay[i][j]
			}
		}
	}},
}

func strengthen(w *World, i int, by float64) {
	w.Nodes[i].Bandwidth *= by
	for j := range w.Speed[i] {
		w.Speed[i][j] *= by
	}
}

// alike is the same share of pages for all pairs.
func alike(w *World, share float64) [][]float64 {
	out := make([][]float64, len(w.Nodes))
	for i := range out {
		out[i] = slices.Repeat([]float64{share}, len(w.Sites))
	}
	return out
}

// comeAndGo has the first n nodes leave after four minutes, and others that are just like them join and leave in their place.
func comeAndGo(w *World, n int) {
	const minute = 60_000
	from := make([]int, len(w.Nodes))
	for i := range from {
		from[i] = i
	}
	for i := range n {
		w.Nodes[i].Leave = 4 * minute
		for at := int64(8 * minute); at < w.Horizon; at += 8 * minute {
			again := w.Nodes[i]
			again.ID, again.Join, again.Leave = fmt.Sprintf("%s-%d", again.ID, at), at, at+4*minute
			w.Nodes, from = append(w.Nodes, again), append(from, i)
			w.Speed, w.Delay = append(w.Speed, slices.Clone(w.Speed[i])), append(w.Delay, slices.Clone(w.Delay[i]))
		}
	}
	between := w.Between
	w.Between = make([][]float64, len(w.Nodes))
	for i := range w.Between {
		w.Between[i] = make([]float64, len(w.Nodes))
		for k := range w.Between[i] {
			w.Between[i][k] = between[from[i]][from[k]]
		}
	}
}

// tides has each pair's speed go up and down, those of a node nearly together.
func tides(w *World, r *rand.Rand) {
	mean, phase := make([][]float64, len(w.Nodes)), make([][]float64, len(w.Nodes))
	for i := range mean {
		mean[i], phase[i] = slices.Clone(w.Speed[i]), make([]float64, len(w.Sites))
		of := 2 * math.Pi * r.Float64()
		for j := range phase[i] {
			phase[i][j] = of + r.Float64()
		}
	}
	for at := int64(0); at < w.Horizon; at += 60_000 {
		w.Changes = append(w.Changes, Change{At: at, Apply: func(w *World) {
			for i := range w.Speed {
				for j := range w.Speed[i] {
					w.Speed[i][j] = mean[i][j] * (1.05 + math.Sin(2*math.Pi*float64(at)/1_200_000+phase[i][j]))
				}
			}
		}})
	}
}

// In odd worlds flow is not below random by more than measuring costs where there is nothing to choose. With -sim.odd other strategies are
// compared with it, in worlds of half an hour: their bits as a share of flow's, with 95 % intervals over seeds of the half that is shown.
func TestOddWorlds(t *testing.T) {
	specs, seeds, minutes := []string{"random"}, 1, 9
	if *oddSpecs != "" {
		specs, seeds, minutes = strings.Fields(*oddSpecs), *oddSeeds, base.Minutes
	}
	for _, kind := range oddWorlds {
		t.Run(kind.name, func(t *testing.T) {
			t.Parallel()
			shares := make([][]float64, len(specs))
			for k := range seeds {
				terms, seed := base, uint64(2*k+2)
				if terms.Minutes = minutes; *oddSpecs == "" {
					terms.Nodes, terms.Sites = 10, 25
				}
				if kind.change != nil {
					kind.change(&terms)
				}
				w := Made(terms, seed)
				if kind.then != nil {
					kind.then(&w, rand.New(rand.NewPCG(seed, 0x6f6464)))
				}
				sortChanges(&w)
				flow := collects(t, w, "flow")
				for s, spec := range specs {
					shares[s] = append(shares[s], collects(t, w, spec)/flow)
				}
			}
			for s, spec := range specs {
				mean, off := interval(shares[s])
				t.Logf("%-20s %.3f ± %.3f of flow", spec, mean, off)
				if spec == "random" && mean > 1.08 {
					t.Errorf("random has %.3f of what flow has", mean)
				}
			}
		})
	}
}

// collects is how many useful bits a strategy has; "oracle" is flow with true figures.
func collects(t *testing.T, w World, spec string) float64 {
	t.Helper()
	told := spec == "oracle"
	if told {
		spec = "flow"
	}
	st, err := strategy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	r, err := RunBound(w, st, 1, told)
	if err != nil {
		t.Fatal(err)
	}
	return r.Bits
}

// interval is the mean of some figures, and half of its 95 % interval; 0 where there are fewer than two or more than ten.
func interval(x []float64) (mean, off float64) {
	student := []float64{0, 0, 12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26}
	for _, v := range x {
		mean += v / float64(len(x))
	}
	sq := 0.0
	for _, v := range x {
		sq += (v - mean) * (v - mean)
	}
	if n := len(x); n > 1 && n < len(student) {
		off = student[n] * math.Sqrt(sq/float64(n-1)/float64(n))
	}
	return mean, off
}
