package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// searchSite is a search engine with a description, three pages of results, and a robots.txt.
func searchSite(t *testing.T, robots string) string {
	mux := http.NewServeMux()
	mux.HandleFunc("/robots.txt", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, robots) })
	mux.HandleFunc("/{$}", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<link rel="search" type="application/opensearchdescription+xml" href="/d.xml">`)
	})
	for path, name := range map[string]string{"/d.xml": "My Site", "/bing.xml": "bing"} {
		mux.HandleFunc(path, func(w http.ResponseWriter, r *http.Request) {
			fmt.Fprintf(w, `<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>%s</ShortName><Url type="application/rss+xml" template="http://%s/rss?q={searchTerms}&amp;p={startPage?}"/></OpenSearchDescription>`, name, r.Host)
		})
	}
	mux.HandleFunc("/none.xml", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>n</ShortName></OpenSearchDescription>`)
	})
	mux.HandleFunc("/odd.xml", func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>o</ShortName><InputEncoding>klingon</InputEncoding><Url type="text/html" template="/s?q={searchTerms}"/></OpenSearchDescription>`)
	})
	mux.Handle("/loop", http.RedirectHandler("/loop", http.StatusFound))
	mux.HandleFunc("/rss", func(w http.ResponseWriter, r *http.Request) {
		if r.FormValue("q") != "a b" {
			http.Error(w, "captcha", http.StatusTooManyRequests)
			return
		}
		fmt.Fprint(w, `<rss><channel xmlns:o="x"><o:totalResults>6</o:totalResults>`)
		for i := range 2 {
			fmt.Fprintf(w, "<item><title>T</title><link>http://o.example/%s%d</link></item>", r.FormValue("p"), i)
		}
		fmt.Fprint(w, `</channel></rss>`)
	})
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return s.URL
}

// An engine is added by its description, listed, shown and asked; the file keeps what stood in it.
func TestEngine(t *testing.T) {
	base := searchSite(t, "User-agent: *\nDisallow: /private\n")
	file := filepath.Join(t.TempDir(), "sub", "engines.yaml")
	code, out, errs := argosy(t, "engine", "add", base+"/", "--engines", file, "--allow-private", "--delay", "0")
	if code != 0 || !strings.Contains(out, "my-site is in "+file) {
		t.Fatalf("%d, %s%s", code, out, errs)
	}
	if code, _, errs := argosy(t, "engine", "add", base+"/d.xml", "--engines", file, "--allow-private", "--delay", "0"); code != exitUsage || !strings.Contains(errs, "already") {
		t.Errorf("added twice: %d, %s", code, errs)
	}
	mine := filepath.Join(t.TempDir(), "mine.yaml")
	if code, _, errs := argosy(t, "engine", "add", base+"/bing.xml", "--engines", mine, "--allow-private", "--delay", "0"); code != exitUsage || !strings.Contains(errs, "calls itself bing, and the catalogue has an engine of this name") {
		t.Errorf("a name of the shipped catalogue is taken: %d, %s", code, errs)
	}
	if code, _, errs := argosy(t, "engine", "add", base+"/bing.xml", "--engines", mine, "--allow-private", "--delay", "0", "--name", "bing"); code != 0 {
		t.Errorf("a name that was asked for is refused: %d, %s", code, errs)
	}
	code, out, errs = argosy(t, "engine", "add", base+"/d.xml", "--engines", file, "--allow-private", "--delay", "0", "--name", "again")
	if code != 0 {
		t.Errorf("%d, %s%s", code, out, errs)
	}
	for _, c := range []struct {
		args []string
		code int
		want []string
	}{
		{[]string{"list"}, 0, []string{"my-site ", "wikipedia "}},
		{[]string{"list", "--json"}, 0, []string{`"name":"my-site"`}},
		{[]string{"show", "my-site"}, 0, []string{"totalResults", "/rss?q={query}&p={page}"}},
		{[]string{"test", "my-site", "a", "b", "--pages", "9", "--allow-private", "--delay", "0"}, 0, []string{"found; 2 results, stated: about 6", "http://o.example/31  T", "ended: "}},
		{[]string{"test", "again", "a", "b", "--allow-private", "--delay", "0", "--json"}, 0, []string{`"verdict":"found"`, `"kind":"estimate"`}},
		{[]string{"test", "again", "x", "--allow-private", "--delay", "0"}, exitFailed, []string{"blocked: answered 429"}},
		{[]string{"test", "again", "x"}, exitFailed, []string{"private or reserved address"}},
		{[]string{"test", "moon", "x"}, exitUsage, []string{`no engine "moon"; allowed are again, arxiv`}},
		{[]string{"test", "mediawiki", "x"}, exitUsage, []string{"engine mediawiki: base: give the address"}},
		{[]string{"test", "mediawiki", "x", "--base", "nowhere"}, exitUsage, []string{"--base: engine mediawiki: base:"}},
		{[]string{"test", "again", "x", "--site", "a b"}, exitUsage, []string{`site "a b": want a host`}},
		{[]string{"test", "again", "x", "--site", "a.example"}, exitUsage, []string{"cannot be restricted to a site"}},
		{[]string{"test", "again", "x", "--pages", "0"}, exitUsage, []string{"0 pages"}},
		{[]string{"add", base + "/rss?q=a+b", "--allow-private", "--delay", "0"}, exitFailed, []string{"neither an OpenSearch description"}},
		{[]string{"add", base + "/none.xml", "--allow-private", "--delay", "0"}, exitFailed, []string{"argosy: " + base + "/none.xml: the description has no template"}},
		{[]string{"add", base + "/odd.xml", "--allow-private", "--delay", "0"}, exitFailed, []string{"argosy: " + base + "/odd.xml: ", `encoding: "klingon"`}},
		{[]string{"add", base + "/loop", "--allow-private", "--delay", "0"}, exitFailed, []string{"argosy: " + base + "/loop: more than 5 redirects"}},
		{[]string{"add", base + "/missing", "--allow-private", "--delay", "0"}, exitFailed, []string{"argosy: " + base + "/missing answered 404"}},
	} {
		code, out, errs := argosy(t, append(append([]string{"engine"}, c.args...), "--engines", file)...)
		if code != c.code || strings.Count(errs, "\n") > 1 {
			t.Errorf("%v: %d, %s", c.args, code, errs)
		}
		for _, w := range c.want {
			if !strings.Contains(out+errs, w) {
				t.Errorf("%v: %q is missing in\n%s%s", c.args, w, out, errs)
			}
		}
	}
	if code, _, errs := argosy(t, "engine", "list", "--engines", filepath.Join(t.TempDir(), "none")); code != exitUsage || !strings.Contains(errs, "no such file") {
		t.Errorf("%d, %s", code, errs)
	}
}

// A search that robots.txt disallows is not made, and the line says which option asks nevertheless.
func TestEngineRobots(t *testing.T) {
	base := searchSite(t, "User-agent: *\nDisallow: /rss\n")
	file := filepath.Join(t.TempDir(), "engines.yaml")
	write := func(text string) {
		if err := os.WriteFile(file, []byte("engines:\n- {name: e, like: opensearch-rss, url: '"+base+"/rss?q={query}'"+text+"}\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("")
	args := []string{"engine", "test", "e", "a", "b", "--engines", file, "--allow-private", "--delay", "0"}
	if code, out, errs := argosy(t, args...); code != exitFailed || !strings.Contains(errs, "robots.txt of 127.0.0.1") || !strings.Contains(errs, "ignore_robots") {
		t.Errorf("%d, %s%s", code, out, errs)
	}
	write(", ignore_robots: true")
	if code, out, errs := argosy(t, args...); code != 0 || !strings.Contains(out, "found; 2 results") {
		t.Errorf("%d, %s%s", code, out, errs)
	}
}
