package agent

import (
	"bytes"
	"errors"
	"fmt"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
	"argosy/internal/page/parse"
	"argosy/internal/page/polite"
	"argosy/internal/page/robots"
)

// robotsPath is where a site has it.
const robotsPath = "/robots.txt"

// robotsTTL is how long an answer to robots.txt holds (RFC 9309, section 2.4).
const robotsTTL = 24 * time.Hour

// maxRobotsHops bounds redirects of robots.txt (RFC 9309, section 2.3.1.2).
const maxRobotsHops = 5

// askRobots makes sure that the site's robots.txt is known, asking for it on the site's clock if need be. It returns
// false if no URL of this lease can be fetched for now. A job that ignores its rules asks for its sitemaps only.
func (l *lease) askRobots() bool {
	ignore := l.job.Identity.IgnoreRobots
	first, ok := l.first()
	if l.l.Probe != "" {
		first, ok = crawl.Target{URL: l.l.Probe}, true
	}
	switch {
	case l.site.ResolveWhy != "":
		l.gaveUp, l.why = l.site.ResolveWhy, l.site.Trouble
		return true
	case ignore && (!l.startsTask() || l.site.RobotsTries > l.job.Limits.Retries):
		l.ignoreRobots()
		return true
	case l.site.RobotsGone && !ignore:
		l.gaveUp, l.why = l.site.RobotsWhy, l.site.Trouble
		return true
	case !ok:
		return true
	}
	seed, err := crawl.Parse(first.URL)
	if err != nil {
		return true
	}
	u, err := crawl.Parse(seed.Origin() + robotsPath)
	if err != nil {
		return true
	}
	l.origin, l.robotsWith, l.robotsMay = seed.Origin(), names(l.sends(u)), true
	if rules, ok := l.knownRules(); ok {
		l.robotsMay = l.site.RobotsBare
		l.rulesBy = l.site.RobotsBy
		l.obey(rules)
		if l.startsTask() {
			l.nameSitemaps(u, rules)
		}
		return true
	}
	return l.askFor(u, first)
}

// askFor asks for robots.txt, before a lease's first URL or once more behind a wall. It returns false if no URL of this lease can be fetched
// for now.
func (l *lease) askFor(u crawl.URL, first crawl.Target) bool {
	change, rules, asked := l.robotsBehind(u)
	l.robotsMay = l.robotsMay && l.robotsWith == ""
	if !asked {
		return false
	}
	change.Bare = l.robotsMay && change.State != crawl.RobotsUnavailable && rules.Empty()
	l.mu.Lock()
	l.rep.change.Robots = change
	l.robots = change.State
	l.mu.Unlock()
	if change.State == crawl.RobotsUnavailable {
		if !l.job.Identity.IgnoreRobots {
			return l.robotsDown(change, first)
		}
		l.ignoreRobots()
		return true
	}
	l.rulesBy = change.By
	l.obey(rules)
	if l.job.Identity.Sitemaps {
		l.nameSitemaps(u, rules)
	}
	return true
}

// askAgain asks for robots.txt once more if a wall has let the lease through since; no page is asked for meanwhile. It reports whether URLs are to
// follow.
func (l *lease) askAgain() bool {
	l.mu.Lock()
	again := l.again && l.ended == ""
	l.mu.Unlock()
	if !again {
		return false
	}
	l.works(1)
	defer l.works(-1)
	u, err := crawl.Parse(l.origin + robotsPath)
	goOn := err == nil && l.askFor(u, crawl.Target{})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.again = false
	return goOn
}

// knownRules returns the rules that came with the lease; false if robots.txt must be asked for.
func (l *lease) knownRules() (robots.Rules, bool) {
	if l.site.RobotsTTLMS <= 0 || l.site.RobotsBare && l.robotsWith != "" { // the cookies of an earlier lease may be of the wall before it
		return robots.Rules{}, false
	}
	switch l.robots {
	case crawl.RobotsAllowAll:
		return robots.Rules{}, true
	case crawl.RobotsRules:
		if l.site.RobotsFor != l.robotsFor() { // another job's crawler has read them
			return robots.Rules{}, false
		}
		rules, err := robots.Decode(l.site.Robots)
		if err != nil { // not what was kept: what it said is not known
			l.a.cfg.Logger.Warn("robots.txt is asked for again", "site", l.l.Site, "error", err)
		}
		return rules, err == nil
	}
	return robots.Rules{}, false
}

// robotsFor is whom rules are kept for: the name that sites know the job's crawler by, empty for our own.
func (l *lease) robotsFor() string {
	if l.product == robots.Own {
		return ""
	}
	return l.product
}

