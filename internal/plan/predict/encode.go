package predict

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"argosy/internal/crawl"
)

// recordVersion is the version of an encoded record. In those of mixedDelays requests over connections that were open had told delays, too, which are shorter:
// delays to sites are measured again.
const (
	recordVersion = 2
	mixedDelays   = 1
)

// Bounds of an encoded record: what is larger was not written by us.
const (
	maxNames = 1 << 22
	maxWorks = 1 << 22
)

// encoded is a record as it is written down. Times are Unix ms; everything else is in the units of the methods that filled it.
type encoded struct {
	Version  int           `cbor:"1,keyasint"`
	Nodes    []encodedNode `cbor:"2,keyasint"`
	Sites    []encodedSite `cbor:"3,keyasint"`
	Works    []encodedWork `cbor:"4,keyasint,omitempty"`
	Observed int           `cbor:"5,keyasint"`
	Fleet    int           `cbor:"6,keyasint"`
	Page     []float64     `cbor:"7,keyasint,omitempty"`
	Aging    []float64     `cbor:"8,keyasint,omitempty"`
	Clump    []float64     `cbor:"9,keyasint,omitempty"`
	Probe    []float64     `cbor:"10,keyasint,omitempty"`
	Waits    []float64     `cbor:"11,keyasint,omitempty"` // s
	WaitNext int           `cbor:"12,keyasint,omitempty"`
	WaitEach float64       `cbor:"13,keyasint,omitempty"`
}

type encodedNode struct {
	Name   string         `cbor:"1,keyasint"`
	Store  [2]float64     `cbor:"2,keyasint"`
	Delays []encodedDelay `cbor:"4,keyasint,omitempty"` // by node; 3 was the node's share of pages had
}

type encodedSite struct {
	Name   string        `cbor:"1,keyasint"`
	Served encodedShare  `cbor:"2,keyasint"`
	Delays uint32        `cbor:"4,keyasint"` // 3 counted what was learned, for who remembers what it was
	Pairs  []encodedPair `cbor:"5,keyasint,omitempty"`
	Page   []float64     `cbor:"6,keyasint,omitempty"`
}

type encodedPair struct {
	Node   int32         `cbor:"1,keyasint"`
	Crawl  [2]float64    `cbor:"2,keyasint"`
	Mean   float64       `cbor:"3,keyasint,omitempty"`
	Weight float64       `cbor:"4,keyasint,omitempty"`
	At     int64         `cbor:"5,keyasint,omitempty"`
	Off    int           `cbor:"6,keyasint,omitempty"`
	Served encodedShare  `cbor:"7,keyasint"`
	Delay  *encodedDelay `cbor:"8,keyasint,omitempty"`
	Heard  int64         `cbor:"9,keyasint,omitempty"`
	Open   []float64     `cbor:"10,keyasint,omitempty"` // bits, seconds, good, all, and 1 if the node was the limit
	Tries  float64       `cbor:"11,keyasint,omitempty"` // of before Free: of all probes
	Leases float64       `cbor:"12,keyasint,omitempty"`
	Free   []float64     `cbor:"13,keyasint,omitempty"` // bits, seconds, probes
	Tried  uint8         `cbor:"14,keyasint,omitempty"` // triedSpeed, triedDelay
	Least  []float64     `cbor:"15,keyasint,omitempty"` // logarithm of bits/s, when
}

type encodedShare struct {
	Good float64 `cbor:"1,keyasint,omitempty"`
	All  float64 `cbor:"2,keyasint,omitempty"`
	At   int64   `cbor:"3,keyasint,omitempty"`
}

type encodedDelay struct {
	Node int       `cbor:"1,keyasint,omitempty"`
	MS   []float64 `cbor:"2,keyasint"`
	Next int       `cbor:"3,keyasint,omitempty"`
}

type encodedWork struct {
	Product string     `cbor:"1,keyasint,omitempty"`
	Site    int        `cbor:"2,keyasint"`
	Node    int        `cbor:"3,keyasint"`
	Seconds float64    `cbor:"4,keyasint"`
	Pages   float64    `cbor:"5,keyasint"`
	Need    [3]float64 `cbor:"6,keyasint"`
	Weight  float64    `cbor:"7,keyasint"`
	At      int64      `cbor:"8,keyasint,omitempty"`
}

