package assemble_test

import (
	"flag"
	"strings"
	"testing"
	"time"

	"argosy/internal/plan/learn"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

var shaped = flag.String("sim.shaped", "", "strategies, separated by spaces, that crawl a shaped web and are held against the simulator in the same world")

// Strategies by their bare names crawl the same twenty sites with four nodes over links that differ tenfold and change midway,
// in simulated time, and the simulator runs them in the same world: the rates are printed beside each other. It takes half a
// minute a strategy and runs when asked for.
func TestLiveAgainstSimulator(t *testing.T) {
	if *shaped == "" {
		t.Skip("asked for by -sim.shaped 'flow random'")
	}
	w := shapedWeb{sites: 20, pages: 200, turn: 25 * time.Second, seed: 5}
	for _, spec := range strings.Fields(*shaped) {
		r := w.record(t, spec)
		bits, seconds := r.Reached()
		live := bits / seconds
		simulated := w.simulate(t, r, spec)
		probes, delays := 0, 0
		for i := range r.Facts {
			switch r.Facts[i].Kind {
			case learn.Crawl:
				probes++
			case learn.Delay:
				delays++
			}
		}
		t.Logf("%-20s live %6.2f Mbit/s (%.0f s, %d probes, %d delays), simulated %6.2f, ratio %.2f", spec, live/1e6, seconds, probes, delays, simulated/1e6,
			simulated/live)
	}
}

// simulate is how fast a strategy is in the simulator where the links are as they were in truth, bits/s on average.
func (w shapedWeb) simulate(t *testing.T, r sim.Recording, spec string) (rate float64) {
	t.Helper()
	st, err := strategy.New(spec)
	if err != nil {
		t.Fatal(err)
	}
	const (
		runs  = 8
		began = 1500 // ms from the beginning of the world to its first lease, about
	)
	for seed := range uint64(runs) {
		world, _, err := r.World(seed)
		if err != nil {
			t.Fatal(err)
		}
		links := func(later bool) func(x *sim.World) {
			return func(x *sim.World) {
				for i := range x.Nodes {
					for j := range x.Sites {
						x.Speed[i][j] = w.speed(x.Nodes[i].ID, x.Sites[j].Name, later)
					}
				}
			}
		}
		links(false)(&world)
		world.Changes = []sim.Change{{At: w.turn.Milliseconds() - began, Apply: links(true)}}
		x, err := sim.Replay(world, st)
		if err != nil {
			t.Fatal(err)
		}
		rate += x.Rate / runs
	}
	return rate
}
