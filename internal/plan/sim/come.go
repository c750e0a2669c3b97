package sim

import (
	"cmp"
	"math"
	"slices"

	"argosy/internal/plan/learn"
	"argosy/internal/plan/schedule"
)

// come is when a site was there to be given out, and which node looked up its addresses before; empty: none did, or it was not written down.
type come struct {
	at     int64 // Unix ms
	by     string
	looked uint32 // leases that have
	began  int64  // when it began to, Unix ms
	turn   int    // its place among all sites, in the order in which they were given out first
}

// comes says that of all sites that were given out: they are there when they are given out first, those that are so together at once, for one cycle
// plans them. One whose addresses had been looked up for longer than cycles lie apart had waited since then.
func (r *Recording) comes() map[string]come {
	out := map[string]come{}
	type grant struct {
		at   int64
		site string
	}
	var first []grant
	for i := range r.Looks {
		if !r.Looks[i].Resolves {
			first = append(first, grant{r.Looks[i].Started, r.Looks[i].Site})
		}
	}
	for i := range r.Leases {
		first = append(first, grant{r.Leases[i].Started, r.Leases[i].Site})
	}
	slices.SortStableFunc(first, func(a, b grant) int { return cmp.Compare(a.at, b.at) })
	for _, g := range first {
		if _, known := out[g.site]; !known {
			out[g.site] = come{at: g.at, turn: len(out)}
		}
	}
	looked, times := map[string]*RecordedLook{}, map[string]uint32{}
	for i := range r.Looks {
		l := &r.Looks[i]
		c, known := out[l.Site]
		if !known || !l.Resolves || l.Ended > c.at {
			continue
		}
		times[l.Site]++
		if looked[l.Site] == nil || looked[l.Site].Ended < l.Ended {
			looked[l.Site] = l
		}
	}
	for site, l := range looked {
		c := out[site]
		if c.by = l.Node; c.at > l.Ended+schedule.RestMost.Milliseconds() {
			c.at = l.Ended
		}
		c.looked, c.began = times[site], l.Started
		out[site] = c
	}
	return out
}

// began is when the first of some sites was there, Unix ms.
func began(sites map[string]come) int64 {
	at := int64(math.MaxInt64)
	for _, c := range sites {
		at = min(at, c.at)
	}
	return at
}

// inTurn are the numbers of sites in the order in which they come, and those that come at once in the order in which they were given out.
func (p *pieces) inTurn() []int {
	out := make([]int, len(p.sites))
	for j := range out {
		out[j] = j
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(p.sites[a].turn, p.sites[b].turn) })
	return out
}

// looks says what the first look of each pair has measured, and how long it took beyond that.
func (p *pieces) looks(r *Recording) Looked {
	type pair struct{ node, site string }
	of, first := map[pair]*RecordedLook{}, map[string]int64{}
	for i := range r.Leases {
		l := &r.Leases[i]
		if at, known := first[l.Site]; !known || l.Started < at {
			first[l.Site] = l.Started
		}
	}
	for i := range r.Looks {
		l := &r.Looks[i]
		if l.Resolves {
			continue
		}
		if at := (pair{l.Node, l.Site}); of[at] == nil {
			of[at] = l
		}
		first[l.Site] = min(first[l.Site], l.Started)
	}
	out := Looked{map[[2]int][]float64{}, map[[2]int]float64{}, map[[2]int]float64{}}
	crawled, took := map[[2]int]bool{}, map[[2]int]float64{}
	for i := range r.Facts {
		f := &r.Facts[i]
		l := of[pair{f.Node, f.Site}]
		node, known := p.nodes[f.Node]
		site, there := p.at[f.Site]
		if l == nil || l.Ended != f.At || !known || !there {
			continue
		}
		at := [2]int{node, site}
		switch f.Kind {
		case learn.Crawl:
			crawled[at], took[at] = true, 1000*f.Seconds
		case learn.Delay:
			out.Pings[at] = append(out.Pings[at], 1000*f.Seconds)
			if !crawled[at] {
				took[at] += 1000 * f.Seconds
			}
		}
	}
	for at, ms := range took {
		site := p.sites[at[1]].name
		l := of[pair{r.Nodes[at[0]].ID, site}]
		rest := max(0, float64(l.Ended-l.Started)-ms)
		switch {
		case p.sites[at[1]].gap(r.Delay) > 0: // most of it is pauses
		case crawled[at] && first[site] == l.Started:
			out.Rules[at] = rest
		case !crawled[at] && first[site] == l.Started:
			out.Rules[at] = min(rest, out.Pings[at][0])
			out.Bodies[at] = rest - out.Rules[at]
		case !crawled[at]:
			out.Bodies[at] = rest
		}
	}
	return out
}
