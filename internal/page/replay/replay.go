// Package replay makes an archived page one that can be looked at: what could run, send or lead elsewhere by itself is taken out, and
// every URL is turned into the address at which its archived copy is had. Whoever serves what it writes forbids scripts and other hosts by
// a policy as well; but no policy keeps a browser from connecting to a host in advance, and none from following a link.
//
// What a tag means depends on where it stands: within <svg>, <style> holds tags; elsewhere it holds text. So what is written means
// the same wherever a browser thinks that it is: every tag has been looked at, and text has nothing in it that could begin one.
package replay

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"golang.org/x/net/html"

	"argosy/internal/crawl"
)

// To turns the URL of something that a page shows or leads to into the address of its copy.
type To func(url string) string

const (
	maxAttrs = 256       // attributes of a tag; a page has no use for more
	maxValue = 256 << 10 // bytes of an attribute when its URLs are turned, which makes each longer
	maxDepth = 1000      // elements of an SVG document within each other
)

// drops are elements that are taken out with what is in them.
var drops = map[string]bool{
	"script": true, "template": true, "object": true, "embed": true, "applet": true, "portal": true, "fencedframe": true, "xmp": true, "noembed": true, "noframes": true,
}

// void are those of drops that have no end tag.
var void = map[string]bool{"embed": true}

// bare are elements whose tags are taken out, and what is in them stays: those that change where a link leads, or how the rest is read.
var bare = map[string]bool{"animate": true, "set": true, "base": true, "plaintext": true}

// places are attributes that hold one URL.
var places = map[string]bool{
	"src": true, "href": true, "poster": true, "background": true, "lowsrc": true, "dynsrc": true, "longdesc": true, "cite": true, "xlink:href": true, "data-src": true,
}

// gone are attributes that are taken out: they send something, or hold back what has been changed.
var gone = map[string]bool{
	"ping": true, "integrity": true, "crossorigin": true, "nonce": true, "srcdoc": true, "action": true, "formaction": true, "manifest": true, "archive": true, "codebase": true, "data": true, "sandbox": true,
	"referrerpolicy": true, "attributionsrc": true, "http-equiv": true, "csp": true, "allow": true,
}

// texts are attributes that hold text, which may look like a URL.
var texts = map[string]bool{"title": true, "alt": true, "value": true, "placeholder": true, "label": true, "summary": true, "content": true, "class": true, "id": true, "name": true, "for": true}

// metas are the names of those <meta> that say how a page is drawn.
var metas = map[string]bool{"viewport": true, "color-scheme": true}

// rels are what a <link> may be: what a page is drawn with.
var rels = map[string]bool{"stylesheet": true, "icon": true, "alternate": true}

// HTML writes a page in UTF-8 with the URLs in it turned by to; at is where it was had. It ends when the writer fails.
func HTML(w io.Writer, doc []byte, at crawl.URL, to To) error {
	p := &page{rewriter: rewriter{base: at, at: at, to: to}, out: bufio.NewWriter(w), z: html.NewTokenizer(bytes.NewReader(doc))}
	p.z.SetMaxBuf(len(doc) + 1)
	for {
		kind := p.z.Next()
		if kind == html.ErrorToken {
			return p.out.Flush()
		}
		if err := p.token(kind); err != nil {
			return err
		}
	}
}

// page is a page that is being written.
type page struct {
	rewriter
	out     *bufio.Writer
	z       *html.Tokenizer
	skip    string // the element that is being taken out
	inside  string // the element that holds text alone: style, iframe
	foreign int    // <svg> and <math> that are open
}

func (p *page) token(kind html.TokenType) error {
	switch kind {
	case html.StartTagToken, html.SelfClosingTagToken:
		return p.start(kind == html.SelfClosingTagToken)
	case html.EndTagToken:
		name, _ := p.z.TagName()
		return p.end(string(name))
	case html.TextToken:
		return p.text()
	case html.DoctypeToken: // which says how a page is drawn
		if raw := p.z.Raw(); p.skip == "" && bytes.IndexByte(raw[1:], '<') < 0 {
			_, err := p.out.Write(raw)
			return err
		}
	}
	return nil
}

