package inflate

import "math/bits"

// table fills a table with the canonical code of these lengths (RFC 1951, section 3.2.2), for symbols that stand for these values.
// Codes of up to first bits stand in its first part, as often as there are continuations; of longer ones that share their
// first bits each group has a part of its own behind it. It returns false if there are too many codes, or too few; only
// one code alone, or none, may leave patterns unused.
func table(t []uint32, first int, lengths []uint8, values *[literalCodes]uint32) bool {
	var count, next [longest + 1]int
	for _, l := range lengths {
		count[l]++
	}
	used, most, split := 0, 0, 0
	for l := 1; l <= longest; l++ {
		next[l] = used << 1
		used = used<<1 + count[l]
		if count[l] > 0 {
			most = l
		}
		if l == first {
			split = used // the least first bits of a longer code: canonical codes grow with their lengths
		}
	}
	if used != 1<<longest {
		if codes := len(lengths) - count[0]; codes > 1 || codes == 1 && most != 1 {
			return false
		}
		for i := range t[:1<<first] {
			t[i] = isSpecial
		}
		split = 1 << first
	}
	more := max(0, most-first) // bits of the second tables
	for root := split; root < 1<<first; root++ {
		at := 1<<first + (root-split)<<more
		t[reverse(root, first)] = uint32(at)<<16 | isSpecial | isSecond | uint32(more)
	}
	for i, l := range lengths {
		if l == 0 {
			continue
		}
		code, n := next[l], int(l)
		next[l]++
		part, at := t[:1<<first], reverse(code, n)
		if n > first {
			n -= first
			part = t[1<<first+(code>>n-split)<<more:][:1<<more]
			at >>= first
		}
		v := values[i]
		e := v&^63 | uint32(n)<<6 | v&63 + uint32(n)
		for ; at < len(part); at += 1 << n {
			part[at] = e
		}
	}
	return true
}

// reverse returns the lowest n bits of a code in the order in which they come.
func reverse(code, n int) int { return int(bits.Reverse16(uint16(code)) >> (16 - n)) }
