package yield

import (
	"bytes"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// Whether the numbers that a page says are told by what its address names or by what its address counts: the level of a river on a day is told by
// neither the river nor the day, but a calendar that each of many rooms has says the same on each day, and of each room what the room is.

// crossMark is set in marks of what the last page said whose address has the same words, or the same numbers.
const crossMark = 1 << 38

// drawnPlaces is how many pages that were asked for twice must have said another number in a place for what stands there not to count.
const drawnPlaces = 2

// crossing is where a page stands among those of its kind: where what the last page of the same words said is kept, and the last one of the same numbers. both says
// that its address has both, beside its first segment.
type crossing struct {
	words, numbers, kind uint64
	both                 bool
}

// across is room for what an address is taken apart into: its words, its numbers, and the kind of such addresses.
type across struct{ kind, words, numbers []byte }

// crossing takes the address in m.pieces apart.
func (m *Model) crossing() crossing {
	x := &m.across
	x.kind, x.words, x.numbers = append(x.kind[:0], m.pieces.low[0]...), x.words[:0], x.numbers[:0]
	for _, s := range m.pieces.low[1:] {
		x.take(s)
	}
	for _, q := range m.pieces.params {
		x.kind = append(x.kind, q.name...)
		x.take(q.low)
	}
	seed := xxh3.Hash(x.kind)
	return crossing{
		kind:    seed,
		words:   xxh3.HashSeed(x.words, seed) | crossMark,
		numbers: xxh3.HashSeed(x.numbers, seed+1) | crossMark,
		both:    len(bytes.Trim(x.words, "/")) > 0 && len(bytes.Trim(x.numbers, "/")) > 0,
	}
}

// take takes in a segment or a value: its letters are of the words, its digits of the numbers, and how they stand is of the kind. A word is one whatever it has.
func (x *across) take(s string) {
	if classify(s) == word {
		x.kind, x.words = append(x.kind, '*'), append(x.words, s...)
	} else {
		x.apart(s)
	}
	x.kind, x.words, x.numbers = append(x.kind, '/'), append(x.words, '/'), append(x.numbers, '/')
}

func (x *across) apart(s string) {
	last := byte(0)
	for i := range len(s) {
		of := s[i]
		switch {
		case '0' <= of && of <= '9':
			of, x.numbers = '#', append(x.numbers, of)
		case 'a' <= of && of <= 'z', of >= 0x80, of == '%':
			of, x.words = '*', append(x.words, of)
		}
		if of != last {
			x.kind = append(x.kind, of)
			if last == '#' {
				x.numbers = append(x.numbers, '.')
			}
		}
		last = of
	}
}

// crossed remembers the numbers that a page says. It reports whether some of them stood on neither the last page of the same words nor
// the last one of the same numbers; known is false if one of these pages has not been seen.
func (m *Model) crossed(a *Answer) (untold, known bool) {
	c := m.crossing()
	if !c.both {
		return false, false
	}
	says, drawn := m.settled(c, a)
	a.again = a.again || drawn > 0 && m.byID[a.Template].drawn()
	same, seen := m.marks.get(c.words)
	other, both := m.marks.get(c.numbers)
	m.marks.add(c.words, says)
	m.marks.add(c.numbers, says)
	for i := range says & 15 {
		untold = untold || drawn>>i&1 == 0 && !holds(same, says, i) && !holds(other, says, i)
	}
	return untold, seen && both
}

// settled returns the numbers that a page of a kind says, with 0 in those places in which pages of this kind that were asked for twice have often said another one the
// second time: how long it took to make a page, how many have looked at it. Pages that say as many numbers are held for having them in the same places. drawn has
// a bit for each such place.
func (m *Model) settled(c crossing, a *Answer) (says, drawn uint64) {
	at := c.kind ^ uint64(len(a.Numbers))*stepMark | crossMark
	was, _ := m.marks.get(at)
	now := uint64(0)
	numbers := a.Numbers[:min(len(a.Numbers), numbersKept)]
	for i, v := range numbers {
		changed, same := was>>(8*i)&15, was>>(8*i+4)&15 // at most 15 each
		switch {
		case !a.Twice:
		case v == crawl.Drawn:
			changed = min(changed+1, 15)
		default:
			same = min(same+1, 15)
		}
		now |= changed<<(8*i) | same<<(8*i+4)
		if v == crawl.Drawn || changed >= drawnPlaces && changed*drawnFew >= same {
			drawn |= 1 << i
			continue
		}
		says |= uint64(v) & (1<<numberBits - 1) << (4 + numberBits*i)
	}
	m.marks.add(at, now) // though it may be what it was: what is not added again is forgotten
	return says | uint64(len(numbers)), drawn
}

// number8 is what is remembered of the i-th number of a page.
func number8(says, i uint64) uint64 { return says >> (4 + numberBits*i) & (1<<numberBits - 1) }

// holds reports whether a page says the i-th number of another: in the same place, if it says as many, or else in any.
func holds(was, says, i uint64) bool {
	v := number8(says, i)
	if was&15 == says&15 {
		return number8(was, i) == v
	}
	for k := range was & 15 {
		if number8(was, k) == v {
			return true
		}
	}
	return false
}
