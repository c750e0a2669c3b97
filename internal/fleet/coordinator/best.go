package coordinator

import (
	"math"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/page/polite"
)

// A job whose best URLs come first gives out those that promise most on all of its sites together, and few at once: what is out was chosen
// without what it will tell. The better a job knows its web, the more may be out.

const (
	outLeast = 16   // URLs out at once, of a job or of one of its crawlers: two leases of bestAtOnce
	outShare = 8    // pages that were visited for each URL that is out: models learn in the same steps
	outMost  = 1024 // URLs out at once: what costs no more to choose than the pages themselves
	// aheadFor is what a lease is given ahead: it reports each page, and is answered within that even across the world.
	aheadFor = 250 * time.Millisecond
	// slowAfter is for how long what is out is waited for: a site that does not answer, or is asked seldom, takes no other one's place.
	slowAfter = 2 * time.Second
)

// picks reports whether a job's URLs are given out by what they promise.
func picks(j *frontier.Job) bool {
	return j.Identity.Order == crawl.OrderBest && j.Identity.Collect == nil
}

// countsOf returns the counts of one of a job's crawlers; 0: of the job, which has one only.
func countsOf(j *frontier.Job, c uint32) crawl.Counts {
	if c == 0 {
		return j.Totals
	}
	return j.Crawler(c)
}

// may returns how many more URLs a crawler may be given now, 0 being that of a job that has one only: it has ability, time and space for them,
// it has not reached what it is to save, in lots it is still its turn, and it has not too many yet that were chosen before.
func (r *run) may(j *frontier.Job, c uint32, ran time.Duration) int {
	room := int64(math.MaxInt32)
	if picks(j) {
		n := countsOf(j, c)
		room = max(outLeast, min(outMost, visited(n)/outShare)) - max(0, n.Held-r.slow[c])
	}
	if m := j.Identity.Market; m != nil && c > 0 {
		room = min(room, r.trades(j, c, ran))
	}
	return int(max(0, room-int64(r.gave[c])))
}

// trades returns how many more URLs the rules of a job's market let a crawler have.
func (r *run) trades(j *frontier.Job, c uint32, ran time.Duration) int64 {
	m, t, n := j.Identity.Market, trader(j, c, ran), j.Crawler(c)
	if !t.Alive(exchange(m)) {
		return 0
	}
	room := int64(t.Visits(exchange(m))) - n.Held
	switch m.Mode {
	case crawl.MarketPaper:
		room = min(room, int64(t.Target-t.Pages)-n.Held)
	case crawl.MarketLots:
		if m.Crawlers == 1 {
			break // there is nobody to trade with
		}
		done := visited(n)
		if int(c) <= len(j.Last.Visited) {
			done -= j.Last.Visited[c-1]
		}
		room = min(room, int64(m.Turn)-done-max(0, n.Held-r.slow[c]))
	}
	return room
}

// cut is what a URL must promise to be given to a crawler: its best are wanted, on whatever site they are.
type cut struct {
	least float64
	seq   uint64 // of the view
	at    time.Time
	took  time.Duration
}

const (
	cutRest  = 50 * time.Millisecond // for which a cut holds while its crawler has something to do, and tasks wait for another one, at least,
	cutRests = 20                    // and times what it took
)

// holds reports whether a cut is still the one to go by. What waits for sites that hang stops counting with time, also when nothing comes.
func (u *cut) holds(seq uint64, held int64, now time.Time) bool {
	age := now.Sub(u.at)
	return u.seq == seq && age < restMost || held > 0 && age < max(cutRest, cutRests*u.took)
}

// least returns what a URL must promise to be given to a crawler that may do so much.
func (c *Coordinator) least(j *frontier.Job, r *run, of uint32, may int, now time.Time) (float64, error) {
	if !picks(j) {
		return 0, nil
	}
	seq := c.f.Position().Seq
	if was := r.cuts[of]; was.holds(seq, countsOf(j, of).Held, now) {
		return was.least, nil
	}
	watch, soon := start(), c.clock.MS(now.Add(max(slowAfter, 2*j.Limits.Delay)))
	least, err := c.f.Least(j.ID, of, may, r.spread.by, func(t *frontier.Task) int {
		if r.stood[t.ID] && !c.moves(j, t, now) || r.aside[t.ID].until > c.clock.MS(now) {
			return 0
		}
		if c.f.Site(t.Site).Fails > 0 { // it did not answer the last time: others do not wait for it
			return 0
		}
		if t.Leases() == 0 && !c.f.ByAddress(t) && polite.ReadyAt(j.PaceAt(t.Site), c.f.Site(t.Site)) > soon {
			return 0
		}
		return c.ahead(j, r, t)
	})
	r.cuts[of] = cut{least, seq, now, watch.took()}
	return least, err
}

// moves reports whether a task that others keep from its site is waited for: a lease was given out lately at its site, an address of it or its
// domain, so that places there become free. What all hang there may do so for long, and a site that did not answer the last time is waited for by
// nobody.
func (c *Coordinator) moves(j *frontier.Job, t *frontier.Task, now time.Time) bool {
	var addrs []string
	site := c.f.Site(t.Site)
	if site.Fails > 0 {
		return false
	}
	if site.AddrExpiry > c.clock.MS(now) {
		addrs = site.Addrs
	}
	for _, name := range places(j, t.Site, addrs) {
		if at, ok := c.open.given[name]; ok && now.Sub(at) < slowAfter {
			return true
		}
	}
	return false
}

