package schedule

import (
	"fmt"
	"math"
	"testing"
)

// chances has so many nodes and tasks, of which each has had as many leases as it is told.
func chances(seed uint64, nodes, tasks int, turn uint32, gone map[int]bool) *Snapshot {
	s := &Snapshot{Now: 1000, Seed: seed, PerSite: 1}
	for i := range nodes {
		if !gone[i] {
			s.Nodes = append(s.Nodes, Node{ID: fmt.Sprint("n", i), Capacity: tasks})
		}
	}
	for j := range tasks {
		s.Tasks = append(s.Tasks, Task{ID: uint32(j + 1), Site: fmt.Sprintf("s%d.test", j), Turn: turn})
	}
	return s
}

// drawn says which node each task goes to by lot.
func drawn(t *testing.T, s *Snapshot) (out []string) {
	t.Helper()
	p, err := Cycle(s, Composition{Preset: "random", Cost: Cost{Name: "none", Of: func(*Context, int, int, int) float64 { return 0 }}, Solver: Anywhere})
	if err != nil {
		t.Fatal(err)
	}
	out = make([]string, len(s.Tasks))
	for _, a := range p.Assignments {
		out[a.Task] = s.Nodes[a.Node].ID
	}
	return out
}

// Lots belong to a task's next lease: they are the same whenever it is planned and whoever else is there, others for the next lease and in another job, and
// each node has its share.
func TestLotsBelongToLeases(t *testing.T) {
	const nodes, tasks = 5, 5000
	all := drawn(t, chances(7, nodes, tasks, 3, nil))
	later := chances(7, nodes, tasks, 3, nil)
	later.Now += 60_000
	fewer := drawn(t, chances(7, nodes, tasks, 3, map[int]bool{2: true}))
	next, other := drawn(t, chances(7, nodes, tasks, 4, nil)), drawn(t, chances(8, nodes, tasks, 3, nil))
	share, sameNext, sameOther := map[string]float64{}, 0.0, 0.0
	for j, node := range drawn(t, later) {
		if node != all[j] {
			t.Fatalf("task %d: %s, a minute later %s", j, all[j], node)
		}
		if all[j] != "n2" && fewer[j] != all[j] {
			t.Fatalf("task %d: %s, and where another node is gone %s", j, all[j], fewer[j])
		}
		share[node] += 1.0 / tasks
		if next[j] == node {
			sameNext += 1.0 / tasks
		}
		if other[j] == node {
			sameOther += 1.0 / tasks
		}
	}
	for what, x := range map[string]float64{"n0": share["n0"], "n4": share["n4"], "the same for the next lease": sameNext, "the same in another job": sameOther} {
		if math.Abs(x-1.0/nodes) > 0.03 {
			t.Errorf("%s: %.3f of all, want %.3f", what, x, 1.0/nodes)
		}
	}
}
