package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
)

// Names of namespaces that matter.
const (
	uriHTML  = "http://www.w3.org/1999/xhtml"
	uriSVG   = "http://www.w3.org/2000/svg"
	uriMath  = "http://www.w3.org/1998/Math/MathML"
	uriXLink = "http://www.w3.org/1999/xlink"
)

// Bounds of what is kept of an XML document while it is read. Beyond them elements are only counted, declarations and
// entities left out.
const (
	maxDepth    = 4096
	maxDecls    = 1024
	maxEntities = 256
	maxEntity   = 8192 // bytes of an entity's text
	maxExpanded = 1 << 20
)

// ScanXML reads a document that was served as XML into p: XHTML, SVG, a feed (RSS, Atom, RDF Site Summary), or another
// with links in elements of those languages or in XLink attributes. XHTML that is not well-formed is read as HTML: a
// browser shows an error there, but those who wrote it never saw one.
func ScanXML(body []byte, o Options, p *Page) {
	p.reset(body)
	p.way, p.opts = asXML, o
	x := newXMLScanner(body, o, p)
	x.run()
	if x.html && x.broken {
		declared := p.Charset
		Scan(body, o, p)
		if p.Charset == nil {
			p.Charset = declared
		}
	}
}

type xmlScanner struct {
	scanner
	open     [][]byte // names of open elements
	depth    int
	decls    []nsDecl
	bases    []xmlBase
	entities map[string]string
	expanded int // bytes that references stood for

	root   bool // the root element has been seen
	html   bool // it is XHTML's
	bare   bool // and names no namespace
	feed   feedKind
	broken bool // not well-formed

	template int // depth of the outermost open template
}

// nsDecl is a declaration of a namespace; those of outer elements come first.
type nsDecl struct {
	depth  int
	prefix string
	uri    string
}

// xmlAttr is an attribute that declares a namespace, or a prefixed href.
type xmlAttr struct{ name, val []byte }

type xmlBase struct {
	depth int
	outer uint16
}

func newXMLScanner(body []byte, o Options, p *Page) *xmlScanner {
	x := &xmlScanner{scanner: scanner{b: body, o: o, p: p, xml: true}}
	x.scanner.entity = x.ref
	return x
}

// run scans the document.
func (x *xmlScanner) run() {
	defer x.closeForm()
	b := x.b
	for i := 0; ; {
		j := bytes.IndexByte(b[i:], '<')
		if j < 0 || i+j+1 >= len(b) {
			break
		}
		i += j + 1
		switch c := b[i]; {
		case c == '/':
			end := tagNameEnd(b, i+1)
			x.endTag(b[i+1 : end])
			i = skipPast(b, end, '>')
		case c == '!' && bytes.HasPrefix(b[i:], []byte("!--")):
			i = skipTo(b, i+3, "-->")
		case c == '!' && bytes.HasPrefix(b[i:], []byte("![CDATA[")):
			i = skipTo(b, i, "]]>")
		case c == '!':
			i = x.doctype(i + 1)
		case c == '?':
			end := skipTo(b, i, "?>")
			x.instruction(b[i+1 : end])
			i = end
		case isLetter(c) || c == '_' || c >= 0x80:
			i = x.startTag(i)
		default:
			x.broken = true
		}
	}
	x.broken = x.broken || x.depth > 0
}

// skipTo returns the index after the next end, or len(b).
func skipTo(b []byte, i int, end string) int {
	if j := bytes.Index(b[i:], []byte(end)); j >= 0 {
		return i + j + len(end)
	}
	return len(b)
}

// startTag handles the start tag whose name begins at i and returns the index after it.
func (x *xmlScanner) startTag(i int) int {
	b := x.b
	end := tagNameEnd(b, i)
	x.decl = x.decl[:0]
	next, ok := x.attrs(end)
	if !ok {
		x.broken = true
		return len(b)
	}
	x.depth++
	if len(x.open) < maxDepth && x.depth == len(x.open)+1 {
		x.open = append(x.open, b[i:end])
	}
	for _, d := range x.decl {
		if len(x.decls) < maxDecls && !bytes.HasSuffix(d.name, []byte(":href")) {
			prefix := strings.TrimPrefix(strings.TrimPrefix(string(d.name), "xmlns"), ":")
			x.decls = append(x.decls, nsDecl{x.depth, prefix, string(x.unescapeXML(d.val))})
		}
	}
	prefix, local, ok := bytes.Cut(b[i:end], []byte(":"))
	if !ok {
		prefix, local = nil, prefix
	}
	x.element(x.uri(string(prefix)), local, next)
	if x.empty {
		x.leave()
	}
	return next
}

