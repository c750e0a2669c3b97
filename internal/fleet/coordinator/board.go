package coordinator

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/schedule"
)

// board is the coordinator's view for others: jobs, tasks and nodes as they were at most a moment ago. The loop brings it up to date,
// whoever reads it takes a copy of what is asked for. Neither waits for the other for longer than that takes.
type board struct {
	mu    sync.RWMutex
	jobs  map[uint32]*shownJob
	nodes []shownNode                  // by name
	bills bills                        // what is not in the ledger yet
	gauge map[string]schedule.Measured // what nodes have measured, those that are gone as well
	rests rests
	ready chan struct{}

	dirty    map[uint32]bool // tasks that have changed since; the loop's own, as is what follows
	trapped  map[uint32]bool // tasks of which the traps are to be read again
	changed  map[uint32]bool // jobs that have changed
	shown    time.Time
	nodesAt  time.Time
	nodesNew bool
}

// shownJob is a job with its tasks.
type shownJob struct {
	view  JobView // its counts have no reasons: those are added up here
	sums  crawl.JobCounts
	rows  []ledger.Task          // by number
	sites map[string]int         // tasks of each
	held  map[uint32][]LeaseView // the leases that are open, by task
}

// rests is until when sites rest, Unix ms by the log's clock: those that do for all nodes. Tasks of all jobs wait for them.
type rests map[string]int64

// shownTask is what is new of a task, and until when its site rests.
type shownTask struct {
	row  ledger.Task
	held []LeaseView
	rest int64
}

// shownNode is a node, and when it was seen.
type shownNode struct {
	NodeView
	seen time.Time
	left bool
}

// bills are what nodes have cost since costs were written.
type bills struct {
	charges int // how often they were written
	of      map[string]ledger.Bill
	atWork  map[int]int64
}

const (
	boardEvery = 100 * time.Millisecond
	nodesEvery = 500 * time.Millisecond // nodes are looked at this often at least, and when one has changed,
	nodeEvery  = 500 * time.Microsecond // times as many as there are: in a large fleet one changes all the time
	boardTraps = 64                     // tasks of which the traps are read at once: their models may have to be read from the disk
)

func (b *board) init() {
	b.jobs, b.ready, b.rests = map[uint32]*shownJob{}, make(chan struct{}), rests{}
	b.dirty, b.trapped, b.changed = map[uint32]bool{}, map[uint32]bool{}, map[uint32]bool{}
}

// touch notes what an applied entry has changed.
func (b *board) touch(e *crawl.Entry, fx *frontier.Effects) {
	switch {
	case e.Release != nil:
		b.changed[e.Release.Job] = true
	case e.Job != nil:
		b.changed[e.Job.ID] = true
	case e.State != nil:
		b.changed[e.State.Job] = true
	case e.Seeds != nil:
		b.changed[e.Seeds.Job] = true
	}
	for _, id := range fx.Touched {
		b.dirty[id] = true
	}
	b.nodesNew = b.nodesNew || len(fx.Granted)+len(fx.Ended)+len(fx.Recalled) > 0
}

// next is when the board may be brought up to date again, and whether it has to be.
func (b *board) next() (time.Time, bool) {
	stale := len(b.dirty)+len(b.trapped)+len(b.changed) > 0 || b.nodesNew
	return b.shown.Add(boardEvery), stale
}

