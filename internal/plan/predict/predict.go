// Package predict keeps what was measured and says what to expect of a (node, site) pair: speed, delay and success, each
// with how it is known and how sure that is. Measured pairs speak for themselves; others are predicted from network
// coordinates, from how the node does elsewhere and the site with others, and from nodes nearby. It is pure; times are
// Unix ms, speeds bits per second, delays ms.
package predict

import (
	"math"
	"sort"

	"argosy/internal/plan/netcoord"
)

// Source says how a figure is known.
type Source uint8

// Sources, the weakest first.
const (
	Default   Source = iota // nothing is known: the stated first value
	Predicted               // from other pairs
	Measured                // from this pair, corrected by what is known of others
	Stated                  // by a job or a node, or counted: not in doubt
	Drawn                   // from the distribution of another figure, to explore
)

// String returns the word that people read.
func (s Source) String() string {
	return [...]string{"default", "predicted", "measured", "stated", "drawn"}[s]
}

// Figure is a value and how well it is known.
type Figure struct {
	Value  float64
	Sigma  float64 // standard deviation of its logarithm; of a share, of itself
	Source Source
}

// Config of a book. The zero value of a field takes the default.
type Config struct {
	HalfLife    int64   // ms after which a measurement counts half; default 30 min
	DefaultRate float64 // bits/s expected where nothing was measured anywhere; default 8e6
	DefaultMS   float64 // delay expected where nothing was measured; default 100
	Landmarks   int     // for coordinates; default 9, less if there are fewer nodes
	Coordinates netcoord.Config
	// Summary of repeated delays; default the median. It is given one modulus for all pairs, which Fit chooses from how
	// their samples are distributed.
	Summary func(samples []float64, modulus float64) float64
}

func (c Config) withDefaults() Config {
	if c.HalfLife == 0 {
		c.HalfLife = 30 * 60 * 1000
	}
	if c.DefaultRate == 0 {
		c.DefaultRate = 8e6
	}
	if c.DefaultMS == 0 {
		c.DefaultMS = 100
	}
	if c.Landmarks == 0 {
		c.Landmarks = 9
	}
	if c.Coordinates.Dim == 0 {
		c.Coordinates = netcoord.WithHeights()
		c.Coordinates.Rounds = 0 // the placing of one host must not move the others
	}
	if c.Summary == nil {
		c.Summary = func(ms []float64, _ float64) float64 { return netcoord.Median(ms) }
	}
	return c
}

// Book is all that was measured, and the model fitted to it. Nodes and sites go by the numbers that Node and Site gave
// them. It is not safe for use by several goroutines; a snapshot holds it while a cycle reads it.
type Book struct {
	cfg   Config
	nodes index
	sites index
	node  []nodeStat
	site  []siteStat
	model model
	grown int // observations since the model was fitted
	seen  int
	fleet int // delays between nodes since the landmarks were fitted
	known int // delays between nodes before that

	works   map[Kind]*work
	modulus float64 // of summaries, ms; 0 before the first fit
	scratch []float64
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
	group  string // nodes that are alike: a city and provider
	store  total
	delay  map[int]*samples // to other nodes
	coord  netcoord.Coord
	served share
}

type siteStat struct {
	pairs   []pair // in the order of node numbers
	coord   netcoord.Coord
	served  share
	version uint32 // rises with everything that is learned of the site
	dirty   bool   // delays since its coordinate was fitted
}

// pair is what was measured of a node and a site.
type pair struct {
	node   int32
	crawl  total // BC
	rate   level // logarithm of bits/s: BC and leases
	served share // leases that ended well
	delay  *samples
}

// total is bits over seconds, as the bandwidth paper measures.
type total struct{ bits, seconds float64 }

// samples are the last delays that were measured.
type samples struct {
	ms      []float64
	next    int
	summary float64 // 0: not made yet
}

const keepSamples = 20

