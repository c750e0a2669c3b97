package topic

import (
	"bytes"
	"encoding/binary"
	"math/bits"
	"strings"
)

// html takes in the words of a page.
func (r *reader) html(b []byte) {
	walk(b, func(from, to, place int, edge bool) {
		if edge {
			r.last = 0 // a pair does not reach across a block's edge
		}
		r.place = place
		r.text(b, from, to)
	})
}

// walk calls text with each text of a page, where it stands, and whether a block begins or ends before it. It takes tags as they
// stand and repairs nothing: an element that is not closed ends where the next heading or the page does.
func walk(b []byte, text func(from, to, place int, edge bool)) {
	var at place
	edge := false
	for i := 0; i < len(b); {
		if b[i] != '<' {
			end := nextByte(b, i, '<')
			text(i, end, at.now(), edge)
			i, edge = end, false
		}
		if len(b)-i < 2 {
			return
		}
		switch c := b[i+1]; {
		case c == '!' && bytes.HasPrefix(b[i+2:], []byte("--")):
			end := bytes.Index(b[i+4:], []byte("-->"))
			if end < 0 {
				return
			}
			i += 4 + end + 3
		case c == '/' || c == '!' || c == '?' || c|0x20 >= 'a' && c|0x20 <= 'z':
			end := endOfTag(b, i+1)
			if end == len(b) {
				return
			}
			kind, key := tagAt(b, i+1)
			edge = edge || kind != tagInline && kind != tagLink
			i = end + 1
			if kind > tagLink {
				if hidden := at.tag(kind, key, c == '/', b[end-1] == '/'); hidden {
					i += endOf(b[i:], key)
				}
			} else if kind == tagLink {
				at.link = c != '/'
			}
		default: // a bare <
			i++
		}
	}
}

// nextByte returns where c stands next, from i on, or len(b).
func nextByte(b []byte, i int, c byte) int {
	if j := bytes.IndexByte(b[i:], c); j >= 0 {
		return i + j
	}
	return len(b)
}

// endOfTag returns where the next ">" stands, from i on, or len(b). Most tags are short.
func endOfTag(b []byte, i int) int {
	for range 3 {
		if len(b)-i < 8 {
			break
		}
		v := binary.LittleEndian.Uint64(b[i:]) ^ '>'*ones
		if at := (v - ones) &^ v & highs; at != 0 { // the lowest of these is right
			return i + bits.TrailingZeros64(at)/8
		}
		i += 8
	}
	return nextByte(b, i, '>')
}

// endOf returns where an element's content ends, whose name is given as tagAt reads it.
func endOf(b []byte, key uint64) int {
	for i := 0; ; {
		j := bytes.Index(b[i:], []byte("</"))
		if j < 0 {
			return len(b)
		}
		i += j
		if _, name := tagAt(b, i+1); name == key {
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

// tagKind is what an element is to a walk.
type tagKind uint8

const (
	tagBlock   tagKind = iota // any element that is not one of the others: its ends are a block's edges
	tagInline                 // a sentence goes on inside of it, and behind it
	tagLink                   // so it does here
	tagHeading                // h1 to h6
	tagTitle
	tagAround // it stands around a page's main text
	tagMain
	tagHidden // its content is not text
)

// namedKinds are the elements that a walk knows.
var namedKinds = [...]string{
	tagInline: "abbr b code em i kbd mark q samp small span strong sub sup tt u var wbr", tagLink: "a", tagHeading: "h1 h2 h3 h4 h5 h6", tagTitle: "title",
	tagAround: "nav header footer aside form select button menu", tagMain: "main article", tagHidden: "script style template",
}

// kindTable finds an element by its name, up to eight bytes of it as an integer, in open addressing.
var kindTable = func() (t [128]struct {
	key  uint64
	kind tagKind
}) {
	for kind, names := range namedKinds {
		for name := range strings.FieldsSeq(names) {
			key := eight([]byte(name), 0)
			at := slotOf(key)
			for t[at].key != 0 {
				at = (at + 1) % uint64(len(t))
			}
			t[at].key, t[at].kind = key, tagKind(kind)
		}
	}
	return t
}()

func slotOf(key uint64) uint64 { return key * 0x9e3779b97f4a7c15 >> 57 }

// tagAt returns what element the tag is of whose name, or a slash before it, begins at i, and the first eight bytes of that name, in lower case.
func tagAt(b []byte, i int) (kind tagKind, key uint64) {
	if b[i] == '/' {
		i++
	}
	v := eight(b, i)
	low := (v | 0x20*ones) &^ highs
	letters := (low + (0x80-'a')*ones) &^ (low + (0x80-'z'-1)*ones)
	plain := v &^ highs
	digits := (plain + (0x80-'1')*ones) &^ (plain + (0x80-'6'-1)*ones)
	n := bits.TrailingZeros64(^(letters|digits)&highs | v&highs)
	if n < 64 {
		low &= 1<<(n&^7) - 1
	}
	for at := slotOf(low); ; at = (at + 1) % uint64(len(kindTable)) {
		switch kindTable[at].key {
		case low:
			return kindTable[at].kind, low
		case 0:
			return tagBlock, low
		}
	}
}

// eight returns the bytes of b from i on, zeros after its end.
func eight(b []byte, i int) uint64 {
	if i+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[i:])
	}
	var v uint64
	for n := len(b) - 1; n >= i; n-- {
		v = v<<8 | uint64(b[n])
	}
	return v
}

// tag takes in a tag that changes where a walk is, and reports whether what follows is not text. key is its name as tagAt reads it.
func (p *place) tag(kind tagKind, key uint64, closes, empty bool) (hidden bool) {
	switch kind {
	case tagHeading:
		p.heading, p.link = 0, false
		if digit := byte(key >> 8); !closes && digit <= '3' {
			p.heading = digit
		}
	case tagTitle:
		p.title = !closes
	case tagAround:
		if closes {
			p.around = max(0, p.around-1)
		} else if !empty {
			p.around++
		}
	case tagMain:
		p.around = 0 // whatever was not closed before it
	case tagHidden:
		return !closes
	}
	return false
}
