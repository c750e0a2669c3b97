package bus

import (
	"context"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
)

// forgetful is a bus that several processes use and that keeps in memory what it may forget: a coordinator watches nodes, and a node
// registers and receives over connections of their own.
type forgetful struct {
	t           *testing.T
	cfg         Config // of the server
	server      *Server
	coordinator *Client
	signs       chan crawl.Sign // of the node
	got         chan string     // messages that it has received
}

// forgetfulRenew is what stands for term.Renew: each of these tests waits for it a few times.
const forgetfulRenew = 100 * time.Millisecond

func newForgetful(t *testing.T) *forgetful {
	dir := t.TempDir()
	keys, err := LoadKeys(filepath.Join(dir, "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := keys.WriteCluster(dir); err != nil {
		t.Fatal(err)
	}
	f := &forgetful{t: t, cfg: DefaultConfig(filepath.Join(dir, "bus")), signs: make(chan crawl.Sign, 64), got: make(chan string, 64)}
	f.cfg.Keys, f.cfg.Listen = keys, "127.0.0.1:0"
	f.start()
	_, f.cfg.Listen, _ = strings.Cut(f.server.URL(), "://")
	ctx, cancel := context.WithCancel(t.Context())
	if f.coordinator, err = Connect(ctx, Dial{URL: f.server.URL(), Creds: filepath.Join(dir, "coordinator.creds")}, Config{
		MaxLog: f.cfg.MaxLog, MaxDispatch: f.cfg.MaxDispatch, RecycleAfter: f.cfg.RecycleAfter, Replicas: 1, Keys: keys,
	}); err != nil {
		t.Fatal(err)
	}
	key, err := NewNodeKey()
	if err != nil {
		t.Fatal(err)
	}
	login, err := keys.Node("n", key.Public())
	if err != nil {
		t.Fatal(err)
	}
	node, err := Join(Dial{URL: f.server.URL(), Login: func() Login { return key.Login(login) }, Node: "n", Pub: key.Public()}, nil)
	if err != nil {
		t.Fatal(err)
	}
	f.coordinator.every, node.every = forgetfulRenew, forgetfulRenew
	done := make(chan error, 3)
	go func() {
		done <- f.coordinator.Nodes(ctx, func(_ crawl.NodeInfo, s crawl.Sign) {
			select {
			case f.signs <- s:
			default: // nobody waits for one: a test that has failed ends
			}
		})
	}()
	go func() {
		done <- node.Register(ctx, func() crawl.NodeInfo { return crawl.NodeInfo{Node: "n", Incarnation: "1"} }, nil)
	}()
	go func() {
		done <- node.Receive(ctx, "n", func(msg []byte, _ time.Duration) error {
			select {
			case f.got <- string(msg):
			default:
			}
			return nil
		})
	}()
	t.Cleanup(func() {
		cancel()
		for range cap(done) {
			if err := <-done; err != nil {
				t.Error(err)
			}
		}
		node.Close()
		f.coordinator.Close()
		f.server.Close()
	})
	return f
}

func (f *forgetful) start() {
	f.t.Helper()
	var err error
	if f.server, err = Serve(f.cfg); err != nil {
		f.t.Fatal(err)
	}
}

// goesOn waits until the node has registered, and sends it a message until it has come: as a coordinator does, for a message that was on
// its way to a reader which has given up is lost.
func (f *forgetful) goesOn(msg string) {
	f.t.Helper()
	late, again := time.After(30*time.Second), time.NewTicker(20*forgetfulRenew)
	defer again.Stop()
	for len(f.signs) > 0 {
		<-f.signs
	}
	select {
	case <-f.signs:
	case <-late:
		f.t.Fatalf("%s: the node is not heard of; deaf: %v", msg, f.coordinator.Deaf())
	}
	for came := ""; came != msg; { // what was sent twice before may come, too
		if err := f.coordinator.Dispatch(f.t.Context(), "n", 1, []byte(msg)); err != nil {
			f.t.Fatal(err)
		}
		select {
		case came = <-f.got:
		case <-again.C:
		case <-late:
			f.t.Fatalf("%s: the message does not come", msg)
		}
	}
	if f.coordinator.Deaf() {
		f.t.Error("deaf, although it hears")
	}
}

// A server that is stopped and started again has forgotten what it kept in memory. It gets it again, the node registers by itself, and
// messages to it come.
func TestLongServerForgets(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	f.goesOn("before")
	for _, msg := range []string{"after", "after once more"} {
		f.server.Close()
		f.start()
		f.goesOn(msg)
	}
}

// The stream of messages is gone while the connections stand: it is found missing, and made again.
func TestDispatchIsGone(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	f.goesOn("before")
	if err := f.coordinator.js.DeleteStream(t.Context(), dispatchStream); err != nil {
		t.Fatal(err)
	}
	for end := time.Now().Add(30 * time.Second); f.coordinator.remembers(t.Context()) != nil; {
		if time.Now().After(end) || !pause(t.Context(), 20*time.Millisecond) {
			t.Fatal("it is not made again")
		}
	}
	f.goesOn("after")
}
