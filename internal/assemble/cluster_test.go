package assemble_test

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"argosy/internal/assemble"
	"argosy/internal/bus"
	"argosy/internal/crawl"
	"argosy/internal/testkit"
)

// cluster starts three NATS servers and a PostgreSQL, all real, and returns what a coordinator needs to use them.
func cluster(t *testing.T) (*testkit.NATS, func(*assemble.ServeConfig)) {
	t.Helper()
	ledger, stop, err := testkit.Postgres()
	if errors.Is(err, testkit.ErrMissing) {
		t.Skip("PostgreSQL is not installed")
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	dir := t.TempDir()
	k, err := bus.LoadKeys(filepath.Join(dir, "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := k.WriteCluster(dir); err != nil {
		t.Fatal(err)
	}
	n, err := testkit.NewNATS(dir, filepath.Join(dir, "accounts.conf"), 3)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(n.Stop)
	return n, func(c *assemble.ServeConfig) {
		c.Bus = bus.Dial{URL: n.URL, Creds: filepath.Join(dir, "coordinator.creds")}
		c.SigningKey = filepath.Join(dir, "signing.nk")
		c.Ledger = ledger
		c.Checkpoint = 50
		if os.Getenv("ARGOSY_TEST_LOG") != "" {
			c.Logger = slog.New(slog.NewTextHandler(os.Stderr, nil))
		}
	}
}

// Two coordinators on a real cluster: when the one that leads goes, the other goes on; a NATS server is killed and comes
// back; a third coordinator starts long after the log was trimmed, from a checkpoint. Nothing is fetched twice.
func TestStandby(t *testing.T) {
	if testing.Short() {
		t.Skip("starts seven processes")
	}
	nats, use := cluster(t)
	w, port := serveWeb(t, 25, 300)
	first := newFleet(t, func(c *assemble.ServeConfig) { use(c); c.Name = "first" })
	first.leader()
	second := newFleet(t, func(c *assemble.ServeConfig) { use(c); c.Name = "second" })
	first.join("a", nil)
	first.join("b", nil)
	id := first.submit(fleetJob(port, 8*time.Millisecond))
	eventually(t, "the crawl gets on", func() bool { return first.job(id).Counts.Fetched >= 100 })
	if _, err := second.server.Leader(); err == nil {
		t.Error("two coordinators lead")
	}
	first.halt()
	eventually(t, "the second one takes over", func() bool { return second.job(id).Counts.Fetched >= 300 })
	nats.Kill(1)
	n := second.job(id).Counts.Fetched
	eventually(t, "it goes on with two servers", func() bool { return second.job(id).Counts.Fetched >= n+200 })
	if err := nats.Start(1); err != nil {
		t.Fatal(err)
	}
	first.dir, first.cfg.Dir = t.TempDir(), t.TempDir()
	first.start() // knows nothing
	if v := second.await(id); v.State != crawl.JobDone {
		t.Fatalf("%s: %+v", v.State, v.Counts)
	}
	second.halt()
	if v := first.job(id); v.State != "" {
		t.Logf("took over at once")
	}
	eventually(t, "the one that started from a checkpoint knows the job", func() bool {
		v := first.job(id)
		return v.State == crawl.JobDone && v.Counts.Pending == 0 && v.Counts.Fetched > 300
	})
	if u := twice(w, sites); u != "" {
		t.Errorf("%s was fetched twice", u)
	}
}
