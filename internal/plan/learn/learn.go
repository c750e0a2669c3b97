// Package learn is the one fold from facts to the record of measurements, and the one builder of a snapshot. The
// coordinator, its restart, a replay and the simulator feed it; nobody else learns. It is pure: the same facts in the same order
// give the same record, byte for byte.
//
// Speed has one definition: useful bits over the time in which the node worked for the site. The record keeps it as two
// figures whose product it is, because strategies weigh them apart: the speed while pages are had, which is predicted for
// pairs that nobody has tried, and the share of requests that give a page. Work is the time in which
// at least one request of the lease was under way or its answer was being read and stored; waiting out of politeness, and
// waiting for the node's other leases, is not part of it.
package learn

import (
	"argosy/internal/crawl"
	"argosy/internal/plan/predict"
)

// Kind says what a fact is about.
type Kind uint8

// Kinds of facts.
const (
	Report     Kind = iota + 1 // what a part of a lease's report says: Bits, Seconds, Good, All, Limited, CPU, Memory
	Crawl                      // BC, a bandwidth probe of a site: Bits, Seconds, Limited
	Store                      // BS, a bandwidth probe of a store: Bits, Seconds
	Delay                      // an httpping of a site: Seconds
	Distance                   // an httpping of another node, To: Seconds
	Searched                   // a node's share in a search that is restricted to Site (rates.go): Good of All pages, and Pages in Seconds
	Refused                    // a bandwidth probe that a site has refused: All tries, none of them Good, and nothing of its speed
	Tried                      // a bandwidth probe of a site has ended, whatever it measured
	TriedDelay                 // a probe of a site's delay has ended, whatever it measured
	Sent                       // a bandwidth probe of a site was given out; Good is 1 where the site's pages pay for it
	SentDelay                  // a probe of a site's delay was given out, likewise
	Lost                       // a probe of a site was cut short, of whichever was under way: it may be given out again
)

// Fact is one thing that was measured. Which figures a kind has stands at the kinds; the others are 0.
type Fact struct {
	At      int64   `cbor:"1,keyasint" json:"at"` // Unix ms by the log's clock
	Kind    Kind    `cbor:"2,keyasint" json:"kind"`
	Node    string  `cbor:"3,keyasint" json:"node"`
	Site    string  `cbor:"4,keyasint,omitempty" json:"site,omitempty"`
	To      string  `cbor:"5,keyasint,omitempty" json:"to,omitempty"`      // the node that was asked, or the store that was written to
	Product string  `cbor:"6,keyasint,omitempty" json:"product,omitempty"` // of the job whose lease it was
	Bits    float64 `cbor:"7,keyasint,omitempty" json:"bits,omitempty"`    // of answers with a status below 400, where they are pages
	Seconds float64 `cbor:"8,keyasint,omitempty" json:"seconds,omitempty"` // of work, or of delay
	Good    float64 `cbor:"9,keyasint,omitempty" json:"good,omitempty"`    // of All: requests that gave a page
	All     float64 `cbor:"10,keyasint,omitempty" json:"all,omitempty"`
	Limited bool    `cbor:"11,keyasint,omitempty" json:"limited,omitempty"` // the node itself was the limit: the pair might have been faster
	CPU     float64 `cbor:"12,keyasint,omitempty" json:"cpu,omitempty"`     // cores that the lease took of its node
	Memory  float64 `cbor:"13,keyasint,omitempty" json:"memory,omitempty"`  // bytes that it took
	Pages   float64 `cbor:"14,keyasint,omitempty" json:"pages,omitempty"`   // that leases collected in Seconds
	Engine  string  `cbor:"100,keyasint,omitempty" json:"engine,omitempty"` // that was searched
}

// Worker is whose part it was: the node, the site of its lease and the product of its job.
type Worker struct {
	Node, Site, Product string
	Probes              bool // the lease measures, or resolves: its work is not for pages
}

// OfPart returns the facts in a part that is believed, stored at the time at (Unix ms).
func OfPart(w Worker, p *crawl.Part, at int64) []Fact {
	out := measures(w, p.Measures, at)
	for i := range p.Outcomes {
		if o := &p.Outcomes[i]; o.State == crawl.Fetched {
			if f, ok := OfTiming(w, o.Timing, Opened(o), at); ok {
				out = append(out, f)
			}
		}
	}
	if r := OfReport(w, p, at); r.All > 0 || r.Seconds > 0 && !w.Probes {
		out = append(out, r)
	}
	return out
}

