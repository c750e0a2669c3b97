// Package term is the life of a lease: when its holder, an agent, may ask a site, and when its owner, the coordinator, may
// give that site to somebody else. Both halves stand beside each other (holder.go, owner.go), and so do all spans of time that
// they depend on, in one table; term_test.go holds the inequalities between them, and plays the two halves against each
// other over messages that are lost, delayed and repeated.
//
//	          grant                     dispatch                  final part
//	queued ──────────────► granted ──────────────► running ───────────────────────► ended
//	  ▲                      │ ▲ └─ no part yet ─┘   │  │
//	  │                      │ └── again: Resend     │  └─► given up by its holder: MayAsk is false
//	  └────────────────── recalled ◄─────────────────┘
//	                       Judge
//
// What the holder asks of the owner has three states, and how it ends four:
//
//	Content ──few are left──► Wants ──none is left──► Starves ──no answer──► Wants     Open ──► Ending ──► Sealed
//	   ▲                        │                        │                              └──► Abandoned ◄──┘
//	   └───────refill───────────┴────────────────────────┘
package term

import (
	"time"

	"argosy/internal/crawl"
)

// The table. Shares are of a lease's term, crawl.Limits.RecycleAfter, which is at least leastTerm.
const (
	leastTerm = time.Second

	// The holder.
	stopShare    = 0.75             // of a term without a part stored: no more requests
	flushShare   = 0.25             // the longest that an outcome may wait to be reported
	heartShare   = 0.25             // between two parts that say nothing new
	mostHeart    = 15 * time.Second // likewise, at most
	AskAgain     = 2 * time.Second  // a holder that has nothing left says so again after this, then after twice as long, and so on
	askDoublings = 4

	// The owner.
	fetchShare  = 0.5                    // of a term: a request is given so long to end by itself, or the connect time-out where that is shorter
	resendShare = 1.0 / 3                // a lease of which nothing is heard is dispatched again after this
	mostResend  = 5 * time.Second        // likewise, at most
	leftFor     = time.Second            // what a node has reported before it left is waited for so long
	JudgeEvery  = 250 * time.Millisecond // leases are judged

	// A node's registration.
	NodeTTL = 15 * time.Second // one that has not renewed for so long is gone
	Renew   = NodeTTL / 3      // it renews this often

	// What the owner knows of its own hearing.
	deaf      = NodeTTL / 3            // a loop that has not turned for so long has not heard its nodes
	slowLog   = 500 * time.Millisecond // a log that takes longer was away, and parts are on their way
	slowShare = 0.1                    // or this share of the shortest term that has run out: a disk that is always slow must not keep the dead alive
	soundFor  = 2 * time.Second        // a log that was not slow is believed so long
)

// Spans are the spans of a lease's life that follow from its job's limits.
type Spans struct {
	Term  time.Duration // without progress: the lease is taken back
	Fetch time.Duration // a request that the holder sent last is given so long
	Whole time.Duration // an exchange may take, from dialling to the end of the body
}

// Of returns a job's spans.
func Of(limits *crawl.Limits) Spans {
	f := &limits.Fetch
	return Spans{limits.RecycleAfter, min(f.ConnectTimeout, share(limits.RecycleAfter, fetchShare)), f.ConnectTimeout + f.TLSTimeout + f.HeaderTimeout + f.BodyTimeout}
}

func share(span time.Duration, of float64) time.Duration { return time.Duration(float64(span) * of) }

// Stop is how long a holder goes on that cannot store a part.
func (s Spans) Stop() time.Duration { return share(s.Term, stopShare) }

// Recall is how long an owner waits for progress.
func (s Spans) Recall() time.Duration { return s.Term + s.Fetch }

// Most is how long an owner waits for the end of a lease that shows progress all the time: it may be a term on its way, asks for nothing new
// once its budget is used up, and ends what is under way then.
func (s Spans) Most(budget time.Duration) time.Duration {
	return s.Term + budget + s.Whole + s.Recall()
}

// Heartbeat is how often a holder says something even if it has nothing to say.
func (s Spans) Heartbeat() time.Duration { return min(mostHeart, share(s.Term, heartShare)) }

// Flush is how long what a holder has to say may wait, where it may wait for most.
func (s Spans) Flush(most time.Duration) time.Duration { return min(most, share(s.Term, flushShare)) }

// Resend is how long a lease may be silent from its start before its hint is taken for lost.
func (s Spans) Resend() time.Duration { return min(mostResend, share(s.Term, resendShare)) }

// older reports whether a time lies more than a span back. Wall time counts as well as the process's own: a machine that slept
// has missed its terms too.
func older(now, t time.Time, span time.Duration) bool {
	return now.Sub(t) > span || now.Round(0).Sub(t.Round(0)) > span
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
