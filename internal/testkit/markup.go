package testkit

import (
	"bytes"
	"encoding/xml"
	"io"
	"net/http"
	"net/url"
	"path"
	"strings"

	whatwg "github.com/nlnwa/whatwg-url/url"
	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
)

// The judge finds the links of a document in its tree: of golang.org/x/net/html, or of encoding/xml where it is XML and
// well-formed.

// judge collects the URLs of a document.
type judge struct {
	o    *Oracle
	page *whatwg.Url       // its own URL
	enc  encoding.Encoding // of the queries of its references; nil is UTF-8
	refs []ref
}

// ref is a reference. Its base is known when the whole document has been read.
type ref struct {
	to   string
	base *docBase
}

// docBase is what the references of a document are relative to: what its base element says, from the document outside.
type docBase struct {
	outer *docBase
	page  *whatwg.Url // without a document outside
	href  string
	has   bool
}

func (b *docBase) url() *whatwg.Url {
	u := b.page
	if b.outer != nil {
		u = b.outer.url()
	}
	if b.has {
		if v, err := u.Parse(b.href); err == nil {
			u = v
		}
	}
	return u
}

// read returns the URLs that a document links to.
func (o *Oracle) read(body []byte, mime, contentType string, page *whatwg.Url) ([]string, error) {
	isXML := strings.HasSuffix(mime, "+xml") || mime == "text/xml" || mime == "application/xml"
	if mime != "text/html" && !isXML {
		return nil, nil
	}
	enc, name, _ := charset.DetermineEncoding(body, contentType)
	if isXML {
		j := judge{o: o, page: page}
		isHTML, err := j.xml(body)
		if err == nil || !isHTML {
			return j.urls(), nil
		}
		enc, name, _ = charset.DetermineEncoding(body, strings.Replace(contentType, mime, "text/html", 1))
	}
	text, err := enc.NewDecoder().Bytes(body)
	if err != nil {
		return nil, err
	}
	j := judge{o: o, page: page}
	if name != "utf-8" && !strings.HasPrefix(name, "utf-16") && name != "replacement" {
		j.enc = enc
	}
	if err := j.html(bytes.TrimPrefix(text, []byte("\ufeff")), &docBase{page: page}); err != nil {
		return nil, err
	}
	return j.urls(), nil
}

func (j *judge) urls() (out []string) {
	for _, r := range j.refs {
		out = append(out, j.o.resolve(r.base.url(), []string{encodeQuery(r.to, j.enc)})...)
	}
	return out
}

// encodeQuery writes what is not ASCII in the query of a reference in an encoding, and "&#…;" for what that lacks.
func encodeQuery(ref string, enc encoding.Encoding) string {
	ref, _, _ = strings.Cut(ref, "#")
	path, query, ok := strings.Cut(ref, "?")
	if !ok || enc == nil {
		return ref
	}
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for _, r := range query {
		if r < 0x80 {
			b.WriteRune(r)
			continue
		}
		coded, err := encoding.HTMLEscapeUnsupported(enc.NewEncoder()).String(string(r))
		if err != nil {
			continue
		}
		entity := coded[0] == '&'
		for i := range len(coded) {
			if c := coded[i]; c >= 0x80 || entity && strings.IndexByte("&#;", c) >= 0 {
				b.Write([]byte{'%', hex[c>>4], hex[c&15]})
			} else {
				b.WriteByte(c)
			}
		}
	}
	return path + "?" + b.String()
}

// pageRels are the relations of links to pages.
var pageRels = func() map[string]bool {
	m := map[string]bool{}
	for _, r := range strings.Fields("canonical next prev previous alternate up first last start begin end top home index contents " +
		"toc chapter section subsection appendix glossary help author license copyright amphtml shortlink shorturl bookmark search " +
		"tag archives about collection item related original parent child sibling replies self via describedby me " +
		"privacy-policy terms-of-service latest-version predecessor-version successor-version version-history") {
		m[r] = true
	}
	return m
}()

// leadsToPage reports whether a link with these relations leads to a page. An alternate style or icon is a resource.
func leadsToPage(rels string) bool {
	page := false
	for _, r := range strings.Fields(strings.ToLower(rels)) {
		switch r {
		case "stylesheet", "icon", "apple-touch-icon", "mask-icon", "manifest", "preload", "modulepreload":
			return false
		}
		page = page || pageRels[r]
	}
	return page
}

