package coordinator

import (
	"cmp"
	"context"
	"slices"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/term"
	"argosy/internal/page/polite"
)

// limits notices that a limit of the job has been reached.
func (c *Coordinator) limits(ctx context.Context, now time.Time, j *frontier.Job, r *run) {
	if r.limited != "" {
		return
	}
	l := j.Limits
	switch {
	case l.MaxTime > 0 && r.ran(now) >= l.MaxTime:
		r.limited = crawl.LimitTime
	case l.MaxBytes > 0 && j.Totals.Bytes >= l.MaxBytes:
		r.limited = crawl.LimitBytes
	case l.MaxPages > 0 && j.Totals.Fetched >= l.MaxPages:
		r.limited = crawl.LimitPages
	case j.Open == 0 && !c.sinks.behind() && !j.Sowing() && r.over(j, r.ran(now)):
		s := r.stuck(j, r.ran(now))
		r.limited = s.limit()
		c.stuck.Store(j.ID, s)
	default:
		return
	}
	r.ended = now
	c.drainLeases(ctx, j.ID)
}

const (
	// overtimeMost is how long what is under way is waited for once a limit of a job is reached: as long as who interrupts a crawl waits.
	overtimeMost = 3 * time.Second
	// asideFor is how long sites that do not answer are waited for at most before they give up the rest of --max-pages: as long as a request takes
	// at most.
	asideFor = 30 * time.Second
	// restPages are the last of --max-pages, of which sites that did not answer the last time get what the others leave: as many as a node asks for
	// at once.
	restPages = 256
	// slower is how much longer than before a site may take to answer: the mean of what it took lags behind.
	slower = 8
)

// gaveUp is a task that was made to give up what it held of the rest of --max-pages.
type gaveUp struct {
	until   int64 // left alone for as long where the best come first, Unix ms
	fetched int64 // pages that it had brought by then
}

// overtime ends the leases of a job that has reached a limit and that do not end by themselves. What they have not had answered is pending again.
func (c *Coordinator) overtime(ctx context.Context, now time.Time, j *frontier.Job, r *run) {
	if j.Open == 0 || r.limited == "" || now.Sub(r.ended) < overtimeMost {
		return
	}
	c.f.Leases(func(l *frontier.Lease) {
		if l.Job == j.ID {
			c.hurry(ctx, now, r, l)
		}
	})
}

// hurry has a lease end at once, with a report of what has come whole.
func (c *Coordinator) hurry(ctx context.Context, now time.Time, r *run, l *frontier.Lease) {
	if _, asked := r.hurried[l.ID]; !asked {
		r.hurried[l.ID] = now
		c.post.send(ctx, l.Node, &crawl.Dispatch{Kind: crawl.DispatchDrain, LeaseID: l.ID, Hurry: true})
	}
}

// hurries reports whether leases were asked just now to end at once.
func (r *run) hurries(now time.Time) bool {
	for _, at := range r.hurried {
		if now.Sub(at) < overtimeMost {
			return true
		}
	}
	return false
}

// takeBack recalls leases that were to end at once and have not, though their nodes were heard since: the message was lost. A node that is
// not heard may be asking the site still: its leases are judged by their terms, as all are.
func (c *Coordinator) takeBack(ctx context.Context, now time.Time, j *frontier.Job, r *run) error {
	var recalls []crawl.Recall
	for id, at := range r.hurried {
		switch l := c.f.Lease(id); {
		case l == nil:
			delete(r.hurried, id)
		case now.Sub(at) >= overtimeMost && c.fleet.heard(l.Node, at):
			recalls = append(recalls, crawl.Recall{Lease: id, Reason: crawl.EndDrained})
		}
	}
	if len(recalls) == 0 {
		return nil
	}
	if sound, err := c.sound(ctx, now, term.Of(&j.Limits).Recall()); err != nil || !sound {
		return err
	}
	slices.SortFunc(recalls, func(a, b crawl.Recall) int { return cmp.Compare(a.Lease, b.Lease) })
	return c.recall(ctx, recalls)
}