// show brings the board up to date, unless that was done a moment ago; at once if somebody who has given an order is to see what came
// of it.
func (c *Coordinator) show(now time.Time, atOnce bool) {
	b := &c.board
	if !atOnce && now.Sub(b.shown) < boardEvery {
		return
	}
	first := b.shown.IsZero()
	b.shown = now
	if first {
		c.f.Tasks(func(t *frontier.Task) { b.dirty[t.ID] = true })
		c.f.Jobs(func(j *frontier.Job) { b.changed[j.ID] = true })
	}
	news := Changes{Tasks: len(b.dirty)}
	tasks := make([]shownTask, 0, len(b.dirty))
	for id := range b.dirty {
		if t := c.f.Task(id); t != nil {
			tasks = append(tasks, c.shownTask(t))
			b.changed[t.Job] = true
			if trapped(t) || b.tellsTraps(t) {
				b.trapped[id] = true
			}
		}
	}
	clear(b.dirty)
	news.Jobs = slices.Sorted(maps.Keys(b.changed))
	for id := range c.jobs.runs {
		b.changed[id] = true // how long it runs has
	}
	traps := c.readTraps()
	var nodes []shownNode
	look := atOnce || now.Sub(b.nodesAt) > nodesEvery || b.nodesNew && now.Sub(b.nodesAt) >= time.Duration(len(c.fleet.nodes))*nodeEvery
	if look {
		news.Nodes = b.nodesNew
		b.nodesNew, b.nodesAt = false, now
		nodes = c.shownNodes()
	}
	jobs := make([]JobView, 0, len(b.changed))
	for id := range b.changed {
		if j := c.f.Job(id); j != nil {
			jobs = append(jobs, c.shownJob(now, j))
		}
	}
	clear(b.changed)
	c.put(first, tasks, traps, jobs, nodes, look)
	if len(news.Jobs) > 0 || news.Nodes {
		c.watchers.tell(&news) // who looks now finds it
	}
}

// put writes what is new on the board.
func (c *Coordinator) put(first bool, tasks []shownTask, traps map[uint32][]crawl.Trap, jobs []JobView, nodes []shownNode, look bool) {
	slices.SortFunc(tasks, func(x, y shownTask) int { return cmp.Compare(x.row.ID, y.row.ID) })
	b := &c.board
	b.mu.Lock()
	defer b.mu.Unlock()
	for i := range jobs {
		b.job(jobs[i].ID).view = jobs[i]
	}
	for i := range tasks {
		b.job(tasks[i].row.Job).put(&tasks[i])
		b.rests.note(tasks[i].row.Site, tasks[i].rest)
	}
	for id, ts := range traps {
		if t := c.f.Task(id); t != nil {
			b.job(t.Job).setTraps(id, ts)
		}
	}
	if look {
		b.nodes, b.gauge = nodes, c.lore.learned.Tally().Nodes()
		b.bills = bills{c.books.charges, make(map[string]ledger.Bill, len(c.books.bills)), maps.Clone(c.books.atWork)}
		for id, bill := range c.books.bills {
			b.bills.of[id] = *bill
		}
	}
	if first {
		close(b.ready)
	}
}

// job returns a job, making it if need be.
func (b *board) job(id uint32) *shownJob {
	if b.jobs[id] == nil {
		b.jobs[id] = &shownJob{sites: map[string]int{}, held: map[uint32][]LeaseView{}}
	}
	return b.jobs[id]
}

// put replaces what is shown of a task.
func (s *shownJob) put(t *shownTask) {
	row := &t.row
	if len(t.held) > 0 {
		s.held[row.ID] = t.held
	} else {
		delete(s.held, row.ID)
	}
	at, ok := s.find(row.ID)
	if !ok {
		s.rows = slices.Insert(s.rows, at, *row)
		s.add(row, 1)
		return
	}
	s.add(&s.rows[at], -1)
	s.add(row, 1)
	row.Traps = s.rows[at].Traps
	s.rows[at] = *row
}

func (s *shownJob) setTraps(task uint32, traps []crawl.Trap) {
	if at, ok := s.find(task); ok {
		s.rows[at].Traps = traps
	}
}

func (s *shownJob) find(task uint32) (int, bool) {
	return slices.BinarySearchFunc(s.rows, task, func(t ledger.Task, id uint32) int { return cmp.Compare(t.ID, id) })
}

// add counts a task in, or with n = -1 out.
func (s *shownJob) add(t *ledger.Task, n int64) {
	if n > 0 {
		s.sums.Counts = s.sums.Counts.Add(t.Counts)
	} else {
		s.sums.Counts = s.sums.Counts.Sub(t.Counts)
	}
	s.sums.Pending = s.sums.Counts.Pending()
	for reason, k := range t.Reasons {
		if s.sums.Reasons == nil {
			s.sums.Reasons = map[string]int64{}
		}
		if s.sums.Reasons[reason] += n * k; s.sums.Reasons[reason] == 0 {
			delete(s.sums.Reasons, reason)
		}
	}
	if s.sites[t.Site] += int(n); s.sites[t.Site] == 0 {
		delete(s.sites, t.Site)
	}
	s.sums.Sites = int64(len(s.sites))
	s.sums.Task(t.State, n)
}

