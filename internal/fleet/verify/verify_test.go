package verify

import (
	"bytes"
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/page/archive"
)

// The indexes of a fleet lie with who leads: in the directory of a coordinator that stands by they are not missed, nor is its view behind.
func TestStandbysDirectory(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.MkdirAll(outdir.State(dir), 0o700), outdir.OpenFormat(dir, "test")); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Seeds: []string{"http://s.test/"}}}
	err = errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), []ledger.Applied{
		{Seq: 1, At: 1000, Entry: &crawl.Entry{Kind: crawl.EntrySubmit, Job: job}},
		{Seq: 2, At: 3000, Entry: &crawl.Entry{Kind: crawl.EntryState, State: &crawl.JobState{Job: 1, State: crawl.JobDone}}},
	}), l.Close())
	if err != nil {
		t.Fatal(err)
	}
	for leader, want := range map[string]int{"": 1, "other": 0} {
		if err := outdir.NoteStandby(dir, leader); err != nil {
			t.Fatal(err)
		}
		r, err := Check(t.Context(), Place{Dir: dir, Ledger: filepath.Join(dir, outdir.LedgerFile)})
		if err != nil || r.Problems != want || r.Leader != leader {
			t.Errorf("%q leads: %+v, %v", leader, r, err)
		}
	}
}

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

// onePage makes the directory of a fleet whose ledger has one page, with its record at a place, and returns the page's key.
func onePage(t *testing.T, dir string, at crawl.Location) crawl.Key {
	u, err := crawl.Parse("http://s.test/")
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(os.Mkdir(outdir.State(dir), 0o700), outdir.OpenFormat(dir, outdir.Version), outdir.Claim(dir, "")); err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Seeds: []string{"http://s.test/"}}}
	lease := crawl.Lease{ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "osaka", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Targets: []crawl.Target{{Key: u.Key(), URL: u.String()}}}
	part := crawl.Part{Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: 1, Final: true, Outcomes: []crawl.Outcome{{
		Key: u.Key(), URL: u.String(), State: crawl.Fetched, Status: 200, Record: at, Digest: "sha1:" + "A", Bytes: 6,
	}}}
	err = errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), []ledger.Applied{
		{Seq: 1, At: 1000, Entry: &crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job}},
		{Seq: 2, At: 2000, Entry: &crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{lease}}},
		{Seq: 3, At: 3000, Entry: &crawl.Entry{Kind: crawl.EntryParts, Node: "osaka", Incarnation: "i", Parts: []crawl.Part{part}}},
	}), l.Close())
	if err != nil {
		t.Fatal(err)
	}
	return u.Key()
}

// What is damaged of a ledger is told wherever it is: also of an index, by which a coordinator looks pages up and verify does not.
func TestDamagedIndexOfTheLedger(t *testing.T) {
	store, dir := t.TempDir(), t.TempDir()
	key := onePage(t, dir, oneRecord(t, store, "http://s.test/"))
	path := filepath.Join(dir, outdir.LedgerFile)
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	places := 0
	for at := 0; ; at++ {
		next := bytes.Index(whole[at:], key[:])
		if next < 0 {
			break
		}
		at, places = at+next, places+1
		hurt := bytes.Clone(whole)
		hurt[at] ^= 1
		if err := os.WriteFile(path, hurt, 0o600); err != nil {
			t.Fatal(err)
		}
		r, err := Check(t.Context(), Place{Dir: dir, Stores: []string{store}})
		if err == nil && !slices.ContainsFunc(r.Details, func(s string) bool { return strings.Contains(s, "argosy rebuild ledger "+dir) }) {
			t.Errorf("byte %d of the ledger is changed: %+v", at, r)
		}
	}
	if places < 2 { // in the table, and in its index
		t.Errorf("the page's key stands in %d places", places)
	}
}

// A ledger that was made anew from the log knows no store: what lies there is not lost, and verify says what to name.
func TestStoresThatNobodyKnows(t *testing.T) {
	dir, store := t.TempDir(), t.TempDir()
	onePage(t, dir, oneRecord(t, store, "http://s.test/"))
	r, err := Check(t.Context(), Place{Dir: dir})
	if err != nil || !slices.Equal(r.Unplaced, []string{"osaka"}) || r.Lost != 0 || r.OK || !slices.ContainsFunc(r.Details, func(s string) bool { return strings.Contains(s, "--store PLACE") }) {
		t.Errorf("%v, %+v", err, r)
	}
	if r, err = Check(t.Context(), Place{Dir: dir, Stores: []string{store}}); err != nil || r.Lost > 1 || len(r.Unplaced) > 0 {
		t.Errorf("with the store: %v, %+v", err, r)
	}
}

