package schedule

import (
	"fmt"
	"slices"
)

// PlanProbes says which waiting tasks are probed now, and by which node: sites of which fewer pairs were measured than
// wanted (Few), or not all (All). A probe is a lease of its own, under the same limits as any other, so a site is
// asked by one node at a time and on its clock. probed tells what was measured before. Tasks whose addresses are not
// known yet are left for later.
func PlanProbes(s *Snapshot, extent Extent, few int, probed func(site, node string) bool) Plan {
	var p Plan
	if extent != Few && extent != All || s.Book == nil {
		return p
	}
	c := newContext(s, &Composition{Filters: Always}, false)
	open, _ := gate(s)
	for _, t := range open {
		if s.PerIP > 0 && s.Tasks[t].Addrs == nil {
			continue
		}
		var able []int32
		done := 0
		at := map[int32]int{}
		for n := range s.Nodes {
			if probed(s.Tasks[t].Site, s.Nodes[n].ID) {
				done++
			} else if c.Room(n) && slices.Contains(c.Candidates(t), n) {
				able = append(able, int32(s.Nodes[n].Book))
				at[int32(s.Nodes[n].Book)] = n
			}
		}
		if extent == Few && done >= min(few, len(s.Nodes)) || len(able) == 0 {
			continue
		}
		best := able[:1]
		if extent == Few {
			if b := s.Book.Probes(s.Tasks[t].Book, s.Now, able, 1); len(b) > 0 {
				best = b
			}
		}
		n := at[best[0]]
		c.Take(t, n)
		p.Assignments = append(p.Assignments, Assignment{Task: t, Node: n})
	}
	return p
}

// Without returns a snapshot in which a plan's assignments have been carried out: its tasks wait no more, and their
// nodes hold a lease more.
func (s *Snapshot) Without(p Plan) *Snapshot {
	if len(p.Assignments) == 0 {
		return s
	}
	next := *s
	next.Nodes = append([]Node(nil), s.Nodes...)
	next.Running = append([]Running(nil), s.Running...)
	gone := make(map[int]bool, len(p.Assignments))
	for _, a := range p.Assignments {
		t := &s.Tasks[a.Task]
		gone[a.Task] = true
		next.Nodes[a.Node].Running++
		next.Running = append(next.Running, Running{Task: t.ID, Site: t.Site, Domain: t.Domain, Node: s.Nodes[a.Node].ID, Addrs: t.Addrs, Need: t.Need, Width: t.Width, Book: t.Book})
	}
	next.Tasks = nil
	for i := range s.Tasks {
		if !gone[i] {
			next.Tasks = append(next.Tasks, s.Tasks[i])
		}
	}
	return &next
}

// ParseExtent reads an extent that a user may ask for.
func ParseExtent(s string) (Extent, error) {
	switch s {
	case "none":
		return None, nil
	case "few":
		return Few, nil
	case "all":
		return All, nil
	}
	return None, fmt.Errorf("allowed are none, few, all")
}

// Choose returns the landmarks among n nodes as far as they are given by id or chosen by label: the first node of each
// combination of the labels' values, at most Count. Nil leaves the choice to the greedy k-centre rule. node says what
// the i-th is, and whether it is there.
func (l Landmarks) Choose(n int, node func(i int) (id string, labels map[string]string, there bool)) []int {
	var out []int
	seen := map[string]bool{}
	for i := range n {
		id, labels, there := node(i)
		key := ""
		for _, name := range l.Labels {
			key += labels[name] + "/"
		}
		switch {
		case len(l.Given) > 0:
			if slices.Contains(l.Given, id) {
				out = append(out, i)
			}
		case len(l.Labels) > 0 && there && !seen[key]:
			seen[key] = true
			out = append(out, i)
		}
	}
	if l.Count > 0 && len(out) > l.Count {
		out = out[:l.Count]
	}
	return out
}
