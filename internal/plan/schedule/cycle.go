package schedule

import (
	"fmt"
	"slices"

	"argosy/internal/crawl"
)

// Cycle runs one cycle. The plan it returns has been verified; an error means that the strategy is broken, and its
// plan is not to be used.
func Cycle(s *Snapshot, st Strategy) (Plan, error) { return cycle(s, st, false) }

// Explained is Cycle with a decision for each task that reached the strategy.
func Explained(s *Snapshot, st Strategy) (Plan, error) { return cycle(s, st, true) }

func cycle(s *Snapshot, st Strategy, record bool) (Plan, error) {
	if s.counted == nil { // once for who lets tasks through, plans and proves
		all, own := count(s, 0), *s
		own.counted, s = &all, &own
	}
	open, held := gate(s)
	gated := *s
	gated.Tasks = make([]Task, len(open))
	for i, t := range open {
		gated.Tasks[i] = s.Tasks[t]
	}
	p := st.Plan(&gated, record)
	for i := range p.Assignments { // back to the places of the snapshot that was given
		a := &p.Assignments[i]
		if a.Task < 0 || a.Task >= len(open) {
			return Plan{}, fmt.Errorf("strategy %s: assignment %d names task %d of %d", st.Name(), i, a.Task, len(open))
		}
		a.Task = open[a.Task]
	}
	for _, ws := range [][]Waiting{p.Waiting, p.Refused} {
		for i := range ws {
			if w := &ws[i]; w.Task >= 0 && w.Task < len(open) {
				w.Task = open[w.Task]
			}
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

// usage counts leases by site, address and registrable domain: those that the snapshot brings counted, and more.
type usage struct {
	s       *Snapshot
	counted *counts // nil is none
	more    counts
}

// counts are leases by what they ask.
type counts struct {
	leases int // of Snapshot.Running, the first so many
	site   map[string]int
	ip     map[string]int
	dom    map[string]int
	silent map[string]int // of those on an address: on sites that have not answered yet,
	hang   map[string]int // and on those that do not
}

func newUsage(s *Snapshot) usage {
	u := usage{s: s, counted: s.counted}
	first := 0
	if u.counted != nil {
		first = u.counted.leases
	}
	u.more = count(s, first)
	return u
}

// count counts the leases of a snapshot from the first one on.
func count(s *Snapshot, first int) counts {
	c := counts{leases: len(s.Running), site: make(map[string]int, len(s.Running)-first), ip: map[string]int{}, dom: map[string]int{}, silent: map[string]int{}, hang: map[string]int{}}
	for i := first; i < len(s.Running); i++ {
		c.add(s, &s.Running[i])
	}
	return c
}

func (c *counts) add(s *Snapshot, r *Running) {
	c.site[r.Site]++
	if s.PerDomain > 0 {
		c.dom[r.Domain]++
	}
	if s.PerIP <= 0 {
		return
	}
	for _, a := range r.Addrs {
		c.ip[a]++
		if r.Silent {
			c.silent[a]++
		}
		if r.Failed || r.Silent && r.Long {
			c.hang[a]++
		}
	}
}

func (u *usage) site(name string) int {
	n := u.more.site[name]
	if u.counted != nil {
		n += u.counted.site[name]
	}
	return n
}

func (u *usage) ip(addr string) int {
	n := u.more.ip[addr]
	if u.counted != nil {
		n += u.counted.ip[addr]
	}
	return n
}

// room returns how many more leases an address may have on sites like a task's. Those that did not answer the last time have a quarter of its
// places. Those that have not answered yet have three quarters, since most sites answer, and as many fewer as hang there, but a quarter at least. So
// sites that answer find places beside those that do not.
func (u *usage) room(t *Task, addr string) int {
	all, silent, hang := u.ip(addr), u.more.silent[addr], u.more.hang[addr]
	if u.counted != nil {
		silent, hang = silent+u.counted.silent[addr], hang+u.counted.hang[addr]
	}
	room, quarter := u.s.PerIP-all, max(1, u.s.PerIP/4)
	switch {
	case t.Failed:
		return min(room, quarter-hang, max(quarter, u.s.PerIP-quarter)-silent)
	case t.Silent:
		return min(room, max(quarter, u.s.PerIP-quarter-hang)-silent)
	}
	return room
}

func (u *usage) domain(name string) int {
	n := u.more.dom[name]
	if u.counted != nil {
		n += u.counted.dom[name]
	}
	return n
}

// take counts one more lease for a task, or says why it may not be had.
func (u *usage) take(t *Task) crawl.Verdict {
	if !t.ByAddress && u.site(t.Site) >= max(1, u.s.PerSite) {
		return crawl.Verdict{Reason: ReasonPerSite, Detail: t.Site}
	}
	if u.s.PerIP > 0 {
		for _, a := range t.Addrs {
			if u.room(t, a) <= 0 {
				return crawl.Verdict{Reason: ReasonPerIP, Detail: a}
			}
		}
	}
	if u.s.PerDomain > 0 && u.domain(t.Domain) >= u.s.PerDomain {
		return crawl.Verdict{Reason: ReasonDomain, Detail: t.Domain}
	}
	u.more.add(u.s, &Running{Site: t.Site, Domain: t.Domain, Addrs: t.Addrs, Silent: t.Silent, Failed: t.Failed})
	return crawl.Verdict{}
}

// Verify proves a plan legal: every task at most one owner, no capacity passed, no node of another type or that drains,
// no site and no address asked by more leases than it may be. The assignments are in the order in which the gate let their tasks through: what room
// sites that do not answer leave to each other depends on it.
func Verify(s *Snapshot, p Plan) error {
	if len(p.Assignments) == 0 {
		return nil
	}
	owned := make(map[int]bool, len(p.Assignments))
	load := make([]int, len(s.Nodes))
	for i, n := range s.Nodes {
		load[i] = n.Running
	}
	left := remaining(s)
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
		if n.Draining {
			return fmt.Errorf("node %s drains and gets task %d", n.ID, t.ID)
		}
		if slices.Contains(t.Shut, n.ID) {
			return fmt.Errorf("task %d (%s) must not be asked by node %s now", t.ID, t.Site, n.ID)
		}
		if !IsOfType(n.Labels, t.Type) {
			return fmt.Errorf("task %d needs a node of type %s, %s is %q", t.ID, t.Type, n.ID, n.Labels["type"])
		}
		if d := short(t.Need, left[a.Node], n.Offer); d >= 0 {
			return fmt.Errorf("task %d needs more %s than node %s has left", t.ID, dimensions[d], n.ID)
		}
		left[a.Node].take(t.Need)
		if v := use.take(t); !v.OK() {
			return fmt.Errorf("task %d (%s): %s %s", t.ID, t.Site, v.Reason, v.Detail)
		}
	}
	return nil
}

var dimensions = [...]string{CPU: "CPU", Mem: "memory", Bandwidth: "bandwidth"}

// remaining is what each node has left of its offer.
func remaining(s *Snapshot) []Vector {
	left := make([]Vector, len(s.Nodes))
	at := make(map[string]int, len(s.Nodes))
	for i, n := range s.Nodes {
		left[i] = n.Offer
		at[n.ID] = i
	}
	for i := range s.Running {
		if s.Running[i].Need == (Vector{}) {
			continue
		}
		if n, ok := at[s.Running[i].Node]; ok {
			left[n].take(s.Running[i].Need)
		}
	}
	return left
}

func (v *Vector) take(need Vector) {
	for d, x := range need {
		v[d] -= x
	}
}

// Holds reports whether an empty node holds a need; where it does not, of says of what it has too little.
func Holds(need, offer Vector) (of string, ok bool) {
	if d := short(need, offer, offer); d >= 0 {
		return dimensions[d], false
	}
	return "", true
}

// short returns the first dimension of a need that is not left, of those that a node states; -1 if there is none.
func short(need, left, offer Vector) int {
	for d, x := range need {
		if offer[d] > 0 && x > left[d]*(1+1e-9) {
			return d
		}
	}
	return -1
}
