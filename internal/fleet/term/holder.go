package term

import "time"

// Ask is what a holder has asked its owner for.
type Ask uint8

// States of asking.
const (
	Content Ask = iota // nothing, or it has been answered
	Wants              // URLs, and none have come yet
	Starves            // it has said that nothing is left to do, and nobody has answered yet
)

// End is how far the end of a lease has come.
type End uint8

// States of ending.
const (
	Open      End = iota
	Ending        // what is left is to be reported, and then the final part
	Sealed        // the final part is cut
	Abandoned     // without a report: the lease is somebody else's
)

// Holder is an agent's half of a lease. Its times are the agent's own: no two clocks are compared.
type Holder struct {
	Spans
	Ask     Ask
	End     End
	stored  time.Time // when the last stored part was cut
	moved   time.Time // when the last one was cut that showed progress
	got     uint32    // refills taken in
	repeats int       // times that it has said again that it starves
}

// Hold begins the holder's half when a lease comes. since is when its term began, as far as that is known: its message may have
// been sent again, and may have been on its way for long.
func Hold(s Spans, since time.Time) Holder { return Holder{Spans: s, stored: since, moved: since} }

// Got is how many refills were taken in.
func (h *Holder) Got() uint32 { return h.got }

// Stored is when the last stored part was cut.
func (h *Holder) Stored() time.Time { return h.stored }

// MayAsk reports whether the site is still the holder's to ask: the answer holds for this very moment, and for a request that
// ends by itself within Spans.Fetch.
func (h *Holder) MayAsk(now time.Time) bool {
	return !older(now, h.stored, h.Stop()) && !h.Still(now)
}

// MaySend reports whether a request that MayAsk has allowed may be sent at this very moment: before the term is over.
func (h *Holder) MaySend(now time.Time) bool { return !older(now, h.stored, h.Term) && !h.Still(now) }

// Still reports whether there was no progress for a term. The owner recalls the lease soon, and the message may be lost.
func (h *Holder) Still(now time.Time) bool { return older(now, h.moved, h.Term) }

// Escaped reports whether a request was sent too late: the process was frozen between MaySend and the wire, or on its way back.
func (h *Holder) Escaped(at time.Time) bool {
	return at.Sub(h.stored) > h.Term || at.Sub(h.moved) > h.Term
}

// Late reports whether a part that the log has just stored may have come too late to be believed.
func (h *Holder) Late(now time.Time) bool { return older(now, h.stored, h.Term) }

// Store notes that a part was stored that was cut at a time, and not too late.
func (h *Holder) Store(cut time.Time, progress bool) {
	h.stored = cut
	if progress {
		h.moved = cut
	}
}

// StoreLate notes that a part was stored too late.
func (h *Holder) StoreLate(cut time.Time) { h.stored = cut }

// Refill reports whether a refill is taken in, and notes that it is. What is sent again is taken only if nothing has come
// since the holder said that it has nothing: then it is what was lost on the way. since is when the lease's term began anew with it.
func (h *Holder) Refill(since time.Time, again bool, got uint32) bool {
	if again && got != h.got {
		return false
	}
	h.got++
	h.Ask, h.repeats = Content, 0
	h.moved = latest(h.moved, since)
	return true
}

// Quiet reports whether the holder has been silent for long enough to say something although it has nothing to say.
func (h *Holder) Quiet(now time.Time, starved bool) bool {
	return now.Sub(h.stored) >= h.silence(starved)
}

// silence is how long a holder is silent that has nothing new to say. starved: nothing is left to do.
func (h *Holder) silence(starved bool) time.Duration {
	if h.Ask != Starves || !starved {
		return h.Heartbeat()
	}
	return min(h.Heartbeat(), AskAgain<<min(h.repeats, askDoublings))
}

// Repeat reports whether the part that is cut says again that the holder starves: its message may be lost, or the owner that was
// asked is gone.
func (h *Holder) Repeat(now time.Time, starved bool) bool {
	if h.Ask != Starves || !starved || !h.Quiet(now, starved) {
		return false
	}
	h.Ask = Wants
	h.repeats++
	return true
}

// Wish notes that the part that is cut asks for URLs.
func (h *Holder) Wish(starved bool) {
	h.Ask = Wants
	if starved {
		h.Ask = Starves
	}
}
