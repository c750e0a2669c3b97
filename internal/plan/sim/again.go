package sim

import (
	"cmp"
	"slices"

	"argosy/internal/plan/schedule"
)

// AsRecorded stands for a recording's own strategy, deciding as it did (Recording.Again).
const AsRecorded = "as recorded"

// Again returns a strategy that decides as a recording's has: a site goes to the nodes that had it, one lease after the other, and what is
// left then to the last of them. of says what is measured before. How far its rate is from what was recorded is what the replayed world
// leaves out; what another strategy differs by more is what it does otherwise.
func (r *Recording) Again(of schedule.Strategy) schedule.Strategy {
	a := &followed{of: map[string][]string{}, had: map[string]int{}}
	if m, ok := of.(schedule.Measurer); ok {
		a.wants = m.Measures()
	}
	leases := slices.Clone(r.Leases)
	slices.SortStableFunc(leases, func(a, b RecordedLease) int { return cmp.Compare(a.Started, b.Started) })
	for i := range leases {
		l := &leases[i]
		a.of[l.Site] = append(a.of[l.Site], l.Node)
	}
	return a
}

// followed is such a strategy.
type followed struct {
	wants schedule.Measures
	of    map[string][]string // nodes of each site
	had   map[string]int      // leases of each site so far
}

// Name implements schedule.Strategy.
func (a *followed) Name() string { return AsRecorded }

// Measures implements schedule.Measurer.
func (a *followed) Measures() schedule.Measures { return a.wants }

// Plan implements schedule.Strategy.
func (a *followed) Plan(s *schedule.Snapshot, _ bool) (p schedule.Plan) {
	at, room := make(map[string]int, len(s.Nodes)), make([]int, len(s.Nodes))
	for i := range s.Nodes {
		if n := &s.Nodes[i]; !n.Draining {
			at[n.ID], room[i] = i, n.Capacity-n.Running
		}
	}
	for t := range s.Tasks {
		nodes := a.of[s.Tasks[t].Site]
		k := min(a.had[s.Tasks[t].Site], len(nodes)-1)
		for k > 0 && !there(at, nodes[k]) { // it has gone since
			k--
		}
		if k < 0 || !there(at, nodes[k]) || room[at[nodes[k]]] <= 0 {
			p.Waiting = append(p.Waiting, schedule.Waiting{Task: t})
			continue
		}
		n := at[nodes[k]]
		room[n]--
		a.had[s.Tasks[t].Site]++
		p.Assignments = append(p.Assignments, schedule.Assignment{Task: t, Node: n})
	}
	return p
}

func there(at map[string]int, node string) bool {
	_, ok := at[node]
	return ok
}
