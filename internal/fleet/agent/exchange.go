package agent

import (
	"context"
	"encoding/base64"
	"errors"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
	"argosy/internal/page/parse"
)

// Fetcher reaches sites for an agent: over HTTP (OverHTTP), by a browser, or from a recording. Leases call it from many
// goroutines at once.
type Fetcher interface {
	// Open returns a session with a site within a job's limits. It dials only the given addresses; with none it finds
	// out by itself. It does not block, and sends nothing.
	Open(limits crawl.FetchLimits, addrs []netip.Addr) Session
}

// Session is what one lease asks one site through; it keeps connections between requests. Up to SiteConnections workers
// of the lease call it at once. It knows no clock: whoever calls Do has waited for the site's turn and for one of the
// node's slots.
type Session interface {
	// Do sends one GET and reads the whole response within the limits. The session follows no redirect and keeps no
	// cookie. An error is a *crawl.Error; beside it stands what has come of a response that was cut short (Truncated). One
	// of kind KindArchive is the node's own: a body could not be spooled. One that is fetch.ErrUnprocessed says that the
	// same is to be asked again at the site's next turn, with Again raised, and counts as nothing else. It looks at req.May last of all before it
	// sends anything, and returns fetch.ErrNotSent if that says no. A body that is too
	// long for memory lies in a spool, an *archive.Spool. The caller releases the response; until then it may read
	// everything in it, and keep nothing of its slices afterwards.
	Do(ctx context.Context, req *fetch.Request) (*fetch.Response, error)
	// Close ends the session, and makes requests that are under way fail. It may be called more than once.
	Close()
}

// OverHTTP returns the fetcher that asks sites over HTTP, by a client.
func OverHTTP(c *fetch.Client) Fetcher { return overHTTP{c} }

type overHTTP struct{ client *fetch.Client }

func (o overHTTP) Open(limits crawl.FetchLimits, addrs []netip.Addr) Session {
	return o.client.OpenFor(limits, addrs)
}

// request builds the request for a URL.
func (l *lease) request(u crawl.URL) *fetch.Request {
	r := &fetch.Request{URL: u, Fields: make([]fetch.Field, 0, 4)}
	r.Fields = append(r.Fields, fetch.Field{Name: "User-Agent", Value: l.job.Identity.UserAgent},
		fetch.Field{Name: "Accept", Value: Accept})
	if u.Site() != l.l.Site { // where robots.txt redirects: no business of this site's secrets
		return r
	}
	for _, h := range l.site.Headers {
		r.Fields = slices.DeleteFunc(r.Fields, func(f fetch.Field) bool { return strings.EqualFold(f.Name, h.Name) })
		r.Fields = append(r.Fields, fetch.Field{Name: h.Name, Value: h.Value})
	}
	if l.site.SeedSite {
		given := l.a.cfg.Headers
		r.Fields = slices.DeleteFunc(r.Fields, func(f fetch.Field) bool { return fieldAt(given, f.Name) >= 0 })
		r.Fields = append(r.Fields, given...)
	}
	if login := l.a.cfg.Logins[l.l.Site]; login != "" && fieldAt(r.Fields, "Authorization") < 0 {
		r.Fields = append(r.Fields, fetch.Field{Name: "Authorization", Value: "Basic " + base64.StdEncoding.EncodeToString([]byte(login))})
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	switch c, at := l.jar.header(u, time.Now()), fieldAt(r.Fields, "Cookie"); {
	case c == "":
	case at >= 0:
		r.Fields[at].Value += "; " + c
	default:
		r.Fields = append(r.Fields, fetch.Field{Name: "Cookie", Value: c})
	}
	return r
}

// fieldAt returns where the first field of a name stands, -1 if there is none.
func fieldAt(fields []fetch.Field, name string) int {
	return slices.IndexFunc(fields, func(f fetch.Field) bool { return strings.EqualFold(f.Name, name) })
}

// exchange sends a request when it is the site's turn, and again, at another turn, where the server did not process it.
// Both results are nil when the lease ended first; the caller releases the response, which may also be there, cut short,
// when there is an error.
func (l *lease) exchange(u crawl.URL) (*fetch.Response, error) {
	sess := l.sess
	if u.Site() != l.l.Site { // where robots.txt redirects: it has addresses of its own
		sess = l.a.fetcher.Open(l.job.Limits.Fetch, nil)
		defer sess.Close()
	}
	return l.exchangeOn(sess, u)
}

// twice asks for a page once more that may be drawn anew for each reader, and marks what it shows then. That answer is archived beside the
// pages.
func (l *lease) twice(p *page) {
	if p.target.Mark != crawl.MarkTwice || p.resp.Status != http.StatusOK || parse.TypeOf(p.resp.Media()) != parse.HTML || p.resp.Size > maxMarked {
		return
	}
	resp, _, err := l.visit(p.url)
	defer resp.Release()
	if err != nil || resp == nil || resp.Status != http.StatusOK {
		return
	}
	l.takes(p.url, resp, nil)
	body, err := resp.Decoded(maxMarked)
	if err != nil {
		return
	}
	l.readSafely(p.url, func(doc *parse.Page) {
		text, charset := parse.ReadEncoded(parse.HTML, body, resp.Type(), parse.Options{Resources: l.job.Identity.Resources}, doc)
		var second crawl.Outcome
		l.a.marks.Page(&crawl.Target{Mark: crawl.MarkMust}, p.url, p.url, charset, text, doc, &second)
		p.second = &second
	})
	l.beside(p.url, resp, crawl.ReasonTrapYield)
}

// hasty is which part of the job's limit a site has for its first answer. Where the limit is as it comes that is as long as connecting may take; what
// answers later is asked once more.
const hasty = 3

// paging is which part of it one has for its first page that has answered robots.txt: more than pages take that are made slowly, as most are not.
const paging = 2

// patience is how long a site may take to answer a request for u. One that has never answered, or robots.txt alone, may hang, and keeps a place of
// its address from others meanwhile: it has less time at first, if it is to be asked again. One that has not answered within the whole limit either
// has less time from then on.
func (l *lease) patience(u crawl.URL) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	most := l.job.Limits.Fetch.HeaderTimeout
	switch {
	case l.fails > 1 && l.latency == 0:
		return most / hasty
	case l.fails > 0 || l.job.Limits.Retries == 0:
	case l.latency == 0:
		return most / hasty
	case l.told&crawl.HeardPage == 0 && u.Path() != robotsPath:
		return most / paging
	}
	return most
}

