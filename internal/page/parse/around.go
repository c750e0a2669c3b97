package parse

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// MaxAround bounds the words on either side of an anchor, in bytes; aroundWindow how far they are looked for.
const (
	MaxAround    = 80
	aroundWindow = 500
)

// AroundText returns the words before and behind an anchor, in the same block of the page, at most MaxAround bytes on each side.
func (p *Page) AroundText(l Link, charset string) string {
	at := int(l.text)
	if at <= 0 || at > len(p.body) {
		return ""
	}
	before := p.body[max(0, at-aroundWindow):at]
	if i := bytes.LastIndexByte(before, '<'); i >= 0 {
		before = before[:i] // the anchor's own tag
	}
	if i := bytes.IndexByte(before, '>'); i >= 0 && bytes.IndexByte(before[:i], '<') < 0 {
		before = before[i+1:] // the rest of a tag
	}
	behind := p.body[at:min(len(p.body), at+2*aroundWindow)]
	if i := bytes.Index(behind, []byte("</")); i >= 0 {
		for i >= 0 && !(i+3 <= len(behind) && behind[i+2]|0x20 == 'a' && (i+3 == len(behind) || class[behind[i+3]]&endsName != 0)) {
			if j := bytes.Index(behind[i+2:], []byte("</")); j >= 0 {
				i += 2 + j
			} else {
				i = -1
			}
		}
		if i < 0 {
			behind = nil
		} else {
			behind = behind[i:min(len(behind), i+aroundWindow)]
		}
	}
	a, b := inBlock(before, true), inBlock(behind, false)
	if len(a) > MaxAround {
		a = a[len(a)-MaxAround:]
		if i := bytes.IndexByte(a, ' '); i >= 0 {
			a = a[i+1:]
		}
	}
	if len(b) > MaxAround {
		b = b[:MaxAround]
		if i := bytes.LastIndexByte(b, ' '); i >= 0 {
			b = b[:i]
		}
	}
	text := strings.TrimSpace(Decode(a, ByteCharset(charset)) + " " + Decode(b, ByteCharset(charset)))
	return clean(html.UnescapeString(text), 2*MaxAround+1)
}

// inBlock returns the text of a piece of a page without tags, white space folded: what comes behind its last block's edge, or
// before its first.
func inBlock(b []byte, last bool) []byte {
	if last {
		b = b[afterBlocks(b):]
	}
	f := folded{out: make([]byte, 0, 2*MaxAround)}
	for i := 0; i < len(b); i++ {
		if b[i] != '<' {
			f.add(b[i])
			continue
		}
		name, end := nameOf(b, i)
		if !last && isBlock(b[name:end]) {
			break
		}
		f.space = f.space || len(f.out) > 0
		i = skipPast(b, i, '>') - 1
	}
	return f.out
}

// afterBlocks returns where the last tag of a block ends.
func afterBlocks(b []byte) (at int) {
	for i := 0; ; {
		j := bytes.IndexByte(b[i:], '<')
		if j < 0 {
			return at
		}
		name, end := nameOf(b, i+j)
		i = endOfTag(b, i+j)
		if isBlock(b[name:end]) {
			at = i
		}
	}
}

// nameOf returns where the name of the tag at i begins and ends.
func nameOf(b []byte, i int) (name, end int) {
	name = i + 1
	if name < len(b) && b[name] == '/' {
		name++
	}
	end = tagNameEnd(b, name)
	return min(name, end), end
}

// isBlock reports whether an element's edges end a line of text.
func isBlock(name []byte) bool {
	var low [10]byte
	if len(name) == 0 || len(name) > len(low) || blockLengths[name[0]&31]>>len(name)&1 == 0 {
		return false
	}
	for i, c := range name {
		if c >= 'A' && c <= 'Z' {
			c |= 0x20
		}
		low[i] = c
	}
	return blocks[string(low[:len(name)])]
}

// blockLengths has, by the first letter of a name, how long the names of blocks are, as bits: most other names are passed by with it.
var blockLengths = func() (t [32]uint16) {
	for name := range blocks {
		t[name[0]&31] |= 1 << len(name)
	}
	return t
}()
