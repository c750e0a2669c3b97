package assemble_test

import (
	"log/slog"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/serve"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
)

// The one server of a bus elsewhere is stopped and started again while a fleet crawls: registry and dispatch were in its memory. The fleet
// goes on, no lease is recalled, nothing is fetched twice, and no two requests to a site are closer than its delay.
func TestBusForgets(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys, err := bus.LoadKeys(filepath.Join(dir, "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.WriteCluster(dir); err != nil {
		t.Fatal(err)
	}
	bc := bus.DefaultConfig(filepath.Join(dir, "bus"))
	bc.Keys, bc.Listen = keys, "127.0.0.1:0"
	server, err := bus.Serve(bc)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { server.Close() })
	_, bc.Listen, _ = strings.Cut(server.URL(), "://")

	const delay = 20 * time.Millisecond
	late, log := lateness(), &safeLog{}
	w, port := serveWeb(t, 61, 150)
	f := newFleet(t, func(c *serve.Config) {
		c.Bus, c.Replicas = bus.Dial{URL: server.URL(), Creds: filepath.Join(dir, "coordinator.creds")}, 1
		c.SigningKey = filepath.Join(dir, "signing.nk")
		c.Logger = slog.New(slog.NewTextHandler(log, nil))
	})
	f.Join("a", nil)
	f.Join("b", nil)
	id := f.Submit(fleettest.Job(port, delay))
	for n := range int64(2) {
		testkit.Eventually(t, "the crawl gets on", func() bool { return f.Job(id).Counts.Fetched >= 50*(n+1) })
		server.Close()
		if server, err = bus.Serve(bc); err != nil {
			t.Fatal(err)
		}
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
