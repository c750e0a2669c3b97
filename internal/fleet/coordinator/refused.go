package coordinator

import (
	"maps"

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

// refuse counts what was refused of a node, in the entry that stands at seq, if there is one. The first refusals of a node are
// logged, then one in a thousand. It reports whether they are counted: there is no room for more names.
func (f *fleet) refuse(seq uint64, name string, refused []crawl.Refusal) bool {
	if len(refused) == 0 || f.refused[name] == nil && len(f.refused) >= maxRefused {
		return false
	}
	n := f.refused[name]
	if n == nil {
		n = &Refused{Rules: map[crawl.Rule]int64{}}
		f.refused[name] = n
	}
	for _, r := range refused {
		n.Count++
		n.Rules[r.Fault.Rule]++
		n.Last = r.Fault.Error()
		if n.Count <= 10 || n.Count%1000 == 0 {
			f.logger.Warn("refused", "node", name, "seq", seq, "lease", r.Lease, "part", r.No, "why", n.Last, "refused so far", n.Count)
		}
	}
	return true
}

// refuse counts what was refused of a node. A lease of its own of which a part was refused is taken back: no later part of it
// could be believed.
func (c *Coordinator) refuse(seq uint64, name string, refused []crawl.Refusal) {
	if !c.fleet.refuse(seq, name, refused) {
		return
	}
	for _, r := range refused {
		if l := c.f.Lease(r.Lease); l != nil && l.Node == name && r.No > l.Parts {
			c.open.spoiled[l.ID] = true
		}
	}
}

// withRefused adds to the view of nodes what was refused of each, and those of which nothing else is known.
func (f *fleet) withRefused(views []NodeView) []NodeView {
	told := map[string]bool{}
	for i := range views {
		name := views[i].Node
		told[name] = true
		if r := f.refused[name]; r != nil {
			views[i].Refused = r.copy()
		}
	}
	for name, r := range f.refused {
		if !told[name] {
			views = append(views, NodeView{NodeInfo: crawl.NodeInfo{Node: name}, State: nodeRefused, Refused: r.copy()})
		}
	}
	return views
}

// copy is a view for another goroutine.
func (r *Refused) copy() Refused { return Refused{r.Count, maps.Clone(r.Rules), r.Last} }
