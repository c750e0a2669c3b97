package simulated_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	jobfile "argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/webs"
)

// searched is a search engine and the sites that it knows, in simulated time. engine.test is what it is asked as.
type searched struct {
	*world
	docs   int // of each site, on result pages of three
	tries  int // attempts at a search before it is a person's, where it is not the usual number
	engine func(rw http.ResponseWriter, r *http.Request) bool
	site   func(rw http.ResponseWriter, r *http.Request) bool

	mu      sync.Mutex           // nodes of several addresses ask at the same time
	asked   map[string]time.Time // result pages, and when they were asked for last
	repeats int
}

const resultsPerPage = 3

// newSearched starts a coordinator and nodes with a web of an engine and two sites.
func newSearched(t *testing.T, docs int, nodes ...string) *searched {
	t.Helper()
	s := &searched{docs: docs, asked: map[string]time.Time{}}
	w := webs.New()
	w.Sites["engine.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		time.Sleep(200 * time.Millisecond)
		if r.URL.Path == "/robots.txt" || s.engine != nil && s.engine(rw, r) {
			return
		}
		s.mu.Lock()
		if !s.asked[r.URL.RawQuery].IsZero() {
			s.repeats++
		}
		s.asked[r.URL.RawQuery] = time.Now()
		s.mu.Unlock()
		page, _ := strconv.Atoi(r.FormValue("p"))
		_, of, _ := strings.Cut(r.FormValue("q"), "site:")
		fmt.Fprintf(rw, "<b>%d</b>", docs)
		for d := page * resultsPerPage; d < min(docs, (page+1)*resultsPerPage); d++ {
			fmt.Fprintf(rw, "<p><a href=http://%s/%d>%d</a>", of, d, d)
		}
	})
	for _, name := range []string{"s0.test", "s1.test"} {
		w.Sites[name] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			time.Sleep(200 * time.Millisecond)
			if r.URL.Path == "/robots.txt" || s.site != nil && s.site(rw, r) {
				return
			}
			rw.Header().Set("Content-Type", "text/html")
			fmt.Fprint(rw, "<title>a page</title>")
		})
	}
	s.world = newWorld(t, t.TempDir(), w)
	s.change = func(c *assemble.AgentConfig) { // sites tell nodes apart by where they come from
		name := c.Node.Info.Node
		c.Node.Fetch.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			here, there := net.Pipe()
			select {
			case s.sites.conns <- fromNode{there, name}:
				return here, nil
			case <-s.sites.done:
				return nil, net.ErrClosed
			case <-ctx.Done():
				return nil, ctx.Err()
			}
		}
	}
	for _, n := range nodes {
		s.enter(n)
	}
	return s
}

// begin submits a job with two searches for one subject.
func (s *searched) begin(virtual string) uint32 {
	s.T.Helper()
	return s.beginOn("s0.test, s1.test", virtual, "")
}

// beginOn is begin with other sites and more keys of the engine.
func (s *searched) beginOn(sites, virtual, engine string) uint32 {
	s.T.Helper()
	if s.tries == 0 {
		s.tries = crawl.DefaultLimits().RecycleLimit + 1
	}
	of, err := jobfile.ReadJob(strings.NewReader(fmt.Sprintf(`
limits: {delay: %v, per_ip: 0, recycle_limit: %d}
virtual:
  products: [{name: milk}]
  sites: [%s]
  pages: 2
%s
  engines:
    - name: ours
%s
      url: "http://engine.test/s?q={query}&p={page}"
      results: {item: {css: p}, link: {css: a, attr: href}}
      stated: {at: {css: b}}
`, simDelay, s.tries-1, sites, virtual, engine)))
	if err != nil {
		s.T.Fatal(err)
	}
	job, err := of.Submitted("argosy-test/1.0")
	if err != nil {
		s.T.Fatal(err)
	}
	return s.Submit(job)
}

// seekers are the searches of a job.
func (s *searched) seekers(id uint32) (out []ledger.Task) {
	s.T.Helper()
	rows, err := s.Leader().Tasks(s.T.Context(), coordinator.TasksQuery{Job: id})
	if err != nil {
		s.T.Fatal(err)
	}
	return slices.DeleteFunc(rows, func(r ledger.Task) bool { return r.Search == nil })
}

