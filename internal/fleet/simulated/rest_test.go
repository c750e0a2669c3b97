package simulated_test

import (
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

const (
	slowTakes = 12 * time.Second // more than a site has that has never answered, less than one has that has
	ofEach    = 20               // pages of each site of mixed
)

// mixed is a web of sites that answer and sites that do not, so many of each kind: fast; hangs; robots hangs, and the pages would not; pages hang, and
// robots.txt does not; first is answered, and the rest hangs; slow; dribbles a byte a second; late is fast, and comes
// last of all.
type mixed struct {
	fast, hangs, robots, pages, first, slow, dribbles, late int

	asked, whole, hung atomic.Int64 // pages asked of slow sites, those that they sent, and requests that hung
}

// seeds puts the sites into a web and returns their roots.
func (m *mixed) seeds(w *webs.Web) (urls []string) {
	for _, of := range []struct {
		kind string
		n    int
	}{{"first", m.first}, {"fast", m.fast}, {"hangs", m.hangs}, {"slow", m.slow}, {"dribbles", m.dribbles}, {"robots", m.robots}, {"pages", m.pages}, {"late", m.late}} {
		for i := range of.n {
			host := fmt.Sprintf("%s%d.test", of.kind, i)
			urls = append(urls, "http://"+host+"/")
			w.Sites[host] = m.site(of.kind)
		}
	}
	return urls
}

func (m *mixed) site(kind string) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		robots := r.URL.Path == "/robots.txt"
		if kind == "hangs" || robots && kind == "robots" || !robots && (kind == "pages" || kind == "first" && r.URL.Path != "/") {
			m.hung.Add(1)
			<-r.Context().Done()
			return
		}
		time.Sleep(time.Millisecond)
		if robots {
			http.NotFound(rw, r)
			return
		}
		var body strings.Builder
		for i := range ofEach {
			fmt.Fprintf(&body, "<a href=/p%d>x</a> %s", i, r.URL.Path)
		}
		rw.Header().Set("Content-Type", "text/html")
		switch kind {
		case "slow":
			m.asked.Add(1)
			select {
			case <-time.After(slowTakes):
			case <-r.Context().Done():
				return
			}
			m.whole.Add(1)
		case "dribbles":
			for _, b := range []byte(body.String()) {
				if _, err := rw.Write([]byte{b}); err != nil {
					return
				}
				rw.(http.Flusher).Flush()
				time.Sleep(time.Second)
			}
		}
		fmt.Fprint(rw, body.String())
	})
}

// crawl crawls so many pages of the web by a node, and returns how many it had after each second until it ended or so much time was over.
func (m *mixed) crawl(t *testing.T, pages int64, most time.Duration) (had []int64, state string) {
	w, j := webs.New(), fleettest.Job("80", 0)
	j.Identity.Seeds, j.Limits.MaxPages, j.Limits.PerIP = m.seeds(w), pages, crawl.DefaultLimits().PerIP
	j.Limits.Backoff = crawl.DefaultLimits().Backoff
	s := newWorld(t, t.TempDir(), w)
	s.change = func(c *assemble.AgentConfig) { c.Node.Info.Concurrency = 256 }
	s.enter("a")
	id := s.Submit(j)
	for end := time.Now().Add(most); s.Job(id).State == crawl.JobRunning && time.Now().Before(end); {
		time.Sleep(time.Second)
		had = append(had, s.Job(id).Counts.Fetched)
	}
	t.Logf("%s, %v; %d whole answers of %d of slow sites, %d requests hung", s.Job(id).State, had, m.whole.Load(), m.asked.Load(), m.hung.Load())
	if had[len(had)-1] > pages {
		t.Errorf("%d pages of %d", had[len(had)-1], pages)
	}
	return had, s.Job(id).State
}

// The rest of --max-pages goes to sites that answer, if slowly, before those that hang.
func TestSimulatedSlowBesideHanging(t *testing.T) {
	simulated(t, func(t *testing.T) {
		m := mixed{fast: 5, hangs: 30, slow: 5, dribbles: 5, robots: 10, pages: 20}
		had, state := m.crawl(t, 120, 2*time.Minute)
		if state != crawl.JobLimited || len(had) > 60 {
			t.Errorf("%s after %d s", state, len(had))
		}
		if lost := m.whole.Load() - 20; lost > 4 {
			t.Errorf("%d whole answers for 20 pages of slow sites", m.whole.Load())
		}
	})
}

