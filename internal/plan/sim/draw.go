package sim

import (
	"math"
	"math/rand/v2"
	"slices"

	"argosy/internal/plan/predict"
)

// drawing draws what was not recorded from the predictor's uncertainty.
type drawing struct {
	p     *pieces
	rng   *rand.Rand
	book  *predict.Book
	drift []float64 // by which the variance of a ln speed that is not looked at has grown until each piece
	out   []predict.Figure

	spread    float64 // of pairs' ln speeds around what is predicted of them, as this recording has it; 0 is not known
	sure      bool    // so many pairs were tried that this is how far predictions are off, not the most that they can be
	shift     float64 // by which ln speeds are above what is predicted: it goes by the parts of reports, of which small ones say less
	low, high float64 // ln speeds between which all that was tried lies

	delays delayed
}

// delayed is what a recording tells of the delays of its pairs.
type delayed struct {
	mean, spread float64 // of ln ms; no spread where fewer than three were measured
	low, high    float64 // between which they lie
	tells        float64 // correlation of pairs' ln delays and ln speeds, 0 where too few were tried
}

// calibrate finds how far pairs that were tried are from what is predicted of them, how they move from one time that they were
// tried to the next, and within which bounds they lie: what is drawn is as far off, and not faster than anything that was seen.
func (d *drawing) calibrate(w *World, numbers []int) {
	d.low, d.high = math.Inf(1), math.Inf(-1)
	sum, shift, n := 0.0, 0.0, 0
	var means, slow, fast []float64
	var moved []move
	for i := range w.Nodes {
		for j := range w.Sites {
			x := d.p.pairs[[2]int{i, j}]
			if x == nil {
				continue
			}
			d.book.Rates(d.book.Site(w.Sites[j].Name), d.p.last+ages, []int32{int32(numbers[i])}, d.out)
			square, of, pieces, was, last := 0.0, 0.0, 0.0, -1, 0.0
			for k := range d.p.n {
				if s := x.had(k); s > 0 {
					y := math.Log(s)
					off := y - math.Log(d.out[0].Value)
					square, of, pieces = square+off*off, of+y, pieces+1
					if was >= 0 {
						moved = append(moved, move{was, k, math.Abs(y - last)})
					}
					was, last = k, y
				}
			}
			if pieces > 0 {
				sum, n = sum+square/pieces, n+1
				means = append(means, of/pieces)
				if f := d.book.Latency(numbers[i], d.book.Site(w.Sites[j].Name)); f.Source == predict.Measured {
					slow, fast = append(slow, math.Log(f.Value)), append(fast, of/pieces)
				}
				shift += of/pieces - math.Log(d.out[0].Value)
				d.low, d.high = min(d.low, of/pieces), max(d.high, of/pieces)
			}
		}
	}
	d.drift = moves(moved, d.p.n, d.p.noise())
	d.delays = d.measured(w, numbers)
	d.delays.tells = correlation(slow, fast)
	if len(means) >= 3 { // at most as far from each other as any two pairs
		_, d.spread = spreadOf(means)
	}
	if free := n - len(w.Nodes) - len(w.Sites); free >= 5 { // each node and site has a figure of its own in what is predicted
		d.spread, d.sure = min(d.spread, math.Sqrt(sum/float64(free))), true
	}
	if n > 0 {
		d.shift = shift / float64(n)
	}
}

// measured looks at the delays that were measured.
func (d *drawing) measured(w *World, numbers []int) delayed {
	var all []float64
	for i := range w.Nodes {
		for j := range w.Sites {
			if f := d.book.Latency(numbers[i], d.book.Site(w.Sites[j].Name)); f.Source == predict.Measured {
				all = append(all, math.Log(f.Value))
			}
		}
	}
	if len(all) < 3 {
		return delayed{}
	}
	x := delayed{low: slices.Min(all), high: slices.Max(all)}
	x.mean, x.spread = spreadOf(all)
	return x
}

// correlation is that of two figures that were had together, drawn towards none where they are few; of fewer than five there is none.
func correlation(xs, ys []float64) float64 {
	if len(xs) < 5 {
		return 0
	}
	mx, sx := spreadOf(xs)
	my, sy := spreadOf(ys)
	if sx == 0 || sy == 0 {
		return 0
	}
	sum := 0.0
	for i := range xs {
		sum += (xs[i] - mx) * (ys[i] - my)
	}
	return sum / (sx * sy * float64(len(xs)))
}

// move is how far a pair's ln speed was, the next time that it was tried, from what it had been.
type move struct {
	from, to int // pieces
	far      float64
}