func (p *page) start(closed bool) error {
	t := p.tagOf()
	if foreign := t.Data == "svg" || t.Data == "math"; foreign && !closed {
		p.foreign++
	}
	closed = closed && p.foreign > 0 // elsewhere the slash says nothing
	if t.Data == "noscript" || closed {
		p.z.NextIsNotRawText()
	}
	if p.skip != "" {
		return nil
	}
	if drops[t.Data] {
		if !closed && !void[t.Data] {
			p.skip = t.Data
		}
		return nil
	}
	p.inside = ""
	if !closed && (t.Data == "style" || t.Data == "iframe") {
		p.inside = t.Data
	}
	if !p.tag(&t) {
		return nil
	}
	if closed {
		t.Type = html.SelfClosingTagToken
	}
	_, err := p.out.WriteString(t.String())
	return err
}

// tagOf returns the tag that is being read, with the attributes that count: the first of each name.
func (p *page) tagOf() html.Token {
	name, more := p.z.TagName()
	t := html.Token{Type: html.StartTagToken, Data: string(name)}
	for more && len(t.Attr) < maxAttrs {
		var key, value []byte
		key, value, more = p.z.TagAttr()
		if k := strings.ToLower(string(key)); attrOf(&t, k) == nil {
			t.Attr = append(t.Attr, html.Attribute{Key: k, Val: string(value)})
		}
	}
	return t
}

func (p *page) end(name string) error {
	if (name == "svg" || name == "math") && p.foreign > 0 {
		p.foreign--
	}
	p.inside = ""
	if p.skip != "" {
		if name == p.skip {
			p.skip = ""
		}
		return nil
	}
	if drops[name] || bare[name] || !isName(name) {
		return nil
	}
	_, err := p.out.WriteString("</" + name + ">")
	return err
}

func (p *page) text() error {
	switch {
	case p.skip != "" || p.inside == "iframe":
		return nil
	case p.inside == "style":
		return css(p.out, p.z.Raw(), p.base, p.to)
	}
	_, err := p.out.WriteString(html.EscapeString(string(p.z.Text())))
	return err
}

// rewriter rewrites tags.
type rewriter struct {
	base  crawl.URL // of relative URLs
	based bool      // a base element has said which: the first one counts
	at    crawl.URL
	to    To
}

func attrOf(t *html.Token, name string) *html.Attribute {
	for i := range t.Attr {
		if t.Attr[i].Key == name {
			return &t.Attr[i]
		}
	}
	return nil
}

// said returns what an attribute says, without the white space around it.
func said(t *html.Token, name string) string {
	if a := attrOf(t, name); a != nil {
		return strings.TrimSpace(a.Val)
	}
	return ""
}

// isName reports whether the name of an element or an attribute is one that everybody reads in the same way.
func isName(s string) bool {
	for i := range len(s) {
		c := s[i]
		if !(c|0x20 >= 'a' && c|0x20 <= 'z' || i > 0 && (c >= '0' && c <= '9' || c == '-' || c == '_' || c == ':' || c == '.')) {
			return false
		}
	}
	return s != ""
}

// tag rewrites a tag. It reports whether the tag stays.
func (r *rewriter) tag(t *html.Token) bool {
	name := strings.ToLower(t.Data)
	switch {
	case name == "base":
		if a := attrOf(t, "href"); a != nil && !r.based {
			r.based = true
			if u, err := r.at.Resolve(a.Val); err == nil {
				r.base = u
			}
		}
		return false
	case bare[name] || !isName(t.Data):
		return false
	case name == "meta": // the answer says the encoding, and nothing may say what the page may do
		if !metas[strings.ToLower(said(t, "name"))] || attrOf(t, "http-equiv") != nil {
			return false
		}
	case name == "link":
		return r.link(t)
	}
	r.attrs(t, name)
	return true
}

// link leaves of a <link> what a page is drawn with. Others have the browser connect, or look up a name, in advance.
func (r *rewriter) link(t *html.Token) bool {
	var kept []string
	drawn := false
	for _, rel := range strings.Fields(strings.ToLower(said(t, "rel"))) {
		if rels[rel] {
			kept = append(kept, rel)
			drawn = drawn || rel != "alternate"
		}
	}
	if !drawn {
		return false
	}
	attrs := []html.Attribute{{Key: "rel", Val: strings.Join(kept, " ")}}
	for _, name := range []string{"href", "media", "type", "sizes", "title"} {
		if a := attrOf(t, name); a != nil {
			attrs = append(attrs, *a)
		}
	}
	t.Attr = attrs
	r.attrs(t, "link")
	return true
}