// element takes in an element of HTML ("" as its space), svg or math.
func (j *judge) element(space, name string, base *docBase, attr func(string) (string, bool)) {
	add := func(names ...string) {
		for _, n := range names {
			if v, ok := attr(n); ok {
				j.refs = append(j.refs, ref{v, base})
				return
			}
		}
	}
	switch {
	case space == "math", space == "svg" && name == "a":
		add("href", "xlink:href")
		return
	case space != "":
		return
	}
	switch name {
	case "a", "area":
		add("href")
	case "blockquote", "q", "ins", "del":
		add("cite")
	case "img":
		add("longdesc")
	case "frame", "iframe":
		add("src")
		add("longdesc")
		if doc, ok := attr("srcdoc"); ok && name == "iframe" {
			_ = j.html([]byte(doc), &docBase{outer: base})
		}
	case "object":
		if showsPage(attr, "data") {
			add("data")
		}
	case "embed":
		if showsPage(attr, "src") {
			add("src")
		}
	case "form":
		if m, _ := attr("method"); !strings.EqualFold(m, "post") && !strings.EqualFold(m, "dialog") {
			add("action")
		}
	case "link":
		if rel, _ := attr("rel"); leadsToPage(rel) {
			add("href")
		}
	case "meta":
		if eq, _ := attr("http-equiv"); strings.EqualFold(eq, "refresh") {
			content, _ := attr("content")
			if u := refresh(content); u != "" {
				j.refs = append(j.refs, ref{u, base})
			}
		}
	}
}

// pageNames are the endings of pages' names; without one a name is a page's, too.
var pageNames = map[string]bool{
	"": true, ".html": true, ".htm": true, ".xhtml": true, ".xht": true, ".shtml": true, ".php": true, ".asp": true, ".aspx": true,
	".jsp": true, ".do": true, ".cgi": true, ".pl": true,
}

// showsPage reports whether an element embeds a page, by its type or else by what the attribute names.
func showsPage(attr func(string) (string, bool), name string) bool {
	to, ok := attr(name)
	if mime, _ := attr("type"); mime != "" {
		mime, _, _ = strings.Cut(mime, ";")
		mime = strings.ToLower(strings.TrimSpace(mime))
		return mime == "text/html" || mime == "application/xhtml+xml"
	}
	u, err := url.Parse(strings.TrimSpace(to))
	return ok && err == nil && (u.Host != "" || u.Path != "") && pageNames[strings.ToLower(path.Ext(u.Path))]
}

// refresh returns the URL of a refresh, "" if it names none.
func refresh(content string) string {
	_, u, ok := strings.Cut(content, ";")
	u = strings.TrimSpace(u)
	if !ok {
		return ""
	}
	if len(u) > 4 && strings.EqualFold(u[:4], "url=") {
		u = strings.Trim(u[4:], " '\"")
	}
	return u
}

// html takes in a document in UTF-8.
func (j *judge) html(text []byte, base *docBase) error {
	doc, err := html.ParseWithOptions(bytes.NewReader(text), html.ParseOptionEnableScripting(false))
	if err != nil {
		return err
	}
	for n := range doc.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		attr := func(name string) (string, bool) {
			space := ""
			if n.Namespace != "" && strings.HasPrefix(name, "xlink:") {
				space, name = "xlink", name[len("xlink:"):]
			}
			for _, a := range n.Attr {
				if a.Key == name && a.Namespace == space {
					return a.Val, true
				}
			}
			return "", false
		}
		if v, ok := attr("href"); ok && n.Data == "base" && n.Namespace == "" && !base.has && !inTemplate(n) {
			base.has, base.href = true, v
		}
		j.element(n.Namespace, n.Data, base, attr)
	}
	return nil
}

// inTemplate reports whether an element stands in a template, where a base is none.
func inTemplate(n *html.Node) bool {
	for outer := range n.Ancestors() {
		if outer.Type == html.ElementNode && outer.Data == "template" && outer.Namespace == "" {
			return true
		}
	}
	return false
}

// xmlJudge goes through the tokens of an XML document.
type xmlJudge struct {
	*judge
	base  *docBase
	bases []*docBase // outside of the elements that are open

	root, isHTML, bare, feed bool // bare: XHTML that does not name its namespace
	text                     string
}

