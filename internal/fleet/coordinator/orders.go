package coordinator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/page/engine"
	"argosy/internal/plan/schedule"
)

// Errors of orders.
var (
	ErrNoTask = errors.New("no such task")
	ErrIdle   = errors.New("stays as it is")
	ErrOver   = errors.New("the coordinator has ended")
	ErrNoJob  = errors.New("no such job")
	ErrNoNode = errors.New("no such node")
	ErrState  = errors.New("the job's state does not allow it")
	ErrWaits  = errors.New("not taken now")

	ErrUnnamed = errors.New("no task is named") // to an order that is never about all
	ErrDropped = errors.New("it was dropped, for good")
)

// Settled returns when all that orders have had written to the log is applied and in the ledger.
func (c *Coordinator) Settled(ctx context.Context) error { return c.settled(ctx) }

// Begin starts the run of a job: it submits it if it is new; otherwise check says whether it is the same job, and
// its limits are brought up to date.
func (c *Coordinator) Begin(ctx context.Context, job *crawl.Job, check func(have *crawl.Job) error) error {
	return c.desk.do(ctx, func(now time.Time) error {
		c.stage.begun = true
		have := c.f.Job(job.ID)
		if have == nil {
			return c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntrySubmit, Job: job})
		}
		if err := check(&have.Job); err != nil {
			return err
		}
		if have.State != crawl.JobRunning {
			if err := c.setState(ctx, now, have, crawl.JobRunning); err != nil {
				return err
			}
		}
		next := crawl.Job{ID: job.ID, Identity: have.Identity, Limits: job.Limits, Placing: job.Placing, Sites: job.Sites, Name: have.Name}
		next.Identity.Market = job.Identity.Market // what of it may change, since it is the same job
		if have.Limits == job.Limits && reflect.DeepEqual(have.Placing, job.Placing) && reflect.DeepEqual(have.Sites, job.Sites) &&
			reflect.DeepEqual(have.Identity.Market, job.Identity.Market) {
			return nil
		}
		return c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryLimits, Job: &next})
	})
}

// Submit takes in a new job and returns its number once it is stored.
func (c *Coordinator) Submit(ctx context.Context, job crawl.Job) (id uint32, err error) {
	err = c.desk.do(ctx, func(time.Time) error {
		c.f.Jobs(func(j *frontier.Job) { id = max(id, j.ID) })
		id++
		job.ID = id
		st, err := c.cfg.Strategies(orElse(job.Placing.Strategy, c.cfg.Strategy))
		if err == nil {
			err = schedule.CheckPlaces(st, c.cfg.Places != nil || len(job.Placing.Places) > 0)
		}
		if err == nil {
			err = c.knows(st, &job)
		}
		if err != nil {
			return err
		}
		return c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntrySubmit, Job: &job})
	})
	return id, errors.Join(err, c.settled(ctx))
}

// knows refuses a job whose strategy or landmarks name nodes or labels of which the nodes that are here have none. Others may come.
func (c *Coordinator) knows(st schedule.Strategy, job *crawl.Job) error {
	var nodes []schedule.Node
	for _, id := range slices.Sorted(maps.Keys(c.fleet.nodes)) {
		n := c.fleet.nodes[id]
		nodes = append(nodes, schedule.Node{ID: id, Labels: n.info.Labels, Prices: n.rates()})
	}
	return schedule.CheckNames(st, job.Placing.Landmarks, nodes, false)
}

// Sow gives the next piece of a job's list of seeds, of which c.From are before it, and returns how many are in then. A piece that
// was given before changes nothing.
func (c *Coordinator) Sow(ctx context.Context, chunk crawl.SeedChunk) (sown int64, err error) {
	err = c.desk.do(ctx, func(time.Time) error {
		j := c.f.Job(chunk.Job)
		end := chunk.From + int64(len(chunk.URLs))
		switch {
		case j == nil:
			return fmt.Errorf("%w: %d", ErrNoJob, chunk.Job)
		case j.State == crawl.JobCancelled:
			return fmt.Errorf("%w: job %d is %s", ErrState, chunk.Job, j.State)
		case j.Identity.List == nil || end > j.Identity.List.Count:
			return fmt.Errorf("%w: job %d has %d seeds, which it was submitted with", ErrState, chunk.Job, j.Identity.SeedCount())
		case end <= j.Sown:
			return nil
		case chunk.From != j.Sown:
			return fmt.Errorf("%w: %d seeds of job %d are in: go on with the next one", ErrState, j.Sown, chunk.Job)
		}
		return c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntrySeeds, Seeds: &chunk})
	})
	if err != nil {
		return 0, err
	}
	if err = c.settled(ctx); err == nil {
		err = c.desk.do(ctx, func(time.Time) error {
			sown = c.f.Job(chunk.Job).Sown
			return nil
		})
	}
	return sown, err
}

