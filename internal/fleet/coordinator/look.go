package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/page/polite"
	"argosy/internal/plan/schedule"
)

// place is where a task stands among those that were found.
type place struct {
	id   uint32
	site string
	n    int64
}

// taskOrders are by what tasks can be sorted: the figure, of which the largest comes first.
var taskOrders = map[string]func(t *ledger.Task) int64{
	"":        func(*ledger.Task) int64 { return 0 },
	"found":   func(*ledger.Task) int64 { return 0 },
	"site":    func(*ledger.Task) int64 { return 0 },
	"pending": func(t *ledger.Task) int64 { return t.Pending },
	"fetched": func(t *ledger.Task) int64 { return t.Fetched },
	"failed":  func(t *ledger.Task) int64 { return t.Failed },
	"bytes":   func(t *ledger.Task) int64 { return t.Bytes },
}

// FindTasks is Tasks for a person: it also looks for sites, sorts, and counts what there is before Skip and Limit. The board is read
// twice, for a moment each time; what is sorted in between is a copy.
func (c *Coordinator) FindTasks(ctx context.Context, q TasksQuery) (rows []ledger.Task, found int, err error) {
	figure := taskOrders[q.Sort]
	if figure == nil {
		return nil, 0, fmt.Errorf("sort %q is not an order of tasks", q.Sort)
	}
	var all []place
	err = c.board.look(ctx, func() error {
		s := c.board.jobs[q.Job]
		if s == nil {
			return fmt.Errorf("%w: %d", ErrNoJob, q.Job)
		}
		for i := range s.rows {
			if t := &s.rows[i]; t.ID > q.After && (q.State == "" || t.State == q.State) && strings.Contains(t.Site, q.Find) && (!q.Searches || t.Search != nil) {
				all = append(all, place{t.ID, t.Site, figure(t)})
			}
		}
		return nil
	})
	if found = len(all); err != nil {
		return nil, 0, err
	}
	if q.Sort != "" && q.Sort != "found" { // they stand in that order already
		slices.SortFunc(all, func(a, b place) int {
			return cmp.Or(cmp.Compare(b.n, a.n), strings.Compare(a.site, b.site), cmp.Compare(a.id, b.id))
		})
	}
	all = all[min(q.Skip, found):]
	if q.Limit > 0 {
		all = all[:min(q.Limit, len(all))]
	}
	rows = make([]ledger.Task, 0, len(all))
	err = c.board.look(ctx, func() error {
		s := c.board.jobs[q.Job]
		for i := range all {
			if at, ok := s.find(all[i].id); ok {
				rows = append(rows, s.rows[at])
			}
		}
		return nil
	})
	return rows, found, err
}

// TaskView is a task with what it waits for.
type TaskView struct {
	ledger.Task
	Avoid   []string     `json:"avoid,omitempty"`   // nodes it was recalled from, the last first
	Last    string       `json:"last,omitempty"`    // node that had it last
	Trouble string       `json:"trouble,omitempty"` // why the site could not be asked the last time
	Robots  string       `json:"robots"`            // what is known of its robots.txt
	DelayMS int64        `json:"delay_ms"`          // between two requests to it
	WaitMS  int64        `json:"wait_ms"`           // until it may be asked again
	Addrs   []string     `json:"addresses,omitempty"`
	Waits   string       `json:"waits,omitempty"` // why nobody fetches what is queued: person, job, limit, room, site, node, nothing or held
	Leases  []LeaseView  `json:"leases"`
	Queue   []QueuedView `json:"queue"` // the URLs that come next
}

// LeaseView is a lease as people see it.
type LeaseView struct {
	ID      uint64 `json:"id"`
	Job     uint32 `json:"job"`
	Task    uint32 `json:"task"`
	Site    string `json:"site"`
	Node    string `json:"node"`
	Attempt uint32 `json:"attempt"`
	Start   int64  `json:"start"` // Unix ms
	Given   int64  `json:"given"` // URLs
	Held    int64  `json:"held"`  // of them, not reported yet
	Quota   int64  `json:"quota"`
	Budget  int64  `json:"budget_ms"`
	Probe   string `json:"probe,omitempty"`
}

// QueuedView is a URL that waits.
type QueuedView struct {
	URL   string  `json:"url"`
	Depth int     `json:"depth"`
	Tries int     `json:"tries,omitempty"` // that failed
	Score float32 `json:"score,omitempty"`
}

// Reasons for which nobody fetches what a task has queued.
const (
	waitsPerson  = "person"  // it is manual
	waitsJob     = "job"     // the job does not run
	waitsLimit   = "limit"   // the job has reached a limit
	waitsRoom    = "room"    // the coordinator's disk is full
	waitsSite    = "site"    // the site must not be asked yet
	waitsNode    = "node"    // the strategy has given it to nobody yet
	waitsNothing = "nothing" // nothing is queued
	waitsHeld    = "held"    // its leases have as much as they take at once
)

// maxNext bounds how many of the URLs that come next are shown.
const maxNext = 100

var robotsWords = map[crawl.RobotsState]string{crawl.RobotsRules: "rules", crawl.RobotsAllowAll: "all allowed", crawl.RobotsUnavailable: "unavailable"}

