// Package schedule runs one scheduling cycle: a snapshot goes through the politeness gate, a strategy's filters, its
// cost model and its solver, and what comes out is verified before anybody believes it. It is pure: the snapshot
// carries time and seed, and the same snapshot gives the same plan, byte for byte, in production, in simulation
// and in the replay of a record.
package schedule

import (
	"fmt"
	"math"

	"argosy/internal/crawl"
)

// Node is a collecting machine as the scheduler sees it.
type Node struct {
	ID          string
	Incarnation string
	Labels      map[string]string
	Capacity    int // leases at once
	Running     int // leases it holds
	Draining    bool
}

// Task is a waiting task whose site may be asked now.
type Task struct {
	ID      uint32
	Job     uint32
	Site    string
	Addrs   []string // addresses its URLs would be fetched from; nil while they are not known
	Since   int64    // waiting since, Unix ms
	Pending int64    // URLs in its queue
	Avoid   []string // nodes that it was recalled from, last first
}

// Running is a lease that is held now.
type Running struct {
	Lease uint64
	Task  uint32
	Site  string
	Node  string
	Addrs []string
}

// Snapshot is all that a cycle may know. Nodes are in the order of their ids, tasks first in, first out.
type Snapshot struct {
	Now     int64 // Unix ms
	Seed    uint64
	Nodes   []Node
	Tasks   []Task
	Running []Running
	PerIP   int // leases at once on one address; 0 is no limit
	PerSite int // leases at once on one site
}

// Assignment gives a task to a node, by their places in the snapshot.
type Assignment struct{ Task, Node int }

// Plan is what a strategy decides, and why some tasks wait.
type Plan struct {
	Assignments []Assignment
	Waiting     []Waiting
}

// Waiting is a task that got no node.
type Waiting struct {
	Task    int
	Verdict crawl.Verdict
}

// Reasons of waiting and of filters.
const (
	ReasonPerIP    crawl.Kind = "per-ip"    // the address has as many leases as it may
	ReasonPerSite  crawl.Kind = "per-site"  // the site has
	ReasonCapacity crawl.Kind = "capacity"  // every node is full
	ReasonDraining crawl.Kind = "draining"  // the node takes no more
	ReasonRecalled crawl.Kind = "recalled"  // the task was recalled from the node
	ReasonFiltered crawl.Kind = "no-node"   // no node passes the filters
	ReasonForbid   crawl.Kind = "forbidden" // infinite cost
)

// Strategy decides which node gets which task. Plan is called with the tasks that passed the gate; it is a function
// of the snapshot alone and must leave it as it is.
type Strategy interface {
	Name() string
	Plan(s *Snapshot) Plan
}

// Filter says whether a node may get a task at all.
type Filter struct {
	Name  string
	Check func(s *Snapshot, t *Task, n *Node) crawl.Verdict
}

// Cost says what it costs to give a task to a node that holds load leases, those of this plan included. Infinity
// forbids the pair.
type Cost struct {
	Name string
	Of   func(s *Snapshot, t *Task, n *Node, load int) float64
}

// Solver places tasks on nodes. Candidates of a task are node indices that passed its filters; load is what the nodes
// hold already and may be changed.
type Solver struct {
	Name  string
	Solve func(s *Snapshot, candidates [][]int, load []int, cost Cost) (node []int)
}

// Composition is a strategy made of its parts, which is all that a strategy may be.
type Composition struct {
	Preset  string
	Filters []Filter
	Cost    Cost
	Solver  Solver
}

// Name returns the preset's name.
func (c Composition) Name() string { return c.Preset }

// Plan filters, solves and says why the rest waits.
func (c Composition) Plan(s *Snapshot) Plan {
	load := make([]int, len(s.Nodes))
	for i, n := range s.Nodes {
		load[i] = n.Running
	}
	candidates := make([][]int, len(s.Tasks))
	for i := range s.Tasks {
		candidates[i] = c.candidates(s, &s.Tasks[i])
	}
	var p Plan
	for i, n := range c.Solver.Solve(s, candidates, load, c.Cost) {
		switch {
		case n >= 0:
			p.Assignments = append(p.Assignments, Assignment{Task: i, Node: n})
		case len(candidates[i]) == 0:
			p.Waiting = append(p.Waiting, Waiting{i, crawl.Verdict{Reason: ReasonFiltered}})
		default:
			p.Waiting = append(p.Waiting, Waiting{i, crawl.Verdict{Reason: ReasonCapacity}})
		}
	}
	return p
}

func (c Composition) candidates(s *Snapshot, t *Task) (out []int) {
nodes:
	for i := range s.Nodes {
		for _, f := range c.Filters {
			if !f.Check(s, t, &s.Nodes[i]).OK() {
				continue nodes
			}
		}
		out = append(out, i)
	}
	return out
}

// NotDraining filters out nodes that take no more.
var NotDraining = Filter{"draining", func(_ *Snapshot, _ *Task, n *Node) crawl.Verdict {
	if n.Draining {
		return crawl.Verdict{Reason: ReasonDraining}
	}
	return crawl.Verdict{}
}}

