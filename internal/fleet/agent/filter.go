package agent

import (
	"encoding/binary"
	"slices"
	"sync"

	"argosy/internal/crawl"
)

// filter remembers links whose parts are stored, by the hash of the URL and by the hash of the reference as it stood
// in a page of some directory, with the least depth at which they were sent. It is as exact as the twelve bytes are by which
// the frontier tells URLs of a site apart: what it says was sent, was sent and stored. It forgets the older half when it is
// full, and everything when a part could not be stored, which costs repeats only.
type filter struct {
	mu       sync.RWMutex
	max      int // keys
	new, old table
}

func newFilter(max int) *filter { return &filter{max: max} }

func (f *filter) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.new, f.old = table{}, table{}
}

// limit changes how many keys are remembered.
func (f *filter) limit(max int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.max == max {
		return
	}
	f.max = max
	if f.new.n > max/2 {
		f.new = table{}
	}
	if f.old.n > max/2 {
		f.old = table{}
	}
}

func (f *filter) promote(keys []crawl.Key, depth uint16) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, k := range keys {
		least := depth
		if d, ok := f.old.get(k); ok {
			least = min(depth, d)
		}
		if f.new.put(k, least); f.new.n >= max(1, f.max/2) {
			f.new, f.old = f.old, f.new
			f.new.clear()
		}
	}
}

// depth returns the least depth at which a link was sent, as far as that is remembered. mu is held, for reading at least.
func (f *filter) depth(k crawl.Key) (uint16, bool) {
	if d, ok := f.new.get(k); ok {
		return d, true // what the older half knew is in it
	}
	return f.old.get(k)
}

// depthOf is depth for a caller that does not hold the lock.
func (f *filter) depthOf(k crawl.Key) (uint16, bool) {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.depth(k)
}

// touch makes lookups of keys quick. mu is held, for reading at least.
func (f *filter) touch(keys []crawl.Key) {
	f.new.touch(keys)
	f.old.touch(keys)
}

// table is a set of keys with depths, in 14 bytes a place (open addressing, linear probing; a map takes twice as much). A
// key is a hash by itself: no other is made of it.
type table struct {
	places []place
	n      int
}

// place is a place of a table.
type place struct {
	key   [12]byte // zero: the place is free
	depth uint16
}

// firstTable is how many places a table has at first; it is a power of two, as later sizes are.
const firstTable = 1 << 10

// first is where a key belongs.
func (t *table) first(k [12]byte) int {
	return int(binary.BigEndian.Uint32(k[4:])) & (len(t.places) - 1)
}

// touch reads the places of keys, so that they are in the processor's cache when they are looked up: it waits for all of them at
// once, and a lookup for each.
//
//go:noinline
func (t *table) touch(keys []crawl.Key) (all byte) {
	if t.n > 0 {
		for i := range keys {
			all ^= t.places[t.first([12]byte(keys[i][4:]))].key[0]
		}
	}
	return all
}

// find returns the place of a key, or where it belongs.
func (t *table) find(k [12]byte) (i int, ok bool) {
	mask := len(t.places) - 1
	for i = t.first(k); ; i = (i + 1) & mask {
		switch t.places[i].key {
		case k:
			return i, true
		case [12]byte{}:
			return i, false
		}
	}
}

func (t *table) get(key crawl.Key) (depth uint16, ok bool) {
	if t.n == 0 {
		return 0, false
	}
	i, ok := t.find([12]byte(key[4:]))
	return t.places[i].depth, ok
}

// put remembers a key with a depth, or with the depth that it has if that is less.
func (t *table) put(key crawl.Key, depth uint16) {
	k := [12]byte(key[4:])
	if k == ([12]byte{}) {
		return // it would be taken for a free place
	}
	if 4*t.n >= 3*len(t.places) {
		t.grow()
	}
	i, ok := t.find(k)
	if !ok {
		t.places[i] = place{k, depth}
		t.n++
	}
	t.places[i].depth = min(t.places[i].depth, depth)
}

func (t *table) grow() {
	was := t.places
	t.places = make([]place, max(firstTable, 2*len(was)))
	for _, p := range was {
		if p.key != ([12]byte{}) {
			at, _ := t.find(p.key)
			t.places[at] = p
		}
	}
}

// clear forgets the keys and keeps the memory.
func (t *table) clear() {
	clear(t.places)
	t.n = 0
}

// maxFilters bounds for how many memories links are remembered.
const maxFilters = 8

// memory says for whom a filter remembers: what was sent for one job, or in one layer of it, was not sent for another.
type memory struct {
	job   uint32
	layer crawl.Layer
}

// filters are the filters of the memories that an agent worked for last. They share what may be remembered.
type filters struct {
	max int

	mu    sync.Mutex
	of    map[memory]*filter
	order []memory // used last, last
}

// get returns a filter. Of too many the one that was used longest ago is forgotten, which costs repeats only.
func (f *filters) get(of memory) *filter {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.order = append(slices.DeleteFunc(f.order, func(o memory) bool { return o == of }), of)
	if f.of[of] == nil {
		f.of[of] = newFilter(f.max)
		if len(f.order) > maxFilters {
			f.of[f.order[0]].drop() // a lease may still have it
			delete(f.of, f.order[0])
			f.order = f.order[1:]
		}
		for _, j := range f.of {
			j.limit(f.max / len(f.of))
		}
	}
	return f.of[of]
}

func (f *filters) drop() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, j := range f.of {
		j.drop()
	}
}
