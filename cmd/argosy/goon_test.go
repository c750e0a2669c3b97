package main

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"fmt"
	"net/http"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/verify"
	"argosy/internal/testkit"
)

// chain is a site whose page N links to page N+1, and to one place outside.
func chain(t *testing.T, before func(path string)) string {
	t.Helper()
	return serves(t, "User-agent: *\nDisallow: /secret\n", func(w http.ResponseWriter, r *http.Request) {
		if before != nil {
			before(r.URL.Path)
		}
		n := 0
		_, _ = fmt.Sscanf(r.URL.Path, "/%d", &n)
		w.Header().Set("Content-Type", "text/html")
		fmt.Fprintf(w, `<title>page %d</title><a href="/%d">the next one</a> <a href="http://outside.example/">out there</a> <a href="/secret">a secret</a>`, n, n+1)
	})
}

type summary struct {
	State, Limited    string
	Fetched, Excluded int64
}

func crawled(t *testing.T, want int, args ...string) (s summary) {
	t.Helper()
	code, out, errs := apart(t, append([]string{"crawl", "--json"}, args...)...)
	if err := json.Unmarshal([]byte(out), &s); err != nil || code != want {
		t.Fatalf("argosy crawl %v: exit %d, %v\n%s%s", args, code, err, out, errs)
	}
	return s
}