// beside stands for what it took to open a connection, of a page that was asked for while others of its lease were under way: it may have waited
// for those, on a slow way many times as long as for its own answer.
const beside = -1

// Opened is what it took to open the connection of a page, µs, as OfTiming wants it.
func Opened(o *crawl.Outcome) int32 {
	if o.Beside {
		return beside
	}
	return o.Opened
}

// OfTiming returns the delay that a page tells, by the time of its steps (crawl.Outcome.Timing) and what it took to open the connection, of one that was open
// (Opened); false: none.
func OfTiming(w Worker, timing [6]int32, opened int32, at int64) (Fact, bool) {
	ms := Ping(timing, opened)
	return Fact{At: at, Kind: Delay, Node: w.Node, Site: w.Site, Seconds: ms / 1000}, ms > 0
}

// Ping returns what an httpping would have measured, ms, by a page: what it has taken to open the connection, now or before, and from the request to the first
// byte. The answer alone has fewer round trips. It is 0 where nobody knows how the connection was opened, and where others were under way.
func Ping(timing [6]int32, opened int32) (ms float64) {
	if opened == beside {
		return 0
	}
	if timing[1] > 0 {
		opened = int32(min(int64(timing[1])+int64(timing[2]), 1<<31-1))
	}
	if opened <= 0 {
		return 0
	}
	return (float64(opened) + Answer(timing)) / 1000
}

// Answer returns for how long a page let wait for it, µs.
func Answer(timing [6]int32) float64 { return float64(timing[3]) + float64(timing[4]) }

// OfReport returns what a part tells of its pair as a whole. Where All is 0 it tells of
// work that is not done yet.
func OfReport(w Worker, p *crawl.Part, at int64) Fact {
	r := Fact{
		At: at, Kind: Report, Node: w.Node, Site: w.Site, Product: w.Product,
		Seconds: float64(p.WorkedUS) / 1e6, Limited: p.Limited, CPU: p.CPU, Memory: p.Memory,
	}
	for i := range p.Outcomes {
		switch o := &p.Outcomes[i]; {
		case o.State == crawl.Fetched && o.Status < 400:
			r.All++
			r.Good++
			r.Bits += 8 * float64(o.Bytes)
		case o.State == crawl.Fetched || o.State == crawl.Failed:
			r.All++
		}
	}
	return r
}

// Ended returns that a probe has ended by itself, of the delay or of the bandwidth: one that has measured nothing is not made again.
func Ended(w Worker, delay bool, at int64) Fact {
	f := Fact{At: at, Kind: Tried, Node: w.Node, Site: w.Site}
	if delay {
		f.Kind = TriedDelay
	}
	return f
}

// OfMeasures returns the facts in what a node measured by itself: its store, or its delay to other nodes.
func OfMeasures(node string, ms []crawl.Measure, at int64) []Fact {
	return measures(Worker{Node: node}, ms, at)
}

func measures(w Worker, ms []crawl.Measure, at int64) (out []Fact) {
	for i := range ms {
		m := &ms[i]
		f := Fact{At: at, Node: w.Node, Site: w.Site, Product: w.Product}
		switch m.Kind {
		case crawl.MeasureBC:
			if m.Refused > 0 {
				out = append(out, Fact{At: at, Kind: Refused, Node: w.Node, Site: w.Site, Product: w.Product, All: float64(m.Refused)})
			}
			if f.Kind, f.Bits, f.Seconds, f.Limited = Crawl, float64(m.Bits), m.Seconds, m.Limited; m.Bits > 0 {
				out = append(out, f)
			}
		case crawl.MeasureBS:
			if m.URL != "" { // said again beside a pair's BC, for the seed table
				continue
			}
			f.Kind, f.Site, f.To, f.Bits, f.Seconds = Store, "", m.Store, float64(m.Bits), m.Seconds
			out = append(out, f)
		case crawl.MeasurePing:
			f.Kind = Delay
			if m.Node != "" {
				f.Kind, f.Site, f.To = Distance, "", m.Node
			}
			for _, ms := range m.MS {
				f.Seconds = ms / 1000
				out = append(out, f)
			}
		}
	}
	return out
}

// Learner folds facts into a record. It is not safe for use by several goroutines.
type Learner struct {
	rec   *predict.Record
	tally *Tally
}

// New returns a learner that knows nothing.
func New() *Learner {
	rec := predict.NewRecord()
	return &Learner{rec: rec, tally: newTally(rec)}
}

