package agent

import (
	"sync"

	"argosy/internal/crawl"
)

// maxRefusals is how many tasks' refusals are remembered; each has fewer than mostShut pages.
const maxRefusals = 1024

// refusals are pages that sites have refused this node (403) in leases that ended before that was judged, by their tasks: a lease that runs dry after
// one page says nothing of the site, and the next one would ask for the page anew.
type refusals struct {
	mu    sync.Mutex
	pages map[taskID]map[crawl.Key]bool
}

// taskID names a task of any job.
type taskID struct{ job, task uint32 }

// take returns what was refused in the leases of a task before, which is the caller's from here on.
func (r *refusals) take(of taskID) map[crawl.Key]bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	pages := r.pages[of]
	delete(r.pages, of)
	return pages
}

// keep remembers pages for the task's next lease. Where too many tasks have some, any other one's are forgotten: they are asked for once more.
func (r *refusals) keep(of taskID, pages map[crawl.Key]bool) {
	if len(pages) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for other := range r.pages {
		if len(r.pages) < maxRefusals {
			break
		}
		delete(r.pages, other)
	}
	if r.pages == nil {
		r.pages = map[taskID]map[crawl.Key]bool{}
	}
	r.pages[of] = pages
}

// refused begins with what the task's leases before were refused.
func (l *lease) refused() {
	if l.l.Asked != nil && !l.l.Asked.Asks {
		l.shut = l.a.refusals.take(taskID{l.l.Job, l.l.Task})
	}
}

// handsOnLocked leaves to the task's next lease what this one was refused, unless it ended for that.
func (l *lease) handsOnLocked() {
	if l.ended != crawl.EndFailed {
		l.a.refusals.keep(taskID{l.l.Job, l.l.Task}, l.shut)
	}
}
