package coordinator

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sort"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/term"
	"argosy/internal/plan/learn"
)

// fleet owns what is known of nodes.
type fleet struct {
	logger   *slog.Logger
	gate     Gate // nil: whatever passes the checks is believed, and nothing is counted
	nodes    map[string]*node
	gone     map[string]life  // of nodes that were not heard of for long: they may come back
	absent   []string         // nodes that hold leases and that this coordinator has not heard of: their labels are not known
	orders   map[string]order // by the nodes' names
	refused  map[string]*Refused
	barren   map[string]*barren // by the nodes' names, in whatever life
	pinged   time.Time
	greet    bool // one has come since nodes were pinged
	newcomer bool // one has come since costs were written: its store goes into the ledger before its first page does
	changed  bool // they have changed since they were recorded
}

func newFleet(logger *slog.Logger, gate Gate) fleet {
	return fleet{logger: logger, gate: gate, nodes: map[string]*node{}, gone: map[string]life{}, orders: map[string]order{}, refused: map[string]*Refused{}, barren: map[string]*barren{}}
}

// life is what was heard of a node in one life of its process.
type life struct {
	incarnation string
	labels      map[string]string
	since       time.Time // it is gone
	term.Contact
}

// maxGone bounds the nodes of which that is remembered once they are gone: as many as there are names.
const maxGone = access.MaxNodes

// node is a node as the coordinator knows it.
type node struct {
	term.Contact
	info    crawl.NodeInfo
	since   time.Time
	leaving bool // a person wants it to
	worked  bool // it has held a lease
	tried   int  // times that balance has looked for work for it
	barren  *barren
	held    map[uint64]bool
}

// left notes that a node has taken itself out.
func (f *fleet) left(name string) {
	if n := f.nodes[name]; n != nil {
		n.Left = true
	}
}

// registered notes a node's registration. leases calls fn with those that it holds.
func (f *fleet) registered(now, trouble time.Time, info crawl.NodeInfo, sign crawl.Sign, leases func(fn func(*frontier.Lease))) {
	n := f.nodes[info.Node]
	if n == nil || n.info.Incarnation != info.Incarnation {
		o := f.orders[info.Node]
		n = &node{held: map[uint64]bool{}, since: now, leaving: o.leave && o.incarnation == info.Incarnation, barren: cmp.Or(f.barren[info.Node], &barren{})}
		if was, ok := f.gone[info.Node]; ok && was.incarnation == info.Incarnation {
			n.Contact = was.Contact // it was silent, and not the coordinator deaf: its leases do not get a new term
		}
		delete(f.gone, info.Node)
		f.greet, f.changed, f.newcomer = true, true, true
		f.nodes[info.Node] = n
		leases(func(l *frontier.Lease) {
			if l.Node == info.Node && l.Incarnation == info.Incarnation {
				n.held[l.ID], n.worked = true, true
			}
		})
		f.logger.Info("node", "name", info.Node, "incarnation", info.Incarnation, "labels", info.Labels)
	}
	n.info, n.Seen, n.Left = info, now, false
	if sign == crawl.SignRenewed {
		n.Hear(now, trouble)
	}
}

// nodeEvent notes that a node is there, or not any more. One that does not do what a person wants it to is told again.
func (c *Coordinator) nodeEvent(ctx context.Context, now time.Time, ev nodeEvent) {
	c.board.nodesNew = true
	if ev.sign == crawl.SignLeft {
		c.fleet.left(ev.info.Node)
		c.jobs.stir()
		return
	}
	if !c.fleet.checked(now, &ev.info) {
		return
	}
	if was := c.fleet.nodes[ev.info.Node]; was == nil || was.differs(&ev.info) {
		c.jobs.stir()
	}
	c.fleet.registered(now, c.hearing.Trouble(), ev.info, ev.sign, c.f.Leases)
	if leave, again := c.fleet.remind(now, &ev.info); again {
		c.post.order(ctx, ev.info.Node, leave)
	}
}

