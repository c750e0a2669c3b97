package engine

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/antchfx/xpath"
	"github.com/theory/jsonpath"
	"golang.org/x/net/html"
)

// selector is a Selector that has been read.
type selector struct {
	of    Selector
	css   []chain
	path  *xpath.Expr
	json  *jsonpath.Path
	regex *expr
	match *expr
}

// found is one thing that a selector has found: a node of a tree, a JSON value, or text.
type found struct {
	node  *html.Node
	value any
	text  string // of an attribute, of an expression, or a piece of the source
	root  bool   // the document as a whole
}

// read reads a selector for answers of a format; self says whether one may be given without any language: it means the thing itself.
func (s Selector) read(format string, self bool) (*selector, error) {
	out := &selector{of: s}
	var langs []string
	var err error
	for _, l := range []struct {
		name, text string
		formats    string
		read       func(string) error
	}{
		{"css", s.CSS, "html", func(t string) (err error) { out.css, err = readCSS(t); return }},
		{"xpath", s.XPath, "html xml", func(t string) (err error) { out.path, err = compileXPath(t); return }},
		{"json", s.JSON, "json", func(t string) (err error) { out.json, err = readJSONPath(t); return }},
		{"regex", s.Regex, "html xml json", nil},
	} {
		if l.text == "" {
			continue
		}
		langs = append(langs, l.name)
		if !strings.Contains(l.formats, format) {
			return nil, fmt.Errorf("%s: answers in %s are not read by it", l.name, format)
		}
		if len(l.text) > maxSelector {
			return nil, fmt.Errorf("%s: longer than %d bytes", l.name, maxSelector)
		}
		if l.read == nil {
			if out.regex, err = expression(l.name, l.text); err != nil {
				return nil, err
			}
			continue
		}
		if err := l.read(l.text); err != nil {
			return nil, fmt.Errorf("%s %q: %w", l.name, l.text, err)
		}
	}
	if len(langs) > 1 {
		return nil, fmt.Errorf("%s: want one of them", strings.Join(langs, " and "))
	}
	if len(langs) == 0 && (!self || s.Attr == "") {
		return nil, errors.New("want one of css, xpath, json and regex")
	}
	if s.Attr != "" && s.CSS == "" && len(langs) > 0 {
		return nil, fmt.Errorf("attr: only with css; %s has ways of its own", langs[0])
	}
	if out.match, err = expression("match", s.Match); err != nil {
		return nil, err
	}
	if err := checkDecode(s.Decode); err != nil {
		return nil, err
	}
	if s.Space != "" && s.Make == "" {
		return nil, errors.New("space: only with make")
	}
	if s.Make != "" && !strings.Contains(s.Make, "{value}") {
		return nil, fmt.Errorf("make %q: {value} is missing", s.Make)
	}
	return out, nil
}

func checkDecode(how string) error {
	if how != "" && how != "base64" && how != "percent" {
		return fmt.Errorf("decode %q: allowed are base64 and percent", how)
	}
	return nil
}

// compileXPath reads an expression; its reader panics at some that are none.
func compileXPath(text string) (e *xpath.Expr, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("%v", p)
		}
	}()
	for _, m := range call.FindAllStringSubmatch(literal.ReplaceAllString(text, "''"), -1) {
		if !slices.Contains(calls, m[1]) {
			return nil, fmt.Errorf("XPath 1.0 has no %s()", m[1])
		}
	}
	return xpath.Compile(text)
}

// calls are the functions and the tests of nodes of XPath 1.0. What its reader knows beyond them can make texts that grow without bounds.
var (
	calls = strings.Fields(`last position count id local-name namespace-uri name string concat starts-with contains substring-before substring-after
		substring string-length normalize-space translate boolean not true false lang number sum floor ceiling round
		comment text processing-instruction node and or div mod`)
	call    = regexp.MustCompile(`([A-Za-z_][\w.:-]*)\s*\(`)
	literal = regexp.MustCompile(`"[^"]*"|'[^']*'`)
)

// all returns what a selector finds in a document at a place, at most MaxResults.
func (s *selector) all(d *document, at found) (out []found, err error) {
	defer func() { // of what takes too long, or is applied to what it is not for
		if p := recover(); p != nil {
			e, ok := p.(error)
			if !ok || !errors.Is(e, errSteps) {
				e = errors.New("cannot be applied to this answer")
			}
			err = fmt.Errorf("%s: %w", s.of.name(), e)
		}
	}()
	switch {
	case s.css != nil && at.node != nil:
		out = d.query(s, at.node)
	case s.path != nil && at.node != nil:
		out = s.evaluate(d, at.node)
	case s.json != nil:
		for _, v := range d.walk(s.json, at.value) {
			out = append(out, found{value: v})
		}
	case s.regex != nil:
		text := at.source(d)
		d.spend(s.regex.steps(len(text)))
		for _, m := range s.regex.FindAllStringSubmatchIndex(text, MaxResults+1) {
			out = append(out, found{text: group(text, m)})
		}
	case s.of.Attr != "":
		out = []found{at}
	}
	if len(out) > MaxResults {
		d.cut, out = true, out[:MaxResults]
	}
	return out, nil
}

