package solve

import (
	"fmt"
	"math"
)

// Capacitated is the assignment problem in which bin i takes up to Cap[i] items. Pairs that are not listed are
// forbidden. Items in the order of their numbers list their bins in Bin and Cost between Start[j] and Start[j+1].
type Capacitated struct {
	Cap   []int
	Start []int32   // items + 1
	Bin   []int32   // of each listed pair
	Cost  []float64 // of each listed pair, finite
	Alone []float64 // cost of leaving an item alone; nil means that as many as possible are assigned
	// Prices of bins to start from, those of a problem much like this one. They change how long it takes, and among
	// assignments of equal cost which is found.
	Prices []float64
}

// CapacitatedAssignment is an assignment of least cost. Bin prices certify it: they are ≥ 0, 0 where a bin has room,
// and no item has another bin, or being alone, at a lower cost plus price than its own.
type CapacitatedAssignment struct {
	Bin    []int32 // of each item, -1 where it is alone
	Prices []float64
	Total  float64 // of the assigned items
	Alone  int
	Moves  int // items moved along shortest paths, the work beyond the first guess
}

// DenseCapacitated lists the finite pairs of a matrix whose rows are bins and whose columns are items.
func DenseCapacitated(m Matrix, capacity []int) (Capacitated, error) {
	r, err := m.check()
	if err != nil {
		return Capacitated{}, err
	}
	if len(capacity) != m.Rows {
		return Capacitated{}, fmt.Errorf("capacities: %d for %d rows", len(capacity), m.Rows)
	}
	t := m.Transpose()
	p := Capacitated{Cap: capacity, Start: make([]int32, m.Cols+1), Bin: make([]int32, 0, len(m.Data)), Cost: t.Data}
	if r.forbid {
		p.Cost = make([]float64, 0, len(m.Data))
	}
	for j := range m.Cols {
		for i, c := range t.Row(j) {
			if !r.forbid {
				p.Bin = append(p.Bin, int32(i))
			} else if c <= math.MaxFloat64 {
				p.Bin, p.Cost = append(p.Bin, int32(i)), append(p.Cost, c)
			}
		}
		p.Start[j+1] = int32(len(p.Bin))
	}
	return p, nil
}

func (p *Capacitated) items() int { return len(p.Start) - 1 }

func (p *Capacitated) check() (extent, error) {
	e := extent{lo: math.Inf(1), hi: math.Inf(-1)}
	if len(p.Start) == 0 || int(p.Start[len(p.Start)-1]) != len(p.Bin) || len(p.Bin) != len(p.Cost) {
		return e, fmt.Errorf("capacitated assignment: pairs and costs do not fit together")
	}
	for i, c := range p.Cap {
		if c < 0 {
			return e, fmt.Errorf("capacity %d: %d is negative", i+1, c)
		}
	}
	for j := range p.items() {
		if p.Start[j] > p.Start[j+1] {
			return e, fmt.Errorf("capacitated assignment: pairs of item %d do not fit together", j+1)
		}
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			c := p.Cost[k]
			if c != c || math.Abs(c) > math.MaxFloat64/1e6 {
				return e, fmt.Errorf("item %d: cost %g", j+1, c)
			}
			if p.Bin[k] < 0 || int(p.Bin[k]) >= len(p.Cap) {
				return e, fmt.Errorf("item %d: bin %d of %d", j+1, p.Bin[k], len(p.Cap))
			}
			e.lo, e.hi = min(e.lo, c), max(e.hi, c)
		}
	}
	if p.Alone != nil && len(p.Alone) != p.items() {
		return e, fmt.Errorf("costs of being alone: %d for %d items", len(p.Alone), p.items())
	}
	if p.Prices != nil && len(p.Prices) != len(p.Cap) {
		return e, fmt.Errorf("prices: %d for %d bins", len(p.Prices), len(p.Cap))
	}
	if e.lo > e.hi {
		e.lo, e.hi = 0, 0
	}
	return e, nil
}

// AssignCapacitated solves the problem exactly. Prices of bins that are nearly right come from a solution of every
// fourth item with a fourth of the capacities, and so on down; each item takes its best bin at these prices; then
// successive shortest paths over the graph of bins move items from bins that are too full, one at a time, along the
// cheapest chains.
func AssignCapacitated(p Capacitated) (CapacitatedAssignment, error) {
	e, err := p.check()
	if err != nil {
		return CapacitatedAssignment{}, err
	}
	alone := p.Alone
	if alone == nil {
		alone = make([]float64, p.items())
		for j := range alone {
			alone[j] = e.hi + (e.hi-e.lo+1)*float64(len(p.Cap)+1)
		}
	}
	start := p.Prices
	if start == nil {
		start = p.guess(alone)
	}
	s := newTransport(&p, alone, start)
	s.run()
	return s.result(), nil
}

