package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"argosy/internal/crawl"
)

// Who lets a chain go on is told how much that may take.
func TestWarnOfChains(t *testing.T) {
	var b strings.Builder
	warnOfChains(&b, []crawl.Trap{{Site: "a.test", Template: "/#", Example: "http://a.test/187", Waiting: 1, Answers: 186, Empty: 180}})
	for _, want := range []string{"a.test goes on after 186 answers, 180 with nothing new", "some 1,440 more requests", "http://a.test/187"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not said: %s", want, b.String())
		}
	}
}

// Pages that were answered with an error are asked again by their status: the counts add up, both answers stay archived, and verify finds
// nothing wrong. The end of the crawl names that command.
func TestRetryByStatus(t *testing.T) {
	t.Parallel()
	var well atomic.Bool
	site, dir := serves(t, "", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		switch {
		case r.URL.Path == "/gone":
			w.WriteHeader(http.StatusNotFound)
		case r.URL.Path != "/" && !well.Load():
			w.WriteHeader(map[string]int{"/1": 500, "/2": 502, "/3": 429}[r.URL.Path])
		}
		fmt.Fprintf(w, `<title>%s</title>page %[1]s of words <a href="/1">1</a> <a href="/2">2</a> <a href="/3">3</a> <a href="/gone">4</a>`, r.URL.Path)
	}), filepath.Join(t.TempDir(), "c")
	code, out, errs := apart(t, "crawl", site, "-o", dir, "--allow-private", "--delay", "0", "--retries", "0", "--backoff", "1ms")
	if code != 0 || !strings.Contains(out, "argosy retry "+dir+" --status 500") || !strings.Contains(out, "argosy retry "+dir+" --status 502") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	for _, c := range []struct {
		args []string
		code int
		want string
	}{
		{[]string{dir, "--status", "5yy"}, exitUsage, "100 to 599"},
		{[]string{dir, "--status", "600"}, exitUsage, "100 to 599"},
		{[]string{dir, "--status", ""}, exitUsage, "100 to 599"},
		{[]string{dir, "--status", "500", "--cut"}, exitUsage, "one at a time"},
		{[]string{"1", "--status", "500,700"}, exitUsage, "100 to 599"},
		{[]string{dir, "nowhere.test", "--status", "500"}, exitUsage, "none of job 1's sites"},
		{[]string{dir, "--status", "418,1xx"}, exitDone, "no page was answered with"},
		{[]string{dir, "--status", "418", "--json"}, exitDone, `"tasks":0`},
		{[]string{dir, "--lost"}, exitDone, "nothing is lost\n"},
		{[]string{dir, "--lost", "--json"}, exitDone, `"tasks":0`},
		{[]string{dir, "--status", "5xx, 429"}, exitDone, "3 URLs pending"},
		{[]string{dir, "--status", "5xx,429"}, exitDone, "no page was answered with"},
	} {
		code, out, errs := apart(t, append([]string{"retry"}, c.args...)...)
		if code != c.code || !strings.Contains(out+errs, c.want) {
			t.Errorf("retry %q: exit %d, want %d and %q\n%s%s", c.args, code, c.code, c.want, out, errs)
		}
	}
	if code, _, errs := apart(t, "verify", dir); code != 0 {
		t.Errorf("verify while they wait: exit %d, %s", code, errs)
	}
	well.Store(true)
	if s := crawled(t, 0, "-o", dir); s.State != "done" || s.Fetched != 5 || s.Excluded != 0 {
		t.Errorf("gone on: %+v", s)
	}
	if code, out, errs := apart(t, "verify", dir); code != 0 || !strings.Contains(out, "0 lost") {
		t.Errorf("verify: exit %d\n%s%s", code, out, errs)
	}
	index, err := os.ReadFile(filepath.Join(dir, "index.cdxj"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"status":"500"`, `"status":"502"`, `"status":"429"`} {
		if n := strings.Count(strings.ReplaceAll(string(index), `": "`, `":"`), want); n != 1 {
			t.Errorf("%s is in the index %d times:\n%s", want, n, index)
		}
	}
	_, out, _ = apart(t, "export", dir)
	if n := strings.Count(out, `"status":200`); n != 4 {
		t.Errorf("%d pages are well:\n%s", n, out)
	}
}

// A retry of all leaves what was dropped as it ended, in frontier and ledger.
func TestRetryLeavesWhatWasDropped(t *testing.T) {
	t.Parallel()
	page := func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/x" {
			panic(http.ErrAbortHandler)
		}
		fmt.Fprint(w, `<title>a</title>words of a page <a href=/x>x</a>`)
	}
	kept, dropped, dir := serves(t, "", page), serves(t, "", page), filepath.Join(t.TempDir(), "c")
	apart(t, "crawl", kept, dropped, "-o", dir, "--allow-private", "--delay", "0", "--retries", "0", "--backoff", "1ms")
	host := strings.Trim(strings.TrimPrefix(dropped, "http:"), "/")
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"drop", dir, host}, "1 task dropped"},
		{[]string{"retry", dir}, "1 URL pending"},
		{[]string{"verify", dir}, "clean"},
		{[]string{"export", dir, "--state", "failed"}, dropped + "x"},
	} {
		if code, out, errs := apart(t, c.args...); code != exitDone || !strings.Contains(out, c.want) {
			t.Errorf("%v: exit %d, want %q\n%s%s", c.args, code, c.want, out, errs)
		}
	}
}
