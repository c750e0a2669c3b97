package coordinator

import (
	"container/heap"
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/page/polite"
	"argosy/internal/plan/schedule"
)

// dueTask is a task that waits until a time.
type dueTask struct {
	at   int64 // Unix ms
	id   uint32
	from int64  // waiting since
	site string // of a job that collects: the first task in this site's line; id is 0
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

// run is a job while it runs.
type run struct {
	spec     string // of the strategy
	shadow   *shadow
	strategy schedule.Strategy
	read     *reader
	wants    schedule.Measures // what is measured for it
	memory   *schedule.Memory  // of the last cycle
	due      dueHeap
	inDue    map[uint32]bool
	given    int            // URLs given out in entries that are not applied yet
	gave     map[uint32]int // of them, by crawler
	spread   *spread
	slow     map[uint32]int64 // URLs that are out and not waited for, by crawler,
	looked   time.Time        // as found out then
	cuts     map[uint32]cut   // by crawler
	short    shorts
	stood    map[uint32]bool // tasks that others keep from their site
	hadTurn  time.Duration   // how long the job had run when a crawler had had its turn and waited for others; 0: none does
	traded   time.Time       // when the last market was held
	lines    lines           // of a job that collects, else nil
	called   map[string]bool // sites whose line stands in due
	limited  string
	ended    time.Time            // when a limit was reached; zero: none is
	aside    map[uint32]gaveUp    // tasks that have kept the rest of --max-pages waiting
	hurried  map[uint64]time.Time // leases that are to end at once, since when
	rest     rest
	busy     time.Time     // when something of the job was out last
	hangs    time.Duration // how long what hangs is waited for before that,
	hung     int64         // and how many pages there were the last time
	sought   time.Time     // when what hangs was looked for last
	begun    time.Time
	before   int64     // ms of earlier runs
	again    time.Time // no cycle begins before
	settled  *settled  // nil: the last cycle gave something out, or something has changed since
	ending   bool
	paused   bool // its leases have been asked to end
	mended   int  // times that frontier and ledger did not agree when it was about to end
}

// jobs owns the jobs while they run, which of their tasks wait, and which of them wait for sites of each other.
type jobs struct {
	f       *frontier.Frontier
	runs    map[uint32]*run
	turn    int       // whose job's turn it is
	now     time.Time // of this turn of the loop
	leaseNo uint64
	turns   turns
}

// due reports whether a task waits that could be given out.
func (b *jobs) due(ms int64) bool {
	for _, r := range b.runs {
		if len(r.due) > 0 && r.due[0].at <= ms {
			return true
		}
	}
	return false
}

// run returns the run of a job, starting one if there is none.
func (c *Coordinator) run(now time.Time, j *frontier.Job) (*run, error) {
	if r := c.jobs.runs[j.ID]; r != nil {
		return r, nil
	}
	spec := orElse(j.Placing.Strategy, c.cfg.Strategy)
	read, err := c.lore.reader(spec, &j.Placing)
	if err != nil {
		return nil, err
	}
	wants, err := schedule.Wants(read.strategy, orElse(j.Placing.Probe, c.cfg.Probe))
	if err != nil {
		return nil, err
	}
	read.remember(c.f.Jobs)
	c.fleet.changed = true
	other, err := c.shadow(now, j, spec)
	if err != nil {
		return nil, err
	}
	r := &run{spec: spec, shadow: other, strategy: read.strategy, read: read, wants: wants, inDue: map[uint32]bool{}, begun: now, before: j.RanMS, again: c.rests(j), hangs: overtimeMost}
	r.gave, r.slow, r.cuts, r.short, r.stood, r.aside, r.hurried = map[uint32]int{}, map[uint32]int64{}, map[uint32]cut{}, shorts{}, map[uint32]bool{}, map[uint32]gaveUp{}, map[uint64]time.Time{}
	if j.Identity.Collect != nil {
		r.lines, r.called = lines{}, map[string]bool{}
	}
	r.spread = newSpread(c.f.Task)
	c.jobs.runs[j.ID] = r
	if r.again.After(now) {
		c.cfg.Logger.Warn("nothing of a job is given out yet: the log has lost its end, and nodes may hold leases that nobody knows of", "job", j.ID, "for", r.again.Sub(now).Round(time.Second))
	}
	var tasks []*frontier.Task
	c.f.Tasks(func(t *frontier.Task) {
		if t.Job == j.ID {
			c.jobs.schedule(t)
			tasks = append(tasks, t)
		}
	})
	if picks(j) {
		r.spread.takeAll(tasks)
	}
	return r, nil
}

// ran returns how long the job has run, in this run and in earlier ones.
func (r *run) ran(now time.Time) time.Duration {
	return time.Duration(r.before)*time.Millisecond + now.Sub(r.begun)
}

// entry begins a grant or a state: it says how far the job has come.
func (r *run) entry(now time.Time, kind crawl.EntryKind) *crawl.Entry {
	e := &crawl.Entry{Kind: kind, Ran: r.ran(now)}
	if w := r.shadow; w != nil {
		so := w.diff.Otherwise
		e.Otherwise = &so
	}
	return e
}

// schedule puts a task among those that wait, if it does and its job runs.
func (b *jobs) schedule(t *frontier.Task) { b.scheduleAt(t, 0) }

// scheduleAt does the same, but the task is not due before a time (Unix ms).
func (b *jobs) scheduleAt(t *frontier.Task, not int64) {
	j, r := b.f.Job(t.Job), b.runs[t.Job]
	if j == nil || r == nil || t.State != "" || t.Queued() <= 0 || t.Leases() >= max(1, j.Limits.PerSite) || r.inDue[t.ID] {
		return
	}
	if c := t.Crawler(); (picks(j) || c > 0) && (r.short.has(t) || r.may(j, c, r.ran(b.now)) == 0 || r.counts(t) < r.cuts[c].least) {
		r.short.add(t)
		return
	}
	at := not
	if t.Leases() == 0 && !b.f.ByAddress(t) { // where addresses have clocks, a cycle looks at each
		at = max(at, polite.ReadyAt(j.PaceAt(t.Site), b.f.Site(t.Site)))
	}
	r.waits(t, at)
}

// free has tasks wait no longer than their sites are to rest by now.
func (b *jobs) free(ids []uint32) {
	freed, sites := map[uint32]bool{}, map[string]bool{}
	for _, id := range ids {
		if t := b.f.Task(id); t != nil {
			freed[id], sites[t.Site] = true, true
		}
	}
	for id, r := range b.runs {
		r.due = slices.DeleteFunc(r.due, func(d dueTask) bool {
			if d.site == "" && freed[d.id] {
				delete(r.inDue, d.id)
				return true
			}
			if sites[d.site] {
				delete(r.called, d.site)
				return true
			}
			return false
		})
		heap.Init(&r.due)
		r.settled = nil
		for site := range sites {
			r.call(site, polite.ReadyAt(b.f.Job(id).PaceAt(site), b.f.Site(site)))
		}
	}
	for id := range freed {
		b.schedule(b.f.Task(id))
	}
}

func (r *run) waits(t *frontier.Task, at int64) {
	r.inDue[t.ID] = true
	if r.lines != nil {
		r.lines.put(t)
		r.call(t.Site, at)
		return
	}
	r.push(dueTask{at: at, id: t.ID, from: t.Since})
}

func (r *run) push(d dueTask) {
	heap.Push(&r.due, d)
	if r.settled != nil {
		r.settled.due = min(r.settled.due, d.at)
	}
}

// stands has a task wait that others keep from its site.
func (r *run) stands(j *frontier.Job, t *frontier.Task, at int64) {
	if picks(j) {
		r.stood[t.ID] = true
	}
	r.waits(t, at)
}

// call has the first of a site's line looked at, at a time.
func (r *run) call(site string, at int64) {
	if len(r.lines[site]) > 0 && !r.called[site] {
		r.called[site] = true
		r.push(dueTask{at: at, site: site})
	}
}

// next takes the task that is due out of what waits; 0: there is none any more.
func (r *run) next(now int64) uint32 {
	d := heap.Pop(&r.due).(dueTask)
	if d.site == "" {
		delete(r.inDue, d.id)
		return d.id
	}
	delete(r.called, d.site)
	id := r.lines.take(d.site)
	delete(r.inDue, id)
	r.call(d.site, now+heldFor)
	return id
}

// running returns the jobs that are to be worked on, in turn.
func (b *jobs) running() []*frontier.Job {
	var out []*frontier.Job
	b.f.Jobs(func(j *frontier.Job) {
		r := b.runs[j.ID]
		if j.State == crawl.JobRunning || r != nil || j.Open > 0 { // a person may have paused it while somebody else led
			out = append(out, j)
		}
	})
	slices.SortFunc(out, func(a, b *frontier.Job) int { return int(a.ID) - int(b.ID) })
	if len(out) > 1 {
		b.turn++
		n := b.turn % len(out)
		out = append(out[n:], out[:n]...)
	}
	return out
}

// paused returns the jobs that wait for a person to say that they go on.
func (b *jobs) paused() (out []*frontier.Job) {
	b.f.Jobs(func(j *frontier.Job) {
		if j.State == crawl.JobPaused {
			out = append(out, j)
		}
	})
	return out
}

// meetMost is how long a run of one job waits for its nodes, a coordinator that begins anew for those that hold leases, and what a search has
// named for the node that ran it. A node that comes later gets a share then.
const meetMost = 2 * time.Second

// stage is how far a run of the coordinator has come.
type stage struct {
	begun     bool // a job to run has been named
	met       bool // the nodes that a run waits for have been there, or were waited for long enough
	drained   bool // asked to stop
	judged    time.Time
	resent    time.Time // when leases of which nothing was heard were looked at
	published time.Time // when those who watch were told
}

// gathered reports whether the nodes are there that are waited for: who decides without them gives all that waits to those that came first.
func (c *Coordinator) gathered(now time.Time) bool {
	if now.Sub(c.hearing.Began) > meetMost {
		return true
	}
	c.fleet.miss(c.f.Leases)
	return len(c.fleet.nodes) >= c.cfg.Nodes && len(c.fleet.absent) == 0
}

// act does what is to be done once the log has been applied to its end; done says that the run is over.
func (c *Coordinator) act(ctx context.Context, now time.Time) (done bool, err error) {
	c.stage.met = c.stage.met || c.gathered(now)
	if c.cfg.Idle || !c.cfg.Serve && (!c.stage.begun || !c.stage.met) {
		return false, nil
	}
	if err := c.judge(ctx, now); err != nil {
		return false, err
	}
	c.disk.look(now)
	if err := errors.Join(c.recallSpoiled(ctx), c.tellOrdered(ctx)); err != nil {
		return false, err
	}
	c.resend(ctx, now)
	c.balance(ctx, now)
	c.record(ctx, now)
	c.bill(ctx, now)
	c.keep(ctx, now, false)
	c.ping(ctx, now)
	running := c.jobs.running()
	for _, j := range running {
		r, err := c.run(now, j)
		if err != nil {
			return false, err
		}
		if done, err = c.step(ctx, now, j, r); err != nil || done {
			return done, err
		}
	}
	if !c.sinks.behind() { // what a cycle took from a queue is gone from it only once it is applied
		if err := c.refill(ctx, now); err != nil {
			return false, err
		}
	}
	c.publish(now, running)
	return c.cfg.Hold && len(running) == 0 && (c.stage.drained || len(c.jobs.paused()) == 0), nil
}

// disk owns what is known of the room that is left.
type disk struct {
	ask    func(was bool) string // Config.Full
	logger *slog.Logger
	full   string // why nothing is given out for now
	looked time.Time
}

// lookEvery is how often the disk is looked at.
const lookEvery = time.Second

// look notices that there is no room to go on, or that there is again. Leases that run end when they have nothing left.
func (d *disk) look(now time.Time) {
	if d.ask == nil || now.Sub(d.looked) < lookEvery {
		return
	}
	d.looked = now
	was := d.full
	d.full = d.ask(was != "")
	switch {
	case was == "" && d.full != "":
		d.logger.Error("nothing is given out until there is room", "why", d.full)
	case was != "" && d.full == "":
		d.logger.Info("there is room again: the crawl goes on")
	}
}

// step works on one job.
func (c *Coordinator) step(ctx context.Context, now time.Time, j *frontier.Job, r *run) (done bool, err error) {
	if j.State == crawl.JobPaused && !r.paused {
		r.paused = true
		c.drainLeases(ctx, j.ID)
	}
	c.limits(ctx, now, j, r)
	if c.sinks.behind() {
		return false, nil
	}
	r.applied()
	if j.Totals.Held > 0 || r.busy.IsZero() {
		r.busy = now
	}
	c.overtime(ctx, now, j, r)
	if err := c.takeBack(ctx, now, j, r); err != nil || c.sinks.behind() {
		return false, err
	}
	c.unhang(ctx, now, j, r)
	if err := c.market(ctx, now, j, r); err != nil || c.sinks.behind() {
		return false, err
	}
	if err := c.wake(j, r, now); err != nil {
		return false, err
	}
	if j.State == crawl.JobRunning && !c.stage.drained && !j.Sowing() && c.disk.full == "" && r.limited == "" && c.stage.met && len(r.due) > 0 && r.waiting(now, c.clock.MS(now)) <= 0 {
		watch, granted, waited := start(), c.jobs.leaseNo, c.sinks.waited
		more, err := c.cycle(ctx, now, j, r)
		if err != nil {
			return false, err
		}
		if r.settled = nil; !more && c.jobs.leaseNo == granted {
			r.settle(now, c.clock.MS(now))
		}
		end := watch.end()
		worked := watch.took() - (c.sinks.waited - waited) // a slow disk is no reason to keep a site waiting as well
		r.again = end.Add(schedule.Rest(worked, len(c.fleet.nodes), c.jobs.leaseNo > granted))
	}
	if c.sinks.behind() || j.Open > 0 {
		return false, nil
	}
	return c.finish(ctx, now, j, r)
}

// finish ends a run when nothing is left to do, or a limit or a person ended it; the job has no open lease. done says
// that the coordinator was to run this job only.
func (c *Coordinator) finish(ctx context.Context, now time.Time, j *frontier.Job, r *run) (done bool, err error) {
	state := ""
	switch {
	case j.Walk != nil && j.State == crawl.JobRunning:
		return false, nil
	case j.State == crawl.JobPaused || j.State == crawl.JobCancelled:
		state = j.State
	case j.Totals.Pending() == 0 && !j.Sowing():
		state = crawl.JobDone
	case r.limited != "":
		state = crawl.JobLimited
	case c.stage.drained:
		state = crawl.JobInterrupted
	case j.Sowing():
	case len(r.due) == 0:
		if n := c.f.Counts(j.ID); n.Waiting+n.Returned > 0 {
			c.f.Tasks(c.jobs.schedule)
			return false, nil
		}
		state = crawl.JobManual
	}
	if state == "" {
		if r.ending { // a late part has brought something since
			r.ending = false
			return false, c.setState(ctx, now, j, crawl.JobRunning)
		}
		return false, nil
	}
	if state == crawl.JobDone && (r.mended >= mendTries || c.f.Counts(j.ID).Manual > 0) {
		state = crawl.JobManual
	}
	if c.cfg.Serve && state == crawl.JobInterrupted {
		return false, nil // it goes on when a coordinator is there again
	}
	if ok, err := c.accounted(ctx, now, j, r); err != nil || !ok {
		return false, err
	}
	if !r.ending {
		r.ending = true
		to := &crawl.JobState{Job: j.ID, State: state}
		if state == crawl.JobLimited {
			to.Limit = r.limited
		}
		e := r.entry(now, crawl.EntryState)
		e.State = to
		return false, c.sinks.append(ctx, e)
	}
	c.gave.Store(j.ID, r.spread.gaveWay())
	c.tellShadow(j.ID, r.shadow)
	delete(c.jobs.runs, j.ID)
	c.jobs.turns.sweep(j.ID)
	c.board.changed[j.ID] = true
	if err := c.sinks.persist(ctx, func(ctx context.Context) error { return c.sinks.putRows(ctx, j.ID) }); err != nil {
		return false, err
	}
	if c.cfg.Ended != nil {
		c.cfg.Ended(j.ID)
	}
	return !c.cfg.Serve && !(c.cfg.Hold && state == crawl.JobPaused), nil
}

// accounted reports whether all that has ended of a job is on disk, and frontier and ledger agree on it. It is asked before the job is said to
// have ended, for who waits for that does not wait further, and again when that has been applied: a late part may have come in between.
func (c *Coordinator) accounted(ctx context.Context, now time.Time, j *frontier.Job, r *run) (bool, error) {
	if err := c.sinks.sync(ctx, now); err != nil || c.sinks.behind() { // the ledger may have set something aside: it is pending again
		return false, err
	}
	if r.mended >= mendTries || j.State == crawl.JobCancelled {
		return true, nil
	}
	ok, err := c.sinks.agree(ctx, j)
	if err == nil && !ok {
		r.mended++
	}
	return ok, err
}

// publishEvery is how often people who watch are told.
const publishEvery = 100 * time.Millisecond

// rested says which site of a run may be asked next, and when, if that is to come and nothing is out.
func (c *Coordinator) rested(s *Status, r *run, now time.Time) {
	if s.Leases > 0 || len(r.due) == 0 {
		return
	}
	first, ahead := r.due[0], c.clock.MS(now)-now.UnixMilli()
	if at := first.at - ahead; at > now.UnixMilli() && (s.NextMS == 0 || at < s.NextMS) {
		s.NextSite, s.NextMS = first.site, at
		if t := c.f.Task(first.id); t != nil {
			s.NextSite = t.Site
		}
	}
}

// publish tells those who watch.
func (c *Coordinator) publish(now time.Time, jobs []*frontier.Job) {
	if now.Sub(c.stage.published) < publishEvery {
		return
	}
	c.stage.published = now
	s := Status{Sites: c.f.Sites(), Leases: len(c.open.addrs), Nodes: len(c.fleet.nodes), Epoch: c.sinks.epoch, Applied: c.sinks.applied}
	_, s.Written = c.sinks.ledger.Position()
	s.State = crawl.JobRunning
	if len(jobs) == 0 {
		jobs, s.State = c.jobs.paused(), crawl.JobPaused
	}
	if len(jobs) == 0 {
		s.State = "idle"
	}
	for _, j := range jobs {
		s.Counts = s.Counts.Add(j.Totals)
		s.Searches = s.Searches.Add(c.f.SearchCounts(j.ID))
		s.Markets += int(j.Rounds)
		for _, a := range j.Accounts {
			s.Sold, s.Paid = s.Sold+a.Sold, s.Paid+a.Paid
		}
		if r := c.jobs.runs[j.ID]; r != nil {
			s.Waiting += len(r.due)
			c.rested(&s, r, now)
		}
	}
	if c.stage.drained {
		s.State = "draining"
	}
	if c.disk.full != "" {
		s.State = "waiting: " + c.disk.full
	}
	c.sample(now)
	if was := c.status.Swap(&s); *was != s {
		c.watchers.tell(&Changes{Status: true})
	}
}
