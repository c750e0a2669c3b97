package assemble

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
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
	return cr.co.View(ctx, func(f *frontier.Frontier) error { return f.Checkpoint(dir) })
}

// ErrNotRunning says that no process works in a directory.
var ErrNotRunning = errors.New("no crawl runs there")

// Stop ends the crawl that runs in a directory, as an interrupt does, and returns when it has ended and everything is saved.
func Stop(ctx context.Context, dir string) error {
	if !outdir.Running(dir) {
		return fmt.Errorf("%s: %w", dir, ErrNotRunning)
	}
	if err := ask(ctx, dir, stopQuestion); err != nil && outdir.Running(dir) {
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

// askPatience is how long a process may take from its lock to its socket, when it begins and when it ends.
const askPatience = 10 * time.Second

// ask puts a question to the process that works in a directory, as long as one does: one that begins, or ends, has no socket.
func ask(ctx context.Context, dir, question string) error {
	for end := time.Now().Add(askPatience); ; {
		err := outdir.Ask(ctx, dir, question)
		var op *net.OpError
		if !errors.As(err, &op) && !errors.Is(err, io.EOF) || !outdir.Running(dir) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
}

// View calls fn with the frontier of a crawl's directory: of one at rest, with all of its log applied, or, if a process works
// there, with a copy as it is at this moment. running says which. A coordinator's directory at rest is read as that has left it: what
// the log holds beyond it is not applied.
func View(ctx context.Context, dir string, fn func(f *frontier.Frontier, running bool) error) error {
	if outdir.Fleet(dir) && !outdir.Running(dir) {
		return viewLeft(dir, fn)
	}
	cfg := DefaultConfig(dir)
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
// needs; no job runs meanwhile.
func Show(ctx context.Context, dir string, fn func(context.Context, *Crawl) error) error {
	cfg := DefaultConfig(dir)
	cfg.Idle = true
	cr, err := Open(ctx, cfg)
	if err != nil {
		return err
	}
	err = cr.idle(ctx, func(ctx context.Context, _ *coordinator.Coordinator) error { return fn(ctx, cr) })
	return errors.Join(err, cr.Close())
}

// Do opens a crawl's directory, applies what its log still holds, and calls fn with its coordinator; no job runs meanwhile. Then the
// index is written again, since fn may have changed what the ledger names.
func Do(ctx context.Context, dir string, fn func(ctx context.Context, co *coordinator.Coordinator) error) error {
	cfg := DefaultConfig(dir)
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
	err := fn(ctx, cr.co)
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

// viewRunning has the process that works in a directory copy its view, and opens the copy. Files are linked, so that it costs
// next to nothing.
func viewRunning(ctx context.Context, dir string, fn func(*frontier.Frontier, bool) error) (err error) {
	state, err := filepath.Abs(outdir.State(dir))
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp(state, "view-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	at := filepath.Join(temp, "frontier")
	if err := ask(ctx, dir, outdir.Checkpoint+at); err != nil {
		return fmt.Errorf("%s: %w, which does not answer: %w", dir, outdir.ErrInUse, err)
	}
	f, err := frontier.Open(frontier.DefaultConfig(at))
	if err != nil {
		return err
	}
	return errors.Join(fn(f, true), f.Close())
}
