package solve

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The prices prove a bound within the stated distance of the optimum, from nothing and from prices of another program.
func TestPriceSharesAgainstOptimum(t *testing.T) {
	for kind := range 4 { // no limit, bandwidth, places, both
		for seed := range uint64(12) {
			r := rand.New(rand.NewPCG(seed, uint64(kind)+100))
			p := drawShares(r, 2+r.IntN(6), 10+r.IntN(60), kind)
			best, err := MaxShares(p, 1e-7, nil)
			if err != nil {
				t.Fatal(err)
			}
			const width = 0.02
			most := 0.0
			for j := range p.items() {
				top := 0.0
				for k := p.Start[j]; k < p.Start[j+1]; k++ {
					top = max(top, p.Value[k])
				}
				most += width * top * math.Log(float64(len(p.Cap)+1))
			}
			cold, steps := PriceShares(&p, width, 1e-4, Prices{}, 100)
			if b := p.Bound(cold); b > best.Bound+most+1e-9 || b < best.Value*(1-1e-9) {
				t.Errorf("kind %d, seed %d: bound %.4f after %d steps, optimum %.4f, allowed are %.4f more", kind, seed, b, steps, best.Bound, most)
			}
			for k := range p.Value { // a little later
				p.Value[k] *= math.Exp(0.02 * r.NormFloat64())
			}
			warm, again := PriceShares(&p, width, 1e-3, cold, 100)
			fresh, _ := PriceShares(&p, width, 1e-6, Prices{}, 200)
			if again > 6 {
				t.Errorf("kind %d, seed %d: %d steps from prices that are nearly right", kind, seed, again)
			}
			if b, c := p.Bound(warm), p.Bound(fresh); math.Abs(b-c) > 0.02*c {
				t.Errorf("kind %d, seed %d: bound %.4f from old prices, %.4f from none", kind, seed, b, c)
			}
		}
	}
}

// At the prices nobody is asked for more than there is: the smoothed dual's minimum clears.
func TestPriceSharesClear(t *testing.T) {
	p := drawShares(rand.New(rand.NewPCG(3, 3)), 20, 400, 3)
	at, steps := PriceShares(&p, 0.02, 1e-4, Prices{}, 200)
	s := newSmooth(&p)
	for r, b := range s.binOf {
		if s.ofCap[r] {
			s.price[r] = at.Cap[b] * p.Cap[b]
		} else {
			s.price[r] = at.Places[b] * p.places(b)
		}
	}
	s.at(s.price, 0.02)
	s.slopes(0.02)
	for r, g := range s.here.grad {
		if g < -1e-3 || g > 1e-3 && s.price[r] > 1e-6 {
			t.Errorf("after %d steps row %d has %.4f left at price %.4f", steps, r, g, s.price[r])
		}
	}
}

// Conjugate gradients find the prices that the factorisation finds.
func TestPriceSharesOfManyRows(t *testing.T) {
	for kind := range 4 {
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, uint64(kind)+200))
			p := drawShares(r, 2+r.IntN(20), 10+r.IntN(200), kind)
			factored, conjugated := newSmooth(&p), newSmooth(&p)
			conjugated.cg = newConjugate(&p, len(conjugated.price))
			for width := 0.8; width > 0.02; width /= 2 {
				factored.newton(width, 1e-5, 50)
				conjugated.newton(width, 1e-5, 200)
			}
			if a, b := factored.at(factored.price, 0.025), conjugated.at(conjugated.price, 0.025); math.Abs(a-b) > 1e-4*a {
				t.Errorf("kind %d, seed %d: the dual is %.6f, not %.6f", kind, seed, b, a)
			}
		}
	}
}

