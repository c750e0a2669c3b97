package strategy

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"argosy/internal/schedule"
)

// world draws a snapshot.
func world(t *rapid.T) *schedule.Snapshot {
	s := &schedule.Snapshot{Now: 1000, Seed: rapid.Uint64().Draw(t, "seed"), PerIP: rapid.IntRange(0, 3).Draw(t, "per-ip"), PerSite: rapid.IntRange(1, 2).Draw(t, "per-site")}
	for i := range rapid.IntRange(0, 5).Draw(t, "nodes") {
		capacity := rapid.IntRange(0, 6).Draw(t, "capacity")
		s.Nodes = append(s.Nodes, schedule.Node{ID: fmt.Sprint("n", i), Capacity: capacity, Running: rapid.IntRange(0, capacity).Draw(t, "running"), Draining: rapid.Bool().Draw(t, "draining")})
	}
	addrs := []string{"a", "b", "c"}
	for i := range rapid.IntRange(0, 20).Draw(t, "tasks") {
		task := schedule.Task{ID: uint32(i), Site: fmt.Sprint("s", rapid.IntRange(0, 12).Draw(t, "site")), Since: int64(i)}
		if rapid.Bool().Draw(t, "resolved") {
			task.Addrs = []string{rapid.SampledFrom(addrs).Draw(t, "addr")}
		}
		if rapid.Bool().Draw(t, "recalled") {
			task.Avoid = []string{fmt.Sprint("n", rapid.IntRange(0, 4).Draw(t, "from"))}
		}
		s.Tasks = append(s.Tasks, task)
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "leases") {
		s.Running = append(s.Running, schedule.Running{Lease: uint64(i), Site: fmt.Sprint("s", rapid.IntRange(0, 12).Draw(t, "site")), Addrs: []string{rapid.SampledFrom(addrs).Draw(t, "addr")}})
	}
	return s
}

// Every preset's plan is legal for every snapshot, names every task once, and is the same for the same snapshot.
func TestPlansAreLegalAndDeterministic(t *testing.T) {
	for _, name := range Names() {
		st, err := New(name)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			s := world(t)
			p, err := schedule.Cycle(s, st)
			if err != nil {
				t.Fatal(err)
			}
			again, err := schedule.Cycle(s, st)
			if err != nil || fmt.Sprint(p) != fmt.Sprint(again) {
				t.Fatalf("two plans of one snapshot: %v, %v", p, again)
			}
			if len(p.Assignments)+len(p.Waiting) != len(s.Tasks) {
				t.Fatalf("%d assigned, %d waiting, of %d tasks", len(p.Assignments), len(p.Waiting), len(s.Tasks))
			}
			for _, w := range p.Waiting {
				if w.Verdict.OK() {
					t.Fatalf("task %d waits without a reason", w.Task)
				}
			}
		})
	}
}

// Verify refuses what a broken strategy might plan.
func TestVerifyRefuses(t *testing.T) {
	s := &schedule.Snapshot{
		PerIP: 1, PerSite: 1, Nodes: []schedule.Node{{ID: "n", Capacity: 2}},
		Tasks:   []schedule.Task{{ID: 1, Site: "a", Addrs: []string{"x"}}, {ID: 2, Site: "b", Addrs: []string{"x"}}, {ID: 3, Site: "a"}, {ID: 4, Site: "c"}, {ID: 5, Site: "d"}, {ID: 6, Site: "busy"}},
		Running: []schedule.Running{{Site: "busy"}},
	}
	type as = []schedule.Assignment
	for want, p := range map[string]as{
		"two owners":   {{Task: 0, Node: 0}, {Task: 0, Node: 0}},
		"per-ip":       {{Task: 0, Node: 0}, {Task: 1, Node: 0}},
		"per-site":     {{Task: 5, Node: 0}},
		"more than":    {{Task: 0, Node: 0}, {Task: 3, Node: 0}, {Task: 4, Node: 0}},
		"out of range": {{Task: 9, Node: 0}},
		"range":        {{Task: 0, Node: 1}},
	} {
		if err := schedule.Verify(s, schedule.Plan{Assignments: p}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want an error with %q", p, err, want)
		}
	}
	if err := schedule.Verify(s, schedule.Plan{Assignments: as{{Task: 0, Node: 0}, {Task: 3, Node: 0}}}); err != nil {
		t.Error(err)
	}
}

func TestUnknown(t *testing.T) {
	for _, spec := range []string{"guess", "roundrobin,x=1", "roundrobin,x", ""} {
		if _, err := New(spec); err == nil {
			t.Errorf("%q is accepted", spec)
		}
	}
}

func TestRoundRobinSpreads(t *testing.T) {
	st, err := New("roundrobin")
	if err != nil {
		t.Fatal(err)
	}
	s := &schedule.Snapshot{PerSite: 1, Nodes: []schedule.Node{{ID: "a", Capacity: 10}, {ID: "b", Capacity: 10}, {ID: "c", Capacity: 10}}}
	for i := range 9 {
		s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(i), Site: fmt.Sprint(i)})
	}
	p, err := schedule.Cycle(s, st)
	if err != nil {
		t.Fatal(err)
	}
	per := map[int]int{}
	for _, a := range p.Assignments {
		per[a.Node]++
	}
	if per[0] != 3 || per[1] != 3 || per[2] != 3 {
		t.Errorf("%v", per)
	}
}
