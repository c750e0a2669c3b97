package assemble_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/webs"
)

// handSite is a site of pages that a test writes by hand. A page that begins with "<?xml" is XML.
type handSite struct {
	port  string
	mu    sync.Mutex
	asked map[string]int
}

// serveByHand serves pages by their path, with the query.
func serveByHand(t *testing.T, pages func(path string) (body string, ok bool)) *handSite {
	t.Helper()
	h := &handSite{asked: map[string]int{}}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h.mu.Lock()
		h.asked[r.Host[:strings.IndexByte(r.Host, ':')]+r.URL.RequestURI()]++
		h.mu.Unlock()
		body, ok := pages(r.URL.RequestURI())
		switch {
		case !ok:
			w.WriteHeader(http.StatusNotFound)
		case strings.HasPrefix(body, "<?xml"):
			w.Header().Set("Content-Type", "application/xml")
		default:
			w.Header().Set("Content-Type", "text/html")
		}
		_, _ = fmt.Fprint(w, body)
	}))
	t.Cleanup(s.Close)
	h.port = s.URL[strings.LastIndexByte(s.URL, ':')+1:]
	return h
}

// requests returns how often a URL of the site s0.test was asked for.
func (h *handSite) requests(path string) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.asked["s0.test"+path]
}

// config is a crawl of the site by one agent, without a delay.
func (h *handSite) config(t *testing.T) assemble.Config {
	c := config(t.TempDir(), h.port, 0, 1)
	c.Job.Identity.Seeds = c.Job.Identity.Seeds[:1]
	return c
}

func fixed(pages map[string]string) func(string) (string, bool) {
	return func(path string) (string, bool) { body, ok := pages[path]; return body, ok }
}

// Every run obeys all rules of robots.txt, also where they are many and short ones stand among them.
func TestRobotsRulesOfEveryRun(t *testing.T) {
	var file strings.Builder
	file.WriteString("User-agent: *\n")
	for i := range 33_000 {
		fmt.Fprintf(&file, "Allow:/é%d\n", i)
	}
	file.WriteString("Disallow:/p\n")
	pages := map[string]string{"/robots.txt": file.String(), "/": `<a href=/1>1</a><a href=/p/1>2</a><a href=/p/2>3</a>`, "/1": `<a href=/p/3>4</a>`, "/p/1": "x", "/p/2": "x", "/p/3": "x"}
	h := serveByHand(t, fixed(pages))
	c := h.config(t)
	for _, n := range []int64{1, 2, 0} {
		c.Job.Limits.MaxPages = n
		runConfig(t, c)
	}
	for path, want := range map[string]int{"/robots.txt": 1, "/": 1, "/1": 1, "/p/1": 0, "/p/2": 0, "/p/3": 0} {
		if got := h.requests(path); got != want {
			t.Errorf("%s was asked for %d times, want %d", path, got, want)
		}
	}
}

// A file that the limit cuts in the middle of a rule refuses no more than its whole rules do.
func TestRobotsCutInARule(t *testing.T) {
	const rule, size = "Disallow: /private/\n", 500 << 10
	head := "User-agent: *\nDisallow: /secret\n#"
	file := head + strings.Repeat("x", size-len(head)-1-len("Disallow: /")) + "\n" + rule
	h := serveByHand(t, fixed(map[string]string{"/robots.txt": file, "/": `<a href=/1>1</a><a href=/secret>2</a>`, "/1": "x"}))
	sum := runConfig(t, h.config(t))
	if sum.Fetched != 2 || h.requests("/1") != 1 || h.requests("/secret") != 0 {
		t.Errorf("%+v", sum)
	}
}

// A file that is larger than a body may be counts as far as it was read, in whole lines.
func TestRobotsLargerThanABody(t *testing.T) {
	const rule, most = "Disallow: /private/\n", 100 << 10
	head := "User-agent: *\nDisallow: /secret\n#"
	file := head + strings.Repeat("x", most-len(head)-1-len("Disallow: /")) + "\n" + rule + strings.Repeat("# more\n", 1<<20)
	h := serveByHand(t, fixed(map[string]string{"/robots.txt": file, "/": `<a href=/1>1</a><a href=/secret>2</a>`, "/1": "x"}))
	c := h.config(t)
	c.Job.Limits.Fetch.MaxBody = most
	sum := runConfig(t, c)
	if sum.Fetched != 2 || h.requests("/1") != 1 || h.requests("/secret") != 0 {
		t.Errorf("%+v", sum)
	}
}

