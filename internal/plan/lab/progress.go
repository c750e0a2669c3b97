package lab

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"sync"
	"time"

	"argosy/internal/plan/sim"
)

// header is the first line of a file of results: what was run, so that what has changed is not taken for it.
type header struct {
	Build string `json:"build"`
}

// Build names the program that results come from.
func Build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	out := info.Main.Version
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" || s.Key == "vcs.modified" {
			out += " " + s.Value
		}
	}
	return out
}

// line is a result as it is kept.
type line struct {
	job
	outcome
}

// maxResults bounds what is read of a file of results, bytes.
const maxResults = 1 << 30

// resume reads the results of an interrupted comparison and opens the file to add to them.
func (c *comparison) resume() error {
	if c.cfg.Results == "" {
		return nil
	}
	name := c.cfg.Results
	f, err := os.OpenFile(name, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	whole, err := c.read(f, name)
	if err == nil && whole == 0 {
		var b []byte
		if b, err = json.Marshal(header{Build()}); err == nil {
			_, err = f.WriteAt(append(b, '\n'), 0)
			whole = int64(len(b)) + 1
		}
	}
	if err == nil { // what was written in part when it was interrupted goes
		if err = f.Truncate(whole); err == nil {
			_, err = f.Seek(whole, io.SeekStart)
		}
	}
	if err != nil {
		return errors.Join(err, f.Close())
	}
	c.keep = f
	return nil
}

// read takes in whole lines and returns where they end.
func (c *comparison) read(f fs.File, name string) (whole int64, err error) {
	r := bufio.NewReader(io.LimitReader(f, maxResults))
	for n := 1; ; n++ {
		b, err := r.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return whole, nil
		} else if err != nil {
			return 0, err
		}
		if n == 1 {
			var h header
			if json.Unmarshal(b, &h) != nil || h.Build == "" {
				return 0, fmt.Errorf("%s: not a file of results", name)
			}
			if h.Build != Build() {
				return 0, fmt.Errorf("%s: of another build (%s, this is %s): name another file", name, h.Build, Build())
			}
		} else {
			var l line
			if err := json.Unmarshal(b, &l); err != nil {
				return 0, fmt.Errorf("%s: line %d: %w", name, n, err)
			}
			c.got[l.job] = l.outcome
		}
		whole += int64(len(b))
	}
}

// take keeps a result.
func (c *comparison) take(j job, r sim.Result, gap float64) error {
	o := outcome{Share: r.Share(), Gap: gap, Moves: r.Moves, Probes: r.Probes}
	if r.Asked > 0 {
		o.Completed, o.P95 = r.Completed/r.Asked, r.P95
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.got[j] = o
	if c.keep == nil {
		return nil
	}
	b, err := json.Marshal(line{j, o})
	if err == nil {
		_, err = c.keep.Write(append(b, '\n'))
	}
	return err
}

func (c *comparison) close() {
	if c.keep != nil {
		_ = c.keep.Close() // every line is written as it comes
	}
}

// progress tells how far a comparison is.
type progress struct {
	w     io.Writer
	mu    sync.Mutex
	begun time.Time
	shown time.Time
	left  int
	done  int
}

func newProgress(cfg Config, left, had int) *progress {
	p := &progress{w: cfg.Progress, begun: time.Now(), left: left}
	if p.w == nil || left == 0 {
		return p
	}
	if had > 0 {
		fmt.Fprintf(p.w, "%d results are there from before\n", had)
	}
	one := pilot()
	fmt.Fprintf(p.w, "%d runs, about %s on %d processors\n", left, roughly(time.Duration(float64(left)*float64(one)/float64(runtime.GOMAXPROCS(0)))), runtime.GOMAXPROCS(0))
	p.begun = time.Now()
	return p
}

// pilot is what a run takes on average, by what one of flow and one of random take here in the base world: most worlds
// are of its size, and half of the strategies think little.
func pilot() time.Duration {
	w := sim.Kinds()[0].World(Publish.seed(1))
	began := time.Now()
	bound := w.Bound()
	for _, spec := range []string{"flow", "random"} {
		if _, err := simulate(w, spec, bound); err != nil {
			return 0
		}
	}
	return time.Since(began) / 2
}

func roughly(d time.Duration) string {
	switch {
	case d > 90*time.Minute:
		return fmt.Sprintf("%.1f hours", d.Hours())
	case d > 90*time.Second:
		return fmt.Sprintf("%.0f minutes", d.Minutes())
	}
	return fmt.Sprintf("%.0f seconds", max(1, d.Seconds()))
}

// did counts a run and now and then says how long the rest takes.
func (p *progress) did(kind, spec string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	if p.w == nil || time.Since(p.shown) < 2*time.Second {
		return
	}
	p.shown = time.Now()
	rest := time.Duration(float64(time.Since(p.begun)) / float64(p.done) * float64(p.left-p.done))
	fmt.Fprintf(p.w, "\r\x1b[K%d of %d, %s left; last: %s in %s, %.1f s", p.done, p.left, roughly(rest), spec, kind, took.Seconds())
}

func (p *progress) end() {
	if p.w != nil && !p.shown.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
