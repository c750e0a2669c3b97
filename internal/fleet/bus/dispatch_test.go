package bus

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A node gets each message once, and nobody else does. It acknowledges them only where an earlier build has made the stream, which goes on as it is.
func TestDispatch(t *testing.T) {
	t.Parallel()
	for name, earlier := range map[string]bool{"new": false, "of an earlier build": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			s, err := Serve(DefaultConfig(t.TempDir()))
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			c, err := s.Connect(ctx)
			if err != nil {
				t.Fatal(err)
			}
			defer c.Close()
			if earlier {
				asBefore(ctx, t, c)
			}
			const messages = 20
			nodes := []string{"a", "b"}
			for _, node := range nodes {
				if err := c.openInbox(ctx, node); err != nil {
					t.Fatal(err)
				}
				for i := range messages {
					if err := c.Dispatch(ctx, node, uint64(i), fmt.Appendf(nil, "%s %d", node, i)); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, want := range []int{messages, 0} { // who comes again gets nothing twice
				for _, node := range nodes {
					if err := c.Dispatch(ctx, node, messages, []byte("the last")); err != nil {
						t.Fatal(err)
					}
					receivesAll(ctx, t, c, node, want)
				}
			}
			st, err := c.js.Stream(ctx, dispatchStream)
			if err != nil {
				t.Fatal(err)
			}
			kept := st.CachedInfo().State.Msgs
			for earlier && kept > 0 && ctx.Err() == nil { // what is acknowledged goes soon
				info, err := st.Info(ctx)
				if err != nil {
					t.Fatal(err)
				}
				kept = info.State.Msgs
			}
			if all := uint64(len(nodes) * (messages + 2)); !earlier && kept != all {
				t.Errorf("%d messages are kept of %d", kept, all)
			}
		})
	}
}

// asBefore has the bus carry messages as it did at first: each one until it is acknowledged.
func asBefore(ctx context.Context, t *testing.T, c *Client) {
	t.Helper()
	if err := c.js.DeleteStream(ctx, dispatchStream); err != nil {
		t.Fatal(err)
	}
	_, err := c.js.CreateStream(ctx, jetstream.StreamConfig{
		Name: dispatchStream, Subjects: []string{dispatchPrefix + ">"}, Storage: jetstream.MemoryStorage,
		Retention: jetstream.WorkQueuePolicy, MaxAge: c.cfg.RecycleAfter, MaxBytes: c.cfg.MaxDispatch, Discard: jetstream.DiscardOld,
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := c.make(ctx); err != nil {
		t.Fatal(err)
	}
}

// receivesAll receives messages of a node up to the last one, in their order.
func receivesAll(ctx context.Context, t *testing.T, c *Client, node string, want int) {
	t.Helper()
	ctx, done := context.WithCancel(ctx)
	defer done()
	next := 0
	err := c.Receive(ctx, node, func(msg []byte, _ time.Duration) error {
		switch got := string(msg); {
		case got == "the last":
			done()
		case got != fmt.Sprintf("%s %d", node, next):
			t.Errorf("%s receives %q, want message %d", node, got, next)
		default:
			next++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if next != want {
		t.Errorf("%s has received %d of %d messages", node, next, want)
	}
}
