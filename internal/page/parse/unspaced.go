package parse

import (
	"bytes"
	"unicode/utf8"
)

// Scripts that put no spaces between words, such as Chinese, Japanese and Thai: a sentence of them is one word to the eye of wordAt. Its
// phrases are windows of bytes, so that they are the same in every encoding that has such characters in two bytes or three, and begin at
// no place of their own.

const (
	longRun = 24 // bytes of a word, beyond which it is a sentence
	window  = 15 // bytes of a phrase of it: five characters, which are three words or so
	ownRun  = 6  // bytes of an address, two characters, that are looked for within such words
	ownRuns = 8  // of an address, so many

	windowMore  = 0x9e3779b97f4a7c15 // what a byte of a window is multiplied with for each that comes after it
	runWord     = 0xd1342543de82ef95 // what a sentence is to the words around it
	windowEmpty = 1                  // added to each byte, so that zeros count
)

// windowFirst is what the first byte of a window has been multiplied with when the window moves on.
var windowFirst = func() uint64 {
	p := uint64(1)
	for range window {
		p *= windowMore
	}
	return p
}()

// mineOf returns the runs of an address that are not ASCII.
func mineOf(address []byte) (runs [][]byte) {
	if bytes.IndexByte(address, '%') >= 0 {
		address = fromPercent(address)
	}
	for len(address) > 0 && len(runs) < ownRuns {
		n := 0
		for n < len(address) && address[n] >= utf8.RuneSelf {
			n++
		}
		if n >= ownRun {
			runs = append(runs, address[:n])
		}
		address = address[min(n+1, len(address)):]
	}
	return runs
}

// unspaced reports whether a word is one of a script without spaces, too long for anything else: it has a character of Thai or of what
// stands behind that in Unicode, or is not in UTF-8.
func unspaced(word []byte) bool {
	if len(word) <= longRun {
		return false
	}
	for i := 0; i < len(word); {
		c, n := utf8.DecodeRune(word[i:])
		if c >= '\u0e00' {
			return true // U+FFFD is one of these
		}
		i += n
	}
	return false
}

// run takes in a word that is not ASCII, but for its last piece, which it returns: what stands in the page's own address is a piece by
// itself, as it would be between spaces. alike is the word's mark.
func (r *reader) run(word []byte, alike uint64) (mark uint64, own bool) {
	var next [ownRuns]int // where each of the address's runs stands next: none is looked for twice in the same bytes
	for k := range r.mine {
		next[k] = -1
	}
	from := 0
	for {
		at, n := len(word), 0
		for k, m := range r.mine {
			if next[k] < from {
				next[k] = indexFrom(word, m, from)
			}
			if next[k] < at {
				at, n = next[k], len(m)
			}
		}
		if n == 0 {
			break
		}
		if at > from {
			r.piece(r.markOf(word[from:at]), false)
		}
		if from = at + n; from == len(word) {
			return ownWord, true
		}
		r.piece(ownWord, true)
	}
	if from > 0 {
		return r.markOf(word[from:]), false
	}
	if unspaced(word) && !r.naming {
		return r.markOf(word), false
	}
	return alike, false
}

// indexFrom returns where a run stands in a word from a place on; len(word) if it does not.
func indexFrom(word, run []byte, from int) int {
	if i := bytes.Index(word[from:], run); i >= 0 {
		return from + i
	}
	return len(word)
}

// markOf returns the mark of a piece of a word. Of a sentence it takes in the phrases.
func (r *reader) markOf(piece []byte) uint64 {
	if !unspaced(piece) || r.naming {
		_, alike, _, _ := wordAt(piece, 0)
		return alike
	}
	r.windows(piece)
	r.values += maxValue // it is no short text
	return runWord
}

// piece takes in a piece of a word that others follow.
func (r *reader) piece(mark uint64, own bool) {
	if r.naming {
		r.word(mark, own, false)
		return
	}
	if r.values < maxValue && !r.leads {
		r.value[r.values] = mark
	}
	r.values++
	r.keep(mix(1^mark, wordMore))
}

// windows takes in the phrases of a sentence. Digits in a row are one byte, and case does not matter, as in words.
func (r *reader) windows(b []byte) {
	var last [window]byte
	var h uint64
	n, digits := 0, false
	for _, c := range b {
		if isDigit(c) {
			if digits {
				continue
			}
			c, digits = '#', true
		} else {
			digits = false
			if c < utf8.RuneSelf {
				c |= 0x20
			}
		}
		at := n % window
		h = h*windowMore + uint64(c) + windowEmpty
		if n >= window {
			h -= windowFirst * (uint64(last[at]) + windowEmpty)
		}
		last[at] = c
		if n++; n >= window {
			r.keep(mix(h^wordSeed, wordMore))
		}
	}
	if n < window {
		r.keep(mix(h^wordSeed, wordMore))
	}
}
