package assemble_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/testkit/fleettest"
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
	c := fleettest.Crawl(t.TempDir(), h.port, 0, 1)
	c.Job.Identity.Seeds = c.Job.Identity.Seeds[:1]
	return c
}

func fixed(pages map[string]string) func(string) (string, bool) {
	return func(path string) (string, bool) { body, ok := pages[path]; return body, ok }
}

// Every run obeys all rules of robots.txt, also where they are many and short ones stand among them.
func TestRobotsRulesOfEveryRun(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
	t.Parallel()
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
	port := served(t, w)
	c := fleettest.Crawl(t.TempDir(), port, 150*time.Millisecond, 1)
	c.Job.Identity.Seeds = c.Job.Identity.Seeds[:1]
	if sum := runConfig(t, c); sum.Pages != 3 {
		t.Errorf("%+v", sum)
	}
}

// A job that ignores robots.txt asks it for sitemaps, if it wants any, and obeys none of its rules.
func TestSitemapsWithIgnoredRobots(t *testing.T) {
	t.Parallel()
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
	t.Parallel()
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
