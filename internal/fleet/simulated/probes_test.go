package simulated_test

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/page/topic"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// probed is a crawl of a topical web of many small sites by four nodes. It returns how often pages were asked for, how many of them the crawl
// has, and how many sites were asked of which it has none.
func probed(t *testing.T, about bool, most int64) (asked, had, foreign int) {
	web := webs.NewTopical(webs.TopicalConfig{Seed: 11, Sites: 300, Pages: 8, Share: 0.04, Near: 0.6, Told: 0.5})
	var mu sync.Mutex
	of, pages := map[string]int{}, map[string]map[string]bool{}
	for host, h := range web.Sites {
		web.Sites[host] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/robots.txt" {
				mu.Lock()
				of[host]++
				if pages[host] == nil {
					pages[host] = map[string]bool{}
				}
				pages[host][r.URL.Path] = true
				mu.Unlock()
			}
			time.Sleep(20 * time.Millisecond)
			h.ServeHTTP(rw, r)
		})
	}
	j := fleettest.Job("80", 0)
	j.Identity.Seeds, j.Identity.Scope = []string{"http://t0.test/"}, crawl.ScopeAny
	j.Limits.PerIP, j.Limits.MaxPages = 0, most
	if about {
		topic, err := topic.Words(webs.TopicalWords, "en")
		if err != nil {
			t.Fatal(err)
		}
		j.Identity.Topic, j.Identity.Tunnel, j.Identity.Order = topic, 2, crawl.OrderBest
	}
	s := newWorld(t, t.TempDir(), web.Web)
	s.change = func(c *assemble.AgentConfig) { c.Node.Info.Concurrency = 256 }
	s.Halt()
	s.Config.Probe = ""
	s.Start()
	for i := range 4 {
		s.enter(fmt.Sprintf("n%d", i))
	}
	id := s.Submit(j)
	s.until("the job ends", 10*time.Minute, func() bool { return s.Job(id).State != crawl.JobRunning })
	had = int(s.Job(id).Counts.Fetched + s.Job(id).Counts.Failed)
	mu.Lock()
	defer mu.Unlock()
	for host, n := range of {
		asked += n
		if n == crawl.ProbeTries && len(pages[host]) == 1 {
			foreign++
		}
	}
	return asked, had, foreign
}

// What is asked to learn how fast sites are stays a small part of what is asked, and goes to sites that are crawled.
func TestSimulatedProbesAreFew(t *testing.T) {
	for _, about := range []bool{true, false} {
		simulated(t, func(t *testing.T) {
			asked, had, foreign := probed(t, about, 600)
			if most := had + had/10 + 4*4*crawl.ProbeTries; asked > most || foreign > 0 {
				t.Errorf("topic %v: %d asked, %d had, %d sites asked of which nothing was had; want at most %d, and none", about, asked, had, foreign, most)
			}
		})
	}
}
