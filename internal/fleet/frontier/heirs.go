package frontier

import (
	"argosy/internal/crawl"
)

// A page is fetched for the first search that has named it. Where that one is dropped, or changed by a person, a search inherits the page that
// still waits for it: it is that one's task from then on, with its nodes and its troubles, and is recorded with it.

// heir is the first search that waits for a page, was not dropped, and may have its site; nil: there is none.
func (x *tx) heir(k recKey, r *record) (*Task, error) {
	waiting, err := x.waiting(k)
	for _, t := range waiting {
		if x.inherits(k, r, t) {
			return t, err
		}
	}
	return nil, err
}

// inherits reports whether a search may have a page of another one: neither itself nor what it has named on that site was dropped.
func (x *tx) inherits(k recKey, r *record, seeker *Task) bool {
	if seeker.State == crawl.TaskDropped || r.URL == "" {
		return false
	}
	own := x.f.tasks[x.f.byName[targetsOf(k, r, seeker)]]
	return own == nil || own.State != crawl.TaskDropped
}

// targetsOf names the task that fetches what a search has named on the site of a page.
func targetsOf(k recKey, r *record, seeker *Task) taskName {
	u, err := crawl.Parse(r.URL)
	if err != nil {
		return taskName{}
	}
	return taskName{space: k.space, site: u.Site(), search: seeker.Search}
}

// give has a search's own task have a page, in the state that it is in. No lease has it.
func (x *tx) give(k recKey, r *record, seeker *Task) error {
	from, to := x.f.tasks[r.Task], x.taskNamed(targetsOf(k, r, seeker))
	if from == to {
		return nil
	}
	x.tasks[from.ID] = from
	page := crawl.Page{Layer: k.Layer, Key: k.key}
	for _, side := range []struct {
		t *Task
		n int64
	}{{from, -1}, {to, 1}} {
		side.t.Discovered += side.n
		side.t.count(r.State, r.Reason, side.n)
		side.t.Ended.Count(page, r.State, r.Reason, side.n)
		if r.State.Final() {
			side.t.weigh(r, side.n)
		}
	}
	was := r.Place
	r.Task, r.Via, r.template, r.dirty = to.ID, 0, 0, true
	if err := x.shares(k, from.Search, seeker); err != nil || r.State != crawl.Pending {
		return err
	}
	if err := x.dequeue(from, was); err != nil {
		return err
	}
	return x.enqueue(to, k.key, r)
}

// shares notes for those that wait for a page which search it is fetched for from now on.
func (x *tx) shares(k recKey, was uint32, heir *Task) error {
	waiting, err := x.waiting(k)
	for _, t := range waiting {
		if t.State == crawl.TaskDropped {
			continue
		}
		w, err := x.wait(t, k)
		if err != nil {
			return err
		}
		if t.Search != was && !w.apart {
			t.Of.shares(was, -1)
		}
		if t != heir {
			t.Of.shares(heir.Search, 1)
		}
		x.tasks[t.ID] = t
		if w.apart {
			if err := x.setWait(k, t.Search, wait{waits: true}); err != nil {
				return err
			}
		}
	}
	return err
}

// shares counts a page that is fetched for another search, or with n = -1 is not any more.
func (s *Search) shares(with uint32, n int64) {
	switch left := s.Shared[with] + n; {
	case left <= 0:
		delete(s.Shared, with)
	case s.Shared == nil:
		s.Shared = map[uint32]int64{with: left}
	default:
		s.Shared[with] = left
	}
}

// SharedWith returns how many pages that a search has named are fetched for others, and the first of these.
func (s *Search) SharedWith() (n int64, with uint32) {
	for no, pages := range s.Shared {
		n += pages
		if with == 0 || no < with {
			with = no
		}
	}
	return n, with
}

// wantsAgain has a page asked for that has ended, for a search that waits for it or is about to. The search's own task has it from now on where
// the one that had it was dropped; that task may be dropped, too: then the page stays as it is.
func (x *tx) wantsAgain(k recKey, r *record, seeker *Task) error {
	of := x.f.tasks[r.Task]
	if of.State == crawl.TaskDropped || of.Of != nil {
		if !x.inherits(k, r, seeker) {
			return nil
		}
		if err := x.give(k, r, seeker); err != nil {
			return err
		}
	}
	ended := crawl.EndedByNode(r.State, r.Reason)
	if err := x.undo(k, r); err != nil {
		return err
	}
	if ended {
		triedAgain(x.site(x.f.tasks[r.Task].Site))
	}
	if ended && r.State == crawl.Pending {
		j := x.f.jobs[k.job]
		j.Again = append(j.Again, crawl.Page{Layer: k.Layer, Key: k.key})
		x.jobs[j.ID] = j
	}
	return nil
}

// passOn has searches that nobody has dropped inherit pages that were given up with a task.
func (x *tx) passOn(pages []recKey) error {
	for _, k := range pages {
		r, err := x.record(k.space, k.key)
		if err != nil {
			return err
		}
		if r == nil || !x.unwanted(r) {
			continue
		}
		heir, err := x.heir(k, r)
		if err != nil {
			return err
		}
		if heir == nil {
			continue
		}
		if err := x.wantsAgain(k, r, heir); err != nil {
			return err
		}
	}
	return nil
}

// unawait counts what a task that is dropped still had to fetch for the searches that wait for it, and returns it.
func (x *tx) unawait(t *Task) (pages []recKey, err error) {
	if t.Search == 0 || t.Of != nil {
		return nil, nil
	}
	lost := &record{State: crawl.Excluded}
	ends := func(key crawl.Key) error {
		k := recKey{t.space(), key}
		pages = append(pages, k)
		return x.ends(k, lost, 1)
	}
	err = x.f.each(queueKey(t.ID, 0)[:5], func(_, v []byte) error { return ends(crawl.Key(v)) })
	for _, id := range t.leaseIDs() {
		if err == nil {
			err = x.f.each(heldKey(id, crawl.Key{})[:9], func(key, _ []byte) error { return ends(crawl.Key(key[9:])) })
		}
	}
	return pages, err
}
