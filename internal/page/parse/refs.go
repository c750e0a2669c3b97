package parse

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// A reference is kept in the bytes of its page, whose encoding is known only when the page has been read. Characters that
// character references stand for are Unicode whatever the page's encoding is: those that are not ASCII become a mark, a
// NUL and six hexadecimal digits, which DecodeRef turns into the character. A page's own NUL is such a character too: it
// becomes U+FFFD (HTML Standard, 13.2.5.36 and following).
const (
	refMark   = 0
	markWidth = 7
)

// maxName bounds the name of a character reference; the longest of HTML has 32 bytes.
const maxName = 40

// unescape resolves the character references of an attribute's value. Nearly every value with an ampersand has "&amp;"
// and nothing else.
func unescape(v []byte) []byte {
	if bytes.IndexByte(v, 0) >= 0 {
		return resolve(v, htmlRef, appendMark)
	}
	if bytes.IndexByte(v, '&') < 0 {
		return v
	}
	out := make([]byte, 0, len(v))
	for rest := v; ; {
		i := bytes.IndexByte(rest, '&')
		if i < 0 {
			return append(out, rest...)
		}
		if !bytes.HasPrefix(rest[i:], []byte("&amp;")) {
			return resolve(v, htmlRef, appendMark)
		}
		out = append(append(out, rest[:i]...), '&')
		rest = rest[i+5:]
	}
}

// appendRef writes a character that is not ASCII as a reference, into a value that is markup itself.
func appendRef(out []byte, r rune) []byte {
	return append(strconv.AppendUint(append(out, "&#"...), uint64(r), 10), ';')
}

// resolve replaces character references by what ref says that they are; other writes a character that is not ASCII.
func resolve(v []byte, ref func([]byte) (string, int), other func([]byte, rune) []byte) []byte {
	return resolveTo(make([]byte, 0, len(v)), v, ref, other)
}

func resolveTo(out, v []byte, ref func([]byte) (string, int), other func([]byte, rune) []byte) []byte {
	for i := 0; i < len(v); {
		c := v[i]
		if c != '&' && c != 0 {
			j := i + 1
			for j < len(v) && v[j] != '&' && v[j] != 0 {
				j++
			}
			out = append(out, v[i:j]...)
			i = j
			continue
		}
		if c == 0 {
			out = other(out, utf8.RuneError)
			i++
			continue
		}
		s, n := ref(v[i:])
		if n == 0 {
			out = append(out, '&')
			i++
			continue
		}
		for _, r := range s {
			if r < utf8.RuneSelf && r != refMark {
				out = append(out, byte(r))
			} else {
				out = other(out, r)
			}
		}
		i += n
	}
	return out
}

func appendMark(out []byte, r rune) []byte {
	const hex = "0123456789ABCDEF"
	out = append(out, refMark)
	for shift := 20; shift >= 0; shift -= 4 {
		out = append(out, hex[r>>shift&15])
	}
	return out
}

// htmlRef reads the character reference that v, part of an attribute's value, starts with (HTML Standard, 13.2.5.72 and
// following). It returns what it stands for and its length, 0 if there is none.
func htmlRef(v []byte) (string, int) {
	if len(v) > 2 && v[1] == '#' {
		r, n := numericRef(v)
		if r >= 0x80 && r < 0xa0 { // bytes of windows-1252
			return html.UnescapeString("&#" + strconv.Itoa(int(r)) + ";"), n
		}
		return string(r), n
	}
	i := nameEnd(v)
	if i == 1 {
		return "", 0
	}
	name := string(v[:i])
	if i < len(v) && v[i] == ';' {
		s := html.UnescapeString(name + ";")
		if s[0] == '&' && name != "&amp" && name != "&AMP" || strings.HasSuffix(s, ";") && name != "&semi" {
			return "", 0 // unknown, or only its beginning is known, which does not count in an attribute
		}
		return s, i + 1
	}
	if i < len(v) && v[i] == '=' {
		return "", 0
	}
	s := html.UnescapeString(name)
	if utf8.RuneCountInString(s) != 1 {
		return "", 0
	}
	return s, i
}

// nameEnd returns where the name of a reference ends that starts at v[1].
func nameEnd(v []byte) int {
	i := 1
	for i < len(v) && i < maxName && (isLetter(v[i]) || v[i] >= '0' && v[i] <= '9') {
		i++
	}
	return i
}

// numericRef reads "&#…": the code point, U+FFFD for one that is not a character, and the reference's length, 0 if it has
// no digits.
func numericRef(v []byte) (r rune, n int) {
	i, base := 2, rune(10)
	if v[2]|0x20 == 'x' {
		i, base = 3, 16
	}
	start := i
	for ; i < len(v); i++ {
		d := rune(0)
		switch c := v[i]; {
		case c >= '0' && c <= '9':
			d = rune(c - '0')
		case base == 16 && c|0x20 >= 'a' && c|0x20 <= 'f':
			d = rune(c|0x20-'a') + 10
		default:
			d = -1
		}
		if d < 0 {
			break
		}
		if r <= utf8.MaxRune {
			r = r*base + d
		}
	}
	if i == start {
		return 0, 0
	}
	if i < len(v) && v[i] == ';' {
		i++
	}
	if r == 0 || !utf8.ValidRune(r) {
		r = utf8.RuneError
	}
	return r, i
}

// DecodeRef converts a reference (a Link's Ref, a Page's Base) to UTF-8 as the URL Standard asks of a document in a named
// encoding: the path is decoded, what is not ASCII in the query is percent-encoded in the document's encoding, as
// "&#…;" where that has no such character. The fragment is dropped where that matters. The reference is in the bytes of
// the page, or in UTF-8 where the page had to be decoded before it was scanned (ByteCharset).
func DecodeRef(ref []byte, name string) string {
	if plain(ref) {
		return string(ref)
	}
	text := decodeMarks(ref, ByteCharset(name))
	if name == "utf-8" || strings.HasPrefix(name, "utf-16") || name == "replacement" {
		return text // the output encoding of all of them is UTF-8
	}
	if i := strings.IndexByte(text, '#'); i >= 0 {
		text = text[:i]
	}
	path, query, has := strings.Cut(text, "?")
	if !has || isASCII([]byte(query)) {
		return text
	}
	e, err := htmlindex.Get(name)
	if err != nil || e == encoding.Nop {
		return text
	}
	return path + "?" + encodeQuery(query, name, e.NewEncoder())
}

// plain reports whether a reference is what it is in every encoding.
func plain(ref []byte) bool {
	for _, c := range ref {
		if c >= utf8.RuneSelf || c == refMark {
			return false
		}
	}
	return true
}

// decodeMarks converts a reference to UTF-8: the page's bytes from its encoding, marks to their characters.
func decodeMarks(ref []byte, name string) string {
	var b strings.Builder
	for {
		i := bytes.IndexByte(ref, refMark)
		if i < 0 || len(ref) < i+markWidth {
			b.WriteString(Decode(ref, name))
			return b.String()
		}
		b.WriteString(Decode(ref[:i], name))
		if r, err := strconv.ParseUint(string(ref[i+1:i+markWidth]), 16, 32); err == nil {
			b.WriteRune(rune(r))
		}
		ref = ref[i+markWidth:]
	}
}
