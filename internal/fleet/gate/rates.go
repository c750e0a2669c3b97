package gate

import (
	"context"
	"time"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
)

// trafficEvery is how often the embedded bus is asked what nodes have sent, and connectionEvery by how much rarer for each connection, up to
// trafficRarest: to ask a thousand four times a second took a twentieth of a coordinator's time.
const (
	trafficEvery    = 250 * time.Millisecond
	connectionEvery = time.Millisecond
	trafficRarest   = time.Second
)

// watchTraffic shuts nodes out that send more than they may, before the log has taken all of it.
func (g *Gate) watchTraffic(ctx context.Context) {
	t := time.NewTimer(trafficEvery)
	defer t.Stop()
	for n := 0; ; {
		t.Reset(min(trafficRarest, trafficEvery+time.Duration(n)*connectionEvery))
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		all, err := g.server.Traffic()
		if err != nil {
			g.cfg.Logger.Warn("what nodes send is not known", "error", err)
			continue
		}
		n = len(all)
		for node, said := range g.since(all) {
			g.count(meterOf{node, false}, said, g.now())
		}
	}
}

// since returns what nodes have sent since the last time.
func (g *Gate) since(all []bus.Traffic) map[string]access.Said {
	g.mu.Lock()
	defer g.mu.Unlock()
	names := make(map[string]string, len(g.nodes))
	for name, n := range g.nodes {
		names[n.v.Key] = name
	}
	now, out := make(map[uint64]bus.Traffic, len(all)), map[string]access.Said{}
	for _, t := range all {
		now[t.Conn] = t
		name, ok := names[t.Key]
		if !ok {
			continue
		}
		was, s := g.conns[t.Conn], out[name]
		s.Messages += t.Messages - was.Messages
		s.Bytes += t.Bytes - was.Bytes
		out[name] = s
	}
	g.conns = now
	return out
}

// meterOf names a count: what a node sent to the bus is counted apart from what of it the log has taken, for their times differ.
type meterOf struct {
	node   string
	logged bool
}

// longAgo is when what the log took is no reason any more to shut a node out.
const longAgo = time.Minute

// Applied counts what stood in an entry of a node that the log took at a time (Unix ms). The embedded bus has counted messages and
// bytes already.
func (g *Gate) Applied(node string, s access.Said, at int64) {
	if g.server != nil {
		s.Messages, s.Bytes = 0, 0
	}
	g.count(meterOf{node, true}, s, at)
}

// count counts what a node has said, and does not wait. One that says more than it may is shut out for a while: its connections end,
// its leases are taken back, and it may join again later.
func (g *Gate) count(of meterOf, s access.Said, at int64) {
	if g.cfg.Rates.Burst == 0 {
		return
	}
	now := g.now()
	g.mu.Lock()
	defer g.mu.Unlock()
	n, known := g.nodes[of.node]
	if !known {
		return
	}
	m := g.meters[of]
	if m == nil {
		m = &access.Meter{}
		g.meters[of] = m
	}
	why := m.Add(g.cfg.Rates, s, at)
	if c, ok := g.cuts[n.v.Key]; why == "" || now-at > longAgo.Milliseconds() || ok && c.v.Out(now) || g.cutting[of.node] {
		return
	}
	g.cutting[of.node] = true
	g.done.Go(func() { g.shut(n.v, why, now) })
}

// shut has a node that said too much stay out for a while.
func (g *Gate) shut(n access.Node, why string, now int64) {
	ctx, cancel := context.WithTimeout(context.Background(), cutTime)
	defer cancel()
	err := g.cut(ctx, &n, func(c *access.Cut) {
		if now-c.Until > forgiveAfter.Milliseconds() {
			c.Times = 0
		}
		c.Times++
		c.Until, c.Why = now+access.Penalty(c.Times), why
	})
	g.cfg.Logger.Warn("shut out for a while: a node has said more than it may", "node", n.Name, "why", why, "error", err)
	g.mu.Lock()
	delete(g.cutting, n.Name)
	g.mu.Unlock()
}

// cutTime bounds how long it may take to shut a node out; forgiveAfter is when it is forgotten that a node was.
const (
	cutTime      = 5 * time.Second
	forgiveAfter = time.Hour
)
