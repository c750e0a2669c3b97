package parse

import (
	"bytes"
	"unicode/utf8"
)

// SheetPart says what a part of a style sheet is.
type SheetPart uint8

// Parts of style sheets that are not taken as they are.
const (
	SheetURL     SheetPart = iota // url() or src(), a URL and all
	SheetString                   // a string that is a URL
	SheetComment                  // a comment, or "<!--" and "-->", which sheets were hidden behind once
)

// EachInSheet calls found with the URLs and comments of a style sheet in UTF-8, in their order, and with where they begin and end, until it returns
// false. Bad URLs and those of @namespace are none.
func EachInSheet(b []byte, found func(kind SheetPart, ref string, start, end int) bool) {
	eachURL(b, func(kind SheetPart, ref []byte, start, end int) bool {
		return found(kind, decodeMarks(ref, "utf-8"), start, end)
	})
}

// eachURL calls found with every URL of a style sheet (CSS Syntax Level 3): of url() and src(), of @import, and the strings
// of image-set(), and with every comment, until it returns false. URLs of @namespace are names and are left out. Escapes are
// resolved; characters that are not ASCII become marks, as in attributes.
func eachURL(b []byte, found func(kind SheetPart, ref []byte, start, end int) bool) {
	var (
		more   = true
		name   []byte // of a rule or function
		v      []byte
		rule   string // the at-rule whose prelude this is, of those that matter
		depth  int    // open parentheses
		images int    // the depth at which an image-set is open, 0 if none is
	)
	emit := func(kind SheetPart, ref []byte, start, end int) {
		if ref = trimSpace(ref); len(ref) > 0 && rule != "namespace" && rule != "document" {
			more = found(kind, ref, start, end)
		}
	}
	for i := 0; i < len(b) && more; {
		switch c, start := b[i], i; {
		case (c == '/' || c == '<' || c == '-') && skipCSSComment(b, i) > i:
			i = skipCSSComment(b, i)
			more = found(SheetComment, nil, start, i)
		case c == '"' || c == '\'':
			v, i = cssString(b, i)
			if images > 0 && depth >= images || rule == "import" {
				emit(SheetString, v, start, i)
				if rule == "import" {
					rule = "imported" // what follows are layers and conditions
				}
			}
		case c == ';' || c == '{' || c == '}':
			rule, depth, images = "", 0, 0
			i++
		case c == '(':
			depth++
			i++
		case c == ')':
			depth = max(0, depth-1)
			if depth < images {
				images = 0
			}
			i++
		case c == '@':
			name, i = cssName(b, i+1)
			if rule = string(bytes.ToLower(bytes.TrimPrefix(bytes.ToLower(name), []byte("-moz-")))); len(rule) > 16 {
				rule = ""
			}
		case cssNameByte(c) || c == '\\':
			name, i = cssName(b, i)
			if i == start { // a backslash that escapes nothing
				i++
			}
			if i >= len(b) || b[i] != '(' {
				continue
			}
			switch {
			case bytes.EqualFold(name, []byte("url")), bytes.EqualFold(name, []byte("src")):
				if v, i = cssURL(b, i+1); v != nil {
					emit(SheetURL, v, start, i)
					if rule == "import" {
						rule = "imported"
					}
				}
			default:
				depth++
				i++
				if images == 0 && (bytes.EqualFold(name, []byte("image-set")) || bytes.EqualFold(name, []byte("-webkit-image-set")) ||
					bytes.EqualFold(name, []byte("image"))) {
					images = depth
				} else if images > 0 && bytes.EqualFold(name, []byte("type")) {
					i = skipPast(b, i, ')')
					depth--
				}
			}
		default:
			i++
		}
	}
}

// skipCSSComment returns where what SheetComment is ends that begins at i; i if there is none.
func skipCSSComment(b []byte, i int) int {
	switch {
	case bytes.HasPrefix(b[i:], []byte("<!--")):
		return i + 4
	case bytes.HasPrefix(b[i:], []byte("-->")):
		return i + 3
	case !bytes.HasPrefix(b[i:], []byte("/*")):
		return i
	}
	if j := bytes.Index(b[i+2:], []byte("*/")); j >= 0 {
		return i + 2 + j + 2
	}
	return len(b)
}

