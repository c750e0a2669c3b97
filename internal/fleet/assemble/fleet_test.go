package assemble_test

import (
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/mend"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/shelf"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/testkit/seeds"
	"argosy/internal/webs"
)

// fleet is one with what only these tests do to it.
type fleet struct{ *fleettest.Fleet }

func newFleet(t *testing.T, change func(*serve.Config)) *fleet {
	t.Helper()
	return &fleet{fleettest.New(t, change)}
}

func serveWeb(t *testing.T, seed uint64, pages int) (*webs.Web, string) {
	t.Helper()
	return serveRandom(t, webs.RandomConfig{Pages: pages, Links: 6, Seed: seed})
}

// of returns a size for go test, which people wait for, and one for make nightly.
func of(day, atNight int) int { return int(seeds.Of(uint64(day), uint64(atNight))) }

// served serves a web for as long as a test runs, and returns its port.
func served(t *testing.T, w interface {
	Serve(addr string) (string, func(), error)
}) string {
	t.Helper()
	port, stop, err := w.Serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return port
}

// crawlOf returns a crawl of a site of a web, without a delay, and the web's port.
func crawlOf(t *testing.T, w *webs.Web, site string) (assemble.Config, string) {
	t.Helper()
	port := served(t, w)
	c := fleettest.Crawl(t.TempDir(), port, 0, 1)
	c.Job.Identity.Seeds = []string{"http://" + site + ":" + port + "/"}
	return c, port
}

// serveRandom serves a random web of the sites that the tests' crawls begin with.
func serveRandom(t *testing.T, cfg webs.RandomConfig) (*webs.Web, string) {
	t.Helper()
	cfg.Sites = fleettest.Sites
	w := webs.Random(cfg)
	port := served(t, w)
	return w, port
}

// Three agents crawl what an independent search finds, each into its own store, and nothing twice; two jobs share the
// fleet and the sites' clocks.
func TestFleet(t *testing.T) {
	t.Parallel()
	w, port := serveWeb(t, 21, of(50, 150))
	f := newFleet(t, nil)
	for _, n := range []string{"a", "b", "c"} {
		f.Join(n, nil)
	}
	if v := f.Await(f.Submit(fleettest.Job(port, 0))); v.State != crawl.JobDone || v.Counts.Failed != 0 {
		t.Fatalf("%s: %+v", v.State, v.Counts)
	}
	if u := fleettest.Twice(w, fleettest.Sites); u != "" {
		t.Errorf("%s was fetched twice", u)
	}
	fleettest.Judge(t, f.Dir, port)

	// What was sent for one job was not sent for another.
	if v := f.Await(f.Submit(fleettest.Job(port, 0))); v.State != crawl.JobDone || v.Counts.Fetched != f.Job(1).Counts.Fetched || v.Counts.Discovered != f.Job(1).Counts.Discovered {
		t.Errorf("the same job again: %+v, not %+v", v.Counts, f.Job(1).Counts)
	}

	const delay = 20 * time.Millisecond
	late := lateness()
	short := fleettest.Job(port, delay)
	short.Limits.MaxPages = 40
	one, two := f.Submit(short), f.Submit(short)
	before := len(w.Hits("s0.test"))
	f.Await(one)
	f.Await(two)
	hits, noise := w.Hits("s0.test")[before:], 2*late()
	for i := 1; i < len(hits); i++ {
		if gap := hits[i].At.Sub(hits[i-1].At); gap < delay*7/10-noise {
			t.Errorf("two jobs: %v between two requests to a site", gap)
		}
	}
	nodes, err := f.Leader().Nodes(t.Context())
	if err != nil || len(nodes) != 3 {
		t.Fatalf("%+v, %v", nodes, err)
	}
	pages := int64(0)
	for _, n := range nodes {
		pages += n.Fetched
	}
	if want := f.Job(1).Counts.Fetched + f.Job(2).Counts.Fetched + f.Job(one).Counts.Fetched + f.Job(two).Counts.Fetched; pages != want {
		t.Errorf("the nodes have earned %d pages, the jobs have %d", pages, want)
	}
}

