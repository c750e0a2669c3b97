package predict

import (
	"math"

	"argosy/internal/crawl"
)

// Record is all that was measured, and nothing that was concluded: a fold of facts, the same whatever reads it. Nodes and
// sites go by the numbers that Node and Site gave them. It is not safe for use by several goroutines.
type Record struct {
	nodes index
	sites index
	node  []nodeStat
	site  []siteStat
	works map[Kind]*work
	page  size // of all sites
	probe size // of bandwidth probes, each of which counts as a page
	waits waits
	aging aging
	clump clump

	observed int // observations so far
	fleet    int // of them delays between nodes
	books    int // that read it
}

// index gives names numbers in the order of their coming.
type index struct {
	at    map[string]int
	names []string
}

func (x *index) number(name string) int {
	if n, ok := x.at[name]; ok {
		return n
	}
	n := len(x.names)
	x.at[name] = n
	x.names = append(x.names, name)
	return n
}

// nodeStat is what is known of a node.
type nodeStat struct {
	store total
	delay map[int]*samples // to other nodes
}

type siteStat struct {
	pairs   []pair // in the order of node numbers
	served  share
	version uint32 // rises with everything that is learned of the site
	delays  uint32 // delays that were measured to it
	page    size
}

// pair is what was measured of a node and a site.
type pair struct {
	node   int32 // first what is read of all pairs of a site that is looked at
	timed  bool  // see times
	tried  uint8 // which probes have ended, whatever they measured: triedSpeed, triedDelay
	ln     lnDelay
	rate   level // logarithm of bits/s: BC and leases
	least  least // of a pair without a rate
	free   tries // of BC, while the node was not at its limit
	served share // leases that ended well
	crawl  total // BC
	delay  *samples
	open   opened
	heard  int64 // when something was measured of it last, Unix ms
}

// times says whether a pair's delay was measured often enough to tell of its speed: one in some tens is of a lost packet, and many times as
// long, which the median of a few does not show. The first request of a probe tells a single one.
func (p *pair) times() { p.timed = p.delay != nil && len(p.delay.ms) >= crawl.PingTries }

const (
	triedSpeed = 1 << iota
	triedDelay
)

// tries are bandwidth probes.
type tries struct{ bits, seconds, tries float64 }

// encode leaves out what has seen nothing.
func (t tries) encode() []float64 {
	if t.tries == 0 {
		return nil
	}
	return []float64{t.bits, t.seconds, t.tries}
}

// lnDelay is the logarithm of what the first book made of a pair's delays, which is asked for of every pair of a site that is looked at.
type lnDelay struct {
	value float64
	epoch int
	made  bool // of all delays that there are
}

// size is what answers held.
type size struct{ bits, pages float64 }

func (s *size) add(bits, pages float64) {
	const keep = 1000 // pages
	if s.pages > keep {
		s.bits, s.pages = s.bits*keep/s.pages, keep
	}
	s.bits, s.pages = s.bits+bits, s.pages+pages
}

// PageBits is the mean size of a page of a site, bits: as far as it is known, else of all sites, else the default.
func (rec *Record) PageBits(site int) float64 {
	if s := rec.site[site].page; s.pages > 0 {
		return s.bits / s.pages
	}
	if rec.page.pages > 0 {
		return rec.page.bits / rec.page.pages
	}
	return defaultPage
}

// ProbeBits is the mean size of what a bandwidth probe fetches, bits: so many root pages, of those that were probed if any were, else as large
// as pages of the site.
func (rec *Record) ProbeBits(site, roots int) float64 {
	if rec.probe.pages > 0 {
		return rec.probe.bits / rec.probe.pages
	}
	return float64(roots) * rec.PageBits(site)
}

// defaultPage is 30 KB, in bits, about what an HTML page on the web holds.
const defaultPage = 240e3

// total is bits over seconds, as the bandwidth paper measures.
type total struct{ bits, seconds float64 }

// samples are the last delays that were measured.
type samples struct {
	ms      []float64
	next    int
	version int
	made    []summed // by each book
}

// summed is what a book made of samples, and of which.
type summed struct {
	version, epoch int
	ms, ln         float64 // and its logarithm
}

const keepSamples = 20

func (s *samples) add(ms float64) {
	s.version++
	if len(s.ms) < keepSamples {
		s.ms = append(s.ms, ms)
		return
	}
	s.ms[s.next] = ms
	s.next = (s.next + 1) % keepSamples
}

