package frontier

import "testing"

// Tasks of several searches, or of several crawlers, on one site count as one site; tasks of themselves as one each.
func TestCountsSites(t *testing.T) {
	f := &Frontier{tasks: map[uint32]*Task{
		1: {ID: 1, Job: 1, Site: "engine.example", Search: 1, Of: &Search{}},
		2: {ID: 2, Job: 1, Site: "engine.example", Search: 2, Of: &Search{}},
		3: {ID: 3, Job: 1, Site: "wiki.example", Search: 1},
		4: {ID: 4, Job: 1, Site: "wiki.example", Search: 2},
		5: {ID: 5, Job: 1, Site: "plain.example"},
		6: {ID: 6, Job: 2, Site: "other.example"},
	}}
	if n := f.Counts(1).Sites; n != 3 {
		t.Errorf("%d sites, want 3", n)
	}
}
