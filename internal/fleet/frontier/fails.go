package frontier

import (
	"fmt"
	"slices"

	"argosy/internal/crawl"
)

// recycle counts a recall from a live node; a task that was recalled often enough goes to a person at its next one.
func (x *tx) recycle(t *Task, l *Lease, reason string) {
	t.note(fmt.Sprintf("attempt %d on %s: %s", t.attempt(l), l.Node, reason))
	t.avoid(l.Node)
	x.fails(t, l.Node)
	j := x.f.jobs[l.Job]
	switch c := j.Identity.Collect; {
	case c != nil && c.Keep:
		x.person(t, reason)
	case t.Recalls >= j.Limits.RecycleLimit:
		x.person(t, fmt.Sprintf("recalled %d times; the last one: %s", t.Recalls, reason))
	default:
		t.Recalls++
		x.moves(t, reason)
	}
}

// hasRead notes how a lease of result pages has ended that did not fail.
func (x *tx) hasRead(t *Task, l *Lease, reason string) {
	if t.Of == nil || t.State != "" || t.Recalls > 0 || l.Given == 0 {
		return
	}
	why := fmt.Sprintf("attempt %d on %s has read %d of %d result pages: %s", t.attempt(l), l.Node, l.Collected, l.Given, reason)
	if left := t.Of.Left(); left > 0 && t.Pending() == 0 {
		why += fmt.Sprintf("; it waits for %d pages", left)
	}
	x.moves(t, why)
}

// goesOn reports whether a part shows that a task gets on, so that what failed before does not count any more. Of a search its result
// pages say so themselves (answered), and of what it has named only pages that come to an end.
func (t *Task) goesOn(l *Lease, p *crawl.Part) bool {
	switch {
	case t.Of != nil:
		return false
	case t.Search > 0:
		return l.heard(p)
	}
	return p.Bytes > 0 || len(p.Outcomes) > 0
}

// heard notes whether the site of a lease of what a search has named has answered it, and reports whether one of its pages has come to an
// end by that: one that is to be asked again (403, 429) is none.
func (l *Lease) heard(p *crawl.Part) (ended bool) {
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		ended = ended || o.State == crawl.Fetched
		l.Answered = l.Answered || o.State == crawl.Fetched || o.State == crawl.Retry && o.Reason == crawl.KindStatus
	}
	return ended
}

// failed takes in that a lease has failed with its site. Perhaps another node is not shut out; a site that has not answered a lease of what
// a search has named counts as one that was recalled.
func (x *tx) failed(j *Job, t *Task, l *Lease) {
	switch c := j.Identity.Collect; {
	case c == nil || t.Search == 0 || t.Of != nil:
		t.avoid(l.Node)
	case !l.Answered:
		x.recycle(t, l, t.Site+" does not answer")
	case c.Keep:
		why := fmt.Sprintf("attempt %d on %s: %s refuses it", t.attempt(l), l.Node, t.Site)
		t.note(why)
		x.person(t, why)
		x.fails(t, l.Node)
	default:
		t.avoid(l.Node)
		x.fails(t, l.Node)
	}
}

// person has a task wait for a person, and its search where that waits for nothing else.
func (x *tx) person(t *Task, why string) {
	t.State = crawl.TaskManual
	x.moves(t, why)
	if seeker := x.f.Searching(t.Job, t.Search); t.Search > 0 && t.Of == nil && seeker != nil {
		x.tasks[seeker.ID] = seeker
		seeker.Of.Stuck, seeker.Of.Loss = t.ID, why
		x.stuck(seeker)
	}
}

// stuck has a search wait for a person of which a task does that fetches what it has named: if it is restricted to that task's site, or
// waits for nothing else.
func (x *tx) stuck(t *Task) {
	s := t.Of
	if s.Stuck == 0 || t.State != "" || s.Left() == 0 {
		return
	}
	if s.Site == "" {
		if t.Pending() > 0 || len(t.leases) > 0 {
			return
		}
		for _, of := range x.f.tasks {
			if of.Job == t.Job && of.Search == t.Search && of.Of == nil && of.State == "" && of.Pending() > 0 {
				return
			}
		}
	}
	t.State = crawl.TaskManual
	t.note(fmt.Sprintf("task %d, which fetches what it has named: %s", s.Stuck, s.Loss))
	x.moves(t, t.History[len(t.History)-1])
}

// unstuck adds to tasks that are released those that wait for a person with them: of a search the ones that fetch what it has named, of one
// of these the search.
func (f *Frontier) unstuck(ids []uint32) []uint32 {
	for _, id := range slices.Clone(ids) {
		t := f.tasks[id]
		if seeker := f.Searching(t.Job, t.Search); t.Search > 0 && t.Of == nil && seeker != nil && seeker.Of.Stuck == id {
			ids = append(ids, seeker.ID)
		}
	}
	for _, id := range f.withTargets(slices.Clip(ids)) {
		if f.tasks[id].State == crawl.TaskManual {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
