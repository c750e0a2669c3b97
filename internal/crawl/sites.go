package crawl

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"net/netip"
	"regexp"
	"slices"
	"strings"
)

// SiteRule says what a job does differently on some sites. Of several rules that match a site all count: of a limit or a header the
// last one that sets it, and a URL must pass the filters of each. Include and Exclude never change once the job is submitted.
type SiteRule struct {
	Hosts   []string         `cbor:"1,keyasint" json:"hosts"`                      // patterns: HOST, HOST:PORT, *.DOMAIN or *
	Limits  map[string]int64 `cbor:"2,keyasint,omitempty" json:"limits,omitempty"` // by name: those of SiteLimits
	Headers []Header         `cbor:"3,keyasint,omitempty" json:"headers,omitempty"`
	Include []string         `cbor:"4,keyasint,omitempty" json:"include,omitempty"` // RE2
	Exclude []string         `cbor:"5,keyasint,omitempty" json:"exclude,omitempty"` // RE2
}

// Header is a field of requests.
type Header struct {
	Name  string `cbor:"1,keyasint" json:"name"`
	Value string `cbor:"2,keyasint" json:"value"`
}

// SiteLimits are the names of limits that a site may have of its own: those of its pace, of how much is taken, and of the patience with it.
var SiteLimits = []string{
	"delay", "max_crawl_delay", "site_pages", "max_sitemaps", "site_connections",
	"retries", "backoff", "connect_timeout", "tls_timeout", "header_timeout", "body_timeout", "min_rate",
}

// Bounds of what rules say.
const (
	MaxSiteRules   = 1000
	maxSiteHosts   = 10_000 // of all rules
	maxSiteHeaders = 32
	maxHeader      = 4096
)

// reserved are fields that are not a job's to set: those of the protocol, the one that is the job's own, and secrets, which a job
// does not keep.
var reserved = map[string]string{
	"host": "this field is ours to set", "connection": "this field is ours to set", "content-length": "this field is ours to set",
	"transfer-encoding": "this field is ours to set", "accept-encoding": "this field is ours to set",
	"user-agent":    "it is the job's (fetch.user_agent), for robots.txt names it",
	"authorization": "secrets are not for jobs, which keep them: use --header of the nodes", "proxy-authorization": "secrets are not for jobs, which keep them",
	"cookie": "secrets are not for jobs, which keep them: use --cookies of the nodes",
}

// KeyError is a mistake in what a file has under a key.
type KeyError struct {
	Key string
	Err error
}

func (e *KeyError) Error() string { return e.Key + ": " + e.Err.Error() }

// Unwrap returns the mistake.
func (e *KeyError) Unwrap() error { return e.Err }

// Check returns why a rule is refused: a KeyError.
func (s *SiteRule) Check() error {
	for _, name := range slices.Sorted(maps.Keys(s.Limits)) { // first: of a name that is mistaken another may be missing
		l, ok := LimitNamed(name)
		if !ok || !slices.Contains(SiteLimits, name) {
			return &KeyError{name, fmt.Errorf("allowed are hosts, headers, include, exclude, %s", strings.Join(SiteLimits, ", "))}
		}
		if err := l.Check(s.Limits[name]); err != nil {
			return &KeyError{name, err}
		}
	}
	if len(s.Hosts) == 0 {
		return &KeyError{"hosts", errors.New("name at least one")}
	}
	for _, h := range s.Hosts {
		if err := checkPattern(h); err != nil {
			return &KeyError{"hosts", fmt.Errorf("%q: %w", h, err)}
		}
	}
	if len(s.Headers) > maxSiteHeaders {
		return &KeyError{"headers", fmt.Errorf("%d; allowed are %d", len(s.Headers), maxSiteHeaders)}
	}
	for _, h := range s.Headers {
		if err := h.check(); err != nil {
			return &KeyError{"headers", fmt.Errorf("%q: %w", h.Name, err)}
		}
	}
	if len(s.Include)+len(s.Exclude) > maxFilters {
		return &KeyError{"include", fmt.Errorf("allowed are %d expressions, with those of exclude", maxFilters)}
	}
	if _, err := Expressions("include", s.Include); err != nil {
		return err
	}
	_, err := Expressions("exclude", s.Exclude)
	return err
}

// Expressions compiles those of a filter; name is what the person who wrote them calls it.
func Expressions(name string, from []string) (out []*regexp.Regexp, err error) {
	for _, s := range from {
		re, err := regexp.Compile(s)
		if err != nil {
			return nil, &KeyError{name, fmt.Errorf("%q: %s; want an expression of RE2, in which \\ stands before a sign that is meant as such", s, strings.TrimPrefix(err.Error(), "error parsing regexp: "))}
		}
		out = append(out, re)
	}
	return out, nil
}

