package coordinator

import "time"

// logClock tells what time it is by the clock of the log, which dates every entry: that is the clock that delays of sites
// and terms of leases are counted by, and it may be another machine's. An entry was stored before it was read, so the
// greatest difference seen between the two clocks is nearest to the truth, and never beyond it: what must wait rather
// waits a little longer. Differences are forgotten after one to two spans, for either clock may be set.
type logClock struct {
	newer, older int64 // ms that the log's clock is ahead of ours, at least
	since        time.Time
	seen, both   bool
}

const clockSpan = time.Minute

// saw takes in an entry that was stored at a time of the log (Unix ms) and read at a time of ours.
func (k *logClock) saw(at int64, now time.Time) {
	ahead := at - now.UnixMilli()
	switch {
	case !k.seen || now.Sub(k.since) > clockSpan:
		k.both, k.older = k.seen && now.Sub(k.since) <= 2*clockSpan, k.newer
		k.newer, k.since, k.seen = ahead, now, true
	default:
		k.newer = max(k.newer, ahead)
	}
}

// ahead returns by how much the log's clock is ahead of ours, in ms.
func (k *logClock) ahead() int64 {
	if k.both {
		return max(k.newer, k.older)
	}
	return k.newer
}

// ms returns the log's time at a time of ours, Unix ms.
func (k *logClock) ms(now time.Time) int64 { return now.UnixMilli() + k.ahead() }

// local returns our time at a time of the log.
func (k *logClock) local(at int64) time.Time { return time.UnixMilli(at - k.ahead()) }
