package sim

import (
	"math"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/schedule"
)

// usuallyLost is the share of httppings that take long since a packet was lost, and lostMS by how much longer at least.
const (
	usuallyLost = 0.03
	lostMS      = 200
)

// ping is one measured delay: noisy, and now and then a lost packet.
func (e *engine) ping(ms float64) float64 {
	ms *= 1 + math.Abs(0.08*e.rng.NormFloat64())
	lost := e.w.Lost
	if lost == 0 {
		lost = usuallyLost
	}
	if e.rng.Float64() < lost {
		ms += lostMS + 1000*e.rng.Float64()
	}
	return ms
}

// remember has the fleet know what it has learned before: what was measured then is not measured again.
func (e *engine) remember() {
	if len(e.w.Learned) == 0 {
		return
	}
	nodes, sites := map[string]int{}, map[string]int{}
	for i := range e.w.Nodes {
		nodes[e.w.Nodes[i].ID] = i
	}
	for j := range e.w.Sites {
		sites[e.w.Sites[j].Name] = j
	}
	for i := range e.w.Learned {
		f := &e.w.Learned[i]
		e.learned.Take(*f)
		node, known := nodes[f.Node]
		site, there := sites[f.Site]
		if !known || !there {
			continue
		}
		switch f.Kind {
		case learn.Crawl, learn.Refused, learn.Tried:
			e.tried[kindOf(false)].add(site, node, len(e.w.Nodes))
		case learn.Delay:
			e.answered(site, 1000*f.Seconds)
		case learn.TriedDelay:
			e.tried[kindOf(true)].add(site, node, len(e.w.Nodes))
		}
	}
}

// measureFleet measures what a strategy wants of the nodes alone, which costs no site anything: BS, and the delays
// between nodes.
func (e *engine) measureFleet() {
	for i := range e.w.Nodes {
		if e.w.Nodes[i].there(0) {
			e.measureNode(i)
		}
	}
	e.landmarks()
}

// unlimited is what storing is measured at where nothing limits it, bits/s: more than all sites together bring.
const unlimited = 1e12

func (e *engine) measureNode(i int) {
	n := &e.w.Nodes[i]
	if e.want.Store || n.Told > 0 {
		bw, noise := n.stores(), 0.1
		switch {
		case n.Told > 0: // measured already
			bw, noise = n.Told, 0
		case bw == 0:
			bw = unlimited
		}
		for range 3 {
			e.learned.Take(learn.Fact{At: e.now, Kind: learn.Store, Node: n.ID, Bits: 8e5, Seconds: 8e5 / (bw * math.Exp(noise*e.rng.NormFloat64()))})
		}
	}
	if e.want.Delay == schedule.None || e.w.Between == nil {
		return
	}
	for k := range e.w.Nodes {
		if k != i && e.w.Nodes[k].there(e.now) {
			for range crawl.PingTries {
				e.learned.Take(learn.Fact{At: e.now, Kind: learn.Distance, Node: n.ID, To: e.w.Nodes[k].ID, Seconds: e.ping(e.w.Between[i][k]) / 1000})
			}
		}
	}
}

// tellStores has a planner that knows the world know what nodes can store.
func (e *engine) tellStores() {
	for i := range e.w.Nodes {
		if n := &e.w.Nodes[i]; n.Store > 0 {
			e.learned.Take(learn.Fact{At: e.now, Kind: learn.Store, Node: n.ID, Bits: n.stores(), Seconds: 1})
		}
	}
}

