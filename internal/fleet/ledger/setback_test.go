package ledger

import (
	"errors"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// times is when a ledger says that things happened of a job, in the order in which it says so.
func times(t *testing.T, l *Ledger) (all []int64) {
	t.Helper()
	spans := l.Spans(t.Context(), 1, func(s *Span) error { all = append(all, s.Started, s.Ended); return nil })
	facts := l.Facts(t.Context(), 1, func(f learn.Fact) error { all = append(all, f.At); return nil })
	died, err := l.Died(t.Context(), 1)
	for _, h := range died["n"] {
		all = append(all, h.Started, h.Told, h.Ended)
	}
	on, bad := l.GoneOn(t.Context(), 1)
	if err := errors.Join(spans, facts, err, bad); err != nil || len(died["n"]) != 2 || len(on) != 1 {
		t.Fatal(died, on, err)
	}
	return append(all, on...)
}

// A recording during which the clock of the log was set back tells what one tells whose was not, as near as reports of a lease lie apart: a crawl
// of seven seconds had taken an hour, and was replayed as that.
func TestClockSetBack(t *testing.T) {
	part := func(lease uint64, no uint32, final bool) crawl.Part {
		return crawl.Part{Lease: lease, No: no, Final: final, Reason: crawl.EndDone, WorkedUS: 1000, Outcomes: []crawl.Outcome{{Key: crawl.Key{byte(lease), byte(no)}, URL: "http://a.test/", State: crawl.Fetched, Status: 200, Bytes: 9}}}
	}
	tell := func(node string, p ...crawl.Part) *crawl.Entry {
		return &crawl.Entry{Kind: crawl.EntryParts, Node: node, Parts: p}
	}
	lease := func(id uint64, node string) crawl.Lease {
		return crawl.Lease{ID: id, Job: 1, Task: uint32(id), Site: "a.test", Node: node}
	}
	entries := []Applied{
		{At: 1000, Entry: &crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits()}}},
		{At: 2000, Entry: &crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{lease(1, "n"), lease(2, "m")}}},
		{At: 3000, Entry: tell("n", part(1, 1, false))},
		{At: 3100, Entry: tell("m", part(2, 1, false))},
		{At: 3400, Entry: &crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{lease(3, "n")}}},
		{At: 3500, Entry: tell("n", part(1, 2, false))}, // the first that may be told by a clock that was set back
		{At: 3600, Entry: tell("m", part(2, 2, true))},
		{At: 4000, Entry: &crawl.Entry{Kind: crawl.EntryOrder, Order: &crawl.Order{What: "resume job 1"}}},
		{At: 5000, Entry: tell("n", part(3, 1, true))}, // which was given out before that
		{At: 6000, Entry: &crawl.Entry{Kind: crawl.EntryRecall, Recalls: []crawl.Recall{{Lease: 1, Reason: crawl.EndDead}}}},
	}
	of := func(back int64) []int64 {
		l, err := Open(t.Context(), Database(t))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		all := append([]Applied(nil), entries...)
		for i := range all {
			if all[i].Seq = uint64(i + 1); i >= 5 {
				all[i].At -= back
			}
		}
		if err := errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), all)); err != nil {
			t.Fatal(err)
		}
		by, err := l.SetBack(t.Context())
		if err != nil || len(by) != min(1, int(back)) {
			t.Fatalf("set back by %d ms, told %v, %v", back, by, err)
		}
		return times(t, l)
	}
	want, got := of(0), of(3_600_000)
	if len(got) != len(want) {
		t.Fatalf("%d, want %d", got, want)
	}
	for i := range got {
		if off := want[i] - got[i]; off < 0 || off > 500 {
			t.Errorf("time %d: %d, want %d", i, got[i], want[i])
		}
	}
}

// A lease that has told but once tells it, too.
func TestClockSetBackBeforeTheFirstReport(t *testing.T) {
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	lease := crawl.Lease{ID: 1, Job: 1, Task: 1, Site: "a.test", Node: "n"}
	part := crawl.Part{Lease: 1, No: 1, Outcomes: []crawl.Outcome{{URL: "http://a.test/", State: crawl.Fetched, Status: 200}}}
	if err := errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), []Applied{
		{Seq: 1, At: 1, Entry: &crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits()}}},
		{Seq: 2, At: 9000, Entry: &crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{lease}}},
		{Seq: 3, At: 4000, Entry: &crawl.Entry{Kind: crawl.EntryParts, Node: "n", Parts: []crawl.Part{part}}},
	})); err != nil {
		t.Fatal(err)
	}
	if err := l.Spans(t.Context(), 1, func(s *Span) error {
		if s.Started != 9000 || s.Ended != 9000 {
			t.Errorf("from %d to %d, want 9000 to 9000", s.Started, s.Ended)
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
}
