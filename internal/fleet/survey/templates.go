package survey

import (
	"cmp"
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// Template is what URLs of a site look like, and what those brought.
type Template struct {
	Site     string `json:"site"`
	Template string `json:"template"`
	URLs     int64  `json:"urls"`   // fetched
	Fresh    int64  `json:"fresh"`  // of them, answered well and with bytes and text that no other has
	Copies   int64  `json:"copies"` // of them, with bytes that were there, or with text that plainer URLs have
	Errors   int64  `json:"errors"` // of them, with a status from 400 on
	Moved    int64  `json:"moved"`  // of them, redirects
	Bytes    int64  `json:"bytes"`
	Example  string `json:"example"`
	Exclude  string `json:"exclude,omitempty"` // an expression for --exclude, if it brought next to nothing

	generic    string          // its shape with * for the last segment
	targets    map[string]bool // of its redirects
	candidates []candidate     // for Exclude
}

// useless reports whether next to nothing came of it: neither pages of their own, nor places that its redirects lead to.
func (t *Template) useless() bool {
	return t.URLs >= uselessURLs && (t.Fresh+int64(len(t.targets)))*uselessFresh < t.URLs
}

// candidate is an expression that might leave a template out.
type candidate struct {
	re         *regexp.Regexp
	own, fresh int64 // URLs of the template, and what is worth having, that it matches
}

const (
	// A template is useless from so many URLs on, if fewer than one in so many was fresh.
	uselessURLs  = 20
	uselessFresh = 20
	// maxKept bounds how many templates are told apart while they are gathered.
	maxKept = 20_000
	// maxNamed bounds for how many last segments before a ? a template keeps the name: scripts are few, pages of a wiki are many.
	maxNamed = 64
)

// of finds the template of a URL, or makes it; nil where there are too many.
func (g *gatherer) of(u crawl.URL) *Template {
	generic := Shape(u)
	at := u.Site() + " " + generic
	key := at
	if named := namedShape(u, generic); named != generic {
		if of := u.Site() + " " + named; g.templates[of] != nil || g.named[at] < maxNamed {
			key = of
		}
	}
	t := g.templates[key]
	if t == nil && len(g.templates) < maxKept {
		site, shape, _ := strings.Cut(key, " ")
		t = &Template{Site: site, Template: shape, Example: u.String(), generic: generic, targets: map[string]bool{}}
		g.templates[key] = t
		if key != at {
			g.named[at]++
		}
	}
	return t
}

func (g *gatherer) template(p *ledger.Page) {
	u, err := crawl.Parse(p.URL)
	if err != nil {
		return
	}
	t := g.of(u)
	if t == nil {
		return
	}
	t.URLs++
	t.Bytes += p.Bytes
	switch {
	case p.Status >= 400:
		t.Errors++
	case crawl.Redirects(p.Status):
		t.Moved++
		t.targets[p.Redirect] = true
	case p.Revisit:
		t.Copies++
	default:
		t.Fresh++
	}
}

// merge gives templates of named segments that are few to the template that has * there.
func (g *gatherer) merge() {
	for _, key := range slices.Sorted(maps.Keys(g.templates)) { // the first gives the example
		t := g.templates[key]
		if t.Template == t.generic || t.URLs >= uselessURLs {
			continue
		}
		at := t.Site + " " + t.generic
		into := g.templates[at]
		delete(g.templates, key)
		if into == nil {
			t.Template = t.generic
			g.templates[at] = t
			continue
		}
		into.URLs, into.Fresh, into.Copies = into.URLs+t.URLs, into.Fresh+t.Fresh, into.Copies+t.Copies
		into.Errors, into.Moved, into.Bytes = into.Errors+t.Errors, into.Moved+t.Moved, into.Bytes+t.Bytes
		maps.Copy(into.targets, t.targets)
	}
}

// propose looks for the expressions that would have left useless templates out and nothing that was worth having: it tries them on all
// that was fetched.
func (g *gatherer) propose(ctx context.Context, l *ledger.Ledger, job uint32) error {
	useless := map[string][]*Template{}
	for _, t := range g.templates {
		if t.useless() {
			t.candidates = candidates(t.Site, t.Template)
			useless[t.Site] = append(useless[t.Site], t)
		}
	}
	if len(useless) == 0 {
		return nil
	}
	err := l.Pages(ctx, job, func(p *ledger.Page) error {
		if p.State != crawl.Fetched.String() || useless[p.Site] == nil {
			return nil
		}
		u, err := crawl.Parse(p.URL)
		if err != nil {
			return nil
		}
		of, fresh := g.kept(u), p.Status < 300 && !p.Revisit && !g.said[p.URL]
		for _, t := range useless[p.Site] {
			for i := range t.candidates {
				if c := &t.candidates[i]; c.re.MatchString(p.URL) {
					if of == t {
						c.own++
					} else if fresh {
						c.fresh++
					}
				}
			}
		}
		return nil
	})
	for _, templates := range useless {
		for _, t := range templates {
			i := slices.IndexFunc(t.candidates, func(c candidate) bool { return c.own == t.URLs && c.fresh == 0 })
			if i >= 0 {
				t.Exclude = t.candidates[i].re.String()
			}
		}
	}
	return err
}

// kept finds the template that a URL counts to after merge.
func (g *gatherer) kept(u crawl.URL) *Template {
	generic := Shape(u)
	if t := g.templates[u.Site()+" "+namedShape(u, generic)]; t != nil {
		return t
	}
	return g.templates[u.Site()+" "+generic]
}

// bestTemplates are the templates with the most URLs, and all that have an expression that would have left them out.
func (g *gatherer) bestTemplates() (out []Template) {
	for _, t := range g.templates {
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Template) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), strings.Compare(a.Site, b.Site), strings.Compare(a.Template, b.Template))
	})
	return foremost(out, maxTemplates)
}

