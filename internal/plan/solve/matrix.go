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
	const block = 32 // lines of both matrices that stay in the cache
	for i0 := 0; i0 < m.Rows; i0 += block {
		for j0 := 0; j0 < m.Cols; j0 += block {
			for i := i0; i < min(i0+block, m.Rows); i++ {
				for j := j0; j < min(j0+block, m.Cols); j++ {
					t.Data[j*m.Rows+i] = m.Data[i*m.Cols+j]
				}
			}
		}
	}
	return t
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
	for k, c := range m.Data {
		e.lo = min(e.lo, c)
		if c > e.hi {
			if c > math.MaxFloat64 {
				e.forbid = true
				continue
			}
			e.hi = c
		}
		if c != c {
			return extent{}, fmt.Errorf("matrix: row %d, column %d: not a number", k/m.Cols+1, k%m.Cols+1)
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
