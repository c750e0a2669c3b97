package gate

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/durable"
	"argosy/internal/fleet/access"
	"argosy/internal/fleet/bus"
)

// keepEvery is how soon a change of the records is in the file beside the bus that no person has ordered.
const keepEvery = 2 * time.Second

// kept is a record in that file.
type kept struct {
	Name string `cbor:"1,keyasint"`
	Data []byte `cbor:"2,keyasint"`
}

// writtenRecord is the first record of the file: when it was written, Unix ms. The file's own time is that of a copy.
const writtenRecord = "written"

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
	add(writtenRecord, g.cfg.Now().UnixMilli())
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

// recall puts on the bus what the file has and the bus lacks: the bus is a new one, behind a copy that was restored or a log that was lost,
// or it has lost its end. Nodes go on with the credentials that they have, so that their names must be theirs, and what was revoked must
// stay so.
func (g *Gate) recall(ctx context.Context) error {
	g.mu.Lock()
	n := len(g.tokens) + len(g.nodes) + len(g.cuts)
	g.mu.Unlock()
	b, err := os.ReadFile(g.cfg.File)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	var records []kept
	if err == nil {
		err = crawl.Unmarshal(b, &records)
	}
	if err != nil && n == 0 {
		return fmt.Errorf("who may do what: the bus has no names, tokens and revocations, and the copy of them cannot be read: %s: %w (delete that file to go on without: nodes need a token again)", g.cfg.File, err)
	}
	if err != nil {
		g.cfg.Logger.Error("the copy of names, tokens and revocations cannot be read, and is made anew", "copy", g.cfg.File, "error", err)
		return nil
	}
	var written int64
	if len(records) > 0 && records[0].Name == writtenRecord {
		if err := crawl.Unmarshal(records[0].Data, &written); err != nil {
			return fmt.Errorf("who may do what: %s: when it was written: %w (delete that file to go on without it)", g.cfg.File, err)
		}
		records = records[1:]
	}
	late := n > 0 && g.cfg.Now().UnixMilli()-written >= forgetAfter.Milliseconds()
	put := 0
	for _, r := range records {
		v, rev, err := g.lacks(r, late)
		if err != nil {
			return fmt.Errorf("who may do what: %s: record %q: %w (delete that file to go on without it)", g.cfg.File, r.Name, err)
		}
		if v == nil {
			continue
		}
		err = g.store(ctx, r.Name, v, rev)
		if err != nil && !errors.Is(err, bus.ErrChanged) { // or another coordinator does the same
			return err
		}
		put++
	}
	switch {
	case put > 0 && n == 0:
		g.cfg.Logger.Warn("the bus is a new one: names of nodes, tokens and revocations are those of the copy", "records", put, "copy", g.cfg.File)
	case put > 0:
		g.cfg.Logger.Warn("the bus has lost names of nodes, tokens or revocations: they are those of the copy again", "records", put, "copy", g.cfg.File)
	}
	return nil
}

// lacks returns what a record of the file makes of that on the bus, and which revision it takes the place of; nil: the bus has it. A copy may be
// older than the bus, of a coordinator that stood by and was away: what shuts somebody out counts wherever it stands, and what lets
// somebody in counts only if it cannot have been taken back since: late says that a token that was may be forgotten by now.
func (g *Gate) lacks(r kept, late bool) (v any, rev uint64, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case strings.HasPrefix(r.Name, tokenRecord):
		var t access.Token
		if err := crawl.Unmarshal(r.Data, &t); err != nil {
			return nil, 0, err
		}
		has, ok := g.tokens[t.ID]
		if !ok && !late {
			return t, 0, nil
		}
		if ok && has.v.Join(&t) {
			return has.v, has.rev, nil
		}
	case strings.HasPrefix(r.Name, nodeRecord):
		var n access.Node
		if err := crawl.Unmarshal(r.Data, &n); err != nil {
			return nil, 0, err
		}
		_, ok := g.nodes[n.Name]
		if c, cut := g.cuts[n.Key]; !ok && (!cut || c.v.At < n.Joined) { // it was not released since
			return n, 0, nil
		}
	case strings.HasPrefix(r.Name, cutRecord):
		var c access.Cut
		if err := crawl.Unmarshal(r.Data, &c); err != nil {
			return nil, 0, err
		}
		has, ok := g.cuts[c.Key]
		if !ok {
			return c, 0, nil
		}
		if has.v.Join(&c) {
			return has.v, has.rev, nil
		}
	}
	return nil, 0, nil
}