func orElse(a, b string) string {
	if a == "" {
		return b
	}
	return a
}

// settled returns when everything that was ordered before is applied and synced, and others see it. An order may have ended the run: then
// all is.
func (c *Coordinator) settled(ctx context.Context) error {
	err := c.desk.do(ctx, func(now time.Time) error { // orders are taken only once everything is applied
		defer c.show(now, true)
		return c.sinks.sync(ctx, now)
	})
	if errors.Is(err, ErrOver) && c.desk.overBy == nil {
		return nil
	}
	return err
}

// SetState pauses, resumes or cancels a job.
func (c *Coordinator) SetState(ctx context.Context, id uint32, state string) error {
	err := c.desk.do(ctx, func(now time.Time) error {
		j := c.f.Job(id)
		switch {
		case j == nil:
			return fmt.Errorf("%w: %d", ErrNoJob, id)
		case j.State == state:
			return nil
		case j.State == crawl.JobCancelled, state == crawl.JobPaused && j.State != crawl.JobRunning:
			return fmt.Errorf("%w: job %d is %s", ErrState, id, j.State)
		}
		return c.setState(ctx, now, j, state)
	})
	return errors.Join(err, c.settled(ctx))
}

func (c *Coordinator) setState(ctx context.Context, now time.Time, j *frontier.Job, state string) error {
	e := &crawl.Entry{Kind: crawl.EntryState, Ran: msec(j.RanMS)}
	if r := c.jobs.runs[j.ID]; r != nil {
		e = r.entry(now, e.Kind)
		r.paused = false
		if state == crawl.JobRunning {
			r.limited, r.ending = "", false
		}
	}
	e.State = &crawl.JobState{Job: j.ID, State: state}
	return c.sinks.append(ctx, e)
}

// SetLimits gives a job new limits, on all sites or on some, and a new placing: what a person changes before a retry, say.
func (c *Coordinator) SetLimits(ctx context.Context, id uint32, change func(*crawl.Job) error) error {
	err := c.desk.do(ctx, func(time.Time) error {
		j := c.f.Job(id)
		if j == nil {
			return fmt.Errorf("%w: %d", ErrNoJob, id)
		}
		next := crawl.Job{ID: id, Identity: j.Identity, Limits: j.Limits, Placing: j.Placing, Sites: j.Sites, Name: j.Name}
		if err := change(&next); err != nil {
			return err
		}
		if !crawl.SameFilters(j.Sites, next.Sites) {
			return fmt.Errorf("%w: include and exclude of a site cannot change", ErrState)
		}
		if f := next.Check(); f != nil {
			return f
		}
		st, err := c.cfg.Strategies(orElse(next.Placing.Strategy, c.cfg.Strategy))
		if err == nil && !reflect.DeepEqual(j.Placing, next.Placing) {
			err = c.knows(st, &next)
		}
		if err != nil {
			return err
		}
		delete(c.jobs.runs, id) // it begins anew, with them
		return c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryLimits, Job: &next})
	})
	return errors.Join(err, c.settled(ctx))
}

// Release appends what a person does to tasks (r; its Tasks by their numbers), and returns when it has been applied and synced. The names are those of
// sites; a retry that names neither is of all tasks. It returns which tasks these are. A job that had ended runs again after a retry,
// if the coordinator runs jobs.
func (c *Coordinator) Release(ctx context.Context, kind crawl.EntryKind, sites []string, r crawl.Release) (of Ordered, err error) {
	job := r.Job
	err = c.desk.do(ctx, func(now time.Time) (err error) {
		j := c.f.Job(job)
		if j == nil {
			return fmt.Errorf("%w: %d", ErrNoJob, job)
		}
		if j.State == crawl.JobCancelled {
			return fmt.Errorf("%w: job %d is %s", ErrState, job, j.State)
		}
		pieces, named, err := c.ordered(kind, sites, r)
		if err != nil {
			return err
		}
		of = named
		for _, piece := range pieces {
			if err := c.sinks.append(ctx, &crawl.Entry{Kind: kind, Release: &piece}); err != nil {
				return err
			}
		}
		if kind == crawl.EntryRetry && c.cfg.Serve && ended(j) {
			return c.setState(ctx, now, j, crawl.JobRunning)
		}
		return nil
	})
	if err == nil && !c.cfg.Serve {
		err = c.walked(ctx, job)
	}
	if err != nil {
		return Ordered{}, err
	}
	return of, c.desk.do(ctx, func(now time.Time) error { return c.released(ctx, now, kind, job) })
}

