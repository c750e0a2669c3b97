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

// A page whose bytes are those of another one has heads alone until the other is reported, and is said to be whole later.
func TestBodyThatComesLater(t *testing.T) {
	dir := t.TempDir()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	w := archive.NewWriter(archive.WriterConfig{Dir: filepath.Join(dir, outdir.WARCDir), Prefix: "x", MaxSize: 1 << 20})
	at, id := time.UnixMilli(1000).UTC(), archive.NewID()
	head, body := []byte("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\n"), []byte("milk")
	first := archive.Record{Type: "response", ID: id, Date: at, URI: "http://a.test/1", ContentType: archive.TypeResponse, Blocks: [][]byte{head, body}}
	again := archive.Record{Type: "revisit", ID: archive.NewID(), Date: at, URI: "http://a.test/2", ContentType: archive.TypeResponse, RefersTo: archive.Ref{ID: id, URI: "http://a.test/1", Date: at}, Blocks: [][]byte{head}}
	locs, err := w.Append(first.Encode(nil), again.Encode(nil))
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	lease := crawl.Lease{ID: 1<<32 | 1, Job: 1, Task: 1, Site: "a.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 10, Targets: make([]crawl.Target, 2)}
	seq := uint64(0)
	apply := func(e *crawl.Entry) {
		t.Helper()
		seq++
		e.Epoch = 1
		if err := l.Apply(t.Context(), []ledger.Applied{{Seq: seq, At: 1000, Entry: e}}); err != nil {
			t.Fatal(err)
		}
	}
	report := func(no uint32, url string, at crawl.Location, revisit bool) {
		t.Helper()
		u, _ := crawl.Parse(url)
		o := crawl.Outcome{Key: u.Key(), URL: url, State: crawl.Fetched, Bytes: 4, Date: 1, Status: 200, HTML: true, Digest: "sha256:of", Record: at, Revisit: revisit}
		apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{Lease: lease.ID, Attempt: 1, Epoch: 1, Secret: "s", No: no, Outcomes: []crawl.Outcome{o}}}})
	}
	apply(&crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits()}})
	apply(&crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{lease}})
	report(1, "http://a.test/2", locs[1], true)

	u, _ := crawl.Parse("http://a.test/2")
	p, err := l.Page(t.Context(), 1, crawl.Page{Key: u.Key()})
	if err != nil {
		t.Fatal(err)
	}
	s := shelf.New(dir, l)
	if c, err := s.Read(t.Context(), 1, p, 100); !errors.Is(err, shelf.ErrLater) || c == nil || c.Status != 200 || len(c.Body) > 0 {
		t.Fatalf("before the other is reported: %+v, %v", c, err)
	}
	report(2, "http://a.test/1", locs[0], false)
	if c, err := s.Read(t.Context(), 1, p, 100); err != nil || string(c.Body) != "milk" {
		t.Errorf("when it is: %+v, %v", c, err)
	}
}
