package coordinator

import (
	"context"
	"sort"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/schedule"
)

// node is a node as the coordinator knows it.
type node struct {
	info    crawl.NodeInfo
	seen    time.Time
	heard   time.Time // when it gave a sign of life last; seen is also when it was found in the registry
	back    time.Time // when it gave the first one since the bus, or the coordinator, was away
	since   time.Time
	left    bool // it took itself out
	leaving bool // a person wants it to
	worked  bool // it has held a lease
	tried   int  // times that balance has looked for work for it
	held    map[uint64]bool
}

// nodeEvent notes that a node is there, or not any more. One that does not do what a person wants it to is told again.
func (c *Coordinator) nodeEvent(ctx context.Context, ev nodeEvent) {
	n := c.nodes[ev.info.Node]
	if ev.sign == crawl.SignLeft {
		if n != nil {
			n.left = true
		}
		return
	}
	if f := ev.info.Check(); f != nil {
		c.refuse(0, ev.info.Node, []crawl.Refusal{{Fault: &crawl.Fault{Field: "registration: " + f.Field, Rule: f.Rule}}})
		return
	}
	if ev.info.Echo != "" && !crawl.PlainEcho(ev.info.Echo) { // it can work, but nobody asks it
		c.refuse(0, ev.info.Node, []crawl.Refusal{{Fault: &crawl.Fault{Field: "registration: echo", Rule: crawl.RuleName}}})
		ev.info.Echo = ""
	}
	if n == nil || n.info.Incarnation != ev.info.Incarnation {
		o := c.orders[ev.info.Node]
		n = &node{held: map[uint64]bool{}, since: time.Now(), leaving: o.leave && o.incarnation == ev.info.Incarnation}
		c.greet, c.changed = true, true
		c.newcomer = true // its store goes into the ledger before its first page does
		c.nodes[ev.info.Node] = n
		c.f.Leases(func(l *frontier.Lease) {
			if l.Node == ev.info.Node && l.Incarnation == ev.info.Incarnation {
				n.held[l.ID], n.worked = true, true
			}
		})
		c.cfg.Logger.Info("node", "name", ev.info.Node, "incarnation", ev.info.Incarnation, "labels", ev.info.Labels)
	}
	n.info, n.seen, n.left = ev.info, time.Now(), false
	if ev.sign == crawl.SignRenewed {
		n.hear(n.seen, c.trouble())
	}
	c.remind(ctx, &n.info)
}

// hear notes a sign of life.
func (n *node) hear(now, trouble time.Time) {
	if !n.heard.After(trouble) {
		n.back = now
	}
	n.heard = now
}

// trouble is when a node that was alive may not have been heard last: before this process led, or while the log was away.
func (c *Coordinator) trouble() time.Time {
	if c.sick.After(c.started) {
		return c.sick
	}
	return c.started
}

// expire forgets nodes that have neither renewed their registration nor reported.
func (c *Coordinator) expire(now time.Time) {
	for id, n := range c.nodes {
		if now.Sub(latest(n.seen, n.heard)) > c.cfg.NodeTTL || n.left && len(n.held) == 0 {
			delete(c.nodes, id)
			c.changed = true
			c.cfg.Logger.Info("node gone", "name", id, "left", n.left)
		}
	}
}

func (n *node) drains() bool { return n.left || n.leaving || n.info.Draining }

// leaving tells whether a node is to get nothing more. One that is not in the registry may be about to register again.
func (c *Coordinator) leaving(name string) bool {
	n := c.nodes[name]
	return n != nil && n.drains()
}

