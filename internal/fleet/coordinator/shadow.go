package coordinator

import (
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/schedule"
)

// shadow is another strategy that plans beside the one of a job, and of whose plans nothing is done.
type shadow struct {
	read   *reader
	memory *schedule.Memory
	diff   *schedule.Difference // since the job has this shadow, whichever coordinator and run of the job it was counted in
	spent  time.Duration
	told   time.Time
	lacks  bool // the nodes that are there do not have what it goes by: others may come
}

// A shadow may plan for this share of the time; cycles beyond that it is left out of. It is logged this often.
const (
	shadowShare = 0.05
	shadowEvery = time.Minute
)

// shadow returns the shadow of a job that runs with a strategy, nil if there is none.
func (c *Coordinator) shadow(now time.Time, j *frontier.Job, spec string) (*shadow, error) {
	if c.cfg.Shadow == "" || c.cfg.Shadow == spec {
		delete(c.shadows, j.ID)
		return nil, nil
	}
	read, err := c.lore.reader(c.cfg.Shadow, &j.Placing)
	if err != nil {
		return nil, err
	}
	read.remember(c.f.Jobs)
	diff := c.shadows[j.ID]
	if diff == nil {
		diff = &schedule.Difference{Otherwise: crawl.Otherwise{Strategy: c.cfg.Shadow}}
		if b := j.Otherwise; b != nil && b.Strategy == c.cfg.Shadow {
			diff.Otherwise = *b
		}
		c.shadows[j.ID] = diff
	}
	diff.Failed = ""
	return &shadow{read: read, told: now, diff: diff}, nil
}

// beside has the shadow of a run plan from the snapshot that the real strategy has planned from, and counts where they differ.
// It returns the shadow's nodes of tasks of which it thinks otherwise.
func (c *Coordinator) beside(now time.Time, j *frontier.Job, r *run, s *schedule.Snapshot, plan schedule.Plan) map[uint32]string {
	w := r.shadow
	if w == nil || w.diff.Failed != "" && !w.lacks {
		return nil
	}
	if err := schedule.CheckNames(w.read.strategy, nil, s.Nodes, false); err != nil {
		w.diff.Failed, w.lacks = err.Error(), true
		return nil
	} else if w.lacks {
		w.diff.Failed, w.lacks = "", false
	}
	if float64(w.spent) > shadowShare*float64(now.Sub(r.begun)) {
		w.diff.Skipped++
		return nil
	}
	watch := start()
	c.lore.landmarks(w.read, j.Placing.Landmarks, s.Nodes, s.Now)
	book := w.read.book
	for i := range s.Nodes {
		if g := learn.Group(s.Nodes[i].Labels); g != "" {
			book.SetGroup(s.Nodes[i].Book, g)
		}
	}
	book.Fit()
	own := *s
	own.Book, own.Memory = book, w.memory
	other, err := schedule.Cycle(&own, w.read.strategy)
	if err != nil { // a strategy that is broken costs its shadow, not the crawl
		w.diff.Failed = err.Error()
		c.cfg.Logger.Warn("the shadow is left out", "strategy", w.diff.Strategy, "error", err)
		return nil
	}
	w.memory = other.Memory
	differs := w.diff.Compare(s, plan, other)
	w.spent += watch.took()
	if now.Sub(w.told) >= shadowEvery {
		w.told = now
		c.tellShadow(j.ID, w)
	}
	return differs
}

// tellShadow logs how far a shadow's plans are from the real ones.
func (c *Coordinator) tellShadow(job uint32, w *shadow) {
	if w == nil || w.diff.Cycles == 0 {
		return
	}
	d := w.diff
	c.cfg.Logger.Info("shadow", "job", job, "strategy", d.Strategy, "cycles", d.Cycles, "skipped", d.Skipped, "same", d.Same, "other", d.Other,
		"would-wait", d.Waits, "would-give", d.Gives, "expected", share(d.Shadow, d.Real))
}

// share is a of b, 1 where there is none.
func share(a, b float64) float64 {
	if b <= 0 {
		return 1
	}
	return a / b
}