// alone is for how many pairs that were tried before and after it the whole recording counts where it is asked how much moved from
// one piece to the next.
const alone = 2

// moves is by how much the variance of a figure that is not looked at has grown until each of n pieces. Links often change together, so that
// the pairs that were tried before and after a time say how much the others have moved then. Most of the time nothing moves: what the median
// differs by is noise, or what leases differ by.
func moves(moved []move, n int, noise float64) []float64 {
	out := make([]float64, n)
	if len(moved) == 0 {
		return out
	}
	far := make([]float64, len(moved))
	for i, m := range moved {
		far[i] = m.far
	}
	slices.Sort(far)
	noise = min(math.Sqrt2*noise, normally*far[len(far)/2])
	grown, pairs, all, apart := make([]float64, n), make([]float64, n), 0.0, 1.0
	for _, m := range moved {
		x := max(0, m.far*m.far-noise*noise)
		all, apart = all+x, apart+float64(m.to-m.from)
		for k := m.from + 1; k <= m.to; k++ {
			grown[k] += x / float64(m.to-m.from)
			pairs[k]++
		}
	}
	for k := 1; k < n; k++ {
		out[k] = out[k-1] + (grown[k]+alone*all/apart)/(pairs[k]+alone)
	}
	return out
}

// normally is how many standard deviations the median absolute deviation of a normal distribution is.
const normally = 1.4826

// spreadOf is the mean and the standard deviation of some figures.
func spreadOf(xs []float64) (mean, spread float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	for _, x := range xs {
		spread += (x - mean) * (x - mean) / float64(len(xs)-1)
	}
	return mean, math.Sqrt(spread)
}

// draw draws a speed. Where the pair's delay was drawn, too, so many standard deviations off, the speed goes with it as those of the
// recording do.
func (d *drawing) draw(mean, spread, off float64) float64 {
	z := d.rng.NormFloat64()
	if off != 0 {
		z = d.delays.tells*off + math.Sqrt(1-d.delays.tells*d.delays.tells)*z
	}
	y := mean + spread*z
	if d.low <= d.high {
		y = min(max(y, d.low), d.high)
	}
	return math.Exp(y)
}

// delay is a pair's delay, ms, and by how many standard deviations it was drawn off what is predicted; 0 where it was measured.
func (d *drawing) delay(node, site int) (ms, off float64) {
	f := d.book.Latency(node, site)
	off = d.rng.NormFloat64()
	if f.Source == predict.Measured {
		return f.Value, 0
	}
	mean, spread, x := math.Log(f.Value), f.Sigma, &d.delays
	if x.spread > 0 {
		if f.Source == predict.Default {
			mean = x.mean
		}
		spread = min(spread, x.spread)
	}
	y := mean + spread*off
	if x.spread > 0 {
		y = min(max(y, x.low), x.high)
	}
	return math.Exp(y), off
}

// ages is after how many ms nothing is left of what was measured: the predictor then answers from other pairs alone.
const ages = 1e12

// speeds are what a pair is worth in each piece: what it had where it was tried. While it was not, it may have moved from
// what it had last, or has next, by as much as pairs have been seen to move, towards what is predicted without it: one
// draw for each such time. A pair that was never tried has one draw of what is predicted for it, which goes with the delay that was drawn for it (off).
func (d *drawing) speeds(node, site int, x *piecePair, off float64) []float64 {
	d.book.Rates(site, d.p.last+ages, []int32{int32(node)}, d.out)
	prior, spread := math.Log(d.out[0].Value)+d.shift, d.out[0].Sigma
	if d.sure {
		spread = d.spread
	} else if d.spread > 0 {
		spread = min(spread, d.spread)
	}
	if x == nil || !x.tried() {
		return []float64{d.draw(prior, spread, off)}
	}
	out := make([]float64, d.p.n)
	for k := 0; k < d.p.n; {
		if out[k] = x.had(k); out[k] > 0 {
			k++
			continue
		}
		end := k
		for end < d.p.n && x.had(end) == 0 {
			end++
		}
		own, at := x.nearest((k + end - 1) / 2)
		sure := 1 / max(math.Abs(d.drift[at]-d.drift[(k+end-1)/2]), 1e-9)
		mean := (math.Log(own)*sure + prior/(spread*spread)) / (sure + 1/(spread*spread))
		v := d.draw(mean, 1/math.Sqrt(sure+1/(spread*spread)), 0)
		for ; k < end; k++ {
			out[k] = v
		}
	}
	return out
}
