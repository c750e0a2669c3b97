package term

import "time"

// Clock tells what time it is by the clock of the log, which dates every entry: that is the clock that delays of sites
// and terms of leases are counted by, and it may be another machine's. An entry was stored before it was read, so the
// greatest difference seen between the two clocks is nearest to the truth, and not beyond it: what must wait rather
// waits a little longer. Differences are forgotten when the log's clock is seen to go back, for another server dates it,
// and after one to two spans, for a small step back is not seen: for so long it may be ahead by that step. Where it is seen to go on by
// more than has passed, it was set, or entries before were read late: what stands in the log until then keeps the difference that was known
// then. Our own clock is counted on from when the first entry was read, whatever it is set to.
type Clock struct {
	span         time.Duration // 0: clockSpan
	base         time.Time     // when the first entry was read
	last         int64         // time of the last entry
	newer, older int64         // ms that the log's clock is ahead of ours, at least
	since        time.Time
	both         bool
	set          []setOn // the last times that it was, in their order
}

// setOn is a time up to which the log's clock was ahead by was ms, and was set on then.
type setOn struct{ until, was int64 }

const (
	clockSpan = 10 * time.Second
	clockBack = 20    // ms; entries of one server may be dated a little out of turn
	clockOn   = 1_000 // ms by which it must go on at once to have been set
	keepSet   = 8     // times that it was are remembered
)

func (k *Clock) ours(now time.Time) int64 {
	return k.base.UnixMilli() + now.Sub(k.base).Milliseconds()
}

// Saw takes in an entry that was stored at a time of the log (Unix ms) and read at a time of ours.
func (k *Clock) Saw(at int64, now time.Time) {
	first := k.base.IsZero()
	if first {
		k.base = now
	}
	span := k.span
	if span == 0 {
		span = clockSpan
	}
	ahead := at - k.ours(now)
	if !first && ahead > k.ahead()+clockOn {
		k.set = append(k.set[max(0, len(k.set)+1-keepSet):], setOn{k.last, k.ahead()})
	}
	switch back := at < k.last-clockBack; {
	case first || back || now.Sub(k.since) > span:
		k.both, k.older = !first && !back && now.Sub(k.since) <= 2*span, k.newer
		k.newer, k.since = ahead, now
	default:
		k.newer = max(k.newer, ahead)
	}
	k.last = at
}

// ahead returns by how much the log's clock is ahead of ours, in ms.
func (k *Clock) ahead() int64 {
	if k.both {
		return max(k.newer, k.older)
	}
	return k.newer
}

// MS returns the log's time at a time of ours, Unix ms.
func (k *Clock) MS(now time.Time) int64 { return k.ours(now) + k.ahead() }

// Local returns our time at a time of the log.
func (k *Clock) Local(at int64) time.Time {
	ahead := k.ahead()
	for i := range k.set {
		if at <= k.set[i].until {
			ahead = min(ahead, k.set[i].was)
			break
		}
	}
	return k.base.Add(time.Duration(at-ahead-k.base.UnixMilli()) * time.Millisecond)
}

// Ages tells how long messages were on their way, by when the bus stored them and when they were read: longer than the fastest of
// the last hour or two was. Nobody knows how long that took, nor the first one. Messages may be rare, so that the difference
// between the clocks is remembered for long; clocks part by less than a second in such a time.
type Ages struct{ clock Clock }

// Of returns the age of a message that was stored at a time of the bus (Unix ms) and read at a time of ours.
func (a *Ages) Of(at int64, now time.Time) time.Duration {
	a.clock.span = agesSpan
	a.clock.Saw(at, now)
	return time.Duration(max(0, a.clock.MS(now)-at)) * time.Millisecond
}

const agesSpan = time.Hour
