// Package polite holds the rules of when a site may be asked, as pure functions over its record: the delay between
// starts of requests, back-off after 429, 503 and failures, Crawl-delay, and what a lease may assume. The frontier
// applies them with the log's time, the agent with spans; neither adds rules of its own.
package polite

import (
	"time"

	"argosy/internal/crawl"
)

const (
	// MaxBackoff bounds exponential back-off.
	MaxBackoff = 10 * time.Minute
	// MaxWait is how long a lease waits for its site's turn before it is given back.
	MaxWait = 30 * time.Second
	// maxSlowDown bounds how far a slow site's delay grows by itself.
	maxSlowDown = 30 * time.Second
	// briefTries is how often a site is asked again that has never answered and whose trouble is settled, or that says nothing, where a person has
	// not asked for more than usual: it had a part of the limit, the whole of it, and a part again. briefWait is
	// the first wait, doubled by each, also of one that only ends its connections: a server that is just starting is there by
	// then, and a person who has mistyped a name is told within seconds.
	briefTries = 2
	briefWait  = 500 * time.Millisecond
)

// Delay returns the time between starts of requests to a site: the job's delay, the site's own Crawl-delay (up to
// the job's cap), or the time that the site takes to answer, whichever is longest. A job without a delay, for
// people who crawl their own servers, is slowed down by Crawl-delay only.
func Delay(lim crawl.Limits, crawlDelay time.Duration, latency time.Duration) time.Duration {
	d := lim.Delay
	if c := min(crawlDelay, lim.MaxCrawlDelay); c > d {
		d = c
	}
	if lim.Delay > 0 && latency > d {
		d = min(latency, max(d, maxSlowDown))
	}
	return d
}

// Backoff returns how long to leave a site alone after fails failures in a row: base, doubled by each.
func Backoff(base time.Duration, fails int) time.Duration {
	if fails <= 0 {
		return 0
	}
	d := base
	for i := 1; i < fails && d < MaxBackoff; i++ {
		d *= 2
	}
	return min(d, MaxBackoff)
}

// Patience is how long a site that answers is tried again at least before it is given up.
func Patience(lim crawl.Limits) (all time.Duration) {
	for n := range lim.Retries {
		all += Backoff(lim.Backoff, n+1)
	}
	if all < time.Second {
		return all
	}
	return all.Round(time.Second)
}

// Again decides whether a site that could not be asked, fails times in a row, is asked once more, and after which wait.
// answered says that it has answered before, over the same scheme: what answers over http alone may have no certificate.
func Again(lim crawl.Limits, why crawl.Kind, fails int, answered bool) (wait time.Duration, again bool) {
	most, wait := lim.Retries, Wait(lim, why, fails, answered)
	if (why.Settled() || why == crawl.KindTimeout && most <= crawl.DefaultLimits().Retries) && !answered {
		most = min(most, briefTries)
	}
	if fails > most || !why.Transient() && why != crawl.ReasonRobotsDown {
		return 0, false
	}
	return wait, true
}

// Wait returns how long to leave a site alone that has failed so fails times in a row.
func Wait(lim crawl.Limits, why crawl.Kind, fails int, answered bool) time.Duration {
	wait := Backoff(lim.Backoff, fails)
	if (why.Settled() || why == crawl.KindReset) && !answered {
		wait = min(wait, Backoff(briefWait, fails))
	}
	return wait
}

// Latency folds a sample into a moving average of the time to first byte.
func Latency(average, sample time.Duration) time.Duration {
	if average == 0 {
		return sample
	}
	return average + (sample-average)/4
}

// SiteDelay is Delay for a site record.
func SiteDelay(lim crawl.Limits, s *crawl.Site) time.Duration {
	return Delay(lim, time.Duration(s.CrawlDelayMS)*time.Millisecond, time.Duration(s.LatencyUS)*time.Microsecond)
}

// ReadyAt returns the log time, in Unix ms, before which a site must not be asked.
func ReadyAt(lim crawl.Limits, s *crawl.Site) int64 {
	at := s.BackoffUntil
	if d := SiteDelay(lim, s); s.LastStart > 0 && d > 0 {
		at = max(at, s.LastStart+d.Milliseconds()+1) // times are cut to milliseconds: the last start was up to one later
	}
	return at
}

// Hold makes a site wait its full delay from now on: after a restart or a recall, when nobody knows when it was asked.
func Hold(s *crawl.Site, now int64) { s.LastStart = max(s.LastStart, now) }

