package coordinator

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/schedule"
)

// Believed is how near the leases of a job come to the best that could be done with its nodes, if all that its strategy expects were true.
type Believed struct {
	Held  float64 `json:"held"`  // useful Mbit/s that are expected of the leases that are open
	Bound float64 `json:"bound"` // useful Mbit/s that no assignment of these sites to these nodes exceeds
	Share float64 `json:"share"` // of the bound; 0: nothing could be done
	Sites int     `json:"sites"` // that were looked at
	Nodes int     `json:"nodes"`
}

// maxBelieved bounds the pairs that are looked at, for each of which the coordinator's own goroutine reads what is expected.
const maxBelieved = 5000

// Believed returns what a job's strategy believes of its leases. The sites are those that are asked now, then those that wait with the most
// in their queues.
func (c *Coordinator) Believed(ctx context.Context, job uint32) (v Believed, err error) {
	rows, _, err := c.FindTasks(ctx, TasksQuery{Job: job, Sort: "pending", Limit: maxBelieved})
	if err != nil {
		return v, err
	}
	var best, held func() (value, bound float64, err error)
	err = c.desk.ask(ctx, func(time.Time) error {
		j := c.f.Job(job)
		if j == nil {
			return fmt.Errorf("%w: %d", ErrNoJob, job)
		}
		s, has, err := c.believing(j, func(fn func(*frontier.Task)) {
			for i := range rows {
				if t := c.f.Task(rows[i].ID); t != nil && t.State == "" && t.Queued() > 0 {
					fn(t)
				}
			}
		})
		if err != nil || len(s.Nodes) == 0 {
			return err
		}
		v.Sites, v.Nodes = len(s.Tasks), len(s.Nodes)
		best, held = schedule.Believed(s, nil), schedule.Believed(s, has)
		return nil
	})
	if err != nil || v.Sites == 0 {
		return v, err
	}
	if _, v.Bound, err = best(); err != nil {
		return v, err
	}
	if v.Held, _, err = held(); v.Bound > 0 {
		v.Share = min(1, v.Held/v.Bound)
	}
	return v, err
}

// believing is a snapshot of the tasks of a job that are asked now, and of those that wait; has reports whether a pair has a lease. Places
// that other jobs have are not there.
func (c *Coordinator) believing(j *frontier.Job, waiting func(fn func(*frontier.Task))) (s *schedule.Snapshot, has func(task, node int) bool, err error) {
	read, err := c.lore.reader(orElse(j.Placing.Strategy, c.cfg.Strategy), &j.Placing)
	if err != nil {
		return nil, nil, err
	}
	now := c.clock.MS(c.sinks.heard)
	v := learn.View{Now: now, PerSite: j.Limits.PerSite, LeaseSeconds: j.Limits.LeaseTime.Seconds(), Book: read.book}
	others, mine := map[string]int{}, map[uint32]map[string]bool{}
	c.f.Leases(func(l *frontier.Lease) {
		if l.Job != j.ID {
			others[l.Node]++
		} else if l.Probe == "" {
			if mine[l.Task] == nil {
				mine[l.Task] = map[string]bool{}
			}
			mine[l.Task][l.Node] = true
		}
	})
	for id, n := range c.fleet.nodes {
		if j.Placing.Store != "" && j.Placing.Store != n.info.Store || n.drains() {
			continue
		}
		view := n.view(c.sinks.heard, id)
		view.Leases, view.Held = max(0, view.Leases-others[id]), 0
		v.Nodes = append(v.Nodes, view)
	}
	most := maxBelieved / max(1, len(v.Nodes))
	add := func(t *frontier.Task) {
		if len(v.Tasks) < most {
			v.Tasks = append(v.Tasks, c.waiting(j, t, c.f.Site(t.Site), now))
		}
	}
	for _, id := range slices.Sorted(maps.Keys(mine)) {
		add(c.f.Task(id))
	}
	if j.State == crawl.JobRunning {
		waiting(func(t *frontier.Task) {
			if mine[t.ID] == nil {
				add(t)
			}
		})
	}
	s = learn.Snapshot(v)
	return s, func(task, node int) bool { return mine[s.Tasks[task].ID][s.Nodes[node].ID] }, nil
}
