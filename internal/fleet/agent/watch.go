package agent

import (
	"fmt"
	"net/http"
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/polite"
)

// Problem is something that went wrong with a site, for people who watch.
type Problem struct {
	No     int64 // counts the agent's problems, from 1
	At     time.Time
	Site   string
	URL    string     // empty: the site could not be asked at all
	Kind   crawl.Kind // why; of an answer KindStatus
	Status int        // of an answer that is one
	Detail string
	Again  bool // it is tried again
	Unseen bool // the site has not shown a page yet
	Login  bool // a name and a password were sent

	Rest     time.Duration // from At on: how long a search's engine is left alone, or a site that has asked for more than a while
	Patience time.Duration // how long such a site is tried again at least, by its own limits
}

// maxProblems bounds how many problems are remembered.
const maxProblems = 64

// watch remembers the last problems.
type watch struct {
	mu   sync.Mutex
	last []Problem // oldest first
	no   int64
}

func (w *watch) note(p Problem) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.no++
	p.No, p.At = w.no, time.Now()
	if len(w.last) == maxProblems {
		copy(w.last, w.last[1:])
		w.last = w.last[:maxProblems-1]
	}
	w.last = append(w.last, p)
}

// Problems returns what went wrong after problem number no, oldest first, as far as it is remembered.
func (a *Agent) Problems(no int64) (out []Problem) {
	a.watch.mu.Lock()
	defer a.watch.mu.Unlock()
	for _, p := range a.watch.last {
		if p.No > no {
			out = append(out, p)
		}
	}
	return out
}

// SiteStats is how a lease gets on with its site.
type SiteStats struct {
	Lease   uint64
	Site    string
	Answers int64         // since the lease began
	Latency time.Duration // moving average of the time to first byte
	Delay   time.Duration // between starts of requests
	Busy    int           // URLs under way
}

// Sites returns how each running lease gets on, in no particular order.
func (a *Agent) Sites() []SiteStats {
	running := a.running()
	out := make([]SiteStats, 0, len(running))
	for _, l := range running {
		l.mu.Lock()
		out = append(out, SiteStats{Lease: l.l.ID, Site: l.l.Site, Answers: l.answers, Latency: l.latency, Delay: l.delay(), Busy: l.busy})
		l.mu.Unlock()
	}
	return out
}

// unable notes that the site could not be asked. mu may be held.
func (l *lease) unable(kind crawl.Kind, detail string, again bool) {
	p := Problem{Site: l.l.Site, Kind: kind, Detail: detail, Again: again, Patience: polite.Patience(l.job.Limits)}
	if rest := time.Duration(l.rep.change.BackoffMS) * time.Millisecond; again && kind == crawl.ReasonRobotsDown && rest > longRest {
		p.Rest = rest
	}
	l.a.watch.note(p)
}

// longRest is how long a site may ask to be left alone before it is said how long that is.
const longRest = time.Minute

// noteOutcome notes an outcome that is not what anybody hopes for; mu is held.
func (l *lease) noteOutcome(o *crawl.Outcome) {
	p := Problem{Site: l.l.Site, URL: o.URL, Kind: o.Reason, Detail: o.Detail, Again: o.State == crawl.Retry, Unseen: l.told&crawl.HeardPage == 0, Login: l.a.cfg.Logins[l.l.Site] != "", Patience: polite.Patience(l.job.Limits)}
	if o.Answered != nil && o.State == crawl.Retry {
		p.Again, p.Rest = o.Retryable > 0, time.Duration(o.Retryable)*time.Millisecond
	}
	if rest := time.Duration(o.Retryable) * time.Millisecond; p.Again && o.Reason == crawl.KindStatus && rest > longRest {
		p.Rest = rest
	}
	switch {
	case o.State == crawl.Failed || o.State == crawl.Retry:
	case o.State == crawl.Fetched && refuses(o.Status):
		p.Kind, p.Status = crawl.KindStatus, o.Status
	case o.State == crawl.Excluded && o.Reason == crawl.ReasonRobots && o.Depth == 0:
		// the kind says it all
	default:
		return
	}
	if p.Kind == crawl.KindStatus && p.Detail == "" {
		p.Status, p.Detail = o.Status, fmt.Sprintf("answers %d %s", o.Status, http.StatusText(o.Status))
	}
	l.a.watch.note(p)
}

// refuses reports whether a status says that a site does not want to answer us, or cannot.
func refuses(status int) bool {
	switch status {
	case http.StatusUnauthorized, http.StatusForbidden, http.StatusProxyAuthRequired, http.StatusTooManyRequests:
		return true
	}
	return status >= 500
}
