package agent

import (
	"bytes"
	"hash/maphash"
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
)

// sends returns the cookies that a request for a URL carries now.
func (l *lease) sends(u crawl.URL) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.jar.header(u, time.Now())
}

// takes keeps the cookies of an answer from the lease's site, and reports whether one has come that was not there before.
func (l *lease) takes(u crawl.URL, resp *fetch.Response) bool {
	set := resp.Values("Set-Cookie")
	if len(set) == 0 || u.Site() != l.l.Site {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.jar.set(u, set, time.Now())
}

// reach asks for a page, and again at once where a wall stands before it that may let the lease through. From the second time on nobody
// else of the lease asks meanwhile: a cookie may be good for one answer only. Without an error and an answer the lease has ended.
func (l *lease) reach(p *page) (err error) {
	if p.resp, p.sent, err = l.visit(p.url); err != nil || p.resp == nil || !l.passes(p, p.sent, 0) {
		return err
	}
	l.alone.Lock()
	defer l.alone.Unlock()
	if l.spent(p.wall) { // others have seen meanwhile that it leads nowhere
		return nil
	}
	for n := 1; ; n++ {
		before := p.resp
		if p.resp, p.sent, err = l.ask(p.url); before.Status == http.StatusOK && !l.forNow(p, err) && (err != nil || p.worse()) {
			if p.resp != nil && err == nil {
				p.cookie = l.takes(p.url, p.resp) || p.cookie
				l.beside(p.url, p.resp, crawl.ReasonRedirects)
			}
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
func (p *page) worse() bool {
	return p.resp == nil || p.resp.Status >= 400 || p.wall == silent && p.resp.Status != http.StatusOK
}

// forNow reports whether what came of asking again says nothing of the page: the fault is the node's, the lease ends, or the page before had its
// reader come back and the site cannot answer at present.
func (l *lease) forNow(p *page, err error) bool {
	switch {
	case l.ctx.Err() != nil, err != nil && crawl.KindOf(err) == crawl.KindArchive:
		return true
	case p.wall != sendsBack || int(p.target.Tries) >= l.job.Limits.Retries:
		return false
	case err != nil:
		return crawl.KindOf(err).Transient()
	}
	return p.resp == nil || busy(p.resp)
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
	walls          // their number
)

// passes takes in the cookies of a page's answer, and reports whether the page is to be asked again at once, for the n-th time (from
// 0): others than were sent have come by now, and the answer leads back to the page, or to where those came from meanwhile, or is a wall.
func (l *lease) passes(p *page, sent string, n int) bool {
	before := l.sends(p.url)
	p.cookie = l.takes(p.url, p.resp) || p.cookie
	if l.l.Asked != nil {
		return false
	}
	now := l.sends(p.url)
	if to, leads := redirectOf(p); leads {
		p.wall = sendsOn
		back := to.String() == p.url.String() || names(before) != names(sent)
		return back && l.tries(sendsOn, n, true) && n < maxSelf && now != sent
	}
	if now == sent && n == 0 {
		if p.target.Again {
			l.passed()
		}
		return false
	}
	was, sum := p.wall, p.sum
	p.wall, p.sum = l.wallOf(p), p.resp.Sum()
	if p.wall == noWall && busy(p.resp) {
		return false
	}
	if n > 0 && (p.wall == noWall || p.wall == silent && was == silent && p.sum != sum) {
		l.passed()
		return false
	}
	return p.wall != noWall && l.tries(p.wall, n, names(now) != names(sent)) && n < maxSelf && now != sent
}

// tries reports whether a wall is worth to be passed, before which a page has been asked again n times: not where walls of its kind have
// often been tried for nothing, because the site's pages are such for everybody, and seldom where no cookie of another name has come.
func (l *lease) tries(w wall, n int, fresh bool) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if n > 0 {
		l.vain[w]++
	}
	return l.vain[w] < maxSelf && (fresh || w != silent && (l.let || n <= 1))
}

// passed notes that a wall let the lease through. If robots.txt said nothing to a reader before it, it is asked for again once the pages that are
// under way have been had.
func (l *lease) passed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.vain, l.let = [walls]int{}, true
	u, err := crawl.Parse(l.origin + robotsPath)
	if err != nil || !l.robotsMay || l.job.Identity.IgnoreRobots && !l.job.Identity.Sitemaps || !l.rules.Empty() || l.ended != "" {
		return
	}
	if names(l.jar.header(u, time.Now())) != l.robotsWith {
		l.again = true
		l.more.Broadcast()
	}
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
func (l *lease) glance(p *page) (refresh, silent bool) {
	resp := p.resp
	if ref, ok := parse.RefreshHeader(resp.Get("Refresh")); ok {
		to, err := p.url.Resolve(ref)
		return err == nil && to.Site() == p.url.Site(), false
	}
	if parse.TypeOf(resp.Media()) != parse.HTML {
		return false, false
	}
	p.named = nil
	body, err := resp.Decoded(maxMoment)
	if err != nil || !p.cookie && !bytes.Contains(bytes.ToLower(body), []byte("refresh")) {
		return false, false
	}
	fault := l.readSafely(p.url, func(doc *parse.Page) { refresh, silent = l.glanced(p, body, doc) })
	if fault != "" {
		p.named = nil
	}
	return refresh, silent
}

// glanced reads the body of such a page, and notes what it names beside where it sends its reader.
func (l *lease) glanced(p *page, body []byte, doc *parse.Page) (refresh, silent bool) {
	_, charset := parse.ReadEncoded(parse.HTML, body, p.resp.Get("Content-Type"), parse.Options{}, doc)
	refresh, silent = doc.Reload, len(p.resp.Values("Link")) == 0 && scripted(body)
	base, others := baseOf(p.url, doc, charset), false
	for i := range doc.Links {
		to, err := base.Resolve(parse.DecodeRef(doc.Links[i].Ref, charset))
		own, back := err == nil && to.String() == p.url.String(), doc.Links[i].Kind == parse.Refresh
		refresh, silent = refresh || back && err == nil && to.Site() == p.url.Site(), silent && own
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

// about goes where a page's answer sends its reader, within the site, until it leads back to the page, and asks for it at once: of pages that
// were asked again because of where they led, and lead there still. What is on the way is archived beside the pages. It returns nil, and
// the page's answer stands, if that leads elsewhere. Whatever the way, a page is asked for once more if cookies of other names have come since.
func (l *lease) about(p *page) (*fetch.Response, error) {
	if _, leads := redirectOf(p); !leads || !p.target.Again || l.l.Asked != nil || l.job.Identity.Collect != nil || !l.tries(sendsOn, 0, true) {
		return nil, nil
	}
	l.alone.Lock()
	defer l.alone.Unlock()
	if in, err := l.askSince(p); in || err != nil {
		return nil, err
	}
	at, _ := redirectOf(p)
	for range crawl.MaxRedirects {
		if at.Site() != l.l.Site || !l.job.Identity.IgnoreRobots && !l.rules.Allowed(at.RequestURI()) {
			return nil, nil
		}
		resp, err := l.exchange(at)
		if resp == nil || err != nil {
			resp.Release()
			return nil, err
		}
		p.cookie = l.takes(at, resp) || p.cookie
		to, leads := redirectOf(&page{url: at, resp: resp})
		if at.String() == p.url.String() && !leads {
			l.beside(p.url, p.resp, crawl.ReasonRedirects)
			l.passed()
			return resp, nil
		}
		l.beside(at, resp, crawl.ReasonRedirects)
		resp.Release()
		if !leads {
			break
		}
		at = to
	}
	if in, err := l.askSince(p); in || err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.vain[sendsOn]++
	return nil, nil
}

// askSince asks for a page that leads elsewhere once more if cookies of other names have come since it was asked for, such as while it waited to
// go about, and reports whether it leads nowhere now. The last answer is the page's.
func (l *lease) askSince(p *page) (in bool, err error) {
	if names(l.sends(p.url)) == names(p.sent) {
		return false, nil
	}
	resp, sent, err := l.ask(p.url)
	if resp == nil || err != nil {
		resp.Release()
		return false, err
	}
	p.cookie = l.takes(p.url, resp) || p.cookie
	l.beside(p.url, p.resp, crawl.ReasonRedirects)
	p.resp.Release()
	p.resp, p.sent = resp, sent
	_, leads := redirectOf(p)
	if !leads {
		l.passed()
	}
	return !leads, nil
}

// comeBack notes in a page's outcome which URLs are asked again because of it: where its redirect leads, if that has led here; and, if
// it has brought a cookie, what has led to it. A circle that does not change is noted as one without end.
func (l *lease) comeBack(p *page) {
	t, o := &p.target, p.outcome
	if l.l.Asked != nil || l.job.Identity.Collect != nil || o.State != crawl.Fetched {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	to, leads := redirectOf(p)
	if t.Again && leads {
		l.strays()
	} else if t.Again && parse.TypeOf(o.Mime) != parse.HTML { // of a page sentOn says it
		l.astray = 0
	}
	if p.cookie && int(t.Hops) < crawl.MaxRedirects && l.astray < maxSelf {
		o.Again = slices.DeleteFunc(l.ledTo(t), l.oftenBack)
		l.round = l.round || len(o.Again) > 0
	}
	if !leads {
		return
	}
	k, own := to.Key(), p.url.Key()
	if k != own && !slices.Contains(t.Chain, k) {
		if p.onto = k; !t.Again { // there may be another cookie behind the one that it was asked again for
			if l.ledBy(t, k) {
				l.backTo(p, k)
			}
			return
		}
	}
	if k == own || int(t.Hops) >= crawl.MaxRedirects || len(l.jar.cookies) == 0 && to.Site() == p.url.Site() {
		o.Reason = crawl.ReasonRedirects
	} else if !slices.Contains(o.Again, k) {
		o.Again = append(o.Again, k)
	}
}

// strays notes that a URL that was asked again because of a cookie leads on still: with a gate of two cookies all do that are asked between them.
// mu is held.
func (l *lease) strays() {
	if l.round {
		l.astray++
	}
	l.round = false
}

// oftenBack counts how often a URL was asked again because of a cookie that came behind it, and reports whether it was often enough. mu is
// held.
func (l *lease) oftenBack(k crawl.Key) bool {
	if l.back == nil || len(l.back) >= maxLed {
		l.back = map[crawl.Key]int{}
	}
	l.back[k]++
	return l.back[k] > maxBack
}

// ends queues a page's outcome, and remembers in the same moment where it leads on its site: an answer from there that brings a cookie has it asked
// again, and follows it in the report. Where one has come meanwhile the page is asked again by this lease, and this answer stands beside it.
func (l *lease) ends(p *page) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if own := p.url.Key(); p.onto != (crawl.Key{}) && bytes.Equal(p.onto[:4], own[:4]) { // a key begins with its site
		if l.overtaken(p) && !l.oftenBack(own) {
			p.outcome.State, p.outcome.Reason, p.outcome.Again = crawl.Beside, crawl.ReasonRedirects, nil
			p.target.Again = true
			l.queue = append([]crawl.Target{p.target}, l.queue...)
			l.more.Broadcast()
			l.queueLocked(p.outcome, p.found)
			return
		}
		l.leadsTo(p)
	}
	l.catchUp(p)
	l.queueLocked(p.outcome, p.found)
}

// catchUp has URLs asked for again that led to a page with other cookies than there are now: if the page itself is asked again because of one,
// or leads to where one has come from, they have not been asked because of it. mu is held.
func (l *lease) catchUp(p *page) {
	t, o := &p.target, p.outcome
	if o.State != crawl.Fetched || !t.Again && !l.opened[p.onto] || int(t.Hops) >= crawl.MaxRedirects || l.astray >= maxSelf {
		return
	}
	stale := l.leadersOf([]crawl.Key{t.Key}, crawl.MaxAgain-1-len(o.Again), func(f *leader) bool {
		return f.key != t.Key && f.sent != namesSum(l.jar.header(f.url, time.Now()))
	})
	for _, k := range t.Chain { // those that an earlier lease saw lead here may have had any cookies
		if t.Again && p.onto != (crawl.Key{}) && k != t.Key && bytes.Equal(k[:4], t.Key[:4]) && l.back[k] == 0 && len(stale) < crawl.MaxAgain-1-len(o.Again) {
			stale = append(stale, k)
		}
	}
	stale = slices.DeleteFunc(stale, func(k crawl.Key) bool { return slices.Contains(o.Again, k) || l.oftenBack(k) })
	o.Again = append(o.Again, stale...)
}

// overtaken reports whether a cookie has come from where a page leads while its own answer was read and archived. mu is held.
func (l *lease) overtaken(p *page) bool {
	return p.outcome.State == crawl.Fetched && len(p.outcome.Again) == 0 && l.opened[p.onto] && l.astray < maxSelf &&
		names(l.jar.header(p.url, time.Now())) != names(p.sent)
}

// leader is a URL that led elsewhere on the site, and a sum of the names of the cookies that it was asked with.
type leader struct {
	key  crawl.Key
	url  crawl.URL
	sent uint64
}

// seed is of sums of names.
var seed = maphash.MakeSeed()

func namesSum(field string) uint64 { return maphash.String(seed, names(field)) }

// leadsTo remembers that a page leads elsewhere on the site. mu is held.
func (l *lease) leadsTo(p *page) {
	if l.leads >= maxLed {
		return
	}
	if l.led == nil {
		l.led = map[crawl.Key][]leader{}
	}
	l.led[p.onto] = append(l.led[p.onto], leader{p.url.Key(), p.url, namesSum(p.sent)})
	l.leads++
}

// leadersOf returns URLs that have led to some, or to others that did, and forgets them; at most so many, and only such as are wanted. mu is held.
func (l *lease) leadersOf(to []crawl.Key, most int, wanted func(*leader) bool) (out []crawl.Key) {
	for reached := slices.Clone(to); len(reached) > 0; reached = reached[1:] {
		here := l.led[reached[0]]
		rest := slices.DeleteFunc(here, func(f leader) bool {
			if len(out) >= most || !wanted(&f) {
				return false
			}
			if !slices.Contains(out, f.key) {
				out, reached = append(out, f.key), append(reached, f.key)
			}
			return true
		})
		if l.leads -= len(here) - len(rest); len(rest) == 0 {
			delete(l.led, reached[0])
		} else {
			l.led[reached[0]] = rest
		}
	}
	return out
}

// bare is a URL's host without the "www." before it: names that people use for one site.
func bare(u crawl.URL) string { return strings.TrimPrefix(u.Host(), "www.") }

// sentOn notes where a small page sends its reader by a Refresh, as a redirect does: it may answer otherwise to a reader that comes back from there. Where
// a seed sends its reader on its host, with or without "www.", is where it redirects, too: that is a seed as well, and its site joins the scope.
func (l *lease) sentOn(f *finder, p *page, doc *parse.Page, base crawl.URL, charset string) {
	if l.l.Asked != nil || l.job.Identity.Collect != nil || p.resp.Size > maxMoment || p.outcome.State != crawl.Fetched {
		return
	}
	ref, _ := parse.RefreshHeader(p.resp.Get("Refresh"))
	for i := range doc.Links {
		if ref == "" && doc.Links[i].Kind == parse.Refresh {
			ref = parse.DecodeRef(doc.Links[i].Ref, charset)
		}
	}
	to, err := base.Resolve(ref)
	if ref != "" && err == nil && to.String() != p.url.String() && bare(to) == bare(p.url) && p.target.Flags&crawl.FlagSeed != 0 {
		f.redirect(to.String())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if ref == "" || err != nil || to.Site() != l.l.Site || to.String() == p.url.String() {
		if p.target.Again {
			l.astray = 0
		}
		return
	}
	if p.outcome.Redirect = to.String(); p.target.Again {
		l.strays()
	}
	if p.onto = to.Key(); l.ledBy(&p.target, p.onto) {
		l.backTo(p, p.onto)
	}
}

// ledBy reports whether a URL is known to have led to a target, by a redirect or a Refresh. mu is held.
func (l *lease) ledBy(t *crawl.Target, from crawl.Key) bool {
	return slices.Contains(t.Chain, from) || slices.ContainsFunc(l.led[t.Key], func(f leader) bool { return f.key == from })
}

// backTo has a URL asked for again that a page leads back to, with the cookies that have come on the way there. mu is held.
func (l *lease) backTo(p *page, to crawl.Key) {
	if o := p.outcome; int(p.target.Hops) < crawl.MaxRedirects && len(l.jar.cookies) > 0 && !slices.Contains(o.Again, to) && !l.oftenBack(to) {
		o.Again = append(o.Again, to)
	}
}

// ledTo returns the URLs of its site that have led to a target that has brought a cookie, and forgets them. mu is held.
func (l *lease) ledTo(t *crawl.Target) (out []crawl.Key) {
	for _, k := range t.Chain {
		if bytes.Equal(k[:4], t.Key[:4]) { // a key begins with its site
			out = append(out, k)
		}
	}
	for reached := append([]crawl.Key{t.Key}, out...); len(reached) > 0; reached = reached[1:] {
		for i := range l.led[reached[0]] {
			k := l.led[reached[0]][i].key
			if len(out) < crawl.MaxAgain-1 && k != t.Key && !slices.Contains(out, k) {
				out, reached = append(out, k), append(reached, k)
			}
		}
		l.leads -= len(l.led[reached[0]])
		delete(l.led, reached[0])
		if l.opened == nil || len(l.opened) >= maxLed {
			l.opened = map[crawl.Key]bool{}
		}
		l.opened[reached[0]] = true
	}
	return out
}
