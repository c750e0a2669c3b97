package simulated_test

import (
	"context"
	"errors"
	"flag"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nats-io/nats-server/v2/server/ats"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/serve"
	"argosy/internal/fleet/verify"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/testkit/scratch"
	"argosy/internal/webs"
)

// By day the tests run on one core: in a bubble hardly two have something to do at the same time, and handing one thing after another to
// another core, which must be woken for it, was a sixth of their processor time. At night they have all cores, with what comes of that.
func TestMain(m *testing.M) {
	flag.Parse()
	if !night() {
		runtime.GOMAXPROCS(1)
	}
	os.Exit(scratch.Run(m))
}

// simulated runs fn in a bubble of simulated time: the whole product with its embedded bus, frontier and ledger, on pipes
// instead of sockets. Minutes pass as soon as everybody waits.
func simulated(t *testing.T, fn func(t *testing.T)) {
	t.Helper()
	ats.Register() // its clock must tick outside: it waits for a channel of the whole process
	defer ats.Unregister()
	forgetPools()       // of timers that were made outside
	defer forgetPools() // and of those of this bubble
	synctest.Test(t, fn)
}

// forgetPools empties every sync.Pool: the bus's client keeps timers in one, and a timer must not cross the border of a bubble. What a pool
// holds survives one collection.
func forgetPools() {
	runtime.GC()
	runtime.GC()
}

// pipeListener is a listener that clients reach by dial.
type pipeListener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func newPipeListener() *pipeListener {
	return &pipeListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *pipeListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *pipeListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 80} }

func (l *pipeListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	select {
	case l.conns <- there:
		return here, nil
	case <-l.done:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// line is a node's line to the bus. What is sent over it while it is cut is lost; when it is mended the connections that
// were open break.
type line struct {
	server func() (net.Conn, error)

	mu    sync.Mutex
	off   bool
	conns map[*cable]bool
}

type cable struct {
	net.Conn
	l *line
}

var errCut = errors.New("the line is cut")

func (l *line) open() (net.Conn, error) {
	if l.isCut() {
		return nil, errCut
	}
	c, err := l.server()
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	k := &cable{c, l}
	l.conns[k] = true
	return k, nil
}

func (l *line) isCut() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.off
}

func (l *line) cut(off bool) {
	l.mu.Lock()
	l.off = off
	conns := l.conns
	if !off {
		l.conns = map[*cable]bool{}
	}
	l.mu.Unlock()
	if !off {
		for k := range conns {
			_ = k.Conn.Close()
		}
	}
}

func (k *cable) Read(b []byte) (int, error) {
	for {
		n, err := k.Conn.Read(b)
		if err != nil || !k.l.isCut() {
			return n, err
		}
	}
}

func (k *cable) Write(b []byte) (int, error) {
	if k.l.isCut() {
		return len(b), nil
	}
	return k.Conn.Write(b)
}

// world is a fleet in simulated time, with the web that it crawls.
type world struct {
	*fleettest.Fleet
	web   *webs.Web
	busy  atomic.Int64 // requests that sites work on
	most  atomic.Int64 // at once
	sites *pipeListener
	nodes map[string]*simNode
	bus   atomic.Pointer[serve.Server] // nil while the coordinator is away

	change func(*assemble.AgentConfig) // of every agent; nil: nothing
}

// simNode is an agent of such a fleet.
type simNode struct {
	*fleettest.Member
	line *line
	hard chan struct{}
}

// newWorld starts a coordinator; name is where its directory is.
func newWorld(t *testing.T, dir string, w *webs.Web) *world {
	t.Helper()
	s := &world{web: w, sites: newPipeListener(), nodes: map[string]*simNode{}}
	srv := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		n := s.busy.Add(1)
		defer s.busy.Add(-1)
		for was := s.most.Load(); n > was && !s.most.CompareAndSwap(was, n); was = s.most.Load() {
		}
		w.ServeHTTP(rw, r)
	})}
	served := make(chan error, 1)
	go func() { served <- srv.Serve(s.sites) }()
	t.Cleanup(func() {
		_ = srv.Close()
		<-served
		for s.busy.Load() > 0 { // it waits for nobody
			time.Sleep(time.Second)
		}
	})
	s.Fleet = &fleettest.Fleet{T: t, Dir: dir}
	s.Config = serve.DefaultConfig(dir)
	s.Config.Probe = "none" // a probe fetches a root again, and what is fetched twice is counted
	s.Config.BusListen = ""
	s.Start()
	t.Cleanup(func() {
		for _, n := range s.nodes {
			n.end(t)
		}
		s.Halt()
		s.agrees()
	})
	return s
}

