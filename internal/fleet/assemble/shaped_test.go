package assemble_test

import (
	"flag"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"argosy/internal/plan/learn"
	"argosy/internal/plan/netcoord"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

var shaped = flag.String("sim.shaped", "", "strategies, separated by spaces, that crawl a shaped web and are held against the simulator in the same world")

// shapedSeeds are the webs that strategies are compared in.
var shapedSeeds = []int{5, 6, 7}

// Strategies by their bare names crawl the same twenty sites with four nodes over links that differ tenfold and change midway,
// in simulated time, and the simulator runs them in the same worlds, and in those of the recordings: the rates are printed beside each
// other, as means over three such webs. It takes half a minute a strategy and runs when asked for.
func TestLiveAgainstSimulator(t *testing.T) {
	if *shaped == "" {
		t.Skip("asked for by -sim.shaped 'flow random'")
	}
	for _, spec := range strings.Fields(*shaped) {
		live, simulated, again, probes, delays := 0.0, 0.0, 0.0, 0, 0
		each := ""
		for _, seed := range shapedSeeds {
			w := shapedWeb{sites: 20, pages: 200, turn: 25 * time.Second, seed: seed}
			r := w.record(t, spec)
			bits, seconds := r.Reached()
			x := w.simulate(t, r, spec)
			live, simulated = live+bits/seconds/float64(len(shapedSeeds)), simulated+x/float64(len(shapedSeeds))
			again += replayed(t, r, spec) / float64(len(shapedSeeds))
			each += fmt.Sprintf(" %.1f/%.1f", bits/seconds/1e6, x/1e6)
			for i := range r.Facts {
				switch r.Facts[i].Kind {
				case learn.Crawl:
					probes++
				case learn.Delay:
					delays++
				}
			}
		}
		t.Logf("%-20s live %6.2f Mbit/s, simulated %6.2f, ratio %.2f, replayed %6.2f, ratio %.2f (each%s; %d probes, %d delays a crawl)", spec, live/1e6, simulated/1e6,
			simulated/live, again/1e6, again/live, each, probes/len(shapedSeeds), delays/len(shapedSeeds))
	}
}

// delays are what a recording measured of each pair's delay before or after its links changed, ms, the median.
func (w shapedWeb) delays(r sim.Recording, later bool) map[[2]string]float64 {
	start := int64(math.MaxInt64)
	for i := range r.Leases {
		start = min(start, r.Leases[i].Started)
	}
	all := map[[2]string][]float64{}
	for i := range r.Facts {
		if f := &r.Facts[i]; f.Kind == learn.Delay && (f.At-start > w.turn.Milliseconds()-shapedBegan) == later {
			all[[2]string{f.Node, f.Site}] = append(all[[2]string{f.Node, f.Site}], 1000*f.Seconds)
		}
	}
	out := map[[2]string]float64{}
	for pair, ms := range all {
		out[pair] = netcoord.Median(ms)
	}
	return out
}

// shapedBegan is about how many ms after the beginning of a shaped web its first lease is.
const shapedBegan = 1500

// simulate is how fast a strategy is in the simulator where the links are as they were in truth, bits/s on average.
func (w shapedWeb) simulate(t *testing.T, r sim.Recording, spec string) (rate float64) {
	t.Helper()
	st, err := strategy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	const runs = 8
	for seed := range uint64(runs) {
		world, _, err := r.World(seed)
		if err != nil {
			t.Fatal(err)
		}
		links := func(later bool) func(x *sim.World) {
			delays := w.delays(r, later)
			return func(x *sim.World) {
				for i := range x.Nodes {
					for j := range x.Sites {
						x.Speed[i][j] = w.speed(x.Nodes[i].ID, x.Sites[j].Name, later)
						if ms, ok := delays[[2]string{x.Nodes[i].ID, x.Sites[j].Name}]; ok {
							x.Delay[i][j] = ms
						}
					}
				}
			}
		}
		links(false)(&world)
		world.Changes, world.Drifts = []sim.Change{{At: w.turn.Milliseconds() - shapedBegan, Apply: links(true)}}, true
		x, err := sim.Replay(world, st)
		if err != nil {
			t.Fatal(err)
		}
		rate += x.Rate / runs
	}
	return rate
}
