package engine

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"

	"argosy/internal/crawl"
)

// Search is what an engine is asked for.
type Search struct {
	Words []string
	Site  string // a host, or a host and a path, that results are restricted to; empty: everywhere
}

// Ready is an engine whose keys are filled in and checked.
type Ready struct {
	Engine  // as it is after Like
	first   int
	step    int
	enc     encoding.Encoding
	results struct {
		item, link, title, text *selector
		unwrap                  []unwrap
	}
	next           *selector
	stated         *selector
	estimate, more *expr
	empty, blocked []sign
}

// compile checks an engine.
func compile(e Engine) (*Ready, error) {
	r := &Ready{Engine: e}
	fail := func(key string, err error) (*Ready, error) { return nil, &Error{e.Name, key, err} }
	r.defaults()
	if err := r.checkURL(); err != nil {
		return fail("url", err)
	}
	if hasUser(r.Base) {
		return fail("base", errUser)
	}
	if r.Base != "" {
		if u, err := crawl.Parse(r.Base); err != nil || u.Query() != "" {
			return fail("base", fmt.Errorf("%q: not an address of a program, such as https://wiki.example/w", r.Base))
		}
	}
	for _, q := range [][2]string{{"query", r.Query}, {"plain", r.Plain}} {
		if !strings.Contains(q[1], "{words}") {
			return fail(q[0], fmt.Errorf("%q: {words} is missing", q[1]))
		}
	}
	if r.first, r.step = *r.First, *r.Step; r.first < 0 || r.step < 0 || max(r.first, r.step) > maxPage {
		return fail("step", fmt.Errorf("first %d, step %d: want at least 0, at most %d", r.first, r.step, maxPage))
	}
	if r.Limit < 0 {
		return fail("limit", fmt.Errorf("%d: want at least 0", r.Limit))
	}
	var err error
	if r.enc, err = encodingOf(r.Encoding); err != nil {
		return fail("encoding", err)
	}
	if r.Format != "html" && r.Format != "xml" && r.Format != "json" {
		return fail("format", fmt.Errorf("%q: allowed are html, xml and json", r.Format))
	}
	if key, err := r.compileReader(); err != nil {
		return fail(key, err)
	}
	return r, nil
}

func (r *Ready) defaults() {
	for at, value := range map[*string]string{&r.Query: "{words} site:{site}", &r.Plain: "{words}", &r.And: " ", &r.Format: "html", &r.Stated.Kind: "exact"} {
		if *at == "" {
			*at = value
		}
	}
	if r.First == nil {
		r.First = new(int)
	}
	if r.Step == nil {
		r.Step = new(1)
	}
	r.Base = strings.TrimRight(r.Base, "/")
}

func (r *Ready) checkURL() error {
	sent, _, _ := strings.Cut(r.URL, "#")
	switch {
	case hasUser(r.URL):
		return errUser
	case !strings.Contains(r.URL, "{query}"):
		return fmt.Errorf("%q: {query} is missing", r.URL)
	case !strings.Contains(sent, "{query}"):
		return fmt.Errorf("%q: {query} stands behind #, and what stands there is not sent", r.URL)
	case r.counts() && !strings.Contains(sent, "{page}"):
		return fmt.Errorf("%q: {page} stands behind #, and what stands there is not sent", r.URL)
	}
	sample := strings.NewReplacer("{query}", "x", "{page}", "1", "{site}", "x.example", "{base}", "http://x.example").Replace(r.URL)
	if i := strings.IndexAny(sample, "{}"); i >= 0 {
		return fmt.Errorf("%q: allowed in braces are query, page, site and base", r.URL)
	}
	if _, err := crawl.Parse(sample); err != nil {
		return fmt.Errorf("%q: not the address of a search: %w", r.URL, err)
	}
	return nil
}

// errUser refuses an address without printing it.
var errUser = errors.New("there is a user or a password in it: engines are asked without, and what stands in a job is seen by all its nodes")

// hasUser reports whether an address names a user: what stands before an @, up to the path.
func hasUser(address string) bool {
	_, rest, _ := strings.Cut(address, "//")
	end := strings.IndexAny(rest, "/?#\\")
	if end < 0 {
		end = len(rest)
	}
	return strings.Contains(rest[:end], "@")
}

// encodingOf returns the encoding of a label, nil for UTF-8.
func encodingOf(label string) (encoding.Encoding, error) {
	if label == "" {
		return nil, nil
	}
	enc, err := htmlindex.Get(label)
	if err != nil {
		return nil, fmt.Errorf("%q: not known; allowed are the labels of the WHATWG Encoding Standard, such as utf-8, gbk, shift_jis", label)
	}
	switch name, _ := htmlindex.Name(enc); name {
	case "utf-8":
		return nil, nil
	case "replacement", "utf-16be", "utf-16le", "x-user-defined":
		return nil, fmt.Errorf("%q: URLs are not written in it", label)
	}
	return enc, nil
}

// Restricts reports whether the engine can be asked about one site.
func (r *Ready) Restricts() bool {
	return strings.Contains(r.Query, "{site}") || strings.Contains(r.URL, "{site}")
}

