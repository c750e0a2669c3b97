package main

import (
	"strings"
	"testing"

	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
)

// Places are a reason why the cheapest did not get a task only where they were scarce, or had a price. Probes are not taken for figures that
// are held.
func TestExplainsWhatIsKnown(t *testing.T) {
	d := schedule.Decision{
		Node: "b", Solver: "random among the 3 nearest", Measured: &schedule.Measured{}, Known: []schedule.Known{{Node: "a", Heard: predict.Heard{Delays: 1, Requests: 1}}, {Node: "c"}},
		Passed: &schedule.Passed{Node: "a", Places: 4096, Taken: 6, By: []string{"other.test"}},
	}
	said := func() string {
		var out strings.Builder
		if err := printDecision(&out, &d); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	text := said()
	for _, want := range []string{"a costs least and did not get it: it has room, and solver random among the 3 nearest chose b\n", "  c has tried the site, and measured nothing\n", "0 of delay", "1 delay remembered, 1 request\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, scarce := range []schedule.Passed{{Node: "a", Places: 6, Taken: 6}, {Node: "a", Places: 9, Taken: 6, Place: 0.5}} {
		d.Passed = &scarce
		scarce.Held, scarce.By = []string{"old.test"}, []string{"new.test"}
		if text := said(); !strings.Contains(text, "did not get it: 6 of its ") || !strings.Contains(text, "are taken, before by old.test, now by new.test") {
			t.Error(text)
		}
	}
}
