package assemble_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/verify"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
)

// aBus is the one server of a bus elsewhere.
type aBus struct {
	t   *testing.T
	cfg bus.Config
	*bus.Server
}

// ownBus starts one, and returns what a coordinator needs to use it.
func ownBus(t *testing.T) (*aBus, func(*serve.Config)) {
	dir := t.TempDir()
	keys, err := bus.LoadKeys(filepath.Join(dir, "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.WriteCluster(dir); err != nil {
		t.Fatal(err)
	}
	b := &aBus{t: t, cfg: bus.DefaultConfig(filepath.Join(dir, "bus"))}
	b.cfg.Keys, b.cfg.Listen = keys, "127.0.0.1:0"
	if b.Server, err = bus.Serve(b.cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { b.Close() })
	_, b.cfg.Listen, _ = strings.Cut(b.URL(), "://")
	return b, func(c *serve.Config) {
		c.Bus, c.Replicas = bus.Dial{URL: b.URL(), Creds: filepath.Join(dir, "coordinator.creds")}, 1
		c.SigningKey = filepath.Join(dir, "signing.nk")
		c.LostAfter = time.Second // one server, which knows at once what it has
	}
}

// again stops it and starts it again, with an empty store or what it had.
func (b *aBus) again(empty bool) {
	b.t.Helper()
	b.Close()
	var err error
	if empty {
		err = os.RemoveAll(b.cfg.Dir)
	}
	if err == nil {
		b.Server, err = bus.Serve(b.cfg)
	}
	if err != nil {
		b.t.Fatal(err)
	}
}

// The one server of a bus elsewhere is stopped and started again while a fleet crawls: registry and dispatch were in its memory. The fleet
// goes on, no lease is recalled, nothing is fetched twice, and no two requests to a site are closer than its delay.
func TestLongBusForgets(t *testing.T) {
	t.Parallel()
	server, dial := ownBus(t)

	const delay = 20 * time.Millisecond
	late, log := lateness(), &safeLog{}
	w, port := serveWeb(t, 61, of(50, 150))
	f := newFleet(t, func(c *serve.Config) {
		dial(c)
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
	})
	f.Join("a", nil)
	f.Join("b", nil)
	id := f.Submit(fleettest.Job(port, delay))
	for n := range 2 {
		testkit.Eventually(t, "the crawl gets on", func() bool { return f.Job(id).Counts.Fetched >= int64(of(25, 50)*(n+1)) })
		server.again(false)
	}
	if v := f.Await(id); v.State != crawl.JobDone {
		t.Errorf("%s: %+v", v.State, v.Counts)
	}
	if strings.Contains(log.String(), "lease recalled") {
		t.Errorf("leases were recalled:\n%s", log)
	}
	if u := fleettest.Twice(w, fleettest.Sites); u != "" {
		t.Errorf("%s was fetched twice", u)
	}
	hits, noise := w.Hits("s0.test"), 2*late()
	for i := 1; i < len(hits); i++ {
		if gap := hits[i].At.Sub(hits[i-1].At); gap < delay*7/10-noise {
			t.Errorf("%v between two requests to a site", gap)
		}
	}
	fleettest.Judge(t, f.Dir, port)
}

// The one server of a bus elsewhere comes back with an empty store while a fleet crawls: the log is gone, with names, tokens and
// revocations. The fleet goes on by itself and ends with what there is to be found, no two requests to a site are closer than its delay, and
// who might do something still may.
func TestLongBusLosesTheLog(t *testing.T) {
	t.Parallel()
	server, dial := ownBus(t)
	const delay = 20 * time.Millisecond
	late := lateness()
	w, port := serveWeb(t, 62, of(50, 150))
	f := newFleet(t, func(c *serve.Config) { dial(c) })
	f.Join("a", nil)
	f.Join("b", nil)
	_, token, err := f.Server.Gate().Make(t.Context(), access.Wanted{Role: access.Observer}, access.Who{Role: access.Operator, Name: "test"})
	if err != nil {
		t.Fatal(err)
	}
	j := fleettest.Job(port, delay)
	j.Limits.RecycleAfter = 2 * time.Second // a term in doubt waits as long
	id := f.Submit(j)
	for n := range 2 {
		testkit.Eventually(t, "the crawl gets on", func() bool { return f.Job(id).Counts.Fetched >= int64(of(25, 50)*(n+1)) })
		server.again(true)
	}
	if v := f.Await(id); v.State != crawl.JobDone {
		t.Errorf("%s: %+v", v.State, v.Counts)
	}
	hits, noise := w.Hits("s0.test"), 2*late()
	for i := 1; i < len(hits); i++ {
		if gap := hits[i].At.Sub(hits[i-1].At); gap < delay*7/10-noise {
			t.Errorf("%v between two requests to a site", gap)
		}
	}
	if _, ok := f.Server.Gate().Who(token); !ok {
		t.Error("a token is not known any more")
	}
	if names := f.Server.Gate().Names(); len(names) != 2 {
		t.Errorf("names that are bound: %+v", names)
	}
	fleettest.Judge(t, f.Dir, port)
}

// A node that joins while the bus has just lost its store, names of nodes included, waits until they are there again.
func TestNodeJoinsABusThatLost(t *testing.T) {
	t.Parallel()
	server, dial := ownBus(t)
	f := newFleet(t, func(c *serve.Config) { dial(c) })
	f.Leader()
	f.Admit("a")
	server.again(true)
	f.Admit("a")
	if names := f.Server.Gate().Names(); len(names) != 1 {
		t.Errorf("names that are bound: %+v", names)
	}
}

// A node to which a coordinator names a bus that is not there now waits for it.
func TestNodeWaitsForTheBus(t *testing.T) {
	t.Parallel()
	server, dial := ownBus(t)
	f := newFleet(t, func(c *serve.Config) { dial(c) })
	f.Leader()
	c, log := f.AgentConfig("a"), &safeLog{}
	pass := f.Admit("a")
	c.Node.Logger = slog.New(slog.NewTextHandler(log, nil))
	c.Join = func(context.Context, bus.NodeKey, bus.Petition) (bus.Pass, error) { return pass, nil }
	server.Close()
	open := make(chan error, 1)
	go func() {
		a, err := assemble.OpenAgent(t.Context(), c)
		open <- errors.Join(err, a.Close())
	}()
	testkit.Eventually(t, "the agent waits or ends", func() bool { return strings.Contains(log.String(), "waiting for the bus") || len(open) > 0 })
	server.again(false)
	if err := <-open; err != nil {
		t.Error(err)
	}
}

// The same with a coordinator that stands by, which leads from then on: the first one is gone for good with the bus.
func TestLongStandbyWithoutTheLog(t *testing.T) {
	t.Parallel()
	place := postgres(t)
	server, dial := ownBus(t)
	_, port := serveWeb(t, 63, of(50, 150))
	use := func(name string) func(c *serve.Config) {
		return func(c *serve.Config) { dial(c); c.Name, c.Ledger = name, place }
	}
	first := newFleet(t, use("first"))
	first.Leader()
	second := newFleet(t, use("second"))
	second.Join("a", nil)
	j := fleettest.Job(port, 5*time.Millisecond)
	j.Limits.RecycleAfter = 2 * time.Second
	id := first.Submit(j)
	testkit.Eventually(t, "the crawl gets on", func() bool { return first.Job(id).Counts.Fetched >= int64(of(25, 50)) })
	first.Halt()
	server.again(true)
	if v := second.Await(id); v.State != crawl.JobDone || v.Counts.Pending != 0 {
		t.Errorf("%s: %+v", v.State, v.Counts)
	}
	want := fleettest.Search(t, j.Identity.Seeds, port)
	if v := second.Job(id); v.Counts.Fetched+v.Counts.Failed != int64(len(want)) {
		t.Errorf("%+v, and there are %d to be found", v.Counts, len(want))
	}
	r, err := verify.Check(t.Context(), verify.Place{Dir: second.Dir, Ledger: place, Running: true})
	if err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
}

// Both coordinators are there when the bus loses its log, twice: one of them makes it anew, and the other one follows that.
func TestLongBothLoseTheLog(t *testing.T) {
	t.Parallel()
	place := postgres(t)
	server, dial := ownBus(t)
	_, port := serveWeb(t, 64, of(50, 150))
	use := func(name string) func(c *serve.Config) {
		return func(c *serve.Config) { dial(c); c.Name, c.Ledger = name, place }
	}
	first := newFleet(t, use("first"))
	first.Leader()
	second := newFleet(t, use("second"))
	second.Join("a", nil)
	j := fleettest.Job(port, 20*time.Millisecond)
	j.Limits.RecycleAfter = 2 * time.Second
	id := first.Submit(j)
	leads := func() *fleet {
		for _, f := range []*fleet{first, second} {
			if f.Job(id).ID == id {
				return f
			}
		}
		return nil
	}
	for n := range 2 {
		testkit.Eventually(t, "the crawl gets on", func() bool { f := leads(); return f != nil && f.Job(id).Counts.Fetched >= int64(of(25, 50)*(n+1)) })
		server.again(true)
	}
	var f *fleet
	testkit.Eventually(t, "the job ends, with its index", func() bool {
		f = leads()
		return f != nil && f.Job(id).State == crawl.JobDone && f.Server.Indexed(id)
	})
	want := int64(len(fleettest.Search(t, j.Identity.Seeds, port)))
	if c := f.Job(id).Counts; c.Fetched+c.Failed != want || c.Pending != 0 {
		t.Errorf("%+v, and there are %d to be found", c, want)
	}
	if r, err := verify.Check(t.Context(), verify.Place{Dir: f.Dir, Ledger: place, Running: true}); err != nil || !r.OK {
		t.Errorf("%+v, %v", r, err)
	}
}
