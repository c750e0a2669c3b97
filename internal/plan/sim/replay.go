package sim

import (
	"cmp"
	"errors"
	"math"
	"math/rand/v2"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/price"
	"argosy/internal/plan/schedule"
)

// Recording is a crawl or a fleet as its ledger tells of it. Times are Unix ms.
type Recording struct {
	Strategy  string                  `json:"strategy"` // that decided
	Nodes     []RecordedNode          `json:"nodes"`
	Leases    []RecordedLease         `json:"leases"`
	Looks     []RecordedLook          `json:"looks"`      // in the order of their beginning
	Facts     []learn.Fact            `json:"facts"`      // in the order in which they were learned
	Before    []learn.Fact            `json:"before"`     // what the fleet knew when it began, likewise
	Left      map[string]float64      `json:"left"`       // pages that sites still had when the recording ends
	Began     int64                   `json:"began"`      // when its job was submitted: the seed of what it decides by chance
	Uncounted bool                    `json:"uncounted"`  // what sites had left is not known, for nothing has ended the run; Left is 0
	Lease     LeaseShape              `json:"lease"`      // Bits in pages here, whose size is not known yet
	Held      int64                   `json:"held"`       // ms until what a node has goes to another that is not heard of any more
	Widths    int                     `json:"widths"`     // requests at once to a site that asks for no pause
	PerIP     int                     `json:"per_ip"`     // leases at once on one address; 0 is no limit
	PerDom    int                     `json:"per_domain"` // and on one registrable domain
	Placing   JobPlacing              `json:"placing"`
	Sites     map[string]RecordedSite `json:"sites"`
	Delay     float64                 `json:"delay"`   // s between the starts of two requests to a site, as its job asks
	Varies    map[string]float64      `json:"varies"`  // standard deviation of the logarithm of a site's requests' times, while one node asks
	Root      float64                 `json:"root"`    // bits of the root pages that were had, on average; 0 is not known
	Answers   map[string]float64      `json:"answers"` // share of an httpping of a site that the answer takes, over a connection that is open
}

// RecordedNode is a node as it described itself.
type RecordedNode struct {
	ID        string            `json:"id"`
	Labels    map[string]string `json:"labels"`
	Leases    int               `json:"leases"`   // at once
	Requests  int               `json:"requests"` // at once; 0 is not stated
	CPU       float64           `json:"cpu"`      // cores; 0 is not stated, here and below
	Memory    float64           `json:"memory"`   // bytes
	Bandwidth float64           `json:"bandwidth"`
	Prices    price.Rates       `json:"prices"`
	OnDemand  bool              `json:"on_demand"`
	Came      int64             `json:"came"`
	Gone      int64             `json:"gone"` // 0: it stayed
	Away      []Absence         `json:"away"` // when it was gone in between, in the order of time
	Died      int64             `json:"died"` // last heard of, where it was gone without a word; 0: it was not
}

// RecordedSite is where a site is.
type RecordedSite struct {
	Addrs  []string    `json:"addrs"`  // that it was asked at
	Domain string      `json:"domain"` // registrable, where the job limits the leases of one
	Place  crawl.Place `json:"place"`  // as its job says
}

// RecordedLease is what a lease did in all.
type RecordedLease struct {
	Task    uint32  `json:"task"` // tasks are numbered as they were found
	Node    string  `json:"node"`
	Site    string  `json:"site"`
	Started int64   `json:"started"`
	Ended   int64   `json:"ended"`
	Worked  float64 `json:"worked"` // seconds with a request under way
	Given   float64 `json:"given"`  // URLs that it was given until it ended
	Asked   float64 `json:"asked"`  // requests
	Good    float64 `json:"good"`   // of them, those that gave a page
	Bits    float64 `json:"bits"`   // of pages
}

// RecordedLook is a lease that has asked for no page: it has looked up the addresses of a site, or measured.
type RecordedLook struct {
	Node     string `json:"node"`
	Site     string `json:"site"`
	Resolves bool   `json:"resolves"` // it has looked up addresses
	Started  int64  `json:"started"`
	Ended    int64  `json:"ended"`
}

// Guess says how much of a replayed world was not recorded.
type Guess struct {
	Pairs int // of nodes and sites
	Tried int // of them, by the recording or before it; the others' speeds are drawn from the predictor's uncertainty
	Node  int // nodes whose bandwidth is taken from what they reached when they said that they were the limit
}

