package solve

import "math"

// lap is the state of one assignment; rows ≤ columns.
//
// The duals v of columns only ever fall, so the reduced cost c−v of a pair only ever rises. Each row therefore keeps
// its core: the pairs that were cheapest when it was last read in full, and a floor that every other pair of the row
// has kept since. A search relaxes the core and notes the floor as an event; only when the floor comes up before the
// next column is the row read in full again. This is exact, and in most matrices a row is read two or three times.
type lap struct {
	m       Matrix
	penalty float64 // cost of leaving a row alone: more than any matching could save
	col     []int32 // of each row, -1 if it is free
	row     []int32 // of each column
	price   []float64
	v       []float64
	core    []rowCore

	// One search.
	dist     []float64 // shortest distance to each column so far
	state    []uint8
	pred     []int32
	touched  []int32
	done     []int32
	heap     distHeap
	tied     []int32 // columns at the distance that the search has reached
	pick     coreHeap
	searches int
	work     int // pairs looked at
	narrow   bool
}

// rowCore is what a row keeps of its last full reading.
type rowCore struct {
	col    []int32
	cost   []float64
	floor  float64 // no other pair of the row has a smaller reduced cost
	search int     // in which it was read
}

// grow is how many searches a core must last to keep its size.
const grow = 4

const (
	colNew uint8 = iota
	colOpen
	colDone
)

func assignWide(m Matrix, r extent) Assignment {
	n, k := m.Rows, m.Cols
	s := &lap{
		m: m, penalty: r.hi + (r.hi-r.lo+1)*float64(n+1), col: fill(n), row: fill(k), price: make([]float64, n),
		v: make([]float64, k), core: make([]rowCore, n),
		dist: make([]float64, k), state: make([]uint8, k), pred: make([]int32, k),
	}
	perfect := n == k && !r.forbid // else a column may stay free, and its dual must be 0
	if perfect {
		s.reduceColumns()
	}
	if s.narrow = n < k; !s.solve(r.hi-r.lo, perfect) {
		if cols := s.cheapest(); len(cols) <= k*3/4 {
			return assignAmong(m, r, cols)
		}
		s.narrow = false
		s.solve(r.hi-r.lo, perfect)
	}
	a := Assignment{Col: make([]int, n), U: make([]float64, n), V: s.v, Penalty: s.penalty}
	for i := range a.Col {
		j := s.col[i]
		a.Col[i] = int(j)
		if j < 0 {
			a.U[i] = s.penalty
			a.Unmatched++
		} else {
			a.U[i] = s.price[i] - s.v[j]
		}
	}
	return a
}

// patience is how many readings of the whole matrix the searches may take before the duals are prepared by an auction, or
// the columns that nobody needs are left out.
const patience = 4

// solve matches every row. It returns false where it should be tried with fewer columns first.
func (s *lap) solve(spread float64, perfect bool) bool {
	scaled := !perfect
	free := s.reduceRows()
	for k := 0; k < len(free); k++ {
		if !scaled && s.work > patience*len(s.m.Data) {
			scaled = true
			s.scale(spread)
			free, k = s.reduceRows(), 0
			if len(free) == 0 {
				return true
			}
		}
		if s.narrow && s.work > patience*len(s.m.Data) {
			return false
		}
		s.augment(free[k])
	}
	return true
}

func fill(n int) []int32 {
	x := make([]int32, n)
	for i := range x {
		x[i] = -1
	}
	return x
}

func (s *lap) match(i, j int32, cost float64) { s.col[i], s.row[j], s.price[i] = j, i, cost }

// reduceColumns sets each column's dual to its smallest cost and matches it to that row where the row is free.
func (s *lap) reduceColumns() {
	k := s.m.Cols
	at := make([]int32, k)
	copy(s.v, s.m.Row(0))
	for i := 1; i < s.m.Rows; i++ {
		row := s.m.Row(i)
		v, at := s.v[:len(row)], at[:len(row)]
		for j, c := range row {
			if c < v[j] {
				v[j], at[j] = c, int32(i)
			}
		}
	}
	for j := k - 1; j >= 0; j-- {
		if i := at[j]; s.col[i] < 0 {
			s.match(i, int32(j), s.v[j])
		}
	}
}