// places returns the names of what only so many leases may ask at once: a site, its addresses and its domain.
func places(j *frontier.Job, site string, addrs []string) []string {
	out := append([]string{site}, addrs...)
	if j.Limits.PerDomain > 0 {
		out = append(out, domain(site))
	}
	return out
}

// counts returns what the first URL of a task counts for, at most.
func (r *run) counts(t *frontier.Task) float64 { return frontier.Lowered(t.Promise(), r.spread.by(t)) }

// ahead returns how many more URLs of a task its leases may hold: those of a site that is asked slowly are chosen when their turn comes.
func (c *Coordinator) ahead(j *frontier.Job, r *run, t *frontier.Task) int {
	most := outMost
	if d := polite.SiteDelay(j.PaceAt(t.Site), c.f.Site(t.Site)); d > 0 {
		most = 1 + int(min(aheadFor/d, 2*bestAtOnce))
	}
	return max(0, most*max(1, j.Limits.PerSite)-int(t.Held))
}

// next returns URLs of a task that may be given out now: by the job's limits, and by what its crawler may do.
func (c *Coordinator) next(now time.Time, j *frontier.Job, r *run, t *frontier.Task, n int) ([]crawl.Target, error) {
	may := r.may(j, t.Crawler(), r.ran(now))
	n = min(c.left(now, j, r, t, n), may)
	if picks(j) {
		n = min(n, c.ahead(j, r, t))
	}
	if n <= 0 {
		return nil, nil
	}
	least, err := c.least(j, r, t.Crawler(), may, now)
	if err != nil {
		return nil, err
	}
	targets, err := c.f.NextAbove(t.ID, n, frontier.Raised(least, r.spread.by(t)))
	for _, s := range c.f.Strays() {
		c.cfg.Logger.Error("the frontier is damaged: a queue names a URL that it does not have, which is passed over: argosy tasks drop TASK --job JOB gives up what its task has left; to have everything again, stop this coordinator and run argosy rebuild frontier DIR", "job", t.Job, "task", s.Task, "key", s.Key)
	}
	if len(targets) == 0 && least > 0 {
		r.short.add(t)
	}
	return targets, err
}

// give counts URLs that are given out in an entry that is not applied yet.
func (r *run) give(t *frontier.Task, n int) {
	r.given += n
	r.gave[t.Crawler()] += n
}

// applied forgets what was given: all of it is applied.
func (r *run) applied() {
	r.given = 0
	clear(r.gave)
}

// slowed finds out what is out of a job for so long that it is not waited for.
func (c *Coordinator) slowed(j *frontier.Job, r *run, now time.Time) {
	if now.Sub(r.looked) < restMost {
		return
	}
	r.looked = now
	clear(r.slow)
	before := c.clock.MS(now.Add(-slowAfter))
	c.f.Leases(func(l *frontier.Lease) {
		if t := c.f.Task(l.Task); l.Job == j.ID && l.Progress < before && t != nil {
			r.slow[t.Crawler()] += l.Held
		}
	})
}

// shorts are the tasks that wait until their crawler may do more, by crawler.
type shorts map[uint32]*shortOf

// shortOf are those of one crawler.
type shortOf struct {
	tasks map[uint32]bool
	woke  time.Time     // when they were looked at last,
	took  time.Duration // and how long that took
}

func (s shorts) add(t *frontier.Task) {
	of := s[t.Crawler()]
	if of == nil {
		of = &shortOf{tasks: map[uint32]bool{}}
		s[t.Crawler()] = of
	}
	of.tasks[t.ID] = true
}

func (s shorts) has(t *frontier.Task) bool {
	of := s[t.Crawler()]
	return of != nil && of.tasks[t.ID]
}

// wake looks again at the tasks whose crawlers could do nothing.
func (c *Coordinator) wake(j *frontier.Job, r *run, now time.Time) error {
	if picks(j) {
		c.slowed(j, r, now)
	}
	for no, s := range r.short {
		busy := countsOf(j, no).Held > 0
		if len(s.tasks) == 0 || busy && now.Sub(s.woke) < max(cutRest, cutRests*s.took) {
			continue
		}
		may := r.may(j, no, r.ran(now))
		if may == 0 {
			continue
		}
		watch := start()
		if err := c.wakeOf(j, r, no, may, now); err != nil {
			return err
		}
		s.woke, s.took = now, watch.took()
	}
	return nil
}

// wakeOf looks again at those of a crawler that may do so much. One that has nothing to do for want of what promises most takes what there is.
func (c *Coordinator) wakeOf(j *frontier.Job, r *run, no uint32, may int, now time.Time) error {
	if seq := c.f.Position().Seq; countsOf(j, no).Held == 0 && r.gave[no] == 0 && r.cuts[no].seq == seq && !c.waitsFor(r, no) {
		r.cuts[no] = cut{0, seq, now, 0} // what promises most cannot be had now
	}
	tasks := r.short[no].tasks
	for id := range tasks {
		t := c.f.Task(id)
		least, err := c.least(j, r, no, may, now)
		if err != nil {
			return err
		}
		if r.counts(t) >= least {
			delete(tasks, id)
			c.jobs.schedule(t)
		}
	}
	return nil
}

// waitsFor reports whether a task of a crawler waits for a node, or for its site.
func (c *Coordinator) waitsFor(r *run, no uint32) bool {
	for id := range r.inDue {
		if c.f.Task(id).Crawler() == no {
			return true
		}
	}
	return false
}
