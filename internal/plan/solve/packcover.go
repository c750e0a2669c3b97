package solve

import (
	"math"
	"math/bits"
	"slices"
)

// cover looks for a packing into equal bins that leaves next to no room: each bin is then filled by one of few sets of items, which can be
// listed, and the packing is an exact cover of the items by such sets (Knuth, Dancing Links, 2000, branches like this). Where more room is
// left the sets are too many, and other ways of looking are better.
type cover struct {
	p      *packer
	stop   func() bool
	items  []int       // by size, the largest first
	need   [][]float64 // of those
	size   []float64
	weight []float64 // of dimensions in size
	room   []float64 // of a bin
	spare  []float64 // what all bins together may leave

	tails []tail  // sets of three items that fit, by size
	at    []int32 // of each step of size the first of them
	step  float64
	sets  []set
	long  int // items of a set at most
	steps int // what listing, and then covering, may take

	chosen []int32
	prefix []uint8
	left   [coverLong - 2][]float64 // scratch: of prefixes, and the first of a set
}

// tail is a set of three items; set is one that fills a bin.
type (
	tail struct {
		size float64
		item [3]uint8
	}
	set struct {
		of    [4]uint64
		items int
		waste []float64
	}
)

// Constants of the search, which takes some tenths of a second at most.
const (
	coverItems  = 200 // of which there are 1.3 million sets of three
	coverLong   = 7   // items of a set at most,
	coverMore   = 2   // and how many more they are than bins have on average
	coverSets   = 30_000
	coverSteps  = 20_000_000
	extendSteps = 10  // that an item of a prefix takes
	coverRoom   = 0.1 // of a bin: where more is left in every dimension nothing is looked for
)

// exactly looks for a packing into as few bins as the bound says; it returns from if it finds none.
func (p *packer) exactly(from Packing, stop func() bool) Packing {
	c := newCover(p, from.Bound, stop)
	if c == nil || !c.list() || !c.cover() {
		return from
	}
	s := p.start()
	for k, x := range c.chosen {
		for t, j := range c.items {
			if c.sets[x].of[t/64]>>(t%64)&1 != 0 {
				s.put(j, p.order[k])
			}
		}
	}
	for j := range s.bin { // what needs nothing
		if s.bin[j] < 0 && !p.cant[j] {
			s.put(j, p.order[0])
		}
	}
	out := s.packing()
	if out.Bound = from.Bound; !out.better(from) {
		return from
	}
	return out
}

// newCover returns nil where such a search is of no use.
func newCover(p *packer, bins int, stop func() bool) *cover {
	c := &cover{p: p, stop: stop, room: p.full[0], steps: coverSteps}
	for _, f := range p.full {
		if !same(f, c.room) {
			return nil
		}
	}
	tight := false
	for d, room := range c.room {
		left := float64(bins)*room - p.mean[d]
		if left < -slackness*float64(len(p.need)) {
			return nil
		}
		tight = tight || left <= coverRoom*room
		c.spare = append(c.spare, max(0, left)+slackness*float64(len(p.need)))
		c.weight = append(c.weight, (1+math.Sqrt2*float64(d)/8)/max(room, slackness)) // sets of different needs have different sizes
	}
	for j, x := range p.need {
		if !p.cant[j] && largest(x) > 0 {
			c.items = append(c.items, j)
		}
	}
	if !tight || len(c.items) > coverItems || len(c.items) == 0 {
		return nil
	}
	slices.SortStableFunc(c.items, func(a, b int) int {
		switch x, y := dot(p.need[a], c.weight), dot(p.need[b], c.weight); {
		case x > y:
			return -1
		case x < y:
			return 1
		}
		return 0
	})
	for _, j := range c.items {
		c.need, c.size = append(c.need, p.need[j]), append(c.size, dot(p.need[j], c.weight))
	}
	c.long = max(3, min(coverLong, (len(c.items)+bins-1)/bins+coverMore))
	for k := range c.left {
		c.left[k] = make([]float64, len(c.room))
	}
	return c
}

// list lists the sets that fill a bin, and reports whether they are few enough.
func (c *cover) list() bool {
	c.sort()
	for i := range c.need {
		if c.stop() || c.p.stopped || !c.extend(i, c.room, max(1, c.long-3)) {
			return false
		}
	}
	return true
}

// sort lists the sets of three items that fit into a bin, by size.
func (c *cover) sort() {
	n, a, b := len(c.need), make([]float64, len(c.room)), make([]float64, len(c.room))
	for i := range n {
		if !within(c.need[i], c.room, a) {
			continue
		}
		for j := i + 1; j < n; j++ {
			if !within(c.need[j], a, b) {
				continue
			}
			if c.p.over((n - j) * len(c.room)) {
				return
			}
			for k := j + 1; k < n; k++ {
				if fits(c.need[k], b) {
					c.tails = append(c.tails, tail{c.size[i] + c.size[j] + c.size[k], [3]uint8{uint8(i), uint8(j), uint8(k)}})
				}
			}
		}
	}
	slices.SortFunc(c.tails, func(a, b tail) int {
		switch {
		case a.size < b.size:
			return -1
		case a.size > b.size:
			return 1
		}
		return 0
	})
	if len(c.tails) == 0 {
		return
	}
	c.step = max(slackness, c.tails[len(c.tails)-1].size/float64(len(c.tails)))
	for k, t := range c.tails {
		for len(c.at) <= int(t.size/c.step) {
			c.at = append(c.at, int32(k))
		}
	}
}

