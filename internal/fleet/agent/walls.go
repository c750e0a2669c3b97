package agent

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
	"argosy/internal/page/parse"
)

// Sites may show a page only to a reader that comes back with a cookie: they send a visitor to itself, or about, and set it on the way. A browser
// comes back to the page that it wanted; so does a lease, within bounds.
const (
	// maxSelf bounds how often a URL is asked again at once, for walls of more than one cookie; and how often in a row a lease does so for nothing.
	maxSelf = 4
	// maxBack bounds how often a lease asks for a URL again because of cookies that have come behind it, unless maxSelf in a row lead on still.
	maxBack = 4
	// maxLed bounds how many URLs a lease remembers that led elsewhere.
	maxLed = crawl.MaxAgain
	// maxMoment bounds, in bytes, a page that only asks to wait a moment.
	maxMoment = 64 << 10
	// maxOpened bounds what it is without its codings, in bytes, where it is looked at for that: it is not decoded once more, as it is read for sure.
	maxOpened = 1 << 20
)

// sends returns the cookies that a request for a URL carries now.
func (l *lease) sends(u crawl.URL) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.jar.header(u, time.Now())
}

// takes keeps the cookies of an answer from the lease's site, and reports whether one has come that was not there before. If a page is given, another
// lease is told of that not before the page's outcome: if this one dies meanwhile, the page brings it once more.
func (l *lease) takes(u crawl.URL, resp *fetch.Response, by *page) bool {
	set := resp.Values("Set-Cookie")
	if len(set) == 0 || u.Site() != l.l.Site {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	fresh := l.jar.set(u, set, time.Now())
	if by != nil {
		l.jar.hold(by.url.Key(), fresh)
	}
	return len(fresh) > 0
}

// reach asks for a page, and again at once where a wall stands before it that may let the lease through. From the second time on nobody
// else of the lease asks meanwhile: a cookie may be good for one answer only. Without an error and an answer the lease has ended.
func (l *lease) reach(p *page) (err error) {
	if p.resp, p.sent, err = l.visit(p.url); err != nil || p.resp == nil || !l.passes(p, p.sent, 0) {
		return err
	}
	defer l.tried(p)
	l.alone.Lock()
	defer l.alone.Unlock()
	if !l.stillStands(p) || l.spent(p.wall) { // others have seen meanwhile that it leads nowhere
		return nil
	}
	for n := 1; ; n++ {
		before := p.resp
		if l.rulesFirst(p) {
			l.beside(p.url, before, crawl.ReasonRedirects)
			before.Release()
			p.also, p.resp = append(p.also, p.named...), nil
			return nil
		}
		if p.resp, p.sent, err = l.ask(p.url); before.Status == http.StatusOK && !l.forNow(p, err) && (err != nil || l.worse(p)) {
			if p.resp != nil && err == nil {
				p.cookie = l.takes(p.url, p.resp, p) || p.cookie
				l.beside(p.url, p.resp, crawl.ReasonRedirects)
			}
			l.kept(p, err)
			p.resp.Release()
			p.resp = before
			l.inVain(p.wall)
			return nil
		}
		p.also, p.named = append(p.also, p.named...), nil
		l.beside(p.url, before, crawl.ReasonRedirects)
		before.Release()
		if err != nil || p.resp == nil || !l.passes(p, p.sent, n) {
			return err
		}
	}
}

// before returns what the walls before a page have named, of one that has no answer that counts: whoever asks for it next has their cookies, and is
// not shown them.
func (l *lease) before(p *page) *finder {
	f := newFinder(l, &p.target, p.url, "utf-8")
	f.before(p)
	return f
}

// before takes in what the walls before a page have named.
func (f *finder) before(p *page) {
	for _, u := range p.also {
		f.one(u, parse.Link{}, nil)
	}
}

// worse reports whether a page's answer shows that the one before, which was a page, was not a wall: that one stays then. Only a wall that had its
// reader come back may lead elsewhere.
func (l *lease) worse(p *page) bool {
	if p.wall == inPlace {
		return l.worseInPlace(p)
	}
	return p.resp == nil || p.resp.Status >= 400 || p.wall == silent && p.resp.Status != http.StatusOK
}

// forNow reports whether what came of asking again says nothing of the page: the fault is the node's, the lease ends, or the page before had its
// reader come back and the site cannot answer at present.
func (l *lease) forNow(p *page, err error) bool {
	switch {
	case l.ctx.Err() != nil, p.resp == nil && err == nil, err != nil && crawl.KindOf(err) == crawl.KindArchive:
		return true
	case p.wall != sendsBack && !(p.wall == inPlace && p.at.known) || int(p.target.Tries) >= l.job.Limits.Retries:
		return false
	case err != nil:
		return crawl.KindOf(err).Transient()
	}
	return busy(p.resp)
}

// busy reports whether an answer says that the site cannot answer now, or is asked too often.
func busy(resp *fetch.Response) bool {
	return resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusServiceUnavailable
}

// spent reports whether walls of a kind have been tried for nothing as often as they are.
func (l *lease) spent(w wall) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.vain[w] >= maxSelf
}

