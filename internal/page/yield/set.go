package yield

import (
	"encoding/binary"
	"slices"
)

// How many marks a set keeps in each of two generations.
const (
	maxMarks  = 32_768
	maxRests  = 8_192
	maxChosen = 4_096
)

// set is an exact set of 64-bit marks with a value each. When the newer generation is full the older one is forgotten; what is
// used of it moves to the newer one. What was added between two flushes stands in one record of its generation: a record for
// each mark would cost a store more than all else that a page brings.
type set struct {
	max      int
	gen      uint32
	last     uint64 // number of the last record
	new, old table
	added    []mark   // to the newer generation since the last flush
	late     []mark   // to the older one, before it was the older one
	gone     []uint32 // generations to be dropped
	words    []uint32 // room for save
}

// mark is a mark with the value that it was added with.
type mark struct{ h, v uint64 }

func newSet(max int) set { return set{max: max} }

func (s *set) len() int { return s.new.len() + s.old.len() }

func (s *set) get(h uint64) (uint64, bool) {
	if v, ok := s.new.get(h); ok {
		return v, true
	}
	return s.old.get(h)
}

func (s *set) has(h uint64) bool { _, ok := s.get(h); return ok }

// add remembers a mark with its value, and reports whether the mark was there.
func (s *set) add(h, v uint64) (had bool) {
	was, had := s.new.get(h)
	if had && was == v {
		return true
	}
	if !had {
		_, had = s.old.get(h)
	}
	if s.new.len() >= s.max {
		s.gone = append(s.gone, s.gen-1)
		s.gen++
		s.old, s.new = s.new, s.old // the table that is forgotten has grown already
		s.new.clear()
		s.late, s.added = s.added, nil
	}
	s.new.put(h, v)
	s.added = append(s.added, mark{h, v})
	return had
}

// key is where a record of a generation is kept.
func (s *set) key(kind byte, gen uint32, no uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32([]byte{kind}, gen), no)
}

func (s *set) flush(kind byte, put func(key, value []byte) error, drop func(prefix []byte) error) error {
	if err := s.save(kind, s.gen-1, s.late, put); err != nil {
		return err
	}
	if err := s.save(kind, s.gen, s.added, put); err != nil {
		return err
	}
	s.late, s.added = s.late[:0], s.added[:0]
	for _, gen := range s.gone {
		if err := drop(binary.BigEndian.AppendUint32([]byte{kind}, gen)); err != nil {
			return err
		}
	}
	s.gone = s.gone[:0]
	return nil
}

// wordsFirst is set in numbers of records that begin with marks of 32 bits without a value: how many there are, then what each is more than the one
// before. Marks of phrases are the least of many, so that most take three bytes. Records of older versions have it not, and have none.
const wordsFirst = 1 << 63

// save puts a record of marks: those of 32 bits without a value first, of others eight bytes each, then the value.
func (s *set) save(kind byte, gen uint32, marks []mark, put func(key, value []byte) error) error {
	if len(marks) == 0 {
		return nil
	}
	s.words = s.words[:0]
	for _, m := range marks {
		if isWord(m.h) && m.v == 0 {
			s.words = append(s.words, uint32(m.h))
		} else if isWord(m.h) { // it may have had, or get, no value in this very record: their order counts
			s.words = s.words[:0]
			break
		}
	}
	slices.Sort(s.words)
	b := make([]byte, 0, 10*len(marks)-6*len(s.words)+8)
	b = binary.AppendUvarint(b, uint64(len(s.words)))
	was := uint32(0)
	for _, h := range s.words {
		b, was = binary.AppendUvarint(b, uint64(h-was)), h
	}
	for _, m := range marks {
		if len(s.words) == 0 || !isWord(m.h) {
			b = binary.AppendUvarint(binary.BigEndian.AppendUint64(b, m.h), m.v)
		}
	}
	s.last++
	return put(s.key(kind, gen, wordsFirst|s.last), b)
}

// load takes in a record: generations come in their order, and in each of them the later record after the earlier one.
func (s *set) load(key, value []byte) {
	if len(key) != 13 {
		return
	}
	gen := binary.BigEndian.Uint32(key[1:])
	if gen > s.gen {
		if gen > s.gen+1 {
			s.new = table{}
		}
		s.old, s.new, s.gen = s.new, table{}, gen
	}
	no := binary.BigEndian.Uint64(key[5:])
	s.last = max(s.last, no&^wordsFirst)
	if no&wordsFirst != 0 {
		value = s.loadWords(value)
	}
	for len(value) > 8 {
		v, n := binary.Uvarint(value[8:])
		if n <= 0 {
			return
		}
		s.new.put(binary.BigEndian.Uint64(value), v)
		value = value[8+n:]
	}
}

// loadWords takes in the marks that a record begins with, and returns what follows.
func (s *set) loadWords(value []byte) []byte {
	left, n := binary.Uvarint(value)
	for h := uint64(0); n > 0 && left > 0; left-- {
		var more uint64
		value = value[n:]
		more, n = binary.Uvarint(value)
		h += more
		s.new.put(h, 0)
	}
	return value[max(0, n):]
}

// pair holds a text against the last one under a key, and keeps it. known reports whether there was one, of a URL that differs
// (whole is a mark of the URL), and first whether it is the first one that was the same.
func (s *set) pair(key, text, whole uint64) (same, known, first bool) {
	const one = 1 // it was the same before
	value := text&^(1<<32-1) | whole&(1<<32-1)&^one
	was, known := s.get(key)
	same = known && was>>32 == value>>32
	known = known && uint32(was&^one) != uint32(value)
	same = same && known
	first = same && was&one == 0
	if was&one != 0 && was>>32 == value>>32 || same {
		value |= one
	}
	s.add(key, value)
	return same, known, first
}
