package assemble_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/mend"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/serve"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
)

// refused opens a coordinator that must not start, and returns why it does not.
func refused(t *testing.T, c serve.Config, want error) string {
	t.Helper()
	s, err := serve.Open(t.Context(), c)
	if err == nil {
		err = s.Close()
		t.Fatalf("it starts (%v)", err)
	}
	if !errors.Is(err, want) || strings.Contains(err.Error(), "\n") {
		t.Fatalf("not %v in one line: %v", want, err)
	}
	return err.Error()
}

// elsewhere is a fleet whose ledger is not in its directory, with a job. Its coordinator has ended.
func elsewhere(t *testing.T) (f *fleet, place string, id uint32) {
	place = filepath.Join(t.TempDir(), "elsewhere.db")
	f = newFleet(t, func(c *serve.Config) { c.Ledger = place })
	f.Leader()
	id = f.Submit(fleettest.Job("1", time.Second))
	f.Halt()
	f.Config.BusListen = "127.0.0.1:0" // no node looks for it
	return f, place, id
}

// A coordinator does not take over another fleet's jobs because it is given that fleet's database. However its own directory has lost its
// log, or its view as well, the ledger stays its own.
func TestLedgerOfAnotherFleet(t *testing.T) {
	t.Parallel()
	x, shared, id := elsewhere(t)

	c := serve.DefaultConfig(t.TempDir())
	c.BusListen, c.Ledger = "127.0.0.1:0", shared
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	if s, err := serve.Open(interrupted, c); err == nil {
		t.Fatal("it starts", s.Close())
	}
	for range 2 { // nothing is kept of the times before, be it that it was interrupted before it came to the ledger
		if why := refused(t, c, serve.ErrOtherLedger); !strings.Contains(why, "argosy rebuild frontier "+c.Dir+" --ledger") {
			t.Error(why)
		}
		if at := outdir.LedgerElsewhere(c.Dir); at != "" {
			t.Errorf("the directory takes %s for its ledger", at)
		}
	}
	lost := map[string][]string{"nothing": nil, "the log": {outdir.Bus(x.Dir)}, "the log and the view": {outdir.Bus(x.Dir), outdir.Frontier(x.Dir)}}
	for what, parts := range lost {
		for _, part := range parts {
			if err := os.RemoveAll(part); err != nil {
				t.Fatal(err)
			}
		}
		x.Start()
		x.Leader()
		testkit.Eventually(t, what+" lost: the job goes on, or begins again", func() bool { return x.Job(id).State == crawl.JobRunning })
		x.Halt()
	}
	x.Config.BusListen = "127.0.0.1:0"
	x.Config.Ledger = shared + ".new"
	if why := refused(t, x.Config, serve.ErrOtherLedger); !strings.Contains(why, shared+",") {
		t.Error(why)
	}
	x.Config.Ledger = ""
	if why := refused(t, x.Config, serve.ErrOtherLedger); !strings.Contains(why, shared+",") || !strings.Contains(why, "no --ledger was given") {
		t.Error(why)
	}
	if _, err := os.Stat(filepath.Join(x.Dir, outdir.LedgerFile)); err == nil {
		t.Error("it has made a ledger in its directory")
	}

	if r, err := mend.Frontier(t.Context(), c.Dir, shared); err != nil || r.Jobs != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	y := &fleettest.Fleet{T: t, Dir: c.Dir, Config: c}
	y.Start()
	t.Cleanup(y.Halt)
	y.Leader()
	testkit.Eventually(t, "taken over, the job begins again", func() bool { return y.Job(id).State == crawl.JobRunning })
}

// Coordinators that share a bus share a ledger: one that was started without it, or with another one, would have the log forget what that
// lacks.
func TestOneLedgerForAFleet(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	b, err := bus.Serve(bus.DefaultConfig(filepath.Join(dir, "bus")))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	shared := filepath.Join(dir, "shared.db")
	use := func(c *serve.Config) {
		c.Bus, c.Replicas, c.Ledger = bus.Dial{URL: "nats://pipe", Pipe: b.Pipe}, 1, shared
	}
	first := newFleet(t, func(c *serve.Config) { use(c); c.Name = "first" })
	first.Leader()
	id := first.Submit(fleettest.Job("1", time.Second))
	second := newFleet(t, func(c *serve.Config) { use(c); c.Name = "second" }) // stands by

	c := serve.DefaultConfig(t.TempDir())
	use(&c)
	c.Ledger = ""
	if why := refused(t, c, serve.ErrOtherLedger); !strings.Contains(why, shared) || !strings.Contains(why, "no --ledger was given") {
		t.Error(why)
	}
	if _, err := os.Stat(filepath.Join(c.Dir, outdir.LedgerFile)); err == nil {
		t.Error("it has made a ledger")
	}
	c.Ledger = shared + ".other"
	if why := refused(t, c, serve.ErrOtherLedger); !strings.Contains(why, shared) {
		t.Error(why)
	}

	second.Halt()
	first.Halt()
	if err := os.Rename(shared, shared+".moved"); err != nil { // the same one at another place
		t.Fatal(err)
	}
	first.Config.Ledger = shared + ".moved"
	first.Start()
	testkit.Eventually(t, "the first one knows the ledger, wherever it is", func() bool { _, err := first.Server.Ledger().Job(t.Context(), id); return err == nil })
}

// Commands that rebuild a directory whose ledger is elsewhere make no ledger in it, and say where it is.
func TestRebuildOfALedgerElsewhere(t *testing.T) {
	t.Parallel()
	f, place, id := elsewhere(t)
	stores := []string{t.TempDir()}
	_, lerr := mend.Ledger(t.Context(), f.Dir, "", stores)
	_, ferr := mend.Frontier(t.Context(), f.Dir, "")
	_, ierr := mend.Index(t.Context(), f.Dir, "")
	for _, err := range []error{lerr, ferr, ierr} {
		if !errors.Is(err, mend.ErrElsewhere) || !strings.Contains(err.Error(), place) {
			t.Error(err)
		}
	}
	if _, err := os.Stat(filepath.Join(f.Dir, outdir.LedgerFile)); err == nil {
		t.Error("a ledger was made in the directory")
	}
	if _, err := mend.Ledger(t.Context(), f.Dir, place, stores); err == nil {
		t.Error("a ledger was made in one that is not empty")
	}
	f.Config.Ledger = place + ".new"
	if r, err := mend.Ledger(t.Context(), f.Dir, f.Config.Ledger, stores); err != nil || r.Jobs != 1 {
		t.Fatalf("%+v, %v", r, err)
	}
	f.Start()
	f.Leader()
	if v := f.Job(id); v.State != crawl.JobRunning {
		t.Errorf("with the new ledger the job is %s", v.State)
	}
}