// startsTask reports whether the lease begins a task whose sitemaps are wanted. Later on they have been named: a refill
// brings nothing new.
func (l *lease) startsTask() bool {
	first, ok := l.first()
	return ok && l.job.Identity.Sitemaps && first.Depth == 0 && l.l.Probe == ""
}

// ignoreRobots goes on without knowing what robots.txt says.
func (l *lease) ignoreRobots() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.robots = crawl.RobotsAllowAll
}

// obey takes in the site's rules, unless the job ignores them; the reporter reads their delay meanwhile.
func (l *lease) obey(r robots.Rules) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.job.Identity.IgnoreRobots {
		l.robots = crawl.RobotsAllowAll
		return
	}
	l.rules = r
	if n := l.rep.lastStart.Add(l.delay()); !l.rep.lastStart.IsZero() && n.After(l.next) { // that was robots.txt, before its delay was known
		l.next = n
	}
}

// nameSitemaps reports the sitemaps that robots.txt names, or the usual place if it names none.
func (l *lease) nameSitemaps(base crawl.URL, r robots.Rules) {
	named := r.Sitemaps
	if len(named) == 0 {
		named = []string{crawl.SitemapPath}
	}
	var found crawl.Found
	if r.SitemapsLeft > 0 {
		found.Omitted = map[crawl.Kind]int64{crawl.ReasonTrapMap: int64(r.SitemapsLeft)}
	}
	for _, s := range named {
		if u, err := base.Resolve(s); err == nil {
			found.Links = append(found.Links, crawl.Link{URL: u.String(), Sitemap: true})
		}
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rep.addFound(found, nil, 0)
}

// robotsDown decides what follows when robots.txt could not be had: ask again later, or, after the last try, give
// the site up.
func (l *lease) robotsDown(c *crawl.RobotsChange, first crawl.Target) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fails++
	tries := l.site.RobotsTries + 1
	noScheme := first.Flags&crawl.FlagNoScheme != 0 && c.Why.Unreachable() && c.Why.NoHTTPS() // one that is slow is asked again
	wait, again := polite.Again(l.job.Limits, c.Why, tries, l.told&crawl.HeardBy(l.robotsBy) != 0)
	l.unable(c.Why, l.rep.change.Detail, again)
	if !again || noScheme {
		c.Gone = true
		l.gaveUp, l.why = c.Why, l.rep.change.Detail
		if noScheme {
			l.scheme = "https"
		}
		return true
	}
	c.TTLMS = wait.Milliseconds()
	l.rep.change.BackoffMS = max(l.rep.change.BackoffMS, c.TTLMS)
	l.endLocked(crawl.EndFailed)
	return false
}

// robotsBehind asks for robots.txt and says what the answer means: again where the answer is not one, and has brought a cookie, as walls do
// before the site. ok is false if the lease ended first.
func (l *lease) robotsBehind(u crawl.URL) (change *crawl.RobotsChange, rules robots.Rules, ok bool) {
	for n := 0; ; n++ {
		l.robotsWith = names(l.sends(u))
		var found bool
		before := l.robotsShown
		change, rules, found, ok = l.fetchRobots(u)
		if l.robotsFound = found; before != nil && found && change.State == crawl.RobotsRules && l.robotsShown == nil {
			l.mu.Lock()
			l.gates.stood(before) // a page, and now a file
			l.mu.Unlock()
		}
		if !ok || found || n == maxSelf || names(l.sends(u)) == l.robotsWith {
			return change, rules, ok
		}
		l.mu.Lock()
		l.rep.change.Detail = ""
		l.mu.Unlock()
	}
}

// said is what an answer to robots.txt means.
type said struct {
	change *crawl.RobotsChange
	rules  robots.Rules
	found  bool   // a file was
	err    error  // why it could not be asked for
	detail string // and why it could not be had, in words
	by     string // the scheme of the last request
	final  bool   // it was asked for often enough
	none   bool   // the site says that there is none
	sum    uint64 // of the bytes, if it is a page that says nothing; and what it shows
	shown  *shown
}

// fetchRobots asks for robots.txt, and says what the answer means and whether a file was found. ok is false if the lease ended first.
func (l *lease) fetchRobots(u crawl.URL) (change *crawl.RobotsChange, rules robots.Rules, found, ok bool) {
	a, ok := l.askRules(u)
	if l.robotsBy = a.by; !ok {
		return nil, rules, false, false
	}
	l.robotsMay = l.robotsMay && !a.none
	if a.change.State == crawl.RobotsRules {
		l.robotsSum, l.robotsShown = a.sum, a.shown
	}
	if a.change.State == crawl.RobotsUnavailable {
		l.mu.Lock()
		l.rep.change.Detail = a.detail
		l.mu.Unlock()
	}
	return a.change, a.rules, a.found, true
}

