package agent

import (
	"context"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/term"
	"argosy/internal/page/engine"
	"argosy/internal/page/fetch"
	"argosy/internal/page/polite"
	"argosy/internal/page/robots"
	"argosy/internal/page/topic"
)

// lease is a running lease. Its workers take targets from the queue and leave items; the reporter takes items.
type lease struct {
	a    *Agent
	l    crawl.Lease
	job  crawl.Job
	ctx  context.Context
	stop context.CancelFunc
	sess Session
	born time.Time

	known *filter      // links of the job that are known to be stored
	judge *topic.Judge // nil: the job has no topic
	walk  *engine.Walk // through the result pages of a search; nil: none was read yet

	product string // the name that sites know the job's crawler by

	rules   robots.Rules
	rulesBy string // the scheme of the URLs that they speak of; empty: all
	other   other  // of the other scheme
	robots  crawl.RobotsState
	layer   crawl.Layer // of all its targets: a task is in one

	origin      string       // of robots.txt
	robotsBy    string       // the scheme of the last request for it
	robotsWith  string       // the names of the cookies that it was asked with
	robotsMay   bool         // behind a wall there may be another one: this lease asked for it without cookies, and was not told that there is none
	robotsFound bool         // its last answer was a file
	robotsSum   uint64       // the sum of the bytes of that, if it was a page
	robotsShown *shown       // what it shows then
	alone       sync.RWMutex // held while a page is asked for: by one worker alone where the wall before it is to be passed

	mu      sync.Mutex // guards what follows
	more    *sync.Cond // a target has come, or the lease ends
	queue   []crawl.Target
	busy    int          // targets in work
	held    atomic.Int32 // pages in work that are had, and wait until others are read
	effort  effort
	given   int
	ended   string    // why the lease ends; empty while it runs
	next    time.Time // the site's next turn
	asked   time.Time // when it was taken last,
	dials   bool      // and whether the request is still to be sent: it gets a connection
	follows bool      // it is on the way that robots.txt redirects it
	late    bool      // its time was over meanwhile
	visited time.Time // when a lease of another site took it last (visits)
	took    time.Time // when this one took another's; visits.mu guards it
	jar     jar
	led     map[crawl.Key][]leader // by where they redirected to: URLs that did, as long as no cookie has come of it
	leads   int                    // of those URLs
	opened  map[crawl.Key]bool     // URLs that brought a cookie, and others that led to them: what had led to those was asked again
	came    map[crawl.Key]bool     // URLs that a page has led back to which they had led to
	gates   gates
	shut    map[crawl.Key]bool // pages of what a search has named that the site refused (403), since its last other answer
	open    bool               // the site has answered a page of what a search has named
	back    map[crawl.Key]int  // how often URLs were asked again because of a cookie that came behind them
	vain    [walls]int         // by kinds of walls: times that a page was asked again at once for nothing, since a wall let the lease through
	let     bool               // one has
	veils                      // what is known of walls in the place of pages
	again   bool               // robots.txt is to be asked for again: no target is taken before
	astray  int                // cookies in a row because of which URLs were asked again that lead on still
	round   bool               // URLs were asked again because of a cookie, and none of them is known to lead on
	latency time.Duration

	otherDelay time.Duration // Crawl-delay of the other scheme's rules

	told    crawl.Heard // what the site has answered
	heard   time.Time   // when the site answered last; before it did, when the lease began
	answers int64
	fails   int        // in a row
	endedAt time.Time  // when a connection ended last, but for those that ended with it
	gaveUp  crawl.Kind // every further URL fails with this
	why     string     // and with this, in words
	scheme  string     // only those of this scheme, if it is set
	broken  error      // of the node: the lease ends with it
	site    crawl.SiteState
	addrs   []netip.Addr // of the site, where they are known
	hold    term.Holder
	rep     report
}

