package topic

import (
	"math/bits"
	"unicode/utf8"
)

// begins notes with which two bytes words may begin whose stem is this. English stemmers keep the first two letters of a word, but that
// they may make an i of a y (dying, die); of other stemmers it is not known.
func (j *Judge) begins(stem string) {
	c := stem[0]
	if c >= utf8.RuneSelf {
		return // such words are not looked for in blocks
	}
	for second := range byte(utf8.RuneSelf) {
		low := lower[second]
		same := len(stem) > 1 && (low == stem[1] || (low == 'i' || low == 'y') && (stem[1] == 'i' || stem[1] == 'y'))
		if j.Topic.Language != "en" || len(stem) == 1 || same {
			j.beginWith(c, second)
			if c >= 'a' && c <= 'z' {
				j.beginWith(c-0x20, second)
			}
		}
	}
}

func (j *Judge) beginWith(first, second byte) {
	at := uint(first)<<7 | uint(second)
	j.begin[at>>6] |= 1 << (at & 63)
}

// What block works on at once.
const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

// alnum sets the high bit of each byte that is a letter or a digit; all are in ASCII.
func alnum(v uint64) uint64 {
	low := v | 0x20*ones
	letters := (low + (0x80-'a')*ones) &^ (low + (0x80-'z'-1)*ones)
	digits := (v + (0x80-'0')*ones) &^ (v + (0x80-'9'-1)*ones)
	return (letters | digits) & highs
}

// block takes in the words of up to 64 bytes at a time, as far as they are in ASCII and whole; at i b is outside a word. It returns how many bytes
// it went past: 0 where it cannot, since the text is in another script, or one long word.
func (r *reader) block(b []byte, i, end int) int {
	var word uint64 // bits: bytes that are of words
	n, most := 0, min(64, end-i)
	for ; n < most; n += 8 {
		v := eight(b, i+n)
		if rest := uint(most - n); rest < 8 {
			v &= 1<<(8*rest&63) - 1
		}
		if v&highs != 0 {
			break
		}
		word |= (alnum(v) >> 7 * 0x0102040810204080 >> 56) << (uint(n) & 63)
	}
	if n = min(n, most); n < end-i {
		n -= bits.LeadingZeros64(^(word << (uint(64-n) & 63))) // the last word may go on
		if n <= 0 {
			return 0
		}
		word &= ^uint64(0) >> (uint(64-n) & 63)
	}
	if word == 0 {
		return n
	}
	if bits.OnesCount64(word) > maxWord { // one may be too long to be one
		return 0
	}
	starts := word &^ (word << 1)
	r.word(bits.OnesCount64(starts))
	begin := &r.judge.begin
	b = b[i:end]
	for ; starts != 0; starts &= starts - 1 {
		k := bits.TrailingZeros64(starts)
		at := uint(b[k]) << 7
		if k+1 < len(b) {
			at |= uint(b[k+1]) & 0x7f
		}
		if begin[at>>6&(uint(len(begin))-1)]&(1<<(at&63)) == 0 {
			r.last = 0
			continue
		}
		end := k + bits.TrailingZeros64(^(word >> k))
		low := r.buf[:0]
		for _, c := range b[k:end] {
			low = append(low, lower[c])
		}
		r.take(low)
	}
	return n
}