func cssNameByte(c byte) bool {
	return isLetter(c) || c >= '0' && c <= '9' || c == '-' || c == '_' || c >= utf8.RuneSelf
}

// cssName reads the name at i, with its escapes resolved.
func cssName(b []byte, i int) (name []byte, next int) {
	start := i
	for i < len(b) && cssNameByte(b[i]) {
		i++
	}
	if i >= len(b) || b[i] != '\\' {
		return b[start:i], i
	}
	name = bytes.Clone(b[start:i])
	for i < len(b) {
		switch {
		case cssNameByte(b[i]):
			name = append(name, b[i])
			i++
		case b[i] == '\\' && i+1 < len(b) && b[i+1] != '\n' && b[i+1] != '\r' && b[i+1] != '\f':
			name, i = cssEscape(name, b, i+1)
		default:
			return name, i
		}
	}
	return name, i
}

// cssEscape resolves the escape whose text begins at i, after the backslash, and appends it.
func cssEscape(out, b []byte, i int) ([]byte, int) {
	r, n := rune(0), 0
	for ; n < 6 && i < len(b); n++ {
		c := b[i]
		switch {
		case c >= '0' && c <= '9':
			r = r<<4 | rune(c-'0')
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			r = r<<4 | rune(c|0x20-'a'+10)
		default:
			c = 0
		}
		if c == 0 {
			break
		}
		i++
	}
	if n == 0 {
		return append(out, b[i]), i + 1 // a byte for itself; the rest of its character follows
	}
	if i < len(b) && class[b[i]]&white != 0 { // white space ends the digits
		if b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n' {
			i++
		}
		i++
	}
	if r == 0 || !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	if r < utf8.RuneSelf {
		return append(out, byte(r)), i
	}
	return appendMark(out, r), i
}

// cssString reads the string whose quote stands at i. A newline ends it, and then it is not a string.
func cssString(b []byte, i int) (v []byte, next int) {
	quote := b[i]
	i++
	start, changed := i, false
	for i < len(b) {
		switch c := b[i]; {
		case c == quote:
			if !changed {
				v = b[start:i]
			}
			return v, i + 1
		case c == '\n' || c == '\r' || c == '\f':
			return nil, i
		case c == '\\':
			if !changed {
				changed = true
				v = bytes.Clone(b[start:i])
			}
			i++
			switch {
			case i >= len(b):
			case b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n':
				i += 2
			case b[i] == '\n' || b[i] == '\r' || b[i] == '\f':
				i++
			default:
				v, i = cssEscape(v, b, i)
			}
		default:
			if changed {
				v = append(v, c)
			}
			i++
		}
	}
	if !changed {
		v = b[start:]
	}
	return v, i
}

// cssURL reads what stands in url( from i on; nil if that is not a URL.
func cssURL(b []byte, i int) (v []byte, next int) {
	i = skipWhite(b, i)
	if i < len(b) && (b[i] == '"' || b[i] == '\'') {
		v, i = cssString(b, i)
		return v, skipPast(b, i, ')')
	}
	v = []byte{}
	for i < len(b) {
		switch c := b[i]; {
		case c == ')':
			return v, i + 1
		case class[c]&white != 0:
			if i = skipWhite(b, i); i < len(b) && b[i] != ')' {
				return nil, skipPast(b, i, ')')
			}
		case c == '"' || c == '\'' || c == '(':
			return nil, skipPast(b, i, ')')
		case c == '\\' && i+1 < len(b):
			if n := b[i+1]; n == '\n' || n == '\r' || n == '\f' {
				return nil, skipPast(b, i, ')')
			}
			v, i = cssEscape(v, b, i+1)
		default:
			v = append(v, c)
			i++
		}
	}
	return v, i
}
