package assemble_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/verify"
	"argosy/internal/page/archive"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// Damage costs what it hits, and what refers to that: records behind it are read, a revisit is lost with the record that has
// its body, a page with its text.
func TestDamageCostsWhatItHits(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		hit  func(p *ledger.Page) (at, n int64) // 0: not this page
		lost func(p *ledger.Page) bool
	}{
		{
			"a response with revisits",
			func(p *ledger.Page) (int64, int64) {
				if p.Title != "copy" || p.Revisit {
					return 0, 0
				}
				return p.Offset, p.Length
			},
			func(p *ledger.Page) bool { return p.Title == "copy" },
		},
		{
			"a text",
			func(p *ledger.Page) (int64, int64) {
				if p.Title != "page 3" {
					return 0, 0
				}
				return p.TextAt, p.TextLen
			},
			func(p *ledger.Page) bool { return p.Title == "page 3" },
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			crawlFixture(t, fixtureWeb(), dir, 0)
			l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			hits, want := 0, []string(nil)
			err = l.Pages(t.Context(), 1, func(p *ledger.Page) error {
				if c.lost(p) {
					want = append(want, p.URL)
				}
				if at, n := c.hit(p); n > 0 {
					hits++
					return damage(filepath.Join(dir, outdir.WARCDir, p.WARC), at+n/2)
				}
				return nil
			})
			if err != nil || hits != 1 {
				t.Fatalf("%d records damaged, %v", hits, err)
			}
			r, err := verify.Dir(t.Context(), dir)
			if err != nil {
				t.Fatal(err)
			}
			slices.Sort(want)
			slices.Sort(r.LostPages)
			if r.OK || !slices.Equal(r.LostPages, want) {
				t.Errorf("lost are %q, want %q: %q", r.LostPages, want, r.Details)
			}
			retry(t, dir, r.Again(1))
			crawlFixture(t, fixtureWeb(), dir, 0)
			if r, err = verify.Dir(t.Context(), dir); err != nil || !r.OK || r.Damaged == 0 {
				t.Errorf("when what was lost is had again: %+v, %v", r, err)
			}
		})
	}
}

