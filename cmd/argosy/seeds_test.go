package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/web"
)

// many writes a file of so many seeds of a site that they cannot stand in a job.
func many(t *testing.T, site string) (path string, n int) {
	t.Helper()
	var b bytes.Buffer
	for ; b.Len() < crawl.MaxInline+crawl.MaxInline/2; n++ {
		fmt.Fprintf(&b, "%s/%d?%s\n", site, n, strings.Repeat("x", 300))
	}
	return written(t, "seeds.txt", b.String()), n
}

// Seeds that are many are all in before anything is fetched; the directory alone goes on, with others it is another job's.
func TestManySeeds(t *testing.T) {
	t.Parallel()
	site := serves(t, "", func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("Content-Type", "text/html") })
	seeds, n := many(t, site)
	dir := filepath.Join(t.TempDir(), "c")
	args := []string{"--seeds", seeds, "-o", dir, "--allow-private", "--delay", "0", "--max-pages", "2"}
	var s struct {
		State               string
		Fetched, Discovered int
	}
	crawls := func(want int, args ...string) {
		t.Helper()
		code, out, errs := apart(t, append([]string{"crawl", "--json"}, args...)...)
		if err := json.Unmarshal([]byte(out), &s); code != want || err != nil {
			t.Fatalf("exit %d: %s%s", code, out, errs)
		}
	}
	crawls(0, args...)
	if s.Fetched != 2 || s.Discovered != n {
		t.Errorf("%+v, want %d seeds", s, n)
	}
	if err := os.WriteFile(seeds, []byte("not\x00read\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if crawls(0, "-o", dir, "--max-pages", "3"); s.Fetched != 3 || s.Discovered != n {
		t.Errorf("%+v, want %d seeds", s, n)
	}
	other, n := many(t, site+"/other")
	if code, _, errs := apart(t, append([]string{"crawl", "--seeds", other}, args[2:]...)...); code != exitUsage || !strings.Contains(errs, "another job") {
		t.Errorf("exit %d: %s", code, errs)
	}
	b, err := os.ReadFile(other)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, append(b, "\n# and a bad one\nftp://no.example/\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	code, _, errs := apart(t, append([]string{"crawl", "--seeds", other}, args[2:]...)...)
	if want := fmt.Sprintf("%s:%d: seed \"ftp://no.example/\"", other, n+3); code != exitUsage || !strings.Contains(errs, want) {
		t.Errorf("exit %d: %s, want %s", code, errs, want)
	}
}

// A list is handed over whole from any seed on; what has changed since it was read first is not.
func TestSeedsInPieces(t *testing.T) {
	path, n := many(t, "a.test")
	source, err := seedFile(path)
	if err != nil {
		t.Fatal(err)
	}
	set, err := readSeeds(source, nil)
	if err != nil || set.list == nil || set.list.Count != int64(n) || len(set.seeds) > 0 {
		t.Fatalf("%v: %+v", err, set.list)
	}
	for _, from := range []int{0, 1, n / 2, n - 1, n} {
		at := int64(from)
		err := set.chunks(at, func(c crawl.SeedChunk) error {
			if c.From != at || len(c.NoScheme) != len(c.URLs) || !strings.HasPrefix(c.URLs[0], fmt.Sprintf("https://a.test/%d?", at)) {
				return fmt.Errorf("from %d: %d seeds, %d without a scheme, the first is %.40s", c.From, len(c.URLs), len(c.NoScheme), c.URLs[0])
			}
			at += int64(len(c.URLs))
			return nil
		})
		if err != nil || at != int64(n) {
			t.Errorf("from %d to %d: %v", from, at, err)
		}
	}
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	b[len(b)-2]++
	if err := os.WriteFile(path, b, 0o644); err != nil {
		t.Fatal(err)
	}
	in := int64(0)
	err = set.chunks(0, func(c crawl.SeedChunk) error { in += int64(len(c.URLs)); return nil })
	if err == nil || in >= int64(n) {
		t.Errorf("all %d of %d seeds of a list that has changed are in: %v", in, n, err)
	}
}

// Where nothing can be written over, waiting for a job writes lines, and few of them.
func TestWaitingWritesPlainLines(t *testing.T) {
	var file, screen bytes.Buffer
	begin := time.Unix(0, 0)
	for _, w := range []*waiting{{w: &file}, {w: &screen, line: true}} {
		for i := range 100 {
			w.progress(begin.Add(time.Duration(i)*300*time.Millisecond), &web.Job{})
		}
		w.end()
	}
	if got := file.String(); strings.ContainsAny(got, "\r\x1b") || strings.Count(got, "\n") != 3 {
		t.Errorf("%q", got)
	}
	if got := screen.String(); strings.Contains(got, "\n") || !strings.HasSuffix(got, "\r\x1b[K") {
		t.Errorf("%q", got)
	}
}

// Each wrong seed of a file has a line of its own; other messages have one line.
func TestWrongSeedsHaveLines(t *testing.T) {
	t.Parallel()
	seeds := filepath.Join(t.TempDir(), "seeds")
	if err := os.WriteFile(seeds, []byte("http://\nht tp\nhttp://a.test/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, _, errs := apart(t, "crawl", "--seeds", seeds, "-o", filepath.Join(t.TempDir(), "c"))
	if lines := strings.Split(strings.TrimSpace(errs), "\n"); code != exitUsage || len(lines) != 3 || !strings.HasPrefix(lines[2], "  "+seeds+":2: ") {
		t.Errorf("exit %d, %q", code, lines)
	}
	if got := oneLine("a\nb\n  c\n  d\ne"); got != "a; b\n  c\n  d; e" {
		t.Errorf("%q", got)
	}
}