// inVain notes that a page was asked again for nothing.
func (l *lease) inVain(w wall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.vain[w]++
}

// visit asks for a page beside others of the lease, and says with which cookies.
func (l *lease) visit(u crawl.URL) (resp *fetch.Response, sent string, err error) {
	l.alone.RLock()
	defer l.alone.RUnlock()
	return l.ask(u)
}

// ask asks for a page, and says with which cookies.
func (l *lease) ask(u crawl.URL) (resp *fetch.Response, sent string, err error) {
	sent = l.sends(u)
	resp, err = l.exchange(u)
	return resp, sent, err
}

// wall is how an answer keeps its reader from a page.
type wall uint8

const (
	noWall    wall = iota
	sendsBack      // a small page has its reader come back by a Refresh, or sends it elsewhere on the site
	denies         // its status says that this is not for everybody
	silent         // a small page names nothing but itself, and a script of it comes back
	sendsOn        // a redirect
	inPlace        // a page as others, in the place of another one: inplace.go
	stalls         // the site says that it cannot answer now, and gives a cookie
	walls          // their number
)

// passes takes in the cookies of a page's answer, and reports whether the page is to be asked again at once, for the n-th time (from
// 0): others than were sent have come by now, and the answer leads back to the page, or to where those came from meanwhile, or is a wall.
func (l *lease) passes(p *page, sent string, n int) bool {
	before := l.sends(p.url)
	p.fresh = l.takes(p.url, p.resp, p)
	p.cookie = p.fresh || p.cookie
	if l.l.Asked != nil {
		return false
	}
	now := l.sends(p.url)
	switch {
	case n == 0:
		l.shown(p, sent)
	case p.wall == inPlace || p.wall == stalls:
		return l.cameAgain(p, before, sent, now, n)
	}
	return l.mayLead(p, before, sent, now, n) || n == 0 && !p.resp.Redirects() && l.stands(p, sent, now)
}

// mayLead is passes for answers that say themselves that they may be walls. The URL was asked for with the cookies sent; just before its answer came there
// were others, and now there are these.
func (l *lease) mayLead(p *page, before, sent, now string, n int) bool {
	if to, leads := redirectOf(p); leads {
		p.wall = sendsOn
		back := to.String() == p.url.String() || names(before) != names(sent)
		return back && l.tries(sendsOn, n, true) && n < maxSelf && now != sent
	}
	if now == sent && n == 0 {
		if p.target.Again {
			l.passed(noWall)
		}
		return false
	}
	was, sum := p.wall, p.sum
	p.wall, p.sum = l.wallOf(p), p.resp.Sum()
	if p.wall == noWall && busy(p.resp) {
		return false
	}
	if n > 0 && (p.wall == noWall || p.wall == silent && was == silent && p.sum != sum) {
		l.passed(was)
		return false
	}
	return p.wall != noWall && l.tries(p.wall, n, names(now) != names(sent)) && n < maxSelf && now != sent
}

// tries reports whether a wall is worth to be passed, before which a page has been asked again n times: not where walls of its kind have
// often been tried for nothing, because the site's pages are such for everybody, and seldom where no cookie of another name has come: then a session
// may have lapsed.
func (l *lease) tries(w wall, n int, fresh bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 {
		l.vain[w]++
	}
	return l.vain[w] < maxSelf && (fresh || w == silent && l.gates.seen(silent) || w != silent && (l.let || n <= 1))
}

// passed notes that a wall of a kind let the lease through. If robots.txt said nothing to a reader before it, it is asked for again once the pages that are
// under way have been had.
func (l *lease) passed(w wall) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.vain, l.let = [walls]int{}, true
	if w == silent || w == sendsBack || w == stalls {
		l.gates.sees(w)
	}
	l.robotsAgain()
}

// robotsAgain has robots.txt asked for again that said nothing to a reader without the cookies that there are now. mu is held.
func (l *lease) robotsAgain() {
	u, err := crawl.Parse(l.origin + robotsPath)
	if err != nil || !l.robotsMay || l.job.Identity.IgnoreRobots && !l.job.Identity.Sitemaps || !l.rules.Empty() || l.ended != "" {
		return
	}
	if names(l.jar.header(u, time.Now())) != l.robotsWith {
		l.again = true
		l.more.Broadcast()
	}
}

