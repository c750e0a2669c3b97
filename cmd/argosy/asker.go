package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/agent"
	"argosy/internal/page/engine"
	"argosy/internal/page/fetch"
	"argosy/internal/page/robots"
)

// asker asks sites beside a crawl, one request after the other: each site on its clock, robots.txt first.
type asker struct {
	client *fetch.Client
	limits func(site string) crawl.Limits // the delay between two requests to a site, and up to which a Crawl-delay is obeyed
	slow   map[string]time.Duration       // sites that want a longer one
	agent  string
	last   map[string]time.Time    // of each site
	rules  map[string]robots.Rules // of each origin that was asked
	had    *agent.Had              // keeps pages for the crawl that follows; nil: nobody does
}

func newAsker(cl *fetch.Client, delay time.Duration, agent string) asker {
	limits := func(string) crawl.Limits { return crawl.Limits{Delay: delay, MaxCrawlDelay: time.Minute} }
	return asker{client: cl, limits: limits, slow: map[string]time.Duration{}, agent: agent, last: map[string]time.Time{}, rules: map[string]robots.Rules{}}
}

// maxHops bounds redirects, as of robots.txt (RFC 9309, section 2.3.1.2).
const maxHops = 5

// errDisallowed says that robots.txt disallows a URL.
var errDisallowed = errors.New("robots.txt disallows it")

func (a *asker) fields() []fetch.Field {
	accept := "*/*"
	if a.had != nil {
		accept = agent.Accept
	}
	return []fetch.Field{{Name: "User-Agent", Value: a.agent}, {Name: "Accept", Value: accept}}
}

func (a *asker) turn(site string) fetch.Turn {
	return func(ctx context.Context) error {
		wait := a.between(site) - time.Since(a.last[site])
		if a.last[site].IsZero() || wait < 0 {
			wait = 0
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(wait):
		}
		a.last[site] = time.Now()
		return nil
	}
}

// between is the time between two requests to a site.
func (a *asker) between(site string) time.Duration {
	return max(a.limits(site).Delay, a.slow[site])
}

// rest waits until no site would be asked too soon by somebody else: what begins then has clocks of its own.
func (a *asker) rest(ctx context.Context) error {
	wait := time.Duration(0)
	for site, at := range a.last {
		wait = max(wait, a.between(site)-time.Since(at))
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(wait):
		return nil
	}
}

// allowed asks whether robots.txt allows a URL, and takes the site's crawl delay where it is longer than ours.
func (a *asker) allowed(ctx context.Context, u crawl.URL) error {
	rules, ok := a.rules[u.Origin()]
	if !ok {
		ru, err := u.Resolve("/robots.txt")
		if err != nil {
			return err
		}
		got, err := a.get(ctx, ru, true, robots.MaxSize)
		switch {
		case err != nil:
			return fmt.Errorf("robots.txt: %w", err)
		case got.Status >= 500:
			return fmt.Errorf("robots.txt: %d %s: the site is not asked", got.Status, http.StatusText(got.Status))
		case got.Status == http.StatusOK:
			rules = robots.Parse(got.Body, robots.Product(a.agent))
		}
		a.rules[u.Origin()] = rules
		if rules.HasDelay {
			a.slow[u.Site()] = max(a.slow[u.Site()], min(rules.Delay, a.limits(u.Site()).MaxCrawlDelay))
		}
	}
	if !rules.Allowed(u.RequestURI()) {
		return errDisallowed
	}
	return nil
}

// get fetches a URL and follows redirects; what is longer than most bytes is cut there.
func (a *asker) get(ctx context.Context, u crawl.URL, ignoreRobots bool, most int64) (engine.Answer, error) {
	for range maxHops + 1 {
		if !ignoreRobots {
			if err := a.allowed(ctx, u); err != nil {
				return engine.Answer{URL: u.String()}, err
			}
		}
		got, to, err := a.once(ctx, u, most)
		if err != nil || to == "" {
			return got, err
		}
		if u, err = u.Resolve(to); err != nil {
			return got, fmt.Errorf("a redirect to %q: %w", to, err)
		}
	}
	return engine.Answer{}, fmt.Errorf("more than %d redirects", maxHops)
}

// once fetches a URL; to is where the answer redirects.
func (a *asker) once(ctx context.Context, u crawl.URL, most int64) (got engine.Answer, to string, err error) {
	if err := a.turn(u.Site())(ctx); err != nil {
		return got, "", err
	}
	s := a.client.Open(nil)
	defer s.Close()
	req := &fetch.Request{URL: u, Fields: a.fields()}
	resp, err := s.Do(ctx, req)
	if err != nil || a.had == nil || u.RequestURI() == "/robots.txt" || !a.had.Put(req, resp) {
		defer resp.Release()
	}
	if err != nil {
		return got, "", err
	}
	body, err := resp.Decoded(most)
	if err != nil && crawl.KindOf(err) != crawl.KindBomb && !errors.Is(err, fetch.ErrNotCoded) {
		return got, "", err
	}
	got = engine.Answer{URL: u.String(), Status: resp.Status, Type: resp.Get("Content-Type"), Body: append([]byte(nil), body...)}
	if resp.Redirects() {
		to = resp.Get("Location")
	}
	return got, to, nil
}
