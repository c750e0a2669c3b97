package sim

import (
	"math"
	"math/rand/v2"
	"slices"

	"argosy/internal/plan/predict"
)

// drawing draws what was not recorded from the predictor's uncertainty.
type drawing struct {
	p    *pieces
	rng  *rand.Rand
	book *predict.Book

	forgets []float64 // how much of what a pair was is forgotten until each piece: what is kept from one to another is e to less the difference
	level   []float64 // by how much all links are faster in each piece than at first, as a logarithm

	spread float64   // of pairs' ln speeds around what is expected of them, as this recording has it; 0 is not known
	shift  []float64 // by which each site's ln speeds are above what is predicted of them: how fast its own server is, a pair that was tried tells of all
	low    float64   // ln speed of the slowest that was tried
	high   float64   // ln speed of the fastest that was tried

	delays delayed
}

// delayed is what a recording tells of the delays of its pairs.
type delayed struct {
	mean, spread float64 // of ln ms; no spread where fewer than three were measured
	low, high    float64 // between which they lie
	tells        float64 // correlation of pairs' ln delays and ln speeds, 0 where too few were tried
}

// calibrate finds how far pairs that were tried are from what is predicted of them, how they move from one time that they were
// tried to the next, and within which bounds they lie: what is drawn is as far off, and neither faster nor slower than anything that was seen.
func (d *drawing) calibrate(w *World, numbers []int) {
	d.delays = d.measured(w, numbers)
	d.look(w, numbers, make([]int, d.p.n))
	if of := eras(d.forgets); of[len(of)-1] > 0 {
		d.look(w, numbers, of)
	}
}

// eras numbers the times between changes of links in which pairs have forgotten most of what they were: how they are in one says nothing of how
// they are in another.
func eras(forgets []float64) []int {
	of := make([]int, len(forgets))
	for k := 1; k < len(of); k++ {
		if of[k] = of[k-1]; forgets[k]-forgets[k-1] > anew {
			of[k]++
		}
	}
	return of
}

// anew is how much must be forgotten at once for a pair to be another one: half.
const anew = math.Ln2

// look does so, where pieces are of these eras: what was tried in one for being fast, or left for being slow, is in the next as any other is, so that what
// pairs were in each counts for itself.
func (d *drawing) look(w *World, numbers []int, eras []int) {
	d.high, d.low = math.Inf(-1), math.Inf(1)
	off := make([][]apart, len(w.Sites))
	var means, slow, fast []float64
	var told []expected
	for i := range w.Nodes {
		for j := range w.Sites {
			x := d.p.pairs[[2]int{i, j}]
			if x == nil {
				continue
			}
			others := d.book.Others(numbers[i], d.book.Site(w.Sites[j].Name))
			prior, ms := math.Log(others.Value), d.book.Latency(numbers[i], d.book.Site(w.Sites[j].Name))
			told = append(told, expected{x.told, j, prior})
			for _, a := range x.means(eras, prior) {
				mean := a.mean + prior
				means = append(means, mean)
				if ms.Source == predict.Measured {
					slow, fast = append(slow, math.Log(ms.Value)), append(fast, mean)
				}
				off[j] = append(off[j], a)
				d.high, d.low = max(d.high, mean), min(d.low, mean)
			}
		}
	}
	d.delays.tells = correlation(slow, fast)
	all := make([][]figure, len(told))
	for i := range told {
		all[i] = told[i].told
	}
	d.sites(off, means, noiseOf(all)/2) // two figures differ by the noise of both
	if math.IsInf(d.high, -1) {
		d.high = math.Inf(1)
	}
	if len(means) < fewTried {
		d.low = math.Inf(-1)
	}
	d.changes(told, len(w.Nodes)*len(w.Sites))
}

// fewTried is how many must have been tried for the slowest of them to be as slow as any is.
const fewTried = 5

// means is how far a pair was from what others say of it in each era in which it was tried.
func (x *piecePair) means(eras []int, prior float64) (out []apart) {
	sum, square, pieces := 0.0, 0.0, 0.0
	for k, era := range eras {
		if s := x.had(k); s > 0 {
			far := math.Log(s) - prior
			sum, square, pieces = sum+far, square+far*far, pieces+1
		}
		if pieces > 0 && (k+1 == len(eras) || eras[k+1] != era) {
			out = append(out, apart{sum / pieces, square / pieces})
			sum, square, pieces = 0, 0, 0
		}
	}
	return out
}

// expected is what a pair was told to be, and what others say of it.
type expected struct {
	told  []figure
	site  int
	prior float64
}

// changes finds when links have changed, of so many pairs.
func (d *drawing) changes(of []expected, pairs int) {
	told := make([][]figure, len(of))
	for i, x := range of {
		for _, f := range x.told {
			told[i] = append(told[i], figure{f.piece, f.ln - x.prior - d.shift[x.site]})
		}
	}
	spread := d.spread
	if spread == 0 {
		spread = anySpread
	}
	d.forgets, d.level = moves(told, d.p.n, max(2, int(beside/d.p.length)), spread*spread)
	d.forgets = steps(d.forgets, max(shortest, d.forgets[d.p.n-1]*float64(pairs)/maxPieces))
}

// anySpread is how far pairs' ln speeds lie apart where a recording does not tell.
const anySpread = 0.8

// apart is how far a pair's ln speed was from what others say of it, on average over the time in which it was tried, and the mean of its squares.
type apart struct{ mean, square float64 }

