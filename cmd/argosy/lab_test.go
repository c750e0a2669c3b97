package main

import (
	"os"
	"path/filepath"
	"testing"

	"argosy/internal/plan/lab"
)

// What a scenario's file gives as nothing is nothing, and not what it usually is: no leases that get stuck, nodes that cost nothing. What it does
// not give is as usual.
func TestNothingIsNotTheDefault(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.yaml")
	read := func(text string) lab.Scenario {
		t.Helper()
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		s, err := scenario(name)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	feedback := lab.NewScenario().Feedback
	feedback.Stuck, feedback.Changes = 0, 0
	if got := read("{name: x, experiment: feedback, feedback: {stuck: 0, changes: 0}}").Feedback; got != feedback {
		t.Errorf("%+v, want %+v", got, feedback)
	}
	packing := lab.NewScenario().Packing
	packing.Unequal, packing.Reserve = 0, 0
	if got := read("{name: x, experiment: packing, packing: {unequal: 0, reserve: 0}}").Packing; got != packing {
		t.Errorf("%+v, want %+v", got, packing)
	}
}
