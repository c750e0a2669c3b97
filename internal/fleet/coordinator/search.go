package coordinator

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/term"
	"argosy/internal/page/polite"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/schedule"
)

// asked is what a lease of a task is to know of its search, but for whether its node is alone; nil if it has none. A lease in the log says
// which search it is; whole, it also says how its engine is asked.
func (c *Coordinator) asked(j *frontier.Job, t *frontier.Task, whole bool) *crawl.Asked {
	seeker := c.f.Searching(t.Job, t.Search)
	if t.Search == 0 || seeker == nil {
		return nil
	}
	s, of := seeker.Of, j.Identity.Collect
	e := j.Engine(s.Engine)
	a := &crawl.Asked{No: t.Search, Asks: t.Of != nil, Site: s.Site, Engine: e.Name, Type: e.Type, Product: s.Product, Words: s.Words, Stated: s.Stated}
	switch {
	case whole && a.Asks:
		a.Def, a.Robots, a.Found, a.Rest = e.Def, e.Robots, s.Found, of.Rest
	case !a.Asks:
		a.Had = s.Collected > 0
	}
	return a
}

// alone reports whether no other node may have a task, so that what its site refuses this one is refused. A node that was recalled may, and
// one that has not been heard of for less than a lease's term, and so may those that are absent.
func (c *Coordinator) alone(now time.Time, t *frontier.Task, node string) bool {
	j := c.f.Job(t.Job)
	other := func(id string) bool { return id != node && !slices.Contains(t.Shut, id) }
	may := func(id string, labels map[string]string) bool {
		return other(id) && schedule.IsOfType(labels, j.Placing.Type)
	}
	for id, n := range c.fleet.nodes {
		if !n.drains() && may(id, n.info.Labels) {
			return false
		}
	}
	for id, was := range c.fleet.gone {
		if now.Sub(was.since) < term.Of(&j.Limits).Recall() && may(id, was.labels) {
			return false
		}
	}
	return !slices.ContainsFunc(c.fleet.absent, other)
}

// lacks are the types of nodes that a job asks for, and of which no node is there.
func (c *Coordinator) lacks(j *frontier.Job) (types []string) {
	for _, kind := range j.Types() {
		there := false
		for _, n := range c.fleet.nodes {
			there = there || !n.drains() && schedule.IsOfType(n.info.Labels, kind)
		}
		if !there {
			types = append(types, kind)
		}
	}
	return types
}

// unmet says in words what a job asks of a node that none of its type has, were it empty: its store, or room. It is empty where some node has it, and where
// there is none of the type.
func unmet(p *crawl.Placing, nodes []crawl.NodeInfo) string {
	elsewhere, short := false, []string{}
	for i := range nodes {
		n := &nodes[i]
		if !schedule.IsOfType(n.Labels, p.Type) {
			continue
		}
		if p.Store != "" && n.Store != p.Store {
			elsewhere = true
			continue
		}
		of, ok := schedule.Holds(p.Need, n.Offer)
		if ok {
			return ""
		}
		if !slices.Contains(short, of) {
			short = append(short, of)
		}
	}
	switch {
	case len(short) > 0:
		return "no node holds a task of it: too little " + strings.Join(short, " or ")
	case elsewhere:
		return "no node stores in " + p.Store + ", where its pages go"
	}
	return ""
}

// present are the nodes that take leases.
func (c *Coordinator) present() (all []crawl.NodeInfo) {
	for _, id := range slices.Sorted(maps.Keys(c.fleet.nodes)) {
		if n := c.fleet.nodes[id]; !n.drains() {
			all = append(all, n.info)
		}
	}
	return all
}

// shown is a task of the job as people see it: with the type of node that it waits for in vain, and until when its site rests by now, which
// may be another job's doing. A search that asks by address waits for what it was told itself.
func (s *shownJob) shown(of rests, row ledger.Task) ledger.Task {
	if row.Search == nil && row.State == crawl.TaskWaiting {
		row.Until = of[row.Site]
	}
	if len(s.view.Lacks) == 0 || row.State != crawl.TaskWaiting && row.State != crawl.TaskFailed {
		return row
	}
	kind := s.view.Placing.Type
	if row.Search != nil {
		kind = cmp.Or(s.view.engineType(row.Search.Engine), kind)
	}
	if slices.Contains(s.view.Lacks, kind) {
		row.Lacks = kind
	}
	return row
}

