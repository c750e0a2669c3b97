package coordinator

import (
	"container/heap"
	"context"
	"slices"
	"sort"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/page/polite"
	"argosy/internal/plan/schedule"
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
	given    int // URLs given out in entries that are not applied yet
	limited  string
	begun    time.Time
	before   int64     // ms of earlier runs
	again    time.Time // no cycle begins before
	ending   bool
	paused   bool // its leases have been asked to end
}

// run returns the run of a job, beginning it if need be.
func (c *Coordinator) run(j *frontier.Job) (*run, error) {
	if r := c.runs[j.ID]; r != nil {
		return r, nil
	}
	spec := j.Placing.Strategy
	if spec == "" {
		spec = c.cfg.Strategy
	}
	read, err := c.reader(spec)
	if err != nil {
		return nil, err
	}
	asked := j.Placing.Probe
	if asked == "" {
		asked = c.cfg.Probe
	}
	wants, err := schedule.Wants(read.strategy, asked)
	if err != nil {
		return nil, err
	}
	c.changed = true
	other, err := c.shadow(spec)
	if err != nil {
		return nil, err
	}
	r := &run{spec: spec, shadow: other, strategy: read.strategy, read: read, wants: wants, inDue: map[uint32]bool{}, begun: time.Now(), before: j.RanMS}
	c.runs[j.ID] = r
	c.f.Tasks(func(t *frontier.Task) {
		if t.Job == j.ID {
			c.schedule(t)
		}
	})
	return r, nil
}

// ran returns how long the job has run, in this run and in earlier ones.
func (r *run) ran() time.Duration {
	return time.Duration(r.before)*time.Millisecond + time.Since(r.begun)
}

// schedule puts a task among those that wait, if it does and its job runs.
func (c *Coordinator) schedule(t *frontier.Task) {
	j, r := c.f.Job(t.Job), c.runs[t.Job]
	if j == nil || r == nil || t.State != "" || t.Queued() <= 0 || t.Leases() >= max(1, j.Limits.PerSite) || r.inDue[t.ID] {
		return
	}
	at := int64(0)
	if t.Leases() == 0 {
		at = polite.ReadyAt(j.Pace(), c.f.Site(t.Site))
	}
	c.waits(r, t, at)
}

func (c *Coordinator) waits(r *run, t *frontier.Task, at int64) {
	r.inDue[t.ID] = true
	heap.Push(&r.due, dueTask{at: at, id: t.ID, from: t.Since})
}

// running returns the jobs that are to be worked on, in turn.
func (c *Coordinator) running() []*frontier.Job {
	var out []*frontier.Job
	c.f.Jobs(func(j *frontier.Job) {
		r := c.runs[j.ID]
		if j.State == crawl.JobRunning || r != nil || j.Open > 0 { // a person may have paused it while somebody else led
			out = append(out, j)
		}
	})
	slices.SortFunc(out, func(a, b *frontier.Job) int { return int(a.ID) - int(b.ID) })
	if len(out) > 1 {
		c.turn++
		n := c.turn % len(out)
		out = append(out[n:], out[:n]...)
	}
	return out
}

// meetMost is how long a run of one job waits for its nodes; who comes later gets a share then.
const meetMost = 2 * time.Second

// act does what is to be done once the log has been applied to its end; done says that the run is over.
func (c *Coordinator) act(ctx context.Context) (done bool, err error) {
	c.met = c.met || len(c.nodes) >= c.cfg.Nodes || time.Since(c.started) > meetMost
	if c.cfg.Idle || !c.cfg.Serve && (!c.begun || !c.met) {
		return false, nil
	}
	if err := c.judge(ctx); err != nil {
		return false, err
	}
	c.look()
	if err := c.recallSpoiled(ctx); err != nil {
		return false, err
	}
	c.resend(ctx)
	c.balance(ctx)
	c.record(ctx)
	c.bill(ctx)
	c.ping(ctx)
	jobs := c.running()
	for _, j := range jobs {
		r, err := c.run(j)
		if err != nil {
			return false, err
		}
		if done, err = c.step(ctx, j, r); err != nil || done {
			return done, err
		}
	}
	if c.applied >= c.appended { // what a cycle took from a queue is gone from it only once it is applied
		if err := c.refill(ctx); err != nil {
			return false, err
		}
	}
	c.publish(jobs)
	return false, nil
}

// lookEvery is how often the disk is looked at.
const lookEvery = time.Second

// look notices that there is no room to go on, or that there is again. Leases that run end when they have nothing left.
func (c *Coordinator) look() {
	if c.cfg.Full == nil || time.Since(c.looked) < lookEvery {
		return
	}
	c.looked = time.Now()
	was := c.full
	c.full = c.cfg.Full(was != "")
	switch {
	case was == "" && c.full != "":
		c.cfg.Logger.Error("nothing is given out until there is room", "why", c.full)
	case was != "" && c.full == "":
		c.cfg.Logger.Info("there is room again: the crawl goes on")
	}
}

// step works on one job.
func (c *Coordinator) step(ctx context.Context, j *frontier.Job, r *run) (done bool, err error) {
	if j.State == crawl.JobPaused && !r.paused {
		r.paused = true
		c.drainLeases(ctx, j.ID)
	}
	c.limits(ctx, j, r)
	if c.applied < c.appended {
		return false, nil
	}
	if j.State == crawl.JobRunning && !c.drained && c.full == "" && r.limited == "" && !time.Now().Before(r.again) {
		begin := time.Now()
		if err := c.cycle(ctx, j, r); err != nil {
			return false, err
		}
		end := time.Now()
		r.again = end.Add(min(cycleRest, end.Sub(begin)*2))
	}
	if c.applied < c.appended || j.Open > 0 {
		return false, nil
	}
	return c.finish(ctx, j, r)
}

