package ledger_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// BenchmarkApply measures what a fetched page costs the ledger: rows come as from a fleet, a second's in a transaction,
// five in a part.
func BenchmarkApply(b *testing.B) {
	const sites, parts, pages = 128, 120, 5
	l, err := ledger.Open(b.Context(), filepath.Join(b.TempDir(), "l.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	seq := uint64(0)
	entry := func(e crawl.Entry) ledger.Applied {
		seq++
		e.Version, e.Epoch = crawl.WireVersion, 1
		return ledger.Applied{Seq: seq, At: int64(seq) * 100, Entry: &e}
	}
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite}}
	first := []ledger.Applied{entry(crawl.Entry{Kind: crawl.EntrySubmit, Job: job})}
	for id := range uint64(sites) {
		first = append(first, entry(crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{{
			ID: id + 1, Job: 1, Task: uint32(id + 1), Site: fmt.Sprintf("s%d.test", id), Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 1 << 30,
		}}}))
	}
	if err := l.Apply(b.Context(), first); err != nil {
		b.Fatal(err)
	}
	no := make([]uint32, sites)
	next := 0
	b.ReportAllocs()
	b.ResetTimer()
	for n := 0; n < b.N; {
		var second []ledger.Applied
		for i := 0; i < parts; i += 10 {
			e := crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i"}
			for range 10 {
				id := next % sites
				next++
				no[id]++
				p := crawl.Part{Lease: uint64(id + 1), Attempt: 1, Epoch: 1, Secret: "s", No: no[id], Bytes: 30_000 * pages}
				for range pages {
					n++
					url := fmt.Sprintf("http://s%d.test/section/chapter/page-%d.html", id, n)
					p.Outcomes = append(p.Outcomes, crawl.Outcome{
						Key: crawl.KeyOf(fmt.Sprintf("s%d.test", id), url), URL: url, State: crawl.Fetched, Status: 200, HTML: true, Bytes: 30_000,
						Mime: "text/html", Charset: "utf-8", Title: "A chapter of a section", Lang: "en", Simhash: uint64(n) * 0x9e3779b97f4a7c15, Links: 20,
						Depth: 3, IP: "192.0.2.1", Proto: "http/1.1", ETag: `"5f3c-1"`, LastMod: "Sat, 21 Nov 2026 10:00:00 GMT", Date: int64(seq) * 100,
						Digest: fmt.Sprintf("sha1:%032d", n), Record: crawl.Location{File: "n-20261121-000001.warc.gz", Offset: int64(n) * 9000, Length: 9000},
					})
				}
				e.Parts = append(e.Parts, p)
			}
			second = append(second, entry(e))
		}
		if err := l.Apply(b.Context(), second); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkFindPages measures what the last pages of a large job cost that somebody looks at.
func BenchmarkFindPages(b *testing.B) {
	const rows, each = 300_000, 1000
	l, err := ledger.Open(b.Context(), filepath.Join(b.TempDir(), "l.db"))
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite}}
	lease := crawl.Lease{ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 1 << 30}
	all := []ledger.Applied{{Seq: 1, At: 1, Entry: &crawl.Entry{Epoch: 1, Kind: crawl.EntrySubmit, Job: job}}, {Seq: 2, At: 2, Entry: &crawl.Entry{Epoch: 1, Kind: crawl.EntryGrant, Leases: []crawl.Lease{lease}}}}
	for no := range rows / each {
		p := crawl.Part{Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: uint32(no) + 1}
		for i := range each {
			url := fmt.Sprintf("http://s.test/page-%d.html", no*each+i)
			p.Outcomes = append(p.Outcomes, crawl.Outcome{
				Key: crawl.KeyOf("s.test", url), URL: url, State: crawl.Fetched, Status: 200, Mime: "text/html", Title: "A chapter of a section", Bytes: 30_000,
				Digest: fmt.Sprintf("sha1:%032d", no*each+i), Record: crawl.Location{File: "n-00001.warc.gz", Offset: int64(no*each+i) * 9000, Length: 9000},
			})
		}
		all = append(all, ledger.Applied{Seq: uint64(no) + 3, At: int64(no), Entry: &crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{p}}})
	}
	if err := l.Apply(b.Context(), all); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for b.Loop() {
		n := 0
		err := l.FindPages(b.Context(), 1, ledger.PageQuery{Limit: 50}, func(*ledger.Page) error { n++; return nil })
		if err != nil || n != 50 {
			b.Fatal(n, err)
		}
	}
}
