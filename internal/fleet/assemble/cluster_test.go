package assemble_test

import (
	"errors"
	"io"
	"log/slog"
	"net"
	"net/url"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/serve"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
)

var databases testkit.Databases

// postgres returns the URL of an empty database of PostgreSQL; the test is skipped where that is not installed.
func postgres(t *testing.T) string {
	t.Helper()
	return databases.New(t)
}

// cluster starts three NATS servers and a PostgreSQL, all real, and returns what a coordinator needs to use them.
func cluster(t *testing.T) (*testkit.NATS, func(*serve.Config)) {
	t.Helper()
	place := postgres(t)
	dir := t.TempDir()
	k, err := bus.LoadKeys(filepath.Join(dir, "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.WriteCluster(dir); err != nil {
		t.Fatal(err)
	}
	n, err := testkit.NewNATS(dir, filepath.Join(dir, "accounts.conf"), 3)
	if errors.Is(err, testkit.ErrMissing) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	return n, func(c *serve.Config) {
		c.Bus = bus.Dial{URL: n.URL, Creds: filepath.Join(dir, "coordinator.creds")}
		c.SigningKey = filepath.Join(dir, "signing.nk")
		c.Ledger = place
		c.Checkpoint = 50
		log := &safeLog{}
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
		t.Cleanup(func() {
			if t.Failed() {
				t.Log(log)
			}
		})
	}
}

// Two coordinators on a real cluster: when the one that leads goes, the other goes on; a NATS server is killed and comes
// back; a third coordinator starts long after the log was trimmed, from a checkpoint. Nothing is fetched twice.
func TestStandby(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("starts seven processes")
	}
	nats, use := cluster(t)
	w, port := serveWeb(t, 25, of(60, 300))
	first := newFleet(t, func(c *serve.Config) { use(c); c.Name = "first" })
	first.Leader()
	second := newFleet(t, func(c *serve.Config) { use(c); c.Name = "second" })
	first.Join("a", nil)
	first.Join("b", nil)
	id := first.Submit(fleettest.Job(port, time.Duration(of(16, 8))*time.Millisecond))
	testkit.Eventually(t, "the crawl gets on", func() bool { return first.Job(id).Counts.Fetched >= int64(of(25, 100)) })
	if _, err := second.Server.Leader(); err == nil {
		t.Error("two coordinators lead")
	}
	first.Halt()
	testkit.Eventually(t, "the second one takes over", func() bool { return second.Job(id).Counts.Fetched >= int64(of(75, 300)) })
	nats.Kill(1)
	n := second.Job(id).Counts.Fetched
	testkit.Eventually(t, "it goes on with two servers", func() bool { return second.Job(id).Counts.Fetched >= n+int64(of(40, 200)) })
	if err := nats.Start(1); err != nil {
		t.Fatal(err)
	}
	first.Dir, first.Config.Dir = t.TempDir(), t.TempDir()
	first.Start() // knows nothing
	testkit.Eventually(t, "the job ends, whoever leads on a busy machine", func() bool {
		return second.Job(id).State == crawl.JobDone || first.Job(id).State == crawl.JobDone
	})
	second.Halt()
	testkit.Eventually(t, "the one that started from a checkpoint knows the job", func() bool {
		v := first.Job(id)
		return v.State == crawl.JobDone && v.Counts.Pending == 0 && v.Counts.Fetched > int64(of(115, 300))
	})
	if u := fleettest.Twice(w, fleettest.Sites); u != "" {
		t.Errorf("%s was fetched twice", u)
	}
}

// gate passes connections on to an address, as long as it is open.
type gate struct {
	to string
	l  net.Listener

	mu    sync.Mutex
	shut  bool
	conns []net.Conn
}

func newGate(t *testing.T, to string) *gate {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	g := &gate{to: to, l: l}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() { g.pass(c) })
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		g.open(false)
		wg.Wait()
	})
	return g
}

func (g *gate) pass(c net.Conn) {
	defer c.Close()
	d, err := net.Dial("tcp", g.to)
	if err != nil {
		return
	}
	defer d.Close()
	g.mu.Lock()
	shut := g.shut
	g.conns = append(g.conns, c, d)
	g.mu.Unlock()
	if shut {
		return
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(d, c)
		_ = d.Close()
	}()
	_, _ = io.Copy(c, d)
	_ = c.Close()
	<-done
}

