package solve

import (
	"math"
	"math/rand/v2"
	"slices"
)

// PackWithin is Pack by the portfolio, which then goes on to look for fewer bins until stop says so, or until no packing can
// have fewer. The longer it may look the better; what it returns is never worse than the published rule. Where that and the
// other rules take a moment at most, stop is asked after them, so it is never worse than Pack.
func PackWithin(bins []Bin, items [][]float64, stop func() bool) (Packing, error) {
	p, err := newPacker(bins, items)
	if err != nil {
		return Packing{}, err
	}
	p.stop = stop
	best := p.portfolio()
	if len(best.Waiting) == 0 && !best.Searched && best.Used > best.Bound {
		best = newRefiner(p, stop).refine(p.exactly(best, stop))
	}
	best.Rule = RulePortfolio
	best.Searched = best.Searched || len(best.Waiting) == 0 && best.Used <= best.Bound
	return best, nil
}

// refiner looks for a packing into given bins, one fewer than are known to do. Items that have no bin yet are outside; a
// few bins at a time are emptied and filled anew, each with the set of items that leaves least room (minimum bin slack,
// Gupta and Ho, Production Planning & Control 10, 1999), and what is outside may get a little larger now and then
// (record-to-record travel, Dueck, Journal of Computational Physics 104, 1993).
type refiner struct {
	p      *packer
	stop   func() bool
	rng    *rand.Rand
	dims   int
	need   []float64 // of each item, dims numbers each
	size   []float64 // of each item: Σ need over dimensions, weighted by how scarce they are
	weight []float64

	held    [][]int32 // items of each bin that may be used
	outside []int32
	out     float64 // size of what is outside

	// One filling.
	pool   []int32
	chosen []int32
	best   []int32
	most   float64
	nodes  int
	key    []float64
	left   []float64
	filled [emptied][]int32
	tail   []float64 // of the pool from each place on
}

// Constants of the search: they change how soon something is found, not what is right. Chosen on triplets and cut bins of 90
// to 150 items.
const (
	emptied     = 3    // bins at once
	refillNodes = 4000 // sets of items that a filling looks at
	patient     = 30   // rounds without a record until more may be outside
	slack       = 0.3  // of a bin, how much more at most
	noise       = 0.3  // by how much an item may seem larger when items are put in order
	checkEvery  = 16   // rounds between two questions whether to stop, in four dimensions or fewer
)

func newRefiner(p *packer, stop func() bool) *refiner {
	r := &refiner{p: p, stop: stop, rng: rand.New(rand.NewPCG(uint64(len(p.need)), 0x7061636b)), dims: len(p.mean)}
	r.weight = p.weights()
	r.need, r.size, r.key = make([]float64, len(p.need)*r.dims), make([]float64, len(p.need)), make([]float64, len(p.need))
	for j, x := range p.need {
		copy(r.of(int32(j)), x)
		r.size[j] = dot(x, r.weight)
	}
	return r
}

func (r *refiner) of(j int32) []float64 { return r.need[int(j)*r.dims : (int(j)+1)*r.dims] }

// refine takes one bin away at a time, as long as the rest can hold everything.
func (r *refiner) refine(best Packing) Packing {
	for best.Used > best.Bound && !r.stop() {
		got, ok := r.fewer(best)
		if !ok {
			break
		}
		best = got
	}
	return best
}

// fewer looks for a packing without one of the bins of another.
func (r *refiner) fewer(from Packing) (Packing, bool) {
	bins := r.begin(from)
	if len(bins) == 0 {
		return from, false
	}
	record, limit, scale := r.out, 0.0, 0.0
	for _, i := range bins {
		scale += dot(r.p.full[i], r.weight) / float64(len(bins))
	}
	pick, check := make([]int, 0, emptied), max(1, checkEvery*4/max(4, r.dims))
	for round, since := 0, 0; len(r.outside) > 0; round++ {
		if round%check == 0 && r.stop() {
			return from, false
		}
		if since++; since > patient {
			since, limit = 0, scale*slack*r.rng.Float64()
		}
		pick = pick[:0]
		for range emptied {
			if i := r.rng.IntN(len(bins)); !slices.Contains(pick, i) {
				pick = append(pick, i)
			}
		}
		if now := r.refill(pick, bins, record+limit); now < record-1e-12 {
			record, since, limit = now, 0, 0
		}
	}
	return r.packing(from, bins), true
}

