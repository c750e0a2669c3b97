package solve

import "math"

// PriceShares finds prices of bins at which items, each where it gains most, ask of no bin more than it has: the dual of
// the program of time shares, smoothed. An item divides its time by a logit of what it gains in each bin and by staying
// alone, with a width that is a share of its best value; that makes the dual smooth and its minimum unique, and moves it
// by at most width · ln(bins + 1) of what all items could gain at best. Newton's method, projected on prices that are not
// negative, finds it: from start in a few steps, where start solved a program much like this one, or, where it is zero,
// through a series of falling widths. It ends when no bin is asked for more than exact of its capacity above it, or less
// where it has a price, or after steps. Sizes are not looked at.
func PriceShares(p *Shares, width, exact float64, start Prices, steps int) (Prices, int) {
	s := newSmooth(p)
	for r := range s.top { // the logit still asks for a little at a price that takes all that is gained
		s.top[r] *= 1 + 8*width
	}
	for r := range s.price {
		if b := s.binOf[r]; s.ofCap[r] && start.Cap != nil {
			s.price[r] = min(s.top[r], max(0, start.Cap[b])*p.Cap[b])
		} else if !s.ofCap[r] && start.Places != nil {
			s.price[r] = min(s.top[r], max(0, start.Places[b])*p.places(b))
		}
	}
	taken := 0
	if start.Cap == nil && start.Places == nil {
		for w := 0.8; w > width*1.01 && taken < steps; w /= 2 {
			taken += s.newton(w, 10*exact, 4)
		}
	}
	taken += s.newton(width, exact, max(1, steps-taken))
	out := Prices{Cap: make([]float64, len(p.Cap)), Places: make([]float64, len(p.Cap))}
	for r, x := range s.price {
		if b := s.binOf[r]; s.ofCap[r] {
			out.Cap[b] = x / p.Cap[b]
		} else {
			out.Places[b] = x / p.places(b)
		}
	}
	return out, taken
}

// smooth is the state of PriceShares. Each limit of a bin is a row, scaled so that it is 1.
type smooth struct {
	p        *Shares
	capRow   []int32 // of each bin, -1 where it has no limit
	placeRow []int32
	binOf    []int
	ofCap    []bool
	price    []float64
	top      []float64 // a price above which next to nobody asks for it

	trial, down, work []float64
	here              slopes    // at price
	paid, place       []float64 // of each bin at the price that is looked at: for one unit of use, and for an item's whole time
	best              []float64 // value of each item
	e, sum            []float64 // of each listed pair what it gains by an exponential, there, and of each item their sum
	row               []int32   // of one item
	q                 []float64
	cg                *conjugate // where there are many rows; else nil
}

// slopes are the gradient and the lower half of the second derivatives, which are left out where there are many rows (conjugate).
type slopes struct{ grad, h []float64 }

func newSmooth(p *Shares) *smooth {
	s := &smooth{p: p, capRow: make([]int32, len(p.Cap)), placeRow: make([]int32, len(p.Cap))}
	for b := range p.Cap {
		s.capRow[b], s.placeRow[b] = -1, -1
		if c := p.Cap[b]; c > 0 && !math.IsInf(c, 1) {
			s.capRow[b] = int32(len(s.binOf))
			s.binOf, s.ofCap = append(s.binOf, b), append(s.ofCap, true)
		}
		if c := p.places(b); c > 0 && !math.IsInf(c, 1) {
			s.placeRow[b] = int32(len(s.binOf))
			s.binOf, s.ofCap = append(s.binOf, b), append(s.ofCap, false)
		}
	}
	n := len(s.binOf)
	s.price, s.top, s.trial, s.down = make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	s.here.grad = make([]float64, n)
	if n >= conjugateFrom {
		s.cg = newConjugate(p, n)
	} else {
		s.work, s.here.h = make([]float64, n*n), make([]float64, n*n)
	}
	s.best, s.sum, s.e = make([]float64, p.items()), make([]float64, p.items()), make([]float64, len(p.Bin))
	for j := range s.best {
		for _, v := range p.Value[p.Start[j]:p.Start[j+1]] {
			s.best[j] = max(s.best[j], v)
		}
	}
	s.paid, s.place = make([]float64, len(p.Cap)), make([]float64, len(p.Cap))
	for k, b := range p.Bin {
		if r := s.capRow[b]; r >= 0 && p.Use[k] > 0 {
			s.top[r] = max(s.top[r], p.Value[k]/p.Use[k]*p.Cap[b])
		}
		if r := s.placeRow[b]; r >= 0 {
			s.top[r] = max(s.top[r], p.Value[k]*p.places(int(b)))
		}
	}
	return s
}

