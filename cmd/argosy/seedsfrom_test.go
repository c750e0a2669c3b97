package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
)

// searched is a site with a search: a page of results whose texts name the topic, one with titles only of pages that are about it, one of
// pages that are not, and more of them; for "lost" a page of results that are not there. searches counts what it is asked for, pages
// what else: page by page.
func searched(t *testing.T) (site string, searches *atomic.Int32, pages *sync.Map) {
	t.Helper()
	searches, pages = &atomic.Int32{}, &sync.Map{}
	site = serves(t, "User-agent: *\nDisallow: /closed\n", func(w http.ResponseWriter, r *http.Request) {
		page, n := 0, 0
		if r.URL.Path == "/search" {
			searches.Add(1)
			_, _ = fmt.Sscan(r.URL.Query().Get("page"), &page)
			w.Header().Set("Content-Type", "application/json")
			var out []string
			for i := range 4 {
				text := map[bool]string{true: "of asynchronous iterators"}[page == 0]
				place := "p"
				if r.URL.Query().Get("q") == "lost" {
					place, text = "none", ""
				}
				out = append(out, fmt.Sprintf(`{"url": "http://%s/%s%d/%d", "text": %q}`, r.Host, place, page, i, text))
			}
			fmt.Fprintf(w, `{"results": [%s]}`, strings.Join(out, ","))
			return
		}
		if n, was := pages.LoadOrStore(r.URL.Path, 1); was {
			pages.Store(r.URL.Path, n.(int)+1)
		}
		w.Header().Set("Content-Type", "text/html")
		if _, err := fmt.Sscanf(r.URL.Path, "/p%d/%d", &page, &n); err != nil {
			http.NotFound(w, r)
			return
		}
		words := "an asynchronous iterator awaits values and returns them, as iterators do, asynchronously. "
		if page > 1 {
			words = "roses and lilies stand in the garden. "
		}
		fmt.Fprintf(w, "<title>page %d</title><p>%s</p>", n, strings.Repeat(words, 4))
	})
	return site, searches, pages
}

// A crawl begins at what an engine finds about its topic, page by page until the results are about something else; when it goes on the
// engine is not asked again. So does a job file, which argosy submit would hand in; to check it asks nobody.
func TestSeedsFromEngine(t *testing.T) {
	t.Parallel()
	site, searches, pages := searched(t)
	tmp := t.TempDir()
	engines, job, dir := filepath.Join(tmp, "engines.yaml"), filepath.Join(tmp, "job.yaml"), filepath.Join(tmp, "c")
	for name, text := range map[string]string{
		engines: "engines:\n  - name: site\n    url: \"" + site + "search?q={query}&page={page}\"\n    format: json\n    results: {item: {json: \"$.results[*]\"}, link: {json: \"$.url\"}, text: {json: \"$.text\"}}\n" +
			"  - {name: closed, like: site, url: \"" + site + "closed?q={query}\"}\n",
		job: "seeds_from: [site]\ntopic: {words: asynchronous iterators}\n",
	} {
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if code, out, errs := apart(t, "submit", "--check", job, "--engines", engines); code != 0 || searches.Load() != 0 {
		t.Errorf("checked: exit %d, %d searches\n%s%s", code, searches.Load(), out, errs)
	}
	for _, how := range [][]string{{"--topic", "asynchronous iterators", "--seeds-from", "site"}, {"--job", job}} {
		_ = os.RemoveAll(dir)
		searches.Store(0)
		pages.Clear()
		code, out, errs := apart(t, append([]string{"crawl", "-o", dir, "--engines", engines, "--allow-private", "--delay", "0"}, how...)...)
		if code != 0 || searches.Load() != 3 || !strings.Contains(errs, "0 of 4 about the topic: no more is asked") || !strings.Contains(out, "8 on the topic") {
			t.Errorf("%v: exit %d, %d searches\n%s%s", how, code, searches.Load(), out, errs)
		}
		pages.Range(func(page, n any) bool {
			if n != 1 {
				t.Errorf("%v: %s was asked for %d times", how, page, n)
			}
			return true
		})
		if !strings.Contains(errs, "8 pages looked at to judge results: 4 are not about the topic and in no count, the others are not asked for again") {
			t.Errorf("%v: not told of what the judging cost:\n%s", how, errs)
		}
		if code, out, errs = apart(t, "crawl", "-o", dir, "--max-pages", "100"); code != 0 || searches.Load() != 3 || !strings.Contains(out, "8 on the topic") {
			t.Errorf("%v: gone on: exit %d, %d searches\n%s%s", how, code, searches.Load(), out, errs)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--seeds-from", "site"}, "A topic of key words is wanted"},
		{[]string{"--seeds-from", "nowhere", "--topic", "iterators"}, `there is no engine "nowhere"`},
		{[]string{"--seeds-from", "site", "--topic", "tax law"}, `no result is about "tax law"`},
		{[]string{"--seeds-from", "site", "--topic", "lost"}, "4 results, 0 of 0 about the topic, 4 could not be read (404 Not Found): no more is asked"},
		{[]string{"--seeds-from", "closed", "--topic", "tax law"}, "no engine has answered"},
	} {
		code, _, errs := apart(t, append([]string{"crawl", "-o", filepath.Join(tmp, "none"), "--engines", engines, "--allow-private", "--delay", "0"}, c.args...)...)
		if code == 0 || !strings.Contains(errs, c.want) {
			t.Errorf("%v: exit %d\n%s", c.args, code, errs)
		}
	}
	for _, more := range [][]string{{"--seeds-from", "closed", "--topic", "tax law"}, {"--seeds-from", "site", "--topic", "tax law"}} {
		dir := filepath.Join(tmp, more[1])
		code, out, errs := argosy(t, append([]string{"crawl", site + "p0/0", "-o", dir, "--engines", engines, "--allow-private", "--delay", "0"}, more...)...)
		if code != 0 || !strings.Contains(errs, "the seeds that are given have to do") || !strings.Contains(out, " 1 fetched") {
			t.Errorf("beside a seed, %v: exit %d\n%s%s", more, code, out, errs)
		}
	}
}
