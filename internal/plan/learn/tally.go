package learn

import (
	"cmp"
	"maps"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// Tally is what measuring has come to: what each node has measured besides what its leases tell, what was asked of sites for it, and which
// pairs were sent to be measured and have not come back. It decides what is measured next, so it follows from the facts as the record does.
type Tally struct {
	rec   *predict.Record // of which the numbers are
	nodes map[string]*schedule.Measured
	spent schedule.Allowance
	sent  map[errand]bool
	lost  map[errand]int // how many times each was cut short; none of those that have ended
}

// lostMost is how many times a pair is sent to be measured at most if that is cut short each time: as many as a probe has tries.
const lostMost = crawl.ProbeTries

// errand is a pair that a node was sent to measure.
type errand struct {
	node, site int32
	delay      bool // the delay, not the bandwidth
}

func newTally(rec *predict.Record) *Tally {
	return &Tally{rec: rec, nodes: map[string]*schedule.Measured{}, sent: map[errand]bool{}, lost: map[errand]int{}}
}

// Nodes returns what each node has measured that has measured anything, whether it is there or gone.
func (y *Tally) Nodes() map[string]schedule.Measured {
	out := make(map[string]schedule.Measured, len(y.nodes))
	for name, m := range y.nodes {
		out[name] = *m
	}
	return out
}

// Sum returns what all nodes have measured.
func (y *Tally) Sum() (sum schedule.Measured) {
	for _, m := range y.nodes {
		sum.Bandwidth += m.Bandwidth
		sum.Delays += m.Delays
		sum.Stores += m.Stores
		sum.Between += m.Between
	}
	return sum
}

// Sent reports whether a node was sent to measure a site, by their numbers in the record, and has not ended that, or was cut short so many times
// that it is not sent again.
func (y *Tally) Sent(node, site int, delay bool) bool {
	e := errand{int32(node), int32(site), delay}
	return y.sent[e] || y.lost[e] >= lostMost
}

// Spent is what measuring has asked of sites, by their numbers in the record.
func (y *Tally) Spent() *schedule.Allowance { return &y.spent }

func (y *Tally) of(node string) *schedule.Measured {
	m := y.nodes[node]
	if m == nil {
		m = &schedule.Measured{}
		y.nodes[node] = m
	}
	return m
}

// take takes in a fact that the record has.
func (y *Tally) take(f *Fact) {
	switch f.Kind {
	case Crawl:
		y.of(f.Node).Bandwidth++
	case Store:
		y.of(f.Node).Stores++
	case Distance:
		y.of(f.Node).Between++
	case Sent, SentDelay:
		e := y.errand(f, f.Kind == SentDelay)
		y.sent[e] = true
		y.spent.Count(int(e.site), 1, 1-int(f.Good))
	case Lost:
		for _, delay := range []bool{false, true} {
			if e := y.errand(f, delay); y.sent[e] {
				y.lost[e]++
				y.ended(e)
			}
		}
	case Tried, TriedDelay:
		e := y.errand(f, f.Kind == TriedDelay)
		y.ended(e)
		delete(y.lost, e)
	}
}

// ended takes in that nobody is under way to measure a pair any more.
func (y *Tally) ended(e errand) {
	delete(y.sent, e)
	if e.delay && y.rec.Timed(int(e.node), int(e.site)) {
		y.of(y.rec.NodeName(int(e.node))).Delays++
	}
}

func (y *Tally) errand(f *Fact, delay bool) errand {
	return errand{int32(y.rec.Node(f.Node)), int32(y.rec.Site(f.Site)), delay}
}

// OfProbe returns that a probe was given out, of the delay or of the bandwidth; paid tells that the site's pages pay for it.
func OfProbe(w Worker, delay, paid bool, at int64) Fact {
	f := Fact{At: at, Kind: kindOf(delay), Node: w.Node, Site: w.Site}
	if paid {
		f.Good = 1
	}
	return f
}

// OfLoss returns that a probe was cut short.
func OfLoss(w Worker, at int64) Fact { return Fact{At: at, Kind: Lost, Node: w.Node, Site: w.Site} }

// encodedTally is a tally as it is written down.
type encodedTally struct {
	Nodes []talliedNode   `cbor:"1,keyasint,omitempty"`
	Sites []talliedSite   `cbor:"2,keyasint,omitempty"`
	Early int             `cbor:"3,keyasint,omitempty"` // probes that no site's pages paid for
	Sent  []talliedErrand `cbor:"4,keyasint,omitempty"`
	Lost  []talliedErrand `cbor:"5,keyasint,omitempty"`
}

type talliedErrand struct {
	Node  string `cbor:"1,keyasint"`
	Site  string `cbor:"2,keyasint"`
	Delay bool   `cbor:"3,keyasint,omitempty"`
	Times int    `cbor:"4,keyasint,omitempty"` // that it was cut short
}

type talliedNode struct {
	Name      string `cbor:"1,keyasint"`
	Bandwidth int    `cbor:"2,keyasint,omitempty"`
	Delays    int    `cbor:"3,keyasint,omitempty"`
	Stores    int    `cbor:"4,keyasint,omitempty"`
	Between   int    `cbor:"5,keyasint,omitempty"`
}

type talliedSite struct {
	Name   string `cbor:"1,keyasint"`
	Probes int    `cbor:"2,keyasint"`
}

// Encode writes the tally down. Equal tallies give equal bytes.
func (y *Tally) Encode() ([]byte, error) {
	probes, early := y.spent.Counted()
	out := encodedTally{Early: early}
	for _, name := range slices.Sorted(maps.Keys(y.nodes)) {
		m := y.nodes[name]
		out.Nodes = append(out.Nodes, talliedNode{name, m.Bandwidth, m.Delays, m.Stores, m.Between})
	}
	for site, n := range probes {
		out.Sites = append(out.Sites, talliedSite{y.rec.SiteName(site), n})
	}
	slices.SortFunc(out.Sites, func(a, b talliedSite) int { return cmp.Compare(a.Name, b.Name) })
	for e := range y.sent {
		out.Sent = append(out.Sent, y.tallied(e, 0))
	}
	for e, times := range y.lost {
		out.Lost = append(out.Lost, y.tallied(e, times))
	}
	slices.SortFunc(out.Sent, talliedErrand.compare)
	slices.SortFunc(out.Lost, talliedErrand.compare)
	return crawl.Marshal(out)
}

func (y *Tally) tallied(e errand, times int) talliedErrand {
	return talliedErrand{y.rec.NodeName(int(e.node)), y.rec.SiteName(int(e.site)), e.delay, times}
}

func (a talliedErrand) compare(b talliedErrand) int {
	return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Site, b.Site), cmp.Compare(kindOf(a.Delay), kindOf(b.Delay)))
}

func kindOf(delay bool) Kind {
	if delay {
		return SentDelay
	}
	return Sent
}

// decodeTally reads what Encode has written, for a record; nothing is an empty one.
func decodeTally(b []byte, rec *predict.Record) (*Tally, error) {
	y, in := newTally(rec), encodedTally{}
	if len(b) == 0 {
		return y, nil
	}
	if err := crawl.Unmarshal(b, &in); err != nil {
		return nil, err
	}
	for _, n := range in.Nodes {
		*y.of(n.Name) = schedule.Measured{Bandwidth: n.Bandwidth, Delays: n.Delays, Stores: n.Stores, Between: n.Between}
	}
	for _, s := range in.Sites {
		y.spent.Count(rec.Site(s.Name), s.Probes, 0)
	}
	y.spent.Count(0, 0, in.Early)
	of := func(e talliedErrand) errand { return errand{int32(rec.Node(e.Node)), int32(rec.Site(e.Site)), e.Delay} }
	for _, e := range in.Sent {
		y.sent[of(e)] = true
	}
	for _, e := range in.Lost {
		y.lost[of(e)] = e.Times
	}
	return y, nil
}
