// Package fleettest has what tests of whole crawls share: fleets in this process, crawls of random webs, and a judge of what they leave.
package fleettest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/serve"
	"argosy/internal/testkit"
	"argosy/internal/webs"
)

// Fleet is a coordinator with agents in this process, connected over TCP as they would be between machines.
type Fleet struct {
	T      *testing.T    // ends when something is wrong with the fleet
	Dir    string        // the coordinator's; keys and stores of agents are in it, too
	Config serve.Config  // what Start takes
	Server *serve.Server // nil while the coordinator is away

	stop context.CancelFunc
	done chan error
}

// New starts a coordinator in a directory of its own, which ends with the test.
func New(t *testing.T, change func(*serve.Config)) *Fleet {
	t.Helper()
	f := &Fleet{T: t, Dir: t.TempDir()}
	f.Config = serve.DefaultConfig(f.Dir)
	f.Config.Probe = "none" // a probe fetches a root again, and what is fetched twice is counted
	f.Config.BusListen = "127.0.0.1:0"
	if change != nil {
		change(&f.Config)
	}
	f.Start()
	t.Cleanup(func() { f.Halt() })
	return f
}

// Start starts the coordinator, or starts it again at the same address.
func (f *Fleet) Start() {
	f.T.Helper()
	var err error
	testkit.Eventually(f.T, "the port is free that it had", func() bool { // a connection of another test may have it for a while
		f.Server, err = serve.Open(f.T.Context(), f.Config)
		return !errors.Is(err, syscall.EADDRINUSE)
	})
	if err != nil {
		f.T.Fatal(err)
	}
	if f.Config.Bus.URL == "" {
		_, f.Config.BusListen, _ = strings.Cut(f.Server.BusURL(), "://") // the same port when it starts again
	}
	ctx, cancel := context.WithCancel(context.Background())
	f.stop, f.done = cancel, make(chan error, 1)
	s, done := f.Server, f.done
	go func() { done <- s.Run(ctx) }()
}

// Halt ends the coordinator; without one it does nothing.
func (f *Fleet) Halt() {
	if f.Server == nil {
		return
	}
	f.stop()
	if err := <-f.done; err != nil {
		f.T.Errorf("the coordinator: %v", err)
	}
	if err := f.Server.Close(); err != nil {
		f.T.Errorf("the coordinator: %v", err)
	}
	f.Server = nil
}

// Leader waits until the coordinator leads.
func (f *Fleet) Leader() *coordinator.Coordinator {
	f.T.Helper()
	var co *coordinator.Coordinator
	testkit.Eventually(f.T, "a coordinator leads", func() bool {
		c, err := f.Server.Leader()
		co = c
		return err == nil && c.Status().State != coordinator.StateStarting
	})
	return co
}

// Member is an agent of a fleet.
type Member struct {
	Agent *assemble.Agent

	leave context.CancelFunc // drains it
	done  chan error
	once  sync.Once
	err   error
}

// Run runs an agent until Wait; when hard is closed it dies so that nobody hears of it.
func Run(a *assemble.Agent, hard <-chan struct{}) *Member {
	ctx, cancel := context.WithCancel(context.Background())
	m := &Member{Agent: a, leave: cancel, done: make(chan error, 1)}
	go func() { m.done <- a.Run(ctx, hard) }()
	return m
}

// Key is the key of a node, the same each time.
func (f *Fleet) Key(name string) bus.NodeKey {
	f.T.Helper()
	k, err := bus.LoadNodeKey(filepath.Join(f.Dir, "keys", name))
	if err != nil {
		f.T.Fatal(err)
	}
	return k
}

// Admit gets what a node needs to reach the bus, as the node does.
func (f *Fleet) Admit(name string) bus.Pass {
	f.T.Helper()
	p, err := f.Server.Joiner()(f.T.Context(), f.Key(name), bus.Petition{Node: name, Wire: bus.Wire})
	if err != nil {
		f.T.Fatal(err)
	}
	p.Login = f.Key(name).Login(p.Login)
	return p
}

