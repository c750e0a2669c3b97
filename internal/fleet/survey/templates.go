package survey

import (
	"cmp"
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
	Fresh    int64  `json:"fresh"`  // of them, answered well and with bytes that nothing before had
	Copies   int64  `json:"copies"` // of them, with bytes that were there
	Errors   int64  `json:"errors"` // of them, with a status from 400 on
	Moved    int64  `json:"moved"`  // of them, redirects
	Bytes    int64  `json:"bytes"`
	Example  string `json:"example"`
	Exclude  string `json:"exclude,omitempty"` // an expression for --exclude, if it brought next to nothing
}

const (
	// A template is useless from so many URLs on, if fewer than one in so many was fresh.
	uselessURLs  = 20
	uselessFresh = 20
	// maxKept bounds how many templates are told apart while they are gathered.
	maxKept = 20_000
)

func (g *gatherer) template(p *ledger.Page) {
	u, err := crawl.Parse(p.URL)
	if err != nil {
		return
	}
	shape := Shape(u)
	key := u.Site() + " " + shape
	t := g.templates[key]
	if t == nil {
		if len(g.templates) >= maxKept {
			return
		}
		t = &Template{Site: u.Site(), Template: shape, Example: p.URL}
		g.templates[key] = t
	}
	t.URLs++
	t.Bytes += p.Bytes
	switch {
	case p.Status >= 400:
		t.Errors++
	case p.Status >= 300:
		t.Moved++
	case p.Revisit:
		t.Copies++
	default:
		t.Fresh++
	}
}

// bestTemplates are the templates with the most URLs, each with the expression that would have left it out, if it was useless.
func (g *gatherer) bestTemplates() (out []Template) {
	for _, t := range g.templates {
		if t.URLs >= uselessURLs && t.Fresh*uselessFresh < t.URLs {
			t.Exclude = Exclude(t.Site, t.Template)
		}
		out = append(out, *t)
	}
	slices.SortFunc(out, func(a, b Template) int {
		return cmp.Or(cmp.Compare(b.URLs, a.URLs), strings.Compare(a.Site, b.Site), strings.Compare(a.Template, b.Template))
	})
	return out[:min(len(out), maxTemplates)]
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

// Exclude is an expression that matches the URLs of a template, and of no template with another path or without one of its parameters.
func Exclude(site, shape string) string {
	path, query, asks := strings.Cut(shape, "?")
	e := "^https?://" + regexp.QuoteMeta(site) + wild(path, "[^/?]")
	if !asks {
		return e + "$"
	}
	e += `\?`
	if names := strings.Split(query, "&"); len(names) == 1 {
		e += wild(names[0], "[^&]") + "(=|&|$)"
	} else {
		e += ".*"
	}
	return e
}

// wild turns * and # of a template into expressions.
func wild(s, any string) string {
	s = regexp.QuoteMeta(s)
	s = strings.ReplaceAll(s, `\*`, any+"*")
	return strings.ReplaceAll(s, "#", "[0-9]+")
}