// name is how a selector is called in messages.
func (s Selector) name() string {
	for _, l := range [][2]string{{"css", s.CSS}, {"xpath", s.XPath}, {"json", s.JSON}, {"regex", s.Regex}, {"attr", s.Attr}} {
		if l[1] != "" {
			return fmt.Sprintf("%s %q", l[0], l[1])
		}
	}
	return "nothing"
}

func (s *selector) evaluate(d *document, at *html.Node) (out []found) {
	switch v := s.path.Evaluate(&navigator{doc: d, root: d.tree, at: at, attr: -1}).(type) {
	case *xpath.NodeIterator:
		for len(out) <= MaxResults && v.MoveNext() {
			if n := v.Current().(*navigator); n.attr >= 0 {
				out = append(out, found{text: n.Value()})
			} else {
				out = append(out, found{node: n.at})
			}
		}
	case string:
		out = append(out, found{text: v})
	case float64:
		out = append(out, found{text: fmt.Sprint(v)})
	case bool:
		if v {
			out = append(out, found{text: "true"})
		}
	}
	return out
}

// source is the text that expressions are applied to.
func (f found) source(d *document) string {
	switch {
	case f.root:
		return d.source
	case f.node != nil:
		b := counted{d: d}
		if err := html.Render(&b, f.node); err != nil {
			return ""
		}
		return b.String()
	case f.value != nil:
		b, err := json.Marshal(f.value)
		if err != nil {
			return ""
		}
		return string(b)
	}
	return f.text
}

// counted is text whose bytes are counted as steps.
type counted struct {
	strings.Builder
	d *document
}

func (c *counted) Write(b []byte) (int, error) {
	c.d.spend(1 + len(b)/8)
	return c.Builder.Write(b)
}

func (c *counted) WriteString(s string) (int, error) {
	c.d.spend(1 + len(s)/8)
	return c.Builder.WriteString(s)
}

// group is the first group of a match that took part in it, which may be empty; without one it is the whole match.
func group(text string, m []int) string {
	for g := 2; g < len(m); g += 2 {
		if m[g] >= 0 {
			return text[m[g]:m[g+1]]
		}
	}
	return text[m[0]:m[1]]
}

// value makes the value of what was found; ok is false where there is none.
func (s *selector) value(d *document, f found) (v string, ok bool) {
	switch {
	case f.node != nil && s.of.Attr != "":
		for _, a := range f.node.Attr {
			if a.Key == s.of.Attr {
				v, ok = a.Val, true
			}
		}
		if !ok {
			return "", false
		}
	case f.node != nil:
		v = d.flat(f.node)
	case f.value != nil:
		if v, ok = scalar(f.value); !ok {
			return "", false
		}
	default:
		v = f.text
	}
	v = strings.Join(strings.FieldsFunc(v, func(r rune) bool { return r <= ' ' }), " ") // others, such as those within numbers, stay
	if s.match != nil {
		if !d.afford(s.match.steps(len(v))) {
			return "", false
		}
		m := s.match.FindStringSubmatchIndex(v)
		if m == nil {
			return "", false
		}
		v = group(v, m)
	}
	if v, ok = decode(s.of.Decode, v); !ok || v == "" {
		return "", false
	}
	if s.of.Make != "" {
		if s.of.Space != "" {
			v = strings.ReplaceAll(v, " ", s.of.Space)
		}
		v = fill(s.of.Make, "{value}", v)
	}
	return v, true
}

// flat is the text of a node, up to what is kept of texts.
func (d *document) flat(n *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if b.Len() > 8*maxText || !d.afford(1) {
			return
		}
		if n.Type == html.TextNode {
			b.WriteString(n.Data)
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(n)
	return b.String()
}

// scalar is the text of a JSON value that is not a list or a map.
func scalar(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case json.Number:
		return v.String(), true
	case bool:
		return fmt.Sprint(v), true
	}
	return "", false
}

func decode(how, v string) (string, bool) {
	switch how {
	case "base64":
		v = strings.NewReplacer("-", "+", "_", "/", "=", "", " ", "").Replace(v)
		b, err := base64.RawStdEncoding.DecodeString(v)
		return string(b), err == nil
	case "percent":
		u, err := url.QueryUnescape(v)
		return u, err == nil
	}
	return v, true
}

// first is the first value that a selector finds.
func (s *selector) first(d *document, at found) (string, bool, error) {
	fs, err := s.all(d, at)
	for _, f := range fs {
		if v, ok := s.value(d, f); ok {
			return v, true, err
		}
	}
	return "", false, err
}
