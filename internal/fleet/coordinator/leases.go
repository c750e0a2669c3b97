package coordinator

import (
	"context"
	"maps"
	"math"
	"sort"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/page/polite"
	"argosy/internal/plan/schedule"
)

// effects follows up on an applied entry: grants are dispatched, leases that have ended are forgotten.
func (c *Coordinator) effects(ctx context.Context, fx *frontier.Effects) error {
	for _, id := range fx.Touched {
		if t := c.f.Task(id); t != nil {
			c.schedule(t)
			if len(c.unmet[id]) > 0 && t.Queued() > 0 {
				maps.Copy(c.wants, c.unmet[id])
				delete(c.unmet, id)
			}
		}
	}
	for _, id := range fx.Broken {
		c.spoiled[id] = true
	}
	for _, why := range fx.Ignored {
		c.cfg.Logger.Warn("not believed", "what", why)
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
	for _, l := range fx.Late { // the message was lost, or is on its way
		if c.leads && c.nodes[l.Node] != nil {
			c.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchRecall, LeaseID: l.ID})
		}
	}
	for _, id := range fx.Reported {
		delete(c.sent, id)
	}
	for id, n := range fx.Wants {
		c.wants[id] = n
		if l := c.f.Lease(id); l != nil {
			delete(c.unmet[l.Task], id)
		}
	}
	for id, got := range fx.Starved {
		c.starved[id] = got
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
	refills := map[string][]crawl.Refill{} // by node: one message for each
	for _, r := range fx.Refilled {
		if l := c.f.Lease(r.Lease); l != nil {
			refills[l.Node] = append(refills[l.Node], r)
		}
	}
	for node, rs := range refills {
		c.send(ctx, node, &crawl.Dispatch{Kind: crawl.DispatchRefill, Refills: rs})
	}
	return nil
}

func (c *Coordinator) forget(l *frontier.Lease) {
	delete(c.addrs, l.ID)
	delete(c.wants, l.ID)
	if delete(c.unmet[l.Task], l.ID); len(c.unmet[l.Task]) == 0 {
		delete(c.unmet, l.Task)
	}
	delete(c.starved, l.ID)
	delete(c.sent, l.ID)
	delete(c.spoiled, l.ID)
	if n := c.nodes[l.Node]; n != nil {
		delete(n.held, l.ID)
	}
}

// dispatch sends a granted lease to its node, with its job and what is known of its site.
func (c *Coordinator) dispatch(ctx context.Context, l *crawl.Lease) error {
	j, t := c.f.Job(l.Job), c.f.Task(l.Task)
	site := c.f.Site(l.Site)
	st := polite.State(j.Pace(), site, c.clock.ms(time.Now()))
	st.SeedSite, st.Cookies, st.Spread = t.Seed, t.Cookies, max(1, j.Limits.PerSite)
	if !l.Resolve && st.RobotsState == crawl.RobotsRules {
		body, err := c.f.Robots(l.Site)
		if err != nil {
			return err
		}
		st.Robots = body
	}
	job := j.Job
	job.Identity.Seeds, job.Identity.NoScheme, job.Placing = nil, nil, crawl.Placing{} // the agent needs none, and they may be many
	c.sent[l.ID] = time.Now()
	c.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchLease, Lease: l, Job: &job, Site: &st})
	return nil
}

// resendAfter is how long a lease may be silent from its start before its hint is taken for lost, if its term is not
// shorter than that.
const resendAfter = 5 * time.Second

func (c *Coordinator) patience(l *frontier.Lease) time.Duration {
	if j := c.f.Job(l.Job); j != nil {
		return min(resendAfter, j.Limits.RecycleAfter/3)
	}
	return resendAfter
}