// NodeName returns the name of a node's number.
func (rec *Record) NodeName(node int) string { return rec.nodes.names[node] }

// SiteName returns the name of a site's number.
func (rec *Record) SiteName(site int) string { return rec.sites.names[site] }

// Encode writes the record down. Equal records give equal bytes: nodes and sites are in the order of their names, however they are numbered here, and those of
// which nothing was measured are left out. A fleet numbers them as it first looks at them, a restart and a replay as they are first told of.
func (rec *Record) Encode() ([]byte, error) {
	e := encoded{
		Version: recordVersion, Observed: rec.observed, Fleet: rec.fleet, Page: rec.page.encode(), Aging: rec.aging.encode(), Clump: rec.clump.encode(), Probe: rec.probe.encode(),
		Waits: rec.waits.last, WaitNext: rec.waits.next, WaitEach: rec.waits.each,
	}
	nodes, sites := rec.told()
	for _, i := range nodes.order {
		n := &rec.node[i]
		x := encodedNode{Name: rec.nodes.names[i], Store: [2]float64{n.store.bits, n.store.seconds}}
		for to, s := range n.delay {
			x.Delays = append(x.Delays, encodedDelay{nodes.of(to), s.ms, s.next})
		}
		slices.SortFunc(x.Delays, func(a, b encodedDelay) int { return a.Node - b.Node })
		e.Nodes = append(e.Nodes, x)
	}
	for _, i := range sites.order {
		s := &rec.site[i]
		x := encodedSite{Name: rec.sites.names[i], Served: s.served.encode(), Delays: s.delays, Page: s.page.encode()}
		for k := range s.pairs {
			p := &s.pairs[k]
			y := encodedPair{
				Node: int32(nodes.of(int(p.node))), Crawl: [2]float64{p.crawl.bits, p.crawl.seconds}, Mean: p.rate.mean, Weight: p.rate.weight, At: p.rate.at,
				Off: p.rate.off, Served: p.served.encode(), Heard: p.heard, Open: p.open.encode(), Free: p.free.encode(), Tried: p.tried, Leases: p.rate.leases, Least: p.least.encode(),
			}
			if y.Free == nil && y.Weight > 0 && y.Leases == 0 { // its probes were limited: it is not of before they were told from leases
				y.Free = make([]float64, 3)
			}
			if p.delay != nil {
				y.Delay = &encodedDelay{MS: p.delay.ms, Next: p.delay.next}
			}
			x.Pairs = append(x.Pairs, y)
		}
		slices.SortFunc(x.Pairs, func(a, b encodedPair) int { return int(a.Node - b.Node) })
		e.Sites = append(e.Sites, x)
	}
	for k, w := range rec.works {
		e.Works = append(e.Works, encodedWork{k.Product, sites.of(k.Site), nodes.of(k.Node), w.seconds, w.pages, w.need, w.weight, w.at})
	}
	slices.SortFunc(e.Works, func(a, b encodedWork) int {
		return kindOf(a).compare(kindOf(b))
	})
	b, err := crawl.Marshal(&e)
	if err != nil {
		return nil, fmt.Errorf("encode the record of measurements: %w", err)
	}
	return b, nil
}

// written are the numbers of what is written down.
type written struct {
	order []int // their own numbers
	at    map[int]int
}

// of is the number under which one is written; less than 0 is none, and stays.
func (w *written) of(own int) int {
	if own < 0 {
		return own
	}
	return w.at[own]
}

// in numbers some by their names.
func in(names []string, told map[int]bool) (w written) {
	w.order = slices.SortedFunc(maps.Keys(told), func(a, b int) int { return strings.Compare(names[a], names[b]) })
	w.at = make(map[int]int, len(w.order))
	for k, own := range w.order {
		w.at[own] = k
	}
	return w
}

