package lab

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"argosy/internal/plan/sim"
)

// line is a result as it is kept.
type line struct {
	job
	outcome
}

// resume reads the results of an interrupted comparison and opens the file to add to them.
func (c *comparison) resume() error {
	if c.cfg.Results == "" {
		return nil
	}
	f, err := openResults(c.cfg.Results, func(b []byte) error {
		var l line
		if err := json.Unmarshal(b, &l); err != nil || l.Kind == "" {
			return errors.New("not a result of a comparison")
		}
		c.got[l.job] = l.outcome
		return nil
	})
	if err == nil {
		c.keep = f
	}
	return err
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

// progress tells how far a run is: on a terminal by a line that is written over, else by a line now and then.
type progress struct {
	w     io.Writer
	over  bool
	mu    sync.Mutex
	begun time.Time
	shown time.Time
	left  int
	done  int
}

// progress is of so many runs.
func (c Config) progress(left int) *progress {
	return &progress{w: c.Progress, over: c.Screen, begun: time.Now(), left: left}
}

func newProgress(cfg Config, left, had int) *progress {
	p := cfg.progress(left)
	if p.w == nil || left == 0 {
		return p
	}
	if had > 0 {
		fmt.Fprintf(p.w, "%d results are there from before\n", had)
	}
	one := pilot()
	fmt.Fprintf(p.w, "%s, about %s on %s\n", several(left, "run"), roughly(time.Duration(float64(left)*float64(one)/float64(runtime.GOMAXPROCS(0)))), several(runtime.GOMAXPROCS(0), "processor"))
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
	return several(max(1, int(d.Seconds()+0.5)), "second")
}

// several is a number of things.
func several(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// did counts a run and now and then says how long the rest takes.
func (p *progress) did(kind, spec string, took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done++
	every := overEvery
	if !p.over {
		every = lineEvery
	}
	if p.w == nil || time.Since(p.shown) < every || p.done == p.left {
		return
	}
	p.shown = time.Now()
	rest := time.Duration(float64(time.Since(p.begun)) / float64(p.done) * float64(p.left-p.done))
	text := fmt.Sprintf("%d of %d, %s left; last: %s in %s, %.1f s", p.done, p.left, roughly(rest), spec, kind, took.Seconds())
	if p.over {
		fmt.Fprint(p.w, "\r\x1b[K"+text)
	} else {
		fmt.Fprintln(p.w, text)
	}
}

// How often it is told how far a run is, where a line can be written over and where not.
const (
	overEvery = 2 * time.Second
	lineEvery = 10 * time.Second
)

func (p *progress) end() {
	if p.w != nil && p.over && !p.shown.IsZero() {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
