package frontier

import (
	"encoding/binary"
	"slices"
	"strings"

	"argosy/internal/crawl"
)

// retry releases tasks: they are no longer manual, what is known of their sites' troubles is forgotten, and their
// failed URLs are pending again.
func (x *tx) retry(r *crawl.Release) error {
	j := x.f.jobs[r.Job]
	if j == nil {
		return nil
	}
	if len(j.Again) > 0 && len(r.Lost) > 0 {
		told := map[crawl.Page]bool{}
		for _, p := range r.Lost {
			told[p] = true
		}
		j.Again = slices.DeleteFunc(j.Again, func(p crawl.Page) bool { return told[p] })
		x.jobs[j.ID] = j
	}
	if r.Mend {
		return x.lost(j, r.Lost)
	}
	for _, id := range x.f.unstuck(x.f.sortedTasks(r.Job, r.Tasks)) {
		t := x.f.tasks[id]
		if t.State == crawl.TaskDropped {
			continue // given up for good
		}
		if t.State == crawl.TaskManual {
			t.State = ""
			x.moves(t, "released by a person")
			if seeker := x.f.Searching(t.Job, t.Search); t.Search > 0 && seeker != nil {
				x.tasks[seeker.ID] = seeker // it may be stuck no more
			}
			if err := x.untried(t); err != nil {
				return err
			}
		} else if len(r.Tasks) == 0 {
			x.begins(t) // with all others, whose pages are walked through
			continue
		}
		if err := x.lostAgain(t); err != nil {
			return err
		}
		x.begins(t)
	}
	if r.Cut {
		return x.resume(r)
	}
	if len(r.Lost) > 0 {
		return x.lost(j, r.Lost)
	}
	return x.walkFrom(j, r.Tasks)
}

// begins has a task begin again: which nodes have failed with it, and its site's troubles, are forgotten.
func (x *tx) begins(t *Task) {
	t.Since = x.at
	t.forgive()
	x.tasks[t.ID] = t
	x.fx.Freed = append(x.fx.Freed, t.ID)
	s := x.site(t.Site)
	for address, p := range s.Paces {
		s.Paces[address] = crawl.Pace{LastStart: p.LastStart, LatencyUS: p.LatencyUS}
	}
	s.Fails, s.BackoffUntil, s.ResolveFails, s.RobotsTries = 0, 0, 0, 0
	triedAgain(s)
}

// triedAgain has a site be tried once more that was given up because its name was not found, or its robots.txt could not be had.
func triedAgain(s *crawl.Site) {
	s.ResolveWhy, s.RobotsGone = "", false
	if s.RobotsState == crawl.RobotsUnavailable {
		s.RobotsState, s.RobotsExpiry = crawl.RobotsUnknown, 0
	}
}

// untried forgets how often what a search has named was asked for.
func (x *tx) untried(t *Task) error {
	if t.Search == 0 {
		return nil
	}
	return x.f.each(queueKey(t.ID, 0)[:5], func(_, v []byte) error {
		r, err := x.record(t.space(), crawl.Key(v))
		if err == nil && r != nil && r.Tries > 0 {
			r.Tries, r.dirty = 0, true
		}
		return err
	})
}

// lostAgain makes pages pending that a search has named and lost: all, where it has had none, else those that sites have not answered for. What
// fetches them begins again, too.
func (x *tx) lostAgain(t *Task) error {
	if t.Of == nil || t.Of.Lost == 0 {
		return nil
	}
	none := t.Of.Collected == 0
	t.Of.Told = false
	prefix, begun := awaitsOf(recKey{space: space{job: t.Job}})[:5], map[*Task]bool{}
	return x.f.each(prefix, func(key, _ []byte) error {
		if binary.BigEndian.Uint32(key[len(key)-4:]) != t.Search {
			return nil
		}
		k, _ := ofURLKey(key[:len(key)-4])
		r, err := x.record(k.space, k.key)
		if err != nil || r == nil {
			return err
		}
		if all := crawl.EndedByNode(r.State, r.Reason) || x.unwanted(r); !all || !none && !unanswered(r) {
			return nil
		}
		if err := x.wantsAgain(k, r, t); err != nil {
			return err
		}
		if of := x.f.tasks[r.Task]; !begun[of] && of.State == "" {
			begun[of] = true
			x.begins(of)
		}
		return nil
	})
}

// lost makes URLs pending that were lost. What is not a URL of the job is the robots.txt of a site, which is not known from then on: who
// asks that site next asks for it first.
func (x *tx) lost(j *Job, pages []crawl.Page) error {
	var robots map[crawl.Key]string
	for _, k := range pages {
		at := recKey{space{j.ID, k.Layer}, k.Key}
		r, err := x.record(at.space, at.key)
		if err != nil {
			return err
		}
		if r == nil || strings.HasSuffix(r.URL, "/robots.txt") { // it may be a page, too
			if robots == nil {
				robots = x.f.robotsOf(j)
			}
			if site, ok := robots[k.Key]; ok {
				s := x.site(site)
				s.RobotsState, s.RobotsExpiry = crawl.RobotsUnknown, 0
			}
		}
		if err := x.again(at, nil); err != nil {
			return err
		}
	}
	return nil
}

// robotsOf returns the sites of a job by the keys of their robots.txt.
func (f *Frontier) robotsOf(j *Job) map[crawl.Key]string {
	out := map[crawl.Key]string{}
	for _, id := range f.sortedTasks(j.ID, nil) {
		site := f.tasks[id].Site
		for _, scheme := range []string{"http://", "https://"} {
			if u, err := crawl.Parse(scheme + site + "/robots.txt"); err == nil {
				out[u.Key()] = site
			}
		}
	}
	return out
}

