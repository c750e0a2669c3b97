package lab

import (
	"context"
	"fmt"
	"math"
	"slices"

	"argosy/internal/plan/schedule"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

// Replays are what a strategy makes of a recording, one rate for each draw of what was not recorded, useful bits/s.
type Replays struct {
	Strategy string
	Rates    []float64
	Seconds  []float64 // until nine tenths of what was recorded, or in advice of what is to be had, were had; +Inf: not within five times the recording's time
}

// Rate is the mean rate, and how far the draws lie from it: their standard deviation.
func (r *Replays) Rate() (mean, spread float64) { return meanAndSpread(r.Rates) }

func meanAndSpread(xs []float64) (mean, spread float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		spread += (x - mean) * (x - mean)
	}
	if len(xs) < 2 {
		return mean, 0
	}
	return mean, math.Sqrt(spread / float64(len(xs)-1))
}

// How far a crawl is off its replay in four of five cases, as the logarithm of a ratio: what a recording leaves out, what chance decides with each
// lease that is given out, and half of what the draws lie apart; under another strategy than the recording's twice as far. They were chosen
// with some 45 shaped webs, and held against others (docs/scheduling.md).
const (
	offAnyway    = 0.04
	offEachLease = 0.85
	offDraws     = 0.5
	offOther     = 2
)

// Off is by which factor a crawl under the strategy is faster or slower than it was replayed, in four of five cases; 1 is not at all. Of what one
// crawl draws the next one draws otherwise: the fewer leases carry most of it, the less another one is like it.
func (r *Replays) Off(of *sim.Recording) (factor float64) {
	if r.Strategy == sim.AsRecorded {
		return 1
	}
	logs := make([]float64, len(r.Rates))
	for i, x := range r.Rates {
		logs[i] = math.Log(x)
	}
	square := offAnyway * offAnyway
	if len(of.Nodes) > 1 { // else nothing is decided
		square += offEachLease * offEachLease / of.Alike()
	}
	if _, spread := meanAndSpread(logs); !math.IsNaN(spread) {
		square += offDraws * offDraws * spread * spread
	}
	off := math.Sqrt(square)
	if r.Strategy != of.Strategy {
		off *= offOther
	}
	return math.Exp(off)
}

// Replay runs strategies in the worlds of a recording, each in the same ones.
func Replay(ctx context.Context, r *sim.Recording, strategies []string, draws int) (out []Replays, guess sim.Guess, err error) {
	return replay(ctx, r, strategies, draws, r.World)
}

// replay does so in worlds that are made otherwise, too.
func replay(ctx context.Context, r *sim.Recording, strategies []string, draws int, world func(seed uint64) (sim.World, sim.Guess, error)) (out []Replays, guess sim.Guess, err error) {
	for _, spec := range strategies {
		x := Replays{Strategy: spec}
		for seed := range uint64(draws) {
			var w sim.World
			if w, guess, err = world(seed); err != nil {
				return nil, guess, err
			}
			if err := x.run(ctx, r, w); err != nil {
				return nil, guess, err
			}
		}
		out = append(out, x)
	}
	return out, guess, nil
}

// run adds a strategy's rate in a world.
func (r *Replays) run(ctx context.Context, of *sim.Recording, w sim.World) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	spec := r.Strategy
	if spec == sim.AsRecorded {
		spec = of.Strategy
	}
	st, err := strategy.Recorded(spec)
	if err != nil {
		return err
	}
	if r.Strategy == sim.AsRecorded {
		st = of.Again(st)
	}
	if spec == of.Strategy {
		of.Same(&w)
	}
	x, err := sim.Replay(w, st)
	if err != nil {
		return fmt.Errorf("%s: %w", r.Strategy, err)
	}
	r.Rates, r.Seconds = append(r.Rates, x.Rate), append(r.Seconds, x.Seconds)
	return nil
}

// Advice is what a recording says of how to go on.
type Advice struct {
	Strategies []Replays // the best first
	Best       int       // draws in which the first of them is the best
	Drops      []Drop    // of each node, the one that is missed least first
	Reserve    []Fewer   // with fewer and fewer nodes, those that are missed least left out first
	Guess      sim.Guess
	Ahead      float64 // how many times as much as was recorded is to be had, since sites had pages left
}

// world is one of a recording's worlds that goes on.
func (a *Advice) world(r *sim.Recording, seed uint64) (sim.World, sim.Guess, error) {
	w, guess, err := r.World(seed)
	if err == nil {
		a.Ahead = w.Onward()
	}
	return w, guess, err
}

// Drop is what the best strategy loses without a node, as a share of its rate.
type Drop struct {
	Node         string
	Loss, Spread float64 // over the draws
}

// Fewer is the share of the rate that so many nodes reach.
type Fewer struct {
	Nodes         int
	Share, Spread float64
}

// enough is the share of the full rate that a reservation should reach.
const enough = 0.95

// students are by how many standard deviations of a few draws another one is below their mean in a fortieth of all cases, of one degree of freedom
// and more (Student's t); beyond these it is two.
var students = []float64{12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13}

