package assemble_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/survey"
	"argosy/internal/fleet/verify"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
)

// A report of a fleet's job has its own broken links and counts, also where the archives of two nodes hold those of another job.
func TestReportOfAFleet(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, _ := strings.Cut(r.Host, ".")
		switch r.URL.Path {
		case "/", "/a", "/b":
			w.Header().Set("Content-Type", "text/html")
			fmt.Fprintf(w, `%s <a href=/a>a</a><a href=/b>b</a><a href=/gone>%s</a>`, r.URL.Path, host)
			fmt.Fprintf(w, `<a href="http://s0.test:%s/gone">that of s0</a>`, r.Host[strings.LastIndexByte(r.Host, ':')+1:])
		default:
			http.NotFound(w, r)
		}
	}))
	defer srv.Close()
	port := srv.URL[strings.LastIndexByte(srv.URL, ':')+1:]
	f := newFleet(t, nil)
	stores := []string{t.TempDir(), t.TempDir()}
	for i, dir := range stores {
		f.Join(fmt.Sprintf("n%d", i), func(c *assemble.AgentConfig) { c.Store = dir })
	}
	job := func(scope crawl.Scope, hosts ...string) uint32 {
		j := fleettest.Job(port, 0)
		j.Identity.Seeds, j.Identity.Scope = nil, scope
		for _, h := range hosts {
			j.Identity.Seeds = append(j.Identity.Seeds, "http://"+h+".test:"+port+"/")
		}
		return f.Submit(j)
	}
	first, second := job(crawl.ScopeSite, "s0"), job(crawl.ScopeSite, "s0", "s1")
	for _, id := range []uint32{first, second} {
		v := f.Await(id)
		r, err := survey.Make(t.Context(), verify.Place{Dir: f.Dir, Stores: stores}, id, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		want := map[string]int{"http://s0.test:" + port + "/gone": 3 * int(v.Counts.Sites)}
		if id == second {
			want["http://s1.test:"+port+"/gone"] = 3
		}
		got := map[string]int{}
		for _, b := range r.Broken {
			got[b.URL] = b.Links
		}
		if d := cmp.Diff(want, got); d != "" {
			t.Errorf("job %d: %s", id, d)
		}
		if d := cmp.Diff(v.Counts, r.Counts); d != "" || len(r.Sites) != int(v.Counts.Sites) || r.Unread > 0 {
			t.Errorf("job %d: %s, %d sites, %d files unread", id, d, len(r.Sites), r.Unread)
		}
	}
}

// A report of a fleet's job that has not ended has the counts of the frontier, beside its coordinator and when that is gone.
func TestReportOfARunningJob(t *testing.T) {
	t.Parallel()
	f := newFleet(t, nil) // without agents: what is found waits
	j := fleettest.Job("80", 0)
	j.Identity.Seeds = []string{"http://a.test/", "http://b.test/"}
	id := f.Submit(j)
	report := func(running bool) {
		t.Helper()
		r, err := survey.Make(t.Context(), verify.Place{Dir: f.Dir, Running: running}, id, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		if c := r.Counts; c.Discovered != 2 || c.Pending != 2 || c.Sites != 2 || c.Tasks != 2 || len(r.Sites) != 2 || r.Running != running {
			t.Errorf("running %v: %+v, %d sites", running, c, len(r.Sites))
		}
	}
	testkit.Eventually(t, "the ledger has the job", func() bool {
		l, err := ledger.Open(t.Context(), filepath.Join(f.Dir, outdir.LedgerFile))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		d, err := l.Describe(t.Context(), id)
		return err == nil && d != nil && f.Job(id).Counts.Discovered == 2
	})
	report(true)
	f.Halt()
	report(false)
}