func (s *samples) add(ms float64) {
	s.summary = 0
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
	weight float64 // observations, the old ones less
	at     int64
	off    int // observations in a row that were far from the mean, on one side
}

// share is a success rate that forgets.
type share struct {
	good, all float64
	at        int64
}

// New returns an empty book.
func New(cfg Config) *Book {
	return &Book{cfg: cfg.withDefaults(), nodes: index{at: map[string]int{}}, sites: index{at: map[string]int{}}}
}

// Node returns the number of a node; a new name gets the next.
func (b *Book) Node(id string) int {
	n := b.nodes.number(id)
	for len(b.node) <= n {
		b.node = append(b.node, nodeStat{delay: map[int]*samples{}})
	}
	return n
}

// Site returns the number of a site; a new name gets the next.
func (b *Book) Site(name string) int {
	n := b.sites.number(name)
	for len(b.site) <= n {
		b.site = append(b.site, siteStat{})
	}
	return n
}

// SetGroup says which nodes are alike before anything is measured: those of one city and provider, say.
func (b *Book) SetGroup(node int, group string) { b.node[node].group = group }

// summary is what repeated delays come down to.
func (b *Book) summary(s *samples) float64 {
	if b.modulus == 0 {
		return b.cfg.Summary(s.ms, netcoord.DefaultModulus)
	}
	return b.cfg.Summary(s.ms, b.modulus)
}

// Version changes whenever something was learned of a site.
func (b *Book) Version(site int) uint32 { return b.site[site].version }

func (b *Book) fade(dt int64) float64 {
	if dt <= 0 {
		return 1
	}
	return math.Exp2(-float64(dt) / float64(b.cfg.HalfLife))
}

func (b *Book) pair(node, site int) *pair {
	b.site[site].version++
	ps := b.site[site].pairs
	k := sort.Search(len(ps), func(k int) bool { return int(ps[k].node) >= node })
	if k == len(ps) || int(ps[k].node) != node {
		ps = append(ps, pair{})
		copy(ps[k+1:], ps[k:])
		ps[k] = pair{node: int32(node)}
		b.site[site].pairs = ps
	}
	return &ps[k]
}

func (b *Book) look(node, site int) *pair {
	if site >= len(b.site) {
		return nil // a book that knows nothing yet
	}
	ps := b.site[site].pairs
	k := sort.Search(len(ps), func(k int) bool { return int(ps[k].node) >= node })
	if k < len(ps) && int(ps[k].node) == node {
		return &ps[k]
	}
	return nil
}

// Crawled records one try of a crawl bandwidth probe (BC); limited says that the node was at its own limit meanwhile,
// so that the pair might have been faster.
func (b *Book) Crawled(node, site int, bits, seconds float64, limited bool, at int64) {
	if bits <= 0 || seconds <= 0 {
		return
	}
	p := b.pair(node, site)
	p.crawl.bits += bits
	p.crawl.seconds += seconds
	b.learn(&p.rate, math.Log(bits/seconds), limited, at)
}

// learn takes in a speed, unless it only says that the node was busy.
func (b *Book) learn(l *level, x float64, limited bool, at int64) {
	if !limited || x > l.mean && l.weight > 0 {
		b.observe(l, x, 1, at)
	}
}

// Stored records one try of a storage bandwidth probe (BS) of a node.
func (b *Book) Stored(node int, bits, seconds float64) {
	if bits <= 0 || seconds <= 0 {
		return
	}
	b.node[node].store.bits += bits
	b.node[node].store.seconds += seconds
}

// Delay records an httpping from a node to a site.
func (b *Book) Delay(node, site int, ms float64) {
	if ms <= 0 {
		return
	}
	p := b.pair(node, site)
	if p.delay == nil {
		p.delay = &samples{}
	}
	p.delay.add(ms)
	b.site[site].dirty = true
	b.grown++
}

