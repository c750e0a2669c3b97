package coordinator

import (
	"context"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/term"
)

// Frontier and ledger have the same pages of a job (crawl.Ended). They read the same log, so they differ only where one of them was
// damaged or restored from a copy, or where the log has lost its end: the frontier had applied what the ledger never saw. It is
// looked for before a job is called done, when a term begins, and by argosy verify.

const (
	mendPages = 5_000 // in an entry
	mendTries = 5     // in a run; then the job is a person's
)

// agree reports whether frontier and ledger have the same pages of a job. What only one of them has is pending again, for both, or, of a
// search that a person has changed since, given up.
func (s *sinks) agree(ctx context.Context, j *frontier.Job) (bool, error) {
	var ended crawl.Ended
	err := s.persist(ctx, func(ctx context.Context) (err error) {
		ended, err = s.ledger.Ended(ctx, j.ID)
		return err
	})
	if err != nil || ended == j.Ended {
		return err == nil, err
	}
	var lost []crawl.Page
	var past int
	err = s.persist(ctx, func(ctx context.Context) (err error) {
		lost, past, err = s.differ(ctx, j.ID)
		return err
	})
	if err != nil || len(lost) == 0 { // they differ by what came of tasks that had been dropped
		return err == nil, err
	}
	s.logger.Error("frontier and ledger do not agree: pages are had again, and result pages given up of searches that were changed since",
		"job", j.ID, "pages", len(lost)-past, "given up", past, "frontier", j.Ended.URLs, "ledger", ended.URLs)
	for len(lost) > 0 {
		n := min(len(lost), mendPages)
		r := &crawl.Release{Job: j.ID, Lost: lost[:n], Mend: true, Keep: true, Why: "frontier and ledger did not agree"}
		if err := s.append(ctx, &crawl.Entry{Kind: crawl.EntryRetry, Release: r}); err != nil {
			return false, err
		}
		lost = lost[n:]
	}
	return false, nil
}

// askedAgain has the ledger put beside the pages what was archived of those that searches ask for again: it does not know what they wait
// for, and would keep the older answers. Nothing of them is given out before it is in the log, whoever leads by then.
func (s *sinks) askedAgain(ctx context.Context) (err error) {
	s.f.Jobs(func(j *frontier.Job) {
		for _, r := range inPieces(crawl.Release{Job: j.ID, Lost: j.Again, Mend: true, Keep: true, Why: "asked for again"}) {
			if err == nil && len(r.Lost) > 0 {
				err = s.append(ctx, &crawl.Entry{Kind: crawl.EntryRetry, Release: &r})
			}
		}
	})
	return err
}

// differ returns the pages of which frontier and ledger do not say the same, and how many of them are past: of searches as they were
// before a person changed them. It does not return those of dropped tasks: they are given up.
func (s *sinks) differ(ctx context.Context, job uint32) (lost []crawl.Page, past int, err error) {
	ends := map[crawl.Page]crawl.State{}
	err = s.ledger.Ends(ctx, job, func(p crawl.Page, state crawl.State, _ crawl.Kind) error {
		ends[p] = state
		return nil
	})
	if err != nil {
		return nil, 0, err
	}
	err = s.f.URLs(job, func(u frontier.URL) error {
		p := crawl.Page{Layer: u.Layer, Key: u.Key}
		state, known := ends[p]
		delete(ends, p)
		ended := crawl.EndedByNode(u.State, u.Reason)
		t := s.f.Task(u.Task)
		switch {
		case t == nil || t.State == crawl.TaskDropped:
		case ended && state != u.State, known && u.State == crawl.Pending:
			lost = append(lost, p)
			if u.Layer != (crawl.Layer{Owner: t.Owner, Gen: t.Gen}) {
				past++
			}
		}
		return nil
	})
	for p := range ends { // of URLs that the frontier has never heard of
		lost = append(lost, p)
	}
	return lost, past, err
}

// submitAgain takes jobs in anew that only the ledger has: the frontier was made anew.
func (c *Coordinator) submitAgain(ctx context.Context) error {
	var kept []ledger.Kept
	err := c.sinks.persist(ctx, func(ctx context.Context) (err error) {
		kept, err = c.sinks.ledger.KeptJobs(ctx)
		return err
	})
	if err != nil {
		return err
	}
	for i := range kept {
		k := &kept[i]
		switch {
		case c.f.Job(k.ID) != nil:
			continue
		case k.Identity.List != nil:
			c.cfg.Logger.Error("a job of which the list of seeds is lost: submit it again", "job", k.ID, "name", k.Name)
			continue
		}
		state := crawl.JobRunning
		if k.State == crawl.JobPaused || k.State == crawl.JobCancelled {
			state = k.State
		}
		c.cfg.Logger.Error("a job that only the ledger has begins again", "job", k.ID, "name", k.Name)
		if err := c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntrySubmit, Job: &k.Job}); err != nil {
			return err
		}
		if err := c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryState, State: &crawl.JobState{Job: k.ID, State: state}}); err != nil {
			return err
		}
	}
	return nil
}

// agreed has every job agree that is not worked on; those that are do so before they are called done.
func (c *Coordinator) agreed(ctx context.Context, now time.Time) error {
	var ended []*frontier.Job
	c.f.Jobs(func(j *frontier.Job) {
		if j.State != crawl.JobRunning && j.State != crawl.JobCancelled {
			ended = append(ended, j)
		}
	})
	for _, j := range ended {
		ok, err := c.sinks.agree(ctx, j)
		if err == nil && !ok && j.State != crawl.JobPaused {
			err = c.setState(ctx, now, j, crawl.JobRunning)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// adopt gives the ledger the jobs and leases that the frontier has: the log has lost its end, and those with it.
func (s *sinks) adopt(ctx context.Context, now time.Time) error {
	leases, parts := s.f.Granted()
	var jobs []ledger.Kept
	s.f.Jobs(func(j *frontier.Job) { jobs = append(jobs, ledger.Kept{Job: j.Job, State: j.State, At: j.StartMS}) })
	return s.persist(ctx, func(ctx context.Context) error { return s.ledger.Adopt(ctx, jobs, leases, parts, now.UnixMilli()) })
}

// rests is until when nothing of a job is given out: a log that has lost its end may have lost leases that nodes still hold, and
// nobody knows which. They were given out before the term began, also those at sites that a newer job has as well.
func (c *Coordinator) rests(j *frontier.Job) time.Time {
	if !c.sinks.lost || c.cfg.Alone {
		return time.Time{}
	}
	return c.hearing.Began.Add(term.Of(&j.Limits).Recall())
}

// doubtful is how many terms are passed over when the log has lost its end: it may have lost that many, whose numbers, and those of
// their leases, must not come again.
const doubtful = 1000

// next numbers the term that begins.
func (s *sinks) next(ctx context.Context) error {
	s.epoch = s.f.Epoch() + 1
	if !s.lost {
		return nil
	}
	return s.persist(ctx, func(ctx context.Context) error {
		last, err := s.ledger.Epoch(ctx)
		s.epoch = max(s.epoch, last+1) + doubtful
		return err
	})
}
