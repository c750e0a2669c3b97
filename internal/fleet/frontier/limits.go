package frontier

import (
	"encoding/binary"
	"reflect"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
)

// limits replaces a job's limits. What was refused by a limit that has changed is looked at again, and what waits is held to
// the new ones; what leases have is when it comes back.
func (x *tx) limits(c *crawl.Job) error {
	j := x.f.jobs[c.ID]
	if j == nil {
		return nil
	}
	was, rules := j.Limits, j.Sites
	j.Limits, j.Placing, j.Sites, j.sites = c.Limits, c.Placing, c.Sites, nil
	other := !reflect.DeepEqual(rules, j.Sites)
	if m := c.Identity.Market; m.SameKind(j.Identity.Market) {
		j.Identity.Market = m
	}
	x.jobs[j.ID] = j
	j.rules.Limit(j.Limits)
	now := &j.Limits
	again := map[crawl.Kind]bool{}
	for reason, changed := range map[crawl.Kind]bool{
		crawl.ReasonDepth:      was.MaxDepth != now.MaxDepth,
		crawl.ReasonTrapLength: was.MaxURLLength != now.MaxURLLength,
		crawl.ReasonSiteBudget: was.SitePages != now.SitePages || other,
		crawl.ReasonTrapMap:    was.MaxSitemaps != now.MaxSitemaps || other,
	} {
		if changed {
			again[reason] = true
		}
	}
	if len(again) > 0 {
		if err := x.review(j, func(reason crawl.Kind) bool { return again[reason] }); err != nil {
			return err
		}
	}
	if again[crawl.ReasonDepth] || again[crawl.ReasonTrapLength] {
		if err := x.holdBack(j); err != nil {
			return err
		}
	}
	if !again[crawl.ReasonSiteBudget] {
		return nil
	}
	for _, id := range x.f.sortedTasks(j.ID, nil) {
		if err := x.trim(j, x.f.tasks[id]); err != nil {
			return err
		}
	}
	return nil
}

// claimed is how much of what a site may have is used: by what is fetched or waits, or, where the best come first, by what is fetched.
func (f *Frontier) claimed(j *Job, t *Task) int64 {
	all := f.atSite(t)
	if j.Identity.Order == crawl.OrderBest {
		return all.Fetched
	}
	return all.Discovered - all.Excluded - all.Failed
}

// refuser returns at which task a refused URL counts: at the one whose page names it, or, where its site has had all that
// it may have, at that site's own.
func refuser(t, own *Task, reason crawl.Kind) *Task {
	if reason == crawl.ReasonSiteBudget && own != nil {
		return own
	}
	return t
}

// refusedAt counts a refused URL at a task, n times; with n = -1 it is taken back.
func (x *tx) refusedAt(t *Task, r *record, n int64) {
	t.Discovered += n
	t.count(crawl.Excluded, r.Reason, n)
	x.tasks[t.ID] = t
}

// full reports whether a site has had all that it may have of a job that fetches the best first: what waits is not asked for.
func (f *Frontier) full(j *Job, t *Task) bool {
	return j.Identity.Order == crawl.OrderBest && j.At(t.Site).SitePages > 0 && f.atSite(t).Fetched >= j.At(t.Site).SitePages
}

// beyond returns which of a job's limits keeps a URL out that waits.
func (j *Job) beyond(r *record) crawl.Kind {
	switch {
	case j.Limits.MaxDepth >= 0 && int(r.Depth) > j.Limits.MaxDepth:
		return crawl.ReasonDepth
	case len(r.URL) > j.Limits.MaxURLLength && r.Flags&crawl.FlagSeed == 0:
		return crawl.ReasonTrapLength
	}
	return ""
}

// refuse ends a pending URL that stands in no queue.
func (x *tx) refuse(t *Task, r *record, reason crawl.Kind) {
	r.State, r.Reason, r.dirty = crawl.Excluded, reason, true
	t.count(crawl.Excluded, reason, 1)
	x.tasks[t.ID] = t
	if u, err := crawl.Parse(r.URL); err == nil && t.Search > 0 {
		x.refused = append(x.refused, refusedURL{recKey{t.space(), u.Key()}, r})
	}
}

// holdBack refuses the URLs in queues that lie beyond a limit.
func (x *tx) holdBack(j *Job) error {
	return x.f.each(jobURLs(j.ID), func(key, v []byte) error {
		if crawl.State(v[1]) != crawl.Pending {
			return nil
		}
		k, ok := ofURLKey(key)
		if !ok {
			return errRecord
		}
		r, err := x.record(k.space, k.key)
		if err != nil || r == nil || r.State != crawl.Pending {
			return err
		}
		if reason := j.beyond(r); reason != "" {
			if err := x.unqueue(k, r, reason); err != nil {
				return err
			}
		}
		return x.spill()
	})
}

// unqueue refuses a pending URL, unless a lease has it.
func (x *tx) unqueue(k recKey, r *record, reason crawl.Kind) error {
	t := x.f.tasks[r.Task]
	if held, err := x.held(t, k.key, r); held || err != nil {
		return err
	}
	x.refuse(t, r, reason)
	return x.dequeue(t, r.Place)
}

// trim refuses the last URLs of a task's queue as long as it has more than a site may have.
func (x *tx) trim(j *Job, t *Task) error {
	most := j.At(t.Site).SitePages
	over := x.f.claimed(j, t) - most
	if x.f.full(j, t) {
		over = t.Queued() // it has had its best pages
	}
	if most <= 0 || over <= 0 || t.State == crawl.TaskDropped {
		return nil
	}
	prefix := queueKey(t.ID, 0)[:5]
	it, err := x.f.db.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return err
	}
	for it.Last(); it.Valid() && over > 0 && err == nil; it.Prev() {
		var r *record
		k := recKey{t.space(), crawl.Key(it.Value())}
		r, err = x.record(k.space, k.key)
		if err != nil || r == nil || r.State != crawl.Pending || r.Place != binary.BigEndian.Uint64(it.Key()[5:]) {
			continue
		}
		if err = x.unqueue(k, r, crawl.ReasonSiteBudget); err == nil {
			over--
			err = x.spill()
		}
	}
	if cerr := it.Close(); err == nil {
		err = cerr
	}
	return err
}
