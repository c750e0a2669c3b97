// Package sim is a discrete-event world on a virtual clock: nodes that share their bandwidth between leases, sites with
// limits of their own, paths with delay, speed and noise, and all of it changing as scripted. It drives the same
// schedule and strategy code that production runs. It is pure: a world and a strategy give the same result every time.
package sim

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"

	"argosy/internal/plan/learn"
	"argosy/internal/plan/price"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/solve"
)

// World is all that there is. Times are ms from the start, speeds bits/s.
type World struct {
	Seed    uint64
	Horizon int64
	Nodes   []Node
	Sites   []Site
	Speed   [][]float64 // of each node and site, without limits of node and site
	Delay   [][]float64 // httpping of each node and site, ms
	Between [][]float64 // httpping between nodes, ms
	Success [][]float64 // share of pages that are had; nil is all
	PerIP   int         // leases at once on one address; 0 is no limit
	PerDom  int         // and on one registrable domain
	Lost    float64     // share of httppings that take long, since a packet was lost; 0: usuallyLost, less than 0: none
	Noise   float64     // standard deviation of a lease's speed around its path's, as a logarithm
	Page    float64     // bits of a page
	Lease   LeaseShape
	Tasks   *Arrivals // nil: every site is one task that is never done, or until its size is had
	Changes []Change
	Root    float64     // bits of a root page, which BC fetches three times
	Roots   [][]float64 // the same of a node and a site, where that is another; nil or 0: Root
	Waits   [][]float64 // seconds that BC takes longer than a lease would for as many bits, since it waits for each answer; less than 0: shorter; nil: 0
	Cycle   int64       // ms from one cycle to the next at least, for worlds in which to plan as often as a coordinator takes too long; 0: as in a coordinator (schedule.Rest, schedule.AtOnce)
	Held    int64       // ms until what a node had that died goes to another
	Uneven  float64     // variance of what a single request tells of its pair's speed, as a share of that; 0: all tell the same
	Drifts  bool        // changes touch delays too
	Whole   bool        // a lease whose time is over ends when the pages under way are had
	Varied  bool        // the times of requests vary (Site.Varies), so that a pause and a request that is shorter on average add up
	Apart   bool        // a site is asked by one lease at a time, also where tasks come
	Window  int         // tasks that a cycle looks at, at most, where Cycle is stated; 0: all
	Part    int64       // ms after which a lease tells what it has done; 0: when it ends
	Target  float64     // useful bits that are told of at which a run ends; 0: at the horizon

	Order   []int        // of sites that come at once, by their numbers; nil: as they are numbered
	Looked  Looked       // what looks measure where that is known
	Chance  uint64       // seed of what strategies decide by chance; 0: it follows from Seed
	Looks   bool         // a look at a site takes all that it does in a crawl: first its robots.txt, if nobody has asked for that, and the bodies of answers
	Learned []learn.Fact // what the fleet knows at the start, in the order in which it was learned; its times are before 0

	Stuck   [][]float64            // share of each pair's leases that make no progress until they are recalled; nil is none
	Recycle schedule.RecycleConfig // when those are recalled, and how often; zero is the paper's
	Modify  bool                   // a strategy that modifies leases does so for tasks that arrive, too
	Job     JobPlacing             // what its job says of where tasks may go
	Work    Work                   // what leases take of a node besides bandwidth; zero is nothing
	Ended   func(End)              // is told of every lease of a task that ends, in the order of time; nil is nobody
}

// Looked is what a look of a node at a site measures where that is known; of others it is drawn.
type Looked struct {
	Pings  map[[2]int][]float64 // delays, ms, one after the other
	Rules  map[[2]int]float64   // how long robots.txt takes, where nobody has asked for it before, ms
	Bodies map[[2]int]float64   // how long the bodies of all answers take, where it measures the delay, ms
}

// partEach is after how many ms leases of a fleet tell what they have done.
const partEach = 1000

// End is what a lease did, as it ended.
type End struct {
	At                        int64 // ms
	Task                      uint32
	Node, Site                int
	Seconds                   float64 // from its beginning
	Good, Pages               float64 // had, of those that were asked for
	Moved, Modified, Recycled bool    // it was on another node than the last of its task; its quota was another; it was recalled
}

// JobPlacing is what a job says of the nodes that its tasks may go to, and of those that measure for all; zero is nothing.
type JobPlacing struct {
	Type, Product string
	Need          schedule.Vector
	Landmarks     []string
}

// Work is what leases take of a node besides its bandwidth.
type Work struct {
	CPU    float64 // core seconds a bit: a node's processor may be its limit
	Memory float64 // bytes of each lease
}