// Whereabouts refuses an engine of which nobody has said where it is.
func (r *Ready) Whereabouts() error {
	if strings.Contains(r.URL, "{base}") && r.Base == "" {
		return errors.New("give the address of the program that is asked, in an entry of your own (like: " + r.Name + ", base: https://…; argosy engine add URL makes one)")
	}
	return nil
}

// sign is what stands between words, before it is escaped: it may be written as it stands in an address, where a plus is a space.
func (r *Ready) sign() string {
	if s, err := url.QueryUnescape(r.And); err == nil {
		return s
	}
	return r.And
}

// counts reports whether pages are reached by counting.
func (r *Ready) counts() bool { return strings.Contains(r.URL, "{page}") }

// Address returns that of a page of a search, counted from 0.
func (r *Ready) Address(s Search, page int) (string, error) {
	return r.addressAt(s, r.first+page*r.step)
}

// addressAt is the address of a search with a number for {page}.
func (r *Ready) addressAt(s Search, at int) (string, error) {
	if strings.TrimSpace(strings.Join(s.Words, "")) == "" {
		return "", errors.New("no words to search for")
	}
	if err := r.Whereabouts(); err != nil {
		return "", &Error{r.Name, "base", err}
	}
	q := r.Plain
	if s.Site != "" {
		if err := CheckSite(s.Site); err != nil {
			return "", err
		}
		if !r.Restricts() {
			return "", &Error{r.Name, "query", fmt.Errorf("it cannot be restricted to a site, such as %s", s.Site)}
		}
		q = r.Query
	}
	q = strings.NewReplacer("{words}", strings.Join(s.Words, r.sign()), "{site}", s.Site).Replace(q)
	if r.enc != nil {
		var err error
		if q, err = r.enc.NewEncoder().String(q); err != nil {
			return "", &Error{r.Name, "encoding", fmt.Errorf("%q cannot be written in %s", strings.Join(s.Words, " "), r.Encoding)}
		}
	}
	u := fill(strings.ReplaceAll(r.URL, "{base}", r.Base), "{query}", q)
	return strings.NewReplacer("{page}", strconv.Itoa(at), "{site}", url.QueryEscape(s.Site)).Replace(u), nil
}

// at is the number that stands for {page} in an address of a search; ok is false for an address of another form.
func (r *Ready) at(s Search, address string) (n int, ok bool) {
	const other = maxPage + 1 // stands in no address
	sample, err := r.addressAt(s, other)
	if err != nil {
		return 0, false
	}
	if u, err := crawl.Parse(sample); err == nil {
		sample = u.String()
	}
	if u, err := crawl.Parse(address); err == nil {
		address = u.String()
	}
	before, after, ok := strings.Cut(sample, strconv.Itoa(other))
	if !ok {
		return 0, false
	}
	n, err = strconv.Atoi(strings.TrimSuffix(strings.TrimPrefix(address, before), after))
	return n, err == nil && n >= 0
}

// fill puts a value into an address, escaped as it must be where it stands: in a path a plus is a plus.
func fill(template, place, value string) string {
	escaped := url.QueryEscape(value)
	if before, _, _ := strings.Cut(template, place); !strings.Contains(before, "?") {
		escaped = strings.ReplaceAll(escaped, "+", "%20")
	}
	return strings.ReplaceAll(template, place, escaped)
}

// CheckSite refuses a site that is neither a host nor a host and a path.
func CheckSite(site string) error {
	u, err := crawl.Parse("http://" + site)
	if err != nil || len(site) > 500 || strings.ContainsAny(site, " \t\r\n@?#{}\\:&") && !hostPort.MatchString(site) || strings.Contains(site, "//") {
		return fmt.Errorf("site %q: want a host or a host and a path, such as example.org or example.org/news/", site)
	}
	host := u.Host()
	switch {
	case strings.HasPrefix(site, "*."):
		return fmt.Errorf("site %q: want it without %q: a host means those below it, too", site, "*.")
	case !hostName.MatchString(host) || strings.ContainsFunc(site, unicode.IsControl):
		return fmt.Errorf("site %q: want a host of letters, digits, dots and hyphens, such as example.org, and perhaps a path", site)
	case !strings.Contains(host, ".") && host != "localhost":
		return fmt.Errorf("site %q: want a host with a dot, such as example.org", site)
	}
	return nil
}

// hostName is what a host is called, once names in other scripts are written as they are asked for.
var hostName = regexp.MustCompile(`^[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?(\.[a-z0-9_]([a-z0-9_-]*[a-z0-9_])?)*$`)

// hostPort is a host with a port, and perhaps a path: what programs on a machine of one's own are reached by.
var hostPort = regexp.MustCompile(`^[a-zA-Z0-9.-]+:[0-9]{1,5}(/[^\s@?#{}\\:&]*)?$`)

// On reports whether a URL belongs to a site: its host or one below it, and its path where the site has one.
func On(site string, u crawl.URL) bool {
	want, err := crawl.Parse("http://" + site)
	if err != nil {
		return false
	}
	at, here := u.Site(), want.Site()
	if at != here && !strings.HasSuffix(at, "."+here) {
		return false
	}
	path, under := u.Path(), want.Path()
	return path == under || strings.HasPrefix(path, strings.TrimSuffix(under, "/")+"/")
}
