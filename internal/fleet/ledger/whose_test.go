package ledger

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/pressly/goose/v3"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// twoJobs are entries of two jobs that measure the same sites by turns, some in one entry, and of nodes that measure by themselves.
func twoJobs() (entries []Applied) {
	add := func(e *crawl.Entry) {
		entries = append(entries, Applied{Seq: uint64(len(entries) + 1), At: int64(1000 * len(entries)), Entry: e})
	}
	var leases []crawl.Lease
	for job := range uint32(2) {
		add(&crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: job + 1, Limits: crawl.DefaultLimits()}})
		for site, name := range []string{"a.test", "b.test"} {
			leases = append(leases, crawl.Lease{ID: uint64(10*(job+1)) + uint64(site), Job: job + 1, Task: 2*job + uint32(site) + 1, Site: name, Node: "n", Probe: "http://" + name + "/"})
		}
	}
	add(&crawl.Entry{Kind: crawl.EntryGrant, Leases: leases})
	part := func(lease uint64, no uint32, final bool) crawl.Part {
		x, why := float64(lease)+float64(no)/10, ""
		if final {
			why = crawl.EndDone
		}
		return crawl.Part{Lease: lease, No: no, Final: final, Reason: why, WorkedUS: 1000, Measures: []crawl.Measure{
			{Kind: crawl.MeasureBC, Bits: int64(1000 * x), Seconds: 1, Refused: 1}, {Kind: crawl.MeasurePing, MS: []float64{x, x + 1}},
		}}
	}
	add(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Parts: []crawl.Part{part(10, 1, false), part(20, 1, false), part(11, 1, true)}})
	add(&crawl.Entry{Kind: crawl.EntryMeasures, Node: "n", Measures: []crawl.Measure{{Kind: crawl.MeasureBS, Store: "file:///s", Bits: 8000, Seconds: 1}, {Kind: crawl.MeasurePing, Node: "m", MS: []float64{7}}}})
	add(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Parts: []crawl.Part{part(21, 1, true), part(10, 2, true)}})
	add(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Parts: []crawl.Part{part(20, 2, true)}})
	return entries
}

// ofOne leaves of entries what one of their jobs says, and what nodes measured by themselves.
func ofOne(entries []Applied, job uint32) (out []Applied) {
	for _, a := range entries {
		e := *a.Entry
		e.Parts, e.Leases = nil, nil
		for _, p := range a.Entry.Parts {
			if p.Lease/10 == uint64(job) {
				e.Parts = append(e.Parts, p)
			}
		}
		for _, l := range a.Entry.Leases {
			if l.Job == job {
				e.Leases = append(e.Leases, l)
			}
		}
		if e.Job == nil || e.Job.ID == job {
			out = append(out, Applied{Seq: a.Seq, At: a.At, Entry: &e})
		}
	}
	return out
}

// learnedOf are the facts of a job in a ledger.
func learnedOf(t *testing.T, l *Ledger, job uint32) (out []learn.Fact) {
	t.Helper()
	if err := l.Facts(t.Context(), job, func(f learn.Fact) error { out = append(out, f); return nil }); err != nil {
		t.Fatal(err)
	}
	return out
}

// What is read of one of two jobs in a ledger is what would be read of it alone: what another job has measured is none of its facts. What
// nodes measure by themselves belongs to both.
func TestFactsOfOneOfTwoJobs(t *testing.T) {
	filled := func(entries []Applied) *Ledger {
		l, err := Open(t.Context(), Database(t))
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		if err := errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), entries)); err != nil {
			t.Fatal(err)
		}
		return l
	}
	both := filled(twoJobs())
	for job := range uint32(2) {
		want := learnedOf(t, filled(ofOne(twoJobs(), job+1)), job+1)
		if got := learnedOf(t, both, job+1); len(want) != 16 || !reflect.DeepEqual(got, want) {
			t.Errorf("job %d: %d facts beside another one, %d alone, and they differ", job+1, len(got), len(want))
		}
	}
}

// A probe that was cut short is none that has ended: neither one whose holder says so, nor one that was taken back before it ended.
func TestProbesThatWereCutShortHaveNotEnded(t *testing.T) {
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	entries := twoJobs()
	last := entries[len(entries)-1].Entry // a final part
	last.Parts[0].Reason = crawl.EndDrained
	entries[len(entries)-2].Entry = &crawl.Entry{Kind: crawl.EntryRecall, Recalls: []crawl.Recall{{Lease: 21, Reason: crawl.EndRecalled}}}
	entries = append(entries, Applied{Seq: uint64(len(entries) + 1), At: 9000, Entry: &crawl.Entry{Kind: crawl.EntryParts, Node: "n", Parts: []crawl.Part{{Lease: 21, No: 1, Final: true, Reason: crawl.EndDone}}}})
	if err := errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), entries)); err != nil {
		t.Fatal(err)
	}
	for job, want := range []int{1, 0} { // of the first, that of b.test
		ended := 0
		for _, f := range learnedOf(t, l, uint32(job+1)) {
			if f.Kind == learn.Tried || f.Kind == learn.TriedDelay {
				ended++
			}
		}
		if ended != want {
			t.Errorf("job %d: %d probes ended, want %d", job+1, ended, want)
		}
	}
}

// A ledger of a version that did not write down whose measurements are tells it all the same once it is opened.
func TestWhoseOlderMeasurementsAre(t *testing.T) {
	place := filepath.Join(t.TempDir(), "ledger.db")
	l, err := Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), twoJobs())); err != nil {
		t.Fatal(err)
	}
	var want [2][]learn.Fact
	for job := range want {
		want[job] = learnedOf(t, l, uint32(job+1))
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", place)
	if err != nil {
		t.Fatal(err)
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, db, os.DirFS("migrations"))
	if err == nil {
		_, err = p.DownTo(t.Context(), 18)
	}
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if l, err = Open(t.Context(), place); err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for job := range want {
		if got := learnedOf(t, l, uint32(job+1)); len(got) == 0 || !reflect.DeepEqual(got, want[job]) {
			t.Errorf("job %d: %d facts, %d before, and they differ", job+1, len(got), len(want[job]))
		}
	}
}
