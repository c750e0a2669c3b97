package frontier

import (
	"cmp"
	"container/heap"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/cockroachdb/pebble/v2"
)

// Promise returns what the first URL of a task's queue promises, at most.
func (t *Task) Promise() float64 { return promised(t.head) }

// promised is the least score of URLs at a place in a queue where the best come first.
func promised(place uint64) float64 { return 1 - float64(place>>rankShift)/lastRank }

// Lowered returns what a promise counts for whose odds are divided by a number, from 1 on.
func Lowered(promise, by float64) float64 {
	if by == 1 {
		return promise
	}
	return promise / (promise + (1-promise)*by)
}

// Raised returns the promise that counts for so much once its odds are divided: what Lowered takes to least, or less by a hair, so that what
// is on the border passes.
func Raised(least, by float64) float64 {
	if by == 1 || least <= 0 {
		return least
	}
	return least*by/(least*by+1-least) - 2.0/lastRank
}

// taskHead is a task with what its first URL counts for.
type taskHead struct {
	*Task
	by     float64
	counts float64
}

// tasksByHead is a heap: the task that may promise most comes first.
type tasksByHead []taskHead

func (h tasksByHead) Len() int           { return len(h) }
func (h tasksByHead) Less(a, b int) bool { return h[a].counts > h[b].counts }
func (h tasksByHead) Swap(a, b int)      { h[a], h[b] = h[b], h[a] }

// Push implements heap.Interface; nothing is ever pushed.
func (h *tasksByHead) Push(any) {}

// Pop implements heap.Interface.
func (h *tasksByHead) Pop() any {
	old := *h
	t := old[len(old)-1]
	*h = old[:len(old)-1]
	return t
}

// Least returns what the last of the n best URLs counts for that wait for a crawler of a job whose best come first (0: the job has one only); 0 if
// there are no more than those. Of a task as many count as most says, and the odds of each are divided by what by says.
func (f *Frontier) Least(job, crawler uint32, n int, by func(*Task) float64, most func(*Task) int) (least float64, err error) {
	var tasks tasksByHead
	for _, t := range f.jobs[job].tasks {
		if t.Crawler() == crawler && t.State == "" && t.Queued() > 0 {
			w := by(t)
			tasks = append(tasks, taskHead{t, w, Lowered(t.Promise(), w)})
		}
	}
	heap.Init(&tasks)
	it, err := f.db.NewIter(&pebble.IterOptions{LowerBound: []byte{'q'}, UpperBound: after([]byte{'q'})})
	if err != nil {
		return 0, damaged(err)
	}
	var found []float64 // what URLs count for, the best first: one more than n at most
	for len(tasks) > 0 {
		t := heap.Pop(&tasks).(taskHead)
		if len(found) > n && t.counts <= found[n] {
			break
		}
		found = t.bestOf(it, found, n+1, most(t.Task))
	}
	if err = errors.Join(it.Error(), it.Close()); err != nil || len(found) <= n || n < 1 {
		return 0, damaged(err)
	}
	return found[n-1], nil
}

// bestOf adds what the first of a task's queue count for to the best that were found, which are n at most. What had to wait for room the last
// time does not count: others would wait for it in vain.
func (t *taskHead) bestOf(it *pebble.Iterator, found []float64, n, most int) []float64 {
	end := after(queueKey(t.ID, 0)[:5])
	for ok := it.SeekGE(queueKey(t.ID, t.head)); ok && most > 0 && string(it.Key()) < string(end); ok = it.Next() {
		place := binary.BigEndian.Uint64(it.Key()[5:])
		if t.memory.waits(place) {
			continue
		}
		counts := Lowered(promised(place), t.by)
		at, _ := slices.BinarySearchFunc(found, counts, func(a, b float64) int { return cmp.Compare(b, a) })
		if at >= n {
			break
		}
		if found = slices.Insert(found, at, counts); len(found) > n {
			found = found[:n]
		}
		most--
	}
	return found
}
