package term

import (
	"time"

	"argosy/internal/plan/schedule"
)

// Contact is what an owner hears of a node: its registration, and its reports.
type Contact struct {
	Seen  time.Time // its registration, last
	heard time.Time // a sign of life, last: finding a registration when the registry is opened is none
	back  time.Time // the first sign of life since the owner was deaf
	Left  bool      // it took itself out
}

// Hear notes a sign of life. trouble is Hearing.Trouble.
func (c *Contact) Hear(now, trouble time.Time) {
	if !c.heard.After(trouble) {
		c.back = now
	}
	c.heard = now
}

// Since reports whether there was a sign of life after a time.
func (c *Contact) Since(at time.Time) bool { return c.heard.After(at) }

// Gone reports whether a node has neither renewed its registration nor reported for NodeTTL.
func (c *Contact) Gone(now time.Time) bool { return now.Sub(latest(c.Seen, c.heard)) > NodeTTL }

// Signs are what an owner knows of one lease.
type Signs struct {
	Progress time.Time // of the lease, last, by the owner's clock and not before the truth (Clock.Local)
	Node     *Contact  // nil: the node is not there
	Other    bool      // the node has another life by now
	Trouble  time.Time // Hearing.Trouble
	Began    time.Time // the lease, by the owner's clock; the zero time: nobody knows
	Budget   time.Duration
}

// Verdict is what an owner makes of a lease.
type Verdict uint8

// Verdicts.
const (
	Goes    Verdict = iota // it stays with its holder
	Dead                   // its holder is gone
	Silent                 // its holder lives and shows no progress: this counts towards the recycle limit
	Overdue                // its holder lives, and should have ended it long ago, whatever it says: likewise
)

// Judge says whether a lease may be somebody else's. A node that has merely not been heard of may be alive behind a cut line:
// its lease is waited for until it must have stopped by itself.
func Judge(s Spans, now time.Time, signs Signs) Verdict {
	n := signs.Node
	silent := now.Sub(since(s, signs))
	over := !schedule.Recycle(schedule.RecycleConfig{After: s.Recall()}, silent).OK()
	switch {
	case n != nil && signs.Other, n != nil && n.Left && silent > leftFor, over && !signs.live():
		return Dead
	case over:
		return Silent
	case signs.overdue(s, now):
		return Overdue
	}
	return Goes
}

// overdue reports whether a lease is open for longer than a holder keeps one that does as it should. While the owner was deaf the holder
// may have ended it in vain.
func (s *Signs) overdue(spans Spans, now time.Time) bool {
	return s.live() && !s.Began.IsZero() && now.Sub(latest(latest(s.Began, s.Trouble), s.Node.back)) > spans.Most(s.Budget)
}

// Age is how old a lease's term is: what the owner says of it when it sends the lease, or refills it, so that the holder's term ends
// before the owner's does, and before that of whoever is the owner by then: progress, as in Signs, stands in the log.
func Age(now, progress time.Time) time.Duration { return max(0, now.Sub(progress)) }

// live reports whether the lease's node has been heard since the owner could hear it.
func (s *Signs) live() bool { return s.Node != nil && (s.Node.Left || s.Node.heard.After(s.Trouble)) }

// since is from when on a lease has shown no progress although its node could have said so. After the log or the owner was
// away a node may need a while to find the bus again: the lease's term begins anew when the node is heard. One that is not heard until
// it must be taken for gone had the term that began with its last progress: it knows of no later one.
func since(spans Spans, s Signs) time.Time {
	switch {
	case !s.live():
		return latest(s.Progress, s.Trouble.Add(NodeTTL-spans.Recall()))
	case s.Node.Left:
		return latest(s.Progress, s.Trouble)
	}
	return latest(latest(s.Progress, s.Trouble), s.Node.back)
}

// Hearing is what an owner knows of its own ears: when it may not have heard a node that was alive.
type Hearing struct {
	Began  time.Time // it has led since
	sick   time.Time // the log was slow, or the owner did not listen, last
	mark   uint64    // an entry that shows that the log is not slow
	marked time.Time
	turned time.Time
}

// Trouble is when a node that was alive may not have been heard last: before the owner led, or while the log was away.
func (h *Hearing) Trouble() time.Time { return latest(h.Began, h.sick) }

// Turn notes that the owner listens; begin is when its last look at what came began, now is when it has ended.
func (h *Hearing) Turn(now time.Time) {
	if !h.turned.IsZero() && older(now, h.turned, deaf) {
		h.sick = now
	}
	h.turned = now
}

// Sound reports whether reports that were not heard were not made: an entry of the owner's has been stored at once, a moment
// ago, and been read back. applied is the last entry that was.
func (h *Hearing) Sound(now time.Time, applied uint64) bool {
	return h.mark > 0 && applied >= h.mark && now.Sub(h.marked) < soundFor
}

// Mark notes that an entry was stored that was sent at a time; shortest is the shortest Spans.Recall that has run out. If it took
// long, the log was away and parts are still on their way: every lease gets a full term again.
func (h *Hearing) Mark(seq uint64, sent, now time.Time, shortest time.Duration) {
	h.mark, h.marked = seq, now
	if now.Sub(sent) > max(slowLog, share(shortest, slowShare)) {
		h.sick = now
	}
}
