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
