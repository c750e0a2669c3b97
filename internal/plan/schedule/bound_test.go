package schedule

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"
)

// A task that is bound to a node is given to that one or waits, whatever the rest does; one whose node is not there goes anywhere; the
// whole plan is legal.
func TestWithBound(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Snapshot{PerSite: 1}
		for i := range rapid.IntRange(1, 4).Draw(t, "nodes") {
			s.Nodes = append(s.Nodes, Node{ID: fmt.Sprint("n", i), Capacity: rapid.IntRange(0, 3).Draw(t, "capacity")})
		}
		for i := range rapid.IntRange(0, 12).Draw(t, "tasks") {
			bound := rapid.SampledFrom([]string{"", "n0", "n1", "gone"}).Draw(t, "bound")
			s.Tasks = append(s.Tasks, Task{ID: uint32(i + 1), Site: fmt.Sprint("s", rapid.IntRange(0, 5).Draw(t, "site")), Bound: bound})
		}
		first := Composition{Cost: Cost{Of: func(*Context, int, int, int) float64 { return 0 }}, Solver: Greedy}
		p, err := WithBound(s, func(s *Snapshot) (Plan, error) { return Cycle(s, first) })
		if err != nil {
			t.Fatal(err)
		}
		seen := map[int]bool{}
		for _, a := range p.Assignments {
			seen[a.Task] = true
			if b := s.Tasks[a.Task].Bound; b != "" && b != s.Nodes[a.Node].ID {
				for _, n := range s.Nodes {
					if n.ID == b {
						t.Fatalf("task bound to %s is given to %s", b, s.Nodes[a.Node].ID)
					}
				}
			}
		}
		for _, w := range append(p.Waiting, p.Refused...) {
			if seen[w.Task] {
				t.Fatalf("task %d is given and waits", w.Task)
			}
			seen[w.Task] = true
		}
		if len(seen) != len(s.Tasks) {
			t.Fatalf("%d of %d tasks are in the plan", len(seen), len(s.Tasks))
		}
	})
}
