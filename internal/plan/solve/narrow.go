package solve

import (
	"math"
	"slices"
)

// cheapest lists the columns that are among the n cheapest of some row, n being the number of rows: an optimal assignment
// needs no others, for of a row's n cheapest the other rows can take n−1.
func (s *lap) cheapest() (cols []int) {
	n, k := s.m.Rows, s.m.Cols
	some := make([]bool, k)
	order := make([]int32, 0, k)
	for i := range n {
		row := s.m.Row(i)
		order = order[:0]
		for j, c := range row {
			if !math.IsInf(c, 1) {
				order = append(order, int32(j))
			}
		}
		if len(order) > n {
			order = smallest(order, row, n)
		}
		for _, j := range order {
			some[j] = true
		}
	}
	named := 0
	for _, yes := range some {
		if yes {
			named++
		}
	}
	for j, yes := range some {
		if yes || named < n { // forbidden pairs may leave fewer than n
			cols = append(cols, j)
		}
		if !yes && named < n {
			named++
		}
	}
	return cols
}

// smallest returns the n columns of a row that cost least, in no order, by Hoare's selection. Of equal costs the lower
// column counts as the cheaper, so that rows of like costs name the same ones.
func smallest(cols []int32, cost []float64, n int) []int32 {
	less := func(a, b int32) bool { return cost[a] < cost[b] || cost[a] == cost[b] && a < b }
	lo, hi := 0, len(cols)-1
	for lo < hi {
		pivot := cols[lo+(hi-lo)/2]
		i, j := lo, hi
		for i <= j {
			for less(cols[i], pivot) {
				i++
			}
			for less(pivot, cols[j]) {
				j--
			}
			if i <= j {
				cols[i], cols[j] = cols[j], cols[i]
				i++
				j--
			}
		}
		switch {
		case n-1 <= j:
			hi = j
		case n-1 >= i:
			lo = i
		default:
			return cols[:n]
		}
	}
	return cols[:n]
}

// assignAmong assigns with some of the columns only, which hold an optimum. The duals certify it for all of them: some
// matched column, or a free one, has the dual 0, and no column that is left out is cheaper for a row than that one is.
func assignAmong(m Matrix, r extent, cols []int) Assignment {
	part := NewMatrix(m.Rows, len(cols))
	for i := range m.Rows {
		row, to := m.Row(i), part.Row(i)
		for x, j := range cols {
			to[x] = row[j]
		}
	}
	return assignPart(part, r, cols, m.Cols)
}

// assignPart is assignAmong where the columns stand in a matrix of their own; all is how many there are in the whole.
func assignPart(part Matrix, r extent, cols []int, all int) Assignment {
	if r.forbid { // what is left may have none that is
		r.forbid = slices.ContainsFunc(part.Data, func(c float64) bool { return math.IsInf(c, 1) })
	}
	a := assignWide(part, r)
	if a.Unmatched == 0 {
		top := math.Inf(-1)
		for _, x := range a.Col {
			top = max(top, a.V[x])
		}
		for _, x := range a.Col {
			a.V[x] -= top
		}
		for i := range a.U {
			a.U[i] += top
		}
	}
	v := make([]float64, all)
	for x, j := range cols {
		v[j] = a.V[x]
	}
	a.V = v
	for i, x := range a.Col {
		if x >= 0 {
			a.Col[i] = cols[x]
		}
	}
	return a
}

// assignTall assigns where rows are very many: in one reading it finds the rows that are among the n cheapest of some column, n being
// the number of columns, and solves for them alone.
func (m Matrix) assignTall() (Assignment, error) {
	r, err := m.check()
	if err != nil {
		return Assignment{}, err
	}
	n := m.Cols
	best := make([]atMost, n)
	for j := range best {
		best[j] = atMost{limit: math.Inf(1), row: make([]int32, 0, n), cost: make([]float64, 0, n)}
	}
	for i := range m.Rows {
		for j, c := range m.Row(i) {
			if c < best[j].limit {
				best[j].add(int32(i), c, n)
			}
		}
	}
	some := make([]bool, m.Rows)
	for j := range best {
		for _, i := range best[j].row {
			some[i] = true
		}
	}
	var rows []int
	for i, yes := range some {
		if yes || len(rows) < n && i >= m.Rows-n { // forbidden pairs may leave fewer than n
			rows = append(rows, i)
		}
	}
	part := NewMatrix(n, len(rows))
	for x, i := range rows {
		for j, c := range m.Row(i) {
			part.Data[j*len(rows)+x] = c
		}
	}
	return assignPart(part, r, rows, m.Rows).swap(m), nil
}

// atMost keeps the n cheapest rows of a column, the dearest of them first.
type atMost struct {
	limit float64 // what a row must be below to be among them
	row   []int32
	cost  []float64
}

// add puts in a row that is below the limit; where there are n already, the dearest goes.
func (a *atMost) add(row int32, cost float64, n int) {
	x := len(a.row)
	if x < n {
		a.row, a.cost = append(a.row, row), append(a.cost, cost)
		for ; x > 0 && a.cost[(x-1)/2] < cost; x = (x - 1) / 2 {
			a.row[x], a.cost[x] = a.row[(x-1)/2], a.cost[(x-1)/2]
		}
	} else {
		x = 0
		for {
			next := 2*x + 1
			if next+1 < n && a.cost[next+1] > a.cost[next] {
				next++
			}
			if next >= n || a.cost[next] <= cost {
				break
			}
			a.row[x], a.cost[x] = a.row[next], a.cost[next]
			x = next
		}
	}
	a.row[x], a.cost[x] = row, cost
	if len(a.row) == n {
		a.limit = a.cost[0]
	}
}
