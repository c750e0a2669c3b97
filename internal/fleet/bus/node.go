package bus

import (
	"context"
	"crypto/hmac"
	"encoding/json"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"argosy/internal/crawl"
	"argosy/internal/fleet/term"
)

// Dispatch sends a message to a node, without waiting until it is stored: a hint that is lost is sent again. lease names
// what it is about; Forget deletes what has not been read of it.
func (c *Client) Dispatch(_ context.Context, node string, lease uint64, msg []byte) error {
	m := &nats.Msg{Subject: dispatchSubject(node, lease), Data: msg, Header: nats.Header{}}
	if c.cfg.Keys != nil {
		pub, _ := c.pubs.Load(node)
		m.Header.Set(signField, macOf(c.cfg.Keys.nodeKey(node, orNone(pub)), signsDispatch, msg))
	}
	if err := c.nc.PublishMsg(m); err != nil {
		return fmt.Errorf("dispatch to %s: %w", node, err)
	}
	return nil
}

// Forget deletes messages about a lease that its node has not read. It does not wait either.
func (c *Client) Forget(_ context.Context, node string, lease uint64) error {
	req, err := json.Marshal(map[string]string{"filter": dispatchSubject(node, lease)})
	if err != nil {
		return err
	}
	return c.nc.Publish("$JS.API.STREAM.PURGE."+dispatchStream, req)
}

// orNone is the public key that a node registered with; empty for one of 0.1.0.
func orNone(pub any) string {
	s, _ := pub.(string)
	return s
}

func dispatchSubject(node string, lease uint64) string {
	return fmt.Sprintf("%s%s.%d", dispatchPrefix, node, lease)
}

func consumerOf(node string) string { return "node-" + node }

// retryEvery is how often a node tries again what the bus, being away, did not do.
const retryEvery = 200 * time.Millisecond

// againMost bounds how long a node waits until it asks a bus again that has not answered in time, or has nothing for it yet. What a
// thousand nodes ask five times a second, with tries that overtake each other, has it answer nobody in time.
const againMost = 3 * time.Second

// tries says how long is waited between tries.
type tries struct{ next time.Duration }

// after is how long is waited after one that has failed: as long as the last time where the connection was the reason, which costs the bus
// nothing, and twice as long where it was not.
func (t *tries) after(err error) time.Duration {
	wait := max(t.next, retryEvery)
	if !errors.Is(err, nats.ErrDisconnected) {
		t.next = min(2*wait, againMost)
	}
	return wait
}

// done notes that one has succeeded.
func (t *tries) done() { t.next = 0 }

// askTime bounds how long an answer is waited for that a cluster without a leader does not give.
const askTime = 2 * time.Second

// inboxTerm is how long a node's inbox is kept that nobody reads.
const inboxTerm = 24 * time.Hour

// openInbox makes what a node reads its messages from. A node may not do so itself: what it named as the place to deliver to
// would be written with nobody's permission.
func (c *Client) openInbox(ctx context.Context, node string) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	conf := jetstream.ConsumerConfig{Durable: consumerOf(node), FilterSubject: dispatchPrefix + node + ".>", AckPolicy: jetstream.AckNonePolicy, InactiveThreshold: inboxTerm}
	if c.acks.Load() {
		conf.AckPolicy, conf.MaxDeliver, conf.MaxAckPending = jetstream.AckExplicitPolicy, 1, -1
	}
	_, err := c.js.CreateOrUpdateConsumer(ctx, dispatchStream, conf)
	return err
}

// Receive calls fn for every message dispatched to a node, once each, with its age, until ctx ends or fn fails. While the bus is away,
// or no coordinator has heard of the node yet, it waits.
func (c *Client) Receive(ctx context.Context, node string, fn func(msg []byte, age time.Duration) error) error {
	var ages term.Ages
	var again tries
	for waits := time.Now(); ; {
		var failed error
		ask, cancel := context.WithTimeout(ctx, askTime)
		cons, err := c.js.Consumer(ask, dispatchStream, consumerOf(node))
		cancel()
		if err == nil {
			again.done()
			acks := cons.CachedInfo().Config.AckPolicy != jetstream.AckNonePolicy
			err = c.consume(ctx, cons, nil, func(m jetstream.Msg) error {
				if acks {
					if err := m.Ack(); err != nil {
						return err
					}
				}
				if k := c.own().Key; k != "" && !hmac.Equal([]byte(m.Headers().Get(signField)), []byte(macOf(k, signsDispatch, m.Data()))) {
					c.say("a message is left alone", errors.New("it is not signed for this node: it was sent to one that had the name before, or is not the coordinator's"))
					return nil
				}
				meta, err := m.Metadata()
				if err != nil {
					return err
				}
				failed = fn(m.Data(), ages.Of(meta.Timestamp.UnixMilli(), time.Now()))
				return failed
			})
			waits = time.Now()
		}
		switch {
		case failed != nil:
			return failed
		case ctx.Err() != nil:
			return nil
		}
		if time.Since(waits) > term.Renew {
			waits = time.Now()
			c.say("leases are not received", err)
		}
		if !pause(ctx, again.after(err)) {
			return nil
		}
	}
}

