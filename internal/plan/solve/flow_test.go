package solve

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// drawNetwork draws a small network, with loops, parallel arcs and negative costs.
func drawNetwork(t *rapid.T) Network {
	n := Network{Supply: make([]int64, rapid.IntRange(1, 5).Draw(t, "vertices"))}
	for v := range n.Supply {
		n.Supply[v] = int64(rapid.IntRange(-3, 3).Draw(t, "supply"))
	}
	for range rapid.IntRange(0, 6).Draw(t, "arcs") {
		v := func() int { return rapid.IntRange(0, len(n.Supply)-1).Draw(t, "vertex") }
		n.Arcs = append(n.Arcs, Arc{v(), v(), int64(rapid.IntRange(0, 2).Draw(t, "capacity")), float64(rapid.IntRange(-3, 9).Draw(t, "cost"))})
	}
	return n
}

// bruteFlow tries every flow on every arc: the most units shipped, then the least cost.
func bruteFlow(n Network) (shipped int64, total float64) {
	flow := make([]int64, len(n.Arcs))
	shipped, total = -1, math.Inf(1)
	var try func(k int)
	try = func(k int) {
		if k < len(n.Arcs) {
			for f := int64(0); f <= n.Arcs[k].Capacity; f++ {
				flow[k] = f
				try(k + 1)
			}
			return
		}
		left := append([]int64(nil), n.Supply...)
		cost := 0.0
		for i, f := range flow {
			left[n.Arcs[i].From] -= f
			left[n.Arcs[i].To] += f
			cost += float64(f) * n.Arcs[i].Cost
		}
		got := int64(0)
		for v, b := range n.Supply {
			if b >= 0 && (left[v] < 0 || left[v] > b) || b < 0 && (left[v] > 0 || left[v] < b) {
				return // more sent than there was, or more than was asked for
			}
			if b < 0 {
				got += left[v] - b
			}
		}
		if got > shipped || got == shipped && cost < total {
			shipped, total = got, cost
		}
	}
	try(0)
	return shipped, total
}

func TestFlowAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := drawNetwork(t)
		f, err := MinCostFlow(n)
		if err != nil {
			t.Fatal(err)
		}
		shipped, total := bruteFlow(n)
		if f.Shipped != shipped || math.Abs(f.Total-total) > 1e-9 {
			t.Fatalf("shipped %d at %g, brute force %d at %g", f.Shipped, f.Total, shipped, total)
		}
		for i, a := range n.Arcs {
			r := a.Cost + f.Potential[a.From] - f.Potential[a.To]
			if f.Arc[i] < 0 || f.Arc[i] > a.Capacity || f.Arc[i] < a.Capacity && r < -1e-6 || f.Arc[i] > 0 && r > 1e-6 {
				t.Fatalf("arc %d: flow %d of %d at reduced cost %g", i, f.Arc[i], a.Capacity, r)
			}
		}
	})
}

// The capacitated assignment is a flow, and both solvers find its cost.
func TestFlowAgainstCapacitated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatrix(t, 8)
		n := Network{Supply: make([]int64, m.Rows+m.Cols+1)}
		capacity := make([]int, m.Rows)
		for i := range capacity {
			capacity[i] = rapid.IntRange(0, 4).Draw(t, "cap")
			n.Arcs = append(n.Arcs, Arc{m.Cols + i, m.Rows + m.Cols, int64(capacity[i]), 0})
		}
		for j := range m.Cols {
			n.Supply[j] = 1
			for i := range m.Rows {
				if c := m.At(i, j); !math.IsInf(c, 1) {
					n.Arcs = append(n.Arcs, Arc{j, m.Cols + i, 1, c})
				}
			}
		}
		n.Supply[m.Rows+m.Cols] = -int64(m.Cols)
		f, err := MinCostFlow(n)
		if err != nil {
			t.Fatal(err)
		}
		p, err := DenseCapacitated(m, capacity)
		if err != nil {
			t.Fatal(err)
		}
		a, err := AssignCapacitated(p)
		if err != nil {
			t.Fatal(err)
		}
		if int(f.Shipped) != m.Cols-a.Alone || math.Abs(f.Total-a.Total) > 1e-6 {
			t.Fatalf("flow ships %d at %g, assignment %d at %g", f.Shipped, f.Total, m.Cols-a.Alone, a.Total)
		}
	})
}

func TestFlowRefuses(t *testing.T) {
	for _, n := range []Network{
		{[]int64{1}, []Arc{{0, 1, 1, 1}}}, {[]int64{1, -1}, []Arc{{0, 1, -1, 1}}}, {[]int64{1, -1}, []Arc{{0, 1, 1, math.NaN()}}},
		{[]int64{5, -5}, []Arc{{0, 1, 5, 1e308}}}, {[]int64{5, -5}, []Arc{{0, 1, 5, -1e308}}}, // five times as much is no number
		{[]int64{math.MaxInt64}, nil},
	} {
		if _, err := MinCostFlow(n); err == nil {
			t.Errorf("%v is accepted", n)
		}
	}
}
