package schedule

import (
	"math"

	"argosy/internal/crawl"
	"argosy/internal/plan/predict"
)

// atFirst is for how long a crawl that begins is thought to go on, s. Of 60 and 120, and of all the time that a measurement holds, it does better in
// most kinds of worlds (those that constants are chosen on).
const atFirst = 120

// worth weighs what it brings to know a pair against what it costs to measure it.
type worth struct {
	mean  []float64
	used  []float64 // of each node's bandwidth by its leases, bits/s, without those of begun
	begun [][]int32 // of each node the leases among Running that the last cycle did not see
}

// fair reports whether a node has so much bandwidth for a probe as its share of it, and whether it may have it left over, which fits tells.
func (w *worth) fair(c *Context, node int, f predict.Figure) (has, may bool) {
	b, speed := c.carries(node), f.Value
	switch {
	case b <= 0 || b >= speed*float64(c.Load[node]+1):
		return true, true
	case f.Source == predict.Default: // its first lease tells how fast paths are
		alone := c.Load[node] == 0
		return alone, alone
	}
	if w.used == nil {
		w.use(c)
	}
	return false, b-w.used[node] >= speed
}

// fits reports whether a node has so much bandwidth left over for a probe: else the probe would tell of the node, not of the pair. What
// leases take that have just begun is asked of the book, so it comes last.
func (w *worth) fits(c *Context, node int, f predict.Figure) bool {
	for _, i := range w.begun[node] {
		if g := c.book.Rate(c.S.Nodes[node].Book, c.S.Running[i].Book, c.S.Now); g.Source != predict.Default {
			w.used[node] += g.Value
		}
	}
	w.begun[node] = nil
	return c.carries(node)-w.used[node] >= f.Value
}

// use adds up what the leases that run take of their nodes, and notes those that have begun.
func (w *worth) use(c *Context) {
	w.used, w.begun = make([]float64, len(c.S.Nodes)), make([][]int32, len(c.S.Nodes))
	var at map[string]int
	for i := range c.S.Running {
		r := &c.S.Running[i]
		if c.past.runs != nil && c.past.runs[i].lease != 0 {
			if h := &c.past.runs[i]; h.node >= 0 {
				w.used[h.node] += h.use * mbit
			}
			continue
		}
		if at == nil {
			at = c.numbers()
		}
		if n, ok := at[r.Node]; ok && !r.Ping {
			w.begun[n] = append(w.begun[n], int32(i))
		}
	}
}

// most returns the node whose pair with a task's site is most worth a probe, -1 if none is worth it; of those that are alike the one that is
// before the others.
//
// Once a pair of mean speed m, whose logarithm is unsure by σ, is known, the site has the better of it and of the best of the
// others, a: on average the expected improvement E(m' − a)⁺ more than a, or, where it is itself thought to be the best,
// E(a − m')⁺ more than it. That holds for as long as what is learned does, or as the task lasts, and no longer than the crawl is thought to go
// on: nobody knows that, and as long again as it has gone on is as likely as not. No pair brings more than the pauses that the site asks for allow. The probe costs the site its time at
// the best rate: what is left of that after the price of bandwidth, or, where the task ends, all of it, for others that end free bandwidth;
// and the node what it fetches, at that price.
// And it must cost less than to learn the same by a lease on the node, which costs the difference of the means for
// the time of a lease, and what knowing would have brought meanwhile.
func (w *worth) most(c *Context, t int, before func(a, b int) bool) int {
	s := c.S
	if s.LeaseSeconds <= 0 {
		return -1
	}
	if w.mean == nil {
		w.mean = make([]float64, len(s.Nodes))
	}
	c.look(t)
	open, of := c.Candidates(t), c.row.seen
	first, second, most := 0.0, 0.0, 0.0
	for k, n := range open {
		speed := c.useful(t, of.rate[k]).Value * of.served[k].Value
		most = max(most, speed)
		w.mean[n] = speed*(1-c.priceOf(n)) - c.placeOf(n)*mbit
		if w.mean[n] > first {
			first, second = w.mean[n], first
		} else {
			second = max(second, w.mean[n])
		}
	}
	if most <= 0 {
		return -1
	}
	page, probe, gap := s.Book.PageBits(s.Tasks[t].Book), s.Book.ProbeBits(s.Tasks[t].Book, crawl.ProbeTries), s.Tasks[t].Gap
	best, gain := -1, 0.0
	noise, holds := s.Book.Noise(), min(c.usedFor(t, most), atFirst+s.Ran)
	lost := first
	if x := s.Tasks[t].Bits; x > 0 && !math.IsInf(x, 1) {
		lost, holds = most, min(holds, x/most/2) // half of what is left is had while it is measured, or where it is already known to be good
	}
	for k, n := range open {
		f, m := of.rate[k], w.mean[n]
		if f.Source == predict.Measured || !c.Room(n) {
			continue
		}
		has, may := w.fair(c, n, f)
		if !may {
			continue
		}
		place := c.placeOf(n) * mbit
		took := probe / f.Value * math.Exp((f.Sigma*f.Sigma+noise)/2) // on average: a slow pair costs more than a fast one saves
		cost := max(took+s.Book.ProbeWaits(), crawl.ProbeTries*gap)*(lost+place) + probe*c.priceOf(n)
		share := c.mean(f) * of.served[k].Value * (1 - c.priceOf(n))
		limit := math.Inf(1)
		if gap > 0 {
			limit = page / gap * share
		}
		learns := f.Sigma * f.Sigma / math.Sqrt(f.Sigma*f.Sigma+noise) // how far one measurement moves the figure
		better := 0.0
		if m < first {
			better = between(f.Value*share, learns, first+place, limit, (cost+gain*(1-even))/holds)
		} else {
			better = second + place - between(f.Value*share, learns, 0, limit, 0) + between(f.Value*share, learns, second+place, limit, 0)
		}
		if cost >= (first-m+better)*s.LeaseSeconds {
			continue
		}
		g := better*holds - cost
		if g > gain*(1+even) || best >= 0 && g > gain*(1-even) && before(n, best) {
			if !has && !w.fits(c, n, f) {
				continue
			}
			best, gain = n, g
		}
	}
	return best
}

