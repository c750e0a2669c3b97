package assemble

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sync/errgroup"

	"argosy/internal/crawl"
	"argosy/internal/fleet/agent"
	"argosy/internal/fleet/bus"
	"argosy/internal/page/archive"
)

// AgentConfig says how a node joins a fleet.
type AgentConfig struct {
	Node  NodeConfig
	Key   bus.NodeKey // the node's own
	Join  bus.Joiner  // asks a coordinator; nil: Bus has everything
	Bus   bus.Dial    // what Join does not say
	TLS   *tls.Config // for tls:// buses; nil: the system's roots
	Echo  string      // host:port at which other nodes measure this one; empty: nowhere
	Store string      // where archives go: a directory or s3://
	Spool string      // directory for archives on their way to S3; empty: a temporary one
}

// Agent is a node of a fleet in a process of its own.
type Agent struct {
	cfg  AgentConfig
	bus  *bus.Client
	node *node
	echo net.Listener
	tmp  string // to be removed

	asked string // the echo address that it has; what it registers is what the coordinator agrees to

	mu     sync.Mutex
	login  bus.Login
	denied chan struct{} // the bus refuses the credentials
}

// flushFleet is how long outcomes gather in a node of a fleet: what its messages cost the coordinator is paid by the
// message more than by the page.
const flushFleet = time.Second

// flushRemote is how long outcomes gather before an object is stored elsewhere: each makes one.
const flushRemote = 2 * time.Second

// renewLogin is how often a node asks for new credentials, before those that it has run out; rejoinEvery, how often it asks at most
// when the bus refuses them; joinAgain, how many refusals in a row it takes for a moment's before it has ever worked.
const (
	renewLogin  = bus.LoginTerm / 3
	rejoinEvery = time.Second
	joinAgain   = 10
)

// OpenAgent joins a fleet. It tries until a coordinator answers, ctx ends or it is refused.
func OpenAgent(ctx context.Context, c AgentConfig) (a *Agent, err error) {
	a = &Agent{cfg: c, asked: c.Node.Info.Echo, denied: make(chan struct{}, 1)}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.Close())
			a = nil
		}
	}()
	if err := bus.CheckNode(c.Node.Info.Node); err != nil {
		return a, err
	}
	if err := a.openStore(); err != nil {
		return a, err
	}
	if c.Echo != "" {
		if a.echo, err = net.Listen("tcp", c.Echo); err != nil {
			return a, fmt.Errorf("--echo: %w", err)
		}
	}
	d := c.Bus
	d.Node = c.Node.Info.Node
	if c.Join != nil {
		p, err := a.join(ctx)
		if err != nil {
			return a, err
		}
		a.cfg.Node.Info.Echo = p.Echo
		d.URL, d.Login, d.Pub, d.Denied = p.Bus, a.current, c.Key.Public(), a.refused
		if strings.HasPrefix(p.Bus, "tls://") {
			d.TLS = c.TLS
		}
	}
	if err = a.connect(ctx, d); err != nil {
		return a, err
	}
	if a.node, err = openNode(a.cfg.Node, a.bus); err != nil {
		return a, err
	}
	if info := a.Info(); info.Check() != nil {
		return a, fmt.Errorf("what node %s says of itself would be refused: %w", info.Node, info.Check())
	}
	return a, nil
}

// connect reaches the bus. New credentials may be refused for a moment: what is revoked counts in whole seconds, and keys may just have
// been rotated. The node joins again then. A bus that a coordinator has named is waited for.
func (a *Agent) connect(ctx context.Context, d bus.Dial) (err error) {
	for n := 0; ; {
		if a.bus, err = bus.Join(d, a.cfg.Node.Logger); err == nil || a.cfg.Join == nil {
			return err
		}
		switch {
		case errors.Is(err, bus.ErrAway):
			a.cfg.Node.Logger.Warn("waiting for the bus", "node", a.cfg.Node.Info.Node, "bus", d.URL, "error", err)
		case n < joinAgain && bus.Denies(err):
			n++
			a.cfg.Node.Logger.Info("the bus refuses the credentials; joining again", "node", a.cfg.Node.Info.Node)
		default:
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(rejoinEvery):
		}
		if _, err := a.join(ctx); err != nil {
			return err
		}
	}
}

func (a *Agent) openStore() error {
	store, err := archive.OpenStore(a.cfg.Store)
	if err != nil {
		return err
	}
	n := &a.cfg.Node
	n.Info.Store, n.MeasureBS, n.Flush = store.URL(), true, flushFleet
	if d, ok := store.(archive.Dir); ok {
		n.Dir = string(d)
		return os.MkdirAll(n.Dir, 0o755)
	}
	n.Store, n.Flush = store, flushRemote
	if n.Dir = a.cfg.Spool; n.Dir == "" {
		if a.tmp, err = os.MkdirTemp("", "argosy-spool-*"); err != nil {
			return err
		}
		n.Dir = a.tmp
	}
	n.Dir, err = spool(filepath.Join(n.Dir, n.Info.Node))
	return err
}