// shown takes in that a page was shown at once to a reader with cookies. If there was no robots.txt for one without, it may have been behind the same wall.
func (l *lease) shown(p *page, sent string) {
	if !l.robotsMay || l.robotsFound || p.resp.Status != http.StatusOK || sent == "" || l.wallOf(p) != noWall {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.robotsAgain()
}

// names are those of the cookies in a Cookie field, without their values.
func names(field string) string {
	var out []string
	for c := range strings.SplitSeq(field, "; ") {
		name, _, _ := strings.Cut(c, "=")
		out = append(out, name)
	}
	slices.Sort(out)
	return strings.Join(out, ";")
}

// redirectOf returns where an answer redirects to, if it is somewhere.
func redirectOf(p *page) (to crawl.URL, leads bool) {
	if !p.resp.Redirects() {
		return to, false
	}
	loc := location(p.resp)
	if loc == "" {
		return to, false
	}
	to, err := p.url.Resolve(loc)
	return to, err == nil
}

// wallOf says what wall an answer may be that is not a redirect. That the site cannot answer now, or is asked too often, is not one, unless it
// has its reader come back.
func (l *lease) wallOf(p *page) wall {
	resp := p.resp
	if resp.Size <= maxMoment {
		switch refresh, small := l.glance(p); {
		case refresh:
			return sendsBack
		case small && resp.Status == http.StatusOK:
			return silent
		}
	}
	switch resp.Status {
	case http.StatusAccepted, http.StatusUnauthorized, http.StatusPaymentRequired, http.StatusForbidden, http.StatusMethodNotAllowed, http.StatusNotAcceptable,
		http.StatusConflict, http.StatusPreconditionFailed, http.StatusTeapot, http.StatusPreconditionRequired, http.StatusUnavailableForLegalReasons:
		return denies
	}
	return noWall
}

// glance looks at a small page: whether it has its reader come back, or sends it elsewhere on the site, and whether it names anything else.
func (l *lease) glance(p *page) (refresh, alone bool) {
	resp := p.resp
	p.refresh = crawl.URL{}
	if ref, ok := parse.RefreshHeader(resp.Get("Refresh")); ok {
		to, err := p.url.Resolve(ref)
		if err == nil && to.Site() == p.url.Site() && to.String() != p.url.String() {
			p.refresh = to
		}
		return err == nil && to.Site() == p.url.Site(), false
	}
	if parse.TypeOf(resp.Media()) != parse.HTML {
		return false, false
	}
	p.named = nil
	body, err := resp.Decoded(maxOpened)
	if err != nil || len(body) > maxMoment {
		return false, false
	}
	l.mu.Lock()
	may := p.cookie || l.gates.seen(silent)
	l.mu.Unlock()
	if !may && !parse.MayRefresh(body) {
		return false, false
	}
	fault := l.readSafely(p.url, func(doc *parse.Page) { refresh, alone = l.glanced(p, body, doc) })
	if fault != "" {
		p.named = nil
	}
	return refresh, alone
}

// glanced reads the body of such a page, and notes what it names beside where it sends its reader.
func (l *lease) glanced(p *page, body []byte, doc *parse.Page) (refresh, silent bool) {
	_, charset := parse.ReadEncoded(parse.HTML, body, p.resp.Type(), parse.Options{}, doc)
	refresh, silent = doc.Reload, len(p.resp.Values("Link")) == 0 && scripted(body)
	base, others := baseOf(p.url, doc, charset), false
	for i := range doc.Links {
		to, err := base.Resolve(parse.DecodeRef(doc.Links[i].Ref, charset))
		own, back := err == nil && to.String() == p.url.String(), doc.Links[i].Kind == parse.Refresh
		refresh, silent = refresh || back && err == nil && to.Site() == p.url.Site(), silent && own
		if back && err == nil && !own && to.Site() == p.url.Site() && p.refresh == (crawl.URL{}) {
			p.refresh = to
		}
		if err == nil && !own && doc.Links[i].Kind != parse.Resource {
			p.named, others = append(p.named, to), others || !back
		}
	}
	if !others || doc.NoFollow {
		p.named = nil // where it only sends its reader may be no page
	}
	return refresh, silent
}

// scripted reports whether a page has a script that may have its reader come back.
func scripted(body []byte) bool {
	lower := bytes.ToLower(body)
	return bytes.Contains(lower, []byte("<script")) && (bytes.Contains(lower, []byte("reload")) || bytes.Contains(lower, []byte("location")))
}
