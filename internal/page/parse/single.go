package parse

import (
	"strings"
	"sync"
	"unicode/utf8"

	"golang.org/x/text/encoding/htmlindex"
)

// single is an encoding of one byte a character, as the Encoding Standard's index has it: that of x/text, but that a byte from 0x80 to 0x9f
// without a character of its own is the control character of its number. So are the bytes of UTF-8 in a page that names another
// encoding, and a query that holds them is asked for with the same bytes.
type single struct {
	runes [128]rune // of the bytes from 0x80 on; utf8.RuneError: none
	bytes map[rune]byte
}

// singles returns the encoding of that name, nil for one of several bytes a character.
func singles(name string) *single {
	if make, ok := singleOf[name]; ok {
		return make()
	}
	return nil
}

var singleOf = func() map[string]func() *single {
	out := map[string]func() *single{}
	for name := range strings.FieldsSeq("ibm866 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7 iso-8859-8 iso-8859-8-i iso-8859-10 " +
		"iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 koi8-r koi8-u macintosh windows-874 windows-1250 windows-1251 windows-1252 windows-1253 " +
		"windows-1254 windows-1255 windows-1256 windows-1257 windows-1258 x-mac-cyrillic") {
		out[name] = sync.OnceValue(func() *single { return readSingle(name) })
	}
	return out
}()

func readSingle(name string) *single {
	s := &single{bytes: map[rune]byte{}}
	e, err := htmlindex.Get(name)
	if err != nil {
		return s // it knows all of the Standard
	}
	d := e.NewDecoder()
	for i := range s.runes {
		c := byte(0x80 + i)
		r := utf8.RuneError
		if text, err := d.Bytes([]byte{c}); err == nil {
			r, _ = utf8.DecodeRune(text)
		}
		if r == utf8.RuneError && c < 0xa0 {
			r = rune(c)
		}
		if s.runes[i] = r; r != utf8.RuneError {
			s.bytes[r] = c
		}
	}
	return s
}

// decode converts bytes to UTF-8.
func (s *single) decode(b []byte) string {
	out := make([]byte, 0, len(b)+len(b)/8)
	for _, c := range b {
		if c < utf8.RuneSelf {
			out = append(out, c)
		} else {
			out = utf8.AppendRune(out, s.runes[c-utf8.RuneSelf])
		}
	}
	return string(out)
}
