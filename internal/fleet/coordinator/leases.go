package coordinator

import (
	"context"
	"math"
	"sort"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/term"
	"argosy/internal/page/polite"
)

// maxStrange bounds of how many leases that are not known their node is told at once: it reports of the others again before their term is over.
const maxStrange = 2000

// effects follows up on an applied entry: grants are dispatched, leases that have ended are forgotten.
func (c *Coordinator) effects(ctx context.Context, now time.Time, fx *frontier.Effects) error {
	for _, id := range fx.Touched {
		if t := c.f.Task(id); t != nil {
			if r := c.jobs.runs[t.Job]; r != nil && picks(c.f.Job(t.Job)) {
				r.spread.take(t)
			}
			c.jobs.schedule(t)
			if t.Queued() > 0 {
				c.open.has(id)
			}
		}
	}
	if len(fx.Freed) > 0 {
		c.jobs.free(fx.Freed)
	}
	for _, id := range fx.Markets {
		c.open.traded(func(task uint32) bool { return c.f.Task(task).Job == id })
	}
	if len(fx.Ended)+len(fx.Recalled) > 0 {
		c.jobs.stir()
	}
	for _, id := range fx.Broken {
		c.open.spoiled[id] = true
	}
	for _, why := range fx.Ignored {
		c.cfg.Logger.Warn("not believed", "what", why)
	}
	for _, s := range fx.Strange[:min(len(fx.Strange), maxStrange)] {
		if c.sinks.leads && c.fleet.nodes[s.Node] != nil {
			c.post.send(ctx, s.Node, &crawl.Dispatch{Kind: crawl.DispatchRecall, LeaseID: s.Lease})
		}
	}
	c.ended(now, fx)
	if c.sinks.leads {
		c.open.ordered = append(c.open.ordered, fx.Ordered...)
	}
	for _, l := range fx.Recalled {
		c.forget(l)
		if c.sinks.leads {
			c.post.forget(ctx, l.Node, l.ID)
			c.post.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchRecall, LeaseID: l.ID})
		}
	}
	for _, l := range fx.Late { // the message was lost, or is on its way
		if c.sinks.leads && c.fleet.nodes[l.Node] != nil {
			c.post.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchRecall, LeaseID: l.ID})
		}
	}
	c.open.take(fx)
	if !c.sinks.leads {
		return nil
	}
	for _, l := range fx.Joined {
		c.post.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchDrain, LeaseID: l.ID})
	}
	for i := range fx.Granted {
		if l := &fx.Granted[i]; l.Epoch == c.sinks.epoch {
			if err := c.dispatch(ctx, now, l); err != nil {
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
		c.post.sendTerm(ctx, node, c.progress(c.f.Lease(rs[0].Lease)), &crawl.Dispatch{Kind: crawl.DispatchRefill, Refills: rs}) // of one entry, all
	}
	return nil
}

// ended lets go of leases that have ended, and notes which nodes bring something.
func (c *Coordinator) ended(now time.Time, fx *frontier.Effects) {
	for _, id := range fx.Reported {
		if l := c.f.Lease(id); l != nil && l.Brought {
			c.fleet.brings(l.Node)
		}
	}
	for _, e := range fx.Ended {
		if c.vain(now, e.Lease, e.Reason) {
			c.fleet.vain(now, e.Lease.Node)
		} else if e.Lease.Brought {
			c.fleet.brings(e.Lease.Node)
		}
		c.forget(e.Lease)
		if r := c.jobs.runs[e.Lease.Job]; r != nil && c.f.Job(e.Lease.Job).Identity.Market != nil {
			r.freed(c.f, e.Lease)
		}
	}
}

func (c *Coordinator) forget(l *frontier.Lease) {
	c.open.forget(l)
	c.fleet.forget(l)
	delete(c.jobs.turns.asked, l.ID)
	delete(c.post.ending, l.ID)
}

// vain reports whether a lease has ended, and none of its URLs, and neither its site nor we were why.
func (c *Coordinator) vain(now time.Time, l *frontier.Lease, reason string) bool {
	switch {
	case l.Brought, l.Given == 0, l.Resolve, l.Probe != "", c.post.ending[l.ID], reason == crawl.EndFailed, c.fleet.leaving(l.Node):
		return false
	case reason == crawl.EndWait: // the site's next turn is far away, if that is so
		j := c.f.Job(l.Job)
		return j != nil && polite.ReadyAt(j.PaceAt(l.Site), polite.From(c.f.Site(l.Site), l.From)) < c.clock.MS(now)+polite.MaxWait.Milliseconds()/2
	}
	return true
}

// dispatch sends a granted lease to its node, with its job and what is known of its site.
func (c *Coordinator) dispatch(ctx context.Context, now time.Time, l *crawl.Lease) error {
	j, t := c.f.Job(l.Job), c.f.Task(l.Task)
	site := polite.From(c.f.Site(l.Site), l.From)
	st := polite.State(j.PaceAt(l.Site), site, c.clock.MS(now))
	st.SeedSite, st.Cookies, st.Gates, st.Spread = t.Seed, t.Cookies, t.Gates, max(1, j.Limits.PerSite)
	if !l.Resolve && st.RobotsState == crawl.RobotsRules {
		body, err := c.f.Robots(l.Site)
		if err != nil {
			return err
		}
		st.Robots = body
	}
	job := j.Job
	job.Identity.Seeds, job.Identity.NoScheme, job.Placing = nil, nil, crawl.Placing{} // the agent needs none, and they may be many
	job.Limits, job.Sites, st.Headers = *j.At(l.Site), nil, j.Headers(l.Site)
	if of := c.asked(j, t, true); of != nil {
		lease := *l
		if held := c.f.Lease(l.ID); held != nil {
			of.Alone = held.Alone // as it stands in the log: what its end means is decided by that
		}
		lease.Asked, l = of, &lease
	}
	if job.Identity.Collect != nil {
		job.Identity.Collect = &crawl.Collect{Pages: job.Identity.Collect.Pages}
	}
	c.open.sent[l.ID] = now
	c.post.sendTerm(ctx, l.Node, c.progress(c.f.Lease(l.ID)), &crawl.Dispatch{Kind: crawl.DispatchLease, Lease: l, Job: &job, Site: &st, Doubt: c.f.Position().Doubt})
	return nil
}

// progress is when a lease last showed progress, by our clock and not before the truth; of one that is over the zero time.
func (c *Coordinator) progress(l *frontier.Lease) time.Time {
	if l == nil {
		return time.Time{}
	}
	if l.Progress == 0 {
		return c.hearing.Trouble()
	}
	return c.clock.Local(l.Progress)
}

// patience is how long a lease may be silent from its start.
func (c *Coordinator) patience(l *frontier.Lease) time.Duration {
	limits := crawl.DefaultLimits()
	if j := c.f.Job(l.Job); j != nil {
		limits = j.Limits
	}
	return term.Of(&limits).Resend()
}

// resend sends hints again that may have been lost: leases of which nothing was heard, and what leases still hold that have said twice
// that they have nothing to do. An agent that has them already takes no notice.
func (c *Coordinator) resend(ctx context.Context, now time.Time) {
	c.refillAgain(ctx)
	if now.Sub(c.stage.resent) < term.JudgeEvery {
		return
	}
	c.stage.resent = now
	for id, at := range c.open.sent {
		l := c.f.Lease(id)
		switch {
		case l == nil:
			delete(c.open.sent, id)
		case now.Sub(at) > c.patience(l) && c.fleet.nodes[l.Node] != nil:
			c.open.sent[id] = now
			targets, err := c.f.Held(id)
			if err != nil {
				c.cfg.Logger.Warn("lease not dispatched again", "lease", id, "error", err)
				continue
			}
			again := crawl.Lease{
				ID: id, Job: l.Job, Task: l.Task, Site: l.Site, Node: l.Node, Incarnation: l.Incarnation, Epoch: l.Epoch, Attempt: l.Attempt,
				Secret: l.Secret, Quota: int(l.Quota), BudgetMS: l.BudgetMS, Resolve: l.Resolve, Probe: l.Probe, Ping: l.Ping, From: l.From, Targets: fit(targets, grantBudget),
			}
			if err := c.dispatch(ctx, now, &again); err != nil {
				c.cfg.Logger.Warn("lease not dispatched again", "lease", id, "error", err)
			}
		}
	}
}

// refillAgain sends what leases hold to those that may have lost it.
func (c *Coordinator) refillAgain(ctx context.Context) {
	for id, got := range c.open.starved {
		delete(c.open.starved, id)
		l := c.f.Lease(id)
		if l == nil || l.Held == 0 {
			continue
		}
		targets, err := c.f.Held(id)
		if err != nil {
			c.cfg.Logger.Warn("lease not refilled again", "lease", id, "error", err)
			continue
		}
		delete(c.open.wants, id)
		c.post.sendTerm(ctx, l.Node, c.progress(l), &crawl.Dispatch{Kind: crawl.DispatchRefill, LeaseID: id, Refills: []crawl.Refill{{
			Lease: id, Targets: fit(targets, grantBudget), Again: true, Got: got,
		}}})
	}
}

// refill answers leases that asked for URLs: with URLs, or, if they have nothing left and there is nothing, with the
// wish that they end.
func (c *Coordinator) refill(ctx context.Context, now time.Time) error {
	if !c.open.refillDue(now) {
		return nil
	}
	c.open.refilled = now
	for _, r := range c.jobs.runs {
		r.applied()
	}
	e := &crawl.Entry{Kind: crawl.EntryGrant}
	size := 0
	taken := map[uint32]bool{} // tasks whose queue heads are in this entry already
	for _, id := range c.open.asking() {
		l := c.f.Lease(id)
		if l == nil {
			delete(c.open.wants, id)
			continue
		}
		if taken[l.Task] || size > grantBudget {
			continue // in the next round
		}
		wanted := c.open.wants[id]
		n := wanted
		delete(c.open.wants, id)
		var targets []crawl.Target
		j, r := c.f.Job(l.Job), c.jobs.runs[l.Job]
		over := r == nil || c.stage.drained || c.disk.full != "" || r.limited != "" || j.State != crawl.JobRunning || c.fleet.leaving(l.Node)
		if t := c.f.Task(l.Task); !over && t.State == "" {
			var err error
			if targets, err = c.next(now, j, r, t, min(n, int(l.Quota-l.Given), 4096)); err != nil {
				return err
			}
		}
		if len(targets) == 0 {
			if l.Held == 0 || over {
				c.post.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchDrain, LeaseID: id})
			} else {
				c.open.await(l, wanted)
			}
			continue
		}
		targets = fit(targets, grantBudget)
		taken[l.Task] = true
		r.give(c.f.Task(l.Task), len(targets))
		e.Refills = append(e.Refills, crawl.Refill{Lease: id, Targets: targets})
		size += sizeOf(targets)
	}
	if len(e.Refills) == 0 {
		return nil
	}
	return c.sinks.append(ctx, e)
}

