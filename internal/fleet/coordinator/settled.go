package coordinator

import (
	"math"
	"time"

	"argosy/internal/crawl"
)

// settled is what a cycle has left that looked at all that was due and gave nothing to anybody: one more comes to the same until something has
// changed, or something is due that it has not seen.
type settled struct {
	due   int64     // Unix ms: when the first of those is
	again time.Time // when one begins all the same: strategies let time pass, and what is measured meanwhile may count
}

// settle takes note that a cycle at a time has left all that is due, and that nothing of it can be given out for now.
func (r *run) settle(now time.Time, ms int64) {
	if len(r.due) == 0 || r.due[0].at > ms {
		return // nothing is left
	}
	r.settled = &settled{due: r.due.after(ms), again: now.Add(restMost)}
}

// waiting is for how long no cycle needs to begin if nothing comes; not above 0: one is due. Something waits.
func (r *run) waiting(now time.Time, ms int64) time.Duration {
	in := msec(r.due[0].at - ms)
	if s := r.settled; s != nil {
		in = s.again.Sub(now)
		if s.due-ms < in.Milliseconds() {
			in = msec(s.due - ms)
		}
	}
	return max(in, r.again.Sub(now))
}

// after returns when the first of those is due that are due after a time.
func (h dueHeap) after(ms int64) int64 {
	first := int64(math.MaxInt64)
	var look func(i int)
	look = func(i int) {
		switch {
		case i >= len(h) || h[i].at >= first:
		case h[i].at > ms:
			first = h[i].at
		default:
			look(2*i + 1)
			look(2*i + 2)
		}
	}
	look(0)
	return first
}

// stir has what waits looked at again: a node has come or has more room, a lease has ended, a person wants something.
func (b *jobs) stir() {
	for _, r := range b.runs {
		r.settled = nil
	}
}

// differs reports whether what a node says now changes what it may be given.
func (n *node) differs(info *crawl.NodeInfo) bool {
	was := &n.info
	return n.Left || was.Incarnation != info.Incarnation || was.Draining != info.Draining || was.Leases != info.Leases || was.Concurrency != info.Concurrency || was.OnDemand != info.OnDemand || was.Offer != info.Offer ||
		was.Store != info.Store
}
