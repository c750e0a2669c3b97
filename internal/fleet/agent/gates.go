package agent

import (
	"bytes"
	"hash/maphash"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// What leads elsewhere on its site is asked for again where a cookie comes of it, later, and whoever asks: such are gates that all pages lead to.

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
	p.cookie = p.cookie || l.jar.holds(p.url.Key()) // of an earlier try
	switch {
	case int(t.Hops) >= crawl.MaxRedirects:
	case p.cookie && l.astray < maxSelf:
		o.Again = slices.DeleteFunc(l.ledTo(t, p.gates...), l.oftenBack)
		l.round = l.round || len(o.Again) > 0
	case p.renewed: // what was not worth to go to the gate for
		o.Again = slices.DeleteFunc(l.leadersOf(p.gates, crawl.MaxAgain-1, func(f *leader) bool { return f.key != t.Key }), l.oftenBack)
	}
	if p.barred {
		o.Reason, o.Detail = crawl.ReasonRedirects, "a gate that has let others through"
	}
	if !leads {
		return
	}
	k, own := to.Key(), p.url.Key()
	if k != own && !slices.Contains(t.Chain, k) {
		if l.leadsOn(p, to); !t.Again { // there may be another cookie behind the one that it was asked again for
			if l.ledBy(t, k) {
				l.backTo(p, to)
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
	if l.stoodBefore(p) && !l.oftenBack(p.url.Key()) {
		p.outcome.State, p.outcome.Reason, p.outcome.Again = crawl.Beside, crawl.ReasonRedirects, nil
		l.queue = append([]crawl.Target{p.target}, l.queue...)
		l.more.Broadcast()
		l.queueLocked(p.outcome, p.found)
		return
	}
	if p.at.shut && p.outcome.State == crawl.Fetched && p.outcome.Reason == "" {
		p.outcome.Reason = crawl.KindWall
	}
	l.isBare(p)
	if own := p.url.Key(); p.onto != (crawl.Key{}) && bytes.Equal(p.onto[:4], own[:4]) && !p.walked { // a key begins with its site
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

// overtaken reports whether a cookie has come from where a page leads while its own answer was read and archived, or something has led back to it.
// mu is held.
func (l *lease) overtaken(p *page) bool {
	return p.outcome.State == crawl.Fetched && len(p.outcome.Again) == 0 && (l.opened[p.onto] || l.came[p.url.Key()]) && l.astray < maxSelf &&
		names(l.jar.header(p.url, time.Now())) != names(p.sent)
}

// leader is a URL that led elsewhere on the site, and a sum of the names of the cookies that it was asked with.
type leader struct {
	key  crawl.Key
	url  crawl.URL
	sent uint64
	gate crawl.Key // where it led, as gates are known
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
	l.led[p.onto] = append(l.led[p.onto], leader{p.url.Key(), p.url, namesSum(p.sent), p.gate})
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
	l.gates.sees(sendsBack)
	if l.leadsOn(p, to); l.ledBy(&p.target, p.onto) {
		l.backTo(p, to)
	}
}

// ledBy reports whether a URL is known to have led to a target, by a redirect or a Refresh. mu is held.
func (l *lease) ledBy(t *crawl.Target, from crawl.Key) bool {
	return slices.Contains(t.Chain, from) || slices.ContainsFunc(l.led[t.Key], func(f leader) bool { return f.key == from })
}

// backTo has a URL asked for again that a page leads back to, with the cookies that have come on the way there; it may be under way itself. mu is
// held.
func (l *lease) backTo(p *page, to crawl.URL) {
	k := to.Key()
	if o := p.outcome; int(p.target.Hops) < crawl.MaxRedirects && len(l.jar.cookies) > 0 && !slices.Contains(o.Again, k) && !l.oftenBack(k) {
		o.Again = append(o.Again, k)
	}
	if l.came == nil || len(l.came) >= maxLed {
		l.came = map[crawl.Key]bool{}
	}
	l.came[k] = true
	if gate := gateKey(p.url); gate != p.url.Key() && len(p.resp.Values("Set-Cookie")) > 0 {
		l.gates.learn(gate)
	}
}

// ledTo returns the URLs of its site that have led to a target that has brought a cookie, and forgets them: to it, or to
// gates that the lease went through on the way about from it. mu is held.
func (l *lease) ledTo(t *crawl.Target, gates ...crawl.Key) (out []crawl.Key) {
	for _, k := range t.Chain {
		if bytes.Equal(k[:4], t.Key[:4]) { // a key begins with its site
			out = append(out, k)
		}
	}
	if l.gates.learn(gates...); len(gates) == 0 && len(out) > 0 { // those that it was found by come first, the one that nothing led to the last of them
		most := crawl.MaxRedirects
		if t.Hops > 0 && !t.Again {
			most = int(t.Hops) - 1
		}
		l.gates.learn(t.Key)
		l.gates.learn(out[:min(len(out), most)]...)
	}
	for reached := slices.Concat([]crawl.Key{t.Key}, gates, out); len(reached) > 0; reached = reached[1:] {
		for i := range l.led[reached[0]] {
			f := &l.led[reached[0]][i]
			k := f.key
			if l.gates.learn(f.gate); len(gates) == 0 {
				l.gates.learn(t.Key)
			}
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
