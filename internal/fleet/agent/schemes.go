package agent

import (
	"sync"

	"argosy/internal/crawl"
	"argosy/internal/page/polite"
	"argosy/internal/page/robots"
)

// other is what the robots.txt of the other scheme says: http and https of a host are one site, with one clock, and two files (RFC 9309,
// section 2.3). It is asked for when the first URL of that scheme comes; a site's record has that of the first one alone.
type other struct {
	mu    sync.Mutex // held while it is asked for
	known bool
	rules robots.Rules
}

// rulesOf returns the rules for a URL. down says why they cannot be had; ok is false if the lease ended first.
func (l *lease) rulesOf(u crawl.URL) (r robots.Rules, down *said, ok bool) {
	if l.rulesBy == "" || l.rulesBy == u.Scheme() || l.job.Identity.IgnoreRobots || l.asks() {
		return l.rules, nil, true
	}
	o := &l.other
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known {
		return o.rules, nil, true
	}
	at, err := crawl.Parse(u.Origin() + robotsPath)
	if err != nil {
		return l.rules, nil, true // it cannot be: u is one
	}
	if kept, known := l.a.visits.answer(at, l.product); known {
		o.rules = kept.rules
	} else {
		retries := l.job.Limits.Retries
		a, gone := l.a.visits.down(at, l.product, retries, nil)
		if gone {
			a.final = true
			return r, &a, true
		}
		if a, ok = l.askRules(at); !ok {
			return r, nil, false
		}
		if a.change.State == crawl.RobotsUnavailable {
			if a.err == nil {
				_, a.final = l.a.visits.down(at, l.product, retries, &a)
			}
			return r, &a, true
		}
		if o.rules = a.rules; a.found || a.change.State == crawl.RobotsAllowAll {
			l.a.visits.keep([]crawl.URL{at}, l.product, a.change, a.rules)
		}
	}
	o.known = true
	l.mu.Lock()
	defer l.mu.Unlock()
	l.otherDelay = o.rules.Delay
	if n := l.rep.lastStart.Add(l.delay()); !l.rep.lastStart.IsZero() && n.After(l.next) { // that may have been the robots.txt
		l.next = n
	}
	return o.rules, nil, true
}

// noRules handles a URL whose rules cannot be had for now: as one that fails itself, if the site does not answer by its scheme. What a site
// refuses to say forbids everything (RFC 9309, section 2.3.1.4), once it was asked often enough.
func (l *lease) noRules(p *page, down *said) error {
	if down.err != nil {
		return l.failed(p, down.err)
	}
	t := &p.target
	o := &crawl.Outcome{Key: t.Key, URL: t.URL, State: crawl.Excluded, Reason: down.change.Why, Detail: down.detail, Depth: t.Depth}
	wait, end := polite.Backoff(l.job.Limits.Backoff, int(t.Tries)+1), ""
	if !down.final && int(t.Tries) < l.job.Limits.Retries {
		o.State, o.Retryable, end = crawl.Retry, wait.Milliseconds(), crawl.EndFailed
	}
	l.outcomeHolding(o, nil, wait, end)
	return nil
}