// sites finds by how much each site's pairs are off what is predicted of them, and how far its pairs lie apart at any time: sites may be far more
// unequal than the links to one of them are. off are, of each site, the pairs' that were tried; means are the ln speeds of all; noise is the variance of
// a figure that is no pair's own.
func (d *drawing) sites(off [][]apart, means []float64, noise float64) {
	d.shift = make([]float64, len(off))
	if len(means) == 0 {
		return
	}
	var all []float64
	for _, of := range off {
		for _, x := range of {
			all = append(all, x.mean)
		}
	}
	mean, far := spreadOf(all)
	if len(all) < 3 {
		far = 0
	} else if _, apart := spreadOf(means); apart < far { // at most as far from each other as any two pairs
		far = apart
	}
	square, free := believes*far*far, 0.0
	for _, of := range off {
		mean := meanOf(of)
		for _, x := range of {
			square += max(0, x.square-2*x.mean*mean+mean*mean-noise)
		}
		free += float64(max(0, len(of)-1))
	}
	if far > 0 {
		d.spread = math.Sqrt(square / (free + believes))
	}
	for j, of := range off {
		own := 0.0 // what a site's pairs say weighs against what all say by how far sites are apart, not by how far pairs are
		if between := far*far - d.spread*d.spread; between > 0 {
			own = float64(len(of)) / (float64(len(of)) + d.spread*d.spread/between)
		}
		d.shift[j] = own*meanOf(of) + (1-own)*mean
	}
}

// meanOf is the mean of how far some pairs are, 0 of none.
func meanOf(xs []apart) (mean float64) {
	for _, x := range xs {
		mean += x.mean / float64(len(xs))
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

// draw draws a ln speed. Where the pair's delay was drawn, too, so many standard deviations off, the speed goes with it as those of the
// recording do.
func (l *line) draw(mean, spread, off float64) float64 {
	d := l.d
	z := d.rng.NormFloat64()
	if off != 0 {
		z = d.delays.tells*off + math.Sqrt(1-d.delays.tells*d.delays.tells)*z
	}
	y := mean + spread*z
	return min(max(y, l.d.low), l.most)
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

// speeds are what a pair is worth in each piece: what it had where it was tried. While it was not it moves when, and as far as, pairs have been
// seen to move, from what it had last and to what it has next, and the further it has moved the more it is as likely as any other pair is
// predicted to be. A pair that was never tried begins with a draw of that, which goes with the delay that was drawn for it (off). at is the
// site's place in the recording.
func (d *drawing) speeds(node, site, at int, x *piecePair, ms, off float64) []float64 {
	others := d.book.Others(node, site)
	l := line{d: d, mean: math.Log(others.Value) + d.shift[at], spread: others.Sigma, ln: make([]float64, d.p.n), most: d.high}
	if f := d.book.Latency(node, site); f.Source != predict.Default {
		l.most = min(l.most, d.p.most(at, ms/1000))
	}
	if d.spread > 0 {
		l.spread = min(l.spread, d.spread)
	}
	l.fill(x, off)
	for k := range l.ln {
		l.ln[k] = math.Exp(l.ln[k] + d.level[k])
	}
	return l.ln
}

// most is the ln speed that a pair of a delay (s) has at most of a site: a page takes no less than an answer does, and only so many are asked for at once.
func (p *pieces) most(site int, delay float64) float64 {
	s := &p.sites[site]
	if s.good == 0 {
		return math.Inf(1)
	}
	return math.Log(float64(s.width) * s.bits / s.good / (delay * s.answers))
}

// line is a pair's ln speed over time, but for what all have in common (drawing.level): a stationary process that is known where the pair was tried,
// and forgets what it was when links change (drawing.forgets).
type line struct {
	d            *drawing
	mean, spread float64
	most         float64   // that it is at any time
	ln           []float64 // of each piece
}

// fill draws all pieces in which the pair was not tried; x is nil of one that never was.
func (l *line) fill(x *piecePair, off float64) {
	last := -1
	for k := range l.ln {
		if x == nil {
			break
		}
		if v := x.had(k); v > 0 {
			l.ln[k] = math.Log(v) - l.d.level[k]
			l.between(last, k)
			last = k
		}
	}
	if last < 0 {
		l.ln[0] = l.draw(l.mean, l.spread, off)
		last = 0
	}
	l.between(last, len(l.ln))
}

// between draws the pieces between two at which it is known; before the first one from is -1, after the last one to is their number.
func (l *line) between(from, to int) {
	if from < 0 { // time has no direction
		for k := to - 1; k >= 0; k-- {
			l.move(k, k+1, -1)
		}
		return
	}
	for k := from + 1; k < to; k++ {
		l.move(k, k-1, to)
	}
}

// move draws a piece from the one beside it and the next one that is known; -1 or their number: there is none.
func (l *line) move(k, beside, next int) {
	a := l.keeps(k, beside)
	if l.ln[k] = l.ln[beside]; a == 1 {
		return
	}
	x, b, y := l.ln[beside]-l.mean, 0.0, 0.0
	if next >= 0 && next < len(l.ln) {
		b, y = l.keeps(k, next), l.ln[next]-l.mean
	}
	rest := 1 - a*a*b*b
	mean := l.mean + (a*(1-b*b)*x+b*(1-a*a)*y)/rest
	l.ln[k] = l.draw(mean, l.spread*math.Sqrt((1-a*a)*(1-b*b)/rest), 0)
}

// keeps is the correlation of what a pair is in two pieces.
func (l *line) keeps(a, b int) float64 { return math.Exp(-math.Abs(l.d.forgets[a] - l.d.forgets[b])) }
