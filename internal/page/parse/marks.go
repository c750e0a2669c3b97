package parse

import (
	"math/bits"
	"strings"
	"unicode"

	"github.com/abadojack/whatlanggo"
	"github.com/zeebo/xxh3"
)

// minConfidence is how sure a guess of the language must be to be reported.
const minConfidence = 0.5

// Language returns the ISO 639-1 code of a page's language: what it declares, else a guess from its text, "" if
// neither says enough.
func Language(declared, text string) string {
	if i := strings.IndexAny(declared, "-_"); i > 0 {
		declared = declared[:i]
	}
	if d := strings.ToLower(declared); len(d) == 2 && d[0] >= 'a' && d[0] <= 'z' && d[1] >= 'a' && d[1] <= 'z' {
		return d
	}
	if len(text) > 4096 {
		text = clean(text, 4096)
	}
	info := whatlanggo.Detect(text)
	if info.Confidence < minConfidence {
		return ""
	}
	return info.Lang.Iso6391()
}

// Simhash returns a 64-bit mark of a text's shingles of three words (Charikar, 2002): texts that differ little have
// marks that differ in few bits. It is 0 for a text of fewer than three words.
func Simhash(text string) uint64 {
	var counts [64]int32
	var last [3]uint64
	n := 0
	for word := range strings.FieldsFuncSeq(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsNumber(r) }) {
		last[0], last[1], last[2] = last[1], last[2], xxh3.HashString(strings.ToLower(word))
		if n++; n < 3 {
			continue
		}
		h := last[0] ^ bits.RotateLeft64(last[1], 21) ^ bits.RotateLeft64(last[2], 42)
		h *= 0x9e3779b97f4a7c15
		h ^= h >> 32
		for i := range counts {
			counts[i] += int32(h>>i&1)*2 - 1
		}
	}
	if n < 3 {
		return 0
	}
	var mark uint64
	for i, c := range counts {
		if c > 0 {
			mark |= 1 << i
		}
	}
	return mark
}
