package solve

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize/convex/lp"
)

// drawShares draws a program; kind says which limits there are.
func drawShares(r *rand.Rand, bins, items, kind int) Shares {
	p := Shares{Start: []int32{0}, Cap: make([]float64, bins)}
	for i := range p.Cap {
		p.Cap[i] = math.Inf(1)
		if kind&1 != 0 {
			p.Cap[i] = 0.2 + 3*r.Float64()*float64(items)/float64(bins)
		}
		if kind&2 != 0 {
			p.Places = append(p.Places, float64(1+r.IntN(3)))
		}
	}
	for range items {
		for i := range bins {
			if kind&8 != 0 && r.Float64() < 0.4 {
				continue
			}
			u := math.Exp(1.5 * r.NormFloat64())
			p.Bin, p.Use, p.Value = append(p.Bin, int32(i)), append(p.Use, u), append(p.Value, u*(0.3+0.7*r.Float64()))
		}
		p.Start = append(p.Start, int32(len(p.Bin)))
		if kind&4 != 0 {
			p.Size = append(p.Size, []float64{math.Inf(1), 0.1 + 3*r.Float64()}[r.IntN(2)])
		}
		if kind&16 != 0 {
			p.Amount = append(p.Amount, float64(r.IntN(4)))
		}
	}
	return p
}

// simplex solves a program by gonum's simplex method.
func simplex(t *testing.T, p Shares) float64 {
	t.Helper()
	var rows [][]float64
	var b []float64
	row := func(limit float64) []float64 {
		rows, b = append(rows, make([]float64, len(p.Bin))), append(b, limit)
		return rows[len(rows)-1]
	}
	for i := range p.Cap {
		if !math.IsInf(p.Cap[i], 1) {
			line := row(p.Cap[i])
			for k, bin := range p.Bin {
				if int(bin) == i {
					line[k] = p.Use[k]
				}
			}
		}
		if c := p.places(i); !math.IsInf(c, 1) {
			line := row(c)
			for k, bin := range p.Bin {
				if int(bin) == i {
					line[k] = 1
				}
			}
		}
	}
	for j := range p.items() {
		line := row(p.amount(j))
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			line[k] = 1
		}
		if s := p.size(j); !math.IsInf(s, 1) {
			line := row(s)
			for k := p.Start[j]; k < p.Start[j+1]; k++ {
				line[k] = p.Value[k]
			}
		}
	}
	n := len(p.Bin)
	a, c := mat.NewDense(len(rows), n+len(rows), nil), make([]float64, n+len(rows))
	for r, line := range rows {
		for k, x := range line {
			a.Set(r, k, x)
		}
		a.Set(r, n+r, 1)
	}
	for k, v := range p.Value {
		c[k] = -v
	}
	best, _, err := lp.Simplex(c, a, b, 1e-10, nil)
	if err != nil {
		t.Fatal(err)
	}
	return -best
}

// What the interior point method finds is the simplex method's optimum, and both of its sides are on their side of it.
func TestMaxSharesAgainstSimplex(t *testing.T) {
	for kind := range 32 {
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, uint64(kind)))
			p := drawShares(r, 1+r.IntN(5), 1+r.IntN(9), kind)
			if len(p.Bin) == 0 {
				continue
			}
			got, err := MaxShares(p, 1e-6, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := simplex(t, p)
			if got.Gap() > 1e-6 || got.Bound < want*(1-1e-8)-1e-9 || got.Value > want*(1+1e-8)+1e-9 {
				t.Errorf("kind %d, seed %d: %.7f to %.7f after %d steps, optimum %.7f", kind, seed, got.Value, got.Bound, got.Steps, want)
			}
			if bound := p.Bound(got.Prices); math.Abs(bound-got.Bound) > 1e-9*bound {
				t.Errorf("kind %d, seed %d: prices prove %.7f, not %.7f", kind, seed, bound, got.Bound)
			}
			y := append([]float64(nil), got.Y...)
			if v := p.repair(y); math.Abs(v-got.Value) > 1e-9*v {
				t.Errorf("kind %d, seed %d: the solution breaks limits: %.7f of %.7f is left", kind, seed, v, got.Value)
			}
		}
	}
}

// Whatever the prices, they prove a bound.
func TestAnyPricesProveABound(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 77))
		p := drawShares(r, 3, 6, int(seed)%32)
		if len(p.Bin) == 0 {
			continue
		}
		at := Prices{Cap: make([]float64, 3), Places: make([]float64, 3)}
		for i := range 3 {
			if !math.IsInf(p.Cap[i], 1) {
				at.Cap[i] = r.ExpFloat64()
			}
			if !math.IsInf(p.places(i), 1) {
				at.Places[i] = r.ExpFloat64()
			}
		}
		for range p.items() {
			at.Size = append(at.Size, r.Float64())
		}
		if bound, best := p.Bound(at), simplex(t, p); bound < best-1e-8 {
			t.Errorf("seed %d: bound %.6f below the optimum %.6f", seed, bound, best)
		}
	}
}

// What does not fit together is refused.
func TestSharesRefuse(t *testing.T) {
	good := func() Shares {
		return Shares{Start: []int32{0, 2}, Bin: []int32{0, 1}, Value: []float64{1, 2}, Use: []float64{1, 1}, Cap: []float64{1, 1}}
	}
	for name, spoil := range map[string]func(p *Shares){
		"start": func(p *Shares) { p.Start[1] = 1 }, "order": func(p *Shares) { p.Bin[0], p.Bin[1] = 1, 0 },
		"bin": func(p *Shares) { p.Bin[1] = 7 }, "value": func(p *Shares) { p.Value[0] = math.NaN() },
		"use": func(p *Shares) { p.Use[0] = -1 }, "cap": func(p *Shares) { p.Cap[0] = -1 }, "amount": func(p *Shares) { p.Amount = []float64{1, 2} },
		"size": func(p *Shares) { p.Size = []float64{math.NaN()} },
	} {
		p := good()
		spoil(&p)
		if _, err := MaxShares(p, 1e-3, nil); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	if got, err := MaxShares(good(), 1e-9, nil); err != nil || math.Abs(got.Value-2) > 1e-6 {
		t.Errorf("%v, %v", got, err)
	}
}

// A fleet of a hundred nodes and ten thousand sites.
func BenchmarkMaxShares(b *testing.B) {
	p := drawShares(rand.New(rand.NewPCG(1, 1)), 100, 10_000, 1)
	for b.Loop() {
		got, err := MaxShares(p, 1e-3, nil)
		if err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(got.Gap(), "gap")
		b.ReportMetric(float64(got.Steps), "steps")
	}
}