func sizeOf(ts []crawl.Target) (n int) {
	for i := range ts {
		n += targetSize(&ts[i])
	}
	return n
}

// targetSize is about how many bytes a target takes: most have a URL, and few have been led to, by thousands of others at most.
func targetSize(t *crawl.Target) int { return 50 + len(t.URL) + 17*len(t.Chain) }

// fit cuts targets to about a number of bytes.
func fit(ts []crawl.Target, budget int) []crawl.Target {
	for i := range ts {
		if budget -= targetSize(&ts[i]); budget < 0 && i > 0 {
			return ts[:i]
		}
	}
	return ts
}

// terms returns the longest time after which a silent lease of a job is recalled.
func (c *Coordinator) terms() (longest time.Duration) {
	c.f.Jobs(func(j *frontier.Job) { longest = max(longest, term.Of(&j.Limits).Recall()) })
	return longest
}

// judge recalls leases whose node is gone or that show no sign of progress.
func (c *Coordinator) judge(ctx context.Context, now time.Time) error {
	if now.Sub(c.stage.judged) < term.JudgeEvery {
		return nil
	}
	c.stage.judged = now
	c.fleet.expire(now, c.terms())
	c.open.old(now.Add(-slowAfter))
	var recalls []crawl.Recall
	shortest := time.Duration(math.MaxInt64)
	c.f.Leases(func(l *frontier.Lease) {
		j := c.f.Job(l.Job)
		if j == nil {
			return
		}
		spans := term.Of(&j.Limits)
		signs := term.Signs{Progress: c.progress(l), Trouble: c.hearing.Trouble(), Began: c.clock.Local(l.StartMS), Budget: msec(l.BudgetMS)}
		spans.Whole = max(spans.Whole, term.Of(j.At(l.Site)).Whole) // of the site's own patience
		if n := c.fleet.nodes[l.Node]; n != nil {
			signs.Node, signs.Other = &n.Contact, n.info.Incarnation != l.Incarnation
		}
		r := crawl.Recall{Lease: l.ID, Reason: crawl.EndDead}
		switch term.Judge(spans, now, signs) {
		case term.Goes:
			if c.askToEnd(c.clock.MS(now), l) {
				c.post.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchDrain, LeaseID: l.ID})
			}
			return
		case term.Silent:
			r.Reason, r.Counts = crawl.EndRecalled, true
		case term.Overdue:
			r.Reason, r.Counts = crawl.EndOverdue, true
		}
		recalls, shortest = append(recalls, r), min(shortest, spans.Recall())
	})
	if len(recalls) == 0 {
		return nil
	}
	if sound, err := c.sound(ctx, now, shortest); err != nil || !sound {
		return err
	}
	for _, r := range recalls {
		if l := c.f.Lease(r.Lease); r.Reason == crawl.EndOverdue && !l.Brought {
			c.fleet.vain(now, l.Node)
		}
	}
	sort.Slice(recalls, func(a, b int) bool { return recalls[a].Lease < recalls[b].Lease })
	return c.recall(ctx, recalls)
}

