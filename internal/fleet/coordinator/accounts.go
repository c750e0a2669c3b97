package coordinator

import (
	"context"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/price"
)

func (n *node) rates() price.Rates { return ratesOf(&n.info) }

func ratesOf(n *crawl.NodeInfo) price.Rates {
	return price.Rates{Reserve: n.Prices[0], Use: n.Prices[1], Surcharge: n.Prices[2]}
}

const (
	billEvery   = time.Second
	chargeEvery = 10 * time.Second // bills are written this often: a coordinator with nothing to do hardly writes
)

// accounts owns what nodes cost and have not been charged for yet.
type accounts struct {
	billed  time.Time
	bills   map[string]*ledger.Bill // since charged
	atWork  map[int]int64           // ms that so many nodes were at work, since charged
	charged time.Time
	charges int // how often they were written
}

func newAccounts() accounts {
	return accounts{bills: map[string]*ledger.Bill{}, atWork: map[int]int64{}}
}

// bill counts what nodes cost since it was called last: by the hour, a reserved node its price of reservation and, while it holds
// leases, of use; one that is not reserved its surcharge while it holds leases. It also counts how many were at work.
func (a *accounts) bill(now time.Time, nodes map[string]*node) {
	span := now.Sub(a.billed)
	a.billed = now
	if span > time.Minute {
		span = 0 // the first time, or the machine slept: nobody knows
	}
	atWork := 0
	for id, n := range nodes {
		b := a.bills[id]
		if b == nil {
			b = &ledger.Bill{Node: id}
			a.bills[id] = b
		}
		b.Store, b.Seen, b.Incarnation = n.info.Store, n.Seen.UnixMilli(), n.info.Incarnation
		b.PresentMS += span.Milliseconds()
		p, hours := n.rates(), span.Hours()
		working := len(n.held) > 0
		switch {
		case n.info.OnDemand && working:
			b.Cost += p.Surcharge * hours
		case !n.info.OnDemand:
			b.Cost += p.Reserve * hours
			if working {
				b.Cost += p.Use * hours
			}
		}
		if working {
			b.WorkingMS += span.Milliseconds()
			atWork++
		}
	}
	if len(nodes) > 0 {
		a.atWork[atWork] += span.Milliseconds()
	}
}

// charge writes what has been billed.
func (a *accounts) charge(ctx context.Context, l *ledger.Ledger) error {
	ctx, cancel := context.WithTimeout(ctx, chargeEvery)
	defer cancel()
	bills := make([]ledger.Bill, 0, len(a.bills))
	for _, b := range a.bills {
		bills = append(bills, *b)
	}
	err := l.Charge(ctx, bills, a.atWork)
	clear(a.bills) // also after a failure: it may have been written all the same, and nothing is billed twice
	clear(a.atWork)
	a.charges++
	return err
}

// bill counts what nodes cost, and writes it from time to time.
func (c *Coordinator) bill(ctx context.Context, now time.Time) {
	if !c.cfg.Serve || now.Sub(c.books.billed) < billEvery && !c.fleet.newcomer {
		return
	}
	c.books.bill(now, c.fleet.nodes)
	if c.fleet.newcomer || now.Sub(c.books.charged) >= chargeEvery {
		c.fleet.newcomer, c.books.charged = false, now
		if err := c.books.charge(ctx, c.sinks.ledger); err != nil && ctx.Err() == nil {
			c.cfg.Logger.Warn("costs not written", "error", err)
		}
	}
}

// record writes down what nodes there are and which strategies decide, when that has changed: a replay needs it.
func (c *Coordinator) record(ctx context.Context, now time.Time) {
	if !c.fleet.changed || len(c.jobs.runs) == 0 {
		return
	}
	c.fleet.changed = false
	nodes := make([]crawl.NodeInfo, 0, len(c.fleet.nodes))
	for _, n := range c.fleet.nodes {
		nodes = append(nodes, n.info)
	}
	strategies := make(map[uint32]string, len(c.jobs.runs))
	for job, r := range c.jobs.runs {
		strategies[job] = r.spec
	}
	ctx, cancel := context.WithTimeout(ctx, chargeEvery)
	defer cancel()
	if err := c.sinks.ledger.PutFleet(ctx, now.UnixMilli(), nodes, strategies); err != nil && ctx.Err() == nil {
		c.cfg.Logger.Warn("nodes not recorded", "error", err)
	}
}
