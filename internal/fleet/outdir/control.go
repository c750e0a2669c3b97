package outdir

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
)

const (
	socketFile = "control.sock"
	// maxSocketPath bounds the path of a Unix socket on every system: 104 bytes on the BSDs, with a zero at the end.
	maxSocketPath = 100
	askTimeout    = time.Minute
)

// Checkpoint begins the question that asks for a copy of the view; the rest is the directory for it, which is not there yet.
const Checkpoint = "checkpoint "

// ErrQuestion says that a question is not understood.
var ErrQuestion = errors.New("not understood")

// Control answers other processes of the same user while a process works in a directory.
type Control struct {
	l    net.Listener
	temp string // directory of a socket whose proper path is too long
	wg   sync.WaitGroup
	mu   sync.Mutex
	open map[net.Conn]bool
}

// Listen begins to answer the questions that are asked of a directory. Its state is the user's alone, and so is the socket there.
func Listen(dir string, to func(ctx context.Context, question string) error) (c *Control, err error) {
	state := State(dir)
	c = &Control{open: map[net.Conn]bool{}}
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
				answer(conn, to)
				c.mu.Lock()
				delete(c.open, conn)
				c.mu.Unlock()
			})
		}
	})
	return c, nil
}

// answer answers one question.
func answer(conn net.Conn, to func(ctx context.Context, question string) error) {
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(askTimeout))
	line, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), askTimeout)
	defer cancel()
	said := "done"
	if err := to(ctx, strings.TrimSuffix(line, "\n")); err != nil {
		said = strings.ReplaceAll(err.Error(), "\n", "; ")
	}
	_, _ = fmt.Fprintln(conn, said) // who is gone need not know
}

// Close stops answering. A nil Control is closed already.
func (c *Control) Close() error {
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

// Ask puts a question to the process that works in a directory.
func Ask(ctx context.Context, dir, question string) error {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	path := filepath.Join(State(dir), socketFile)
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