// A coordinator that goes away and comes back recalls nothing: the agents go on, and nothing is fetched twice.
func TestCoordinatorComesBack(t *testing.T) {
	t.Parallel()
	w, port := serveWeb(t, 22, of(40, 200))
	f := newFleet(t, nil)
	f.Join("a", nil)
	f.Join("b", nil)
	id := f.Submit(fleettest.Job(port, time.Duration(of(6, 3))*time.Millisecond))
	for _, n := range []int{of(25, 100), of(60, 300), of(100, 500)} {
		testkit.Eventually(t, "the crawl gets on", func() bool { return f.Job(id).Counts.Fetched >= int64(n) })
		f.Halt()
		f.Start()
		f.Leader()
	}
	if v := f.Await(id); v.State != crawl.JobDone {
		t.Fatalf("%s: %+v", v.State, v.Counts)
	}
	if u := fleettest.Twice(w, fleettest.Sites); u != "" {
		t.Errorf("%s was fetched twice", u)
	}
	fleettest.Judge(t, f.Dir, port)
}

// A coordinator that died between the end of a job and its rows of tasks is made up for by the next one.
func TestTasksAreBroughtUpToDate(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 28, 30)
	f := newFleet(t, nil)
	f.Join("a", nil)
	id := f.Submit(fleettest.Job(port, time.Millisecond))
	v := f.Await(id)
	f.Halt()
	place := filepath.Join(f.Dir, outdir.LedgerFile)
	db, err := sql.Open("sqlite", place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, spoil := range []string{`DELETE FROM tasks WHERE id % 2 = 0; UPDATE tasks SET fetched = 0`, `UPDATE tasks SET state = 'manual', recalls = 3`} {
		if _, err := db.ExecContext(t.Context(), spoil); err != nil {
			t.Fatal(err)
		}
		f.Start()
		f.Leader()
		var fetched, manual, recalls int64
		row := db.QueryRowContext(t.Context(), `SELECT sum(fetched), sum(state = 'manual'), sum(recalls) FROM tasks WHERE job = ?`, id)
		if err := row.Scan(&fetched, &manual, &recalls); err != nil || fetched != v.Counts.Fetched || fetched == 0 || manual+recalls > 0 {
			t.Errorf("after %s: %d fetched, %d manual, %d recalls, %v", spoil, fetched, manual, recalls, err)
		}
		f.Halt()
	}
}

// A job is paused, goes on, and another is cancelled: what was pending is dropped, nothing is left open.
func TestPauseAndCancel(t *testing.T) {
	t.Parallel()
	w, port := serveWeb(t, 24, 100)
	f := newFleet(t, nil)
	f.Join("a", nil)
	co := f.Leader()
	id := f.Submit(fleettest.Job(port, 4*time.Millisecond))
	testkit.Eventually(t, "the crawl gets on", func() bool { return f.Job(id).Counts.Fetched >= 20 })
	if err := co.SetState(t.Context(), id, crawl.JobPaused); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "its leases have ended", func() bool { return f.Job(id).Counts.Held == 0 && f.Job(id).Counts.Crawling == 0 })
	n := len(w.Hits("s0.test"))
	other := f.Submit(fleettest.Job(port, 100*time.Millisecond))
	if err := co.SetState(t.Context(), other, crawl.JobCancelled); err != nil {
		t.Fatal(err)
	}
	if v := f.Await(other); v.State != crawl.JobCancelled || v.Counts.Pending != 0 {
		t.Errorf("cancelled: %s, %+v", v.State, v.Counts)
	}
	if err := co.SetState(t.Context(), other, crawl.JobRunning); err == nil {
		t.Error("a cancelled job goes on")
	}
	if got := len(w.Hits("s0.test")); got > n+3 { // the other job may have begun
		t.Errorf("%d requests while the job was paused", got-n)
	}
	if err := co.SetState(t.Context(), id, crawl.JobRunning); err != nil {
		t.Fatal(err)
	}
	if v := f.Await(id); v.State != crawl.JobDone {
		t.Errorf("%s: %+v", v.State, v.Counts)
	}
}

