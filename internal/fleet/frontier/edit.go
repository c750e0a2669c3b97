package frontier

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/page/polite"
)

// edit changes a search, which begins anew: its result pages are of another generation, and what it has named counts no more. Its engine
// may be another one, on another site.
func (x *tx) edit(e *crawl.Edit) error {
	t, j := x.f.tasks[e.Task], x.f.jobs[e.Job]
	if t == nil || j == nil || t.Job != e.Job || t.Of == nil || t.State == crawl.TaskDropped || len(t.leases) > 0 {
		return nil
	}
	u, err := crawl.Parse(e.Search.URL)
	if err != nil {
		return nil // whoever orders it has checked it
	}
	x.tasks[t.ID] = t
	called := namedKey(t, crawl.Key{})[:9]
	if err := errors.Join(x.giveUp(t), x.unname(t), x.b.DeleteRange(called, after(called), nil)); err != nil {
		return err
	}
	if e.Engine != nil {
		x.jobs[j.ID] = j
		e.Search.Engine = j.engine(*e.Engine)
	}
	delete(x.f.byName, t.name())
	t.Gen++
	t.Site, t.head = u.Site(), 0
	x.f.byName[t.name()] = t.ID
	x.site(t.Site)
	was := t.Of
	t.Of = &Search{Search: e.Search, No: was.No, Subtasks: was.Subtasks}
	x.clocked(t)
	for _, of := range j.tasks { // what it names from now on may be theirs
		if of.Search == t.Search && of.State == crawl.TaskManual {
			of.State = ""
			x.begins(of)
		}
	}
	t.State, t.Since = "", x.at
	t.forgive()
	why := "changed by a person: " + changes(j, &was.Search, &e.Search)
	x.note(t, why)
	x.moves(t, why)
	return x.resultPage(t, u, &record{Flags: crawl.FlagSeed})
}

// Fixed says why a person cannot change a task's search now; empty: that can be done.
func (t *Task) Fixed() string {
	switch state := t.Status(); {
	case t.Of == nil:
		return "is no search"
	case len(t.leases) > 0:
		return "is being read by a node; once its lease has ended it can"
	case state == crawl.TaskDone || state == crawl.TaskDropped:
		return "is " + state
	}
	return ""
}

// changes says what is different about a search.
func changes(j *Job, was, now *crawl.Search) string {
	var out []string
	for _, c := range [][3]string{
		{"words", strings.Join(was.Words, " "), strings.Join(now.Words, " ")}, {"site", was.Site, now.Site},
		{"engine", j.Engine(was.Engine).Name, j.Engine(now.Engine).Name},
	} {
		switch {
		case c[1] != c[2]:
			out = append(out, fmt.Sprintf("%s %s instead of %s", c[0], c[2], c[1]))
		case c[0] == "engine" && was.Engine != now.Engine:
			out = append(out, "engine "+c[2]+" as it is described now")
		}
	}
	if out == nil {
		return "nothing; it is asked again"
	}
	return strings.Join(out, ", ")
}

// unname forgets what a search has named. What another search waits for is fetched for that one from now on; what no other does is not asked for
// any more, and is refused. Leases that have some of it are closed.
func (x *tx) unname(t *Task) error {
	prefix := awaitsOf(recKey{space: space{job: t.Job}})[:5]
	var named []recKey
	err := x.f.each(prefix, func(key, _ []byte) error {
		if binary.BigEndian.Uint32(key[len(key)-4:]) != t.Search {
			return nil
		}
		k, _ := ofURLKey(key[:len(key)-4])
		named = append(named, k)
		return x.setWait(k, t.Search, wait{})
	})
	for _, k := range named {
		if err == nil {
			err = x.unwant(t, k)
		}
	}
	return err
}

