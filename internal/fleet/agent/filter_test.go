package agent

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// A filter says of no key that it was sent which was not, nor a depth below the least one; and of the keys that were
// sent last it says both, as a map does that forgets nothing.
func TestFilter(t *testing.T) {
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		most := 2 << rng.IntN(13)
		f := newFilter(most)
		all := map[crawl.Key]uint16{}
		var last []crawl.Key // distinct ones, newest last, at least as many as half of the filter
		for range 20_000 {
			depth := uint16(rng.IntN(5))
			page := make([]crawl.Key, 1+rng.IntN(4))
			for i := range page {
				binary.BigEndian.PutUint64(page[i][4:], rng.Uint64N(20_000)*0x9e3779b97f4a7c15+1)
				if d, ok := all[page[i]]; !ok || depth < d {
					all[page[i]] = depth
				}
			}
			f.promote(page, depth)
			last = append(last, page...)
			probe := last[max(0, len(last)-1-rng.IntN(most))]
			d, ok := f.depth(probe)
			if ok && d < all[probe] {
				t.Fatalf("seed %d: depth %d, the least was %d", seed, d, all[probe])
			}
			if recent := last[max(0, len(last)-most/2):]; !ok {
				for _, r := range recent {
					if r == probe {
						t.Fatalf("seed %d: forgotten among the last %d of %d", seed, len(recent), most)
					}
				}
			}
			var never crawl.Key
			binary.BigEndian.PutUint64(never[4:], rng.Uint64N(20_000)*0x9e3779b97f4a7c15+2)
			if _, ok := f.depth(never); ok {
				t.Fatalf("seed %d: %s was never sent", seed, never)
			}
		}
		if n := f.new.n + f.old.n; n > most {
			t.Errorf("seed %d: %d keys in a filter of %d", seed, n, most)
		}
	}
}

// While nothing is forgotten, the depth is the least one.
func TestFilterDepth(t *testing.T) {
	f := newFilter(1 << 20)
	all := map[crawl.Key]uint16{}
	rng := rand.New(rand.NewPCG(7, 7))
	for range 50_000 {
		k := crawl.KeyOf("a.test", string(rune('a'+rng.IntN(26)))+string(rune('a'+rng.IntN(26)))+string(rune('a'+rng.IntN(26))))
		depth := uint16(rng.IntN(100))
		f.promote([]crawl.Key{k}, depth)
		if d, ok := all[k]; !ok || depth < d {
			all[k] = depth
		}
	}
	for k, want := range all {
		if d, ok := f.depth(k); !ok || d != want {
			t.Fatalf("%s: %d %v, want %d", k, d, ok, want)
		}
	}
	f.drop()
	for k := range all {
		if _, ok := f.depth(k); ok {
			t.Fatalf("%s is remembered after everything was dropped", k)
		}
	}
}

// However many jobs an agent works for, its filters hold no more than one does.
func TestFiltersShare(t *testing.T) {
	const most = 1 << 12
	fs := &filters{max: most, of: map[memory]*filter{}}
	rng := rand.New(rand.NewPCG(3, 3))
	for job := range uint32(3 * maxFilters) {
		f := fs.get(memory{job: job})
		for range most {
			var k crawl.Key
			binary.BigEndian.PutUint64(k[4:], rng.Uint64())
			f.promote([]crawl.Key{k}, 0)
		}
		n := 0
		for _, f := range fs.of {
			n += f.new.n + f.old.n
		}
		if n > most || len(fs.of) > maxFilters {
			t.Fatalf("%d keys of %d jobs are remembered", n, len(fs.of))
		}
	}
}

// What was sent as a link that is not to be followed, or as what a page needs, is not taken for the link itself.
func TestFilterTellsKindsOfLinksApart(t *testing.T) {
	u, err := crawl.Parse("http://a.test/x")
	if err != nil {
		t.Fatal(err)
	}
	k := u.Key()
	ways := map[string]crawl.Key{}
	for _, refused := range []bool{false, true} {
		for _, kind := range []parse.Kind{parse.Anchor, parse.Resource} {
			f := &finder{refused: refused}
			ways[fmt.Sprint(refused, kind)] = f.sentKey(f.kindKey(k, kind))
		}
	}
	for name, sent := range ways {
		filter := newFilter(100)
		filter.promote([]crawl.Key{sent}, 1)
		for other, key := range ways {
			if _, known := filter.depth(key); known != (other == name) {
				t.Errorf("%s was sent, %s: known %v", name, other, known)
			}
		}
	}
}

// However many nodes are in a process, what their filters take is bounded, and one node alone has all of a filter.
func TestFiltersOfAProcess(t *testing.T) {
	t.Parallel()
	const bytesOfPlace = 14
	places := map[int]int{} // of a filter of a size that is full
	for nodes := 1; nodes <= 256; nodes++ {
		size := FilterOf(nodes)
		if places[size] == 0 {
			f := newFilter(size)
			var k crawl.Key
			for i := range size + size/2 { // both halves have been full
				binary.BigEndian.PutUint64(k[4:], uint64(i+1)*0x9e3779b97f4a7c15)
				f.promote([]crawl.Key{k}, 1)
			}
			places[size] = len(f.new.places) + len(f.old.places)
		}
		if all := nodes * places[size] * bytesOfPlace; all > 64<<20 {
			t.Errorf("the filters of %d nodes take %d MB", nodes, all>>20)
		}
		if nodes <= 4 && size != filterSize {
			t.Errorf("each of %d nodes remembers %d of %d", nodes, size, filterSize)
		}
	}
}
