package agent

import (
	"errors"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/term"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
	"argosy/internal/page/parse"
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
	encoded encoded
	second  *crawl.Outcome // with the marks of another answer to the same URL
	cookie  bool           // it has brought one that was not there
	fresh   bool           // the last answer has, of several on its way about
	gates   []crawl.Key    // on its way about: those up to the last that has brought one
	sent    string         // the cookies that it was asked for with last
	onto    crawl.Key      // where its answer leads, if answers from there may have it asked again
	refresh crawl.URL      // where it sends its reader on the site by a Refresh, where that was looked for
	walked  bool           // the lease has gone where it leads, and it leads there still
	renewed bool           // it leads nowhere since a gate that is known gave other cookies
	barred  bool           // other cookies of the gate that it leads to do not help
	gate    crawl.Key      // the same, as gates are known
	wall    wall           // that its last answer may be
	named   []crawl.URL    // what that names beside where it sends its reader
	also    []crawl.URL    // what walls before it have named
	sum     [20]byte       // of that answer
	at      instead        // whether a wall stands in its place
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
		o := &crawl.Outcome{Key: t.Key, URL: t.URL, State: crawl.Failed, Reason: kind, Detail: l.why, Depth: t.Depth}
		if kind == crawl.ReasonRobotsDown {
			o.State = crawl.Excluded
		}
		noHTTPS(&t, o)
		if l.asks() {
			l.unreached(o, nil, 0, kind, l.why)
		}
		l.outcome(o, nil)
		if l.asks() {
			l.rest(o)
		}
		return nil
	}
	rules, down, ok := l.rulesOf(u)
	switch {
	case !ok:
		l.putBack(t)
		return nil
	case down != nil:
		return l.noRules(&page{target: t, url: u}, down)
	}
	if !l.job.Identity.IgnoreRobots && !(l.asks() && l.l.Asked.Robots) && !rules.Allowed(u.RequestURI()) {
		o := &crawl.Outcome{Key: t.Key, URL: t.URL, State: crawl.Excluded, Reason: crawl.ReasonRobots, Depth: t.Depth}
		if l.asks() && t.Depth == 0 {
			l.unanswered(o, nil, 0, crawl.AnswerRefused, notAllowed(l.l.Asked.Engine))
		}
		l.outcome(o, nil)
		return nil
	}
	p := &page{target: t, url: u}
	defer func() { p.resp.Release() }()
	switch err := l.reach(p); {
	case err != nil && l.ctx.Err() != nil:
		l.links(l.before(p))
		return nil
	case err != nil && crawl.KindOf(err) == crawl.KindArchive:
		return err
	case err != nil:
		return l.failed(p, err)
	case p.resp == nil:
		l.links(l.before(p))
		l.putBack(t)
		return nil
	}
	if done, err := l.goneAbout(p); done {
		return err
	}
	l.twice(p)
	return l.answer(p)
}

// gone returns why the site is given up, and by which scheme it was asked if that matters.
func (l *lease) gone() (why crawl.Kind, scheme string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.gaveUp, l.scheme
}

// failed decides whether a URL that could not be fetched is tried again, and what its site's lease does next. What has come
// of the last try is kept.
func (l *lease) failed(p *page, err error) error {
	t, kind := &p.target, crawl.KindOf(err)
	o := &crawl.Outcome{Key: t.Key, URL: t.URL, State: crawl.Failed, Reason: kind, Detail: err.Error(), Depth: t.Depth}
	retries := l.job.Limits.Retries
	l.mu.Lock()
	if !errors.As(err, new(cutTogether)) {
		l.fails++
	}
	fails := l.fails
	noScheme := t.Flags&crawl.FlagNoScheme != 0 && kind.NoHTTPS()
	by := crawl.HeardBy(p.url.Scheme())
	heard := l.told&by != 0
	kind = kind.Of(heard)
	o.Reason = kind
	wait, again := polite.Again(l.job.Limits, kind, fails, heard)
	if kind.Unreachable() && (!again || noScheme) {
		l.gaveUp, l.why = kind, o.Detail
		if noScheme || kind.Settled() && !heard && l.told != 0 { // over the other scheme it answers
			l.scheme = p.url.Scheme()
		}
	}
	gone, unseen := l.gaveUp != "", l.told&crawl.HeardPage == 0 // one that has not shown a page yet keeps no place while it rests
	l.mu.Unlock()
	if l.asks() {
		l.unreached(o, p.resp, wait, kind, err.Error())
		l.outcome(o, nil)
		l.rest(o)
		return nil
	}
	if kind.Transient() && int(t.Tries) < retries && !gone {
		o.State = crawl.Retry
	}
	if p.resp == nil {
		noHTTPS(t, o)
	}
	if o.State == crawl.Failed && p.resp != nil {
		p.outcome = o
		return l.process(p)
	}
	end := ""
	if o.State == crawl.Retry && (kind.Unreachable() || fails >= 3 || unseen || l.l.Asked != nil && l.unheard(time.Now())) {
		if end = crawl.EndFailed; !kind.Unreachable() { // it is there, and bad pages in a row say little about the next one
			wait = polite.Wait(l.job.Limits, kind, min(fails, 5), heard)
		}
	}
	l.outcomeHolding(o, l.before(p), wait, end)
	return nil
}

