package sim

import (
	"math"
	"testing"
	"time"

	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

// Every task is held for as long as it says, on whatever node: what is carried is the same under each allocation, and the
// published one occupies fewer nodes than a random one.
func TestOccupancy(t *testing.T) {
	for seed := range uint64(3) {
		o := MakeOccupancy(20, 200, 0.3, 0.3, seed)
		var want schedule.Vector
		for _, s := range o.Tasks {
			for d, x := range s.Need {
				want[d] += x * float64(max(1, s.Holds)) / 1000
			}
		}
		got := map[string]Occupied{}
		for _, spec := range []string{"packing", "random"} {
			st, err := strategy.New(spec)
			if err != nil {
				t.Fatal(err)
			}
			r, err := o.Run(st)
			if err != nil {
				t.Fatal(err)
			}
			for d := range want {
				if math.Abs(r.Carried[d]/want[d]-1) > 1e-9 || r.Utilisation[d] <= 0 || r.Utilisation[d] > 1+1e-9 {
					t.Errorf("seed %d, %s, dimension %d: carried %g of %g, utilisation %g", seed, spec, d, r.Carried[d], want[d], r.Utilisation[d])
				}
			}
			if r.Most > len(o.Nodes) || r.Mean > float64(r.Most) {
				t.Errorf("%d nodes at most, %g on average", r.Most, r.Mean)
			}
			got[spec] = r
		}
		if got["packing"].Mean >= got["random"].Mean {
			t.Errorf("seed %d: working first occupies %.2f nodes, random %.2f", seed, got["packing"].Mean, got["random"].Mean)
		}
	}
}

// A lease that makes no progress is recalled after a minute and its task goes to another node; after five recalls a person
// decides.
func TestStuckLeasesAreRecalled(t *testing.T) {
	w := Changing(3, 2, 0, 0.3, 1, 5)
	w.Stuck = [][]float64{{1, 1}, {0, 0}, {0, 0}}
	var ends []End
	w.Ended = func(e End) { ends = append(ends, e) }
	st, err := strategy.New("random")
	if err != nil {
		t.Fatal(err)
	}
	r, err := Run(w, st)
	if err != nil {
		t.Fatal(err)
	}
	recalled := 0
	next := map[uint32]bool{}
	for _, e := range ends {
		if next[e.Task] && e.Node == 0 {
			t.Fatalf("task %d was recalled from node 1 and went there again", e.Task)
		}
		if e.Recycled {
			recalled++
			next[e.Task] = true
			if e.Node != 0 || e.Seconds != 60 || e.Good != 0 {
				t.Fatalf("recalled: %+v", e)
			}
		}
	}
	if recalled == 0 || recalled != r.Recycled || r.Manual != 0 {
		t.Errorf("%d recalls, %d counted, %d to a person", recalled, r.Recycled, r.Manual)
	}
	w.Stuck, w.Recycle, w.Ended = [][]float64{{1, 1}, {1, 1}, {1, 1}}, schedule.RecycleConfig{After: time.Second, Limit: 5}, nil
	if r, err = Run(w, st); err != nil || r.Manual == 0 || r.Completed != 0 || r.Recycled < 6*r.Manual {
		t.Errorf("all stuck: %d recalls, %d to a person, %g pages, %v", r.Recycled, r.Manual, r.Completed, err)
	}
}

// Leases of arriving tasks are modified where the world has it so.
func TestArrivingTasksAreModified(t *testing.T) {
	for _, modify := range []bool{false, true} {
		w := Changing(4, 5, 6, 0.6, 1, 1)
		w.Modify = modify
		modified := 0
		w.Ended = func(e End) {
			if e.Modified {
				modified++
			}
		}
		st, err := strategy.New("feedback")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Run(w, st); err != nil || (modified > 0) != modify {
			t.Errorf("modify %v: %d leases modified, %v", modify, modified, err)
		}
	}
}
