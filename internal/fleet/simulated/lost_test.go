package simulated_test

import (
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// The message that recalls a lease is lost. Its node gives up by itself before another one is sent to the site: no two
// requests are with the site at once, and it still comes to a person.
func TestSimulatedRecallIsLost(t *testing.T) {
	simulated(t, func(t *testing.T) {
		w := webs.New()
		var with, most, asked atomic.Int64
		w.Sites["slow.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path != "/" {
				http.NotFound(rw, r)
				return
			}
			asked.Add(1)
			most.Store(max(most.Load(), with.Add(1)))
			defer with.Add(-1)
			select {
			case <-r.Context().Done():
			case <-time.After(4 * time.Minute):
				_, _ = rw.Write([]byte("at last"))
			}
		})
		s := newWorld(t, t.TempDir(), w)
		for _, n := range []string{"a", "b", "c"} {
			s.enter(n)
		}
		j := fleettest.Job("80", 0)
		j.Identity.Seeds = []string{"http://slow.test/"}
		j.Limits.Fetch.HeaderTimeout = 10 * time.Minute
		id := s.Submit(j)
		recall := j.Limits.RecycleAfter + j.Limits.Fetch.ConnectTimeout
		for n := int64(1); n <= 3; n++ {
			s.until("the site is asked", 10*time.Minute, func() bool { return asked.Load() >= n })
			node := s.nodes[s.holder(n)]
			time.Sleep(recall - 3*time.Second) // parts go through until shortly before the recall, and soon after it
			node.line.cut(true)
			time.Sleep(5 * time.Second)
			node.line.cut(false)
		}
		s.until("the job ends", time.Hour, func() bool { return s.Job(id).State != crawl.JobRunning })
		if v := s.Job(id); v.State != crawl.JobManual || asked.Load() != 6 || most.Load() != 1 {
			t.Errorf("%s after %d requests, %d at once", v.State, asked.Load(), most.Load())
		}
		s.cancel(id)
	})
}

// holder returns the node that has the lease of a task's attempt.
func (s *world) holder(attempt int64) (node string) {
	s.T.Helper()
	c, err := s.Server.Leader()
	if err == nil {
		err = c.View(s.T.Context(), func(f *frontier.Frontier) error {
			f.Leases(func(l *frontier.Lease) {
				if int64(l.Attempt) == attempt {
					node = l.Node
				}
			})
			return nil
		})
	}
	if err != nil || node == "" {
		s.T.Fatalf("nobody has attempt %d: %v", attempt, err)
	}
	return node
}

// cancel cancels a job, whatever its state.
func (s *world) cancel(id uint32) {
	s.T.Helper()
	c, err := s.Server.Leader()
	if err == nil {
		err = c.SetState(s.T.Context(), id, crawl.JobCancelled)
	}
	if err != nil {
		s.T.Error(err)
	}
}

// A job is cancelled while a node cannot be told. It is told again when it reports.
func TestSimulatedCancelIsLost(t *testing.T) {
	simulated(t, func(t *testing.T) {
		s, id := underWay(t, 200*time.Millisecond)
		n := s.nodes["a"]
		n.line.cut(true)
		s.cancel(id)
		time.Sleep(3 * time.Second)
		n.line.cut(false)
		s.until("the node stops", time.Minute, func() bool { return n.Agent.Stats().Leases == 0 })
	})
}

// underWay is a world with one node and a crawl that is under way.
func underWay(t *testing.T, latency time.Duration) (*world, uint32) {
	t.Helper()
	s := newWorld(t, t.TempDir(), webs.Random(webs.RandomConfig{Sites: fleettest.Sites, Pages: 120, Links: 6, Seed: 5, Latency: latency}))
	s.enter("a")
	id := s.Submit(fleettest.Job("80", simDelay))
	s.until("the crawl gets on", time.Hour, func() bool { return s.Job(id).Counts.Fetched >= 20 })
	return s, id
}

// order drains a node, or takes it back, while it cannot hear; then it hears again.
func (s *world) order(name string, again bool, while func()) {
	s.T.Helper()
	n := s.nodes[name]
	n.line.cut(true)
	c, err := s.Server.Leader()
	if err == nil {
		err = c.DrainNode(s.T.Context(), name, again)
	}
	if err != nil {
		n.line.cut(false)
		s.T.Fatal(err)
	}
	while()
	n.line.cut(false)
}