// unhang ends leases whose sites do not answer, or not for much longer than they took before, where others could use what they hold: all that
// --max-pages leaves, or, of the rest, all places of an address. It ends as many as the others need, of sites that have never answered first, and
// waits twice as long as the last time if that has brought no page. So sites that are slow lose a few requests, and no more.
func (c *Coordinator) unhang(ctx context.Context, now time.Time, j *frontier.Job, r *run) {
	if now.Sub(r.sought) < restMost || j.Open == 0 || r.limited != "" || r.hurries(now) || r.room(j, 1) > 0 && !inRest(j) || j.Totals.Pending() == j.Totals.Held {
		return
	}
	r.sought = now
	if j.Totals.Fetched > r.hung {
		r.hangs = overtimeMost
	}
	var late []*frontier.Lease
	all := true
	c.f.Leases(func(l *frontier.Lease) {
		switch {
		case l.Job != j.ID || l.Held == 0 || !r.hurried[l.ID].IsZero():
		case c.progress(l).Before(now.Add(-max(r.hangs, c.slowest(j, l)))):
			late = append(late, l)
		default:
			all = false
		}
	})
	if len(late) == 0 || !all && r.room(j, 1) > 0 {
		return
	}
	sites, urls := c.others(j, r, now)
	if sites == 0 {
		return
	}
	heard := func(l *frontier.Lease) int { return min(1, int(c.f.Site(l.Site).LatencyUS)) }
	slices.SortFunc(late, func(a, b *frontier.Lease) int {
		return cmp.Or(cmp.Compare(heard(a), heard(b)), cmp.Compare(a.Progress, b.Progress), cmp.Compare(a.ID, b.ID))
	})
	r.hangs, r.hung, r.rest = min(asideFor, 2*r.hangs), j.Totals.Fetched, rest{}
	for _, l := range late {
		if sites <= 0 && urls <= 0 {
			break
		}
		sites, urls = sites-1, urls-l.Held
		r.aside[l.Task] = gaveUp{c.clock.MS(now.Add(asideFor)), c.f.Task(l.Task).Fetched}
		c.hurry(ctx, now, r, l)
	}
}

// slowest returns how long a lease's site is waited for: longer than it took before. One that has answered, and not for a page yet, may need long for
// pages: it has half of what a request may take.
func (c *Coordinator) slowest(j *frontier.Job, l *frontier.Lease) time.Duration {
	site := c.f.Site(l.Site)
	took := slower * time.Duration(site.LatencyUS) * time.Microsecond
	if took > 0 && c.f.Task(l.Task).Fetched == 0 {
		took = max(took, asideFor/2)
	}
	return max(2*polite.SiteDelay(j.PaceAt(l.Site), site), min(asideFor, took))
}

// doubtful reports whether the site of a task did not answer the last time.
func (c *Coordinator) doubtful(r *run, t *frontier.Task) bool {
	return r.fruitless(t) || c.f.Site(t.Site).Fails > 0
}

// fruitless reports whether a task has brought nothing since it was set aside.
func (r *run) fruitless(t *frontier.Task) bool {
	was, is := r.aside[t.ID]
	return is && was.fetched == t.Fetched
}

// others returns how many URLs of how many sites could be given out now: of sites that no lease is at and that are not doubtful.
func (c *Coordinator) others(j *frontier.Job, r *run, now time.Time) (sites int, urls int64) {
	ms, busy := c.clock.MS(now)+heldFor, map[string]bool{} // those that wait for a place at an address are looked at again by then
	c.f.Leases(func(l *frontier.Lease) { busy[l.Site] = true })
	count := func(t *frontier.Task) {
		if t != nil && !busy[t.Site] && !c.doubtful(r, t) {
			sites, urls = sites+1, urls+t.Queued()
		}
	}
	if len(r.due) > 0 && r.due[0].at <= ms {
		for _, d := range r.due {
			switch {
			case d.at > ms:
			case d.site != "" && !busy[d.site]:
				sites, urls = sites+1, urls+1 // of a line at least
			default:
				count(c.f.Task(d.id))
			}
		}
	}
	for _, s := range r.short {
		for id := range s.tasks {
			if t := c.f.Task(id); c.f.ByAddress(t) || polite.ReadyAt(j.PaceAt(t.Site), c.f.Site(t.Site)) <= ms {
				count(t)
			}
		}
	}
	return sites, urls
}

