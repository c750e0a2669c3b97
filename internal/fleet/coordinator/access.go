package coordinator

import (
	"context"
	"maps"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/ledger"
)

// Gate says what nodes may, and counts what they say.
type Gate interface {
	AllowsStore(store string) bool
	EchoOf(node, echo string) string              // where others may measure a node that names an address; empty: nowhere
	Applied(node string, s access.Said, at int64) // at: Unix ms
}

// Rules of registrations, besides those of what is in them.
const (
	ruleStore crawl.Rule = "store"   // archives must lie where the operator allows
	ruleWire  crawl.Rule = "version" // it must speak what is spoken here: it would not understand its leases
)

// checked checks a registration. One that is refused leaves the node out; without an echo that is its own it can work, but nobody asks
// it.
func (f *fleet) checked(now time.Time, info *crawl.NodeInfo) bool {
	fault := info.Check()
	if fault != nil {
		fault = &crawl.Fault{Field: "registration: " + fault.Field, Rule: fault.Rule}
	} else if f.gate != nil && info.Wire < access.MinWire {
		fault = &crawl.Fault{Field: "registration: wire (upgrade this agent)", Rule: ruleWire}
	} else if f.gate != nil && info.Store != "" && !f.gate.AllowsStore(info.Store) {
		fault = &crawl.Fault{Field: "registration: store", Rule: ruleStore}
	}
	if fault != nil {
		f.refuse(0, info.Node, []crawl.Refusal{{Fault: fault}})
		return false
	}
	if echo := info.Echo; echo != "" {
		if info.Echo = ""; crawl.PlainEcho(echo) {
			info.Echo = echo
		}
		if info.Echo != "" && f.gate != nil {
			info.Echo = f.gate.EchoOf(info.Node, echo)
		}
		if info.Echo == "" {
			f.refuse(0, info.Node, []crawl.Refusal{{Fault: &crawl.Fault{Field: "registration: echo", Rule: crawl.RuleName}}})
		}
	}
	if n := f.nodes[info.Node]; n != nil && f.gate != nil && !maps.Equal(n.info.Labels, info.Labels) {
		f.gate.Applied(info.Node, access.Said{Labels: int64(max(1, len(info.Labels)))}, now.UnixMilli())
	}
	return true
}

// weigh counts what a node has said in an entry, and how much of it was not believed or refused. A lease counts when it ends: that is when a
// node may want another one. A link that the node has sent before, and a URL that has ended, are looked up like a new link.
func (f *fleet) weigh(from *entry, e *crawl.Entry, doubted int) {
	if f.gate == nil || from.node == "" {
		return
	}
	s := access.Said{Messages: 1, Bytes: int64(len(from.data)), Doubted: int64(doubted)}
	for i := range e.Parts {
		p := &e.Parts[i]
		s.Links += int64(len(p.Outcomes))
		for j := range p.Found {
			s.Links += int64(len(p.Found[j].Links) + len(p.Found[j].Known))
		}
		if p.Final {
			s.Leases++
		}
	}
	for i := range e.Measures {
		s.Measures += int64(max(1, len(e.Measures[i].MS)))
	}
	f.gate.Applied(from.node, s, from.at)
}

// ShutOut takes a node's leases back whose credentials are not good any more.
func (c *Coordinator) ShutOut(ctx context.Context, name string) error {
	return c.desk.do(ctx, func(time.Time) error {
		c.fleet.left(name)
		return nil
	})
}

// Note writes an order down in the log, before it is done.
func (c *Coordinator) Note(ctx context.Context, o *crawl.Order) error {
	return c.desk.do(ctx, func(time.Time) error {
		return c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryOrder, Order: o})
	})
}

// Ordered returns the order that was given with a key since then (Unix ms), whoever led; nil if there is none, or it was not done.
func (c *Coordinator) Ordered(ctx context.Context, key string, since int64) (*ledger.Order, error) {
	if err := c.settled(ctx); err != nil {
		return nil, err
	}
	return c.ledger.Ordered(ctx, key, since)
}

// Orders returns orders that the ledger has, the newest first: all that were carried out are there.
func (w *window) Orders(ctx context.Context, q ledger.OrderQuery) ([]ledger.Order, error) {
	return w.ledger.Orders(ctx, q)
}
