package solve

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// drawMatrix draws costs that tie often, with forbidden pairs.
func drawMatrix(t *rapid.T, maxN int) Matrix {
	m := NewMatrix(rapid.IntRange(1, maxN).Draw(t, "rows"), rapid.IntRange(1, maxN).Draw(t, "cols"))
	hi := rapid.SampledFrom([]int{1, 3, 9, 1000}).Draw(t, "hi")
	forbid := rapid.SampledFrom([]int{0, 0, 3, 1}).Draw(t, "forbid")
	for k := range m.Data {
		m.Data[k] = float64(rapid.IntRange(-2, hi).Draw(t, "c"))
		if forbid > 0 && rapid.IntRange(0, forbid).Draw(t, "f") == 0 {
			m.Data[k] = math.Inf(1)
		}
	}
	return m
}

// bruteAssign tries every matching: the most pairs, then the least cost.
func bruteAssign(m Matrix) (pairs int, total float64) {
	used := make([]bool, m.Cols)
	total = math.Inf(1)
	var try func(i, n int, sum float64)
	try = func(i, n int, sum float64) {
		if i == m.Rows {
			if n > pairs || n == pairs && sum < total {
				pairs, total = n, sum
			}
			return
		}
		try(i+1, n, sum)
		for j := range m.Cols {
			if c := m.At(i, j); !used[j] && !math.IsInf(c, 1) {
				used[j] = true
				try(i+1, n+1, sum+c)
				used[j] = false
			}
		}
	}
	try(0, 0, 0)
	return pairs, total
}

// certify checks an assignment by its own duals alone.
func certify(t interface{ Fatalf(string, ...any) }, m Matrix, a Assignment) {
	eps := 1e-9 * (1 + math.Abs(a.Penalty))
	colUsed, rowUsed, sum := make([]bool, m.Cols), make([]bool, m.Rows), 0.0
	for i, j := range a.Col {
		if j < 0 {
			continue
		}
		if colUsed[j] {
			t.Fatalf("column %d has two rows", j)
		}
		colUsed[j], rowUsed[i] = true, true
		sum += m.At(i, j)
		if d := m.At(i, j) - a.U[i] - a.V[j]; math.Abs(d) > eps {
			t.Fatalf("pair %d,%d is matched at reduced cost %g", i, j, d)
		}
	}
	if math.Abs(sum-a.Total) > eps {
		t.Fatalf("total %g, sum of the pairs %g", a.Total, sum)
	}
	for i := range m.Rows {
		for j := range m.Cols {
			if m.At(i, j)-a.U[i]-a.V[j] < -eps {
				t.Fatalf("pair %d,%d has reduced cost %g", i, j, m.At(i, j)-a.U[i]-a.V[j])
			}
		}
	}
	long, used := a.V, colUsed // the side that may stay free without a charge
	if m.Rows > m.Cols {
		long, used = a.U, rowUsed
	} else if m.Rows == m.Cols && a.Unmatched == 0 {
		return
	}
	for j, d := range long {
		if m.Rows != m.Cols && (d > eps || !used[j] && math.Abs(d) > eps) {
			t.Fatalf("dual %d of the longer side is %g (matched: %v)", j, d, used[j])
		}
	}
}

func TestAssignAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatrix(t, 6)
		a, err := Assign(m)
		if err != nil {
			t.Fatal(err)
		}
		pairs, total := bruteAssign(m)
		n := 0
		for _, j := range a.Col {
			if j >= 0 {
				n++
			}
		}
		if n != pairs || pairs > 0 && math.Abs(a.Total-total) > 1e-9 {
			t.Fatalf("%d pairs at %g, brute force %d at %g\n%v", n, a.Total, pairs, total, m)
		}
		certify(t, m, a)
	})
}

// families are the matrices that benchmarks and tests share.
var families = map[string]func(n int, r *rand.Rand) Matrix{
	"uniform": func(n int, r *rand.Rand) Matrix {
		return generate(n, func(i, j int) float64 { return r.Float64() })
	},
	"integers": func(n int, r *rand.Rand) Matrix {
		return generate(n, func(i, j int) float64 { return float64(1 + r.IntN(100)) })
	},
	"geometric": func(n int, r *rand.Rand) Matrix {
		x := make([]float64, 4*n)
		for k := range x {
			x[k] = r.Float64()
		}
		return generate(n, func(i, j int) float64 {
			return math.Hypot(x[2*i]-x[2*n+2*j], x[2*i+1]-x[2*n+2*j+1])
		})
	},
	"product": func(n int, _ *rand.Rand) Matrix {
		return generate(n, func(i, j int) float64 { return float64((i + 1) * (j + 1)) })
	},
}