// rank is after whom a task gets something of the rest of --max-pages: 0 is first; 1 has had no page yet, where sites have kept the rest from others;
// 2 is doubtful.
func (c *Coordinator) rank(j *frontier.Job, r *run, t *frontier.Task) int {
	switch {
	case c.doubtful(r, t):
		return 2
	case t.Fetched == 0 && len(r.aside) > 0 && !picks(j):
		return 1
	}
	return 0
}

// inRest reports whether a job has come to the rest of --max-pages.
func inRest(j *frontier.Job) bool {
	return j.Limits.MaxPages > 0 && j.Limits.MaxPages-j.Totals.Fetched <= restPages
}

// left returns how many URLs of a task may still be given out under --max-pages. The last of them are kept for sites of a better rank, as far as
// those can be asked now, and shared by those of the same one. Once nothing of the job was out for a while nobody is waited for: what is left
// of a better rank cannot be given out.
func (c *Coordinator) left(now time.Time, j *frontier.Job, r *run, t *frontier.Task, n int) int {
	if n = r.room(j, n); n == 0 || !inRest(j) || picks(j) && !c.doubtful(r, t) || now.Sub(r.busy) >= overtimeMost {
		return n
	}
	if seq := c.f.Position().Seq; !r.rest.holds(seq, now) {
		watch := start()
		r.rest = c.ranked(now, j, r)
		r.rest.seq, r.rest.at, r.rest.took = seq, now, watch.took()
	}
	room, others := r.room(j, restPages), 0
	for k := range c.rank(j, r, t) {
		room -= r.rest.urls[k]
		others += r.rest.tasks[k]
	}
	return max(0, min(n, room, max(1, room/max(1, others+r.rest.tasks[c.rank(j, r, t)]))))
}

// ranked finds out what waits for the rest of --max-pages, by rank.
func (c *Coordinator) ranked(now time.Time, j *frontier.Job, r *run) (of rest) {
	c.f.Tasks(func(t *frontier.Task) {
		if t.Job != j.ID || of.urls[0] >= restPages || t.State != "" {
			return
		}
		if urls := c.soon(now, j, t); urls > 0 {
			k := c.rank(j, r, t)
			of.urls[k] += urls
			of.tasks[k]++
		}
	})
	return of
}

// soon returns how many URLs that wait of a task its site may be asked for now and in the next seconds.
func (c *Coordinator) soon(now time.Time, j *frontier.Job, t *frontier.Task) int {
	urls := int(min(t.Queued(), restPages))
	if c.f.ByAddress(t) {
		return urls
	}
	site := c.f.Site(t.Site)
	if t.Leases() == 0 && polite.ReadyAt(j.PaceAt(t.Site), site) > c.clock.MS(now.Add(overtimeMost)) {
		return 0
	}
	if delay := polite.SiteDelay(j.PaceAt(t.Site), site); delay > 0 {
		urls = min(urls, 1+int(overtimeMost/delay))
	}
	return urls
}

// rest is what waits for the rest of --max-pages, by rank.
type rest struct {
	urls, tasks [3]int
	seq         uint64 // of the view
	at          time.Time
	took        time.Duration // to look at all tasks
}

// holds reports whether that is still so, or would take too long to find out anew.
func (w *rest) holds(seq uint64, now time.Time) bool {
	age := now.Sub(w.at)
	return w.seq == seq && age < restMost || age < cutRests*w.took
}

// room returns how many URLs may still be given out under --max-pages.
func (r *run) room(j *frontier.Job, n int) int {
	if j.Limits.MaxPages <= 0 {
		return n
	}
	return int(max(0, min(int64(n), j.Limits.MaxPages-j.Totals.Fetched-j.Totals.Held-int64(r.given))))
}