// guess prices the bins by a smaller problem.
func (p *Capacitated) guess(alone []float64) []float64 {
	const step, few = 4, 16
	n := p.items()
	if n < step*max(few*len(p.Cap), 100) {
		return make([]float64, len(p.Cap))
	}
	q := Capacitated{Cap: make([]int, len(p.Cap)), Start: []int32{0}}
	var qAlone []float64
	for j := 0; j < n; j += step {
		q.Bin = append(q.Bin, p.Bin[p.Start[j]:p.Start[j+1]]...)
		q.Cost = append(q.Cost, p.Cost[p.Start[j]:p.Start[j+1]]...)
		q.Start = append(q.Start, int32(len(q.Bin)))
		qAlone = append(qAlone, alone[j])
	}
	for i, c := range p.Cap {
		q.Cap[i] = (c + step/2) / step
	}
	s := newTransport(&q, qAlone, q.guess(qAlone))
	s.run()
	return s.result().Prices
}

// transport is the state of one solution. Besides the bins there is the outside, with the number of the last: items
// that are alone are there, and so is the room of bins that have some. A bin's price falls below that of the outside
// never, and is above it only if the bin is full.
type transport struct {
	p      *Capacitated
	alone  []float64
	price  []float64    // of bins and outside, up to a common constant
	bin    []int32      // of each item; the outside is len(Cap)
	load   []int        // items of each bin
	excess []int        // items (or room) beyond what fits
	room   []int        // of each bin, as far as it is at the outside's price
	given  int          // room that is with the outside
	member [][]int32    // items of each bin at the start
	moves  [][]moveHeap // of each bin, to each other; nil until the bin is looked at
	dist   []float64
	from   []int32
	item   []int32 // that moves along the edge into a bin, -1 for room
	done   []bool
	moved  int
}

// offer is an item that would leave a bin for another at a difference of cost.
type offer struct {
	diff float64
	item int32
}

func newTransport(p *Capacitated, alone, price []float64) *transport {
	k, n := len(p.Cap), p.items()
	s := &transport{
		p: p, alone: alone, price: make([]float64, k+1), bin: make([]int32, n), load: make([]int, k+1),
		excess: make([]int, k+1), room: make([]int, k+1), member: make([][]int32, k+1),
		moves: make([][]moveHeap, k+1), dist: make([]float64, k+1),
		from: make([]int32, k+1), item: make([]int32, k+1), done: make([]bool, k+1),
	}
	for i, x := range price {
		s.price[i] = max(0, x)
	}
	var tied []int32 // items that could as well be elsewhere: they fill what the others leave
	for j := range n {
		if at, ties := s.best(j); ties == 0 {
			s.put(int32(j), at)
		} else {
			tied = append(tied, int32(j))
		}
	}
	for _, j := range tied {
		s.put(j, s.roomiest(j))
	}
	for i := range s.member {
		s.member[i] = make([]int32, 0, s.load[i])
	}
	for j, i := range s.bin {
		s.member[i] = append(s.member[i], int32(j))
	}
	s.balance()
	return s
}

func (s *transport) put(j, at int32) {
	s.bin[j] = at
	s.load[at]++
}

// tie is how close two costs are that arithmetic may have parted.
const tie = 1e-11

// best returns where an item costs least at the present prices, and how many other places cost the same.
func (s *transport) best(j int) (at int32, ties int) {
	best := s.alone[j]
	at = int32(len(s.p.Cap))
	for e := s.p.Start[j]; e < s.p.Start[j+1]; e++ {
		switch c := s.p.Cost[e] + s.price[s.p.Bin[e]]; {
		case c < best-tie*(1+math.Abs(best)):
			best, at, ties = c, s.p.Bin[e], 0
		case c <= best+tie*(1+math.Abs(best)):
			ties++
		}
	}
	return at, ties
}

// roomiest returns, of the places where an item costs least, the first with room, and if none has any the outside or
// the first.
func (s *transport) roomiest(j int32) int32 {
	first, _ := s.best(int(j))
	out := int32(len(s.p.Cap))
	if first < out && s.load[first] < s.p.Cap[first] {
		return first
	}
	limit := s.alone[j]
	if first < out {
		limit = s.costAt(j, int(first)) + s.price[first]
	}
	limit += tie * (1 + math.Abs(limit))
	for e := s.p.Start[j]; e < s.p.Start[j+1]; e++ {
		if b := s.p.Bin[e]; s.p.Cost[e]+s.price[b] <= limit && s.load[b] < s.p.Cap[b] {
			return b
		}
	}
	if s.alone[j] <= limit {
		return out
	}
	return first
}

// balance says what each bin has too much of: items where positive, room that must be filled where negative. The sum
// is 0.
func (s *transport) balance() {
	k := len(s.p.Cap)
	all := 0
	for i, c := range s.p.Cap {
		all += c
		s.excess[i] = s.load[i] - c
		if s.price[i] == 0 && s.excess[i] < 0 {
			s.room[i] = -s.excess[i]
			s.excess[i] = 0
			s.given -= s.room[i]
		}
	}
	s.given += all
	s.excess[k] = s.load[k] + s.given - s.p.items()
}