// The directory alone is enough to go on, with the flags of the first time; one that is given again counts.
func TestGoesOnAlone(t *testing.T) {
	t.Parallel()
	site, dir := chain(t, nil), filepath.Join(t.TempDir(), "c")
	seeds := filepath.Join(t.TempDir(), "seeds.txt")
	if err := os.WriteFile(seeds, []byte("\ufeff"+site+"\r\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	first := crawled(t, 0, "--seeds", seeds, "-o", dir, "--allow-private", "--delay", "0", "--max-pages", "3", "--exclude", "outside")
	if first.State != "limited" || first.Limited != "max-pages" || first.Fetched != 3 {
		t.Fatalf("%+v", first)
	}
	if again := crawled(t, 0, "-o", dir); again.Fetched != 3 || again.State != "limited" || again.Limited != "max-pages" {
		t.Errorf("without anything new: %+v", again)
	}
	if more := crawled(t, 0, "-o", dir, "--max-pages", "5"); more.Fetched != 5 {
		t.Errorf("with a limit raised: %+v", more)
	}
	if last := crawled(t, 0, "-o", dir); last.Fetched != 5 {
		t.Errorf("the raised limit is forgotten: %+v", last)
	}
	code, _, errs := apart(t, "crawl", "-o", filepath.Join(t.TempDir(), "none"))
	if code != exitUsage || !strings.Contains(errs, "no crawl to go on with") {
		t.Errorf("nothing to go on with: exit %d, %s", code, errs)
	}
}

// A directory that does not say what this version understands is not gone on with as if it said less.
func TestUnknownWaysToBegin(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		`{"seeds": ["http://a.example/"], "flags": {"delay": ["0"]}, "flagz": {}}`: `unknown field "flagz"`,
		`{"seeds": ["http://a.example/"], "flags": {"dlay": ["0"]}}`:               "no flag --dlay",
		`{"seeds": ["http://a.example/"], "flags": {"delay": ["x"]}}`:              "--delay: ",
		`{"seeds": ["http://a.example/"], "flags": {}} more`:                       "more than one",
	} {
		dir := t.TempDir()
		if err := os.MkdirAll(filepath.Join(dir, "state"), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "state", "given.json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		code, _, errs := apart(t, "crawl", "-o", dir)
		if code != exitUsage || !strings.Contains(errs, "given.json: ") || !strings.Contains(errs, want) || strings.Count(errs, "\n") != 1 {
			t.Errorf("%s: exit %d, %s", text, code, errs)
		}
	}
}

// What is secret is not kept: it is asked for.
func TestSecretsAreAskedForAgain(t *testing.T) {
	t.Parallel()
	site, dir := chain(t, nil), filepath.Join(t.TempDir(), "c")
	crawled(t, 0, site, "-o", dir, "--allow-private", "--delay", "0", "--max-pages", "2", "--header", "X-Token: hush-hush")
	b, err := os.ReadFile(filepath.Join(dir, "state", "given.json"))
	if err != nil || strings.Contains(string(b), "hush") {
		t.Errorf("%v: %s", err, b)
	}
	code, _, errs := apart(t, "crawl", "-o", dir)
	if code != exitUsage || !strings.Contains(errs, "--header") {
		t.Errorf("exit %d: %s", code, errs)
	}
	var said strings.Builder
	if printSummary(&said, assemble.Summary{State: crawl.JobLimited, Out: dir}); !strings.Contains(said.String(), "goes on with a higher one; give it --header again\n") {
		t.Errorf("the way to go on lacks what it needs: %s", said.String())
	}
	crawled(t, 0, "-o", dir, "--max-pages", "3", "--header", "X-Token: hush-hush")
}

// A range of addresses behind a flag that takes one with = alone is not taken for a seed, which would be crawled with all addresses allowed.
func TestRangeIsNoSeed(t *testing.T) {
	t.Parallel()
	code, _, errs := apart(t, "crawl", "http://127.0.0.1:1/", "-o", filepath.Join(t.TempDir(), "c"), "--allow-private", "10.0.0.0/8")
	if code != exitUsage || !strings.Contains(errs, "--allow-private=10.0.0.0/8") || strings.Count(errs, "\n") != 1 {
		t.Errorf("exit %d: %s", code, errs)
	}
}

// A crawl that had brought nothing is tried again as a whole, with what the person has mended.
func TestMendedCrawlBeginsAgain(t *testing.T) {
	t.Parallel()
	url, _ := certified(t, farFuture, tls.NoClientCert)
	dir := filepath.Join(t.TempDir(), "c")
	crawled(t, exitFailed, url, "-o", dir, "--allow-private", "--delay", "0")
	if s := crawled(t, 0, "-o", dir, "--insecure"); s.Fetched != 1 {
		t.Errorf("%+v", s)
	}
}

// Every bad seed is named, with its line.
func TestBadSeedsAreAllNamed(t *testing.T) {
	dir := t.TempDir()
	seeds := filepath.Join(dir, "seeds.txt")
	text := "# mine\nhttp://ok.example/\nftp://no.example/\n\nhttp://[::1\nhttp://me:pass%zz@x.example/\n"
	for name, c := range map[string]struct{ text, want string }{
		"all":    {text[:strings.Index(text, "http://me")], ":3: |:5: "},
		"login":  {text, ":6: seed \"http://x.example/\""},
		"UTF-16": {"\xff\xfeh\x00t\x00", "UTF-16"},
	} {
		if err := os.WriteFile(seeds, []byte(c.text), 0o644); err != nil {
			t.Fatal(err)
		}
		code, _, errs := apart(t, "crawl", "--seeds", seeds, "-o", filepath.Join(dir, "c"))
		for want := range strings.SplitSeq(c.want, "|") {
			if code != exitUsage || !strings.Contains(errs, want) || strings.Contains(errs, "pass%zz") {
				t.Errorf("%s: exit %d, %q is missing: %s", name, code, want, errs)
			}
		}
	}
}

// Beside a crawl that runs, the other commands answer: they say that it runs, and judge what is final.
func TestBesideARunningCrawl(t *testing.T) {
	t.Parallel()
	gate, at := make(chan struct{}), make(chan struct{})
	var once sync.Once
	site := chain(t, func(path string) {
		if path == "/4" {
			once.Do(func() { close(at) })
			<-gate
		}
	})
	dir := filepath.Join(t.TempDir(), strings.Repeat("a-long-name-", 10)) // longer than a socket's path may be
	cfg := assemble.DefaultConfig(dir)
	cfg.Job.Identity = crawl.Identity{Seeds: []string{site}, Scope: crawl.ScopeSite, UserAgent: "argosy-test"}
	cfg.Job.Limits.Delay, cfg.Job.Limits.MaxPages = 0, 8
	cfg.Fetch.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	cr, err := assemble.Open(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error, 1)
	go func() {
		_, err := cr.Run(context.Background(), nil)
		done <- err
	}()
	<-at
	testkit.Eventually(t, "its ledger has what was fetched", func() bool {
		_, out, _ := apart(t, "export", dir)
		return strings.Contains(out, site+"3")
	})
	for _, c := range []struct {
		args []string
		want []string
	}{
		{[]string{"tasks", dir}, []string{"crawling"}},
		{[]string{"tasks", "-o", dir}, []string{"crawling"}},
		{[]string{"report", dir}, []string{site}},
		{[]string{"report", "-o", dir}, []string{site}},
		{[]string{"export", dir}, []string{site + "3"}},
		{[]string{"export", "-o", dir, "--format", "csv"}, []string{site + "3,fetched"}},
		{[]string{"verify", "-o", dir}, []string{"clean so far"}},
		{[]string{"export", dir, "--state", "pending"}, []string{site + "4", `"anchor":"the next one"`, `"parent":"` + site + `3"`}},
		{[]string{"export", dir, "--state", "excluded", "--format", "csv"}, []string{"http://outside.example/", "scope", site + ",out there"}},
		{[]string{"verify", dir}, []string{"clean so far"}},
	} {
		code, out, errs := apart(t, c.args...)
		if code != 0 || strings.Count(errs, "a crawl runs") != 1 {
			t.Errorf("%v: exit %d: %s", c.args, code, errs)
		}
		for _, want := range c.want {
			if !strings.Contains(out, want) {
				t.Errorf("%v: %q is missing in %s", c.args, want, out)
			}
		}
	}
	close(gate)
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := cr.Close(); err != nil {
		t.Error(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "state", "view-*")); len(left) > 0 {
		t.Errorf("copies of the view are left: %v", left)
	}
	code, out, errs := apart(t, "verify", dir)
	if code != 0 || !strings.HasPrefix(out, "clean: ") {
		t.Errorf("verify after it: exit %d, %s%s", code, out, errs)
	}
	_, out, _ = apart(t, "export", dir, "--state", "excluded")
	if !strings.Contains(out, site+"secret") || !strings.Contains(out, `"reason":"robots"`) {
		t.Errorf("what robots.txt refuses is missing: %s", out)
	}
}

// A directory that does not say how its crawl was begun, as version 0.1.0 left them, is not said to go on by itself.
func TestStepOfAnOldDirectory(t *testing.T) {
	dir := t.TempDir()
	step := func() string {
		var b strings.Builder
		printUnended(&b, &verify.Report{Unended: []uint32{1}}, dir)
		return b.String()
	}
	if old := step(); !strings.Contains(old, "argosy crawl SEEDS -o ") || !strings.Contains(old, "flags it was begun with") {
		t.Errorf("an old one: %s", old)
	}
	if err := os.MkdirAll(filepath.Join(dir, "state"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(givenFile)), []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if s := step(); strings.Contains(s, "SEEDS") {
		t.Errorf("one that says it: %s", s)
	}
}
