package coordinator

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/page/polite"
	"argosy/internal/page/scope"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/schedule"
)

const (
	grantBudget = 256 << 10 // estimated bytes of one grant entry
	bestAtOnce  = 8         // URLs of a site that is asked slowly, or the best of which come first: better ones may be found meanwhile
	// pairs of tasks and nodes up to which a cycle's decisions are remembered without anybody having asked: 2,000 tasks and 200 nodes are
	// 140 MB of figures
	rememberPairs = 40_000
	heldFor       = 50 // ms before a task whose site or address has no room is looked at again
)

// cycle takes a snapshot of a job, plans and grants; more says that it has not looked at all that is due.
func (c *Coordinator) cycle(ctx context.Context, now time.Time, j *frontier.Job, r *run) (more bool, err error) {
	s, more := c.snapshot(now, j, r)
	if len(s.Tasks) == 0 {
		return more, nil
	}
	if j.Identity.Collect != nil {
		c.fleet.miss(c.f.Leases)
	}
	watch := start()
	marks := c.lore.landmarks(r.read, j.Placing.Landmarks, s.Nodes, s.Now)
	r.read.book.Fit()
	probes, pings := schedule.PlanProbes(s, schedule.Probing{Measures: r.wants, Marks: marks, Done: c.lore.isProbed, Spent: c.lore.learned.Tally().Spent(), Waits: len(r.due)})
	if err := schedule.Verify(s, probes); err != nil {
		return more, err
	}
	if err := c.probe(ctx, now, j, r, s, probing{probes, pings, watch}); err != nil {
		return more, err
	}
	c.desk.asks.answer()
	s = s.Without(probes, pings)
	decide := schedule.Cycle
	watch = start()
	record := c.cfg.Explain != nil || c.cfg.Remember && len(s.Tasks)*len(s.Nodes) <= rememberPairs
	if record {
		decide = schedule.Explained
	}
	plan, err := schedule.WithBound(s, func(s *schedule.Snapshot) (schedule.Plan, error) { return decide(s, r.strategy) })
	if err != nil {
		return more, err
	}
	r.memory = plan.Memory
	took := watch.took()
	differs := c.beside(now, j, r, s, plan)
	c.again(now, j, r, s, &plan, more)
	c.desk.asks.answer()
	given, err := c.grants(ctx, now, j, r, s, &plan)
	if c.cfg.Remember || c.cfg.Explain != nil {
		c.planned(r, PlanView{At: s.Now, Job: j.ID, Strategy: r.strategy.Name(), Tasks: len(s.Tasks), Nodes: len(s.Nodes), TookUS: took.Microseconds(), Differs: len(differs)}, s, plan, given, differs)
	}
	return more, err
}

// grants appends the leases of a plan, and returns them by task.
func (c *Coordinator) grants(ctx context.Context, now time.Time, j *frontier.Job, r *run, s *schedule.Snapshot, plan *schedule.Plan) (map[uint32]*crawl.Lease, error) {
	given := make(map[uint32]*crawl.Lease, len(plan.Assignments))
	e := r.entry(now, crawl.EntryGrant)
	r.tell(e, j)
	why, size := decidedOf(plan), 0
	for _, a := range plan.Assignments {
		c.desk.asks.answer()
		l, err := c.grant(now, j, r, &s.Tasks[a.Task], &s.Nodes[a.Node])
		if err != nil {
			return given, err
		}
		if l == nil { // no room for now
			c.jobs.schedule(c.f.Task(s.Tasks[a.Task].ID))
			continue
		}
		given[l.Task] = l
		e.Leases = append(e.Leases, *l)
		kept, err := why.of(l)
		if err != nil {
			return given, err
		}
		e.Decided = append(e.Decided, kept)
		if size += 300 + sizeOf(l.Targets) + len(kept); size > grantBudget {
			if err := c.sinks.append(ctx, e); err != nil {
				return given, err
			}
			e, size = r.entry(now, crawl.EntryGrant), 0
		}
	}
	if len(e.Leases) == 0 {
		return given, nil
	}
	return given, c.sinks.append(ctx, e)
}

// again has the tasks wait that a plan gives to nobody. Where a cycle has not looked at all that are due, the others come first the
// next time: none waits for ever behind tasks that no node may have.
func (c *Coordinator) again(now time.Time, j *frontier.Job, r *run, s *schedule.Snapshot, plan *schedule.Plan, more bool) {
	ms, not := c.clock.MS(now), int64(0)
	if more {
		not = ms
	}
	for _, w := range plan.Refused {
		c.jobs.scheduleAt(c.f.Task(s.Tasks[w.Task].ID), not)
	}
	for _, w := range plan.Waiting {
		t := c.f.Task(s.Tasks[w.Task].ID)
		c.turned(ms, j, &s.Tasks[w.Task], w)
		if s.Tasks[w.Task].ByAddress || w.Verdict.Reason == schedule.ReasonPerSite || w.Verdict.Reason == schedule.ReasonPerIP || w.Verdict.Reason == schedule.ReasonDomain {
			if !r.inDue[t.ID] && t.Leases() < max(1, j.Limits.PerSite) {
				r.stands(j, t, ms+heldFor)
			}
			continue
		}
		c.jobs.scheduleAt(t, not)
	}
}

