package schedule

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"argosy/internal/testkit/seeds"
)

// Sites that have not answered leave places of their address to those that do: three quarters are theirs at first, and as many fewer as hang there;
// those that did not answer the last time have a quarter.
func TestSilentSitesLeavePlaces(t *testing.T) {
	addr := []string{"192.0.2.1"}
	for _, c := range []struct{ hang, silent, failed, want int }{
		{0, 20, 0, 12}, {0, 0, 20, 4}, {0, 20, 20, 12}, {4, 20, 0, 4}, {12, 20, 0, 0}, {12, 0, 20, 0}, {2, 0, 20, 2},
	} {
		s := &Snapshot{PerIP: 16, PerSite: 1}
		for i := range c.hang {
			s.Running = append(s.Running, Running{Lease: uint64(i + 1), Site: fmt.Sprintf("h%d", i), Addrs: addr, Silent: true, Long: true})
		}
		for i := range c.silent + c.failed {
			s.Tasks = append(s.Tasks, Task{ID: uint32(i + 1), Site: fmt.Sprintf("s%d", i), Addrs: addr, Silent: true, Failed: i >= c.silent})
		}
		open, _ := gate(s)
		if len(open) != c.want {
			t.Errorf("%d hang, %d have not answered, %d not the last time: %d are let through, want %d", c.hang, c.silent, c.failed, len(open), c.want)
		}
		s.Tasks = []Task{{ID: 1, Site: "known", Addrs: addr}}
		if open, _ := gate(s); len(open) != 1 {
			t.Errorf("%d hang: a site that answers finds no place", c.hang)
		}
	}
}

// A plan of some of the tasks that were let through is legal, in their order.
func TestWhatIsLetThroughIsLegal(t *testing.T) {
	for seed := range seeds.Of(200, 20_000) {
		random := rand.New(rand.NewPCG(seed, 0))
		s := &Snapshot{PerIP: 1 + random.IntN(20), PerSite: 1, Nodes: []Node{{ID: "n", Capacity: 100}}}
		for i := range 40 {
			addrs := [][]string{{"192.0.2.0"}, {"192.0.2.1"}, {"192.0.2.0", "192.0.2.1"}}[random.IntN(3)]
			r := Running{Site: fmt.Sprint("s", i), Addrs: addrs, Silent: random.IntN(4) > 0, Failed: random.IntN(4) == 0 && i > 12, Long: random.IntN(2) == 0}
			if random.IntN(10) == 0 {
				s.Running = append(s.Running, r)
			} else {
				s.Tasks = append(s.Tasks, Task{ID: uint32(i + 1), Site: r.Site, Addrs: r.Addrs, Silent: r.Silent, Failed: r.Failed})
			}
		}
		open, _ := gate(s)
		var p Plan
		for _, task := range open {
			if random.IntN(8) > 0 {
				p.Assignments = append(p.Assignments, Assignment{Task: task})
			}
		}
		if err := Verify(s, p); err != nil {
			t.Fatalf("seed %d: %v", seed, err)
		}
	}
}