// Sites whose first pages came at once and whose others hang do not keep the rest of --max-pages from those that answer: the crawl ends within
// the time that one request may hang (30 s). It takes 13 s as a rule, more where a busy machine brings entries in another order.
func TestSimulatedLimitBesideFirstPages(t *testing.T) {
	simulated(t, func(t *testing.T) {
		m := mixed{fast: 3, first: 30}
		had, state := m.crawl(t, 70, time.Minute)
		if state != crawl.JobLimited || len(had) > 30 || m.hung.Load() > 100 {
			t.Errorf("%s after %d s, %d requests hung", state, len(had), m.hung.Load())
		}
	})
}

// Sites that answer robots.txt and hang with their first page keep their address from one that answers no longer than their first tries
// take.
func TestSimulatedHangingPages(t *testing.T) {
	simulated(t, func(t *testing.T) {
		m := mixed{pages: 30, late: 1}
		had, _ := m.crawl(t, 1000, 55*time.Second) // a limit that is not reached: what is kept of one for sites that hang is another matter
		if had[len(had)-1] != ofEach+1 {
			t.Errorf("%d pages", had[len(had)-1])
		}
	})
}

// A slow site is not interrupted where others need no more than what sites hold that have never answered.
func TestSimulatedSlowAlone(t *testing.T) {
	simulated(t, func(t *testing.T) {
		m := mixed{fast: 1, hangs: 10, slow: 1}
		had, _ := m.crawl(t, 30, 40*time.Second)
		if had[len(had)-1] < 25 || m.whole.Load() < m.asked.Load() {
			t.Errorf("%d pages, %d whole answers of %d", had[len(had)-1], m.whole.Load(), m.asked.Load())
		}
	})
}

// A site that must not be asked for long does not keep the rest of --max-pages from sites that hung once: by a long delay it can use little of it,
// and while it rests nothing.
func TestSimulatedRestIsNotKeptForSitesThatWait(t *testing.T) {
	for name, large := range map[string]func(rw http.ResponseWriter, path string) (done bool){
		"a long delay": func(rw http.ResponseWriter, path string) bool {
			if path == "/robots.txt" {
				fmt.Fprint(rw, "User-agent: *\nCrawl-delay: 10\n")
			}
			return path == "/robots.txt"
		},
		"a rest": func(rw http.ResponseWriter, path string) bool {
			if path == "/p5" {
				rw.Header().Set("Retry-After", "900")
				rw.WriteHeader(http.StatusServiceUnavailable)
			}
			return path == "/p5"
		},
	} {
		simulated(t, func(t *testing.T) {
			w, j := webs.New(), fleettest.Job("80", 0)
			j.Identity.Seeds = []string{"http://large.test/"}
			j.Limits.MaxPages, j.Limits.Backoff = 80, crawl.DefaultLimits().Backoff
			w.Sites["large.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if !large(rw, r.URL.Path) {
					links(rw, r, 300)
				}
			})
			for i := range 5 {
				host := fmt.Sprintf("hung%d.test", i)
				j.Identity.Seeds = append(j.Identity.Seeds, "http://"+host+"/")
				var asked atomic.Int64
				w.Sites[host] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
					if n := asked.Add(1); n == 2 || n == 3 {
						<-r.Context().Done()
						return
					}
					links(rw, r, ofEach)
				})
			}
			s := newWorld(t, t.TempDir(), w)
			s.change = func(c *assemble.AgentConfig) { c.Node.Info.Concurrency = 256 }
			s.enter("a")
			id, begin := s.Submit(j), time.Now()
			s.until("the job ends", 20*time.Minute, func() bool { return s.Job(id).State != crawl.JobRunning })
			if took := time.Since(begin); took > 3*time.Minute || s.Job(id).Counts.Fetched != 80 {
				t.Errorf("%s: %d pages after %v", name, s.Job(id).Counts.Fetched, took)
			}
		})
	}
}

// links answers with a page of so many links, or that there is no robots.txt.
func links(rw http.ResponseWriter, r *http.Request, n int) {
	if r.URL.Path == "/robots.txt" {
		http.NotFound(rw, r)
		return
	}
	rw.Header().Set("Content-Type", "text/html")
	for i := range n {
		fmt.Fprintf(rw, "<a href=/p%d>x</a> %s", i, r.URL.Path)
	}
}
