package bus

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"
)

// An embedded server that does not answer in time, because its disk is busy, is asked again, for half a minute; what it answers with an error is
// an error at once.
func TestABusyDiskIsWaitedFor(t *testing.T) {
	late := fmt.Errorf("open the log: %w", context.DeadlineExceeded)
	for _, c := range []struct {
		name  string
		url   string
		err   error
		fails int // so often, then it is opened
		asked int
		fine  bool
	}{
		{"embedded, late twice", "", late, 2, 3, true},
		{"embedded, late for ever", "", late, 1 << 20, -1, false},
		{"embedded, damaged", "", errors.New("damaged"), 1, 1, false},
		{"elsewhere, not there yet", "nats://bus", errors.New("no leader"), 2, 3, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			cl, asked, began := &Client{}, 0, time.Now()
			err := cl.ready(t.Context(), c.url, func(context.Context) error {
				if asked++; asked <= c.fails {
					return c.err
				}
				return nil
			})
			if (err == nil) != c.fine || c.asked >= 0 && asked != c.asked || time.Since(began) > patience+time.Minute {
				t.Errorf("%s: %v after it was asked %d times, in %v", c.name, err, asked, time.Since(began))
			}
			if !c.fine && !errors.Is(err, c.err) {
				t.Errorf("%s: %v, want %v", c.name, err, c.err)
			}
		})
	}
}
