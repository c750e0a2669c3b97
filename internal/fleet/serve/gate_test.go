package serve_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/gate"
	"argosy/internal/testkit"
)

var me = access.Who{Role: access.Operator, Name: "me"}

// clock is a time that tests set.
type clock struct{ ms atomic.Int64 }

func (c *clock) now() time.Time { return time.UnixMilli(c.ms.Load()) }

// at is a bus, and its keys.
type at struct {
	*bus.Server
	keys *bus.Keys
}

// twoGates are those of two coordinators at one bus, by one clock.
func twoGates(t *testing.T) (a, b *gate.Gate, on at, c *clock) {
	t.Helper()
	dir := t.TempDir()
	keys, err := bus.LoadKeys(dir + "/keys.json")
	if err != nil {
		t.Fatal(err)
	}
	cfg := bus.DefaultConfig(dir + "/bus")
	cfg.Keys = keys
	srv, err := bus.Serve(cfg)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(srv.Close)
	c = &clock{}
	c.ms.Store(time.Now().UnixMilli())
	open := func() *gate.Gate {
		cl, err := srv.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(cl.Close)
		g, err := gate.Open(t.Context(), cl, srv, keys, gate.Config{Now: c.now})
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(g.Close)
		return g
	}
	return open(), open(), at{srv, keys}, c
}

