package simulated_test

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/page/topic"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

const simDelay = 2 * time.Second

// faultDelay is the delay where things go wrong by chance: so long that the few pages of a site take as much time as faults do.
const faultDelay = 2 * simDelay

// daySeeds is how many of them go test plays.
const daySeeds = 2

var simSeeds = flag.Uint64("sim.seeds", daySeeds, "how many random sequences of faults are played in simulated time; from 3 on more strategies are replayed from recordings; make nightly plays 100")

// night reports whether make nightly asks.
func night() bool { return *simSeeds > daySeeds }

// of returns how large a world is, or how often something happens: the first by day, which people wait for, the second at night.
func of(day, atNight int) int {
	if night() {
		return atNight
	}
	return day
}

// play crawls a random web in simulated time while something happens, and judges what comes of it. All sites are at one
// address, which has no more than perIP requests at once, if that is not 0. It returns how many leases were lost and how
// many pages were fetched again.
func play(t *testing.T, seed uint64, perIP int, happen func(t *testing.T, s *world, id uint32)) (lost, extra int) {
	t.Helper()
	return playJob(t, seed, perIP, func(*crawl.Job) {}, happen)
}

// playJob plays a job that is not the usual one.
func playJob(t *testing.T, seed uint64, perIP int, change func(*crawl.Job), happen func(t *testing.T, s *world, id uint32)) (lost, extra int) {
	t.Helper()
	cfg := webs.RandomConfig{Sites: fleettest.Sites, Pages: of(30, 120), Links: 6, Seed: seed}
	port, stop, err := webs.Random(cfg).Serve("127.0.0.1:0") // for the search that judges, which is not in simulated time
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir := t.TempDir()
	begin := time.Now()
	simulated(t, func(t *testing.T) {
		begin := time.Now()
		cfg.Latency = 200 * time.Millisecond
		s := newWorld(t, dir, webs.Random(cfg))
		for _, n := range []string{"a", "b", "c"} {
			s.enter(n)
		}
		j := fleettest.Job(port, faultDelay)
		j.Limits.PerIP = perIP
		change(&j)
		id := s.Submit(j)
		happen(t, s, id)
		s.until("the job ends", 2*time.Hour, func() bool { return s.Job(id).State == crawl.JobDone && s.Server.Indexed(id) })
		for i := range fleettest.Sites {
			host := fmt.Sprintf("s%d.test", i)
			if gap, n := s.web.MinGap(host); gap < faultDelay {
				t.Errorf("%s: %v between two of %d requests", host, gap, n)
			}
			asked := map[string]bool{}
			for _, h := range s.web.Hits(host) {
				if asked[h.Path] && h.Path != "/robots.txt" {
					extra++
				}
				asked[h.Path] = true
			}
		}
		if most := int(s.most.Load()); perIP > 0 && most > perIP {
			t.Errorf("%d requests at once at an address that is to have %d", most, perIP)
		}
		t.Logf("%v of simulated time", time.Since(begin))
	})
	fleettest.Judge(t, dir, port)
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if lost, err = l.LeasesLost(t.Context(), 1); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d leases lost, %d pages fetched again, %.1f s in truth", lost, extra, time.Since(begin).Seconds())
	return lost, extra
}

// Whatever happens to agents, lines and the coordinator, the crawl ends with what an independent search finds, no site is
// asked sooner than its delay, no address by more at once than it should, and what is fetched again was held by a lease that died.
func TestSimulatedFaults(t *testing.T) {
	for seed := range *simSeeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			lost, extra := play(t, 500+seed, 2*int(seed%2), func(t *testing.T, s *world, _ uint32) {
				faults(t, s, seed, 9)
			})
			// An agent that is cut off goes on until three quarters of its term are over.
			term := crawl.DefaultLimits().RecycleAfter
			if most := lost * int(term*3/4/faultDelay+2); extra > most {
				t.Errorf("%d pages were fetched again, %d leases were lost", extra, lost)
			}
		})
	}
}

