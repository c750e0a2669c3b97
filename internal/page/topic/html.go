package topic

import (
	"bytes"
	"strings"
)

// html takes in the words of a page.
func (r *reader) html(b []byte) {
	walk(b, func(text []byte, place int) {
		r.place = place
		r.text(text)
	}, func() { r.last = 0 }) // a pair does not reach across a block's edge
}

// walk calls text with each text of a page and where it stands, and edge where a block begins or ends. It takes tags as they
// stand and repairs nothing: an element that is not closed ends where the next heading or the page does.
func walk(b []byte, text func(text []byte, place int), edge func()) {
	var at place
	for len(b) > 0 {
		i := bytes.IndexByte(b, '<')
		if i < 0 {
			i = len(b)
		}
		if i > 0 {
			text(b[:i], at.now())
		}
		b = b[i:]
		if len(b) < 2 {
			return
		}
		switch c := b[1]; {
		case c == '!' && bytes.HasPrefix(b[2:], []byte("--")):
			end := bytes.Index(b[4:], []byte("-->"))
			if end < 0 {
				return
			}
			b = b[4+end+3:]
		case c == '/' || c == '!' || c == '?' || c|0x20 >= 'a' && c|0x20 <= 'z':
			end := bytes.IndexByte(b, '>')
			if end < 0 {
				return
			}
			skip := at.tag(b[1:end], edge)
			b = b[end+1:]
			if skip != "" {
				b = b[endOf(b, skip):]
			}
		default: // a bare <
			b = b[1:]
		}
	}
}

// endOf returns where an element's content ends.
func endOf(b []byte, name string) int {
	for i := 0; ; {
		j := bytes.Index(b[i:], []byte("</"))
		if j < 0 {
			return len(b)
		}
		i += j
		if rest := b[i+2:]; len(rest) >= len(name) && bytes.EqualFold(rest[:len(name)], []byte(name)) {
			return i
		}
		i += 2
	}
}

// place is where in a page a walk is.
type place struct {
	title, link bool
	heading     byte // its digit, 0 outside
	around      int  // elements open that stand around the main text
}

func (p *place) now() int {
	switch {
	case p.title:
		return inTitle
	case p.around > 0:
		return inAround
	case p.heading != 0:
		return inHeading
	case p.link:
		return inLink
	}
	return inText
}

// isInline reports whether an element is one inside of which, and of whose ends, a sentence goes on.
func isInline(name []byte) bool {
	switch string(name) {
	case "a", "abbr", "b", "code", "em", "i", "kbd", "mark", "q", "samp", "small", "span", "strong", "sub", "sup", "tt", "u", "var", "wbr":
		return true
	}
	return false
}

// isAround reports whether an element stands around a page's main text.
func isAround(name []byte) bool {
	switch string(name) {
	case "nav", "header", "footer", "aside", "form", "select", "button", "menu":
		return true
	}
	return false
}

// told has, by the first letter of a name, the lengths of the names that tag looks at, as bits: most tags are passed by with it.
var told = func() (t [32]uint16) {
	for _, name := range strings.Fields("a abbr b code em i kbd mark q samp small span strong sub sup tt u var wbr nav header footer aside form select button menu " +
		"h1 h2 h3 h4 h5 h6 title main article script style template") {
		t[name[0]&31] |= 1 << len(name)
	}
	return t
}()

// tag takes in a tag, without its brackets, and returns the name of an element whose content is no text.
func (p *place) tag(tag []byte, edge func()) (skip string) {
	closes := tag[0] == '/'
	if closes {
		tag = tag[1:]
	}
	var low [8]byte
	n := 0
	for n < len(tag) && n < len(low) && (tag[n]|0x20 >= 'a' && tag[n]|0x20 <= 'z' || tag[n] >= '1' && tag[n] <= '6') {
		low[n] = tag[n] | 0x20
		n++
	}
	name := low[:n]
	if n == 0 || told[name[0]&31]>>n&1 == 0 {
		edge()
		return ""
	}
	if !isInline(name) {
		edge()
	}
	switch {
	case n == 1 && name[0] == 'a':
		p.link = !closes
	case n == 2 && name[0] == 'h' && tag[1] >= '1' && tag[1] <= '6':
		p.heading, p.link = 0, false
		if !closes && tag[1] <= '3' {
			p.heading = tag[1]
		}
	case string(name) == "title":
		p.title = !closes
	case isAround(name):
		if closes {
			p.around = max(0, p.around-1)
		} else if len(tag) == 0 || tag[len(tag)-1] != '/' {
			p.around++
		}
	case string(name) == "main" || string(name) == "article":
		p.around = 0 // whatever was not closed before it
	case !closes && (string(name) == "script" || string(name) == "style" || string(name) == "template"):
		return string(name)
	}
	return ""
}
