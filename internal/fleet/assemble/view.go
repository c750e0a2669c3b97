package assemble

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/outdir"
)

// stopQuestion asks a crawl to end, as an interrupt does.
const stopQuestion = "stop"

// answer answers other processes of the same user while a crawl runs: "checkpoint DIR" makes a copy of the view there, "stop" ends
// the crawl.
func (cr *Crawl) answer(ctx context.Context, question string) error {
	if question == stopQuestion {
		cr.stopped.Do(func() { close(cr.stop) })
		return nil
	}
	dir, ok := strings.CutPrefix(question, outdir.Checkpoint)
	if !ok {
		return outdir.ErrQuestion
	}
	return cr.copyTo(ctx, dir)
}

// ErrNotRunning says that no process works in a directory.
var ErrNotRunning = errors.New("no crawl runs there")

// Stop ends the crawl that runs in a directory, as an interrupt does, and returns when it has ended and everything is saved.
func Stop(ctx context.Context, dir string) error {
	if !outdir.Running(dir) {
		return fmt.Errorf("%s: %w", dir, ErrNotRunning)
	}
	if err := outdir.AskWhileHeld(ctx, dir, stopQuestion); err != nil && outdir.Running(dir) {
		return fmt.Errorf("%s: it does not answer: %w", dir, err)
	}
	for outdir.Running(dir) { // it closes what it has, the lock last
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
	return nil
}

// View calls fn with the frontier of a crawl's directory (DefaultConfig): of one at rest, with all of its log applied, or, if a process holds
// it, with a copy as it is at this moment. running says whether that one works there, and does not only show it. A coordinator's directory at rest is read as that has left it: what
// the log holds beyond it is not applied.
func View(ctx context.Context, cfg Config, fn func(f *frontier.Frontier, running bool) error) error {
	dir := cfg.Dir
	if outdir.Fleet(dir) {
		if err := viewLeft(dir, fn); !errors.Is(err, outdir.ErrInUse) {
			return err
		}
		return viewRunning(ctx, dir, fn)
	}
	cfg.Idle = true
	cr, err := Open(ctx, cfg)
	if errors.Is(err, outdir.ErrInUse) {
		if err = viewRunning(ctx, dir, fn); !errors.Is(err, outdir.ErrInUse) || outdir.Running(dir) {
			return err
		}
		cr, err = Open(ctx, cfg) // it has ended meanwhile
	}
	if err != nil {
		return err
	}
	return errors.Join(cr.idle(ctx, func(ctx context.Context, co *coordinator.Coordinator) error {
		return co.View(ctx, func(f *frontier.Frontier) error { return fn(f, false) })
	}), cr.Close())
}

// Show opens the directory of a crawl at rest, applies what its log still holds, and calls fn with it, for as long as fn
// needs; no job runs meanwhile. Other processes can read the directory, and are told that nothing runs there.
func Show(ctx context.Context, cfg Config, fn func(context.Context, *Crawl) error) error {
	cfg.Idle = true
	cr, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	control, err := outdir.ListenAtRest(cfg.Dir, func(ctx context.Context, to string) error {
		return errors.Join(cr.co.Settled(ctx), cr.copyTo(ctx, to)) // what the ledger has not read yet would seem to be a difference
	})
	if err != nil {
		return errors.Join(err, cr.Close())
	}
	cr.opened.Add(control.Close)
	err = cr.idle(ctx, func(ctx context.Context, _ *coordinator.Coordinator) error { return fn(ctx, cr) })
	if ctx.Err() != nil && errors.Is(err, context.Canceled) {
		err = nil // it was shown for as long as it was to be
	}
	return errors.Join(err, cr.Close())
}

// copyTo makes a copy of the view.
func (cr *Crawl) copyTo(ctx context.Context, dir string) error {
	return cr.co.View(ctx, func(f *frontier.Frontier) error { return f.Checkpoint(dir) })
}

// Do opens a crawl's directory, applies what its log still holds, and calls fn with its coordinator; no job runs meanwhile. Then the
// index is written again, since fn may have changed what the ledger names.
func Do(ctx context.Context, cfg Config, fn func(ctx context.Context, co *coordinator.Coordinator) error) error {
	cfg.Idle = true
	cr, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	if err = cr.idle(ctx, fn); err == nil {
		err = cr.WriteIndex(ctx)
	}
	return errors.Join(err, cr.Close())
}

func (cr *Crawl) idle(ctx context.Context, fn func(ctx context.Context, co *coordinator.Coordinator) error) error {
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() {
		err := cr.co.Run(ctx)
		cancel() // nobody answers fn any more
		done <- err
	}()
	err := cr.co.View(ctx, func(f *frontier.Frontier) error { return outdir.Bereft(ctx, cr.cfg.Dir, f, cr.ledger) })
	if err == nil {
		err = fn(ctx, cr.co)
	}
	if err == nil { // what was ordered is in the frontier, too, when it is closed
		err = cr.co.Settled(ctx)
	}
	cancel()
	if rerr := <-done; rerr != nil && !errors.Is(rerr, context.Canceled) {
		return outdir.Mend(cr.cfg.Dir, rerr) // what fn says follows from it
	}
	return err
}

// viewLeft opens what a coordinator has left, to read it.
func viewLeft(dir string, fn func(*frontier.Frontier, bool) error) error {
	lock, err := outdir.Lock(dir)
	if err != nil {
		return err
	}
	fc := frontier.DefaultConfig(outdir.Frontier(dir))
	fc.ReadOnly = true
	f, err := frontier.Open(fc)
	if err != nil {
		return errors.Join(err, lock.Close())
	}
	return errors.Join(fn(f, false), f.Close(), lock.Close())
}

// viewRunning reads a copy of what the process that holds a directory has.
func viewRunning(ctx context.Context, dir string, fn func(*frontier.Frontier, bool) error) error {
	return outdir.Copied(ctx, dir, func(f *frontier.Frontier) error { return fn(f, outdir.Running(dir)) })
}
