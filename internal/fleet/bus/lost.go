package bus

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// ErrLost says that the log is not there any more, or not the one that it was: the bus came back with an empty store, or with an older one.
var ErrLost = errors.New("the bus has lost the log")

// lostAfter is how long the bus must say so, without a break, until it is believed: a server that has just started, or that has just been
// chosen to lead others, may not know yet what it has.
const lostAfter = 5 * time.Second

// lostAfter is that, or what was configured.
func (c Config) lostAfter() time.Duration { return cmp.Or(c.LostAfter, lostAfter) }

// awayOrLost says what the log's not answering means.
func awayOrLost(what string, err error) error {
	why := ErrAway
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		why = ErrLost
	}
	return fmt.Errorf("%s: %w: %w", what, why, err)
}

// Regain makes the log anew, and what carries messages to nodes, on a bus that has lost them. What can be had again of the log comes with
// those that have applied it. It fails with ErrAway where the bus does not answer; a log that is there after all stays.
func (c *Client) Regain(ctx context.Context) error {
	for begin := time.Now(); ; {
		var gone bool
		err := c.ask(ctx, func(ctx context.Context) error {
			_, err := c.js.Stream(ctx, logStream)
			if gone = errors.Is(err, jetstream.ErrStreamNotFound); gone {
				return nil
			}
			return err
		})
		if err != nil {
			return fmt.Errorf("look for the log: %w: %w", ErrAway, err)
		}
		if !gone || time.Since(begin) > c.cfg.lostAfter() {
			break
		}
		if !pause(ctx, retryEvery) {
			return ctx.Err()
		}
	}
	err := c.ask(ctx, c.openLog)
	if err == nil {
		err = c.ask(ctx, c.make)
	}
	if err != nil {
		return fmt.Errorf("make the log anew: %w: %w", ErrAway, err)
	}
	return nil
}

// reading is what a reader knows of the log that it reads.
type reading struct {
	is      string    // its identity, once it is known
	missing time.Time // since when it is not there, or is another one, or ends before what was read; zero: it is there
}

// check fails with ErrLost once the log has not been the one that is read for so long. It is asked whenever reading was interrupted.
func (c *Client) check(ctx context.Context, r *reading, next uint64) error {
	var info *jetstream.StreamInfo
	err := c.ask(ctx, func(ctx context.Context) (err error) {
		info, err = c.log.Info(ctx)
		return err
	})
	switch {
	case errors.Is(err, jetstream.ErrStreamNotFound):
	case err != nil: // it is away
		r.missing = time.Time{}
		return nil
	case r.is == "":
		r.is = info.Config.Metadata[identityKey]
		return nil
	case info.Config.Metadata[identityKey] != r.is:
		return fmt.Errorf("%w: another one is in its place", ErrLost)
	case info.State.LastSeq+1 >= next:
		r.missing = time.Time{}
		return nil
	default:
		err = fmt.Errorf("it ends at entry %d, and %d was read", info.State.LastSeq, next-1)
	}
	if r.missing.IsZero() {
		r.missing = time.Now()
	}
	if time.Since(r.missing) < c.cfg.lostAfter() {
		return nil
	}
	return fmt.Errorf("%w: %w", ErrLost, err)
}

// silent fails if the log has the next entry although nothing has come for a while: a consumer of a store that was damaged may say that it is
// there, and give nothing. A bus that is away comes back, or is lost.
func (c *Client) silent(ctx context.Context, next uint64) error {
	ctx, cancel := context.WithTimeout(ctx, askTime)
	defer cancel()
	info, err := c.log.Info(ctx)
	if err != nil || info.State.LastSeq < next {
		return nil
	}
	return fmt.Errorf("%w: entry %d, of %d", errSilent, next, info.State.LastSeq)
}

// errSilent says that a consumer does not give what is there.
var errSilent = errors.New("the log has an entry that does not come")
