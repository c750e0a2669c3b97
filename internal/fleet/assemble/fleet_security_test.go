package assemble_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"io"
	"log/slog"
	"math/big"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/serve"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
)

// safeLog collects what is logged.
type safeLog struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *safeLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *safeLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// as connects to the fleet's bus with a node's credentials.
func (f *fleet) as(t *testing.T, node string) (*nats.Conn, jetstream.JetStream, <-chan error) {
	t.Helper()
	p := f.Admit(node)
	errs := make(chan error, 64)
	nc, err := nats.Connect(p.Bus, nats.UserJWTAndSeed(p.Login.JWT, p.Login.Seed), nats.CustomInboxPrefix("_INBOX_argosy_"+node),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { errs <- err }))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	js, err := jetstream.New(nc)
	if err != nil {
		t.Fatal(err)
	}
	return nc, js, errs
}

// signed is a message of a node's, signed as it would sign it.
func (f *fleet) signed(t *testing.T, node, subject string, data []byte) *nats.Msg {
	t.Helper()
	p := f.Admit(node)
	h := hmac.New(sha256.New, []byte(p.Login.Key))
	h.Write(append([]byte("entry\x00"), data...))
	return &nats.Msg{Subject: subject, Data: data, Header: nats.Header{"Argosy-Sign": {hex.EncodeToString(h.Sum(nil))}, "Argosy-Key": {f.Key(node).Public()}}}
}

