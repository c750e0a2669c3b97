package recorded_test

import (
	"errors"
	"path/filepath"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/recorded"
)

// What sites have left is written down when a run ends; a recording of one that has not says that it does not know, and takes it from who does.
func TestWhatIsLeftOfARunThatHasNotEnded(t *testing.T) {
	l, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "argosy.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	part := crawl.Part{Lease: 1, No: 1, WorkedUS: 1e6, Outcomes: []crawl.Outcome{{URL: "http://a.test/", State: crawl.Fetched, Status: 200, Bytes: 1e5}}}
	err = errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), []ledger.Applied{
		{Seq: 1, At: 1000, Entry: &crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits()}}},
		{Seq: 2, At: 2000, Entry: &crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{{ID: 1, Job: 1, Task: 1, Site: "a.test", Node: "n"}}}},
		{Seq: 3, At: 4000, Entry: &crawl.Entry{Kind: crawl.EntryParts, Node: "n", Parts: []crawl.Part{part}}},
	}), l.PutFleet(t.Context(), 1000, []crawl.NodeInfo{{Node: "n", Leases: 4}}, map[uint32]string{1: "flow"}))
	if err != nil {
		t.Fatal(err)
	}
	r, err := recorded.Read(t.Context(), l, 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Uncounted || r.Left["a.test"] != 0 {
		t.Errorf("a run that has not ended: uncounted is %v, left is %v", r.Uncounted, r.Left)
	}
	row := ledger.Task{ID: 1, Job: 1, Site: "a.test"}
	row.Pending = 70
	if recorded.Count(&r, []ledger.Task{row, {ID: 2, Job: 1, Site: "b.test"}}); r.Uncounted || len(r.Left) != 1 || r.Left["a.test"] != 70 {
		t.Errorf("counted: uncounted is %v, left is %v", r.Uncounted, r.Left)
	}
	if err := l.PutTasks(t.Context(), []ledger.Task{row}); err != nil {
		t.Fatal(err)
	}
	if r, err = recorded.Read(t.Context(), l, 1, 100); err != nil || !r.Uncounted || r.Left["a.test"] != 0 {
		t.Errorf("a run after one that has ended: uncounted is %v, left is %v, %v", r.Uncounted, r.Left, err)
	}
	ended := &crawl.Entry{Kind: crawl.EntryState, State: &crawl.JobState{Job: 1, State: crawl.JobInterrupted}}
	if err := l.Apply(t.Context(), []ledger.Applied{{Seq: 4, At: 5000, Entry: ended}}); err != nil {
		t.Fatal(err)
	}
	if r, err = recorded.Read(t.Context(), l, 1, 100); err != nil || r.Uncounted || r.Left["a.test"] != 70 {
		t.Errorf("a run that has ended: uncounted is %v, left is %v, %v", r.Uncounted, r.Left, err)
	}
}
