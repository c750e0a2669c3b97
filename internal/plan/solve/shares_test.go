package solve

import (
	"math"
	"math/rand/v2"
	"testing"
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

// row is one limit of a program, Σ at·y ≤ limit, and what a unit of it is worth.
type row struct {
	at    []float64 // of each listed pair
	limit float64
	price float64
	item  bool // it limits the time of an item: the worth is not known yet
}

// rows writes a program out, as the words about Shares say, with prices.
func rows(p *Shares, at Prices) (all []row) {
	add := func(limit, price float64, item bool, of func(k int) float64) {
		if math.IsInf(limit, 1) {
			return
		}
		r := row{limit: limit, price: max(0, price), item: item}
		for k := range p.Bin {
			r.at = append(r.at, of(k))
		}
		all = append(all, r)
	}
	for i := range p.Cap {
		mine := func(k int, x float64) float64 {
			if int(p.Bin[k]) != i {
				return 0
			}
			return x
		}
		add(p.Cap[i], at.Cap[i], false, func(k int) float64 { return mine(k, p.Use[k]) })
		if p.Places != nil {
			add(p.Places[i], at.Places[i], false, func(k int) float64 { return mine(k, 1) })
		}
	}
	for j := range p.items() {
		mine := func(k int, x float64) float64 {
			if int32(k) < p.Start[j] || int32(k) >= p.Start[j+1] {
				return 0
			}
			return x
		}
		if p.Size != nil && at.Size != nil {
			add(p.Size[j], at.Size[j], false, func(k int) float64 { return mine(k, p.Value[k]) })
		} else if p.Size != nil {
			add(p.Size[j], 0, false, func(k int) float64 { return mine(k, p.Value[k]) })
		}
		amount := 1.0
		if p.Amount != nil {
			amount = p.Amount[j]
		}
		add(amount, 0, true, func(k int) float64 { return mine(k, 1) })
	}
	return all
}

// dual is what the prices prove by weak duality: where each pair pays at least its value for what it uses, no solution is worth more than
// what all limits are worth. An item's time is worth what its best pair has left.
func dual(p *Shares, at Prices) (total float64) {
	all := rows(p, at)
	left := append([]float64(nil), p.Value...)
	for _, r := range all {
		for k := range left {
			left[k] -= r.price * r.at[k]
		}
		total += r.price * r.limit
	}
	for _, r := range all {
		if !r.item {
			continue
		}
		for k := range left {
			r.price = max(r.price, left[k]*r.at[k])
		}
		total += r.price * r.limit
	}
	return total
}

// A solution that keeps all limits, and prices that prove that no other is worth more: what the interior point method finds is the optimum.
func TestMaxSharesIsOptimal(t *testing.T) {
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
			value := 0.0
			for k, y := range got.Y {
				if value += y * p.Value[k]; y < 0 {
					t.Errorf("kind %d, seed %d: pair %d has %g", kind, seed, k+1, y)
				}
			}
			for _, limit := range rows(&p, got.Prices) {
				used := 0.0
				for k, y := range got.Y {
					used += limit.at[k] * y
				}
				if used > limit.limit*(1+1e-9)+1e-12 {
					t.Errorf("kind %d, seed %d: a limit of %g is broken by %g", kind, seed, limit.limit, used-limit.limit)
				}
			}
			if bound := dual(&p, got.Prices); bound > value*(1+1e-6)+1e-12 || math.Abs(bound-got.Bound) > 1e-9*bound || math.Abs(value-got.Value) > 1e-9*value {
				t.Errorf("kind %d, seed %d: found %.9f, worth %.9f; bound %.9f, proves %.9f, after %d steps", kind, seed, got.Value, value, got.Bound, bound, got.Steps)
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
		if got, want := p.Bound(at), dual(&p, at); math.Abs(got-want) > 1e-9*want {
			t.Errorf("seed %d: bound %.9f, weak duality proves %.9f", seed, got, want)
		}
		best, err := MaxShares(p, 1e-6, nil)
		if err != nil {
			t.Fatal(err)
		}
		if bound := p.Bound(at); bound < best.Value*(1-1e-12) {
			t.Errorf("seed %d: bound %.6f below a solution's %.6f", seed, bound, best.Value)
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
