package coordinator

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/schedule"
)

const (
	maxDecided = frontier.KeptDecisions // decisions that are remembered: some 8 KB each where there are many candidates
	maxPlanned = 500                    // plans
)

// decided remembers what was decided last: why each task went where it went or waits, and what each cycle came to.
type decided struct {
	all   []*schedule.Decision            // as they came; one that a task waits may be newer than its place
	of    map[uint32][]*schedule.Decision // by task, the oldest first
	plans []PlanView                      // the oldest first
}

// take remembers a decision. Of a task that waits for the same reason again and again there is one, the last.
func (d *decided) take(next *schedule.Decision) {
	if d.of == nil {
		d.of = map[uint32][]*schedule.Decision{}
	}
	if was := d.last(next.Task); was != nil && next.Node == "" && was.Node == "" && was.Waits == next.Waits {
		*was = *next
		return
	}
	d.all, d.of[next.Task] = append(d.all, next), append(d.of[next.Task], next)
	if len(d.all) <= maxDecided {
		return
	}
	first := d.all[0].Task
	if d.of[first] = d.of[first][1:]; len(d.of[first]) == 0 {
		delete(d.of, first)
	}
	d.all = d.all[1:]
}

// byTask are the decisions of a plan, by task.
type byTask map[uint32]*schedule.Decision

func decidedOf(plan *schedule.Plan) byTask {
	of := make(byTask, len(plan.Decisions))
	for i := range plan.Decisions {
		of[plan.Decisions[i].Task] = &plan.Decisions[i]
	}
	return of
}

// of is what the log keeps of why a lease's node got it, for whoever leads next; empty if the plan does not say.
func (b byTask) of(l *crawl.Lease) ([]byte, error) {
	d := b[l.Task]
	if d == nil {
		return nil, nil
	}
	kept := *d
	kept.Job, kept.Lease, kept.Attempt = l.Job, l.ID, l.Attempt
	return kept.Pack()
}

// remembers takes in what earlier coordinators have decided of the last leases, as the view has it.
func (c *Coordinator) remembers() error {
	if !c.cfg.Remember || len(c.decided.all) > 0 {
		return nil
	}
	var all []*schedule.Decision
	err := c.f.Decided(func(why []byte) {
		if d, err := schedule.Unpack(why); err == nil { // a later version may keep more of it
			all = append(all, d)
		}
	})
	slices.SortFunc(all, func(a, b *schedule.Decision) int {
		return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(a.Lease, b.Lease))
	})
	for _, d := range all {
		d.Known = schedule.Knows(c.lore.learned.Record(), d.Site)
		c.decided.take(d)
	}
	return err
}

// last returns the last decision about a task; nil: none is remembered.
func (d *decided) last(task uint32) *schedule.Decision {
	if of := d.of[task]; len(of) > 0 {
		return of[len(of)-1]
	}
	return nil
}

// PlanView is what one cycle of a job came to.
type PlanView struct {
	At       int64              `json:"at"` // Unix ms
	Job      uint32             `json:"job"`
	Strategy string             `json:"strategy"`
	Tasks    int                `json:"tasks"` // that were looked at
	Nodes    int                `json:"nodes"` // that were there
	Leases   int                `json:"leases"`
	Probes   int                `json:"probes,omitempty"`
	Waiting  map[crawl.Kind]int `json:"waiting,omitempty"`  // tasks that were given to nobody, by reason
	TookUS   int64              `json:"took_us"`            // to decide
	Differs  int                `json:"differs,omitempty"`  // tasks of which the shadow would have done something else
	Measured *schedule.Measured `json:"measured,omitempty"` // by then
}

// planned remembers a plan, unless it is one more that gives nothing to anybody for the reasons of the one before.
func (d *decided) planned(v PlanView) {
	if v.Leases+v.Probes == 0 {
		for i := len(d.plans) - 1; i >= 0; i-- {
			if was := &d.plans[i]; was.Job == v.Job {
				if was.Leases+was.Probes == 0 && maps.Equal(was.Waiting, v.Waiting) {
					return
				}
				break
			}
		}
	}
	if len(d.plans) == maxPlanned {
		d.plans = d.plans[1:]
	}
	d.plans = append(d.plans, v)
}

// planned hands on what a cycle has decided, with what was measured by then. given are the leases that came of it, by task.
func (c *Coordinator) planned(r *run, v PlanView, s *schedule.Snapshot, plan schedule.Plan, given map[uint32]*crawl.Lease, differs map[uint32]string) {
	m := c.Measured()
	m.Landmarks, m.Chosen = r.read.marks, r.read.how
	ds := append(plan.Decisions, r.untold(s, &plan)...)
	for i := range ds {
		d := &ds[i]
		d.Job, d.Measured = v.Job, &m
		if node, ok := differs[d.Task]; ok {
			d.Shadow = &schedule.Shadowed{Strategy: r.shadow.diff.Strategy, Node: node}
		}
		if l := given[d.Task]; l != nil {
			d.Lease, d.Attempt = l.ID, l.Attempt
		}
	}
	v.Measured, v.Leases, v.Waiting = &m, len(given), map[crawl.Kind]int{}
	for _, list := range [][]schedule.Waiting{plan.Waiting, plan.Refused} {
		for _, w := range list {
			v.Waiting[w.Verdict.Reason]++
		}
	}
	c.remember(v, ds)
}

// remember keeps a plan and its decisions, and hands them to whoever wants them.
func (c *Coordinator) remember(v PlanView, ds []schedule.Decision) {
	if c.cfg.Remember {
		for _, d := range ds { // each is a copy of its own: one that is kept long does not keep all others of its plan
			c.decided.take(&d)
		}
		c.decided.planned(v)
	}
	if c.cfg.Explain != nil {
		c.cfg.Explain(ds)
	}
}

