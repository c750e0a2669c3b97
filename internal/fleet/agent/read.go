package agent

import (
	"bytes"
	"cmp"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"unicode/utf8"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
	"argosy/internal/page/parse"
)

// docs are what scanned pages are read into.
var docs = sync.Pool{New: func() any { return new(parse.Page) }}

// readSafely has read go through what was sent for a URL, with a page to read it into. That it panics is a fault of this program, and
// one page's alone: it is logged, and fault is its words. Otherwise fault is empty.
func (l *lease) readSafely(u crawl.URL, read func(doc *parse.Page)) (fault string) {
	defer func() {
		if what := recover(); what != nil {
			l.a.cfg.Logger.Error("a page could not be read, which is a fault of this program", "url", u.String(), "panic", what, "stack", string(debug.Stack()))
			fault = cmp.Or(fmt.Sprint(what), "panic")
		}
	}()
	doc := docs.Get().(*parse.Page)
	read(doc)
	docs.Put(doc) // not when its reader was stopped in the middle
	return ""
}

// read finds the links of a response and what else it says of itself, which is read into doc.
func (l *lease) read(p *page, doc *parse.Page) (*finder, error) {
	t, u, resp, o := &p.target, p.url, p.resp, p.outcome
	if l.asks() {
		return l.results(p)
	}
	to, leads := l.redirected(p)
	l.comeBack(p)
	if leads && resp.Status != http.StatusMultipleChoices || resp.Redirects() && l.l.Asked != nil {
		f := newFinder(l, t, u, "utf-8")
		f.leads(p, to)
		return f, nil
	}
	kind := parse.NoType
	if resp.Size > 0 {
		kind = parse.TypeOf(o.Mime)
	}
	if kind == parse.Stylesheet && !l.job.Identity.Resources {
		kind = parse.NoType
	}
	page := kind == parse.HTML || parse.IsXHTML(o.Mime) && kind == parse.XML
	sitemap := t.Flags&crawl.FlagSitemap != 0 && resp.Status == http.StatusOK
	if kind == parse.NoType && !sitemap {
		f := newFinder(l, t, u, "utf-8")
		if resp.Size == 0 {
			l.sentOn(f, p, &parse.Page{}, u, "utf-8")
		}
		f.leads(p, to)
		f.refused = l.obeysNofollow() && l.robotsTag(resp).NoFollow
		l.headerLinks(f, p)
		return f, nil
	}
	l.held.Add(1) // until another large page is read
	body, err := decoded(p, l.job.Limits.Fetch.MaxDecoded, !page)
	l.held.Add(-1)
	if err != nil {
		return nil, err
	}
	if body == nil {
		f := newFinder(l, t, u, "utf-8")
		f.leads(p, to)
		f.refused = l.obeysNofollow() && l.robotsTag(resp).NoFollow
		l.headerLinks(f, p)
		return f, nil
	}
	if sitemap && (!page || parse.IsSitemap(body)) { // whatever its type says
		if f, entries := l.sitemap(p, body); entries {
			return f, nil
		}
		kind = parse.XML // it may be a feed
	}
	opts := parse.Options{Resources: l.job.Identity.Resources, Product: l.product}
	text, charset := parse.ReadEncoded(kind, body, resp.Type(), opts, doc)
	tag := l.robotsTag(resp)
	o.HTML, o.Charset, o.Links, o.NoIndex = page, charset, doc.Count(), doc.NoIndex || tag.NoIndex
	base := baseOf(u, doc, charset)
	l.describes(p, doc, base, text)
	f := newFinder(l, t, base, charset)
	f.refused = l.obeysNofollow() && (doc.NoFollow || tag.NoFollow)
	if l.l.Asked != nil {
		return f, nil // what it names is not what was searched for
	}
	l.sentOn(f, p, doc, base, charset)
	f.leads(p, to)
	f.focus(o.Score, t.Off)
	f.add(doc)
	l.headerLinks(f, p)
	return f, nil
}

