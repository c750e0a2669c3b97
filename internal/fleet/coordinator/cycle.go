package coordinator

import (
	"container/heap"
	"context"
	"crypto/rand"
	"encoding/hex"
	"sort"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/page/polite"
	"argosy/internal/page/scope"
	"argosy/internal/plan/schedule"
)

const (
	cycleRest   = 10 * time.Millisecond // after a cycle, at most: twice as long as it took, so that large ones gather what comes
	maxTasks    = 10_000                // of a snapshot
	grantBudget = 256 << 10             // estimated bytes of one grant entry
	heldFor     = 50                    // ms before a task whose site or address has no room is looked at again
)

// cycle takes a snapshot of a job, plans and grants.
func (c *Coordinator) cycle(ctx context.Context, j *frontier.Job, r *run) error {
	if len(r.due) == 0 || r.due[0].at > c.clock.ms(time.Now()) {
		return nil
	}
	s := c.snapshot(j, r)
	if len(s.Tasks) == 0 {
		return nil
	}
	r.read.landmarks(j.Placing.Landmarks, s.Nodes)
	r.read.book.Fit()
	probes := schedule.PlanProbes(s, r.probe, r.read.few, c.isProbed)
	if err := schedule.Verify(s, probes); err != nil {
		return err
	}
	if err := c.probe(ctx, j, r, s, probes); err != nil {
		return err
	}
	s = s.Without(probes)
	decide := schedule.Cycle
	if c.cfg.Explain != nil {
		decide = schedule.Explained
	}
	plan, err := decide(s, r.strategy)
	if err != nil {
		return err
	}
	r.memory = plan.Memory
	if c.cfg.Explain != nil {
		c.cfg.Explain(plan.Decisions)
	}
	for _, w := range plan.Refused {
		c.schedule(c.f.Task(s.Tasks[w.Task].ID))
	}
	for _, w := range plan.Waiting {
		t := c.f.Task(s.Tasks[w.Task].ID)
		if w.Verdict.Reason == schedule.ReasonPerSite || w.Verdict.Reason == schedule.ReasonPerIP || w.Verdict.Reason == schedule.ReasonDomain {
			if !r.inDue[t.ID] && t.Leases() < max(1, j.Limits.PerSite) {
				c.waits(r, t, c.clock.ms(time.Now())+heldFor)
			}
			continue
		}
		c.schedule(t)
	}
	r.given = 0
	e := &crawl.Entry{Kind: crawl.EntryGrant, Ran: r.ran()}
	size := 0
	for _, a := range plan.Assignments {
		l, err := c.grant(j, r, &s.Tasks[a.Task], &s.Nodes[a.Node])
		if err != nil {
			return err
		}
		if l == nil { // no room for now
			c.schedule(c.f.Task(s.Tasks[a.Task].ID))
			continue
		}
		e.Leases = append(e.Leases, *l)
		if size += 300 + sizeOf(l.Targets); size > grantBudget {
			if err := c.append(ctx, e); err != nil {
				return err
			}
			e, size = &crawl.Entry{Kind: crawl.EntryGrant, Ran: r.ran()}, 0
		}
	}
	if len(e.Leases) == 0 {
		return nil
	}
	return c.append(ctx, e)
}

// probe grants leases that measure and fetch nothing.
func (c *Coordinator) probe(ctx context.Context, j *frontier.Job, r *run, s *schedule.Snapshot, p schedule.Plan) error {
	e := &crawl.Entry{Kind: crawl.EntryGrant, Ran: r.ran()}
	for _, a := range p.Assignments {
		t, n := &s.Tasks[a.Task], &s.Nodes[a.Node]
		next, err := c.f.Next(t.ID, 1)
		if err != nil {
			return err
		}
		if len(next) == 0 {
			continue
		}
		u, err := crawl.Parse(next[0].URL)
		if err != nil {
			return err
		}
		l := c.newLease(j, t, n)
		l.Probe = u.Origin() + "/"
		c.hold(l, t)
		c.probing[pair{n.ID, t.Site}] = true
		e.Leases = append(e.Leases, *l)
	}
	if len(e.Leases) == 0 {
		return nil
	}
	return c.append(ctx, e)
}

