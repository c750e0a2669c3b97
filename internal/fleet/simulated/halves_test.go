package simulated_test

import (
	"flag"
	"math"
	"strings"
	"testing"
	"time"

	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

var halved = flag.String("sim.halves", "", "two strategies: how much faster the second one is than the first, in crawls, their halves, and replays of these")

// How much faster one strategy is than another in crawls of the same webs, over links that stay as they are, and until half of the bits are had, is held
// against replays under both of each one's recordings, of their halves, and of their first halves when they go on as in advice. It runs when asked for.
func TestHalvesOfTwo(t *testing.T) {
	specs := strings.Fields(*halved)
	if len(specs) != 2 {
		t.Skip("asked for by -sim.halves 'flow greedy'")
	}
	const crawls, until = "crawls", "crawls until half of the bits"
	sum, n := map[string]float64{}, map[string]float64{}
	note := func(what string, ln float64) { sum[what], n[what] = sum[what]+ln, n[what]+1 }
	for _, w := range chosenWebs(t) {
		w.sites, w.pages, w.turn = 20, 250, time.Hour
		for k, spec := range specs {
			whole := w.record(t, spec)
			first, second := halves(whole)
			rate := func(r sim.Recording) float64 {
				bits, seconds := r.Reached()
				return math.Log(bits / seconds)
			}
			sign := float64(2*k - 1)
			note(crawls, sign*2*rate(whole))
			note(until, sign*2*rate(first))
			faster := func(r sim.Recording, on bool) float64 {
				return replayedOn(t, r, specs[1], on) - replayedOn(t, r, specs[0], on)
			}
			note("replays", faster(whole, false))
			note("replays of first halves", faster(first, false))
			note("replays of first halves that go on", faster(first, true))
			note("second halves of "+spec+", of their own rate", replayedOn(t, second, spec, false)-rate(second))
		}
	}
	for what := range sum {
		t.Logf("%.3f %s", math.Exp(sum[what]/n[what]), what)
	}
}

// replayedOn is the logarithm of a strategy's mean rate in the worlds of a recording, which go on as in advice if so asked.
func replayedOn(t *testing.T, r sim.Recording, spec string, on bool) float64 {
	t.Helper()
	const draws = 8
	st, err := strategy.Recorded(spec)
	if err != nil {
		t.Fatal(err)
	}
	rate := 0.0
	for seed := range uint64(draws) {
		w, _, err := r.World(seed)
		if err != nil {
			t.Fatal(err)
		}
		if on {
			w.Onward()
		}
		x, err := sim.Replay(w, st)
		if err != nil {
			t.Fatal(err)
		}
		rate += x.Rate / draws
	}
	return math.Log(rate)
}