// read makes the core of a row anew from all of its pairs, larger each time that it did not last for one search.
func (s *lap) read(i int32) {
	c := &s.core[i]
	size := max(len(c.col), 4, (8+len(s.v)/200)*len(s.col)/len(s.v))
	if s.searches-c.search < grow {
		size *= 2
	}
	c.search = s.searches
	row := s.m.Row(int(i))
	v := s.v[:len(row)]
	if 4*size > len(row) { // all of it
		c.col, c.cost = c.col[:0], c.cost[:0]
		for j, x := range row {
			c.col, c.cost = append(c.col, int32(j)), append(c.cost, x)
		}
		c.floor = math.Inf(1)
		return
	}
	h := &s.pick
	h.reset(size)
	for j := range size {
		h.add(row[j]-v[j], int32(j))
	}
	top := h.key[0]
	for j := size; j < len(row); j++ {
		if x := row[j] - v[j]; x < top {
			top = h.replace(x, int32(j))
		}
	}
	c.col, c.cost = append(c.col[:0], h.col...), c.cost[:0]
	for _, j := range c.col {
		c.cost = append(c.cost, row[j])
	}
	c.floor = top
}

// reduceRows gives free rows their best column at a dual lowered to the second best, which may set another row free,
// until what is left needs searches. It returns the rows that are still free.
func (s *lap) reduceRows() []int32 {
	free := make([]int32, 0, s.m.Rows)
	for i := range s.col {
		if s.col[i] < 0 {
			free = append(free, int32(i))
		}
	}
	budget := 8*len(free) + 64 // a price war between rows of like costs would take far more
	for range 2 {
		queue := append([]int32(nil), free...)
		free = free[:0]
		for k := 0; k < len(queue); k++ {
			i := queue[k]
			if budget--; budget < 0 {
				free = append(free, i)
				continue
			}
			a, b := s.twoBest(i)
			if a.j < 0 {
				free = append(free, i)
				continue
			}
			old := s.row[a.j]
			won := a.u < b.u
			if won {
				s.v[a.j] -= b.u - a.u
			} else if old >= 0 && b.j >= 0 { // a tie: the other column may be free
				a = b
				old = s.row[a.j]
			}
			s.match(i, a.j, a.c)
			if old < 0 {
				continue
			}
			s.col[old] = -1
			if won { // at once: it probably continues the alternating path
				queue[k] = old
				k--
			} else {
				free = append(free, old)
			}
		}
	}
	return free
}

// choice is a column that a row may take: its reduced cost and its cost.
type choice struct {
	j    int32
	u, c float64
}

// twoBest returns a row's two choices of least reduced cost; leaving it alone counts as one, without a column.
func (s *lap) twoBest(i int32) (a, b choice) {
	for {
		a, b = choice{-1, s.penalty, 0}, choice{-1, s.penalty, 0}
		c := &s.core[i]
		for k, j := range c.col {
			if u := c.cost[k] - s.v[j]; u < b.u {
				if u < a.u {
					a, b = choice{j, u, c.cost[k]}, a
				} else {
					b = choice{j, u, c.cost[k]}
				}
			}
		}
		if len(c.col) > 0 && b.u <= c.floor {
			return a, b
		}
		s.read(i)
	}
}

// augment finds the shortest alternating path from a free row to a free column, or to a row that is better left
// alone, and flips it.
func (s *lap) augment(start int32) {
	end, reach, aloneRow := s.search(start)
	for _, j := range s.done {
		if d := s.dist[j]; d < reach {
			s.v[j] += d - reach
		}
	}
	for _, j := range s.touched {
		s.state[j] = colNew
	}
	if end < 0 { // aloneRow gives its column up
		end = s.col[aloneRow]
		s.col[aloneRow] = -1
		if end < 0 {
			return // the row that the search started from
		}
	}
	for {
		i := s.pred[end]
		next := s.col[i]
		s.match(i, end, s.m.At(int(i), int(end)))
		if i == start {
			return
		}
		end = next
	}
}