// snapshot is all that a cycle may know.
func (c *Coordinator) snapshot(j *frontier.Job, r *run) *schedule.Snapshot {
	now := c.clock.ms(time.Now())
	s := &schedule.Snapshot{
		Now: now, Seed: c.cfg.Seed + c.applied, PerIP: j.Limits.PerIP, PerSite: j.Limits.PerSite, PerDomain: j.Limits.PerDomain, LeaseSeconds: j.Limits.LeaseTime.Seconds(),
		Book: r.read.book, Memory: r.memory,
	}
	free := 0
	for id, n := range c.nodes {
		if !n.takes(j) {
			continue
		}
		s.Nodes = append(s.Nodes, n.offered(id, r.read))
		free += n.info.Leases - len(n.held)
	}
	if free <= 0 {
		return s
	}
	sort.Slice(s.Nodes, func(a, b int) bool { return s.Nodes[a].ID < s.Nodes[b].ID })
	for len(r.due) > 0 && r.due[0].at <= now && len(s.Tasks) < maxTasks {
		d := heap.Pop(&r.due).(dueTask)
		delete(r.inDue, d.id)
		t := c.f.Task(d.id)
		if t.State != "" || t.Queued() <= 0 {
			continue
		}
		site := c.f.Site(t.Site)
		if at := polite.ReadyAt(j.Pace(), site); at > now && t.Leases() == 0 { // it has been asked since
			c.schedule(t)
			continue
		}
		s.Tasks = append(s.Tasks, c.waiting(j, r, t, site, now))
	}
	c.f.Leases(func(l *frontier.Lease) {
		o := schedule.Running{Lease: l.ID, Task: l.Task, Site: l.Site, Node: l.Node, Addrs: c.addrs[l.ID], Book: r.read.book.Site(l.Site)}
		if j.Limits.PerDomain > 0 {
			o.Domain = domain(l.Site)
		}
		if of := c.f.Job(l.Job); of != nil {
			o.Need, o.Width = of.Placing.Need, width(of.Pace(), c.f.Site(l.Site))
		}
		s.Running = append(s.Running, o)
	})
	return s
}

// waiting is a task as a cycle sees it.
func (c *Coordinator) waiting(j *frontier.Job, r *run, t *frontier.Task, site *crawl.Site, now int64) schedule.Task {
	w := schedule.Task{
		ID: t.ID, Job: t.Job, Site: t.Site, Since: t.Since, Pending: t.Pending(), Avoid: t.Avoid, Last: t.Last,
		Type: j.Placing.Type, Product: j.Placing.Product, Need: j.Placing.Need, Width: width(j.Pace(), site), Gap: polite.SiteDelay(j.Pace(), site).Seconds(), Book: r.read.book.Site(t.Site),
	}
	if j.Limits.PerDomain > 0 {
		w.Domain = domain(t.Site)
	}
	if site.AddrExpiry > now {
		w.Addrs = site.Addrs
	}
	if c.cfg.Places != nil && len(w.Addrs) > 0 {
		w.Place = c.cfg.Places.Place(w.Addrs[0])
	}
	p, ok := j.Placing.Places[t.Site]
	if !ok {
		p, ok = j.Placing.Places[host(t.Site)]
	}
	if ok {
		w.Place.Lat, w.Place.Lon, w.Place.Located = p.Lat, p.Lon, p.Lat != 0 || p.Lon != 0
		if p.Region != "" {
			w.Place.Region = p.Region
		}
	}
	return w
}

// width is how many requests at once a lease of a site makes, on average.
func width(lim crawl.Limits, site *crawl.Site) float64 {
	d := polite.SiteDelay(lim, site)
	if d == 0 {
		return float64(max(1, lim.SiteConnections))
	}
	const unknown = 100_000 // µs
	us := site.LatencyUS
	if us == 0 {
		us = unknown
	}
	return min(1, float64(us)/float64(d.Microseconds()))
}

// host is a site's name without its port.
func host(site string) string {
	if u, err := crawl.Parse("http://" + site + "/"); err == nil {
		return u.Host()
	}
	return site
}

func domain(site string) string { return scope.Domain(host(site)) }

// grant makes a lease of an assignment; nil if there is nothing to give.
func (c *Coordinator) grant(j *frontier.Job, r *run, t *schedule.Task, n *schedule.Node) (*crawl.Lease, error) {
	site := c.f.Site(t.Site)
	l := c.newLease(j, t, n)
	r.read.shape(l)
	if j.Limits.PerIP > 0 && t.Addrs == nil && site.ResolveFails <= j.Limits.Retries {
		l.Resolve = true
	} else {
		first := 64
		if polite.SiteDelay(j.Pace(), site) > 0 {
			first = 8
		}
		targets, err := c.f.Next(t.ID, r.room(j, first))
		if err != nil {
			return nil, err
		}
		if len(targets) == 0 {
			return nil, nil
		}
		l.Targets = targets
		r.given += len(targets)
	}
	c.hold(l, t)
	return l, nil
}

// newLease makes a lease that has nothing to do yet.
func (c *Coordinator) newLease(j *frontier.Job, t *schedule.Task, n *schedule.Node) *crawl.Lease {
	c.leaseNo++
	return &crawl.Lease{
		ID: c.epoch<<32 | c.leaseNo, Job: t.Job, Task: t.ID, Site: t.Site, Node: n.ID, Incarnation: n.Incarnation,
		Epoch: c.epoch, Attempt: c.f.Task(t.ID).Attempts + 1, Secret: secret(), Quota: j.Limits.LeasePages,
		BudgetMS: j.Limits.LeaseTime.Milliseconds(),
	}
}

// hold counts a lease among those of its node and its addresses.
func (c *Coordinator) hold(l *crawl.Lease, t *schedule.Task) {
	c.addrs[l.ID] = t.Addrs
	if node := c.nodes[l.Node]; node != nil {
		node.held[l.ID], node.worked = true, true
	}
}

func secret() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}
