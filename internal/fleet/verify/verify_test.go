package verify

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/page/archive"
)

// Of pages that name one place, all but the one whose record lies there are lost, in whatever order the ledger has them.
func TestPlaceThatSeveralPagesName(t *testing.T) {
	dir := t.TempDir()
	at := oneRecord(t, dir, "http://s.test/a")
	urls := []string{"http://s.test/a", "http://s.test/b", "http://s.test/c"}
	for turn := range urls {
		r := newReport()
		wants := wanted{}
		for i := range urls {
			u, err := crawl.Parse(urls[(turn+i)%len(urls)])
			if err != nil {
				t.Fatal(err)
			}
			w := &want{url: u.String(), length: at.Length, page: crawl.Page{Key: u.Key()}, job: 1}
			wants.add(at.File, at.Offset, w)
			wants.add("gone.warc.gz", 0, &want{url: u.String() + "?gone", page: crawl.Page{Key: u.Key(), Layer: crawl.Layer{Gen: 1}}, job: 1})
		}
		if err := r.archives(context.Background(), archive.Dir(dir), wants); err != nil {
			t.Fatal(err)
		}
		r.missing(wants)
		want := []string{"http://s.test/a?gone", "http://s.test/b", "http://s.test/b?gone", "http://s.test/c", "http://s.test/c?gone"}
		if !slices.Equal(r.LostPages, want) || len(r.LostKeys[1]) != len(want) {
			t.Errorf("lost are %v, want %v", r.LostPages, want)
		}
	}
}

// oneRecord writes an archive of one exchange, and says where its response lies.
func oneRecord(t *testing.T, dir, url string) crawl.Location {
	t.Helper()
	w := archive.NewWriter(archive.WriterConfig{Dir: dir, Prefix: "test", MaxSize: 1 << 30})
	response := archive.Record{Type: "response", ID: archive.NewID(), Date: time.UnixMilli(0), URI: url, ContentType: archive.TypeResponse, Blocks: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\na page")}}
	request := archive.Record{Type: "request", ID: archive.NewID(), Date: time.UnixMilli(0), URI: url, ContentType: archive.TypeRequest, Blocks: [][]byte{[]byte("GET / HTTP/1.1\r\n\r\n")}}
	at, err := w.Append(response.Encode(nil), request.Encode(nil))
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	return at[0]
}

// Beside a process that works on other jobs, the index of a job that has ended is looked at.
func TestIndexBesideARunningProcess(t *testing.T) {
	dir := t.TempDir()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Seeds: []string{"http://s.test/"}}}
	other, early := *job, *job
	other.ID, early.ID = 2, 3
	err = errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), []ledger.Applied{
		{Seq: 1, At: 1000, Entry: &crawl.Entry{Kind: crawl.EntrySubmit, Job: job}},
		{Seq: 2, At: 2000, Entry: &crawl.Entry{Kind: crawl.EntrySubmit, Job: &other}},
		{Seq: 3, At: 2000, Entry: &crawl.Entry{Kind: crawl.EntrySubmit, Job: &early}},
		{Seq: 4, At: 3000, Entry: &crawl.Entry{Kind: crawl.EntryState, State: &crawl.JobState{Job: 1, State: crawl.JobDone}}},
	}))
	if err != nil {
		t.Fatal(err)
	}
	synctest.Test(t, func(t *testing.T) {
		look := func(at int64) int {
			r := newReport()
			if err := r.indexesBeside(context.Background(), dir, l, time.UnixMilli(at)); err != nil {
				t.Error(err)
			}
			return r.Problems
		}
		if n := look(3000 + indexTime.Milliseconds() - 1); n != 0 {
			t.Errorf("%d problems, although it may still be written", n)
		}
		late := 3001 + indexTime.Milliseconds()
		if n := look(late); n != 1 {
			t.Errorf("%d problems without an index, want 1", n)
		}
		path := outdir.JobIndex(dir, 1)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), outdir.WriteIndex(context.Background(), l, 1, path)); err != nil {
			t.Fatal(err)
		}
		if n := look(late); n != 0 {
			t.Errorf("%d problems with its index", n)
		}
		if err := l.Apply(context.Background(), []ledger.Applied{{Seq: 5, At: 3000, Entry: &crawl.Entry{Kind: crawl.EntryState, State: &crawl.JobState{Job: 3, State: crawl.JobDone}}}}); err != nil {
			t.Fatal(err)
		}
		if n := look(late); n != 1 {
			t.Errorf("%d problems where the second of two indexes is missing, want 1", n)
		}
		left := newReport()
		if err := left.indexes(context.Background(), dir, l, []uint32{1, 2, 3}); err != nil || left.Problems != 1 || !slices.Equal(left.Unended, []uint32{2}) {
			t.Errorf("where the process has died: %d problems, %v left, %v; want the index of job 3 missing, job 2 left", left.Problems, left.Unended, err)
		}
		if err := os.WriteFile(path, []byte("test,s)/ 2020 {}\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		if n := look(late); n == 0 {
			t.Error("another index is its own")
		}
	})
}
