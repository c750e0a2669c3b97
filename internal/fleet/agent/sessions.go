package agent

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
)

// A session that a gate gave may lapse: pages lead there again, which has been asked long ago. The lease goes there once more from a page that
// does, within bounds, and asks for the page as soon as its cookies have changed.

// maxGates bounds how many gates of a site are known.
const maxGates = 64

// gates are what is known of a site's gates: URLs that pages led to, from which a cookie of a new name came.
type gates struct {
	crawl.Gates
	changed bool
	tried   map[crawl.Key]*trial
	all     trial // of all of them
	own     trial // where what leads there is one itself
	guess   trial // of what may be one: a session that one has from the first answer on may be let in without another cookie
}

// trial is what has come of going to a gate again.
type trial struct {
	vain    int  // times in a row for nothing
	skipped int  // pages that led there and stayed there since
	barred  bool // the last time it gave other cookies, and the page led there still
}

// gateKey is the key that a gate is known by: without its query, if that has a path or an address, which says where the reader comes from.
func gateKey(to crawl.URL) crawl.Key {
	addr, query, _ := strings.Cut(to.String(), "?")
	for arg := range strings.SplitSeq(query, "&") {
		_, v, _ := strings.Cut(arg, "=")
		if v = strings.ToLower(v); !strings.HasPrefix(v, "/") && !strings.HasPrefix(v, "%2f") && !strings.HasPrefix(v, "http") {
			continue
		}
		if bare, err := crawl.Parse(addr); err == nil {
			return bare.Key()
		}
	}
	return to.Key()
}

// leadsOn notes where a page leads. If that is a gate, and it says where its reader comes from, it is one itself. mu is held.
func (l *lease) leadsOn(p *page, to crawl.URL) {
	p.onto, p.gate = to.Key(), gateKey(to)
	if own := gateKey(p.url); own != p.url.Key() && l.gates.trial(p.gate) != nil {
		l.gates.learn(own)
	}
}

// learn takes in gates. mu is held.
func (g *gates) learn(keys ...crawl.Key) {
	for _, k := range keys {
		if slices.Contains(g.Keys, k) {
			continue
		}
		if len(g.Keys) >= maxGates {
			g.Keys = slices.Delete(g.Keys, 0, 1)
		}
		g.Keys, g.changed = append(slices.Clip(g.Keys), k), true
	}
}

// sees notes that walls of a kind matter on the site. mu is held.
func (g *gates) sees(w wall) {
	if bit := uint8(1) << w; g.Walls&bit == 0 {
		g.Walls, g.changed = g.Walls|bit, true
	}
}

// seen reports whether walls of a kind matter on the site. mu is held.
func (g *gates) seen(w wall) bool { return g.Walls&(1<<w) != 0 }

// trial returns what has come of going to a gate again; nil for what is none. mu is held.
func (g *gates) trial(k crawl.Key) *trial {
	if g.tried[k] == nil && slices.Contains(g.Keys, k) {
		if g.tried == nil {
			g.tried = map[crawl.Key]*trial{}
		}
		g.tried[k] = &trial{}
	}
	return g.tried[k]
}

// worth reports whether a gate is worth going to once more: after so many times in vain, of it or of all, seldom, at doubling intervals.
func (l *lease) worth(gate, all *trial) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return gate.worth() && all.worth()
}

func (t *trial) worth() bool {
	if t.vain >= maxSelf && t.skipped < 1<<min(t.vain-maxSelf+1, 6) {
		t.skipped++
		return false
	}
	return true
}

func (t *trial) inVain() { t.vain, t.skipped = t.vain+1, 0 }

// sentTo returns where a page's answer sends its reader, by a redirect or, on sites of which that is known, a small page's Refresh.
func (l *lease) sentTo(p *page) (to crawl.URL, leads bool) {
	if to, leads = redirectOf(p); leads || p.resp.Size > maxMoment {
		return to, leads
	}
	l.mu.Lock()
	seen := l.gates.seen(sendsBack)
	l.mu.Unlock()
	if !seen {
		return to, false
	}
	l.glance(p)
	return p.refresh, p.refresh != crawl.URL{}
}

// goneAbout goes about for a page if need be, and reports whether that is all for now: the lease has ended on the way, or the site did not
// answer there, and the page is asked for again. An error is one of the node.
func (l *lease) goneAbout(p *page) (done bool, err error) {
	resp, err := l.about(p)
	switch {
	case err == nil && resp == nil:
	case err == nil:
		p.resp.Release()
		p.resp = resp
	case errors.Is(err, errEnded), l.ctx.Err() != nil:
		l.links(l.before(p))
		l.putBack(p.target)
		return true, nil
	case crawl.KindOf(err) == crawl.KindArchive:
		return true, err
	case int(p.target.Tries) >= l.job.Limits.Retries:
	case crawl.KindOf(err) == crawl.KindStatus:
		return true, l.later(p, crawl.EndWait)
	case crawl.KindOf(err).Transient():
		p.resp.Release()
		p.resp = nil
		return true, l.failed(p, err)
	}
	return false, nil
}

// errEnded says that a lease has ended.
var errEnded = errors.New("the lease has ended")

// step asks for a URL on the way about. An error is also that the lease has ended, or that the site cannot answer now.
func (l *lease) step(u crawl.URL) (resp *fetch.Response, sent string, err error) {
	resp, sent, err = l.ask(u)
	switch {
	case err == nil && resp == nil:
		err = errEnded
	case err == nil && busy(resp):
		err = &crawl.Error{Op: "go about", Kind: crawl.KindStatus, Err: fmt.Errorf("%s answers %d", u, resp.Status)}
	}
	if err != nil {
		resp.Release()
		return nil, sent, err
	}
	return resp, sent, nil
}