func newLease(ctx context.Context, a *Agent, d *crawl.Dispatch, since time.Time) *lease {
	ctx, cancel := context.WithCancel(ctx)
	now := time.Now()
	var layer crawl.Layer
	if len(d.Lease.Targets) > 0 { // one that only resolves has none
		layer = d.Lease.Targets[0].Layer()
	}
	l := &lease{
		a: a, known: a.filters.get(memory{d.Job.ID, linked(d, layer)}), layer: layer, l: *d.Lease, job: *d.Job, site: *d.Site, ctx: ctx, stop: cancel, born: now, heard: now,
		queue: d.Lease.Targets, given: len(d.Lease.Targets), next: now.Add(time.Duration(d.Site.WaitMS) * time.Millisecond),
		latency: time.Duration(d.Site.LatencyUS) * time.Microsecond, fails: d.Site.Fails, robots: d.Site.RobotsState,
		told: crawl.HeardOf(d.Site.Heard, d.Site.LatencyUS),
	}
	l.l.Targets, l.judge, l.product = nil, a.judges.get(d.Job), robots.Product(d.Job.Identity.UserAgent)
	l.more, l.visited = sync.NewCond(&l.mu), a.visits.lastVisit(l.l.Site)
	l.refused()
	l.jar.load(d.Site.Cookies)
	if g := d.Site.Gates; g != nil {
		l.gates.Gates = *g
		l.recalls(g.Bare)
	}
	l.hold = term.Hold(term.Of(&l.job.Limits), since)
	l.rep.begin()
	l.rep.last = len(l.queue)
	if d.Site.SeedSite {
		l.jar.fixed = a.cfg.Cookies
	}
	var addrs []netip.Addr
	for _, s := range d.Site.Addrs {
		if ip, err := netip.ParseAddr(s); err == nil {
			addrs = append(addrs, ip)
		}
	}
	l.addrs = addrs
	l.sess = a.fetcher.Open(l.job.Limits.Fetch, addrs)
	return l
}

func (l *lease) cancel() {
	l.stop()
	l.sess.Close()
}

// refill adds targets to the queue. What is sent again is taken only if nothing has come since we said that we have
// nothing: then it is what was lost on the way.
func (l *lease) refill(r *crawl.Refill, since time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.hold.Refill(since, r.Again, r.Got) {
		return
	}
	l.queue = append(l.queue, r.Targets...)
	l.given += len(r.Targets)
	l.rep.last = len(r.Targets)
	l.more.Broadcast()
}

// end makes the lease end after what is under way; the first reason counts.
func (l *lease) end(reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.endLocked(reason)
}

func (l *lease) endLocked(reason string) {
	if l.ended == "" {
		l.ended = reason
	}
	l.more.Broadcast()
}

// abandon ends the lease without a report: it is somebody else's now.
func (l *lease) abandon() {
	l.mu.Lock()
	l.hold.End = term.Abandoned
	l.endLocked(crawl.EndRecalled)
	l.mu.Unlock()
	l.cancel()
	l.a.remove(l)
}

// delay returns the time between this lease's starts of requests.
func (l *lease) delay() time.Duration {
	d := polite.Delay(l.job.Limits, max(l.rules.Delay, l.otherDelay), l.latency)
	return d * time.Duration(max(1, l.site.Spread))
}

// run works through the lease and leaves its final part to the reporter.
func (l *lease) run() error {
	timer := time.AfterFunc(time.Duration(l.l.BudgetMS)*time.Millisecond, l.overtime)
	defer timer.Stop()
	defer context.AfterFunc(l.ctx, func() { l.end(crawl.EndDrained); l.sess.Close() })()
	err := l.work()
	l.mu.Lock()
	if err == nil {
		err = l.broken
	}
	l.endLocked(crawl.EndDone)
	l.handsOnLocked() // before the end is told: the next lease may come at once
	l.hold.End = max(l.hold.End, term.Ending)
	l.mu.Unlock()
	l.a.nudge()
	return err
}

// overtime ends the lease when its time is over; not on the way to a robots.txt, which another lease would begin anew.
func (l *lease) overtime() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.late = l.follows; !l.late {
		l.endLocked(crawl.EndBudget)
	}
}

// follow notes that the lease goes where robots.txt redirects to, or has gone there.
func (l *lease) follow(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.follows = on; !on && l.late {
		l.endLocked(crawl.EndBudget)
	}
}

func (l *lease) work() error {
	for goOn := l.begin(); goOn; goOn = l.askAgain() {
		if err := l.pages(); err != nil {
			return err
		}
	}
	return nil
}

