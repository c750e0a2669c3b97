package serve

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"time"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/gate"
	"argosy/internal/fleet/outdir"
)

// Access says whom a coordinator lets in, and what it takes from them.
type Access struct {
	Tokens []access.Token // that lie in files: the operator's, and one that lets nodes join
	Stores []string       // where nodes' archives may lie (access.NewStores); none: as access.DefaultStores
	Echoes []string       // hosts that nodes may name as theirs (access.NewEchoes)
	Rates  access.Rates   // what a node may say in a second
}

func (s *Server) openGate(ctx context.Context) error {
	a := s.cfg.Access
	stores, err := access.NewStores(a.Stores)
	if err != nil {
		return err
	}
	echoes, err := access.NewEchoes(a.Echoes)
	if err != nil {
		return err
	}
	g, err := gate.Open(ctx, s.client, s.server, s.keys, gate.Config{
		Files: a.Tokens, Stores: stores, Echoes: echoes, Rates: a.Rates, Out: s.out, Logger: s.cfg.Logger,
		File: filepath.Join(outdir.State(s.cfg.Dir), outdir.AccessFile),
	})
	if err == nil {
		s.gate.Store(g)
	}
	return err
}

// Gate says who may do what.
func (s *Server) Gate() *gate.Gate { return s.gate.Load() }

// outTime bounds how long it may take to take a node's leases back.
const outTime = 10 * time.Second

// out has the coordinator, if it leads, take a node's leases back: its credentials are not good any more.
func (s *Server) out(node string) {
	co := s.co.Load()
	if co == nil {
		return // whoever leads sees no registration of it any more
	}
	ctx, cancel := context.WithTimeout(context.Background(), outTime)
	defer cancel()
	if err := co.ShutOut(ctx, node); err != nil {
		s.cfg.Logger.Warn("a node is shut out, and its leases run on until their term is over", "node", node, "error", err)
	}
}

// Admit gives a node what it needs to reach the bus.
func (s *Server) Admit(ctx context.Context, p bus.Petition, who access.Who, addr string) (bus.Pass, error) {
	login, n, err := s.Gate().Admit(ctx, p, who, addr)
	return bus.Pass{Bus: s.nodesBus(), Login: login, Echo: n.Echo}, err
}

// Joiner is how nodes in this process join, as who asks over this machine's socket does. While the bus is away it waits, as every Joiner does.
func (s *Server) Joiner() bus.Joiner {
	return func(ctx context.Context, key bus.NodeKey, p bus.Petition) (bus.Pass, error) {
		for {
			pass, err := s.joinOnce(ctx, key, p)
			if !errors.Is(err, bus.ErrAway) {
				return pass, err
			}
			select {
			case <-ctx.Done():
				return bus.Pass{}, ctx.Err()
			case <-time.After(standByAgain):
			}
		}
	}
}

func (s *Server) joinOnce(ctx context.Context, key bus.NodeKey, p bus.Petition) (bus.Pass, error) {
	challenge, err := s.Gate().Challenge()
	if err != nil {
		return bus.Pass{}, err
	}
	if p, err = key.Petition(p, challenge); err != nil {
		return bus.Pass{}, err
	}
	return s.Admit(ctx, p, access.Who{Role: access.Operator, Name: "this process"}, gate.Local)
}

// nodesBus is where nodes find the bus; a host of "*" stands for the one that they ask.
func (s *Server) nodesBus() string {
	if s.elsewhere() {
		return s.cfg.Bus.URL
	}
	u := s.server.URL()
	host, _, err := net.SplitHostPort(s.cfg.BusListen)
	if err != nil || host != "" && host != "0.0.0.0" && host != "::" {
		return u
	}
	return strings.Replace(u, u[strings.Index(u, "://")+3:strings.LastIndex(u, ":")], "*", 1)
}
