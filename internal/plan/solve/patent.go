package solve

import (
	"fmt"
	"math"
)

// LineStep is one pass of the patent's line-covering procedure, for people who follow it with a pencil.
type LineStep struct {
	Matrix [][]float64 // after subtracting row and column minima
	Rows   []int       // rows with a line
	Cols   []int       // columns with a line
	Sizes  []int       // uncovered zeros each line covered when it was drawn, in the order of drawing
	Z      float64     // the smallest uncovered number; 0 in the last step
}

// LineCover is the outcome of the procedure.
type LineCover struct {
	Assignment
	Stuck bool // the lines covered everything before an assignment was found, and z was undefined
	Steps []LineStep
}

// maxLineSteps bounds the procedure; each step that is not stuck makes a number smaller, so it is never reached on
// costs that a person would write.
const maxLineSteps = 10_000

// AssignByLines follows the patent's own procedure on a square matrix of finite costs: subtract row and column minima,
// cover the zeros by lines, the longest first, until none is left; if there is no full set of independent zeros,
// subtract z from the rows without a line and add it to the columns with one. Greedy lines are sometimes too many:
// then nothing is uncovered, z is undefined and the procedure is stuck. It says so and falls back to Assign.
func AssignByLines(m Matrix) (LineCover, error) {
	r, err := m.check()
	if err != nil {
		return LineCover{}, err
	}
	if m.Rows != m.Cols || r.forbid {
		return LineCover{}, fmt.Errorf("line covering needs a square matrix without forbidden pairs, this one is %d × %d", m.Rows, m.Cols)
	}
	var lc LineCover
	c := Matrix{m.Rows, m.Cols, append([]float64(nil), m.Data...)}
	tiny := 1e-12 * (r.hi - r.lo) // what float arithmetic leaves of a zero
	for range maxLineSteps {
		c.reduce(tiny)
		zeros := c.zeros()
		step := LineStep{Matrix: c.toRows()}
		var rows, cols []bool
		rows, cols, step.Sizes = greedyLines(zeros)
		step.Rows, step.Cols = places(rows), places(cols)
		match := matchRows(zeros)
		full := true
		for _, j := range match {
			full = full && j >= 0
		}
		if full {
			lc.Steps = append(lc.Steps, step)
			lc.Col = match
			lc.total(m)
			return lc, nil
		}
		step.Z = math.Inf(1)
		for i := range c.Rows {
			for j := range c.Cols {
				if !rows[i] && !cols[j] {
					step.Z = min(step.Z, c.At(i, j))
				}
			}
		}
		if math.IsInf(step.Z, 1) {
			lc.Stuck = true
			step.Z = 0
			lc.Steps = append(lc.Steps, step)
			break
		}
		lc.Steps = append(lc.Steps, step)
		for i := range c.Rows {
			for j := range c.Cols {
				if !rows[i] {
					c.Data[i*c.Cols+j] -= step.Z
				}
				if cols[j] {
					c.Data[i*c.Cols+j] += step.Z
				}
			}
		}
	}
	a, err := Assign(m)
	lc.Assignment = a
	return lc, err
}

// reduce subtracts row minima, then column minima.
func (m Matrix) reduce(tiny float64) {
	for i := range m.Rows {
		row := m.Row(i)
		lo := row[0]
		for _, x := range row {
			lo = min(lo, x)
		}
		for j := range row {
			row[j] -= lo
		}
	}
	for j := range m.Cols {
		lo := m.At(0, j)
		for i := range m.Rows {
			lo = min(lo, m.At(i, j))
		}
		for i := range m.Rows {
			x := &m.Data[i*m.Cols+j]
			if *x -= lo; *x < tiny {
				*x = 0
			}
		}
	}
}

func (m Matrix) toRows() [][]float64 {
	out := make([][]float64, m.Rows)
	for i := range out {
		out[i] = append([]float64(nil), m.Row(i)...)
	}
	return out
}

func (m Matrix) zeros() [][]bool {
	out := make([][]bool, m.Rows)
	for i := range out {
		out[i] = make([]bool, m.Cols)
		for j, x := range m.Row(i) {
			out[i][j] = x == 0
		}
	}
	return out
}

// greedyLines covers zeros by the row or column with the most uncovered zeros until none is left; rows come before
// columns, and earlier before later, among equals.
func greedyLines(zeros [][]bool) (rows, cols []bool, sizes []int) {
	n := len(zeros)
	rows, cols = make([]bool, n), make([]bool, n)
	for {
		best, at := 0, -1 // rows are 0…n-1, columns n…2n-1
		for line := range 2 * n {
			count := 0
			for k := range n {
				i, j := line, k
				if line >= n {
					i, j = k, line-n
				}
				if zeros[i][j] && !rows[i] && !cols[j] {
					count++
				}
			}
			if count > best {
				best, at = count, line
			}
		}
		if at < 0 {
			return rows, cols, sizes
		}
		sizes = append(sizes, best)
		if at < n {
			rows[at] = true
		} else {
			cols[at-n] = true
		}
	}
}

func places(set []bool) []int {
	out := []int{}
	for i, in := range set {
		if in {
			out = append(out, i)
		}
	}
	return out
}

// matchRows returns a maximum matching of rows and columns over the allowed pairs, the column of each row or -1, by
// augmenting paths.
func matchRows(allowed [][]bool) []int {
	if len(allowed) == 0 {
		return nil
	}
	cols := len(allowed[0])
	col, row := make([]int, len(allowed)), make([]int, cols)
	for j := range row {
		row[j] = -1
	}
	seen := make([]bool, cols)
	var try func(i int) bool
	try = func(i int) bool {
		for j, ok := range allowed[i] {
			if !ok || seen[j] {
				continue
			}
			seen[j] = true
			if row[j] < 0 || try(row[j]) {
				row[j], col[i] = i, j
				return true
			}
		}
		return false
	}
	for i := range allowed {
		col[i] = -1
	}
	for i := range allowed {
		clear(seen)
		try(i)
	}
	return col
}
