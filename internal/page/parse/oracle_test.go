package parse

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// found is what a document says, by the scanner or by a tree: references with what they are relative to, sorted, each once.
type found struct {
	refs        []string
	base, title string
}

// scanned is what Scan finds in a document in an encoding. References are decoded for the URL parser.
func scanned(body []byte, charset string, o Options, scan func([]byte, Options, *Page)) found {
	var p Page
	scan(body, o, &p)
	f := found{title: CleanTitle(Decode(p.Title, charset)), base: oneLine(DecodeRef(p.Base, charset))}
	for _, l := range p.Links {
		ref := strings.Trim(oneLine(DecodeRef(l.Ref, charset)), white0)
		for b := l.Base; b > 0; b = p.Bases[b-1].Outer {
			ref += " from " + oneLine(DecodeRef(p.Bases[b-1].Ref, charset))
		}
		f.refs = append(f.refs, ref)
	}
	f.refs = set(f.refs)
	return f
}

const white0 = " \t\n\r\f"

func set(refs []string) []string {
	slices.Sort(refs)
	return slices.Compact(refs)
}

func oneLine(s string) string {
	return strings.ReplaceAll(strings.ReplaceAll(s, "\r\n", "\n"), "\r", "\n")
}

// builder makes the same of a tree that an independent parser has built.
type builder struct {
	o       Options
	charset string
	found
	hasBase bool
	titles  int
	from    string // what links are relative to, if not to the page
}

// ref writes a reference as the URL parser is to get it.
func (b *builder) ref(v string) string { return referenceURL(oneLine(v), b.charset) }

func (b *builder) add(v string) {
	b.refs = append(b.refs, strings.Trim(b.ref(v), white0)+b.from)
}

// referenceURL encodes a reference's query in an encoding: what the URL Standard does with it before it looks at ASCII.
func referenceURL(v, charset string) string {
	if charset == "utf-8" {
		return v
	}
	if strings.IndexFunc(v, func(r rune) bool { return r > 0x7f }) < 0 {
		return v
	}
	v, _, _ = strings.Cut(v, "#")
	path, query, ok := strings.Cut(v, "?")
	if !ok {
		return path
	}
	e, err := htmlindex.Get(charset)
	if err != nil {
		panic(err)
	}
	var out strings.Builder
	for _, r := range query {
		if r < 0x80 {
			out.WriteRune(r)
			continue
		}
		coded, err := encoding.HTMLEscapeUnsupported(e.NewEncoder()).Bytes([]byte(string(r)))
		if err != nil {
			panic(err)
		}
		if charset == "big5" && coded[0] >= 0x80 && coded[0] < 0xa1 { // the Hong Kong supplement: the Encoding Standard reads it, and does not write it
			coded = fmt.Appendf(nil, "&#%d;", r)
		}
		for _, c := range coded {
			if c >= 0x80 || coded[0] == '&' && (c == '&' || c == '#' || c == ';') {
				fmt.Fprintf(&out, "%%%02X", c)
			} else {
				out.WriteByte(c)
			}
		}
	}
	return path + "?" + out.String()
}

// node is an element as both kinds of trees have it.
type node struct {
	space, name string // "", "svg", "math"
	attr        func(name string) (string, bool)
	text        func() string
	inert       bool // it stands in a template
}

var (
	cssComment = regexp.MustCompile(`(?s)/\*.*?(\*/|$)`)
	cssLink    = regexp.MustCompile(`(?i)(?:url\(\s*|@import\s+)(?:"([^"\n]*)"|'([^'\n]*)')|url\(\s*([^"'()\s]+)\s*\)`)
)

// css takes in a style sheet of the simple kind: without escapes, and without url() in strings.
func (b *builder) css(v string) {
	for _, m := range cssLink.FindAllStringSubmatch(cssComment.ReplaceAllString(v, ""), -1) {
		if ref := m[1] + m[2] + m[3]; ref != "" {
			b.add(ref)
		}
	}
}

// pagePath matches references that look like those of pages: without the ending of a file, or with one of a page.
var pagePath = regexp.MustCompile(`(?i)^([^?#]*//[^/?#]*|([^?#]*/)?([^/?#.]+|[^/?#]*\.(x?html?|xht|shtml|php|aspx?|jsp|do|cgi|pl))|[^?#]*/)([?#].*)?$`)