// Node of the world.
type Node struct {
	ID        string
	Labels    map[string]string
	Slots     int     // leases at once
	Bandwidth float64 // shared by its leases; 0 is no limit
	Store     float64 // bandwidth to its storage; 0 is no less than the other
	CPU       float64 // cores; 0 is not stated, and no limit
	Memory    float64 // bytes; 0 is not stated
	Prices    price.Rates
	OnDemand  bool    // it is not reserved
	Told      float64 // what it tells of that when it comes, whoever asks; 0: nothing
	Unsaid    bool    // it does not say what its bandwidth is
	Requests  int     // at once; 0 is not stated
	Join      int64
	Leave     int64     // 0: never
	Away      []Absence // when it is not there in between, in the order of time
	Dies      int64     // before Leave, without a word: what it has stands still for the world's Held, and what it is given until Leave; 0: never
}

// Site of the world.
type Site struct {
	Name    string
	Limit   float64   // of the site itself; 0 is none
	Size    float64   // bits there are; 0: there is no end
	Gap     float64   // seconds between the starts of two requests to it; 0 is none
	Come    int64     // when it is found, ms
	Width   int       // requests at once where there is no gap; 0 is one
	Page    float64   // bits of its pages; 0: the world's
	Varies  float64   // standard deviation of the logarithm of its requests' times, in worlds where they vary
	Answers float64   // share of an httpping that an answer takes, over a connection that is open; 0: all
	First   float64   // pages of the first lease that it has, at most; 0: as many as others
	Works   float64   // share of a lease's time in which it is asked, where there is no gap; 0: all
	Finds   []Finds   // how its pages become known, in the order of Asked; nil: all are from the beginning
	Had     []float64 // which share of its size was had after each of as many equal steps of its requests, 0 and 1 first and last; nil: as chance has it
	Place   schedule.Place

	Task     uint32   // number of its task; 0: as sites are numbered
	Turn     uint32   // leases that it has had before it came
	Resolver string   // node that looks up its addresses, before it comes; empty: none
	Looked   int64    // when it begins to, ms: it holds a place for it until the site comes
	Addrs    []string // of the site, for World.PerIP; where none is known it shares none with others
	Domain   string   // registrable, for World.PerDom
}

// Finds says how many pages of a site are known once so many were asked for. In between it is linear.
type Finds struct{ Asked, Known float64 }

// known is how many pages of a site are known once so many were asked for.
func (s *Site) known(asked float64) float64 {
	k := sort.Search(len(s.Finds), func(i int) bool { return s.Finds[i].Asked > asked })
	switch {
	case k == 0:
		return 0
	case k == len(s.Finds):
		return s.Finds[k-1].Known
	}
	a, b := s.Finds[k-1], s.Finds[k]
	return a.Known + (b.Known-a.Known)*(asked-a.Asked)/(b.Asked-a.Asked)
}

// had is which share of a site's size was had once a share of its requests was made.
func (s *Site) had(asked float64) float64 {
	at := min(1, max(0, asked)) * float64(len(s.Had)-1)
	k := min(int(at), len(s.Had)-2)
	return s.Had[k] + (s.Had[k+1]-s.Had[k])*(at-float64(k))
}

// LeaseShape bounds a lease: whichever comes first.
type LeaseShape struct {
	Bits    float64 `json:"bits"`
	Seconds float64 `json:"seconds"`
}

// Arrivals are tasks that come by chance, each to one site, or as they are given.
type Arrivals struct {
	Given     []Arrival // in the order of time; nothing comes by chance then
	PerSecond float64
	Pages     int     // of each, on average
	Spread    float64 // standard deviation of its logarithm; 0: all are alike
}

// Arrival is a task that comes.
type Arrival struct {
	At    int64 // ms
	Site  int
	Pages float64
}

// draw is how many pages the next task has, one at least.
func (a *Arrivals) draw(r *rand.Rand) float64 {
	if a.Spread == 0 {
		return float64(a.Pages)
	}
	return max(1, math.Round(float64(a.Pages)*math.Exp(a.Spread*r.NormFloat64()-a.Spread*a.Spread/2)))
}

// Change is something that happens to the world.
type Change struct {
	At    int64
	Apply func(w *World)
}

// path is the speed that leases of a pair have on average while a page is fetched: drawn log-normally around the pair's,
// and cut off at the site's limit.
func (w *World) path(node, site int) float64 { return w.expected(node, site, w.Sites[site].Limit) }

// rate is path with the site's pauses.
func (w *World) rate(node, site int) float64 {
	limit := w.pace(site)
	if l := w.Sites[site].Limit; l > 0 {
		limit = min(limit, l)
	}
	if math.IsInf(limit, 1) {
		limit = 0
	}
	return w.expected(node, site, limit)
}

// expected is the mean of a log-normal speed that is cut off at a limit; 0 is no limit.
func (w *World) expected(node, site int, limit float64) float64 {
	s := w.Speed[node][site]
	switch {
	case limit <= 0 || s <= 0:
		return s
	case w.Noise <= 0:
		return min(s, limit)
	}
	below := (math.Log(limit/s) + w.Noise*w.Noise/2) / w.Noise // standard deviations to the limit
	return s*normal(below-w.Noise) + limit*(1-normal(below))
}

