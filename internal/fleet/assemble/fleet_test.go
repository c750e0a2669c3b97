package assemble_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/mend"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/shelf"
	"argosy/internal/testkit"
	"argosy/internal/webs"
)

// fleet is a coordinator with agents in this process, connected over TCP as they would be between machines.
type fleet struct {
	t      *testing.T
	dir    string
	cfg    serve.Config
	server *serve.Server
	stop   context.CancelFunc
	done   chan error
}

func newFleet(t *testing.T, change func(*serve.Config)) *fleet {
	t.Helper()
	f := &fleet{t: t, dir: t.TempDir()}
	f.cfg = serve.DefaultConfig(f.dir)
	f.cfg.Probe = "none" // a probe fetches a root again, and what is fetched twice is counted
	f.cfg.BusListen = "127.0.0.1:0"
	if change != nil {
		change(&f.cfg)
	}
	f.start()
	t.Cleanup(func() { f.halt() })
	return f
}

func (f *fleet) start() {
	f.t.Helper()
	var err error
	if f.server, err = serve.Open(f.t.Context(), f.cfg); err != nil {
		f.t.Fatal(err)
	}
	if f.cfg.Bus.URL == "" {
		_, f.cfg.BusListen, _ = strings.Cut(f.server.BusURL(), "://") // the same port when it starts again
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.stop, f.done = cancel, make(chan error, 1)
	s, done := f.server, f.done
	go func() { done <- s.Run(ctx) }()
}

func (f *fleet) halt() {
	if f.server == nil {
		return
	}
	f.stop()
	if err := <-f.done; err != nil {
		f.t.Errorf("the coordinator: %v", err)
	}
	if err := f.server.Close(); err != nil {
		f.t.Errorf("the coordinator: %v", err)
	}
	f.server = nil
}

// leader waits until the coordinator leads.
func (f *fleet) leader() *coordinator.Coordinator {
	f.t.Helper()
	var co *coordinator.Coordinator
	testkit.Eventually(f.t, "a coordinator leads", func() bool {
		c, err := f.server.Leader()
		co = c
		return err == nil && c.Status().State != coordinator.StateStarting
	})
	return co
}

// member is an agent of a fleet.
type member struct {
	agent *assemble.Agent
	leave context.CancelFunc // drains it
	done  chan error
	once  sync.Once
	err   error
}

// key is the key of a node, the same each time.
func (f *fleet) key(name string) bus.NodeKey {
	f.t.Helper()
	k, err := bus.LoadNodeKey(filepath.Join(f.dir, "keys", name))
	if err != nil {
		f.t.Fatal(err)
	}
	return k
}

// admit gets what a node needs to reach the bus, as the node does.
func (f *fleet) admit(name string) bus.Pass {
	f.t.Helper()
	p, err := f.server.Joiner()(f.t.Context(), f.key(name), bus.Petition{Node: name, Wire: bus.Wire})
	if err != nil {
		f.t.Fatal(err)
	}
	p.Login = f.key(name).Login(p.Login)
	return p
}

func (f *fleet) agentConfig(name string) assemble.AgentConfig {
	return assemble.AgentConfig{
		Node: assemble.NodeConfig{
			Info: crawl.NodeInfo{Node: name, Leases: 64, Concurrency: 16}, ArchiveSize: 1 << 30, Logger: f.cfg.Logger, Version: "test",
			Fetch: config("", "0", 0, 1).Fetch,
		},
		Store: filepath.Join(f.dir, "stores", name),
		Key:   f.key(name),
		Join: func(ctx context.Context, key bus.NodeKey, p bus.Petition) (bus.Pass, error) {
			return f.server.Joiner()(ctx, key, p) // of the server that is there now
		},
	}
}

func (f *fleet) join(name string, change func(*assemble.AgentConfig)) *member {
	f.t.Helper()
	c := f.agentConfig(name)
	c.Node.Fetch.Limits = crawl.DefaultFetchLimits()
	if change != nil {
		change(&c)
	}
	a, err := assemble.OpenAgent(f.t.Context(), c)
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	m := &member{agent: a, leave: cancel, done: make(chan error, 1)}
	go func() { m.done <- a.Run(ctx, nil) }()
	f.t.Cleanup(func() {
		if err := m.wait(); err != nil {
			f.t.Errorf("agent %s: %v", name, err)
		}
	})
	return m
}

// wait drains an agent and waits until it has left.
func (m *member) wait() error {
	m.once.Do(func() {
		m.leave()
		m.err = <-m.done
		_ = m.agent.Close()
	})
	return m.err
}

func fleetJob(port string, delay time.Duration) crawl.Job {
	j := config("", port, delay, 1).Job
	j.ID = 0
	return j
}

// submit gives the fleet a job, once a coordinator leads; on a busy machine the bus may have to be asked again, or the coordinator have lost
// its lead and taken it again.
func (f *fleet) submit(j crawl.Job) (id uint32) {
	f.t.Helper()
	testkit.Eventually(f.t, "the job is taken", func() bool {
		var err error
		if id, err = f.leader().Submit(f.t.Context(), j); err == nil {
			return true
		}
		if !errors.Is(err, bus.ErrAway) && !errors.Is(err, bus.ErrDeposed) && !errors.Is(err, coordinator.ErrOver) {
			f.t.Fatal(err)
		}
		return false
	})
	return id
}

// await waits for the end of a job and its index.
func (f *fleet) await(id uint32) coordinator.JobView {
	f.t.Helper()
	var v coordinator.JobView
	testkit.Eventually(f.t, "the job ends", func() bool {
		v = f.job(id)
		return v.State != crawl.JobRunning && f.server.Indexed(id)
	})
	return v
}

func (f *fleet) job(id uint32) (v coordinator.JobView) {
	co, err := f.server.Leader()
	if err != nil {
		return v
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), 5*time.Second)
	defer cancel()
	all, err := co.Jobs(ctx)
	if err != nil {
		return v
	}
	for _, j := range all {
		if j.ID == id {
			return j
		}
	}
	return v
}