// view is a node as it describes itself, and what it does.
func (n *node) view(id string) learn.Node {
	return learn.Node{
		ID: id, Incarnation: n.info.Incarnation, Labels: n.info.Labels, Leases: n.info.Leases, Held: len(n.held), Requests: n.info.Concurrency,
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
)

func (n *node) state() string {
	switch {
	case n.drains():
		return nodeDraining
	case n.info.OnDemand && len(n.held) > 0:
		return nodeTakenOn
	case n.info.OnDemand:
		return nodeOnDemand
	case len(n.held) > 0:
		return nodeWorking
	}
	return nodeReserved
}

// ping has nodes measure the delay to each other, those with an echo by all others.
func (c *Coordinator) ping(ctx context.Context) {
	since := time.Since(c.pinged)
	if c.cfg.PingEvery <= 0 || since < c.cfg.PingEvery && !(c.greet && since > greetAfter) {
		return
	}
	var echoes []crawl.Echo
	for id, n := range c.nodes {
		if n.info.Echo != "" {
			echoes = append(echoes, crawl.Echo{Node: id, URL: n.info.Echo})
		}
	}
	if len(echoes) == 0 {
		return
	}
	c.pinged, c.greet = time.Now(), false
	sort.Slice(echoes, func(a, b int) bool { return echoes[a].Node < echoes[b].Node })
	if len(echoes) > maxLandmarks {
		echoes = echoes[:maxLandmarks]
	}
	for id := range c.nodes {
		c.send(ctx, id, &crawl.Dispatch{Kind: crawl.DispatchPing, Pings: echoes})
	}
}

// greetAfter is how long nodes that have come wait for others to come before all are pinged again.
const greetAfter = 5 * time.Second

// maxLandmarks bounds how many nodes are measured by all others.
const maxLandmarks = 32

// NodeView is a node as people see it: what it offers, what it costs and what it has earned.
type NodeView struct {
	crawl.NodeInfo
	State     string  `json:"state"`
	Held      int     `json:"leases"`
	SeenMS    int64   `json:"seen_ms_ago"`
	Landmark  bool    `json:"landmark"` // others can measure it
	Pages     int64   `json:"pages"`
	Bytes     int64   `json:"bytes"`
	Cost      float64 `json:"cost"`
	PresentMS int64   `json:"present_ms"`
	WorkingMS int64   `json:"working_ms"`
	Refused   Refused `json:"refused"`

	Quarantine ledger.Quarantine `json:"quarantine"`

	Measured schedule.Measured `json:"measured"` // besides what its leases tell, since the coordinator leads
}

// Nodes returns the nodes that are there, those that have earned something and are gone, and those of which something was refused.
func (c *Coordinator) Nodes(ctx context.Context) (out []NodeView, err error) {
	out = []NodeView{}
	err = c.do(ctx, func() error {
		if err := c.charge(ctx); err != nil {
			return err
		}
		earned, err := c.ledger.Earned(ctx)
		if err != nil {
			return err
		}
		for id, n := range c.nodes {
			v := NodeView{NodeInfo: n.info, State: n.state(), Held: len(n.held), SeenMS: time.Since(n.seen).Milliseconds(), Landmark: n.info.Echo != "", Measured: *c.did(id)}
			v.earn(earned[id])
			delete(earned, id)
			out = append(out, v)
		}
		for id, e := range earned {
			v := NodeView{NodeInfo: crawl.NodeInfo{Node: id, Store: e.Store}, State: nodeGone, SeenMS: max(0, time.Now().UnixMilli()-e.Seen)}
			v.earn(e)
			out = append(out, v)
		}
		out = c.withRefused(out)
		aside, err := c.ledger.Quarantined(ctx)
		for i := range out {
			out[i].Quarantine = aside[out[i].Node]
		}
		return err
	})
	sort.Slice(out, func(a, b int) bool { return out[a].Node < out[b].Node })
	return out, err
}

func (v *NodeView) earn(e ledger.Earned) {
	v.Pages, v.Bytes, v.Cost, v.PresentMS, v.WorkingMS = e.Pages, e.Bytes, e.Cost, e.PresentMS, e.WorkingMS
}

// msec is a span of so many milliseconds.
func msec(n int64) time.Duration { return time.Duration(n) * time.Millisecond }

// settle is how long a new node is left to find work among what waits, before work is taken from others for it.
const settle = 300 * time.Millisecond

// tries is how often a strategy is asked again for a node that got nothing.
const tries = 4

// balance gives a node that has just come something to do where everything is with others already: their oldest leases
// beyond a fair share are asked to end, and the strategy decides anew who gets those sites. It does so a few times
// after a node has come: a strategy that does not want the node is not asked for ever.
func (c *Coordinator) balance(ctx context.Context) {
	able, newcomers := 0, 0
	for _, n := range c.nodes {
		if n.drains() {
			continue
		}
		able++
		if n.tried < tries && time.Since(n.since) > time.Duration(n.tried+1)*settle {
			n.tried++
			if len(n.held) == 0 {
				newcomers++
			} else {
				n.tried = tries
			}
		}
	}
	if newcomers == 0 || able < 2 {
		return
	}
	for _, r := range c.runs {
		if len(r.due) > 0 && r.due[0].at <= c.clock.ms(time.Now()) {
			return // there is work that nobody has
		}
	}
	fair := (len(c.addrs) + able - 1) / able
	for id, n := range c.nodes {
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
			c.send(ctx, id, &crawl.Dispatch{Kind: crawl.DispatchDrain, LeaseID: l.ID})
		}
	}
}
