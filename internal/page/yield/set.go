package yield

import "encoding/binary"

// How many marks a set keeps in each of two generations.
const (
	maxMarks = 32_768
	maxRests = 8_192
)

// set is an exact set of 64-bit marks with a value each. When the newer generation is full the older one is forgotten; what is
// used of it moves to the newer one.
type set struct {
	max      int
	gen      uint32
	new, old map[uint64]uint64
	added    []uint64
	gone     []uint32 // generations to be dropped
}

func newSet(max int) set { return set{max: max, new: map[uint64]uint64{}, old: map[uint64]uint64{}} }

func (s *set) len() int { return len(s.new) + len(s.old) }

func (s *set) get(h uint64) (uint64, bool) {
	v, ok := s.new[h]
	if !ok {
		v, ok = s.old[h]
	}
	return v, ok
}

func (s *set) has(h uint64) bool { _, ok := s.get(h); return ok }

func (s *set) add(h, v uint64) {
	if was, ok := s.new[h]; ok && was == v {
		return
	}
	if len(s.new) >= s.max {
		s.gone = append(s.gone, s.gen-1)
		s.gen++
		s.old, s.new = s.new, make(map[uint64]uint64, s.max/4)
	}
	s.new[h] = v
	s.added = append(s.added, h)
}

// key is where a mark of a generation is kept.
func (s *set) key(kind byte, gen uint32, h uint64) []byte {
	return binary.BigEndian.AppendUint64(binary.BigEndian.AppendUint32([]byte{kind}, gen), h)
}

func (s *set) flush(kind byte, put func(key, value []byte) error, drop func(prefix []byte) error) error {
	for _, h := range s.added {
		v, gen := s.new[h], s.gen
		if _, ok := s.new[h]; !ok {
			if v, gen = s.old[h], s.gen-1; gen == ^uint32(0) {
				continue
			}
		}
		var b []byte
		if v != 0 {
			b = binary.BigEndian.AppendUint64(nil, v)
		}
		if err := put(s.key(kind, gen, h), b); err != nil {
			return err
		}
	}
	s.added = s.added[:0]
	for _, gen := range s.gone {
		if err := drop(binary.BigEndian.AppendUint32([]byte{kind}, gen)); err != nil {
			return err
		}
	}
	s.gone = s.gone[:0]
	return nil
}

// load takes in a mark: generations come in their order.
func (s *set) load(key, value []byte) {
	if len(key) != 13 {
		return
	}
	gen := binary.BigEndian.Uint32(key[1:])
	if gen > s.gen {
		if gen > s.gen+1 {
			s.new = map[uint64]uint64{}
		}
		s.old, s.new, s.gen = s.new, map[uint64]uint64{}, gen
	}
	var v uint64
	if len(value) == 8 {
		v = binary.BigEndian.Uint64(value)
	}
	s.new[binary.BigEndian.Uint64(key[5:])] = v
}