// AgentConfig is that of an agent of the fleet, with what it needs to reach the sites of Crawl; nothing limits what it fetches.
func (f *Fleet) AgentConfig(name string) assemble.AgentConfig {
	return assemble.AgentConfig{
		Node: assemble.NodeConfig{
			Info: crawl.NodeInfo{Node: name, Leases: 64, Concurrency: 16}, ArchiveSize: 1 << 30, Logger: f.Config.Logger, Version: "test",
			Fetch: Crawl("", "0", 0, 1).Fetch,
		},
		Store: filepath.Join(f.Dir, "stores", name),
		Key:   f.Key(name),
		Join: func(ctx context.Context, key bus.NodeKey, p bus.Petition) (bus.Pass, error) {
			return f.Server.Joiner()(ctx, key, p) // of the server that is there now
		},
	}
}

// Join starts an agent, which leaves with the test. change, if not nil, is made to its configuration.
func (f *Fleet) Join(name string, change func(*assemble.AgentConfig)) *Member {
	f.T.Helper()
	c := f.AgentConfig(name)
	c.Node.Fetch.Limits = crawl.DefaultFetchLimits()
	if change != nil {
		change(&c)
	}
	a, err := assemble.OpenAgent(f.T.Context(), c)
	if err != nil {
		f.T.Fatal(err)
	}
	m := Run(a, nil)
	f.T.Cleanup(func() {
		if err := m.Wait(); err != nil {
			f.T.Errorf("agent %s: %v", name, err)
		}
	})
	return m
}

// Wait drains an agent and waits until it has left.
func (m *Member) Wait() error {
	m.once.Do(func() {
		m.leave()
		m.err = <-m.done
		_ = m.Agent.Close()
	})
	return m.err
}

// Job is the job of Crawl for a fleet, which gives it a number.
func Job(port string, delay time.Duration) crawl.Job {
	j := Crawl("", port, delay, 1).Job
	j.ID = 0
	return j
}

// Submit gives the fleet a job, once a coordinator leads; on a busy machine the bus may have to be asked again, the coordinator have lost
// its lead and taken it again, or wait for its ledger.
func (f *Fleet) Submit(j crawl.Job) (id uint32) {
	f.T.Helper()
	testkit.Eventually(f.T, "the job is taken", func() bool {
		var err error
		if id, err = f.Leader().Submit(f.T.Context(), j); err == nil {
			return true
		}
		if !errors.Is(err, bus.ErrAway) && !errors.Is(err, bus.ErrDeposed) && !errors.Is(err, coordinator.ErrOver) && !errors.Is(err, coordinator.ErrWaits) {
			f.T.Fatal(err)
		}
		return false
	})
	return id
}

// Await waits for the end of a job and its index.
func (f *Fleet) Await(id uint32) coordinator.JobView {
	f.T.Helper()
	var v coordinator.JobView
	testkit.Eventually(f.T, "the job ends", func() bool {
		v = f.Job(id)
		return v.State != crawl.JobRunning && f.Server.Indexed(id)
	})
	return v
}

// Job is what the coordinator says of a job; nothing while nobody leads.
func (f *Fleet) Job(id uint32) (v coordinator.JobView) {
	co, err := f.Server.Leader()
	if err != nil {
		return v
	}
	ctx, cancel := context.WithTimeout(f.T.Context(), 5*time.Second)
	defer cancel()
	all, err := co.Jobs(ctx)
	if err != nil {
		return v
	}
	for _, j := range all {
		if j.ID == id {
			return j
		}
	}
	return v
}

// Twice returns a URL that was asked for twice, if there is one; robots.txt may be.
func Twice(w *webs.Web, sites int) string {
	for s := range sites {
		seen := map[string]int{}
		for _, h := range w.Hits(fmt.Sprintf("s%d.test", s)) {
			if seen[h.Path]++; seen[h.Path] > 1 && h.Path != "/robots.txt" {
				return fmt.Sprintf("s%d.test%s", s, h.Path)
			}
		}
	}
	return ""
}