// again makes a URL pending that failed, was refused because its site did not answer, or was lost (tasks nil).
func (x *tx) again(k recKey, tasks map[uint32]bool) error {
	r, err := x.record(k.space, k.key)
	if err != nil || r == nil {
		return err
	}
	lost := tasks == nil && crawl.EndedByNode(r.State, r.Reason) && x.f.tasks[r.Task].State != crawl.TaskDropped
	failed := tasks[r.Task] && unanswered(r)
	if !lost && !failed {
		return nil
	}
	if lost {
		return x.anew(k, r)
	}
	return x.undo(k, r)
}

// unanswered reports whether a URL has ended because its site did not answer for it.
func unanswered(r *record) bool {
	return r.State == crawl.Failed || r.State == crawl.Excluded && r.Reason == crawl.ReasonRobotsDown
}

// anew makes a URL pending that had been answered, and whose answer was lost. It was worth asking for then: what its answer taught, which is
// known still, does not judge it now.
func (x *tx) anew(k recKey, r *record) error {
	err := x.undo(k, r)
	if r.State == crawl.Pending {
		r.Flags |= crawl.FlagTrial
	}
	return err
}

// undo makes a URL pending that has ended. A result page of a search as it was before a person changed it is given up: nobody asks for it.
func (x *tx) undo(k recKey, r *record) error {
	t := x.f.tasks[r.Task]
	x.tasks[t.ID] = t
	t.count(r.State, r.Reason, -1)
	t.Ended.Count(crawl.Page{Layer: k.Layer, Key: k.key}, r.State, r.Reason, -1)
	t.weigh(r, -1)
	if k.space != t.space() {
		r.State, r.Reason, r.Counted, r.dirty = crawl.Excluded, crawl.ReasonDropped, 0, true
		t.count(r.State, r.Reason, 1)
		return nil
	}
	if t.Search > 0 {
		if err := x.uncollect(t, k, r); err != nil {
			return err
		}
	}
	r.State, r.Reason, r.Tries, r.Counted, r.dirty = crawl.Pending, "", 0, 0, true
	return x.enqueue(t, k.key, r)
}

// aside takes back what an entry said that the ledger could not apply: its leases end, as far as they are open, and count towards
// the recycle limit; the URLs that it had ended are pending again. A job that was done goes on.
func (x *tx) aside(a *crawl.Aside) error {
	if a == nil {
		return nil
	}
	x.whole = true
	for i := range a.Parts {
		p := &a.Parts[i]
		if err := x.recall(crawl.Recall{Lease: p.Lease, Reason: crawl.EndRefused, Counts: true}); err != nil {
			return err
		}
		j := x.f.jobs[p.Job]
		if j == nil {
			continue
		}
		for _, page := range p.Pages {
			k := recKey{space{p.Job, page.Layer}, page.Key}
			r, err := x.record(k.space, k.key)
			if err != nil {
				return err
			}
			if r == nil || x.f.tasks[r.Task].State == crawl.TaskDropped || !crawl.EndedByNode(r.State, r.Reason) {
				continue
			}
			if err := x.anew(k, r); err != nil {
				return err
			}
			if j.Aside++; j.State == crawl.JobDone {
				j.State = crawl.JobRunning
			}
			x.jobs[j.ID] = j
		}
	}
	return nil
}

// drop ends tasks for good: their leases are closed, and what is pending is refused. That stands in the task alone (see upToDate): to
// give up a million URLs costs no more than to give up one, but where searches wait for each of them. What another search has named as well
// is fetched for that one, unless whole sites are given up.
func (x *tx) drop(r *crawl.Release) error {
	var left []recKey
	for _, id := range x.f.withTargets(x.f.sortedTasks(r.Job, r.Tasks)) {
		t := x.f.tasks[id]
		if t.State == crawl.TaskDropped {
			continue // nothing comes to it any more
		}
		x.tasks[id] = t
		x.moves(t, "dropped: "+r.Why)
		pages, err := x.unawait(t)
		if err != nil {
			return err
		}
		left = append(left, pages...)
		t.State, t.head, t.memory = crawl.TaskDropped, 0, memory{}
		if s := t.Of; s != nil { // what others have named as well is fetched for those alone
			s.Lost, s.Shared = s.Lost+s.Left(), nil
			called := namedKey(t, crawl.Key{})[:5]
			if err := x.b.DeleteRange(called, after(called), nil); err != nil {
				return err
			}
		}
		for _, lease := range t.leaseIDs() {
			l := x.f.leases[lease]
			if err := x.order(t, l); err != nil {
				return err
			}
		}
		if n := t.Pending(); n > 0 {
			t.count(crawl.Excluded, crawl.ReasonDropped, n)
		}
		queue := queueKey(id, 0)[:5]
		if err := x.b.DeleteRange(queue, after(queue), nil); err != nil {
			return err
		}
		x.note(t, "dropped: "+r.Why)
	}
	if r.Sites {
		return nil
	}
	return x.passOn(left)
}

// upToDate gives a record the state that it has if its task was dropped since it was written.
func (f *Frontier) upToDate(r *record) *record {
	if r == nil || r.State != crawl.Pending {
		return r
	}
	if t := f.tasks[r.Task]; t != nil && t.State == crawl.TaskDropped {
		r.State, r.Reason, r.lease = crawl.Excluded, crawl.ReasonDropped, 0
	}
	return r
}
