package parse

import (
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
)

// queryWriter writes a query as the URL Standard does, "percent-encode after encoding": what the encoding gives is percent-encoded where
// it is not ASCII, a character that it lacks becomes "&#…;", percent-encoded.
type queryWriter struct{ strings.Builder }

func (w *queryWriter) bytes(b ...byte) {
	const hex = "0123456789ABCDEF"
	for _, c := range b {
		if c >= 0x7f || c <= ' ' || strings.IndexByte(`"#'<>`, c) >= 0 { // the query percent-encode set
			w.WriteByte('%')
			w.WriteByte(hex[c>>4])
			c = hex[c&15]
		}
		w.WriteByte(c)
	}
}

func (w *queryWriter) lacks(r rune) { w.WriteString("%26%23" + strconv.Itoa(int(r)) + "%3B") }

// encodeQuery encodes a query by the encoder of the Encoding Standard. Those of x/text differ from it in the encodings that have an
// encoder here: a browser would send other bytes. What is ASCII stays as it stands.
func encodeQuery(query, name string, e *encoding.Encoder) string {
	var w queryWriter
	if name == "iso-2022-jp" {
		w.iso2022JP(query)
		return w.String()
	}
	pairs, one := pairsOf[name], singles(name)
	for _, r := range query {
		if r < utf8.RuneSelf {
			w.WriteByte(byte(r))
			continue
		}
		var has bool
		if one != nil {
			var c byte
			if c, has = one.bytes[r]; has {
				w.bytes(c)
			}
		} else if pairs != nil {
			has = w.pair(r, name, pairs())
		} else if out, err := e.String(string(r)); err == nil {
			has = true
			w.bytes([]byte(out)...)
		}
		if !has {
			w.lacks(r)
		}
	}
	return w.String()
}

// pair writes a character of an encoding of pairs of bytes (Encoding Standard, sections 11.1.2, 12.1.2 and 12.3.2); it reports false for one
// that the encoding lacks.
func (w *queryWriter) pair(r rune, name string, pairs map[rune]uint16) bool {
	if name != "big5" {
		switch {
		case r == '\u00a5':
			w.bytes('\\')
			return true
		case r == '\u203e':
			w.bytes('~')
			return true
		case r == '\u0080' && name == "shift_jis":
			w.bytes(0x80)
			return true
		case r >= '\uff61' && r <= '\uff9f' && name == "shift_jis":
			w.bytes(byte(r - '\uff61' + 0xa1))
			return true
		case r >= '\uff61' && r <= '\uff9f':
			w.bytes(0x8e, byte(r-'\uff61'+0xa1))
			return true
		}
		r = minus(r)
	}
	p, ok := pairs[r]
	if ok {
		w.bytes(byte(p>>8), byte(p))
	}
	return ok
}

// minus is the minus sign that JIS X 0208 has.
func minus(r rune) rune {
	if r == '\u2212' {
		return '\uff0d'
	}
	return r
}

// katakana are those of full width for U+FF61 to U+FF9F (Encoding Standard, index ISO-2022-JP katakana).
var katakana = []rune("。「」、・ヲァィゥェォャュョッーアイウエオカキクケコサシスセソタチツテトナニヌネノハヒフヘホマミムメモヤユヨラリルレロワン゛゜")

// iso2022JP writes a query in the encoding that shifts between sets (Encoding Standard, section 12.2.2).
func (w *queryWriter) iso2022JP(query string) {
	const ascii, roman, jis = 'B', 'J', '$'
	state := rune(ascii)
	to := func(s rune) {
		if state != s && s == jis {
			w.bytes(0x1b, '$', 'B')
		} else if state != s {
			w.bytes(0x1b, '(', byte(s))
		}
		state = s
	}
	pairs := pairsOf["euc-jp"]()
	for _, r := range query {
		switch {
		case r == '\u00a5':
			to(roman)
			w.bytes('\\')
			continue
		case r == '\u203e':
			to(roman)
			w.bytes('~')
			continue
		case r < utf8.RuneSelf && state == roman && r != '\\' && r != '~':
			w.WriteByte(byte(r))
			continue
		case r < utf8.RuneSelf:
			to(ascii)
			w.WriteByte(byte(r))
			continue
		case r >= '\uff61' && r <= '\uff9f':
			r = katakana[r-'\uff61']
		}
		p, ok := pairs[minus(r)]
		if !ok {
			if state == jis {
				to(ascii)
			}
			w.lacks(r)
			continue
		}
		to(jis)
		w.bytes(byte(p>>8)-0x80, byte(p)-0x80)
	}
	to(ascii)
}

// pairsOf have, by encoding, the two bytes of each character, as the Standard's index has them: of several the first, unless it says
// otherwise. They are read out of what the decoders make of all pairs.
var pairsOf = map[string]func() map[rune]uint16{
	"big5": sync.OnceValue(func() map[rune]uint16 {
		last := map[rune]bool{'\u2550': true, '\u255e': true, '\u2561': true, '\u256a': true, '\u5341': true, '\u5345': true}
		return readPairs("big5", func(lead, trail byte) bool { // without the Hong Kong supplement
			return lead >= 0xa1 && (trail >= 0x40 && trail <= 0x7e || trail >= 0xa1 && trail <= 0xfe)
		}, last)
	}),
	"shift_jis": sync.OnceValue(func() map[rune]uint16 {
		return readPairs("shift_jis", func(lead, trail byte) bool {
			if lead < 0x81 || lead > 0x9f && lead < 0xe0 || lead > 0xfc || trail < 0x40 || trail == 0x7f || trail > 0xfc {
				return false
			}
			at := int(lead) - 0x81
			if lead >= 0xe0 {
				at = int(lead) - 0xc1
			}
			pointer := at*188 + int(trail) - 0x40
			if trail > 0x7f {
				pointer--
			}
			return pointer < 8272 || pointer > 10715 // without NEC's selection, and without what users define
		}, nil)
	}),
	"euc-jp": sync.OnceValue(func() map[rune]uint16 {
		return readPairs("euc-jp", func(lead, trail byte) bool { return lead >= 0xa1 && lead <= 0xfe && trail >= 0xa1 && trail <= 0xfe }, nil)
	}),
}

// readPairs reads what a decoder makes of the pairs that are taken. Of several pairs of a character the first counts, or the last.
func readPairs(name string, takes func(lead, trail byte) bool, last map[rune]bool) map[rune]uint16 {
	out := map[rune]uint16{}
	e, err := htmlindex.Get(name)
	if err != nil {
		return out // it knows all of the Standard
	}
	d := e.NewDecoder()
	for p := 0x8100; p <= 0xffff; p++ {
		if !takes(byte(p>>8), byte(p)) {
			continue
		}
		text, err := d.Bytes([]byte{byte(p >> 8), byte(p)})
		r, n := utf8.DecodeRune(text)
		if _, has := out[r]; err != nil || n < len(text) || r == utf8.RuneError || has && !last[r] {
			continue
		}
		out[r] = uint16(p)
	}
	return out
}
