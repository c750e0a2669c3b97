// Package gate keeps who may do what (package access) on the bus, where every coordinator of a fleet sees it at once, and carries it
// out: it makes and revokes tokens, gives nodes credentials, shuts nodes out, and rotates keys. It knows nothing about crawling.
package gate

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
)

// Config says whom a Gate lets in.
type Config struct {
	Files  []access.Token // that lie in files
	Stores *access.Stores // where archives may lie; nil: anywhere
	Echoes *access.Echoes // hosts that nodes may name as theirs; nil: none besides their own
	Rates  access.Rates   // zero: what nodes say is not counted
	Out    func(node string)
	File   string // keeps a copy of the records beside the bus; empty: none is kept
	Logger *slog.Logger
	Now    func() time.Time // nil: the clock
}

// Gate is safe for concurrent use.
type Gate struct {
	cfg     Config
	keys    *bus.Keys   // nil: it cannot give credentials
	server  *bus.Server // nil: the bus is elsewhere
	records *bus.Records
	stop    context.CancelFunc
	done    sync.WaitGroup

	mu      sync.Mutex
	tokens  map[string]held[access.Token]
	nodes   map[string]held[access.Node]
	cuts    map[string]held[access.Cut]
	meters  map[meterOf]*access.Meter
	cutting map[string]bool // nodes that are about to be shut out
	conns   map[uint64]bus.Traffic
	writing sync.Mutex // the file
	fresh   bool       // records have changed since they were written into the file
}

// held is a record as it was read last.
type held[T any] struct {
	v   T
	rev uint64
}

// Names of records begin with what they are.
const (
	tokenRecord = "token."
	nodeRecord  = "node."
	cutRecord   = "cut."
)

// Open reads who may do what. server is the embedded bus, nil where the bus is elsewhere; keys sign nodes' credentials, nil where
// there are none.
func Open(ctx context.Context, c *bus.Client, server *bus.Server, keys *bus.Keys, cfg Config) (*Gate, error) {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Logger == nil {
		cfg.Logger = slog.New(slog.DiscardHandler)
	}
	if cfg.Echoes == nil {
		cfg.Echoes = &access.Echoes{}
	}
	g := &Gate{
		cfg: cfg, keys: keys, server: server, tokens: map[string]held[access.Token]{}, nodes: map[string]held[access.Node]{},
		cuts: map[string]held[access.Cut]{}, meters: map[meterOf]*access.Meter{}, cutting: map[string]bool{}, conns: map[uint64]bus.Traffic{},
	}
	var err error
	if g.records, err = c.Records(ctx); err != nil {
		return nil, err
	}
	run, stop := context.WithCancel(context.WithoutCancel(ctx))
	g.stop = stop
	ready := make(chan struct{})
	once := sync.OnceFunc(func() { close(ready) })
	g.done.Go(func() { g.records.Watch(run, g.learn, once) })
	select {
	case <-ready:
	case <-time.After(openTime):
		g.Close()
		return nil, fmt.Errorf("read who may do what: %w", bus.ErrAway)
	case <-ctx.Done():
		g.Close()
		return nil, ctx.Err()
	}
	if cfg.File != "" {
		if err := g.recall(ctx); err != nil {
			g.Close()
			return nil, err
		}
		g.done.Go(func() { g.keep(run) })
	}
	if err := g.revoke(); err != nil {
		g.Close()
		return nil, err
	}
	c.Trust(g.Trusts)
	if server != nil && cfg.Rates.Burst > 0 {
		g.done.Go(func() { g.watchTraffic(run) })
	}
	return g, nil
}

// openTime is how long the bus may take to tell all records.
const openTime = 10 * time.Second

// Close ends it.
func (g *Gate) Close() {
	g.stop()
	g.done.Wait()
}

func (g *Gate) now() int64 { return g.cfg.Now().UnixMilli() }

// learn takes in a record that has changed, here or at another coordinator.
func (g *Gate) learn(name string, data []byte, rev uint64) {
	g.mu.Lock()
	var err error
	cut := false
	g.fresh = true
	switch {
	case strings.HasPrefix(name, tokenRecord):
		err = take(g.tokens, strings.TrimPrefix(name, tokenRecord), data, rev)
	case strings.HasPrefix(name, nodeRecord):
		err = take(g.nodes, strings.TrimPrefix(name, nodeRecord), data, rev)
	case strings.HasPrefix(name, cutRecord):
		err, cut = take(g.cuts, strings.TrimPrefix(name, cutRecord), data, rev), true
	}
	g.mu.Unlock()
	if err != nil {
		g.cfg.Logger.Error("who may do what cannot be read", "record", name, "error", err)
	}
	if cut {
		if err := g.revoke(); err != nil {
			g.cfg.Logger.Error("credentials are not revoked", "error", err)
		}
	}
}

func take[T any](into map[string]held[T], key string, data []byte, rev uint64) error {
	if have, ok := into[key]; ok && have.rev > rev {
		return nil
	}
	if data == nil {
		delete(into, key)
		return nil
	}
	var v T
	if err := crawl.Unmarshal(data, &v); err != nil {
		return err
	}
	into[key] = held[T]{v, rev}
	return nil
}