// tellsTraps reports whether the board tells of traps of a task. They are read again then, too: a person may have let all of them go on.
func (b *board) tellsTraps(t *frontier.Task) bool {
	s := b.job(t.Job)
	at, ok := s.find(t.ID)
	return ok && len(s.rows[at].Traps) > 0
}

// trapped reports whether a task has traps to tell of.
func trapped(t *frontier.Task) bool {
	return t.HostCuts > 0 || t.Reasons[string(crawl.ReasonTrapYield)]+t.Reasons[string(crawl.ReasonSiteBudget)]+t.Reasons[string(crawl.ReasonRedirects)] > 0
}

// readTraps reads the traps of some tasks that have changed.
func (c *Coordinator) readTraps() map[uint32][]crawl.Trap {
	out := map[uint32][]crawl.Trap{}
	for id := range c.board.trapped {
		if len(out) == boardTraps {
			break
		}
		delete(c.board.trapped, id)
		traps, err := c.f.Traps(id)
		if err != nil {
			c.cfg.Logger.Warn("traps not read", "task", id, "error", err)
		}
		out[id] = traps
	}
	return out
}

// note takes note of until when a site rests; 0: it does not.
func (r rests) note(site string, until int64) {
	if until == 0 {
		delete(r, site)
		return
	}
	r[site] = until
}

// shownTask is a task as the board has it.
func (c *Coordinator) shownTask(t *frontier.Task) shownTask {
	v := shownTask{row: Row(c.f, t)}
	if site := c.f.Site(t.Site); site != nil {
		v.rest = until(c.f, site)
	}
	c.f.LeasesOf(t, func(l *frontier.Lease) { v.held = append(v.held, c.leaseView(l)) })
	return v
}

// shownJob is a job as the board has it, without its counts.
func (c *Coordinator) shownJob(now time.Time, j *frontier.Job) JobView {
	v := JobView{Job: j.Job, State: j.State, Sown: j.Sown, Started: j.StartMS, RanMS: j.RanMS, Aside: j.Aside, Given: slices.Clone(j.Engines), Strategy: orElse(j.Placing.Strategy, c.cfg.Strategy)}
	if j.State == crawl.JobRunning {
		v.Lacks = c.lacks(j)
		if p := &j.Placing; p.Store != "" || p.Need != [3]float64{} {
			v.Unmet = unmet(p, c.present())
		}
	}
	if c.cfg.Idle && j.State == crawl.JobRunning { // a process that dies cannot say so
		v.State = crawl.JobInterrupted
	}
	if w := j.Walk; w != nil {
		v.Retry = &Progress{w.Looked, max(w.Looked, w.Of)}
	}
	if j.State == crawl.JobLimited {
		v.Limited = j.Limit
	}
	if r := c.jobs.runs[j.ID]; r != nil {
		v.RanMS, v.Limited = r.ran(now).Milliseconds(), cmp.Or(r.limited, v.Limited)
	}
	if d, b := c.shadows[j.ID], j.Otherwise; d != nil {
		of := *d
		v.Shadow = &of
	} else if b != nil && b.Strategy != v.Strategy {
		v.Shadow = &schedule.Difference{Otherwise: *b}
	}
	return v
}

// shownNodes are the nodes that are there, and those of which something was refused.
func (c *Coordinator) shownNodes() []shownNode {
	views := make([]NodeView, 0, len(c.fleet.nodes))
	for _, n := range c.fleet.nodes {
		views = append(views, NodeView{NodeInfo: n.info, State: n.state(), Held: len(n.held), Landmark: n.info.Echo != ""})
	}
	views = c.fleet.withRefused(views)
	out := make([]shownNode, len(views))
	for i := range views {
		out[i].NodeView = views[i]
		if n := c.fleet.nodes[views[i].Node]; n != nil {
			out[i].seen, out[i].left = n.Seen, n.Left
		}
	}
	slices.SortFunc(out, func(x, y shownNode) int { return cmp.Compare(x.Node, y.Node) })
	return out
}

// look waits until there is something on the board, and reads it.
func (b *board) look(ctx context.Context, fn func() error) error {
	select {
	case <-b.ready:
	case <-ctx.Done():
		return ctx.Err()
	}
	b.mu.RLock()
	defer b.mu.RUnlock()
	return fn()
}
