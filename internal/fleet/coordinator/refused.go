package coordinator

import (
	"context"
	"maps"
	"slices"

	"argosy/internal/crawl"
)

// Refused counts what a node said that did not pass the check (crawl.DecodeOfNode, crawl.NodeInfo.Check).
type Refused struct {
	Count int64                `json:"count"`
	Rules map[crawl.Rule]int64 `json:"rules,omitempty"` // by what it breaks
	Last  string               `json:"last,omitempty"`  // field and rule
}

// maxRefused bounds the names that refusals are counted by. A name costs a join, so there are few.
const maxRefused = 10_000

// refuse counts what was refused of a node. A lease of its own of which a part was refused is taken back: no later part of it
// could be believed. The first refusals of a node are logged, then one in a thousand.
func (c *Coordinator) refuse(seq uint64, name string, refused []crawl.Refusal) {
	if len(refused) == 0 || c.refused[name] == nil && len(c.refused) >= maxRefused {
		return
	}
	n := c.refused[name]
	if n == nil {
		n = &Refused{Rules: map[crawl.Rule]int64{}}
		c.refused[name] = n
	}
	for _, r := range refused {
		n.Count++
		n.Rules[r.Fault.Rule]++
		n.Last = r.Fault.Error()
		if n.Count <= 10 || n.Count%1000 == 0 {
			c.cfg.Logger.Warn("refused", "node", name, "seq", seq, "lease", r.Lease, "part", r.No, "why", n.Last, "refused so far", n.Count)
		}
		if l := c.f.Lease(r.Lease); l != nil && l.Node == name && r.No > l.Parts {
			c.spoiled[l.ID] = true
		}
	}
}

// recallSpoiled takes leases back of which a part is missing. Their URLs are pending again, elsewhere if there is another node.
func (c *Coordinator) recallSpoiled(ctx context.Context) error {
	if len(c.spoiled) == 0 {
		return nil
	}
	ids := slices.Sorted(maps.Keys(c.spoiled))
	clear(c.spoiled)
	var recalls []crawl.Recall
	for _, id := range ids {
		if l := c.f.Lease(id); l != nil {
			c.cfg.Logger.Info("lease recalled", "lease", id, "site", l.Site, "node", l.Node, "reason", crawl.EndRefused)
			recalls = append(recalls, crawl.Recall{Lease: id, Reason: crawl.EndRefused, Counts: true})
		}
	}
	if len(recalls) == 0 {
		return nil
	}
	return c.append(ctx, &crawl.Entry{Kind: crawl.EntryRecall, Recalls: recalls})
}

// tellAside has the log say which entries the ledger has set aside, so that frontier, ledger and standby agree. A page of such an
// entry may have been told of twice, by a leader that died in between: it is fetched twice then.
func (c *Coordinator) tellAside(ctx context.Context) error {
	var all []crawl.Aside
	err := c.persist(ctx, func(ctx context.Context) (err error) {
		all, err = c.ledger.Unsettled(ctx)
		return err
	})
	for i := 0; i < len(all) && err == nil; i++ {
		a := &all[i]
		if c.told[a.Seq] {
			continue
		}
		c.cfg.Logger.Error("set aside: an entry that the ledger cannot take", "seq", a.Seq, "node", a.Node, "why", a.Why)
		c.told[a.Seq] = true
		err = c.append(ctx, &crawl.Entry{Kind: crawl.EntryAside, Aside: a})
	}
	return err
}

// withRefused adds to the view of nodes what was refused of each, and those of which nothing else is known.
func (c *Coordinator) withRefused(views []NodeView) []NodeView {
	told := map[string]bool{}
	for i := range views {
		name := views[i].Node
		told[name] = true
		if r := c.refused[name]; r != nil {
			views[i].Refused = r.copy()
		}
	}
	for name, r := range c.refused {
		if !told[name] {
			views = append(views, NodeView{NodeInfo: crawl.NodeInfo{Node: name}, State: nodeRefused, Refused: r.copy()})
		}
	}
	return views
}

// copy is a view for another goroutine.
func (r *Refused) copy() Refused { return Refused{r.Count, maps.Clone(r.Rules), r.Last} }
