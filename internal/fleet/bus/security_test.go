package bus_test

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"argosy/internal/fleet/bus"
)

// guarded is a bus that asks for credentials, with a coordinator's connection, and the keys that sign them.
func guarded(t *testing.T) (*bus.Server, *bus.Keys) {
	t.Helper()
	dir := t.TempDir()
	k, err := bus.LoadKeys(filepath.Join(dir, "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := bus.DefaultConfig(filepath.Join(dir, "bus"))
	c.Listen, c.Keys = "127.0.0.1:0", k
	s, err := bus.Serve(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	cl, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	return s, k
}

// login is a node's, as keys sign it.
func login(t *testing.T, k *bus.Keys, node string) bus.Login {
	t.Helper()
	own, err := bus.LoadNodeKey(filepath.Join(t.TempDir(), "node"))
	if err != nil {
		t.Fatal(err)
	}
	given, err := k.Node(node, own.Public())
	if err != nil {
		t.Fatal(err)
	}
	return own.Login(given)
}

func denied(t *testing.T, what string, errs <-chan error) {
	t.Helper()
	select {
	case err := <-errs:
		if !strings.Contains(strings.ToLower(err.Error()), "permissions violation") {
			t.Errorf("%s: %v", what, err)
		}
	case <-time.After(5 * time.Second):
		t.Errorf("%s was allowed", what)
	}
}

// Without credentials, or with those of another fleet, nobody gets in; a name that could be a subject is none.
func TestStrangers(t *testing.T) {
	t.Parallel()
	s, _ := guarded(t)
	if nc, err := nats.Connect(s.URL()); err == nil {
		nc.Close()
		t.Error("who has no credentials was let in")
	}
	other, err := bus.LoadKeys(filepath.Join(t.TempDir(), "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	forged := login(t, other, "a")
	if nc, err := nats.Connect(s.URL(), nats.UserJWTAndSeed(forged.JWT, forged.Seed)); err == nil {
		nc.Close()
		t.Error("credentials that another fleet has signed were taken")
	}
	for _, bad := range []string{"", "a.b", "a b", "x>", "*", strings.Repeat("n", 65)} {
		if bus.CheckNode(bad) == nil {
			t.Errorf("node name %q was taken", bad)
		}
	}
}

// A node may read its leases, write its parts and keep its registration, and nothing else.
func TestCredentials(t *testing.T) {
	t.Parallel()
	s, k := guarded(t)
	l := login(t, k, "a")
	errs := make(chan error, 64)
	nc, err := nats.Connect(s.URL(), nats.UserJWTAndSeed(l.JWT, l.Seed), nats.CustomInboxPrefix("_INBOX_argosy_a"),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { errs <- err }))
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	for _, subject := range []string{
		"argosy.log.0.part.b", "argosy.log.0.lead", "argosy.node.b.1", "$KV.ARGOSY_NODES.b", "$KV.ARGOSY_LEADER.leader",
		"$JS.API.STREAM.DELETE.ARGOSY_LOG_0", "$JS.API.STREAM.PURGE.ARGOSY_LOG_0", "$JS.API.STREAM.MSG.GET.ARGOSY_LOG_0",
		"$JS.API.CONSUMER.CREATE.ARGOSY_DISPATCH.node-b.argosy.node.b.>", "$JS.API.CONSUMER.CREATE.ARGOSY_LOG_0",
		"$JS.API.CONSUMER.CREATE.ARGOSY_DISPATCH.node-a.argosy.node.b.>", "$JS.API.CONSUMER.DELETE.ARGOSY_DISPATCH.node-b",
	} {
		if err := nc.Publish(subject, []byte("x")); err != nil {
			t.Fatal(err)
		}
		denied(t, "to publish to "+subject, errs)
	}
	for _, subject := range []string{">", "argosy.>", "_INBOX.>", "_INBOX_argosy_b.>", "$KV.>"} {
		if _, err := nc.SubscribeSync(subject); err != nil {
			t.Fatal(err)
		}
		denied(t, "to subscribe to "+subject, errs)
	}
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if _, err := js.Publish(ctx, "argosy.log.0.part.a", []byte("no entry at all")); err != nil {
		t.Errorf("a node's own subject: %v", err)
	}
}
