package schedule

import (
	"fmt"
	"math"
	"sort"

	"argosy/internal/crawl"
	"argosy/internal/plan/solve"
)

// Greedy places tasks one after the other, each on the candidate with room that costs least then.
var Greedy = Solver{"greedy", func(c *Context) []int {
	out := make([]int, len(c.S.Tasks))
	for t := range out {
		if out[t] = -1; !c.Full() {
			out[t] = cheapest(c, t)
		}
	}
	return out
}}

func cheapest(c *Context, t int) int {
	at, best, forbidden := -1, math.Inf(1), false
	for _, n := range c.Candidates(t) {
		if !c.Room(n) {
			continue
		}
		if x := c.Price(t, n); x < best {
			best, at = x, n
		} else if math.IsInf(x, 1) {
			forbidden = true
		}
	}
	if at >= 0 {
		c.Take(t, at)
	} else if forbidden {
		c.Wait(t, crawl.Verdict{Reason: ReasonForbid})
	}
	return at
}

// Anywhere places each task on a random candidate with room.
var Anywhere = Solver{"random", func(c *Context) []int {
	out := make([]int, len(c.S.Tasks))
	var open []int
	for t := range out {
		if out[t] = -1; c.Full() {
			continue
		}
		open = open[:0]
		for _, n := range c.Candidates(t) {
			if c.Room(n) {
				open = append(open, n)
			}
		}
		if len(open) > 0 {
			out[t] = c.oneOf(t, open)
			c.Price(t, out[t]) // for the record
			c.Take(t, out[t])
		}
	}
	return out
}}

// Nearest picks at random among the k cheapest candidates with room. k 0 adapts to load: the nearest alone while the
// fleet is idle, all of them when it is full; among those it then takes the least loaded.
func Nearest(k int) Solver {
	name := "nearest by load"
	if k > 0 {
		name = fmt.Sprintf("random among the %d nearest", k)
	}
	return Solver{name, func(c *Context) []int {
		out := make([]int, len(c.S.Tasks))
		for t := range out {
			out[t] = nearestOf(c, t, k)
		}
		return out
	}}
}

func nearestOf(c *Context, t, k int) int {
	var open []int
	var cost []float64
	places, held := 0, 0
	for _, n := range c.Candidates(t) {
		places += c.S.Nodes[n].Capacity
		held += c.Load[n]
		if c.Room(n) {
			open = append(open, n)
			cost = append(cost, c.Price(t, n))
		}
	}
	if len(open) == 0 {
		return -1
	}
	order := make([]int, len(open))
	for i := range order {
		order[i] = i
	}
	sort.SliceStable(order, func(a, b int) bool { return cost[order[a]] < cost[order[b]] })
	var at int
	if k > 0 {
		near := order[:min(k, len(order))]
		for i, at := range near {
			near[i] = open[at]
		}
		at = c.oneOf(t, near)
	} else {
		share := float64(held) / float64(max(1, places))
		wide := 1 + int(math.Round(share*float64(len(order)-1)))
		at = -1
		for _, i := range order[:min(max(wide, 2), len(order))] {
			if n := open[i]; at < 0 || c.Load[n]*c.S.Nodes[at].Capacity < c.Load[at]*c.S.Nodes[n].Capacity {
				at = n
			}
		}
	}
	c.Take(t, at)
	return at
}

// Batches is the multi-task rule of the bandwidth patent: tasks in batches of as many as there are nodes, each batch an
// assignment problem, costs anew between batches. With more nodes than tasks, and for a rest that does not fill a batch
// unless it shall wait, each task goes to its cheapest node.
func Batches(lines, restWaits bool) Solver {
	return Solver{"batches", func(c *Context) []int {
		out := make([]int, len(c.S.Tasks))
		for t := range out {
			out[t] = -1
		}
		k := 0
		for _, n := range c.S.Nodes {
			if !n.Draining {
				k++
			}
		}
		t := 0
		for k > 0 && k <= len(out) && t+k <= len(out) {
			batch(c, t, k, lines, out)
			t += k
		}
		for ; t < len(out); t++ {
			if k > 0 && k <= len(out) && restWaits {
				c.Wait(t, crawl.Verdict{Reason: ReasonBatch})
				continue
			}
			out[t] = cheapest(c, t)
		}
		return out
	}}
}

// batch assigns k tasks from first on. Where every pair is allowed and lines is set, it uses the patent's procedure.
func batch(c *Context, first, k int, lines bool, out []int) {
	m := solve.NewMatrix(len(c.S.Nodes), k)
	for i := range m.Data {
		m.Data[i] = math.Inf(1)
	}
	finite := 0
	for j := range k {
		for _, n := range c.Candidates(first + j) {
			if c.Room(n) {
				m.Set(n, j, c.Price(first+j, n))
				finite++
			}
		}
	}
	var col []int
	if lines && m.Rows == m.Cols && finite == len(m.Data) {
		if a, err := solve.AssignByLines(m); err == nil {
			col = a.Col
		}
	}
	if col == nil {
		a, err := solve.Assign(m)
		if err != nil {
			return // costs beyond all measure: the tasks wait
		}
		col = a.Col
	}
	for n, j := range col {
		if j >= 0 && fitsNow(c, first+j, n) {
			out[first+j] = n
			c.Take(first+j, n)
		}
	}
}

// fitsNow tells whether what was true when candidates were listed still is.
func fitsNow(c *Context, t, n int) bool {
	return c.Room(n) && short(c.S.Tasks[t].Need, c.Left[n], c.S.Nodes[n].Offer) < 0
}

// FirstFit is the packing rule: nodes that work, in their order, before idle ones, in theirs; the first that has enough
// left of everything. need is what a task takes, held what a running lease does whose job does not state it.
func FirstFit(need func(c *Context, task int) Vector, held func(c *Context, r *Running) Vector) Solver {
	return Solver{"working-first fit", func(c *Context) []int {
		out := make([]int, len(c.S.Tasks))
		left, at := append([]Vector(nil), c.Left...), c.numbers()
		for i := range c.S.Running {
			r := &c.S.Running[i]
			if n, known := at[r.Node]; known && r.Need == (Vector{}) && !r.Ping { // what is stated is taken off already
				left[n].take(held(c, r))
			}
		}
		for t := range out {
			out[t] = firstFit(c, t, need(c, t), left)
		}
		return out
	}}
}

// Class is the order in which packing takes nodes: those that work, those that are reserved and idle, and last those that
// would be taken on at a surcharge.
func (c *Context) Class(node int) int {
	n := &c.S.Nodes[node]
	switch {
	case c.Load[node] > 0:
		return 0
	case n.Reserved || n.Prices.Surcharge <= 0:
		return 1
	}
	return 2
}

func firstFit(c *Context, t int, need Vector, left []Vector) int {
	cands := c.Candidates(t)
	hopeless := len(cands) > 0
	for class := range 3 {
		for _, n := range cands {
			node := &c.S.Nodes[n]
			if short(need, node.Offer, node.Offer) < 0 {
				hopeless = false
			}
			if c.Class(n) != class || !c.Room(n) {
				continue
			}
			if d := short(need, left[n], node.Offer); d >= 0 {
				if c.rec != nil {
					c.rec.filtered(t, n, "fit", crawl.Verdict{Reason: ReasonNeed, Detail: dimensions[d]})
				}
				continue
			}
			c.Price(t, n)
			left[n].take(need)
			c.Take(t, n)
			return n
		}
	}
	if hopeless {
		c.Wait(t, crawl.Verdict{Reason: ReasonTooBig})
	}
	return -1
}