func serveWeb(t *testing.T, seed uint64, pages int) (*webs.Web, string) {
	t.Helper()
	w := webs.Random(webs.RandomConfig{Sites: sites, Pages: pages, Links: 6, Seed: seed})
	port, stop, err := w.Serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	return w, port
}

// twice returns a URL that was asked for twice, if there is one; robots.txt may be.
func twice(w *webs.Web, sites int) string {
	for s := range sites {
		seen := map[string]int{}
		for _, h := range w.Hits(fmt.Sprintf("s%d.test", s)) {
			if seen[h.Path]++; seen[h.Path] > 1 && h.Path != "/robots.txt" {
				return fmt.Sprintf("s%d.test%s", s, h.Path)
			}
		}
	}
	return ""
}

// Three agents crawl what an independent search finds, each into its own store, and nothing twice; two jobs share the
// fleet and the sites' clocks.
func TestFleet(t *testing.T) {
	t.Parallel()
	w, port := serveWeb(t, 21, 150)
	f := newFleet(t, nil)
	for _, n := range []string{"a", "b", "c"} {
		f.join(n, nil)
	}
	if v := f.await(f.submit(fleetJob(port, 0))); v.State != crawl.JobDone || v.Counts.Failed != 0 {
		t.Fatalf("%s: %+v", v.State, v.Counts)
	}
	if u := twice(w, sites); u != "" {
		t.Errorf("%s was fetched twice", u)
	}
	judge(t, f.dir, port)

	// What was sent for one job was not sent for another.
	if v := f.await(f.submit(fleetJob(port, 0))); v.State != crawl.JobDone || v.Counts.Fetched != f.job(1).Counts.Fetched || v.Counts.Discovered != f.job(1).Counts.Discovered {
		t.Errorf("the same job again: %+v, not %+v", v.Counts, f.job(1).Counts)
	}

	const delay = 20 * time.Millisecond
	late := lateness()
	short := fleetJob(port, delay)
	short.Limits.MaxPages = 40
	one, two := f.submit(short), f.submit(short)
	before := len(w.Hits("s0.test"))
	f.await(one)
	f.await(two)
	hits, noise := w.Hits("s0.test")[before:], 2*late()
	for i := 1; i < len(hits); i++ {
		if gap := hits[i].At.Sub(hits[i-1].At); gap < delay*7/10-noise {
			t.Errorf("two jobs: %v between two requests to a site", gap)
		}
	}
	nodes, err := f.leader().Nodes(t.Context())
	if err != nil || len(nodes) != 3 {
		t.Fatalf("%+v, %v", nodes, err)
	}
	pages := int64(0)
	for _, n := range nodes {
		pages += n.Fetched
	}
	if want := f.job(1).Counts.Fetched + f.job(2).Counts.Fetched + f.job(one).Counts.Fetched + f.job(two).Counts.Fetched; pages != want {
		t.Errorf("the nodes have earned %d pages, the jobs have %d", pages, want)
	}
}

// A coordinator that goes away and comes back recalls nothing: the agents go on, and nothing is fetched twice.
func TestCoordinatorComesBack(t *testing.T) {
	t.Parallel()
	w, port := serveWeb(t, 22, 200)
	f := newFleet(t, nil)
	f.join("a", nil)
	f.join("b", nil)
	id := f.submit(fleetJob(port, 3*time.Millisecond))
	for _, n := range []int64{100, 300, 500} {
		testkit.Eventually(t, "the crawl gets on", func() bool { return f.job(id).Counts.Fetched >= n })
		f.halt()
		f.start()
		f.leader()
	}
	if v := f.await(id); v.State != crawl.JobDone {
		t.Fatalf("%s: %+v", v.State, v.Counts)
	}
	if u := twice(w, sites); u != "" {
		t.Errorf("%s was fetched twice", u)
	}
	judge(t, f.dir, port)
}