// DelaysASecond is how many delays of a pair a recording has of a second at most: as many as an httpping has tries.
const DelaysASecond = crawl.PingTries

// counts is up to which share of what was had a recording and its replays are timed: the last tenth hangs on single sites.
const counts = 0.9

// LeaveOut makes a time never have been: what was then is at its beginning, and what was later as much earlier.
func (r *Recording) LeaveOut(from, to int64) {
	move := func(at *int64) {
		if *at > from {
			*at = max(from, *at-(to-from))
		}
	}
	for i := range r.Nodes {
		n := &r.Nodes[i]
		move(&n.Came)
		move(&n.Gone)
		move(&n.Died)
		for k := range n.Away {
			move(&n.Away[k].Died)
			move(&n.Away[k].Gone)
			move(&n.Away[k].Came)
		}
	}
	for i := range r.Leases {
		move(&r.Leases[i].Started)
		move(&r.Leases[i].Ended)
	}
	for i := range r.Looks {
		move(&r.Looks[i].Started)
		move(&r.Looks[i].Ended)
	}
	for i := range r.Facts {
		move(&r.Facts[i].At)
	}
}

// Placed reports whether it tells where sites are.
func (r *Recording) Placed() bool {
	for _, s := range r.Sites {
		if s.Place.Located() || s.Place.Region != "" {
			return true
		}
	}
	return false
}

// Fleet are its nodes as a strategy sees them.
func (r *Recording) Fleet() []schedule.Node {
	out := make([]schedule.Node, len(r.Nodes))
	for i, n := range r.Nodes {
		out[i] = schedule.Node{ID: n.ID, Labels: n.Labels, Prices: n.Prices}
	}
	return out
}

// Reached returns how many useful bits are nine tenths of what a recording has had, and after how many seconds it had them.
func (r *Recording) Reached() (bits, seconds float64) {
	start, _ := r.span()
	type had struct {
		at   int64
		bits float64
	}
	var all []had
	for i := range r.Facts {
		if f := &r.Facts[i]; f.Kind == learn.Report {
			all = append(all, had{f.At, f.Bits})
			bits += counts * f.Bits
		}
	}
	slices.SortStableFunc(all, func(a, b had) int { return cmp.Compare(a.at, b.at) })
	sum := 0.0
	for _, h := range all {
		if sum += h.bits; sum >= bits {
			return bits, float64(h.at-start) / 1000
		}
	}
	return bits, 0
}

// Alike is how many leases of the same size would be as many as those of a recording are: the more of its bits few of them carry, the fewer. It is
// one at least.
func (r *Recording) Alike() float64 {
	sum, square := 0.0, 0.0
	for i := range r.Leases {
		bits := r.Leases[i].Bits
		sum, square = sum+bits, square+bits*bits
	}
	if square == 0 {
		return 1
	}
	return max(1, sum*sum/square)
}

// span is from when to when sites were worked on: leases were held, or sites were measured before the first.
func (r *Recording) span() (start, end int64) {
	start = began(r.comes())
	for i := range r.Leases {
		end = max(end, r.Leases[i].Ended)
	}
	for i := range r.Facts {
		if at, ok := probed(&r.Facts[i]); ok {
			start = min(start, at)
		}
	}
	return start, end
}

// probed is when a measurement of a site began, if a fact is one, Unix ms.
func probed(f *learn.Fact) (at int64, ok bool) {
	return f.At - int64(1000*f.Seconds), f.Site != "" && (f.Kind == learn.Crawl || f.Kind == learn.Delay)
}

// ErrNothingRecorded says that a recording has nothing that could be replayed.
var ErrNothingRecorded = errors.New("no lease of it has got a page")

// maxPieces bounds the values of pairs in all pieces of time.
const maxPieces = 4_000_000