// resend sends hints again that may have been lost: leases of which nothing was heard, and what leases still hold that
// have said twice that they have nothing to do. An agent that has them already takes no notice.
func (c *Coordinator) resend(ctx context.Context) {
	for id, at := range c.sent {
		l := c.f.Lease(id)
		switch {
		case l == nil:
			delete(c.sent, id)
		case time.Since(at) > c.patience(l) && c.nodes[l.Node] != nil:
			c.sent[id] = time.Now()
			targets, err := c.f.Held(id)
			if err != nil {
				c.cfg.Logger.Warn("lease not dispatched again", "lease", id, "error", err)
				continue
			}
			again := crawl.Lease{
				ID: id, Job: l.Job, Task: l.Task, Site: l.Site, Node: l.Node, Incarnation: l.Incarnation, Epoch: l.Epoch, Attempt: l.Attempt,
				Secret: l.Secret, Quota: int(l.Quota), BudgetMS: l.BudgetMS, Resolve: l.Resolve, Probe: l.Probe, Ping: l.Ping, Targets: fit(targets, grantBudget),
			}
			if err := c.dispatch(ctx, &again); err != nil {
				c.cfg.Logger.Warn("lease not dispatched again", "lease", id, "error", err)
			}
		}
	}
	for id, got := range c.starved {
		delete(c.starved, id)
		l := c.f.Lease(id)
		if l == nil || l.Held == 0 {
			continue
		}
		targets, err := c.f.Held(id)
		if err != nil {
			c.cfg.Logger.Warn("lease not refilled again", "lease", id, "error", err)
			continue
		}
		delete(c.wants, id)
		c.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchRefill, LeaseID: id, Refills: []crawl.Refill{{
			Lease: id, Targets: fit(targets, grantBudget), Again: true, Got: got,
		}}})
	}
}

// refillEvery is how long a lease that asks for URLs in good time may wait until others ask too.
const refillEvery = 500 * time.Millisecond

// refillDue tells whether leases that asked for URLs are to be answered now: answers to many share an entry and its way
// to the disk, but a lease that has left less than a third of what it asks for does not wait for others.
func (c *Coordinator) refillDue() bool {
	if time.Since(c.refilled) >= refillEvery {
		return len(c.wants) > 0
	}
	for id, n := range c.wants {
		if l := c.f.Lease(id); l == nil || l.Held < int64(n)/3 || l.Held == 0 {
			return true
		}
	}
	return false
}

// refill answers leases that asked for URLs: with URLs, or, if they have nothing left and there is nothing, with the
// wish that they end.
func (c *Coordinator) refill(ctx context.Context) error {
	if !c.refillDue() {
		return nil
	}
	c.refilled = time.Now()
	for _, r := range c.runs {
		r.given = 0
	}
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
		wanted := c.wants[id]
		n := wanted
		delete(c.wants, id)
		var targets []crawl.Target
		j, r := c.f.Job(l.Job), c.runs[l.Job]
		over := r == nil || c.drained || c.full != "" || r.limited != "" || j.State != crawl.JobRunning || c.leaving(l.Node)
		if t := c.f.Task(l.Task); !over && t.State == "" {
			n = r.room(j, min(n, int(l.Quota-l.Given), 4096))
			var err error
			if targets, err = c.f.Next(l.Task, n); err != nil {
				return err
			}
		}
		if len(targets) == 0 {
			if l.Held == 0 || over {
				c.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchDrain, LeaseID: id})
			} else {
				c.await(l, wanted)
			}
			continue
		}
		targets = fit(targets, grantBudget)
		taken[l.Task] = true
		r.given += len(targets)
		e.Refills = append(e.Refills, crawl.Refill{Lease: id, Targets: targets})
		size += sizeOf(targets)
	}
	if len(e.Refills) == 0 {
		return nil
	}
	return c.append(ctx, e)
}

