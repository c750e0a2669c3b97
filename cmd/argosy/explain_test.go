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
		Node: "b", Measured: &schedule.Measured{}, Known: []schedule.Known{{Node: "a", Heard: predict.Heard{Delays: 1, Requests: 1}}},
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
	for _, want := range []string{"a costs least and did not get it\n", "0 of delay", "1 delay remembered, 1 request\n"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in\n%s", want, text)
		}
	}
	for _, scarce := range []schedule.Passed{{Node: "a", Places: 6, Taken: 6}, {Node: "a", Places: 9, Taken: 6, Place: 0.5}} {
		d.Passed = &scarce
		if text := said(); !strings.Contains(text, "did not get it: 6 of its ") {
			t.Error(text)
		}
	}
}
