package answer

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"
)

// Answers that take a walk over a job's pages are kept for who asks for the same soon after, as pages that are open do. All walks together
// take a hundredth of a core, until they are so long, or so many, that keptMost comes first: no answer is kept longer than that, and none less
// long than keptLeast. For keptStale longer an answer is given where the next one is not made within keptWait: pages ask every 5 s.
const (
	keptLeast = 2 * time.Second
	keptMost  = time.Minute
	keptTimes = 100
	keptStale = 10 * time.Second
	keptWait  = 100 * time.Millisecond
)

// maxShown bounds how many answers are kept that pages show, maxSought those of what somebody looks for: these may be 2,000 pages long each.
const (
	maxShown  = 200
	maxSought = 20
)

// walkTime bounds how long a walk may take.
const walkTime = 20 * time.Second

// FullError says that as many walks are under way as may be.
type FullError struct{ Walks int }

// Error implements error.
func (e *FullError) Error() string {
	return fmt.Sprintf("%d walks over all pages are under way: ask again soon", e.Walks)
}

// Kept are the answers that are kept. The zero value keeps none yet. Its functions may be called from any goroutine.
type Kept struct {
	mu sync.Mutex
	by map[string]*kept
}

// kept is an answer that took long, or is being made.
type kept struct {
	done    chan struct{}
	stop    context.CancelFunc // ends the walk
	waiting int                // who waits for it
	sought  bool               // it is of what somebody looks for
	took    time.Duration      // to make it; 0: it is being made
	v       any
	err     error
	until   time.Time
	last    any // the answer before, until this one is there; nil: none that is new enough
}

// wanted reports whether an answer is being made, or was asked for so lately that it counts among those that share the time.
func (k *kept) wanted(now time.Time) bool {
	return k.took == 0 || now.Before(k.until.Add(keptStale))
}

// keepFor returns for how long an answer is kept that took so long. One that takes four times as long is made half as often: so the answers
// are youngest, in sum, that all walks together can give in their share of the time. Who calls holds the mutex.
func (a *Kept) keepFor(took time.Duration, now time.Time) time.Duration {
	roots := 0.0
	for _, k := range a.by {
		if k.wanted(now) {
			roots += math.Sqrt(float64(k.took))
		}
	}
	roots += math.Sqrt(float64(took)) // its own is not told yet
	keep := min(keptTimes*math.Sqrt(float64(took))*roots, float64(keptMost))
	return max(keptLeast, time.Duration(keep))
}

// makeRoom forgets the answer that is oldest, where as many are kept as may be. It reports whether there is room: there is none while all
// are being made. Who calls holds the mutex.
func (a *Kept) makeRoom(sought bool) bool {
	n, most, oldest := 0, maxShown, ""
	if sought {
		most = maxSought
	}
	for key, k := range a.by {
		if k.sought != sought {
			continue
		}
		n++
		if k.took > 0 && (oldest == "" || k.until.Before(a.by[oldest].until)) {
			oldest = key
		}
	}
	if n < most {
		return true
	}
	if oldest == "" {
		return false
	}
	delete(a.by, oldest)
	return true
}

// Shown answers what takes a walk over all pages of a job, and what pages show: many who ask at once wait for one walk, and who asks soon after gets the
// same answer, so that ten pages that are open cost what one does, and that a small share of the time. Who goes on asking does not wait long:
// the last answer is given while one is made that takes its time.
func Shown[T any](ctx context.Context, a *Kept, key string, fn func(context.Context) (T, error)) (T, error) {
	return walked(ctx, a, key, false, fn)
}

// Sought is Shown for what somebody looks for, of which there may be as many as there are words.
func Sought[T any](ctx context.Context, a *Kept, key string, fn func(context.Context) (T, error)) (T, error) {
	return walked(ctx, a, key, true, fn)
}

func walked[T any](ctx context.Context, a *Kept, key string, sought bool, fn func(context.Context) (T, error)) (none T, err error) {
	a.mu.Lock()
	if a.by == nil {
		a.by = map[string]*kept{}
	}
	k := a.by[key]
	if k == nil || k.took > 0 && time.Now().After(k.until) {
		next := &kept{done: make(chan struct{}), sought: sought}
		if k != nil && k.err == nil && time.Since(k.until) < keptStale {
			next.last = k.v
		}
		delete(a.by, key)
		if !a.makeRoom(sought) {
			n := len(a.by)
			a.mu.Unlock()
			return none, &FullError{n}
		}
		k = next
		a.by[key] = k
		work, cancel := context.WithTimeout(context.WithoutCancel(ctx), walkTime)
		k.stop = cancel
		go func() {
			defer cancel()
			begin := time.Now()
			v, err := fn(work)
			a.mu.Lock()
			now := time.Now()
			took := max(now.Sub(begin), 1)
			if k.until = now.Add(keptLeast); err == nil {
				k.until = now.Add(a.keepFor(took, now))
			}
			k.v, k.err, k.took, k.last = v, err, took, nil
			a.mu.Unlock()
			close(k.done)
		}()
	}
	last := k.last
	k.waiting++
	a.mu.Unlock()
	var enough <-chan time.Time
	if last != nil {
		enough = time.After(keptWait)
	}
	select {
	case <-k.done:
		a.leave(key, k, false)
	case <-enough:
		a.leave(key, k, false)
		return last.(T), nil
	case <-ctx.Done():
		a.leave(key, k, true)
		return none, ctx.Err()
	}
	if k.err != nil {
		return none, k.err
	}
	return k.v.(T), nil
}

// leave is called by who waits no longer for an answer. What is being made for somebody who has gone, and for nobody else, ends.
func (a *Kept) leave(key string, k *kept, gone bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k.waiting--; !gone || k.waiting > 0 || k.took > 0 {
		return
	}
	k.stop()
	if a.by[key] == k {
		delete(a.by, key)
	}
}
