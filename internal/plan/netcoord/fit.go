package netcoord

import "math"

// fitter improves one coordinate against others by the method of Levenberg and Marquardt. It keeps its buffers.
type fitter struct {
	heights bool
	ridge   float64 // divided by a typical delay's square
	n       int     // unknowns
	jtj     []float64
	root    []float64 // of it, damped: Cholesky's triangle
	jtr     []float64
	step    []float64
	grad    []float64
	trial   Coord

	x      []float64 // of the others to which the delay is known, one after the other
	height []float64
	delay  []float64
	at     fits // where the coordinate is
	tried  fits // where it might be
}

// fits are the distances of a coordinate to the others, and what is minimised of them.
type fits struct{ dist, off []float64 }

func newFitter(cfg Config, scale float64) *fitter {
	n := cfg.Dim
	if cfg.Heights {
		n++
	}
	return &fitter{
		heights: cfg.Heights, ridge: cfg.Ridge / (scale * scale), n: n, jtj: make([]float64, n*n), root: make([]float64, n*n), jtr: make([]float64, n), step: make([]float64, n),
		grad: make([]float64, n), trial: Coord{X: make([]float64, cfg.Dim)},
	}
}

// minHeight keeps the ratio of a prediction to a delay defined.
const minHeight = 1e-3

// against takes those of the others to which the delay is known, and reports whether any is.
func (f *fitter) against(to []Coord, delay []float64, self int) (usableAny bool) {
	f.x, f.height, f.delay = f.x[:0], f.height[:0], f.delay[:0]
	for k, d := range delay {
		if k == self || !usable(d) {
			continue
		}
		if o := &to[k]; len(o.X) > 0 {
			usableAny = true
			f.x, f.height, f.delay = append(f.x, o.X...), append(f.height, o.Height), append(f.delay, possible(d))
		}
	}
	for _, at := range []*fits{&f.at, &f.tried} {
		if cap(at.dist) < len(f.delay) {
			at.dist, at.off = make([]float64, len(f.delay)), make([]float64, len(f.delay))
		}
		at.dist, at.off = at.dist[:len(f.delay)], at.off[:len(f.delay)]
	}
	return usableAny
}

// loss is the sum of squares of what is minimised: the relative error, or with heights the logarithm of the ratio, which
// does not punish a prediction that is too long more than one that is too short.
func (f *fitter) loss(c *Coord, at *fits) float64 {
	sum, x := 0.0, f.x
	for k, d := range f.delay {
		s := 0.0
		for i, here := range c.X {
			s += (here - x[i]) * (here - x[i])
		}
		x = x[len(c.X):]
		dist := math.Sqrt(s) + c.Height + f.height[k]
		pred, r := max(dist, minHeight), 0.0
		if f.heights {
			r = math.Log(pred / d)
		} else {
			r = (pred - d) / d
		}
		at.dist[k], at.off[k] = dist, r
		sum += r * r
	}
	for _, x := range c.X {
		sum += f.ridge * x * x
	}
	return sum
}

// improve moves c to fit its delays to others better, by a number of steps at most, and returns the loss; +Inf if
// there is nothing to fit. self is the place of c among the others, -1 if it is none of them.
func (f *fitter) improve(c *Coord, to []Coord, delay []float64, self, steps int) float64 {
	if !f.against(to, delay, self) {
		return math.Inf(1)
	}
	return f.descend(c, steps)
}

// descend is improve against those that were taken last.
func (f *fitter) descend(c *Coord, steps int) float64 {
	damp := 1e-3
	loss := f.loss(c, &f.at)
	for range steps {
		f.linearise(c)
		better := false
		for range 6 {
			if !f.solve(damp) {
				damp *= 10
				continue
			}
			f.move(c)
			if l := f.loss(&f.trial, &f.tried); l < loss {
				gain := loss - l
				copy(c.X, f.trial.X)
				c.Height = f.trial.Height
				f.at, f.tried = f.tried, f.at
				loss, better = l, gain > 1e-5*loss
				damp = max(damp/10, 1e-9)
				break
			}
			damp *= 10
		}
		if !better {
			break
		}
	}
	return loss
}

// linearise sets up the normal equations at c, whose fits are at hand.
func (f *fitter) linearise(c *Coord) {
	clear(f.jtj)
	clear(f.jtr)
	n, others := f.n, f.x
	grad, jtr := f.grad[:n], f.jtr[:n]
	for k, dist := range f.at.dist {
		flat := max(dist-c.Height-f.height[k], minHeight)
		r, slope := f.at.off[k], 0.0
		if f.heights {
			slope = 1 / max(dist, minHeight)
			grad[n-1] = slope * c.Height // the unknown is the logarithm of the height, which keeps it positive
		} else {
			slope = 1 / f.delay[k]
		}
		for i, x := range c.X {
			grad[i] = slope * (x - others[i]) / flat
		}
		others = others[len(c.X):]
		rest := f.jtj
		for i, g := range grad {
			jtr[i] += g * r
			row := rest[:i+1]
			for j, h := range grad[:len(row)] {
				row[j] += g * h
			}
			rest = rest[n:]
		}
	}
	for i, x := range c.X {
		jtr[i] += f.ridge * x
		f.jtj[i*n+i] += f.ridge
	}
}

// solve finds the damped step by Cholesky's decomposition.
func (f *fitter) solve(damp float64) bool {
	n, a := f.n, f.root
	for i := range n {
		copy(a[i*n:i*n+i+1], f.jtj[i*n:i*n+i+1])
		a[i*n+i] += damp*f.jtj[i*n+i] + 1e-12
	}
	for i := range n {
		row := a[i*n : i*n+n]
		for j := 0; j <= i; j++ {
			s, other := row[j], a[j*n:j*n+n]
			for k, x := range row[:j] {
				s -= x * other[k]
			}
			if i != j {
				row[j] = s / other[j]
				continue
			}
			if s <= 0 {
				return false
			}
			row[i] = math.Sqrt(s)
		}
	}
	for i := range n {
		s := -f.jtr[i]
		for k := range i {
			s -= a[i*n+k] * f.step[k]
		}
		f.step[i] = s / a[i*n+i]
	}
	for i := n - 1; i >= 0; i-- {
		s := f.step[i]
		for k := i + 1; k < n; k++ {
			s -= a[k*n+i] * f.step[k]
		}
		f.step[i] = s / a[i*n+i]
	}
	return true
}

func (f *fitter) move(c *Coord) {
	for i, x := range c.X {
		f.trial.X[i] = x + f.step[i]
	}
	if f.heights {
		f.trial.Height = c.Height * math.Exp(min(2, max(-2, f.step[f.n-1])))
	}
}

// finish notes how well a coordinate fits.
func (f *fitter) finish(c *Coord, to []Coord, delay []float64, self int) {
	sum, n := 0.0, 0
	for k, d := range delay {
		if k == self || !usable(d) || len(to[k].X) == 0 {
			continue
		}
		e := (Distance(*c, to[k]) - d) / d
		sum += e * e
		n++
	}
	c.Fitted = n
	c.Error = math.Sqrt(sum / float64(max(1, n)))
}
