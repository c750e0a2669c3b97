package parse

import (
	"bytes"
	"unicode/utf8"
)

// enoughRefs is how many numeric references a page has whose text may be written in them: words would be numbers.
const enoughRefs = 16

// manyRefs reports whether a page has so many.
func manyRefs(body []byte) bool {
	for n := 0; n < enoughRefs; {
		i := bytes.IndexByte(body, '&')
		if i < 0 || i+1 >= len(body) {
			return false
		}
		if body = body[i+1:]; body[0] == '#' {
			n++
		}
	}
	return true
}

// spelled returns a page with its numeric references to characters beyond ASCII resolved, where there are many; they are no markup.
func spelled(body []byte) []byte {
	if !manyRefs(body) {
		return body
	}
	out := make([]byte, 0, len(body))
	for len(body) > 0 {
		i := bytes.Index(body, []byte("&#"))
		if i < 0 || i+2 == len(body) {
			break
		}
		out = append(out, body[:i]...)
		body = body[i:]
		r, n := numericRef(body)
		if r < utf8.RuneSelf {
			out, body = append(out, body[:2]...), body[2:]
			continue
		}
		out, body = utf8.AppendRune(out, r), body[n:]
	}
	return append(out, body...)
}