// foremost are so many templates, and those behind them that have an expression.
func foremost(all []Template, most int) []Template {
	out := slices.Clone(all[:min(len(all), most)])
	for _, t := range all[len(out):] {
		if t.Exclude != "" && len(out) < 2*most {
			out = append(out, t)
		}
	}
	return out
}

// namedShape is the shape with the name of the last segment, where that is asked: scripts beside each other do different things.
func namedShape(u crawl.URL, generic string) string {
	path, _, _ := strings.Cut(u.RequestURI(), "?")
	before, query, asks := strings.Cut(generic, "?")
	if !asks {
		return generic
	}
	name := digits.ReplaceAllString(path[strings.LastIndexByte(path, '/')+1:], "#")
	if strings.Contains(name, "*") {
		return generic
	}
	return before[:strings.LastIndexByte(before, '/')+1] + name + "?" + query
}

// Shape is what a URL looks like: its directories, in which digits stand as #, the kind of its last segment, and the names of its
// parameters.
func Shape(u crawl.URL) string {
	target := u.RequestURI()
	path, query, asks := strings.Cut(target, "?")
	segments := strings.Split(strings.TrimPrefix(path, "/"), "/")
	last := len(segments) - 1
	for i, s := range segments {
		switch {
		case i == last && s != "":
			segments[i] = leafShape(s)
		case i >= 3 && i < last:
			segments[i] = "*"
		default:
			segments[i] = digits.ReplaceAllString(s, "#")
		}
	}
	shape := "/" + strings.Join(segments, "/")
	if !asks {
		return shape
	}
	var names []string
	for pair := range strings.SplitSeq(query, "&") {
		name, _, _ := strings.Cut(pair, "=")
		if name = digits.ReplaceAllString(name, "#"); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return shape + "?" + strings.Join(names[:min(len(names), 8)], "&")
}

var digits = regexp.MustCompile(`[0-9]+`)

// leafShape is * with the ending that tells what it is.
func leafShape(s string) string {
	if dot := strings.LastIndexByte(s, '.'); dot >= 0 && len(s)-dot <= 6 && !strings.ContainsAny(s[dot:], "%*?#") {
		return "*" + digits.ReplaceAllString(s[dot:], "#")
	}
	return "*"
}

// candidates are expressions that match the URLs of a template, those first that match the most of what is like it: by one of its parameters each,
// and by its path alone where it has none.
func candidates(site, shape string) (out []candidate) {
	path, query, asks := strings.Cut(shape, "?")
	start := "^https?://" + regexp.QuoteMeta(site) + wild(path, "[^/?]")
	if !asks {
		return []candidate{{re: regexp.MustCompile(start + "$")}}
	}
	names := strings.Split(query, "&")
	for _, name := range names {
		if len(names) == 1 {
			out = append(out, candidate{re: regexp.MustCompile(start + `\?` + wild(name, "[^&]") + "(=|&|$)")})
			continue
		}
		out = append(out, candidate{re: regexp.MustCompile(start + `\?(.*&)?` + wild(name, "[^&]") + "(=|&|$)")})
	}
	return out
}

// wild turns * and # of a template into expressions.
func wild(s, any string) string {
	s = regexp.QuoteMeta(s)
	s = strings.ReplaceAll(s, `\*`, any+"*")
	return strings.ReplaceAll(s, "#", "[0-9]+")
}
