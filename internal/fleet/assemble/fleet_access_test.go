package assemble_test

import (
	"context"
	"errors"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/bus"
	accessgate "argosy/internal/fleet/gate"
	"argosy/internal/fleet/serve"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
)

var me = access.Who{Role: access.Operator, Name: "me"}

// until waits until a job has fetched so many pages.
func (f *fleet) until(id uint32, fetched int64) {
	f.T.Helper()
	testkit.Eventually(f.T, "pages are fetched", func() bool { return f.Job(id).Counts.Fetched >= fetched })
}

// undisturbed is what a crawl of a web fetches with one agent that nothing happens to.
func undisturbed(t *testing.T, port string) int64 {
	t.Helper()
	f := newFleet(t, nil)
	f.Join("alone", nil)
	v := f.Await(f.Submit(fleettest.Job(port, 0)))
	if v.State != crawl.JobDone || v.Counts.Fetched < 50 {
		t.Fatalf("%s: %+v", v.State, v.Counts)
	}
	return v.Counts.Fetched
}

// Who comes with a name that is in use, and another key, is refused; the node that has it works on and loses nothing. With the key
// it is that node.
func TestSecondAgentOfOneName(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 41, 60)
	want := undisturbed(t, port)
	f := newFleet(t, nil)
	a := f.Join("a", nil)
	life := a.Agent.Info().Incarnation
	id := f.Submit(fleettest.Job(port, 10*time.Millisecond))
	f.until(id, want/4)
	c := f.AgentConfig("a")
	var err error
	if c.Key, err = bus.LoadNodeKey(filepath.Join(t.TempDir(), "other")); err != nil {
		t.Fatal(err)
	}
	c.Store = filepath.Join(t.TempDir(), "other")
	c.Node.Fetch.Limits = crawl.DefaultFetchLimits()
	var refused *access.Refusal
	if _, err := assemble.OpenAgent(t.Context(), c); !errors.As(err, &refused) || refused.Rule != access.RuleTaken {
		t.Errorf("the second agent: %v", err)
	}
	v := f.Await(id)
	if v.State != crawl.JobDone || v.Counts.Fetched != want {
		t.Errorf("%s: %+v, want %d fetched", v.State, v.Counts, want)
	}
	nodes, err := f.Leader().Nodes(t.Context())
	if err != nil || len(nodes) != 1 || nodes[0].Incarnation != life {
		t.Errorf("%+v, %v", nodes, err)
	}
	if err := f.Server.Gate().ReleaseNode(t.Context(), "a", me); err != nil {
		t.Fatal(err)
	}
}

// A node that is revoked in the middle of a crawl is out at once: its process ends and says why, its leases go to the other node,
// and everything is fetched. It is out for a coordinator that starts again, too.
func TestRevokedAgent(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 42, 60)
	want := undisturbed(t, port)
	f := newFleet(t, nil)
	b := f.Join("b", nil)
	a, err := assemble.OpenAgent(t.Context(), f.configFor("a"))
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	done := make(chan error, 1)
	go func() { done <- a.Run(context.Background(), nil) }()
	id := f.Submit(fleettest.Job(port, 20*time.Millisecond))
	f.until(id, want/8)
	testkit.Eventually(t, "both have leases", func() bool { return a.Stats().Leases > 0 && b.Agent.Stats().Leases > 0 })
	if err := f.Server.Gate().RevokeNode(t.Context(), "a", me); err != nil {
		t.Fatal(err)
	}
	var refused *access.Refusal
	if err := <-done; !errors.As(err, &refused) || refused.Rule != access.RuleRevoked {
		t.Errorf("the revoked agent: %v", err)
	}
	v := f.Await(id)
	if v.State != crawl.JobDone || v.Counts.Fetched != want {
		t.Errorf("%s: %+v, want %d fetched", v.State, v.Counts, want)
	}
	f.Halt()
	f.Start()
	f.Leader()
	if _, err := assemble.OpenAgent(t.Context(), f.configFor("a")); !errors.As(err, &refused) || refused.Rule != access.RuleRevoked {
		t.Errorf("after a restart: %v", err)
	}
	if n := f.Server.Gate().Names(); len(n) != 2 || n[0].State != accessgate.NameRevoked || n[1].State != accessgate.NameGood {
		t.Errorf("%+v", n)
	}
}