func newKey(t *testing.T) bus.NodeKey {
	t.Helper()
	k, err := bus.NewNodeKey()
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// join asks to join, with a token.
func join(ctx context.Context, g *gate.Gate, k bus.NodeKey, node, token string) error {
	challenge, err := g.Challenge()
	if err != nil {
		return err
	}
	p, err := k.Petition(bus.Petition{Node: node, Wire: bus.Wire}, challenge)
	if err != nil {
		return err
	}
	who, _ := g.Who(token)
	_, _, err = g.Admit(ctx, p, who, "")
	return err
}

// However many nodes come at once to two coordinators, a token lets in as many as it has uses, and a name has one key.
func TestManyAtOnce(t *testing.T) {
	t.Parallel()
	a, b, _, _ := twoGates(t)
	gates := []*gate.Gate{a, b}
	const uses, nodes = 3, 12
	_, text, err := a.Make(t.Context(), access.Wanted{Role: access.Join, Uses: uses}, me)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the other coordinator knows the token", func() bool { _, ok := b.Who(text); return ok })
	var in, taken atomic.Int64
	var all sync.WaitGroup
	for i := range nodes {
		k := newKey(t)
		all.Go(func() {
			switch err := join(t.Context(), gates[i%2], k, fmt.Sprintf("n%d", i%4), text); {
			case err == nil:
				in.Add(1)
			default:
				var r *access.Refusal
				if !errors.As(err, &r) || r.Rule != access.RuleSpent && r.Rule != access.RuleTaken {
					t.Error(err)
				}
				taken.Add(1)
			}
		})
	}
	all.Wait()
	if in.Load() > uses || in.Load() == 0 || in.Load()+taken.Load() != nodes {
		t.Errorf("%d of %d joined with %d uses", in.Load(), nodes, uses)
	}
	testkit.Eventually(t, "both know the same names", func() bool {
		return int64(len(a.Names())) == in.Load() && int64(len(b.Names())) == in.Load()
	})
	for i, n := range a.Names() {
		if n.Key != b.Names()[i].Key {
			t.Errorf("%s has two keys", n.Name)
		}
	}
}

// A name is made free though its node comes again to another coordinator at that moment, which writes down that it did.
func TestReleaseBesideItsNode(t *testing.T) {
	t.Parallel()
	a, b, _, c := twoGates(t)
	_, text, err := a.Make(t.Context(), access.Wanted{Role: access.Join}, me)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the other coordinator knows the token", func() bool { _, ok := b.Who(text); return ok })
	for i := range 20 {
		k, name := newKey(t), fmt.Sprintf("n%d", i)
		if err := join(t.Context(), a, k, name, text); err != nil {
			t.Fatal(err)
		}
		testkit.Eventually(t, "the other coordinator knows the name", func() bool { return slices.ContainsFunc(b.Names(), func(n gate.Name) bool { return n.Name == name }) })
		c.ms.Add(time.Hour.Milliseconds())
		var all sync.WaitGroup
		all.Go(func() {
			for range 8 {
				_ = join(t.Context(), b, k, name, text) // it is in, or out by now
			}
		})
		if err := a.ReleaseNode(t.Context(), name, me); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		all.Wait()
	}
}

// What one coordinator revokes the other knows; a token ends at its time at both; what was decided is there after a restart.
func TestTwoCoordinators(t *testing.T) {
	t.Parallel()
	a, b, srv, c := twoGates(t)
	_, short, err := a.Make(t.Context(), access.Wanted{Role: access.Observer, TTL: time.Hour}, me)
	if err != nil {
		t.Fatal(err)
	}
	long, text, err := a.Make(t.Context(), access.Wanted{Role: access.Join}, me)
	if err != nil {
		t.Fatal(err)
	}
	knows := func(g *gate.Gate, text string) bool { _, ok := g.Who(text); return ok }
	testkit.Eventually(t, "the other one knows both", func() bool { return knows(b, short) && knows(b, text) })
	c.ms.Add(time.Hour.Milliseconds() - 1)
	if !knows(a, short) || !knows(b, short) {
		t.Error("a token ended too soon")
	}
	c.ms.Add(1)
	if knows(a, short) || knows(b, short) || !knows(b, text) {
		t.Error("a token did not end")
	}
	k := newKey(t)
	if err := join(t.Context(), a, k, "n", text); err != nil {
		t.Fatal(err)
	}
	if err := b.RevokeToken(t.Context(), long.ID, me); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "it is revoked for both", func() bool { return !knows(a, text) && !knows(b, text) })
	if err := join(t.Context(), b, k, "n", ""); err != nil {
		t.Errorf("a node that has joined is out because its token is revoked: %v", err)
	}
	if err := b.RevokeNode(t.Context(), "n", me); err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "the node is out for both", func() bool { return !a.Trusts("n", k.Public()) && !b.Trusts("n", k.Public()) })
	for _, err := range []error{b.RevokeToken(t.Context(), "ffffffff", me), b.RevokeToken(t.Context(), "../x", me), b.RevokeToken(t.Context(), "", me)} {
		if !errors.Is(err, gate.ErrNoToken) {
			t.Errorf("a token that is not there was revoked: %v", err)
		}
	}
	for _, err := range []error{b.RevokeNode(t.Context(), "m", me), b.ReleaseNode(t.Context(), "*", me), b.RevokeNode(t.Context(), "", me)} {
		if !errors.Is(err, gate.ErrNoName) {
			t.Errorf("a name that is not there: %v", err)
		}
	}
	cl, err := srv.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer cl.Close()
	again, err := gate.Open(t.Context(), cl, srv.Server, nil, gate.Config{Now: c.now})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if n := again.Names(); len(n) != 1 || n[0].State != gate.NameRevoked || knows(again, text) || len(again.Tokens()) != 2 {
		t.Errorf("after a restart: %+v, %+v", n, again.Tokens())
	}
}

// A record that no coordinator has signed is nothing: who can write to the bus, and has not the keys, makes no token for himself.
func TestForgedRecords(t *testing.T) {
	t.Parallel()
	a, _, srv, _ := twoGates(t)
	nc, err := nats.Connect("", nats.InProcessServer(pipe{srv.Server}), insider(t, srv.keys))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	kv, err := js.KeyValue(t.Context(), "ARGOSY_ACCESS")
	if err != nil {
		t.Fatal(err)
	}
	tok, text, err := access.NewToken(access.Wanted{Role: access.Operator}, "thief", 1, make([]byte, access.Chance))
	if err != nil {
		t.Fatal(err)
	}
	data, err := crawl.Marshal(tok)
	if err != nil {
		t.Fatal(err)
	}
	for _, rec := range []map[int]any{{1: data}, {1: data, 2: "0"}} {
		val, err := crawl.Marshal(rec)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := kv.Put(t.Context(), "token."+tok.ID, val); err != nil {
			t.Fatal(err)
		}
	}
	good, goodText, err := a.Make(t.Context(), access.Wanted{Role: access.Observer}, me)
	if err != nil {
		t.Fatal(err)
	}
	testkit.Eventually(t, "what was written before has been told", func() bool { _, ok := a.Who(goodText); return ok })
	if _, ok := a.Who(text); ok {
		t.Error("a token that no coordinator has made lets in")
	}
	if all := a.Tokens(); len(all) != 1 || all[0].ID != good.ID {
		t.Errorf("%+v", all)
	}
}