// leads are elements that take whoever looks somewhere, to where nothing but copies may be.
var leads = map[string]bool{"a": true, "area": true, "iframe": true, "frame": true}

func (r *rewriter) attrs(t *html.Token, tag string) {
	kept := t.Attr[:0]
	for _, a := range t.Attr {
		if v, ok := r.attr(strings.ToLower(a.Key), a.Val, !leads[tag]); ok && len(v) <= max(maxValue, len(a.Val)) {
			a.Val = v
			kept = append(kept, a)
		}
	}
	t.Attr = kept
}

// attr returns the value of an attribute; inline says that it may hold an image, instead of where one is. False: the attribute goes.
func (r *rewriter) attr(name, v string, inline bool) (string, bool) {
	switch {
	case !isName(name) || gone[name] || strings.HasPrefix(name, "on"):
		return "", false
	case name == "srcset" || name == "imagesrcset" || name == "data-srcset":
		return r.set(v)
	case places[name]:
		return turn(v, r.base, r.to, inline)
	case name == "target":
		return "_self", true
	case texts[name] || strings.HasPrefix(name, "data-") || strings.HasPrefix(name, "aria-"):
		return v, true
	case strings.Contains(name, ":") && name != "xml:lang" && name != "xml:space": // xml:base, names of vocabularies
		return "", false
	case strings.ContainsAny(v, "(@"): // style, and what SVG draws with
		var b bytes.Buffer
		out := bufio.NewWriter(&capped{&b, maxValue})
		if css(out, []byte(v), r.base, r.to) != nil || out.Flush() != nil {
			return "", false
		}
		v = b.String()
	}
	if name != "style" && (strings.Contains(v, "//") || strings.Contains(v, `\`)) { // a URL where nobody knows one
		return "", false
	}
	return v, true
}

// capped takes so many bytes and then fails.
type capped struct {
	b    *bytes.Buffer
	most int
}

var errLong = errors.New("longer than it may be")

func (c *capped) Write(p []byte) (int, error) {
	if c.b.Len()+len(p) > c.most {
		return 0, errLong
	}
	return c.b.Write(p)
}

// set rewrites a srcset: URLs with what stands after each, with commas between them. One that gets too long goes.
func (r *rewriter) set(s string) (string, bool) {
	var out strings.Builder
	for s = strings.TrimLeft(s, " \t\n\r\f,"); s != "" && out.Len() <= maxValue; s = strings.TrimLeft(s, " \t\n\r\f,") {
		end := strings.IndexAny(s, " \t\n\r\f")
		if end < 0 {
			end = len(s)
		}
		url, rest := s[:end], s[end:]
		about := ""
		if cut := strings.TrimRight(url, ","); cut != url {
			url = cut
		} else if comma := strings.IndexByte(rest, ','); comma >= 0 {
			about, rest = rest[:comma], rest[comma+1:]
		} else {
			about, rest = rest, ""
		}
		if v, ok := turn(url, r.base, r.to, true); ok {
			if out.Len() > 0 {
				out.WriteString(", ")
			}
			out.WriteString(strings.TrimSpace(v + " " + strings.TrimSpace(about)))
		}
		s = rest
	}
	return out.String(), out.Len() <= maxValue
}

// inlined are types of what a page may hold itself, instead of saying where it is.
var inlined = []string{"data:image/", "data:audio/", "data:video/", "data:font/", "data:application/font", "data:application/x-font"}

// turn turns a reference. It reports false of what leads nowhere that could be archived.
func turn(ref string, base crawl.URL, to To, inline bool) (string, bool) {
	ref = strings.TrimSpace(ref)
	if strings.HasPrefix(ref, "#") {
		return ref, true
	}
	if has([]byte(ref), "data:") {
		for _, kind := range inlined {
			if inline && has([]byte(ref[:min(len(ref), 64)]), kind) {
				return ref, true
			}
		}
		return "", false
	}
	_, fragment, marked := strings.Cut(ref, "#")
	u, err := base.Resolve(ref)
	if err != nil {
		return "", false
	}
	v := to(u.String())
	if marked && fragment != "" {
		v += "#" + fragment
	}
	return v, true
}
