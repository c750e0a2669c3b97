package assemble_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	jobfile "argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/serve"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
)

// A fleet runs a virtual task: only nodes of the engine's type ask it, the node that ran a search collects what it named, nothing is
// asked twice although the coordinator is another one from the middle on, and every search has all that the engine has.
func TestVirtualInAFleet(t *testing.T) {
	t.Parallel()
	const docs, perPage = 40, 4
	var mu sync.Mutex
	hits := map[string]int{}
	hit := func(r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		hits[r.Host+r.URL.RequestURI()]++
	}
	var sites []string
	for range 2 {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if hit(r); r.URL.Path == "/robots.txt" {
				http.NotFound(w, r)
				return
			}
			fmt.Fprint(w, "<title>a page</title><a href=/other>other</a>")
		}))
		t.Cleanup(s.Close)
		sites = append(sites, strings.TrimPrefix(s.URL, "http://"))
	}
	engine := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hit(r); r.URL.Path == "/robots.txt" {
			http.NotFound(w, r)
			return
		}
		var page int
		fmt.Sscan(r.FormValue("p"), &page)
		_, site, _ := strings.Cut(r.FormValue("q"), "site:")
		fmt.Fprintf(w, "<b>%d</b>", docs)
		for d := page * perPage; d < min(docs, (page+1)*perPage); d++ {
			fmt.Fprintf(w, "<p><a href=http://%s/%d>%d</a>", site, d, d)
		}
	}))
	t.Cleanup(engine.Close)
	file := fmt.Sprintf(`
limits: {delay: 0s, per_ip: 0}
virtual:
  products: [{name: milk}, {name: tea}]
  sites: ["%s"]
  pages: 2
  engines:
    - name: ours
      type: "1"
      url: "%s/s?q={query}&p={page}"
      results: {item: {css: p}, link: {css: a, attr: href}}
      stated: {at: {css: b}}
`, strings.Join(sites, `", "`), engine.URL)
	of, err := jobfile.ReadJob(strings.NewReader(file))
	if err != nil {
		t.Fatal(err)
	}
	job, err := of.Submitted("argosy-test/1.0")
	if err != nil {
		t.Fatal(err)
	}
	l := fleettest.NewLooks()
	f := newFleet(t, func(c *serve.Config) { c.Strategies = l.Strategies })
	for name, kind := range map[string]string{"a": "1", "b": "1", "c": "0"} {
		f.Join(name, func(c *assemble.AgentConfig) { c.Node.Info.Labels = map[string]string{"type": kind} })
	}
	id := f.Submit(job)
	testkit.Eventually(t, "some pages are there", func() bool { return f.Job(id).Counts.Fetched > 10 })
	f.Halt()
	f.Start()
	if v := f.Await(id); v.State != crawl.JobDone || v.Counts.Failed != 0 || v.Counts.Manual != 0 {
		t.Fatalf("%s: %+v", v.State, v.Counts)
	}
	if !l.Has("Snapshot.Tasks.About") {
		t.Error("no strategy was told what a task is about")
	}
	for url, n := range hits {
		if n > 1 && !strings.HasSuffix(url, "/robots.txt") || strings.HasSuffix(url, "/other") {
			t.Errorf("%s: %d times", url, n)
		}
	}
	if want := 2*docs + 4*docs/perPage; len(hits) < want || len(hits) > want+3 { // and three robots.txt
		t.Errorf("%d addresses were asked for, want %d", len(hits), want)
	}
	by, asked := map[uint32]map[string]bool{}, 0
	err = f.Server.Ledger().Runs(t.Context(), id, 0, func(r ledger.Run) error {
		if r.Engine != "ours" || r.Type != "1" || r.Keywords != r.Product || r.Site == "" || r.Ended == 0 {
			t.Errorf("%+v", r)
		}
		if r.Asks {
			if asked++; r.Node == "c" || r.Existing != docs || r.Stated != crawl.StatedExact || r.Given > 2 && r.Quota == 2 {
				t.Errorf("%+v", r)
			}
		}
		if by[r.Search] == nil {
			by[r.Search] = map[string]bool{}
		}
		by[r.Search][r.Node] = true
		return nil
	})
	if err != nil || asked < 4 || len(by) != 4 {
		t.Errorf("%v: %d leases asked for %d searches", err, asked, len(by))
	}
	for no, nodes := range by {
		if nodes["c"] {
			t.Errorf("search %d: %v: what it named went to a node that did not run it", no, nodes)
		}
	}
}
