package coordinator

import (
	"slices"
	"sync"
	"sync/atomic"
)

// Changes are what has changed since a watcher looked last.
type Changes struct {
	Jobs   []uint32 `json:"jobs,omitempty"`   // of which a count, a task or the state may have changed, in order
	Tasks  int      `json:"tasks,omitempty"`  // how often a task may have changed
	Nodes  bool     `json:"nodes,omitempty"`  // one has come, gone, or got or lost a lease
	Status bool     `json:"status,omitempty"` // the coordinator says something new of itself
}

// merge takes in later changes.
func (c *Changes) merge(o *Changes) {
	for _, id := range o.Jobs {
		if at, ok := slices.BinarySearch(c.Jobs, id); !ok {
			c.Jobs = slices.Insert(c.Jobs, at, id)
		}
	}
	c.Tasks += o.Tasks
	c.Nodes = c.Nodes || o.Nodes
	c.Status = c.Status || o.Status
}

// Watch tells one watcher of changes. They are kept together until it looks, so that one who looks seldom, or never, costs no more
// than one who looks often, and the coordinator never waits.
type Watch struct {
	of    *watchers
	ready chan struct{}
	kept  Changes // guarded by of.mu
}

// Ready has something to read when there are changes to take.
func (w *Watch) Ready() <-chan struct{} { return w.ready }

// Take returns what has changed since it was called last.
func (w *Watch) Take() Changes {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	out := w.kept
	w.kept = Changes{}
	return out
}

// Close ends it.
func (w *Watch) Close() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	delete(w.of.all, w)
	w.of.count.Store(int32(len(w.of.all)))
}

// watchers are all who watch a coordinator.
type watchers struct {
	count atomic.Int32 // of all, for who looks without the lock
	mu    sync.Mutex
	all   map[*Watch]bool
}

// Watch begins to watch what the coordinator does.
func (w *window) Watch() *Watch {
	ws := &w.watchers
	one := &Watch{of: ws, ready: make(chan struct{}, 1)}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.all == nil {
		ws.all = map[*Watch]bool{}
	}
	ws.all[one] = true
	ws.count.Store(int32(len(ws.all)))
	return one
}

// tell tells all who watch of changes, which the board shows by now.
func (ws *watchers) tell(c *Changes) {
	if ws.count.Load() == 0 {
		return
	}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	for w := range ws.all {
		w.kept.merge(c)
		select {
		case w.ready <- struct{}{}:
		default: // it has not looked at those before yet
		}
	}
}
