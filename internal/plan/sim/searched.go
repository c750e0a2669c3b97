package sim

import (
	"cmp"
	"math"
	"slices"
)

// Searched is a run of searches as a ledger tells of it: what leases did that fetched what searches had named.
type Searched struct {
	Runs  []SearchedRun
	Pages map[uint32]float64 // that each search named, by its number
	Quota float64            // pages of a lease at most
}

// SearchedRun is one lease. Times are Unix ms.
type SearchedRun struct {
	Search         uint32
	Node, Site     string // that the search is restricted to
	Started, Ended int64
	Given, Good    float64 // pages that it was to fetch, and those that it had
	Stuck          bool    // it was taken back without having anything
}

// searchedPieces are the pieces of time of which each has figures of its own: a quarter of an hour of a run of four hours.
const searchedPieces = 16

// pairFigures is what was had of a pair in a piece of the time.
type pairFigures struct{ given, good, seconds, stuck, leases float64 }

func (p *pairFigures) add(o pairFigures) {
	p.given, p.good, p.seconds, p.stuck, p.leases = p.given+o.given, p.good+o.good, p.seconds+o.seconds, p.stuck+o.stuck, p.leases+o.leases
}

// World makes a world of a run: every search comes when its first page was given out, with as many pages as it named; nodes have of sites
// what they had of them, piece by piece of the time. It ends after five times as long and an hour more, so that leases which are stuck are seen to end. A pair that was not tried in a piece has what it had last, or has next; one that was
// never tried has what the site gave others. tried says how many pairs of how many were.
func (s *Searched) World(seed uint64) (w World, tried, pairs int, err error) {
	runs := slices.Clone(s.Runs)
	slices.SortStableFunc(runs, func(a, b SearchedRun) int { return cmp.Compare(a.Started, b.Started) })
	nodes, sites := newNames(), newNames()
	end, good := int64(0), 0.0
	for _, r := range runs {
		nodes.number(r.Node)
		sites.number(r.Site)
		end, good = max(end, r.Ended), good+r.Good
	}
	if good == 0 {
		return w, 0, 0, ErrNothingRecorded
	}
	start := runs[0].Started
	w = World{Seed: seed, Horizon: 5*(end-start) + 3_600_000, Page: 1e6, Root: 1e6, Noise: 0.1, Apart: true, Modify: true, Tasks: &Arrivals{}}
	w.Lease = LeaseShape{Bits: max(1, s.Quota) * w.Page, Seconds: math.MaxInt32}
	for _, id := range nodes.all {
		w.Nodes = append(w.Nodes, Node{ID: id, Slots: max(64, len(sites.all)), Labels: map[string]string{}})
	}
	for _, name := range sites.all {
		w.Sites = append(w.Sites, Site{Name: name})
	}
	came := map[uint32]bool{}
	for _, r := range runs {
		if pages := s.Pages[r.Search]; !came[r.Search] && pages > 0 {
			came[r.Search] = true
			w.Tasks.Given = append(w.Tasks.Given, Arrival{At: r.Started - start, Site: sites.number(r.Site), Pages: pages})
		}
	}
	tried, err = w.figures(runs, nodes, sites, start, end), nil
	return w, tried, len(nodes.all) * len(sites.all), err
}

// figures gives a world the speeds and shares of a run, and what changes from piece to piece; it returns how many pairs were tried.
func (w *World) figures(runs []SearchedRun, nodes, sites *names, start, end int64) (tried int) {
	long := (end-start)/searchedPieces + 1
	in := map[[3]int]*pairFigures{}
	whole, ofSite := map[[2]int]*pairFigures{}, make([]pairFigures, len(sites.all))
	var all pairFigures
	for _, r := range runs {
		one := pairFigures{given: r.Given, good: r.Good, seconds: float64(r.Ended-r.Started) / 1000, leases: 1}
		if r.Stuck {
			one = pairFigures{stuck: 1, leases: 1}
		}
		n, j := nodes.number(r.Node), sites.number(r.Site)
		at := [3]int{n, j, int((r.Ended - start) / long)}
		if in[at] == nil {
			in[at] = &pairFigures{}
		}
		if whole[[2]int{n, j}] == nil {
			whole[[2]int{n, j}] = &pairFigures{}
			tried++
		}
		in[at].add(one)
		whole[[2]int{n, j}].add(one)
		ofSite[j].add(one)
		all.add(one)
	}
	for n := range nodes.all {
		w.Speed, w.Success, w.Stuck = append(w.Speed, make([]float64, len(sites.all))), append(w.Success, make([]float64, len(sites.all))), append(w.Stuck, make([]float64, len(sites.all)))
		for j := range sites.all {
			known := firstOf(whole[[2]int{n, j}], &ofSite[j], &all)
			w.Stuck[n][j] = known.stuck / max(1, known.leases)
			now := known
			if k := slices.IndexFunc(piecesOf(in, n, j), func(p *pairFigures) bool { return p != nil }); k >= 0 {
				now = in[[3]int{n, j, k}]
			}
			w.Speed[n][j], w.Success[n][j] = now.speed(known)*w.Page, now.share()
			for k, p := range piecesOf(in, n, j) {
				if p != nil && k > 0 {
					speed, had := p.speed(known)*w.Page, p.share()
					w.Changes = append(w.Changes, Change{At: long * int64(k), Apply: func(w *World) { w.Speed[n][j], w.Success[n][j] = speed, had }})
				}
			}
		}
	}
	sortChanges(w)
	return tried
}

// piecesOf are a pair's figures, piece by piece; nil where it was not tried, or nothing was given.
func piecesOf(in map[[3]int]*pairFigures, n, j int) []*pairFigures {
	out := make([]*pairFigures, searchedPieces)
	for k := range out {
		if p := in[[3]int{n, j, k}]; p != nil && p.given > 0 {
			out[k] = p
		}
	}
	return out
}

// firstOf is the first of which something was given.
func firstOf(of ...*pairFigures) *pairFigures {
	for _, p := range of[:len(of)-1] {
		if p != nil && p.given > 0 {
			return p
		}
	}
	return of[len(of)-1]
}

// speed is pages a second; where a piece has no time, as at another.
func (p *pairFigures) speed(other *pairFigures) float64 {
	if p.seconds > 0 {
		return p.given / p.seconds
	}
	return other.given / max(other.seconds, 1e-3)
}

func (p *pairFigures) share() float64 { return min(1, p.good/max(p.given, 1)) }

// names are numbered in the order of their coming.
type names struct {
	at  map[string]int
	all []string
}

func newNames() *names { return &names{at: map[string]int{}} }

func (x *names) number(name string) int {
	if n, ok := x.at[name]; ok {
		return n
	}
	x.at[name] = len(x.all)
	x.all = append(x.all, name)
	return x.at[name]
}