// A second job over the same sites by the same node finds what the first one found: what the node has sent for one job,
// and what is known of the sites, keeps nothing from another.
func TestSameSitesAgain(t *testing.T) {
	t.Parallel()
	w := webs.Demo()
	port := served(t, w)
	f := newFleet(t, nil)
	a := f.Join("a", func(c *assemble.AgentConfig) {
		c.Node.Fetch.Resolve = map[string]netip.Addr{"*.demo": netip.MustParseAddr("127.0.0.1")}
	})
	j := fleettest.Job(port, time.Millisecond)
	j.Identity.Seeds, j.Identity.Sitemaps = nil, true
	for _, s := range []string{"library", "sitemap", "world", "private"} {
		j.Identity.Seeds = append(j.Identity.Seeds, "http://"+s+".demo:"+port+"/")
	}
	one := f.Await(f.Submit(j))
	two := f.Await(f.Submit(j))
	if one.Counts.Fetched < 100 || one.Counts.Fetched != two.Counts.Fetched || one.Counts.Discovered != two.Counts.Discovered {
		t.Errorf("first %+v, then %+v", one.Counts, two.Counts)
	}
	if err := a.Wait(); err != nil {
		t.Fatal(err)
	}
	f.Halt()
	was := records(t, f.Dir)
	bodiesOfRevisits(t, f.Dir, 2)
	if err := os.Remove(filepath.Join(f.Dir, outdir.LedgerFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := mend.Ledger(t.Context(), f.Dir, "", []string{filepath.Join(f.Dir, "stores", "a")}); err != nil {
		t.Fatal(err)
	}
	now := records(t, f.Dir)
	for of, record := range was {
		if now[of] != record {
			t.Errorf("%s is at %q in the ledger that was made anew, it was at %q", of, now[of], record)
		}
	}
}

// bodiesOfRevisits reads the pages of a job whose bytes another job had first.
func bodiesOfRevisits(t *testing.T, dir string, job uint32) {
	t.Helper()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var revisits []*ledger.Page
	err = l.Pages(t.Context(), job, func(p *ledger.Page) error {
		if p.Revisit && p.Bytes > 0 && len(revisits) < 5 {
			one := *p
			revisits = append(revisits, &one)
		}
		return nil
	})
	if err != nil || len(revisits) == 0 {
		t.Fatalf("%d revisits, %v", len(revisits), err)
	}
	for _, p := range revisits {
		if c, err := shelf.New(dir, l).Read(t.Context(), job, p, 1<<20); err != nil || len(c.Body) == 0 {
			t.Errorf("%s of job %d: %v", p.URL, job, err)
		}
	}
}

// records returns where the records of the pages of jobs 1 and 2 are.
func records(t *testing.T, dir string) map[string]string {
	t.Helper()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	at := map[string]string{}
	for job := uint32(1); job <= 2; job++ {
		err := l.Pages(t.Context(), job, func(p *ledger.Page) error {
			if p.State == crawl.Fetched.String() {
				at[fmt.Sprintf("%s of job %d", p.URL, job)] = fmt.Sprintf("%s:%d", p.WARC, p.Offset)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return at
}

// A coordinator's directory is not taken for a crawl's, nor a crawl's for a coordinator's.
func TestDirectoriesAreNotMixedUp(t *testing.T) {
	t.Parallel()
	f := newFleet(t, nil)
	f.Leader()
	f.Halt()
	if _, err := assemble.Open(t.Context(), fleettest.Crawl(f.Dir, "1", 0, 1)); !errors.Is(err, outdir.ErrOtherJob) {
		t.Errorf("a crawl into a coordinator's directory: %v", err)
	}
	err := assemble.View(t.Context(), assemble.DefaultConfig(f.Dir), func(v *frontier.Frontier, running bool) error { // what is there can be read nevertheless
		if running || v.Job(1) != nil {
			t.Errorf("running %v, job %v", running, v.Job(1))
		}
		return nil
	})
	if err != nil {
		t.Errorf("looking at a coordinator's directory: %v", err)
	}
	dir := t.TempDir()
	cr, err := assemble.Open(t.Context(), fleettest.Crawl(dir, "1", 0, 1))
	if err != nil {
		t.Fatal(err)
	}
	if err := cr.Close(); err != nil {
		t.Fatal(err)
	}
	c := serve.DefaultConfig(dir)
	c.BusListen = "127.0.0.1:0"
	if _, err := serve.Open(t.Context(), c); !errors.Is(err, outdir.ErrOtherJob) {
		t.Errorf("a coordinator in a crawl's directory: %v", err)
	}
}
