package main

import (
	"bufio"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"argosy/internal/webs"
)

// Crawlers that trade go on after kill -9, again and again, in the middle of their turns and markets: nothing is lost, nothing is in the index
// twice, and nobody is needed.
func TestLongMarketGoesOnAfterKills(t *testing.T) {
	t.Parallel()
	web := webs.NewTopical(webs.TopicalConfig{Seed: 8, Sites: 3, Pages: 60, Share: 0.1, Near: 0.6, Told: 0.5})
	var asked atomic.Int64
	reached := make(chan struct{}, 1)
	next := atomic.Int64{}
	for host, pages := range web.Sites {
		web.Sites[host] = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if asked.Add(1) == next.Load() {
				reached <- struct{}{}
			}
			pages.ServeHTTP(w, r)
		})
	}
	port, stop, err := web.Serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir := filepath.Join(t.TempDir(), "c")
	args := append([]string{
		"crawl", "-o", dir, "--allow-private", "--delay", "0", "--resolve", "*.test=127.0.0.1", "--topic", webs.TopicalWords, "--tunnel", "-1", "--crawlers", "5",
		"--market", "lots,turn=4", "--quiet",
	}, web.Seeds(port)...)
	for range 3 {
		next.Store(asked.Load() + 45)
		killed(t, reached, args...)
	}
	if s := crawled(t, 0, "-o", dir, "--quiet"); s.State != "done" || s.Fetched != 180 {
		t.Errorf("after the kills: %+v", s)
	}
	if code, out, _ := apart(t, "verify", dir); code != 0 || !strings.HasPrefix(out, "clean") {
		t.Errorf("verify: exit %d, %s", code, out)
	}
	once(t, dir, 180)
	code, out, _ := apart(t, "stats", dir)
	if code != 0 || !strings.Contains(out, "VC        180 ") || !strings.Contains(out, "RR 0.00%") {
		t.Errorf("stats: exit %d\n%s", code, out)
	}
}

