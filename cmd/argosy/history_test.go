package main

import (
	"strings"
	"testing"

	"argosy/internal/fleet/ledger"
)

// A task's history is in the order of time; what an older version noted without one stands first, and how a lease ended with the lease.
func TestHistoryInOrder(t *testing.T) {
	f := found{row: ledger.Task{
		ID: 1, Search: &ledger.Seeker{Why: "released", Moved: 9000},
		History: []string{"of before", "attempt 1 on a: blocked", "changed by a person: words x", "released"}, Noted: []int64{3000, 5000, 9000},
	}}
	lines := f.history([]ledger.Run{
		{Task: 1, Asks: true, Node: "a", Started: 2000, Ended: 3000, Reason: "failed"}, {Task: 7, Node: "a", Started: 4000, Ended: 4500, Reason: "drained"},
		{Task: 1, Asks: true, Node: "b", Started: 6000},
	})
	var got []string
	for _, l := range lines {
		got = append(got, l.text)
	}
	want := []string{"  of before", "failed after 1.0 s: blocked", "a collects", "1970-01-01 00:00:05  changed by a person", "b searches"}
	if len(got) != len(want) {
		t.Fatalf("%q", got)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("line %d: %q, want %q", i, got[i], want[i])
		}
	}
}
