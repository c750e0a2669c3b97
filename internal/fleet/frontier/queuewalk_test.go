package frontier

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2"
	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
)

// However a queue changes between walks that end anywhere, each goes by all of its entries in their order, tells of those that waited what the
// last one had said of them, and reads the right keys.
func TestWalkSeesTheWholeQueue(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		rng := rand.New(rand.NewPCG(seed, 1))
		f := open(t, vfs.NewMem())
		task := &Task{ID: 7}
		keyOf := func(place uint64) (k crawl.Key) { binary.BigEndian.PutUint64(k[:], place); return k }
		there := map[uint64]uint32{} // the template with which an entry waits; 0: it is read
		put := func(place uint64) {
			if _, ok := there[place]; ok {
				return
			}
			there[place] = 0
			key := keyOf(place)
			task.head = min(task.head, place)
			task.memory.came(place, key)
			if err := f.db.Set(queueKey(7, place), key[:], pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
		take := func(place uint64) {
			if _, ok := there[place]; !ok {
				return
			}
			delete(there, place)
			task.memory.left(place)
			if err := f.db.Delete(queueKey(7, place), pebble.NoSync); err != nil {
				t.Fatal(err)
			}
		}
		for round := range 60 {
			for range rng.IntN(40) {
				put(1 + rng.Uint64N(300)) // among those that are remembered, and before them
			}
			for range rng.IntN(20) {
				put(uint64(300 + 10*round + rng.IntN(10)))
			}
			for range rng.IntN(30) {
				take(1 + rng.Uint64N(uint64(300+10*round)))
			}
			if rng.IntN(8) == 0 {
				task.memory = memory{}
				for place := range there {
					there[place] = 0
				}
			}
			walk := f.walk(task)
			var passed []looked
			want := make([]uint64, 0, len(there))
			for place := range there {
				want = append(want, place)
			}
			slices.Sort(want)
			for steps := rng.IntN(2 * (len(want) + 1)); steps > 0; steps-- {
				e, ok := walk.next()
				if !ok {
					if len(passed) != len(want) {
						t.Fatalf("seed %d, round %d: an end after %d of %d", seed, round, len(passed), len(want))
					}
					break
				}
				if len(passed) == len(want) || e.place != want[len(passed)] || e.template != there[e.place] {
					t.Fatalf("seed %d, round %d, %d: %+v, want %v", seed, round, len(passed), e, want[min(len(passed), len(want)-1)])
				}
				if e.key != keyOf(e.place) {
					t.Fatalf("seed %d, round %d: another key at %d", seed, round, e.place)
				}
				if e.template == 0 || rng.IntN(4) == 0 {
					e.template = rng.Uint32N(3)
				}
				there[e.place] = e.template
				passed = append(passed, e)
			}
			var err error
			if task.memory, _, err = walk.end(passed); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// What is remembered has an end, and those that were given out are remembered until they leave.
func TestMemoryEnds(t *testing.T) {
	t.Parallel()
	f := open(t, vfs.NewMem())
	task := &Task{ID: 7}
	const entries = 2 * maxKept
	for place := range uint64(entries) {
		task.memory.came(place, crawl.Key{})
		if err := f.db.Set(queueKey(7, place), make([]byte, len(crawl.Key{})), pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	for _, steps := range []int{entries, 10, entries, 0, entries} {
		walk := f.walk(task)
		var passed []looked
		for len(passed) < min(steps, maxKept) {
			e, ok := walk.next()
			if !ok || e.place != uint64(len(passed)) {
				t.Fatalf("%+v after %d", e, len(passed))
			}
			e.template = 1
			passed = append(passed, e)
		}
		var err error
		if task.memory, _, err = walk.end(passed); err != nil {
			t.Fatal(err)
		}
		if n := len(task.memory.entries); n > maxKept {
			t.Fatalf("%d are remembered", n)
		}
	}
	task.memory.left(5)
	if task.memory.waits(5) || !task.memory.waits(6) {
		t.Error("an entry that is gone waits, or one that is there does not")
	}
}

// What comes in front of the end of what is remembered is remembered as well: none of it is read again. More than there is room for is read.
func TestWhatComesIsRemembered(t *testing.T) {
	t.Parallel()
	f := open(t, vfs.NewMem())
	task := &Task{ID: 7}
	key := func(place uint64) (k crawl.Key) { binary.BigEndian.PutUint64(k[:], place); return k }
	put := func(place uint64) {
		k := key(place)
		task.memory.came(place, k)
		if err := f.db.Set(queueKey(7, place), k[:], pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	count := 0
	walk := func() (read bool) {
		t.Helper()
		w := f.walk(task)
		var passed []looked
		for e, ok := w.next(); ok; e, ok = w.next() {
			if e.key != key(e.place) || len(passed) > 0 && e.place <= passed[len(passed)-1].place {
				t.Fatalf("%+v", e)
			}
			e.template = 1
			passed = append(passed, e)
		}
		if len(passed) != count {
			t.Fatalf("%d entries, want %d", len(passed), count)
		}
		read = w.it != nil
		var err error
		if task.memory, _, err = w.end(passed); err != nil {
			t.Fatal(err)
		}
		return read
	}
	for place := uint64(10); place < 1000; place += 10 {
		put(place)
		count++
	}
	if !walk() {
		t.Error("a queue of which nothing is known is not read")
	}
	for place := uint64(5); place < 2000; place += 10 {
		put(place)
		count++
	}
	if walk() {
		t.Error("what has come is read")
	}
	for place := range uint64(2 * maxFresh) {
		put(20_000 - place)
		count++
	}
	if !walk() {
		t.Error("more is remembered than there is room for")
	}
}