// recall takes leases back.
func (c *Coordinator) recall(ctx context.Context, recalls []crawl.Recall) error {
	for _, r := range recalls {
		l := c.f.Lease(r.Lease)
		c.cfg.Logger.Info("lease recalled", "lease", r.Lease, "site", l.Site, "node", l.Node, "reason", r.Reason)
	}
	return c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryRecall, Recalls: recalls})
}

// recallSpoiled takes leases back of which a part is missing. Their URLs are pending again, elsewhere if there is another node.
func (c *Coordinator) recallSpoiled(ctx context.Context) error {
	var recalls []crawl.Recall
	for _, id := range c.open.broken() {
		if c.f.Lease(id) != nil {
			recalls = append(recalls, crawl.Recall{Lease: id, Reason: crawl.EndRefused, Counts: true})
		}
	}
	if len(recalls) == 0 {
		return nil
	}
	return c.recall(ctx, recalls)
}

// tellOrdered has the log tell of leases that orders have closed, so that the ledger ends them as well: the orders name tasks alone, and which
// leases had something of them the frontier knows.
func (c *Coordinator) tellOrdered(ctx context.Context) error {
	if len(c.open.ordered) == 0 {
		return nil
	}
	recalls := make([]crawl.Recall, len(c.open.ordered))
	for i, id := range c.open.ordered {
		recalls[i] = crawl.Recall{Lease: id, Reason: crawl.EndOrdered}
	}
	c.open.ordered = nil
	return c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryRecall, Recalls: recalls})
}

// leftOpen notes the leases that orders have closed while nobody could tell the log of it: those that are open in the ledger alone.
func (c *Coordinator) leftOpen(ctx context.Context) error {
	open, err := c.sinks.ledger.OpenLeases(ctx)
	for _, id := range open {
		if c.f.Lease(id) == nil {
			c.open.ordered = append(c.open.ordered, id)
		}
	}
	return err
}

// sound reports whether reports that were not heard were not made: an entry that was appended just now has been stored
// at once and read back.
func (c *Coordinator) sound(ctx context.Context, now time.Time, shortest time.Duration) (bool, error) {
	if !c.cfg.Serve || c.hearing.Sound(now, c.sinks.applied) {
		return true, nil
	}
	watch := start()
	if err := c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryMark}); err != nil {
		return false, err
	}
	c.hearing.Mark(c.sinks.appended, watch.began, watch.end(), shortest)
	return false, nil
}

// drainLeases asks the leases of a job, or of all, to end.
func (c *Coordinator) drainLeases(ctx context.Context, job uint32) {
	c.f.Leases(func(l *frontier.Lease) {
		if job == 0 || l.Job == job {
			c.post.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchDrain, LeaseID: l.ID})
		}
	})
}
