package simulated_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/webs"
)

// probed is a crawl of a topical web of many small sites by four nodes. It returns how often pages were asked for, how many of them the crawl
// has, and how many sites were asked of which it has none.
func probed(t *testing.T, about bool, most int64) (asked, had, foreign int) {
	web := webs.NewTopical(webs.TopicalConfig{Seed: 11, Sites: of(150, 300), Pages: 8, Share: 0.04, Near: 0.6, Told: 0.5})
	var mu sync.Mutex
	of, pages := map[string]int{}, map[string]map[string]bool{}
	watch(web, 20*time.Millisecond, func(host, path string) {
		mu.Lock()
		of[host]++
		if pages[host] == nil {
			pages[host] = map[string]bool{}
		}
		pages[host][path] = true
		mu.Unlock()
	})
	j := fromFirst(most)
	if about {
		keepTo(t, &j)
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

// Measuring how fast sites are stays a small part of what is asked, and goes to sites that are crawled, but for those that were being probed
// when the crawl had its pages. No site here has pages enough to pay for a probe: of such there are four for each node that there is, all together.
func TestLongSimulatedProbesAreFew(t *testing.T) {
	for _, about := range []bool{true, false} {
		simulated(t, func(t *testing.T) {
			asked, had, foreign := probed(t, about, int64(of(300, 600)))
			const last = 4 * 4 // nodes, and schedule.measuredEarly
			if most := had + had/10 + last*crawl.ProbeTries; asked > most || foreign > last {
				t.Errorf("topic %v: %d asked, %d had, %d sites asked of which nothing was had; want at most %d, and %d", about, asked, had, foreign, most, last)
			}
		})
	}
}
