package assemble_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/verify"
	"argosy/internal/webs"
)

// writeFixture makes TestDirectoriesOfEveryVersion write the directory that this version leaves.
var writeFixture = flag.Bool("fixture.write", false, "write testdata/argosy-VERSION.tar.gz: a directory that later versions must open")

// fixtures are directories of crawls that were cut short, one for each released version; in those that end in -killed the log is ahead
// of frontier and ledger.
const fixtures = "testdata/argosy-*.tar.gz"

// maxFixture bounds one, in bytes.
const maxFixture = 300 << 10

// fixtureWeb is the same small web for ever: directories of all versions go on with it. What it holds may not change.
func fixtureWeb() *webs.Web {
	page := func(rw http.ResponseWriter, title, body string) {
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		rw.Header()["Date"] = []string{"Sun, 01 Nov 2026 00:00:00 GMT"}
		_, _ = fmt.Fprintf(rw, "<!DOCTYPE html><title>%s</title><p>%s</p>", title, body)
	}
	one := http.NewServeMux()
	one.HandleFunc("/robots.txt", func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(rw, "User-agent: *\nDisallow: /private/\n")
	})
	one.HandleFunc("/{$}", func(rw http.ResponseWriter, _ *http.Request) {
		body := `<a href="/private/x">no</a> <a href="/moved">moved</a> <a href="/none">none</a> <a href="http://elsewhere.test/">out</a>
<a href="http://two.test/">two</a> <a href="/copy/1">copy</a> <a href="/copy/2">copy</a>`
		for i := range 12 {
			body += fmt.Sprintf(` <a href="/page/%d">%d</a>`, i, i)
		}
		page(rw, "one", body)
	})
	one.HandleFunc("/page/{n}", func(rw http.ResponseWriter, r *http.Request) {
		n, deeper := r.PathValue("n"), ""
		if len(n) < 4 {
			deeper = `<a href="/page/` + n + `x">deeper</a>`
		}
		page(rw, "page "+n, `Words of page `+n+`. `+deeper+` <a href="/?b=2&amp;a=1">parameters</a>`)
	})
	one.HandleFunc("/copy/{n}", func(rw http.ResponseWriter, _ *http.Request) {
		page(rw, "copy", "The same words, twice: a page that is long enough for the second one to be a revisit of the first.")
	})
	one.HandleFunc("/moved", func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Location", "/page/1")
		rw.WriteHeader(http.StatusMovedPermanently)
	})
	two := http.NewServeMux()
	two.HandleFunc("/{$}", func(rw http.ResponseWriter, _ *http.Request) {
		page(rw, "two", `<a href="/cut">cut</a> <a href="/end">end</a>`)
	})
	two.HandleFunc("/end", func(rw http.ResponseWriter, _ *http.Request) { page(rw, "end", "end") })
	two.HandleFunc("/cut", func(rw http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(rw).Hijack()
		if err == nil {
			_ = conn.Close()
		}
	})
	w := webs.New()
	w.Sites["one.test"], w.Sites["two.test"] = one, two
	return w
}

// fixtureURLs are the URLs of the web and what becomes of each.
func fixtureURLs() map[string]string {
	out := map[string]string{
		"http://one.test/": "fetched 200", "http://one.test/?b=2&a=1": "fetched 200", "http://one.test/private/x": "excluded 0",
		"http://one.test/moved": "fetched 301", "http://one.test/none": "fetched 404", "http://one.test/copy/1": "fetched 200",
		"http://one.test/copy/2": "fetched 200", "http://two.test/": "fetched 200", "http://two.test/cut": "failed 0", "http://two.test/end": "fetched 200",
	}
	for i := range 12 {
		for n := fmt.Sprint(i); len(n) <= 4; n += "x" {
			out["http://one.test/page/"+n] = "fetched 200"
		}
	}
	return out
}

