package coordinator

import (
	"container/heap"
	"context"
	"sort"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/frontier"
	"argosy/internal/ledger"
	"argosy/internal/polite"
	"argosy/internal/schedule"
)

// theJob is the job that a coordinator runs: one a directory so far.
const theJob = 1

const (
	cycleEvery  = 10 * time.Millisecond
	maxTasks    = 10_000    // of a snapshot
	grantBudget = 256 << 10 // estimated bytes of one grant entry
)

// dueTask is a task that waits until a time.
type dueTask struct {
	at   int64 // Unix ms
	id   uint32
	from int64 // waiting since
}

// dueHeap orders waiting tasks by when their site may be asked, then first in, first out.
type dueHeap []dueTask

func (h dueHeap) Len() int { return len(h) }
func (h dueHeap) Less(i, j int) bool {
	if h[i].at != h[j].at {
		return h[i].at < h[j].at
	}
	if h[i].from != h[j].from {
		return h[i].from < h[j].from
	}
	return h[i].id < h[j].id
}
func (h dueHeap) Swap(i, j int) { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *dueHeap) Push(x any) { *h = append(*h, x.(dueTask)) }

// Pop implements heap.Interface.
func (h *dueHeap) Pop() any {
	old := *h
	x := old[len(old)-1]
	*h = old[:len(old)-1]
	return x
}

// schedule puts a task among those that wait, if it does.
func (c *Coordinator) schedule(t *frontier.Task) {
	j := c.f.Job(t.Job)
	if j == nil || t.State != "" || t.Queued() <= 0 || t.Leases() >= max(1, j.Limits.PerSite) || c.inDue[t.ID] {
		return
	}
	at := int64(0)
	if t.Leases() == 0 {
		at = polite.ReadyAt(j.Limits, c.f.Site(t.Site))
	}
	c.inDue[t.ID] = true
	heap.Push(&c.due, dueTask{at: at, id: t.ID, from: t.Since})
}

// effects follows up on an applied entry: grants are dispatched, leases that have ended are forgotten.
func (c *Coordinator) effects(ctx context.Context, fx *frontier.Effects) error {
	for _, id := range fx.Touched {
		if t := c.f.Task(id); t != nil {
			c.schedule(t)
		}
	}
	for _, why := range fx.Ignored {
		c.cfg.Logger.Debug("ignored", "what", why)
	}
	for _, e := range fx.Ended {
		c.forget(e.Lease)
	}
	for _, l := range fx.Recalled {
		c.forget(l)
		if c.leads {
			_ = c.out.Forget(ctx, l.Node, l.ID) // it would expire by itself
			c.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchRecall, LeaseID: l.ID})
		}
	}
	for id, n := range fx.Wants {
		c.wants[id] = n
	}
	if !c.leads {
		return nil
	}
	for i := range fx.Granted {
		if l := &fx.Granted[i]; l.Epoch == c.epoch {
			if err := c.dispatch(ctx, l); err != nil {
				return err
			}
		}
	}
	for i := range fx.Refilled {
		r := &fx.Refilled[i]
		if l := c.f.Lease(r.Lease); l != nil {
			c.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchRefill, LeaseID: r.Lease, Refill: r})
		}
	}
	return nil
}

func (c *Coordinator) forget(l *frontier.Lease) {
	delete(c.addrs, l.ID)
	delete(c.wants, l.ID)
	if n := c.nodes[l.Node]; n != nil {
		delete(n.held, l.ID)
	}
}

// dispatch sends a granted lease to its node, with its job and what is known of its site.
func (c *Coordinator) dispatch(ctx context.Context, l *crawl.Lease) error {
	j, t := c.f.Job(l.Job), c.f.Task(l.Task)
	site := c.f.Site(l.Site)
	st := polite.State(j.Limits, site, time.Now().UnixMilli())
	st.SeedSite, st.Cookies, st.Spread = t.Seed, t.Cookies, max(1, j.Limits.PerSite)
	if !l.Resolve && st.RobotsState == crawl.RobotsRules {
		body, err := c.f.Robots(l.Site)
		if err != nil {
			return err
		}
		st.Robots = body
	}
	job := j.Job
	job.Identity.Seeds, job.Identity.NoScheme = nil, nil // the agent needs none, and they may be many
	c.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchLease, Lease: l, Job: &job, Site: &st})
	return nil
}