func (h *Header) check() error {
	token := h.Name != ""
	for i := range len(h.Name) { // RFC 9110, section 5.6.2
		b := h.Name[i]
		token = token && (b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b >= '0' && b <= '9' || strings.IndexByte("!#$%&'*+-.^_`|~", b) >= 0)
	}
	switch {
	case !token:
		return fmt.Errorf("not the name of a field")
	case strings.ContainsFunc(h.Value, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
		return fmt.Errorf("its value has control characters")
	case len(h.Name)+len(h.Value) > maxHeader:
		return fmt.Errorf("longer than %d bytes", maxHeader)
	}
	if why := reserved[strings.ToLower(h.Name)]; why != "" {
		return fmt.Errorf("%s", why)
	}
	return nil
}

// checkPattern refuses what no site's name can match.
func checkPattern(p string) error {
	rest := strings.TrimPrefix(p, "*.")
	if p == "*" {
		return nil
	}
	u, err := Parse("http://" + rest + "/")
	if err != nil || u.Site() != rest || u.RequestURI() != "/" || strings.Contains(rest, "*") {
		return fmt.Errorf("allowed are host names in lower case, HOST:PORT, *.DOMAIN and *")
	}
	if _, err := netip.ParseAddr(u.Host()); err == nil && rest != p {
		return fmt.Errorf("an address has no names below it")
	}
	return nil
}

// Sites finds the rules of a site.
type Sites struct {
	rules  []SiteRule
	exact  map[string][]int // by host, host:port and *.domain
	always []int
}

// NewSites makes ready for finding rules.
func NewSites(rules []SiteRule) *Sites {
	s := &Sites{rules: rules, exact: map[string][]int{}}
	for i := range rules {
		for _, h := range rules[i].Hosts {
			if h == "*" {
				s.always = append(s.always, i)
			} else {
				s.exact[h] = append(s.exact[h], i)
			}
		}
	}
	return s
}

// Of returns the rules that match a site, by its name, in their order.
func (s *Sites) Of(site string) []*SiteRule {
	if len(s.rules) == 0 {
		return nil
	}
	hit := slices.Clone(s.always)
	for p := range patternsOf(site) {
		hit = append(hit, s.exact[p]...)
	}
	slices.Sort(hit)
	var out []*SiteRule
	for _, i := range slices.Compact(hit) {
		out = append(out, &s.rules[i])
	}
	return out
}

// patternsOf yields the patterns that match a site, but for *.
func patternsOf(site string) iter.Seq[string] {
	return func(yield func(string) bool) {
		host := site
		if i := strings.LastIndexByte(site, ':'); i > 0 && !strings.HasSuffix(site, "]") {
			host = site[:i]
			if !yield(site) {
				return
			}
		}
		for p, rest, more := host, host, true; more && yield(p); p = "*." + rest {
			_, rest, more = strings.Cut(rest, ".")
		}
	}
}

// Unmatched returns the patterns of rules that match none of the sites, in the order of the rules.
func Unmatched(rules []SiteRule, sites iter.Seq[string]) (out []string) {
	matched := map[string]bool{"*": true}
	for site := range sites {
		for p := range patternsOf(site) {
			matched[p] = true
		}
	}
	for i := range rules {
		for _, h := range rules[i].Hosts {
			if !matched[h] {
				out = append(out, h)
			}
		}
	}
	return out
}

// Limits returns a job's limits on a site.
func (s *Sites) Limits(l Limits, site string) Limits {
	for _, r := range s.Of(site) {
		for name, n := range r.Limits {
			if d, ok := LimitNamed(name); ok {
				d.Set(&l, n)
			}
		}
	}
	return l
}

// Headers returns what requests to a site say besides.
func (s *Sites) Headers(site string) (out []Header) {
	for _, r := range s.Of(site) {
		for _, h := range r.Headers {
			out = slices.DeleteFunc(out, func(o Header) bool { return strings.EqualFold(o.Name, h.Name) })
			out = append(out, h)
		}
	}
	return out
}

// Filters returns the rules with what makes a job this job: their hosts and filters, of those that have any.
func Filters(rules []SiteRule) (out []SiteRule) {
	for _, r := range rules {
		if len(r.Include)+len(r.Exclude) > 0 {
			out = append(out, SiteRule{Hosts: r.Hosts, Include: r.Include, Exclude: r.Exclude})
		}
	}
	return out
}

// Merge returns rules with changes to them: a change of the same hosts is made to the last rule that has them, key by key, and others stand
// behind all rules, so that they count most.
func Merge(rules, changes []SiteRule) []SiteRule {
	out := slices.Clone(rules)
	for _, c := range changes {
		at := -1
		for i := range out {
			if slices.Equal(out[i].Hosts, c.Hosts) {
				at = i
			}
		}
		if at < 0 {
			out = append(out, c)
			continue
		}
		of := &out[at]
		limits := maps.Clone(of.Limits)
		if limits == nil {
			limits = map[string]int64{}
		}
		maps.Copy(limits, c.Limits)
		of.Limits, of.Headers = limits, slices.Clone(of.Headers)
		for _, h := range c.Headers {
			of.Headers = slices.DeleteFunc(of.Headers, func(was Header) bool { return strings.EqualFold(was.Name, h.Name) })
			of.Headers = append(of.Headers, h)
		}
		if c.Include != nil {
			of.Include = c.Include
		}
		if c.Exclude != nil {
			of.Exclude = c.Exclude
		}
	}
	return out
}

// SameFilters reports whether two lists of rules filter alike.
func SameFilters(a, b []SiteRule) bool {
	return slices.EqualFunc(Filters(a), Filters(b), func(x, y SiteRule) bool {
		return slices.Equal(x.Hosts, y.Hosts) && slices.Equal(x.Include, y.Include) && slices.Equal(x.Exclude, y.Exclude)
	})
}

// checkSites returns why rules are refused.
func checkSites(rules []SiteRule) error {
	if len(rules) > MaxSiteRules {
		return fmt.Errorf("sites: %d; allowed are %d", len(rules), MaxSiteRules)
	}
	hosts := 0
	for i := range rules {
		if err := rules[i].Check(); err != nil {
			return fmt.Errorf("sites[%d]: %w", i, err)
		}
		hosts += len(rules[i].Hosts)
	}
	if hosts > maxSiteHosts {
		return fmt.Errorf("sites: %d hosts; allowed are %d", hosts, maxSiteHosts)
	}
	return nil
}