type pipe struct{ srv *bus.Server }

func (p pipe) InProcessConn() (net.Conn, error) { return p.srv.Pipe() }

// insider has credentials of the coordinators' account, and not its keys.
func insider(t *testing.T, keys *bus.Keys) nats.Option {
	t.Helper()
	token, seed, err := testkit.Insider(keys.AccountSeed)
	if err != nil {
		t.Fatal(err)
	}
	return nats.UserJWTAndSeed(token, seed)
}

// A bus that is lost takes no names, tokens and revocations with it.
func TestRecordsOutliveTheBus(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	keys, err := bus.LoadKeys(dir + "/keys.json")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	open := func(n int) (*gate.Gate, func()) {
		cfg := bus.DefaultConfig(fmt.Sprint(dir, "/bus", n))
		cfg.Keys = keys
		srv, err := bus.Serve(cfg)
		if err != nil {
			t.Fatal(err)
		}
		cl, err := srv.Connect(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		g, err := gate.Open(t.Context(), cl, srv, keys, gate.Config{File: dir + "/access", Now: func() time.Time { return now }})
		if err != nil {
			t.Fatal(err)
		}
		return g, func() {
			g.Close()
			cl.Close()
			srv.Close()
		}
	}
	g, stop := open(1)
	_, text, err := g.Make(t.Context(), access.Wanted{Role: access.Observer}, me)
	if err != nil {
		t.Fatal(err)
	}
	_, joins, err := g.Make(t.Context(), access.Wanted{Role: access.Join}, me)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"m", "n"} {
		if err := join(t.Context(), g, newKey(t), name, joins); err != nil {
			t.Fatal(err)
		}
	}
	if err := g.RevokeNode(t.Context(), "m", me); err != nil {
		t.Fatal(err)
	}
	was := g.Names()
	copied, err := os.ReadFile(dir + "/access") // as a backup does, right after what was ordered
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if err := os.WriteFile(dir+"/access", copied, 0o600); err != nil {
		t.Fatal(err)
	}
	now = now.Add(40 * 24 * time.Hour) // nobody has changed anything since
	again, stop := open(2)
	_, observes := again.Who(text)
	if got := again.Names(); fmt.Sprint(got) != fmt.Sprint(was) || len(got) != 2 || !observes {
		t.Errorf("on a new bus: %+v, was %+v", got, was)
	}
	stop()

	if err := os.CopyFS(dir+"/bus3", os.DirFS(dir+"/bus2")); err != nil { // a bus that will have lost what comes now
		t.Fatal(err)
	}
	again, stop = open(2)
	made, late, err := again.Make(t.Context(), access.Wanted{Role: access.Observer}, me)
	if err != nil {
		t.Fatal(err)
	}
	if err := join(t.Context(), again, newKey(t), "o", joins); err != nil {
		t.Fatal(err)
	}
	for _, token := range again.Tokens() {
		if token.ID != made.ID && token.Role == access.Observer {
			err = errors.Join(err, again.RevokeToken(t.Context(), token.ID, me))
		}
	}
	if err := errors.Join(err, again.RevokeNode(t.Context(), "n", me), again.ReleaseNode(t.Context(), "m", me)); err != nil {
		t.Fatal(err)
	}
	stop()
	again, stop = open(3)
	defer stop()
	if _, ok := again.Who(text); ok {
		t.Error("a revoked token is good again once the bus has lost its end")
	}
	if _, ok := again.Who(late); !ok {
		t.Error("a token is lost with the end of the bus")
	}
	if got := again.Names(); len(got) != 3 || got[2].Node.Name != "o" {
		t.Errorf("the binding of a name is lost with the end of the bus: %+v", got)
	}
	for _, n := range again.Names() {
		if n.Node.Name == "n" && n.State != gate.NameRevoked {
			t.Errorf("a revoked node may join again: %+v", n)
		}
	}
}
