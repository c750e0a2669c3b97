package sim

import (
	"cmp"
	"math"
	"sort"

	"argosy/internal/plan/learn"
	"argosy/internal/plan/schedule"
)

// snapshot is what a coordinator would know. at are the world's numbers of its nodes.
func (e *engine) snapshot() (s *schedule.Snapshot, at []int) {
	v := &e.view
	*v = learn.View{
		Now: e.now, Seed: cmp.Or(e.w.Chance, e.w.Seed*0x9e3779b97f4a7c15), PerSite: 1, PerIP: e.w.PerIP, PerDomain: e.w.PerDom, Book: e.book, Memory: e.memory, LeaseSeconds: e.w.Lease.Seconds,
		Ran:   float64(e.now) / 1000,
		Nodes: v.Nodes[:0], Tasks: v.Tasks[:0], Leases: v.Leases,
	}
	if e.w.Tasks != nil && !e.w.Apart {
		v.PerSite = math.MaxInt32
	}
	for i := range e.w.Nodes {
		n := &e.w.Nodes[i]
		if !n.there(e.now) {
			continue
		}
		at = append(at, i)
		v.Nodes = append(v.Nodes, learn.Node{
			ID: n.ID, Labels: n.Labels, Leases: n.Slots, Held: e.held(i), Worked: e.worked[i], Requests: n.Requests,
			Offer: schedule.Vector{n.CPU, n.Memory, n.stated()}, Prices: n.Prices, OnDemand: n.OnDemand,
		})
	}
	v.Leases = e.viewed(v.Leases)
	sort.Slice(at, func(a, b int) bool { return e.w.Nodes[at[a]].ID < e.w.Nodes[at[b]].ID })
	for _, t := range e.offered() {
		x := learn.Task{Site: e.site(t.site), ID: t.id, Since: t.since, Turn: t.turn, Place: e.w.Sites[t.site].Place, Type: e.w.Job.Type, Product: e.w.Job.Product, Need: e.w.Job.Need}
		e.knows(t, &x)
		x.Avoid = t.avoid
		if t.had >= 0 {
			x.Last = e.w.Nodes[t.had].ID
		}
		v.Tasks = append(v.Tasks, x)
	}
	return learn.SnapshotIn(&e.last, *v), at
}

// viewed are the leases that run as a coordinator sees them, those that it saw in the last cycle as it did then.
func (e *engine) viewed(last []learn.Lease) []learn.Lease {
	kept := 0
	for k, l := range e.running {
		switch {
		case l.ended:
			continue
		case k < len(last):
			last[kept] = last[k]
			if e.w.PerIP > 0 { // for nothing else does it matter
				last[kept].Silent = e.silent(l.site)
			}
		default:
			last = append(last[:kept], e.viewOf(l))
		}
		e.running[kept] = l
		kept++
	}
	clear(e.running[kept:])
	e.running = e.running[:kept]
	return last[:kept]
}

func (e *engine) viewOf(l *lease) learn.Lease {
	r := learn.Lease{Site: e.site(l.site), Need: e.w.Job.Need, Type: e.w.Job.Type, ID: uint64(l.id), Node: e.w.Nodes[l.node].ID, Ping: l.pings != nil}
	if l.t != nil {
		r.Task = l.t.id
	}
	if l.resolve {
		r.Addrs = nil
	}
	return r
}

// knows tells what a fleet knows of a task's pages. Of a site that nobody has seen yet its queue tells nothing.
func (e *engine) knows(t *task, x *learn.Task) {
	s, asked := &e.w.Sites[t.site], e.pages[t.site]
	x.Pages = t.left / e.w.page(t.site)
	x.Known = asked + x.Pages
	x.Pending = int64(min(x.Pages, 1e15))
	if s.Finds != nil {
		x.Known = max(s.known(asked), asked+1)
		x.Pending, x.Pages = int64(x.Known-asked), x.Known-asked
		if asked == 0 {
			x.Pages = 0
		}
	}
}
