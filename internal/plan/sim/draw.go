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

	spread    float64   // of pairs' ln speeds around what is expected of them, as this recording has it; 0 is not known
	shift     []float64 // by which each site's ln speeds are above what is predicted of them: how fast its own server is, a pair that was tried tells of all
	low, high float64   // ln speeds between which all that was tried lies

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
	off := make([][]float64, len(w.Sites))
	var means, slow, fast []float64
	var moved []move
	for i := range w.Nodes {
		for j := range w.Sites {
			x := d.p.pairs[[2]int{i, j}]
			if x == nil {
				continue
			}
			d.book.Rates(d.book.Site(w.Sites[j].Name), d.p.last+ages, []int32{int32(numbers[i])}, d.out)
			of, pieces := 0.0, 0.0
			for k := range d.p.n {
				if s := x.had(k); s > 0 {
					of, pieces = of+math.Log(s), pieces+1
				}
			}
			for k := 1; k < len(x.told); k++ {
				moved = append(moved, move{x.told[k-1].piece, x.told[k].piece, math.Abs(x.told[k].ln - x.told[k-1].ln)})
			}
			if pieces > 0 {
				means = append(means, of/pieces)
				if f := d.book.Latency(numbers[i], d.book.Site(w.Sites[j].Name)); f.Source == predict.Measured {
					slow, fast = append(slow, math.Log(f.Value)), append(fast, of/pieces)
				}
				off[j] = append(off[j], of/pieces-math.Log(d.out[0].Value))
				d.low, d.high = min(d.low, of/pieces), max(d.high, of/pieces)
			}
		}
	}
	d.drift = moves(moved, d.p.n)
	d.delays = d.measured(w, numbers)
	d.delays.tells = correlation(slow, fast)
	d.sites(off, means)
}

// believes is for how many pairs it counts that those of a site are as far apart as those of all sites.
const believes = 1

// sites finds by how much each site's pairs are off what is predicted of them, and how far its pairs lie apart: sites may be far more unequal
// than the links to one of them are. off are, of each site, the pairs' that were tried; means are the ln speeds of all.
func (d *drawing) sites(off [][]float64, means []float64) {
	d.shift = make([]float64, len(off))
	if len(means) == 0 {
		return
	}
	var all []float64
	for _, of := range off {
		all = append(all, of...)
	}
	mean, far := spreadOf(all)
	if len(all) < 3 {
		far = 0
	} else if _, apart := spreadOf(means); apart < far { // at most as far from each other as any two pairs
		far = apart
	}
	square, free := believes*far*far, 0.0
	for _, of := range off {
		for _, x := range of {
			x -= meanOf(of)
			square += x * x
		}
		free += float64(max(0, len(of)-1))
	}
	if far > 0 {
		d.spread = math.Sqrt(square / (free + believes))
	}
	for j, of := range off {
		own := 0.0 // what a site's pairs say weighs against what all say by how far each is off
		if far > 0 {
			own = float64(len(of)) / (float64(len(of)) + d.spread*d.spread/(far*far))
		}
		d.shift[j] = own*meanOf(of) + (1-own)*mean
	}
}

// meanOf is the mean of some figures, 0 of none.
func meanOf(xs []float64) (mean float64) {
	for _, x := range xs {
		mean += x / float64(len(xs))
	}
	return mean
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

// alone is for how many pairs that have not moved it counts where it is asked how much moved from one piece to the next that most of the
// time nothing does.
const alone = 2

// moves is by how much the variance of a figure that is not looked at has grown until each of n pieces. Links often change together, so that
// the pairs that were tried before and after a time say how much the others have moved then. Most of the time nothing moves: what the median
// differs by is noise, or what leases differ by, and so is what one pair alone has moved by: its pages then were larger or smaller ones.
func moves(moved []move, n int) []float64 {
	out := make([]float64, n)
	if len(moved) == 0 {
		return out
	}
	far := make([]float64, len(moved))
	for i, m := range moved {
		far[i] = m.far
	}
	slices.Sort(far)
	noise := normally * far[len(far)/2]
	grown := make([][]float64, n)
	for _, m := range moved {
		x := max(0, m.far*m.far-noise*noise)
		for k := m.from + 1; k <= m.to; k++ {
			grown[k] = append(grown[k], x/float64(m.to-m.from))
		}
	}
	for k := 1; k < n; k++ {
		all := append(grown[k], make([]float64, alone)...)
		slices.Sort(all)
		out[k] = out[k-1] + normally*normally*all[len(all)/2]
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
// at is the site's place in the recording.
func (d *drawing) speeds(node, site, at int, x *piecePair, off float64) []float64 {
	d.book.Rates(site, d.p.last+ages, []int32{int32(node)}, d.out)
	prior, spread := math.Log(d.out[0].Value)+d.shift[at], d.out[0].Sigma
	if d.spread > 0 {
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
		own, tried := x.nearest((k + end - 1) / 2)
		sure := 1 / max(math.Abs(d.drift[tried]-d.drift[(k+end-1)/2]), 1e-9)
		mean := (math.Log(own)*sure + prior/(spread*spread)) / (sure + 1/(spread*spread))
		v := d.draw(mean, 1/math.Sqrt(sure+1/(spread*spread)), 0)
		for ; k < end; k++ {
			out[k] = v
		}
	}
	return out
}