// begin sets up the bins of a packing but for one: an opened one before one that was working, the smallest, the emptiest.
func (r *refiner) begin(from Packing) (bins []int) {
	held := make(map[int][]int32)
	for j, i := range from.Bin {
		if i >= 0 {
			held[i] = append(held[i], int32(j))
		}
	}
	gone, least := -1, math.Inf(1)
	for _, i := range r.p.order {
		if held[i] == nil {
			continue
		}
		bins = append(bins, i)
		size := 1e3 * dot(r.p.full[i], r.weight)
		if r.p.bins[i].Working {
			size += 1e9
		}
		for _, j := range held[i] {
			size += r.size[j]
		}
		if size < least {
			gone, least = i, size
		}
	}
	bins = slices.DeleteFunc(bins, func(i int) bool { return i == gone })
	r.held, r.out = r.held[:0], 0
	r.outside = append(r.outside[:0], held[gone]...)
	for _, j := range r.outside {
		r.out += r.size[j]
	}
	for _, i := range bins {
		r.held = append(r.held, held[i])
	}
	return bins
}

// refill empties some bins and fills them again with what was in them and outside. It keeps what comes of it if no more
// than limit is outside then, and returns how much is.
func (r *refiner) refill(pick, bins []int, limit float64) float64 {
	r.pool = append(r.pool[:0], r.outside...)
	for _, k := range pick {
		r.pool = append(r.pool, r.held[k]...)
	}
	for _, j := range r.pool {
		r.key[j] = r.size[j] * (1 + noise*r.rng.Float64())
	}
	slices.SortFunc(r.pool, func(a, b int32) int {
		if r.key[a] > r.key[b] {
			return -1
		} else if r.key[a] < r.key[b] {
			return 1
		}
		return int(a - b)
	})
	for x, k := range pick {
		r.fill(r.p.full[bins[k]])
		r.filled[x] = append(r.filled[x][:0], r.best...)
		r.pool = slices.DeleteFunc(r.pool, func(j int32) bool { return slices.Contains(r.best, j) })
	}
	out := 0.0
	for _, j := range r.pool {
		out += r.size[j]
	}
	if out > limit {
		return r.out
	}
	for x, k := range pick {
		r.held[k] = append(r.held[k][:0], r.filled[x]...)
	}
	r.outside = append(r.outside[:0], r.pool...)
	r.out = out
	return out
}

// fill finds the set of items of the pool that leaves least of a room, among the first so many.
func (r *refiner) fill(room []float64) {
	r.chosen, r.best, r.most, r.nodes = r.chosen[:0], r.best[:0], -1, refillNodes
	r.tail = append(r.tail[:0], make([]float64, len(r.pool)+1)...)
	for k := len(r.pool) - 1; k >= 0; k-- {
		r.tail[k] = r.tail[k+1] + r.size[r.pool[k]]
	}
	r.left = append(r.left[:0], room...)
	r.choose(0, 0, dot(room, r.weight))
	for _, j := range r.pool { // what needs nothing fits anywhere
		if r.size[j] == 0 {
			r.best = append(r.best, j)
		}
	}
}

func (r *refiner) choose(k int, size, all float64) {
	if size > r.most {
		r.most = size
		r.best = append(r.best[:0], r.chosen...)
	}
	for ; k < len(r.pool); k++ {
		if size+r.tail[k] <= r.most || r.most >= all*(1-1e-9) {
			return
		}
		j := r.pool[k]
		x := r.of(j)
		if r.nodes--; r.nodes < 0 {
			return
		}
		if !fits(x, r.left) {
			continue
		}
		for d, v := range x {
			r.left[d] -= v
		}
		r.chosen = append(r.chosen, j)
		r.choose(k+1, size+r.size[j], all)
		r.chosen = r.chosen[:len(r.chosen)-1]
		for d, v := range x {
			r.left[d] += v
		}
	}
}

// packing is what there is as a packing.
func (r *refiner) packing(from Packing, bins []int) Packing {
	s := r.p.start()
	for k, i := range bins {
		for _, j := range r.held[k] {
			s.put(int(j), i)
		}
	}
	out := s.packing()
	out.Bound = from.Bound
	return out
}