// told are the nodes and the sites of which something was.
func (rec *Record) told() (nodes, sites written) {
	node, site := map[int]bool{}, map[int]bool{}
	for i := range rec.node {
		n := &rec.node[i]
		if n.store != (total{}) {
			node[i] = true
		}
		for to := range n.delay {
			node[i], node[to] = true, true
		}
	}
	for i := range rec.site {
		s := &rec.site[i]
		if len(s.pairs) > 0 || s.served != (share{}) || s.page != (size{}) {
			site[i] = true
		}
		for k := range s.pairs {
			node[int(s.pairs[k].node)] = true
		}
	}
	for k := range rec.works {
		if k.Site >= 0 {
			site[k.Site] = true
		}
		if k.Node >= 0 {
			node[k.Node] = true
		}
	}
	return in(rec.nodes.names, node), in(rec.sites.names, site)
}

func kindOf(w encodedWork) Kind { return Kind{w.Product, w.Site, w.Node} }

// encode leaves out what has seen nothing.
func (a aging) encode() []float64 {
	if a.n == 0 {
		return nil
	}
	return []float64{a.n, a.e, a.t, a.tt, a.et}
}

func (c clump) encode() []float64 {
	if c == (clump{}) {
		return nil
	}
	return []float64{c.square, c.chance}
}

func (o opened) encode() []float64 {
	if o == (opened{}) {
		return nil
	}
	limited := 0.0
	if o.limited {
		limited = 1
	}
	return []float64{o.bits, o.seconds, o.good, o.all, limited}
}

func (s size) encode() []float64 {
	if s.pages == 0 {
		return nil
	}
	return []float64{s.bits, s.pages}
}

// sums reads n figures, or none.
func sums(x []float64, n int) ([]float64, error) {
	if len(x) == 0 {
		return make([]float64, n), nil
	}
	if len(x) != n {
		return nil, errors.New("sums of another length")
	}
	return x, finite(x...)
}

func (s share) encode() encodedShare { return encodedShare{s.good, s.all, s.at} }

func (s encodedShare) decode() share { return share{s.Good, s.All, s.At} }

func (d encodedDelay) decode() (*samples, error) {
	if len(d.MS) > keepSamples || d.Next < 0 || d.Next > len(d.MS) {
		return nil, errors.New("delays out of range")
	}
	return &samples{ms: d.MS, next: d.Next, version: len(d.MS)}, finite(d.MS...)
}

// finite fails when a figure is not a finite number.
func finite(figures ...float64) error {
	for _, x := range figures {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return errors.New("a figure is not a finite number")
		}
	}
	return nil
}

// DecodeRecord reads what Encode wrote. What is damaged is refused whole.
func DecodeRecord(b []byte) (*Record, error) {
	var e encoded
	if err := crawl.Unmarshal(b, &e); err != nil {
		return nil, fmt.Errorf("record of measurements: %w", err)
	}
	if e.Version != recordVersion && e.Version != mixedDelays {
		return nil, fmt.Errorf("record of measurements: version %d, not %d", e.Version, recordVersion)
	}
	if len(e.Nodes) > maxNames || len(e.Sites) > maxNames || len(e.Works) > maxWorks || e.Observed < 0 || e.Fleet < 0 {
		return nil, errors.New("record of measurements: sizes out of range")
	}
	rec := NewRecord()
	rec.observed, rec.fleet = e.Observed, e.Fleet
	page, err := sums(e.Page, 2)
	if err != nil {
		return nil, fmt.Errorf("record of measurements: pages: %w", err)
	}
	seen, err := sums(e.Aging, 5)
	if err != nil {
		return nil, fmt.Errorf("record of measurements: ageing: %w", err)
	}
	missed, err := sums(e.Clump, 2)
	if err != nil {
		return nil, fmt.Errorf("record of measurements: what is missing: %w", err)
	}
	probe, err := sums(e.Probe, 2)
	if err != nil {
		return nil, fmt.Errorf("record of measurements: probes: %w", err)
	}
	if len(e.Waits) > keepWaits || e.WaitNext < 0 || e.WaitNext >= keepWaits || finite(e.WaitEach) != nil || finite(e.Waits...) != nil {
		return nil, errors.New("record of measurements: what probes wait is out of range")
	}
	rec.waits = waits{e.Waits, e.WaitNext, e.WaitEach}
	rec.clump, rec.probe = clump{missed[0], missed[1]}, size{probe[0], probe[1]}
	rec.page, rec.aging = size{page[0], page[1]}, aging{seen[0], seen[1], seen[2], seen[3], seen[4]}
	for i := range e.Nodes {
		if err := rec.decodeNode(&e.Nodes[i], len(e.Nodes)); err != nil {
			return nil, fmt.Errorf("record of measurements: node %q: %w", e.Nodes[i].Name, err)
		}
	}
	for i := range e.Sites {
		if e.Version == mixedDelays {
			e.Sites[i].forgetDelays()
		}
		if err := rec.decodeSite(&e.Sites[i]); err != nil {
			return nil, fmt.Errorf("record of measurements: site %q: %w", e.Sites[i].Name, err)
		}
	}
	for _, w := range e.Works {
		if err := finite(w.Seconds, w.Pages, w.Need[0], w.Need[1], w.Need[2], w.Weight); err != nil {
			return nil, fmt.Errorf("record of measurements: %w", err)
		}
		rec.works[kindOf(w)] = &work{w.Seconds, w.Pages, w.Need, w.Weight, w.At}
	}
	return rec, nil
}