// miss finds out who is absent: a coordinator that has just begun knows of nodes that have not come yet by the leases that they hold.
func (f *fleet) miss(leases func(fn func(*frontier.Lease))) {
	f.absent = f.absent[:0]
	leases(func(l *frontier.Lease) {
		_, gone := f.gone[l.Node]
		if f.nodes[l.Node] == nil && !gone && !slices.Contains(f.absent, l.Node) {
			f.absent = append(f.absent, l.Node)
		}
	})
}

// hear notes that a node has reported.
func (f *fleet) hear(name string, now, trouble time.Time) {
	if n := f.nodes[name]; n != nil {
		n.Hear(now, trouble)
	}
}

// heard reports whether there was a sign of life of a node after a time. One that has gone may have been heard until then.
func (f *fleet) heard(name string, at time.Time) bool {
	n := f.nodes[name]
	return n != nil && n.Since(at)
}

// forget takes a lease from its node.
func (f *fleet) forget(l *frontier.Lease) {
	if n := f.nodes[l.Node]; n != nil {
		delete(n.held, l.ID)
	}
}

// A node that has given back so many leases in a row without an outcome gets nothing for a while, then one lease, and again nothing for twice
// as long if that brings nothing either: others have its sites meanwhile.
const (
	vainMost  = 4
	vainRest  = time.Second
	vainRests = time.Minute // at most
	vainKept  = time.Hour   // it is remembered of a node that is gone
)

// barren is what a node has brought nothing with.
type barren struct {
	leases int       // in a row, the last ones
	until  time.Time // it gets none
}

// vain notes that a lease has ended none of its URLs.
func (f *fleet) vain(now time.Time, name string) {
	n := f.nodes[name]
	if n == nil {
		return
	}
	b := n.barren
	f.barren[name] = b
	if b.leases++; b.leases < vainMost {
		return
	}
	if b.leases == vainMost {
		f.logger.Warn("a node brings nothing: it gets a lease now and then, until one brings something", "node", name, "leases in a row", b.leases)
	}
	b.until = now.Add(min(vainRests, vainRest<<min(b.leases-vainMost, 10)))
}

// brings notes that a node has ended a URL.
func (f *fleet) brings(name string) {
	if n := f.nodes[name]; n != nil {
		n.barren.leases = 0
	}
	delete(f.barren, name)
}

// leases is how many leases a node may hold.
func (n *node) leases(now time.Time) int {
	switch {
	case n.barren.leases < vainMost:
		return n.info.Leases
	case now.Before(n.barren.until):
		return 0
	}
	return min(1, n.info.Leases)
}

// expire forgets nodes that have neither renewed their registration nor reported, and those that are gone for longer than the terms of
// all leases, so that nothing hangs on them.
func (f *fleet) expire(now time.Time, terms time.Duration) {
	for id, was := range f.gone {
		if now.Sub(was.since) > terms {
			delete(f.gone, id)
		}
	}
	maps.DeleteFunc(f.barren, func(name string, b *barren) bool { return f.nodes[name] == nil && now.Sub(b.until) > vainKept })
	for id, n := range f.nodes {
		if n.Gone(now) || n.Left && len(n.held) == 0 {
			delete(f.nodes, id)
			if !n.drains() && len(f.gone) < maxGone {
				f.gone[id] = life{n.info.Incarnation, n.info.Labels, now, n.Contact}
			}
			f.changed = true
			f.logger.Info("node gone", "name", id, "left", n.Left)
		}
	}
}

func (n *node) drains() bool { return n.Left || n.leaving || n.info.Draining }

// leaving reports whether a node is to get nothing more. One that is not in the registry may be about to register again.
func (f *fleet) leaving(name string) bool {
	n := f.nodes[name]
	return n != nil && n.drains()
}

// view is a node as it describes itself, and what it does.
func (n *node) view(now time.Time, id string) learn.Node {
	return learn.Node{
		ID: id, Incarnation: n.info.Incarnation, Labels: n.info.Labels, Leases: n.leases(now), Held: len(n.held), Requests: n.info.Concurrency,
		Worked: n.worked, Draining: n.drains(), OnDemand: n.info.OnDemand, Offer: n.info.Offer, Prices: n.rates(),
	}
}