// released brings to the ledger what a person has done to tasks of a job.
func (c *Coordinator) released(ctx context.Context, now time.Time, kind crawl.EntryKind, job uint32) error {
	defer c.show(now, true)
	if err := c.sinks.sync(ctx, now); err != nil {
		return err
	}
	j := c.f.Job(job)
	if ended(j) && c.goesOn(kind, j) {
		if err := c.setState(ctx, now, j, crawl.JobRunning); err != nil {
			return err
		}
	}
	if j.State == crawl.JobRunning {
		return nil // they are written when it ends
	}
	return c.sinks.putRows(ctx, job)
}

// goesOn reports whether a job that has ended is to go on after an order: a retry has left something to do, or a drop has left pages that a search
// waits for to the task of that one. A job that has reached a limit had some before, and begins again with a retry alone.
func (c *Coordinator) goesOn(kind crawl.EntryKind, j *frontier.Job) (yes bool) {
	switch {
	case kind == crawl.EntryRetry:
		return j.Totals.Pending() > 0
	case j.State == crawl.JobLimited:
		return false
	}
	c.f.Tasks(func(t *frontier.Task) {
		yes = yes || t.Job == j.ID && t.Search > 0 && t.Of == nil && t.Status() == crawl.TaskWaiting
	})
	return yes
}

// idle says why an order would do nothing to a task that it names; nil: it does something.
func idle(kind crawl.EntryKind, t *frontier.Task) error {
	why := ""
	switch {
	case t.State == crawl.TaskDropped:
		return gone(t)
	case kind == crawl.EntryDrop && t.Status() == crawl.TaskDone:
		why = "and nothing of it is left to be given up"
	case t.Of != nil && t.Of.Lost > 0 && !t.Of.Gone: // what it has named and lost is asked for again
		return nil
	case kind == crawl.EntryRetry && t.State != crawl.TaskManual && t.Failed+t.Reasons[string(crawl.ReasonRobotsDown)] == 0:
		why = "and waits for nobody"
	default:
		return nil
	}
	return fmt.Errorf("task %d %w: it is %s, %s", t.ID, ErrIdle, t.Status(), why)
}

