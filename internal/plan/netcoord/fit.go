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
}

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

// residual is what is minimised, squared: the relative error, or with heights the logarithm of the ratio, which does
// not punish a prediction that is too long more than one that is too short.
func (f *fitter) residual(pred, delay float64) (r, slope float64) {
	if f.heights {
		return math.Log(pred / delay), 1 / pred
	}
	return (pred - delay) / delay, 1 / delay
}

func (f *fitter) loss(c *Coord, to []Coord, delay []float64, self int) float64 {
	sum := 0.0
	for k, d := range delay {
		if k == self || !usable(d) || len(to[k].X) == 0 {
			continue
		}
		r, _ := f.residual(max(Distance(*c, to[k]), minHeight), d)
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
	usableAny := false
	for k, d := range delay {
		usableAny = usableAny || k != self && usable(d)
	}
	if !usableAny {
		return math.Inf(1)
	}
	damp := 1e-3
	loss := f.loss(c, to, delay, self)
	for range steps {
		f.linearise(c, to, delay, self)
		better := false
		for range 6 {
			if !f.solve(damp) {
				damp *= 10
				continue
			}
			f.move(c)
			if l := f.loss(&f.trial, to, delay, self); l < loss {
				gain := loss - l
				copy(c.X, f.trial.X)
				c.Height = f.trial.Height
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

// linearise sets up the normal equations at c.
func (f *fitter) linearise(c *Coord, to []Coord, delay []float64, self int) {
	clear(f.jtj)
	clear(f.jtr)
	for k, d := range delay {
		if k == self || !usable(d) || len(to[k].X) == 0 {
			continue
		}
		pred := Distance(*c, to[k])
		flat := max(pred-c.Height-to[k].Height, minHeight)
		r, slope := f.residual(max(pred, minHeight), d)
		for i, x := range c.X {
			f.grad[i] = slope * (x - to[k].X[i]) / flat
		}
		if f.heights {
			f.grad[f.n-1] = slope * c.Height // the unknown is the logarithm of the height, which keeps it positive
		}
		for i, g := range f.grad {
			f.jtr[i] += g * r
			for j := range i + 1 {
				f.jtj[i*f.n+j] += g * f.grad[j]
			}
		}
	}
	for i, x := range c.X {
		f.jtr[i] += f.ridge * x
		f.jtj[i*f.n+i] += f.ridge
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
