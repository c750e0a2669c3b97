package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"argosy/internal/crawl"
	"argosy/internal/fleet/term"
)

// Nodes calls fn with every registration and renewal, and with a node that took itself out, until ctx ends. Expiry is
// the caller's to judge, by term.NodeTTL. A bus that has forgotten what it kept in memory gets it again.
func (c *Client) Nodes(ctx context.Context, fn func(crawl.NodeInfo, crawl.Sign)) error {
	defer c.deaf.Store(nil) // nobody wants to hear
	for {
		c.deafen()
		err := c.watch(ctx, fn)
		if ctx.Err() != nil {
			return nil
		}
		c.say("nodes are not watched", err)
		if !pause(ctx, retryEvery) {
			return nil
		}
	}
}

// Deaf reports whether Nodes cannot watch the registry, and could not for longer than it takes nodes to renew their registrations.
func (c *Client) Deaf() bool {
	since := c.deaf.Load()
	return since != nil && time.Since(*since) > term.Renew
}

// deafen notes that nodes are not watched, from now on if they were.
func (c *Client) deafen() {
	now := time.Now()
	c.deaf.CompareAndSwap(nil, &now)
}

// watch watches nodes until ctx ends, the connection is made anew, or what carries messages to nodes, or their registry, is gone.
func (c *Client) watch(ctx context.Context, fn func(crawl.NodeInfo, crawl.Sign)) error {
	back := c.nc.StatusChanged(nats.CONNECTED)
	defer c.nc.RemoveStatusListener(back)
	if err := c.ask(ctx, c.remembers); err != nil {
		c.say("what the bus kept in memory is made anew", err)
		if err := c.make(ctx); err != nil {
			return err
		}
	}
	all, err := c.nodes.WatchAll(ctx)
	if err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	defer func() { _ = all.Stop() }()
	defer c.deafen()
	c.deaf.Store(nil)
	w := nodeWatch{c: c, fn: fn, sign: crawl.SignKnown, inboxes: map[string]string{}}
	silent, look := time.NewTimer(term.NodeTTL), time.NewTicker(c.every)
	defer silent.Stop()
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-back: // a server that began anew may have forgotten everything
			return errReconnected
		case <-look.C:
			if err := c.ask(ctx, c.remembers); err != nil {
				return err
			}
		case <-silent.C:
			if len(w.inboxes) > 0 {
				return errors.New("no node has renewed its registration")
			}
		case e, ok := <-all.Updates():
			silent.Reset(term.NodeTTL)
			if !ok {
				return errors.New("the watch has ended")
			}
			w.take(ctx, e)
		}
	}
}

// ask has the bus asked something, and waits for as long as an answer may take.
func (c *Client) ask(ctx context.Context, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	return fn(ctx)
}

// remembers fails where the bus says that it no longer has what make made. One that does not answer may have it.
func (c *Client) remembers(ctx context.Context) error {
	for _, name := range []string{dispatchStream, nodeStream} {
		if _, err := c.js.Stream(ctx, name); errors.Is(err, jetstream.ErrStreamNotFound) {
			return fmt.Errorf("the bus has forgotten %s: %w", name, err)
		}
	}
	return nil
}

// nodeWatch is one watch of the registry.
type nodeWatch struct {
	c       *Client
	fn      func(crawl.NodeInfo, crawl.Sign)
	sign    crawl.Sign        // of what comes
	inboxes map[string]string // incarnation of the node whose inbox has been opened
}

// take takes in a registration; nil is the end of those that were there before.
func (w *nodeWatch) take(ctx context.Context, e jetstream.KeyValueEntry) {
	if e == nil {
		w.sign = crawl.SignRenewed
		return
	}
	c := w.c
	info, pub, ok := unsealed(e.Value(), func(pub string) string {
		if c.cfg.Keys == nil {
			return ""
		}
		return c.cfg.Keys.nodeKey(e.Key(), pub)
	})
	if trust := c.trust.Load(); ok && trust != nil {
		ok = (*trust)(e.Key(), pub)
	}
	if ok {
		c.pubs.Store(e.Key(), pub)
	}
	switch {
	case e.Operation() != jetstream.KeyValuePut || !ok || info.Node != e.Key(): // a node that leaves says so
		c.say("a registration is not the node's own", fmt.Errorf("%q: not signed with the key that it got when it joined", e.Key()))
	case info.Left:
		delete(w.inboxes, info.Node)
		w.fn(info, crawl.SignLeft)
	default:
		if w.inboxes[info.Node] != info.Incarnation {
			if err := c.openInbox(ctx, info.Node); err != nil {
				c.say("a node's inbox is not open yet", err)
			} else {
				w.inboxes[info.Node] = info.Incarnation
			}
		}
		w.fn(info, w.sign)
	}
}