// search is Dijkstra's algorithm over columns. It ends at a free column, or, with end -1, at a row to leave alone.
func (s *lap) search(start int32) (end int32, reach float64, aloneRow int32) {
	s.touched, s.done, s.tied, s.heap = s.touched[:0], s.done[:0], s.tied[:0], s.heap[:0]
	s.searches++
	alone := s.penalty
	aloneRow = start
	at, d, base := start, math.Inf(-1), 0.0 // the row being scanned, the distance reached, that of the row less its dual
	for {
		if j := s.relax(at, base, d); j >= 0 {
			s.dist[j] = d
			return j, d, -1
		}
		var j int32
		for {
			if n := len(s.tied); n > 0 {
				j, s.tied = s.tied[n-1], s.tied[:n-1]
				break
			}
			if len(s.heap) == 0 || s.heap[0].key > alone {
				return -1, alone, aloneRow
			}
			e := s.heap.pop()
			if e.id < 0 { // a floor: the rest of that row matters from here on
				i := ^e.id
				s.read(i)
				d = max(d, e.key)
				base := e.key - e.floor
				if j := s.relax(i, base, d); j >= 0 {
					s.dist[j] = d
					return j, d, -1
				}
				continue
			}
			if s.state[e.id] == colDone || e.key > s.dist[e.id] {
				continue
			}
			j, d = e.id, e.key
			if s.row[j] < 0 {
				return j, d, -1
			}
			break
		}
		s.state[j] = colDone
		s.done = append(s.done, j)
		at = s.row[j]
		base = s.dist[j] - (s.price[at] - s.v[j])
		if base+s.penalty < alone {
			alone, aloneRow = base+s.penalty, at
		}
	}
}

// relax offers a row's core to the search at distance d, and its floor as an event. It returns a free column that
// costs nothing more, if there is one.
func (s *lap) relax(i int32, base, d float64) int32 {
	c := &s.core[i]
	if len(c.col) == 0 {
		s.read(i)
	}
	s.work += len(c.col)
	for k, j := range c.col {
		h := c.cost[k] - s.v[j] + base
		if s.state[j] == colNew {
			if math.IsInf(h, 1) {
				continue
			}
			s.state[j] = colOpen
			s.touched = append(s.touched, j)
		} else if s.state[j] == colDone || h >= s.dist[j] {
			continue
		}
		s.dist[j], s.pred[j] = h, i
		if h <= d {
			if s.row[j] < 0 {
				return j
			}
			s.dist[j] = d
			s.state[j] = colDone // as good as: nothing is nearer
			s.tied = append(s.tied, j)
			continue
		}
		s.heap.push(event{key: h, id: j})
	}
	if !math.IsInf(c.floor, 1) {
		s.heap.push(event{key: c.floor + base, id: ^i, floor: c.floor})
	}
	return -1
}

// scale prepares the duals of hard matrices by an auction with falling increments (Bertsekas, Annals of Operations
// Research 14, 1988): prices that are nearly right leave short searches. It matches nothing for good.
func (s *lap) scale(spread float64) {
	n := len(s.col)
	var queue []int32
	for eps := spread / 4; eps > spread/float64(2048*n); eps /= 4 {
		queue = s.unmatch(queue[:0])
		for len(queue) > 0 {
			i := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			a, b := s.twoBest(i)
			if a.j < 0 {
				continue
			}
			s.v[a.j] -= b.u - a.u + eps
			old := s.row[a.j]
			s.match(i, a.j, a.c)
			if old >= 0 {
				s.col[old] = -1
				queue = append(queue, old)
			}
		}
	}
	s.unmatch(nil)
}

// unmatch frees all rows and lists them.
func (s *lap) unmatch(queue []int32) []int32 {
	for i := range s.col {
		s.col[i] = -1
		queue = append(queue, int32(i))
	}
	for j := range s.row {
		s.row[j] = -1
	}
	return queue
}
