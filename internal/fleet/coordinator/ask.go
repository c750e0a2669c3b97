package coordinator

import (
	"context"
	"time"
)

// questions are what others want to know of what the loop owns. The loop answers them between any two things that it does, and while it
// waits for a disk, a database or the bus: it need not have applied the log to its end, as for an order.
type questions chan func()

// answer answers those who wait.
func (q questions) answer() {
	for {
		select {
		case fn := <-q:
			fn()
		default:
			return
		}
	}
}

// during returns what fn does, which must not change what the loop owns, and answers meanwhile.
func (q questions) during(fn func() error) error {
	done := make(chan error, 1)
	go func() { done <- fn() }()
	for {
		select {
		case err := <-done:
			return err
		case fn := <-q:
			fn()
		}
	}
}

// pause waits, unless ctx ends.
func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