// uri returns the name of the namespace that a prefix stands for, "" if it has none.
func (x *xmlScanner) uri(prefix string) string {
	for i := len(x.decls) - 1; i >= 0; i-- {
		if x.decls[i].prefix == prefix {
			return x.decls[i].uri
		}
	}
	return ""
}

// endTag handles an end tag.
func (x *xmlScanner) endTag(name []byte) {
	if x.depth == 0 {
		x.broken = true
		return
	}
	if x.depth == len(x.open) && !bytes.Equal(x.open[x.depth-1], name) {
		x.broken = true
		if x.depth == 1 {
			return // the root's declarations hold to the end
		}
	}
	if bytes.HasSuffix(name, []byte("form")) {
		x.closeForm()
	}
	x.leave()
}

// leave ends the innermost element.
func (x *xmlScanner) leave() {
	if x.depth == len(x.open) {
		x.open = x.open[:x.depth-1]
	}
	if x.depth > 1 {
		for n := len(x.decls); n > 0 && x.decls[n-1].depth >= x.depth; n-- {
			x.decls = x.decls[:n-1]
		}
	}
	for n := len(x.bases); n > 0 && x.bases[n-1].depth >= x.depth; n-- {
		x.base = x.bases[n-1].outer
		x.bases = x.bases[:n-1]
	}
	if x.depth == x.template {
		x.template, x.templates = 0, 0
	}
	x.depth--
}

// element handles an element, given its attributes; next is the index after its start tag.
func (x *xmlScanner) element(uri string, local []byte, next int) {
	if !x.root {
		x.root = true
		x.html = string(local) == "html" && (uri == "" || uri == uriHTML)
		x.bare = x.html && uri == ""
		x.feed = feedOf(uri, string(local))
	}
	if uri == "" && x.bare {
		uri = uriHTML
	}
	if v := x.get(aXMLBase); v != nil && uri != uriHTML {
		if len(x.bases) < maxDepth {
			x.bases = append(x.bases, xmlBase{x.depth, x.base})
			x.base = x.p.addBase(x.unescape(v), x.base)
		}
	}
	if string(local) == "title" && x.p.Title == nil && !x.inert() && (uri == uriHTML || !x.html) {
		x.p.Title = textAt(x.b, next)
	}
	x.xlink()
	switch uri {
	case uriHTML:
		tag, name := lookupTag(local)
		if name != string(local) {
			tag = tagOther // names are as they stand
		}
		if x.emit(tag, next); tag == tagTemplate && x.template == 0 {
			x.template = x.depth
		}
		if tag == tagStyle && x.o.Resources && !x.empty {
			x.style(x.cssText(next))
		}
	case uriSVG:
		x.emitForeign(string(local), nsSVG, next)
	case uriMath:
		x.emitForeign(string(local), nsMath, next)
	default:
		if x.feed == notFeed || !x.item(uri, string(local), next) {
			x.add(aXlinkHref, Anchor, next)
		}
	}
}

// xmlAttr notes an attribute that declares a namespace or may be XLink's.
func (s *scanner) xmlAttr(name, val []byte) {
	if len(s.decl) < maxEntities && (bytes.HasPrefix(name, []byte("xmlns")) || bytes.HasSuffix(name, []byte(":href"))) {
		s.decl = append(s.decl, xmlAttr{name, val})
	}
}

// xlink finds an href of XLink by whatever prefix it has.
func (x *xmlScanner) xlink() {
	x.has &^= 1 << aXlinkHref
	for _, d := range x.decl {
		if prefix, ok := bytes.CutSuffix(d.name, []byte(":href")); ok {
			if u := x.uri(string(prefix)); u == uriXLink || u == "" && string(prefix) == "xlink" {
				x.a[aXlinkHref] = d.val
				x.has |= 1 << aXlinkHref
			}
		}
	}
}

// textAt returns the text at i, undecoded: up to the next tag, or the section that it begins with.
func textAt(b []byte, i int) []byte {
	rest := b[i:]
	if t := bytes.TrimLeft(rest, " \t\r\n"); bytes.HasPrefix(t, []byte("<![CDATA[")) {
		text, _, _ := bytes.Cut(t[len("<![CDATA["):], []byte("]]>"))
		return text
	}
	text, _, _ := bytes.Cut(rest, []byte("<"))
	return text
}