// A robots.txt that leads about over another host's page, as a login does, keeps no lease from its pages, however long that takes.
func TestRobotsBehindAnotherHost(t *testing.T) {
	t.Parallel()
	w := webs.New()
	w.Sites["s0.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.Redirect(rw, r, "http://"+strings.Replace(r.Host, "s0", "s1", 1)+"/login", http.StatusFound)
			return
		}
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte(`<a href="/a">a</a> <a href="/b">b</a>`))
	})
	w.Sites["s1.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		http.Redirect(rw, r, "http://"+strings.Replace(r.Host, "s1", "s0", 1)+"/robots.txt", http.StatusFound)
	})
	port, stop, err := w.Serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c := config(t.TempDir(), port, 150*time.Millisecond, 1)
	c.Job.Identity.Seeds = c.Job.Identity.Seeds[:1]
	if sum := runConfig(t, c); sum.Pages != 3 {
		t.Errorf("%+v", sum)
	}
}

// A job that ignores robots.txt asks it for sitemaps, if it wants any, and obeys none of its rules.
func TestSitemapsWithIgnoredRobots(t *testing.T) {
	pages := map[string]string{
		"/robots.txt": "User-agent: *\nDisallow: /\nCrawl-delay: 20\nSitemap: /maps/a.xml\n", "/": "x", "/found": "x",
		"/maps/a.xml": `<?xml version="1.0"?><urlset><url><loc>/found</loc></url></urlset>`,
	}
	h := serveByHand(t, fixed(pages))
	c := h.config(t)
	c.Job.Identity.IgnoreRobots = true
	if sum := runConfig(t, c); sum.Fetched != 1 || h.requests("/robots.txt") != 0 {
		t.Errorf("without sitemaps: %+v", sum)
	}
	c = h.config(t)
	c.Job.Identity.IgnoreRobots, c.Job.Identity.Sitemaps = true, true
	for _, n := range []int64{1, 0} {
		c.Job.Limits.MaxPages = n
		runConfig(t, c)
	}
	if h.requests("/found") != 1 || h.requests("/robots.txt") == 0 {
		t.Errorf("asked: %v", h.asked)
	}
}

// A job that ignores robots.txt goes on where there is none to be had.
func TestIgnoredRobotsAreDown(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			w.WriteHeader(http.StatusInternalServerError)
		}
	}))
	defer s.Close()
	h := &handSite{port: s.URL[strings.LastIndexByte(s.URL, ':')+1:]}
	c := h.config(t)
	c.Job.Identity.IgnoreRobots, c.Job.Identity.Sitemaps = true, true
	if sum := runConfig(t, c); sum.Fetched != 1 || sum.State != crawl.JobDone {
		t.Errorf("%+v", sum)
	}
}

// A Crawl-delay holds for a job without a delay of its own, to the millisecond, and not for one that ignores robots.txt.
func TestSimulatedCrawlDelay(t *testing.T) {
	for _, ignore := range []bool{false, true} {
		dir := t.TempDir()
		simulated(t, func(t *testing.T) {
			w := webs.New()
			w.Sites["s0.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					_, _ = fmt.Fprint(rw, "User-agent: *\nCrawl-delay: 3\nDisallow: /sitemap.xml\nSitemap: /s.xml\n")
					return
				}
				rw.Header().Set("Content-Type", "text/html")
				_, _ = fmt.Fprint(rw, `<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a><a href=/4>4</a>`)
			})
			s := newWorld(t, dir, w)
			s.enter("a")
			j := fleetJob("80", 0)
			j.Identity.Seeds = j.Identity.Seeds[:1]
			j.Identity.IgnoreRobots, j.Identity.Sitemaps = ignore, true
			id := s.submit(j)
			s.until("the job ends", time.Hour, func() bool { return s.job(id).State == crawl.JobDone && s.server.Indexed(id) })
			gap, n := w.MinGap("s0.test")
			if n < 7 || ignore == (gap >= 3*time.Second) {
				t.Errorf("robots.txt ignored %v: %v between two of %d requests", ignore, gap, n)
			}
		})
	}
}

