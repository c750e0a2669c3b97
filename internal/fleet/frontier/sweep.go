package frontier

import (
	"bytes"
	"errors"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
	"argosy/internal/page/yield"
)

// sweep is a walk over the URLs of a task, to look at them again: those that wait may go on, those in its queue may have to
// wait. A part of it is done in every entry that concerns the task.
type sweep struct {
	Learn bool   `cbor:"1,keyasint,omitempty"` // first the rests of what was fetched are taken in
	At    []byte `cbor:"2,keyasint,omitempty"` // key of the next URL
	Only  uint32 `cbor:"3,keyasint,omitempty"` // if set, only URLs of this template go on
	Next  bool   `cbor:"4,keyasint,omitempty"` // only next pages of lists do, and what has a form that bears
}

func (x *tx) sweepFrom(t *Task, learn bool) {
	if t.Sweep != nil {
		learn = learn || t.Sweep.Learn
	}
	t.Sweep = &sweep{Learn: learn}
	x.tasks[t.ID] = t
	if x.swept == nil {
		x.swept = map[uint32]int{}
	}
	x.swept[t.ID] = len(x.taken)
}

// atOnce is how many URLs of a task one entry looks at again.
func (t *Task) atOnce() int {
	if t.Excluded > manyWait {
		return sweepOfMany
	}
	return sweepAtOnce
}

// sweepTaken looks again at the URLs that wait since this entry, but from before its last sweep of a task began: the view does not have
// them yet. Those that are pending are looked at when they are given out.
func (x *tx) sweepTaken(j *Job, t *Task) error {
	for _, k := range x.taken[:x.swept[t.ID]] {
		if r := x.recs[k]; r != nil && r.Task == t.ID && r.State == crawl.Excluded {
			if err := x.goesOn(t, k, r); err != nil {
				return err
			}
		}
	}
	return nil
}

// step looks at n more URLs of a sweep.
func (x *tx) step(j *Job, t *Task, n int) error {
	prefix := urlKey(recKey{t.space(), crawl.KeyOf(t.Site, "")})
	prefix = prefix[:len(prefix)-12]
	from := t.Sweep.At
	if from == nil {
		from = prefix
	}
	it, err := x.f.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: after(prefix)})
	if err != nil {
		return err
	}
	learn := t.Sweep.Learn
	for it.First(); it.Valid() && err == nil; it.Next() {
		if n--; n < 0 {
			t.Sweep = &sweep{Learn: learn, At: bytes.Clone(it.Key()), Only: t.Sweep.Only, Next: t.Sweep.Next}
			return it.Close()
		}
		if k, ok := ofURLKey(it.Key()); ok {
			err = x.again1(j, t, k, it.Value(), learn)
		}
	}
	t.Sweep = nil
	if learn {
		t.Sweep = &sweep{}
	}
	return errors.Join(err, it.Close())
}

// again1 looks at a URL again, whose record the view has. Most of those that wait go on waiting: their records are not kept.
func (x *tx) again1(j *Job, t *Task, k recKey, stored []byte, learn bool) error {
	switch was := crawl.State(stored[1]); {
	case learn && was != crawl.Fetched, !learn && was != crawl.Pending && was != crawl.Excluded:
		return nil
	case was == crawl.Excluded && x.recs[k] == nil && x.f.recent.get(k) == nil:
		r, err := decodeRecord(stored)
		if err != nil {
			return err
		}
		return x.goesOn(t, k, r)
	}
	r, err := x.record(k.space, k.key)
	if err != nil || r == nil || r.Task != t.ID || r.URL == "" {
		return err
	}
	if !learn && r.State == crawl.Excluded {
		return x.goesOn(t, k, r)
	}
	m, u, err := x.judge(t, r)
	switch {
	case err != nil || u.IsZero():
		return err
	case learn:
		if rest, changed := m.Rest(u); changed {
			return x.keepRest(t, rest.Key, k.key)
		}
	case r.State == crawl.Pending:
		return x.setsAside(t, m, k, u, r)
	}
	return nil
}

// judge returns the model that judges a task's URLs, and a record's URL; zero if that cannot be read, which is let be.
func (x *tx) judge(t *Task, r *record) (m *yield.Model, u crawl.URL, err error) {
	if m, err = x.f.model(t); err != nil {
		return nil, u, err
	}
	u, _ = crawl.Parse(r.URL)
	return m, u, nil
}

// setsAside has a pending URL wait if it must.
func (x *tx) setsAside(t *Task, m *yield.Model, k recKey, u crawl.URL, r *record) error {
	if r.Flags&(crawl.FlagSeed|crawl.FlagSitemap|crawl.FlagTrial) != 0 {
		return nil
	}
	for id := range t.leases {
		if held, err := x.holds(x.f.leases[id], k.key); held || err != nil {
			return err
		}
	}
	v, err := x.mustWait(t, m, k.key, u, r, true)
	if !v.Wait || err != nil {
		return err
	}
	if err := x.dequeue(t, r.Place); err != nil {
		return err
	}
	x.setAside(t, m, k, u, r, v)
	return nil
}

// goesOn lets a URL that waits go on if it may. The next pages of lists have sweeps of their own.
func (x *tx) goesOn(t *Task, k recKey, r *record) error {
	if r.State != crawl.Excluded || r.Reason != crawl.ReasonTrapYield || r.Task != t.ID || r.URL == "" {
		return nil
	}
	m, u, err := x.judge(t, r)
	if err != nil || u.IsZero() {
		return err
	}
	next := false
	switch {
	case t.Sweep == nil:
	case t.Sweep.Only != 0 && m.Find(u) != t.Sweep.Only:
		return nil
	case t.Sweep.Next && !m.Good(u):
		if next, err = x.follows(t, m, k.key, u, r); !next || err != nil {
			return err
		}
	}
	if v, err := x.mustWait(t, m, k.key, u, r, next); v.Wait || err != nil {
		return err
	}
	if x.recs[k] == nil {
		x.recs[k] = r
		x.f.recent.put(k, r)
	}
	return x.letGo(t, m, k.key, r, 0)
}