// limits notices that a limit of the job has been reached.
func (c *Coordinator) limits(ctx context.Context, j *frontier.Job, r *run) {
	if r.limited != "" {
		return
	}
	l := j.Limits
	switch {
	case l.MaxTime > 0 && r.ran() >= l.MaxTime:
		r.limited = "max-time"
	case l.MaxBytes > 0 && j.Totals.Bytes >= l.MaxBytes:
		r.limited = "max-bytes"
	case l.MaxPages > 0 && j.Totals.Fetched >= l.MaxPages:
		r.limited = "max-pages"
	default:
		return
	}
	c.drainLeases(ctx, j.ID)
}

// room returns how many URLs may still be given out under --max-pages.
func (r *run) room(j *frontier.Job, n int) int {
	if j.Limits.MaxPages <= 0 {
		return n
	}
	return int(max(0, min(int64(n), j.Limits.MaxPages-j.Totals.Fetched-j.Totals.Held-int64(r.given))))
}

// finish ends a run when nothing is left to do, or a limit or a person ended it; the job has no open lease. done says
// that the coordinator was to run this job only.
func (c *Coordinator) finish(ctx context.Context, j *frontier.Job, r *run) (done bool, err error) {
	state := ""
	switch {
	case j.State == crawl.JobPaused || j.State == crawl.JobCancelled:
		state = j.State
	case j.Totals.Pending() == 0:
		state = crawl.JobDone
	case r.limited != "":
		state = crawl.JobLimited
	case c.drained:
		state = crawl.JobInterrupted
	case len(r.due) == 0:
		if c.f.Counts(j.ID).Waiting > 0 {
			c.f.Tasks(c.schedule)
			return false, nil
		}
		state = crawl.JobManual
	}
	if state == "" {
		if r.ending { // a late part has brought something since
			r.ending = false
			return false, c.setState(ctx, j, crawl.JobRunning)
		}
		return false, nil
	}
	if state == crawl.JobDone && c.f.Counts(j.ID).Manual > 0 {
		state = crawl.JobManual
	}
	if c.cfg.Serve && state == crawl.JobInterrupted {
		return false, nil // it goes on when a coordinator is there again
	}
	if !r.ending {
		r.ending = true
		return false, c.append(ctx, &crawl.Entry{Kind: crawl.EntryState, State: &crawl.JobState{Job: j.ID, State: state}, Ran: r.ran()})
	}
	if err := c.sync(ctx); err != nil || c.applied < c.appended { // the ledger may have set something aside: it is pending again
		return false, err
	}
	delete(c.runs, j.ID)
	if err := c.persist(ctx, func(ctx context.Context) error { return c.putRows(ctx, j.ID) }); err != nil {
		return false, err
	}
	if c.cfg.Ended != nil {
		c.cfg.Ended(j.ID)
	}
	return !c.cfg.Serve, nil
}

// catchUp brings the ledger's rows of tasks up to date for jobs that have ended: whoever led before may have died between
// the end of a job and its rows.
func (c *Coordinator) catchUp(ctx context.Context) error {
	var have map[uint32]ledger.Sums
	err := c.persist(ctx, func(ctx context.Context) (err error) {
		have, err = c.ledger.Sums(ctx)
		return err
	})
	if err != nil {
		return err
	}
	want := map[uint32]ledger.Sums{}
	c.f.Tasks(func(t *frontier.Task) {
		s, row := want[t.Job], Row(t)
		s.Add(&row)
		want[t.Job] = s
	})
	for id, s := range want {
		if c.f.Job(id).State == crawl.JobRunning || s == have[id] {
			continue
		}
		c.cfg.Logger.Info("the ledger's tasks are brought up to date", "job", id)
		if err := c.persist(ctx, func(ctx context.Context) error { return c.putRows(ctx, id) }); err != nil {
			return err
		}
	}
	return nil
}

// putRows writes what the ledger takes from the view and not from the log: depths that have fallen since pages were reported,
// then the rows of tasks.
func (c *Coordinator) putRows(ctx context.Context, job uint32) error {
	err := c.ledger.PutDepths(ctx, job, func(set func(crawl.Page, uint16) error) error { return c.f.Nearer(job, set) })
	if err != nil {
		return err
	}
	return c.ledger.PutTasks(ctx, c.rows(job))
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
		ID: t.ID, Job: t.Job, Site: t.Site, State: t.Status(), Tally: crawl.TallyOf(t.Counts, t.Reasons), Attempts: t.Attempts, Recalls: t.Recalls,
		History: t.History,
	}
}

// publish tells those who watch.
func (c *Coordinator) publish(jobs []*frontier.Job) {
	if time.Since(c.published) < 100*time.Millisecond {
		return
	}
	c.published = time.Now()
	s := Status{State: "idle", Sites: c.f.Sites(), Leases: len(c.addrs), Nodes: len(c.nodes), Epoch: c.epoch, Applied: c.applied}
	for _, j := range jobs {
		s.State = crawl.JobRunning
		s.Counts = s.Counts.Add(j.Totals)
		if r := c.runs[j.ID]; r != nil {
			s.Waiting += len(r.due)
		}
	}
	if c.drained {
		s.State = "draining"
	}
	if c.full != "" {
		s.State = "waiting: " + c.full
	}
	c.status.Store(&s)
}