// level is a mean that forgets.
type level struct {
	mean   float64
	weight float64 // observations, the old ones less, and those less that follow one another at once
	at     int64
	off    int     // observations in a row that were far from the mean, on one side
	leases float64 // share of the weight that leases have; what is left is that of bandwidth probes, as they were measured (waits.go)
}

// share is a success rate that forgets.
type share struct {
	good, all float64
	at        int64
}

// NewRecord returns an empty record.
func NewRecord() *Record {
	return &Record{nodes: index{at: map[string]int{}}, sites: index{at: map[string]int{}}, works: map[Kind]*work{}}
}

// Book returns a reader of the record.
func (rec *Record) Book(cfg Config) *Book {
	rec.books++
	return &Book{Record: rec, cfg: cfg.withDefaults(), id: rec.books - 1}
}

// Node returns the number of a node; a new name gets the next.
func (rec *Record) Node(id string) int {
	n := rec.nodes.number(id)
	for len(rec.node) <= n {
		rec.node = append(rec.node, nodeStat{delay: map[int]*samples{}})
	}
	return n
}

// Nodes is how many nodes there are.
func (rec *Record) Nodes() int { return len(rec.node) }

// Knows reports whether a node has a number.
func (rec *Record) Knows(id string) bool {
	_, ok := rec.nodes.at[id]
	return ok
}

// KnowsSite reports whether a site has a number.
func (rec *Record) KnowsSite(name string) bool {
	_, ok := rec.sites.at[name]
	return ok
}

// Site returns the number of a site; a new name gets the next.
func (rec *Record) Site(name string) int {
	n := rec.sites.number(name)
	for len(rec.site) <= n {
		rec.site = append(rec.site, siteStat{})
	}
	return n
}

// Version changes whenever something was learned of a site.
func (rec *Record) Version(site int) uint32 { return rec.site[site].version }

// Holds is for how long a measurement speaks for its pair, s: until what it has moved since is as much as what pairs
// differ from each other by, half an hour at most.
func (rec *Record) Holds() float64 {
	_, drift := rec.aging.fit()
	return min(1800, firstSpread*firstSpread/max(drift, 1e-12)/1000)
}

// Noise is the variance of the logarithm of a lease's speed around its pair's.
func (rec *Record) Noise() float64 {
	noise, _ := rec.aging.fit()
	return noise
}

// halfLife is after how many ms a measurement counts half.
const halfLife = 30 * 60 * 1000

func fade(dt int64) float64 {
	if dt <= 0 {
		return 1
	}
	return math.Exp2(-float64(dt) / halfLife)
}

func (rec *Record) pair(node, site int) *pair {
	rec.site[site].version++
	ps := rec.site[site].pairs
	k := placeOf(ps, node)
	if k == len(ps) || int(ps[k].node) != node {
		ps = append(ps, pair{})
		copy(ps[k+1:], ps[k:])
		ps[k] = pair{node: int32(node)}
		rec.site[site].pairs = ps
	}
	return &ps[k]
}

// placeOf is sort.Search for a node's pair: it is asked for more often than anything else.
func placeOf(ps []pair, node int) int {
	lo, hi := 0, len(ps)
	for lo < hi {
		if middle := (lo + hi) / 2; int(ps[middle].node) < node {
			lo = middle + 1
		} else {
			hi = middle
		}
	}
	return lo
}

func (rec *Record) look(node, site int) *pair {
	if site >= len(rec.site) {
		return nil // a book that knows nothing yet
	}
	ps := rec.site[site].pairs
	if k := placeOf(ps, node); k < len(ps) && int(ps[k].node) == node {
		return &ps[k]
	}
	return nil
}

// Stored records one try of a storage bandwidth probe (BS) of a node.
func (rec *Record) Stored(node int, bits, seconds float64) {
	if bits <= 0 || seconds <= 0 {
		return
	}
	rec.node[node].store.bits += bits
	rec.node[node].store.seconds += seconds
}

// Delay records an httpping from a node to a site.
func (rec *Record) Delay(node, site int, ms float64, at int64) {
	if ms <= 0 {
		return
	}
	p := rec.pair(node, site)
	if p.delay == nil {
		p.delay = &samples{}
	}
	p.delay.add(ms)
	p.times()
	p.ln.made = false
	p.heard = max(p.heard, at)
	rec.site[site].delays++
	rec.observed++
}

// NodeDelay records an httpping between two nodes.
func (rec *Record) NodeDelay(from, to int, ms float64) {
	if ms <= 0 || from == to {
		return
	}
	if rec.node[from].delay[to] == nil {
		rec.node[from].delay[to] = &samples{}
	}
	rec.node[from].delay[to].add(ms)
	rec.fleet++
	rec.observed++
}