// An order to drain a node, and one to take it back, get there although the first message of each is lost, also when the
// node was away for so long that it was taken for gone.
func TestSimulatedOrdersAreRepeated(t *testing.T) {
	for _, away := range []time.Duration{3 * time.Second, 25 * time.Second} {
		t.Run(away.String(), func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				s, id := underWay(t, 200*time.Millisecond)
				wait := func() { time.Sleep(away) }
				drains := func() bool { return s.nodes["a"].Agent.Info().Draining }
				s.order("a", false, wait)
				s.until("the node drains", time.Minute, drains)
				s.order("a", true, wait)
				s.until("the node takes leases again", time.Minute, func() bool { return !drains() && s.nodes["a"].Agent.Stats().Leases > 0 })
				s.cancel(id)
			})
		})
	}
}

// An order to drain is taken back while its node cannot be heard any more and has been taken for gone.
func TestSimulatedOrderIsTakenBack(t *testing.T) {
	simulated(t, func(t *testing.T) {
		s, id := underWay(t, 200*time.Millisecond)
		a := s.nodes["a"]
		s.order("a", false, func() {
			time.Sleep(25 * time.Second)
			s.order("a", true, func() { time.Sleep(time.Second) })
		})
		s.until("the node takes leases again", time.Minute, func() bool { return !a.Agent.Info().Draining && a.Agent.Stats().Leases > 0 })
		time.Sleep(20 * time.Second)
		if a.Agent.Info().Draining {
			t.Error("the node drains")
		}
		s.cancel(id)
	})
}

// A coordinator is replaced again and again, at any moment of what a lease asks and is answered: the next one goes on at
// once, and not only when the lease says that it is still there, or when the node has waited for an answer to its registration that
// was lost with the old one.
func TestSimulatedAnswersAreNotMissed(t *testing.T) {
	simulated(t, func(t *testing.T) {
		s := newWorld(t, t.TempDir(), webs.Random(webs.RandomConfig{Sites: 1, Pages: 3000, Links: 6, Seed: 6, Latency: 20 * time.Millisecond}))
		s.enter("a")
		job := fleettest.Job("80", 50*time.Millisecond)
		job.Identity.Seeds = job.Identity.Seeds[:1]
		id := s.Submit(job)
		rng := rand.New(rand.NewPCG(37, 0))
		for i := range of(8, 30) {
			fetched := func() int64 { return s.Job(id).Counts.Fetched }
			s.until("the crawl gets on", time.Minute, func() bool { return fetched() > 0 })
			time.Sleep(time.Duration(rng.IntN(1200)) * time.Millisecond)
			s.Halt()
			s.Start()
			s.Leader()
			begin, before := time.Now(), fetched()
			s.until("the crawl goes on", time.Minute, func() bool { return fetched() > before })
			if d := time.Since(begin); d > 3*time.Second {
				t.Errorf("after start %d nothing was fetched for %v", i, d)
			}
		}
		s.cancel(id)
	})
}

// A node that ends while the order to take leases again is under way does not go on.
func TestSimulatedEndIsForGood(t *testing.T) {
	simulated(t, func(t *testing.T) {
		s, id := underWay(t, 20*time.Second)
		n := s.nodes["a"]
		s.until("a request is under way", time.Minute, func() bool { return n.Agent.Stats().Busy > 0 })
		left := make(chan error, 1)
		s.order("a", true, func() {
			time.Sleep(3 * time.Second)
			go func() { left <- n.Wait() }()
		})
		s.until("the node has left", 2*time.Minute, func() bool { return len(left) == 1 })
		s.cancel(id)
	})
}

// A job is paused, its coordinator goes away before the node has been told, and another one leads: the node stops, and the
// ledger's rows of tasks are right.
func TestSimulatedPauseIsTakenOver(t *testing.T) {
	simulated(t, func(t *testing.T) {
		s, id := underWay(t, 200*time.Millisecond)
		s.nodes["a"].line.cut(true)
		time.Sleep(4 * time.Second)
		c, err := s.Server.Leader()
		if err == nil {
			err = c.SetState(t.Context(), id, crawl.JobPaused)
		}
		if err != nil {
			t.Fatal(err)
		}
		s.Halt()
		begin := time.Now()
		s.Start()
		s.Leader()
		if d := time.Since(begin); d > 100*time.Millisecond {
			t.Errorf("a coordinator alone leads after %v", d)
		}
		s.nodes["a"].line.cut(false)
		s.until("its leases end", time.Hour, func() bool { return s.Job(id).Counts.Crawling == 0 })
		time.Sleep(10 * time.Second)
		v := s.Job(id)
		s.Halt()
		l, err := ledger.Open(t.Context(), filepath.Join(s.Dir, outdir.LedgerFile))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		if got, err := l.Sums(t.Context()); err != nil || got[id].Fetched != v.Counts.Fetched || got[id].Discovered != v.Counts.Discovered || v.State != crawl.JobPaused {
			t.Errorf("%s: rows say %+v, it has %+v: %v", v.State, got[id], v.Counts, err)
		}
		s.Start()
		s.Leader()
	})
}
