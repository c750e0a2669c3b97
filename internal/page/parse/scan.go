// Package parse turns the bytes of a page into links, a title, directives and text. It is pure and never fails: a
// page that is not what it says gives what can be read of it.
//
// Scan is a link scanner, not an HTML parser. It walks the tags as the tokenizer of the HTML Standard does (comments,
// raw text, scripts, quotes), looks only at the tags that matter, and copies nothing that it does not have to.
// Tests hold it against golang.org/x/net/html on every page of a corpus. It builds no tree and repairs nothing.
package parse

import "bytes"

// Kind says where a link stands.
type Kind uint8

// Kinds of links.
const (
	Anchor    Kind = iota + 1 // a, area; items of feeds; xlink:href
	Frame                     // frame, iframe
	Relation                  // link with a relation that leads to pages
	Refresh                   // meta refresh
	Form                      // action of a form whose method is GET, and what its buttons ask for
	Citation                  // cite, longdesc
	Resource                  // what a page needs to be shown; only with Options.Resources
	srcsetVal                 // a srcset, split into resources before anybody sees it
)

// Link is a reference as it stands in the page, with character references resolved, in the page's encoding: DecodeRef
// makes text of it. Ref points into the page where nothing had to be changed.
type Link struct {
	Ref  []byte
	Kind Kind
	Base uint16 // what it is relative to: 0 is the page's base, i is Bases[i-1]
	text int32  // where the text of an anchor begins; of an area, which has none, where its tag ends, negative; a page may have millions of links
}

// Base is what the links of a part of a page are relative to: a document in an iframe's srcdoc with a base of its own, an
// element with xml:base.
type Base struct {
	Ref   []byte
	Outer uint16 // what Ref itself is relative to, as Link.Base
}

// Page is what a scan found. Its slices point into the scanned bytes and into its own buffers: they are valid until the
// next scan into the same Page.
type Page struct {
	Base     []byte // href of the first base element, nil if there is none
	Bases    []Base
	Links    []Link // in document order; of a page with very many the first ones: Each gives all
	Title    []byte // undecoded
	Charset  []byte // of the first meta element that declares one
	Lang     []byte // of the html element
	NoFollow bool   // meta robots
	NoIndex  bool
	Reload   bool // it has its reader come back to it: a meta refresh without a URL

	body []byte
	pieces
}

// Options say what a scan looks for.
type Options struct {
	Resources bool   // also what the page needs: images, scripts, styles, media
	Product   string // our product token, lower case: meta name=product is read like name=robots
}

// Scan reads an HTML page into p.
func Scan(body []byte, o Options, p *Page) {
	p.reset(body)
	p.opts = o
	s := scanner{b: body, o: o, p: p}
	s.document()
}

func (p *Page) reset(body []byte) {
	*p = Page{Bases: p.Bases[:0], Links: p.Links[:0], body: body}
}

type scanner struct {
	b     []byte
	o     Options
	p     *Page
	a     [nAttrs][]byte // values of the attributes of interest in the current tag
	has   uint64         // which of them it has
	empty bool           // the current tag ends with "/>"
	xml   bool           // names are as they stand, references are XML's
	form  form
	tree  *tree // in foreign content
	spare tree  // the partial one

	// Of a document in another's srcdoc.
	inner   int    // how many documents it is inside of
	base    uint16 // of links
	first   int    // its first link
	bases   int    // its first base
	hasBase bool   // it has a base element
	apart   bool   // its links are copied, for its text is let go
	keeps   bool   // of its links, or those of a document that it is inside of, none may be handed on before it ends

	templates int // that are open, outside of a tree

	// Of XML.
	decl   []xmlAttr                  // what the current tag declares
	entity func([]byte) (string, int) // what a reference stands for
}

// document scans all of the scanner's bytes as a document.
func (s *scanner) document() {
	before, base := *s.p, s.base
	if s.run() {
		s.closeForm()
		return
	}
	links, bases := s.p.Links[:len(before.Links)], s.p.Bases[:len(before.Bases)]
	*s.p = before
	s.p.Links, s.p.Bases = links, bases
	s.form, s.hasBase, s.base, s.templates = form{}, false, base, 0
	if s.inner == 0 {
		s.p.way = asTree
	}
	s.runWhole()
}

// runWhole scans a document with a whole tree.
func (s *scanner) runWhole() {
	s.tree = &tree{quirks: true}
	s.runTree(0)
	s.closeForm()
}

