package yield

import (
	"iter"
	"math/bits"
)

// table is a map of 64-bit marks to values in open addressing: a mark is most often found in the line of memory that is looked at first.
// The zero table is empty.
type table struct {
	slots []mark // a power of two of them, of which a quarter is free; a mark of 0 is a free one
	n     int    // marks in slots
	zero  uint64 // the value of 0,
	has0  bool   // if it is there
}

const tableFirst = 16 // slots

func (t *table) len() int {
	if t.has0 {
		return t.n + 1
	}
	return t.n
}

// slot returns where a mark stands that is not 0, or the free slot where it would. Marks of a kind differ in their lower half only: the
// product spreads them.
func (t *table) slot(h uint64) *mark {
	i := h * 0x9e3779b97f4a7c15 >> (64 - bits.Len(uint(len(t.slots)-1)))
	for t.slots[i].h != h && t.slots[i].h != 0 {
		i = (i + 1) & uint64(len(t.slots)-1)
	}
	return &t.slots[i]
}

func (t *table) get(h uint64) (v uint64, ok bool) {
	switch {
	case h == 0:
		return t.zero, t.has0
	case t.n == 0:
		return 0, false
	}
	at := t.slot(h)
	return at.v, at.h == h
}

func (t *table) put(h, v uint64) {
	if h == 0 {
		t.zero, t.has0 = v, true
		return
	}
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow()
	}
	at := t.slot(h)
	if at.h == 0 {
		t.n++
	}
	*at = mark{h, v}
}

func (t *table) grow() {
	was := t.slots
	t.slots = make([]mark, max(tableFirst, 2*len(was)))
	for _, m := range was {
		if m.h != 0 {
			*t.slot(m.h) = m
		}
	}
}

// clear empties a table, which keeps its room.
func (t *table) clear() {
	clear(t.slots)
	t.n, t.zero, t.has0 = 0, 0, false
}

// all returns the marks with their values, in no particular order.
func (t *table) all() iter.Seq2[uint64, uint64] {
	return func(yield func(h, v uint64) bool) {
		if t.has0 && !yield(0, t.zero) {
			return
		}
		for _, m := range t.slots {
			if m.h != 0 && !yield(m.h, m.v) {
				return
			}
		}
	}
}