// describes notes in a page's outcome what its text says: title, fields, relevance, marks.
func (l *lease) describes(p *page, doc *parse.Page, base crawl.URL, text []byte) {
	o, charset := p.outcome, parse.ByteCharset(p.outcome.Charset)
	o.Title = parse.CleanTitle(parse.Decode(doc.Title, charset))
	if o.HTML {
		if o.State == crawl.Fetched && o.Reason == "" && p.resp.Status == http.StatusOK && len(p.resp.Values("Link")) == 0 {
			o.Reason = bars(text, doc)
		}
		l.extras(p, text, charset, doc)
		if p.resp.Status == http.StatusOK {
			o.Score, o.Said = l.judged(text, charset)
		}
	}
	if l.a.marks.Page(&p.target, p.url, base, o.Charset, text, doc, o); p.second != nil {
		Both(o, p.second)
	}
}

// What a page shows at most that says nothing by itself: a word that it is loading, that scripts are wanted, or what a form asks for.
const (
	barsText  = 200      // bytes of text
	barsBytes = 64 << 10 // of a page: larger ones are not looked at
	barsLinks = 8        // of a page that asks for a password: home, a new one, a new account, help, imprint, privacy, two more languages
)

// bars returns why a page that leads nowhere shows next to nothing, if that is because of its scripts or of a form; otherwise it is empty. What
// asks for a password may lead to a few pages, such as those that make a new one.
func bars(text []byte, doc *parse.Page) crawl.Kind {
	links := 0
	for i := range doc.Links {
		if kind := doc.Links[i].Kind; kind == parse.Anchor || kind == parse.Refresh || kind == parse.Frame {
			links++
		}
	}
	if len(text) > barsBytes || links > barsLinks { // most pages: they need not be looked through
		return ""
	}
	if links > 0 && !bytes.Contains(text, []byte("password")) && !bytes.Contains(text, []byte("PASSWORD")) {
		return ""
	}
	lower := bytes.ToLower(text)
	form := bytes.Contains(lower, []byte("<form"))
	password := form && (bytes.Contains(lower, []byte("type=password")) || bytes.Contains(lower, []byte(`type="password"`)))
	posts := form && (bytes.Contains(lower, []byte("method=post")) || bytes.Contains(lower, []byte(`method="post"`)))
	scripts := bytes.Contains(lower, []byte("<script"))
	switch {
	case links > 0 && !password || !password && !posts && !scripts || len(parse.Text(text, barsText+1)) > barsText:
		return ""
	case password || posts:
		return crawl.KindForm
	}
	return crawl.KindScripts
}

// baseOf returns what the links of a page at a URL are relative to.
func baseOf(u crawl.URL, doc *parse.Page, charset string) crawl.URL {
	if doc.Base != nil {
		if v, err := u.Resolve(parse.DecodeRef(doc.Base, charset)); err == nil {
			return v
		}
	}
	return u
}

// redirected returns where a redirect leads, if that can be asked for, and notes it in the outcome. What leads nowhere is a page like
// others, as browsers show it: what it says may be a list of links, as that of 300 (Multiple Choices) always may.
func (l *lease) redirected(p *page) (to string, leads bool) {
	if !p.resp.Redirects() {
		return "", false
	}
	loc := location(p.resp)
	if loc == "" {
		return "", false
	}
	v, err := p.url.Resolve(loc)
	if err != nil {
		return "", false
	}
	if p.outcome.Redirect = v.String(); l.l.Asked != nil && !l.wanted(v) {
		return "", true
	}
	return p.outcome.Redirect, true
}

// maxParsed bounds what is read of a page, in bytes after decompression: what comes behind has no links. Of pages that are
// larger than a few megabytes one is read at a time. The words of crawl.KindLong name it.
const maxParsed = 128 << 20