// run scans without a tree, or with a partial one. It returns false if the document has to be scanned with a whole one.
func (s *scanner) run() bool {
	b := s.b
	i := 0
	for {
		j := bytes.IndexByte(b[i:], '<')
		if j < 0 || i+j+1 >= len(b) {
			return true
		}
		i += j + 1
		if isLetter(b[i]) {
			if i = s.startTag(i); i < 0 {
				return false
			}
		} else {
			i, _ = s.skipMarkup(i)
		}
	}
}

// skipMarkup returns the index after what "<" and the byte at i begin, which is not a start tag: an end tag, a comment, or
// text. It reports whether it is one of the former.
func (s *scanner) skipMarkup(i int) (next int, ok bool) {
	b := s.b
	switch c := b[i]; {
	case c == '/':
		i++
		if i >= len(b) {
			return i, false
		}
		if isLetter(b[i]) {
			end := tagNameEnd(b, i)
			if s.form.open || s.templates > 0 {
				s.endTag(b[i:end])
			}
			return s.skipTag(end), true
		}
		return skipPast(b, i, '>'), true
	case c == '!':
		if bytes.HasPrefix(b[i+1:], []byte("--")) {
			return skipComment(b, i+3), true
		}
		return skipPast(b, i+1, '>'), true
	case c == '?':
		return skipPast(b, i, '>'), true
	}
	return i, false
}

// endTag handles the end of what is noted while it is open.
func (s *scanner) endTag(name []byte) {
	switch {
	case s.form.open && foldEqual(name, "form"):
		s.closeForm()
	case s.templates > 0 && foldEqual(name, "template"):
		s.templates--
	}
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }

// skipPast returns the index after the next c, or len(b).
func skipPast(b []byte, i int, c byte) int {
	if j := bytes.IndexByte(b[i:], c); j >= 0 {
		return i + j + 1
	}
	return len(b)
}

// skipComment returns the end of a comment whose text starts at i (HTML Standard, 13.2.5.43 and following).
func skipComment(b []byte, i int) int {
	dashes, beginning := 0, true
	for ; i < len(b); i++ {
		switch b[i] {
		case '-':
			dashes++
			continue
		case '>':
			if dashes >= 2 || beginning {
				return i + 1
			}
		case '!':
			if dashes >= 2 && i+1 < len(b) {
				if b[i+1] == '>' {
					return i + 2
				}
				if b[i+1] == '-' {
					i++
					dashes, beginning = 1, false
					continue
				}
			}
		default:
			j := bytes.IndexByte(b[i:], '-') // nothing before the next dash can end it
			if j < 0 {
				return len(b)
			}
			i += j - 1
		}
		dashes, beginning = 0, false
	}
	return len(b)
}

// Bytes that end a tag or attribute name, or white space.
const (
	endsName = 1 << iota
	white
)

var class = func() (t [256]uint8) {
	for _, c := range []byte(" \n\r\t\f") {
		t[c] = endsName | white
	}
	t['/'], t['>'], t['='] = endsName, endsName, endsName
	return t
}()

func tagNameEnd(b []byte, i int) int {
	for i < len(b) && (class[b[i]]&endsName == 0 || b[i] == '=') {
		i++
	}
	return i
}

func skipWhite(b []byte, i int) int {
	for i < len(b) && class[b[i]]&white != 0 {
		i++
	}
	return i
}

// attr reads the attribute at i, which is not white space. It returns its name, its value (nil if it has none) and
// the index after it.
func attr(b []byte, i int) (name, val []byte, next int) {
	start := i
	for i < len(b) {
		c := b[i]
		if class[c]&endsName != 0 && (c != '=' || i > start) {
			break
		}
		i++
	}
	name = b[start:i]
	i = skipWhite(b, i)
	if i >= len(b) {
		return name, nil, i
	}
	if b[i] == '/' {
		return name, nil, i + 1
	}
	if b[i] != '=' {
		return name, nil, i
	}
	i = skipWhite(b, i+1)
	if i >= len(b) || b[i] == '>' {
		return name, nil, i
	}
	if q := b[i]; q == '"' || q == '\'' {
		j := bytes.IndexByte(b[i+1:], q)
		if j < 0 {
			return name, b[i+1:], len(b)
		}
		return name, b[i+1 : i+1+j : i+1+j], i + j + 2
	}
	start = i
	for i < len(b) && b[i] != '>' && class[b[i]]&white == 0 {
		i++
	}
	return name, b[start:i:i], i
}

// skipTag returns the index after a tag whose name ends at i.
func (s *scanner) skipTag(i int) int {
	b := s.b
	for {
		i = skipWhite(b, i)
		if i >= len(b) {
			return i
		}
		if b[i] == '>' {
			return i + 1
		}
		_, _, i = attr(b, i)
	}
}

