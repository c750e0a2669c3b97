package frontier

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"

	"argosy/internal/crawl"
)

// walkAtOnce bounds how many URLs one entry looks at for an order that concerns those of a whole job. The rest is done in entries that
// the leader appends between others (crawl.EntryWalk), so that nothing waits for all of it.
const walkAtOnce = 10_000

// Walk is how far a retry has come: it makes the failed URLs of tasks pending, in the order of the tasks' numbers.
type Walk struct {
	Tasks  []uint32 `cbor:"1,keyasint,omitempty"` // in order; empty: all
	Task   uint32   `cbor:"2,keyasint,omitempty"` // that comes next
	At     []byte   `cbor:"3,keyasint,omitempty"` // key of its next URL
	Looked int64    `cbor:"4,keyasint,omitempty"` // URLs that were looked at
	Of     int64    `cbor:"5,keyasint,omitempty"` // about
}

// retries reports whether a task has URLs to try again.
func (t *Task) retries() bool {
	return t.State != crawl.TaskDropped && t.Failed+t.Reasons[string(crawl.ReasonRobotsDown)] > 0
}

// walkFrom begins a walk over tasks, all if there are none. One that is under way begins anew, over its tasks as well.
func (x *tx) walkFrom(j *Job, tasks []uint32) error {
	w := &Walk{Tasks: slices.Sorted(slices.Values(tasks))}
	if j.Walk != nil {
		if w.Tasks = append(w.Tasks, j.Walk.Tasks...); len(tasks) == 0 || len(j.Walk.Tasks) == 0 {
			w.Tasks = nil
		}
		slices.Sort(w.Tasks)
		w.Tasks = slices.Compact(w.Tasks)
	}
	for _, id := range x.f.sortedTasks(j.ID, w.Tasks) {
		if t := x.f.tasks[id]; t.retries() {
			w.Of += t.Discovered
		}
	}
	j.Walk = w
	return x.walk(j)
}

// walk goes on with a job's walk.
func (x *tx) walk(j *Job) error {
	if j == nil || j.Walk == nil {
		return nil
	}
	x.jobs[j.ID] = j
	w, left := j.Walk, walkAtOnce
	ids := x.f.sortedTasks(j.ID, w.Tasks)
	at, _ := slices.BinarySearchFunc(ids, w.Task, cmp.Compare[uint32])
	for _, id := range ids[at:] {
		if t := x.f.tasks[id]; t.retries() {
			n, err := x.walkTask(w, t, left)
			w.Looked += int64(n)
			if left -= n; err != nil || w.At != nil {
				return err
			}
		}
		w.At = nil
	}
	j.Walk = nil
	return nil
}

// walkTask looks at up to n URLs of a task and returns at how many it has looked. It leaves in w where it goes on, if it does.
func (x *tx) walkTask(w *Walk, t *Task, n int) (looked int, err error) {
	prefix := urlKey(recKey{t.space(), crawl.KeyOf(t.Site, "")})
	prefix = prefix[:len(prefix)-12]
	from := prefix
	if w.Task == t.ID && w.At != nil {
		from = w.At
	}
	w.Task, w.At = t.ID, nil
	it, err := x.f.db.NewIter(&pebble.IterOptions{LowerBound: from, UpperBound: after(prefix)})
	if err != nil {
		return 0, err
	}
	mine := map[uint32]bool{t.ID: true}
	for it.First(); it.Valid() && err == nil && t.retries(); it.Next() {
		if looked == n {
			w.At = bytes.Clone(it.Key())
			break
		}
		looked++
		if state := crawl.State(it.Value()[1]); state != crawl.Failed && state != crawl.Excluded {
			continue
		}
		k, ok := ofURLKey(it.Key())
		if !ok {
			err = errRecord
			break
		}
		err = x.again(k, mine)
	}
	return looked, errors.Join(err, it.Close())
}
