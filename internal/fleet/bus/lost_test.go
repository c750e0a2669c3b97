package bus

import (
	"errors"
	"testing"
	"time"
)

// A log that is there, ends before what was read, is another one, or is gone: what a reader that was interrupted makes of it, at once and
// after a while. A bus that has just started may not know yet what it has, but a log of another identity is another one at once.
func TestLogIsLost(t *testing.T) {
	t.Parallel()
	f := newForgetful(t)
	c := f.coordinator
	ctx := t.Context()
	ask := func(r *reading, next uint64) error {
		t.Helper()
		return c.check(ctx, r, next)
	}
	r := &reading{}
	if err := ask(r, 1); err != nil || r.is == "" {
		t.Fatalf("%q, %v", r.is, err)
	}
	if err := ask(r, 1); err != nil || !r.missing.IsZero() {
		t.Errorf("the log that is read: %v, missing since %v", err, r.missing)
	}
	late := func(what string, next uint64) {
		t.Helper()
		if err := ask(r, next); err != nil || r.missing.IsZero() {
			t.Errorf("%s, at once: %v, missing since %v", what, err, r.missing)
		}
		r.missing = time.Now().Add(-c.cfg.lostAfter())
		if err := ask(r, next); !errors.Is(err, ErrLost) {
			t.Errorf("%s, for a while: %v", what, err)
		}
		r.missing = time.Time{}
	}
	late("it ends before what was read", 1000)
	if err := c.js.DeleteStream(ctx, logStream); err != nil {
		t.Fatal(err)
	}
	late("it is gone", 1)
	for err := c.openLog(ctx); err != nil; err = c.openLog(ctx) { // the server may not have deleted its files yet
		if !pause(ctx, retryEvery) {
			t.Fatal(err)
		}
	}
	if err := ask(r, 1); !errors.Is(err, ErrLost) {
		t.Errorf("another one is in its place: %v", err)
	}
}

// A consumer that says that it is there and gives nothing, as NATS makes of a store that was damaged, is not waited for: what stands in the log
// is read by another one.
func TestReaderThatGetsNothing(t *testing.T) {
	t.Parallel()
	c := newForgetful(t).coordinator
	c.cfg.LostAfter = 50 * time.Millisecond
	ctx := t.Context()
	if _, _, err := c.Refresh(ctx); err != nil {
		t.Fatal(err)
	}
	got := make(chan uint64)
	go func() {
		_ = c.Read(ctx, 1, func(seq uint64, _ int64, _ string, _ []byte) error {
			select {
			case got <- seq:
			case <-ctx.Done():
			}
			return nil
		})
	}()
	for want := uint64(1); want <= 3; want++ {
		if _, err := c.Append(ctx, []byte("entry")); err != nil {
			t.Fatal(err)
		}
		select {
		case seq := <-got:
			if seq != want {
				t.Fatalf("entry %d comes for %d", seq, want)
			}
		case <-time.After(8 * time.Second):
			t.Fatalf("entry %d does not come", want)
		}
		for name := range c.log.ConsumerNames(ctx).Name() {
			if _, err := c.js.PauseConsumer(ctx, logStream, name, time.Now().Add(time.Hour)); err != nil {
				t.Fatal(err)
			}
		}
	}
}