// Beside a process that works there frontier and ledger are compared where nothing comes meanwhile: pages that only one of them has are
// told of, with how many each has.
func TestSinksBesideARunningProcess(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(os.Mkdir(outdir.State(dir), 0o700), outdir.OpenFormat(dir, outdir.Version), outdir.Claim(dir, "")); err != nil {
		t.Fatal(err)
	}
	lock, err := outdir.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	f, err := frontier.Open(frontier.DefaultConfig(outdir.Frontier(dir)))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u, err := crawl.Parse("http://s.test/")
	if err != nil {
		t.Fatal(err)
	}
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{u.String()}}}
	lease := crawl.Lease{ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Targets: []crawl.Target{{Key: u.Key(), URL: u.String()}}}
	part := crawl.Part{Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: 1, Outcomes: []crawl.Outcome{{Key: u.Key(), URL: u.String(), State: crawl.Failed, Reason: crawl.KindTimeout}}}
	log := []*crawl.Entry{
		{Kind: crawl.EntryTerm, Epoch: 1}, {Kind: crawl.EntrySubmit, Epoch: 1, Job: job}, {Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{lease}},
		{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{part}}, {Kind: crawl.EntryTerm, Epoch: 2},
		{Kind: crawl.EntryMeasures, Node: "n", Incarnation: "i", Measures: []crawl.Measure{{Kind: crawl.MeasurePing, MS: []float64{math.NaN()}}}}, // the ledger sets it aside
	}
	apply := func(without int, to int) { // to both; the ledger does not hear of one
		for seq := int(f.Position().Seq) + 1; seq <= to; seq++ {
			if _, err := f.Apply(uint64(seq), int64(seq)*1000, log[seq-1]); err != nil {
				t.Fatal(err)
			}
			if seq == without {
				continue
			}
			if err := l.Apply(t.Context(), []ledger.Applied{{Seq: uint64(seq), At: int64(seq) * 1000, Entry: log[seq-1]}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	control, err := outdir.Listen(dir, func(_ context.Context, question string) error {
		to, ok := strings.CutPrefix(question, outdir.Checkpoint)
		if !ok {
			return outdir.ErrQuestion
		}
		return f.Checkpoint(to)
	})
	if err = errors.Join(err, f.Rebase("log", 0), l.Rebase(t.Context(), "log", 0)); err != nil {
		t.Fatal(err)
	}
	defer control.Close()
	look := func() *Report {
		r, err := Check(t.Context(), Place{Dir: dir, Running: true})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	apply(4, 4)
	if r := look(); r.Sinks || !r.OK {
		t.Errorf("while the ledger is behind: %+v", r)
	}
	apply(0, 5)
	if r := look(); r.OK || r.Lost != 1 || !slices.ContainsFunc(r.Details, func(s string) bool {
		return strings.Contains(s, "of 1 pages the frontier says how they have ended, the ledger of 0")
	}) {
		t.Errorf("%+v", r)
	}
	apply(0, 6)
	if r := look(); r.Sinks || !r.OK {
		t.Errorf("while the frontier has not heard of what the ledger has set aside: %+v", r)
	}
	if os.Getuid() == 0 {
		return // root may write everywhere
	}
	if err := os.Chmod(outdir.State(dir), 0o500); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(outdir.State(dir), 0o700) }()
	if r := look(); r.Sinks {
		t.Errorf("where it may only be read: %+v", r)
	}
}

// A record that counts twice, as a page's and beside it, is told.
func TestRecordThatCountsTwice(t *testing.T) {
	l, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	u, err := crawl.Parse("http://s.test/a")
	if err != nil {
		t.Fatal(err)
	}
	o := crawl.Outcome{Key: u.Key(), URL: u.String(), State: crawl.Fetched, Status: 200, Record: crawl.Location{File: "f", Offset: 3, Length: 9}}
	problems := func() int {
		t.Helper()
		r := newReport()
		if err := r.pages(t.Context(), "dir", l, 1, wanted{}); err != nil {
			t.Fatal(err)
		}
		return int(r.Problems)
	}
	if err := l.Restore(t.Context(), "log", 1, func(to *ledger.Restorer) error { return to.Page(1, 1, "s.test", &o) }); err != nil {
		t.Fatal(err)
	}
	if n := problems(); n > 0 {
		t.Errorf("%d problems of a page", n)
	}
	if err := l.Restore(t.Context(), "log", 1, func(to *ledger.Restorer) error { return to.Capture(1, "s.test", &o) }); err != nil {
		t.Fatal(err)
	}
	if n := problems(); n != 1 {
		t.Errorf("%d problems of a record that counts twice", n)
	}
}
