package agent

import (
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
	"argosy/internal/page/polite"
	"argosy/internal/page/robots"
)

// robotsTTL is how long an answer to robots.txt holds (RFC 9309, section 2.4).
const robotsTTL = 24 * time.Hour

// maxRobotsHops bounds redirects of robots.txt (RFC 9309, section 2.3.1.2).
const maxRobotsHops = 5

// Product is our product token: robots.txt addresses us by it.
const Product = "argosy"

// askRobots makes sure that the site's robots.txt is known, asking for it on the site's clock if need be. It returns
// false if no URL of this lease can be fetched for now.
func (l *lease) askRobots() bool {
	switch {
	case l.job.Identity.IgnoreRobots || l.site.ResolveWhy != "":
		l.gaveUp = l.site.ResolveWhy
		return true
	case l.site.RobotsGone:
		l.gaveUp = l.site.RobotsWhy
		return true
	case (l.robots == crawl.RobotsRules || l.robots == crawl.RobotsAllowAll) && l.site.RobotsTTLMS > 0:
		l.obey(robots.Parse(l.site.Robots, Product))
		l.knownSitemaps()
		return true
	}
	first, ok := l.first()
	if l.l.Probe != "" {
		first, ok = crawl.Target{URL: l.l.Probe}, true
	}
	if !ok {
		return true
	}
	seed, err := crawl.Parse(first.URL)
	if err != nil {
		return true
	}
	u, err := crawl.Parse(seed.Origin() + "/robots.txt")
	if err != nil {
		return true
	}
	change, sitemaps, asked := l.fetchRobots(u)
	if !asked {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rep.change.Robots = change
	l.robots = change.State
	if change.State == crawl.RobotsUnavailable {
		return l.robotsDown(change, first)
	}
	if l.job.Identity.Sitemaps {
		l.rep.addFound(crawl.Found{Links: sitemaps}, nil, 0)
	}
	return true
}

// obey takes in the site's rules; the reporter reads their delay meanwhile.
func (l *lease) obey(r robots.Rules) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rules = r
}

// knownSitemaps names the site's sitemaps for a job that was not the one to ask robots.txt. It does so at the start of a
// task only: a refill brings nothing new.
func (l *lease) knownSitemaps() {
	first, ok := l.first()
	if !ok || !l.job.Identity.Sitemaps || first.Depth > 0 {
		return
	}
	u, err := crawl.Parse(first.URL)
	if err != nil {
		return
	}
	base, err := crawl.Parse(u.Origin() + "/robots.txt")
	if err != nil {
		return
	}
	links := l.sitemaps(base, l.rules.Sitemaps)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rep.addFound(crawl.Found{Links: links}, nil, 0)
}

// robotsDown decides what follows when robots.txt could not be had: ask again later, or, after the last try, give
// the site up; mu is held.
func (l *lease) robotsDown(c *crawl.RobotsChange, first crawl.Target) bool {
	l.fails++
	tries := l.site.RobotsTries + 1
	noScheme := first.Flags&crawl.FlagNoScheme != 0 && c.Why.Unreachable()
	final := !c.Why.Transient() && c.Why != crawl.ReasonRobotsDown
	if tries > l.job.Limits.Retries || noScheme || final {
		c.Gone = true
		l.gaveUp = c.Why
		if noScheme {
			l.scheme = "https"
		}
		return true
	}
	wait := polite.Backoff(l.job.Limits.Backoff, tries)
	c.TTLMS = wait.Milliseconds()
	l.rep.change.BackoffMS = max(l.rep.change.BackoffMS, c.TTLMS)
	l.endLocked(crawl.EndFailed)
	return false
}

// fetchRobots asks for robots.txt and says what the answer means. ok is false if the lease ended first.
func (l *lease) fetchRobots(u crawl.URL) (change *crawl.RobotsChange, sitemaps []crawl.Link, ok bool) {
	down := func(why crawl.Kind) (*crawl.RobotsChange, []crawl.Link, bool) {
		return &crawl.RobotsChange{State: crawl.RobotsUnavailable, Why: why}, nil, true
	}
	var resp *fetch.Response
	defer func() { resp.Release() }()
	at := u
	for range maxRobotsHops + 1 {
		resp.Release()
		var err error
		resp, err = l.exchange(at)
		if err != nil {
			if l.ctx.Err() != nil {
				return nil, nil, false
			}
			return down(crawl.KindOf(err))
		}
		if resp == nil {
			return nil, nil, false
		}
		switch {
		case resp.Status >= 300 && resp.Status < 400 && resp.Get("Location") != "":
			next, err := at.Resolve(resp.Get("Location"))
			if err != nil {
				return l.allowAll(), l.sitemaps(u, nil), true
			}
			at = next
			continue
		case resp.Status >= 500 || resp.Status == 429:
			if d := retryAfter(resp); d > 0 {
				c, _, _ := down(crawl.ReasonRobotsDown)
				l.holdFor(d)
				return c, nil, true
			}
			return down(crawl.ReasonRobotsDown)
		case resp.Status != 200:
			return l.allowAll(), l.sitemaps(u, nil), true
		}
		body, err := resp.Decoded(4 * robots.MaxSize)
		if err != nil {
			if body = resp.Body; resp.Coded() {
				return down(crawl.ReasonRobotsDown)
			}
		}
		rules := robots.Parse(body, Product)
		l.obey(rules)
		c := &crawl.RobotsChange{
			State: crawl.RobotsRules, Body: rules.Text(), TTLMS: robotsTTL.Milliseconds(), DelayMS: rules.Delay.Milliseconds(),
		}
		return c, l.sitemaps(u, rules.Sitemaps), true
	}
	return l.allowAll(), nil, true // too many redirects: as if there were none
}

func (l *lease) allowAll() *crawl.RobotsChange {
	return &crawl.RobotsChange{State: crawl.RobotsAllowAll, TTLMS: robotsTTL.Milliseconds()}
}

// holdFor makes the site wait without ending the lease by itself.
func (l *lease) holdFor(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rep.change.BackoffMS = max(l.rep.change.BackoffMS, d.Milliseconds())
}

// sitemaps returns links to the sitemaps that robots.txt names, or to the usual place if it names none.
func (l *lease) sitemaps(base crawl.URL, named []string) []crawl.Link {
	if len(named) == 0 {
		named = []string{"/sitemap.xml"}
	}
	var out []crawl.Link
	for _, s := range named {
		if u, err := base.Resolve(s); err == nil {
			out = append(out, crawl.Link{URL: u.String(), Sitemap: true})
		}
	}
	return out
}
