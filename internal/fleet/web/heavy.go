package web

import (
	"context"
	"fmt"
	"math"
	"time"

	"github.com/danielgtaylor/huma/v2"
)

// Answers that take a walk over a job's pages are kept for who asks for the same soon after, as pages that are open do. All walks together
// take a hundredth of a core, until they are so long, or so many, that heavyMost comes first: no answer is kept longer than that, and none less
// long than heavyLeast. For heavyStale longer an answer is given where the next one is not made within heavyWait: pages ask every 5 s.
const (
	heavyLeast = 2 * time.Second
	heavyMost  = time.Minute
	heavyTimes = 100
	heavyStale = 10 * time.Second
	heavyWait  = 100 * time.Millisecond
)

// maxHeavy bounds how many answers are kept that pages show, maxSought those of what somebody looks for: these may be 2,000 pages long each.
const (
	maxHeavy  = 200
	maxSought = 20
)

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
	return k.took == 0 || now.Before(k.until.Add(heavyStale))
}

// keepFor returns for how long an answer is kept that took so long. One that takes four times as long is made half as often: so the answers
// are youngest, in sum, that all walks together can give in their share of the time. Who calls holds the mutex.
func (a *api) keepFor(took time.Duration, now time.Time) time.Duration {
	roots := 0.0
	for _, k := range a.heavy {
		if k.wanted(now) {
			roots += math.Sqrt(float64(k.took))
		}
	}
	roots += math.Sqrt(float64(took)) // its own is not told yet
	keep := min(heavyTimes*math.Sqrt(float64(took))*roots, float64(heavyMost))
	return max(heavyLeast, time.Duration(keep))
}

// makeRoom forgets the answer that is oldest, where as many are kept as may be. It reports whether there is room: there is none while all
// are being made. Who calls holds the mutex.
func (a *api) makeRoom(sought bool) bool {
	n, most, oldest := 0, maxHeavy, ""
	if sought {
		most = maxSought
	}
	for key, k := range a.heavy {
		if k.sought != sought {
			continue
		}
		n++
		if k.took > 0 && (oldest == "" || k.until.Before(a.heavy[oldest].until)) {
			oldest = key
		}
	}
	if n < most {
		return true
	}
	if oldest == "" {
		return false
	}
	delete(a.heavy, oldest)
	return true
}

// about names an answer about a job, by all that was asked. Its state is part of it: once a job is over nobody is told what held before.
func (a *api) about(ctx context.Context, job uint32, what string, asked ...any) string {
	state := ""
	if co, err := a.s.Leader(); err == nil {
		if j, err := a.find(ctx, co, job); err == nil {
			state = j.State
		}
	}
	return fmt.Sprintf("%s %d %s %#v", what, job, state, asked)
}

// heavy answers what takes a walk over all pages of a job: many who ask at once wait for one walk, and who asks soon after gets the
// same answer, so that ten pages that are open cost what one does, and that a small share of the time. Who goes on asking does not wait long:
// the last answer is given while one is made that takes its time.
func heavy[T any](ctx context.Context, a *api, key string, fn func(context.Context) (T, error)) (*out[T], error) {
	return walked(ctx, a, key, false, fn)
}

// sought is heavy for what somebody looks for, of which there may be as many as there are words.
func sought[T any](ctx context.Context, a *api, key string, fn func(context.Context) (T, error)) (*out[T], error) {
	return walked(ctx, a, key, true, fn)
}

func walked[T any](ctx context.Context, a *api, key string, sought bool, fn func(context.Context) (T, error)) (*out[T], error) {
	a.mu.Lock()
	k := a.heavy[key]
	if k == nil || k.took > 0 && time.Now().After(k.until) {
		next := &kept{done: make(chan struct{}), sought: sought}
		if k != nil && k.err == nil && time.Since(k.until) < heavyStale {
			next.last = k.v
		}
		delete(a.heavy, key)
		if !a.makeRoom(sought) {
			n := len(a.heavy)
			a.mu.Unlock()
			return nil, huma.Error503ServiceUnavailable(fmt.Sprintf("%d walks over all pages are under way: ask again soon", n))
		}
		k = next
		a.heavy[key] = k
		work, cancel := context.WithTimeout(context.WithoutCancel(ctx), orderTime)
		k.stop = cancel
		go func() {
			defer cancel()
			begin := time.Now()
			v, err := fn(work)
			a.mu.Lock()
			now := time.Now()
			took := max(now.Sub(begin), 1)
			if k.until = now.Add(heavyLeast); err == nil {
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
		enough = time.After(heavyWait)
	}
	select {
	case <-k.done:
		a.leave(key, k, false)
	case <-enough:
		a.leave(key, k, false)
		return &out[T]{last.(T)}, nil
	case <-ctx.Done():
		a.leave(key, k, true)
		return nil, problem(ctx.Err())
	}
	if k.err != nil {
		return nil, problem(k.err)
	}
	return &out[T]{k.v.(T)}, nil
}

// leave is called by who waits no longer for an answer. What is being made for somebody who has gone, and for nobody else, ends.
func (a *api) leave(key string, k *kept, gone bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if k.waiting--; !gone || k.waiting > 0 || k.took > 0 {
		return
	}
	k.stop()
	if a.heavy[key] == k {
		delete(a.heavy, key)
	}
}