// World makes a world of a recording: its nodes; its sites as large as what was had of them and is left, found when they were
// measured or given out first, with the pauses that were kept; and of each pair that was tried the speed that it had, piece by
// piece of the time. What was not tried is drawn from the predictor's uncertainty, by the seed. The world ends when nine tenths
// of what was recorded are had, or when it has taken five times as long.
func (r *Recording) World(seed uint64) (World, Guess, error) {
	p := r.pieces()
	if p == nil || p.page <= 0 {
		return World{}, Guess{}, ErrNothingRecorded
	}
	start, end := r.span()
	w := World{
		Seed: seed, Horizon: 5 * (end - start), Page: p.page, Root: cmp.Or(r.Root, p.page), Noise: p.noise(), Lost: r.lost(), Whole: true, Varied: true, Part: r.partEvery(), Uneven: p.uneven, Held: r.Held,
		PerIP: r.PerIP, PerDom: r.PerDom, Job: r.Placing, Work: r.work(), Order: p.inTurn(), Looks: true, Lease: LeaseShape{Bits: r.Lease.Bits * p.page, Seconds: r.Lease.Seconds},
	}
	w.Target, _ = r.Reached()
	if root := p.probed.root(); root > 0 {
		w.Root = root
	}
	guess := Guess{Pairs: len(p.nodes) * len(p.sites), Tried: len(p.pairs)}
	told := r.stores()
	for i, n := range r.Nodes {
		node := Node{ID: n.ID, Labels: n.Labels, Slots: max(1, n.Leases), Requests: n.Requests, CPU: n.CPU, Memory: n.Memory, Bandwidth: n.Bandwidth, Prices: n.Prices, OnDemand: n.OnDemand, Told: told[n.ID]}
		if n.Came > start+int64(comes*1000) {
			node.Join = n.Came - start
		}
		node.Away = n.away(start, end)
		if n.Gone > 0 && n.Gone < end {
			node.Leave = max(node.Join+1, n.Gone-start)
			if n.Died > 0 && n.Died < n.Gone {
				node.Dies = max(node.Join+1, n.Died-start)
				node.Leave = max(node.Leave, node.Dies+1)
			}
		}
		if b := p.busiest(r, i); n.Bandwidth <= 0 && b > 0 {
			node.Bandwidth, node.Unsaid = b, true
			guess.Node++
		}
		w.Nodes = append(w.Nodes, node)
	}
	for j := range p.sites {
		s := &p.sites[j]
		gap := s.gap(r.Delay)
		site := Site{Name: s.name, Come: s.came - start, Gap: gap, Varies: s.unlike(gap), Answers: s.answers, Works: s.works(r.Delay), Width: r.Widths, Size: s.bits, Finds: s.finds(r.Left[s.name]), First: s.first()}
		at := r.Sites[s.name]
		site.Addrs, site.Domain = at.Addrs, at.Domain
		site.Place = schedule.Place{Lat: at.Place.Lat, Lon: at.Place.Lon, Located: at.Place.Located(), Region: at.Place.Region}
		if s.good > 0 {
			site.Page = s.bits / s.good
		}
		whole := 1.0
		if s.asked > 0 {
			whole += r.Left[s.name] / s.asked
			site.Size += r.Left[s.name] * s.bits / s.asked
		}
		site.Task, site.Turn, site.Looked = s.task, s.looked, max(0, s.began-start)
		if site.Resolver = s.resolver; site.Resolver == "" && site.Come < int64(comes*1000) {
			site.Come = 0
		}
		site.Size = max(site.Size, 1)
		site.Had = s.had(whole)
		w.Sites = append(w.Sites, site)
	}
	p.fill(&w, seed)
	w.Looked = p.looks(r)
	for _, f := range r.Before {
		f.At -= start
		w.Learned = append(w.Learned, f)
	}
	return w, guess, nil
}

// away is when a node was gone in between after a recording had begun, ms from then.
func (n *RecordedNode) away(start, end int64) (out []Absence) {
	for _, a := range n.Away {
		from := Absence{Gone: max(a.Gone, n.Came, start) - start, Came: a.Came - start}
		if from.Gone >= from.Came || from.Gone >= end-start {
			continue
		}
		if a.Died > start {
			from.Died = a.Died - start
		}
		out = append(out, from)
	}
	return out
}

// mostOnward is how many times as much as a recording has had a world goes on for at most: the further off, the less a recording tells.
const mostOnward = 2

// Onward has a world that was made of a recording go on until nine tenths of what is left are had, too, of twice as much as was had at most, and returns
// how many times as much that is. Strategies that take the fast pages first are ahead of others for a while, and behind them when the slow
// ones are due.
func (w *World) Onward() (times float64) {
	times = max(1, min(mostOnward, counts*w.size()/w.Target))
	if times < leastOnward {
		return 1
	}
	w.Target *= times
	w.Horizon = int64(float64(w.Horizon) * times)
	return times
}