// landmarks chooses the nodes that measure sites for all others, of those that are there.
func (e *engine) landmarks() {
	if e.want.Delay == schedule.None || e.w.Delay == nil {
		return
	}
	var there []schedule.Node
	for i := range e.w.Nodes {
		if n := &e.w.Nodes[i]; n.there(e.now) {
			there = append(there, schedule.Node{ID: n.ID, Labels: n.Labels, Book: i})
		}
	}
	of := e.want.Landmark
	if len(e.w.Job.Landmarks) > 0 {
		of = schedule.Landmarks{Given: e.w.Job.Landmarks, Count: of.Count}
	}
	marks, _ := learn.Landmarks(of, there, e.book)
	e.marks = e.marks[:0]
	for _, k := range marks {
		e.marks = append(e.marks, there[k].Book)
	}
	e.book.SetLandmarks(e.marks)
}

// measure has nodes measure what the planner thinks worth it before sites are crawled, and returns the snapshot of those
// that are not measured now. at are the world's numbers of the snapshot's nodes.
func (e *engine) measure(s *schedule.Snapshot, at []int) (*schedule.Snapshot, error) {
	by := schedule.Probing{Measures: e.want, Spent: &e.spent, Waits: len(e.waiting) - len(s.Tasks), Done: func(site, node int, ping bool) bool { return e.tried[kindOf(ping)].has(site, node) }}
	if e.w.Delay == nil { // a world without distances
		by.Delay = schedule.None
	}
	for i, n := range at {
		if slices.Contains(e.marks, n) {
			by.Marks = append(by.Marks, i)
		}
	}
	probes, pings := schedule.PlanProbes(s, by)
	if err := schedule.Verify(s, probes); err != nil {
		return nil, err
	}
	for k, a := range probes.Assignments {
		e.spent.Take(&s.Tasks[a.Task])
		node, t := at[a.Node], e.waiting[a.Task]
		t.had, t.turn = node, t.turn+1
		e.tried[kindOf(pings[k])].add(t.site, node, len(e.w.Nodes))
		if pings[k] {
			e.pingSite(node, t.site)
		} else {
			e.probe(node, t.site)
		}
	}
	return s.Without(probes, pings), nil
}

// pairs is a set of sites and nodes.
type pairs [][]uint64

func (p pairs) has(site, node int) bool { return p[site] != nil && p[site][node/64]>>(node%64)&1 != 0 }

func (p pairs) add(site, node, nodes int) {
	if p[site] == nil {
		p[site] = make([]uint64, (nodes+63)/64)
	}
	p[site][node/64] |= 1 << (node % 64)
}

// kindOf numbers the kinds of measurements: of bandwidth, and of delay.
func kindOf(ping bool) int {
	if ping {
		return 1
	}
	return 0
}

// pingSite measures a delay a few times: that takes the site's time, with its pauses, and a place of the node, but next to none
// of its bandwidth.
func (e *engine) pingSite(node, site int) {
	l := &lease{site: site, node: node, probe: true, left: 1, start: e.now}
	took := 0.0
	for range crawl.PingTries {
		ms := e.looked(node, site, len(l.pings))
		l.pings = append(l.pings, ms)
		took += max(ms, 1000*e.w.Sites[site].Gap)
	}
	e.res.Pings++
	l.until = e.now + int64(math.Ceil(took+e.bodies(node, site))) + e.asksRules(node, site)
	e.rules[site] = true
	e.add(l)
}

// refusal is what an answer holds that refuses, bits: in recordings those that do are hardly above it.
const refusal = 8000

// probeMost is how long a probe may take, ms.
const probeMost = 30_000

// probe fetches the root page a few times. A site that shuts a node out says so, by an answer that is small.
func (e *engine) probe(node, site int) {
	l := &lease{site: site, node: node, probe: true, start: e.now, until: e.now + probeMost, refused: e.refused(node, site)}
	root := e.w.root(node, site)
	l.roots = float64(crawl.ProbeTries-l.refused) * root
	l.left = l.roots + float64(l.refused)*min(refusal, root)
	e.res.Probes++
	e.res.ProbeBits += l.left
	if ms := e.asksRules(node, site); ms > 0 {
		l.asks, l.until = true, e.now+ms
	}
	e.add(l)
}

