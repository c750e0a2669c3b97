package simulated_test

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

const hopPages = 40

// hops is a web whose pages are found one by one, and when they were asked for.
type hops struct {
	sites  bool // each on a site of its own
	beside bool // a page of the site is under way all the time

	mu   sync.Mutex
	at   []time.Time
	over chan struct{}
}

func (h *hops) ServeHTTP(rw http.ResponseWriter, r *http.Request) {
	n := 0
	if r.URL.Path == "/beside" {
		<-h.over
	}
	if c, err := fmt.Sscanf(r.URL.Path, "/story%d", &n); c != 1 || err != nil {
		http.NotFound(rw, r)
		return
	}
	h.mu.Lock()
	h.at = append(h.at, time.Now())
	last := len(h.at) == hopPages
	h.mu.Unlock()
	rw.Header().Set("Content-Type", "text/html")
	site := ""
	if h.sites {
		site = fmt.Sprintf("http://h%d.test", n+1)
	}
	body := ""
	if h.beside && n == 0 {
		body = "<a href=/beside>beside</a>"
	}
	if last {
		close(h.over)
	} else {
		body += fmt.Sprintf("<a href=%s/story%d>next</a>", site, n+1)
	}
	_, _ = rw.Write([]byte(body))
}

// In a fleet that has nothing else to do a page that is found by another is asked for within 5 ms, what syncs take apart:
// nothing waits for company that does not come. Time stands still here while somebody works, so all that is seen is waiting.
func TestSimulatedHops(t *testing.T) {
	for _, c := range []struct {
		name          string
		sites, beside bool
	}{{name: "one site"}, {name: "beside a page", beside: true}, {name: "site to site", sites: true}} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				h := &hops{sites: c.sites, beside: c.beside, over: make(chan struct{})}
				w := webs.New()
				for i := range hopPages {
					w.Sites[fmt.Sprintf("h%d.test", i)] = h
				}
				s := newWorld(t, t.TempDir(), w)
				s.enter("a")
				j := fleettest.Job("80", 0)
				j.Identity.Seeds, j.Identity.Scope = []string{"http://h0.test/story0"}, crawl.ScopeAny
				id := s.Submit(j)
				s.until("the job ends", 10*time.Minute, func() bool { return s.Job(id).State == crawl.JobDone })
				if len(h.at) != hopPages {
					t.Fatalf("%d of %d pages were asked for", len(h.at), hopPages)
				}
				gaps := make([]time.Duration, 0, hopPages)
				for i := 1; i < hopPages; i++ {
					gaps = append(gaps, h.at[i].Sub(h.at[i-1]))
				}
				slices.Sort(gaps)
				t.Logf("median %v, most %v", gaps[len(gaps)/2], gaps[len(gaps)-1])
				if most := gaps[len(gaps)*9/10]; most >= 5*time.Millisecond {
					t.Errorf("nine of ten hops took %v: %v", most, gaps)
				}
			})
		})
	}
}
