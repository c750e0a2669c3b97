package gate

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"slices"
	"strings"
	"time"

	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
)

// ErrNoKeys says that this coordinator cannot give credentials.
var ErrNoKeys = errors.New("this coordinator has no signing key for its bus: give the node its own credentials (--nats-creds)")

// Challenge is something new for a node to sign.
func (g *Gate) Challenge() (string, error) {
	if g.keys == nil {
		return "", ErrNoKeys
	}
	return g.keys.Challenge(g.cfg.Now()), nil
}

// Local is where somebody comes from who asks over this machine's own socket.
const Local = "local"

// Admit gives a node credentials, or says why not (*access.Refusal). addr is where it comes from: an IP address, Local, or empty
// where that is not known.
func (g *Gate) Admit(ctx context.Context, p bus.Petition, who access.Who, addr string) (bus.Login, access.Node, error) {
	if g.keys == nil {
		return bus.Login{}, access.Node{}, ErrNoKeys
	}
	if err := bus.CheckNode(p.Node); err != nil {
		return bus.Login{}, access.Node{}, err
	}
	a := access.Asking{
		Node: p.Node, Key: p.Key, Wire: p.Wire, Version: plainVersion(p.Version), Addr: addr, Who: who, At: g.now(),
		Proved: g.keys.Challenged(p.Challenge, g.cfg.Now()) && bus.Proves(p.Key, p.Challenge, p.Node, p.Proof),
	}
	if a.Wire >= access.MinWire && g.cfg.Stores != nil && p.Store != "" && !g.cfg.Stores.Allow(p.Store) {
		return bus.Login{}, access.Node{}, g.noStore(p.Store)
	}
	if a.Proved && p.Echo != "" {
		a.Echo = g.echo(ctx, p.Echo, addr)
	}
	for {
		n, err := g.admit(ctx, a)
		if errors.Is(err, bus.ErrChanged) && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return bus.Login{}, n, err
		}
		l, err := g.keys.Node(n.Name, n.Key)
		return l, n, err
	}
}

// plainVersion is what may stand in a record and in a table of a program's version.
func plainVersion(v string) string {
	v = strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f {
			return r
		}
		return -1
	}, v)
	return v[:min(len(v), 40)]
}

func (g *Gate) noStore(store string) error {
	line := fmt.Sprintf("store %s: it is not among what the operator allows: %s", store, g.cfg.Stores)
	if rule := access.StoreRule(store); rule != "" {
		line += fmt.Sprintf(" (serve --allow-store '%s' allows it; repeat the flag for the others)", rule)
	}
	return &access.Refusal{Rule: access.RuleStore, Line: line}
}

// admit decides by what the bus knows now, and notes it there.
func (g *Gate) admit(ctx context.Context, a access.Asking) (access.Node, error) {
	var k access.Known
	var nodeRev, tokenRev uint64
	var err error
	if a.Proved {
		if k.Node, nodeRev, err = fetch[access.Node](ctx, g, nodeRecord+a.Node); err != nil {
			return access.Node{}, err
		}
		if k.Cut, _, err = fetch[access.Cut](ctx, g, cutRecord+a.Key); err != nil {
			return access.Node{}, err
		}
		if k.Node == nil && a.Who.Token != "" {
			if k.Token, tokenRev, err = fetch[access.Token](ctx, g, tokenRecord+a.Who.Token); err != nil {
				return access.Node{}, err
			}
			if prior := access.PriorName(k.Token, a); prior != "" {
				if k.Prior, _, err = fetch[access.Node](ctx, g, nodeRecord+prior); err != nil {
					return access.Node{}, err
				}
			}
		}
	}
	k.Full = k.Node == nil && g.full(ctx)
	in, refused := access.Admit(a, k)
	if refused != nil {
		return access.Node{}, refused
	}
	if in.Token != nil { // first: a token must not let in one more than it says
		if err := g.store(ctx, tokenRecord+in.Token.ID, in.Token, tokenRev); err != nil {
			return access.Node{}, err
		}
	}
	if err := g.store(ctx, nodeRecord+in.Node.Name, in.Node, nodeRev); err != nil {
		return access.Node{}, err
	}
	if in.First {
		g.cfg.Logger.Info("a node's name is bound to its key", "node", in.Node.Name, "key", in.Node.Key, "from", in.Node.Addr, "by", in.Node.By)
	}
	return in.Node, nil
}

