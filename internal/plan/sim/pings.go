package sim

import (
	"slices"

	"argosy/internal/plan/learn"
)

// pings tells what a measurement of a delay, which opens a connection, is beside what pages tell, most of which come over one that is open: over a long
// way twice as much. A world has one delay of each pair.
type pings struct {
	first map[[2]string]int64 // when a pair's first page was told of, Unix ms: what came before is measured
	times float64             // how many times as long as a page's its delay is
}

// fewPings is of how many pairs both must be known.
const fewPings = 3

// pings finds it in a recording, by the pairs that were measured and have had pages since.
func (r *Recording) pings() pings {
	p := pings{map[[2]string]int64{}, 1}
	for i := range r.Facts {
		f := &r.Facts[i]
		pair := [2]string{f.Node, f.Site}
		if _, known := p.first[pair]; f.Kind == learn.Report && f.All > 0 && !known {
			p.first[pair] = f.At
		}
	}
	var of [2]map[[2]string][]float64
	for k := range of {
		of[k] = map[[2]string][]float64{}
	}
	for i := range r.Facts {
		if f := &r.Facts[i]; f.Kind == learn.Delay && f.Seconds > 0 {
			k, pair := 0, [2]string{f.Node, f.Site}
			if p.measured(f) {
				k = 1
			}
			of[k][pair] = append(of[k][pair], f.Seconds)
		}
	}
	var times []float64
	for pair, measured := range of[1] {
		if pages := of[0][pair]; len(pages) > 0 {
			slices.Sort(measured)
			slices.Sort(pages)
			times = append(times, measured[(len(measured)-1)/2]/pages[(len(pages)-1)/2])
		}
	}
	if len(times) >= fewPings {
		slices.Sort(times)
		p.times = max(1, times[len(times)/2])
	}
	return p
}

// measured reports whether a delay was measured, and is not that of a page.
func (p *pings) measured(f *learn.Fact) bool {
	first, had := p.first[[2]string{f.Node, f.Site}]
	return !had || f.At < first
}

// asPages is a fact in which a delay is one of a page.
func (p *pings) asPages(f learn.Fact) learn.Fact {
	if f.Kind == learn.Delay && p.measured(&f) {
		f.Seconds /= p.times
	}
	return f
}
