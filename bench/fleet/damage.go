package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"syscall"
	"time"
)

// hurt kills the coordinator, has something done to its directory, and starts it again, after the commands that it names if it does
// not start.
func (f *fleet) hurt(ctx context.Context, what func(dir string) error) error {
	c, dir := f.coordinators[0], filepath.Join(f.dir, "c0")
	c.End(syscall.SIGKILL)
	if err := what(dir); err != nil {
		return err
	}
	for range 4 {
		said, err := os.ReadFile(c.Log)
		if err != nil {
			return err
		}
		if err := c.Start(); err != nil {
			return err
		}
		ended := false
		err = f.eventually(ctx, "the coordinator starts, or says why not", func() bool {
			select {
			case <-c.Done:
				ended = true
			default:
			}
			_, err := f.client.Jobs(ctx)
			return ended || err == nil
		})
		if err != nil || !ended {
			return err
		}
		c.Cmd = nil
		if err := f.mend(c.Log, len(said), dir); err != nil {
			return err
		}
	}
	return errors.New("the coordinator does not start, whatever is mended")
}

var mends = regexp.MustCompile(`argosy rebuild (frontier|ledger|index) `)

// mend runs the command that a log names behind a place.
func (f *fleet) mend(log string, from int, dir string) error {
	said, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	m := mends.FindSubmatch(said[from:])
	if m == nil {
		return fmt.Errorf("the coordinator has ended, and names no command: %s", said[from:])
	}
	args := []string{"rebuild", string(m[1]), dir}
	fmt.Fprintln(os.Stderr, "  argosy rebuild", string(m[1]))
	if err = f.argosy(args...); err == nil || !strings.Contains(err.Error(), "--store PLACE") {
		return err
	}
	for i := range f.agents { // where the archives are it cannot know
		args = append(args, "--store", filepath.Join(f.dir, fmt.Sprintf("store%d", i)))
	}
	fmt.Fprintln(os.Stderr, "  argosy rebuild", string(m[1]), "--store … for each")
	return f.argosy(args...)
}

// argosy runs a command.
func (f *fleet) argosy(args ...string) error {
	c := exec.Command(f.o.argosy, args...)
	c.Env = append(os.Environ(), "ARGOSY_TOKEN="+tokenOfBench, "ARGOSY_SERVER="+strings.Join(f.api, ","))
	if out, err := c.CombinedOutput(); err != nil {
		return fmt.Errorf("argosy %s: %w: %s", strings.Join(args, " "), err, out)
	}
	return nil
}

// largest returns the largest file below a directory whose path holds a word and ends so.
func largest(dir, word, ext string) (found string, size int64, err error) {
	err = filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !strings.Contains(path, word) || !strings.HasSuffix(path, ext) {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Size() > size {
			found, size = path, info.Size()
		}
		return err
	})
	if err == nil && found == "" {
		err = fmt.Errorf("no file %s below %s", ext, dir)
	}
	return found, size, err
}

// flip changes a byte in the middle of a file.
func flip(path string, size int64) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	b := make([]byte, 1)
	if _, err = file.ReadAt(b, size/2); err == nil {
		b[0] ^= 0xff
		_, err = file.WriteAt(b, size/2)
	}
	return errors.Join(err, file.Close())
}

// ofLog does something to the largest file of the log.
func ofLog(do func(path string, size int64) error) func(string) error {
	return func(dir string) error {
		path, size, err := largest(filepath.Join(dir, "state", "bus"), "ARGOSY_LOG", ".blk")
		if err != nil {
			return err
		}
		return do(path, size)
	}
}

func cutLog(n int64) func(string) error {
	return ofLog(func(path string, size int64) error { return os.Truncate(path, max(0, size-n)) })
}

func without(parts ...string) func(string) error {
	return func(dir string) (err error) {
		for _, part := range parts {
			err = errors.Join(err, os.RemoveAll(filepath.Join(dir, part)))
		}
		return err
	}
}

func damageLog(ctx context.Context, f *fleet) error {
	for _, what := range []func(string) error{cutLog(4 << 10), cutLog(64 << 10), ofLog(flip), without("state/bus")} {
		if err := errors.Join(f.hurt(ctx, what), pause(ctx, 2*f.term())); err != nil {
			return err
		}
	}
	return nil
}

func damageViews(ctx context.Context, f *fleet) error {
	for _, what := range []func(string) error{without("state/frontier"), without("argosy.db", "argosy.db-wal", "argosy.db-shm")} {
		if err := errors.Join(f.hurt(ctx, what), pause(ctx, 2*f.term())); err != nil {
			return err
		}
	}
	return nil
}

// damageBoth does something to the log and to one of its views at once: what the log lacks then, the other view alone knows.
func damageBoth(ctx context.Context, f *fleet) error {
	ledger, frontier := without("argosy.db", "argosy.db-wal", "argosy.db-shm"), without("state/frontier")
	for _, view := range []func(string) error{ledger, frontier} {
		both := func(dir string) error { return errors.Join(view(dir), cutLog(64<<10)(dir)) }
		if err := errors.Join(f.hurt(ctx, both), pause(ctx, 2*f.term())); err != nil {
			return err
		}
	}
	return nil
}