func (s *world) Start() {
	s.T.Helper()
	s.Fleet.Start()
	s.bus.Store(s.Server)
}

// halt ends the coordinator. The lines go first, and the bus gets a moment to finish what it has begun: it sleeps with a
// lock held when it ends, and time does not pass in the bubble while somebody waits for a lock.
func (s *world) Halt() {
	s.T.Helper()
	var cut []*line
	for _, n := range s.nodes {
		if !n.line.isCut() {
			n.line.cut(true)
			cut = append(cut, n.line)
		}
	}
	time.Sleep(100 * time.Millisecond)
	s.bus.Store(nil)
	s.Fleet.Halt()
	for _, l := range cut {
		l.cut(false)
	}
}

// enter starts an agent, or starts it again.
func (s *world) enter(name string) {
	s.T.Helper()
	c := s.AgentConfig(name)
	c.Node.Fetch.Dial = s.sites.dial
	c.Node.Fetch.Limits = crawl.DefaultFetchLimits()
	if s.change != nil {
		s.change(&c)
	}
	n := &simNode{hard: make(chan struct{}), line: &line{conns: map[*cable]bool{}, server: func() (net.Conn, error) {
		if b := s.bus.Load(); b != nil {
			return b.Pipe()
		}
		return nil, errCut
	}}}
	c.Bus.Pipe = n.line.open
	a, err := assemble.OpenAgent(s.T.Context(), c)
	if err != nil {
		s.T.Fatal(err)
	}
	n.Member = fleettest.Run(a, n.hard)
	s.nodes[name] = n
}

// kill ends an agent so that nobody hears of it.
func (s *world) kill(name string) {
	n := s.nodes[name]
	delete(s.nodes, name)
	n.line.cut(true)
	close(n.hard)
	n.end(s.T)
}

// agrees checks, when everybody has gone, that frontier, ledger, index and archives say the same.
func (s *world) agrees() {
	s.T.Helper()
	stores, _ := filepath.Glob(filepath.Join(s.Dir, "stores", "*"))
	r, err := verify.Check(context.Background(), verify.Place{Dir: s.Dir, Stores: stores})
	if err != nil {
		s.T.Error(err)
		return
	}
	wrong := slices.DeleteFunc(r.Details, func(d string) bool { return strings.HasPrefix(d, "the index of job") }) // of one that has not ended
	if len(wrong) > 0 || !r.Sinks {
		s.T.Errorf("frontier and ledger compared: %v; what is left does not agree: %q", r.Sinks, wrong)
	}
	s.agreeOfLeases()
}

// agreeOfLeases checks that the ledger has those leases open that the frontier has, and none of a job that is over.
func (s *world) agreeOfLeases() {
	s.T.Helper()
	l, err := ledger.Open(context.Background(), filepath.Join(s.Dir, outdir.LedgerFile))
	if err != nil {
		s.T.Error(err)
		return
	}
	defer l.Close()
	open, err := l.OpenLeases(context.Background())
	if err != nil {
		s.T.Error(err)
		return
	}
	c := frontier.DefaultConfig(outdir.Frontier(s.Dir))
	c.ReadOnly = true
	f, err := frontier.Open(c)
	if err != nil {
		s.T.Error(err)
		return
	}
	defer f.Close()
	var held []uint64
	f.Leases(func(lease *frontier.Lease) {
		held = append(held, lease.ID)
		if state := f.Job(lease.Job).State; state == crawl.JobDone {
			s.T.Errorf("lease %d is open, and job %d is %v", lease.ID, lease.Job, state)
		}
	})
	slices.Sort(open)
	slices.Sort(held)
	if !slices.Equal(open, held) {
		s.T.Errorf("the ledger has leases %v open, the frontier %v", open, held)
	}
}

// end drains an agent that is alive, and waits.
func (n *simNode) end(t *testing.T) {
	t.Helper()
	if err := n.Wait(); err != nil {
		t.Errorf("an agent: %v", err)
	}
	n.line.cut(false)
}

// until lets time pass until something is so, for at most so long.
func (s *world) until(what string, most time.Duration, ok func() bool) {
	s.T.Helper()
	for end := time.Now().Add(most); !ok(); time.Sleep(time.Second) {
		if time.Now().After(end) {
			s.T.Fatalf("in %v it did not happen that %s", most, what)
		}
	}
}
