package sim

import (
	"math"

	"argosy/internal/plan/learn"
	"argosy/internal/plan/netcoord"
	"argosy/internal/plan/schedule"
)

// pings is how many times a delay is measured at once.
const pings = 5

// ping is one measured delay: noisy, and now and then a lost packet.
func (e *engine) ping(ms float64) float64 {
	ms *= 1 + math.Abs(0.08*e.rng.NormFloat64())
	if e.rng.Float64() < 0.03 {
		ms += 200 + 1000*e.rng.Float64()
	}
	return ms
}

// measureFleet measures what a strategy wants of the nodes alone, which costs no site anything: BS, and the delays
// between nodes.
func (e *engine) measureFleet() {
	for i := range e.w.Nodes {
		if e.w.Nodes[i].there(0) {
			e.measureNode(i)
		}
	}
	if e.want.Delay != schedule.None && e.w.Between != nil {
		e.marks = e.landmarks()
	}
}

// unlimited is what storing is measured at where nothing limits it, bits/s.
const unlimited = 1e9

func (e *engine) measureNode(i int) {
	n := &e.w.Nodes[i]
	if e.want.Store {
		bw := n.limit()
		if bw == 0 {
			bw = unlimited
		}
		for range 3 {
			e.learned.Take(learn.Fact{At: e.now, Kind: learn.Store, Node: n.ID, Bits: 8e5, Seconds: 8e5 / (bw * math.Exp(0.1*e.rng.NormFloat64()))})
		}
	}
	if e.want.Delay == schedule.None || e.w.Between == nil {
		return
	}
	for k := range e.w.Nodes {
		if k != i && e.w.Nodes[k].there(e.now) {
			for range pings {
				e.learned.Take(learn.Fact{At: e.now, Kind: learn.Distance, Node: n.ID, To: e.w.Nodes[k].ID, Seconds: e.ping(e.w.Between[i][k]) / 1000})
			}
		}
	}
}

// landmarks chooses the nodes that measure sites for all others.
func (e *engine) landmarks() []int {
	l := e.want.Landmark
	out := l.Choose(len(e.w.Nodes), func(i int) (string, map[string]string, bool) {
		return e.w.Nodes[i].ID, e.w.Nodes[i].Labels, e.w.Nodes[i].there(0)
	})
	if out == nil {
		delay := clone(e.w.Between)
		for i := range delay {
			for k := range delay {
				if i == k || !e.w.Nodes[i].there(0) || !e.w.Nodes[k].there(0) {
					delay[i][k] = math.NaN()
				}
			}
		}
		out = netcoord.Spread(delay, l.Count)
	}
	if l.Count > 0 && len(out) > l.Count {
		out = out[:l.Count]
	}
	e.book.SetLandmarks(out)
	return out
}

// measureSite measures what a strategy wants of a site before it is crawled, and returns when that is done: each
// measurement takes its time on the site's clock. Bandwidth probes are only listed here; they compete for the nodes'
// bandwidth and run as leases do.
func (e *engine) measureSite(j int) (ready int64) {
	took := 0.0
	ask := func(i int) {
		for range pings {
			ms := e.ping(e.w.Delay[i][j])
			e.learned.Take(learn.Fact{At: e.now, Kind: learn.Delay, Node: e.w.Nodes[i].ID, Site: e.w.Sites[j].Name, Seconds: ms / 1000})
			took += ms
		}
	}
	extent := e.want.Delay
	if e.w.Delay == nil { // a world without distances
		extent = schedule.None
	}
	switch extent {
	case schedule.Landmark:
		for _, i := range e.marks {
			ask(i)
		}
	case schedule.All:
		for i := range e.w.Nodes {
			if e.w.Nodes[i].there(e.now) {
				ask(i)
			}
		}
	}
	return e.now + int64(took)
}

// probe fetches the root page three times.
func (e *engine) probe(node, site int) {
	e.res.Probes++
	e.res.ProbeBits += 3 * e.w.Root
	e.add(&lease{site: site, node: node, probe: true, left: 3 * e.w.Root, start: e.now, until: e.now + 30_000})
}

// welcome measures a node that joins: itself and the others.
func (e *engine) welcome(i int) {
	e.measureNode(i)
	e.book.Fit()
}