// pages has workers go through the targets, until the lease ends or robots.txt is to be asked for again.
func (l *lease) pages() error {
	l.mu.Lock()
	workers := 1
	if l.delay() == 0 {
		workers = max(1, l.job.Limits.SiteConnections)
	}
	l.rep.want = workers * 4
	l.mu.Unlock()
	var wg sync.WaitGroup
	errs := make([]error, workers)
	for i := range workers - 1 {
		wg.Go(func() { errs[i+1] = l.loop() })
	}
	errs[0] = l.loop()
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// resolve looks up the site's addresses and reports them.
func (l *lease) resolve() {
	u, err := crawl.Parse("http://" + l.l.Site + "/")
	if err != nil {
		return
	}
	addrs, err := l.a.client.Lookup(l.ctx, u.Host())
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		if l.ctx.Err() != nil {
			return
		}
		kind := crawl.KindOf(err)
		l.rep.change.ResolveFailed, l.rep.change.Detail = kind, detail(err.Error())
		l.fails++
		wait, again := polite.Again(l.job.Limits, kind, l.site.ResolveFails+1, l.latency > 0)
		l.rep.change.BackoffMS = wait.Milliseconds()
		l.unable(kind, err.Error(), again)
		return
	}
	for _, a := range addrs[:min(len(addrs), 4)] {
		l.rep.change.Addrs = append(l.rep.change.Addrs, a.String())
	}
	l.rep.change.AddrTTLMS = fetch.AddrTTL.Milliseconds()
}

// begin does what comes before the first URL; it reports whether URLs are to follow.
func (l *lease) begin() bool {
	l.works(1)
	defer l.works(-1)
	switch {
	case l.l.Resolve:
		l.resolve()
		return false
	case l.l.Probe != "":
		l.probe()
		return false
	}
	return l.askRobots()
}

// works notes that so many workers more are at work.
func (l *lease) works(workers int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.effort.add(workers, time.Now())
}

// loop is a worker: target after target, until there is none to take.
func (l *lease) loop() error {
	for {
		t, ok := l.take()
		if !ok {
			return nil
		}
		err := l.one(t)
		l.mu.Lock()
		l.busy--
		l.effort.add(-1, time.Now())
		if len(l.queue) == 0 {
			l.more.Broadcast()
		}
		l.mu.Unlock()
		if err != nil {
			return err
		}
	}
}

// low is how few URLs are left when the lease asks for more at once: a quarter of what it likes to hold, or, if it gets less than
// that (few are there, or few of a template may be out), half of what it last got. mu is held.
func (l *lease) low() int {
	return min(l.rep.want/4, max(l.rep.last/2, l.job.Limits.SiteConnections))
}

// take waits for a target; false when the lease has ended, or robots.txt comes first.
func (l *lease) take() (crawl.Target, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for {
		if l.ended != "" || l.again {
			return crawl.Target{}, false
		}
		if len(l.queue) > 0 && l.rep.size < maxUnsent {
			t := l.queue[0]
			l.queue = l.queue[1:]
			l.busy++
			l.effort.add(1, time.Now())
			if len(l.queue) < l.low() && l.rep.size > 0 && l.hold.Ask == term.Content && !l.rep.low {
				l.rep.low = true
				l.a.nudge()
			}
			return t, true
		}
		if l.starved() && l.hold.Ask != term.Starves || len(l.queue) == 0 && l.rep.links > 0 { // a worker is idle while links wait
			l.rep.urgent = true
			l.a.nudge()
		}
		l.more.Wait()
	}
}

// first returns the target at the head of the queue.
func (l *lease) first() (crawl.Target, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.queue) == 0 {
		return crawl.Target{}, false
	}
	return l.queue[0], true
}

// mends reports whether a target of the lease was had before, and its record may be lost. So may be those of its site's other answers.
func (l *lease) mends() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.queue, func(t crawl.Target) bool { return t.Whole })
}

// putBack returns a target that was not worked on.
func (l *lease) putBack(t crawl.Target) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queue = append([]crawl.Target{t}, l.queue...)
}

