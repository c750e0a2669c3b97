package agent

import (
	"slices"
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/robots"
)

// visits are what leases ask of sites that are not theirs: files that robots.txt redirects to. They keep those sites' pace, among each other
// and beside a lease that this node has of such a site, and ask for a file once an hour: many sites may lead to one.
type visits struct {
	mu    sync.Mutex // taken before that of a lease
	last  map[string]time.Time
	files map[file]answered
	size  int // of the rules in files, in bytes
}

// file is a file of another site as a crawler of a name reads it.
type file struct{ url, product string }

type answered struct {
	change crawl.RobotsChange
	rules  robots.Rules
	until  time.Time
	tries  int    // of one that could not be had, whose rules are not known before there were more than the job's retries
	detail string // and why
}

const (
	maxVisited  = 10_000 // sites of which is kept when they were asked
	maxFiles    = 1000
	maxFileSize = 4 << 20 // of all rules together
	fileTTL     = time.Hour
	turnCheck   = 20 * time.Millisecond // after which it is looked again whether a site's own lease has its connection
)

// awaits waits for the turn of a site that is not the lease's, and takes it, unless another lease has what it is asked for by then: known. The
// lease's own turn comes first, so that the other is used when it is taken. ok is false if the lease ends.
func (l *lease) awaits(u crawl.URL) (a answered, known, ok bool) {
	for {
		if a, known = l.a.visits.answer(u, l.product); known {
			return a, true, true
		}
		l.mu.Lock()
		over, wait := l.untilTurn()
		l.mu.Unlock()
		if !over && wait <= 0 {
			if wait = l.takeTurn(u.Site()); wait <= 0 {
				return a, false, true
			}
		}
		if over || !l.pause(wait) {
			return a, false, false
		}
	}
}

// takeTurn takes the turn of a site for a lease of another one; if it has not come, it returns for how long to wait: a moment longer than the
// site's own lease does, which comes first.
func (l *lease) takeTurn(site string) (wait time.Duration) {
	if l.job.Limits.Delay == 0 {
		return 0
	}
	owners, unlock := l.a.visits.lock(l.a.ownersOf(site))
	defer unlock()
	now := time.Now()
	if next := l.a.visits.next(site, owners, now, l.job.Limits.Delay); next.After(now) {
		return next.Sub(now) + time.Millisecond
	}
	l.a.visits.note(site, owners, now)
	l.took = now
	return 0
}

// usesTurn notes that the turn that was taken is used only now, when there is a connection. False if somebody else has used the next one by
// then; the lease ends, and is had again.
func (l *lease) usesTurn(site string) bool {
	if l.job.Limits.Delay == 0 {
		return true
	}
	v := &l.a.visits
	owners, unlock := v.lock(l.a.ownersOf(site))
	now := time.Now()
	if v.last[site].Equal(l.took) {
		delete(v.last, site) // its own
	}
	late := v.next(site, owners, now, l.job.Limits.Delay).After(now)
	if !late {
		v.note(site, owners, now)
	}
	unlock()
	if late {
		l.end(crawl.EndWait)
	}
	return !late
}

// lock locks the visits and a site's own leases, so that none of these takes a turn meanwhile.
func (v *visits) lock(owners []*lease) (_ []*lease, unlock func()) {
	v.mu.Lock()
	for _, l := range owners {
		l.mu.Lock()
	}
	return owners, func() {
		for _, l := range owners {
			l.mu.Unlock()
		}
		v.mu.Unlock()
	}
}

// next returns when the next turn of a site is. It is locked.
func (v *visits) next(site string, owners []*lease, now time.Time, delay time.Duration) time.Time {
	next := v.last[site].Add(delay)
	for _, l := range owners {
		ats := []time.Time{next, l.next, l.asked.Add(l.delay())}
		if l.dials {
			ats = append(ats, now.Add(turnCheck))
		}
		next = slices.MaxFunc(ats, time.Time.Compare)
	}
	return next
}

// note notes that a site was asked by a lease of another one. It is locked.
func (v *visits) note(site string, owners []*lease, now time.Time) {
	if v.last == nil || len(v.last) >= maxVisited {
		v.last = map[string]time.Time{}
	}
	v.last[site] = now
	for _, l := range owners {
		l.visited, l.rep.lastStart = now, now
	}
}

// ownersOf returns the leases of a site that run here.
func (a *Agent) ownersOf(site string) (owners []*lease) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, l := range a.leases {
		if l.l.Site == site {
			owners = append(owners, l)
		}
	}
	return owners
}

// lastVisit returns when a lease of another site has asked a site last.
func (v *visits) lastVisit(site string) time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.last[site]
}

// answer returns what a file of another site said to a crawler of that name within the last hour.
func (v *visits) answer(u crawl.URL, product string) (answered, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	a, ok := v.files[file{u.String(), product}]
	return a, ok && time.Now().Before(a.until) && a.change.State != crawl.RobotsUnavailable
}

// down returns whether a file could not be had more than so many times in a row within the last hour, and why. now says that it could not once more.
func (v *visits) down(u crawl.URL, product string, retries int, now *said) (a said, down bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	f := file{u.String(), product}
	kept, ok := v.files[f]
	if ok = ok && time.Now().Before(kept.until) && kept.change.State == crawl.RobotsUnavailable; !ok {
		kept = answered{}
	}
	if now != nil {
		kept = answered{change: *now.change, detail: now.detail, tries: kept.tries + 1, until: time.Now().Add(fileTTL)}
		v.makeRoom(0)
		v.files[f] = kept
	}
	return said{change: &kept.change, detail: kept.detail}, kept.tries > retries
}

// makeRoom forgets all files if there are too many to keep one more, with rules of so many bytes. mu is held.
func (v *visits) makeRoom(size int) {
	if v.files == nil || len(v.files) >= maxFiles || v.size+size > maxFileSize {
		v.files, v.size = map[file]answered{}, 0
	}
}

// keep notes what files of other sites have said.
func (v *visits) keep(urls []crawl.URL, product string, c *crawl.RobotsChange, r robots.Rules) {
	if len(c.Rules) > maxFileSize/8 {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, u := range urls {
		v.makeRoom(len(c.Rules))
		v.files[file{u.String(), product}] = answered{change: *c, rules: r, until: time.Now().Add(fileTTL)}
		v.size += len(c.Rules)
	}
}
