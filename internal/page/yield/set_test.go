package yield

import (
	"bytes"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A set that is read back from its records, in the order of their keys, is the one that was flushed; what was flushed is a
// record or two at a time.
func TestSetComesBack(t *testing.T) {
	for seed := range uint64(50) {
		random := rand.New(rand.NewPCG(seed, 1))
		store := map[string][]byte{}
		puts := 0
		put := func(k, v []byte) error {
			store[string(k)] = v
			puts++
			return nil
		}
		drop := func(prefix []byte) error {
			maps.DeleteFunc(store, func(k string, _ []byte) bool { return strings.HasPrefix(k, string(prefix)) })
			return nil
		}
		s := newSet(64)
		for range 40 {
			for range random.IntN(40) {
				s.add(random.Uint64N(200), random.Uint64()>>random.IntN(65))
			}
			puts = 0
			if err := s.flush('k', put, drop); err != nil {
				t.Fatal(err)
			}
			if puts > 2 {
				t.Fatalf("seed %d: %d records of one flush", seed, puts)
			}
			again := newSet(64)
			for _, k := range slices.SortedFunc(maps.Keys(store), func(a, b string) int { return bytes.Compare([]byte(a), []byte(b)) }) {
				again.load([]byte(k), store[k])
			}
			if !maps.Equal(maps.Collect(again.new.all()), maps.Collect(s.new.all())) || !maps.Equal(maps.Collect(again.old.all()), maps.Collect(s.old.all())) || again.gen != s.gen {
				t.Fatalf("seed %d: generation %d with %d and %d marks came back as %d with %d and %d",
					seed, s.gen, s.new.len(), s.old.len(), again.gen, again.new.len(), again.old.len())
			}
			if random.IntN(4) == 0 {
				s = again
			}
		}
	}
}

// A record of marks as versions before wrote it is read: eight bytes each, then the value.
func TestSetReadsOlderRecords(t *testing.T) {
	s := newSet(64)
	s.load(s.key('k', 0, 7), []byte("\x00\x00\x00\x00\x00\x00\x00\x05\x00\x00\x00\x00\x09\x00\x00\x00\x00\x81\x01"))
	if want := map[uint64]uint64{5: 0, 9 << 32: 129}; !maps.Equal(maps.Collect(s.new.all()), want) || s.last != 7 {
		t.Errorf("%v, record %d; want %v, record 7", maps.Collect(s.new.all()), s.last, want)
	}
}

// Marks of phrases take no more than half of what the numbers themselves would.
func TestPhrasesTakeLittle(t *testing.T) {
	random, s, size := rand.New(rand.NewPCG(1, 1)), newSet(maxMarks), 0
	for range 48 {
		s.add(uint64(random.Uint32N(1<<26)), 0) // the least of a page of 3,000
	}
	if err := s.flush('k', func(_, v []byte) error { size = len(v); return nil }, nil); err != nil || size > 48*4 {
		t.Errorf("%d bytes of 48 marks, %v", size, err)
	}
}