// A node that begins within the second in which its name was released, or keys were rotated twice, gets in by itself.
func TestJoinsRightAfterARelease(t *testing.T) {
	t.Parallel()
	f := newFleet(t, nil)
	a, err := assemble.OpenAgent(t.Context(), f.configFor("a"))
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	for what, order := range map[string]func() error{
		"released": func() error { return f.Server.Gate().ReleaseNode(t.Context(), "a", me) },
		"rotated":  func() error { return errors.Join(f.Server.Gate().Rotate(), f.Server.Gate().Rotate()) },
	} {
		if err := order(); err != nil {
			t.Fatal(err)
		}
		if a, err = assemble.OpenAgent(t.Context(), f.configFor("a")); err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
}

func (f *fleet) configFor(name string) assemble.AgentConfig {
	c := f.AgentConfig(name)
	c.Node.Fetch.Limits = crawl.DefaultFetchLimits()
	return c
}

// Keys rotate during a crawl: agents join again by themselves and no lease is lost. Credentials from before are worth nothing then,
// also after a restart.
func TestLongRotationDuringACrawl(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 43, 60)
	want := undisturbed(t, port)
	f := newFleet(t, nil)
	var joins atomic.Int64
	counted := func(c *assemble.AgentConfig) {
		join := c.Join
		c.Join = func(ctx context.Context, key bus.NodeKey, p bus.Petition) (bus.Pass, error) {
			joins.Add(1)
			return join(ctx, key, p)
		}
	}
	f.Join("a", counted)
	f.Join("b", counted)
	before := f.Admit("c")
	id := f.Submit(fleettest.Job(port, 20*time.Millisecond))
	for i := range 2 {
		f.until(id, want*int64(i+1)/4)
		had := joins.Load()
		if err := f.Server.Gate().Rotate(); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "both have joined again", func() bool { return joins.Load() >= had+2 })
	}
	v := f.Await(id)
	if v.State != crawl.JobDone || v.Counts.Fetched != want {
		t.Errorf("%s: %+v, want %d fetched", v.State, v.Counts, want)
	}
	nodes, err := f.Leader().Nodes(t.Context())
	if err != nil || len(nodes) != 2 {
		t.Errorf("%+v, %v", nodes, err)
	}
	old := func(when string) {
		t.Helper()
		if nc, err := nats.Connect(f.Server.BusURL(), nats.UserJWTAndSeed(before.Login.JWT, before.Login.Seed)); err == nil {
			nc.Close()
			t.Errorf("%s: credentials from before were taken", when)
		}
	}
	old("after the rotation")
	f.Halt()
	f.Start()
	f.Leader()
	old("after a restart")
	f.Admit("c")
}

// A node that floods the bus is shut out for a while; the honest one does its work, and the coordinator lives.
func TestFloodIsShutOut(t *testing.T) { // alone: who is shut out is so for seconds, in which a crawl must end
	_, port := serveWeb(t, 44, 60)
	f := newFleet(t, func(c *serve.Config) {
		c.Access.Rates = access.Rates{Said: access.Said{Messages: 100, Bytes: 1 << 20}, Burst: 2}
	})
	f.Join("honest", nil)
	nc, _, _ := f.as(t, "flood")
	closed := nc.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		junk := make([]byte, 16<<10)
		for {
			select {
			case <-stop:
				return
			default:
				for range 8 { // a flood on a busy machine, too
					_ = nc.Publish("argosy.log.0.part.flood", junk)
				}
				_ = nc.FlushTimeout(time.Second)
			}
		}
	}()
	select {
	case <-closed:
	case <-time.After(2 * time.Minute):
		t.Error("who floods is still there")
	}
	close(stop)
	<-stopped
	var refused *access.Refusal
	_, err := f.Server.Joiner()(t.Context(), f.Key("flood"), bus.Petition{Node: "flood", Wire: bus.Wire})
	if !errors.As(err, &refused) || refused.Rule != access.RuleWait || refused.After <= 0 || refused.After > 10*time.Second {
		t.Errorf("who flooded joins again: %v", err)
	}
	if v := f.Await(f.Submit(fleettest.Job(port, 0))); v.State != crawl.JobDone {
		t.Errorf("%s: %+v", v.State, v.Counts)
	}
	if n := f.Server.Gate().Names(); len(n) != 2 || n[0].State != accessgate.NameOut || n[1].State != accessgate.NameGood {
		t.Errorf("%+v", n)
	}
}