// turn waits for the site's turn and for one of the node's slots. False if the lease ends first, or if the turn is so
// far away that the site should rather be somebody else's until then. The lease's term is looked at last of all: the
// process may have been frozen while it waited, and somebody else may have the site by now. So it is once more when there is a
// connection (maySend).
func (l *lease) turn() bool {
	l.mu.Lock()
	l.effort.add(-1, time.Now())
	defer func() {
		l.mu.Lock()
		l.effort.add(1, time.Now())
		l.mu.Unlock()
	}()
	over, wait := l.untilTurn()
	for !over && wait > 0 {
		l.mu.Unlock()
		going := l.pause(wait)
		l.mu.Lock()
		over, wait = l.untilTurn() // a lease of another site may have taken it
		over = over || !going
	}
	l.asked, l.dials = time.Now(), !over
	l.mu.Unlock()
	return !over && l.a.slot(l.ctx) && l.may()
}

// untilTurn returns how long it is until the site's turn, and whether the lease ends before it. mu is held.
func (l *lease) untilTurn() (over bool, wait time.Duration) {
	wait = max(time.Until(l.next), time.Until(l.visited.Add(l.delay())))
	if wait > polite.MaxWait && !l.follows {
		l.endLocked(crawl.EndWait)
	}
	return l.ended != "", wait
}

// may looks at the lease's term last of all before a request, and gives the slot back if it is over.
func (l *lease) may() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.hold.MayAsk(time.Now()) {
		l.endLocked(crawl.EndStale)
	}
	if l.ended != "" {
		l.a.release()
		return false
	}
	l.a.sent()
	return true
}

// maySend looks at the lease's term again once there is a connection for a request: to get one takes time, and the process may have been
// frozen meanwhile.
func (l *lease) maySend() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.hold.MaySend(time.Now()) {
		l.endLocked(crawl.EndStale)
		return false
	}
	l.asked, l.dials = time.Now(), false
	return true
}

// givesUp tells whether the lease is about to be recalled although its parts are stored: it has shown no progress for a
// term, and has nothing to show. The message that recalls it may be lost, and somebody else has the site a fetch time-out
// later. A lease that ends already says so itself.
func (l *lease) givesUp(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	r := &l.rep
	return l.busy > 0 && !l.l.Resolve && !l.waits(now) && l.ended == "" && l.hold.End == term.Open && r.bytes == 0 && len(r.items) == 0 && l.hold.Still(time.Now())
}

// waits tells whether there can be no progress yet: politeness is why nothing is asked for, or what was had waits for the node, which
// reads large pages one after the other. mu is held.
func (l *lease) waits(now time.Time) bool {
	return l.next.After(now) || l.robots == crawl.RobotsUnknown || l.held.Load() > 0
}

// pause waits for a span; false if the lease ends first.
func (l *lease) pause(d time.Duration) bool {
	until := time.Now().Add(d) // before the timer is set: when it fires that time has come
	t := time.AfterFunc(d, func() {
		l.mu.Lock()
		l.more.Broadcast()
		l.mu.Unlock()
	})
	defer t.Stop()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.ended == "" && time.Now().Before(until) {
		l.more.Wait()
	}
	return l.ended == ""
}

// started notes when a request was sent: the site's next turn is a delay later.
func (l *lease) started(at time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dials = false
	if at.After(l.rep.lastStart) { // else another lease has asked the site since
		l.rep.lastStart = at
	}
	if n := at.Add(l.delay()); n.After(l.next) {
		l.next = n
	}
}

// unheard reports whether the site has not answered for a term. Another node may be answered.
func (l *lease) unheard(now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return now.Sub(l.heard) >= l.job.Limits.RecycleAfter
}

// answered notes how long the site took to answer a request for u, and that it answers at all.
func (l *lease) answered(u crawl.URL, firstByte time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if u.Site() == l.l.Site {
		l.told |= crawl.HeardBy(u.Scheme())
		if u.Path() != robotsPath {
			l.told |= crawl.HeardPage
		}
	}
	l.heard = time.Now()
	l.fails = 0
	l.answers++
	l.latency = polite.Latency(l.latency, firstByte)
}

// holdOff makes the site wait; a long wait ends the lease.
func (l *lease) holdOff(d time.Duration, reason string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.holdOffLocked(d, reason)
}

func (l *lease) holdOffLocked(d time.Duration, reason string) {
	if n := time.Now().Add(d); n.After(l.next) {
		l.next = n
	}
	l.rep.change.BackoffMS = max(l.rep.change.BackoffMS, d.Milliseconds())
	l.endLocked(reason)
}