// normal is the distribution function of the standard normal distribution.
func normal(x float64) float64 { return 0.5 * math.Erfc(-x/math.Sqrt2) }

// pace is the most that a site's pauses allow; +Inf where it asks for none.
func (w *World) pace(site int) float64 {
	if g := w.Sites[site].Gap; g > 0 {
		return w.page(site) / g
	}
	return math.Inf(1)
}

// paced is what a path of a speed brings of a site with its pauses. Where the times of requests vary, some are longer than the pause that is
// shorter than others.
func (w *World) paced(speed float64, site int) float64 {
	if share := w.Sites[site].Works; share > 0 {
		speed *= share
	}
	return w.apart(speed, site, w.page(site))
}

// apart is what a path of a speed brings in requests of so many bits each, one after the other, with a site's pauses.
func (w *World) apart(speed float64, site int, each float64) float64 {
	g := w.Sites[site].Gap
	switch {
	case g <= 0 || speed <= 0:
		return speed
	case !w.Varied:
		return min(speed, each/g)
	}
	return each / spaced(g, each/speed, w.Sites[site].Varies)
}

// spaced is the mean time between the starts of two requests, s, that are at least a gap apart and one after the other, and whose times are
// log-normally distributed around a mean, by such a standard deviation.
func spaced(gap, took, varies float64) float64 {
	if took <= 0 || gap <= 0 || varies <= 0 {
		return max(gap, took)
	}
	above := math.Log(gap/took) / varies
	return gap*normal(above+varies/2) + took*normal(varies/2-above)
}

// resolver is the number of the node that has looked up a site's addresses, -1 of none.
func (w *World) resolver(site int) int {
	id := w.Sites[site].Resolver
	if id == "" {
		return -1
	}
	return slices.IndexFunc(w.Nodes, func(n Node) bool { return n.ID == id })
}

// atOnce is how many requests to a site are under way at a time.
func (s *Site) atOnce() int {
	if s.Gap > 0 {
		return 1
	}
	return max(1, s.Width)
}

// page is what a page of a site holds, bits.
func (w *World) page(site int) float64 {
	if p := w.Sites[site].Page; p > 0 {
		return p
	}
	return w.Page
}

// root is what a root page of a site holds for a node, bits.
func (w *World) root(node, site int) float64 {
	if w.Roots != nil && w.Roots[node][site] > 0 {
		return w.Roots[node][site]
	}
	return w.Root
}

func (w *World) success(node, site int) float64 {
	if w.Success == nil {
		return 1
	}
	return w.Success[node][site]
}

// limit is what a node can take in: everything is stored, and costs its processor something. 0 is no limit.
func (w *World) limit(node int) float64 {
	n := &w.Nodes[node]
	limit := n.stores()
	if n.CPU > 0 && w.Work.CPU > 0 && (limit == 0 || n.CPU/w.Work.CPU < limit) {
		return n.CPU / w.Work.CPU
	}
	return limit
}

// stores is what a node can store of what it takes in. 0 is no limit.
func (n *Node) stores() float64 {
	if n.Store > 0 && (n.Bandwidth == 0 || n.Store < n.Bandwidth) {
		return n.Store
	}
	return n.Bandwidth
}

// stated is the bandwidth that a node says it has; 0 is nothing said.
func (n *Node) stated() float64 {
	if n.Unsaid {
		return 0
	}
	return n.Bandwidth
}

// Absence is when a node is gone that comes back.
type Absence struct {
	Died int64 `json:"died"` // before it is known to be gone, without a word, as a node that dies; 0: it was not
	Gone int64 `json:"gone"`
	Came int64 `json:"came"`
}

// dead reports whether it has died.
func (n *Node) dead(at int64) bool {
	return n.Dies > 0 && at >= n.Dies || slices.ContainsFunc(n.Away, func(a Absence) bool { return a.Died > 0 && a.Died <= at && at < a.Came })
}

func (n *Node) there(at int64) bool {
	return at >= n.Join && (n.Leave == 0 || at < n.Leave) && !slices.ContainsFunc(n.Away, func(a Absence) bool { return a.Gone <= at && at < a.Came })
}

// bound is the most that anybody could collect, in bits, who knew all about the world as it is from one time to
// another, by the linear program of time shares: a site is with one node at a time, a node within its bandwidth and its
// slots. With arrivals it is the most pages, of those asked for. value is what a solution of the program collects.
func (w *World) bound(from, to int64, gap float64, stop func() bool) (bound, value float64, err error) {
	seconds := float64(to-from) / 1000
	p := w.shares(from, seconds)
	if w.Tasks != nil {
		p = w.pages()
	}
	best, err := solve.MaxShares(p, gap, stop)
	return best.Bound * seconds, best.Value * seconds, err
}

