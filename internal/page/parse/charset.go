package parse

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/saintfish/chardet"
	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/transform"
)

// Charset returns the name of a page's encoding as the WHATWG Encoding Standard spells it: by byte order mark, the
// Content-Type header, the page's own declaration, or a guess from its bytes; utf-8 when nothing speaks against it.
// declared is what a meta element says, or nil.
func Charset(body []byte, contentType string, declared []byte) string {
	if bytes.HasPrefix(body, []byte{0xef, 0xbb, 0xbf}) {
		return "utf-8"
	}
	if bytes.HasPrefix(body, []byte{0xfe, 0xff}) {
		return "utf-16be"
	}
	if bytes.HasPrefix(body, []byte{0xff, 0xfe}) {
		return "utf-16le"
	}
	if n := typeCharset(contentType); n != "" {
		return n
	}
	if n := canonicalCharset(string(declared)); n != "" {
		if strings.HasPrefix(n, "utf-16") { // it was readable as ASCII: it cannot be
			n = "utf-8"
		}
		return n
	}
	return guessCharset(body)
}

// declares takes in what a meta element says that the page's encoding is. The first that names one counts.
func (s *scanner) declares(label []byte) {
	if len(label) == 0 || s.p.Charset != nil || s.inner > 0 {
		return
	}
	if label = s.unescape(label); canonicalCharset(string(label)) != "" {
		s.p.Charset = label
	}
}

// charsetIn returns the encoding that the content of a meta element names (HTML Standard, section 2.4.4), nil if none.
func charsetIn(content []byte) []byte {
	const word, white = "charset", " \t\n\r\f"
	for {
		i := bytes.Index(bytes.ToLower(content), []byte(word))
		if i < 0 {
			return nil
		}
		content = bytes.TrimLeft(content[i+len(word):], white)
		v, ok := bytes.CutPrefix(content, []byte("="))
		if !ok {
			continue
		}
		v = bytes.TrimLeft(v, white)
		end := white + ";"
		if len(v) > 0 && (v[0] == '"' || v[0] == '\'') {
			end, v = string(v[0]), v[1:]
		}
		if j := bytes.IndexAny(v, end); j >= 0 {
			return v[:j]
		} else if len(end) == 1 {
			return nil
		}
		return v
	}
}

// typeCharset returns the encoding that a Content-Type field names: of several types the last that names one (Fetch Standard, 2.2.2).
func typeCharset(field string) (name string) {
	for one := range strings.SplitSeq(field, ",") {
		i := strings.Index(strings.ToLower(one), "charset=")
		if i < 0 {
			continue
		}
		v := strings.Trim(one[i+8:], " \"'")
		if j := strings.IndexAny(v, " ;\"'"); j >= 0 {
			v = v[:j]
		}
		if n := canonicalCharset(v); n != "" {
			name = n
		}
	}
	return name
}

// guessCharset guesses the encoding of undeclared bytes from their first 8 KiB that matter.
func guessCharset(body []byte) string {
	if utf8.Valid(body) {
		return "utf-8"
	}
	i := 0
	for i < len(body) && body[i] < 0x80 {
		i++
	}
	start := max(0, i-1024)
	end := min(len(body), start+8192)
	if r, err := chardet.NewHtmlDetector().DetectBest(body[start:end]); err == nil && r.Confidence >= 20 {
		if n := canonicalCharset(r.Charset); n != "" {
			return n
		}
	}
	return "windows-1252"
}

func canonicalCharset(label string) string {
	switch {
	case label == "" || len(label) > 40:
		return ""
	case strings.EqualFold(label, "utf-8"): // nearly always
		return "utf-8"
	}
	_, name := charset.Lookup(label)
	return name
}

// ASCIISuperset reports whether the bytes of markup stand for themselves in an encoding, so that a page can be
// scanned before it is decoded.
func ASCIISuperset(name string) bool {
	return name != "utf-16be" && name != "utf-16le" && name != "iso-2022-jp" && name != "replacement"
}

// ByteCharset returns the encoding of the bytes that are scanned of a page in a named encoding: the page's own, or UTF-8
// where it has to be decoded first.
func ByteCharset(name string) string {
	if !ASCIISuperset(name) {
		return "utf-8"
	}
	return name
}

// Decode converts bytes in a named encoding to UTF-8; malformed sequences become replacement characters.
func Decode(b []byte, name string) string {
	if name == "utf-8" || isASCII(b) && ASCIISuperset(name) {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	if s := singles(name); s != nil {
		return s.decode(b)
	}
	e, err := htmlindex.Get(name)
	if err != nil || e == encoding.Nop {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	out, err := e.NewDecoder().Bytes(b)
	if err != nil {
		return strings.ToValidUTF8(string(b), "\uFFFD")
	}
	return string(bytes.TrimPrefix(out, []byte("\uFEFF")))
}

// decodeBytes is Decode of a whole page, which may be large: it is in memory once more, and not twice.
func decodeBytes(b []byte, name string) []byte {
	if e, err := htmlindex.Get(name); err == nil && e != encoding.Nop && !ASCIISuperset(name) {
		if out, _, err := transform.Append(e.NewDecoder(), make([]byte, 0, len(b)), b); err == nil {
			return bytes.TrimPrefix(out, []byte("\uFEFF"))
		}
	}
	return []byte(Decode(b, name))
}

// isASCII looks at 32 bytes at a time: every page without a charset of its own is looked at whole.
func isASCII(b []byte) bool {
	const high = 0x8080808080808080
	for ; len(b) >= 32; b = b[32:] {
		if (eight(b, 0)|eight(b, 8)|eight(b, 16)|eight(b, 24))&high != 0 {
			return false
		}
	}
	for _, c := range b {
		if c >= 0x80 {
			return false
		}
	}
	return true
}

// ReadEncoded is Read of a body in whatever encoding it is. It returns the body, decoded if it cannot be read as it is (then it is in
// UTF-8), and the name of its encoding.
func ReadEncoded(kind Type, body []byte, contentType string, o Options, doc *Page) (text []byte, charset string) {
	charset = Charset(body[:min(len(body), 4)], contentType, nil)
	if ASCIISuperset(charset) {
		Read(kind, body, o, doc)
		known := body
		if isASCII(body) {
			known = nil // nothing to guess by; but references are in the encoding that is named
		}
		charset = Charset(known, contentType, doc.Charset)
		if ASCIISuperset(charset) {
			return body, charset
		}
	}
	body = decodeBytes(body, charset)
	Read(kind, body, o, doc)
	return body, charset
}
