package schedule

import "testing"

// Each kind of difference is counted once, what waits by both plans is not, and the nodes of the shadow are told.
func TestShadowIsCompared(t *testing.T) {
	s := fleet(2, 5)
	real := Plan{Assignments: []Assignment{{0, 0}, {1, 0}, {2, 1}}}
	shadow := Plan{Assignments: []Assignment{{0, 0}, {1, 1}, {3, 1}}}
	var d Difference
	differs := d.Compare(s, real, shadow)
	if d.Cycles != 1 || d.Same != 1 || d.Other != 1 || d.Waits != 1 || d.Gives != 1 || d.Real <= 0 || d.Shadow <= 0 {
		t.Errorf("%+v", d)
	}
	if len(differs) != 3 || differs[s.Tasks[1].ID] != s.Nodes[1].ID || differs[s.Tasks[2].ID] != "" || differs[s.Tasks[3].ID] != s.Nodes[1].ID {
		t.Errorf("%v", differs)
	}
	if d.Compare(s, real, real); d.Same != 4 || d.Cycles != 2 {
		t.Errorf("two equal plans: %+v", d)
	}
}