// Reports that are forged, of somebody else's lease, or claim to be a leader's are refused, logged without the secret,
// and change nothing.
func TestForgedReports(t *testing.T) {
	t.Parallel()
	log := &safeLog{}
	_, port := serveWeb(t, 26, 50)
	f := newFleet(t, func(c *serve.Config) {
		c.Logger = slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	f.Join("honest", nil)
	id := f.Submit(fleettest.Job(port, 20*time.Second)) // its leases stay open
	var lease frontier.Lease
	testkit.Eventually(t, "a lease is open", func() bool {
		err := f.Leader().View(t.Context(), func(v *frontier.Frontier) error {
			v.Leases(func(l *frontier.Lease) {
				if l.Held > 0 {
					lease = *l
				}
			})
			return nil
		})
		return err == nil && lease.ID != 0
	})
	before := f.Job(id).Counts
	u, err := crawl.Parse("http://s0.test:" + port + "/")
	if err != nil {
		t.Fatal(err)
	}
	part := crawl.Part{
		Lease: lease.ID, Attempt: lease.Attempt, Epoch: lease.Epoch, Secret: "guessed-secret", No: lease.Parts + 1, Final: true, Reason: crawl.EndDone,
		Outcomes: []crawl.Outcome{{Key: u.Key(), URL: u.String(), State: crawl.Fetched, Status: 200, Bytes: 1}},
		Found:    []crawl.Found{{Parent: u.Key(), Links: []crawl.Link{{URL: u.String() + "planted"}}}},
	}
	known := part
	known.Secret = lease.Secret // stolen, but not from its own node
	_, js, _ := f.as(t, "thief")
	send := func(e crawl.Entry) {
		t.Helper()
		e.Version = crawl.WireVersion
		b, err := crawl.Marshal(&e)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := js.PublishMsg(t.Context(), f.signed(t, "thief", "argosy.log.0.part.thief", b)); err != nil {
			t.Fatal(err)
		}
	}
	send(crawl.Entry{Kind: crawl.EntryParts, Node: "honest", Incarnation: lease.Incarnation, Parts: []crawl.Part{known}})
	send(crawl.Entry{Kind: crawl.EntryParts, Node: "thief", Incarnation: lease.Incarnation, Parts: []crawl.Part{known}})
	send(crawl.Entry{Kind: crawl.EntryParts, Node: "thief", Incarnation: lease.Incarnation, Parts: []crawl.Part{part}})
	send(crawl.Entry{Kind: crawl.EntryRecall, Epoch: 99, Recalls: []crawl.Recall{{Lease: lease.ID}}})
	send(crawl.Entry{Kind: crawl.EntryTerm, Epoch: 99})
	send(crawl.Entry{Kind: crawl.EntryState, State: &crawl.JobState{Job: id, State: crawl.JobCancelled}})
	send(crawl.Entry{Kind: crawl.EntryMeasures, Node: "honest", Measures: []crawl.Measure{{Kind: crawl.MeasureBS, Bits: 1, Seconds: 1}}})
	testkit.Eventually(t, "all seven are refused", func() bool {
		s := log.String()
		return strings.Count(s, "msg=refused") == 5 && strings.Count(s, "not believed") == 2
	})
	if after := f.Job(id).Counts; after.Fetched != before.Fetched || after.Discovered != before.Discovered || f.Job(id).State != crawl.JobRunning {
		t.Errorf("before %+v, after %+v, %s", before, after, f.Job(id).State)
	}
	err = f.Leader().View(t.Context(), func(v *frontier.Frontier) error {
		if v.Lease(lease.ID) == nil {
			t.Error("somebody else's lease was closed")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), f.Dir+"/"+outdir.LedgerFile)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = l.Pages(t.Context(), id, func(p *ledger.Page) error {
		if p.Node == "thief" {
			t.Errorf("the ledger has a page of the thief's: %+v", p)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{lease.Secret, "guessed-secret"} {
		if strings.Contains(log.String(), secret) {
			t.Error("a secret was logged")
		}
	}
	if err := f.Leader().SetState(t.Context(), id, crawl.JobCancelled); err != nil {
		t.Fatal(err)
	}
}

func selfSigned(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "argosy"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	return &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, &tls.Config{RootCAs: pool}
}

// Where TLS is asked for, a fleet works over TLS, and plain TCP is refused.
func TestTLS(t *testing.T) {
	t.Parallel()
	server, client := selfSigned(t)
	_, port := serveWeb(t, 28, 40)
	f := &fleet{&fleettest.Fleet{T: t, Dir: t.TempDir()}}
	f.Config = serve.DefaultConfig(f.Dir)
	f.Config.BusListen, f.Config.TLS = "127.0.0.1:0", server
	f.Start()
	t.Cleanup(f.Halt)
	f.Join("a", func(c *assemble.AgentConfig) { c.TLS = client })
	if v := f.Await(f.Submit(fleettest.Job(port, 0))); v.State != crawl.JobDone || v.Counts.Failed > 0 {
		t.Errorf("%s: %+v", v.State, v.Counts)
	}
	p := f.Admit("b")
	plain := strings.Replace(p.Bus, "tls://", "nats://", 1)
	if nc, err := nats.Connect(plain, nats.UserJWTAndSeed(p.Login.JWT, p.Login.Seed), nats.Timeout(3*time.Second)); err == nil {
		if !nc.TLSRequired() {
			t.Error("plain TCP was let in")
		}
		nc.Close()
	}
	c, err := net.Dial("tcp", strings.TrimPrefix(plain, "nats://"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_ = c.SetDeadline(time.Now().Add(10 * time.Second))
	_, _ = c.Write([]byte("CONNECT {\"verbose\":true}\r\nPING\r\n"))
	if b, _ := io.ReadAll(c); bytes.Contains(b, []byte("PONG")) {
		t.Error("plain TCP was answered")
	}
}

// words encodes something for the bus.
func words(t *testing.T, v any) []byte {
	t.Helper()
	b, err := crawl.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// insider connects with credentials of the coordinators' account, as somebody could who has them but not the keys.
func (f *fleet) insider(t *testing.T) *nats.Conn {
	t.Helper()
	k, err := bus.LoadKeys(filepath.Join(f.Dir, "state", "keys.json"))
	if err != nil {
		t.Fatal(err)
	}
	token, seed, err := testkit.Insider(k.AccountSeed)
	if err != nil {
		t.Fatal(err)
	}
	nc, err := nats.Connect(f.Server.BusURL(), nats.UserJWTAndSeed(token, seed))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(nc.Close)
	return nc
}

// still looks whether a fleet of one node does its work as before.
func (f *fleet) still(t *testing.T, port string, first coordinator.JobView) {
	t.Helper()
	if v := f.Await(f.Submit(fleettest.Job(port, 0))); v.State != crawl.JobDone || v.Counts.Fetched != first.Counts.Fetched {
		t.Errorf("%s: %+v", v.State, v.Counts)
	}
	nodes, err := f.Leader().Nodes(t.Context())
	nodes = slices.DeleteFunc(nodes, func(n coordinator.NodeView) bool { return n.State == "refused" }) // nobody's words
	if err != nil || len(nodes) != 1 || nodes[0].Incarnation == "forged" || nodes[0].State == "draining" {
		t.Errorf("%+v, %v", nodes, err)
	}
	if e := f.Leader().Status().Epoch; e > 10 {
		t.Errorf("epoch %d", e)
	}
}

// What is not signed by who alone may write it is nobody's, wherever it stands: a leader's entry, a node's measurements,
// its registration in a later life, its departure, a message to it. The coordinator goes on, also after a restart.
func TestUnsignedIsNobodys(t *testing.T) {
	t.Parallel()
	log := &safeLog{}
	_, port := serveWeb(t, 30, 30)
	f := newFleet(t, func(c *serve.Config) { c.Logger = slog.New(slog.NewTextHandler(log, nil)) })
	f.Join("a", nil)
	first := f.Await(f.Submit(fleettest.Job(port, 0)))
	nc := f.insider(t)
	life := words(t, crawl.NodeInfo{Node: "a", Incarnation: "forged", Leases: 1})
	slow := crawl.Measure{Kind: crawl.MeasureBS, Bits: 1, Seconds: 1, Store: "forged"}
	for _, m := range []*nats.Msg{
		{Subject: "argosy.log.0.lead", Data: []byte("x")},
		{Subject: "argosy.log.0.lead", Data: words(t, crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryTerm, Epoch: 1 << 40})},
		{Subject: "argosy.log.0.part.a", Data: words(t, crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryMeasures, Node: "a", Measures: []crawl.Measure{slow}})},
		{Subject: "$KV.ARGOSY_NODES.a", Data: words(t, map[int]any{1: life})},
		{Subject: "$KV.ARGOSY_NODES.a", Data: words(t, map[int]any{1: life, 2: strings.Repeat("0", 64)})},
		{Subject: "$KV.ARGOSY_NODES.a", Header: nats.Header{"KV-Operation": {"DEL"}}},
		{Subject: "argosy.node.a.7", Data: words(t, crawl.Dispatch{Version: crawl.WireVersion, Kind: crawl.DispatchLeave})},
	} {
		if _, err := nc.RequestMsg(m, 5*time.Second); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(m.Subject, "$KV.") { // of what a key held for a moment only, a watcher need not be told
			testkit.Eventually(t, "a registration is refused", func() bool { return strings.Contains(log.String(), "is not the node's own") })
		}
	}
	testkit.Eventually(t, "they are refused", func() bool { // the same is said once in a while
		s := log.String()
		return strings.Count(s, "msg=refused") == 3 && strings.Contains(s, "not the coordinator's")
	})
	f.still(t, port, first)
	f.Halt()
	f.Start()
	f.still(t, port, first)
}

// A node can name any subject as the place for an answer, and the server writes there, with nobody's permission. It does
// nothing to the log, to other nodes or to leadership, and tells nothing that is not the node's.
func TestAnswersGoNowhere(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 30, 30)
	f := newFleet(t, nil)
	f.Join("a", nil)
	first := f.Await(f.Submit(fleettest.Job(port, 0)))
	nc, js, _ := f.as(t, "thief")
	kv, err := js.KeyValue(t.Context(), "ARGOSY_NODES")
	if err != nil {
		t.Fatal(err)
	}
	stolen, err := nc.SubscribeSync("_INBOX_argosy_thief.stolen")
	if err != nil {
		t.Fatal(err)
	}
	push := func(stream string) string {
		return `{"stream_name":"` + stream + `","config":{"deliver_subject":"_INBOX_argosy_thief.stolen","deliver_policy":"all","ack_policy":"none"}}`
	}
	for reply, text := range map[string]string{
		"$JS.API.STREAM.PURGE.ARGOSY_LOG_0":                              "{}",
		"$JS.API.STREAM.DELETE.ARGOSY_LOG_0":                             "{}",
		"$JS.API.STREAM.DELETE.KV_ARGOSY_NODES":                          "{}",
		"$JS.API.CONSUMER.CREATE.ARGOSY_LOG_0":                           push("ARGOSY_LOG_0"),
		"$JS.API.CONSUMER.CREATE.ARGOSY_DISPATCH":                        push("ARGOSY_DISPATCH"),
		"$JS.API.CONSUMER.CREATE.ARGOSY_DISPATCH.thief2.argosy.node.a.>": push("ARGOSY_DISPATCH"),
		"$JS.API.CONSUMER.DELETE.ARGOSY_DISPATCH.node-a":                 "{}",
		"$JS.API.CONSUMER.MSG.NEXT.ARGOSY_DISPATCH.node-a":               `{"batch":10}`,
		"argosy.node.a.7":          string(words(t, crawl.Dispatch{Version: crawl.WireVersion, Kind: crawl.DispatchLeave})),
		"argosy.log.0.lead":        string(words(t, crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryTerm, Epoch: 1 << 40})),
		"$KV.ARGOSY_LEADER.leader": "forged",
		"$KV.ARGOSY_NODES.a":       string(words(t, map[int]any{1: words(t, crawl.NodeInfo{Node: "a", Incarnation: "forged"})})),
	} {
		if _, err := kv.Put(t.Context(), "thief", []byte(text)); err != nil {
			t.Fatal(err)
		}
		for _, ask := range []string{"$JS.API.DIRECT.GET.KV_ARGOSY_NODES.$KV.ARGOSY_NODES.thief", "argosy.log.0.part.thief", "$KV.ARGOSY_NODES.thief"} {
			if err := nc.PublishRequest(ask, reply, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := kv.Put(t.Context(), "thief", nil); err != nil { // by now they have been answered
			t.Fatal(err)
		}
	}
	// An inbox of its own that delivers where others ask, and a registration in place of all.
	create := "$JS.API.CONSUMER.CREATE.ARGOSY_DISPATCH.node-thief.argosy.node.thief.>"
	if m, err := nc.Request(create, []byte(push("ARGOSY_DISPATCH")), 2*time.Second); err == nil {
		t.Errorf("a node makes its inbox itself: %s", m.Data)
	}
	all := &nats.Msg{Subject: "$KV.ARGOSY_NODES.thief", Data: []byte("x"), Header: nats.Header{"Nats-Rollup": {"all"}}}
	if m, err := nc.RequestMsg(all, 5*time.Second); err != nil || !strings.Contains(string(m.Data), "error") {
		t.Errorf("a node empties the registry: %v, %v", m, err)
	}
	f.still(t, port, first)
	if m, err := stolen.NextMsg(time.Second); err == nil {
		t.Errorf("the thief got %q", m.Data)
	}
	f.Halt()
	f.Start()
	f.still(t, port, first)
	if v := f.Job(1); v.Counts.Fetched != first.Counts.Fetched {
		t.Errorf("the log has lost the first job: %+v", v)
	}
}
