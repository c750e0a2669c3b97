package sim

import (
	"cmp"
	"math"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/predict"
)

// What probes wait beyond what leases take for as many bits: a probe opens a connection and waits for each of few pages, so that it waits so many times as
// long as an answer takes to begin, or, where what it waits for is the same for all pairs, so many seconds.

// soonAfter is for how long before or after a probe leases say what it would have taken without waiting, ms: links may have changed since.
// From fewWaits on what a site's probes have waited is that site's.
const (
	soonAfter = 5_000
	fewWaits  = 2
)

// waited is what probes wait.
type waited struct {
	each  float64 // s, or
	times bool    // of a pair's delay
}

// of is that of a pair of a delay, s.
func (w waited) of(delay float64) float64 {
	if w.times {
		return w.each * delay
	}
	return w.each
}

// late is by how much a probe took longer than a lease of its pair would have for as many bits, and the pair's delay, s.
type late struct{ by, delay float64 }

// waits finds what probes wait by all pairs that leases have told of as well at about the same time: all together, and at each site, whose
// answers may take most of the time, and its root page no longer than others. A fleet knows it from leases that
// followed a probe; a recording has those before it, too, and tells of those pairs that probes alone have told of. Where too few tell, a probe
// waits for what it must.
func (p *pieces) waits() {
	var all []late
	of := make([][]late, len(p.sites))
	for pair, x := range p.pairs {
		for i := range x.probes {
			f := &x.probes[i]
			k := p.piece(f.At)
			if speed, at := x.nearest(k); speed > 0 && max(at-k, k-at) <= max(1, int(soonAfter/p.length)) {
				of[pair[1]] = append(of[pair[1]], late{f.Seconds - f.Bits/speed, x.delay})
			}
		}
	}
	for _, xs := range of {
		all = append(all, xs...)
	}
	if len(all) < tellWaits {
		p.mustWait(all)
		return
	}
	p.waited = waitedBy(all)
	for j, xs := range of {
		if p.sites[j].wait = math.NaN(); len(xs) >= fewWaits {
			p.sites[j].wait = medianWait(xs, p.waited.times)
		}
	}
}

// tellWaits is how many must tell what probes wait: if all of fewer took longer than leases, chance explains it.
const tellWaits = 4

// mustWait has probes wait for the opening of their connection and for each answer: in a short crawl hardly any pair is probed and has a lease.
// Those that were count as much as what must be.
func (p *pieces) mustWait(all []late) {
	must := func(answers float64) float64 {
		xs := slices.Clone(all)
		for len(xs) < tellWaits {
			xs = append(xs, late{1 - answers + crawl.ProbeTries*answers, 1})
		}
		return medianWait(xs, true)
	}
	p.waited = waited{must(p.answers), true}
	for j := range p.sites {
		p.sites[j].wait = must(p.sites[j].answers)
	}
}

// waitedBy says what some probes have waited: nothing, if chance explains it, else as what they have waited lies closer together.
func waitedBy(all []late) (w waited) {
	by := make([]float64, len(all))
	for i, x := range all {
		by[i] = x.by
	}
	if w.each = predict.Waits(by); w.each == 0 {
		return w
	}
	times := waited{medianWait(all, true), true}
	if offBy(all, times) < offBy(all, w) {
		return times
	}
	return w
}

// offBy is how far probes are from what is said that they wait, in the middle.
func offBy(all []late, w waited) float64 {
	off := make([]float64, len(all))
	for i, x := range all {
		off[i] = math.Abs(x.by - w.of(x.delay))
	}
	slices.Sort(off)
	return off[len(off)/2]
}

// medianWait is what probes have waited in the middle, s, or times their pairs' delays.
func medianWait(all []late, times bool) float64 {
	xs := make([]float64, len(all))
	for i, x := range all {
		if xs[i] = x.by; times {
			xs[i] /= x.delay
		}
	}
	slices.SortFunc(xs, cmp.Compare)
	return (xs[(len(xs)-1)/2] + xs[len(xs)/2]) / 2
}

// waitAt is how long a probe of a site waits for a node that has such a delay to it, s; it is of that site where enough of its probes have told.
func (p *pieces) waitAt(site int, delay float64) float64 {
	w := p.waited
	if own := p.sites[site].wait; !math.IsNaN(own) {
		w.each = own
	}
	return w.of(delay)
}

// waitOf is how long a probe has waited, s.
func (p *pieces) waitOf(f *learn.Fact) float64 {
	if j, there := p.at[f.Site]; there {
		return p.waitAt(j, p.delay(f.Node, j))
	}
	return 0
}

// delay is that of a node and a site, s.
func (p *pieces) delay(node string, site int) float64 {
	return p.book.Latency(p.book.Node(node), p.book.Site(p.sites[site].name)).Value / 1000
}