// crawlFixture crawls the web into a directory; pages bounds how much of it, 0 does not.
func crawlFixture(t *testing.T, w *webs.Web, dir string, pages int64) assemble.Summary {
	t.Helper()
	port := served(t, w)
	c := assemble.DefaultConfig(dir)
	c.Job.Identity = crawl.Identity{Seeds: []string{"http://one.test/", "http://two.test/"}, Scope: crawl.ScopeSite, UserAgent: "argosy-test", Text: true}
	c.Job.Limits.Delay, c.Job.Limits.PerIP, c.Job.Limits.Backoff = 0, 0, time.Millisecond
	c.Job.Limits.SiteConnections, c.Job.Limits.MaxPages, c.Job.Limits.MaxDepth = 1, pages, 8
	c.Fetch.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Fetch.Resolve = map[string]netip.Addr{"*.test": netip.MustParseAddr("127.0.0.1")}
	c.Fetch.Dial = func(ctx context.Context, network, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, network, "127.0.0.1:"+port)
	}
	cr, err := assemble.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := cr.Run(t.Context(), nil)
	if err := errors.Join(err, cr.Close()); err != nil {
		t.Fatal(err)
	}
	checkCounts(t, sum)
	return sum
}

// A directory that any released version has left, and one of this version, are opened, verified, and gone on with to the end:
// everything is found, and nothing is fetched twice.
func TestDirectoriesOfEveryVersion(t *testing.T) {
	t.Parallel()
	own := filepath.Join(t.TempDir(), "own.tar.gz")
	if *writeFixture {
		own = filepath.Join("testdata", "argosy-"+outdir.Version+".tar.gz")
	}
	dir := t.TempDir()
	if sum := crawlFixture(t, fixtureWeb(), dir, 10); sum.State != crawl.JobLimited || sum.Pending == 0 {
		t.Fatalf("not cut short: %+v", sum)
	}
	packFixture(t, dir, own)
	released, err := filepath.Glob(fixtures)
	if err != nil {
		t.Fatal(err)
	}
	if mine := filepath.Join("testdata", "argosy-"+outdir.Version+".tar.gz"); !slices.Contains(released, mine) {
		t.Errorf("%s is missing: -fixture.write makes it", mine)
	}
	for _, file := range append(released, own) {
		t.Run(filepath.Base(file), func(t *testing.T) { goOn(t, file) })
	}
}

func goOn(t *testing.T, file string) {
	dir := t.TempDir()
	unpackFixture(t, file, dir)
	clean := func() *verify.Report {
		r, err := verify.Dir(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		if !r.OK {
			t.Errorf("verify: %v", r.Details)
		}
		return r
	}
	before := clean()
	had := fixturePages(t, dir)
	if before.Pages == 0 || len(had) >= len(fixtureURLs()) {
		t.Errorf("%d of %d URLs are final, %d fetched", len(had), len(fixtureURLs()), before.Pages)
	}
	w := fixtureWeb()
	sum := crawlFixture(t, w, dir, 0)
	if sum.State != crawl.JobDone || sum.Pending != 0 {
		t.Errorf("%+v", sum)
	}
	clean()
	got, want := fixturePages(t, dir), fixtureURLs()
	for _, u := range slices.Sorted(maps.Keys(want)) {
		if got[u] != want[u] {
			t.Errorf("%s: %q, want %q", u, got[u], want[u])
		}
		delete(got, u)
	}
	if len(got) > 0 {
		t.Errorf("more than there is: %v", got)
	}
	for _, host := range []string{"one.test", "two.test"} {
		for _, h := range w.Hits(host) {
			if was := had["http://"+host+h.Path]; strings.HasPrefix(was, "fetched") {
				t.Errorf("http://%s%s was %s and is asked for again", host, h.Path, was)
			}
		}
	}
}

// fixturePages returns what the ledger says of each URL.
func fixturePages(t *testing.T, dir string) map[string]string {
	t.Helper()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	out := map[string]string{}
	err = l.Pages(t.Context(), 1, func(p *ledger.Page) error {
		out[p.URL] = fmt.Sprintf("%s %d", p.State, p.Status)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func packFixture(t *testing.T, dir, file string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	z, _ := gzip.NewWriterLevel(f, gzip.BestCompression) // the level is one of gzip's
	tw := tar.NewWriter(z)
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		if err == nil {
			err = tw.WriteHeader(&tar.Header{Name: filepath.ToSlash(name), Mode: 0o600, Size: int64(len(b))})
		}
		if err == nil {
			_, err = tw.Write(b)
		}
		return err
	})
	if err := errors.Join(err, tw.Close(), z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() > maxFixture {
		t.Errorf("%s: %d bytes, want at most %d: %v", file, info.Size(), maxFixture, err)
	}
}

func unpackFixture(t *testing.T, file, dir string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for tr := tar.NewReader(z); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, filepath.FromSlash(h.Name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(tr)
		if err == nil {
			err = os.WriteFile(path, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