// faults have random things happen to a fleet: at night four of any kind; by day two, of all kinds in turn.
func faults(t *testing.T, s *world, seed, stream uint64) {
	t.Helper()
	rng, things := rand.New(rand.NewPCG(seed, stream)), of(2, 4)
	for i := range things {
		time.Sleep(time.Duration(rng.IntN(30)) * time.Second)
		span := time.Duration(1+rng.IntN(100)) * time.Second
		name := string('a' + rune(rng.IntN(3)))
		kind := rng.IntN(4)
		if !night() {
			kind = (things*int(seed) + i) % 4
		}
		switch kind {
		case 0:
			t.Logf("%s is killed, and started again after %v", name, span)
			s.kill(name)
			time.Sleep(span)
			s.enter(name)
		case 1:
			t.Logf("%s is cut off for %v", name, span)
			s.nodes[name].line.cut(true)
			time.Sleep(span)
			s.nodes[name].line.cut(false)
		case 2:
			t.Logf("the coordinator is away for %v", span)
			s.Halt()
			time.Sleep(span)
			s.Start()
		case 3:
			t.Logf("%s is killed while the coordinator is away for %v", name, span)
			s.Halt()
			s.kill(name)
			time.Sleep(span)
			s.Start()
			time.Sleep(span)
			s.enter(name)
		}
	}
}

// The same holds of crawlers that trade: whoever dies in the middle of a trade, every URL is had, and what is fetched again was held by a
// lease that died.
func TestLongSimulatedMarket(t *testing.T) {
	about, err := topic.Words("about nothing", "en")
	if err != nil {
		t.Fatal(err)
	}
	for seed := range *simSeeds / 2 {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			market := crawl.DefaultMarket(crawl.MarketLots)
			lost, extra := playJob(t, 700+seed, 0, func(j *crawl.Job) {
				j.Identity.Topic, j.Identity.Order, j.Identity.Tunnel, j.Identity.Market = about, crawl.OrderBest, -1, &market
			}, func(t *testing.T, s *world, id uint32) {
				faults(t, s, seed, 10)
				s.until("a market has been held", time.Hour, func() bool { return s.markets(id) > 2 })
			})
			term := crawl.DefaultLimits().RecycleAfter
			if most := lost * int(term*3/4/faultDelay+2); extra > most {
				t.Errorf("%d pages were fetched again, %d leases were lost", extra, lost)
			}
		})
	}
}

// markets returns how many markets the ledger tells of, so far.
func (s *world) markets(id uint32) (n int) {
	s.T.Helper()
	l, err := ledger.Open(s.T.Context(), filepath.Join(s.Dir, outdir.LedgerFile))
	if err != nil {
		return 0
	}
	defer l.Close()
	if err := l.Markets(s.T.Context(), id, func(ledger.Held) error { n++; return nil }); err != nil {
		s.T.Error(err)
	}
	return n
}

// A coordinator that is away for two minutes, twice the leases' term, loses nothing: its agents hold on to what they could
// not report.
func TestSimulatedCoordinatorAway(t *testing.T) {
	lost, extra := play(t, 600, 0, func(t *testing.T, s *world, id uint32) {
		s.until("the crawl gets on", time.Hour, func() bool { return s.Job(id).Counts.Fetched >= 40 })
		s.Halt()
		time.Sleep(2 * time.Minute)
		s.Start()
	})
	if lost > 0 || extra > 0 {
		t.Errorf("%d leases were lost, %d pages fetched again", lost, extra)
	}
}