// within takes a need off a room, and reports whether it fits.
func within(need, room, left []float64) bool {
	for d, v := range need {
		if left[d] = room[d] - v; left[d] < -slackness {
			return false
		}
	}
	return true
}

// extend lists the sets that begin with those of the prefix and one more, in their order, which has room left; of so many items, that one
// included, and then three. It reports whether they are few enough.
func (c *cover) extend(i int, room []float64, more int) bool {
	if c.steps -= extendSteps; c.steps < 0 {
		return false
	}
	left := c.left[more]
	if !within(c.need[i], room, left) {
		return true
	}
	c.prefix = append(c.prefix, uint8(i))
	defer func() { c.prefix = c.prefix[:len(c.prefix)-1] }()
	if c.full(left) && len(c.prefix) <= min(3, c.long) {
		c.take(left)
	}
	wanted := dot(left, c.weight)
	least := wanted - dot(c.spare, c.weight) - slackness
	if !c.finish(i, left, least, wanted+slackness) {
		return false
	}
	for k := i + 1; k < len(c.need) && more > 1 && float64(more+2)*c.size[k] >= least; k++ {
		if !c.extend(k, left, more-1) {
			return false
		}
	}
	return len(c.sets) <= coverSets
}

// full reports whether no more is left of a bin than may be.
func (c *cover) full(left []float64) bool {
	for d, v := range left {
		if v > c.spare[d] {
			return false
		}
	}
	return true
}

// finish lists the sets of the prefix, of which i is the last, and three more, of such sizes together.
func (c *cover) finish(i int, left []float64, least, most float64) bool {
	from := int(max(0, least) / c.step)
	if i+1 >= len(c.size) || 3*c.size[i+1] < least || from >= len(c.at) {
		return true
	}
	waste := c.left[0]
	for k := int(c.at[from]); k < len(c.tails) && c.tails[k].size <= most; k++ {
		if c.steps--; c.steps < 0 || c.steps%1024 == 0 && c.p.over(1024*len(c.room)) {
			return false
		}
		t := &c.tails[k]
		if int(t.item[0]) <= i || t.size < least {
			continue
		}
		copy(waste, left)
		ok := true
		for _, j := range t.item {
			ok = ok && within(c.need[j], waste, waste)
		}
		if ok && c.full(waste) {
			c.prefix = append(c.prefix, t.item[:]...)
			c.take(waste)
			c.prefix = c.prefix[:len(c.prefix)-3]
		}
	}
	return len(c.sets) <= coverSets
}

// take lists the prefix as a set.
func (c *cover) take(waste []float64) {
	s := set{waste: slices.Clone(waste), items: len(c.prefix)}
	for _, t := range c.prefix {
		s.of[t/64] |= 1 << (t % 64)
	}
	c.sets = append(c.sets, s)
}

// cover chooses sets that have every item once, and leave no more in all than may be.
func (c *cover) cover() bool {
	open := make([]int32, len(c.sets))
	for k := range open {
		open[k] = int32(k)
	}
	slices.SortStableFunc(open, func(a, b int32) int { return c.sets[a].items - c.sets[b].items }) // large items fill a bin by chance more rarely
	c.steps = coverSteps
	return c.choose(open, [4]uint64{}, slices.Clone(c.spare))
}

func (c *cover) choose(open []int32, had [4]uint64, spare []float64) bool {
	var in [coverItems]int32 // in how many of the open sets an item is
	for _, k := range open {
		for w, word := range c.sets[k].of {
			for ; word != 0; word &= word - 1 {
				in[64*w+bits.TrailingZeros64(word)]++
			}
		}
	}
	item := -1
	for t := range c.items {
		if had[t/64]>>(t%64)&1 == 0 && (item < 0 || in[t] < in[item]) {
			item = t
		}
	}
	if item < 0 {
		return true
	}
	rest, left := make([]int32, 0, len(open)), make([]float64, len(spare))
	for _, k := range open {
		s := &c.sets[k]
		if s.of[item/64]>>(item%64)&1 == 0 {
			continue
		}
		if c.steps -= len(open); c.steps < 0 || c.p.over(len(open)*len(c.room)) {
			return false
		}
		if !within(s.waste, spare, left) {
			continue
		}
		rest = rest[:0]
		for _, o := range open {
			if s.apart(&c.sets[o]) && fits(c.sets[o].waste, left) {
				rest = append(rest, o)
			}
		}
		now := had
		for w := range now {
			now[w] |= s.of[w]
		}
		c.chosen = append(c.chosen, k)
		if c.choose(rest, now, slices.Clone(left)) {
			return true
		}
		c.chosen = c.chosen[:len(c.chosen)-1]
	}
	return false
}

// apart reports whether two sets have no item in common.
func (s *set) apart(o *set) bool {
	return s.of[0]&o.of[0]|s.of[1]&o.of[1]|s.of[2]&o.of[2]|s.of[3]&o.of[3] == 0
}
