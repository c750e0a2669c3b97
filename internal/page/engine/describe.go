package engine

import (
	"cmp"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// maxDescription bounds an OpenSearch description, in bytes.
const maxDescription = 1 << 20

// maxPerPage is how many results of a page are asked for where a description lets one choose.
const maxPerPage = 50

// description is an OpenSearch description (OpenSearch 1.1, draft 6), as far as a search needs it.
type description struct {
	XMLName  xml.Name `xml:"OpenSearchDescription"`
	Short    string   `xml:"ShortName"`
	Long     string   `xml:"LongName"`
	About    string   `xml:"Description"`
	Encoding []string `xml:"InputEncoding"`
	URLs     []struct {
		Template string `xml:"template,attr"`
		Type     string `xml:"type,attr"`
		Method   string `xml:"method,attr"`
		Rel      string `xml:"rel,attr"`
		Index    string `xml:"indexOffset,attr"`
		Page     string `xml:"pageOffset,attr"`
		Params   []struct {
			Name  string `xml:"name,attr"`
			Value string `xml:"value,attr"`
		} `xml:"Param"`
	} `xml:"Url"`
}

// formats are the types of answers that can be read by an engine of the shipped catalogue, the best first.
var formats = []struct{ mime, like string }{{"application/atom+xml", "opensearch-atom"}, {"application/rss+xml", "opensearch-rss"}, {"text/html", ""}}

// programs are known by what their templates or descriptions have.
var programs = []struct {
	mark *regexp.Regexp // over template and names; its first group is the base
	like string
}{
	{regexp.MustCompile(`^(https?://\S+?)/index\.php\?(?:\S*&)?title=Special(?::|%3A)Search\S*`), "mediawiki"},
	{regexp.MustCompile(`(?is)^(https?://\S+?)/search\?\S*.*\bsearx`), "searxng"},
}

// ErrNotDescription says that something else was read than an OpenSearch description.
var ErrNotDescription = errors.New("not an OpenSearch description")

// Describe makes an engine out of an OpenSearch description that was found at an address. note says what the description leaves open,
// or is empty. What is no description at all is
// ErrNotDescription.
func Describe(body []byte, contentType string, at crawl.URL) (e Engine, note string, err error) {
	if len(body) > maxDescription {
		return e, "", fmt.Errorf("a description of more than %d bytes", maxDescription)
	}
	dec := xml.NewDecoder(strings.NewReader(parse.Decode(body, parse.Charset(body, contentType, declaredXML(body)))))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	var d description
	if err := dec.Decode(&d); err != nil {
		return e, "", fmt.Errorf("%w: %w", ErrNotDescription, err)
	}
	e.Name, e.About = nameOf(d.Short, at), strings.Join(strings.Fields(d.About), " ")
	if len(e.About) > 200 {
		e.About = strings.ToValidUTF8(e.About[:200], "")
	}
	e.Query = "{words}"
	if len(d.Encoding) > 0 && !slices.ContainsFunc(d.Encoding, func(of string) bool { return strings.EqualFold(of, "utf-8") }) {
		e.Encoding = d.Encoding[0]
	}
	for _, f := range formats {
		for _, u := range d.URLs {
			mime, _, _ := strings.Cut(u.Type, ";")
			if strings.TrimSpace(mime) != f.mime || u.Rel != "" && !strings.Contains(" "+u.Rel+" ", " results ") || u.Method != "" && !strings.EqualFold(u.Method, "get") {
				continue
			}
			template := u.Template
			for _, p := range u.Params {
				template += map[bool]string{true: "&", false: "?"}[strings.Contains(template, "?")] + p.Name + "=" + p.Value
			}
			if template = absolute(template, at); !strings.Contains(template, "{searchTerms}") {
				return e, "", fmt.Errorf("its template %q has no {searchTerms}", u.Template)
			}
			for _, p := range programs {
				if m := p.mark.FindStringSubmatch(template + " " + d.Short + " " + d.Long); m != nil && f.like == "" {
					e.Like, e.Base, e.Query, e.Encoding = p.like, m[1], "", ""
					return e, "", nil
				}
			}
			if err := e.template(template, u.Index, u.Page); err != nil {
				return e, "", err
			}
			if e.Like = f.like; e.Like == "" {
				e.Results.Any = true
				note = "it answers in HTML and the description does not say where the results are: links to other hosts are taken; give results, next and stated for better"
			}
			return e, note, nil
		}
	}
	return e, "", errors.New("the description has no template for GET in HTML, RSS or Atom")
}

// absolute is a template as it is meant where the description lies.
func absolute(template string, at crawl.URL) string {
	if strings.Contains(template, "://") || !strings.HasPrefix(template, "/") {
		return template
	}
	if strings.HasPrefix(template, "//") {
		scheme, _, _ := strings.Cut(at.String(), "//")
		return scheme + template
	}
	return at.Origin() + template
}

// parameter is one of a template; those with a question mark may be left out.
var parameter = regexp.MustCompile(`\{([A-Za-z:]+)(\??)\}`)

// template makes the URL of a template.
func (e *Engine) template(t, index, page string) error {
	count := strings.Contains(t, "{count") // then the number of results is ours to choose
	counted := false
	var bad error
	e.URL = parameter.ReplaceAllStringFunc(t, func(p string) string {
		m := parameter.FindStringSubmatch(p)
		switch m[1] {
		case "searchTerms":
			return "{query}"
		case "count":
			return strconv.Itoa(maxPerPage)
		case "startPage", "startIndex":
			if counted {
				return ""
			}
			counted = true
			offset := page
			first, step := 1, 1
			if m[1] == "startIndex" {
				offset, step = index, 0 // how many results an answer has, is not said
				if count {
					step = maxPerPage
				}
			}
			if n, err := strconv.Atoi(strings.TrimSpace(offset)); err == nil {
				first = n
			}
			e.First, e.Step = &first, &step
			return "{page}"
		case "language":
			return "*"
		case "inputEncoding", "outputEncoding":
			return cmp.Or(e.Encoding, "UTF-8")
		}
		if m[2] == "" {
			bad = fmt.Errorf("template %q: what is to be put in for %s?", t, p)
		}
		return ""
	})
	return bad
}

// nameOf makes one word of a short name.
func nameOf(short string, at crawl.URL) string {
	word := strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			return r
		case r >= 'A' && r <= 'Z':
			return r + 'a' - 'A'
		}
		return '-'
	}, short), "-")
	for strings.Contains(word, "--") {
		word = strings.ReplaceAll(word, "--", "-")
	}
	if word == "" || len(word) > 40 {
		word = strings.ReplaceAll(at.Site(), ":", "-")
	}
	return word
}

// DescriptionLink finds the OpenSearch description that an HTML page names.
func DescriptionLink(body []byte, contentType string, at crawl.URL) (crawl.URL, bool) {
	d, err := open("html", body, contentType)
	if err != nil || d.tree == nil {
		return crawl.URL{}, false
	}
	s, err := Selector{CSS: `link[rel~="search"][type="application/opensearchdescription+xml"]`, Attr: "href"}.read("html", false)
	if err != nil {
		return crawl.URL{}, false
	}
	href, ok, err := s.first(d, found{node: d.tree, root: true})
	if !ok || err != nil {
		return crawl.URL{}, false
	}
	u, err := d.base(at).Resolve(href)
	return u, err == nil
}