// act does what is to be done once the log has been applied to its end; done says that the run is over.
func (c *Coordinator) act(ctx context.Context) (done bool, err error) {
	j := c.f.Job(theJob)
	if j == nil || c.cfg.Idle || !c.begun {
		return false, nil
	}
	ran := c.ran(j)
	c.limits(ctx, j, ran)
	if err := c.judge(ctx, j); err != nil {
		return false, err
	}
	if c.applied < c.appended {
		return false, nil
	}
	if !c.drained && c.limited == "" && time.Since(c.cycleAt) >= cycleEvery {
		c.cycleAt = time.Now()
		if err := c.cycle(ctx, j, ran); err != nil {
			return false, err
		}
	}
	if c.applied >= c.appended { // what the cycle took from a queue is gone from it only once it is applied
		if err := c.refill(ctx, j); err != nil {
			return false, err
		}
	}
	c.publish(j)
	if c.applied < c.appended || len(c.addrs) > 0 {
		return false, nil
	}
	return c.finish(ctx, j, ran)
}

// ran returns how long the job has run, in this run and in earlier ones.
func (c *Coordinator) ran(j *frontier.Job) time.Duration {
	if c.ranBefore < 0 {
		c.ranBefore = j.RanMS
	}
	return time.Duration(c.ranBefore)*time.Millisecond + time.Since(c.started)
}

// limits notices that a limit of the job has been reached.
func (c *Coordinator) limits(ctx context.Context, j *frontier.Job, ran time.Duration) {
	if c.limited != "" {
		return
	}
	l := j.Limits
	switch {
	case l.MaxTime > 0 && ran >= l.MaxTime:
		c.limited = "max-time"
	case l.MaxBytes > 0 && j.Totals.Bytes >= l.MaxBytes:
		c.limited = "max-bytes"
	case l.MaxPages > 0 && j.Totals.Fetched >= l.MaxPages:
		c.limited = "max-pages"
	default:
		return
	}
	c.drainLeases(ctx)
}

// room returns how many URLs may still be given out under --max-pages.
func (c *Coordinator) room(j *frontier.Job, n int) int {
	if j.Limits.MaxPages <= 0 {
		return n
	}
	return int(max(0, min(int64(n), j.Limits.MaxPages-j.Totals.Fetched-j.Totals.Held-int64(c.given))))
}

// refill answers leases that asked for URLs: with URLs, or, if they have nothing left and there is nothing, with the
// wish that they end.
func (c *Coordinator) refill(ctx context.Context, j *frontier.Job) error {
	if len(c.wants) == 0 {
		return nil
	}
	c.given = 0
	ids := make([]uint64, 0, len(c.wants))
	for id := range c.wants {
		ids = append(ids, id)
	}
	sort.Slice(ids, func(a, b int) bool { return ids[a] < ids[b] })
	e := &crawl.Entry{Kind: crawl.EntryGrant}
	size := 0
	taken := map[uint32]bool{} // tasks whose queue heads are in this entry already
	for _, id := range ids {
		l := c.f.Lease(id)
		if l == nil {
			delete(c.wants, id)
			continue
		}
		if taken[l.Task] || size > grantBudget {
			continue // in the next round
		}
		n := c.wants[id]
		delete(c.wants, id)
		var targets []crawl.Target
		if t := c.f.Task(l.Task); !c.drained && c.limited == "" && t.State == "" {
			n = c.room(j, min(n, int(l.Quota-l.Given), 4096))
			var err error
			if targets, err = c.f.Next(l.Task, n); err != nil {
				return err
			}
		}
		if len(targets) == 0 {
			if l.Held == 0 || c.drained || c.limited != "" {
				c.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchDrain, LeaseID: id})
			}
			continue
		}
		targets = fit(targets, grantBudget)
		taken[l.Task] = true
		c.given += len(targets)
		e.Refills = append(e.Refills, crawl.Refill{Lease: id, Targets: targets})
		size += sizeOf(targets)
	}
	if len(e.Refills) == 0 {
		return nil
	}
	return c.append(ctx, e)
}

func sizeOf(ts []crawl.Target) (n int) {
	for i := range ts {
		n += 50 + len(ts[i].URL)
	}
	return n
}

// fit cuts targets to about a number of bytes.
func fit(ts []crawl.Target, budget int) []crawl.Target {
	for i := range ts {
		if budget -= 50 + len(ts[i].URL); budget < 0 && i > 0 {
			return ts[:i]
		}
	}
	return ts
}

