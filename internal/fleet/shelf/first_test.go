package shelf

import (
	"path/filepath"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// The body of a page whose bytes were written once for all jobs is found with whatever job had it first, and with whatever crawler of that job.
func TestBodyOfACrawlersPage(t *testing.T) {
	l, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u, _ := crawl.Parse("http://a.test/1")
	var all []ledger.Applied
	for job, owner := range []uint32{0, 2} { // the second job's crawlers remember for themselves
		lease := crawl.Lease{ID: 1<<32 | uint64(job+1), Job: uint32(job + 1), Task: uint32(job + 1), Site: "a.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 10, Targets: make([]crawl.Target, 1)}
		o := crawl.Outcome{Key: u.Key(), URL: u.String(), State: crawl.Fetched, Bytes: 9, Date: 1, Status: 200, Digest: "sha256:of", Record: crawl.Location{File: "f", Length: 9}}
		o.Revisit, o.Owner = owner == 0, owner
		j := &crawl.Job{ID: lease.Job, Limits: crawl.DefaultLimits()}
		if owner > 0 {
			j.Identity.Market = &crawl.Market{Crawlers: 2, Mode: crawl.MarketPaper}
		}
		for _, e := range []*crawl.Entry{
			{Kind: crawl.EntrySubmit, Job: j}, {Kind: crawl.EntryGrant, Leases: []crawl.Lease{lease}},
			{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{Lease: lease.ID, Attempt: 1, Epoch: 1, Secret: "s", No: 1, Outcomes: []crawl.Outcome{o}}}},
		} {
			e.Epoch = 1
			all = append(all, ledger.Applied{Seq: uint64(len(all) + 1), At: 1000, Entry: e})
		}
	}
	if err := l.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
	s := New(t.TempDir(), l)
	for digest, found := range map[string]bool{"sha256:of": true, "sha256:other": false, "": false} {
		if p, err := s.first(t.Context(), 1, crawl.Layer{}, u.Key(), digest); err != nil || (p != nil) != found || found && p.Owner != 2 {
			t.Errorf("%q: %+v, %v", digest, p, err)
		}
	}
}