// Report is what a finished lease, or the part of a running one, tells of its pair.
type Report struct {
	Bits    float64 // of pages
	Seconds float64
	Good    float64 // of All, how many requests gave a page
	All     float64
	Limited bool // the node was at its own limit: the pair might have been faster
}

// Reported records what a lease did. The time that failed requests took is not counted as time of the pair's speed, but in
// the share of those that succeed: the product of both is useful bits over time.
func (rec *Record) Reported(node, site int, r Report, at int64) {
	p := rec.pair(node, site)
	p.heard = max(p.heard, at)
	if x, ok := p.open.add(r); ok {
		rec.waited(p, x, at)
		rec.learn(p, x, at)
	}
	if r.Bits > 0 && r.Good > 0 {
		rec.site[site].page.add(r.Bits, r.Good)
		rec.page.add(r.Bits, r.Good)
	}
	rec.answered(p, site, r, at)
}

// Refused records that a site has refused a node so many times, which tells nothing of its speed.
func (rec *Record) Refused(node, site int, tries float64, at int64) {
	p := rec.pair(node, site)
	p.heard = max(p.heard, at)
	rec.answered(p, site, Report{All: tries}, at)
}

// answered takes in what share of a pair's requests gave a page.
func (rec *Record) answered(p *pair, site int, r Report, at int64) {
	if r.All > 0 {
		rec.clump.add(p.served, r)
		if p.served.surprised(r, rec.clump.of()) { // what a site does to one node it may do to others
			for i := range rec.site[site].pairs {
				rec.site[site].pairs[i].served.doubt(doubtOthers)
			}
			rec.site[site].served.doubt(doubtOthers)
			p.served = share{}
		}
		p.served.add(r, at, sharePages)
		rec.site[site].served.add(r, at, 4*sharePages)
		rec.observed++
	}
}

// opened is what reports tell of a pair's speed that is not enough to learn from yet: a page that takes longer than a part of a
// report lies is told with the part in which it ends, and a mean of the logarithms of such parts would be far below the speed.
type opened struct {
	bits, seconds, good, all float64
	limited                  bool
}

// A pair's speed is learned from so many requests at least, or so many seconds of work.
const (
	learnPages   = 8
	learnSeconds = 4
)

// add takes in a report, and returns a speed when there is enough of it.
func (o *opened) add(r Report) (x speed, ok bool) {
	o.bits, o.seconds, o.good, o.all = o.bits+r.Bits, o.seconds+r.Seconds, o.good+r.Good, o.all+r.All
	o.limited = o.limited || r.Limited
	if o.all < learnPages && o.seconds < learnSeconds || o.seconds <= 0 {
		return x, false
	}
	if o.good <= 0 && o.all < learnPages && o.seconds < patience {
		return x, false // a long page is under way
	}
	was := *o
	*o = opened{}
	if was.bits <= 0 || was.good <= 0 {
		return x, false
	}
	return speed{ln: math.Log(was.bits / was.seconds * was.all / was.good), limited: was.limited}, true
}

// patience is for how many seconds of work a page may be waited for that tells how fast they were.
const patience = 600

// sharePages is how many pages a success rate remembers at most, so that a change is noticed within as many;
// doubtOthers is what is left of what is known of a site's other nodes when one of them is treated otherwise than before.
const (
	sharePages  = 60
	doubtOthers = 0.3
)

// surprised tells whether a report is too far from what a pair was known for to be chance, where so many requests tell as much
// as one.
func (s *share) surprised(r Report, clump float64) bool {
	if s.all < 5 {
		return false
	}
	off, chance := s.off(r)
	return math.Abs(off) > farOff*math.Sqrt(chance*clump)+0.5
}

func (s *share) doubt(f float64) { s.good, s.all = s.good*f, s.all*f }

func (s *share) add(r Report, at int64, most float64) {
	s.doubt(fade(at - s.at))
	s.good, s.all, s.at = s.good+r.Good, s.all+r.All, at
	if s.all > most {
		s.doubt(most / s.all)
	}
}

// farOff is how many standard deviations are no longer noise: three of those in a row mean that a pair has changed, and
// what was known before is dropped. keepWeight is how many observations a mean remembers at most.
const (
	farOff     = 3
	keepWeight = 30
)