// heardBy reports whether the site has ever answered over the scheme of u.
func (l *lease) heardBy(u crawl.URL) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.told&crawl.HeardBy(u.Scheme()) != 0
}

// exchangeOn is exchange through a session of the caller's.
func (l *lease) exchangeOn(sess Session, u crawl.URL) (*fetch.Response, error) {
	for again := 0; l.turn(); again++ {
		req := l.request(u)
		req.Again, req.Within, req.May, req.First = again, l.patience(u), l.maySend, u.Site() == l.l.Site && !l.heardBy(u)
		if u.Site() != l.l.Site {
			req.May = func() bool { return l.maySend() && l.usesTurn(u.Site()) }
		}
		began := time.Now()
		resp, err := sess.Do(l.ctx, req)
		l.a.release()
		if errors.Is(err, fetch.ErrNotSent) {
			return nil, nil
		}
		if resp == nil {
			l.started(time.Now())
			if errors.Is(err, fetch.ErrUnprocessed) && l.ctx.Err() == nil && u.Site() == l.l.Site {
				continue
			}
			return nil, l.together(began, err)
		}
		l.a.escape(l, resp.Date)
		l.started(resp.Date)
		if err == nil {
			l.answered(u, resp.Timing.FirstByte)
		}
		l.mu.Lock()
		l.rep.bytes += int64(len(resp.Head)) + resp.Wire
		l.mu.Unlock()
		return resp, l.together(began, err)
	}
	return nil, nil
}

// atOnce is within which time connections end that end for one reason.
const atOnce = 250 * time.Millisecond

// cutTogether is the error of a request that ended with another one of its site.
type cutTogether struct{ error }

func (c cutTogether) Unwrap() error { return c.error }

// together marks the error of a request that was under way when the connection of another one ended, and ended at the same time. A
// server that restarts ends all that it has: that is one failure, not many in a row. One that is asked too much is left alone.
func (l *lease) together(began time.Time, err error) error {
	if err == nil || crawl.KindOf(err) != crawl.KindReset || fetch.WantsCalm(err) {
		return err
	}
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if began.Before(l.endedAt) && now.Sub(l.endedAt) < atOnce {
		return cutTogether{err}
	}
	l.endedAt = now
	return err
}