// instruction handles a processing instruction: the document's declaration, or a style sheet's (W3C, Associating Style
// Sheets with XML documents).
func (x *xmlScanner) instruction(v []byte) {
	if rest, ok := bytes.CutPrefix(v, []byte("xml")); ok && !x.root && len(rest) > 0 && class[rest[0]]&white != 0 {
		in := scanner{b: append(bytes.TrimSuffix(bytes.Clone(rest), []byte("?>")), '>'), p: x.p, xml: true}
		if _, ok := in.attrs(0); ok && x.p.Charset == nil {
			x.p.Charset = in.get(aEncoding)
		}
		return
	}
	rest, ok := bytes.CutPrefix(v, []byte("xml-stylesheet"))
	if !ok || !x.o.Resources || len(rest) == 0 || class[rest[0]]&white == 0 {
		return
	}
	in := scanner{b: append(bytes.TrimSuffix(bytes.Clone(rest), []byte("?>")), '>'), o: x.o, p: x.p, xml: true, entity: x.entity}
	if _, ok := in.attrs(0); ok {
		in.add(aHref, Resource, 0)
	}
}

// doctype reads a document type declaration from i, after its "<!", for the entities that it declares, and returns the
// index after it.
func (x *xmlScanner) doctype(i int) int {
	b := x.b
	inside := false
	for i < len(b) {
		switch c := b[i]; {
		case c == '"' || c == '\'':
			i = skipPast(b, i+1, c)
			continue
		case c == '[':
			inside = true
		case c == ']':
			inside = false
		case c == '>' && !inside:
			return i + 1
		case c == '<' && bytes.HasPrefix(b[i:], []byte("<!--")):
			i = skipTo(b, i+4, "-->")
			continue
		case c == '<' && bytes.HasPrefix(b[i:], []byte("<?")):
			i = skipTo(b, i, "?>")
			continue
		case c == '<' && bytes.HasPrefix(b[i:], []byte("<!ENTITY")):
			i = x.entityDecl(i + len("<!ENTITY"))
			continue
		}
		i++
	}
	return i
}

// entityDecl notes an internal general entity: "name 'text'>".
func (x *xmlScanner) entityDecl(i int) int {
	b := x.b
	i = skipWhite(b, i)
	start := i
	for i < len(b) && class[b[i]]&endsName == 0 && b[i] != '"' && b[i] != '\'' {
		i++
	}
	name := string(b[start:i])
	i = skipWhite(b, i)
	if i >= len(b) || b[i] != '"' && b[i] != '\'' {
		return i // a parameter entity, or an external one
	}
	end := skipPast(b, i+1, b[i])
	if text := b[i+1 : max(i+1, end-1)]; len(text) <= maxEntity && len(x.entities) < maxEntities && name != "" {
		if x.entities == nil {
			x.entities = map[string]string{}
		}
		if _, twice := x.entities[name]; !twice { // the first declaration counts
			x.entities[name] = string(resolve(text, charRef, func(out []byte, r rune) []byte { return utf8.AppendRune(out, r) }))
		}
	}
	return end
}

// unescapeXML resolves the references of an attribute's value in XML.
func (s *scanner) unescapeXML(v []byte) []byte {
	if bytes.IndexByte(v, '&') < 0 && bytes.IndexByte(v, 0) < 0 {
		return v
	}
	return resolve(v, s.entity, appendMark)
}

// ref reads the reference that v starts with: of a character, or of an entity, of HTML (which the document types of XHTML
// declare) or of the document's own. Entities in the text of an entity are resolved once more, and no further.
func (x *xmlScanner) ref(v []byte) (string, int) {
	s, n := xmlRef(v, x.entities)
	if x.expanded += len(s); len(s) > 2 && x.expanded > maxExpanded {
		return "", 0
	}
	if n > 0 && strings.IndexByte(s, '&') >= 0 && s != "&" {
		s = string(resolve([]byte(s), func(v []byte) (string, int) { return xmlRef(v, nil) }, func(out []byte, r rune) []byte {
			return utf8.AppendRune(out, r)
		}))
	}
	return s, n
}

// charRef reads a reference of a character, as they are resolved in the text of an entity when it is declared.
func charRef(v []byte) (string, int) {
	if len(v) > 2 && v[1] == '#' {
		if r, n := numericRef(v); n > 0 && v[n-1] == ';' {
			return string(r), n
		}
	}
	return "", 0
}

func xmlRef(v []byte, entities map[string]string) (string, int) {
	if len(v) > 2 && v[1] == '#' {
		return charRef(v)
	}
	i := 1
	for i < len(v) && i < maxName && class[v[i]]&endsName == 0 && v[i] != ';' && v[i] != '&' {
		i++
	}
	if i == 1 || i >= len(v) || v[i] != ';' {
		return "", 0
	}
	if s, ok := entities[string(v[1:i])]; ok {
		return s, i + 1
	}
	name := string(v[:i+1])
	s := html.UnescapeString(name)
	if s[0] == '&' && name != "&amp;" || strings.HasSuffix(s, ";") && name != "&semi;" {
		return "", 0
	}
	return s, i + 1
}
