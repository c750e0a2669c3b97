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
	filter                    // of all sites
	sites     *crawl.Sites
	of        map[string]filter // of sites, by rule: the text of its expressions
	maxLength int
}

// Compile checks and compiles a job's identity. The error names the expression that is wrong.
func Compile(id crawl.Identity, lim crawl.Limits, sites ...crawl.SiteRule) (*Rules, error) {
	r := &Rules{scope: id.Scope, places: map[string]bool{}, maxLength: lim.MaxURLLength, sites: crawl.NewSites(crawl.Filters(sites)), of: map[string]filter{}}
	switch id.Scope {
	case crawl.ScopeSite, crawl.ScopeHost, crawl.ScopeDomain, crawl.ScopePrefix, crawl.ScopeAny:
	default:
		return nil, fmt.Errorf("scope %q: allowed are site, host, domain, prefix, any", id.Scope)
	}
	var err error
	if r.filter, err = compile(id.Include, id.Exclude); err != nil {
		return nil, err
	}
	for _, rule := range crawl.Filters(sites) {
		if r.of[key(&rule)], err = compile(rule.Include, rule.Exclude); err != nil {
			return nil, fmt.Errorf("sites: %w", err)
		}
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

// filter is what lets URLs pass.
type filter struct{ include, exclude []*regexp.Regexp }

func compile(include, exclude []string) (f filter, err error) {
	if f.include, err = crawl.Expressions("include", include); err == nil {
		f.exclude, err = crawl.Expressions("exclude", exclude)
	}
	return f, err
}

// key tells the filters of rules apart.
func key(r *crawl.SiteRule) string {
	return strings.Join(r.Include, "\n") + "\n\n" + strings.Join(r.Exclude, "\n")
}

// check decides whether a URL passes; sitemaps need not match an include.
func (f *filter) check(s string, sitemap bool) crawl.Verdict {
	for _, re := range f.exclude {
		if re.MatchString(s) {
			return crawl.Verdict{Reason: crawl.ReasonExclude, Detail: re.String()}
		}
	}
	if len(f.include) == 0 || sitemap {
		return crawl.Verdict{}
	}
	for _, re := range f.include {
		if re.MatchString(s) {
			return crawl.Verdict{}
		}
	}
	return crawl.Verdict{Reason: crawl.ReasonInclude}
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

// SiteDomain is Domain of a site, which may have a port.
func SiteDomain(site string) string { return Domain(crawl.HostOf(site)) }

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

// Between returns the narrowest scope, from site on, in which a seed's site has a URL.
func Between(seed, u crawl.URL) crawl.Scope {
	switch {
	case seed.Site() == u.Site():
		return crawl.ScopeSite
	case seed.Host() == u.Host():
		return crawl.ScopeHost
	case Domain(seed.Host()) == Domain(u.Host()):
		return crawl.ScopeDomain
	}
	return crawl.ScopeAny
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
// what the site named: it may lie outside the scope, and need not match an include. What a page needs may lie outside the scope.
func (r *Rules) Check(u crawl.URL, flags uint8) crawl.Verdict {
	s := u.String()
	sitemap := flags&crawl.FlagSitemap != 0
	switch {
	case flags&crawl.FlagSeed != 0:
		return crawl.Verdict{}
	case len(s) > r.maxLength:
		return crawl.Verdict{Reason: crawl.ReasonTrapLength}
	case !sitemap && !r.InScope(u) && (crawl.ResourceLevel(flags) == 0 || crawl.ResourceLevel(flags) > crawl.MaxResource):
		return crawl.Verdict{Reason: crawl.ReasonScope}
	}
	v := r.filter.check(s, sitemap)
	for _, rule := range r.sites.Of(u.Site()) {
		if f := r.of[key(rule)]; v.OK() {
			v = f.check(s, sitemap)
		}
	}
	return v
}
