package engine

import (
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// Answer is what an engine answered.
type Answer struct {
	URL    string // after redirects
	Status int
	Type   string // Content-Type
	Body   []byte // without content coding
}

// Verdict is what an answer turned out to be.
type Verdict string

// Verdicts.
const (
	Found   Verdict = "found"   // there are results
	Empty   Verdict = "empty"   // the engine has none, or no more
	Blocked Verdict = "blocked" // it does not want to be asked: nothing is solved or evaded
	Changed Verdict = "changed" // it states or shows results, and none can be read: its markup is not what the catalogue says
	Failed  Verdict = "failed"  // it is not an answer to a search
)

// Result is one result.
type Result struct {
	URL   string `json:"url"` // canonical
	Title string `json:"title,omitempty"`
	Text  string `json:"text,omitempty"`
}

// Reading is what was read out of an answer.
type Reading struct {
	Verdict Verdict      `json:"verdict"`
	Reason  string       `json:"reason,omitempty"` // why it is not Found
	Results []Result     `json:"results,omitempty"`
	Next    string       `json:"next,omitempty"`    // address of the next page, as the answer gives it
	Stated  crawl.Stated `json:"stated"`            // how many results there are
	Dropped int          `json:"dropped,omitempty"` // results without an address that can be fetched
	Cut     bool         `json:"cut,omitempty"`     // there are more results than the MaxResults that are read of an answer

	unsigned bool // it has no results, and not what the entry says that an answer without results has; or, named by a page with results, it states some
}

// Read reads an answer. later says that it is not the first page of its search: after the last page there may be nothing.
func (r *Ready) Read(a Answer, later bool) Reading {
	out := Reading{Stated: crawl.Stated{Kind: crawl.StatedMissing}}
	end := func(v Verdict, format string, args ...any) Reading {
		out.Verdict, out.Reason = v, fmt.Sprintf(format, args...)
		return out
	}
	base, err := crawl.Parse(a.URL)
	if err != nil {
		return end(Failed, "%q is not an address", a.URL)
	}
	d, broken := open(r.Format, a.Body, a.Type)
	for i := range r.blocked {
		if r.blocked[i].holds(a, d) {
			return end(Blocked, "%s", r.blocked[i].says())
		}
	}
	switch {
	case d != nil && d.steps < 0:
		return end(Failed, "blocked: %v", errSteps)
	case a.Status == 403, a.Status == 429, a.Status == 503:
		return end(Blocked, "answered %s", status(a.Status))
	case a.Status != 200:
		return end(Failed, "answered %s", status(a.Status))
	case broken != nil:
		return end(Failed, "%v", broken)
	}
	root := found{node: d.tree, value: d.value, root: true}
	if err := r.number(d, root, &out); err != nil {
		return end(Failed, "stated: %v", err)
	}
	items, err := r.take(d, root, base, &out)
	if err != nil {
		return end(Failed, "results: %v", err)
	}
	if r.next != nil {
		v, ok, err := r.next.first(d, root)
		if err != nil {
			return end(Failed, "next: %v", err)
		}
		if ok {
			out.Next = r.follow(base, v)
		}
	}
	if out = r.judge(a, d, items, later, out); d.steps < 0 {
		return end(Failed, "%v", errSteps)
	}
	return out
}

// judge says what an answer is that could be read.
func (r *Ready) judge(a Answer, d *document, items int, later bool, out Reading) Reading {
	none := false
	for i := range r.empty {
		none = none || r.empty[i].holds(a, d)
	}
	out.Verdict = Empty
	switch {
	case len(out.Results) > 0:
		out.Verdict = Found
	case none || out.Stated.Kind != crawl.StatedMissing && out.Stated.N == 0:
		if out.Reason = "no results"; later {
			out.Reason = "no more results"
		} else if out.Stated.Kind == crawl.StatedMissing {
			out.Stated = crawl.Stated{Kind: crawl.StatedExact}
		}
	case items > 0:
		out.Verdict, out.Reason = Changed, fmt.Sprintf("%d results, none with an address that can be fetched", items)
	case later:
		out.Reason, out.unsigned = "no more results", len(r.empty) > 0 || r.next != nil && out.Stated.N > 0
	case out.Stated.Kind != crawl.StatedMissing && out.Stated.N > 0:
		out.Verdict, out.Reason = Changed, fmt.Sprintf("%s results stated, none found in the answer", out.Stated)
	case r.stated != nil || len(r.empty) > 0:
		out.Verdict, out.Reason = Changed, "neither results nor what an answer without results has"
	default:
		out.Reason = "no results"
	}
	return out
}

// take collects the results, each address once, and says how many there would have been.
func (r *Ready) take(d *document, root found, base crawl.URL, out *Reading) (items int, err error) {
	if r.Results.Any {
		return r.away(d, base, out)
	}
	base = d.base(base)
	seen := map[string]bool{}
	add := func(link found, of *found) {
		v, ok := r.results.link.value(d, link)
		u, err := r.leads(d, base, v)
		switch {
		case !ok || err != nil:
			out.Dropped++
		case !seen[u.String()]:
			seen[u.String()] = true
			res := Result{URL: u.String()}
			if of != nil {
				res.Title, res.Text = said(d, r.results.title, *of), said(d, r.results.text, *of)
			}
			out.Results = append(out.Results, res)
		}
	}
	if r.results.item == nil {
		d.cut = false
		links, err := r.results.link.all(d, root)
		out.Cut = d.cut
		for _, l := range links {
			add(l, nil)
		}
		return len(links), err
	}
	d.cut = false
	places, err := r.results.item.all(d, root)
	out.Cut = d.cut
	if err != nil {
		return 0, err
	}
	for i := range places {
		links, err := r.results.link.all(d, places[i])
		if err != nil {
			return 0, err
		}
		if len(links) == 0 {
			out.Dropped++
			continue
		}
		add(links[0], &places[i])
	}
	return len(places), nil
}

// away takes all links to other hosts.
func (r *Ready) away(d *document, base crawl.URL, out *Reading) (int, error) {
	from := d.base(base)
	seen := map[string]bool{}
	for _, f := range anchors(d.tree, nil) {
		u, err := r.leads(d, from, f)
		if err != nil || u.Host() == base.Host() || seen[u.String()] {
			continue
		}
		if len(out.Results) == MaxResults {
			out.Cut = true
			break
		}
		seen[u.String()] = true
		out.Results = append(out.Results, Result{URL: u.String()})
	}
	return len(out.Results), nil
}

func said(d *document, s *selector, at found) string {
	if s == nil {
		return ""
	}
	v, _, err := s.first(d, at)
	if err != nil {
		return ""
	}
	if v = parse.CleanTitle(v); len(v) > maxText {
		v = strings.ToValidUTF8(v[:maxText], "")
	}
	return v
}

// leads is where a link of a result leads.
func (r *Ready) leads(d *document, base crawl.URL, link string) (crawl.URL, error) {
	if len(link) > 2*crawl.MaxURLLength || !d.afford(100+len(link)) {
		return crawl.URL{}, errLarge
	}
	return base.Resolve(r.unwrap(link))
}

// unwrap has the address of a result out of one that leads through the engine.
func (r *Ready) unwrap(link string) string {
	for _, w := range r.results.unwrap {
		if m := w.match.FindStringSubmatchIndex(link); m != nil {
			if v, ok := decode(w.decode, group(link, m)); ok && v != "" {
				return v
			}
		}
	}
	return link
}

// follow makes the address of the next page; it must be on the site of this one.
func (r *Ready) follow(base crawl.URL, v string) string {
	if p := r.Next.Set; p != "" {
		u, err := url.Parse(base.String())
		if err != nil {
			return ""
		}
		q := u.Query()
		q.Set(p, v)
		u.RawQuery = q.Encode()
		v = u.String()
	}
	next, err := base.Resolve(v)
	if err != nil || next.Site() != base.Site() || next == base {
		return ""
	}
	return next.String()
}

// number reads the stated number.
func (r *Ready) number(d *document, root found, out *Reading) error {
	if r.stated == nil {
		return nil
	}
	fs, err := r.stated.all(d, root)
	if err != nil {
		return err
	}
	for _, f := range fs {
		v, ok := r.stated.value(d, f)
		if !ok {
			continue
		}
		n, rounded, ok := number(v)
		if !ok {
			continue
		}
		out.Stated = crawl.Stated{N: n, Kind: r.Stated.Kind}
		whole := v
		if f.node != nil {
			whole = d.flat(f.node)
		}
		switch {
		case r.more != nil && r.more.MatchString(whole):
			out.Stated.Kind = crawl.StatedMore
		case rounded, r.estimate != nil && r.estimate.MatchString(whole):
			out.Stated.Kind = crawl.StatedEstimate
		}
		return nil
	}
	return nil
}

// figures is a number as people write it: digits, perhaps in groups, perhaps with a unit.
var figures = regexp.MustCompile(`(\d{1,3}(?: \d{3})+|\d{1,3}(?:[.,'’\x{a0}\x{2009}\x{202f}]\d{2,3})*[.,'’\x{a0}\x{2009}\x{202f}]\d{3}|\d+)(?:[.,](\d{1,2}))?\s*([万萬亿億kKmM]\b|[万萬亿億]|(?i:thousand|million|billion|tsd|tis|tys|mio|mln|mrd|mld)\b|(?i:тыс|млн|млрд))?`)

// units are what stands behind a rounded number.
var units = map[string]int64{"万": 1e4, "萬": 1e4, "亿": 1e8, "億": 1e8, "k": 1e3, "K": 1e3, "m": 1e6, "M": 1e6, "thousand": 1e3, "million": 1e6, "billion": 1e9, "tsd": 1e3, "mio": 1e6, "mrd": 1e9, "tis": 1e3, "tys": 1e3, "mln": 1e6, "mld": 1e9, "тыс": 1e3, "млн": 1e6, "млрд": 1e9}

// maxNumber bounds a stated number: what is larger counts nothing.
const maxNumber = 1e12

// below and beyond are what stands before and behind a number that counts nothing, or behind a part of one.
var (
	below  = regexp.MustCompile(`(?:^|\s)[-−]$`)
	beyond = regexp.MustCompile(`^(?:[eE][+-]?|[ .,'’\x{a0}\x{2009}\x{202f}])?\d`)
)

// number reads the first number of a text; rounded says that it has a unit, as in 1.2万.
func number(s string) (n int64, rounded, ok bool) {
	at := figures.FindStringSubmatchIndex(s)
	if at == nil || below.MatchString(s[:at[0]]) || beyond.MatchString(s[at[1]:]) {
		return 0, false, false
	}
	m := figures.FindStringSubmatch(s)
	digits := strings.Map(func(r rune) rune {
		if r < '0' || r > '9' {
			return -1
		}
		return r
	}, m[1])
	unit, rounded := units[m[3]]
	if !rounded {
		unit, rounded = units[strings.ToLower(m[3])]
	}
	if rounded {
		digits += "." + m[2]
	} else {
		unit = 1
	}
	x, err := strconv.ParseFloat(digits, 64)
	if x *= float64(unit); err != nil || x > maxNumber {
		return 0, false, false
	}
	return int64(x + 0.5), rounded, true
}

// statuses are the names of those that engines answer with when they do not answer.
var statuses = map[int]string{403: " Forbidden", 404: " Not Found", 429: " Too Many Requests", 500: " Internal Server Error", 502: " Bad Gateway", 503: " Service Unavailable"}

func status(code int) string { return strconv.Itoa(code) + statuses[code] }

type unwrap struct {
	match  *expr
	decode string
}

// sign is a Sign that has been read.
type sign struct {
	of       Sign
	location *expr
	at       *selector
}

func (s *sign) holds(a Answer, d *document) bool {
	if s.of.Status != 0 && s.of.Status != a.Status || s.location != nil && !s.location.MatchString(a.URL) {
		return false
	}
	if s.at == nil {
		return true
	}
	if d == nil || d.tree == nil && d.value == nil && s.at.regex == nil {
		return false
	}
	fs, err := s.at.all(d, found{node: d.tree, value: d.value, root: true})
	for _, f := range fs {
		if _, ok := s.at.value(d, f); ok || s.of.At.Match == "" {
			return err == nil
		}
	}
	return false
}

func (s *sign) says() string {
	switch {
	case s.of.Says != "":
		return s.of.Says
	case s.at != nil:
		return "the answer has " + s.of.At.name()
	case s.location != nil:
		return fmt.Sprintf("the answer came from an address like %q", s.of.Location)
	}
	return "answered " + status(s.of.Status)
}

// compileReader reads the selectors; it returns the key of one that cannot be read.
func (r *Ready) compileReader() (key string, err error) {
	if r.Results.Any && r.Format != "html" {
		return "results.any", errors.New("links are found in html only")
	}
	item := !r.Results.Item.empty()
	for _, s := range []struct {
		key  string
		of   Selector
		to   **selector
		need bool
		self bool
	}{
		{"results.item", r.Results.Item, &r.results.item, false, false},
		{"results.link", r.Results.Link, &r.results.link, !r.Results.Any, item},
		{"results.title", r.Results.Title, &r.results.title, false, item},
		{"results.text", r.Results.Text, &r.results.text, false, item},
		{"next", r.Next, &r.next, false, false},
		{"stated.at", r.Stated.At, &r.stated, false, false},
	} {
		if s.of.empty() && !s.need {
			continue
		}
		if *s.to, err = s.of.read(r.Format, s.self); err != nil {
			return s.key, err
		}
		if s.of.Set != "" && s.key != "next" {
			return s.key, errors.New("set: only the next page is had by setting a parameter")
		}
	}
	if k := r.Stated.Kind; k != crawl.StatedExact && k != crawl.StatedEstimate && k != crawl.StatedMore {
		return "stated.kind", fmt.Errorf("%q: allowed are exact, estimate and more", k)
	}
	if r.estimate, err = expression("estimate", r.Stated.Estimate); err != nil {
		return "stated", err
	}
	if r.more, err = expression("more", r.Stated.More); err != nil {
		return "stated", err
	}
	for i, w := range r.Results.Unwrap {
		key = fmt.Sprintf("results.unwrap[%d]", i)
		re, err := expression("match", w.Match)
		if err == nil && re == nil {
			err = errors.New("match is missing")
		}
		if err == nil {
			err = checkDecode(w.Decode)
		}
		if err != nil {
			return key, err
		}
		r.results.unwrap = append(r.results.unwrap, unwrap{re, w.Decode})
	}
	if r.empty, key, err = readSigns("empty", r.Empty, r.Format); err != nil {
		return key, err
	}
	r.blocked, key, err = readSigns("blocked", r.Blocked, r.Format)
	return key, err
}

func readSigns(name string, of []Sign, format string) (out []sign, key string, err error) {
	for i, s := range of {
		key = fmt.Sprintf("%s[%d]", name, i)
		one := sign{of: s}
		if s.Status == 0 && s.Location == "" && s.At.empty() {
			return nil, key, errors.New("want status, location or at")
		}
		if one.location, err = expression("location", s.Location); err != nil {
			return nil, key, err
		}
		if !s.At.empty() {
			if one.at, err = s.At.read(format, false); err != nil {
				return nil, key + ".at", err
			}
		}
		out = append(out, one)
	}
	return out, "", nil
}
