package bus

import (
	"context"
	"crypto/hmac"
	"errors"
	"fmt"

	"github.com/nats-io/nats.go/jetstream"

	"argosy/internal/crawl"
)

// recordBucket is where coordinators keep who may do what. No node can reach it.
const recordBucket = "ARGOSY_ACCESS"

// maxRecords bounds it, in bytes.
const maxRecords = 64 << 20

// fleetBucket is where they keep what they must agree on, a few lines; maxFleet bounds it, in bytes.
const (
	fleetBucket = "ARGOSY_FLEET"
	maxFleet    = 1 << 20
)

// Errors of records.
var (
	ErrNoRecord = errors.New("there is no such record")
	ErrChanged  = errors.New("somebody else has changed the record")
)

// Records are small things that coordinators keep on the bus, on disk, each under a name, signed with the account's key.
type Records struct {
	c  *Client
	kv jetstream.KeyValue
}

// record is what stands there.
type record struct {
	Data []byte `cbor:"1,keyasint"`
	Sign string `cbor:"2,keyasint,omitempty"`
}

// Records opens those of who may do what, making the place where they lie.
func (c *Client) Records(ctx context.Context) (*Records, error) {
	return c.recordsIn(ctx, recordBucket, maxRecords)
}

// Fleet opens the records of what the coordinators of a fleet must agree on.
func (c *Client) Fleet(ctx context.Context) (*Records, error) {
	return c.recordsIn(ctx, fleetBucket, maxFleet)
}

func (c *Client) recordsIn(ctx context.Context, bucket string, most int64) (*Records, error) {
	kv, err := c.js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{
		Bucket: bucket, Storage: jetstream.FileStorage, History: 1, MaxBytes: most, MaxValueSize: 256 << 10, Replicas: max(1, c.cfg.Replicas),
	})
	if err != nil {
		return nil, fmt.Errorf("open the records of coordinators: %w: %w", ErrAway, err)
	}
	return &Records{c, kv}, nil
}

func (r *Records) sign(name string, data []byte) string {
	if r.c.cfg.Keys == nil {
		return ""
	}
	return r.c.cfg.Keys.sign(append([]byte("record\x00"+name+"\x00"), data...))
}

// read takes a record apart; false if it is not a coordinator's.
func (r *Records) read(name string, val []byte) ([]byte, bool) {
	var rec record
	if crawl.Unmarshal(val, &rec) != nil || r.c.cfg.Keys != nil && !hmac.Equal([]byte(rec.Sign), []byte(r.sign(name, rec.Data))) {
		r.c.say("a record is not a coordinator's", fmt.Errorf("%q", name))
		return nil, false
	}
	return rec.Data, true
}

// Get returns a record and its revision. Where there is none it fails with ErrNoRecord; the revision is good for Put nevertheless.
func (r *Records) Get(ctx context.Context, name string) ([]byte, uint64, error) {
	e, err := r.kv.Get(ctx, name)
	switch {
	case errors.Is(err, jetstream.ErrKeyNotFound):
		return nil, 0, ErrNoRecord
	case err != nil:
		return nil, 0, fmt.Errorf("look up the record %q: %w: %w", name, ErrAway, err)
	}
	b, ok := r.read(name, e.Value())
	if !ok {
		return nil, e.Revision(), ErrNoRecord
	}
	return b, e.Revision(), nil
}

// Put stores a record in place of a revision (0: there is none). It fails with ErrChanged where there is another one.
func (r *Records) Put(ctx context.Context, name string, data []byte, rev uint64) (uint64, error) {
	val, err := crawl.Marshal(record{data, r.sign(name, data)})
	if err != nil {
		return 0, err
	}
	var next uint64
	if rev == 0 {
		next, err = r.kv.Create(ctx, name, val)
	} else {
		next, err = r.kv.Update(ctx, name, val, rev)
	}
	switch {
	case errors.Is(err, jetstream.ErrKeyExists):
		return 0, ErrChanged
	case err != nil:
		return 0, fmt.Errorf("write the record %q: %w: %w", name, ErrAway, err)
	}
	return next, nil
}

// Delete removes a record, if it is still at a revision.
func (r *Records) Delete(ctx context.Context, name string, rev uint64) error {
	err := r.kv.Delete(ctx, name, jetstream.LastRevision(rev))
	var api *jetstream.APIError
	switch {
	case errors.As(err, &api) && api.ErrorCode == jetstream.JSErrCodeStreamWrongLastSequence:
		return ErrChanged
	case err != nil:
		return fmt.Errorf("write the record %q: %w: %w", name, ErrAway, err)
	}
	return nil
}

// Watch calls fn with every record (nil: it is gone) and its revision, and ready when all that were there have been told, until
// ctx ends. While the bus is away it waits, and then begins anew.
func (r *Records) Watch(ctx context.Context, fn func(name string, data []byte, rev uint64), ready func()) {
	for ctx.Err() == nil {
		if err := r.watch(ctx, fn, ready); ctx.Err() == nil {
			r.c.say("who may do what is not watched", err)
			pause(ctx, retryEvery)
		}
	}
}

func (r *Records) watch(ctx context.Context, fn func(name string, data []byte, rev uint64), ready func()) error {
	w, err := r.kv.WatchAll(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = w.Stop() }()
	for {
		select {
		case <-ctx.Done():
			return nil
		case e, ok := <-w.Updates():
			switch {
			case !ok:
				return errors.New("the watch has ended")
			case e == nil:
				ready()
			case e.Operation() != jetstream.KeyValuePut:
				fn(e.Key(), nil, e.Revision())
			default:
				if b, ok := r.read(e.Key(), e.Value()); ok {
					fn(e.Key(), b, e.Revision())
				}
			}
		}
	}
}