// ends waits until a job has ended and checks that every search has all, and that no site was asked sooner than its delay.
func (s *searched) ends(id uint32) {
	s.T.Helper()
	s.done(id)
	for _, host := range []string{"engine.test", "s0.test", "s1.test"} {
		if gap, n := s.web.MinGap(host); gap < simDelay {
			s.T.Errorf("%s: %v between two of %d requests", host, gap, n)
		}
	}
}

// done is ends without a look at delays.
func (s *searched) done(id uint32) {
	s.T.Helper()
	s.until("the job ends", 3*time.Hour, func() bool { return s.Job(id).State == crawl.JobDone && s.Server.Indexed(id) })
	for _, row := range s.seekers(id) {
		if of := row.Search; row.State != crawl.TaskDone || of.Found != int64(s.docs) || of.Collected != int64(s.docs) {
			s.T.Errorf("search on %s: %s, %+v", of.Site, row.State, of)
		}
	}
}

// fromNode is a connection whose other end is a node.
type fromNode struct {
	net.Conn
	node string
}

func (c fromNode) RemoteAddr() net.Addr { return nodeAddr(c.node) }

type nodeAddr string

func (nodeAddr) Network() string  { return "pipe" }
func (a nodeAddr) String() string { return string(a) }

// A search for nodes of a type that no node is of says so, and so does its job, until there is one; a node may be of several types.
func TestSimulatedSearchesOfAType(t *testing.T) {
	simulated(t, func(t *testing.T) {
		s := newSearched(t, 3, "a")
		id := s.beginOn("s0.test, s1.test", "", "      type: micro")
		s.until("the job says what it lacks", time.Minute, func() bool { return slices.Equal(s.Job(id).Lacks, []string{"micro"}) })
		for _, row := range s.seekers(id) {
			if row.Lacks != "micro" || row.Attempts > 0 {
				t.Errorf("lacks %q after %d attempts", row.Lacks, row.Attempts)
			}
		}
		own := s.change
		s.change = func(c *assemble.AgentConfig) {
			own(c)
			c.Node.Info.Labels = map[string]string{"type": "web+micro"}
		}
		s.enter("b")
		s.ends(id)
		if j := s.Job(id); len(j.Lacks) > 0 {
			t.Errorf("it is done, and lacks %v", j.Lacks)
		}
	})
}

// Nodes are killed in the middle of searches, and the coordinator goes and comes: nothing is lost, no site is asked sooner than its delay, and
// a result page is asked again only if the lease was lost that asked for it.
func TestSimulatedSearchesKilled(t *testing.T) {
	simulated(t, func(t *testing.T) {
		s := newSearched(t, 20, "a", "b", "c")
		id := s.begin("")
		for i, name := range []string{"a", "b", "c", "a"} {
			s.until("something was fetched", time.Hour, func() bool { return s.Job(id).Counts.Fetched >= int64(5+8*i) })
			if i == 2 {
				s.Halt()
				time.Sleep(20 * time.Second)
				s.Start()
			}
			s.kill(name)
			time.Sleep(10 * time.Second)
			s.enter(name)
		}
		s.ends(id)
		if pages := 2 * (s.docs + resultsPerPage - 1) / resultsPerPage; len(s.asked) < pages || len(s.asked) > pages+2 || s.repeats > 4 {
			t.Errorf("%d result pages were asked for, %d of them again, want %d", len(s.asked), s.repeats, pages)
		}
	})
}

