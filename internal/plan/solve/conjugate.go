package solve

import "math"

// The second derivatives of PriceShares are a sum over items, each of a few rows. Their product with a vector costs as much as there are
// pairs; to write them down takes rows² and to factor them rows³, a minute of a core for the first prices of a thousand nodes. So from
// conjugateFrom rows on Newton's step is found by conjugate gradients, as near as conjugateExact of the gradient, or as conjugateSteps come:
// an inexact step is as good a direction, and where prices are nearly right it is found in a few steps.
const (
	conjugateFrom  = 400 // where a factorisation takes some 10 ms
	conjugateExact = 0.05
	conjugateSteps = 40
)

// conjugate is the scratch of conjugate gradients.
type conjugate struct {
	share                   []float64 // of each pair, of its item's time at the price
	curve                   []float64 // of each item, its amount by the logit's width
	diag                    []float64 // second derivatives by one row
	rest, along, times, pre []float64
}

func newConjugate(p *Shares, rows int) *conjugate {
	v := make([]float64, 5*rows)
	return &conjugate{
		share: make([]float64, len(p.Bin)), curve: make([]float64, p.items()),
		diag: v[:rows], rest: v[rows : 2*rows], along: v[2*rows : 3*rows], times: v[3*rows : 4*rows], pre: v[4*rows:],
	}
}

// curves adds an item's gradient, and keeps what its second derivatives are made of.
func (s *smooth) curves(j int, amount, t float64) {
	p, x, sum := s.p, s.cg, s.sum[j]
	x.curve[j] = amount / t
	for k := p.Start[j]; k < p.Start[j+1]; k++ {
		share := s.e[k] / sum
		if x.share[k] = share; share == 0 {
			continue
		}
		b := p.Bin[k]
		if c := s.capRow[b]; c >= 0 {
			u := p.Use[k] / p.Cap[b]
			s.here.grad[c] -= amount * share * u
			x.diag[c] += amount / t * share * (1 - share) * u * u
		}
		if r := s.placeRow[b]; r >= 0 {
			w := 1 / p.places(int(b))
			s.here.grad[r] -= amount * share * w
			x.diag[r] += amount / t * share * (1 - share) * w * w
		}
	}
}

// product is the second derivatives times v, with the ridge.
func (s *smooth) product(v, out []float64, ridge float64) {
	p, x := s.p, s.cg
	for r := range out {
		out[r] = v[r] * (ridge*(1+x.diag[r]) + 1e-12)
	}
	for j, curve := range x.curve {
		if curve == 0 {
			continue
		}
		mean := 0.0
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			if share := x.share[k]; share > 0 {
				mean += share * s.asked(v, k)
			}
		}
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			share := x.share[k]
			if share == 0 {
				continue
			}
			b, z := p.Bin[k], curve*share*(s.asked(v, k)-mean)
			if c := s.capRow[b]; c >= 0 {
				out[c] += z * p.Use[k] / p.Cap[b]
			}
			if r := s.placeRow[b]; r >= 0 {
				out[r] += z / p.places(int(b))
			}
		}
	}
}

// asked is what a pair pays where rows cost v.
func (s *smooth) asked(v []float64, k int32) (x float64) {
	b := s.p.Bin[k]
	if c := s.capRow[b]; c >= 0 {
		x += v[c] * s.p.Use[k] / s.p.Cap[b]
	}
	if r := s.placeRow[b]; r >= 0 {
		x += v[r] / s.p.places(int(b))
	}
	return x
}

// descend finds Newton's step by conjugate gradients, each row divided by its own second derivative.
func (s *smooth) descend(ridge float64) {
	x := s.cg
	size := 0.0
	for r, g := range s.here.grad {
		s.down[r], x.rest[r], x.pre[r] = 0, -g, 1/(x.diag[r]*(1+ridge)+ridge+1e-12)
		if s.stays(r) {
			x.rest[r], x.pre[r] = 0, 0
		}
		x.along[r] = x.pre[r] * x.rest[r]
		size += x.along[r] * x.rest[r]
	}
	enough := size * conjugateExact * conjugateExact
	for range conjugateSteps {
		if size <= enough || size == 0 {
			return
		}
		s.product(x.along, x.times, ridge)
		curve := 0.0
		for r, v := range x.along {
			curve += v * x.times[r]
		}
		if curve <= 0 || math.IsNaN(curve) {
			return
		}
		step, next := size/curve, 0.0
		for r := range s.down {
			s.down[r] += step * x.along[r]
			if x.pre[r] > 0 {
				x.rest[r] -= step * x.times[r]
			}
			next += x.rest[r] * x.rest[r] * x.pre[r]
		}
		for r := range x.along {
			x.along[r] = x.pre[r]*x.rest[r] + next/size*x.along[r]
		}
		size = next
	}
}
