package sim

import (
	"slices"
	"testing"

	"argosy/internal/plan/schedule"
)

// looked is a strategy that notes when it plans.
type looked struct {
	schedule.Composition

	at *[]look
}

// look is a cycle: when it was, what it takes and rests at least in a coordinator, and whether it left tasks waiting though there are places; ms.
type look struct {
	at, least int64
	waits     bool
}

// Plan implements schedule.Strategy.
func (w looked) Plan(s *schedule.Snapshot, record bool) schedule.Plan {
	p := w.Composition.Plan(s, record)
	free := -len(p.Assignments)
	for i := range s.Nodes {
		free += s.Nodes[i].Capacity - s.Nodes[i].Running
	}
	took := schedule.Takes(len(s.Tasks), len(s.Nodes))
	least := took + schedule.Rest(took, len(s.Nodes), true)
	*w.at = append(*w.at, look{s.Now, least.Milliseconds(), free > 0 && len(p.Assignments) < len(s.Tasks)})
	return p
}

// Where a world states how far apart its cycles are, they are as far, however many tasks wait for however many nodes.
func TestStatedCycles(t *testing.T) {
	t.Parallel()
	w := World{Horizon: 4 * second, Page: 1e5, Lease: LeaseShape{Bits: 1e5, Seconds: 10}, Cycle: 100}
	for i := range 100 {
		w.Nodes = append(w.Nodes, Node{ID: name("n", i), Slots: 1})
	}
	for j := range 1000 {
		w.Sites = append(w.Sites, Site{Name: name("s", j)})
	}
	row := slices.Repeat([]float64{1e6}, len(w.Sites))
	w.Speed = slices.Repeat([][]float64{row}, len(w.Nodes))
	if r := run(t, w, "roundrobin"); r.Leases < 100*35 {
		t.Errorf("%d leases of a tenth of a second, of 100 nodes in 4 s", r.Leases)
	}
}

// However long a world lasts, cycles follow each other as in a coordinator: no sooner, and where tasks wait and nodes have places no later.
func TestCyclesComeAsInACoordinator(t *testing.T) {
	t.Parallel()
	for _, minutes := range []int{1, 10} {
		w := Made(Terms{Nodes: 8, Sites: 40, Minutes: minutes, Capacity: 2, Limits: true, Tells: 0.3, Noise: 0.2}, 1)
		var at []look
		if _, err := RunBound(w, looked{strategyOf(t, "flow").(schedule.Composition), &at}, 1, false); err != nil {
			t.Fatal(err)
		}
		late, soon := 0, 0
		for k := 1; k < len(at); k++ {
			gap := at[k].at - at[k-1].at
			if gap < at[k-1].least {
				soon++
			}
			if at[k-1].waits && gap > at[k-1].least+schedule.RestMost.Milliseconds() {
				late++
			}
		}
		if len(at) < 40 || late > 0 || soon > 0 {
			t.Errorf("%d minutes: of %d cycles, %d came sooner than a coordinator's, and %d later", minutes, len(at), soon, late)
		}
	}
}
