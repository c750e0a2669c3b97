package verify

import (
	"context"
	"errors"
	"os"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// stateOf is the final state of a word in the ledger.
func stateOf(word string) crawl.State {
	for _, s := range []crawl.State{crawl.Fetched, crawl.Failed, crawl.Excluded} {
		if s.String() == word {
			return s
		}
	}
	return 0
}

// sinks compares the frontier with the ledger's pages, which have been read, and with its own counts.
func (r *Report) sinks(ctx context.Context, p Place, l *ledger.Ledger, jobs []uint32) error {
	dir := outdir.Frontier(p.Dir)
	if p.Running || outdir.Running(p.Dir) {
		return r.beside(ctx, p, l, jobs)
	}
	if _, err := os.Stat(dir); err != nil {
		if errors.Is(err, os.ErrNotExist) && p.Ledger != "" {
			return nil // it is in the directory of another coordinator
		}
		if stream, _ := l.Position(); stream == "" { // as rebuild frontier leaves it
			r.Rebuilt = true
			return nil
		}
		r.problem("the frontier is missing: argosy crawl -o %s (argosy serve of a fleet) makes it anew from the log, or names the command that does without it", crawl.Arg(p.Dir))
		return nil
	}
	lock, err := outdir.Lock(p.Dir)
	if errors.Is(err, outdir.ErrShown) { // the process that shows it gives a copy
		return outdir.Copied(ctx, p.Dir, func(f *frontier.Frontier) error { return r.views(p, f, l, jobs) })
	}
	if err != nil {
		return nil // it has begun this moment
	}
	defer lock.Close()
	c := frontier.DefaultConfig(dir)
	c.ReadOnly = true
	f, err := frontier.Open(c)
	if err != nil {
		r.problem("%v: move %s away, and argosy crawl -o %s (argosy serve of a fleet) makes it anew from the log, or names the command that does without it", err, dir, crawl.Arg(p.Dir))
		return nil
	}
	defer f.Close()
	return r.views(p, f, l, jobs)
}

// beside compares frontier and ledger while a process works there, by a copy of its view, if both stand where the ledger stood when its
// pages were read, and the ledger has set nothing aside that the frontier has not heard of. Else, and where this user may not have a copy, they
// are not compared: the process does so before it calls a job done.
func (r *Report) beside(ctx context.Context, p Place, l *ledger.Ledger, jobs []uint32) error {
	_, read := l.Position()
	err := outdir.Copied(ctx, p.Dir, func(f *frontier.Frontier) error {
		if err := l.Refresh(ctx); err != nil {
			return err
		}
		stream, seq := l.Position()
		if pos := f.Position(); seq != read || pos.Seq != seq || pos.Stream != stream {
			return nil
		}
		if aside, err := l.Unsettled(ctx); err != nil || len(aside) > 0 {
			return err
		}
		return r.views(p, f, l, jobs)
	})
	if errors.Is(err, outdir.ErrInUse) || outdir.NotOurs(err) { // it begins, ends, or stands by
		return nil
	}
	return err
}

// views compares the frontier with the ledger, job by job.
func (r *Report) views(p Place, f *frontier.Frontier, l *ledger.Ledger, jobs []uint32) error {
	pos := f.Position()
	if stream, seq := l.Position(); stream != pos.Stream || seq != pos.Seq {
		if outdir.StandsBy(p.Dir) != "" { // it follows the log by itself when it works
			return nil
		}
		r.problem("the frontier stands at entry %d of the log %q, the ledger at %d of %q: the process that worked there was ended; start it again (argosy crawl -o %s, or argosy serve of a fleet)", pos.Seq, pos.Stream, seq, stream, crawl.Arg(p.Dir))
		return nil
	}
	r.Sinks = true
	known := map[uint32]bool{}
	for _, job := range jobs {
		known[job] = true
		if err := r.job(p, f, job); err != nil {
			return err
		}
	}
	f.Jobs(func(j *frontier.Job) {
		if !known[j.ID] {
			r.problem("the ledger does not know job %d: argosy rebuild ledger %s", j.ID, crawl.Arg(p.Dir))
		}
	})
	return nil
}

// job compares what frontier and ledger have of a job.
func (r *Report) job(p Place, f *frontier.Frontier, job uint32) error {
	j := f.Job(job)
	if j == nil {
		r.problem("the frontier does not know job %d: argosy rebuild frontier %s", job, crawl.Arg(p.Dir))
		return nil
	}
	var have crawl.Counts
	var ended crawl.Ended
	missing, told := r.Missing, 0
	for at := range r.ends {
		if at.job == job {
			told++
		}
	}
	err := f.URLs(job, func(u frontier.URL) error {
		r.URLs++
		page := crawl.Page{Layer: u.Layer, Key: u.Key}
		ended.Count(page, u.State, u.Reason, 1)
		switch u.State {
		case crawl.Fetched:
			have.Fetched++
		case crawl.Failed:
			have.Failed++
		}
		at := jobPage{job, page}
		state, inLedger := r.ends[at]
		delete(r.ends, at)
		t := f.Task(u.Task)
		switch dropped := t == nil || t.State == crawl.TaskDropped; {
		case j.Walk != nil && !inLedger && u.State != crawl.Fetched: // it may be about to be tried again
		case crawl.EndedByNode(u.State, u.Reason) && state != u.State:
			r.differs(at, u.URL, "the frontier says that %s is %s, the ledger does not", u.URL, u.State)
		case inLedger && u.State == crawl.Pending && !dropped:
			r.differs(at, u.URL, "the ledger says that %s is %s, the frontier that it is pending", u.URL, state)
		}
		return nil
	})
	if err != nil {
		r.problem("the frontier of job %d: %v: argosy rebuild frontier %s", job, err, crawl.Arg(p.Dir))
		return nil
	}
	for at := range r.ends {
		if at.job == job {
			r.differs(at, "", "the ledger has a page that the frontier has never heard of: %x", at.page.Key[:])
		}
	}
	if r.Missing > missing {
		r.problem("job %d: of %d pages the frontier says how they have ended, the ledger of %d", job, ended.URLs, told)
	}
	if c := j.Totals; c.Fetched != have.Fetched || c.Failed != have.Failed || j.Ended != ended {
		r.problem("the frontier counts %d fetched and %d failed of job %d, and has %d and %d", c.Fetched, c.Failed, job, have.Fetched, have.Failed)
	}
	if j.State == crawl.JobDone && j.Totals.Pending() > 0 {
		r.problem("job %d is done, and %d of its URLs are pending", job, j.Totals.Pending())
	}
	return nil
}

// differs notes a page of which frontier and ledger do not say the same. argosy retry --lost has it again.
func (r *Report) differs(at jobPage, url, format string, args ...any) {
	r.Missing++
	r.problem(format, args...)
	if r.gone[at] {
		return
	}
	r.gone[at] = true
	r.Lost++
	r.LostKeys[at.job] = append(r.LostKeys[at.job], at.page)
	if url != "" {
		r.listLost(url)
	}
}