// A site whose answers take longer than a lease may be silent is recalled and moved from node to node, five times; then it
// waits for a person with its history. Released with another setting it is completed. A page that is not there does not
// travel.
func TestSimulatedRecycling(t *testing.T) {
	dir := t.TempDir()
	simulated(t, func(t *testing.T) {
		w := webs.New()
		w.Sites["slow.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/":
				select {
				case <-r.Context().Done():
				case <-time.After(90 * time.Second):
					rw.Header().Set("Content-Type", "text/html")
					_, _ = fmt.Fprint(rw, `<title>at last</title><a href="/missing">x</a>`)
				}
			default:
				http.NotFound(rw, r)
			}
		})
		s := newWorld(t, dir, w)
		for _, n := range []string{"a", "b", "c"} {
			s.enter(n)
		}
		j := fleettest.Job("80", 0)
		j.Identity.Seeds = []string{"http://slow.test/"}
		j.Limits.Fetch.HeaderTimeout = 10 * time.Minute
		begin := time.Now()
		id := s.Submit(j)
		var v coordinator.JobView
		s.until("the job ends", time.Hour, func() bool { v = s.Job(id); return v.State != crawl.JobRunning })
		if v.State != crawl.JobManual || v.Counts.Manual != 1 || v.Counts.Pending != 1 {
			t.Fatalf("%s: %+v", v.State, v.Counts)
		}
		if took, term := time.Since(begin), j.Limits.RecycleAfter+j.Limits.Fetch.ConnectTimeout; took < 6*term || took > 6*term+2*time.Minute {
			t.Errorf("six terms of %v took %v", term, took)
		}
		rows, err := s.Leader().Tasks(t.Context(), coordinator.TasksQuery{Job: id})
		if err != nil {
			t.Fatal(err)
		}
		checkMoves(t, &rows[0], j.Limits.RecycleLimit)
		err = s.Leader().SetLimits(t.Context(), id, func(j *crawl.Job) error {
			j.Limits.RecycleAfter = 3 * time.Minute
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Leader().Release(t.Context(), crawl.EntryRetry, []string{"slow.test"}, crawl.Release{Job: id, Why: "test"}); err != nil {
			t.Fatal(err)
		}
		s.until("it is completed", time.Hour, func() bool { v = s.Job(id); return v.State == crawl.JobDone })
		if v.Counts.Fetched != 2 || v.Counts.Pending != 0 || v.Counts.Manual != 0 {
			t.Errorf("%+v", v.Counts)
		}
		misses := 0
		for _, h := range w.Hits("slow.test") {
			if h.Path == "/missing" {
				misses++
			}
		}
		if misses != 1 {
			t.Errorf("a page that is not there was asked for %d times", misses)
		}
	})
}

// checkMoves looks at the history of a task that was recalled too often: never twice in a row from one node, and all
// three had it.
func checkMoves(t *testing.T, row *ledger.Task, limit int) {
	t.Helper()
	if row.State != "manual" || row.Recalls != limit || len(row.History) != limit+1 {
		t.Fatalf("%+v", row)
	}
	last := ""
	nodes := map[string]bool{}
	for _, h := range row.History {
		_, node, _ := strings.Cut(h, " on ")
		node, _, _ = strings.Cut(node, ":")
		if node == last {
			t.Errorf("recalled from %s and given to it again: %q", node, row.History)
		}
		last, nodes[node] = node, true
	}
	if len(nodes) != 3 {
		t.Errorf("tried on %d nodes of 3: %q", len(nodes), row.History)
	}
}

