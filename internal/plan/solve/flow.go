package solve

import (
	"fmt"
	"math"
)

// Arc of a flow network: up to Capacity units from one vertex to another at Cost each.
type Arc struct {
	From, To int
	Capacity int64
	Cost     float64
}

// Network is a min-cost flow problem. Supply[v] units come from vertex v; negative supply is demand. What supply and
// demand differ in stays where it is.
type Network struct {
	Supply []int64
	Arcs   []Arc
}

// Flow ships as much as can be shipped, at least cost. Potentials certify it: the reduced cost
// Cost + Potential[From] − Potential[To] is ≥ 0 where an arc has capacity left, ≤ 0 where it carries flow.
type Flow struct {
	Arc       []int64 // flow on each arc
	Total     float64 // cost
	Potential []float64
	Shipped   int64 // units that reached a demand
	Unshipped int64 // units of supply that reached none
}

// maxArcCost is what an arc may cost at most either way: sums of such costs, times what is shipped, are numbers, too.
const maxArcCost = 1e100

// MinCostFlow solves the problem by successive shortest paths with potentials; arcs of negative cost are filled first
// and their flow taken as given, so that no reduced cost starts negative.
func MinCostFlow(n Network) (Flow, error) {
	var supply, demand int64
	for v, b := range n.Supply {
		if b > math.MaxInt32 || b < -math.MaxInt32 {
			return Flow{}, fmt.Errorf("vertex %d: supply %d: at most %d", v, b, math.MaxInt32)
		}
		supply += max(0, b)
		demand += max(0, -b)
	}
	g := newResidual(n)
	for i, a := range n.Arcs {
		switch {
		case a.From < 0 || a.From >= len(n.Supply) || a.To < 0 || a.To >= len(n.Supply):
			return Flow{}, fmt.Errorf("arc %d: from %d to %d: vertices are 0 to %d", i, a.From, a.To, len(n.Supply)-1)
		case a.Capacity < 0 || a.Capacity > math.MaxInt32:
			return Flow{}, fmt.Errorf("arc %d: capacity %d: want 0 to %d", i, a.Capacity, math.MaxInt32)
		case !(math.Abs(a.Cost) <= maxArcCost):
			return Flow{}, fmt.Errorf("arc %d: cost %g: want a number, at most %g either way", i, a.Cost, float64(maxArcCost))
		case a.Cost < 0 && a.From == a.To:
			g.push(int32(2*i), a.Capacity) // a loop pays for itself
		case a.Cost < 0:
			g.push(int32(2*i), a.Capacity)
			g.excess[a.From] -= a.Capacity
			g.excess[a.To] += a.Capacity
		}
	}
	g.settle(n.Supply)
	g.ship()
	f := Flow{Arc: make([]int64, len(n.Arcs)), Potential: make([]float64, len(n.Supply))}
	for v := range f.Potential {
		f.Potential[v] = g.price[v]
	}
	for i, a := range n.Arcs {
		f.Arc[i] = g.left[2*i+1]
		f.Total += float64(f.Arc[i]) * a.Cost
	}
	f.Shipped = demand
	for k := len(g.left) - 2*len(n.Supply); k < len(g.left); k += 2 { // what the extra vertex had to give
		f.Shipped -= g.left[k+1]
	}
	f.Unshipped = supply - f.Shipped
	return f, nil
}

// residual is the residual graph: arc 2i is arc i, arc 2i+1 its reverse.
type residual struct {
	head   [][]int32 // arcs out of each vertex
	to     []int32
	left   []int64
	cost   []float64
	excess []int64
	price  []float64 // distance so far: reduced cost is cost + price[from] − price[to], kept ≥ 0 where capacity is left
	heap   distHeap
}

func newResidual(n Network) *residual {
	g := &residual{head: make([][]int32, len(n.Supply)), excess: append([]int64(nil), n.Supply...)}
	for _, a := range n.Arcs {
		g.add(a)
	}
	return g
}

func (g *residual) add(a Arc) {
	id := int32(len(g.to))
	g.to = append(g.to, int32(a.To), int32(a.From))
	g.left = append(g.left, a.Capacity, 0)
	g.cost = append(g.cost, a.Cost, -a.Cost)
	if a.From >= 0 && a.From < len(g.head) && a.To >= 0 && a.To < len(g.head) {
		g.head[a.From] = append(g.head[a.From], id)
		g.head[a.To] = append(g.head[a.To], id+1)
	}
}

func (g *residual) push(arc int32, units int64) {
	g.left[arc] -= units
	g.left[arc^1] += units
}

// settle adds a vertex that takes what cannot be shipped and gives what is missing, at a cost that no path reaches:
// so the problem always has a solution. The last arcs are those by which the extra vertex gives.
func (g *residual) settle(supply []int64) {
	far, n := 0.0, len(supply)
	surplus := int64(0)
	for _, b := range supply {
		surplus += b
	}
	for _, c := range g.cost {
		far = max(far, c)
	}
	far = 1 + 2*float64(n)*far
	g.head = append(g.head, nil)
	g.excess = append(g.excess, -surplus)
	for v := range n {
		g.add(Arc{From: v, To: n, Capacity: max(0, supply[v]), Cost: far})
	}
	for v := range n {
		g.add(Arc{From: n, To: v, Capacity: max(0, -supply[v]), Cost: far})
	}
	g.price = make([]float64, n+1)
}

// ship sends excess to need until there is none.
func (g *residual) ship() {
	n := len(g.head)
	dist, by, done := make([]float64, n), make([]int32, n), make([]bool, n)
	for {
		g.heap = g.heap[:0]
		for v := range n {
			dist[v], by[v], done[v] = math.Inf(1), -1, false
			if g.excess[v] > 0 {
				dist[v] = 0
				g.heap.push(event{id: int32(v)})
			}
		}
		end := g.search(dist, by, done)
		if end < 0 {
			return
		}
		for v := range n {
			g.price[v] += min(dist[v], dist[end])
		}
		units, start := -g.excess[end], end
		for by[start] >= 0 {
			units = min(units, g.left[by[start]])
			start = int(g.to[by[start]^1])
		}
		units = min(units, g.excess[start])
		g.excess[start] -= units
		g.excess[end] += units
		for v := end; by[v] >= 0; v = int(g.to[by[v]^1]) {
			g.push(by[v], units)
		}
	}
}

// search is Dijkstra's algorithm from every vertex with excess to the nearest with need.
func (g *residual) search(dist []float64, by []int32, done []bool) int {
	for len(g.heap) > 0 {
		e := g.heap.pop()
		v := int(e.id)
		if done[v] {
			continue
		}
		done[v] = true
		if g.excess[v] < 0 {
			return v
		}
		for _, a := range g.head[v] {
			w := int(g.to[a])
			if g.left[a] <= 0 || done[w] {
				continue
			}
			if d := dist[v] + max(0, g.cost[a]+g.price[v]-g.price[w]); d < dist[w] {
				dist[w], by[w] = d, a
				g.heap.push(event{key: d, id: int32(w)})
			}
		}
	}
	return -1
}