// A coordinator that died between the end of a job and its rows of tasks is made up for by the next one.
func TestTasksAreBroughtUpToDate(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 28, 30)
	f := newFleet(t, nil)
	f.join("a", nil)
	id := f.submit(fleetJob(port, time.Millisecond))
	v := f.await(id)
	f.halt()
	place := filepath.Join(f.dir, outdir.LedgerFile)
	db, err := sql.Open("sqlite", place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for _, spoil := range []string{`DELETE FROM tasks WHERE id % 2 = 0; UPDATE tasks SET fetched = 0`, `UPDATE tasks SET state = 'manual', recalls = 3`} {
		if _, err := db.ExecContext(t.Context(), spoil); err != nil {
			t.Fatal(err)
		}
		f.start()
		f.leader()
		var fetched, manual, recalls int64
		row := db.QueryRowContext(t.Context(), `SELECT sum(fetched), sum(state = 'manual'), sum(recalls) FROM tasks WHERE job = ?`, id)
		if err := row.Scan(&fetched, &manual, &recalls); err != nil || fetched != v.Counts.Fetched || fetched == 0 || manual+recalls > 0 {
			t.Errorf("after %s: %d fetched, %d manual, %d recalls, %v", spoil, fetched, manual, recalls, err)
		}
		f.halt()
	}
}

// A job is paused, goes on, and another is cancelled: what was pending is dropped, nothing is left open.
func TestPauseAndCancel(t *testing.T) {
	t.Parallel()
	w, port := serveWeb(t, 24, 100)
	f := newFleet(t, nil)
	f.join("a", nil)
	co := f.leader()
	id := f.submit(fleetJob(port, 4*time.Millisecond))
	testkit.Eventually(t, "the crawl gets on", func() bool { return f.job(id).Counts.Fetched >= 20 })
	if err := co.SetState(t.Context(), id, crawl.JobPaused); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "its leases have ended", func() bool { return f.job(id).Counts.Held == 0 && f.job(id).Counts.Crawling == 0 })
	n := len(w.Hits("s0.test"))
	other := f.submit(fleetJob(port, 100*time.Millisecond))
	if err := co.SetState(t.Context(), other, crawl.JobCancelled); err != nil {
		t.Fatal(err)
	}
	if v := f.await(other); v.State != crawl.JobCancelled || v.Counts.Pending != 0 {
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
	if v := f.await(id); v.State != crawl.JobDone {
		t.Errorf("%s: %+v", v.State, v.Counts)
	}
}

// A second job over the same sites by the same node finds what the first one found: what the node has sent for one job,
// and what is known of the sites, keeps nothing from another.
func TestSameSitesAgain(t *testing.T) {
	t.Parallel()
	w := webs.Demo()
	port, stop, err := w.Serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	f := newFleet(t, nil)
	a := f.join("a", func(c *assemble.AgentConfig) {
		c.Node.Fetch.Resolve = map[string]netip.Addr{"*.demo": netip.MustParseAddr("127.0.0.1")}
	})
	j := fleetJob(port, time.Millisecond)
	j.Identity.Seeds, j.Identity.Sitemaps = nil, true
	for _, s := range []string{"library", "sitemap", "world", "private"} {
		j.Identity.Seeds = append(j.Identity.Seeds, "http://"+s+".demo:"+port+"/")
	}
	one := f.await(f.submit(j))
	two := f.await(f.submit(j))
	if one.Counts.Fetched < 100 || one.Counts.Fetched != two.Counts.Fetched || one.Counts.Discovered != two.Counts.Discovered {
		t.Errorf("first %+v, then %+v", one.Counts, two.Counts)
	}
	if err := a.wait(); err != nil {
		t.Fatal(err)
	}
	f.halt()
	was := records(t, f.dir)
	bodiesOfRevisits(t, f.dir, 2)
	if err := os.Remove(filepath.Join(f.dir, outdir.LedgerFile)); err != nil {
		t.Fatal(err)
	}
	if _, err := mend.Ledger(t.Context(), f.dir, []string{filepath.Join(f.dir, "stores", "a")}); err != nil {
		t.Fatal(err)
	}
	now := records(t, f.dir)
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
	f := newFleet(t, nil)
	f.leader()
	f.halt()
	if _, err := assemble.Open(t.Context(), config(f.dir, "1", 0, 1)); !errors.Is(err, outdir.ErrOtherJob) {
		t.Errorf("a crawl into a coordinator's directory: %v", err)
	}
	err := assemble.View(t.Context(), f.dir, func(v *frontier.Frontier, running bool) error { // what is there can be read nevertheless
		if running || v.Job(1) != nil {
			t.Errorf("running %v, job %v", running, v.Job(1))
		}
		return nil
	})
	if err != nil {
		t.Errorf("looking at a coordinator's directory: %v", err)
	}
	dir := t.TempDir()
	cr, err := assemble.Open(t.Context(), config(dir, "1", 0, 1))
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
