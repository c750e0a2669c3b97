package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"
)

// sitemapDepth is how many elements of a sitemap are kept while they are open: the schema nests four.
const sitemapDepth = 64

// sitemapReader reads a sitemap's XML so that damage costs little: what does not make a tag, a comment or a section is text, an end
// tag without its start is nothing, and an entry ends where the next one begins.
type sitemapReader struct {
	xmlScanner         // declarations of namespaces, and entities
	charset    string  // of text and values
	endless    [3]bool // no comment, section, instruction ends from here on
	typed      bool    // a document type has been read

	name  []byte // of the tag that was read last
	attr  []xmlAttr
	slash bool // it is an element without content

	stack [][]byte // names of open elements; the root's stays
	space string   // the root's namespace

	entry int // how many of stack are open with the open entry; 0 if none is
	kind  string
	loc   []byte // its address, nil if it has none yet
	date  []byte
	field *[]byte // where the text of the innermost element goes, while stack has
	at    int     // so many elements

	alt             alternates
	pages, sitemaps []SitemapEntry
	over            int
}

// readSitemap reads a sitemap in XML; see Sitemap.
func readSitemap(body []byte, named string) (pages, sitemaps []SitemapEntry, over int) {
	r := &sitemapReader{charset: sitemapCharset(body, named)}
	r.b = body
	r.entity = r.ref
	r.read()
	if r.field != &r.loc { // it was cut off in the address
		r.end()
	}
	return append(r.pages, r.alt.rest(&r.over)...), r.sitemaps, r.over
}

func (r *sitemapReader) read() {
	b := r.b
	for i, text := 0, 0; ; {
		j := bytes.IndexByte(b[i:], '<')
		if j < 0 {
			r.text(b[text:])
			return
		}
		at := i + j
		next := r.markup(at)
		if next == 0 {
			i = at + 1
			continue
		}
		r.text(b[text:at])
		r.apply(at, next)
		i, text = next, next
	}
}

// markup returns the index after the tag, comment, section, instruction or declaration that begins at i, 0 if none does.
func (r *sitemapReader) markup(i int) int {
	rest := r.b[i:]
	for n, m := range [][2]string{{"<!--", "-->"}, {"<![CDATA[", "]]>"}, {"<?", "?>"}} {
		if bytes.HasPrefix(rest, []byte(m[0])) && !r.endless[n] {
			if j := bytes.Index(rest[len(m[0]):], []byte(m[1])); j >= 0 {
				return i + len(m[0]) + j + len(m[1])
			}
			r.endless[n] = true
		}
	}
	switch {
	case len(rest) < 2:
	case rest[1] == '/':
		return r.tag(i + 2)
	case isLetter(rest[1]) || rest[1] == '_' || rest[1] >= 0x80:
		return r.tag(i + 1)
	case bytes.HasPrefix(rest, []byte("<!DOCTYPE")) && !r.typed:
		r.typed = true
		if next := r.doctype(i + 2); r.b[next-1] == '>' {
			return next
		}
	}
	return 0
}

// tag reads the tag whose name begins at i, and returns the index after it. It returns 0 if there is a "<" before its end:
// neither names nor values have one (XML 1.0, section 3.1).
func (r *sitemapReader) tag(i int) int {
	b := r.b
	r.attr, r.slash = r.attr[:0], false
	r.name, i = r.word(i)
	for i = skipWhite(b, i); i < len(b) && b[i] != '<'; i = skipWhite(b, i) {
		if b[i] == '>' {
			return i + 1
		}
		if r.slash = b[i] == '/'; r.slash {
			i++
			continue
		}
		var a xmlAttr
		if a.name, i = r.word(i); len(a.name) == 0 {
			i++ // an equals sign
		}
		if i = skipWhite(b, i); i < len(b) && b[i] == '=' {
			if i = skipWhite(b, i+1); i < len(b) && (b[i] == '"' || b[i] == '\'') {
				n := bytes.IndexAny(b[i+1:], "<"+string(b[i]))
				if n < 0 || b[i+1+n] == '<' {
					return 0
				}
				a.val, i = b[i+1:i+1+n], i+n+2
			} else {
				for start := i; i < len(b) && class[b[i]]&white == 0 && b[i] != '>' && b[i] != '<'; i++ {
					a.val = b[start : i+1]
				}
			}
		}
		if len(r.attr) < sitemapDepth {
			r.attr = append(r.attr, a)
		}
	}
	return 0
}

// word returns the name at i, and the index after it.
func (r *sitemapReader) word(i int) ([]byte, int) {
	start := i
	for i < len(r.b) && class[r.b[i]]&endsName == 0 && r.b[i] != '<' {
		i++
	}
	return r.b[start:i], i
}

// apply does what the markup from i to next says.
func (r *sitemapReader) apply(i, next int) {
	switch m := r.b[i:next]; {
	case bytes.HasPrefix(m, []byte("<![CDATA[")):
		r.add(Decode(m[len("<![CDATA["):len(m)-len("]]>")], r.charset))
	case m[1] == '!' || m[1] == '?':
	case m[1] == '/':
		r.close()
	default:
		if r.open(); r.slash {
			r.close()
		}
	}
}