// probing is a plan of leases that measure and fetch nothing.
type probing struct {
	schedule.Plan
	pings []bool    // which of them measure the delay
	watch stopwatch // since it was begun to plan them
}

// probe grants the leases of such a plan, but of sites that would be given nothing now.
func (c *Coordinator) probe(ctx context.Context, now time.Time, j *frontier.Job, r *run, s *schedule.Snapshot, p probing) error {
	e := r.entry(now, crawl.EntryGrant)
	r.tell(e, j)
	for i, a := range p.Assignments {
		t, n := &s.Tasks[a.Task], &s.Nodes[a.Node]
		task := c.f.Task(t.ID)
		next, err := c.next(now, j, r, task, 1)
		if err != nil {
			return err
		}
		if len(next) == 0 {
			c.jobs.schedule(task)
			continue
		}
		u, err := crawl.Parse(next[0].URL)
		if err != nil {
			return err
		}
		l := c.newLease(now, j, t, n)
		l.Probe, l.Ping, l.Early = u.Origin()+"/", p.pings[i], !c.lore.learned.Tally().Spent().Pays(t)
		c.hold(l, t)
		e.Leases = append(e.Leases, *l)
	}
	if len(e.Leases) == 0 {
		return nil
	}
	c.probed(r, s, e.Leases, p.watch)
	return c.sinks.append(ctx, e)
}

// snapshot takes the tasks that are due, and returns all that a cycle may know; more says that it has not taken all of them.
func (c *Coordinator) snapshot(now time.Time, j *frontier.Job, r *run) (s *schedule.Snapshot, more bool) {
	v := learn.View{
		Now: c.clock.MS(now), Seed: c.cfg.Seed + uint64(j.StartMS), PerIP: j.Limits.PerIP, PerSite: j.Limits.PerSite, PerDomain: j.Limits.PerDomain,
		LeaseSeconds: j.Limits.LeaseTime.Seconds(), Ran: r.ran(now).Seconds(), Book: r.read.book, Memory: r.memory,
	}
	free := 0
	for id, n := range c.fleet.nodes {
		if j.Placing.Store != "" && j.Placing.Store != n.info.Store {
			continue
		}
		v.Nodes = append(v.Nodes, n.view(now, id))
		if !n.drains() {
			free += n.leases(now) - len(n.held)
		}
	}
	if free <= 0 || r.room(j, 1) == 0 {
		return &schedule.Snapshot{}, false
	}
	most := schedule.AtOnce(len(v.Nodes))
	for len(r.due) > 0 && r.due[0].at <= v.Now && len(v.Tasks) < most {
		t := c.f.Task(r.next(v.Now))
		if t == nil || t.State != "" || t.Queued() <= 0 {
			continue
		}
		site := c.f.Site(t.Site)
		if c.f.ByAddress(t) {
			if shut, at := c.shut(j, t, v.Now); at > 0 {
				r.stands(j, t, max(at, v.Now+heldFor))
			} else {
				w := c.waiting(j, t, site, v.Now)
				w.ByAddress, w.Shut = true, shut
				v.Tasks = append(v.Tasks, w)
			}
			continue
		}
		if at := polite.ReadyAt(j.PaceAt(t.Site), site); at > v.Now && t.Leases() == 0 { // it has been asked since
			c.jobs.schedule(t)
			continue
		}
		if c.meets(now, j, t) {
			r.waits(t, v.Now+heldFor)
			continue
		}
		if c.rank(j, r, t) > 0 && c.left(now, j, r, t, 1) == 0 {
			r.waits(t, v.Now+heldFor)
			continue
		}
		if c.yields(v.Now, j, t) {
			r.stands(j, t, v.Now+heldFor)
			continue
		}
		w := c.waiting(j, t, site, v.Now)
		w.Failed = c.doubtful(r, t)
		v.Tasks = append(v.Tasks, w)
	}
	v.Leases = make([]learn.Lease, 0, c.f.Opened())
	c.f.Leases(func(l *frontier.Lease) {
		o := learn.Lease{Site: learn.Site{Name: l.Site}, ID: l.ID, Task: l.Task, Node: l.Node, Ping: l.Ping, Job: l.Job}
		if of := c.f.Job(l.Job); of != nil {
			o.Site, o.Need, o.Type = siteOf(of, l.Site, l.SiteOf()), of.Placing.Need, of.Placing.Type
			o.Failed = o.Failed || of == j && r.fruitless(l.TaskOf())
		}
		o.Long = v.Now-l.StartMS > slowAfter.Milliseconds()
		o.Addrs, o.Domain = c.open.addrs[l.ID], ""
		if j.Limits.PerDomain > 0 {
			o.Domain = domain(l.Site)
		}
		v.Leases = append(v.Leases, o)
	})
	return learn.Snapshot(v), len(v.Tasks) == most
}

