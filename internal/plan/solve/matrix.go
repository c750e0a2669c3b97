// Package solve holds the solvers of the scheduling core: assignment, capacitated assignment, min-cost flow, market
// clearing, vector packing and makespan. It knows numbers only: no word of crawling is in it. Everything is pure and
// deterministic, and where a solver claims an optimum it returns what is needed to check the claim.
package solve

import (
	"fmt"
	"math"
)

// Matrix is a dense matrix of costs or values, row by row in one slice, so that a row is contiguous.
type Matrix struct {
	Rows, Cols int
	Data       []float64 // Rows × Cols
}

// NewMatrix returns a matrix of zeros.
func NewMatrix(rows, cols int) Matrix {
	return Matrix{Rows: rows, Cols: cols, Data: make([]float64, rows*cols)}
}

// FromRows copies rows of equal length into a matrix; ragged rows are an error.
func FromRows(rows [][]float64) (Matrix, error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return Matrix{}, fmt.Errorf("matrix: empty")
	}
	m := NewMatrix(len(rows), len(rows[0]))
	for i, r := range rows {
		if len(r) != m.Cols {
			return Matrix{}, fmt.Errorf("matrix: row %d has %d numbers, row 1 has %d", i+1, len(r), m.Cols)
		}
		copy(m.Row(i), r)
	}
	return m, nil
}

// Row returns row i, shared with the matrix.
func (m Matrix) Row(i int) []float64 { return m.Data[i*m.Cols : (i+1)*m.Cols : (i+1)*m.Cols] }

// At returns one element.
func (m Matrix) At(i, j int) float64 { return m.Data[i*m.Cols+j] }

// Set changes one element.
func (m Matrix) Set(i, j int, v float64) { m.Data[i*m.Cols+j] = v }

// Transpose returns the transposed copy.
func (m Matrix) Transpose() Matrix {
	t := NewMatrix(m.Cols, m.Rows)
	for i0 := 0; i0 < m.Rows; i0 += block {
		m.turn(t, i0)
	}
	return t
}

// block is how many rows are transposed together: lines of both matrices stay in the cache.
const block = 16

// turn puts a block of rows into the transposed matrix.
func (m Matrix) turn(t Matrix, i0 int) {
	i1 := min(i0+block, m.Rows)
	for j0 := 0; j0 < m.Cols; j0 += block {
		for j := j0; j < min(j0+block, m.Cols); j++ {
			to, from := t.Data[j*m.Rows+i0:j*m.Rows+i1], m.Data[i0*m.Cols+j:]
			for x := range to {
				to[x] = from[x*m.Cols]
			}
		}
	}
}

// extent is what check learns of a matrix.
type extent struct {
	lo, hi float64 // of the finite elements
	forbid bool    // some are +Inf
}

// check refuses what no solver takes: NaN and minus infinity. Plus infinity forbids a pair.
func (m Matrix) check() (extent, error) {
	if m.Rows < 0 || m.Cols < 0 || len(m.Data) != m.Rows*m.Cols {
		return extent{}, fmt.Errorf("matrix: %d numbers for %d × %d", len(m.Data), m.Rows, m.Cols)
	}
	e := extent{lo: math.Inf(1), hi: math.Inf(-1)}
	return m.judge(e, e.scan(m.Data))
}

// checkTurned is check and Transpose in one reading.
func (m Matrix) checkTurned() (Matrix, extent, error) {
	if m.Rows < 0 || m.Cols < 0 || len(m.Data) != m.Rows*m.Cols {
		_, err := m.check()
		return Matrix{}, extent{}, err
	}
	t := NewMatrix(m.Cols, m.Rows)
	e := extent{lo: math.Inf(1), hi: math.Inf(-1)}
	for i0 := 0; i0 < m.Rows; i0 += block {
		if k := e.scan(m.Data[i0*m.Cols : min(i0+block, m.Rows)*m.Cols]); k >= 0 {
			_, err := m.judge(e, i0*m.Cols+k)
			return Matrix{}, extent{}, err
		}
		m.turn(t, i0)
	}
	e, err := m.judge(e, -1)
	return t, e, err
}

// scan widens the extent to some elements. It returns the place of one that is not a number, -1 if there is none.
func (e *extent) scan(data []float64) int {
	lo, hi := e.lo, e.hi
	for k, c := range data {
		if c < lo {
			lo = c
		}
		if !(c <= hi) { // larger, or not a number
			if c != c {
				return k
			}
			hi = c
		}
	}
	e.lo, e.hi = lo, hi
	return -1
}

// judge says what is wrong with a matrix of some extent, with the place of an element that is not a number, or -1.
func (m Matrix) judge(e extent, nan int) (extent, error) {
	if nan >= 0 {
		return extent{}, fmt.Errorf("matrix: row %d, column %d: not a number", nan/m.Cols+1, nan%m.Cols+1)
	}
	if e.forbid = e.hi > math.MaxFloat64; e.forbid {
		e.hi = math.Inf(-1)
		for _, c := range m.Data {
			if c > e.hi && c <= math.MaxFloat64 {
				e.hi = c
			}
		}
	}
	switch {
	case math.IsInf(e.lo, -1):
		return extent{}, fmt.Errorf("matrix: minus infinity is not a cost")
	case e.lo > e.hi: // nothing is finite
		e.lo, e.hi = 0, 0
	case e.hi-e.lo > math.MaxFloat64/1e6:
		return extent{}, fmt.Errorf("matrix: costs from %g to %g are too far apart", e.lo, e.hi)
	}
	return e, nil
}