func (g *gate) open(yes bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.shut = !yes
	if !yes {
		for _, c := range g.conns {
			_ = c.Close()
		}
		g.conns = nil
	}
}

// PostgreSQL goes away while a crawl runs, twice: the coordinator waits, the agents go on, and in the end nothing is
// lost and nothing was fetched twice.
func TestLongLedgerAway(t *testing.T) {
	t.Parallel()
	place := postgres(t)
	u, err := url.Parse(place)
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(t, u.Host)
	log := &safeLog{}
	w, port := serveWeb(t, 27, of(30, 150))
	u.Host = g.l.Addr().String()
	f := newFleet(t, func(c *serve.Config) {
		c.Ledger = u.String()
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
	})
	f.Join("a", nil)
	f.Join("b", nil)
	id := f.Submit(fleettest.Job(port, time.Duration(of(16, 8))*time.Millisecond))
	for n := range 2 {
		testkit.Eventually(t, "the crawl gets on", func() bool { return f.Job(id).Counts.Fetched >= int64(of(25, 100)+of(50, 200)*n) })
		g.open(false)
		testkit.Eventually(t, "the coordinator waits", func() bool { return strings.Count(log.String(), "waiting for the ledger") > n })
		co := f.Leader()
		if jobs, err := co.Jobs(t.Context()); err != nil || len(jobs) != 1 { // while the database is away
			t.Errorf("%d jobs: %v", len(jobs), err)
		}
		if n == 0 {
			err := co.SetState(t.Context(), id, crawl.JobPaused)
			if !errors.Is(err, coordinator.ErrWaits) || !strings.HasPrefix(co.Status().State, "waiting: its ledger") {
				t.Errorf("an order: %v; %s", err, co.Status().State)
			}
		}
		g.open(true)
		testkit.Eventually(t, "it goes on", func() bool { return strings.Count(log.String(), "the ledger is there again") > n })
	}
	v := f.Await(id)
	if v.State != crawl.JobDone {
		t.Fatalf("%s: %+v", v.State, v.Counts)
	}
	if u := fleettest.Twice(w, fleettest.Sites); u != "" {
		t.Errorf("%s was fetched twice", u)
	}
	l, err := ledger.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	n := int64(0)
	err = l.Pages(t.Context(), id, func(p *ledger.Page) error {
		if p.State == "fetched" {
			n++
		}
		return nil
	})
	if err != nil || n != v.Counts.Fetched {
		t.Errorf("the ledger has %d pages of %d: %v", n, v.Counts.Fetched, err)
	}
	if strings.Contains(log.String(), "lease recalled") {
		t.Error("leases were recalled")
	}
}

// A coordinator that starts while its database is away waits, says so, and works once it is there.
func TestLongStartsBeforeItsLedger(t *testing.T) {
	t.Parallel()
	u, err := url.Parse(postgres(t))
	if err != nil {
		t.Fatal(err)
	}
	g := newGate(t, u.Host)
	g.open(false)
	u.Host = g.l.Addr().String()
	log := &safeLog{}
	f := newFleet(t, func(c *serve.Config) { // returns when it is open
		c.Ledger = u.String()
		c.Waiting = func(why error) {
			if !errors.Is(why, ledger.ErrAway) || !strings.Contains(why.Error(), "open ledger") {
				t.Errorf("it waits for %v", why)
			}
			g.open(true)
		}
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
	})
	f.Leader()
}

// While the disk has no room nothing is given out, and the coordinator says why; with room the crawl goes on.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 33, 20)
	f := newFleet(t, func(c *serve.Config) { c.MinFree = 1 << 60 })
	f.Join("a", nil)
	id := f.Submit(fleettest.Job(port, 0))
	testkit.Eventually(t, "it says that there is no room", func() bool { return strings.Contains(f.Leader().Status().State, "MiB are free") })
	if v := f.Job(id); v.State != crawl.JobRunning || v.Counts.Fetched > 0 {
		t.Errorf("%s: %+v", v.State, v.Counts)
	}
	f.Halt()
	f.Config.MinFree = 0
	f.Start()
	if v := f.Await(id); v.State != crawl.JobDone || v.Counts.Fetched == 0 {
		t.Errorf("%s: %+v", v.State, v.Counts)
	}
}