// between is the mean of what a log-normal figure of median m and spread sigma is above a, where no more than most counts; it may
// be 0 where it is not above least.
func between(m, sigma, a, most, least float64) float64 {
	x := improvement(m, sigma, a, least)
	if x > 0 && !math.IsInf(most, 1) {
		x -= improvement(m, sigma, max(a, most), 0)
	}
	return x
}

// even is by which share of what they are worth probes may differ where one is as good as the other.
const even = 1e-6

// hopeless is how many standard deviations below what it is to exceed a figure counts nothing: one in thirty thousand does.
const hopeless = 4

// improvement is the mean of what a log-normal figure of median m and spread sigma is above a; it may be 0 where it is not above
// least.
func improvement(m, sigma, a, least float64) float64 {
	if m <= 0 || sigma <= 0 {
		return max(0, m-a)
	}
	if r := m / a; r < 1 && far(lnAtMost(r)/sigma, sigma, a, least) { // without a logarithm
		return 0
	}
	d := math.Log(m/a) / sigma
	if a > 0 && (far(d, sigma, a, least) || least > 0 && d+sigma < 0 && 0.5*a*math.Exp(-d*d/2) <= least) {
		return 0
	}
	return beyond(m*math.Exp(sigma*sigma/2), d, sigma, a)
}

// improvementOfMean is improvement of a figure whose mean is m.
func improvementOfMean(m, sigma, a float64) float64 {
	if r := m / a; r < 1 && far(lnAtMost(r)/sigma-sigma/2, sigma, a, 0) {
		return 0
	}
	return improvement(m*math.Exp(-sigma*sigma/2), sigma, a, 0)
}

// beyond is the mean of what a log-normal figure of such a mean and spread is above a, which is d spreads below its median.
func beyond(mean, d, sigma, a float64) float64 {
	cdf := func(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }
	return mean*cdf(d+sigma) - a*cdf(d)
}

// far reports whether a log-normal figure of such a spread is above a by next to nothing on average, or by no more than least; d is how many
// spreads its median is above a, or more.
func far(d, sigma, a, least float64) bool {
	switch {
	case d+sigma < -hopeless:
		return true
	case least <= 0 || d+sigma >= 0:
		return false
	}
	// Below the middle a normal distribution's tail is at most exp(-x²/2)/2, so that the mean is at most a times that; and an exponential is at
	// least the first terms of its series.
	x := d * d / 2
	return 0.5*a <= least*(1+x*(1+x*(1.0/2+x*(1.0/6+x*(1.0/24)))))
}

// lnAtMost is at least the logarithm of a number below 1, and near it: the first terms of a series of which all are negative.
func lnAtMost(r float64) float64 {
	z := (r - 1) / (r + 1)
	q := z * z
	return 2 * z * (1 + q*(1.0/3+q*(1.0/5+q*(1.0/7+q*(1.0/9)))))
}
