package main

import (
	"bytes"
	"os"
	"unicode"
	"unicode/utf8"
)

// shown is a terminal. Names, titles and labels come from nodes and pages that nobody has vouched for: what would steer the terminal
// in them (ECMA-48) is shown as a mark. Colours may stay.
type shown struct{ *os.File }

// Write implements io.Writer.
func (s shown) Write(p []byte) (int, error) {
	if _, err := s.File.Write(harmless(p)); err != nil {
		return 0, err
	}
	return len(p), nil
}

// harmless replaces control characters but for the ends of lines, tabs and the choice of colours, and those that turn the direction of
// writing.
func harmless(p []byte) []byte {
	var out []byte
	for i := 0; i < len(p); {
		r, n := utf8.DecodeRune(p[i:])
		switch {
		case r == '\x1b':
			if n = colour(p[i:]); n == 0 {
				r, n = 0, 1
			}
		case r == '\n', r == '\t', !unicode.IsControl(r) && !unicode.Is(unicode.Bidi_Control, r):
		default:
			r = 0
		}
		switch {
		case r == 0:
			if out == nil {
				out = append(make([]byte, 0, len(p)+8), p[:i]...)
			}
			out = append(out, "\uFFFD"...)
		case out != nil:
			out = append(out, p[i:i+n]...)
		}
		i += n
	}
	if out == nil {
		return p
	}
	return out
}

// colour returns the length of the sequence at the start of p that chooses a colour; 0: it is another one.
func colour(p []byte) int {
	if !bytes.HasPrefix(p, []byte("\x1b[")) {
		return 0
	}
	for i := 2; i < len(p) && i < 24; i++ {
		switch c := p[i]; {
		case c == 'm':
			return i + 1
		case c != ';' && (c < '0' || c > '9'):
			return 0
		}
	}
	return 0
}
