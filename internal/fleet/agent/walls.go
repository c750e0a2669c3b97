package agent

import (
	"bytes"
	"net/http"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// Sites may show a page only to who comes back with a cookie: they send a visitor to itself, or about, and set it on the way. A browser
// comes back to the page that it wanted; so does a lease, within bounds.
const (
	// maxSelf bounds how often a URL is asked again at once: for walls of more than one cookie.
	maxSelf = 4
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

// passes takes in the cookies of a page's answer, and reports whether the page is to be asked again at once, for the n-th time (from
// 0): others than were sent have come by now, and the answer leads back to the page, or to where those came from meanwhile.
func (l *lease) passes(p *page, sent string, n int) bool {
	before := l.sends(p.url)
	if set := p.resp.Values("Set-Cookie"); len(set) > 0 {
		l.mu.Lock()
		p.cookie = l.jar.set(p.url, set, time.Now()) || p.cookie
		l.mu.Unlock()
	}
	if n == maxSelf || l.l.Asked != nil {
		return false
	}
	if l.sends(p.url) == sent {
		return false
	}
	if to, leads := redirectOf(p); leads {
		return to.String() == p.url.String() || names(before) != names(sent)
	}
	if n > 0 || !l.refreshes(p) {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.moments >= maxSelf { // its pages are such for everybody
		return false
	}
	l.moments++
	return true
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
	if p.resp.Status/100 != 3 {
		return to, false
	}
	loc := location(p.resp)
	if loc == "" {
		return to, false
	}
	to, err := p.url.Resolve(loc)
	return to, err == nil
}

// refreshes reports whether an answer is a small page that names nothing but itself, and has its reader come back by a Refresh.
func (l *lease) refreshes(p *page) bool {
	resp := p.resp
	if resp.Status != http.StatusOK || resp.Size > maxMoment {
		return false
	}
	if ref := parse.RefreshHeader(resp.Get("Refresh")); ref != "" {
		to, err := p.url.Resolve(ref)
		return err == nil && to.String() == p.url.String()
	}
	if parse.TypeOf(mimeOf(resp)) != parse.HTML {
		return false
	}
	body, err := resp.Decoded(maxMoment)
	if err != nil || !bytes.Contains(bytes.ToLower(body), []byte("refresh")) {
		return false
	}
	doc := docs.Get().(*parse.Page)
	defer docs.Put(doc)
	_, charset := parse.ReadEncoded(parse.HTML, body, resp.Get("Content-Type"), parse.Options{}, doc)
	back := false
	for i := range doc.Links {
		to, err := p.url.Resolve(parse.DecodeRef(doc.Links[i].Ref, charset))
		if err != nil || to.String() != p.url.String() {
			return false
		}
		back = back || doc.Links[i].Kind == parse.Refresh
	}
	return back
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
	if p.cookie && int(t.Hops) < crawl.MaxRedirects {
		o.Again = l.ledTo(t)
	}
	to, leads := redirectOf(p)
	if !leads {
		return
	}
	k, own := to.Key(), p.url.Key()
	switch inside := t.Again || slices.Contains(t.Chain, k); {
	case k == own:
		o.Reason = crawl.ReasonRedirects
	case inside && int(t.Hops) < crawl.MaxRedirects && (len(l.jar.cookies) > 0 || to.Site() != p.url.Site()):
		if !slices.Contains(o.Again, k) {
			o.Again = append(o.Again, k)
		}
	case inside:
		o.Reason = crawl.ReasonRedirects
	case l.leads < maxLed && to.Site() == p.url.Site():
		if l.led == nil {
			l.led = map[crawl.Key][]crawl.Key{}
		}
		l.led[k] = append(l.led[k], own)
		l.leads++
	}
}

// ledTo returns the URLs of its site that have led to a target, and forgets them. mu is held.
func (l *lease) ledTo(t *crawl.Target) (out []crawl.Key) {
	for _, k := range t.Chain {
		if bytes.Equal(k[:4], t.Key[:4]) { // a key begins with its site
			out = append(out, k)
		}
	}
	for reached := append([]crawl.Key{t.Key}, out...); len(reached) > 0; reached = reached[1:] {
		for _, k := range l.led[reached[0]] {
			if len(out) < crawl.MaxAgain-1 && k != t.Key && !slices.Contains(out, k) {
				out, reached = append(out, k), append(reached, k)
			}
		}
		l.leads -= len(l.led[reached[0]])
		delete(l.led, reached[0])
	}
	return out
}