// leastOnward is from how many times as much on something is left.
const leastOnward = 1.01

// comes is for how long after the beginning what comes is taken for there from the beginning, s.
const comes = 10

// noise is the spread of leases' speeds around what the pieces that they were in tell of their pairs, as a logarithm, by the median: what those tell is
// replayed as it was.
func (p *pieces) noise() float64 {
	var off []float64
	for i := range p.leases {
		l := &p.leases[i]
		node, known := p.nodes[l.Node]
		x := p.pairs[[2]int{node, p.at[l.Site]}]
		if !known || x == nil || l.Worked <= 0 || l.Good <= 0 {
			continue
		}
		s := x.over(p.piece(l.Started), p.piece(l.Ended))
		if s <= 0 {
			continue
		}
		each := l.Bits / l.Good
		if at := &p.sites[p.at[l.Site]]; at.paced {
			each = at.bits / at.good
		}
		off = append(off, math.Abs(math.Log(each*l.Asked/l.Worked/s)))
	}
	if len(off) < 10 {
		return 0.1
	}
	slices.Sort(off)
	return min(0.5, normally*off[len(off)/2])
}

// busiest is what a node that says it was the limit took in then, bits/s: the ninth of ten of its busiest seconds; 0 if it
// hardly ever was.
func (p *pieces) busiest(r *Recording, node int) float64 {
	took, limited, all := map[int64]float64{}, 0, 0
	for i := range r.Facts {
		f := &r.Facts[i]
		if f.Kind != learn.Report || f.Node != r.Nodes[node].ID {
			continue
		}
		all++
		if f.Limited {
			limited++
			took[f.At/busy] += f.Bits
		}
	}
	if limited < 20 || limited*4 < all {
		return 0
	}
	rates := make([]float64, 0, len(took))
	for _, b := range took {
		rates = append(rates, b*1000/busy)
	}
	slices.Sort(rates)
	return rates[len(rates)*9/10]
}

// busy is over how many ms a node's rate is taken: parts of reports come every second or so.
const busy = 5000

// fill gives a world its matrices and their changes.
func (p *pieces) fill(w *World, seed uint64) {
	d := drawing{p: p, rng: rand.New(rand.NewPCG(seed, 0x7265706c6179)), book: p.book}
	numbers := make([]int, len(w.Nodes))
	for i := range w.Nodes {
		numbers[i] = d.book.Node(w.Nodes[i].ID)
	}
	d.calibrate(w, numbers)
	matrix := func() [][]float64 {
		m := make([][]float64, len(w.Nodes))
		for i := range m {
			m[i] = make([]float64, len(w.Sites))
		}
		return m
	}
	w.Speed, w.Delay, w.Success, w.Roots, w.Waits = matrix(), matrix(), matrix(), matrix(), matrix()
	type value struct {
		i, j int
		to   float64
	}
	later := make([][]value, p.n)
	for i := range w.Nodes {
		for j := range w.Sites {
			x, site := p.pairs[[2]int{i, j}], d.book.Site(w.Sites[j].Name)
			ms, off := d.delay(numbers[i], site)
			speeds := d.speeds(numbers[i], site, j, x, ms, off)
			w.Delay[i][j], w.Success[i][j], w.Speed[i][j], w.Roots[i][j] = ms, p.sites[j].success(x), speeds[0], p.sites[j].probed.root()
			w.Waits[i][j] = p.waitAt(j, ms/1000)
			if x != nil && x.probed.probes > 0 {
				w.Roots[i][j], w.Waits[i][j] = x.probed.root(), x.probed.waited(speeds[p.piece(x.probed.first)])
			}
			for k := 1; k < len(speeds); k++ {
				if speeds[k] != speeds[k-1] {
					later[k] = append(later[k], value{i, j, speeds[k]})
				}
			}
		}
	}
	if between := d.book.Apart(numbers); measured(between) {
		w.Between = between
	}
	for k := range later {
		if vs := later[k]; len(vs) > 0 {
			w.Changes = append(w.Changes, Change{At: int64(k) * p.length, Apply: func(w *World) {
				for _, v := range vs {
					w.Speed[v.i][v.j] = v.to
				}
			}})
		}
	}
}