// Fold applies what a part says about its site at the log's time now.
func Fold(s *crawl.Site, c *crawl.SiteChange, now int64) {
	if c.SinceStartMS >= 0 {
		s.LastStart = max(s.LastStart, now-c.SinceStartMS)
	}
	if c.LatencyUS > 0 {
		s.LatencyUS = c.LatencyUS
	}
	s.Fails = c.Fails
	s.Heard |= c.Heard
	if c.BackoffMS > 0 {
		s.BackoffUntil = max(s.BackoffUntil, now+c.BackoffMS)
	}
	if len(c.Addrs) > 0 {
		s.Addrs, s.AddrExpiry = c.Addrs, now+c.AddrTTLMS
		s.ResolveFails, s.ResolveWhy, s.Trouble = 0, "", ""
	}
	if c.ResolveFailed != "" {
		s.ResolveWhy = c.ResolveFailed
		s.ResolveFails++
	}
	if r := c.Robots; r != nil {
		s.Trouble = ""
		s.RobotsState, s.Robots, s.RobotsWhy, s.RobotsGone, s.RobotsBare, s.RobotsFor, s.RobotsBy = r.State, r.Rules, r.Why, r.Gone, r.Bare, r.For, r.By
		s.RobotsExpiry, s.CrawlDelayMS = now+r.TTLMS, r.DelayMS
		if r.State == crawl.RobotsUnavailable {
			s.RobotsTries++
		} else {
			s.RobotsTries = 0
		}
	}
	if c.Detail != "" {
		s.Trouble = c.Detail
	}
}

// From is the record of a site as one source address goes by it that has a clock of its own; an empty address has the site's.
func From(s *crawl.Site, address string) *crawl.Site {
	if address == "" {
		return s
	}
	p, own := s.Paces[address], *s
	own.LastStart, own.BackoffUntil, own.LatencyUS, own.Fails = p.LastStart, p.BackoffUntil, p.LatencyUS, p.Fails
	return &own
}

// FoldFrom is Fold of a part from such an address: its own clock is set, and the site's, which is never behind any of them.
func FoldFrom(s *crawl.Site, c *crawl.SiteChange, now int64, address string) {
	if address == "" {
		Fold(s, c, now)
		return
	}
	own := From(s, address)
	Fold(own, &crawl.SiteChange{SinceStartMS: c.SinceStartMS, LatencyUS: c.LatencyUS, BackoffMS: c.BackoffMS, Fails: c.Fails}, now)
	Fold(s, c, now)
	keep(s, own, address)
}

// HoldFrom is Hold for such an address.
func HoldFrom(s *crawl.Site, now int64, address string) {
	Hold(s, now)
	if address != "" {
		own := From(s, address)
		Hold(own, now)
		keep(s, own, address)
	}
}

func keep(s, own *crawl.Site, address string) {
	if s.Paces == nil {
		s.Paces = map[string]crawl.Pace{}
	}
	s.Paces[address] = crawl.Pace{LastStart: own.LastStart, BackoffUntil: own.BackoffUntil, LatencyUS: own.LatencyUS, Fails: own.Fails}
}

// Unresolved returns why a site's name is not looked up any more; empty if it is, or need not be.
func Unresolved(lim crawl.Limits, s *crawl.Site) crawl.Kind {
	if s.ResolveWhy == "" {
		return ""
	}
	if _, again := Again(lim, s.ResolveWhy, s.ResolveFails, s.LatencyUS > 0); again {
		return ""
	}
	return s.ResolveWhy
}

// State returns what a lease carries of a site record at the log's time now.
func State(lim crawl.Limits, s *crawl.Site, now int64) crawl.SiteState {
	st := crawl.SiteState{
		Robots: s.Robots, RobotsState: s.RobotsState, RobotsTries: s.RobotsTries, RobotsWhy: s.RobotsWhy,
		RobotsGone: s.RobotsGone, RobotsBare: s.RobotsBare, RobotsFor: s.RobotsFor, RobotsBy: s.RobotsBy, RobotsTTLMS: s.RobotsExpiry - now, WaitMS: max(0, ReadyAt(lim, s)-now),
		LatencyUS: s.LatencyUS, Fails: s.Fails, Heard: crawl.HeardOf(s.Heard, s.LatencyUS), Spread: 1, Trouble: s.Trouble, ResolveFails: s.ResolveFails,
	}
	if s.AddrExpiry > now {
		st.Addrs = s.Addrs
	}
	st.ResolveWhy = Unresolved(lim, s)
	return st
}
