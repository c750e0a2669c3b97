package solve

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// The bound lies above the optimum that the simplex method finds, and close to it.
func TestFractionalBoundAgainstSimplex(t *testing.T) {
	for seed := range uint64(12) {
		r := rand.New(rand.NewPCG(seed, 5))
		n, m := 4, 9
		value, ones := NewMatrix(n, m), NewMatrix(n, m)
		rowCap, limit := make([]float64, n), make([]float64, m)
		for k := range value.Data {
			value.Data[k], ones.Data[k] = math.Exp(r.NormFloat64()), 1
		}
		for i := range rowCap {
			rowCap[i] = 0.5 + 3*r.Float64()
		}
		for j := range limit {
			limit[j] = 1
		}
		bound, _ := FractionalBound(value, value, rowCap, []ColumnCap{{ones, limit}}, nil)
		// Standard form: Σ_i y + slack = 1 for each column, Σ_j value·y + slack = cap for each row.
		a := mat.NewDense(n+m, n*m+n+m, nil)
		c := make([]float64, n*m+n+m)
		b := append(append([]float64{}, rowCap...), limit...)
		for i := range n {
			for j := range m {
				a.Set(i, i*m+j, value.At(i, j))
				a.Set(n+j, i*m+j, 1)
				c[i*m+j] = -value.At(i, j)
			}
		}
		for k := range n + m {
			a.Set(k, n*m+k, 1)
		}
		best, _, err := lp.Simplex(c, a, b, 1e-9, nil)
		if err != nil {
			t.Fatal(err)
		}
		if bound < -best-1e-6 || bound > -best*1.02 {
			t.Errorf("seed %d: bound %.4f, optimum %.4f", seed, bound, -best)
		}
	}
}