// idle is when a name may be freed that has not joined for so long, if there are too many.
const idle = 30 * 24 * time.Hour

// full reports whether no more names can be bound. If there are too many, it frees those that have long not joined.
func (g *Gate) full(ctx context.Context) bool {
	old, now := map[string]uint64{}, g.now()
	g.mu.Lock()
	n := len(g.nodes)
	if n >= access.MaxNodes {
		for name, h := range g.nodes {
			if now-h.v.Joined > idle.Milliseconds() {
				old[name] = h.rev
			}
		}
	}
	g.mu.Unlock()
	for name, rev := range old {
		if err := g.records.Delete(ctx, nodeRecord+name, rev); err == nil {
			g.learn(nodeRecord+name, nil, rev+1)
			n--
		}
	}
	return n >= access.MaxNodes
}

// lookupTime bounds how long an echo's name is looked up.
const lookupTime = 3 * time.Second

// echo returns where others may measure a node that comes from addr.
func (g *Gate) echo(ctx context.Context, echo, addr string) string {
	host, _, ok := access.EchoHost(echo)
	if !ok {
		return ""
	}
	ctx, cancel := context.WithTimeout(ctx, lookupTime)
	defer cancel()
	resolved, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		resolved = nil
	}
	return g.cfg.Echoes.Of(echo, resolved, own(addr))
}

// own are the addresses of a host that asks from addr: of this machine all that it has.
func own(addr string) (out []netip.Addr) {
	ip, err := netip.ParseAddr(addr)
	if addr != Local && (err != nil || !ip.Unmap().IsLoopback()) {
		if err == nil {
			out = append(out, ip)
		}
		return out
	}
	out = append(out, netip.MustParseAddr("127.0.0.1"), netip.IPv6Loopback())
	addrs, err := net.InterfaceAddrs()
	if err != nil {
		return out
	}
	for _, a := range addrs {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			out = append(out, p.Addr())
		}
	}
	return out
}

// EchoOf returns where others may measure a node that names an address; empty: nowhere. Of a node that has not joined here, and has
// credentials of its own, it is the operator who allows addresses.
func (g *Gate) EchoOf(node, echo string) string {
	g.mu.Lock()
	n, ok := g.nodes[node]
	g.mu.Unlock()
	if ok && n.v.Echo != "" {
		return n.v.Echo
	}
	var literal []netip.Addr
	if host, _, ok := access.EchoHost(echo); ok {
		if ip, err := netip.ParseAddr(host); err == nil {
			literal = append(literal, ip)
		}
	}
	return g.cfg.Echoes.Of(echo, literal, nil)
}

// AllowsStore reports whether a node's archives may lie in a store.
func (g *Gate) AllowsStore(store string) bool {
	return g.cfg.Stores == nil || g.cfg.Stores.Allow(store)
}

// Trusts reports whether who has a public key speaks for a node.
func (g *Gate) Trusts(node, key string) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	var n *access.Node
	var c *access.Cut
	if h, ok := g.nodes[node]; ok {
		n = &h.v
	}
	if h, ok := g.cuts[key]; ok && key != "" {
		c = &h.v
	}
	return access.Trusted(n, c, key, g.now())
}

// Name is a node's name, the key that it is bound to, and what is known against the key.
type Name struct {
	access.Node
	State string `json:"state"` // good, revoked or out
	Until int64  `json:"until,omitempty"`
	Why   string `json:"why,omitempty"`
}

// States of a name.
const (
	NameGood    = "good"
	NameRevoked = "revoked"
	NameOut     = "out" // for a while
)

