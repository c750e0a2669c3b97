package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/durable"
	"argosy/internal/fleet/bus"
)

// keepEvery is how soon a change of the records is in the file beside the bus that no person has ordered.
const keepEvery = 2 * time.Second

// kept is a record in that file.
type kept struct {
	Name string `cbor:"1,keyasint"`
	Data []byte `cbor:"2,keyasint"`
}

// keep writes the records into the file whenever they have changed, until ctx ends.
func (g *Gate) keep(ctx context.Context) {
	t := time.NewTicker(keepEvery)
	defer t.Stop()
	for ctx.Err() == nil {
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		if err := g.write(); err != nil {
			g.cfg.Logger.Error("who may do what is not kept beside the bus", "error", err)
		}
	}
}

// said is the end of an order of a person's: what it has changed is in the file when it is answered, for a copy that is made then, or a bus
// that is lost then, must not undo it.
func (g *Gate) said(err error) error {
	if err != nil || g.cfg.File == "" {
		return err
	}
	if err = g.write(); err != nil {
		err = fmt.Errorf("it is done, but not kept beside the bus: %w", err)
	}
	return err
}

// write writes the records into the file, if they have changed since.
func (g *Gate) write() error {
	g.writing.Lock()
	defer g.writing.Unlock()
	g.mu.Lock()
	if !g.fresh {
		g.mu.Unlock()
		return nil
	}
	g.fresh = false
	var out []kept
	var err error
	add := func(name string, v any) {
		b, failed := crawl.Marshal(v)
		out, err = append(out, kept{name, b}), errors.Join(err, failed)
	}
	for id, h := range g.tokens {
		add(tokenRecord+id, h.v)
	}
	for name, h := range g.nodes {
		add(nodeRecord+name, h.v)
	}
	for key, h := range g.cuts {
		add(cutRecord+key, h.v)
	}
	g.mu.Unlock()
	var b []byte
	if err == nil {
		b, err = crawl.Marshal(out)
	}
	if err == nil {
		err = durable.WriteFile(g.cfg.File, b, 0o600)
	}
	if err != nil {
		g.mu.Lock()
		g.fresh = true
		g.mu.Unlock()
	}
	return err
}

// recall puts the records of the file on a bus that has none: it is a new one, behind a copy that was restored or a log that was lost. Nodes
// go on with the credentials that they have, so that their names must be theirs, and what was revoked must stay so.
func (g *Gate) recall(ctx context.Context) error {
	g.mu.Lock()
	n := len(g.tokens) + len(g.nodes) + len(g.cuts)
	g.mu.Unlock()
	b, err := os.ReadFile(g.cfg.File)
	if n > 0 || errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var records []kept
	if err == nil {
		err = crawl.Unmarshal(b, &records)
	}
	if err != nil {
		return fmt.Errorf("who may do what: the bus has no names, tokens and revocations, and the copy of them cannot be read: %s: %w (delete that file to go on without: nodes need a token again)", g.cfg.File, err)
	}
	for _, r := range records {
		next, err := g.records.Put(ctx, r.Name, r.Data, 0)
		if errors.Is(err, bus.ErrChanged) { // another coordinator does the same
			continue
		}
		if err != nil {
			return err
		}
		g.learn(r.Name, r.Data, next)
	}
	if len(records) > 0 {
		g.cfg.Logger.Warn("the bus is a new one: names of nodes, tokens and revocations are those of the copy", "records", len(records), "copy", g.cfg.File)
	}
	return nil
}