// Each way in which an engine fails ends where it should, at the stated time and count, with its reason; released, the searches finish.
func TestLongSimulatedSearchesFail(t *testing.T) {
	type ask struct {
		at   time.Time
		node string
	}
	for _, c := range []struct {
		name   string
		engine func(rw http.ResponseWriter, r *http.Request) bool
		tries  int           // 0: as many as usual
		rest   time.Duration // between two of them at least
		why    string
		manual bool
	}{
		{"429", func(rw http.ResponseWriter, _ *http.Request) bool {
			rw.Header().Set("Retry-After", "300")
			rw.WriteHeader(http.StatusTooManyRequests)
			return true
		}, 3, 5 * time.Minute, "blocked: answered 429", true},
		{"captcha", func(rw http.ResponseWriter, _ *http.Request) bool {
			rw.Header().Set("Location", "http://other.test/sorry/")
			rw.WriteHeader(http.StatusFound)
			return true
		}, 0, time.Minute, "it redirects to http://other.test/sorry/", true},
		{"silence", func(_ http.ResponseWriter, r *http.Request) bool {
			<-r.Context().Done()
			return true
		}, 3, time.Minute, "", true},
		{"one node is shut out", func(rw http.ResponseWriter, r *http.Request) bool {
			if r.RemoteAddr == "a" {
				rw.WriteHeader(http.StatusForbidden)
			}
			return r.RemoteAddr == "a"
		}, 0, time.Minute, "", false},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				s := newSearched(t, 4, "a", "b")
				s.tries = c.tries
				var mu sync.Mutex
				asks := map[string][]ask{}
				s.engine = func(rw http.ResponseWriter, r *http.Request) bool {
					mu.Lock()
					asks[r.URL.RawQuery] = append(asks[r.URL.RawQuery], ask{time.Now(), r.RemoteAddr})
					mu.Unlock()
					return c.engine(rw, r)
				}
				id := s.begin("")
				if c.manual {
					s.until("a person is asked", 3*time.Hour, func() bool { return s.Job(id).State == crawl.JobManual })
					var release crawl.Release
					for _, row := range s.seekers(id) {
						if row.State != crawl.TaskManual || row.Recalls != s.tries-1 || !strings.Contains(row.Search.Why, c.why) {
							t.Errorf("%s, %d recalls: %s", row.State, row.Recalls, row.Search.Why)
						}
						release.Tasks = append(release.Tasks, row.ID)
					}
					for query, of := range asks {
						if len(of) != s.tries {
							t.Errorf("%s was asked for %d times, want %d", query, len(of), s.tries)
						}
						for i := 1; i < len(of); i++ {
							if gap := of[i].at.Sub(of[i-1].at); gap < c.rest || of[i].node == of[i-1].node {
								t.Errorf("%s: %s asked %v after %s", query, of[i].node, gap, of[i-1].node)
							}
						}
					}
					s.engine = nil
					release.Job = id
					if _, err := s.Leader().Release(t.Context(), crawl.EntryRetry, nil, release); err != nil {
						t.Fatal(err)
					}
				}
				s.ends(id)
				for query, of := range asks {
					refused := 0
					for _, a := range of {
						if a.node == "a" {
							refused++
						}
					}
					if !c.manual && refused > 2 {
						t.Errorf("%s: the node that is shut out asked %d times", query, refused)
					}
				}
			})
		})
	}
}

// A site that slows down, and one that shuts out one node, lose nothing. One that stops answering takes no node with it: after as many
// attempts as the job allows its search is a person's, with the reason, and the other searches are done. Released, it loses nothing.
func TestSimulatedSitesFail(t *testing.T) {
	for _, c := range []struct {
		name string
		site func(rw http.ResponseWriter, r *http.Request) bool
		lost bool
	}{
		{"slow", func(http.ResponseWriter, *http.Request) bool { time.Sleep(20 * time.Second); return false }, false},
		{"one node is shut out", func(rw http.ResponseWriter, r *http.Request) bool {
			if r.RemoteAddr == "a" {
				rw.WriteHeader(http.StatusForbidden)
			}
			return r.RemoteAddr == "a"
		}, false},
		{"silence", func(_ http.ResponseWriter, r *http.Request) bool {
			if r.Host == "s1.test" {
				<-r.Context().Done()
			}
			return r.Host == "s1.test"
		}, true},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				s := newSearched(t, 7, "a", "b")
				s.site = c.site
				id := s.begin("")
				if !c.lost {
					s.ends(id)
					return
				}
				began := time.Now()
				s.until("the job ends", 3*time.Hour, func() bool { return s.Job(id).State != crawl.JobRunning })
				if took := time.Since(began); took > 15*time.Minute {
					t.Errorf("it waits for a person after %v", took)
				}
				release := crawl.Release{Job: id}
				for _, row := range s.seekers(id) {
					of := row.Search
					if of.Site == "s0.test" && of.Collected != 7 || of.Site == "s1.test" && (of.Collected != 0 || of.Found != 7 || of.Lost != 0 || row.State != crawl.TaskManual || !strings.Contains(of.Why, "recalled 5 times; the last one: s1.test does not answer")) {
						t.Errorf("%s on %s: %+v", row.State, of.Site, of)
					}
					if row.State == crawl.TaskManual {
						release.Tasks = append(release.Tasks, row.ID)
					}
				}
				s.site = nil
				if _, err := s.Leader().Release(t.Context(), crawl.EntryRetry, nil, release); err != nil {
					t.Fatal(err)
				}
				s.ends(id)
			})
		})
	}
}

