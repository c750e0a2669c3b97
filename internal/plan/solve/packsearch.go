package solve

import (
	"math"
	"sort"
)

// empty tries to empty one bin after the other, the lightest first, by moving its items elsewhere, if need be into
// the place of an item that fits a third bin.
func (p *packer) empty(from Packing) Packing {
	s := p.start()
	for j, i := range from.Bin {
		if i >= 0 {
			s.put(j, i)
		}
	}
	tries := 40_000_000 / (len(p.need)*len(p.bins) + 1) // bins that we try to empty
	for again := true; again; {
		again = false
		used := s.used()
		sort.SliceStable(used, func(a, b int) bool { return sum(s.left[used[a]]) > sum(s.left[used[b]]) })
		for _, i := range used {
			if tries--; tries < 0 || p.over(0) {
				return s.packing()
			}
			if s.evacuate(i) {
				again = true
				break
			}
		}
	}
	return s.packing()
}

func (s *state) used() (out []int) {
	for _, i := range s.p.order {
		if s.held[i] > 0 {
			out = append(out, i)
		}
	}
	return out
}

// evacuate moves every item of a bin elsewhere, or none.
func (s *state) evacuate(i int) bool {
	before := append([]int(nil), s.bin...)
	var items []int
	for j, at := range s.bin {
		if at == i {
			items = append(items, j)
		}
	}
	sort.SliceStable(items, func(a, b int) bool { return sum(s.p.need[items[a]]) > sum(s.p.need[items[b]]) })
	for _, j := range items {
		s.take(j)
		if s.p.over(s.p.look()) || !s.place(j, i) && !s.exchange(j, i) {
			for k, at := range s.bin {
				if at >= 0 {
					s.take(k)
				}
				if before[k] >= 0 {
					s.put(k, before[k])
				}
			}
			return false
		}
	}
	return true
}

// place puts an item where it leaves least room, in a bin that is in use and not the one given.
func (s *state) place(j, not int) bool {
	at, best := -1, math.Inf(-1)
	for i, n := range s.held {
		if n > 0 && i != not && fits(s.p.need[j], s.left[i]) {
			if v := minusLeft(s.p.need[j], s.left[i], nil); v > best {
				at, best = i, v
			}
		}
	}
	if at >= 0 {
		s.put(j, at)
	}
	return at >= 0
}

// exchange puts an item in the place of another that fits somewhere else.
func (s *state) exchange(j, not int) bool {
	if len(s.bin) > 2000 {
		return false // too long a search for one item
	}
	for k, i := range s.bin {
		if i < 0 || i == not || sum(s.p.need[k]) >= sum(s.p.need[j]) {
			continue
		}
		if s.p.over(s.p.look()) {
			return false
		}
		s.take(k)
		if fits(s.p.need[j], s.left[i]) {
			s.put(j, i)
			if s.place(k, not) {
				return true
			}
			s.take(j)
		}
		s.put(k, i)
	}
	return false
}

// searchSteps bounds the search through all packings of a small problem.
const (
	searchItems = 40
	searchSteps = 300_000
)

// search looks through all packings of few items, the largest first, for one with fewer bins than best has.
func (p *packer) search(best Packing, bound int) Packing {
	if len(p.need) > searchItems {
		return best
	}
	b := &branch{state: p.start(), best: best, bound: bound, steps: searchSteps}
	for j := range p.need {
		if !p.cant[j] {
			b.items = append(b.items, j)
		}
	}
	sort.SliceStable(b.items, func(x, y int) bool { return largest(p.need[b.items[x]]) > largest(p.need[b.items[y]]) })
	b.try(0, 0)
	b.best.Searched = b.steps > 0
	return b.best
}

// branch is the state of a branch and bound search.
type branch struct {
	*state
	items []int
	best  Packing
	bound int
	steps int
}

