package lab

import (
	"bytes"
	"context"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"argosy/internal/plan/sim"
)

// No seed is in both halves.
func TestHalvesAreApart(t *testing.T) {
	seen := map[uint64]Half{}
	for k := range 100 {
		for _, h := range []Half{Publish, Choose} {
			if other, ok := seen[h.seed(k)]; ok {
				t.Fatalf("seed %d is in %s and %s", h.seed(k), other, h)
			}
			seen[h.seed(k)] = h
		}
	}
}

// Quantiles of Student's t from printed tables.
func TestStudent(t *testing.T) {
	for df, want := range map[int]float64{1: 12.706, 5: 2.571, 10: 2.228, 11: 2.201, 19: 2.093, 30: 2.042, 120: 1.980} {
		if got := student(df); math.Abs(got-want) > 0.003 {
			t.Errorf("%d degrees of freedom: %.4f, want %.3f", df, got, want)
		}
	}
}

// Pairing takes away what worlds differ in.
func TestPairedInterval(t *testing.T) {
	a, b := sample{0.9, 0.5, 0.7}, sample{0.8, 0.4, 0.6}
	if d := a.less(b); math.Abs(d.mean()-0.1) > 1e-12 || d.half() > 1e-9 || a.half() < 0.3 {
		t.Errorf("difference %.3f ± %.3f, of a alone ± %.3f", d.mean(), d.half(), a.half())
	}
}

// An interrupted comparison goes on where it was, and prints what an uninterrupted one does.
func TestResume(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results")
	cfg := Config{Seeds: 2, Half: Publish, Strategies: []string{"nearest", "random"}, Scenarios: []string{"brief-few"}}
	var whole bytes.Buffer
	cfg.Out = &whole
	if err := Compare(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	cfg.Results, cfg.Seeds, cfg.Out = name, 1, &bytes.Buffer{}
	if err := Compare(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"kind":"bri`); err != nil { // it was killed while it wrote
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	var rest, told bytes.Buffer
	cfg.Seeds, cfg.Out, cfg.Progress = 2, &rest, &told
	if err := Compare(context.Background(), cfg); err != nil {
		t.Fatal(err)
	}
	if rest.String() != whole.String() {
		t.Errorf("resumed:\n%s\nat once:\n%s", &rest, &whole)
	}
	if !strings.Contains(told.String(), "2 results are there from before") || !strings.Contains(told.String(), "2 runs, about") {
		t.Errorf("it said %q", told.String())
	}
	if err := os.WriteFile(name, []byte("{\"build\":\"another\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Compare(context.Background(), cfg); err == nil || !strings.Contains(err.Error(), "another build") {
		t.Errorf("results of another build are taken: %v", err)
	}
}

// A kind that is not there is told with those that are.
func TestUnknownKind(t *testing.T) {
	if _, err := chosen(Config{Scenarios: []string{"guess"}}); err == nil || !strings.Contains(err.Error(), "equal") {
		t.Errorf("got %v", err)
	}
}

// The published table has every kind of made worlds.
func TestPublishedTableIsWhole(t *testing.T) {
	b, err := os.ReadFile("../../../docs/strategies.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, k := range sim.Kinds() {
		if !strings.Contains(string(b), "| "+k.Name+" | "+k.About+" |") {
			t.Errorf("docs/strategies.md has no row of %s", k.Name)
		}
	}
}

// A bound that may not take its time says how far it is from the optimum, and is one all the same.
func TestBoundSaysItsGap(t *testing.T) {
	w := sim.Kinds()[0].World(2)
	bound, gap, err := boundOf(w, time.Minute)
	if err != nil || gap <= 0 || gap > sim.BoundGap {
		t.Fatalf("gap %g, %v", gap, err)
	}
	early, wide, err := boundOf(w, 0)
	if err != nil || wide <= gap || early < bound*(1-sim.BoundGap) {
		t.Errorf("without time %g with a gap of %g, else %g with %g, %v", early, wide, bound, gap, err)
	}
}

// What a file is told of a run are whole lines, now and then; on a terminal one line is written over, and gone at the end.
func TestProgress(t *testing.T) {
	for _, screen := range []bool{false, true} {
		var told bytes.Buffer
		p := Config{Progress: &told, Screen: screen}.progress(3)
		for range 3 {
			p.did("equal", "flow", time.Second)
		}
		p.end()
		text := told.String()
		if n := strings.Count(text, "1 of 3"); n != 1 || strings.Contains(text, "2 of 3") {
			t.Errorf("screen %v: %q", screen, text)
		}
		if line := strings.HasSuffix(text, " s\n") && !strings.Contains(text, "\x1b"); line == screen || screen && !strings.HasSuffix(text, "\r\x1b[K") {
			t.Errorf("screen %v: %q", screen, text)
		}
	}
}
