package schedule

import "argosy/internal/crawl"

// ReasonBound is why a task waits that goes to one node only, which is full.
const ReasonBound crawl.Kind = "bound"

// WithBound plans a cycle: tasks that are bound to a node of the snapshot go there as far as it has room and the gate lets
// them pass, in their order, and wait while it has not; rest plans the others with what is left.
func WithBound(s *Snapshot, rest func(*Snapshot) (Plan, error)) (Plan, error) {
	at := map[string]int{}
	for i := range s.Nodes {
		at[s.Nodes[i].ID] = i
	}
	var first Plan
	left := remaining(s)
	load := make([]int, len(s.Nodes))
	use := newUsage(s)
	mine := make([]bool, len(s.Tasks))
	for i := range s.Tasks {
		t := &s.Tasks[i]
		node, there := at[t.Bound]
		if t.Bound == "" || !there {
			continue
		}
		n := &s.Nodes[node]
		switch {
		case n.Draining, !IsOfType(n.Labels, t.Type):
			continue
		case n.Running+load[node] >= n.Capacity, short(t.Need, left[node], n.Offer) >= 0:
			mine[i] = true
			first.Waiting = append(first.Waiting, Waiting{i, crawl.Verdict{Reason: ReasonBound, Detail: t.Bound}})
			continue
		}
		mine[i] = true
		if v := use.take(t); !v.OK() {
			first.Waiting = append(first.Waiting, Waiting{i, v})
			continue
		}
		load[node]++
		left[node].take(t.Need)
		first.Assignments = append(first.Assignments, Assignment{i, node})
	}
	if len(first.Assignments)+len(first.Waiting) == 0 {
		return rest(s)
	}
	next := s.Without(first, nil)
	if next == s {
		copied := *s
		next = &copied
	}
	next.Tasks = nil
	var places []int
	for i := range s.Tasks {
		if !mine[i] {
			next.Tasks, places = append(next.Tasks, s.Tasks[i]), append(places, i)
		}
	}
	plan, err := rest(next)
	if err != nil {
		return plan, err
	}
	for i := range plan.Assignments {
		plan.Assignments[i].Task = places[plan.Assignments[i].Task]
	}
	for _, list := range [][]Waiting{plan.Waiting, plan.Refused} {
		for i := range list {
			list[i].Task = places[list[i].Task]
		}
	}
	plan.Assignments = append(first.Assignments, plan.Assignments...)
	plan.Waiting = append(first.Waiting, plan.Waiting...)
	return plan, Verify(s, plan)
}