var errTwice = errors.New("named twice")

func (rec *Record) decodeNode(x *encodedNode, nodes int) error {
	if rec.Node(x.Name) != len(rec.node)-1 || len(rec.node) != len(rec.nodes.names) {
		return errTwice
	}
	n := &rec.node[len(rec.node)-1]
	n.store = total{x.Store[0], x.Store[1]}
	for _, d := range x.Delays {
		s, err := d.decode()
		if err != nil {
			return err
		}
		if d.Node < 0 || d.Node >= nodes {
			return errors.New("delay to an unknown node")
		}
		n.delay[d.Node] = s
	}
	return finite(x.Store[0], x.Store[1])
}

// forgetDelays makes nobody have measured a delay to a site.
func (x *encodedSite) forgetDelays() {
	x.Delays = 0
	for i := range x.Pairs {
		x.Pairs[i].Delay = nil
		x.Pairs[i].Tried &^= triedDelay
	}
}

func (rec *Record) decodeSite(x *encodedSite) error {
	before := len(rec.site)
	if rec.Site(x.Name) != before {
		return errTwice
	}
	s := &rec.site[before]
	page, err := sums(x.Page, 2)
	if err != nil {
		return err
	}
	s.served, s.delays, s.page = x.Served.decode(), x.Delays, size{page[0], page[1]}
	last := int32(-1)
	for _, y := range x.Pairs {
		if y.Node <= last || int(y.Node) >= len(rec.node) {
			return errors.New("pairs out of order")
		}
		last = y.Node
		p := pair{
			node: y.Node, crawl: total{y.Crawl[0], y.Crawl[1]}, rate: level{y.Mean, y.Weight, y.At, y.Off, y.Leases}, served: y.Served.decode(),
			heard: y.Heard, tried: y.Tried,
		}
		free, err := sums(y.Free, 3)
		if err != nil {
			return err
		}
		p.free = tries{free[0], free[1], free[2]}
		switch {
		case y.Free == nil && y.Tries > 0:
			p.free = tries{y.Crawl[0], y.Crawl[1], y.Tries}
		case y.Free == nil && y.Weight > 0 && y.Leases == 0: // of before anybody told probes from leases
			p.rate.leases = 1
		}
		if y.Delay != nil {
			d, err := y.Delay.decode()
			if err != nil {
				return err
			}
			p.delay = d
			p.times()
		}
		if err := finite(y.Crawl[0], y.Crawl[1], y.Mean, y.Weight, y.Served.Good, y.Served.All, y.Tries, y.Leases); err != nil {
			return err
		}
		open, err := sums(y.Open, 5)
		if err != nil {
			return err
		}
		p.open = opened{open[0], open[1], open[2], open[3], open[4] != 0}
		atLeast, err := sums(y.Least, 2)
		if err != nil {
			return err
		}
		p.least = least{atLeast[0], int64(atLeast[1])}
		s.pairs = append(s.pairs, p)
	}
	return finite(x.Served.Good, x.Served.All)
}