// Report appends an entry of a node to the log. It is stored when it returns; while the bus is away it waits and tries
// again, for a repeat is harmless. It fails when ctx ends, or when the bus refuses the entry for good.
func (c *Client) Report(ctx context.Context, node string, entry []byte) error {
	way := time.Duration(len(entry)) * time.Second / slowLine
	var again tries
	for {
		wait, sent := c.late.wait(), time.Now()
		err := c.try(ctx, wait+way, func(ctx context.Context) error {
			_, err := c.js.PublishMsg(ctx, c.signedEntry(node, entry)) // anew: it may have got other credentials meanwhile
			return err
		})
		switch {
		case err == nil:
			c.late.took(time.Since(sent) - way)
			return nil
		case errors.Is(err, context.DeadlineExceeded), errors.Is(err, nats.ErrTimeout):
			c.late.took(wait)
		case errors.Is(err, nats.ErrMaxPayload), errors.Is(err, nats.ErrConnectionClosed):
			return fmt.Errorf("append a part to the log: %w", err)
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		c.say("a part is not stored yet", err)
		if !pause(ctx, again.after(err)) {
			return ctx.Err()
		}
	}
}

// signedEntry is an entry as a node sends it.
func (c *Client) signedEntry(node string, entry []byte) *nats.Msg {
	m := &nats.Msg{Subject: partSubject + node, Data: entry, Header: nats.Header{}}
	if l := c.own(); l.Key != "" {
		m.Header.Set(signField, macOf(l.Key, signsEntry, entry))
		if c.pub != "" {
			m.Header.Set(keyField, c.pub)
		}
	}
	return m
}

// own is the node's login of this moment; zero without one.
func (c *Client) own() Login {
	if c.login == nil {
		return Login{}
	}
	return c.login()
}

// tryTime is about how long an answer is waited for while the connection stands. At first it is a quarter of this: where a server of a
// cluster has died the answer was lost with it, and the next one gives it; in the end twice as long.
const tryTime = 2 * time.Second

// late says how long an answer is waited for, by how long the last ones took: what is sent again because a busy bus has not answered yet
// gives it more to do, and it answers later still.
type late struct{ lately atomic.Int64 }

// wait is twice as long as the slowest of the last answers has taken.
func (l *late) wait() time.Duration {
	return min(max(2*time.Duration(l.lately.Load()), tryTime/4), 2*tryTime)
}

// took notes how long an answer took, or was waited for in vain. Those before count less with each.
func (l *late) took(d time.Duration) { l.lately.Store(max(int64(d), l.lately.Load()/8*7)) }

// slowLine is how many bytes a second a node's line carries at least: a large entry that is still on its way is not sent
// again.
const slowLine = 32 << 10

// try asks the bus something. It fails at once when the connection breaks: no answer will come.
func (c *Client) try(ctx context.Context, wait time.Duration, fn func(context.Context) error) error {
	ctx, cancel := context.WithTimeoutCause(ctx, wait, nats.ErrTimeout)
	defer cancel()
	broken := c.nc.StatusChanged(nats.RECONNECTING, nats.CLOSED)
	defer c.nc.RemoveStatusListener(broken)
	if !c.nc.IsConnected() { // looked at after the listener is there: a break in between would not be heard of
		return nats.ErrDisconnected
	}
	done := make(chan struct{})
	defer close(done)
	go func() {
		select {
		case <-broken:
			cancel()
		case <-done:
		}
	}()
	return fn(ctx)
}

// ErrTaken says that another process has registered under a node's name.
var ErrTaken = errors.New("another process has registered as this node, with its key: does another machine have a copy of the key file?")

// Register keeps a node in the registry until ctx ends; then it takes it out. info is asked anew each time, also when
// changed gives a signal and when the connection is there again. While the bus is away it waits.
func (c *Client) Register(ctx context.Context, info func() crawl.NodeInfo, changed <-chan struct{}) error {
	name := info().Node
	t := time.NewTicker(c.every)
	defer t.Stop()
	back := c.nc.StatusChanged(nats.CONNECTED)
	defer c.nc.RemoveStatusListener(back)
	rev := uint64(0)
	var again tries
	for {
		err := c.try(ctx, renewTime, func(ctx context.Context) (err error) {
			rev, err = c.renew(ctx, info(), rev)
			return err
		})
		if err != nil {
			if errors.Is(err, ErrTaken) {
				return fmt.Errorf("node %s: %w", name, err)
			}
			if ctx.Err() == nil {
				c.say("the node is not registered", err)
			}
		}
		wait := t.C
		var soon <-chan time.Time
		if err != nil {
			soon = time.After(again.after(err))
		} else {
			again.done()
		}
		select {
		case <-ctx.Done():
			out, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			if rev > 0 { // not deleted: that could not be signed
				i := info()
				i.Left = true
				_, _ = c.renew(out, i, rev) // it would expire anyway
			}
			return nil
		case <-wait:
		case <-soon:
		case <-back: // the bus may have forgotten us
		case <-changed:
		}
	}
}

// renewTime is how long the answers to a registration are waited for while the connection stands. When it breaks they are not waited for:
// a coordinator that takes over gives a node work once it has registered.
const renewTime = 5 * time.Second

// renew puts a node's registration where it was, or anew where it has expired.
func (c *Client) renew(ctx context.Context, info crawl.NodeInfo, rev uint64) (uint64, error) {
	if c.nodes == nil {
		kv, err := c.js.KeyValue(ctx, nodeBucket)
		if err != nil {
			return 0, err
		}
		c.nodes = kv
	}
	val, err := c.seal(info)
	if err != nil {
		return 0, err
	}
	if rev > 0 {
		next, err := c.nodes.Update(ctx, info.Node, val, rev)
		if err == nil {
			return next, nil
		}
		if !errors.Is(err, jetstream.ErrKeyExists) {
			return rev, err
		}
		e, err := c.nodes.Get(ctx, info.Node) // somebody has written since: another process, or we ourselves without hearing of it
		switch {
		case err == nil:
			have, ok := unseal(e.Value(), func(string) string { return c.own().Key })
			if ok && !have.Left && have.Incarnation != info.Incarnation {
				return 0, ErrTaken
			}
			return c.nodes.Update(ctx, info.Node, val, e.Revision())
		case !errors.Is(err, jetstream.ErrKeyNotFound):
			return rev, err
		}
	}
	return c.nodes.Put(ctx, info.Node, val) // new, or expired
}

// registration is what stands in the registry: a node's words, and its signature under them.
type registration struct {
	Info []byte `cbor:"1,keyasint"`
	Sign string `cbor:"2,keyasint,omitempty"`
	Pub  string `cbor:"3,keyasint,omitempty"` // the node's public key
}

// seal signs a registration.
func (c *Client) seal(info crawl.NodeInfo) ([]byte, error) {
	b, err := crawl.Marshal(info)
	if err != nil {
		return nil, err
	}
	r := registration{Info: b, Pub: c.pub}
	if l := c.own(); l.Key != "" {
		r.Sign = macOf(l.Key, signsNode, b)
	}
	return crawl.Marshal(r)
}

// unseal reads a registration; false if it is not one, or is not signed with the key for the public key in it. Where that is empty
// every one will do.
func unseal(val []byte, keyFor func(pub string) string) (info crawl.NodeInfo, ok bool) {
	info, _, ok = unsealed(val, keyFor)
	return info, ok
}

func unsealed(val []byte, keyFor func(pub string) string) (info crawl.NodeInfo, pub string, ok bool) {
	var r registration
	if crawl.UnmarshalOfNode(val, &r) != nil {
		return info, "", false
	}
	if key := keyFor(r.Pub); key != "" && !hmac.Equal([]byte(r.Sign), []byte(macOf(key, signsNode, r.Info))) {
		return info, "", false
	}
	return info, r.Pub, crawl.UnmarshalOfNode(r.Info, &info) == nil
}
