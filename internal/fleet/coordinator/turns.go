package coordinator

import (
	"slices"
	"time"

	"argosy/internal/fleet/frontier"
	"argosy/internal/page/polite"
	"argosy/internal/plan/schedule"
)

// turnFor is how long a job's lease has a site for which another job waits; then it is asked to end. At a request a second that is some
// 30 pages, of which the change costs one or two.
const turnFor = 30 * time.Second

// askAgain is after how long it is asked again: the message may be lost.
const askAgain = 10 * time.Second

// turns owns which jobs wait for sites that others have. They take turns, whichever has waited longest first.
type turns struct {
	waits map[string]map[uint32]wish // by site and task
	asked map[uint64]int64           // when leases were asked to end, Unix ms
}

// wish is that of a task that waits for its site.
type wish struct {
	job   uint32
	since int64 // Unix ms
	until int64 // it is not believed any longer, unless it is said again
}

// note takes note that a task waits for its site.
func (u *turns) note(site string, task uint32, w wish) {
	if u.waits == nil {
		u.waits = map[string]map[uint32]wish{}
	}
	if u.waits[site] == nil {
		u.waits[site] = map[uint32]wish{}
	}
	u.waits[site][task] = w
}

// forget takes note that a task does not wait for its site, or not for other jobs.
func (u *turns) forget(site string, task uint32) {
	if delete(u.waits[site], task); len(u.waits[site]) == 0 {
		delete(u.waits, site)
	}
}

// sweep forgets what the tasks of a job wait for.
func (u *turns) sweep(job uint32) {
	for site, tasks := range u.waits {
		for task, w := range tasks {
			if w.job == job {
				u.forget(site, task)
			}
		}
	}
}

// first reports whether another job waits for a site, since before a time (Unix ms).
func (u *turns) first(site string, job uint32, since, now int64) bool {
	for task, w := range u.waits[site] {
		if w.until < now {
			u.forget(site, task)
		} else if w.job != job && (w.since < since || w.since == since && w.job < job) {
			return true
		}
	}
	return false
}

// turned takes note of what a plan says of a task that waits: whether it waits for its site.
func (c *Coordinator) turned(now int64, j *frontier.Job, t *schedule.Task, w schedule.Waiting) {
	if t.ByAddress {
		return
	}
	if w.Verdict.Reason != schedule.ReasonPerSite {
		c.jobs.turns.forget(t.Site, t.ID)
		return
	}
	pause := polite.SiteDelay(j.PaceAt(t.Site), c.f.Site(t.Site))
	c.jobs.turns.note(t.Site, t.ID, wish{j.ID, t.Since, now + (pause + 2*time.Second).Milliseconds()})
}

// yields reports whether a task leaves its site to another job, which has waited for it longer.
func (c *Coordinator) yields(now int64, j *frontier.Job, t *frontier.Task) bool {
	return t.Leases() == 0 && c.jobs.turns.first(t.Site, j.ID, t.Since, now)
}

// askToEnd reports whether a lease is to be asked now to end, because it has had its turn at a site for which another job waits, and takes
// note that it is.
func (c *Coordinator) askToEnd(now int64, l *frontier.Lease) bool {
	u := &c.jobs.turns
	if l.Probe != "" || now-l.StartMS < turnFor.Milliseconds() || now-u.asked[l.ID] < askAgain.Milliseconds() || !u.first(l.Site, l.Job, now, now) {
		return false
	}
	if u.asked == nil {
		u.asked = map[uint64]int64{}
	}
	u.asked[l.ID] = now
	return true
}

// holder returns a lease that keeps a task's site from being asked for the task, because it asks the site, an address of it or its
// domain, and so many may; nil: none does.
func (c *Coordinator) holder(j *frontier.Job, t *frontier.Task, now int64) *frontier.Lease {
	if c.f.ByAddress(t) {
		return nil
	}
	site, of := c.f.Site(t.Site), domain(t.Site)
	var by [3]*frontier.Lease // the oldest on its site, on one of its addresses, and on its domain
	var n [3]int
	most := [3]int{max(1, j.Limits.PerSite), j.Limits.PerIP, j.Limits.PerDomain}
	count := func(k int, l *frontier.Lease) {
		n[k]++
		if l.Task != t.ID && (by[k] == nil || l.ID < by[k].ID) {
			by[k] = l
		}
	}
	c.f.Leases(func(l *frontier.Lease) {
		if l.Site == t.Site {
			count(0, l)
		}
		if most[1] > 0 && site.AddrExpiry > now && shares(c.open.addrs[l.ID], site.Addrs) {
			count(1, l)
		}
		if most[2] > 0 && domain(l.Site) == of {
			count(2, l)
		}
	})
	for k, m := range most {
		if m > 0 && n[k] >= m && by[k] != nil {
			return by[k]
		}
	}
	return nil
}

func shares(a, b []string) bool {
	return slices.ContainsFunc(a, func(x string) bool { return slices.Contains(b, x) })
}