// about goes where a page's answer sends its reader, within the site, and asks for the page again when it comes back to it, or other cookies have
// come: of pages that lead to a gate that is known, and of those that were asked again because of where they led, and lead there still. What is on the
// way is archived beside the pages. It returns nil, and the page's answer stands, if that leads elsewhere, or the page has been asked again.
func (l *lease) about(p *page) (*fetch.Response, error) {
	if l.l.Asked != nil || l.job.Identity.Collect != nil {
		return nil, nil
	}
	to, leads := l.sentTo(p)
	if !leads || to.Site() != l.l.Site || to.String() == p.url.String() {
		return nil, nil
	}
	key := gateKey(to)
	l.mu.Lock()
	gate := l.gates.trial(key)
	all := &l.gates.all
	if l.gates.trial(p.url.Key()) != nil { // it is one itself, and may lead on for ever
		all = &l.gates.own
	}
	l.mu.Unlock()
	if gate == nil && !(p.target.Again && p.resp.Redirects() && l.tries(sendsOn, 0, true)) {
		if !l.mayBeGate(p) {
			return nil, nil
		}
		gate, all = &l.gates.guess, &l.gates.guess
	}
	l.alone.Lock()
	defer l.alone.Unlock()
	if gate != nil && !l.worth(gate, all) { // others have seen meanwhile that it leads nowhere
		p.barred = gate.barred
		return nil, nil
	}
	resp, in, err := l.goAbout(p, gate != nil)
	if err != nil || !in && !p.walked {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case in && gate != nil:
		l.gates.learn(key)
		*gate, *all, p.renewed = trial{}, trial{}, true
	case in && len(p.gates) > 0:
		l.gates.learn(key)
	case gate != nil:
		if all.inVain(); all == &l.gates.own || all == &l.gates.guess {
			p.barred = false
			break
		}
		gate.inVain()
		gate.barred = p.barred
	case !in:
		l.vain[sendsOn]++
	}
	return resp, nil
}

// goAbout goes the way on which a page's answer sends its reader, and reports whether the page leads nowhere now: with its answer, if that
// was the last step. To a gate that is known the page is asked for after each step that has changed its cookies, whatever their names; in any
// case once more at the end, if cookies of other names have come.
func (l *lease) goAbout(p *page, gate bool) (resp *fetch.Response, in bool, err error) {
	if in, err := l.askSince(p, gate); in || err != nil {
		return nil, in, err
	}
	at, _ := l.sentTo(p)
	var way []crawl.Key
	for range crawl.MaxRedirects {
		if at.Site() != l.l.Site || !l.job.Identity.IgnoreRobots && !l.rules.Allowed(at.RequestURI()) {
			return nil, false, nil
		}
		resp, _, err := l.step(at)
		if err != nil {
			return nil, false, err
		}
		if way = append(way, at.Key()); l.takes(at, resp, p) {
			p.cookie, p.gates = true, way
		} else if !p.cookie {
			p.gates = way
		}
		to, leads := l.sentTo(&page{url: at, resp: resp})
		if at.String() == p.url.String() && !leads {
			l.beside(p.url, p.resp, crawl.ReasonRedirects)
			l.passed(sendsOn)
			return resp, true, nil
		}
		l.beside(at, resp, crawl.ReasonRedirects)
		resp.Release()
		if gate && l.sends(p.url) != p.sent {
			in, err := l.askSince(p, true)
			if in || err != nil {
				return nil, in, err
			}
			if p.fresh { // it brings a cookie of a new name each time
				break
			}
			gate = l.sends(p.url) == p.sent // else it changes them itself
			p.barred = gate
			if leads && to.String() == p.url.String() {
				to, leads = l.sentTo(p)
			}
		}
		if !leads {
			break
		}
		at = to
	}
	if before := p.sent; gate && before != "" && l.sends(p.url) == before { // the site may know the session by now
		p.sent = ""
		in, err = l.askSince(p, true)
		if p.sent == "" {
			p.sent = before
		}
	} else {
		in, err = l.askSince(p, false)
	}
	p.walked = err == nil
	return nil, in, err
}

// mayBeGate reports whether where a page leads may be a gate although no cookie has come of it: the site has given one before, and does not say that the
// page has moved for good; and nothing leads to the page, which would be a step on the way then.
func (l *lease) mayBeGate(p *page) bool {
	t := &p.target
	if !p.resp.Redirects() || p.resp.Status == http.StatusMovedPermanently || p.resp.Status == http.StatusPermanentRedirect || t.Again || len(t.Chain) > 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.led[t.Key]) == 0 && l.jar.header(p.url, time.Now()) != ""
}

// askSince asks for a page that leads elsewhere once more if other cookies have come since it was asked for, such as while it waited to go about: of other
// names, or of any if so many count. It reports whether the page leads nowhere now. The last answer is the page's.
func (l *lease) askSince(p *page, anyOther bool) (in bool, err error) {
	if now := l.sends(p.url); now == p.sent || !anyOther && names(now) == names(p.sent) {
		return false, nil
	}
	resp, sent, err := l.step(p.url)
	if err != nil {
		return false, err
	}
	p.fresh = l.takes(p.url, resp, p)
	p.cookie = p.fresh || p.cookie
	l.beside(p.url, p.resp, crawl.ReasonRedirects)
	p.resp.Release()
	p.also, p.named = append(p.also, p.named...), nil
	p.resp, p.sent = resp, sent
	if _, leads := l.sentTo(p); leads {
		return false, nil
	}
	l.passed(sendsOn)
	return true, nil
}
