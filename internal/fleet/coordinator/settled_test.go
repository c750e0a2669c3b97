package coordinator

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"argosy/internal/crawl"
	"argosy/internal/plan/schedule"
)

// particular gives one site to no node but one, and others to any; a cycle takes it a moment.
type particular struct {
	site, node string
	takes      time.Duration
	cycles     atomic.Int64
}

func (p *particular) Name() string { return "particular" }

func (p *particular) Plan(s *schedule.Snapshot, _ bool) (plan schedule.Plan) {
	p.cycles.Add(1)
	time.Sleep(p.takes)
	for i := range s.Tasks {
		node := slices.IndexFunc(s.Nodes, func(n schedule.Node) bool {
			return n.Running < n.Capacity && (s.Tasks[i].Site != p.site || n.ID == p.node)
		})
		if node < 0 {
			plan.Waiting = append(plan.Waiting, schedule.Waiting{Task: i, Verdict: crawl.Verdict{Reason: schedule.ReasonCapacity}})
			continue
		}
		s.Nodes[node].Running++
		plan.Assignments = append(plan.Assignments, schedule.Assignment{Task: i, Node: node})
	}
	return plan
}

// While leases hold all that --max-pages leaves nobody plans what cannot be given out.
func TestPagesThatAreHeldAreNotPlannedFor(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, dir)
		st := &particular{takes: 100 * time.Microsecond}
		s.strategies = func(string) (schedule.Strategy, error) { return st, nil }
		given := make(chan string, 10)
		s.log.does = func(node string, l *crawl.Lease) { given <- l.Site }
		s.start()
		s.play("node a")
		j := crawl.Job{Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeAny, UserAgent: "t", Seeds: []string{"http://runs.test/", "http://waits.test/"}}}
		j.Limits.PerIP, j.Limits.Delay, j.Limits.MaxPages = 0, 0, 1
		_, err := s.co.Submit(t.Context(), j)
		s.fail(err)
		<-given
		before := st.cycles.Load()
		time.Sleep(5 * time.Second)
		if n := st.cycles.Load() - before; n > 1 {
			t.Errorf("%d plans in 5 s of a job whose pages are all given out", n)
		}
		s.halt()
	})
}

// While nothing of what waits can be given out nobody plans all the time, whatever running leases report; what makes a difference is acted on
// at once.
func TestNothingToGiveIsNotPlannedAgain(t *testing.T) {
	const takes, parts = 100 * time.Microsecond, 1000
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, dir)
		st := &particular{site: "waits.test", node: "b", takes: takes}
		s.strategies = func(string) (schedule.Strategy, error) { return st, nil }
		given := make(chan string, 10)
		s.log.does = func(node string, l *crawl.Lease) { given <- fmt.Sprint(node, " ", short(l.ID), " ", l.Site) }
		want := func(what string, within time.Duration) {
			t.Helper()
			begin := time.Now()
			if got := <-given; got != what {
				t.Errorf("%q, want %q", got, what)
			}
			if took := time.Since(begin); took > within {
				t.Errorf("%s: after %v", what, took)
			}
		}
		s.start()
		s.play("node a")
		j := crawl.Job{Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeAny, UserAgent: "t", Seeds: []string{"http://runs.test/", "http://waits.test/"}}}
		j.Limits.PerIP, j.Limits.Delay = 0, 0
		_, err := s.co.Submit(t.Context(), j)
		s.fail(err)
		want("a 1.1 runs.test", 10*takes)
		before := st.cycles.Load()
		begin := time.Now()
		for i := range parts {
			s.part([]string{"a", "1.1", "link", fmt.Sprintf("http://runs.test/p%d", i)})
			time.Sleep(10 * time.Millisecond)
		}
		if n, most := st.cycles.Load()-before, int64(time.Since(begin)/restMost)+2; n > most || n == 0 {
			t.Errorf("%d cycles in %v, where nothing could be given out: want 1 to %d", n, time.Since(begin), most)
		}
		s.part([]string{"a", "1.1", "link", "http://comes.test/"})
		want("a 1.2 comes.test", batchFor+10*takes)
		s.part([]string{"a", "1.1", "final"})
		want("a 1.3 runs.test", 10*takes)
		s.play("node b")
		want("b 1.4 waits.test", 10*takes)
		s.halt()
	})
}

// The first of what is due after a time is found as by looking at all.
func TestDueAfter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := &run{}
		at := rapid.SliceOf(rapid.Int64Range(0, 20)).Draw(t, "at")
		for _, ms := range at {
			r.push(dueTask{at: ms})
		}
		from := rapid.Int64Range(-1, 21).Draw(t, "from")
		slices.Sort(at)
		i, _ := slices.BinarySearch(at, from+1)
		if got := r.due.after(from); i < len(at) && got != at[i] || i == len(at) && got < 1<<62 {
			t.Fatalf("after %d of %v: %d", from, at, got)
		}
	})
}