// await keeps what a lease asked for until its task has something: it may come from other sites' pages, or from pages of
// its own that tell of it while others are under way.
func (c *Coordinator) await(l *frontier.Lease, n int) {
	if c.unmet[l.Task] == nil {
		c.unmet[l.Task] = map[uint64]int{}
	}
	c.unmet[l.Task][l.ID] = n
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

// judge recalls leases whose node is gone or that show no sign of progress. A node that has merely not been heard of may
// be alive behind a cut line: its leases are waited for until it must have stopped by itself.
func (c *Coordinator) judge(ctx context.Context) error {
	if time.Since(c.judged) < time.Second/4 {
		return nil
	}
	c.judged = time.Now()
	now := time.Now()
	c.expire(now)
	var recalls []crawl.Recall
	shortest := time.Duration(math.MaxInt64)
	c.f.Leases(func(l *frontier.Lease) {
		j := c.f.Job(l.Job)
		if j == nil {
			return
		}
		term := j.Limits.RecycleAfter + min(j.Limits.Fetch.ConnectTimeout, j.Limits.RecycleAfter/2)
		n := c.nodes[l.Node]
		silent := c.silence(l, n, now)
		over := !schedule.Recycle(schedule.RecycleConfig{After: term}, silent).OK()
		r := crawl.Recall{Lease: l.ID, Reason: crawl.EndDead}
		switch {
		case n != nil && n.info.Incarnation != l.Incarnation, n != nil && n.left && silent > time.Second, over && n == nil:
		case over:
			r.Reason, r.Counts = crawl.EndRecalled, true
		default:
			return
		}
		recalls, shortest = append(recalls, r), min(shortest, term)
	})
	if len(recalls) == 0 {
		return nil
	}
	if sound, err := c.sound(ctx, shortest); err != nil || !sound {
		return err
	}
	sort.Slice(recalls, func(a, b int) bool { return recalls[a].Lease < recalls[b].Lease })
	for _, r := range recalls {
		c.cfg.Logger.Info("lease recalled", "lease", r.Lease, "site", c.f.Lease(r.Lease).Site, "node", c.f.Lease(r.Lease).Node, "reason", r.Reason)
	}
	return c.append(ctx, &crawl.Entry{Kind: crawl.EntryRecall, Recalls: recalls})
}

// silence is how long a lease has shown no progress although its node could have said so. After the log or this
// process was away a node may need a while to find the bus again: the lease's term begins anew when the node is heard,
// or when it must be taken for gone.
func (c *Coordinator) silence(l *frontier.Lease, n *node, now time.Time) time.Duration {
	trouble := c.trouble()
	from := latest(c.clock.local(l.Progress), trouble)
	switch {
	case n != nil && n.left:
	case n != nil && n.heard.After(trouble):
		from = latest(from, n.back)
	default:
		from = latest(from, trouble.Add(c.cfg.NodeTTL))
	}
	return now.Sub(from)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// How slow the log may be before everybody's term begins anew (or a tenth of the shortest term that has run out, where
// that is longer: a disk that is always slow must not keep the dead alive), and for how long it is believed to be sound.
const (
	slowLog  = 500 * time.Millisecond
	soundFor = 2 * time.Second
)

// sound tells whether reports that were not heard were not made: an entry that was appended just now has been stored
// at once and read back. Where it took long, the bus was away and parts are still on their way: everybody gets a full
// term again.
func (c *Coordinator) sound(ctx context.Context, term time.Duration) (bool, error) {
	if !c.cfg.Serve || c.mark > 0 && c.applied >= c.mark && time.Since(c.marked) < soundFor {
		return true, nil
	}
	begin := time.Now()
	if err := c.append(ctx, &crawl.Entry{Kind: crawl.EntryMark}); err != nil {
		return false, err
	}
	c.mark, c.marked = c.appended, time.Now()
	if time.Since(begin) > max(slowLog, term/10) {
		c.sick = time.Now()
	}
	return false, nil
}

// drainLeases asks the leases of a job, or of all, to end.
func (c *Coordinator) drainLeases(ctx context.Context, job uint32) {
	c.f.Leases(func(l *frontier.Lease) {
		if job == 0 || l.Job == job {
			c.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchDrain, LeaseID: l.ID})
		}
	})
}

// send dispatches a message. A failure is only noted: what it says is in the log.
func (c *Coordinator) send(ctx context.Context, node string, d *crawl.Dispatch) {
	d.Version = crawl.WireVersion
	lease := max(d.LeaseID, idOf(d.Lease))
	if d.Kind == crawl.DispatchRecall {
		lease = 0 // not among the lease's messages: those are being deleted
	}
	b, err := crawl.Marshal(d)
	if err == nil {
		err = c.out.Dispatch(ctx, node, lease, b)
	}
	if err != nil && ctx.Err() == nil {
		c.cfg.Logger.Warn("dispatch failed", "node", node, "error", err)
	}
}

func idOf(l *crawl.Lease) uint64 {
	if l == nil {
		return 0
	}
	return l.ID
}