// shares is the program of bits.
func (w *World) shares(at int64, seconds float64) solve.Shares {
	n, m := len(w.Nodes), len(w.Sites)
	p := solve.Shares{Start: make([]int32, 1, m+1), Cap: make([]float64, n), Places: make([]float64, n), Size: make([]float64, m)}
	for i := range w.Nodes {
		p.Cap[i], p.Places[i] = math.Inf(1), math.Inf(1)
		if b := w.limit(i); b > 0 {
			p.Cap[i] = b
		}
		if s := w.Nodes[i].Slots; s < m {
			p.Places[i] = float64(s)
		}
	}
	for j := range w.Sites {
		p.Size[j] = math.Inf(1)
		if s := w.Sites[j].Size; s > 0 {
			p.Size[j] = s / seconds
		}
		for i := range w.Nodes {
			if !w.Nodes[i].there(at) {
				continue
			}
			r := w.rate(i, j)
			if b := w.limit(i); b > 0 {
				r = min(r, b)
			}
			p.Bin, p.Value, p.Use = append(p.Bin, int32(i)), append(p.Value, r*w.success(i, j)), append(p.Use, r)
		}
		p.Start = append(p.Start, int32(len(p.Bin)))
	}
	return p
}

// pages is the program of pages where tasks arrive: each takes its time on a slot of a node.
func (w *World) pages() solve.Shares {
	n, m := len(w.Nodes), len(w.Sites)
	p := solve.Shares{Start: make([]int32, 1, m+1), Cap: make([]float64, n), Amount: make([]float64, m)}
	for i := range w.Nodes {
		p.Cap[i] = float64(w.Nodes[i].Slots)
	}
	for j := range w.Sites {
		p.Amount[j] = w.Tasks.PerSecond * float64(w.Tasks.Pages) / float64(m)
		for i := range w.Nodes {
			p.Bin, p.Value, p.Use = append(p.Bin, int32(i)), append(p.Value, w.success(i, j)), append(p.Use, w.Page/w.path(i, j))
		}
		p.Start = append(p.Start, int32(len(p.Bin)))
	}
	return p
}

// BoundGap is how far the bound may be above the optimum of the linear program, as a share of it.
const BoundGap = 1e-3

// Bound is the bound over the whole horizon, piece by piece between changes.
func (w World) Bound() float64 {
	b, _, err := w.Optimum(BoundGap, nil)
	if err != nil {
		return math.NaN() // a world that is not sound
	}
	return b
}

// Optimum is Bound with another gap, or until stop says so (nil: never), and the gap that was reached.
func (w World) Optimum(gap float64, stop func() bool) (bound, reached float64, err error) {
	w.copied()
	cuts := []int64{0, w.Horizon}
	for _, n := range w.Nodes {
		cuts = append(cuts, n.Join, n.Leave)
		for _, a := range n.Away {
			cuts = append(cuts, a.Gone, a.Came)
		}
	}
	for _, c := range w.Changes {
		cuts = append(cuts, c.At)
	}
	sortInts(cuts)
	last, next, value := int64(0), 0, 0.0
	for _, at := range cuts {
		if at = min(at, w.Horizon); at > last {
			b, v, err := w.bound(last, at, gap, stop)
			if err != nil {
				return 0, 0, err
			}
			bound, value, last = bound+b, value+v, at
		}
		for next < len(w.Changes) && w.Changes[next].At <= at {
			w.Changes[next].Apply(&w)
			next++
		}
	}
	reached = solve.Optimum{Bound: bound, Value: value}.Gap()
	if size := w.size(); size > 0 {
		bound = min(bound, size)
	}
	return bound, reached, nil
}

// size is what all sites hold, 0 if one has no end.
func (w *World) size() (sum float64) {
	for _, s := range w.Sites {
		if s.Size == 0 {
			return 0
		}
		sum += s.Size
	}
	return sum
}

// copied gives a world matrices of its own, those that changes touch, if there are any.
func (w *World) copied() {
	if len(w.Changes) == 0 {
		return
	}
	w.Speed, w.Success = clone(w.Speed), clone(w.Success)
	if w.Drifts {
		w.Delay = clone(w.Delay)
	}
}

func clone(m [][]float64) [][]float64 {
	if m == nil {
		return nil
	}
	out := make([][]float64, len(m))
	for i := range m {
		out[i] = append([]float64(nil), m[i]...)
	}
	return out
}

func sortChanges(w *World) {
	sort.SliceStable(w.Changes, func(a, b int) bool { return w.Changes[a].At < w.Changes[b].At })
}

func sortInts(x []int64) { sort.Slice(x, func(a, b int) bool { return x[a] < x[b] }) }
