package coordinator

import (
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// An order is carried out although every turn of the loop gives something out, so that the log is never applied to its end when one begins.
func TestOrdersAmongGrants(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, dir)
		s.start()
		j := crawl.Job{Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, UserAgent: "t"}}
		j.Limits.PerIP, j.Limits.Delay = 0, 0
		const sites = 1000
		for n := range sites {
			j.Identity.Seeds = append(j.Identity.Seeds, fmt.Sprintf("http://s%d.test/", n))
		}
		id, err := s.co.Submit(t.Context(), j)
		s.fail(err)
		paused := make(chan error)
		var held []uint64
		var once sync.Once
		s.log.does = func(node string, l *crawl.Lease) { // it ends one as it gets another, so that there is always room for one more
			if held = append(held, l.ID); len(held) < 32 {
				return
			}
			once.Do(func() {
				go func() { paused <- s.co.SetState(t.Context(), id, crawl.JobPaused) }()
				for s.co.desk.waiting.Load() == 0 {
					time.Sleep(time.Millisecond)
				}
			})
			s.part([]string{node, short(held[0]), "fetched", "/", "final"})
			held = held[1:]
		}
		s.log.nodes <- nodeEvent{crawl.NodeInfo{Node: "a", Incarnation: "a-1", Leases: 64, Concurrency: 64, Store: "file:///s"}, crawl.SignRenewed}
		s.fail(<-paused)
		jobs, err := s.co.Jobs(t.Context())
		s.fail(err)
		if jobs[0].State != crawl.JobPaused || jobs[0].Counts.Pending < sites-40 { // 32 were given out before
			t.Errorf("job is %s with %d URLs pending when the order is carried out", jobs[0].State, jobs[0].Counts.Pending)
		}
		s.halt()
	})
}

// Whoever asks for what the loop alone knows is answered while that waits for the log.
func TestAskedWhileTheLogStalls(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, dir)
		s.start()
		s.play("node a")
		s.play("submit s.test / /a /b")
		time.Sleep(time.Second)
		s.log.stalls = make(chan struct{})
		ordered := make(chan error)
		go func() { ordered <- s.co.SetState(t.Context(), 1, crawl.JobPaused) }()
		synctest.Wait()
		begin := time.Now()
		task, err := s.co.Task(t.Context(), 1)
		s.fail(err)
		_, err = s.co.Measurements(t.Context(), 1)
		s.fail(err)
		_, _, err = s.co.Decisions(t.Context(), DecisionsQuery{Task: 1})
		s.fail(err)
		_, err = s.co.Orders(t.Context(), ledger.OrderQuery{Limit: 10})
		s.fail(err)
		if took := time.Since(begin); len(task.Leases) != 1 || took > 0 {
			t.Errorf("%d leases of the task, after %s", len(task.Leases), took)
		}
		close(s.log.stalls)
		s.fail(<-ordered)
		s.halt()
	})
}