// startTag handles the start tag whose name begins at i and returns the index after it, after its raw text, or after the
// foreign content that it begins; -1 if that cannot be judged without a whole tree.
func (s *scanner) startTag(i int) int {
	b := s.b
	end := tagNameEnd(b, i)
	tag, name := lookupTag(b[i:end])
	if !s.o.Resources && (tag == tagOther || tag >= tagResource) {
		return s.skipTag(end)
	}
	next, ok := s.attrs(end)
	if !ok {
		return len(b) // a tag that does not end is not a tag
	}
	if tag == tagForeign {
		s.spare = tree{partial: true, stack: s.spare.stack[:0]}
		s.tree = &s.spare
		s.emitForeign(name, s.tree.openForeign(startTag{name: name, selfClosed: s.empty}), next)
		next = s.runTree(next)
		if s.tree.lost {
			return -1
		}
		s.tree = nil
		return next
	}
	s.emit(tag, next)
	return s.content(tag, name, next)
}

// content returns the index after the raw text of a start tag that ends at i.
func (s *scanner) content(tag tagID, name string, i int) int {
	b := s.b
	switch tag {
	case tagScript:
		return skipScript(b, i)
	case tagPlaintext:
		return len(b)
	case tagTitle:
		end, next := rawText(b, i, "title")
		if s.p.Title == nil && s.inner == 0 && !s.inert() {
			s.p.Title = b[i:end]
		}
		return next
	case tagStyle:
		end, next := rawText(b, i, name)
		if s.o.Resources {
			s.style(bytes.ReplaceAll(b[i:end], []byte{0}, []byte("?")))
		}
		return next
	case tagIframe, tagRaw, tagTextarea:
		_, next := rawText(b, i, name)
		return next
	}
	return i
}

// rawText returns where the text of a raw-text element ends, and where to go on: at its end tag.
func rawText(b []byte, i int, name string) (end, next int) {
	for {
		j := bytes.IndexByte(b[i:], '<')
		if j < 0 {
			return len(b), len(b)
		}
		i += j
		if endTagAt(b, i, name) {
			return i, i
		}
		i++
	}
}

// endTagAt reports whether "</name" and a byte that ends a name stand at i.
func endTagAt(b []byte, i int, name string) bool {
	e := i + 2 + len(name)
	return e < len(b) && b[i+1] == '/' && foldEqual(b[i+2:e], name) && class[b[e]]&endsName != 0 && b[e] != '='
}

func foldEqual(b []byte, lower string) bool {
	if len(b) != len(lower) {
		return false
	}
	for i := range b {
		c := b[i]
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		if c != lower[i] {
			return false
		}
	}
	return true
}

// skipScript returns where the text of a script ends: at its end tag, unless that stands in what looks like a comment
// with a script in it (HTML Standard, 13.2.5.15 to 13.2.5.31).
func skipScript(b []byte, i int) int {
	escaped, double := false, false
	for i < len(b) {
		if !escaped {
			j := bytes.IndexByte(b[i:], '<')
			if j < 0 {
				return len(b)
			}
			i += j
			if endTagAt(b, i, "script") {
				return i
			}
			if bytes.HasPrefix(b[i:], []byte("<!--")) {
				escaped = true
				i += 4
				if n := dashesThenClose(b, i-2); n > 0 {
					escaped = false
					i = n
				}
				continue
			}
			i++
			continue
		}
		switch c := b[i]; {
		case c == '-' && bytes.HasPrefix(b[i:], []byte("--")):
			if n := dashesThenClose(b, i); n > 0 {
				escaped, double = false, false
				i = n
				continue
			}
			i += 2
		case c == '<' && !double && endTagAt(b, i, "script"):
			return i
		case c == '<' && double && endTagAt(b, i, "script"):
			double = false
			i += len("</script") + 1
		case c == '<' && !double && i+1 < len(b) && isLetter(b[i+1]):
			e := i + 1 + len("script")
			if e < len(b) && foldEqual(b[i+1:e], "script") && class[b[e]]&endsName != 0 && b[e] != '=' {
				double = true
				i = e + 1
			} else {
				i++
			}
		case c == '<' && !double && i+1 < len(b) && b[i+1] != '/':
			escaped = false // as the tokenizer we are held against does: back to plain script data
			i++
		default:
			i++
		}
	}
	return len(b)
}

// dashesThenClose returns the index after "--…->" that starts at i, or 0.
func dashesThenClose(b []byte, i int) int {
	j := i
	for j < len(b) && b[j] == '-' {
		j++
	}
	if j-i >= 2 && j < len(b) && b[j] == '>' {
		return j + 1
	}
	return 0
}
