package simulated_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// One big site alone, without a delay, never waits for a round trip of the coordinator: its connections stay busy.
func TestLongOneSiteStaysBusy(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	simulated(t, func(t *testing.T) {
		w := webs.Random(webs.RandomConfig{Sites: 1, Pages: 1500, Links: 4, Seed: 5, Latency: 20 * time.Millisecond, Own: 200})
		s := newWorld(t, dir, w)
		s.enter("a")
		j := fleettest.Job("80", 0)
		j.Identity.Seeds = []string{"http://s0.test/"}
		id := s.Submit(j)
		s.until("the job ends", 10*time.Minute, func() bool { return s.Job(id).State == crawl.JobDone })
		hits := w.Hits("s0.test")
		hits = hits[10 : len(hits)-10] // robots.txt, the root and the last few
		span := hits[len(hits)-1].At.Sub(hits[0].At)
		busy := float64(len(hits)) * 0.020 / span.Seconds() / float64(j.Limits.SiteConnections)
		t.Logf("%d requests of 20 ms in %s: %.1f %% of %d connections busy", len(hits), span.Round(time.Millisecond), 100*busy, j.Limits.SiteConnections)
		if len(hits) != 1872 || busy < 0.98 {
			t.Errorf("%d requests, the connections were busy for only %.0f %% of the time", len(hits), 100*busy)
		}
	})
}

// A Crawl-delay holds for a job without a delay of its own, to the millisecond, and not for one that ignores robots.txt.
func TestSimulatedCrawlDelay(t *testing.T) {
	for _, ignore := range []bool{false, true} {
		dir := t.TempDir()
		simulated(t, func(t *testing.T) {
			w := webs.New()
			w.Sites["s0.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/robots.txt" {
					_, _ = fmt.Fprint(rw, "User-agent: *\nCrawl-delay: 3\nDisallow: /sitemap.xml\nSitemap: /s.xml\n")
					return
				}
				rw.Header().Set("Content-Type", "text/html")
				_, _ = fmt.Fprint(rw, `<a href=/1>1</a><a href=/2>2</a><a href=/3>3</a><a href=/4>4</a>`)
			})
			s := newWorld(t, dir, w)
			s.enter("a")
			j := fleettest.Job("80", 0)
			j.Identity.Seeds = j.Identity.Seeds[:1]
			j.Identity.IgnoreRobots, j.Identity.Sitemaps = ignore, true
			id := s.Submit(j)
			s.until("the job ends", time.Hour, func() bool { return s.Job(id).State == crawl.JobDone && s.Server.Indexed(id) })
			gap, n := w.MinGap("s0.test")
			if n < 7 || ignore == (gap >= 3*time.Second) {
				t.Errorf("robots.txt ignored %v: %v between two of %d requests", ignore, gap, n)
			}
		})
	}
}

