package predict

import (
	"math"

	"argosy/internal/plan/netcoord"
)

// Source says how a figure is known.
type Source uint8

// Sources, the weakest first.
const (
	Default   Source = iota // nothing is known: the stated first value
	Predicted               // from other pairs, and from what this one had at least
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
	DefaultRate float64 // bits/s expected where nothing was measured anywhere; default 8e6
	DefaultMS   float64 // delay expected where nothing was measured; default 100
	Landmarks   int     // for coordinates; default 9, less if there are fewer nodes
	Coordinates netcoord.Config
	Alone       bool // nothing is predicted: of pairs that were not measured only the defaults are known
	// Summary of repeated delays; default the median. It is given one modulus for all pairs, which Fit chooses from how
	// their samples are distributed.
	Summary func(samples []float64, modulus float64) float64
}

func (c Config) withDefaults() Config {
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

// Book reads a Record through a model fitted to it: what to expect, and how sure that is. A snapshot holds it while a cycle
// reads it. Several books may read one record, each by a configuration of its own.
type Book struct {
	*Record
	cfg     Config
	id      int // among the record's books
	model   model
	fitted  int            // observations when the model was fitted
	placed  int            // delays between nodes when the landmarks were fitted
	modulus float64        // of summaries, ms; 0 before the first fit
	epoch   int            // rises when all summaries are to be made anew
	groups  map[int]string // of nodes that are alike
	seen    []float64      // scratch of Rates
	over    []left         // likewise
	truth   func(node, site int) (rate, success, delay float64)
	changed uint32
}

// SetGroup says which nodes are alike before anything is measured: those of one city and provider, say. What the group
// changes shows at the next Fit.
func (b *Book) SetGroup(node int, group string) {
	if b.groups == nil {
		b.groups = map[int]string{}
	}
	b.groups[node] = group
}

// New returns an empty book with a record of its own.
func New(cfg Config) *Book { return NewRecord().Book(cfg) }

// Version changes whenever something was learned of a site.
func (b *Book) Version(site int) uint32 { return b.Record.Version(site) + b.changed }

// Tell makes the book answer with stated figures instead of what it learns (speed in bits/s, share of pages had, delay
// in ms, 0 where there is none), so that a planner can be judged apart from its learning. truth is called whenever a
// figure is asked for; Changed must be called when its answers have changed.
func (b *Book) Tell(truth func(node, site int) (rate, success, delay float64)) { b.truth = truth }

// Changed says that what Tell's function answers has changed.
func (b *Book) Changed() {
	if b.truth != nil {
		b.changed++
	}
}

// SecondsPerPage is Record.SecondsPerPage, or what the speed that was told makes of it; that speed is the same for all products.
func (b *Book) SecondsPerPage(k Kind, at int64) (s float64, known bool) {
	if b.truth == nil || k.Node < 0 || k.Site < 0 {
		return b.Record.SecondsPerPage(k, at)
	}
	rate, _, _ := b.truth(k.Node, k.Site)
	return b.PageBits(k.Site) / rate, rate > 0
}

// Served is Record.Served, or what was told of the pair, which is as good as many requests.
func (b *Book) Served(node, site int, at int64) (good, all float64) {
	if b.truth != nil {
		_, had, _ := b.truth(node, site)
		return had * toldPages, toldPages
	}
	return b.Record.Served(node, site, at)
}

// Efforts is Record.Efforts, or as many pages at the speed that was told.
func (b *Book) Efforts(k Kind, at int64) (seconds, pages float64) {
	if b.truth == nil {
		return b.Record.Efforts(k, at)
	}
	s, known := b.SecondsPerPage(k, at)
	if !known {
		return 0, 0
	}
	return s * toldPages, toldPages
}

// toldPages is for how many pages' experience that counts which is told: for what is not in doubt.
const toldPages = 1e6

// summary is what repeated delays come down to, ms.
func (b *Book) summary(s *samples) float64 { return b.summed(s).ms }

func (b *Book) summed(s *samples) *summed {
	for len(s.made) <= b.id {
		s.made = append(s.made, summed{version: -1})
	}
	m := &s.made[b.id]
	if m.version != s.version || m.epoch != b.epoch {
		modulus := b.modulus
		if modulus == 0 {
			modulus = netcoord.DefaultModulus
		}
		*m = summed{version: s.version, epoch: b.epoch, ms: b.cfg.Summary(s.ms, modulus)}
		m.ln = math.Log(m.ms)
	}
	return m
}

// ln is the logarithm of what a pair's delays come down to, of which there are some.
func (b *Book) ln(p *pair) float64 {
	if b.id > 0 {
		return b.summed(p.delay).ln
	}
	if !p.ln.made || p.ln.epoch != b.epoch {
		p.ln = lnDelay{b.summed(p.delay).ln, b.epoch, true}
	}
	return p.ln.value
}

// Crawl returns BC of a pair: total bits over total seconds of the tries, or what the pair's speed is predicted to be.
func (b *Book) Crawl(node, site int, at int64) Figure {
	if p := b.look(node, site); p != nil && p.crawl.seconds > 0 && b.truth == nil {
		return Figure{p.crawl.bits / p.crawl.seconds, b.once(), Measured}
	}
	return b.Rate(node, site, at)
}

// once is how far one measurement of a speed is from its pair's mean, as a logarithm.
func (b *Book) once() float64 {
	noise, _ := b.aging.fit()
	return math.Sqrt(noise)
}

// Store returns BS of a node: total bits over total seconds, or the mean of the nodes that were measured.
func (b *Book) Store(node int) Figure {
	if t := b.node[node].store; t.seconds > 0 {
		if b.truth != nil {
			return Figure{t.bits / t.seconds, 0, Measured}
		}
		return Figure{t.bits / t.seconds, b.once(), Measured}
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
	if b.truth != nil {
		if _, _, ms := b.truth(node, site); ms > 0 {
			return Figure{ms, 0, Stated}
		}
	}
	if p := b.look(node, site); p != nil && p.delay != nil {
		return Figure{b.summary(p.delay), 0.2, Measured}
	}
	n, s := b.model.nodeAt(node), b.siteAt(site)
	if n.Known() && s.Known() {
		return Figure{max(netcoord.Distance(n, s), 0.1), min(1.5, 0.2+math.Hypot(n.Error, s.Error)), Predicted}
	}
	return Figure{b.cfg.DefaultMS, 1.5, Default}
}

// Success returns the share of requests that give a page. Where little is known of a pair, its node and its site
// speak for it.
func (b *Book) Success(node, site int, at int64) Figure {
	var one [1]Figure
	b.Successes(site, at, []int32{int32(node)}, one[:])
	return one[0]
}

// Successes fills out with the shares of requests of a site and each of the nodes that give a page.
func (b *Book) Successes(site int, at int64, nodes []int32, out []Figure) {
	if b.truth != nil {
		for k, node := range nodes {
			_, x, _ := b.truth(int(node), site)
			out[k] = Figure{x, 0, Stated}
		}
		return
	}
	all, differs, clump := firstServed, firstDiffers, 1.0
	if m := &b.model; m.served > 0 {
		all, differs, clump = m.served, m.differs, m.clump
	}
	strength := 1/differs - 1
	s := b.site[site].served.now(at)
	of := (s.good + 5*all) / (s.all + 5)
	pairs := b.site[site].pairs
	next := 0
	for k, node := range nodes {
		prior, src := of, Default
		if b.model.served > 0 || s.all > 0 {
			src = Predicted
		}
		if int(node) < len(b.model.more) {
			prior += b.model.more[node]
		}
		prior = min(0.99, max(0.01, prior))
		var own share
		if next > 0 && pairs[next-1].node >= node { // out of order
			next = 0
		}
		for next < len(pairs) && pairs[next].node < node {
			next++
		}
		if next < len(pairs) && pairs[next].node == node {
			own = pairs[next].served.now(at)
		}
		if own.all > 0 {
			src = Measured
		}
		own.good, own.all = own.good/clump, own.all/clump
		m := (own.good + strength*prior) / (own.all + strength)
		out[k] = Figure{m, math.Sqrt(m * (1 - m) / (own.all + strength + 1)), src}
	}
}

// firstServed is what share of requests is thought to give a page before there were any.
const firstServed = 0.8