// Resume returns a learner that knows what another wrote down with Encode, and what its tally did.
func Resume(record, tally []byte) (*Learner, error) {
	rec, err := predict.DecodeRecord(record)
	if err != nil {
		return nil, err
	}
	y, err := decodeTally(tally, rec)
	if err != nil {
		return nil, err
	}
	return &Learner{rec: rec, tally: y}, nil
}

// Encode writes down what was learned: a checkpoint. Equal knowledge gives equal bytes.
func (l *Learner) Encode() ([]byte, error) { return l.rec.Encode() }

// Record returns what was learned. Books over it read what is taken in later, too.
func (l *Learner) Record() *predict.Record { return l.rec }

// Tally returns what measuring has come to. It changes with what is taken in later.
func (l *Learner) Tally() *Tally { return l.tally }

// maxNodes bounds the names that nodes say that they have measured. Each costs room with every site, and anybody who has joined can make
// names up; twice as many as a fleet is made for.
const maxNodes = 2000

// Take takes in a fact. What no figure can be had from (no time, no node, not a number) changes nothing.
func (l *Learner) Take(f Fact) {
	if f.Node == "" || !possible(f.Bits, f.Seconds, f.Good, f.All, f.CPU, f.Memory, f.Pages) || f.Bits > mostRate*f.Seconds && f.Seconds > 0 {
		return
	}
	l.record(f)
	l.tally.take(&f)
}

// record takes a fact into the record.
func (l *Learner) record(f Fact) {
	if f.Kind == Sent || f.Kind == SentDelay || f.Kind == Lost { // nothing is measured
		return
	}
	node := l.rec.Node(f.Node)
	switch f.Kind {
	case Store:
		l.rec.Stored(node, f.Bits, f.Seconds)
		return
	case Distance:
		if f.To != "" && (l.rec.Nodes() < maxNodes || l.rec.Knows(f.To)) {
			l.rec.NodeDelay(node, l.rec.Node(f.To), 1000*f.Seconds)
		}
		return
	}
	if f.Kind == Searched {
		site := l.rec.Site(About(f.Site))
		l.rec.Reported(node, site, predict.Report{Good: min(f.Good, f.All), All: f.All}, f.At)
		if f.Seconds > 0 && f.Pages > 0 {
			f.Good = f.Pages
			l.took(f, site, node, [3]float64{})
		}
		return
	}
	if f.Site == "" {
		return
	}
	site := l.rec.Site(f.Site)
	switch f.Kind {
	case Crawl:
		l.rec.Crawled(node, site, f.Bits, f.Seconds, f.Limited, f.At)
	case Refused:
		l.rec.Refused(node, site, f.All, f.At)
	case Tried:
		l.rec.Tried(node, site, false)
	case TriedDelay:
		l.rec.Tried(node, site, true)
	case Delay:
		l.rec.Delay(node, site, 1000*f.Seconds, f.At)
	case Report:
		l.rec.Reported(node, site, predict.Report{Bits: f.Bits, Seconds: f.Seconds, Good: min(f.Good, f.All), All: f.All, Limited: f.Limited}, f.At)
		if f.Seconds <= 0 {
			return
		}
		need := [3]float64{f.CPU, f.Memory, f.Bits / f.Seconds}
		l.took(f, site, node, need)
		l.took(f, site, -1, need)
		l.took(f, -1, -1, need)
	}
}

// About names, in the record, what searches restricted to a site have brought: it is not what is known of the site itself, which is
// seldom the one that was asked.
func About(site string) string { return "site:" + site }

// took files what a lease took under its product and under any, so that a task finds its like: on the same site and node,
// on the same site, anywhere.
func (l *Learner) took(f Fact, site, node int, need [3]float64) {
	l.rec.Took(predict.Kind{Site: site, Node: node}, f.Seconds, f.Good, need, f.At)
	if f.Product != "" {
		l.rec.Took(predict.Kind{Product: f.Product, Site: site, Node: node}, f.Seconds, f.Good, need, f.At)
	}
}

// mostFigure is more than any figure of a fact can be, and mostRate than any speed, bits/s: what a node says is held to the latter as it
// comes in, a recording from elsewhere is not.
const (
	mostFigure = 1e18
	mostRate   = 1e15
)

// possible reports whether figures are neither negative nor more than there can be.
func possible(figures ...float64) bool {
	for _, x := range figures {
		if !(x >= 0 && x <= mostFigure) {
			return false
		}
	}
	return true
}
