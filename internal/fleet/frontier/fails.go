package frontier

import (
	"fmt"
	"slices"

	"argosy/internal/crawl"
)

// recycle counts a recall from a live node; a task that was recalled often enough goes to a person at its next one, and where nothing is
// recycled at once.
func (x *tx) recycle(t *Task, l *Lease, reason string) {
	j := x.f.jobs[l.Job]
	recycles := j.Identity.Collect == nil || !j.Identity.Collect.Keep
	used := t.Recalls >= j.Limits.RecycleLimit
	if recycles && used {
		reason = fmt.Sprintf("recalled %d times; the last one: %s", t.Recalls, reason)
	}
	why := fmt.Sprintf("attempt %d on %s: %s", t.attempt(l), l.Node, reason)
	x.note(t, why)
	t.avoid(l.Node)
	x.fails(t, l.Node)
	if !recycles || used {
		x.person(t, why)
		return
	}
	t.Recalls++
	x.moves(t, why)
}

// hasRead notes how a lease of result pages has ended that did not fail.
func (x *tx) hasRead(t *Task, l *Lease, reason string) {
	if t.Of == nil || t.State != "" || t.Recalls > 0 || l.Given == 0 {
		return
	}
	read := fmt.Sprintf("has read %d of %d result pages: %s", l.Collected, l.Given, reason)
	if l.Collected == 0 && reason == crawl.EndFailed {
		read = "could not ask the engine's site"
	}
	why := fmt.Sprintf("attempt %d on %s %s", t.attempt(l), l.Node, read)
	if left := t.Of.Left(); left > 0 && t.Pending() == 0 {
		why += fmt.Sprintf("; it waits for %d pages", left)
	}
	x.moves(t, why)
}

// getsOn reports whether a part shows that a task gets on, so that what failed before does not count any more. Of a search its result pages
// say so themselves (answered), and of what it has named only pages that come to an end: one that is to be asked again (403, 429) does not.
func (t *Task) getsOn(p *crawl.Part) bool {
	switch {
	case t.Of != nil:
		return false
	case t.Search > 0:
		return slices.ContainsFunc(p.Outcomes, func(o crawl.Outcome) bool { return o.State == crawl.Fetched })
	}
	return p.Bytes > 0 || len(p.Outcomes) > 0
}

// siteAnswered reports whether the site has answered in a part, whatever it said.
func siteAnswered(p *crawl.Part) bool {
	return slices.ContainsFunc(p.Outcomes, func(o crawl.Outcome) bool {
		return o.State == crawl.Fetched || o.State == crawl.Retry && o.Reason == crawl.KindStatus
	})
}

// failed takes in that a lease has failed with its site. Perhaps another node is not shut out, and if there is none a person is asked; a site
// that has not answered a lease of what a search has named counts as one that was recalled.
func (x *tx) failed(j *Job, t *Task, l *Lease) {
	switch c := j.Identity.Collect; {
	case c == nil || t.Search == 0 || t.Of != nil:
		t.avoid(l.Node)
	case !l.Answered:
		x.recycle(t, l, t.Site+" does not answer")
	case c.Keep:
		x.recycle(t, l, t.Site+" refuses it")
	default:
		t.shut(l.Node)
		x.fails(t, l.Node)
		if (l.Alone || len(t.Shut) == mostRefused) && t.Pending() > 0 {
			why := fmt.Sprintf("attempt %d on %s: %s refuses every node (403)", t.attempt(l), l.Node, t.Site)
			x.note(t, why)
			x.person(t, why)
		}
	}
}

// person has a task wait for a person, and its search where that waits for nothing else (stuck).
func (x *tx) person(t *Task, why string) {
	t.State = crawl.TaskManual
	x.moves(t, why)
	if seeker := x.f.Searching(t.Job, t.Search); t.Search > 0 && t.Of == nil && seeker != nil {
		x.tasks[seeker.ID] = seeker
		seeker.Of.Stuck = t.ID
	}
}

// stuck has a search wait for a person of which a task does that fetches what it has named: if it is restricted to that task's site, or
// waits for nothing else.
func (x *tx) stuck(t *Task) {
	s := t.Of
	if s.Stuck == 0 {
		return
	}
	of := x.f.stuckOn(t)
	if of == nil {
		s.Stuck = 0
		return
	}
	s.Stuck = of.ID
	if t.State != "" || s.Left() == 0 {
		return
	}
	if s.Site == "" {
		if t.Pending() > 0 || len(t.leases) > 0 {
			return
		}
		for _, of := range x.f.jobs[t.Job].tasks {
			if of.Search == t.Search && of.Of == nil && of.State == "" && of.Pending() > 0 {
				return
			}
		}
	}
	x.halts(t, waitsStuck, fmt.Sprintf("task %d, which fetches what it has named: %s", of.ID, of.last()))
}

// StuckBy returns the task that fetches what a search has named, and for which that waits for a person, with why; nil: it waits for another
// reason, or does not.
func (f *Frontier) StuckBy(t *Task) (of *Task, why string) {
	of = f.tasks[t.Of.Stuck]
	if of == nil || t.State != crawl.TaskManual || t.Of.Waits != waitsStuck {
		return nil, ""
	}
	return of, of.last()
}

// stuckOn is the task that waits for a person of those that fetch what a search has named: the one that is noted, as long as that does,
// then the first other one; nil: none does any more.
func (f *Frontier) stuckOn(t *Task) (first *Task) {
	if of := f.tasks[t.Of.Stuck]; of != nil && of.State == crawl.TaskManual {
		return of
	}
	for _, of := range f.jobs[t.Job].tasks {
		if of.Search == t.Search && of.Of == nil && of.State == crawl.TaskManual && (first == nil || of.ID < first.ID) {
			first = of
		}
	}
	return first
}

// unstuck adds to tasks that are released those that wait for a person with them: of a search the ones that fetch what it has named, of one
// of these the search.
func (f *Frontier) unstuck(ids []uint32) []uint32 {
	out := slices.Clone(ids)
	for _, id := range f.withTargets(slices.Clip(ids)) {
		t := f.tasks[id]
		if t.State == crawl.TaskManual {
			out = append(out, id)
		}
		if seeker := f.Searching(t.Job, t.Search); t.Search > 0 && t.Of == nil && seeker != nil && seeker.Of.Stuck == id {
			out = append(out, seeker.ID)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// refusedURL is a URL that a limit has ended.
type refusedURL struct {
	key recKey
	r   *record
}

// countRefused counts what limits have ended for the searches that wait for it.
func (x *tx) countRefused() error {
	for _, u := range x.refused {
		if err := x.ends(u.key, u.r, 1); err != nil {
			return err
		}
	}
	return nil
}
