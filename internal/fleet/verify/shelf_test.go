package verify_test

import (
	"errors"
	"path/filepath"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/shelf"
	"argosy/internal/page/archive"
)

// The body of a page whose bytes were written once for all jobs is found with whatever job had it first, and with whatever crawler of that job.
func TestBodyOfACrawlersPage(t *testing.T) {
	dir := t.TempDir()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u, _ := crawl.Parse("http://a.test/1")
	w := archive.NewWriter(archive.WriterConfig{Dir: filepath.Join(dir, outdir.WARCDir), Prefix: "test", MaxSize: 1 << 30})
	head := "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n"
	first := archive.Record{Type: "response", ID: archive.NewID(), Date: time.UnixMilli(0), URI: u.String(), ContentType: archive.TypeResponse, Blocks: [][]byte{[]byte(head + "what it says")}}
	again := archive.Record{Type: "revisit", ID: archive.NewID(), Date: time.UnixMilli(0), URI: u.String(), ContentType: archive.TypeResponse, Blocks: [][]byte{[]byte(head)}}
	again.RefersTo = archive.Ref{ID: first.ID, URI: u.String(), Date: first.Date}
	at, err := w.Append(first.Encode(nil), again.Encode(nil))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	var all []ledger.Applied
	for job, owner := range []uint32{0, 2} { // the second job's crawlers remember for themselves
		lease := crawl.Lease{ID: 1<<32 | uint64(job+1), Job: uint32(job + 1), Task: uint32(job + 1), Site: "a.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 10, Targets: make([]crawl.Target, 1)}
		o := crawl.Outcome{Key: u.Key(), URL: u.String(), State: crawl.Fetched, Bytes: 9, Date: 1, Status: 200, Digest: "sha256:of", Record: at[0]}
		if o.Owner = owner; owner == 0 {
			o.Revisit, o.Record = true, at[1]
		}
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
	p, err := l.Page(t.Context(), 1, crawl.Page{Key: u.Key()})
	if err != nil || p == nil || !p.Revisit {
		t.Fatalf("%+v, %v", p, err)
	}
	s := shelf.New(dir, l)
	for digest, want := range map[string]string{"sha256:of": "what it says", "sha256:other": "", "": ""} {
		p.Digest = digest
		c, err := s.Read(t.Context(), 1, p, 1<<20)
		if c == nil || string(c.Body) != want || (err == nil) != (want != "") {
			t.Errorf("%q: %+v, %v", digest, c, err)
		}
	}
}
