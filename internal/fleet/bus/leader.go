package bus

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

const (
	leaderBucket     = "ARGOSY_LEADER"
	leaderKey        = "leader"
	checkpointBucket = "ARGOSY_CHECKPOINTS"
	checkpointSeq    = "seq"
)

// leaseRoom bounds the place of the leader's lease, in bytes.
const leaseRoom = 1 << 20

// LeaderTTL is how long a leader that does not renew its lease is believed to lead.
const LeaderTTL = 6 * time.Second

// Elect waits until this process leads, then calls lead with a context that ends when it no longer does, because its
// lease could not be renewed in time. It returns what lead returns. The log is what truly fences a former leader:
// the lease only keeps two from trying at once.
func (c *Client) Elect(ctx context.Context, name string, lead func(context.Context) error) error {
	kv, err := c.leases(ctx)
	if err != nil {
		return err
	}
	name += " " + randomID() // of this very term
	rev := uint64(0)
	for rev == 0 {
		try, cancel := context.WithTimeout(ctx, LeaderTTL/2)
		rev, err = kv.Create(try, leaderKey, []byte(name))
		cancel()
		if err == nil {
			c.taken.free()
			break
		}
		rev = 0
		if errors.Is(err, jetstream.ErrKeyExists) {
			c.taken.taken(time.Now(), c.holder(ctx, kv))
		}
		if !errors.Is(err, jetstream.ErrKeyExists) && ctx.Err() == nil {
			c.say("the leader's lease is out of reach", err)
		}
		if !pause(ctx, LeaderTTL/12) {
			return ctx.Err()
		}
	}
	led, cancel := context.WithCancel(ctx)
	defer cancel()
	kept := make(chan struct{})
	go func() {
		defer close(kept)
		defer cancel()
		rev = c.keep(led, kv, name, rev)
	}()
	err = lead(led)
	cancel()
	<-kept
	if rev > 0 {
		out, stop := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer stop()
		_ = kv.Delete(out, leaderKey, jetstream.LastRevision(rev)) // it would expire anyway
	}
	return err
}

// turn is whether another coordinator has the leader's lease.
type turn struct {
	mu          sync.Mutex
	since, last time.Time // it was not to be had from then until then
	by          string    // who has it, as far as it is known
}

func (t *turn) taken(now time.Time, by string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if by != "" {
		t.by = by
	}
	if now.Sub(t.last) > LeaderTTL {
		t.since = now
	}
	t.last = now
}

func (t *turn) free() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last = time.Time{}
}

// renewed returns who renews the lease, if anybody does: one that nobody renews is to be had when its time is over.
func (t *turn) renewed(now time.Time) (by string, yes bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.by, now.Sub(t.last) <= LeaderTTL && t.last.Sub(t.since) > LeaderTTL
}

// AnotherLeads returns the name of the coordinator that is known to lead in place of this one: it has renewed its lease since this one has
// tried to have it.
func (c *Client) AnotherLeads() (name string, yes bool) { return c.taken.renewed(time.Now()) }

// holder returns who has the leader's lease; empty: that is not to be had now.
func (c *Client) holder(ctx context.Context, kv jetstream.KeyValue) (name string) {
	_ = c.ask(ctx, func(ctx context.Context) error {
		e, err := kv.Get(ctx, leaderKey)
		if err == nil {
			name = string(e.Value())
			name = name[:max(0, strings.LastIndex(name, " "))]
		}
		return err
	})
	return name
}

// leases opens the place of the leader's lease, waiting while the bus is away.
func (c *Client) leases(ctx context.Context) (jetstream.KeyValue, error) {
	for {
		kv, err := c.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
			Bucket: leaderBucket, TTL: LeaderTTL, Storage: jetstream.FileStorage, MaxBytes: leaseRoom, Replicas: c.cfg.Replicas,
		})
		if err == nil {
			return kv, nil
		}
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		c.say("the leader's lease is out of reach", err)
		if !pause(ctx, retryEvery) {
			return nil, ctx.Err()
		}
	}
}

