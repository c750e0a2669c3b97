// Package price says what a plan costs and how many nodes to reserve, by the three prices of the packing system: what
// is paid for every node that is reserved, for every node while it works, and for a node taken on beyond those
// reserved. Any currency, any unit of time; it is pure.
package price

import (
	"fmt"
	"math"
)

// Rates are the prices of one node.
type Rates struct {
	Reserve   float64 `json:"reserve"`   // for each reserved node, used or not
	Use       float64 `json:"use"`       // for each reserved node that works
	Surcharge float64 `json:"surcharge"` // for each node taken on beyond those reserved
}

// Validate refuses prices under which nobody would reserve, or that are none.
func (r Rates) Validate() error {
	for _, p := range []struct {
		name string
		v    float64
	}{{"reserve", r.Reserve}, {"use", r.Use}, {"surcharge", r.Surcharge}} {
		if p.v < 0 || p.v != p.v || math.IsInf(p.v, 0) {
			return fmt.Errorf("%s price %g: want a number of at least 0", p.name, p.v)
		}
	}
	if r.Surcharge <= r.Reserve+r.Use {
		return fmt.Errorf("surcharge %g: must be higher than reserve and use together (%g), or nothing would be reserved", r.Surcharge, r.Reserve+r.Use)
	}
	return nil
}

// Point is the cost of one reservation: the four curves of the paper at one place.
type Point struct {
	Reserved  int     `json:"reserved"`
	Reserve   float64 `json:"reserve"`   // rises with every node
	Use       float64 `json:"use"`       // rises until the demand is met, then flat
	Surcharge float64 `json:"surcharge"` // falls to 0 where the demand is met
	Total     float64 `json:"total"`
	Used      float64 `json:"used"`     // reserved nodes that work
	TakenOn   float64 `json:"taken_on"` // nodes beyond them
}

// At returns the cost of reserving n nodes when demand are needed.
func (r Rates) At(n, demand int) Point {
	p := Point{Reserved: n, Used: float64(min(n, demand)), TakenOn: float64(max(0, demand-n))}
	p.sum(r)
	return p
}

func (p *Point) sum(r Rates) {
	p.Reserve = r.Reserve * float64(p.Reserved)
	p.Use = r.Use * p.Used
	p.Surcharge = r.Surcharge * p.TakenOn
	p.Total = p.Reserve + p.Use + p.Surcharge
}

// Demand is how likely it is that so many nodes are needed: P[d] is the probability of d.
type Demand struct{ P []float64 }

// Certain is a demand that is known.
func Certain(n int) Demand {
	p := make([]float64, n+1)
	p[n] = 1
	return Demand{p}
}

// Observed makes a demand of what was needed before.
func Observed(counts []int) (Demand, error) {
	top := 0
	for _, n := range counts {
		if n < 0 || n > 1_000_000 {
			return Demand{}, fmt.Errorf("demand %d: want 0 to 1000000", n)
		}
		top = max(top, n)
	}
	if len(counts) == 0 {
		return Demand{}, fmt.Errorf("no demand was given")
	}
	p := make([]float64, top+1)
	for _, n := range counts {
		p[n] += 1 / float64(len(counts))
	}
	return Demand{p}, nil
}

// Weighted makes a demand of how long so many were needed before, in any unit.
func Weighted(spans map[int]float64) (Demand, error) {
	top, total := 0, 0.0
	for n, w := range spans {
		if n < 0 || n > 1_000_000 || w < 0 || w != w || math.IsInf(w, 0) {
			return Demand{}, fmt.Errorf("demand %d for %g: want 0 to 1000000, and a time", n, w)
		}
		top = max(top, n)
		total += w
	}
	if total == 0 {
		return Demand{}, fmt.Errorf("no demand was given")
	}
	p := make([]float64, top+1)
	for n, w := range spans {
		p[n] += w / total
	}
	return Demand{p}, nil
}

// Poisson is the demand of many who need a node independently of each other; what is beyond all likelihood is cut off.
func Poisson(mean float64) (Demand, error) {
	if mean < 0 || mean != mean || mean > 100_000 {
		return Demand{}, fmt.Errorf("mean demand %g: want 0 to 100000", mean)
	}
	n := int(mean+10*math.Sqrt(mean)) + 20
	p := make([]float64, n+1)
	total := 0.0
	for d := range p {
		l, _ := math.Lgamma(float64(d) + 1)
		if mean > 0 {
			p[d] = math.Exp(float64(d)*math.Log(mean) - mean - l)
		} else if d == 0 {
			p[d] = 1
		}
		total += p[d]
	}
	for d := range p {
		p[d] /= total
	}
	return Demand{p}, nil
}

// Mean returns the expected demand.
func (d Demand) Mean() (m float64) {
	for n, p := range d.P {
		m += float64(n) * p
	}
	return m
}

// Quantile returns the smallest demand that is not exceeded with a probability of at least q.
func (d Demand) Quantile(q float64) int {
	sum := 0.0
	for n, p := range d.P {
		if sum += p; sum >= q-1e-12 {
			return n
		}
	}
	return len(d.P) - 1
}

// Expect returns the expected cost of reserving n nodes.
func (r Rates) Expect(n int, d Demand) Point {
	out := Point{Reserved: n}
	for k, p := range d.P {
		if p > 0 {
			at := r.At(n, k)
			out.Used += p * at.Used
			out.TakenOn += p * at.TakenOn
		}
	}
	out.sum(r)
	return out
}

// Curves returns the expected costs of reserving 0 to n nodes.
func (r Rates) Curves(n int, d Demand) []Point {
	out := make([]Point, n+1)
	for k := range out {
		out[k] = r.Expect(k, d)
	}
	return out
}

// Best returns how many of at most n nodes to reserve. For a known demand that is the demand; for an uncertain one the
// quantile of the newsvendor: one more node reserved costs its reserve price, and saves surcharge less use whenever it
// is needed, so it is worth having as long as it is needed more often than reserve/(surcharge − use) of the time.
func (r Rates) Best(n int, d Demand) int {
	return min(n, d.Quantile(1-r.Reserve/(r.Surcharge-r.Use)))
}
