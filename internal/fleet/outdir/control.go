package outdir

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"argosy/internal/fleet/frontier"
)

const (
	socketFile = "control.sock"
	// maxSocketPath bounds the path of a Unix socket on every system: 104 bytes on the BSDs, with a zero at the end.
	maxSocketPath = 100
	askTimeout    = time.Minute
	restTimeout   = 2 * time.Second // the answer needs nothing that could be busy
)

// Checkpoint begins the question that asks for a copy of the view; the rest is the directory for it, which is not there yet.
const Checkpoint = "checkpoint "

// restQuestion asks a process that holds a directory whether it leaves it as it is.
const restQuestion = "rest"

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

// rests reports whether the process that holds a directory only shows it. One that does not answer may do more.
func rests(dir string) bool {
	ctx, cancel := context.WithTimeout(context.Background(), restTimeout)
	defer cancel()
	return Ask(ctx, dir, restQuestion) == nil
}

// ListenAtRest begins to answer for a directory that this process shows and leaves as it is: that it does, and with copies of its view.
func ListenAtRest(dir string, copyTo func(ctx context.Context, dir string) error) (*Control, error) {
	return Listen(dir, func(ctx context.Context, question string) error {
		if question == restQuestion {
			return nil
		}
		at, ok := strings.CutPrefix(question, Checkpoint)
		if !ok {
			return ErrQuestion
		}
		return copyTo(ctx, at)
	})
}

// Copied has the process that holds a directory copy its view, and calls fn with the frontier of the copy. Files are linked, so that
// it costs next to nothing.
func Copied(ctx context.Context, dir string, fn func(*frontier.Frontier) error) (err error) {
	state, err := filepath.Abs(State(dir))
	if err != nil {
		return err
	}
	temp, err := os.MkdirTemp(state, "view-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(temp)) }()
	at := filepath.Join(temp, "frontier")
	if err := AskWhileHeld(ctx, dir, Checkpoint+at); err != nil {
		return fmt.Errorf("%s: %w, which does not answer: %w", dir, ErrInUse, err)
	}
	fc := frontier.DefaultConfig(at)
	fc.ReadOnly = true
	f, err := frontier.Open(fc)
	if err != nil {
		return err
	}
	return errors.Join(fn(f), f.Close())
}

// askPatience is how long a process may take from its lock to its socket, when it begins and when it ends.
const askPatience = 10 * time.Second

// AskWhileHeld is Ask, again and again as long as a process works in the directory: one that begins, or ends, has no socket.
func AskWhileHeld(ctx context.Context, dir, question string) error {
	for end := time.Now().Add(askPatience); ; {
		err := Ask(ctx, dir, question)
		var op *net.OpError
		if !errors.As(err, &op) && !errors.Is(err, io.EOF) || !Running(dir) || time.Now().After(end) {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(50 * time.Millisecond):
		}
	}
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