func (s *transport) run() {

	for s.shortest() {
		s.moved++
	}
}

// shortest moves one unit along the cheapest path from a bin that has too much to one that has too little.
func (s *transport) shortest() bool {
	any := false
	for i := range s.dist {
		s.dist[i], s.from[i], s.done[i] = math.Inf(1), -1, false
		if s.excess[i] > 0 {
			s.dist[i] = 0
			any = true
		}
	}
	if !any {
		return false
	}
	end := -1
	for {
		at := -1
		for i, d := range s.dist {
			if !s.done[i] && (at < 0 || d < s.dist[at]) {
				at = i
			}
		}
		if at < 0 || math.IsInf(s.dist[at], 1) {
			return false // cannot be: the outside takes everything
		}
		s.done[at] = true
		if s.excess[at] < 0 {
			end = at
			break
		}
		s.relax(at)
	}
	reach := s.dist[end]
	for i, d := range s.dist {
		s.price[i] -= min(d, reach)
	}
	s.excess[end]++
	for to := end; ; {
		f := s.from[to]
		if f < 0 {
			s.excess[to]--
			return true
		}
		s.move(int(f), to, s.item[to])
		to = int(f)
	}
}

// relax offers the edges out of a bin.
func (s *transport) relax(at int) {
	k := len(s.p.Cap)
	if s.moves[at] == nil {
		s.prepare(at)
	}
	base := s.dist[at] - s.price[at]
	offerRoom := func(to int) {
		if d := max(base+s.price[to], s.dist[at]); d < s.dist[to] {
			s.dist[to], s.from[to], s.item[to] = d, int32(at), -1
		}
	}
	row := s.moves[at]
	for to := range row {
		if s.done[to] {
			continue
		}
		h := &row[to]
		for len(*h) > 0 && s.bin[(*h)[0].item] != int32(at) {
			h.pop()
		}
		if len(*h) > 0 {
			if d := max(base+s.price[to]+(*h)[0].diff, s.dist[at]); d < s.dist[to] {
				s.dist[to], s.from[to], s.item[to] = d, int32(at), (*h)[0].item
			}
		}
	}
	if at == k && s.given > 0 {
		for to := range k {
			if !s.done[to] {
				offerRoom(to)
			}
		}
	} else if at < k && s.room[at] > 0 && !s.done[k] {
		offerRoom(k)
	}
}

// prepare makes the heaps of a bin.
func (s *transport) prepare(at int) {
	row := make([]moveHeap, len(s.p.Cap)+1)
	s.moves[at] = row
	for _, j := range s.member[at] {
		if s.bin[j] == int32(at) {
			s.each(j, at, func(to int, o offer) { row[to] = append(row[to], o) })
		}
	}
	for to := range row {
		row[to].init()
	}
	s.member[at] = nil
}

// each visits an item's offers to leave a bin.
func (s *transport) each(j int32, at int, visit func(to int, o offer)) {
	k := len(s.p.Cap)
	own := s.costAt(j, at)
	for e := s.p.Start[j]; e < s.p.Start[j+1]; e++ {
		if to := int(s.p.Bin[e]); to != at {
			visit(to, offer{s.p.Cost[e] - own, j})
		}
	}
	if at != k {
		visit(k, offer{s.alone[j] - own, j})
	}
}

func (s *transport) costAt(j int32, at int) float64 {
	if at == len(s.p.Cap) {
		return s.alone[j]
	}
	best := math.Inf(1)
	for e := s.p.Start[j]; e < s.p.Start[j+1]; e++ {
		if int(s.p.Bin[e]) == at {
			best = min(best, s.p.Cost[e])
		}
	}
	return best
}

// move takes an item, or room, from one bin to another.
func (s *transport) move(from, to int, j int32) {
	k := len(s.p.Cap)
	if j < 0 {
		if from == k {
			s.given--
			s.room[to]++
		} else {
			s.room[from]--
			s.given++
		}
		return
	}
	s.bin[j] = int32(to)
	s.load[from]--
	s.load[to]++
	if s.moves[to] == nil {
		s.member[to] = append(s.member[to], j)
		return
	}
	row := s.moves[to]
	s.each(j, to, func(next int, o offer) { row[next].push(o) })
}

func (s *transport) result() CapacitatedAssignment {
	k := len(s.p.Cap)
	r := CapacitatedAssignment{Bin: s.bin, Prices: make([]float64, k), Moves: s.moved}
	for i := range r.Prices {
		r.Prices[i] = max(0, s.price[i]-s.price[k])
		if s.load[i] < s.p.Cap[i] {
			r.Prices[i] = 0
		}
	}
	for j, i := range s.bin {
		if i == int32(k) {
			s.bin[j] = -1
			r.Alone++
		} else {
			r.Total += s.costAt(int32(j), int(i))
		}
	}
	return r
}
