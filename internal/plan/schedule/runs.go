package schedule

import (
	"math"
)

// again weighs the tasks of leases of which no cycle before has left anything, as after a restart: they hold places and bandwidth as the others do,
// and without them prices would say that hardly anybody wants these. Of very many it weighs some, spread over all. Leases of other jobs are
// left out, as they are where cycles have seen them begin.
func (f *flow) again() {
	c := f.c
	if f.old != nil || len(c.S.Tasks) == 0 {
		return
	}
	var of []int
	for i := range c.memory.runs {
		if h, r := &c.memory.runs[i], &c.S.Running[i]; h.node >= 0 && h.kept == nil && !r.Ping && r.Job == c.S.Tasks[0].Job {
			of = append(of, i)
		}
	}
	if most := max(1, mostPairs/max(1, len(c.S.Nodes))); len(of) > most {
		for k := range most {
			of[k] = of[k*len(of)/most]
		}
		of = of[:most]
	}
	own := *c.S
	own.Tasks, own.figures, own.counted = make([]Task, len(of)), nil, nil
	for k, i := range of {
		own.Tasks[k] = c.S.Running[i].waited()
	}
	g := *f
	g.c, g.cfg.Learn = newContext(&own, c.comp, false), false // what is had by learning counts for who waits
	g.c.through = true
	for k, i := range of {
		h, t := &c.memory.runs[i], &own.Tasks[k]
		open := make([]int, 0, len(c.S.Nodes))
		for n := range c.S.Nodes {
			if IsOfType(c.S.Nodes[n].Labels, t.Type) && (n == int(h.node) || !c.S.Nodes[n].Draining) {
				open = append(open, n)
			}
		}
		g.c.cands[k] = open
		h.kept = g.cut(g.weigh(k, open), f.cfg.Candidates, int(t.ID))
		h.kept.at, h.kept.version = math.MinInt64/2, 0 // once the lease has ended its task is looked at anew
		f.runs++
		h.loose = false
		f.takes(h, &c.S.Running[i])
	}
}

// waited is the task of a lease as it waited for its node. What its site still has is not known.
func (r *Running) waited() Task {
	return Task{ID: r.Task, Job: r.Job, Site: r.Site, Domain: r.Domain, Addrs: r.Addrs, Need: r.Need, Book: r.Book, Width: r.Width, Gap: r.Gap, Type: r.Type, Last: r.Node}
}