// retry has a crawl's directory try again what a person asks for.
func retry(t *testing.T, dir string, r crawl.Release) {
	t.Helper()
	r.Job, r.Why = 1, "test"
	if err := assemble.Do(t.Context(), assemble.DefaultConfig(dir), func(ctx context.Context, co *coordinator.Coordinator) error {
		_, err := co.Release(ctx, crawl.EntryRetry, nil, r)
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// What was archived of a page that failed stays in the ledger and the index when the page is tried again.
func TestRetriedPageKeepsItsRecord(t *testing.T) {
	t.Parallel()
	w := webs.New()
	w.Sites["s0.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			_, _ = rw.Write(bytes.Repeat([]byte("long "), 1000))
		} else {
			http.NotFound(rw, r)
		}
	})
	port := served(t, w)
	c := fleettest.Crawl(t.TempDir(), port, 0, 2)
	c.Job.Identity.Seeds = c.Job.Identity.Seeds[:1]
	c.Job.Limits.Fetch.MaxBody = 1000
	check := func(what string, captures int64) {
		t.Helper()
		r, err := verify.Dir(t.Context(), c.Dir)
		indexed := int64(r.Indexed) == captures || len(r.Unended) > 0 && r.Indexed == 0 // the ledger may have heard that the job goes on
		if err != nil || !r.OK || r.Orphans != 0 || r.Pages+r.Beside != captures || !indexed {
			t.Errorf("%s: %+v, %v", what, r, err)
		}
	}
	if sum := runConfig(t, c); sum.Failed != 1 {
		t.Fatalf("%+v", sum)
	}
	check("failed", 2) // with robots.txt
	retry(t, c.Dir, crawl.Release{})
	check("to be tried again", 2)
	c.Job.Limits.Fetch.MaxBody = 1 << 20
	if sum := runConfig(t, c); sum.Fetched != 1 || sum.Failed != 0 {
		t.Errorf("%+v", sum)
	}
	check("had", 3) // the job has ended: with its index
}

// A page of which the answer is lost is asked for again, and the answers that it gave before that one stay; one of these that is lost is not named
// any more, and nobody is asked for it.
func TestLostAnswerLeavesOlderOnes(t *testing.T) {
	t.Parallel()
	w, port := serveWeb(t, 7, 10)
	dir := t.TempDir()
	run := func() { runConfig(t, fleettest.Crawl(dir, port, 0, 1)) }
	run()
	check := func(what string, lost int, beside int64) *verify.Report {
		t.Helper()
		r, err := verify.Dir(t.Context(), dir)
		if err != nil || r.OK != (lost == 0) || r.Lost != lost || r.Beside != beside {
			t.Fatalf("%s: %d lost, want %d; %d beside, want %d; %q, %v", what, r.Lost, lost, r.Beside, beside, r.Details, err)
		}
		return r
	}
	seed := "http://s1.test:" + port + "/"
	var page crawl.Page
	var last, older crawl.Location
	var places []crawl.Location
	answers := func() {
		l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		places = nil
		err = l.Captures(t.Context(), 1, func(c *ledger.Capture) error {
			if c.URL == seed {
				page = crawl.Page{Layer: c.Layer, Key: c.Key}
				at := crawl.Location{File: c.WARC, Offset: c.Offset, Length: c.Length}
				if places = append(places, at); c.Page {
					last = at
				} else {
					older = at
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for n := range 3 { // each time it answers as before: with a revisit
		answers()
		if len(places) != n+1 {
			t.Fatalf("%v", places)
		}
		if n < 2 {
			retry(t, dir, crawl.Release{Lost: []crawl.Page{page}, Keep: true})
			run()
		}
	}
	check("asked three times", 0, fleettest.Sites+2)
	hurt := func(at crawl.Location) {
		if err := damage(filepath.Join(dir, outdir.WARCDir, at.File), at.Offset+at.Length/2); err != nil {
			t.Fatal(err)
		}
	}
	hurt(last)
	retry(t, dir, check("the last answer lost", 1, fleettest.Sites+2).Again(1))
	run()
	check("had again", 0, fleettest.Sites+2)
	before := len(w.Hits("s1.test"))
	hurt(older)
	retry(t, dir, check("an older answer lost", 1, fleettest.Sites+2).Again(1))
	run()
	check("not named", 0, fleettest.Sites+1)
	if more := len(w.Hits("s1.test")) - before; more != 0 {
		t.Errorf("%d requests for an older answer", more)
	}
}

// Damage to the record of a request costs its page, and other damage nothing that the ledger names.
func TestDamageBesideResponses(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]int{"request": 1, "warcinfo": 0} {
		for _, where := range []int64{-1, 4} { // in the block: its digest; in the member's header: it cannot be read
			dir := t.TempDir()
			crawlFixture(t, fixtureWeb(), dir, 0)
			files, err := filepath.Glob(filepath.Join(dir, outdir.WARCDir, "*.warc.gz"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			at := recordOf(t, files[0], name)
			if where < 0 {
				at.Offset += at.Length / 2
			} else {
				at.Offset += where - 4
			}
			if err := damage(files[0], at.Offset); err != nil {
				t.Fatal(err)
			}
			r, err := verify.Dir(t.Context(), dir)
			if err != nil || r.OK != (lost == 0) || r.Damaged != 1 || len(r.LostPages) != lost {
				t.Errorf("%s: %+v, %v", name, r, err)
			}
		}
	}
}

// recordOf returns where the last record of a type stands.
func recordOf(t *testing.T, file, kind string) (at crawl.Location) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for rd := archive.NewReader(f); ; {
		rec, err := rd.Next()
		if errors.Is(err, io.EOF) {
			return at
		}
		if err == nil {
			err = rec.Discard()
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Type() == kind {
			at.Offset, at.Length = rec.Offset, rec.Length
		}
	}
}

// damage inverts a byte of a file.
func damage(path string, at int64) error {
	b, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	b[at] ^= 0xFF
	return os.WriteFile(path, b, 0o644)
}

// A robots.txt whose record is lost is asked for again, with one page of its site and no more, and verify is clean after it.
func TestLongLostRobots(t *testing.T) {
	t.Parallel()
	for _, gone := range []bool{false, true} { // a record, or its whole file
		w, port := serveWeb(t, 44, 30)
		dir := t.TempDir()
		first := runConfig(t, fleettest.Crawl(dir, port, 0, 1))
		l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
		if err != nil {
			t.Fatal(err)
		}
		var robots *ledger.Capture
		err = l.Captures(t.Context(), 1, func(c *ledger.Capture) error {
			if !c.Page && strings.HasSuffix(c.URL, "s2.test:"+port+"/robots.txt") {
				kept := *c
				robots = &kept
			}
			return nil
		})
		if err := errors.Join(err, l.Close()); err != nil || robots == nil {
			t.Fatalf("%v, %v", robots, err)
		}
		path := filepath.Join(dir, outdir.WARCDir, robots.WARC)
		if gone {
			err = os.Remove(path)
		} else {
			err = damage(path, robots.Offset+robots.Length/2)
		}
		if err != nil {
			t.Fatal(err)
		}
		r, err := verify.Dir(t.Context(), dir)
		if err != nil || r.OK || !gone && (r.Lost != 1 || len(r.Again(1).Lost) != 2) {
			t.Fatalf("%+v, %v", r, err)
		}
		before := len(w.Hits("s2.test"))
		retry(t, dir, r.Again(1))
		again := runConfig(t, fleettest.Crawl(dir, port, 0, 1))
		if again.State != crawl.JobDone || again.Fetched != first.Fetched || again.Excluded != first.Excluded || again.Bytes != first.Bytes {
			t.Errorf("%+v, before %+v", again, first)
		}
		asked := w.Hits("s2.test")[before:]
		if len(asked) == 0 || asked[0].Path != "/robots.txt" || !gone && (len(asked) != 2 || again.Requests != 2) {
			t.Errorf("asked for %v of %d requests", asked, again.Requests)
		}
		fleettest.Judge(t, dir, port)
		want := int64(fleettest.Sites)
		if !gone {
			want++ // the answer that the page had before
		}
		if r, err = verify.Dir(t.Context(), dir); err != nil || !r.OK || r.Beside != want {
			t.Errorf("%d captures beside pages, want %d: %+v, %v", r.Beside, want, r, err)
		}
	}
}