// keep renews the leader's lease until ctx ends or it is lost; it returns the last revision, 0 if it was lost.
func (c *Client) keep(ctx context.Context, kv jetstream.KeyValue, name string, rev uint64) uint64 {
	renewed := time.Now()
	for pause(ctx, LeaderTTL/6) {
		at := time.Now()
		try, cancel := context.WithTimeout(ctx, LeaderTTL/3)
		next, err := kv.Update(try, leaderKey, []byte(name), rev)
		cancel()
		switch {
		case err == nil:
			rev, renewed = next, at
		case ctx.Err() != nil:
			return rev
		case errors.Is(err, jetstream.ErrKeyExists) && c.mine(ctx, kv, name, &rev): // stored, but we have not heard of it
		case errors.Is(err, jetstream.ErrKeyExists) || time.Since(renewed) > LeaderTTL*2/3:
			c.say("the leader's lease is lost", err)
			return 0
		}
	}
	return rev
}

// mine tells whether the lease is still ours, and at which revision.
func (c *Client) mine(ctx context.Context, kv jetstream.KeyValue, name string, rev *uint64) bool {
	ctx, cancel := context.WithTimeout(ctx, LeaderTTL/6)
	defer cancel()
	e, err := kv.Get(ctx, leaderKey)
	if err != nil || string(e.Value()) != name {
		return false
	}
	*rev = e.Revision()
	return true
}

// checkpoints is the store of the frontier's checkpoints.
func (c *Client) checkpoints(ctx context.Context) (jetstream.ObjectStore, error) {
	return c.js.CreateOrUpdateObjectStore(ctx, jetstream.ObjectStoreConfig{
		Bucket: checkpointBucket, Storage: jetstream.FileStorage, Replicas: c.cfg.Replicas,
	})
}

// PutCheckpoint stores a checkpoint of the view at a sequence under a name, in place of the one before.
func (c *Client) PutCheckpoint(ctx context.Context, name string, seq uint64, r io.Reader) error {
	s, err := c.checkpoints(ctx)
	if err != nil {
		return fmt.Errorf("store a checkpoint: %w", err)
	}
	_, err = s.Put(ctx, jetstream.ObjectMeta{Name: name, Metadata: map[string]string{checkpointSeq: strconv.FormatUint(seq, 10)}}, r)
	if err != nil {
		return fmt.Errorf("store a checkpoint: %w", err)
	}
	return nil
}

// ErrNoCheckpoint says that none has been stored yet.
var ErrNoCheckpoint = errors.New("no checkpoint")

// Checkpoint opens the last checkpoint and says at which sequence it was taken.
func (c *Client) Checkpoint(ctx context.Context, name string) (io.ReadCloser, uint64, error) {
	s, err := c.checkpoints(ctx)
	if err != nil {
		return nil, 0, fmt.Errorf("open a checkpoint: %w", err)
	}
	o, err := s.Get(ctx, name)
	if errors.Is(err, jetstream.ErrObjectNotFound) {
		return nil, 0, ErrNoCheckpoint
	}
	if err != nil {
		return nil, 0, fmt.Errorf("open a checkpoint: %w", err)
	}
	info, err := o.Info()
	if err != nil {
		return nil, 0, errors.Join(err, o.Close())
	}
	seq, err := strconv.ParseUint(info.Metadata[checkpointSeq], 10, 64)
	if err != nil {
		return nil, 0, errors.Join(fmt.Errorf("open a checkpoint: its sequence: %w", err), o.Close())
	}
	return o, seq, nil
}

// At returns the first sequence that the log has, and when it stored the entry at seq (Unix ms), 0 if it does not have it.
func (c *Client) At(ctx context.Context, seq uint64) (first uint64, at int64, err error) {
	if first, err = c.First(ctx); err != nil || seq < max(first, 1) { // servers refuse to look for 0
		return first, 0, err
	}
	m, err := c.log.GetMsg(ctx, seq)
	switch {
	case errors.Is(err, jetstream.ErrMsgNotFound):
		return first, 0, nil
	case err != nil:
		return first, 0, fmt.Errorf("look an entry up: %w: %w", ErrAway, err)
	}
	return first, m.Time.UnixMilli(), nil
}
