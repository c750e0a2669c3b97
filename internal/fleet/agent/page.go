package agent

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
	"argosy/internal/page/polite"
)

// page is what comes of a target on its way from the wire to the report: it is fetched (exchange.go), read (read.go),
// recorded (record.go) and reported.
type page struct {
	target  crawl.Target
	url     crawl.URL
	resp    *fetch.Response // released once the page is reported
	outcome *crawl.Outcome
	found   *finder  // what links it has given
	records []record // what is archived of it
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
	p := &page{target: t, url: u}
	for again := false; ; again = true {
		resp, err := l.exchange(u)
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
			resp.Release()
			continue
		}
		p.resp = resp
		err = l.answer(p)
		resp.Release()
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

// answer handles a response: the page is read, recorded and reported. An error is one of the node.
func (l *lease) answer(p *page) error {
	t, resp := &p.target, p.resp
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
	p.outcome = o
	var err error
	if p.found, err = l.read(p); err != nil {
		kind := crawl.KindOf(err)
		l.outcome(&crawl.Outcome{Key: t.Key, URL: t.URL, State: crawl.Failed, Reason: kind, Detail: err.Error(), Depth: t.Depth, Status: resp.Status}, nil)
		return nil
	}
	markOther(t, resp.Body, o)
	l.record(p)
	if err := l.a.keep(p); err != nil {
		return err
	}
	l.outcome(o, p.found)
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
	o.Owner, o.Gen = l.layer.Owner, l.layer.Gen
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