// A crawl whose crawlers cannot go on prints the command that goes on: each time they do as much again, and all else stays as it was given.
func TestLongMarketGoesOnWithMore(t *testing.T) {
	t.Parallel()
	web := webs.NewTopical(webs.TopicalConfig{Seed: 8, Sites: 3, Pages: 60, Share: 0.3, Near: 0.6, Told: 0.5})
	port, stop, err := web.Serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	for i, market := range []string{"paper,alpha=1,beta=1,lifetime=40s,interval=50ms", "independent,beta=1,lifetime=40s,interval=50ms"} {
		dir, file := filepath.Join(t.TempDir(), "c"), filepath.Join(t.TempDir(), "defaults.yaml")
		if err := os.WriteFile(file, []byte("market: "+market+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		args := append([]string{
			"crawl", "-o", dir, "--allow-private", "--delay", "0", "--resolve", "*.test=127.0.0.1", "--topic", webs.TopicalWords, "--tunnel", "-1", "--crawlers", "2",
		}, web.Seeds(port)[:2]...)
		args = append(args, [][]string{{"--market", market}, {"--config", file}}[i]...)
		var had int
		for range 3 {
			code, out, errs := apart(t, args...)
			_, advice, ok := strings.Cut(out, "they can with more: argosy ")
			advice, _, _ = strings.Cut(advice, "\nin ")
			args = strings.Fields(advice)
			_, all, _ := apart(t, "export", dir)
			n := strings.Count(all, "\n")
			if code != 0 || !ok || len(args) != 5 || n <= had || strings.Contains(advice, "lifetime") {
				t.Fatalf("%s: exit %d, %d pages after %d, advice %q\n%s%s", market, code, n, had, args, out, errs)
			}
			had = n
		}
		given, err := os.ReadFile(filepath.Join(dir, "state", "given.json"))
		if err != nil || !strings.Contains(string(given), "lifetime=40s,interval=50ms") {
			t.Errorf("%s: %v, %s", market, err, given)
		}
	}
}

// once fails unless the index of a crawl names so many URLs, each once.
func once(t *testing.T, dir string, want int) {
	t.Helper()
	f, err := os.Open(filepath.Join(dir, "index.cdxj"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	seen := map[string]bool{}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		key, _, _ := strings.Cut(lines.Text(), " ")
		if seen[key] {
			t.Errorf("twice in the index: %s", lines.Text())
		}
		seen[key] = !strings.HasSuffix(key, "/robots.txt")
		if !seen[key] {
			delete(seen, key)
		}
	}
	if len(seen) != want {
		t.Errorf("%d URLs in the index, want %d", len(seen), want)
	}
}

// Few seeds, few URLs, topics that nothing is about or that no stemmer knows, and pages that repeat the words: the crawl ends, says what is to be
// said, and has each page once.
func TestLongTopicalCorners(t *testing.T) {
	t.Parallel()
	html := func(w http.ResponseWriter, title, text string, links ...string) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		fmt.Fprintf(w, "<title>%s</title><p>%s</p>", title, text)
		for _, l := range links {
			fmt.Fprintf(w, `<p><a href="%s">%s</a></p>`, l, l)
		}
	}
	three := serves(t, "", func(w http.ResponseWriter, r *http.Request) {
		html(w, "enzymes "+r.URL.Path, strings.Repeat("the enzyme and its kinetics ", 20), "/a", "/b")
	})
	finnish := serves(t, "", func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" {
			html(w, "etusivu", "tervetuloa", "/entsyymi", "/puutarha")
			return
		}
		html(w, r.URL.Path, strings.Repeat(map[string]string{"/entsyymi": "entsyymi nopeuttaa reaktiota kun lämpötila nousee hitaasti kohti rajaa ", "/puutarha": "ruusut kasvavat hitaasti "}[r.URL.Path], 20))
	})
	stuffed := serves(t, "", func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/":
			html(w, "front", "welcome", "/stuffed", "/honest")
		case "/stuffed":
			html(w, "enzyme kinetics", strings.Repeat("enzyme kinetics ", 10_000))
		default:
			html(w, "On enzymes", strings.Repeat("The kinetics of an enzyme are measured where its substrate is given in excess, and the rate is plotted. ", 5))
		}
	})
	for _, c := range []struct {
		name, site string
		args       []string
		want       []string
		pages      int
	}{
		{"one seed, more crawlers than URLs", three, []string{"--topic", "enzyme kinetics", "--crawlers", "20"}, []string{"3 on the topic", "everything in the scope was asked for"}, 3},
		{"three seeds", three, []string{three + "a", three + "b", "--topic", "enzyme kinetics", "--crawlers", "5"}, []string{"3 on the topic"}, 3},
		{"published, more crawlers than URLs", three, []string{"--topic", "enzyme kinetics", "--crawlers", "7", "--market", "paper,interval=50ms,lifetime=20s"}, []string{"on the topic"}, -1},
		{"a topic that nothing is about", three, []string{"--topic", "medieval falconry", "--crawlers", "3"}, []string{"no page is on the topic: check its words"}, 3},
		{"the same, each for himself", three, []string{"--topic", "medieval falconry", "--crawlers", "2", "--market", "independent"}, []string{"no page is on the topic", "everything in the scope was asked for"}, -1},
		{"a seed off the topic, each for himself", finnish, []string{"--topic", "entsyymi", "--crawlers", "2", "--market", "independent"}, []string{"1 on the topic"}, 3},
		{"the same, ended by a limit", three, []string{"--topic", "medieval falconry", "--max-pages", "2"}, []string{"no page is on the topic: check its words"}, 2},
		{"a language without a stemmer", finnish, []string{"--topic", "entsyymi"}, []string{"1 on the topic"}, 3},
		{"words repeated", stuffed, []string{"--topic", "enzyme kinetics", "--crawlers", "2"}, []string{"1 on the topic"}, 3},
	} {
		dir := filepath.Join(t.TempDir(), "c")
		args := append([]string{"crawl", c.site, "-o", dir, "--allow-private", "--delay", "0"}, c.args...)
		code, out, errs := apart(t, args...)
		for _, want := range c.want {
			if code != 0 || !strings.Contains(out, want) {
				t.Errorf("%s: exit %d, no %q\n%s%s", c.name, code, want, out, errs)
			}
		}
		if c.pages >= 0 {
			once(t, dir, c.pages)
		}
	}
}

// One text under three URLs, with other links each, is one page on the topic: explain says of the two that were had later what they are.
func TestMirrorsAreToldApart(t *testing.T) {
	t.Parallel()
	site := serves(t, "", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		switch r.URL.Path {
		case "/":
			fmt.Fprint(w, "<title>front</title><p>welcome <a href=/1>one</a> <a href=/2>two</a> <a href=/3>three</a> <a href=/4>four</a>")
		case "/4":
			fmt.Fprint(w, "<title>Enzymes</title><p>"+strings.Repeat("An enzyme speeds a reaction up, and its kinetics say how. ", 12))
		default:
			fmt.Fprintf(w, "<title>Mirror %[1]s</title><p>%s<p><a href=%[1]s/a>further on %[1]s</a>", r.URL.Path, strings.Repeat("The kinetics of an enzyme are measured in excess of its substrate. ", 12))
		}
	})
	dir := filepath.Join(t.TempDir(), "c")
	if code, out, errs := apart(t, "crawl", site, "-o", dir, "--allow-private", "--delay", "0", "--topic", "enzyme kinetics", "--max-depth", "1"); code != 0 || !strings.Contains(out, "4 on the topic") {
		t.Fatalf("exit %d\n%s%s", code, out, errs)
	}
	copies := 0
	for i := 1; i <= 4; i++ {
		code, out, errs := apart(t, "explain", fmt.Sprint(site, i), "-o", dir)
		if code != 0 || !strings.Contains(out, `on the topic "enzyme kinetics"`) {
			t.Errorf("exit %d\n%s%s", code, out, errs)
		}
		if strings.Contains(out, "its text is that of a page that was had before") {
			if copies++; i == 4 {
				t.Errorf("another text:\n%s", out)
			}
		}
	}
	if copies != 2 {
		t.Errorf("%d copies, want 2", copies)
	}
}
