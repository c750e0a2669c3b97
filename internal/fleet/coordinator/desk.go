package coordinator

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// takeWithin is how long an order waits to be taken by a coordinator that waits itself: it may not be for long.
const takeWithin = 3 * time.Second

// desk takes what others ask of the loop: orders, which it carries out when it has applied all that it knows of, and questions, which it
// answers whenever it has a moment.
type desk struct {
	orders  chan func(now time.Time)
	asks    questions
	waiting atomic.Int32  // orders that wait for their turn
	served  bool          // an order was taken since the loop did something of its own accord; the loop's own
	over    chan struct{} // closed when the run has ended
	overBy  error         // why it ended; nil: it was over, and all is synced. It is written before over is closed
	waits   func() string // what the loop waits for itself; empty: nothing
}

func newDesk() desk {
	return desk{orders: make(chan func(time.Time)), asks: make(questions), over: make(chan struct{})}
}

// close says that the run has ended, and why.
func (d *desk) close(why error) {
	d.overBy = why
	close(d.over)
}

// do has the loop run fn, with the time of that turn, and returns when it has run. Nothing is done where the loop waits for something
// (ErrWaits).
func (d *desk) do(ctx context.Context, fn func(now time.Time) error) error {
	done := make(chan error, 1)
	if err := d.hand(ctx, func(now time.Time) { done <- fn(now) }); err != nil {
		return err
	}
	return d.told(ctx, done)
}

// ask has the loop run fn as soon as it has a moment, and returns when it has run. fn changes nothing. now is when it was asked: the loop
// may be in a long turn.
func (d *desk) ask(ctx context.Context, fn func(now time.Time) error) error {
	now := time.Now()
	done := make(chan error, 1)
	select {
	case d.asks <- func() { done <- fn(now) }:
		return d.told(ctx, done)
	case <-d.over:
		return ErrOver
	case <-ctx.Done():
		return ctx.Err()
	}
}

// told waits for what the loop says of what it has taken.
func (d *desk) told(ctx context.Context, done <-chan error) error {
	select {
	case err := <-done:
		return err
	case <-d.over: // it may have run as the last
		select {
		case err := <-done:
			return err
		default:
			return ErrOver
		}
	case <-ctx.Done():
		return ctx.Err()
	}
}

// hand has the loop take fn.
func (d *desk) hand(ctx context.Context, fn func(now time.Time)) error {
	d.waiting.Add(1)
	taken := func(now time.Time) {
		d.waiting.Add(-1) // by who takes it, who looks at it next
		fn(now)
	}
	patience := time.NewTicker(takeWithin)
	defer patience.Stop()
	for {
		select {
		case d.orders <- taken:
			return nil
		case <-d.over:
			d.waiting.Add(-1)
			return ErrOver
		case <-ctx.Done():
			d.waiting.Add(-1)
			return ctx.Err()
		case <-patience.C:
			if why := d.waits(); why != "" {
				d.waiting.Add(-1)
				return fmt.Errorf("%w: the coordinator waits: %s", ErrWaits, why)
			}
		}
	}
}