// askRules asks for robots.txt. ok is false if the lease ended first.
func (l *lease) askRules(u crawl.URL) (a said, ok bool) {
	var resp *fetch.Response
	defer func() { resp.Release() }()
	at := u
	by, both := u.Scheme(), false // the schemes that the answer speaks of
	defer func() {
		l.follow(false)
		if ok && !both {
			a.change.By = by
		}
	}()
	var elsewhere []crawl.URL
	a.by = u.Scheme()
	for range maxRobotsHops + 1 {
		if at.Site() != l.l.Site {
			kept, known, goesOn := l.awaits(at)
			if known {
				a.change, a.rules, a.found = &kept.change, kept.rules, true
			}
			if known || !goesOn {
				return a, known
			}
			elsewhere = append(elsewhere, at)
		}
		both = both || at.Site() == l.l.Site && at.Scheme() != by && at.RequestURI() == robotsPath // the other scheme's own
		resp.Release()
		var err error
		resp, err = l.exchange(at)
		if resp != nil {
			l.beside(at, resp, crawl.ReasonRobots)
			l.takes(at, resp, nil)
		}
		if err != nil && l.ctx.Err() != nil || err == nil && resp == nil { // we have hung up: that says nothing of the site
			return a, false
		}
		if cut := resp != nil && crawl.KindOf(err) == crawl.KindBodyLarge; err != nil && !cut { // larger than a body may be: its beginning counts
			a.by = at.Scheme()
			return a.unavailable(err, crawl.KindOf(err), err.Error()), true
		}
		if resp.Redirects() && location(resp) != "" {
			next, e := at.Resolve(location(resp))
			if e != nil {
				return a.allows(), true
			}
			at = next
			l.follow(true)
			continue
		}
		l.readRules(&a, at, resp, err != nil)
		if a.change.State != crawl.RobotsUnavailable && (a.found || a.change.State == crawl.RobotsAllowAll) {
			l.a.visits.keep(elsewhere, l.product, a.change, a.rules)
		}
		return a, true
	}
	return a.allows(), true // too many redirects: as if there were none
}

// readRules reads the answer to robots.txt, which may have been cut off where it is too long.
func (l *lease) readRules(a *said, at crawl.URL, resp *fetch.Response, cut bool) {
	switch {
	case resp.Status >= 500 || resp.Status == 429:
		d := retryAfter(resp)
		if d > 0 {
			l.holdFor(d)
		}
		*a = a.unavailable(nil, crawl.ReasonRobotsDown, fmt.Sprintf("%s answers %d", at, resp.Status))
		a.found = d > 0
		return
	case resp.Status/100 != 2: // any of these is an access that succeeded (RFC 9309, section 2.3.1.1), as 203 of a proxy is
		a.none = resp.Status == 404 || resp.Status == 410
		*a = a.allows()
		return
	}
	body, err := resp.Unpacked(min(l.job.Limits.Fetch.MaxDecoded, maxParsed))
	if kind := crawl.KindOf(err); err != nil && kind != crawl.KindBomb && !errors.Is(err, fetch.ErrNotCoded) && !(cut && kind == crawl.KindReset) {
		*a = a.unavailable(nil, crawl.ReasonRobotsDown, fmt.Sprintf("%s: %v", at, err))
		return
	}
	if cut {
		body = body[:bytes.LastIndexAny(body, "\r\n")+1] // whole lines only
	}
	a.rules = robots.Parse(body, l.product)
	if p := (&page{url: at, resp: resp}); a.rules.Empty() && paged(p) {
		a.sum, a.shown = bytesSum(p), l.look(p)
	}
	a.found = !a.rules.Empty() || parse.TypeOf(resp.Media()) != parse.HTML
	a.change = &crawl.RobotsChange{
		State: crawl.RobotsRules, Rules: a.rules.Encode(), For: l.robotsFor(), TTLMS: robotsTTL.Milliseconds(), DelayMS: a.rules.Delay.Milliseconds(),
	}
}

// unavailable says that robots.txt cannot be had.
func (a said) unavailable(err error, why crawl.Kind, text string) said {
	a.err, a.detail, a.found = err, detail(text), true
	a.change = &crawl.RobotsChange{State: crawl.RobotsUnavailable, Why: why}
	return a
}

// allows says that everything may be asked for.
func (a said) allows() said {
	a.change = &crawl.RobotsChange{State: crawl.RobotsAllowAll, TTLMS: robotsTTL.Milliseconds()}
	return a
}

// holdFor makes the site wait without ending the lease by itself.
func (l *lease) holdFor(d time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.rep.change.BackoffMS = max(l.rep.change.BackoffMS, d.Milliseconds())
}