// surely is by how many of their standard deviations the mean of so many draws is above nearly all further ones.
func surely(draws int) float64 {
	switch {
	case draws < 2:
		return math.Inf(1) // one draw says nothing of others
	case draws-2 < len(students):
		return students[draws-2] * math.Sqrt(1+1/float64(draws))
	}
	return 2
}

// Reserved is how many nodes reach 95 % of the rate in all but a fortieth of the draws, by their spread: the fewer draws, the less that is known.
func (a *Advice) Reserved() int {
	n, times := len(a.Drops), surely(len(a.Strategies[0].Rates))
	for _, f := range a.Reserve {
		if !(f.Share-times*f.Spread >= enough) { // also where nothing is known
			break
		}
		n = f.Nodes
	}
	return n
}

// alike is the share of the best rate from which nobody minds the difference.
const alike = 0.99

// Alike are the strategies that are as fast as the first one, draw by draw: within twice the standard error of the mean of their shares of its
// rate, or for all that matters.
func (a *Advice) Alike() (out []string) {
	best := &a.Strategies[0]
	for i := range a.Strategies[1:] {
		x := &a.Strategies[i+1]
		shares := make([]float64, len(x.Rates))
		for k := range shares {
			shares[k] = x.Rates[k] / best.Rates[k]
		}
		if share, spread := meanAndSpread(shares); share >= alike || share+2*spread/math.Sqrt(float64(len(shares))) >= 1 {
			out = append(out, x.Strategy)
		}
	}
	return out
}

// candidates are the strategies that advice is about.
var candidates = []string{"flow", "greedy", "bandwidth", "nearest,top=auto", "feedback,load=on", "roundrobin", "random"}

// Advise says which strategy would have been the fastest in a recording, which node is missed least, and with how many nodes
// the rate would be nearly the same, if the crawl goes on with what sites have left. progress is told what is being tried.
func Advise(ctx context.Context, r *sim.Recording, draws int, progress func(string)) (a Advice, err error) {
	specs := candidates
	if own, err := strategy.Recorded(r.Strategy); err == nil && schedule.CheckPlaces(own, r.Placed()) == nil && !slices.Contains(specs, r.Strategy) {
		specs = append([]string{r.Strategy}, specs...)
	}
	for _, spec := range specs {
		progress("strategy " + spec)
		x, guess, err := replay(ctx, r, []string{spec}, draws, func(seed uint64) (sim.World, sim.Guess, error) { return a.world(r, seed) })
		if err != nil {
			return a, err
		}
		a.Strategies, a.Guess = append(a.Strategies, x...), guess
	}
	slices.SortStableFunc(a.Strategies, func(x, y Replays) int {
		p, _ := x.Rate()
		q, _ := y.Rate()
		return -cmpFloat(p, q)
	})
	if rate, _ := a.Strategies[0].Rate(); !(rate > 0) {
		return a, fmt.Errorf("%w: under no strategy a page is had in its replays", sim.ErrUnsound)
	}
	for k := range draws {
		best := true
		for i := range a.Strategies[1:] {
			best = best && a.Strategies[0].Rates[k] >= a.Strategies[i+1].Rates[k]
		}
		if best {
			a.Best++
		}
	}
	return a, a.nodes(ctx, r, draws, progress)
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// nodes finds out what the best strategy does with fewer nodes.
func (a *Advice) nodes(ctx context.Context, r *sim.Recording, draws int, progress func(string)) error {
	all := &a.Strategies[0]
	without := func(gone map[string]bool) (share, spread float64, err error) {
		x := Replays{Strategy: all.Strategy}
		shares := make([]float64, draws)
		for seed := range draws {
			w, _, err := a.world(r, uint64(seed))
			if err != nil {
				return 0, 0, err
			}
			w.Without(gone)
			if err := x.run(ctx, r, w); err != nil {
				return 0, 0, err
			}
			shares[seed] = x.Rates[seed] / all.Rates[seed]
		}
		share, spread = meanAndSpread(shares)
		return share, spread, nil
	}
	if len(r.Nodes) < 2 {
		return nil
	}
	for _, n := range r.Nodes {
		progress("without " + n.ID)
		share, spread, err := without(map[string]bool{n.ID: true})
		if err != nil {
			return err
		}
		a.Drops = append(a.Drops, Drop{n.ID, 1 - share, spread})
	}
	slices.SortStableFunc(a.Drops, func(x, y Drop) int { return cmpFloat(x.Loss, y.Loss) })
	gone := map[string]bool{}
	for k, d := range a.Drops[:len(a.Drops)-1] {
		gone[d.Node] = true
		progress("with " + several(len(a.Drops)-k-1, "node"))
		share, spread, err := without(gone)
		if err != nil {
			return err
		}
		a.Reserve = append(a.Reserve, Fewer{len(a.Drops) - k - 1, share, spread})
		if share < enough/2 { // it only gets worse
			break
		}
	}
	return nil
}