// asksRules is how long a node asks a site for its robots.txt, ms: whoever asks it first does, over a connection that opens for it.
func (e *engine) asksRules(node, site int) int64 {
	if !e.w.Looks || e.rules[site] || e.w.Delay == nil {
		return 0
	}
	ms, known := e.w.Looked.Rules[[2]int{node, site}]
	if !known {
		ms = max(e.w.Delay[node][site], 1000*e.w.Sites[site].Gap)
	}
	return int64(math.Round(max(0, ms)))
}

// bodies is how long the bodies of all answers take whose delay a node measures, ms.
func (e *engine) bodies(node, site int) float64 {
	if !e.w.Looks || e.w.Sites[site].Gap > 0 {
		return 0
	}
	if ms, known := e.w.Looked.Bodies[[2]int{node, site}]; known {
		return ms
	}
	return 1000 * crawl.PingTries * e.w.root(node, site) / max(1, e.w.Speed[node][site])
}

// resolve has a node look up a site's addresses: that takes a place of it, until the coordinator knows them.
func (e *engine) resolve(site int) {
	s := &e.w.Sites[site]
	if node := e.w.resolver(site); node >= 0 && e.w.Nodes[node].there(e.now) && s.Come > e.now {
		e.add(&lease{site: site, node: node, probe: true, resolve: true, start: e.now, until: s.Come})
	}
}

// goOn has a probe that knows a site's robots.txt measure bandwidth, unless its node has left.
func (e *engine) goOn(l *lease) {
	if !e.w.Nodes[l.node].there(e.now) {
		return
	}
	e.rules[l.site] = true
	next := *l
	next.asks, next.ended, next.until = false, false, l.start+probeMost
	e.add(&next)
}

// refused is how many tries of a probe a site refuses. In the world of a recording a site that now and then has no page for a node does
// not refuse it.
func (e *engine) refused(node, site int) (n int) {
	switch p := e.w.success(node, site); {
	case p >= 1 || p > 0 && e.w.Varied:
		return 0
	case p <= 0:
		return crawl.ProbeTries
	default:
		for range crawl.ProbeTries {
			if e.rng.Float64() >= p {
				n++
			}
		}
		return n
	}
}

// probed has the fleet learn what a probe has measured: a refusal is a fact of its own, and no bandwidth.
func (e *engine) probed(l *lease) {
	if l.refused > 0 {
		e.took(l, learn.Fact{Kind: learn.Refused, All: float64(l.refused)})
	}
	if all := l.done + l.left; l.roots > 0 && all > 0 {
		share := l.roots / all
		l.worked *= share
		e.took(l, learn.Fact{Kind: learn.Crawl, Bits: l.done * share})
	}
	if e.w.Delay != nil { // its first request opens the connection
		e.tookDelay(l, e.looked(l.node, l.site, 0))
	}
}

// looked is the n-th delay that a look measures, ms: as it was, where that was told.
func (e *engine) looked(node, site, n int) float64 {
	if told := e.w.Looked.Pings[[2]int{node, site}]; n < len(told) {
		return told[n]
	}
	return e.ping(e.w.Delay[node][site])
}

// welcome measures a node that joins: itself and the others.
func (e *engine) welcome(i int) {
	e.measureNode(i)
	e.landmarks()
	e.book.Fit()
}

// site is what a fleet knows of a site.
func (e *engine) site(j int) learn.Site {
	s := &e.w.Sites[j]
	x := learn.Site{
		Name: s.Name, Domain: s.Domain, Addrs: s.Addrs, Pause: s.Gap, Connections: s.Width, Latency: e.latency[j].Seconds(), Silent: e.silent(j),
	}
	if e.w.PerIP > 0 && len(x.Addrs) == 0 {
		x.Addrs = []string{s.Name}
	}
	return x
}

// silent reports whether a site has not answered anybody yet.
func (e *engine) silent(j int) bool { return e.pages[j] == 0 && e.latency[j] == 0 }
