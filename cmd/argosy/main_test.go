package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/verify"
)

// argosy runs a command line and returns its exit code and what it printed.
func argosy(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	read := func(f **os.File) func() string {
		was := *f
		r, w, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		*f = w
		out := make(chan string)
		go func() {
			b, _ := io.ReadAll(r)
			out <- string(b)
		}()
		return func() string {
			*f = was
			_ = w.Close()
			return <-out
		}
	}
	so, se := read(&os.Stdout), read(&os.Stderr)
	code = run(context.Background(), args)
	return code, so(), se()
}

// Bad input gets one line that says what, where and what is allowed, and exit code 2.
func TestBadInput(t *testing.T) {
	dir := t.TempDir()
	seeds := filepath.Join(dir, "seeds.txt")
	if err := os.WriteFile(seeds, []byte("# fine\nhttp://ok.example/\nftp://no.example/\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"crawl"}, "no seed"},
		{[]string{"crawl", "ftp://x/"}, `seed "ftp://x/"`},
		{[]string{"crawl", "--seeds", seeds}, seeds + ":3:"},
		{[]string{"crawl", "--seeds", filepath.Join(dir, "none")}, "--seeds"},
		{[]string{"crawl", "x.example", "--scope", "planet"}, "site, host, domain, prefix, any"},
		{[]string{"crawl", "x.example", "--include", "["}, `include "["`},
		{[]string{"crawl", "x.example", "--max-pages", "-1"}, "--max-pages"},
		{[]string{"crawl", "x.example", "--max-pages", "many"}, "--max-pages"},
		{[]string{"crawl", "x.example", "--max-bytes", "1X"}, "K, M, G or T"},
		{[]string{"crawl", "x.example", "--delay", "-1s"}, "--delay"},
		{[]string{"crawl", "x.example", "--resolve", "x"}, "HOST=IP"},
		{[]string{"crawl", "x.example", "--allow-private=10"}, "CIDR"},
		{[]string{"crawl", "x.example", "--bind", "here"}, "--bind"},
		{[]string{"crawl", "x.example", "--proxy", "gopher://x"}, "--proxy"},
		{[]string{"crawl", "x.example", "--header", "nonsense"}, "--header"},
		{[]string{"crawl", "x.example", "--header", "Host: y"}, "ours to set"},
		{[]string{"crawl", "x.example", "--strategy", "guess"}, "roundrobin"},
		{[]string{"crawl", "x.example", "--log-level", "loud"}, "debug, info, warn, error"},
		{[]string{"crawl", "x.example", "--nonsense"}, "--nonsense"},
		{[]string{"verify", "-o", dir}, "not the directory of a crawl"},
		{[]string{"export"}, "-o"},
		{[]string{"drop", "-o", dir}, "at least 1"},
		{[]string{"frobnicate"}, "frobnicate"},
	} {
		code, out, errs := argosy(t, c.args...)
		if code != exitUsage || out != "" || strings.Count(errs, "\n") != 1 || !strings.Contains(errs, c.want) {
			t.Errorf("argosy %s: exit %d, stdout %q, stderr %q; want exit 2 and one line with %q", strings.Join(c.args, " "), code, out, errs, c.want)
		}
	}
}

// The demo ends well, and its directory answers every other command.
func TestDemoAndDirectory(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	code, out, errs := argosy(t, "demo", "-o", dir, "--json")
	if code != exitDone {
		t.Fatalf("exit %d\n%s\n%s", code, out, errs)
	}
	var sum struct {
		State                                            string
		Sites, Discovered, Fetched, Failed, Excluded     int64
		Pages, Pending, Manual, Requests, Bytes, Seconds float64
		Reasons                                          map[string]int64
		Verify                                           verify.Report
	}
	if err := json.Unmarshal([]byte(out), &sum); err != nil {
		t.Fatal(err)
	}
	if sum.State != "done" || sum.Sites != 12 || !sum.Verify.OK || sum.Discovered != sum.Fetched+sum.Failed+sum.Excluded {
		t.Errorf("%+v", sum)
	}
	for _, r := range []string{"trap-chain", "redirects", "robots", "robots-down", "scope", "decoded-large"} {
		if sum.Reasons[r] == 0 {
			t.Errorf("no URL was refused or failed with reason %s: %v", r, sum.Reasons)
		}
	}
	if code, out, _ := argosy(t, "verify", "-o", dir); code != 0 || !strings.HasPrefix(out, "clean") {
		t.Errorf("verify: exit %d, %s", code, out)
	}
	code, out, _ = argosy(t, "export", "-o", dir)
	if code != 0 || int64(strings.Count(out, "\n")) != sum.Fetched+sum.Failed+countState(out, "excluded") {
		t.Errorf("export: exit %d, %d lines", code, strings.Count(out, "\n"))
	}
	if code, out, _ := argosy(t, "tasks", "-o", dir, "--json"); code != 0 || strings.Count(out, "\n") != 12 {
		t.Errorf("tasks: exit %d, %s", code, out)
	}
	if code, out, _ := argosy(t, "retry", "-o", dir); code != 0 || strings.HasPrefix(out, "0 URLs") {
		t.Errorf("retry: exit %d, %s", code, out)
	}
	code, _, errs = argosy(t, "crawl", "http://other.example/", "-o", dir, "--quiet")
	if code != exitUsage || !strings.Contains(errs, "belongs to another job") || !strings.Contains(errs, "seeds") {
		t.Errorf("another job: exit %d, %s", code, errs)
	}
	damage(t, dir)
	code, out, _ = argosy(t, "verify", "-o", dir, "--json")
	var r verify.Report
	if err := json.Unmarshal([]byte(out), &r); err != nil || code != exitFailed || r.OK || r.Lost == 0 {
		t.Errorf("verify of a damaged archive: exit %d, %v, %s", code, err, out)
	}
	if code, out, _ := argosy(t, "retry", "-o", dir, "--lost"); code != 0 || !strings.Contains(out, "pending") {
		t.Errorf("retry --lost: exit %d, %s", code, out)
	}
}

func countState(jsonl, state string) (n int64) {
	for l := range strings.Lines(jsonl) {
		if strings.Contains(l, `"state":"`+state+`"`) {
			n++
		}
	}
	return n
}

// damage cuts the largest archive of a crawl in half.
func damage(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "warc", "*.warc.gz"))
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	largest, size := "", int64(0)
	for _, f := range files {
		if st, err := os.Stat(f); err == nil && st.Size() > size {
			largest, size = f, st.Size()
		}
	}
	b, err := os.ReadFile(largest)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(largest, bytes.Clone(b[:len(b)/2]), 0o644); err != nil {
		t.Fatal(err)
	}
}