// NotRecalled filters out the node that a task was last recalled from, as long as there is another.
var NotRecalled = Filter{"recalled", func(s *Snapshot, t *Task, n *Node) crawl.Verdict {
	if len(t.Avoid) == 0 || t.Avoid[0] != n.ID {
		return crawl.Verdict{}
	}
	for i := range s.Nodes {
		if o := &s.Nodes[i]; o.ID != n.ID && !o.Draining {
			return crawl.Verdict{Reason: ReasonRecalled}
		}
	}
	return crawl.Verdict{}
}}

// Greedy places tasks one after the other, each on the candidate with room that costs least then.
var Greedy = Solver{"greedy", func(s *Snapshot, candidates [][]int, load []int, cost Cost) []int {
	node := make([]int, len(candidates))
	for i, cs := range candidates {
		node[i] = -1
		best := math.Inf(1)
		for _, n := range cs {
			if load[n] >= s.Nodes[n].Capacity {
				continue
			}
			if c := cost.Of(s, &s.Tasks[i], &s.Nodes[n], load[n]); c < best {
				best, node[i] = c, n
			}
		}
		if node[i] >= 0 {
			load[node[i]]++
		}
	}
	return node
}}

// Cycle runs one cycle. The plan it returns has been verified; an error means that the strategy is broken, and its
// plan is not to be used.
func Cycle(s *Snapshot, st Strategy) (Plan, error) {
	open, held := gate(s)
	gated := *s
	gated.Tasks = make([]Task, len(open))
	for i, t := range open {
		gated.Tasks[i] = s.Tasks[t]
	}
	p := st.Plan(&gated)
	for i := range p.Assignments { // back to the places of the snapshot that was given
		a := &p.Assignments[i]
		if a.Task < 0 || a.Task >= len(open) {
			return Plan{}, fmt.Errorf("strategy %s: assignment %d names task %d of %d", st.Name(), i, a.Task, len(open))
		}
		a.Task = open[a.Task]
	}
	for i := range p.Waiting {
		if w := &p.Waiting[i]; w.Task >= 0 && w.Task < len(open) {
			w.Task = open[w.Task]
		}
	}
	p.Waiting = append(p.Waiting, held...)
	if err := Verify(s, p); err != nil {
		return Plan{}, fmt.Errorf("strategy %s: %w", st.Name(), err)
	}
	return p, nil
}

// gate lets through, in order, the tasks whose site and addresses have room, counting those it let through before.
func gate(s *Snapshot) (open []int, held []Waiting) {
	use := newUsage(s)
	for i := range s.Tasks {
		if v := use.take(&s.Tasks[i]); !v.OK() {
			held = append(held, Waiting{i, v})
			continue
		}
		open = append(open, i)
	}
	return open, held
}

// usage counts leases by site and by address.
type usage struct {
	s    *Snapshot
	site map[string]int
	ip   map[string]int
}

func newUsage(s *Snapshot) usage {
	u := usage{s: s, site: make(map[string]int, len(s.Running)), ip: make(map[string]int, len(s.Running))}
	for i := range s.Running {
		u.site[s.Running[i].Site]++
		for _, a := range s.Running[i].Addrs {
			u.ip[a]++
		}
	}
	return u
}

// take counts one more lease for a task, or says why it may not be had.
func (u usage) take(t *Task) crawl.Verdict {
	if u.site[t.Site] >= max(1, u.s.PerSite) {
		return crawl.Verdict{Reason: ReasonPerSite, Detail: t.Site}
	}
	if u.s.PerIP > 0 {
		for _, a := range t.Addrs {
			if u.ip[a] >= u.s.PerIP {
				return crawl.Verdict{Reason: ReasonPerIP, Detail: a}
			}
		}
	}
	u.site[t.Site]++
	for _, a := range t.Addrs {
		u.ip[a]++
	}
	return crawl.Verdict{}
}

// Verify proves a plan legal: every task at most one owner, no capacity passed, no site and no address asked by more
// leases than it may be.
func Verify(s *Snapshot, p Plan) error {
	owned := make(map[int]bool, len(p.Assignments))
	load := make([]int, len(s.Nodes))
	for i, n := range s.Nodes {
		load[i] = n.Running
	}
	use := newUsage(s)
	for i, a := range p.Assignments {
		if a.Task < 0 || a.Task >= len(s.Tasks) || a.Node < 0 || a.Node >= len(s.Nodes) {
			return fmt.Errorf("assignment %d: task %d, node %d: out of range", i, a.Task, a.Node)
		}
		t, n := &s.Tasks[a.Task], &s.Nodes[a.Node]
		if owned[a.Task] {
			return fmt.Errorf("task %d (%s) has two owners", t.ID, t.Site)
		}
		owned[a.Task] = true
		if load[a.Node]++; load[a.Node] > n.Capacity {
			return fmt.Errorf("node %s gets more than its %d leases", n.ID, n.Capacity)
		}
		if v := use.take(t); !v.OK() {
			return fmt.Errorf("task %d (%s): %s %s", t.ID, t.Site, v.Reason, v.Detail)
		}
	}
	return nil
}