// A site that refuses every node is asked for a few pages by the last one, as by any other, and its search is a person's with nothing lost
// that was not refused after something had been answered. Released, it is done; a site that refuses single pages is none of a person's.
func TestLongSimulatedSiteRefuses(t *testing.T) {
	const docs = 30
	for _, c := range []struct {
		name    string
		refuses func(asked, doc int, node string) bool
		manual  bool
		asked   int // at most
		lost    int64
	}{
		{"every node", func(int, int, string) bool { return true }, true, 8, 0},
		{"every node from the tenth page on", func(asked, _ int, _ string) bool { return asked > 10 }, true, 18, 5},
		{"every node but one", func(_, _ int, node string) bool { return node != "c" }, false, docs + 4, 0},
		{"single pages", func(_, doc int, _ string) bool { return doc%4 == 0 }, false, 2 * docs, 8},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				s := newSearched(t, docs, "a", "b", "c")
				var mu sync.Mutex
				asked := 0
				s.site = func(rw http.ResponseWriter, r *http.Request) bool {
					mu.Lock()
					defer mu.Unlock()
					if asked++; r.Host != "s1.test" {
						asked--
						return false
					}
					doc, _ := strconv.Atoi(strings.TrimPrefix(r.URL.Path, "/"))
					if c.refuses(asked, doc, r.RemoteAddr) {
						rw.WriteHeader(http.StatusForbidden)
						return true
					}
					return false
				}
				id := s.begin("")
				s.until("the job ends", 3*time.Hour, func() bool { return s.Job(id).State != crawl.JobRunning })
				release := crawl.Release{Job: id}
				for _, row := range s.seekers(id) {
					of := row.Search
					if of.Site == "s0.test" {
						if of.Collected != docs {
							t.Errorf("%+v", of)
						}
						continue
					}
					if manual := row.State == crawl.TaskManual; manual != c.manual || manual && !strings.Contains(of.Why, "s1.test refuses every node (403)") || of.Lost > c.lost {
						t.Errorf("%s: %+v", row.State, of)
					}
					release.Tasks = append(release.Tasks, row.ID)
				}
				if asked > c.asked {
					t.Errorf("it was asked %d times", asked)
				}
				if !c.manual {
					return
				}
				s.site = nil
				if _, err := s.Leader().Release(t.Context(), crawl.EntryRetry, nil, release); err != nil {
					t.Fatal(err)
				}
				s.until("the job is done", time.Hour, func() bool { return s.Job(id).State == crawl.JobDone })
				for _, row := range s.seekers(id) {
					if of := row.Search; of.Collected < docs-c.lost {
						t.Errorf("%s: %+v", row.State, of)
					}
				}
			})
		})
	}
}

