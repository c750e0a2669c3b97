package assemble

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"argosy/internal/fleet/coordinator"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/outdir"
)

const (
	socketFile = "control.sock"
	// maxSocketPath bounds the path of a Unix socket on every system: 104 bytes on the BSDs, with a zero at the end.
	maxSocketPath = 100
	askTimeout    = time.Minute
)

// control answers other processes of the same user while a crawl runs. It knows one question, "checkpoint DIR": it makes a
// copy of the view there.
type control struct {
	l    net.Listener
	temp string // directory of a socket whose proper path is too long
	wg   sync.WaitGroup
	mu   sync.Mutex
	open map[net.Conn]bool
}

// listenControl begins to answer. The state directory is the user's alone, and so is its socket.
func (cr *Crawl) listenControl(state string) (c *control, err error) {
	c = &control{open: map[net.Conn]bool{}}
	path := filepath.Join(state, socketFile)
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	at := path
	if len(path) > maxSocketPath { // then it stands elsewhere, and a link says where
		if c.temp, err = os.MkdirTemp("", "argosy-"); err != nil {
			return nil, err
		}
		at = filepath.Join(c.temp, socketFile)
		if err := os.Symlink(at, path); err != nil {
			return nil, errors.Join(err, os.RemoveAll(c.temp))
		}
	}
	if c.l, err = net.Listen("unix", at); err != nil {
		return nil, err
	}
	c.wg.Go(func() {
		for {
			conn, err := c.l.Accept()
			if err != nil {
				return
			}
			c.mu.Lock()
			c.open[conn] = true
			c.mu.Unlock()
			c.wg.Go(func() {
				cr.answerControl(conn)
				c.mu.Lock()
				delete(c.open, conn)
				c.mu.Unlock()
			})
		}
	})
	return c, nil
}

// answerControl answers one question.
func (cr *Crawl) answerControl(conn net.Conn) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(askTimeout))
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	dir, ok := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "checkpoint ")
	if !ok {
		_, _ = fmt.Fprintln(conn, "not understood") // who is gone need not know
		return
	}
	err = cr.co.View(ctx, func(f *frontier.Frontier) error { return f.Checkpoint(dir) })
	answer := "done"
	if err != nil {
		answer = err.Error()
	}
	_, _ = fmt.Fprintln(conn, answer)
}

func (c *control) close() error {
	if c == nil {
		return nil
	}
	err := c.l.Close()
	c.mu.Lock()
	for conn := range c.open {
		_ = conn.Close()
	}
	c.mu.Unlock()
	c.wg.Wait()
	if c.temp != "" {
		err = errors.Join(err, os.RemoveAll(c.temp))
	}
	return err
}

// View calls fn with the frontier of a crawl's directory: of one at rest, with all of its log applied, or, if a process works
// there, with a copy as it is at this moment. running says which.
func View(ctx context.Context, dir string, fn func(f *frontier.Frontier, running bool) error) error {
	cfg := DefaultConfig(dir)
	cfg.Idle = true
	cr, err := Open(ctx, cfg)
	if errors.Is(err, outdir.ErrInUse) {
		return viewRunning(ctx, dir, fn)
	}
	if err != nil {
		return err
	}
	return errors.Join(cr.idle(ctx, func(ctx context.Context, co *coordinator.Coordinator) error {
		return co.View(ctx, func(f *frontier.Frontier) error { return fn(f, false) })
	}), cr.Close())
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
	go func() { done <- cr.co.Run(ctx) }()
	err := fn(ctx, cr.co)
	cancel()
	if rerr := <-done; !errors.Is(rerr, context.Canceled) {
		err = errors.Join(err, rerr)
	}
	return err
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
	if err := ask(ctx, state, "checkpoint "+at); err != nil {
		return fmt.Errorf("%s: %w, which does not answer: %w", dir, outdir.ErrInUse, err)
	}
	f, err := frontier.Open(frontier.DefaultConfig(at))
	if err != nil {
		return err
	}
	return errors.Join(fn(f, true), f.Close())
}

// ask puts a question to the process that works in a directory.
func ask(ctx context.Context, state, question string) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	path := filepath.Join(state, socketFile)
	if to, err := os.Readlink(path); err == nil {
		path = to
	}
	conn, err := (&net.Dialer{}).DialContext(ctx, "unix", shorter(path))
	if err != nil {
		return err
	}
	defer conn.Close()
	if deadline, ok := ctx.Deadline(); ok {
		_ = conn.SetDeadline(deadline)
	}
	if _, err := fmt.Fprintln(conn, question); err != nil {
		return err
	}
	answer, err := bufio.NewReader(conn).ReadString('\n')
	if answer = strings.TrimSpace(answer); answer == "done" {
		return nil
	}
	if answer != "" {
		return errors.New(answer)
	}
	return err
}

// shorter returns a path from here, if that is shorter.
func shorter(path string) string {
	if here, err := os.Getwd(); err == nil {
		if rel, err := filepath.Rel(here, path); err == nil && len(rel) < len(path) {
			return rel
		}
	}
	return path
}
