package coordinator

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
)

// However long the log takes to have a grant, the next site is given out as soon as it is found: to wait is not to work.
func TestSlowLogDelaysNoCycle(t *testing.T) {
	const sites, takes = 20, 3 * time.Millisecond
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, dir)
		s.start()
		j := crawl.Job{Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeAny, UserAgent: "t", Seeds: []string{"http://s0.test/"}}}
		j.Limits.PerIP, j.Limits.Delay = 0, 0
		s.log.takes = takes
		last := make(chan struct{})
		var at []time.Time
		s.log.does = func(node string, l *crawl.Lease) {
			if at = append(at, time.Now()); len(at) == sites {
				close(last)
				s.part([]string{node, short(l.ID), "fetched", "/", "final"})
				return
			}
			s.part([]string{node, short(l.ID), "fetched", "/", "link", fmt.Sprintf("http://s%d.test/", len(at)), "final"})
		}
		s.log.nodes <- nodeEvent{crawl.NodeInfo{Node: "a", Incarnation: "a-1", Leases: 4, Concurrency: 4, Store: "file:///s"}, crawl.SignRenewed}
		_, err := s.co.Submit(t.Context(), j)
		s.fail(err)
		<-last
		for i := 1; i < sites; i++ {
			if gap := at[i].Sub(at[i-1]); gap > takes {
				t.Errorf("site %d is given out %v after it was found, the log takes %v", i, gap, takes)
			}
		}
		s.halt()
	})
}

// What comes to be due while the loop works, between a turn's beginning and its end, is done at once. What the turn has seen and had no room
// for waits.
func TestRestUntilDue(t *testing.T) {
	t.Parallel()
	turn := time.UnixMilli(1_700_000_000_000)
	for _, c := range []struct {
		due, again, now, rest time.Duration // after the turn has begun
	}{
		{due: -5, again: -5, now: 2, rest: restLeast},
		{due: 0, again: 0, now: 2, rest: restLeast},
		{due: -5, again: 1, now: 2},
		{due: 1, again: -5, now: 2},
		{due: 1, again: 2, now: 2},
		{due: 3, again: 1, now: 2, rest: time.Millisecond},
		{due: -5, again: 5, now: 2, rest: 3 * time.Millisecond},
	} {
		co := &Coordinator{}
		co.sinks.leads = true
		co.clock.Saw(turn.UnixMilli(), turn)
		co.jobs.now = turn
		due := dueTask{at: co.clock.MS(turn.Add(c.due * time.Millisecond)), id: 1}
		co.jobs.runs = map[uint32]*run{1: {due: dueHeap{due}, again: turn.Add(c.again * time.Millisecond)}}
		if rest := co.rest(turn.Add(c.now * time.Millisecond)); rest != c.rest {
			t.Errorf("%+v: rest %v", c, rest)
		}
	}
}
