package predict

import "math"

// observed are the pairs that the factors are fitted to.
type observed struct {
	node, site []int32
	left       []float64 // what the picture leaves over of ln rate
	late       []float64 // how far ln delay is below the typical one; 0 where no delay is known
	weight     []float64
	noise      []float64 // variance of a pair's ln rate around the pair's own
	y, d       []float64 // ln rate, ln delay (NaN: not known), until there is a picture to look from
}

// A picture is fitted from the plainest one on, so that it follows from the record alone: whoever reads that has the same one, live, after a
// restart and in a replay. How far pairs are off the picture says how much each counts beside the noise of its own measurements, so it is
// fitted again with what it has left over. Each time factors are refitted until none moves by more than settled, in so many rounds at most.
const (
	weighings = 2
	rounds    = 60
	settled   = 5e-4
)

// fitFactors fits the log-linear picture by alternating ridge regressions.
func (b *Book) fitFactors() {
	m := &b.model
	obs := b.gather()
	if len(obs.y) < 3 {
		return
	}
	obs.weigh(firstSpread * firstSpread)
	b.begin(obs)
	m.spread = firstSpread
	for range weighings {
		m.refit(obs, m.spread*m.spread)
	}
	m.fitted = true
}

// refit moves the picture to where it fits best, where pairs have such a variance around it, and says how far they are off it then.
func (m *model) refit(obs *observed, pairs float64) {
	obs.weigh(pairs)
	nodes, sites := newFactors(m.node, obs.node, obs.weight, m.ridges[0]), newFactors(m.site, obs.site, obs.weight, m.ridges[1])
	for range rounds {
		moved := nodes.refit(obs, pairs)
		moved = max(moved, sites.refit(obs, pairs))
		if max(moved, m.refitSlope(obs)) < settled {
			break
		}
	}
	m.ridges = [2]float64{nodes.ridge, sites.ridge}
	sq, all := 4*firstSpread*firstSpread, 4.0
	for k, e := range obs.left {
		w := obs.weight[k] * obs.weight[k]
		sq += w * (e*e - obs.noise[k])
		all += w
	}
	m.spread = min(1.5, max(0.2, 1.2*math.Sqrt(max(0, sq/all)))) // fitted pairs leave less over than others will
}

// gather collects what is known of speeds.
func (b *Book) gather() *observed {
	n := b.model.pairs + b.model.pairs/8
	floats := func() []float64 { return make([]float64, 0, n) }
	obs := &observed{node: make([]int32, 0, n), site: make([]int32, 0, n), noise: floats(), y: floats(), d: floats()}
	noise, _ := b.aging.fit()
	for s := range b.site {
		for i := range b.site[s].pairs {
			p := &b.site[s].pairs[i]
			if p.rate.weight == 0 {
				continue
			}
			d, known := b.lnDelay(int(p.node), s, p)
			if !known {
				d = math.NaN()
			}
			obs.node, obs.site = append(obs.node, p.node), append(obs.site, int32(s))
			obs.y, obs.d = append(obs.y, b.lnRate(p)), append(obs.d, d)
			obs.noise = append(obs.noise, noise/p.rate.weight)
		}
	}
	obs.weight = make([]float64, len(obs.y))
	b.model.pairs = len(obs.y)
	return obs
}

// weigh says how much each pair counts where they have such a variance around the picture.
func (obs *observed) weigh(pairs float64) {
	for k, own := range obs.noise {
		obs.weight[k] = pairs / (pairs + own)
	}
}

// begin makes the plainest picture, and finds what it leaves over.
func (b *Book) begin(obs *observed) {
	m := &b.model
	m.node, m.site = make([]float64, len(b.node)), make([]float64, len(b.site))
	sumD, nD, sumY, sumW := 0.0, 0.0, 0.0, 0.0
	for k, y := range obs.y {
		if d := obs.d[k]; d == d {
			sumD, nD = sumD+d, nD+1
		}
		sumY, sumW = sumY+obs.weight[k]*y, sumW+obs.weight[k]
	}
	m.mean, m.slope, m.ridges, m.typical = sumY/sumW, firstSlope, [2]float64{ridge, ridge}, sumD/max(1, nD)
	obs.left, obs.late = obs.y, obs.d
	for k := range obs.left {
		late := 0.0
		if d := obs.d[k]; d == d {
			late = m.typical - d
		}
		obs.late[k] = late
		obs.left[k] -= m.mean + m.slope*late
	}
}

// refitSlope gives the mean and the slope what is left over without them. It returns by how much a typical pair is moved.
func (m *model) refitSlope(obs *observed) float64 {
	num, den := 4*firstSlope, 4.0 // a few observations' worth of the first value
	sum, all := 0.0, 0.0
	for k, e := range obs.left {
		w, x := obs.weight[k], obs.late[k]
		sum += w * e
		all += w
		num += w * x * (e + m.slope*x)
		den += w * x * x
	}
	shift, slope := sum/all, min(2, max(0, num/den))
	turn := slope - m.slope
	for k := range obs.left {
		obs.left[k] -= shift + turn*obs.late[k]
	}
	m.mean, m.slope = m.mean+shift, slope
	return max(math.Abs(shift), math.Abs(turn))
}

// factors are those of all nodes, or of all sites.
type factors struct {
	value  []float64
	of     []int32 // whose an observation is
	weight []float64
	sum    []float64
	ridge  float64
}

func newFactors(value []float64, of []int32, weight []float64, ridge float64) *factors {
	f := &factors{value: value, of: of, weight: make([]float64, len(value)), sum: make([]float64, len(value)), ridge: ridge}
	for k, i := range of {
		f.weight[i] += weight[k]
	}
	return f
}

// refit gives each factor the mean of what is left over without it, shrunk towards 0 as if it were 0 in so many more
// observations as its ridge says: that goes by how much the factors differ from each other, against pairs' variance. It returns how far
// the factors have moved at most.
func (f *factors) refit(obs *observed, pairs float64) (moved float64) {
	clear(f.sum)
	for k, i := range f.of {
		f.sum[i] += obs.weight[k] * obs.left[k]
	}
	sq, n := pairs, 1.0 // as if one were as far off as pairs are
	for i, old := range f.value {
		value := (f.sum[i] + f.weight[i]*old) / (f.weight[i] + f.ridge)
		f.value[i], f.sum[i] = value, value-old
		moved = max(moved, math.Abs(value-old))
		if f.weight[i] > 0 {
			sq += value*value + pairs/(f.weight[i]+f.ridge)
			n++
		}
	}
	for k, i := range f.of {
		obs.left[k] -= f.sum[i]
	}
	f.ridge = min(10, max(0.02, pairs*n/sq))
	return moved
}
