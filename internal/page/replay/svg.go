package replay

import (
	"bufio"
	"bytes"
	"encoding/xml"
	"io"
	"strings"

	"golang.org/x/net/html"

	"argosy/internal/crawl"
)

const (
	svgSpace   = "http://www.w3.org/2000/svg"
	htmlSpace  = "http://www.w3.org/1999/xhtml"
	linkSpace  = "http://www.w3.org/1999/xlink"
	namesSpace = "xmlns"
)

// SVG writes an SVG document in UTF-8 with the URLs in it turned by to; at is where it was had. Elements of other vocabularies than SVG
// and XHTML are left out, by whatever prefix they are named, and so is what could run. A document that breaks off, or breaks the rules of
// XML, ends there. SVG ends when the writer fails.
func SVG(w io.Writer, doc []byte, at crawl.URL, to To) error {
	d := xml.NewDecoder(bytes.NewReader(doc))
	d.Strict = false
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // it is UTF-8 by now
	s := &drawing{rewriter: rewriter{base: at, at: at, to: to}, out: bufio.NewWriter(w)}
	for {
		t, err := d.RawToken()
		if err != nil {
			break
		}
		if more, err := s.token(t); err != nil {
			return err
		} else if !more {
			break
		}
	}
	for len(s.open) > 0 {
		if err := s.close(); err != nil {
			return err
		}
	}
	return s.out.Flush()
}

// drawing is an SVG document that is being written.
type drawing struct {
	rewriter
	out  *bufio.Writer
	open []element
	any  bool // an element was written
}

// element is one that is open.
type element struct {
	name   xml.Name // with its prefix, as it stands there
	space  string   // that it is of
	local  string   // lower case
	names  map[string]string
	hidden bool // it is left out, with what is in it
}

// token writes a token. It reports whether there is more to read.
func (s *drawing) token(t xml.Token) (more bool, err error) {
	switch t := t.(type) {
	case xml.StartElement:
		if len(s.open) >= maxDepth || len(s.open) == 0 && s.any {
			return false, nil
		}
		return true, s.start(t)
	case xml.EndElement:
		if len(s.open) == 0 || s.open[len(s.open)-1].name != t.Name {
			return false, nil
		}
		return true, s.close()
	case xml.CharData:
		return true, s.text(t)
	}
	return true, nil // comments, instructions and declarations are left out
}

func (s *drawing) text(b []byte) error {
	if len(s.open) == 0 || s.open[len(s.open)-1].hidden {
		return nil
	}
	if s.open[len(s.open)-1].local != "style" {
		return xml.EscapeText(s.out, b)
	}
	var sheet bytes.Buffer
	out := bufio.NewWriter(&capped{&sheet, maxSheet})
	if css(out, b, s.base, s.to) != nil || out.Flush() != nil {
		return nil // a sheet of that length is left out
	}
	return xml.EscapeText(s.out, sheet.Bytes())
}

// maxSheet is the most bytes of a style sheet in an SVG document.
const maxSheet = 8 << 20

// names returns the vocabulary that a prefix stands for; the empty one is that of elements without.
func (s *drawing) space(prefix string) string {
	for i := len(s.open) - 1; i >= 0; i-- {
		if v, ok := s.open[i].names[prefix]; ok {
			return v
		}
	}
	return ""
}

func (s *drawing) start(t xml.StartElement) error {
	e := element{name: t.Name, local: strings.ToLower(t.Name.Local)}
	for _, a := range t.Attr {
		prefix, ok := a.Name.Local, a.Name.Space == namesSpace
		if a.Name.Space == "" && a.Name.Local == namesSpace {
			prefix, ok = "", true
		}
		if ok && len(e.names) < maxAttrs {
			if e.names == nil {
				e.names = map[string]string{}
			}
			e.names[prefix] = a.Value
		}
	}
	above := ""
	if n := len(s.open); n > 0 {
		e.hidden, above = s.open[n-1].hidden, s.open[n-1].space
	}
	s.open = append(s.open, e)
	at := &s.open[len(s.open)-1]
	at.space = s.space(t.Name.Space)
	tag := html.Token{Data: t.Name.Local}
	if at.space == htmlSpace {
		tag.Data = at.local
	}
	known := (at.space == svgSpace || at.space == htmlSpace) && isName(t.Name.Local) && !strings.Contains(t.Name.Local, ":")
	if at.hidden = at.hidden || !known || drops[at.local]; at.hidden {
		return nil
	}
	tag.Attr = s.attributes(t.Attr)
	if at.hidden = !s.tag(&tag); at.hidden {
		return nil
	}
	s.any = true
	return s.write(&tag, at.space, at.space != above)
}

// attributes returns the attributes that count: those without a prefix, and links.
func (s *drawing) attributes(all []xml.Attr) (out []html.Attribute) {
	for _, a := range all[:min(len(all), maxAttrs)] {
		name := a.Name.Local
		switch {
		case name == namesSpace || a.Name.Space == namesSpace:
			continue
		case a.Name.Space == "xml":
			name = "xml:" + name
		case a.Name.Space != "" && (s.space(a.Name.Space) != linkSpace || name != "href"):
			continue
		}
		if attrOf(&html.Token{Attr: out}, name) == nil {
			out = append(out, html.Attribute{Key: name, Val: a.Value})
		}
	}
	return out
}

// write writes the start of an element; space names its vocabulary, where that is not the one around it.
func (s *drawing) write(t *html.Token, space string, named bool) error {
	s.out.WriteString("<" + t.Data)
	if named {
		s.out.WriteString(` xmlns="` + space + `"`)
	}
	for _, a := range t.Attr {
		s.out.WriteString(" " + a.Key + `="`)
		_ = xml.EscapeText(s.out, []byte(a.Val)) // a writer that has failed says so below
		s.out.WriteByte('"')
	}
	_, err := s.out.WriteString(">")
	return err
}

// close ends the element that is open.
func (s *drawing) close() error {
	e := s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	if e.hidden {
		return nil
	}
	name := e.name.Local
	if e.space == htmlSpace {
		name = e.local
	}
	_, err := s.out.WriteString("</" + name + ">")
	return err
}