// NodeDelay records an httpping between two nodes.
func (b *Book) NodeDelay(from, to int, ms float64) {
	if ms <= 0 || from == to {
		return
	}
	if b.node[from].delay[to] == nil {
		b.node[from].delay[to] = &samples{}
	}
	b.node[from].delay[to].add(ms)
	b.fleet++
	b.grown++
}

// Report is what a finished lease, or the part of a running one, tells of its pair.
type Report struct {
	Bits    float64 // collected
	Seconds float64
	Good    float64 // of All, how many requests gave a page
	All     float64
	Limited bool // the node was at its own limit: the pair might have been faster
}

// Reported records what a lease did.
func (b *Book) Reported(node, site int, r Report, at int64) {
	p := b.pair(node, site)
	if r.Bits > 0 && r.Seconds > 0 {
		b.learn(&p.rate, math.Log(r.Bits/r.Seconds), r.Limited, at)
	}
	if r.All > 0 {
		if p.served.surprised(r) { // what a site does to one node it may do to others
			for i := range b.site[site].pairs {
				b.site[site].pairs[i].served.doubt(doubtOthers)
			}
			b.site[site].served.doubt(doubtOthers)
			p.served = share{}
		}
		p.served.add(b, r, at, sharePages)
		b.site[site].served.add(b, r, at, 4*sharePages)
		b.node[node].served.add(b, r, at, 4*sharePages)
		b.grown++
	}
}

// sharePages is how many pages a success rate remembers at most, so that a change is noticed within as many;
// doubtOthers is what is left of what is known of a site's other nodes when one of them is treated otherwise than before.
const (
	sharePages  = 60
	doubtOthers = 0.3
)

// surprised tells whether a report is too far from what a pair was known for to be chance.
func (s *share) surprised(r Report) bool {
	if s.all < 5 {
		return false
	}
	p := (s.good + 0.5) / (s.all + 1)
	sd := math.Sqrt(p * (1 - p) * r.All * (1 + r.All/s.all))
	return math.Abs(r.Good-p*r.All) > 3*sd+0.5
}

func (s *share) doubt(f float64) { s.good, s.all = s.good*f, s.all*f }

func (s *share) add(b *Book, r Report, at int64, most float64) {
	s.doubt(b.fade(at - s.at))
	s.good, s.all, s.at = s.good+r.Good, s.all+r.All, at
	if s.all > most {
		s.doubt(most / s.all)
	}
}

// sigmaOnce is how far one measurement of a speed is from its pair's mean, as a logarithm; farOff is what is no longer
// noise: three of those in a row mean that the pair has changed, and what was known before is dropped.
const (
	sigmaOnce = 0.3
	farOff    = 1.0
)

func (b *Book) observe(l *level, x, weight float64, at int64) {
	b.grown++
	if l.weight > 0 && math.Abs(x-l.mean) > farOff {
		l.off++
	} else {
		l.off = 0
	}
	f := b.fade(at - l.at)
	if l.off >= 3 {
		f, l.off = 0, 0
	}
	w := min(l.weight*f, 20)
	l.mean = (l.mean*w + x*weight) / (w + weight)
	l.weight, l.at = w+weight, at
}

// Crawl returns BC of a pair: total bits over total seconds of the tries, or what the pair's speed is predicted to be.
func (b *Book) Crawl(node, site int, at int64) Figure {
	if p := b.look(node, site); p != nil && p.crawl.seconds > 0 {
		return Figure{p.crawl.bits / p.crawl.seconds, sigmaOnce, Measured}
	}
	return b.Rate(node, site, at)
}

// Store returns BS of a node: total bits over total seconds, or the mean of the nodes that were measured.
func (b *Book) Store(node int) Figure {
	if t := b.node[node].store; t.seconds > 0 {
		return Figure{t.bits / t.seconds, sigmaOnce, Measured}
	}
	sum, n := 0.0, 0
	for i := range b.node {
		if t := b.node[i].store; t.seconds > 0 {
			sum += math.Log(t.bits / t.seconds)
			n++
		}
	}
	if n > 0 {
		return Figure{math.Exp(sum / float64(n)), 1, Predicted}
	}
	return Figure{10 * b.cfg.DefaultRate, 1.5, Default}
}

