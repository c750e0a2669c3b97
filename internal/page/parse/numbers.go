package parse

import "slices"

// MaxNumbers is how many numbers of a page Phrases keeps.
const MaxNumbers = 7

// number takes in the numbers of the word of b from i to end, whose mark is exact, in the order in which a page says them: years of a life,
// ages, houses. One that stands in an address is 0, and a title's is not said again by a heading. Times of day do not count, nor does what leads
// elsewhere, nor what stands alone between parentheses: how often a choice was found.
func (r *reader) number(b []byte, i, end int, exact uint64) {
	switch {
	case i > 0 && end < len(b) && b[i-1] == '(' && b[end] == ')',
		end+2 < len(b) && b[end] == ':' && isDigit(b[end+1]) && isDigit(b[end+2]),
		i > 1 && end-i == 2 && b[i-1] == ':' && isDigit(b[i-2]):
		return
	}
	mask := ^uint32(0)
	if r.isOwn(exact) {
		mask = 0
	}
	value, digits := uint32(0), false
	for ; i <= end && len(r.numbers) < MaxNumbers; i++ {
		switch {
		case i < end && isDigit(b[i]):
			value, digits = value*10+uint32(b[i]-'0'), true
			continue
		case digits && !(r.naming && slices.Contains(r.numbers, value&mask)):
			r.numbers = append(r.numbers, value&mask)
		}
		value, digits = 0, false
	}
}
