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

// tasksByHead is a heap: the task that may promise most comes first.
type tasksByHead []*Task

func (h tasksByHead) Len() int           { return len(h) }
func (h tasksByHead) Less(a, b int) bool { return h[a].head < h[b].head }
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

// Least returns what the last of the n best URLs promises that wait for a crawler of a job whose best come first (0: the job has one only); 0 if
// there are no more than those. Of a task as many count as most says.
func (f *Frontier) Least(job, crawler uint32, n int, most func(*Task) int) (least float64, err error) {
	var tasks tasksByHead
	for _, t := range f.jobs[job].tasks {
		if t.Crawler() == crawler && t.State == "" && t.Queued() > 0 {
			tasks = append(tasks, t)
		}
	}
	heap.Init(&tasks)
	it, err := f.db.NewIter(&pebble.IterOptions{LowerBound: []byte{'q'}, UpperBound: after([]byte{'q'})})
	if err != nil {
		return 0, damaged(err)
	}
	var found []uint64 // places, the best first: one more than n at most
	for len(tasks) > 0 {
		t := heap.Pop(&tasks).(*Task)
		if len(found) > n && t.head >= found[n] {
			break
		}
		found = t.bestOf(it, found, n+1, most(t))
	}
	if err = errors.Join(it.Error(), it.Close()); err != nil || len(found) <= n || n < 1 {
		return 0, damaged(err)
	}
	return promised(found[n-1]), nil
}

// bestOf adds the first places of a task's queue to the best that were found, which are n at most. What had to wait for room the last time
// does not count: others would wait for it in vain.
func (t *Task) bestOf(it *pebble.Iterator, found []uint64, n, most int) []uint64 {
	end := after(queueKey(t.ID, 0)[:5])
	for ok := it.SeekGE(queueKey(t.ID, t.head)); ok && most > 0 && string(it.Key()) < string(end); ok = it.Next() {
		place := binary.BigEndian.Uint64(it.Key()[5:])
		if t.skips(place) {
			continue
		}
		at, _ := slices.BinarySearch(found, place)
		if at >= n {
			break
		}
		if found = slices.Insert(found, at, place); len(found) > n {
			found = found[:n]
		}
		most--
	}
	return found
}

// skips reports whether the entry at a place had to wait for room the last time.
func (t *Task) skips(place uint64) bool {
	_, found := slices.BinarySearchFunc(t.skipped, place, func(s skipped, place uint64) int { return cmp.Compare(s.place, place) })
	return found
}