// A site that refuses the only node that is there just now does not refuse every node: one that was recalled from it, and has not been heard
// of for a minute, comes back and has the rest.
func TestSimulatedAwayIsNotRefused(t *testing.T) {
	simulated(t, func(t *testing.T) {
		const docs = 60
		s := newSearched(t, docs, "a", "c")
		var had, refused atomic.Int64
		s.site = func(rw http.ResponseWriter, r *http.Request) bool {
			if r.Host != "s1.test" {
				return false
			}
			if had.Add(1); r.RemoteAddr == "a" {
				refused.Add(1)
				rw.WriteHeader(http.StatusForbidden)
				return true
			}
			return false
		}
		id := s.begin("")
		s.until("some pages are there", time.Hour, func() bool { return had.Load() > 5 })
		s.nodes["c"].line.cut(true)
		was := refused.Load()
		time.Sleep(80 * time.Second) // a term, and the node that is left has had its turn
		if refused.Load() == was {
			t.Error("the other node was not asked meanwhile")
		}
		s.nodes["c"].line.cut(false)
		s.done(id)
	})
}

// An engine that allows it is asked by each source address on a clock of its own, also when a node is killed and comes again and the
// coordinator is another one; nodes of one address share its clock. One that is a target, too, keeps one clock for all.
func TestLongSimulatedClocksOfAddresses(t *testing.T) {
	for _, c := range []struct {
		name, sites, keys string
		addresses         int
		together          bool // before it is a target
	}{
		{"the engine alone", "s0.test, s1.test, s2.test, s3.test, s4.test, s5.test", "", 3, false},
		{"engine and target", "s0.test, s1.test, engine.test", "", 1, true},
		{"a target as it turns out", "s0.test, s1.test, s2.test", ", whole: true", 3, false},
	} {
		t.Run(strings.ReplaceAll(c.name, " ", "-"), func(t *testing.T) {
			simulated(t, func(t *testing.T) {
				s := newSearched(t, 30)
				change, from := s.change, map[string]string{"a": "127.0.0.2", "b": "127.0.0.2", "c": "127.0.0.3", "d": ""}
				s.change = func(a *assemble.AgentConfig) {
					change(a)
					a.Node.Info.Source = from[a.Node.Info.Node]
				}
				for i := range 6 {
					s.web.Sites[fmt.Sprintf("s%d.test", i)] = s.web.Sites["s0.test"]
				}
				target := false
				var mu sync.Mutex
				last, least, all := map[string]time.Time{}, map[string]time.Duration{}, map[string]int{}
				s.engine = func(rw http.ResponseWriter, r *http.Request) bool {
					mu.Lock()
					defer mu.Unlock()
					if page := r.URL.Path != "/s" && r.URL.Path != "/robots.txt"; page && !target {
						target = true
						if (least["all"] >= simDelay) != c.together {
							t.Errorf("%v between two requests, together %v", least["all"], c.together)
						}
						delete(least, "all")
					}
					for _, who := range []string{"all", from[r.RemoteAddr]} {
						gap := time.Since(last[who])
						if was, known := least[who]; all[who] > 0 && (!known || gap < was) {
							least[who] = gap
						}
						last[who] = time.Now()
						all[who]++
					}
					if r.URL.Path == "/s" && !strings.Contains(r.FormValue("q"), "site:") {
						fmt.Fprint(rw, "<b>30</b>")
						for d := range 30 {
							fmt.Fprintf(rw, "<p><a href=/%d>%d</a>", d, d)
						}
						return true
					}
					return r.URL.Path != "/s"
				}
				for _, n := range []string{"a", "b", "c", "d"} {
					s.enter(n)
				}
				id := s.beginOn(c.sites, "", "      clock: address"+strings.ReplaceAll(c.keys, ", ", "\n      "))
				s.until("some searches were made", time.Hour, func() bool { return s.Job(id).Counts.Fetched >= 20 })
				s.kill("a")
				s.Halt()
				time.Sleep(5 * time.Second)
				s.Start()
				s.enter("a")
				s.done(id)
				mu.Lock()
				defer mu.Unlock()
				for who, gap := range least {
					if who != "all" && gap < simDelay {
						t.Errorf("from %q: %v between two of %d requests", who, gap, all[who])
					}
				}
				if len(all)-1 < c.addresses || target && least["all"] < simDelay || !target && (least["all"] >= simDelay) != c.together {
					t.Errorf("from %d addresses, %v between two requests", len(all)-1, least["all"])
				}
			})
		})
	}
}