func generate(n int, f func(i, j int) float64) Matrix {
	m := NewMatrix(n, n)
	for i := range n {
		for j := range n {
			m.Set(i, j, f(i, j))
		}
	}
	return m
}

func TestAssignCertifiesLargeMatrices(t *testing.T) {
	for name, f := range families {
		m := f(200, rand.New(rand.NewPCG(1, 2)))
		a, err := Assign(m)
		if err != nil {
			t.Fatal(err)
		}
		certify(t, m, a)
		if name == "product" { // the largest with the smallest, by the rearrangement inequality
			want := 0.0
			for i := 1; i <= 200; i++ {
				want += float64(i * (201 - i))
			}
			if a.Total != want {
				t.Errorf("product: %g, want %g", a.Total, want)
			}
		}
	}
}

// With the columns that are among the cheapest of some row, the assignment is that of all of them, and certified for all.
func TestFewerColumnsHoldTheOptimum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatrix(t, 6)
		if m.Rows >= m.Cols {
			m = m.Transpose()
		}
		if m.Rows == m.Cols {
			return
		}
		r, err := m.check()
		if err != nil {
			t.Fatal(err)
		}
		s := &lap{m: m}
		a := assignAmong(m, r, s.cheapest())
		a.total(m)
		pairs, total := bruteAssign(m)
		if n := m.Rows - a.Unmatched; n != pairs || pairs > 0 && math.Abs(a.Total-total) > 1e-9 {
			t.Fatalf("%d pairs at %g, brute force %d at %g\n%v", n, a.Total, pairs, total, m)
		}
		certify(t, m, a)
	})
}

// Tall and wide matrices of all families are certified; products, on which searches are long, are done with fewer columns.
func TestAssignCertifiesRectangles(t *testing.T) {
	for name, f := range families {
		m := f(400, rand.New(rand.NewPCG(3, 4)))
		for _, rows := range []int{20, 100, 390} {
			part := Matrix{Rows: rows, Cols: 400, Data: m.Data[:rows*400]}
			for _, p := range []Matrix{part, part.Transpose()} {
				a, err := Assign(p)
				if err != nil {
					t.Fatal(err)
				}
				certify(t, p, a)
			}
			if name == "product" {
				want := 0.0
				for i := 1; i <= rows; i++ {
					want += float64(i * (rows + 1 - i))
				}
				if a, err := Assign(part); err != nil || a.Total != want {
					t.Errorf("product of %d rows: %g, want %g, %v", rows, a.Total, want, err)
				}
			}
		}
	}
}

func TestAssignRefuses(t *testing.T) {
	for _, m := range []Matrix{{1, 2, []float64{1}}, {1, 1, []float64{math.NaN()}}, {1, 1, []float64{math.Inf(-1)}}, {1, 2, []float64{-1e308, 1e308}}} {
		if _, err := Assign(m); err == nil {
			t.Errorf("%v is accepted", m)
		}
	}
}

func BenchmarkAssign(b *testing.B) {
	for _, name := range []string{"uniform", "integers", "geometric", "product"} {
		for _, n := range []int{1000, 2000} {
			m := families[name](n, rand.New(rand.NewPCG(1, 2)))
			b.Run(name+"/"+itoa(n), func(b *testing.B) {
				for b.Loop() {
					if _, err := Assign(m); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}

func itoa(n int) string {
	if n < 10 {
		return string(rune('0' + n))
	}
	return itoa(n/10) + string(rune('0'+n%10))
}

// Matrices with very many rows, of which only the cheapest of each column are looked at, are certified: with equal costs, and with forbidden
// pairs that leave columns with few rows, or none.
func TestAssignCertifiesVeryTall(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 200 {
		cols := 1 + r.IntN(6)
		rows := 2*cols*cols + 1 + r.IntN(60)
		m, forbid, kinds := NewMatrix(rows, cols), r.Float64()*1.02, 1+r.IntN(50)
		for k := range m.Data {
			if m.Data[k] = float64(r.IntN(kinds)); r.Float64() < forbid {
				m.Data[k] = math.Inf(1)
			}
		}
		a, err := Assign(m)
		if err != nil {
			t.Fatal(err)
		}
		certify(t, m, a)
		b, err := Assign(m.Transpose())
		if err != nil || a.Unmatched != b.Unmatched || a.Total != b.Total {
			t.Fatalf("%d × %d: %g and %d without, turned %g and %d, %v", rows, cols, a.Total, a.Unmatched, b.Total, b.Unmatched, err)
		}
	}
}