// newton goes at most so many steps at a width, and returns how many it went.
func (s *smooth) newton(width, exact float64, steps int) int {
	if len(s.price) == 0 {
		return 0
	}
	ridge := 1e-9
	value := s.at(s.price, width)
	s.slopes(width)
	for k := range steps {
		worst := 0.0
		for r, g := range s.here.grad {
			if !s.stays(r) && (s.price[r] > 0 || g < 0) {
				worst = max(worst, math.Abs(g))
			}
		}
		if worst <= exact {
			return k
		}
		found := false
		for tries := 0; tries < 12 && !found; tries++ {
			s.direction(ridge)
			for along := 1.0; along > 0.05 && !found; along /= 2 {
				fall := 0.0
				for r := range s.trial {
					s.trial[r] = min(s.top[r], max(0, s.price[r]+along*s.down[r]))
					fall += s.here.grad[r] * (s.price[r] - s.trial[r])
				}
				if fall <= 0 {
					continue
				}
				if v := s.at(s.trial, width); v <= value-1e-4*fall {
					found, value = true, v
				}
			}
			if !found {
				ridge = max(ridge*30, 1e-6)
			}
		}
		if !found {
			return k
		}
		s.price, s.trial = s.trial, s.price
		if k+1 < steps { // nobody asks for them at the last
			s.slopes(width)
		}
		ridge = max(1e-9, ridge/30)
	}
	return steps
}

// stays reports whether a price is at its border and would pass it.
func (s *smooth) stays(r int) bool {
	g := s.here.grad[r]
	return s.price[r] <= 0 && g >= 0 || s.price[r] >= s.top[r] && g <= 0
}

// direction solves for Newton's step; prices that are at their border and would pass it stay.
func (s *smooth) direction(ridge float64) {
	if s.cg != nil {
		s.descend(ridge)
		return
	}
	n := len(s.price)
	m := s.work
	copy(m, s.here.h)
	for r := range n {
		s.down[r] = -s.here.grad[r]
		if s.stays(r) {
			s.down[r] = 0
			for c := range n {
				m[r*n+c], m[c*n+r] = 0, 0
			}
			m[r*n+r] = 1
			continue
		}
		m[r*n+r] += ridge*(1+m[r*n+r]) + 1e-12
	}
	if !cholesky(m, n) {
		clear(s.down)
		return
	}
	backsolve(m, s.down)
}

// at is the smoothed dual at a price.
func (s *smooth) at(price []float64, width float64) (total float64) {
	p := s.p
	for _, x := range price {
		total += x
	}
	for b := range s.paid {
		s.paid[b], s.place[b] = 0, 0
		if r := s.capRow[b]; r >= 0 {
			s.paid[b] = price[r] / p.Cap[b]
		} else if p.Cap[b] == 0 {
			s.place[b] = math.Inf(1)
		}
		if r := s.placeRow[b]; r >= 0 {
			s.place[b] += price[r] / p.places(b)
		}
	}
	for j, best := range s.best {
		if amount := p.amount(j); best > 0 && amount > 0 {
			total += amount * s.item(j, width*best)
		}
	}
	return total
}

// negligible is below which logarithm a share of an item's time is none: a millionth of what prices are exact to.
const negligible = -18

// item is what an item gains by its logit of width t.
func (s *smooth) item(j int, t float64) float64 {
	lo, hi := s.p.Start[j], s.p.Start[j+1]
	bins, values, uses, e := s.p.Bin[lo:hi], s.p.Value[lo:hi], s.p.Use[lo:hi], s.e[lo:hi]
	top := 0.0
	for k, b := range bins {
		e[k] = values[k] - s.paid[b]*uses[k] - s.place[b]
		top = max(top, e[k])
	}
	sum := 0.0
	if x := -top / t; x > negligible {
		sum = math.Exp(x)
	}
	for k, g := range e {
		e[k] = 0
		if x := (g - top) / t; x > negligible {
			e[k] = math.Exp(x)
			sum += e[k]
		}
	}
	s.sum[j] = sum
	return top + t*math.Log(sum)
}

// slopes are the gradient and the second derivatives at the price that was looked at last.
func (s *smooth) slopes(width float64) {
	add := s.second
	if clear(s.here.h); s.cg != nil {
		clear(s.cg.diag)
		add = s.curves
	}
	for r := range s.here.grad {
		s.here.grad[r] = 1
	}
	for j, best := range s.best {
		if amount := s.p.amount(j); best > 0 && amount > 0 {
			add(j, amount, width*best)
		}
	}
}

// second adds an item's gradient and second derivatives: those of a logit are the covariance of what it asks for.
func (s *smooth) second(j int, amount, t float64) {
	p, n, out, sum := s.p, len(s.price), &s.here, s.sum[j]
	s.row, s.q = s.row[:0], s.q[:0]
	for k := p.Start[j]; k < p.Start[j+1]; k++ {
		e := s.e[k]
		if e == 0 {
			continue
		}
		b, share := p.Bin[k], e/sum
		c, u := s.capRow[b], 0.0
		if c >= 0 {
			u = p.Use[k] / p.Cap[b]
			out.grad[c] -= amount * share * u
			out.h[int(c)*n+int(c)] += amount / t * share * u * u
			s.row, s.q = append(s.row, c), append(s.q, share*u)
		}
		if r := s.placeRow[b]; r >= 0 {
			w := 1 / p.places(int(b))
			out.grad[r] -= amount * share * w
			out.h[int(r)*n+int(r)] += amount / t * share * w * w
			if c >= 0 {
				out.h[int(r)*n+int(c)] += amount / t * share * w * u
			}
			s.row, s.q = append(s.row, r), append(s.q, share*w)
		}
	}
	for i, r := range s.row {
		a := amount / t * s.q[i]
		line := out.h[int(r)*n : int(r)*n+n]
		for k, c := range s.row[:i+1] {
			line[c] -= a * s.q[k]
		}
	}
}