// xml takes in a document by encoding/xml; isHTML reports whether its root is XHTML's. What RSS links to is text.
func (j *judge) xml(body []byte) (isHTML bool, err error) {
	d := xml.NewDecoder(bytes.NewReader(body))
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(label string, r io.Reader) (io.Reader, error) {
		enc, name := charset.Lookup(label)
		if enc == nil {
			return r, nil
		}
		if name != "utf-8" {
			j.enc = enc
		}
		return enc.NewDecoder().Reader(r), nil
	}
	x := xmlJudge{judge: j, base: &docBase{page: j.page}}
	for {
		t, err := d.Token()
		if err == io.EOF {
			return x.isHTML, nil
		}
		if err != nil {
			return x.isHTML, err
		}
		switch t := t.(type) {
		case xml.CharData:
			to := strings.TrimSpace(string(t))
			switch {
			case to == "":
				continue
			case x.text == "html":
				if err := j.html([]byte(to), &docBase{outer: x.base}); err != nil {
					return x.isHTML, err
				}
			case x.text != "" && (x.text != "guid" || strings.HasPrefix(to, "http")):
				j.refs = append(j.refs, ref{to, x.base})
			}
			x.text = ""
		case xml.EndElement:
			x.base = x.bases[len(x.bases)-1]
			x.bases = x.bases[:len(x.bases)-1]
			x.text = ""
		case xml.StartElement:
			x.bases = append(x.bases, x.base)
			x.text = ""
			x.start(t)
		}
	}
}

// start takes in the start of an element.
func (x *xmlJudge) start(e xml.StartElement) {
	local := e.Name.Local
	space, known := map[string]string{
		"http://www.w3.org/1999/xhtml": "", "http://www.w3.org/2000/svg": "svg", "http://www.w3.org/1998/Math/MathML": "math",
	}[e.Name.Space], true
	switch e.Name.Space {
	case "http://www.w3.org/1999/xhtml", "http://www.w3.org/2000/svg", "http://www.w3.org/1998/Math/MathML":
	default:
		known = false
	}
	if !x.root {
		x.root = true
		x.feed = local == "rss" || local == "RDF"
		x.isHTML = local == "html" && (e.Name.Space == "" || known && space == "")
		x.bare = x.isHTML && e.Name.Space == ""
	}
	known = known || x.bare && e.Name.Space == ""
	attr := func(name string) (string, bool) {
		for _, a := range e.Attr {
			key := a.Name.Local
			if a.Name.Space == "http://www.w3.org/1999/xlink" {
				key = "xlink:" + key
			} else if a.Name.Space == "xml" || a.Name.Space == xmlSpace {
				key = "xml:" + key
			} else if a.Name.Space != "" {
				continue
			}
			if key == name {
				return a.Value, true
			}
		}
		return "", false
	}
	if v, ok := attr("xml:base"); ok && !(known && space == "") {
		x.base = &docBase{outer: x.base, href: v, has: true}
	}
	to, ok := "", false
	switch {
	case known:
		if v, ok := attr("href"); ok && space == "" && local == "base" && !x.base.has {
			x.base.has, x.base.href = true, v
		}
		x.element(space, local, x.base, attr)
	case e.Name.Space == atomSpace && local == "link":
		to, ok = attr("href")
	case x.feed && e.Name.Space != atomSpace && (local == "link" || local == "comments" || local == "guid"):
		if p, _ := attr("isPermaLink"); local != "guid" || p != "false" {
			x.text = local
		}
	case x.feed && e.Name.Space != atomSpace && (local == "description" || local == "encoded"):
		x.text = "html"
	default:
		to, ok = attr("xlink:href")
	}
	if ok {
		x.refs = append(x.refs, ref{to, x.base})
	}
}

const (
	atomSpace = "http://www.w3.org/2005/Atom"
	xmlSpace  = "http://www.w3.org/XML/1998/namespace"
)

// headerRefs returns what the fields of a response refer to.
func headerRefs(h http.Header) (refs []string) {
	for _, v := range h.Values("Link") {
		for _, link := range strings.Split(v, ",") { // as tests write them: without commas in references
			target, params, _ := strings.Cut(link, ">")
			_, rel, _ := strings.Cut(params, "rel=")
			rel, _, _ = strings.Cut(rel, ";")
			if t := strings.TrimSpace(target); strings.HasPrefix(t, "<") && leadsToPage(strings.Trim(rel, "\" ")) {
				refs = append(refs, t[1:])
			}
		}
	}
	if u := refresh(h.Get("Refresh")); u != "" {
		refs = append(refs, u)
	}
	if l := h.Get("Content-Location"); l != "" {
		refs = append(refs, l)
	}
	return refs
}