// Latency returns the delay between a node and a site: summary of what was measured, or the distance of coordinates.
func (b *Book) Latency(node, site int) Figure {
	if p := b.look(node, site); p != nil && p.delay != nil {
		if p.delay.summary == 0 {
			p.delay.summary = b.summary(p.delay)
		}
		return Figure{p.delay.summary, 0.2, Measured}
	}
	n, s := b.node[node].coord, b.site[site].coord
	if n.Known() && s.Known() {
		return Figure{max(netcoord.Distance(n, s), 0.1), min(1.5, 0.2+math.Hypot(n.Error, s.Error)), Predicted}
	}
	return Figure{b.cfg.DefaultMS, 1.5, Default}
}

// Success returns the share of requests that give a page. Where little is known of a pair, its node and its site
// speak for it.
func (b *Book) Success(node, site int, at int64) Figure {
	const strength = 4
	n, s := b.node[node].served.now(b, at), b.site[site].served.now(b, at)
	mean := func(x share) float64 { return (x.good + 4) / (x.all + 5) }
	prior := min(0.99, mean(n)*mean(s)/0.8)
	src := Predicted
	if n.all+s.all == 0 {
		prior, src = 0.8, Default
	}
	var own share
	if p := b.look(node, site); p != nil {
		own = p.served.now(b, at)
	}
	if own.all > 0 {
		src = Measured
	}
	m := (own.good + strength*prior) / (own.all + strength)
	return Figure{m, math.Sqrt(m * (1 - m) / (own.all + strength + 1)), src}
}

func (s share) now(b *Book, at int64) share {
	if s.all == 0 {
		return share{}
	}
	f := b.fade(at - s.at)
	return share{s.good * f, s.all * f, at}
}

// Completion returns pages collected over pages found of a pair, uncorrected: what the feedback paper's table holds.
func (b *Book) Completion(node, site int, at int64) (rate float64, known bool) {
	if p := b.look(node, site); p != nil {
		if s := p.served.now(b, at); s.all > 0 {
			return s.good / s.all, true
		}
	}
	return 0, false
}

// work is what leases of one kind took, as means that forget.
type work struct {
	seconds, pages float64
	need           [3]float64
	weight         float64
}

// Kind names leases that are alike, for what they take: a product on a site and a node, or a type of task anywhere.
type Kind struct {
	Product    string
	Site, Node int // -1: any
}

// Took records what a lease took: seconds, pages, and CPU (cores), memory (bytes) and bandwidth (bits/s) where known.
func (b *Book) Took(k Kind, seconds, pages float64, need [3]float64) {
	if b.works == nil {
		b.works = map[Kind]*work{}
	}
	w := b.works[k]
	if w == nil {
		w = &work{}
		b.works[k] = w
	}
	const keep = 0.8
	w.seconds, w.pages = w.seconds*keep+seconds, w.pages*keep+pages
	for d, x := range need {
		w.need[d] = (w.need[d]*w.weight + x) / (w.weight + 1)
	}
	w.weight = min(w.weight+1, 20)
}

// SecondsPerPage is the efficiency of the feedback paper; known is false before anything was collected.
func (b *Book) SecondsPerPage(k Kind) (s float64, known bool) {
	w := b.works[k]
	if w == nil || w.pages <= 0 {
		return 0, false
	}
	return w.seconds / w.pages, true
}

// Need returns what a lease of a kind takes.
func (b *Book) Need(k Kind) (need [3]float64, known bool) {
	if w := b.works[k]; w != nil && w.weight > 0 {
		return w.need, true
	}
	return need, false
}