// named returns the numbers of a job's tasks that an order is about, each once and in order, and what they are: those given, and those of
// the sites named. None means all to a retry; a drop names them. Of several that are given those stay as they are to which it would do nothing.
func (c *Coordinator) named(kind crawl.EntryKind, job uint32, sites []string, given []uint32) (ids []uint32, of Ordered, err error) {
	if len(sites)+len(given) == 0 {
		if kind == crawl.EntryDrop {
			return nil, of, fmt.Errorf("%w: a drop names sites or tasks; cancel ends a whole job", ErrUnnamed)
		}
		c.f.Tasks(func(t *frontier.Task) {
			if t.Job == job && t.State != crawl.TaskDropped {
				of.Tasks++
			}
		})
		return nil, of, nil
	}
	var stays error // the first
	for _, id := range given {
		t := c.f.Task(id)
		if t == nil || t.Job != job {
			return nil, of, fmt.Errorf("%w of job %d: %d", ErrNoTask, job, id)
		}
		if err := idle(kind, t); err == nil {
			ids = append(ids, id)
		} else {
			stays = cmp.Or(stays, err)
			of.Left = append(of.Left, err.Error())
		}
	}
	if ids, err = c.ofSites(ids, job, sites); err != nil {
		return nil, of, err
	}
	if len(ids) == 0 {
		return nil, of, stays
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	of.Tasks = len(ids)
	return ids, of, nil
}

// ofSites adds the tasks of a job's sites, which must be there and not be dropped.
func (c *Coordinator) ofSites(ids []uint32, job uint32, sites []string) ([]uint32, error) {
	missing := make(map[string]bool, len(sites))
	for _, site := range sites {
		missing[site] = true
	}
	var dropped error
	c.f.Tasks(func(t *frontier.Task) {
		if _, ok := missing[t.Site]; ok && t.Job == job {
			missing[t.Site] = false
			ids = append(ids, t.ID)
			if t.State == crawl.TaskDropped {
				dropped = gone(t)
			}
		}
	})
	for _, site := range sites {
		if missing[site] {
			return nil, fmt.Errorf("%w: %q is none of job %d's sites", ErrNoTask, site, job)
		}
	}
	return ids, dropped
}

// gone says that a task was dropped.
func gone(t *frontier.Task) error {
	return fmt.Errorf("%s, task %d: %w; another job may crawl it", t.Site, t.ID, ErrDropped)
}

// walked returns when a job's retry has come to its end.
func (c *Coordinator) walked(ctx context.Context, job uint32) error {
	for under := true; under; {
		err := c.desk.do(ctx, func(time.Time) error {
			if under = c.f.Job(job).Walk != nil; under {
				return c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryWalk, Release: &crawl.Release{Job: job}})
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// ErrSearch says that a task is none that a person can change so.
var ErrSearch = errors.New("not a search that can be changed now")

// ErrEdit says that a search cannot be changed so.
var ErrEdit = errors.New("a search cannot be changed so")

// Edit changes a search that is not over, and whose result pages no node is reading, and lets it go on. Of e.Search its words, its site and the
// number of its engine count, unless there is an engine; Edit returns the address that is asked.
func (c *Coordinator) Edit(ctx context.Context, e crawl.Edit) (address string, err error) {
	err = c.desk.do(ctx, func(now time.Time) error {
		j, t := c.f.Job(e.Job), c.f.Task(e.Task)
		switch {
		case j == nil:
			return fmt.Errorf("%w: %d", ErrNoJob, e.Job)
		case t == nil || t.Job != e.Job:
			return fmt.Errorf("%w of job %d: %d", ErrNoTask, e.Job, e.Task)
		case t.Fixed() != "":
			return fmt.Errorf("%w: task %d %s", ErrSearch, e.Task, t.Fixed())
		case j.State == crawl.JobCancelled:
			return fmt.Errorf("%w: job %d is %s", ErrState, e.Job, j.State)
		}
		with := e.Engine
		if with == nil {
			if e.Search.Engine < 0 || e.Search.Engine >= len(j.Identity.Collect.Engines)+len(j.Engines) {
				return fmt.Errorf("%w: the job has no engine %d", ErrEdit, e.Search.Engine)
			}
			with = j.Engine(e.Search.Engine)
		}
		ready, err := engine.Decode(with.Def)
		if err == nil {
			address, err = ready.Address(engine.Search{Words: e.Search.Words, Site: e.Search.Site}, 0)
		}
		u, wrong := crawl.Parse(address)
		if err = errors.Join(err, wrong); err != nil {
			return fmt.Errorf("%w: %w", ErrEdit, err)
		}
		address = u.String()
		e.Search.URL, e.Search.Product, e.Search.Task = address, t.Of.Product, t.Of.Search.Task
		if err := c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryEdit, Edit: &e}); err != nil {
			return err
		}
		if c.cfg.Serve && ended(j) {
			return c.setState(ctx, now, j, crawl.JobRunning)
		}
		return nil
	})
	return address, errors.Join(err, c.settled(ctx))
}

// ended reports whether a job has come to an end by itself, from where a retry lets it go on.
func ended(j *frontier.Job) bool {
	return j.State == crawl.JobDone || j.State == crawl.JobManual || j.State == crawl.JobLimited
}

// View calls fn with the frontier in the coordinator's own goroutine, once everything in the log is applied. fn must
// not keep it.
func (c *Coordinator) View(ctx context.Context, fn func(*frontier.Frontier) error) error {
	return c.desk.do(ctx, func(time.Time) error { return fn(c.f) })
}

// Drain stops giving out work and asks every lease to end. Run returns when the last one has.
func (c *Coordinator) Drain(ctx context.Context) error {
	return c.desk.do(ctx, func(time.Time) error {
		c.stage.drained = true
		c.drainLeases(ctx, 0)
		return nil
	})
}

// DrainNode asks a node to end its leases and take no more, or to take leases again.
func (c *Coordinator) DrainNode(ctx context.Context, name string, again bool) error {
	return c.desk.do(ctx, func(now time.Time) error {
		life := c.fleet.orders[name].incarnation // of a node that is gone and may come back, with an order that stands
		if n := c.fleet.nodes[name]; n != nil {
			life, n.leaving = n.info.Incarnation, !again
		}
		if life == "" {
			return fmt.Errorf("%w: %s", ErrNoNode, name)
		}
		c.fleet.orders[name] = order{life, !again, now}
		c.post.order(ctx, name, !again)
		c.show(now, true)
		return nil
	})
}

// order is what a person wants of a life of a node: that it leaves, or takes leases again.
type order struct {
	incarnation string
	leave       bool
	sent        time.Time
}

// remindAfter is how long a node has to say that it follows an order.
const remindAfter = 2 * time.Second

// order tells a node to leave, or to take leases again.
func (p *post) order(ctx context.Context, node string, leave bool) {
	kind := crawl.DispatchReturn
	if leave {
		kind = crawl.DispatchLeave
	}
	p.send(ctx, node, &crawl.Dispatch{Kind: kind})
}

// remind reports whether an order to a node is repeated whose registration says that it does not follow it, for the message may
// be lost, and whether that order is to leave.
func (f *fleet) remind(now time.Time, info *crawl.NodeInfo) (leave, again bool) {
	o, ok := f.orders[info.Node]
	switch {
	case !ok:
	case o.incarnation != info.Incarnation, !o.leave && !info.Draining:
		delete(f.orders, info.Node)
	case o.leave != info.Draining && now.Sub(o.sent) > remindAfter:
		o.sent = now
		f.orders[info.Node] = o
		return o.leave, true
	}
	return false, false
}
