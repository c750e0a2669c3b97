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

// A page takes no other file's place, and an older one is there until the new one is; recorded measurements that nobody reads are not asked for.
func TestWhatAPageMayReplace(t *testing.T) {
	dir := t.TempDir()
	scenario := filepath.Join(dir, "mine.yaml")
	text := "{name: mine, experiment: worlds, seeds: 1, strategies: [random], world: {nodes: 2, sites: 2, minutes: 1}}"
	page := filepath.Join(dir, "page.html")
	for name, content := range map[string]string{scenario: text, page: "<!DOCTYPE html>\n<p>an older one"} {
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		code int
	}{
		{[]string{"--html", scenario}, 2},
		{[]string{"--html", dir}, 2},
		{[]string{"--html", filepath.Join(dir, "x"), "--results", filepath.Join(dir, "x")}, 2},
		{[]string{"--data", dir}, 2},
		{[]string{"--html", page, "--results", filepath.Join(dir, "no", "x")}, 1},
		{[]string{"--html", filepath.Join(dir, "new.html")}, 0},
		{[]string{"--html", page}, 0},
	} {
		code, _, stderr := argosy(t, append([]string{"lab", "run", scenario}, c.args...)...)
		if code != c.code {
			t.Errorf("%q: exit code %d, want %d: %s", c.args, code, c.code, stderr)
		}
		kept, err := os.ReadFile(scenario)
		if err != nil || string(kept) != text {
			t.Errorf("%q: the scenario is %q, %v", c.args, kept, err)
		}
		if older, err := os.ReadFile(page); err != nil || c.code != 0 && len(older) > 100 || len(older) == 0 {
			t.Errorf("%q: the page has %d bytes, %v", c.args, len(older), err)
		}
	}
}
