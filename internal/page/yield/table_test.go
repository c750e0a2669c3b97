package yield

import (
	"maps"
	"math/rand/v2"
	"testing"
)

// A table is the map that was given the same marks, whatever these are: few, many, alike in one half, and 0.
func TestTableIsAMap(t *testing.T) {
	kinds := []func(r *rand.Rand) uint64{
		func(r *rand.Rand) uint64 { return r.Uint64() },
		func(r *rand.Rand) uint64 { return r.Uint64N(50) },
		func(r *rand.Rand) uint64 { return figureMark | uint64(r.Uint32()) },
		func(r *rand.Rand) uint64 { return uint64(r.Uint32N(100)) << 32 },
		func(r *rand.Rand) uint64 { return r.Uint64N(3000) << 50 },
	}
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 3))
		var got table
		want := map[uint64]uint64{}
		for range r.IntN(20_000) {
			h := kinds[r.IntN(len(kinds))](r)
			switch r.IntN(1000) {
			case 0:
				if r.IntN(4) == 0 {
					got.clear()
					clear(want)
				}
			default:
				v, ok := got.get(h)
				if w, had := want[h]; v != w || ok != had {
					t.Fatalf("seed %d: %x is %d, %v; want %d, %v", seed, h, v, ok, w, had)
				}
				if r.IntN(2) == 0 {
					v := r.Uint64N(9)
					got.put(h, v)
					want[h] = v
				}
			}
			if got.len() != len(want) {
				t.Fatalf("seed %d: %d marks, want %d", seed, got.len(), len(want))
			}
		}
		if !maps.Equal(maps.Collect(got.all()), want) {
			t.Fatalf("seed %d: the marks differ", seed)
		}
	}
}

// BenchmarkTable measures what it costs to look for a mark and to remember it where it is not there, beside a map of Go's.
func BenchmarkTable(b *testing.B) {
	mark := func(i int) uint64 { return uint64(uint32(i)*0x9e3779b1) >> 14 }
	b.Run("table", func(b *testing.B) {
		var t table
		for i := range b.N {
			if _, ok := t.get(mark(i)); !ok {
				if t.len() >= maxMarks {
					t.clear()
				}
				t.put(mark(i), 0)
			}
		}
	})
	b.Run("map", func(b *testing.B) {
		t := map[uint64]uint64{}
		for i := range b.N {
			if _, ok := t[mark(i)]; !ok {
				if len(t) >= maxMarks {
					clear(t)
				}
				t[mark(i)] = 0
			}
		}
	})
}
