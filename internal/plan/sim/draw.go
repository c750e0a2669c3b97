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
	drift float64 // by which the variance of a ln speed that is not looked at grows in a piece
	out   []predict.Figure

	spread    float64 // of pairs' ln speeds around what is predicted of them, as this recording has it; 0 is not known
	shift     float64 // by which ln speeds are above what is predicted: it goes by the parts of reports, of which small ones say less
	low, high float64 // ln speeds between which all that was tried lies
}

// calibrate finds how far pairs that were tried are from what is predicted of them, how they move from one time that they were
// tried to the next, and within which bounds they lie: what is drawn is as far off, and not faster than anything that was seen.
func (d *drawing) calibrate(w *World, numbers []int) {
	d.low, d.high = math.Inf(1), math.Inf(-1)
	sum, shift, n, apart := 0.0, 0.0, 0, 1.0
	var means, moved []float64
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
						moved, apart = append(moved, math.Abs(y-last)), apart+float64(k-was)
					}
					was, last = k, y
				}
			}
			if pieces > 0 {
				sum, n = sum+square/pieces, n+1
				means = append(means, of/pieces)
				shift += of/pieces - math.Log(d.out[0].Value)
				d.low, d.high = min(d.low, of/pieces), max(d.high, of/pieces)
			}
		}
	}
	d.drift = moves(moved, apart)
	if len(means) >= 3 { // at most as far from each other as any two pairs
		_, d.spread = spreadOf(means)
	}
	if free := n - len(w.Nodes) - len(w.Sites); free >= 5 { // each node and site has a figure of its own in what is predicted
		d.spread = min(d.spread, math.Sqrt(sum/float64(free)))
	}
	if n > 0 {
		d.shift = shift / float64(n)
	}
}

// moves is by how much the variance of a figure grows in a piece, by how far it had moved (absolute differences of its
// logarithm) from one time that it was measured to the next, over so many pieces in all. Most of the time nothing moves: what
// the median differs by is noise.
func moves(moved []float64, pieces float64) float64 {
	if len(moved) == 0 {
		return 0
	}
	slices.Sort(moved)
	noise, sum := normally*moved[len(moved)/2], 0.0
	for _, x := range moved {
		sum += x*x - noise*noise
	}
	return max(0, sum) / pieces
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

// draw draws a speed.
func (d *drawing) draw(mean, spread float64) float64 {
	y := mean + spread*d.rng.NormFloat64()
	if d.low <= d.high {
		y = min(max(y, d.low), d.high)
	}
	return math.Exp(y)
}

// delay is a pair's delay, ms.
func (d *drawing) delay(node, site int) float64 {
	f, z := d.book.Latency(node, site), d.rng.NormFloat64()
	if f.Source == predict.Measured {
		return f.Value
	}
	return f.Value * math.Exp(f.Sigma*z)
}

// ages is after how many ms nothing is left of what was measured: the predictor then answers from other pairs alone.
const ages = 1e12

// speeds are what a pair is worth in each piece: what it had where it was tried. While it was not, it may have moved from
// what it had last, or has next, by as much as pairs have been seen to move, towards what is predicted without it: one
// draw for each such time. A pair that was never tried has one draw of what is predicted for it.
func (d *drawing) speeds(node, site int, x *piecePair) []float64 {
	d.book.Rates(site, d.p.last+ages, []int32{int32(node)}, d.out)
	prior, spread := math.Log(d.out[0].Value)+d.shift, d.out[0].Sigma
	if d.spread > 0 {
		spread = min(spread, d.spread)
	}
	if x == nil || !x.tried() {
		return []float64{d.draw(prior, spread)}
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
		own, apart := x.nearest((k + end - 1) / 2)
		sure := 1 / max(d.drift*float64(apart), 1e-9)
		mean := (math.Log(own)*sure + prior/(spread*spread)) / (sure + 1/(spread*spread))
		v := d.draw(mean, 1/math.Sqrt(sure+1/(spread*spread)))
		for ; k < end; k++ {
			out[k] = v
		}
	}
	return out
}