// decoded returns a page's body without its codings; nil if they cannot be undone. What stands in the way is noted in the
// outcome: the page is archived as it came. An error is one of the node.
func decoded(p *page, most int64, unpack bool) (body []byte, err error) {
	limit := min(most, maxParsed)
	if unpack {
		body, err = p.resp.Unpacked(limit)
	} else {
		body, err = p.resp.Decoded(limit)
	}
	kind := crawl.KindOf(err)
	switch {
	case err == nil:
		return body, nil
	case kind == crawl.KindArchive:
		return nil, err
	case len(body) > 0: // as far as it can be read
	default:
		body = nil
	}
	if o := p.outcome; o.State == crawl.Fetched {
		o.Reason, o.Detail = kind, err.Error()
		switch {
		case kind == crawl.KindBomb && limit == most:
			o.State = crawl.Failed
		case kind == crawl.KindBomb:
			o.Reason, o.Detail = crawl.KindLong, ""
		}
	}
	return body, nil
}

// obeysNofollow reports whether the job heeds pages that ask not to follow their links.
func (l *lease) obeysNofollow() bool {
	return !l.job.Identity.IgnoreRobots && !l.job.Identity.IgnoreNofollow
}

// robotsTag returns what the X-Robots-Tag fields of a response say to us.
func (l *lease) robotsTag(resp *fetch.Response) (all parse.Directives) {
	for _, v := range resp.Values("X-Robots-Tag") {
		d := parse.RobotsTag(v, l.product)
		all.NoIndex, all.NoFollow = all.NoIndex || d.NoIndex, all.NoFollow || d.NoFollow
	}
	return all
}

// headerLinks takes in the links of header fields (Link, Refresh, Content-Location, Location of what was made), and counts them.
func (l *lease) headerLinks(f *finder, p *page) {
	if l.l.Asked != nil {
		return
	}
	resp := p.resp
	take := func(ref string, kind parse.Kind) {
		if ref == "" {
			return
		}
		if w, ok := f.resolve(p.url, ref); ok {
			p.outcome.Links++
			f.one(w, parse.Link{Kind: kind}, nil)
		}
	}
	for _, v := range resp.Values("Link") {
		for _, link := range parse.LinkHeader(v, l.job.Identity.Resources) {
			take(string(link.Ref), link.Kind)
		}
	}
	refresh, _ := parse.RefreshHeader(resp.Get("Refresh"))
	take(refresh, parse.Refresh)
	take(resp.Get("Content-Location"), parse.Relation)
	if resp.Status == http.StatusCreated || resp.Status == http.StatusAccepted { // what was made, or how far it is (RFC 9110, sections 10.2.2 and 15.3.3)
		take(location(resp), parse.Relation)
	}
}

// sitemap takes in the URLs of a sitemap, and reports whether it has any. What it names beyond the limits is counted.
func (l *lease) sitemap(p *page, body []byte) (f *finder, entries bool) {
	t, u := &p.target, p.url
	f = newFinder(l, t, u, "utf-8")
	urls, maps, over := parse.Sitemap(body, p.resp.Type())
	f.omit(crawl.ReasonTrapMap, over)
	take := func(entries []parse.SitemapEntry, sitemaps bool) {
		for _, e := range entries {
			loc := e.Loc
			if host := u.Authority() + "/"; len(loc) >= len(host) && strings.EqualFold(loc[:len(host)], host) { // an address without its scheme
				loc = "//" + loc
			}
			v, ok := f.resolve(u, loc)
			if !ok {
				continue
			}
			if l.job.Identity.StripSession && !sitemaps {
				v = v.StripSession()
			}
			f.found.Links = append(f.found.Links, crawl.Link{URL: v.String(), Sitemap: sitemaps, LastMod: e.LastMod})
		}
	}
	take(maps, true)
	take(urls, false)
	return f, len(urls)+len(maps)+over > 0
}

// location returns where a response sends us, "" for nowhere. Bytes that are not in UTF-8 stand for themselves, as in browsers.
func location(resp *fetch.Response) string {
	v := resp.Get("Location")
	if utf8.ValidString(v) {
		return v
	}
	var b strings.Builder
	for i := range len(v) {
		if v[i] < utf8.RuneSelf {
			b.WriteByte(v[i])
		} else {
			fmt.Fprintf(&b, "%%%02X", v[i])
		}
	}
	return b.String()
}