// noHTTPS makes of the failure of a seed that was given without a scheme what it is: the first of two tries.
func noHTTPS(t *crawl.Target, o *crawl.Outcome) {
	if o.State == crawl.Failed && t.Flags&crawl.FlagNoScheme != 0 && o.Reason.NoHTTPS() {
		o.State, o.Reason = crawl.Excluded, crawl.ReasonNoHTTPS
	}
}

// answer handles a whole response. An error is one of the node.
func (l *lease) answer(p *page) error {
	t, resp := &p.target, p.resp
	end := ""
	if !l.asks() {
		again := false
		switch {
		case busy(resp):
			again, end = int(t.Tries) < l.job.Limits.Retries, crawl.EndWait
		case l.l.Asked != nil:
			again, end = l.refusal(t, resp.Status)
		}
		if again {
			return l.later(p, end)
		}
	}
	p.outcome = &crawl.Outcome{Key: t.Key, URL: t.URL, State: crawl.Fetched, Depth: t.Depth, Expected: t.Score}
	err := l.process(p)
	switch {
	case p.outcome.State == crawl.Retry && l.asks():
		l.rest(p.outcome)
	case end == crawl.EndFailed:
		l.end(end)
	}
	return err
}

// mostShut is how many pages a site may refuse in a row that refuses this node, as it seems, and there is no other: it may be that these
// pages are refused, and not the node.
const mostShut = 5

// refusal judges the status of a page that a search has named. again: the answer does not count, since perhaps this node is shut out and not
// the page; end: why the lease ends with it. Where other nodes are left one of them has the search from here on: that the site has answered
// those says nothing for this one. The last one goes on for a few pages, and takes what is refused for that where the site has answered
// anybody something.
func (l *lease) refusal(t *crawl.Target, status int) (again bool, end string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if status != http.StatusForbidden {
		l.shut = nil
		l.open = l.open || status < 400 || status == http.StatusNotFound || status == http.StatusGone
		return false, ""
	}
	known, of := l.shut[t.Key], l.l.Asked
	if l.shut == nil {
		l.shut = map[crawl.Key]bool{}
	}
	l.shut[t.Key] = true
	if !of.Alone {
		if l.open && int(t.Tries) >= l.job.Limits.Retries {
			return false, "" // it is the page
		}
		return true, crawl.EndFailed
	}
	if known || len(l.shut) >= mostShut {
		end = crawl.EndFailed
	}
	return !of.Had && !l.open, end
}

// beside archives an answer that is not one of the job's pages, if it may stand beside them. If that fails the lease ends with the error: it is one of the
// node.
func (l *lease) beside(u crawl.URL, resp *fetch.Response, why crawl.Kind) {
	if !crawl.StandsBeside(l.l.Site, u) {
		return
	}
	p := &page{url: u, resp: resp, outcome: &crawl.Outcome{Key: u.Key(), URL: u.String(), State: crawl.Beside, Reason: why}}
	p.target.Whole = l.mends()
	describe(resp, p.outcome)
	if err := l.store(p); err != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.broken = err
		l.endLocked(crawl.EndFailed)
		return
	}
	l.outcome(p.outcome, nil)
}

// store records a page that is not read.
func (l *lease) store(p *page) error {
	defer p.encoded.free()
	l.record(p)
	p.encode()
	return l.a.keep(p)
}

// process takes a page that has been fetched, whole or in part, through the rest of its way: it is read, recorded and
// reported. An error is one of the node.
func (l *lease) process(p *page) error {
	defer p.encoded.free()
	describe(p.resp, p.outcome)
	if err := l.digest(p); err != nil {
		return err
	}
	if err := l.a.keep(p); err != nil {
		return err
	}
	l.ends(p)
	return nil
}

// digest reads a page and encodes its records. Only a few pages are in memory in this state at once: what they hold is a
// multiple of their size.
func (l *lease) digest(p *page) (err error) {
	l.held.Add(1)
	l.a.readers <- struct{}{}
	l.held.Add(-1)
	defer func() { <-l.a.readers }()
	if p.found, err = l.readWhole(p); err != nil {
		return err
	}
	l.record(p)
	p.encode()
	return nil
}

// readWhole reads a page and what else is marked of it. A page that has its reader panic fails, and what has come of it is archived; a
// search is asked again later.
func (l *lease) readWhole(p *page) (f *finder, err error) {
	fault := l.readSafely(p.url, func(doc *parse.Page) {
		if f, err = l.read(p, doc); err == nil {
			l.a.marks.Other(&p.target, p.resp.Body, p.outcome)
		}
	})
	if fault != "" {
		p.outcome.State, p.outcome.Reason, p.outcome.Detail = crawl.Failed, crawl.KindInternal, fault
		if l.asks() {
			l.unanswered(p.outcome, p.resp, 0, crawl.AnswerFailed, fault)
		}
		f, err = newFinder(l, &p.target, p.url, "utf-8"), nil
	}
	if err == nil {
		f.before(p)
	}
	return f, err
}

