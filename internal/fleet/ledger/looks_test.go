package ledger

import (
	"errors"
	"fmt"
	"testing"

	"argosy/internal/crawl"
)

// Leases that have fetched nothing are told with what they were for and when they ended; those that are under way, and those that fetch, are none of them.
func TestLooks(t *testing.T) {
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	lease := func(id uint64) crawl.Lease {
		return crawl.Lease{ID: id, Job: 1, Task: 1, Site: "a.test", Node: "n"}
	}
	resolves, probes, pings, fetches, open := lease(1), lease(2), lease(3), lease(4), lease(5)
	resolves.Resolve, probes.Probe, open.Probe = true, "http://a.test/", "http://a.test/"
	pings.Probe, pings.Ping = "http://a.test/", true
	end := func(lease uint64) *crawl.Entry {
		return &crawl.Entry{Kind: crawl.EntryParts, Node: "n", Parts: []crawl.Part{{Lease: lease, No: 1, Final: true, Reason: crawl.EndDone}}}
	}
	if err := errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), []Applied{
		{Seq: 1, At: 1, Entry: &crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits()}}},
		{Seq: 2, At: 100, Entry: &crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{resolves, probes}}},
		{Seq: 3, At: 180, Entry: &crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{pings, fetches, open}}},
		{Seq: 4, At: 200, Entry: end(1)}, {Seq: 5, At: 350, Entry: end(2)}, {Seq: 6, At: 400, Entry: end(3)}, {Seq: 7, At: 500, Entry: end(4)},
	})); err != nil {
		t.Fatal(err)
	}
	var got string
	if err := l.Looks(t.Context(), 1, func(x *Looked) error { got += fmt.Sprintln(*x); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := "{n a.test true 100 200}\n{n a.test false 100 350}\n{n a.test false 180 400}\n"; got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}
