package verify_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/fleet/outdir"
	"argosy/internal/plan/schedule"
)

// Decisions can be read while the coordinator that takes them runs; that a task waits for the same reason as before is written once.
func TestDecisionsAreWrittenAtOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decisions.jsonl")
	l, err := outdir.OpenExplain(path)
	if err != nil {
		t.Fatal(err)
	}
	sink := l.Sink()
	for _, d := range []schedule.Decision{{Task: 1, Node: "a"}, {Task: 2, Waits: "room"}, {Task: 2, Waits: "room"}} {
		sink([]schedule.Decision{d})
	}
	b, err := os.ReadFile(path)
	if err != nil || strings.Count(string(b), "\n") != 2 {
		t.Errorf("%q, %v", b, err)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
}