// siteOf is what is known of a site that a job asks.
func siteOf(j *frontier.Job, name string, site *crawl.Site) learn.Site {
	return learn.Site{
		Name: name, Pause: polite.SiteDelay(j.PaceAt(name), site).Seconds(), Latency: float64(site.LatencyUS) / 1e6, Connections: j.At(name).SiteConnections,
		Silent: site.LatencyUS == 0 && len(site.Paces) == 0, Failed: site.Fails > 0, // where addresses have clocks each has its own figures
	}
}

// waiting is a task that waits.
func (c *Coordinator) waiting(j *frontier.Job, t *frontier.Task, site *crawl.Site, now int64) learn.Task {
	w := learn.Task{
		Site: siteOf(j, t.Site, site), ID: t.ID, Job: t.Job, Since: t.Since, Turn: t.Attempts, Pending: t.Pending(), Avoid: t.Avoid, Last: t.Last,
		Type: j.Placing.Type, Product: j.Placing.Product, Need: j.Placing.Need,
	}
	c.searching(j, t, &w)
	if t.Fetched > 0 { // of a site that nobody has seen yet the queue tells nothing
		w.Pages = float64(w.Pending)
	}
	w.Known = float64(t.Fetched + t.Failed + reached(j, t))
	if j.Limits.PerDomain > 0 {
		w.Domain = domain(t.Site)
	}
	if site.AddrExpiry > now {
		w.Addrs = site.Addrs
	}
	w.Place = c.place(j, t.Site, site, now)
	return w
}

// reached returns how many of the URLs that are known of a task will be had: no more than the job's limit leaves, and, where the best come
// first, nobody knows whether those that wait are among them.
func reached(j *frontier.Job, t *frontier.Task) int64 {
	switch {
	case picks(j):
		return 0
	case j.Limits.MaxPages > 0:
		return max(0, min(t.Pending(), j.Limits.MaxPages-j.Totals.Fetched))
	}
	return t.Pending()
}

func domain(site string) string { return scope.SiteDomain(site) }

// grant makes a lease of an assignment; nil if there is nothing to give.
func (c *Coordinator) grant(now time.Time, j *frontier.Job, r *run, t *schedule.Task, n *schedule.Node) (*crawl.Lease, error) {
	l := c.newLease(now, j, t, n)
	site := polite.From(c.f.Site(t.Site), l.From)
	r.read.shape(l, c.f.Task(t.ID), t, n.Book, c.clock.MS(now))
	if j.Limits.PerIP > 0 && t.Addrs == nil && polite.Unresolved(*j.At(t.Site), site) == "" {
		l.Resolve = true
	} else {
		first := 64
		if polite.SiteDelay(j.PaceAt(t.Site), site) > 0 || picks(j) {
			first = bestAtOnce
		}
		of := c.f.Task(t.ID)
		targets, err := c.next(now, j, r, of, min(first, l.Quota))
		if err != nil {
			return nil, err
		}
		if len(targets) == 0 {
			c.jobs.leaseNo-- // nothing was given out
			return nil, nil
		}
		l.Targets = targets
		r.give(of, len(targets))
	}
	c.hold(l, t)
	return l, nil
}

// newLease makes a lease that has nothing to do yet.
func (c *Coordinator) newLease(now time.Time, j *frontier.Job, t *schedule.Task, n *schedule.Node) *crawl.Lease {
	c.jobs.leaseNo++
	task := c.f.Task(t.ID)
	quota := j.Limits.LeasePages
	if m := j.Identity.Market; m != nil && m.Crawlers > 1 {
		quota = min(quota, max(m.Turn, bestAtOnce)) // others wait for the site, too
	}
	if task.Of != nil {
		quota = j.Identity.Collect.Pages
	}
	from := ""
	if t.ByAddress {
		from = c.fleet.nodes[n.ID].info.From()
	}
	asked := c.asked(j, task, false)
	if asked != nil && !asked.Asks {
		asked.Alone = c.alone(now, task, n.ID)
	}
	return &crawl.Lease{
		Asked: asked, From: from,
		ID: c.sinks.epoch<<32 | c.jobs.leaseNo, Job: t.Job, Task: t.ID, Site: t.Site, Node: n.ID, Incarnation: n.Incarnation,
		Epoch: c.sinks.epoch, Attempt: task.Attempts + 1, Secret: secret(), Quota: quota,
		BudgetMS: j.Limits.LeaseTime.Milliseconds(),
	}
}

// hold counts a lease among those of its node and its addresses.
func (c *Coordinator) hold(l *crawl.Lease, t *schedule.Task) {
	c.open.addrs[l.ID] = t.Addrs
	if l.Probe == "" {
		for _, name := range places(c.f.Job(l.Job), l.Site, t.Addrs) {
			c.open.given[name] = c.jobs.now
		}
		delete(c.jobs.runs[l.Job].stood, l.Task)
		c.jobs.turns.forget(l.Site, l.Task)
	}
	if node := c.fleet.nodes[l.Node]; node != nil {
		node.held[l.ID], node.worked = true, true
	}
}

func secret() string {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails: it ends the program instead
	return hex.EncodeToString(b[:])
}