// Sites with a delay and headers of their own keep to them in a fleet, and after they have changed; others keep to the job's.
func TestSimulatedSites(t *testing.T) {
	dir := t.TempDir()
	simulated(t, func(t *testing.T) {
		w := webs.New()
		var odd atomic.Int64
		for i := range 4 {
			w.Sites[fmt.Sprintf("s%d.test", i)] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				if want := []string{"", "de", "de", "fr"}[i]; r.Header.Get("Accept-Language") != want || len(r.Header.Values("Accept")) != 1 {
					odd.Add(1)
				}
				if r.URL.Path == "/robots.txt" {
					http.NotFound(rw, r)
					return
				}
				rw.Header().Set("Content-Type", "text/html")
				for n := range 40 {
					fmt.Fprintf(rw, "<a href=/%d>%d</a>", n, n)
				}
			})
		}
		s := newWorld(t, dir, w)
		for _, n := range []string{"a", "b", "c"} {
			s.enter(n)
		}
		j := fleettest.Job("80", 2*time.Second)
		j.Limits.LeaseTime = 30 * time.Second // a change holds from the next lease on
		j.Identity.Seeds = []string{"http://s0.test/", "http://s1.test/", "http://s2.test/", "http://s3.test/"}
		second := int64(time.Second)
		j.Sites = []crawl.SiteRule{
			{Hosts: []string{"s1.test", "s2.test", "s3.test"}, Limits: map[string]int64{"delay": 5 * second}, Headers: []crawl.Header{{Name: "Accept-Language", Value: "de"}}},
			{Hosts: []string{"s2.test"}, Limits: map[string]int64{"delay": second, "site_pages": 10}, Headers: []crawl.Header{{Name: "Accept", Value: "*/*"}}},
			{Hosts: []string{"s3.test"}, Headers: []crawl.Header{{Name: "Accept-Language", Value: "fr"}}},
		}
		id := s.Submit(j)
		s.until("s3 is under way", time.Hour, func() bool { return len(w.Hits("s3.test")) > 8 })
		changed := time.Now()
		err := s.Leader().SetLimits(t.Context(), id, func(j *crawl.Job) error {
			j.Sites = slices.Clone(j.Sites)
			j.Sites[2].Limits = map[string]int64{"delay": 20 * second}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
		if err := s.Leader().SetLimits(t.Context(), id, func(j *crawl.Job) error {
			j.Sites = []crawl.SiteRule{{Hosts: []string{"*"}, Exclude: []string{"x"}}}
			return nil
		}); err == nil {
			t.Error("a job's filters were changed")
		}
		s.until("the job ends", 10*time.Hour, func() bool { return s.Job(id).State == crawl.JobDone && s.Server.Indexed(id) })
		for host, want := range map[string]time.Duration{"s0.test": 2 * time.Second, "s1.test": 5 * time.Second, "s2.test": time.Second, "s3.test": 5 * time.Second} {
			gap, n := w.MinGap(host)
			if gap < want || gap > want+100*time.Millisecond {
				t.Errorf("%s: %v between two of %d requests, want %v", host, gap, n, want)
			}
			if pages := map[string]int{"s2.test": 11}[host]; pages != 0 && n != pages || pages == 0 && n != 42 {
				t.Errorf("%s: %d requests", host, n)
			}
		}
		slow, hits := 0, w.Hits("s3.test")
		for i := 1; i < len(hits); i++ {
			if gap := hits[i].At.Sub(hits[i-1].At); gap >= 20*time.Second {
				slow++
			} else if hits[i].At.Sub(changed) > j.Limits.LeaseTime+time.Minute {
				t.Errorf("s3.test: %v between two requests, %v after the change", gap, hits[i].At.Sub(changed))
			}
		}
		if slow == 0 || odd.Load() > 0 {
			t.Errorf("%d slow requests, %d with other headers", slow, odd.Load())
		}
	})
}

// What a job's strategy believes of its leases goes by those that are open: nothing before there are nodes and after the end, and never more
// than the bound meanwhile.
func TestBelievedOfLeases(t *testing.T) {
	simulated(t, func(t *testing.T) {
		s := newWorld(t, t.TempDir(), webs.Random(webs.RandomConfig{Sites: fleettest.Sites, Pages: 30, Links: 6, Seed: 41, Latency: 20 * time.Millisecond}))
		var co *coordinator.Coordinator
		s.until("it leads", time.Minute, func() (ok bool) {
			c, err := s.Server.Leader()
			co = c
			return err == nil
		})
		believed := func(id uint32) coordinator.Believed {
			b, err := co.Believed(t.Context(), id)
			if err != nil {
				t.Fatal(err)
			}
			return b
		}
		if _, err := co.Believed(t.Context(), 7); !errors.Is(err, coordinator.ErrNoJob) {
			t.Errorf("of a job that there is not: %v", err)
		}
		id := s.Submit(fleettest.Job("80", 300*time.Millisecond))
		if b := believed(id); b != (coordinator.Believed{}) {
			t.Errorf("without nodes %+v", b)
		}
		for i := range 2 {
			s.enter(fmt.Sprintf("n%d", i))
		}
		most, nodes := coordinator.Believed{}, 0
		s.until("the job ends", time.Hour, func() bool {
			b := believed(id)
			if b.Held < 0 || b.Held > b.Bound || b.Share < 0 || b.Share > 1 || b.Sites > fleettest.Sites || b.Nodes > 2 {
				t.Errorf("%+v", b)
			}
			if nodes = max(nodes, b.Nodes); b.Held > most.Held {
				most = b
			}
			return s.Job(id).State == crawl.JobDone && s.Server.Indexed(id)
		})
		if most.Held == 0 || most.Bound == 0 || most.Share == 0 || most.Sites == 0 || nodes != 2 {
			t.Errorf("at most %+v, of %d nodes", most, nodes)
		}
		if b := believed(id); b.Held != 0 || b.Sites != 0 {
			t.Errorf("after the end %+v", b)
		}
	})
}