var pageRels = strings.Fields("canonical next prev previous alternate up first last start begin end top home index contents toc " +
	"chapter section subsection appendix glossary help author license copyright amphtml shortlink shorturl bookmark search tag")

func (b *builder) node(n node) {
	get := func(names ...string) {
		for _, name := range names {
			if v, ok := n.attr(name); ok {
				b.add(v)
			}
		}
	}
	href := func() {
		if _, ok := n.attr("href"); ok {
			get("href")
		} else {
			get("xlink:href")
		}
	}
	res := func(names ...string) {
		if b.o.Resources {
			get(names...)
		}
	}
	if b.o.Resources {
		if v, ok := n.attr("style"); ok && n.space != "none" {
			b.css(v)
		}
		for _, name := range []string{"fill", "stroke", "mask", "clip-path", "filter", "cursor", "marker", "marker-start", "marker-mid", "marker-end"} {
			if v, ok := n.attr(name); ok && n.space == "svg" {
				b.css(strings.ReplaceAll(v, "url(#", "no("))
			}
		}
		if n.name == "style" && n.space != "none" && n.space != "math" {
			b.css(n.text())
		}
	}
	if n.space == "none" {
		get("xlink:href")
		return
	}
	if n.space != "" {
		if n.space == "math" || n.name == "a" {
			href()
		} else if b.o.Resources {
			href()
		}
		return
	}
	res("background", "data-src", "data-original", "poster")
	switch n.name {
	case "a", "area":
		get("href")
	case "base":
		if v, ok := n.attr("href"); ok && !b.hasBase && !n.inert {
			b.hasBase, b.base = true, b.ref(v)
		}
	case "blockquote", "q", "ins", "del":
		get("cite")
	case "form":
		if m, _ := n.attr("method"); !strings.EqualFold(m, "post") && !strings.EqualFold(m, "dialog") {
			get("action")
		}
	case "frame", "iframe":
		get("src", "longdesc")
		if v, ok := n.attr("srcdoc"); ok && n.name == "iframe" {
			b.inner(v)
		}
	case "img":
		get("longdesc")
		res("src", "lowsrc", "dynsrc")
	case "audio", "video", "source", "track":
		res("src")
	case "script", "input":
		res("src")
	case "object", "embed":
		name := map[string]string{"object": "data", "embed": "src"}[n.name]
		mime, _ := n.attr("type")
		ref, _ := n.attr(name)
		mime = strings.TrimSpace(strings.Split(strings.ToLower(mime)+";", ";")[0])
		if pageType := mime == "text/html" || mime == "application/xhtml+xml"; pageType || mime == "" && pagePath.MatchString(strings.Trim(ref, " \t\n\r\f")) {
			get(name)
		} else {
			res(name)
		}
	case "title":
		if b.titles++; b.titles == 1 {
			b.title = CleanTitle(html.EscapeString(n.text()))
		}
	case "link":
		b.link(n)
	case "meta":
		if eq, _ := n.attr("http-equiv"); strings.EqualFold(eq, "refresh") {
			content, _ := n.attr("content")
			if i := strings.Index(strings.ToLower(content), "url="); i >= 0 {
				u := strings.TrimSpace(content[i+len("url="):])
				if u != "" && strings.Contains(`"'`, u[:1]) {
					u, _, _ = strings.Cut(u[1:], u[:1])
				}
				b.add(u)
			}
		}
	}
}

func (b *builder) link(n node) {
	rel, _ := n.attr("rel")
	page, other := false, false
	for _, rel := range strings.Fields(strings.ToLower(rel)) {
		page = page || slices.Contains(pageRels, rel)
		other = other || slices.Contains([]string{"stylesheet", "icon", "apple-touch-icon", "mask-icon", "manifest", "preload", "modulepreload"}, rel)
	}
	if v, ok := n.attr("href"); ok && (page && !other || other && b.o.Resources) {
		b.add(v)
	}
}

// inner takes in the document of a srcdoc.
func (b *builder) inner(doc string) {
	in := builder{o: b.o, charset: b.charset}
	if err := in.html(doc); err != nil {
		panic(err)
	}
	from := b.from
	if in.hasBase {
		from = " from " + in.base + b.from
	}
	for _, r := range in.refs {
		b.refs = append(b.refs, r+from)
	}
}