// unwant hands a page over that a search has named and that is still to be had, or refuses it if nobody waits for it any more.
func (x *tx) unwant(by *Task, k recKey) error {
	r, err := x.record(k.space, k.key)
	if err != nil || r == nil || r.State != crawl.Pending {
		return err
	}
	t := x.f.tasks[r.Task]
	waiting, err := x.waiting(k)
	if err != nil || len(waiting) > 0 && t.Search != by.Search {
		return err
	}
	if err := x.takeBack(t, k); err != nil || r.State != crawl.Pending { // not as the lease was closed: it lies beyond a limit
		return err
	}
	heir, err := x.heir(k, r)
	if err != nil {
		return err
	}
	if heir != nil {
		return x.give(k, r, heir)
	}
	r.State, r.Reason, r.dirty, r.lease = crawl.Excluded, crawl.ReasonDropped, true, 0
	t.count(crawl.Excluded, crawl.ReasonDropped, 1)
	x.tasks[t.ID] = t
	if err := x.ends(k, r, 1); err != nil { // of those that wait for it, whose own tasks on the site were dropped
		return err
	}
	return x.dequeue(t, r.Place)
}

// takeBack closes the leases of a task that have a page.
func (x *tx) takeBack(t *Task, k recKey) error {
	for _, id := range t.leaseIDs() {
		l := x.f.leases[id]
		has, err := x.holds(l, k.key)
		if err != nil {
			return err
		}
		if has {
			if err := x.order(t, l); err != nil {
				return err
			}
		}
	}
	return nil
}

// order closes a lease since a person dropped or changed what it was given; its site waits a full delay.
func (x *tx) order(t *Task, l *Lease) error {
	x.fx.Recalled, x.fx.Ordered = append(x.fx.Recalled, l), append(x.fx.Ordered, l.ID)
	polite.HoldFrom(x.site(l.Site), x.at, l.From)
	x.probed(l, crawl.EndOrdered)
	return x.close(t, l)
}

// engine returns the place of an engine among those of a job, which it joins if it is not one of them.
func (j *Job) engine(e crawl.Engine) int {
	same := func(o crawl.Engine) bool {
		return o.Name == e.Name && o.Type == e.Type && o.Robots == e.Robots && o.Each == e.Each && bytes.Equal(o.Def, e.Def)
	}
	own := j.Identity.Collect.Engines
	if i := slices.IndexFunc(own, same); i >= 0 {
		return i
	}
	i := slices.IndexFunc(j.Engines, same)
	if i < 0 {
		i = len(j.Engines)
		j.Engines = append(j.Engines, e)
	}
	return len(own) + i
}

// AllEngines returns the engines of a job that collects, those that people have given its searches since behind its own.
func (j *Job) AllEngines() []crawl.Engine {
	if j.Identity.Collect == nil {
		return nil
	}
	return append(slices.Clip(j.Identity.Collect.Engines), j.Engines...)
}

// Types are the types of nodes that a job asks for, with those of the engines that people have given its searches.
func (j *Job) Types() []string { return j.Job.Types(j.Engines...) }

// Engine returns an engine of a job that collects, by its number: those that it was begun with, then those that people have given its
// searches since.
func (j *Job) Engine(i int) *crawl.Engine {
	own := j.Identity.Collect.Engines
	if i < len(own) {
		return &own[i]
	}
	return &j.Engines[i-len(own)]
}

// giveUp refuses the URLs in a task's queue.
func (x *tx) giveUp(t *Task) error {
	queue := queueKey(t.ID, 0)[:5]
	err := x.f.each(queue, func(_, v []byte) error {
		r, err := x.record(t.space(), crawl.Key(v))
		if err != nil || r == nil || r.State != crawl.Pending {
			return err
		}
		r.State, r.Reason, r.dirty, r.lease = crawl.Excluded, crawl.ReasonDropped, true, 0
		t.count(crawl.Excluded, crawl.ReasonDropped, 1)
		return nil
	})
	if err != nil {
		return err
	}
	t.memory = memory{}
	return x.b.DeleteRange(queue, after(queue), nil)
}