// cycle takes a snapshot, plans and grants.
func (c *Coordinator) cycle(ctx context.Context, j *frontier.Job, ran time.Duration) error {
	if len(c.due) == 0 || c.due[0].at > time.Now().UnixMilli() {
		return nil
	}
	s := c.snapshot(j)
	if len(s.Tasks) == 0 {
		return nil
	}
	c.learn.book.Fit()
	probes := schedule.PlanProbes(s, c.cfg.Probe, c.learn.few, c.learn.isProbed)
	if err := schedule.Verify(s, probes); err != nil {
		return err
	}
	if err := c.probe(ctx, j, s, probes, ran); err != nil {
		return err
	}
	s = s.Without(probes)
	decide := schedule.Cycle
	if c.cfg.Explain != nil {
		decide = schedule.Explained
	}
	plan, err := decide(s, c.cfg.Strategy)
	if err != nil {
		return err
	}
	c.memory = plan.Memory
	if c.cfg.Explain != nil {
		c.cfg.Explain(plan.Decisions)
	}
	for _, ws := range [][]schedule.Waiting{plan.Waiting, plan.Refused} {
		for _, w := range ws {
			c.schedule(c.f.Task(s.Tasks[w.Task].ID))
		}
	}
	c.given = 0
	e := &crawl.Entry{Kind: crawl.EntryGrant, Ran: ran}
	size := 0
	for _, a := range plan.Assignments {
		l, err := c.grant(j, &s.Tasks[a.Task], &s.Nodes[a.Node])
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
			e, size = &crawl.Entry{Kind: crawl.EntryGrant, Ran: ran}, 0
		}
	}
	if len(e.Leases) == 0 {
		return nil
	}
	return c.append(ctx, e)
}

// probe grants leases that measure and fetch nothing.
func (c *Coordinator) probe(ctx context.Context, j *frontier.Job, s *schedule.Snapshot, p schedule.Plan, ran time.Duration) error {
	e := &crawl.Entry{Kind: crawl.EntryGrant, Ran: ran}
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
		c.learn.probes(t.Site, n.ID)
		e.Leases = append(e.Leases, *l)
	}
	if len(e.Leases) == 0 {
		return nil
	}
	return c.append(ctx, e)
}

// snapshot is all that a cycle may know.
func (c *Coordinator) snapshot(j *frontier.Job) *schedule.Snapshot {
	now := time.Now().UnixMilli()
	s := &schedule.Snapshot{
		Now: now, Seed: c.cfg.Seed + c.applied, PerIP: j.Limits.PerIP, PerSite: j.Limits.PerSite,
		Book: c.learn.book, Memory: c.memory,
	}
	free := 0
	for id, n := range c.nodes {
		if n.seen.IsZero() {
			continue
		}
		s.Nodes = append(s.Nodes, schedule.Node{
			ID: id, Incarnation: n.info.Incarnation, Labels: n.info.Labels, Capacity: n.info.Leases, Running: len(n.held),
			Book: c.learn.node(id, n.info.Labels),
		})
		free += n.info.Leases - len(n.held)
	}
	if free <= 0 {
		return s
	}
	sort.Slice(s.Nodes, func(a, b int) bool { return s.Nodes[a].ID < s.Nodes[b].ID })
	for len(c.due) > 0 && c.due[0].at <= now && len(s.Tasks) < maxTasks {
		d := heap.Pop(&c.due).(dueTask)
		delete(c.inDue, d.id)
		t := c.f.Task(d.id)
		if t.State != "" || t.Queued() <= 0 {
			continue
		}
		site := c.f.Site(t.Site)
		if at := polite.ReadyAt(j.Limits, site); at > now && t.Leases() == 0 { // it has been asked since
			c.schedule(t)
			continue
		}
		w := schedule.Task{
			ID: t.ID, Job: t.Job, Site: t.Site, Since: t.Since, Pending: t.Pending(), Avoid: t.Avoid,
			Last: c.learn.last[t.ID], Book: c.learn.book.Site(t.Site),
		}
		if site.AddrExpiry > now {
			w.Addrs = site.Addrs
		}
		if c.cfg.Places != nil && len(w.Addrs) > 0 {
			w.Place = c.cfg.Places.Place(w.Addrs[0])
		}
		s.Tasks = append(s.Tasks, w)
	}
	c.f.Leases(func(l *frontier.Lease) {
		s.Running = append(s.Running, schedule.Running{Lease: l.ID, Task: l.Task, Site: l.Site, Node: l.Node, Addrs: c.addrs[l.ID], Book: c.learn.book.Site(l.Site)})
	})
	return s
}

// grant makes a lease of an assignment; nil if there is nothing to give.
func (c *Coordinator) grant(j *frontier.Job, t *schedule.Task, n *schedule.Node) (*crawl.Lease, error) {
	site := c.f.Site(t.Site)
	l := c.newLease(j, t, n)
	c.learn.shape(l)
	if j.Limits.PerIP > 0 && t.Addrs == nil && site.ResolveFails <= j.Limits.Retries {
		l.Resolve = true
	} else {
		first := 64
		if polite.SiteDelay(j.Limits, site) > 0 {
			first = 8
		}
		targets, err := c.f.Next(t.ID, c.room(j, first))
		if err != nil {
			return nil, err
		}
		if len(targets) == 0 {
			return nil, nil
		}
		l.Targets = targets
		c.given += len(targets)
	}
	c.hold(l, t)
	c.learn.last[t.ID] = n.ID
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
		node.held[l.ID] = true
	}
}

