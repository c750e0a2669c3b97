package parse

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// A word is a run of letters, digits and characters that are not ASCII. It is read eight bytes at a time, each in a byte of an integer
// whose highest bit is where a test leaves its answer.
const (
	ones  = 0x0101010101010101
	highs = ones << 7
)

// What words are hashed with: the decimals of e.
const (
	wordSeed = 0x2b7e151628aed2a7
	wordMore = 0xabf7158809cf4f3d
	wordLast = 0x762e7160f38b4da5
)

// mix is a product of 128 bits, folded.
func mix(x, y uint64) uint64 {
	hi, lo := bits.Mul64(x, y)
	return hi ^ lo
}

// eight returns the bytes of b from i on, zeros after its end.
func eight(b []byte, i int) uint64 {
	if i+8 <= len(b) {
		return binary.LittleEndian.Uint64(b[i:])
	}
	return lastBytes(b, i)
}

// lastBytes is eight where less are left.
func lastBytes(b []byte, i int) (x uint64) {
	if n := len(b) - 8; n >= 0 {
		return binary.LittleEndian.Uint64(b[n:]) >> (8 * (i - n))
	}
	for n := len(b) - 1; n >= i; n-- {
		x = x<<8 | uint64(b[n])
	}
	return x
}

// between tests bytes for first to last, both ASCII.
func between(x uint64, first, last byte) uint64 {
	low := x &^ highs
	return (low + ones*uint64(0x80-first)) &^ (low + ones*uint64(0x7f-last)) &^ x & highs
}

// What a byte is in a text; 0 is what stands between words.
const (
	inWord = 1 + iota
	endsText
)

var textOf = func() (t [256]uint8) {
	for i := range t {
		if c := byte(i); isLetter(c) || isDigit(c) || c >= 0x80 {
			t[i] = inWord
		}
	}
	t['<'] = endsText
	return t
}()

// holds returns a bit for each byte of x that is c: the lowest is right, those above it may be wrong where x has c^1.
func holds(x uint64, c byte) uint64 {
	x ^= ones * uint64(c)
	return (x - ones) &^ x & highs
}

// endOfTag returns the index after the next ">" from i on, or len(b). Most tags are short.
func endOfTag(b []byte, i int) int {
	for most := i + 24; i < most; i += 8 {
		if at := holds(eight(b, i), '>'); at != 0 {
			return i + bits.TrailingZeros64(at)/8 + 1
		}
	}
	if i < len(b) {
		if n := bytes.IndexByte(b[i:], '>'); n >= 0 {
			return i + n + 1
		}
	}
	return len(b)
}

// wordAt returns the marks of the word that begins at b[i], and where it ends. One mark is that of the word as it stands, the
// other that of it without regard to case and digits. What changes between letters and digits more than once is random to the
// eye, and as a whole a number. letters says that it is of ASCII's letters alone.
func wordAt(b []byte, i int) (exact, alike uint64, end int, letters bool) {
	if exact, alike, end = lettersAt(b, i); end > i {
		return exact, alike, end, true
	}
	exact, alike, end = longWord(b, i)
	return exact, alike, end, false
}

// lettersAt is wordAt for a word of ASCII's letters alone, as most are. It ends where it begins if the word at b[i] is another.
func lettersAt(b []byte, i int) (exact, alike uint64, end int) {
	exact, alike = wordSeed, wordSeed
	for at := i; ; at += 8 {
		x := eight(b, at)
		letters := between(x|ones<<5, 'a', 'z')
		n := bits.TrailingZeros64(^letters&highs) / 8 & 15
		if n == 8 {
			exact, alike = mix(exact^x, wordMore), mix(alike^(x|ones<<5), wordMore)
			continue
		}
		if textOf[byte(x>>(8*n&63))] == inWord {
			return 0, 0, i
		}
		x &= firstBytes[n&7]
		last := wordLast ^ uint64(at+n-i)
		return mix(exact^x, last), mix(alike^(x|letters>>2&firstBytes[n&7]), last), at + n
	}
}

// firstBytes are the bits of so many bytes.
var firstBytes = func() (t [8]uint64) {
	for n := range t {
		t[n] = 1<<(8*n) - 1
	}
	return t
}()

// longWord is wordAt for a word of eight bytes or more, or one that has other bytes than letters.
func longWord(b []byte, start int) (exact, alike uint64, end int) {
	if exact, end = numberWord(b, start); end > start {
		return exact, digitsWord, end
	}
	exact, alike = wordSeed, wordSeed
	for i := start; ; i += 8 {
		x := eight(b, i)
		letters, digits := between(x|ones<<5, 'a', 'z'), between(x, '0', '9')
		n := bits.TrailingZeros64(^(letters|digits|x)&highs) / 8
		mask := uint64(1)<<(8*n) - 1
		if digits&mask != 0 {
			return wordWithDigits(b, start)
		}
		low := x | letters>>2
		if n < 8 {
			last := wordLast ^ uint64(i+n-start)
			return mix(exact^x&mask, last), mix(alike^low&mask, last), i + n
		}
		exact, alike = mix(exact^x, wordMore), mix(alike^low, wordMore)
	}
}

// numberWord returns the mark of a word of fewer than eight digits and where it ends; that is where it begins if the word is another.
func numberWord(b []byte, i int) (exact uint64, end int) {
	x := eight(b, i)
	n := bits.TrailingZeros64(^between(x, '0', '9')&highs) / 8 & 15
	if n == 8 || textOf[byte(x>>(8*n&63))] == inWord {
		return 0, i
	}
	return mix(wordSeed^x&firstBytes[n&7], wordLast^uint64(n)), i + n
}

// exactWord returns the mark of a word as it stands.
func exactWord(word []byte) uint64 {
	h, i := uint64(wordSeed), 0
	for ; i+8 <= len(word); i += 8 {
		h = mix(h^binary.LittleEndian.Uint64(word[i:]), wordMore)
	}
	return mix(h^eight(word, i), wordLast^uint64(len(word)))
}

// hasher hashes a word byte by byte, as wordAt does eight at a time.
type hasher struct {
	sum, part uint64
	n         int
}

func (h *hasher) add(c byte) {
	h.part |= uint64(c) << (h.n % 8 * 8)
	if h.n++; h.n%8 == 0 {
		h.sum, h.part = mix(h.sum^h.part, wordMore), 0
	}
}

func (h *hasher) mark() uint64 { return mix(h.sum^h.part, wordLast^uint64(h.n)) }

// wordWithDigits is wordAt for a word that may have digits.
func wordWithDigits(b []byte, start int) (exact, alike uint64, end int) {
	like := hasher{sum: wordSeed}
	turns, digits, high, after := 0, 0, false, false // after a digit
	i := start
	for ; i < len(b) && textOf[b[i]] == inWord; i++ {
		c := b[i]
		digit := isDigit(c)
		if digit != after && i > start {
			turns++
		}
		switch {
		case digit:
			if digits++; !after {
				like.add('#')
			}
		case c >= 0x80:
			high = true
			like.add(c)
		default:
			like.add(c | 0x20)
		}
		after = digit
	}
	exact, alike = exactWord(b[start:i:i]), like.mark()
	if digits == i-start || turns > 1 && !high {
		alike = digitsWord
	}
	if turns > 2 && i-start >= 8 && !high {
		exact = digitsWord // a session, most likely
	}
	return exact, alike, i
}
