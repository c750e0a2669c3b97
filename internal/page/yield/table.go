package yield

import (
	"iter"
	"math/bits"
)

// table is a map of 64-bit marks to values in open addressing: a mark is most often found in the line of memory that is looked at first.
// Marks of 32 bits without a value, as phrases have, are most: they stand in a table of their own, of a quarter of the size. The zero table is
// empty.
type table struct {
	slots  []mark // a power of two of them, of which a quarter is free; a mark of 0 is a free one
	n      int    // marks in slots
	phrase int    // of them, those of 32 bits: hardly ever one
	both   int    // of these, those that stand in words, too
	words  words
	zero   uint64 // the value of 0, which stands in words
}

const tableFirst = 16 // slots

func isWord(h uint64) bool { return h>>32 == 0 }

func (t *table) len() int { return t.n + t.words.len() - t.both }

// home is the first of so many slots, a power of two, in which a mark may stand. Marks of a kind differ in their lower half only: the product
// spreads them.
func home(h uint64, slots int) uint64 {
	return h * 0x9e3779b97f4a7c15 >> (64 - bits.Len(uint(slots-1)))
}

// slot returns where a mark stands that is not 0, or the free slot where it would.
func (t *table) slot(h uint64) *mark {
	i := home(h, len(t.slots))
	for t.slots[i].h != h && t.slots[i].h != 0 {
		i = (i + 1) & uint64(len(t.slots)-1)
	}
	return &t.slots[i]
}

func (t *table) get(h uint64) (v uint64, ok bool) {
	switch {
	case h == 0:
		return t.zero, t.words.has0
	case isWord(h) && t.phrase == 0:
		return 0, t.words.has(uint32(h))
	}
	if t.n > 0 {
		if at := t.slot(h); at.h == h {
			return at.v, true
		}
	}
	return 0, isWord(h) && t.words.has(uint32(h))
}

func (t *table) put(h, v uint64) {
	if h == 0 {
		t.zero = v
		t.words.put(0)
		return
	}
	word := isWord(h)
	if word && v == 0 && (t.phrase == 0 || t.slot(h).h == 0) {
		t.words.put(uint32(h))
		return
	}
	if 4*(t.n+1) > 3*len(t.slots) {
		t.grow()
	}
	at := t.slot(h)
	if at.h == 0 {
		if t.n++; word {
			t.phrase++
			if t.words.has(uint32(h)) {
				t.both++
			}
		}
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
	t.n, t.phrase, t.both, t.zero = 0, 0, 0, 0
	t.words.clear()
}

// all returns the marks with their values, in no particular order.
func (t *table) all() iter.Seq2[uint64, uint64] {
	return func(yield func(h, v uint64) bool) {
		for _, m := range t.slots {
			if m.h != 0 && !yield(m.h, m.v) {
				return
			}
		}
		for h := range t.words.all() {
			if h != 0 && t.phrase > 0 && t.slot(uint64(h)).h != 0 {
				continue
			}
			v := t.zero
			if h != 0 {
				v = 0
			}
			if !yield(uint64(h), v) {
				return
			}
		}
	}
}

// words is a set of 32-bit marks in open addressing.
type words struct {
	slots []uint32 // as of a table
	n     int
	has0  bool
}

func (w *words) len() int {
	if w.has0 {
		return w.n + 1
	}
	return w.n
}

func (w *words) slot(h uint32) *uint32 {
	i := home(uint64(h), len(w.slots))
	for w.slots[i] != h && w.slots[i] != 0 {
		i = (i + 1) & uint64(len(w.slots)-1)
	}
	return &w.slots[i]
}

func (w *words) has(h uint32) bool {
	if h == 0 {
		return w.has0
	}
	return w.n > 0 && *w.slot(h) == h
}

func (w *words) put(h uint32) {
	if h == 0 {
		w.has0 = true
		return
	}
	if 4*(w.n+1) > 3*len(w.slots) {
		was := w.slots
		w.slots = make([]uint32, max(tableFirst, 2*len(was)))
		for _, old := range was {
			if old != 0 {
				*w.slot(old) = old
			}
		}
	}
	if at := w.slot(h); *at == 0 {
		*at = h
		w.n++
	}
}

func (w *words) clear() {
	clear(w.slots)
	w.n, w.has0 = 0, false
}

func (w *words) all() iter.Seq[uint32] {
	return func(yield func(h uint32) bool) {
		if w.has0 && !yield(0) {
			return
		}
		for _, h := range w.slots {
			if h != 0 && !yield(h) {
				return
			}
		}
	}
}