// encoded are records as they are archived. Their memory is used again.
type encoded struct {
	records [][]byte
	mem     *[]byte
}

var encodings = sync.Pool{New: func() any { return new([]byte) }}

// encode encodes a page's records, but for one that is spooled.
func (p *page) encode() {
	e := encoded{mem: encodings.Get().(*[]byte)}
	b := (*e.mem)[:0]
	for i := range p.records {
		if p.records[i].spool == nil {
			at := len(b)
			b = p.records[i].Encode(b)
			e.records = append(e.records, b[at:])
		}
	}
	*e.mem, p.encoded = b, e
}

// free gives the memory back for other pages, unless a large one has blown it up.
func (e *encoded) free() {
	if e.mem != nil && cap(*e.mem) <= 1<<20 {
		encodings.Put(e.mem)
	}
	*e = encoded{}
}

// describe notes what a response says by itself.
func describe(resp *fetch.Response, o *crawl.Outcome) {
	o.Status, o.Bytes, o.Digest, o.Truncated = resp.Status, resp.Size, archive.Label(resp.Sum()), resp.Truncated
	o.Mime, o.ETag, o.LastMod, o.Proto = resp.Media(), clip(resp.Get("ETag")), clip(resp.Get("Last-Modified")), resp.Proto
	o.Date, o.Timing, o.Opened = resp.Date.UnixMilli(), micros(resp.Timing), int32(min(resp.Timing.Opened.Microseconds(), 1<<31-1))
	o.Beside = resp.Beside
	if resp.Addr.IsValid() {
		o.IP = resp.Addr.String()
	}
}

// later handles an answer that does not count: it is archived. If it ends the lease, for the reason given, the site is left alone for as
// long as it asks, or for a back-off that doubles. An error is one of the node.
func (l *lease) later(p *page, end string) error {
	t, resp := &p.target, p.resp
	wait := max(retryAfter(resp), polite.Backoff(l.job.Limits.Backoff, int(t.Tries)+1))
	p.outcome = &crawl.Outcome{
		Key: t.Key, URL: t.URL, State: crawl.Retry, Reason: crawl.KindStatus, Depth: t.Depth, Retryable: wait.Milliseconds(),
	}
	describe(resp, p.outcome)
	err := l.store(p)
	l.outcomeHolding(p.outcome, l.before(p), wait, end)
	return err
}

// retryAfter returns what a Retry-After field asks for, bounded; 0 if there is none.
func retryAfter(resp *fetch.Response) time.Duration {
	v := resp.Get("Retry-After")
	if v == "" {
		return 0
	}
	if s, err := strconv.Atoi(v); err == nil && s >= 0 {
		return min(time.Duration(min(s, 1<<30))*time.Second, crawl.MaxRetryAfter)
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(resp.Get("Date"))
	if err != nil {
		now = time.Now()
	}
	return max(0, min(at.Sub(now), crawl.MaxRetryAfter))
}

// links queues what a page names for the next part.
func (l *lease) links(f *finder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.linksLocked(f)
}

// linksInTurn is links for some of a page's: it waits until few items do.
func (l *lease) linksInTurn(f *finder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.rep.size >= maxCrowd && l.hold.End < term.Sealed && l.ctx.Err() == nil {
		l.a.nudge()
		l.more.Wait()
	}
	l.linksLocked(f)
	if l.rep.size > partBudget {
		l.a.nudge()
	}
}

func (l *lease) linksLocked(f *finder) {
	for _, k := range f.keys {
		if d, ok := l.rep.sent[k]; !ok || f.depth < d {
			l.rep.sent[k] = f.depth
		}
	}
	l.rep.addFound(f.found, f.keys, f.depth)
}

// outcome queues a page's links and its outcome for the next part.
func (l *lease) outcome(o *crawl.Outcome, f *finder) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.queueLocked(o, f)
}

// outcomeHolding is outcome, and holds the site off with it: once the outcome is reported the page may come back to this lease, which is not to ask for
// it again if it has ended. An empty end holds nothing off.
func (l *lease) outcomeHolding(o *crawl.Outcome, f *finder, wait time.Duration, end string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if end != "" {
		l.holdOffLocked(wait, end)
	}
	l.queueLocked(o, f)
}

func (l *lease) queueLocked(o *crawl.Outcome, f *finder) {
	if f != nil {
		l.linksLocked(f)
	}
	if o.State == crawl.Fetched && len(l.walled) > 0 {
		o.Walled, l.walled = l.walled, nil
	}
	l.noteOutcome(o)
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
