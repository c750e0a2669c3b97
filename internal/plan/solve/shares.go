package solve

import (
	"fmt"
	"math"
)

// Shares is the linear program of time shares: each item divides its time among bins. Maximise Σ value·y over y ≥ 0 where
// in each bin Σ use·y ≤ Cap and Σ y ≤ Places, and for each item Σ y ≤ Amount and Σ value·y ≤ Size. Pairs that are not
// listed are 0. Items in the order of their numbers list their bins between Start[j] and Start[j+1], in rising order.
type Shares struct {
	Start  []int32   // items + 1
	Bin    []int32   // of each listed pair
	Value  []float64 // of each listed pair
	Use    []float64 // of each listed pair, ≥ 0
	Cap    []float64 // of each bin, +Inf where there is none
	Places []float64 // of each bin, +Inf where there is none; nil is none anywhere
	Amount []float64 // of each item; nil is 1
	Size   []float64 // of each item, +Inf where there is none; nil is none anywhere
}

// Prices are what a unit of each bin's Cap and Places is worth. Whatever they are (≥ 0), they prove a bound.
type Prices struct {
	Cap, Places []float64
	Size        []float64 // of each item, for a unit of its Size; nil is 0
}

// Optimum is what MaxShares found: no solution is worth more than Bound, and Y, which is one, is worth Value.
type Optimum struct {
	Bound  float64
	Value  float64
	Y      []float64 // of each listed pair
	Prices Prices
	Steps  int
}

// Gap is how far the value may be from the optimum, as a share of it.
func (o Optimum) Gap() float64 {
	if o.Bound <= 0 {
		return 0
	}
	return (o.Bound - o.Value) / o.Bound
}

func (p *Shares) items() int { return len(p.Start) - 1 }

func (p *Shares) amount(j int) float64 {
	if p.Amount == nil {
		return 1
	}
	return p.Amount[j]
}

func (p *Shares) size(j int) float64 {
	if p.Size == nil {
		return math.Inf(1)
	}
	return p.Size[j]
}

func (p *Shares) places(i int) float64 {
	if p.Places == nil {
		return math.Inf(1)
	}
	return p.Places[i]
}

func (p *Shares) check() error {
	if len(p.Start) == 0 || p.Start[0] != 0 || int(p.Start[len(p.Start)-1]) != len(p.Bin) || len(p.Bin) != len(p.Value) || len(p.Bin) != len(p.Use) {
		return fmt.Errorf("shares: pairs, values and uses do not fit together")
	}
	if p.Places != nil && len(p.Places) != len(p.Cap) || p.Amount != nil && len(p.Amount) != p.items() || p.Size != nil && len(p.Size) != p.items() {
		return fmt.Errorf("shares: limits do not fit to %d bins and %d items", len(p.Cap), p.items())
	}
	for j := range p.items() {
		if p.Start[j] > p.Start[j+1] {
			return fmt.Errorf("shares: pairs of item %d do not fit together", j+1)
		}
		for k := p.Start[j] + 1; k < p.Start[j+1]; k++ {
			if p.Bin[k] <= p.Bin[k-1] {
				return fmt.Errorf("item %d: bin %d after bin %d", j+1, p.Bin[k], p.Bin[k-1])
			}
		}
		if !(p.amount(j) >= 0) || !(p.size(j) >= 0) || math.IsInf(p.amount(j), 1) {
			return fmt.Errorf("item %d: amount %g, size %g", j+1, p.amount(j), p.size(j))
		}
	}
	for k, b := range p.Bin {
		if b < 0 || int(b) >= len(p.Cap) {
			return fmt.Errorf("pair %d: bin %d of %d", k+1, b, len(p.Cap))
		}
		if v, u := p.Value[k], p.Use[k]; math.IsNaN(v) || math.IsInf(v, 0) || !(u >= 0) || math.IsInf(u, 1) {
			return fmt.Errorf("pair %d: value %g, use %g", k+1, v, u)
		}
	}
	for i := range p.Cap {
		if !(p.Cap[i] >= 0) || !(p.places(i) >= 0) {
			return fmt.Errorf("bin %d: capacity %g, %g places", i+1, p.Cap[i], p.places(i))
		}
	}
	return nil
}

// Bound is the most that any solution can be worth, as prices prove it: what the bins are worth at these prices, and for
// each item the most that its time brings beyond what it pays.
func (p *Shares) Bound(at Prices) (total float64) {
	for i, c := range p.Cap {
		if at.Cap[i] > 0 {
			total += at.Cap[i] * c
		}
		if at.Places != nil && at.Places[i] > 0 {
			total += at.Places[i] * p.places(i)
		}
	}
	for j := range p.items() {
		most, size := 0.0, 0.0
		if at.Size != nil && at.Size[j] > 0 && !math.IsInf(p.size(j), 1) {
			size = at.Size[j]
			total += size * p.size(j)
		}
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			b := p.Bin[k]
			g := p.Value[k]*(1-size) - at.Cap[b]*p.Use[k]
			if at.Places != nil {
				g -= at.Places[b]
			}
			most = max(most, g)
		}
		total += most * p.amount(j)
	}
	return total
}

// repair makes any y ≥ 0 a solution, by giving less where there is too much, and returns what it is worth.
func (p *Shares) repair(y []float64) (value float64) {
	use, count := make([]float64, len(p.Cap)), make([]float64, len(p.Cap))
	for j := range p.items() {
		sum, worth := 0.0, 0.0
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			sum += y[k]
			worth += y[k] * p.Value[k]
		}
		f := 1.0
		if a := p.amount(j); sum > a {
			f = a / sum
		}
		if s := p.size(j); f*worth > s {
			f = s / worth
		}
		for k := p.Start[j]; k < p.Start[j+1]; k++ {
			y[k] *= f
			use[p.Bin[k]] += y[k] * p.Use[k]
			count[p.Bin[k]] += y[k]
		}
	}
	for i := range use {
		f := 1.0
		if use[i] > p.Cap[i] {
			f = p.Cap[i] / use[i]
		}
		if c := p.places(i); f*count[i] > c {
			f = c / count[i]
		}
		use[i] = f
	}
	for k, b := range p.Bin {
		y[k] *= use[b]
		value += y[k] * p.Value[k]
	}
	return value
}
