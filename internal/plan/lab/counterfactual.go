package lab

import (
	"math"
	"slices"
	"strings"

	"argosy/internal/plan/schedule"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

// Policies are what a counterfactual switches off, one at a time.
var Policies = [...]string{"assignment", "modification", "recycling"}

// Counterfactual is what the policies have brought in replays of a recorded run of searches: with all of them against without one.
type Counterfactual struct {
	Nodes        []NodeWithout
	Fleet        [len(Policies)]Without // of all nodes together
	Draws        int
	Tried, Pairs int // pairs of nodes and sites that the record knows, of all; what the others would have had is what the site gave others
}

// NodeWithout is the gain of one node.
type NodeWithout struct {
	Node string
	Gain [len(Policies)]Without
}

// Without is a gain in efficiency, useful pages for a second of leases, in percent: its mean over draws, and half of its 95 % interval. NaN:
// nothing can be compared.
type Without struct{ Gain, Half float64 }

// counterfactualDraws is how often a run is replayed with each policy off.
const counterfactualDraws = 20

// Replayed replays a run of searches with a strategy, and with each policy off: assignment is random then, leases are as the first were, and
// one that makes no progress holds its node until others would have given up.
func Replayed(of *sim.Searched, spec string) (c Counterfactual, err error) {
	c.Draws = counterfactualDraws
	gains := map[[2]int]sample{}
	for seed := range uint64(c.Draws) {
		var w sim.World
		if w, c.Tried, c.Pairs, err = of.World(seed); err != nil {
			return c, err
		}
		with, err := efficiency(w, spec)
		if err != nil {
			return c, err
		}
		for k := range Policies {
			off, policy := w, spec
			switch k {
			case 0:
				policy = "random"
			case 1:
				off.Modify = false
			case 2:
				off.Recycle = schedule.DefaultRecycle()
				off.Recycle.After = unrecycled
			}
			without, err := efficiency(off, policy)
			if err != nil {
				return c, err
			}
			for n := range with {
				gains[[2]int{n, k}] = append(gains[[2]int{n, k}], 100*(with[n]/without[n]-1))
			}
		}
		if c.Nodes == nil {
			for i := range w.Nodes {
				c.Nodes = append(c.Nodes, NodeWithout{Node: w.Nodes[i].ID})
			}
		}
	}
	for k := range Policies {
		for n := range c.Nodes {
			c.Nodes[n].Gain[k].Gain, c.Nodes[n].Gain[k].Half = gains[[2]int{n, k}].summary()
		}
		c.Fleet[k].Gain, c.Fleet[k].Half = gains[[2]int{len(c.Nodes), k}].summary()
	}
	slices.SortFunc(c.Nodes, func(a, b NodeWithout) int { return strings.Compare(a.Node, b.Node) })
	return c, nil
}

// efficiency is the useful pages that each node had for a second of its leases, and last all together; NaN for one without a lease.
func efficiency(w sim.World, spec string) ([]float64, error) {
	st, err := strategy.New(spec)
	if err != nil {
		return nil, err
	}
	good, seconds := make([]float64, len(w.Nodes)+1), make([]float64, len(w.Nodes)+1)
	w.Ended = func(e sim.End) {
		for _, n := range []int{e.Node, len(w.Nodes)} {
			good[n], seconds[n] = good[n]+e.Good, seconds[n]+e.Seconds
		}
	}
	if _, err := sim.RunBound(w, st, 0, false); err != nil {
		return nil, err
	}
	for n := range good {
		if good[n] /= seconds[n]; good[n] == 0 {
			good[n] = math.NaN()
		}
	}
	return good, nil
}