// html takes in a document in UTF-8 by the tree of golang.org/x/net/html.
func (b *builder) html(doc string) error {
	root, err := html.ParseWithOptions(strings.NewReader(doc), html.ParseOptionEnableScripting(false))
	if err != nil {
		return err
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		b.node(node{space: n.Namespace, name: n.Data, attr: func(name string) (string, bool) {
			space := ""
			if n.Namespace != "" && strings.HasPrefix(name, "xlink:") {
				space, name = "xlink", name[6:]
			}
			for _, a := range n.Attr {
				if a.Key == name && a.Namespace == space {
					return a.Val, true
				}
			}
			return "", false
		}, text: func() string {
			if n.FirstChild == nil || n.FirstChild.Type != html.TextNode {
				return ""
			}
			return n.FirstChild.Data
		}, inert: templated(n)})
	}
	return nil
}

// templated reports whether an element stands in a template.
func templated(n *html.Node) bool {
	for p := range n.Ancestors() {
		if p.Data == "template" && p.Namespace == "" && p.Type == html.ElementNode {
			return true
		}
	}
	return false
}

// xhtml takes in a document by the decoder of encoding/xml.
func (b *builder) xhtml(doc []byte) error {
	d := xml.NewDecoder(bytes.NewReader(doc))
	d.Entity = xml.HTMLEntity
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil }
	var titled *strings.Builder
	depth, root, bare := 0, true, false // bare: XHTML that does not say so
	for {
		t, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		at := d.InputOffset()
		switch t := t.(type) {
		case xml.StartElement:
			depth++
			space := t.Name.Space
			switch space {
			case uriHTML:
				space = ""
			case uriSVG:
				space = "svg"
			case uriMath:
				space = "math"
			case "":
				space = "none"
				if bare = bare || root && t.Name.Local == "html"; bare {
					space = ""
				}
			default:
				space = "none"
			}
			root = false
			if space == "" && t.Name.Local == "title" && titled == nil {
				titled = &strings.Builder{}
				depth = 0
			}
			b.node(node{space: space, name: t.Name.Local, attr: func(name string) (string, bool) {
				for _, a := range t.Attr {
					key := a.Name.Local
					if a.Name.Space == uriXLink {
						key = "xlink:" + key
					} else if a.Name.Space != "" {
						continue
					}
					if key == name {
						return a.Value, true
					}
				}
				return "", false
			}, text: func() string {
				if t.Name.Local != "style" {
					return ""
				}
				var text strings.Builder
				for d := xml.NewDecoder(bytes.NewReader(doc[at:])); ; {
					d.Entity, d.Strict = xml.HTMLEntity, false
					t, err := d.Token()
					c, ok := t.(xml.CharData)
					if err != nil || !ok {
						return text.String()
					}
					text.Write(c)
				}
			}})
		case xml.CharData:
			if titled != nil && depth == 0 {
				titled.Write(t)
			}
		case xml.EndElement:
			if depth == 0 && titled != nil {
				b.title = CleanTitle(html.EscapeString(titled.String()))
				depth = 1 << 30
			}
			depth--
		}
	}
}

// differs returns how the scanner differs from the tree of a document, "" where it does not. ok is false for a document
// that the tree builder cannot judge: one nested too deep, or with a template in foreign content.
func differs(doc, charset string, o Options) (diff string, ok bool) {
	want := builder{o: o, charset: charset}
	if err := want.html(doc); err != nil {
		return "", false
	}
	body := []byte(doc)
	if charset != "utf-8" {
		e, err := htmlindex.Get(charset)
		if err != nil {
			panic(err)
		}
		if body, err = e.NewEncoder().Bytes(body); err != nil {
			return "", false
		}
	}
	return want.diff(scanned(body, charset, o, Scan)), true
}

func (b *builder) diff(got found) string {
	want := set(b.refs)
	for _, w := range want {
		if _, ok := slices.BinarySearch(got.refs, w); !ok {
			return fmt.Sprintf("no link %q", w)
		}
	}
	for _, g := range got.refs {
		if _, ok := slices.BinarySearch(want, g); !ok {
			return fmt.Sprintf("link %q is none", g)
		}
	}
	if got.base != b.base {
		return fmt.Sprintf("base %q, want %q", got.base, b.base)
	}
	if got.title != b.title && b.titles < 2 { // the first of several in the tree may not be the first in the page
		return fmt.Sprintf("title %q, want %q", got.title, b.title)
	}
	return ""
}
