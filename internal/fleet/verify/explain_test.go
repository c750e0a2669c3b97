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

// What a process that died has left of a line does not spoil the next one.
func TestDecisionsAfterAKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "decisions.jsonl")
	long := `{"at":1,"task":1,"site":"` + strings.Repeat("x", 200<<10)
	for text, want := range map[string]string{
		"":                        "",
		"{}\n":                    "{}\n",
		"{}\n{\"at\":":            "{}\n",
		"{\"at":                   "",
		"{":                       "",
		"{}\n{}\n" + long:         "{}\n{}\n",
		long:                      "",
		long + "\n{\"at\":12,\"t": long + "\n",
		"somebody's notes":        "somebody's notes\n",
	} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		l, err := outdir.OpenExplain(path)
		if err != nil {
			t.Fatal(err)
		}
		l.Sink()([]schedule.Decision{{Task: 7, Node: "a"}})
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		b, err := os.ReadFile(path)
		if rest, ok := strings.CutPrefix(string(b), want); err != nil || !ok || !strings.HasPrefix(rest, `{"at":0,"task":7,`) {
			t.Errorf("after %d bytes that end in %q the file ends in %q (%v)", len(text), text[max(0, len(text)-10):], string(b)[max(0, len(b)-40):], err)
		}
	}
	if l, err := outdir.OpenExplain(os.DevNull); err != nil {
		t.Error(err)
	} else if err := l.Close(); err != nil {
		t.Error(err)
	}
}