// Nodes cost by the hour what their prices say; how many were at work, and for how long, says how many to reserve.
func TestSimulatedReservation(t *testing.T) {
	dir := t.TempDir()
	simulated(t, func(t *testing.T) {
		cfg := webs.RandomConfig{Sites: 1, Pages: of(40, 100), Links: 6, Seed: 1}
		s := newWorld(t, dir, webs.Random(cfg))
		s.change = func(c *assemble.AgentConfig) { c.Node.Info.Prices = [3]float64{1, 1, 5} }
		begin := time.Now()
		for _, n := range []string{"a", "b", "c"} {
			s.enter(n)
		}
		s.until("all are known", time.Minute, func() bool { // else the first lease is one's that the next, first by name, is not
			nodes, err := s.Leader().Nodes(t.Context())
			return err == nil && len(nodes) == 3
		})
		j := fleettest.Job("80", 10*time.Second)
		j.Identity.Seeds = []string{"http://s0.test/"}
		j.Placing.Strategy = "packing"
		id := s.Submit(j)
		s.until("the job ends", 3*time.Hour, func() bool { return s.Job(id).State == crawl.JobDone })
		busy := time.Since(begin)
		time.Sleep(busy / 2)
		all := time.Since(begin)
		r, err := s.Leader().Reserve(t.Context())
		if err != nil || !r.Known {
			t.Fatalf("%+v, %v", r, err)
		}
		// One node of three is needed in two thirds of the time, more than a quarter: one is to be reserved.
		if r.Reserved.Reserved != 3 || r.Best.Reserved != 1 || r.Best.Total >= r.Reserved.Total || r.Most != 1 || math.Abs(r.Hours-all.Hours()) > 0.008 {
			t.Errorf("after %v, %v at work: %+v", all, busy, r)
		}
		nodes, err := s.Leader().Nodes(t.Context())
		if err != nil || len(nodes) != 3 {
			t.Fatalf("%+v, %v", nodes, err)
		}
		cost, worked := 0.0, 0
		for _, n := range nodes {
			cost += n.Cost
			if n.Fetched > 0 {
				worked++
			}
		}
		if want := 3*all.Hours() + busy.Hours(); worked != 1 || math.Abs(cost-want) > 0.02*want {
			t.Errorf("%d nodes worked, all cost %.3f, %.3f is right", worked, cost, want)
		}
	})
}

// Agents come and go while a crawl runs, one, then eight, then three: a new one sends its first request within two seconds,
// one that drains is gone with its leases ended within two, and nothing is fetched twice.
func TestLongSimulatedComeAndGo(t *testing.T) {
	const many = 16
	cfg := webs.RandomConfig{Sites: many, Pages: of(40, 60), Links: 6, Seed: 23}
	port, stop, err := webs.Random(cfg).Serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir := t.TempDir()
	j := fleettest.Job(port, 500*time.Millisecond)
	j.Identity.Seeds = nil
	for s := range many {
		j.Identity.Seeds = append(j.Identity.Seeds, fmt.Sprintf("http://s%d.test:%s/", s, port))
	}
	simulated(t, func(t *testing.T) {
		cfg.Latency = 100 * time.Millisecond
		s := newWorld(t, dir, webs.Random(cfg))
		s.enter("n0")
		id := s.Submit(j)
		s.until("the crawl gets on", time.Hour, func() bool { return s.Job(id).Counts.Fetched >= 100 })
		begin := time.Now()
		for i := 1; i < 8; i++ {
			s.enter(fmt.Sprintf("n%d", i))
		}
		for left := 7; left > 0 && time.Since(begin) < time.Minute; time.Sleep(50 * time.Millisecond) {
			left = 0
			for _, n := range s.nodes {
				if n.Agent.Stats().Requests == 0 {
					left++
				}
			}
		}
		if d := time.Since(begin); d > 2*time.Second {
			t.Errorf("the last of the new nodes sent its first request after %v", d)
		}
		s.until("all have worked a while", time.Hour, func() bool { return s.Job(id).Counts.Fetched >= 300 })
		for i := 3; i < 8; i++ {
			name := fmt.Sprintf("n%d", i)
			begin := time.Now()
			s.nodes[name].end(t)
			delete(s.nodes, name)
			if d := time.Since(begin); d > 2*time.Second {
				t.Errorf("%s drained for %v", name, d)
			}
		}
		s.until("the job ends", time.Hour, func() bool { return s.Job(id).State == crawl.JobDone && s.Server.Indexed(id) })
		if u := fleettest.Twice(s.web, many); u != "" {
			t.Errorf("%s was fetched twice", u)
		}
	})
	fleettest.JudgeSites(t, dir, j.Identity.Seeds, port)
}