// open begins the element whose tag was read.
func (r *sitemapReader) open() {
	prefix, local, ok := strings.Cut(string(r.name), ":")
	if !ok {
		prefix, local = "", prefix
	}
	local = strings.ToLower(local) // XML tells case apart; who writes <URL> means the same
	depth := len(r.stack)
	if local == "url" || local == "sitemap" {
		depth = min(1, depth) // entries are the root's, whatever else is still open
	}
	uri := r.namespace(prefix, depth)
	if len(r.stack) == 0 {
		r.space = uri
	}
	own := uri == "" || uri == r.space || strings.Contains(uri, "sitemap") && !strings.Contains(uri, "sitemap-") // extensions are called so
	entry := own && (local == "url" || local == "sitemap")
	if entry {
		r.leaveTo(depth)
	}
	if len(r.stack) == sitemapDepth {
		return
	}
	r.stack = append(r.stack, r.name)
	depth = len(r.stack)
	for _, a := range r.attr {
		if prefix, ok := nsPrefix(a.name); ok && len(r.decls) < maxDecls {
			r.decls = append(r.decls, nsDecl{depth, prefix, string(r.unescapeXML(a.val))})
		}
	}
	switch {
	case entry:
		r.entry, r.kind = depth, local
	case r.entry == 0:
	case own && local == "loc":
		if r.loc != nil { // an entry each
			r.end()
		}
		r.loc, r.field, r.at = []byte{}, &r.loc, depth
	case own && local == "lastmod":
		r.date, r.field, r.at = r.date[:0], &r.date, depth
	case local == "link" && (uri == uriHTML || uri == "xhtml"):
		var rel, href string // another language's version of the page
		for _, a := range r.attr {
			switch string(a.name) {
			case "rel":
				rel = string(r.unescapeXML(a.val))
			case "href":
				href = r.clean(resolve([]byte(Decode(a.val, r.charset)), r.entity, utf8.AppendRune))
			}
		}
		if rel == "alternate" {
			r.alt.add(href)
		}
	}
}

// namespace returns the namespace of the tag that was read, which has a prefix, within so many of the outer elements. A prefix that is
// not declared is its own namespace.
func (r *sitemapReader) namespace(prefix string, outer int) string {
	for _, a := range r.attr {
		if p, ok := nsPrefix(a.name); ok && p == prefix {
			return string(r.unescapeXML(a.val))
		}
	}
	for i := len(r.decls) - 1; i >= 0; i-- {
		if d := r.decls[i]; d.depth <= outer && d.prefix == prefix {
			return d.uri
		}
	}
	return prefix
}

// nsPrefix returns the prefix that an attribute declares; it reports whether it declares one, or the default.
func nsPrefix(name []byte) (string, bool) {
	prefix, ok := strings.CutPrefix(string(name), "xmlns")
	return strings.TrimPrefix(prefix, ":"), ok && (prefix == "" || prefix[0] == ':')
}

// close ends the innermost element with the name of the tag that was read.
func (r *sitemapReader) close() {
	for n := len(r.stack) - 1; n >= 0; n-- {
		if bytes.EqualFold(r.stack[n], r.name) {
			r.leaveTo(max(n, 1))
			if n == 0 {
				r.end()
			}
			return
		}
	}
}

// leaveTo ends all elements but the outer n.
func (r *sitemapReader) leaveTo(n int) {
	r.stack = r.stack[:n]
	for k := len(r.decls); k > 0 && r.decls[k-1].depth > n; k-- {
		r.decls = r.decls[:k-1]
	}
	if r.at > n {
		r.field, r.at = nil, 0
	}
	if r.entry > n {
		r.end()
		r.entry = 0
	}
}

// text takes the text between two pieces of markup.
func (r *sitemapReader) text(v []byte) {
	if r.field != nil && r.at == len(r.stack) && len(v) > 0 {
		r.add(string(resolve([]byte(Decode(v[:min(len(v), maxLoc)], r.charset)), r.entity, utf8.AppendRune)))
	}
}

// add appends to the open field.
func (r *sitemapReader) add(s string) {
	if r.field != nil && r.at == len(r.stack) && len(*r.field) < maxLoc {
		*r.field = append(*r.field, s[:min(len(s), maxLoc)]...)
	}
}

// end takes the entry that is open, if it has an address.
func (r *sitemapReader) end() {
	e := SitemapEntry{Loc: r.clean(r.loc), LastMod: w3cTime(r.clean(r.date))}
	r.loc, r.date, r.field, r.at = nil, nil, nil, 0
	switch {
	case e.Loc == "":
	case len(r.pages)+len(r.sitemaps) >= MaxSitemapURLs:
		r.over++
		r.alt.entry(e.Loc)
	case r.kind == "url":
		r.pages = append(r.pages, e)
		r.alt.entry(e.Loc)
	default:
		r.sitemaps = append(r.sitemaps, e)
	}
}

// clean returns a text without what XML does not allow (section 2.2) and without the white space around it.
func (r *sitemapReader) clean(v []byte) string {
	return strings.TrimSpace(strings.Map(func(c rune) rune {
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' || c == 0xfffe || c == 0xffff {
			return utf8.RuneError
		}
		return c
	}, string(v)))
}
