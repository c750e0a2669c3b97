package agent

import (
	"bytes"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
	"argosy/internal/page/parse"
	"argosy/internal/page/polite"
)

var scratches = sync.Pool{New: func() any { return new(fetch.Scratch) }}

// putScratch gives memory back; nothing that lies in it may be used any more.
func putScratch(sc *fetch.Scratch) {
	if sc != nil {
		scratches.Put(sc)
	}
}

var pages = sync.Pool{New: func() any { return new(parse.Page) }}

// minPayload is the size of a body, in bytes, from which equal ones become revisit records.
const minPayload = 64

// request builds the request for a URL.
func (l *lease) request(u crawl.URL) *fetch.Request {
	r := &fetch.Request{URL: u, Fields: make([]fetch.Field, 0, 4)}
	r.Fields = append(r.Fields, fetch.Field{Name: "User-Agent", Value: l.job.Identity.UserAgent},
		fetch.Field{Name: "Accept", Value: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"})
	if u.Site() != l.l.Site { // where robots.txt redirects: no business of this site's secrets
		return r
	}
	if l.site.SeedSite {
		r.Fields = append(r.Fields, l.a.cfg.Headers...)
	}
	l.mu.Lock()
	if c := l.jar.header(u, time.Now()); c != "" {
		r.Fields = append(r.Fields, fetch.Field{Name: "Cookie", Value: c})
	}
	l.mu.Unlock()
	return r
}

// one works on a target. An error is one of the node, not of the site.
func (l *lease) one(t crawl.Target) error {
	u, err := crawl.Parse(t.URL)
	if err != nil {
		l.outcome(&crawl.Outcome{Key: t.Key, URL: t.URL, State: crawl.Failed, Reason: crawl.KindInternal, Detail: err.Error()}, nil)
		return nil
	}
	if kind, scheme := l.gone(); kind != "" && scheme != "" && scheme != u.Scheme() {
		l.putBack(t) // by another scheme the site may be there: another lease asks it, robots.txt first
		l.end(crawl.EndFailed)
		return nil
	} else if kind != "" {
		o := &crawl.Outcome{Key: t.Key, URL: t.URL, State: crawl.Failed, Reason: kind, Depth: t.Depth}
		if kind == crawl.ReasonRobotsDown {
			o.State = crawl.Excluded
		}
		l.outcome(o, nil)
		return nil
	}
	if !l.job.Identity.IgnoreRobots && !l.rules.Allowed(u.RequestURI()) {
		l.outcome(&crawl.Outcome{Key: t.Key, URL: t.URL, State: crawl.Excluded, Reason: crawl.ReasonRobots, Depth: t.Depth}, nil)
		return nil
	}
	for again := false; ; again = true {
		resp, sc, err := l.exchange(u)
		if err != nil {
			if l.ctx.Err() == nil {
				l.failed(&t, err)
			}
			return nil
		}
		if resp == nil {
			l.putBack(t)
			return nil
		}
		if l.cookies(u, resp) && !again && redirectsTo(u, resp) {
			putScratch(sc)
			continue
		}
		err = l.answer(&t, u, resp, sc)
		putScratch(sc)
		return err
	}
}

// gone returns why the site is given up, and by which scheme it was asked if that matters.
func (l *lease) gone() (why crawl.Kind, scheme string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gaveUp, l.scheme
}

// cookies takes in the cookies of a response; it reports whether they are new.
func (l *lease) cookies(u crawl.URL, resp *fetch.Response) bool {
	set := resp.Values("Set-Cookie")
	if len(set) == 0 {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.jar.set(u, set, time.Now())
}

// redirectsTo reports whether a response sends us to where we are.
func redirectsTo(u crawl.URL, resp *fetch.Response) bool {
	if resp.Status < 300 || resp.Status >= 400 {
		return false
	}
	v, err := u.Resolve(resp.Get("Location"))
	return err == nil && v.String() == u.String()
}

// failed decides whether a URL that could not be fetched is tried again, and what its site's lease does next.
func (l *lease) failed(t *crawl.Target, err error) {
	kind := crawl.KindOf(err)
	o := &crawl.Outcome{Key: t.Key, URL: t.URL, State: crawl.Failed, Reason: kind, Detail: err.Error(), Depth: t.Depth}
	retries := l.job.Limits.Retries
	l.mu.Lock()
	l.fails++
	fails := l.fails
	noScheme := t.Flags&crawl.FlagNoScheme != 0 && kind != crawl.KindDNS
	if kind.Unreachable() && (fails > retries || noScheme) {
		l.gaveUp = kind
		if noScheme {
			l.scheme = "https"
		}
	}
	gone := l.gaveUp != ""
	l.mu.Unlock()
	if kind.Transient() && int(t.Tries) < retries && !gone {
		o.State = crawl.Retry
	}
	l.outcome(o, nil)
	if o.State == crawl.Retry && (kind.Unreachable() || fails >= 3) {
		if !kind.Unreachable() {
			fails = min(fails, 5) // it is there, and bad pages in a row say little about the next one
		}
		l.holdOff(polite.Backoff(l.job.Limits.Backoff, fails), crawl.EndFailed)
	}
}

// answer handles a response.
func (l *lease) answer(t *crawl.Target, u crawl.URL, resp *fetch.Response, sc *fetch.Scratch) error {
	if resp.Status == http.StatusTooManyRequests || resp.Status == http.StatusServiceUnavailable {
		if l.later(t, resp) {
			return nil
		}
	}
	o := &crawl.Outcome{
		Key: t.Key, URL: t.URL, State: crawl.Fetched, Status: resp.Status, Bytes: int64(len(resp.Body)), Depth: t.Depth,
		Mime: mimeOf(resp), ETag: clip(resp.Get("ETag")), LastMod: clip(resp.Get("Last-Modified")), Proto: resp.Proto,
		Date: resp.Date.UnixMilli(), Digest: archive.Digest(resp.Body), Timing: micros(resp.Timing),
	}
	if resp.Addr.IsValid() {
		o.IP = resp.Addr.String()
	}
	find, err := l.read(t, u, resp, sc, o)
	if err != nil {
		kind := crawl.KindOf(err)
		l.outcome(&crawl.Outcome{Key: t.Key, URL: t.URL, State: crawl.Failed, Reason: kind, Detail: err.Error(), Depth: t.Depth, Status: resp.Status}, nil)
		return nil
	}
	if err := l.archive(u, resp, o); err != nil {
		return err
	}
	l.outcome(o, find)
	return nil
}

// later handles 429 and 503: the site is left alone for as long as it asks, or for a back-off that doubles. False if
// the URL has been tried often enough, and this answer counts.
func (l *lease) later(t *crawl.Target, resp *fetch.Response) bool {
	if int(t.Tries) >= l.job.Limits.Retries {
		return false
	}
	wait := max(retryAfter(resp), polite.Backoff(l.job.Limits.Backoff, int(t.Tries)+1))
	l.outcome(&crawl.Outcome{
		Key: t.Key, URL: t.URL, State: crawl.Retry, Reason: crawl.KindStatus, Status: resp.Status, Depth: t.Depth,
		Retryable: wait.Milliseconds(),
	}, nil)
	l.holdOff(wait, crawl.EndWait)
	return true
}

// retryAfter returns what a Retry-After field asks for, bounded; 0 if there is none.
func retryAfter(resp *fetch.Response) time.Duration {
	v := resp.Get("Retry-After")
	if v == "" {
		return 0
	}
	if s, err := strconv.Atoi(v); err == nil && s >= 0 {
		return min(time.Duration(min(s, 1<<30))*time.Second, polite.MaxRetryAfter)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(resp.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, min(at.Sub(now), polite.MaxRetryAfter))
}

// read finds the links of a response and what else it says of itself.
func (l *lease) read(t *crawl.Target, u crawl.URL, resp *fetch.Response, sc *fetch.Scratch, o *crawl.Outcome) (*finder, error) {
	charset := ""
	if resp.Status >= 300 && resp.Status < 400 {
		f := newFinder(l, t, u, "utf-8")
		if loc := resp.Get("Location"); loc != "" {
			if v, err := u.Resolve(loc); err == nil {
				o.Redirect = v.String()
				f.found.Links = append(f.found.Links, crawl.Link{URL: o.Redirect, Redirect: true})
			}
		}
		return f, nil
	}
	html := isHTML(o.Mime, resp)
	sitemap := t.Flags&crawl.FlagSitemap != 0 && resp.Status == http.StatusOK
	if !html && !sitemap {
		f := newFinder(l, t, u, "utf-8")
		l.headerLinks(f, u, resp)
		return f, nil
	}
	body, err := resp.Decoded(sc, l.job.Limits.Fetch.MaxDecoded)
	if err != nil {
		return nil, err
	}
	if sitemap && !html {
		return l.sitemap(t, u, body), nil
	}
	page := pages.Get().(*parse.Page)
	defer pages.Put(page)
	opts := parse.Options{Resources: l.job.Identity.Resources, Product: Product}
	charset = parse.Charset(body[:min(len(body), 4)], resp.Get("Content-Type"), nil)
	if !parse.ASCIISuperset(charset) {
		body = []byte(parse.Decode(body, charset))
		charset = "utf-8"
	}
	parse.Scan(body, opts, page)
	o.HTML = true
	if ascii := isASCII(body); ascii && len(page.Charset) == 0 {
		charset = "utf-8"
	} else {
		charset = parse.Charset(body, resp.Get("Content-Type"), page.Charset)
	}
	o.Charset = charset
	o.Title = parse.CleanTitle(parse.Decode(page.Title, charset))
	o.Links = len(page.Links)
	o.NoIndex = page.NoIndex
	nofollow := page.NoFollow
	for _, v := range resp.Values("X-Robots-Tag") {
		d := parse.RobotsTag(v, Product)
		o.NoIndex = o.NoIndex || d.NoIndex
		nofollow = nofollow || d.NoFollow
	}
	l.extras(u, body, charset, page, o)
	base := u
	if page.Base != nil {
		if v, err := u.Resolve(parse.DecodeRef(page.Base, charset)); err == nil {
			base = v
		}
	}
	f := newFinder(l, t, base, charset)
	if nofollow && !l.job.Identity.IgnoreRobots {
		return f, nil
	}
	f.add(page)
	l.headerLinks(f, u, resp)
	return f, nil
}

// headerLinks takes in the links of Link fields.
func (l *lease) headerLinks(f *finder, u crawl.URL, resp *fetch.Response) {
	for _, v := range resp.Values("Link") {
		for _, ref := range parse.LinkHeader(v) {
			if w, err := u.Resolve(ref); err == nil {
				f.one(w, parse.Link{}, nil)
			}
		}
	}
}

// sitemap takes in the URLs of a sitemap.
func (l *lease) sitemap(t *crawl.Target, u crawl.URL, body []byte) *finder {
	f := newFinder(l, t, u, "utf-8")
	if len(body) > 2 && body[0] == 0x1f && body[1] == 0x8b {
		if b, err := fetch.Ungzip(body, 50<<20); err == nil {
			body = b
		}
	}
	urls, maps := parse.Sitemap(body)
	for _, e := range maps {
		if v, err := u.Resolve(e.Loc); err == nil {
			f.found.Links = append(f.found.Links, crawl.Link{URL: v.String(), Sitemap: true, LastMod: e.LastMod})
		}
	}
	for _, e := range urls {
		if v, err := u.Resolve(e.Loc); err == nil {
			f.found.Links = append(f.found.Links, crawl.Link{URL: v.String(), LastMod: e.LastMod})
		}
	}
	return f
}

// archive writes the records of an exchange and notes where they lie.
func (l *lease) archive(u crawl.URL, resp *fetch.Response, o *crawl.Outcome) error {
	id := archive.NewID()
	rec := archive.Record{
		Type: "response", ID: id, Date: resp.Date, URI: u.String(), ContentType: archive.TypeResponse, IP: o.IP,
		Payload: o.Digest, Blocks: [][]byte{resp.Head, resp.Raw}, Compressed: resp.Coded() || packed(o.Mime),
	}
	if resp.Status == http.StatusOK && len(resp.Body) >= minPayload {
		if was, ok := l.a.seen.first(o.Digest, capture{u.String(), o.Date}); ok {
			rec.Type, rec.Blocks = "revisit", rec.Blocks[:1]
			rec.RefersTo = archive.Ref{URI: was.url, Date: time.UnixMilli(was.date)}
			o.Revisit = true
		}
	}
	req := archive.Record{
		Type: "request", ID: archive.NewID(), Date: resp.Date, URI: u.String(), ContentType: archive.TypeRequest, IP: o.IP,
		ConcurrentTo: id, Blocks: [][]byte{l.redact(resp.Request)}, Compressed: false,
	}
	recs := [][]byte{rec.Encode(nil), req.Encode(nil)}
	if o.Text.Length < 0 { // the text waits in Text.File until it has a place
		text := archive.Record{
			Type: "conversion", ID: archive.NewID(), Date: resp.Date, URI: u.String(), ContentType: "text/plain; charset=utf-8",
			Blocks: [][]byte{[]byte(o.Text.File)},
		}
		recs = append(recs, text.Encode(nil))
	}
	locs, err := l.a.warc.Append(recs...)
	if err != nil {
		return err
	}
	o.Record, o.Text = locs[0], crawl.Location{}
	if len(locs) > 2 {
		o.Text = locs[2]
	}
	return nil
}

// redact hides the values of secret fields in a request that is archived.
func (l *lease) redact(req []byte) []byte {
	if l.a.cfg.KeepSecrets || !l.site.SeedSite || len(l.a.cfg.Headers) == 0 && l.a.cfg.Cookies == "" {
		return req
	}
	secret := map[string]bool{}
	if l.a.cfg.Cookies != "" {
		secret["cookie"] = true
	}
	for _, f := range l.a.cfg.Headers {
		secret[strings.ToLower(f.Name)] = true
	}
	var out []byte
	for line := range bytes.SplitAfterSeq(req, []byte("\r\n")) {
		name, _, ok := bytes.Cut(line, []byte(":"))
		if ok && secret[strings.ToLower(string(name))] {
			line = append(append([]byte(nil), name...), ": [redacted]\r\n"...)
		}
		out = append(out, line...)
	}
	return out
}

// outcome queues a page's links and its outcome for the next part.
func (l *lease) outcome(o *crawl.Outcome, f *finder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if f != nil {
		for _, k := range f.keys {
			if d, ok := l.rep.sent[k]; !ok || f.depth < d {
				l.rep.sent[k] = f.depth
			}
		}
		l.rep.addFound(f.found, f.keys, f.depth)
	}
	l.rep.addOutcome(o)
	if l.rep.size > partBudget {
		l.a.nudge()
	}
}

func micros(t fetch.Timing) [6]int32 {
	us := func(d time.Duration) int32 { return int32(min(d.Microseconds(), 1<<31-1)) }
	return [6]int32{us(t.Resolve), us(t.Connect), us(t.TLS), us(t.Send), us(t.FirstByte), us(t.Body)}
}

// clip bounds a header value that is kept.
func clip(s string) string { return strings.ToValidUTF8(s[:min(len(s), 200)], "") }

// mimeOf returns the media type of a response, without parameters; for one that says nothing, what its bytes look
// like.
func mimeOf(resp *fetch.Response) string {
	v, _, _ := strings.Cut(resp.Get("Content-Type"), ";")
	if v = strings.ToLower(strings.TrimSpace(v)); v != "" {
		return clip(v)
	}
	if len(resp.Body) == 0 || resp.Coded() {
		return ""
	}
	v, _, _ = strings.Cut(http.DetectContentType(resp.Body), ";")
	return v
}

func isHTML(mime string, resp *fetch.Response) bool {
	return len(resp.Body) > 0 && (mime == "text/html" || mime == "application/xhtml+xml")
}

// packed reports whether bytes of a media type do not get smaller by compression.
func packed(mime string) bool {
	kind, sub, _ := strings.Cut(mime, "/")
	switch kind {
	case "image":
		return sub != "svg+xml" && sub != "bmp" && sub != "x-icon"
	case "video", "audio":
		return true
	case "font":
		return strings.HasPrefix(sub, "woff")
	}
	switch mime {
	case "application/pdf", "application/zip", "application/gzip", "application/x-gzip", "application/x-bzip2",
		"application/x-xz", "application/zstd":
		return true
	}
	return false
}

func isASCII(b []byte) bool {
	for len(b) >= 8 {
		if (uint64(b[0])|uint64(b[1])|uint64(b[2])|uint64(b[3])|uint64(b[4])|uint64(b[5])|uint64(b[6])|uint64(b[7]))&0x80 != 0 {
			return false
		}
		b = b[8:]
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}
