package parse

import (
	"bytes"
	"strings"
)

// runTree scans from i on with a tree: a whole one to the end of the page, a partial one to the end of the foreign content
// that it follows, or until it is lost. It returns where it stopped.
func (s *scanner) runTree(i int) int {
	b, t := s.b, s.tree
	raw := "" // the element whose raw text has just been skipped: its end tag is next
	text := i
	for !t.lost && (!t.partial || len(t.stack) > 0) {
		j := bytes.IndexByte(b[i:], '<')
		if j < 0 || i+j+1 >= len(b) {
			return len(b)
		}
		at := i + j
		i = at + 1
		c := b[i]
		markup := isLetter(c) || c == '!' || c == '?' || c == '/' && i+1 < len(b)
		if !markup {
			continue
		}
		if raw == "" && at > text && !t.partial {
			t.text(isWhite(b[text:at]))
		}
		switch {
		case isLetter(c):
			i, raw = s.treeStart(i)
			if t.partial && len(t.stack) == 0 && i < 0 {
				return at // the tag has ended foreign content and is HTML's
			}
		case c == '/' && isLetter(b[i+1]):
			end := tagNameEnd(b, i+1)
			name := lowerName(b[i+1 : end])
			i = s.skipTag(end)
			if raw == "" || raw != name {
				t.end(name)
			}
			if name == "form" {
				s.closeForm()
			}
			raw = ""
		case c == '!' && t.top().ns != nsHTML && bytes.HasPrefix(b[i:], []byte("![CDATA[")):
			start := i + len("![CDATA[")
			i = skipTo(b, start, "]]>")
			if content := bytes.TrimSuffix(b[start:i], []byte("]]>")); len(content) > 0 {
				t.text(isWhite(content))
			}
		default:
			if c == '!' {
				t.doctype(b[i+1:])
			}
			i, _ = s.skipMarkup(i)
		}
		text = i
	}
	return i
}

func isWhite(b []byte) bool { return len(bytes.Trim(b, " \t\n\r\f\x00")) == 0 }

// treeStart handles the start tag whose name begins at i. It returns the index after it and its raw text, and its name if
// it has such text; -1 if a partial tree has ended before it.
func (s *scanner) treeStart(i int) (next int, raw string) {
	b, t := s.b, s.tree
	end := tagNameEnd(b, i)
	tag, name := lookupTag(b[i:end])
	next, ok := s.attrs(end)
	if !ok {
		return len(b), ""
	}
	if name == "" {
		name = lowerName(b[i:end])
	}
	attrs := ""
	if !t.partial {
		attrs = string(b[end:next])
	}
	ns := t.start(startTag{
		name: name, attrs: attrs, selfClosed: s.empty, hidden: bytes.EqualFold(s.get(aType), []byte("hidden")),
		font: s.has&(1<<aColor|1<<aFace|1<<aSize) != 0, markup: s.markupEncoding(),
	})
	if t.partial && len(t.stack) == 0 {
		if ns != nsHTML {
			return next, "" // one that closed itself
		}
		return -1, ""
	}
	if t.lost {
		return next, ""
	}
	if ns != nsHTML {
		s.emitForeign(name, ns, next)
		return next, ""
	}
	s.emit(tag, next)
	switch tag {
	case tagScript, tagTitle, tagStyle, tagIframe, tagRaw, tagTextarea:
		raw = name
	}
	return s.content(tag, name, next), raw
}

// markupEncoding reports whether the encoding of an annotation-xml makes it an HTML integration point.
func (s *scanner) markupEncoding() bool {
	v := s.get(aEncoding)
	return v != nil && (bytes.EqualFold(v, []byte("text/html")) || bytes.EqualFold(v, []byte("application/xhtml+xml")))
}

// doctype notes what a page says of itself: one without a document type, or with one of the old ones, is read in quirks
// mode, where a table does not end a paragraph.
func (t *tree) doctype(b []byte) {
	if t.partial || len(t.stack) > 0 || len(b) < 7 || !foldEqual(b[:7], "doctype") {
		return
	}
	d := strings.ToLower(string(b[:max(0, bytes.IndexByte(b, '>'))]))
	fields := strings.Fields(d)
	t.quirks = len(fields) < 2 || fields[1] != "html" || strings.Contains(d, "//dtd html 2") || strings.Contains(d, "//dtd html 3") ||
		(strings.Contains(d, "//dtd html 4.01 transitional") || strings.Contains(d, "//dtd html 4.01 frameset")) && !strings.Contains(d, "http") ||
		strings.Contains(d, "//dtd html 4.0 transitional") || strings.Contains(d, "//dtd html 4.0 frameset")
}

// common are names that need no memory of their own.
var common = func() map[string]string {
	m := map[string]string{}
	for _, list := range []map[string]bool{specialElements, breakouts, names("svg path g circle rect line polyline polygon ellipse",
		"defs use symbol text tspan image mask pattern stop clippath lineargradient radialgradient filter animate marker desc",
		"math mrow mi mo mn ms mtext msup msub mfrac msqrt mover munder mtable mtr mtd mspace mstyle semantics annotation a font label")} {
		for n := range list {
			m[n] = n
		}
	}
	return m
}()

// lowerName returns the name of an element in lower case.
func lowerName(b []byte) string {
	if n, ok := common[string(b)]; ok {
		return n
	}
	for _, c := range b {
		if c >= 'A' && c <= 'Z' {
			return strings.ToLower(string(b))
		}
	}
	return string(b)
}

// emitForeign records what an element of svg or math says, given its attributes; next is the index after its tag.
func (s *scanner) emitForeign(name string, ns uint8, next int) {
	ref := aHref
	if s.get(aHref) == nil {
		ref = aXlinkHref
	}
	switch {
	case ns == nsMath, name == "a":
		s.add(ref, Anchor, next)
	case s.o.Resources:
		s.add(ref, Resource, 0)
		if name == "style" && !s.empty {
			s.style(s.cssText(next))
		}
	}
	if s.o.Resources {
		s.styleAttr()
		if ns == nsSVG {
			s.drawn()
		}
	}
}

// drawn records what an element of SVG is drawn with that stands in another file: paints, masks, filters, markers (SVG 2, section 6.6).
func (s *scanner) drawn() {
	if s.has>>aFill == 0 {
		return
	}
	for id := aFill; id < nAttrs; id++ {
		if v := s.get(id); bytes.IndexByte(v, '(') >= 0 || bytes.IndexByte(v, '&') >= 0 {
			eachURL(s.unescape(v), func(kind SheetPart, ref []byte, _, _ int) bool {
				if kind != SheetComment && ref[0] != '#' { // mostly they stand in the page itself
					s.addRef(ref, Resource, 0)
				}
				return true
			})
		}
	}
}

// cssText returns the text of a style element that is not raw text: up to the next tag, or the section that it begins with.
func (s *scanner) cssText(i int) []byte {
	b := s.b[i:]
	if rest := bytes.TrimLeft(b, " \t\n\r\f"); bytes.HasPrefix(rest, []byte("<![CDATA[")) {
		text, _, _ := bytes.Cut(rest[len("<![CDATA["):], []byte("]]>"))
		return text
	}
	text, _, _ := bytes.Cut(b, []byte("<"))
	return s.unescape(text)
}
