package lab

import (
	"math"
	"testing"

	"argosy/internal/plan/sim"
)

// How far crawls are off their replay is the more the fewer leases carried the recording and the further draws lie apart, more under another strategy
// than under its own, and nothing is said of a replay that decides nothing.
func TestOff(t *testing.T) {
	of := func(bits ...float64) *sim.Recording {
		r := &sim.Recording{Strategy: "flow", Nodes: make([]sim.RecordedNode, 3)}
		for _, b := range bits {
			r.Leases = append(r.Leases, sim.RecordedLease{Bits: b})
		}
		return r
	}
	alike := make([]float64, 100)
	for i := range alike {
		alike[i] = 1e6
	}
	many, few, one := of(alike...), of(1e6, 1e6, 1e6, 1e6), of(1e9, 1e6, 1e6, 1e6)
	flow, random := &Replays{Strategy: "flow", Rates: []float64{1e6, 1e6}}, &Replays{Strategy: "random", Rates: []float64{1e6, 1e6}}
	apart := &Replays{Strategy: "flow", Rates: []float64{1e6, 2e6}}
	if got := many.Alike(); math.Abs(got-100) > 1e-6 {
		t.Errorf("100 leases of one size are as good as %v", got)
	}
	if got := one.Alike(); got < 1 || got > 1.01 {
		t.Errorf("leases of which one carries all are as good as %v", got)
	}
	for name, less := range map[string][2]float64{
		"few leases":       {flow.Off(many), flow.Off(few)},
		"one large lease":  {flow.Off(few), flow.Off(one)},
		"draws apart":      {flow.Off(many), apart.Off(many)},
		"another strategy": {flow.Off(many), random.Off(many)},
	} {
		if !(less[0] > 1 && less[0] < less[1]) {
			t.Errorf("%s: %v, else %v", name, less[1], less[0])
		}
	}
	if got := (&Replays{Strategy: sim.AsRecorded, Rates: []float64{1e6}}).Off(few); got != 1 {
		t.Errorf("as recorded: %v", got)
	}
	alone := of(1e6, 1e6)
	alone.Nodes = alone.Nodes[:1]
	if got := flow.Off(alone); got > 1.1 {
		t.Errorf("a single node: %v", got)
	}
}
