package bus

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"argosy/internal/crawl"
)

// Dispatch sends a message to a node. lease names what it is about; Forget deletes what has not been read of it.
func (c *Client) Dispatch(ctx context.Context, node string, lease uint64, msg []byte) error {
	_, err := c.js.Publish(ctx, dispatchSubject(node, lease), msg)
	if err != nil {
		return fmt.Errorf("dispatch to %s: %w", node, err)
	}
	return nil
}

// Forget deletes messages about a lease that its node has not read.
func (c *Client) Forget(ctx context.Context, node string, lease uint64) error {
	st, err := c.js.Stream(ctx, dispatchStream)
	if err != nil {
		return err
	}
	return st.Purge(ctx, jetstream.WithPurgeSubject(dispatchSubject(node, lease)))
}

func dispatchSubject(node string, lease uint64) string {
	return fmt.Sprintf("%s%s.%d", dispatchPrefix, node, lease)
}

// Receive calls fn for every message dispatched to a node, once each, until ctx ends or fn fails.
func (c *Client) Receive(ctx context.Context, node string, fn func([]byte) error) error {
	cons, err := c.js.CreateOrUpdateConsumer(ctx, dispatchStream, jetstream.ConsumerConfig{
		Durable: "node-" + node, FilterSubject: dispatchPrefix + node + ".>", AckPolicy: jetstream.AckExplicitPolicy,
		MaxDeliver: 1, MaxAckPending: -1, InactiveThreshold: time.Minute,
	})
	if err != nil {
		return fmt.Errorf("receive for %s: %w", node, err)
	}
	return consume(ctx, cons, func(m jetstream.Msg) error {
		if err := m.Ack(); err != nil {
			return err
		}
		return fn(m.Data())
	})
}

// Register keeps a node in the registry, renewing by revision, until ctx ends; then it takes it out. lost is called
// when somebody else has registered under the same name.
func (c *Client) Register(ctx context.Context, info crawl.NodeInfo) error {
	val, err := crawl.Marshal(info)
	if err != nil {
		return err
	}
	rev, err := c.nodes.Put(ctx, info.Node, val)
	if err != nil {
		return fmt.Errorf("register node %s: %w", info.Node, err)
	}
	t := time.NewTicker(NodeTTL / 3)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			out, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_ = c.nodes.Delete(out, info.Node, jetstream.LastRevision(rev)) // it would expire anyway
			return nil
		case <-t.C:
		}
		next, err := c.nodes.Update(ctx, info.Node, val, rev)
		switch {
		case err == nil:
			rev = next
		case ctx.Err() != nil:
		case errors.Is(err, jetstream.ErrKeyExists):
			return fmt.Errorf("node %s: another process has registered under this name", info.Node)
		default: // expired while the bus was away: register anew
			if rev, err = c.nodes.Put(ctx, info.Node, val); err != nil && ctx.Err() == nil {
				return fmt.Errorf("renew node %s: %w", info.Node, err)
			}
		}
	}
}

// Nodes calls fn with every registration and renewal, and with gone true for a node that took itself out, until ctx
// ends. Expiry is the caller's to judge, by NodeTTL.
func (c *Client) Nodes(ctx context.Context, fn func(info crawl.NodeInfo, gone bool)) error {
	w, err := c.nodes.WatchAll(ctx)
	if err != nil {
		return fmt.Errorf("watch nodes: %w", err)
	}
	defer func() { _ = w.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-w.Updates():
			if !ok {
				return nil
			}
			if e == nil {
				continue // the end of what was there before
			}
			if e.Operation() != jetstream.KeyValuePut {
				fn(crawl.NodeInfo{Node: e.Key()}, true)
				continue
			}
			var info crawl.NodeInfo
			if err := crawl.Unmarshal(e.Value(), &info); err == nil {
				fn(info, false)
			}
		}
	}
}