// judge recalls leases whose node is gone or that show no sign of progress.
func (c *Coordinator) judge(ctx context.Context, j *frontier.Job) error {
	if time.Since(c.judged) < time.Second/4 {
		return nil
	}
	c.judged = time.Now()
	now := time.Now()
	for id, n := range c.nodes {
		if now.Sub(n.seen) > c.cfg.NodeTTL {
			delete(c.nodes, id)
		}
	}
	term := j.Limits.RecycleAfter + min(j.Limits.Fetch.ConnectTimeout, j.Limits.RecycleAfter/2)
	var recalls []crawl.Recall
	c.f.Leases(func(l *frontier.Lease) {
		n := c.nodes[l.Node]
		silent := now.Sub(time.UnixMilli(l.Progress))
		switch {
		case n != nil && n.info.Incarnation != l.Incarnation, n == nil && silent > c.cfg.NodeTTL:
			recalls = append(recalls, crawl.Recall{Lease: l.ID, Reason: crawl.EndDead})
		case !schedule.Recycle(schedule.RecycleConfig{After: term}, silent).OK():
			recalls = append(recalls, crawl.Recall{Lease: l.ID, Reason: crawl.EndRecalled, Counts: n != nil})
		}
	})
	if len(recalls) == 0 {
		return nil
	}
	sort.Slice(recalls, func(a, b int) bool { return recalls[a].Lease < recalls[b].Lease })
	for _, r := range recalls {
		c.cfg.Logger.Info("lease recalled", "lease", r.Lease, "reason", r.Reason)
	}
	return c.append(ctx, &crawl.Entry{Kind: crawl.EntryRecall, Recalls: recalls})
}

// finish ends the run when nothing is left to do, or a limit or a person ended it; no lease is open.
func (c *Coordinator) finish(ctx context.Context, j *frontier.Job, ran time.Duration) (bool, error) {
	state := ""
	switch pending := j.Totals.Pending(); {
	case pending == 0:
		state = crawl.JobDone
	case c.limited != "":
		state = crawl.JobLimited
	case c.drained:
		state = crawl.JobInterrupted
	case len(c.due) == 0:
		if c.f.Counts(j.ID).Waiting > 0 {
			c.f.Tasks(c.schedule)
			return false, nil
		}
		state = crawl.JobManual
	}
	if state == "" {
		return false, nil
	}
	if state == crawl.JobDone && c.f.Counts(j.ID).Manual > 0 {
		state = crawl.JobManual
	}
	if !c.finishing {
		c.finishing = true
		return false, c.append(ctx, &crawl.Entry{Kind: crawl.EntryFinish, Finish: &crawl.Finish{Job: j.ID, State: state}, Ran: ran})
	}
	if err := c.sync(ctx); err != nil {
		return false, err
	}
	return true, c.ledger.PutTasks(ctx, c.rows(j.ID))
}

// rows are the job's tasks as the ledger has them.
func (c *Coordinator) rows(job uint32) []ledger.Task {
	var out []ledger.Task
	c.f.Tasks(func(t *frontier.Task) {
		if t.Job == job {
			out = append(out, Row(t))
		}
	})
	sort.Slice(out, func(a, b int) bool { return out[a].ID < out[b].ID })
	return out
}

// Row is a task as the ledger has it.
func Row(t *frontier.Task) ledger.Task {
	return ledger.Task{
		ID: t.ID, Job: t.Job, Site: t.Site, State: t.Status(), Discovered: t.Discovered, Fetched: t.Fetched, Pages: t.Pages,
		Duplicates: t.Duplicates, Failed: t.Failed, Excluded: t.Excluded, Pending: t.Pending(), Overflow: t.Overflow,
		Bytes: t.Bytes, Attempts: t.Attempts, Recalls: t.Recalls, Reasons: t.Reasons, History: t.History,
	}
}

// publish tells those who watch.
func (c *Coordinator) publish(j *frontier.Job) {
	if time.Since(c.published) < 100*time.Millisecond {
		return
	}
	c.published = time.Now()
	state := crawl.JobRunning
	if c.drained {
		state = "draining"
	}
	c.status.Store(&Status{
		State: state, Counts: j.Totals, Sites: c.f.Sites(), Leases: len(c.addrs), Nodes: len(c.nodes), Epoch: c.epoch,
		Applied: c.applied, Waiting: len(c.due),
	})
}
