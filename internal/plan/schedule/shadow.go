package schedule

import "argosy/internal/crawl"

// Difference is how far the plans of another strategy, a shadow, are from those that were carried out: it decided beside the
// real one, in the same cycles, from the same snapshots, and nothing was done of it. Tasks count in each cycle: one that waits through ten
// cycles in which it would have been given out counts ten times, for so often it would have been decided otherwise. One that waits by
// both plans counts nothing.
type Difference struct {
	crawl.Otherwise
	Failed string `json:"failed,omitempty"`
}

// Compare adds a cycle in which a snapshot got two plans, and returns the shadow's nodes of the tasks where it differs: by
// task, empty where it waits.
func (d *Difference) Compare(s *Snapshot, plan, shadow Plan) map[uint32]string {
	d.Cycles++
	mine, other := nodesOf(s, plan), nodesOf(s, shadow)
	differs := map[uint32]string{}
	for t := range s.Tasks {
		a, b := mine[t], other[t]
		if a == b {
			if a >= 0 { // what waits for both was decided by neither
				d.Same++
			}
			continue
		}
		differs[s.Tasks[t].ID] = ""
		if b >= 0 {
			differs[s.Tasks[t].ID] = s.Nodes[b].ID
		}
		switch {
		case a < 0:
			d.Gives++
		case b < 0:
			d.Waits++
		default:
			d.Other++
			d.Real += s.useful(t, a)
			d.Shadow += s.useful(t, b)
		}
	}
	return differs
}

// nodesOf is each task's node in a plan, by their places; -1 is none.
func nodesOf(s *Snapshot, p Plan) []int {
	out := make([]int, len(s.Tasks))
	for t := range out {
		out[t] = -1
	}
	for _, a := range p.Assignments {
		out[a.Task] = a.Node
	}
	return out
}

// useful is what is expected of a pair, useful bits/s, within the pauses of the task's site.
func (s *Snapshot) useful(task, node int) float64 {
	if s.Book == nil {
		return 0
	}
	t, n := &s.Tasks[task], &s.Nodes[node]
	rate := s.Book.Rate(n.Book, t.Book, s.Now).Value
	if t.Gap > 0 {
		rate = min(rate, s.Book.PageBits(t.Book)/t.Gap)
	}
	return rate * s.Book.Success(n.Book, t.Book, s.Now).Value
}