// The product is that of the second derivatives as they are written down where there are few rows, and the step solves them as far as is
// said, leaving prices alone that stay at their border.
func TestConjugateAgainstDense(t *testing.T) {
	const width, ridge = 0.1, 1e-3
	for kind := range 4 {
		for seed := range uint64(6) {
			r := rand.New(rand.NewPCG(seed, uint64(kind)+300))
			p := drawShares(r, 2+r.IntN(20), 10+r.IntN(200), kind)
			dense, x := newSmooth(&p), newSmooth(&p)
			n := len(x.price)
			x.cg = newConjugate(&p, n)
			for i := range n {
				dense.price[i] = max(0, r.Float64()-0.2) * dense.top[i]
				x.price[i] = dense.price[i]
			}
			for _, s := range []*smooth{dense, x} {
				s.at(s.price, width)
				s.slopes(width)
			}
			second := func(i, k int) float64 {
				h := dense.here.h[max(i, k)*n+min(i, k)]
				if i == k {
					h += ridge*(1+h) + 1e-12
				}
				return h
			}
			v, out := make([]float64, n), make([]float64, n)
			for i := range n {
				if a, b := dense.here.grad[i], x.here.grad[i]; math.Abs(a-b) > 1e-9*(1+math.Abs(a)) {
					t.Fatalf("kind %d, seed %d, row %d: slope %g, not %g", kind, seed, i, b, a)
				}
				v[i] = 1
				x.product(v, out, ridge)
				v[i] = 0
				for k, got := range out {
					if want := second(i, k); math.Abs(got-want) > 1e-9*(1+math.Abs(want)) {
						t.Fatalf("kind %d, seed %d, rows %d and %d: %g, not %g", kind, seed, i, k, got, want)
					}
				}
			}
			x.descend(ridge)
			left, all := 0.0, 0.0
			for i, g := range x.here.grad {
				if x.stays(i) {
					if x.down[i] != 0 {
						t.Errorf("kind %d, seed %d: row %d moves", kind, seed, i)
					}
					continue
				}
				off := g
				for k := range n {
					off += second(i, k) * x.down[k]
				}
				left, all = left+off*off/second(i, i), all+g*g/second(i, i)
			}
			if math.Sqrt(left/max(all, 1e-300)) > 1.01*conjugateExact {
				t.Errorf("kind %d, seed %d: %.3f of the slope is left", kind, seed, math.Sqrt(left/all))
			}
		}
	}
}

// A thousand nodes that nothing is known of, with bandwidth that is scarce, and 64 tasks that may have any.
func BenchmarkPriceSharesOfThousand(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	p := Shares{Start: []int32{0}}
	for range 1000 {
		p.Cap, p.Places = append(p.Cap, 0.05), append(p.Places, 1)
	}
	for range 64 {
		for i := range p.Cap {
			u := math.Exp(r.NormFloat64() / 4)
			p.Bin, p.Use, p.Value = append(p.Bin, int32(i)), append(p.Use, u), append(p.Value, u)
		}
		p.Start = append(p.Start, int32(len(p.Bin)))
	}
	for b.Loop() {
		_, n := PriceShares(&p, 0.02, 0.02, Prices{}, 60)
		b.ReportMetric(float64(n), "steps")
	}
}

// A fleet of a hundred nodes, 2,500 tasks with 16 candidates each, and prices that are nearly right.
func BenchmarkPriceSharesWarm(b *testing.B) {
	r := rand.New(rand.NewPCG(1, 1))
	p := Shares{Start: []int32{0}}
	for range 100 {
		p.Cap = append(p.Cap, 30)
	}
	for range 2500 {
		first := r.IntN(6)
		for i := first; i < 96; i += 6 {
			u := math.Exp(r.NormFloat64())
			p.Bin, p.Use, p.Value = append(p.Bin, int32(i)), append(p.Use, u), append(p.Value, u)
		}
		p.Start = append(p.Start, int32(len(p.Bin)))
	}
	start, _ := PriceShares(&p, 0.05, 1e-2, Prices{}, 100)
	for b.Loop() {
		for k := range p.Value {
			p.Value[k] = p.Use[k] * (0.98 + 0.04*r.Float64())
		}
		_, n := PriceShares(&p, 0.05, 1e-2, start, 3)
		b.ReportMetric(float64(n), "steps")
	}
}