// Names returns the names that are bound to keys, in order.
func (g *Gate) Names() []Name {
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	out := make([]Name, 0, len(g.nodes))
	for _, n := range g.nodes {
		name := Name{Node: n.v, State: NameGood}
		if c, ok := g.cuts[n.v.Key]; ok {
			switch {
			case c.v.Forever:
				name.State, name.Why = NameRevoked, c.v.Why
			case c.v.Out(now):
				name.State, name.Until, name.Why = NameOut, c.v.Until, c.v.Why
			}
		}
		out = append(out, name)
	}
	slices.SortFunc(out, func(a, b Name) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// RevokeNode shuts a node's key out for good: its connections end, and it may not join again. Its name stays its own until it is
// released.
func (g *Gate) RevokeNode(ctx context.Context, name string, by access.Who) error {
	n, err := g.bound(ctx, name)
	if err != nil {
		return err
	}
	return g.said(g.cut(ctx, n, func(c *access.Cut) {
		c.Forever, c.Why, c.By = true, "revoked", by.Name
	}))
}

// ReleaseNode makes a name free: the key that comes next with it has it. The credentials of the one before end.
func (g *Gate) ReleaseNode(ctx context.Context, name string, by access.Who) error {
	n, err := g.bound(ctx, name)
	if err != nil {
		return err
	}
	err = g.cut(ctx, n, func(c *access.Cut) {
		if !c.Forever {
			c.Why, c.By = "released", by.Name
		}
	})
	if err != nil {
		return err
	}
	for { // the node may have come again meanwhile
		now, rev, err := fetch[access.Node](ctx, g, nodeRecord+name)
		switch {
		case err != nil:
			return err
		case now == nil || now.Key != n.Key:
			return g.said(nil)
		}
		switch err := g.records.Delete(ctx, nodeRecord+name, rev); {
		case err == nil:
			g.learn(nodeRecord+name, nil, rev+1)
			return g.said(nil)
		case !errors.Is(err, bus.ErrChanged) || ctx.Err() != nil:
			return err
		}
	}
}

func (g *Gate) bound(ctx context.Context, name string) (*access.Node, error) {
	if err := bus.CheckNode(name); err != nil {
		return nil, fmt.Errorf("%w: %q", ErrNoName, name)
	}
	n, _, err := fetch[access.Node](ctx, g, nodeRecord+name)
	if err == nil && n == nil {
		err = fmt.Errorf("%w: %s", ErrNoName, name)
	}
	return n, err
}

// cut ends the credentials that a node has.
func (g *Gate) cut(ctx context.Context, n *access.Node, how func(*access.Cut)) error {
	_, err := change(ctx, g, cutRecord+n.Key, func(c *access.Cut) (*access.Cut, error) {
		if c == nil {
			c = &access.Cut{Key: n.Key}
		}
		c.Node, c.At = n.Name, g.now()
		how(c)
		return c, nil
	})
	if err == nil && g.cfg.Out != nil {
		g.cfg.Out(n.Name)
	}
	return err
}

// revoke tells the embedded bus which credentials are not good any more. Those that have run out need not be told.
func (g *Gate) revoke() error {
	if g.server == nil {
		return nil
	}
	until := map[string]time.Time{}
	g.mu.Lock()
	for key, c := range g.cuts {
		if at := time.UnixMilli(c.v.At); c.v.Forever || g.cfg.Now().Sub(at) < bus.LoginTerm {
			until[key] = at
		}
	}
	g.mu.Unlock()
	return g.server.Revoke(until)
}

// ErrElsewhere says that the keys lie elsewhere.
var ErrElsewhere = errors.New("the bus is a cluster of your own: rotate its keys with argosy keys -o DIR --rotate")

// Rotate gives all nodes new credentials: those that they have end, and they join again.
func (g *Gate) Rotate() error {
	if g.server == nil {
		return ErrElsewhere
	}
	return g.server.Rotate()
}
