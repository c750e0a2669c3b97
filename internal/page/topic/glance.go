package topic

import (
	"math/bits"
	"unicode/utf8"
)

// maxGlances is for how many beginnings of words a page is glanced through: for more that costs what reading it does.
const maxGlances = 4

// glance is how words begin that the topic may have: with these two letters, of which the second stands in every byte of an integer, as the
// first does; a y is an i, and an i a y.
type glance struct {
	first, second, other uint64
}

// glancesOf returns how words begin that a topic may have; nil where that is not known, or too many things to look for. English stemmers keep
// the first two letters of a word, but for y and i, and words that are compared as they stand keep all.
func (j *Judge) glancesOf() (out []glance) {
	for stem := range j.ids {
		if j.Topic.Language != "en" && j.Topic.Language != AsTheyStand || len(stem) < 2 || stem[0] >= utf8.RuneSelf || stem[1] >= utf8.RuneSelf {
			return nil
		}
		g := glance{ones * uint64(stem[0]|0x20), ones * uint64(stem[1]|0x20), ones * uint64(stem[1]|0x20)}
		switch stem[1] {
		case 'i':
			g.other = ones * 'y'
		case 'y':
			g.other = ones * 'i'
		}
		known := false
		for _, was := range out {
			known = known || was.first == g.first && (was.second == g.second || was.other == g.second)
		}
		if known {
			continue
		}
		if len(out) == maxGlances {
			return nil
		}
		out = append(out, g)
	}
	return out
}

// may reports whether a page may have a word of the topic, wherever it stands; false only if it has none.
func (j *Judge) may(b []byte) bool {
	if len(j.glances) == 0 {
		return true
	}
	for i := 0; i < len(b); i += 8 {
		v, next := eight(b, i)|0x20*ones, eight(b, i+1)|0x20*ones
		var hits uint64
		for k := range j.glances {
			g := &j.glances[k]
			hits |= zeros(v^g.first) & (zeros(next^g.second) | zeros(next^g.other))
		}
		for ; hits != 0; hits &= hits - 1 {
			if j.has(b, i+bits.TrailingZeros64(hits)/8) {
				return true
			}
		}
	}
	return false
}

// zeros sets the high bits of the bytes that are zero, and perhaps of some that are one.
func zeros(v uint64) uint64 { return (v - ones) &^ v & highs }

// has reports whether at i there may be a word of the topic.
func (j *Judge) has(b []byte, i int) bool {
	if i >= len(b) || i > 0 && lower[b[i-1]] != 0 {
		return false // it begins before
	}
	var buf [maxWord]byte
	low := buf[:0]
	for ; i < len(b); i++ {
		switch c := lower[b[i]]; {
		case b[i] >= utf8.RuneSelf:
			return true // it may go on
		case c == 0:
			return j.id(low) != 0
		case len(low) == maxWord:
			return false
		default:
			low = append(low, c)
		}
	}
	return j.id(low) != 0
}