// fetch reads a record from the bus itself: what is decided by it must not be old.
func fetch[T any](ctx context.Context, g *Gate, name string) (*T, uint64, error) {
	b, rev, err := g.records.Get(ctx, name)
	if errors.Is(err, bus.ErrNoRecord) {
		return nil, rev, nil
	}
	if err != nil {
		return nil, 0, err
	}
	v := new(T)
	return v, rev, crawl.Unmarshal(b, v)
}

// store writes a record in place of a revision, and takes it in at once.
func (g *Gate) store(ctx context.Context, name string, v any, rev uint64) error {
	b, err := crawl.Marshal(v)
	if err != nil {
		return err
	}
	next, err := g.records.Put(ctx, name, b, rev)
	if err != nil {
		return err
	}
	g.learn(name, b, next)
	return nil
}

// change reads a record, has fn change it, and writes it, again where somebody else has written meanwhile. fn gets nil where there
// is none.
func change[T any](ctx context.Context, g *Gate, name string, fn func(*T) (*T, error)) (*T, error) {
	for {
		v, rev, err := fetch[T](ctx, g, name)
		if err != nil {
			return nil, err
		}
		if v, err = fn(v); err != nil {
			return nil, err
		}
		if err = g.store(ctx, name, v, rev); !errors.Is(err, bus.ErrChanged) {
			return v, err
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
	}
}

// Errors of what a person asks for.
var (
	ErrNoToken = errors.New("no such token")
	ErrNoName  = errors.New("no key is bound to this name")
	ErrMany    = fmt.Errorf("there are %d tokens, and no more may be: those that are expired or revoked are forgotten after 30 days", access.MaxTokens)
)

// Who returns whom a token lets in.
func (g *Gate) Who(text string) (access.Who, bool) {
	for i := range g.cfg.Files {
		if f := &g.cfg.Files[i]; f.Is(text) {
			return access.Who{Role: f.Role, Name: "the token of role " + f.Role.String() + " in a file"}, true
		}
	}
	g.mu.Lock()
	t, ok := g.tokens[access.IDOf(text)]
	g.mu.Unlock()
	if !ok || !t.v.Is(text) {
		return access.Who{}, false
	}
	return t.v.Who(g.now())
}

// forgetAfter is how long tokens are shown that are not good any more.
const forgetAfter = 30 * 24 * time.Hour

// Make makes a token. Its text is known to the caller alone.
func (g *Gate) Make(ctx context.Context, w access.Wanted, by access.Who) (access.Token, string, error) {
	g.forget(ctx)
	g.mu.Lock()
	full := len(g.tokens) >= access.MaxTokens
	g.mu.Unlock()
	if full {
		return access.Token{}, "", ErrMany
	}
	for {
		chance := make([]byte, access.Chance)
		_, _ = rand.Read(chance) // never fails: it ends the program instead
		t, text, err := access.NewToken(w, by.Name, g.now(), chance)
		if err != nil {
			return t, "", err
		}
		err = g.store(ctx, tokenRecord+t.ID, t, 0)
		if errors.Is(err, bus.ErrChanged) {
			continue // another one has that number
		}
		if err = g.said(err); err != nil {
			return access.Token{}, "", err
		}
		return t, text, nil
	}
}

// forget removes tokens that have long not been good. What cannot be removed now is the next time.
func (g *Gate) forget(ctx context.Context) {
	now, old := g.now(), map[string]uint64{}
	g.mu.Lock()
	for id, t := range g.tokens {
		ended := max(t.v.Revoked, t.v.Expires)
		if s := t.v.State(now); (s == access.TokenRevoked || s == access.TokenExpired) && now-ended > forgetAfter.Milliseconds() {
			old[id] = t.rev
		}
	}
	g.mu.Unlock()
	for id, rev := range old {
		if err := g.records.Delete(ctx, tokenRecord+id, rev); err != nil {
			g.cfg.Logger.Warn("an old token is not removed", "token", id, "error", err)
		}
	}
}

// Tokens returns the tokens, in the order in which they were made.
func (g *Gate) Tokens() []access.Token {
	g.mu.Lock()
	defer g.mu.Unlock()
	out := make([]access.Token, 0, len(g.tokens))
	for _, t := range g.tokens {
		out = append(out, t.v)
	}
	slices.SortFunc(out, func(a, b access.Token) int {
		if a.Made != b.Made {
			return int(min(max(a.Made-b.Made, -1), 1))
		}
		return strings.Compare(a.ID, b.ID)
	})
	return out
}

// RevokeToken makes a token worthless, from this moment on. Nodes that have joined with it stay.
func (g *Gate) RevokeToken(ctx context.Context, id string, by access.Who) error {
	if id == "" || strings.ContainsFunc(id, func(r rune) bool { return !strings.ContainsRune("0123456789abcdef", r) }) {
		return fmt.Errorf("%w: %q", ErrNoToken, id)
	}
	_, err := change(ctx, g, tokenRecord+id, func(t *access.Token) (*access.Token, error) {
		if t == nil {
			return nil, fmt.Errorf("%w: %s", ErrNoToken, id)
		}
		if t.Revoked == 0 {
			t.Revoked, t.RevokedBy = g.now(), by.Name
		}
		return t, nil
	})
	return g.said(err)
}
