package agent

import (
	"net/http"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/engine"
	"argosy/internal/page/fetch"
)

// asks reports whether the lease asks a search engine for result pages.
func (l *lease) asks() bool { return l.l.Asked != nil && l.l.Asked.Asks }

// linked is the layer whose links a lease may know to be stored: result pages of searches name URLs of the job's one.
func linked(d *crawl.Dispatch, own crawl.Layer) crawl.Layer {
	if d.Lease.Asked != nil {
		return crawl.Layer{}
	}
	return own
}

// wanted reports whether a search is about a page: it lies on the site that the search is restricted to.
func (l *lease) wanted(u crawl.URL) bool { return l.l.Asked.Site == "" || engine.On(l.l.Asked.Site, u) }

// results reads a result page: what it names on the search's site, and the next page, are its links. An answer that is none leaves
// the page to be asked again, by another node if there is one.
func (l *lease) results(p *page) (*finder, error) {
	f := newFinder(l, &p.target, p.url, "utf-8")
	ready, err := engine.Decode(l.l.Asked.Def)
	if err != nil {
		l.unanswered(p.outcome, p.resp, 0, crawl.AnswerFailed, err.Error())
		return f, nil
	}
	if p.resp.Redirects() {
		l.moved(ready, p, f)
		return f, nil
	}
	body, err := decoded(p, l.job.Limits.Fetch.MaxDecoded, true)
	if err != nil {
		return nil, err
	}
	walk := l.walk
	if walk == nil || walk.Pages != int(p.target.Depth) {
		a := l.l.Asked
		walk = ready.Resume(engine.Search{Words: a.Words, Site: a.Site}, int(p.target.Depth), p.target.URL, int(a.Found), a.Stated)
		l.walk = walk
	}
	r := walk.Take(engine.Answer{URL: p.target.URL, Status: p.resp.Status, Type: p.resp.Type(), Body: body})
	a := &crawl.Answered{
		Verdict: string(r.Verdict), Reason: clip(r.Reason), Results: len(r.Results), Off: r.Dropped, Stop: clip(walk.Stop),
		Stated: walk.Stated,
	}
	p.outcome.Answered = a
	if r.Verdict != engine.Found && r.Verdict != engine.Empty {
		l.unanswered(p.outcome, p.resp, 0, a.Verdict, r.Reason)
		p.outcome.Answered = a
		return f, nil
	}
	for _, found := range r.Results {
		u, err := crawl.Parse(found.URL)
		if err != nil || !l.wanted(u) {
			if a.Off++; err == nil && a.Aside == "" {
				a.Aside = clip(u.Site())
			}
			continue
		}
		f.found.Links = append(f.found.Links, crawl.Link{URL: u.String(), Anchor: clip(found.Title)})
	}
	if next, more := walk.Next(); more {
		if u, err := crawl.Parse(next); err == nil && u.Site() == l.l.Site {
			f.found.Links = append(f.found.Links, crawl.Link{URL: u.String(), Next: true, Counted: walk.Counted()})
		} else {
			a.Stop = "the next page is on another site"
		}
	}
	return f, nil
}

// moved reads a redirect of a result page: one on the engine's own site is followed, unless it leads to what is a block.
func (l *lease) moved(ready *engine.Ready, p *page, f *finder) {
	to, err := p.url.Resolve(location(p.resp))
	if err != nil {
		l.unanswered(p.outcome, p.resp, 0, crawl.AnswerFailed, "it redirects to nowhere")
		return
	}
	if r := ready.Read(engine.Answer{URL: to.String(), Status: http.StatusOK}, false); r.Verdict == engine.Blocked {
		l.unanswered(p.outcome, p.resp, 0, crawl.AnswerBlocked, r.Reason)
		return
	}
	if to.Site() != l.l.Site || int(p.target.Hops) >= 5 {
		l.unanswered(p.outcome, p.resp, 0, crawl.AnswerFailed, clip("it redirects to "+to.String()))
		return
	}
	p.outcome.Redirect = to.String()
	f.found.Links = append(f.found.Links, crawl.Link{URL: to.String(), Next: true, Redirect: true})
}

// unreached is unanswered of an engine that could not be asked.
func (l *lease) unreached(o *crawl.Outcome, resp *fetch.Response, least time.Duration, kind crawl.Kind, detail string) {
	verdict, why := crawl.AnswerFailed, kind.Words()
	if kind == crawl.KindDenied {
		verdict = crawl.AnswerDenied
	}
	if detail = crawl.Brief(detail); detail != "" {
		why += ": " + detail
	}
	l.unanswered(o, resp, least, verdict, why)
}

// notAllowed says that robots.txt disallows a search, and who may change that.
func notAllowed(engine string) string {
	return "its robots.txt disallows searches; ignore_robots: true in the entry of engine " + engine + " asks it all the same"
}

// unanswered makes of an outcome one of a search that failed: its page is asked again when its engine has rested, for as long as the job
// says, at least so long, and as long as the answer asks for. One that has answered in another markup needs no rest, nor does one that
// may not be asked: a person's step helps, and time does not.
func (l *lease) unanswered(o *crawl.Outcome, resp *fetch.Response, least time.Duration, verdict, why string) {
	o.State, o.Reason, o.Detail = crawl.Retry, crawl.KindSearch, why
	o.Answered = &crawl.Answered{Verdict: verdict, Reason: clip(why)}
	switch verdict {
	case crawl.AnswerChanged, crawl.AnswerDenied, crawl.AnswerRefused:
		return
	}
	if resp != nil {
		least = max(least, retryAfter(resp))
	}
	o.Retryable = max(least, l.l.Asked.Rest).Milliseconds()
}

// rest leaves an engine alone that did not answer.
func (l *lease) rest(o *crawl.Outcome) {
	if o.Retryable > 0 {
		l.holdOff(time.Duration(o.Retryable)*time.Millisecond, crawl.EndFailed)
	}
}