func olderBackup(ctx context.Context, f *fleet) error {
	kept := filepath.Join(f.dir, "backup")
	if err := f.argosy("backup", filepath.Join(f.dir, "c0"), kept); err != nil {
		return err
	}
	if err := pause(ctx, 10*time.Second); err != nil {
		return err
	}
	return f.hurt(ctx, func(dir string) error {
		return errors.Join(without("state", "argosy.db", "argosy.db-wal", "argosy.db-shm")(dir), f.argosy("restore", kept, dir))
	})
}

// damageArchives flips a byte of an archive and deletes another when the crawl is over, and has what is lost fetched again.
func damageArchives(ctx context.Context, f *fleet) error {
	if err := f.ended(ctx); err != nil {
		return err
	}
	for _, a := range f.agents { // what they write into has its name when they have ended
		a.End(syscall.SIGTERM)
	}
	for i, do := range []func(string, int64) error{flip, func(path string, _ int64) error { return os.Remove(path) }} {
		path, size, err := largest(filepath.Join(f.dir, fmt.Sprintf("store%d", i)), "", ".warc.gz")
		if err != nil {
			return err
		}
		if err := do(path, size); err != nil {
			return err
		}
	}
	for _, a := range f.agents {
		if err := a.Start(); err != nil {
			return err
		}
	}
	if f.argosy("verify", filepath.Join(f.dir, "c0")) == nil {
		return errors.New("verify is clean, although pages are missing")
	}
	if err := f.argosy("retry", fmt.Sprint(f.job), "--lost", "--fleet-dir", filepath.Join(f.dir, "c0")); err != nil {
		return err
	}
	return pause(ctx, time.Second)
}

// line leads to the database, and can be cut.
type line struct {
	l  net.Listener
	to string

	mu    sync.Mutex
	cut   bool
	conns []net.Conn
}

// newLine returns a line to the host of a URL, and the URL over it.
func newLine(place string) (*line, string, error) {
	u, err := url.Parse(place)
	if err != nil {
		return nil, "", err
	}
	n := &line{to: u.Host}
	if n.l, err = net.Listen("tcp", "127.0.0.1:0"); err != nil {
		return nil, "", err
	}
	u.Host = n.l.Addr().String()
	go func() {
		for {
			c, err := n.l.Accept()
			if err != nil {
				return
			}
			go n.pass(c)
		}
	}()
	return n, u.String(), nil
}

func (n *line) pass(c net.Conn) {
	d, err := net.Dial("tcp", n.to)
	if err != nil {
		_ = c.Close()
		return
	}
	n.mu.Lock()
	n.conns = append(n.conns, c, d)
	cut := n.cut
	n.mu.Unlock()
	if cut {
		n.set(true)
		return
	}
	go func() {
		_, _ = io.Copy(d, c)
		_ = d.Close()
	}()
	_, _ = io.Copy(c, d)
	_ = c.Close()
}

// set cuts the line, or mends it.
func (n *line) set(cut bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.cut = cut; cut {
		for _, c := range n.conns {
			_ = c.Close()
		}
		n.conns = nil
	}
}

// silentMost is how long nobody may answer while the database is away: until it has been noticed, and while the lead changes.
const silentMost = 10 * time.Second

// databaseAway cuts the database off for 45 s, then together with the leader's death, then while both coordinators start.
func databaseAway(ctx context.Context, f *fleet) error {
	f.line.set(true)
	last, longest := time.Now(), time.Duration(0)
	for begin := time.Now(); time.Since(begin) < 45*time.Second; {
		asked, done := context.WithTimeout(ctx, 5*time.Second)
		if _, err := f.client.Jobs(asked); err == nil {
			last = time.Now()
		}
		done()
		longest = max(longest, time.Since(last))
		if err := pause(ctx, 200*time.Millisecond); err != nil {
			return err
		}
	}
	f.line.set(false)
	fmt.Fprintf(os.Stderr, "  without the database nobody answered for %.1f s at most\n", longest.Seconds())
	if longest > silentMost {
		return fmt.Errorf("without the database nobody answered for %v", longest)
	}
	if err := pause(ctx, 5*time.Second); err != nil {
		return err
	}
	leads, err := f.leads(ctx)
	if err != nil {
		return err
	}
	f.line.set(true)
	f.coordinators[leads].End(syscall.SIGKILL)
	if err := pause(ctx, 12*time.Second); err != nil {
		return err
	}
	if err := f.coordinators[leads].Start(); err != nil {
		return err
	}
	f.line.set(false)
	if err := pause(ctx, 8*time.Second); err != nil {
		return err
	}
	f.line.set(true)
	for _, c := range f.coordinators {
		c.End(syscall.SIGKILL)
		if err := c.Start(); err != nil {
			return err
		}
	}
	if err := pause(ctx, 5*time.Second); err != nil {
		return err
	}
	resp, err := http.Get(f.api[0] + "/healthz")
	if err != nil {
		return fmt.Errorf("a coordinator that waits for its database does not say that it is alive: %w", err)
	}
	_ = resp.Body.Close()
	f.line.set(false)
	return f.lives()
}