// engines are those that a job was begun with.
func (v *JobView) engines() []crawl.Engine {
	if v.Identity.Collect == nil {
		return nil
	}
	return v.Identity.Collect.Engines
}

// engineType returns the type of nodes that an engine asks for, by its number; empty if there is no such engine.
func (v *JobView) engineType(no int) string {
	own := v.engines()
	switch {
	case no < len(own):
		return own[no].Type
	case no-len(own) < len(v.Given):
		return v.Given[no-len(own)].Type
	}
	return ""
}

// searching says of a waiting task what its search asks for: nodes of its engine's type, its product, what it is about, and, for
// what it has named, the node that ran it, as long as that is there and has not failed.
func (c *Coordinator) searching(j *frontier.Job, t *frontier.Task, w *learn.Task) {
	seeker := c.f.Searching(t.Job, t.Search)
	if t.Search == 0 || seeker == nil {
		return
	}
	s := seeker.Of
	w.About, w.Product = learn.About(s.Site), s.Product
	if t.Of != nil {
		if kind := j.Engine(s.Engine).Type; kind != "" {
			w.Type = kind
		}
		return
	}
	if n := c.fleet.nodes[s.Node]; n != nil && !n.drains() && goesTo(j, t, s.Node) {
		w.Bound = s.Node
	}
}

// goesTo reports whether what a search has named goes to the node that ran the search, if it is there.
func goesTo(j *frontier.Job, t *frontier.Task, ran string) bool {
	return t.Search != 0 && t.Of == nil && ran != "" && !slices.Contains(t.Avoid, ran) && !j.Identity.Collect.Anywhere
}

// meets reports whether a task waits for a node that ran its search: a coordinator that has just begun hears of its nodes one by one.
func (c *Coordinator) meets(now time.Time, j *frontier.Job, t *frontier.Task) bool {
	if t.Search == 0 || now.Sub(c.hearing.Began) > meetMost {
		return false
	}
	seeker := c.f.Searching(t.Job, t.Search)
	return seeker != nil && goesTo(j, t, seeker.Of.Node) && c.fleet.nodes[seeker.Of.Node] == nil
}

// shut returns the nodes from whose address the site of a task that asks by address must not be asked now. If that is all of them, at is
// when to look again, Unix ms; else it is 0.
func (c *Coordinator) shut(j *frontier.Job, t *frontier.Task, now int64) (nodes []string, at int64) {
	busy, all := map[string]bool{}, false
	c.f.Leases(func(l *frontier.Lease) {
		if l.Site == t.Site {
			busy[l.From] = true
			all = all || l.From == "" // of before: it asks for all
		}
	})
	at, open := math.MaxInt64, false
	for id, n := range c.fleet.nodes {
		from := n.info.From()
		ready := polite.ReadyAt(j.PaceAt(t.Site), polite.From(c.f.Site(t.Site), from))
		if all || busy[from] {
			ready = now + heldFor
		}
		if ready > now {
			nodes, at = append(nodes, id), min(at, ready)
			continue
		}
		open = true
	}
	if open {
		at = 0
	}
	return nodes, at
}

// queued is a task of a job that collects, in the queue of its site.
type queued struct {
	from int64 // waiting since
	id   uint32
}

// lines are the queues of the sites of a job that collects: of each site the tasks are served first in, first out, and one of
// them is looked at at a time for each lease that the site may have.
type lines map[string][]queued

// put adds a task at the place of its time.
func (q lines) put(t *frontier.Task) {
	e := queued{t.Since, t.ID}
	at, _ := slices.BinarySearchFunc(q[t.Site], e, func(a, b queued) int {
		if a.from != b.from {
			return int(min(1, max(-1, a.from-b.from)))
		}
		return int(a.id) - int(b.id)
	})
	q[t.Site] = slices.Insert(q[t.Site], at, e)
}

// take returns the first task of a site; 0: there is none.
func (q lines) take(site string) uint32 {
	if len(q[site]) == 0 {
		delete(q, site)
		return 0
	}
	id := q[site][0].id
	q[site] = q[site][1:]
	return id
}