func (b *branch) try(k, used int) {
	if b.p.over(b.p.look()) {
		b.steps = 0 // not all was looked through
	}
	if b.steps--; b.steps < 0 || b.best.Used <= b.bound || used >= b.best.Used {
		return
	}
	if k == len(b.items) {
		bin := append([]int(nil), b.bin...)
		b.best = b.packing()
		b.best.Bin = bin
		return
	}
	j := b.items[k]
	var seen []int // one empty bin of each size is enough
bins:
	for _, i := range b.p.order {
		if !fits(b.p.need[j], b.left[i]) {
			continue
		}
		grow := 0
		if b.held[i] == 0 {
			for _, o := range seen {
				if b.p.bins[o].Working == b.p.bins[i].Working && same(b.p.full[o], b.p.full[i]) {
					continue bins
				}
			}
			seen = append(seen, i)
			grow = 1
		}
		b.put(j, i)
		b.try(k+1, used+grow)
		b.take(j)
	}
}

func same(a, b []float64) bool {
	for d := range a {
		if a[d] != b[d] {
			return false
		}
	}
	return true
}

// bound returns the largest of three lower bounds on the bins that any packing of all items uses: what the largest
// bins can hold in each dimension; in each dimension, the bound of Martello and Toth (1990) with bins as large as the
// largest; and a set of items no two of which fit together.
func (p *packer) bound() int {
	top := make([]float64, len(p.mean))
	for _, f := range p.full {
		for d, v := range f {
			top[d] = max(top[d], v)
		}
	}
	var items []int
	for j := range p.need {
		if !p.cant[j] {
			items = append(items, j)
		}
	}
	if len(items) == 0 {
		return 0
	}
	lb := 1
	for d := range p.mean {
		var caps []float64
		for _, f := range p.full {
			caps = append(caps, f[d])
		}
		sort.Sort(sort.Reverse(sort.Float64Slice(caps)))
		held, n := 0.0, 0
		for n < len(caps) && held < p.mean[d]-slackness*float64(len(items)) {
			held += caps[n]
			n++
		}
		lb = max(lb, n, p.martelloToth(d, top[d], items))
	}
	return max(lb, p.incompatible(top, items))
}

// martelloToth is the bound L2 of one dimension.
func (p *packer) martelloToth(d int, size float64, items []int) int {
	x := make([]float64, 0, len(items))
	for _, j := range items {
		x = append(x, p.need[j][d])
	}
	sort.Sort(sort.Reverse(sort.Float64Slice(x)))
	tail := make([]float64, len(x)+1) // sums of the small ones
	for k := len(x) - 1; k >= 0; k-- {
		tail[k] = tail[k+1] + x[k]
	}
	first := func(limit float64) int { // the first item not larger
		return sort.Search(len(x), func(k int) bool { return x[k] <= limit })
	}
	half := first(size/2 + slackness)
	best := 0
	for k := half; k <= len(x); k++ {
		least := 0.0
		if k < len(x) {
			least = x[k]
		}
		alone := first(size - least + slackness) // too large for an item of that size beside them
		alone = min(alone, half)
		room := float64(half-alone)*size - (tail[alone] - tail[half])
		small := tail[half]
		if k < len(x) {
			small = tail[half] - tail[first(least-slackness)]
		}
		more := 0
		if over := small - room; over > slackness*float64(len(x)) && size > 0 {
			more = int(math.Ceil(over/size - 1e-6))
		}
		best = max(best, half+more)
	}
	return best
}

// apart reports whether two needs do not fit into a room together.
func apart(a, b, room []float64) bool {
	for d, v := range a {
		if v+b[d] > room[d]+slackness {
			return true
		}
	}
	return false
}

// incompatible returns the size of a set of items no two of which fit into one bin, found greedily.
func (p *packer) incompatible(top []float64, items []int) int {
	if len(items) > 3000 {
		return 0
	}
	order := append([]int(nil), items...)
	sort.SliceStable(order, func(a, b int) bool { return largest(p.need[order[a]]) > largest(p.need[order[b]]) })
	var set []int
next:
	for _, j := range order {
		if p.over(len(set) * len(top)) {
			break // what there is of a set is one
		}
		for _, k := range set {
			if !apart(p.need[j], p.need[k], top) {
				continue next
			}
		}
		set = append(set, j)
	}
	return len(set)
}