// Task returns a task, its leases, and the URLs that come next.
func (c *Coordinator) Task(ctx context.Context, id uint32) (v TaskView, err error) {
	err = c.ask(ctx, func() error {
		t := c.f.Task(id)
		if t == nil {
			return fmt.Errorf("%w: %d", ErrNoTask, id)
		}
		j, site, now := c.f.Job(t.Job), c.f.Site(t.Site), c.clock.MS(time.Now())
		pace, ready := j.PaceAt(t.Site), polite.ReadyAt(j.PaceAt(t.Site), site)
		if c.f.ByAddress(t) {
			_, ready = c.shut(j, t, now)
		}
		v = TaskView{Task: Row(c.f, t), Avoid: t.Avoid, Last: t.Last, Trouble: site.Trouble, Robots: robotsWords[site.RobotsState], Addrs: site.Addrs,
			DelayMS: polite.SiteDelay(pace, site).Milliseconds(), WaitMS: max(0, ready-now), Leases: []LeaseView{}, Queue: []QueuedView{}}
		if v.Robots == "" {
			v.Robots = "unknown"
		}
		c.f.Leases(func(l *frontier.Lease) {
			if l.Task == id {
				v.Leases = append(v.Leases, leaseView(l))
			}
		})
		v.Waits = c.waits(t, j, v.WaitMS)
		next, err := c.f.Next(id, maxNext)
		for i := range next {
			v.Queue = append(v.Queue, QueuedView{next[i].URL, int(next[i].Depth), int(next[i].Tries), next[i].Score})
		}
		if err == nil {
			v.Traps, err = c.f.Traps(id)
		}
		return err
	})
	return v, err
}

func leaseView(l *frontier.Lease) LeaseView {
	return LeaseView{ID: l.ID, Job: l.Job, Task: l.Task, Site: l.Site, Node: l.Node, Attempt: l.Attempt, Start: l.StartMS, Given: l.Given, Held: l.Held, Quota: l.Quota, Budget: l.BudgetMS, Probe: l.Probe}
}

// waits says why nobody fetches what is queued.
func (c *Coordinator) waits(t *frontier.Task, j *frontier.Job, ms int64) string {
	r := c.jobs.runs[j.ID]
	switch {
	case t.State != "":
		return waitsPerson
	case t.Queued() <= 0:
		return waitsNothing
	case t.Leases() >= max(1, j.Limits.PerSite):
		return waitsHeld
	case j.State != crawl.JobRunning || r == nil:
		return waitsJob
	case r.limited != "":
		return waitsLimit
	case c.disk.full != "":
		return waitsRoom
	case ms > 0:
		return waitsSite
	}
	return waitsNode
}

// Leases returns the leases that are open, the oldest first.
func (c *Coordinator) Leases(ctx context.Context) (out []LeaseView, err error) {
	out = []LeaseView{}
	err = c.ask(ctx, func() error {
		c.f.Leases(func(l *frontier.Lease) { out = append(out, leaseView(l)) })
		return nil
	})
	slices.SortFunc(out, func(a, b LeaseView) int { return cmp.Compare(a.ID, b.ID) })
	return out, err
}

// maxDecided bounds of how many tasks the last decision is remembered.
const maxDecided = 2000

// decided remembers why each task went where it went, of the tasks that were decided about last.
type decided struct {
	last  map[uint32]schedule.Decision
	order []uint32 // of tasks, the oldest first
}

// take remembers decisions.
func (d *decided) take(ds []schedule.Decision) {
	if d.last == nil {
		d.last = map[uint32]schedule.Decision{}
	}
	for i := range ds {
		id := ds[i].Task
		if _, ok := d.last[id]; !ok {
			if len(d.order) == maxDecided {
				delete(d.last, d.order[0])
				d.order = d.order[1:]
			}
			d.order = append(d.order, id)
		}
		d.last[id] = ds[i]
	}
}

// Explained returns the last decision about a task; false if none is remembered.
func (c *Coordinator) Explained(ctx context.Context, task uint32) (d schedule.Decision, ok bool, err error) {
	err = c.ask(ctx, func() error {
		if c.f.Task(task) == nil {
			return fmt.Errorf("%w: %d", ErrNoTask, task)
		}
		d, ok = c.decided.last[task]
		return nil
	})
	return d, ok, err
}

// Fetched calls fn for the URLs of a job that were fetched, without keeping the coordinator from its work.
func (c *Coordinator) Fetched(job uint32, fn func(frontier.URL) error) error {
	return c.f.Fetched(job, fn)
}

// Crawlers returns whose tasks are whose, where several crawlers share what a job finds.
func (c *Coordinator) Crawlers(ctx context.Context, job uint32) (of map[uint32]uint32, err error) {
	err = c.ask(ctx, func() error {
		of = c.f.Crawlers(job)
		return nil
	})
	return of, err
}

// Account calls fn with a job as the frontier has it now. fn must not keep it.
func (c *Coordinator) Account(ctx context.Context, job uint32, fn func(*frontier.Job)) error {
	return c.ask(ctx, func() error {
		if j := c.f.Job(job); j != nil {
			fn(j)
			return nil
		}
		return fmt.Errorf("%w: %d", ErrNoJob, job)
	})
}