// Sites with a delay and headers of their own keep to them in a fleet, and after they have changed; others keep to the job's.
func TestSimulatedSites(t *testing.T) {
	dir := t.TempDir()
	simulated(t, func(t *testing.T) {
		w := webs.New()
		var odd atomic.Int64
		for i := range 4 {
			w.Sites[fmt.Sprintf("s%d.test", i)] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if want := []string{"", "de", "de", "fr"}[i]; r.Header.Get("Accept-Language") != want || len(r.Header.Values("Accept")) != 1 {
					odd.Add(1)
				}
				if r.URL.Path == "/robots.txt" {
					http.NotFound(rw, r)
					return
				}
				rw.Header().Set("Content-Type", "text/html")
				for n := range 40 {
					fmt.Fprintf(rw, "<a href=/%d>%d</a>", n, n)
				}
			})
		}
		s := newWorld(t, dir, w)
		for _, n := range []string{"a", "b", "c"} {
			s.enter(n)
		}
		j := fleetJob("80", 2*time.Second)
		j.Limits.LeaseTime = 30 * time.Second // a change holds from the next lease on
		j.Identity.Seeds = []string{"http://s0.test/", "http://s1.test/", "http://s2.test/", "http://s3.test/"}
		second := int64(time.Second)
		j.Sites = []crawl.SiteRule{
			{Hosts: []string{"s1.test", "s2.test", "s3.test"}, Limits: map[string]int64{"delay": 5 * second}, Headers: []crawl.Header{{Name: "Accept-Language", Value: "de"}}},
			{Hosts: []string{"s2.test"}, Limits: map[string]int64{"delay": second, "site_pages": 10}, Headers: []crawl.Header{{Name: "Accept", Value: "*/*"}}},
			{Hosts: []string{"s3.test"}, Headers: []crawl.Header{{Name: "Accept-Language", Value: "fr"}}},
		}
		id := s.submit(j)
		s.until("s3 is under way", time.Hour, func() bool { return len(w.Hits("s3.test")) > 8 })
		changed := time.Now()
		err := s.leader().SetLimits(t.Context(), id, func(j *crawl.Job) error {
			j.Sites = slices.Clone(j.Sites)
			j.Sites[2].Limits = map[string]int64{"delay": 20 * second}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if err := s.leader().SetLimits(t.Context(), id, func(j *crawl.Job) error {
			j.Sites = []crawl.SiteRule{{Hosts: []string{"*"}, Exclude: []string{"x"}}}
			return nil
		}); err == nil {
			t.Error("a job's filters were changed")
		}
		s.until("the job ends", 10*time.Hour, func() bool { return s.job(id).State == crawl.JobDone && s.server.Indexed(id) })
		for host, want := range map[string]time.Duration{"s0.test": 2 * time.Second, "s1.test": 5 * time.Second, "s2.test": time.Second, "s3.test": 5 * time.Second} {
			gap, n := w.MinGap(host)
			if gap < want || gap > want+100*time.Millisecond {
				t.Errorf("%s: %v between two of %d requests, want %v", host, gap, n, want)
			}
			if pages := map[string]int{"s2.test": 11}[host]; pages != 0 && n != pages || pages == 0 && n != 42 {
				t.Errorf("%s: %d requests", host, n)
			}
		}
		slow, hits := 0, w.Hits("s3.test")
		for i := 1; i < len(hits); i++ {
			if gap := hits[i].At.Sub(hits[i-1].At); gap >= 20*time.Second {
				slow++
			} else if hits[i].At.Sub(changed) > j.Limits.LeaseTime+time.Minute {
				t.Errorf("s3.test: %v between two requests, %v after the change", gap, hits[i].At.Sub(changed))
			}
		}
		if slow == 0 || odd.Load() > 0 {
			t.Errorf("%d slow requests, %d with other headers", slow, odd.Load())
		}
	})
}