// join asks a coordinator for credentials, and takes them.
func (a *Agent) join(ctx context.Context) (bus.Pass, error) {
	n := &a.cfg.Node
	p, err := a.cfg.Join(ctx, a.cfg.Key, bus.Petition{Node: n.Info.Node, Wire: bus.Wire, Version: n.Version, Store: n.Info.Store, Echo: a.asked})
	if err != nil {
		return p, err
	}
	if a.asked != "" && p.Echo == "" {
		n.Logger.Warn("other nodes will not measure this one: its echo address is not on the host that the coordinator sees it come from (argosy serve --allow-echo)", "echo", a.asked)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.login = a.cfg.Key.Login(p.Login)
	return p, nil
}

// refused notes that the bus refuses the credentials.
func (a *Agent) refused(error) {
	select {
	case a.denied <- struct{}{}:
	default:
	}
}

func (a *Agent) current() bus.Login {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.login
}

// Close closes everything that is open.
func (a *Agent) Close() error {
	var errs []error
	if a.bus != nil {
		a.bus.Close()
	}
	if a.echo != nil {
		errs = append(errs, a.echo.Close())
	}
	if a.tmp != "" {
		errs = append(errs, os.RemoveAll(a.tmp))
	}
	return errors.Join(errs...)
}

// Info is what the node says of itself.
func (a *Agent) Info() crawl.NodeInfo { return a.node.agent.Info() }

// Stats is what the node has done.
func (a *Agent) Stats() agent.Stats { return a.node.agent.Stats() }

// Run works until ctx ends; then it drains: it takes no more leases, ends those it has after what is under way, reports
// them and leaves. When hard is closed it leaves at once; even that loses nothing.
func (a *Agent) Run(ctx context.Context, hard <-chan struct{}) error {
	run, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	group, gctx := errgroup.WithContext(run)
	group.Go(func() error { return a.node.run(gctx) })
	group.Go(func() error { return a.renew(gctx) })
	if a.echo != nil {
		group.Go(func() error { return a.serveEcho(gctx) })
	}
	group.Go(func() error {
		defer cancel()
		select {
		case <-gctx.Done():
			return nil
		case <-ctx.Done():
		}
		a.node.agent.End()
		t := time.NewTicker(20 * time.Millisecond)
		defer t.Stop()
		defer time.AfterFunc(LeaveAfter, a.node.agent.Hurry).Stop()
		for a.Stats().Leases > 0 {
			select {
			case <-t.C:
			case <-hard:
				return nil
			case <-gctx.Done():
				return nil
			}
		}
		return nil
	})
	err := group.Wait()
	if cerr := a.node.close(); err == nil {
		err = cerr
	}
	if errors.Is(err, syscall.ENOSPC) {
		err = fmt.Errorf("%w; nothing is lost: make room and start the agent again", err)
	}
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// renew keeps the node's credentials fresh, and gets others when the bus refuses them. It fails when the coordinator refuses the node
// for good.
func (a *Agent) renew(ctx context.Context) error {
	if a.cfg.Join == nil {
		return nil
	}
	t := time.NewTicker(renewLogin)
	defer t.Stop()
	for {
		refused := false
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		case <-a.denied:
			refused = true
			a.cfg.Node.Logger.Info("the bus refuses the credentials; joining again", "node", a.cfg.Node.Info.Node)
		}
		if _, err := a.join(ctx); err != nil && ctx.Err() == nil {
			return err
		}
		if refused && ctx.Err() == nil {
			a.cfg.Node.Logger.Info("joined again: it has new credentials, and its leases go on", "node", a.cfg.Node.Info.Node)
		}
		select { // what was refused before
		case <-a.denied:
		default:
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(rejoinEvery):
		}
	}
}

// serveEcho answers other nodes' httppings.
func (a *Agent) serveEcho(ctx context.Context) error {
	srv := &http.Server{
		ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 10 * time.Second, MaxHeaderBytes: 8 << 10,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/plain")
			_, _ = w.Write([]byte("argosy\n"))
		}),
	}
	stop := context.AfterFunc(ctx, func() { _ = srv.Close() })
	defer stop()
	if err := srv.Serve(a.echo); !errors.Is(err, http.ErrServerClosed) && ctx.Err() == nil {
		return fmt.Errorf("echo: %w", err)
	}
	return nil
}