// States of a node.
const (
	nodeWorking  = "working"
	nodeReserved = "reserved" // paid for and idle
	nodeTakenOn  = "taken-on" // not reserved, working at surcharge
	nodeOnDemand = "on-demand"
	nodeDraining = "draining"
	nodeGone     = "gone"
	nodeRefused  = "refused" // what it says of itself does not pass the check
	nodeBarren   = "barren"  // its last leases have brought nothing
)

func (n *node) state() string {
	switch {
	case n.drains():
		return nodeDraining
	case n.barren.leases >= vainMost:
		return nodeBarren
	case n.info.OnDemand && len(n.held) > 0:
		return nodeTakenOn
	case n.info.OnDemand:
		return nodeOnDemand
	case len(n.held) > 0:
		return nodeWorking
	}
	return nodeReserved
}

// echoes returns the nodes that others are to measure now: those with an echo, if it is time.
func (f *fleet) echoes(now time.Time, every time.Duration) (echoes []crawl.Echo) {
	since := now.Sub(f.pinged)
	if every <= 0 || since < every && !(f.greet && since > greetAfter) {
		return nil
	}
	for id, n := range f.nodes {
		if n.info.Echo != "" {
			echoes = append(echoes, crawl.Echo{Node: id, URL: n.info.Echo})
		}
	}
	if len(echoes) == 0 {
		return nil
	}
	f.pinged, f.greet = now, false
	sort.Slice(echoes, func(a, b int) bool { return echoes[a].Node < echoes[b].Node })
	return echoes[:min(len(echoes), maxLandmarks)]
}

// ping has nodes measure the delay to each other, those with an echo by all others.
func (c *Coordinator) ping(ctx context.Context, now time.Time) {
	echoes := c.fleet.echoes(now, c.cfg.PingEvery)
	if len(echoes) == 0 {
		return
	}
	for id := range c.fleet.nodes {
		c.post.send(ctx, id, &crawl.Dispatch{Kind: crawl.DispatchPing, Pings: echoes})
	}
}

// greetAfter is how long nodes that have come wait for others to come before all are pinged again.
const greetAfter = 5 * time.Second

// maxLandmarks bounds how many nodes are measured by all others.
const maxLandmarks = 32

// msec is a span of so many milliseconds.
func msec(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// settle is how long a new node is left to find work among what waits, before work is taken from others for it.
const settle = 300 * time.Millisecond

// tries is how often a strategy is asked again for a node that got nothing.
const tries = 4

// idle counts the nodes that can work, and of those the ones that came a moment ago, have nothing to do, and for which work is
// looked for now.
func (f *fleet) idle(now time.Time) (able, newcomers int) {
	for _, n := range f.nodes {
		if n.drains() {
			continue
		}
		able++
		if n.tried < tries && now.Sub(n.since) > time.Duration(n.tried+1)*settle {
			n.tried++
			if len(n.held) == 0 {
				newcomers++
			} else {
				n.tried = tries
			}
		}
	}
	return able, newcomers
}

// balance gives a node that has just come something to do where everything is with others already: their oldest leases
// beyond a fair share are asked to end, and the strategy decides anew who gets those sites. It does so a few times
// after a node has come: a strategy that does not want the node is not asked for ever.
func (c *Coordinator) balance(ctx context.Context, now time.Time) {
	able, newcomers := c.fleet.idle(now)
	if newcomers == 0 || able < 2 || c.jobs.due(c.clock.MS(now)) { // there is work that nobody has
		return
	}
	fair := (len(c.open.addrs) + able - 1) / able
	for id, n := range c.fleet.nodes {
		if n.drains() || len(n.held) <= fair {
			continue
		}
		var leases []*frontier.Lease
		for lease := range n.held {
			if l := c.f.Lease(lease); l != nil && l.Probe == "" && !l.Resolve { // those end soon, and say what others need
				leases = append(leases, l)
			}
		}
		sort.Slice(leases, func(a, b int) bool { return leases[a].ID < leases[b].ID })
		for _, l := range leases[:max(0, len(leases)-fair)] {
			c.post.send(ctx, id, &crawl.Dispatch{Kind: crawl.DispatchDrain, LeaseID: l.ID})
		}
	}
}
