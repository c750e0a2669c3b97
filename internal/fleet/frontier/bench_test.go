package frontier

import (
	"fmt"
	"testing"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// BenchmarkApply measures what a fetched page with six new links costs the view: its grant, its part, its links. Parts
// come as from a fleet: of 8 leases in an entry, five pages in a part, and refills for them.
func BenchmarkApply(b *testing.B) {
	const sites, leases, pages, links = 128, 8, 5, 6
	f, err := Open(DefaultConfig(b.TempDir()))
	if err != nil {
		b.Fatal(err)
	}
	defer f.Close()
	seq := uint64(0)
	apply := func(e crawl.Entry) Effects {
		seq++
		e.Version, e.Epoch = crawl.WireVersion, 1
		fx, err := f.Apply(seq, int64(seq)*100, &e)
		if err != nil {
			b.Fatal(err)
		}
		return fx
	}
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite}}
	for s := range sites {
		job.Identity.Seeds = append(job.Identity.Seeds, fmt.Sprintf("http://s%d.test/", s))
	}
	apply(crawl.Entry{Kind: crawl.EntryTerm})
	apply(crawl.Entry{Kind: crawl.EntrySubmit, Job: job})
	held := make([][]crawl.Target, sites+1)
	for id := uint32(1); id <= sites; id++ {
		targets, err := f.Next(id, pages)
		if err != nil {
			b.Fatal(err)
		}
		l := crawl.Lease{ID: uint64(id), Job: 1, Task: id, Site: f.Task(id).Site, Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 1 << 30, Targets: targets}
		for _, g := range apply(crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{l}}).Granted {
			held[id] = g.Targets
		}
	}
	no := make([]uint32, sites+1)
	name := 0
	next := uint32(0)
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; {
		parts := crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i"}
		refills := crawl.Entry{Kind: crawl.EntryGrant}
		ids := make([]uint32, 0, leases)
		for range leases {
			id := next%sites + 1
			next++
			no[id]++
			ids = append(ids, id)
			p := crawl.Part{Lease: uint64(id), Attempt: 1, Epoch: 1, Secret: "s", No: no[id], Want: pages, Bytes: 30_000 * pages}
			for _, g := range held[id] {
				found := crawl.Found{Parent: g.Key}
				for range links {
					name++
					found.Links = append(found.Links, crawl.Link{URL: fmt.Sprintf("http://s%d.test/section/chapter/page-%d.html", id-1, name), Anchor: "a page"})
				}
				p.Found = append(p.Found, found)
				p.Outcomes = append(p.Outcomes, crawl.Outcome{
					Key: g.Key, URL: g.URL, State: crawl.Fetched, Status: 200, HTML: true, Bytes: 30_000, Digest: fmt.Sprintf("sha256:%x", xxh3.HashString128(g.URL).Bytes()), ETag: fmt.Sprintf(`"%x"`, xxh3.HashString(g.URL)),
				})
				n++
			}
			parts.Parts = append(parts.Parts, p)
		}
		apply(parts)
		for _, id := range ids {
			targets, err := f.Next(id, pages)
			if err != nil {
				b.Fatal(err)
			}
			refills.Refills = append(refills.Refills, crawl.Refill{Lease: uint64(id), Targets: targets})
		}
		for i, r := range apply(refills).Refilled {
			held[ids[i]] = r.Targets
		}
		if seq%40 == 0 {
			if err := f.Sync(); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.StopTimer()
	if err := f.Sync(); err != nil {
		b.Fatal(err)
	}
	urls := float64(f.Job(1).Totals.Discovered)
	b.ReportMetric(float64(f.db.Metrics().DiskSpaceUsage())/urls, "B/URL-written")
	f.Rest()
	f.resting.Wait()
	f.db.TestOnlyWaitForCleaning()
	b.ReportMetric(float64(f.db.Metrics().DiskSpaceUsage())/urls, "B/URL-rested")
	if t := f.Job(1).Totals; t.Fetched < int64(b.N) {
		b.Fatalf("%d pages of %d", t.Fetched, b.N)
	}
}
