package bus

import (
	"path/filepath"
	"testing"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// The server keeps the way back of a node's request until it was answered as often as it can be: that of an entry, which is answered once,
// is gone with the answer, not two minutes later.
func TestAnsweredEntriesLeaveNothing(t *testing.T) {
	dir := t.TempDir()
	k, err := LoadKeys(filepath.Join(dir, "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	c := DefaultConfig(filepath.Join(dir, "bus"))
	c.Listen, c.Keys = "127.0.0.1:0", k
	s, err := Serve(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	cl, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cl.Close)
	own, err := LoadNodeKey(filepath.Join(dir, "node"))
	if err != nil {
		t.Fatal(err)
	}
	given, err := k.Node("a", own.Public())
	if err != nil {
		t.Fatal(err)
	}
	l := own.Login(given)
	nc, err := nats.Connect(s.URL(), nats.UserJWTAndSeed(l.JWT, l.Seed), nats.CustomInboxPrefix("_INBOX_argosy_a"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	const entries = 100
	for range entries {
		if _, err := js.Publish(t.Context(), partSubject+"a", []byte("an entry")); err != nil {
			t.Fatal(err)
		}
	}
	name, err := public(k.AccountSeed)
	if err != nil {
		t.Fatal(err)
	}
	account, err := s.srv.Load().LookupAccount(name)
	if err != nil {
		t.Fatal(err)
	}
	if n := account.NumPendingAllResponses(); n > entries/10 { // the last one's may not be gone yet
		t.Errorf("%d ways back are kept after %d entries were answered", n, entries)
	}
}
