package topic

import (
	"unicode"
	"unicode/utf8"
)

// maxWord bounds a word, in bytes: what is longer is not a word of a language.
const maxWord = 60

// unspaced are the scripts whose words are not set apart: their texts are read by pairs of characters. Each is of a language; Japanese, which
// has Chinese characters as well, stands before Chinese.
var unspaced = []struct {
	language string
	script   *unicode.RangeTable
}{
	{"ja", unicode.Hiragana}, {"ja", unicode.Katakana}, {"zh", unicode.Han}, {"ko", unicode.Hangul}, {"th", unicode.Thai}, {"lo", unicode.Lao}, {"km", unicode.Khmer},
	{"my", unicode.Myanmar},
}

var unspacedScripts = func() (all []*unicode.RangeTable) {
	for _, u := range unspaced {
		all = append(all, u.script)
	}
	return all
}()

// isUnspaced reports whether a character is of a script whose words are not set apart.
func isUnspaced(r rune) bool {
	return r >= 0x0E00 && (r < 0x1000 || r >= 0x1000 && r < 0x1200 || r >= 0x1780 && r < 0x1800 || r >= 0x2E80) && unicode.In(r, unspacedScripts...)
}

// Each calls fn with the words of a text, in lower case: what is between characters that are neither letters nor digits, and
// pairs of characters where words are not set apart (a single one where it stands alone). The slice is valid during the call.
func Each(text []byte, fn func(word []byte)) {
	var buf [maxWord + utf8.UTFMax]byte
	for i := 0; i < len(text); {
		word, next := cut(text, i, buf[:0])
		if i = next; len(word) > 0 {
			fn(word)
		}
	}
}

// What a byte of ASCII is in a word: its lower case; 0 is what stands between words.
var lower = func() (t [256]byte) {
	for c := byte('0'); c <= '9'; c++ {
		t[c] = c
	}
	for c := byte('a'); c <= 'z'; c++ {
		t[c], t[c-0x20] = c, c
	}
	return t
}()

// cut returns the first word of text from i on, in buf, and where to go on; the word is empty at the end, or where one was
// too long. Of a pair of characters the second is left for the next pair.
func cut(text []byte, i int, buf []byte) (word []byte, next int) {
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			if lower[c] != 0 {
				return plain(text, i, buf)
			}
			i++
			continue
		}
		r, size := utf8.DecodeRune(text[i:])
		if isUnspaced(r) {
			return pair(text, i, size, buf)
		}
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return plain(text, i, buf)
		}
		i += size
	}
	return nil, i
}

// plain reads a word that ends where letters and digits do.
func plain(text []byte, i int, buf []byte) ([]byte, int) {
	long := false
	for i < len(text) {
		c := text[i]
		if c < utf8.RuneSelf {
			if lower[c] == 0 {
				break
			}
			buf = append(buf, lower[c])
			i++
		} else {
			r, size := utf8.DecodeRune(text[i:])
			mark := unicode.In(r, unicode.Mn, unicode.Mc)
			if isUnspaced(r) || !mark && !unicode.IsLetter(r) && !unicode.IsDigit(r) {
				break
			}
			buf = utf8.AppendRune(buf, unicode.ToLower(r))
			i += size
		}
		if len(buf) > maxWord {
			long, buf = true, buf[:0]
		}
	}
	if long {
		return nil, i
	}
	return buf, i
}

// pair reads two characters of a text whose words are not set apart.
func pair(text []byte, i, size int, buf []byte) ([]byte, int) {
	buf = append(buf, text[i:i+size]...)
	next := i + size
	if r, n := utf8.DecodeRune(text[next:]); n > 0 && isUnspaced(r) {
		buf = append(buf, text[next:next+n]...)
		if r, m := utf8.DecodeRune(text[next+n:]); m == 0 || !isUnspaced(r) {
			next += n // the last pair of a run: its second character is not a word by itself
		}
	}
	return buf, next
}
