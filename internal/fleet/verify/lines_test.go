package verify_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// Lines stand in the order of their bytes, as whoever searches in an index expects, also where pages share key and second.
func TestIndexIsInOrder(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 3))
		l, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
		if err != nil {
			t.Fatal(err)
		}
		part := crawl.Part{Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: 1}
		tails := []string{"", "/", "/?", "?cfid=1&cftoken=2", "?cfid=1&cftoken=2!", "?b&a", "?a&b", "/b", "!", "%21", "-x", "?sid=" + strings.Repeat("0", 32)}
		for range 60 {
			u, err := crawl.Parse(fmt.Sprintf("http://%sa.test/%d%s", []string{"", "www.", "www2."}[rng.IntN(3)], rng.IntN(2), tails[rng.IntN(len(tails))]))
			if err != nil {
				t.Fatal(err)
			}
			part.Outcomes = append(part.Outcomes, crawl.Outcome{
				Key: u.Key(), URL: u.String(), State: crawl.Fetched, Status: 200, Date: 1000 * (1 + rng.Int64N(3)), Gen: uint32(rng.IntN(3)), Bytes: 1, Record: crawl.Location{File: "f", Length: 1},
			})
		}
		entries := []*crawl.Entry{
			{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1}},
			{Kind: crawl.EntryGrant, Leases: []crawl.Lease{{ID: 1, Job: 1, Task: 1, Site: "a.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s"}}},
			{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{part}},
		}
		for i, e := range entries {
			e.Version = crawl.WireVersion
			if err := l.Apply(t.Context(), []ledger.Applied{{Seq: uint64(i + 1), At: 1000, Entry: e}}); err != nil {
				t.Fatal(err)
			}
		}
		var lines []string
		if err := outdir.IndexLines(t.Context(), l, 1, func(line string) error { lines = append(lines, line); return nil }); err != nil {
			t.Fatal(err)
		}
		if len(lines) < 20 || !slices.IsSorted(lines) {
			t.Errorf("seed %d: %d lines, out of order:\n%s", seed, len(lines), strings.Join(lines, ""))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A record that the ledger has twice, as one rebuilt from archives may, has one line; another one of the same page and second has its own.
func TestIndexHasEachRecordOnce(t *testing.T) {
	l, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u, err := crawl.Parse("http://a.test/")
	if err != nil {
		t.Fatal(err)
	}
	page := func(at int64) *crawl.Outcome {
		return &crawl.Outcome{Key: u.Key(), URL: u.String(), State: crawl.Fetched, Status: 200, Date: 1000, Record: crawl.Location{File: "f", Offset: at, Length: 1}}
	}
	err = errors.Join(l.Restore(t.Context(), "log", 1, func(to *ledger.Restorer) error {
		return to.Page(1, 1, "a.test", page(7))
	}), l.Restore(t.Context(), "log", 1, func(to *ledger.Restorer) error {
		return errors.Join(to.Capture(1, "a.test", page(9)), to.Capture(1, "a.test", page(7)))
	}))
	if err != nil {
		t.Fatal(err)
	}
	named, lines := 0, []string{}
	err = errors.Join(l.Captures(t.Context(), 1, func(*ledger.Capture) error { named++; return nil }), outdir.IndexLines(t.Context(), l, 1, func(line string) error {
		lines = append(lines, line)
		return nil
	}))
	if err != nil || named != 3 || len(lines) != 2 || lines[0] == lines[1] {
		t.Errorf("%d records in the ledger have the lines %q, %v", named, lines, err)
	}
}
