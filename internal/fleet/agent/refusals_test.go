package agent

import (
	"net/http"
	"sync"
	"testing"

	"argosy/internal/crawl"
)

// A lease that runs dry after a page that its site refuses hands that on: the task's next lease ends when the page is refused again. One that ended for
// refusals has been judged, and hands on nothing.
func TestRefusalsOutliveALease(t *testing.T) {
	for _, end := range []string{crawl.EndDone, crawl.EndFailed} {
		a := &Agent{wake: make(chan struct{}, 1)}
		page := &crawl.Target{Key: crawl.Key{1}}
		begin := func(task uint32) *lease {
			l := &lease{a: a, l: crawl.Lease{Job: 1, Task: task, Asked: &crawl.Asked{Alone: true}}}
			l.more = sync.NewCond(&l.mu)
			l.refused()
			return l
		}
		first := begin(7)
		if again, ends := first.refusal(page, http.StatusForbidden); !again || ends != "" {
			t.Fatalf("the first refusal: again %v, ends %q", again, ends)
		}
		first.end(end)
		first.handsOnLocked()
		if _, ends := begin(8).refusal(page, http.StatusForbidden); ends != "" {
			t.Errorf("another task's lease ends: %q", ends)
		}
		want := ""
		if end == crawl.EndDone {
			want = crawl.EndFailed
		}
		if _, ends := begin(7).refusal(page, http.StatusForbidden); ends != want {
			t.Errorf("after a lease that ended as %s the next one ends %q, want %q", end, ends, want)
		}
	}
}

// What is remembered is bounded.
func TestRefusalsAreBounded(t *testing.T) {
	var r refusals
	for i := range uint32(2 * maxRefusals) {
		r.keep(taskID{1, i}, map[crawl.Key]bool{{1}: true})
	}
	if len(r.pages) != maxRefusals {
		t.Errorf("refusals of %d tasks are remembered, want %d", len(r.pages), maxRefusals)
	}
	if r.take(taskID{1, 2*maxRefusals - 1}) == nil || r.take(taskID{1, 2*maxRefusals - 1}) != nil {
		t.Error("the last task's are there once")
	}
}