func (rec *Record) observe(p *pair, x speed, at int64) {
	rec.observed++
	l := &p.rate
	noise, drift := rec.aging.fit()
	f, dt := 1.0, max(0, at-l.at)
	if l.weight > 0 {
		off := rec.lnOf(p, x) - rec.lnRate(p)
		if math.Abs(off) > farOff*math.Sqrt(noise*(1+1/l.weight)+drift*float64(dt)) {
			l.off++
		} else {
			l.off = 0
		}
		if dt >= justNow || l.weight >= 2 { // else it is hardly apart from all that the pair is known by
			rec.aging.add(min(off*off, farOff*farOff)/(1+1/l.weight), dt, apart(dt))
		}
		f = 1 / (1 + l.weight*drift*float64(dt)/noise)
	}
	if l.off >= 3 {
		f, l.off = 0, 0
	}
	w, one := min(l.weight*f, keepWeight), 1.0
	if w > 0 {
		one = apart(dt)
	}
	l.mean, l.leases = (l.mean*w+x.ln*one)/(w+one), l.leases*w/(w+one)
	if !x.probe {
		l.leases += one / (w + one)
	}
	l.weight, l.at = w+one, at
}

// variance is that of a pair's ln speed around what was measured of it, at a time.
func (l *level) variance(noise, drift float64, at int64) float64 {
	return noise/l.weight + drift*float64(max(0, at-l.at))
}

func (s share) now(at int64) share {
	if s.all == 0 {
		return share{}
	}
	f := fade(at - s.at)
	return share{s.good * f, s.all * f, at}
}

// Probed reports whether the bandwidth of a pair was probed.
func (rec *Record) Probed(node, site int) bool {
	p := rec.look(node, site)
	return p != nil && p.crawl.seconds > 0
}

// Tried records that a probe of a pair has ended, of its delay or of its bandwidth. It may have measured nothing: the site has no root page, or
// refuses the node.
func (rec *Record) Tried(node, site int, delay bool) {
	what := uint8(triedSpeed)
	if delay {
		what = triedDelay
	}
	rec.pair(node, site).tried |= what
}

// WasTried reports whether a probe of a pair has ended.
func (rec *Record) WasTried(node, site int, delay bool) bool {
	p := rec.look(node, site)
	switch {
	case p == nil:
		return false
	case delay:
		return p.tried&triedDelay != 0
	}
	return p.tried&triedSpeed != 0
}

// Heard is what a node has measured of a site itself.
type Heard struct {
	Node     int     `json:"-"`
	At       int64   `json:"at"`                 // the last time, Unix ms
	Probed   bool    `json:"probed,omitempty"`   // its bandwidth
	Requests float64 `json:"requests,omitempty"` // that are remembered, the old ones less
	Delays   int     `json:"delays,omitempty"`   // that are remembered
}

// Heard returns what nodes have measured of a site, in the order of their numbers.
func (rec *Record) Heard(site int) []Heard {
	if site >= len(rec.site) {
		return nil
	}
	var out []Heard
	for i := range rec.site[site].pairs {
		p := &rec.site[site].pairs[i]
		h := Heard{Node: int(p.node), At: p.heard, Probed: p.crawl.seconds > 0, Requests: p.served.all}
		if p.delay != nil {
			h.Delays = len(p.delay.ms)
		}
		out = append(out, h)
	}
	return out
}

// Timed reports whether the delay of a pair was measured, by an httpping or an ordinary request.
func (rec *Record) Timed(node, site int) bool {
	p := rec.look(node, site)
	return p != nil && p.delay != nil
}

// Apart returns the delays that were measured between some nodes, ms, by their places among them; NaN is not measured.
func (b *Book) Apart(nodes []int) [][]float64 {
	out := make([][]float64, len(nodes))
	for i, from := range nodes {
		out[i] = make([]float64, len(nodes))
		for j, to := range nodes {
			out[i][j] = b.between(from, to)
		}
	}
	return out
}

// between is the delay that was measured between two nodes, ms, from either side; NaN: none was.
func (b *Book) between(from, to int) float64 {
	if s := b.node[from].delay[to]; s != nil {
		return b.summary(s)
	}
	if s := b.node[to].delay[from]; s != nil {
		return b.summary(s)
	}
	return math.NaN()
}

// Served returns how many of a pair's requests are remembered, the old ones less, and how many of those gave a page:
// uncorrected, as the feedback paper's table holds it.
func (rec *Record) Served(node, site int, at int64) (good, all float64) {
	if p := rec.look(node, site); p != nil {
		s := p.served.now(at)
		return s.good, s.all
	}
	return 0, 0
}