// untold are the assignments of a plan of which no candidates were kept: of tasks that go to one node only, and of cycles over very many
// pairs.
func (r *run) untold(s *schedule.Snapshot, plan *schedule.Plan) (out []schedule.Decision) {
	has := make(map[uint32]bool, len(plan.Decisions))
	for i := range plan.Decisions {
		has[plan.Decisions[i].Task] = true
	}
	for _, a := range plan.Assignments {
		t := &s.Tasks[a.Task]
		if has[t.ID] {
			continue
		}
		why := schedule.WhyMany
		if t.Bound == s.Nodes[a.Node].ID {
			why = schedule.WhyBound
		}
		out = append(out, schedule.Decision{At: s.Now, Task: t.ID, Site: t.Site, Strategy: r.strategy.Name(), Node: s.Nodes[a.Node].ID, Why: why})
	}
	return out
}

// probed hands on which probes a cycle has decided.
func (c *Coordinator) probed(r *run, s *schedule.Snapshot, leases []crawl.Lease, watch stopwatch) {
	if !c.cfg.Remember && c.cfg.Explain == nil {
		return
	}
	m := c.Measured()
	m.Landmarks, m.Chosen = r.read.marks, r.read.how
	ds := make([]schedule.Decision, len(leases))
	for i := range leases {
		l := &leases[i]
		ds[i] = schedule.Decision{
			At: s.Now, Job: l.Job, Task: l.Task, Site: l.Site, Strategy: r.strategy.Name(), Node: l.Node, Lease: l.ID, Attempt: l.Attempt, Measured: &m,
			Probe: schedule.ProbeBandwidth, Why: r.wants.Crawl.Why(),
		}
		if l.Ping {
			ds[i].Probe, ds[i].Why = schedule.ProbeDelay, r.wants.Delay.Why()
		}
	}
	c.remember(PlanView{
		At: s.Now, Job: leases[0].Job, Strategy: r.strategy.Name(), Tasks: len(s.Tasks), Nodes: len(s.Nodes), Probes: len(leases), TookUS: watch.took().Microseconds(), Measured: &m,
	}, ds)
}

// DecisionsQuery says which decisions, or plans, are asked for.
type DecisionsQuery struct {
	Job   uint32 // 0: of all
	Task  uint32 // 0: about all
	Node  string // empty: for any
	Find  string // stands in the site's name, in any case
	Only  string // leases, probes or waits: only decisions of that kind; empty: all
	Skip  int    // not the first so many
	Limit int    // at most so many; 0: all
}

func (q *DecisionsQuery) takes(d *schedule.Decision) bool {
	kind := "leases"
	if d.Node == "" {
		kind = "waits"
	} else if d.Probe != "" {
		kind = "probes"
	}
	return (q.Job == 0 || d.Job == q.Job) && (q.Task == 0 || d.Task == q.Task) && (q.Node == "" || d.Node == q.Node) &&
		strings.Contains(d.Site, strings.ToLower(q.Find)) && (q.Only == "" || q.Only == kind)
}

// Decisions returns the decisions that are remembered, the last first, and how many there are before Skip and Limit.
func (c *Coordinator) Decisions(ctx context.Context, q DecisionsQuery) (out []schedule.Decision, found int, err error) {
	out = []schedule.Decision{}
	err = c.desk.ask(ctx, func(time.Time) error {
		all := c.decided.all
		if q.Task > 0 {
			if c.f.Task(q.Task) == nil {
				return fmt.Errorf("%w: %d", ErrNoTask, q.Task)
			}
			if all = c.decided.of[q.Task]; len(all) == 0 {
				all = c.earlier(c.f.Task(q.Task))
			}
		}
		for _, d := range slices.Backward(all) {
			if q.takes(d) {
				out = append(out, *d)
			}
		}
		slices.SortStableFunc(out, func(a, b schedule.Decision) int { return cmp.Compare(b.At, a.At) })
		found = len(out)
		out = out[min(q.Skip, found):]
		if q.Limit > 0 {
			out = out[:min(q.Limit, len(out))]
		}
		return nil
	})
	return out, found, err
}

// earlier are decisions about a task of which none is remembered: that its leases are where they are. What nodes have measured of its site is what is
// known by now.
func (c *Coordinator) earlier(t *frontier.Task) (out []*schedule.Decision) {
	known := schedule.Knows(c.lore.learned.Record(), t.Site)
	j := c.f.Job(t.Job)
	c.f.LeasesOf(t, func(l *frontier.Lease) {
		d := &schedule.Decision{
			At: l.StartMS, Job: t.Job, Task: t.ID, Site: t.Site, Strategy: orElse(j.Placing.Strategy, c.cfg.Strategy), Node: l.Node, Lease: l.ID, Attempt: l.Attempt, Why: schedule.WhyEarlier, Known: known,
		}
		switch {
		case l.Ping:
			d.Probe = schedule.ProbeDelay
		case l.Probe != "":
			d.Probe = schedule.ProbeBandwidth
		}
		out = append(out, d)
	})
	return out
}

// Plans returns what the cycles of a job (0: of all) came to that are remembered, the last first, and how many there are before skip and
// limit (0: all).
func (c *Coordinator) Plans(ctx context.Context, job uint32, skip, limit int) (out []PlanView, found int, err error) {
	out = []PlanView{}
	err = c.desk.ask(ctx, func(time.Time) error {
		for i := range slices.Backward(c.decided.plans) {
			if v := &c.decided.plans[i]; job == 0 || v.Job == job {
				if found++; found > skip && (limit == 0 || len(out) < limit) {
					out = append(out, *v)
				}
			}
		}
		return nil
	})
	return out, found, err
}
