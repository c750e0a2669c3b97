package predict

import (
	"math"
	"slices"
)

// A bandwidth probe fetches few pages, one after the other, and waits for each: for the way there and back, and for the site to begin its
// answer. A lease has several requests under way, or larger pages, so that its speed holds less of that. What probes wait is learned from
// the pairs of which first a probe and then a lease has told, and taken off what probes say when it is read: a probe that was
// taken in before is corrected by what was learned after it. BC itself stays what was measured (Book.Crawl).

// waits are by how many seconds probes took longer than leases that followed them would have for the same bits.
type waits struct {
	last []float64 // the last ones
	next int       // place of the oldest, once there are keepWaits
	each float64   // what is taken off a probe; 0: nothing is certain
}

const (
	keepWaits = 64
	// mostWaited is which share of a probe's time is taken for waiting at most, so that some speed is left.
	mostWaited = 0.75
	// waitsMove is by which share of it what is taken off moves at least: whatever was concluded from probes is concluded anew then.
	waitsMove = 0.1
)

// add takes in one, and reports whether another time is to be taken off from now on.
func (w *waits) add(seconds float64) bool {
	if len(w.last) < keepWaits {
		w.last = append(w.last, seconds)
	} else {
		w.last[w.next] = seconds
		w.next = (w.next + 1) % keepWaits
	}
	each := Waits(w.last)
	if math.Abs(each-w.each) <= waitsMove*w.each {
		return false
	}
	w.each = each
	return true
}

// Waits is what probes wait, s, where some have taken so many seconds longer than leases take for as many bits: the median,
// where more of them are above 0 than chance explains (a sign test, two standard deviations); else 0.
func Waits(longer []float64) float64 {
	above, n := 0.0, float64(len(longer))
	for _, x := range longer {
		if x > 0 {
			above++
		}
	}
	if n == 0 || above < n/2+math.Sqrt(n) {
		return 0
	}
	sorted := slices.Sorted(slices.Values(longer))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// Worked is for how long a bandwidth probe of so many seconds worked, s, where probes wait so long.
func Worked(seconds, waits float64) float64 {
	return max(seconds-waits, seconds*(1-mostWaited))
}

// ProbeWaits is how long a bandwidth probe waits, s, beyond what a lease takes for as many bits.
func (rec *Record) ProbeWaits() float64 { return rec.waits.each }

// Crawled records one try of a crawl bandwidth probe (BC); limited says that the node was at its own limit meanwhile,
// so that the pair might have been faster.
func (rec *Record) Crawled(node, site int, bits, seconds float64, limited bool, at int64) {
	if bits <= 0 || seconds <= 0 {
		return
	}
	rec.probe.add(bits, 1)
	p := rec.pair(node, site)
	p.crawl.bits += bits
	p.crawl.seconds += seconds
	if !limited { // what a busy node's probe waits is for the node
		p.free.bits += bits
		p.free.seconds += seconds
		p.free.tries++
	}
	p.heard = max(p.heard, at)
	rec.learn(p, speed{ln: math.Log(bits / seconds), probe: true, limited: limited}, at)
}

// speed is what was measured of a pair's.
type speed struct {
	ln             float64 // of bits/s
	probe, limited bool
}

// learn takes in a speed. One that only says that the node was busy is what the pair has at least.
func (rec *Record) learn(p *pair, x speed, at int64) {
	switch {
	case !x.limited || rec.lnOf(p, x) > rec.lnRate(p) && p.rate.weight > 0:
		rec.observe(p, x, at)
		p.least = least{}
	case p.rate.weight == 0:
		_, drift := rec.aging.fit()
		p.least.raise(rec.lnOf(p, x), drift, at)
	}
}

// waited learns from a lease's speed how long the probes of its pair have waited, if nothing but probes has told of the pair before, and not
// too long ago.
func (rec *Record) waited(p *pair, x speed, at int64) {
	if x.limited || p.rate.weight == 0 || p.rate.leases > 0 || p.free.tries == 0 || float64(at-p.rate.at) > 1000*rec.Holds() {
		return
	}
	if rec.waits.add((p.free.seconds - p.free.bits/math.Exp(x.ln)) / p.free.tries) {
		for i := range rec.site {
			rec.site[i].version++
		}
	}
}

// unwaited is by how much the logarithm of a pair's speed is above what its probes have measured.
func (rec *Record) unwaited(p *pair) float64 {
	if rec.waits.each == 0 || p.free.tries == 0 {
		return 0
	}
	each := p.free.seconds / p.free.tries
	return math.Log(each / Worked(each, rec.waits.each))
}

// lnOf is the logarithm of a speed, bits/s, of a probe without what its pair's wait.
func (rec *Record) lnOf(p *pair, x speed) float64 {
	if x.probe {
		return x.ln + rec.unwaited(p)
	}
	return x.ln
}

// lnRate is the logarithm of a pair's speed, bits/s, by what was measured of it.
func (rec *Record) lnRate(p *pair) float64 {
	return p.rate.mean + (1-p.rate.leases)*rec.unwaited(p)
}
