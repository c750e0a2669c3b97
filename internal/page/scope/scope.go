// Package scope decides what a job admits: its scope, its filters, and the length of URLs. A refusal is a
// verdict with a named reason. It is pure: the frontier asks it for every new link, and asking again later gives
// the same answer, unless a seed's redirect has joined a site in between.
package scope

import (
	"fmt"
	"net/netip"
	"regexp"
	"strings"

	"golang.org/x/net/publicsuffix"

	"argosy/internal/crawl"
)

// Rules are a job's identity, compiled. They are safe for concurrent use as long as nobody calls Join.
type Rules struct {
	scope     crawl.Scope
	places    map[string]bool // sites, hosts, domains, directories or nothing, by scope
	include   []*regexp.Regexp
	exclude   []*regexp.Regexp
	maxLength int
}

// Compile checks and compiles a job's identity. The error names the expression that is wrong.
func Compile(id crawl.Identity, lim crawl.Limits) (*Rules, error) {
	r := &Rules{scope: id.Scope, places: map[string]bool{}, maxLength: lim.MaxURLLength}
	switch id.Scope {
	case crawl.ScopeSite, crawl.ScopeHost, crawl.ScopeDomain, crawl.ScopePrefix, crawl.ScopeAny:
	default:
		return nil, fmt.Errorf("scope %q: allowed are site, host, domain, prefix, any", id.Scope)
	}
	for _, s := range id.Include {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, fmt.Errorf("include %q: %w", s, err)
		}
		r.include = append(r.include, re)
	}
	for _, s := range id.Exclude {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, fmt.Errorf("exclude %q: %w", s, err)
		}
		r.exclude = append(r.exclude, re)
	}
	for _, s := range id.Seeds {
		u, err := crawl.Parse(s)
		if err != nil {
			return nil, fmt.Errorf("seed %q: %w", s, err)
		}
		r.Join(u)
	}
	return r, nil
}

// Limit changes the limits that rules obey.
func (r *Rules) Limit(lim crawl.Limits) { r.maxLength = lim.MaxURLLength }

// Join widens the scope by a seed, or by where one redirects. It reports whether the scope has changed.
func (r *Rules) Join(u crawl.URL) bool {
	p, isNew := r.Place(u)
	if isNew {
		r.places[p] = true
	}
	return isNew
}

// JoinPlace widens the scope by a place that Place named.
func (r *Rules) JoinPlace(p string) { r.places[p] = true }

// Place returns what the scope compares of a URL, the site, the host, the registrable domain or the directory, and reports
// whether Join would widen the scope by it.
func (r *Rules) Place(u crawl.URL) (place string, isNew bool) {
	if r.scope == crawl.ScopeAny {
		return "", false
	}
	p := r.place(u)
	return p, !r.places[p]
}

func (r *Rules) place(u crawl.URL) string {
	switch r.scope {
	case crawl.ScopePrefix:
		return schemeless(u.Dir())
	case crawl.ScopeHost:
		return u.Host()
	case crawl.ScopeDomain:
		return Domain(u.Host())
	}
	return u.Site()
}

// Domain returns the registrable domain of a host; of an address, or of a name without a dot, the host itself.
func Domain(host string) string {
	if _, err := netip.ParseAddr(strings.Trim(host, "[]")); err == nil {
		return host
	}
	d, err := publicsuffix.EffectiveTLDPlusOne(host)
	if err != nil {
		return host
	}
	return d
}

// schemeless drops the scheme: http and https of a host are one for scope.
func schemeless(s string) string {
	_, rest, _ := strings.Cut(s, "://")
	return rest
}

// InScope reports whether a URL lies in the job's scope, before any filter.
func (r *Rules) InScope(u crawl.URL) bool {
	switch r.scope {
	case crawl.ScopeAny:
		return true
	case crawl.ScopePrefix:
		s := schemeless(u.Origin() + u.Path())
		for i := range len(s) {
			if s[i] == '/' && r.places[s[:i+1]] {
				return true
			}
		}
		return false
	}
	return r.places[r.place(u)]
}

// Check decides whether a job admits a URL. Seeds (flags) are what the user named: nothing keeps them out. A sitemap is
// what the site named: it may lie outside the scope, and need not match an include.
func (r *Rules) Check(u crawl.URL, flags uint8) crawl.Verdict {
	s := u.String()
	sitemap := flags&crawl.FlagSitemap != 0
	switch {
	case flags&crawl.FlagSeed != 0:
		return crawl.Verdict{}
	case len(s) > r.maxLength:
		return crawl.Verdict{Reason: crawl.ReasonTrapLength}
	case !sitemap && !r.InScope(u):
		return crawl.Verdict{Reason: crawl.ReasonScope}
	}
	for _, re := range r.exclude {
		if re.MatchString(s) {
			return crawl.Verdict{Reason: crawl.ReasonExclude, Detail: re.String()}
		}
	}
	if len(r.include) > 0 && !sitemap {
		ok := false
		for _, re := range r.include {
			ok = ok || re.MatchString(s)
		}
		if !ok {
			return crawl.Verdict{Reason: crawl.ReasonInclude}
		}
	}
	return crawl.Verdict{}
}