// measured reports whether any delay between nodes was.
func measured(between [][]float64) bool {
	for i := range between {
		for _, ms := range between[i] {
			if ms == ms {
				return true
			}
		}
	}
	return false
}

// Replayed is what strategies make of a recorded world: how fast they had what is counted of it.
type Replayed struct {
	Seconds float64 // until it was had; +Inf: not within five times the recording's time
	Rate    float64 // useful bits/s until then
}

// stores are the bandwidths that nodes have measured to their storage, bits/s: those of a fleet do when they join, and strategies plan
// by it.
func (r Recording) stores() map[string]float64 {
	bits, seconds, out := map[string]float64{}, map[string]float64{}, map[string]float64{}
	for i := range r.Facts {
		if f := &r.Facts[i]; f.Kind == learn.Store && f.Seconds > 0 {
			bits[f.Node] += f.Bits
			seconds[f.Node] += f.Seconds
			out[f.Node] = bits[f.Node] / seconds[f.Node]
		}
	}
	return out
}

// lost is the share of delays that were so much longer than the one before and the one after of their pair as where a packet is lost; -1 if none was. Where
// they stay as long it is the way that has changed.
func (r *Recording) lost() float64 {
	of := map[[2]string][]float64{}
	for i := range r.Facts {
		if f := &r.Facts[i]; f.Kind == learn.Delay {
			of[[2]string{f.Node, f.Site}] = append(of[[2]string{f.Node, f.Site}], 1000*f.Seconds)
		}
	}
	late, all := 0.0, 0.0
	for _, ms := range of {
		for i := 1; i < len(ms)-1; i++ {
			if all++; ms[i] > max(ms[i-1], ms[i+1])+lostMS {
				late++
			}
		}
	}
	if late == 0 {
		return -1
	}
	return late / all
}

// work is what leases took of their nodes besides bandwidth, as their nodes say. None took more than its node has: nodes have said so of leases
// that had hardly begun.
func (r *Recording) work() (w Work) {
	has := map[string]float64{}
	for i := range r.Nodes {
		has[r.Nodes[i].ID] = r.Nodes[i].CPU
	}
	cores, bits, memory, seconds := 0.0, 0.0, 0.0, 0.0
	for i := range r.Facts {
		if f := &r.Facts[i]; f.Kind == learn.Report && f.CPU > 0 {
			most := has[f.Node]
			if most <= 0 {
				most = f.CPU
			}
			cores, bits = cores+min(f.CPU, most)*f.Seconds, bits+f.Bits
			memory, seconds = memory+f.Memory*f.Seconds, seconds+f.Seconds
		}
	}
	if bits > 0 {
		w = Work{CPU: cores / bits, Memory: memory / seconds}
	}
	return w
}

// Same has strategies decide by chance in a world as those of the recording did. Another strategy, or a recording of a version that decided otherwise, has
// chances of its own in each world.
func (r *Recording) Same(w *World) { w.Chance = uint64(r.Began) }

// Replay runs a strategy in the world of a recording.
func Replay(w World, st schedule.Strategy) (Replayed, error) {
	r, err := RunBound(w, st, 1, false)
	if err != nil {
		return Replayed{}, err
	}
	if r.Reached == 0 {
		return Replayed{Seconds: math.Inf(1), Rate: r.Bits * 1000 / float64(w.Horizon)}, nil
	}
	seconds := float64(r.Reached) / 1000
	return Replayed{Seconds: seconds, Rate: w.Target / seconds}, nil
}

// Fleet are its nodes as a strategy sees them.
func (w *World) Fleet() []schedule.Node {
	out := make([]schedule.Node, len(w.Nodes))
	for i := range w.Nodes {
		out[i] = schedule.Node{ID: w.Nodes[i].ID, Labels: w.Nodes[i].Labels, Prices: w.Nodes[i].Prices}
	}
	return out
}

// Without makes some nodes have never been there.
func (w *World) Without(gone map[string]bool) {
	nodes := append([]Node(nil), w.Nodes...)
	for i := range nodes {
		if gone[nodes[i].ID] {
			nodes[i].Join, nodes[i].Leave, nodes[i].Away = math.MaxInt64, 0, nil
		}
	}
	w.Nodes = nodes
}
