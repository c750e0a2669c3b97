package frontier

import (
	"encoding/binary"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// seen tells of most URLs that are new that they are: without it the store is asked for each, and searches its tables
// in memory. It is a Bloom filter in blocks of a cache line (Putze, Sanders and Singler 2007) that grows by generations,
// each for twice as many URLs as the one before (Almeida et al. 2007). A URL costs it 10 to 20 bits, and it is wrong about
// one new URL in a hundred, which is then looked up.
type seen struct{ gens []generation }

type generation struct {
	blocks [][8]uint64
	left   int // URLs that it has room for
}

const (
	seenFirst  = 1 << 14 // URLs of the first generation
	seenBits   = 10      // a URL
	seenProbes = 6
)

func (s *seen) add(k recKey) {
	last := len(s.gens) - 1
	if last < 0 || s.gens[last].left == 0 {
		last++
		n := seenFirst << last
		s.gens = append(s.gens, generation{blocks: make([][8]uint64, n*seenBits/512), left: n})
	}
	g := &s.gens[last]
	g.left--
	h, probes := k.hash()
	b := &g.blocks[h%uint64(len(g.blocks))]
	for range seenProbes {
		b[probes>>6&7] |= 1 << (probes & 63)
		probes >>= 9
	}
}

// has reports whether a URL may have been added; false is certain.
func (s *seen) has(k recKey) bool {
	h, probes := k.hash()
next:
	for i := range s.gens {
		g := &s.gens[i]
		b, p := &g.blocks[h%uint64(len(g.blocks))], probes
		for range seenProbes {
			if b[p>>6&7]&(1<<(p&63)) == 0 {
				continue next
			}
			p >>= 9
		}
		return true
	}
	return false
}

// hash returns two numbers of a key, which is a hash itself: one says in which block it is, the other at which bits.
func (k recKey) hash() (block, probes uint64) {
	const odd = 0x9e3779b97f4a7c15
	block = (binary.BigEndian.Uint64(k.key[4:]) ^ uint64(k.job) ^ uint64(k.Owner)<<20 ^ uint64(k.Gen)<<44) * odd
	probes = (binary.BigEndian.Uint64(k.key[8:]) ^ block>>32) * odd
	return block >> 8, probes >> 10
}

// novelty knows which URLs are new: those that neither were in the view when it was opened nor have been added since.
// Until the view has been walked through, beside everything else, it knows nothing.
type novelty struct {
	since seen
	was   atomic.Pointer[seen]
	stop  chan struct{}
	done  sync.WaitGroup
}

// open begins to walk through a view.
func (n *novelty) open(db *pebble.DB) {
	n.stop = make(chan struct{})
	snap := db.NewSnapshot()
	n.done.Go(func() {
		defer func() { _ = snap.Close() }() // of reading only
		if s := takeIn(snap, n.stop); s != nil {
			n.was.Store(s)
		}
	})
}

// close returns when the view is not walked through any more.
func (n *novelty) close() {
	close(n.stop)
	n.done.Wait()
}

func (n *novelty) isNew(k recKey) bool {
	was := n.was.Load()
	return was != nil && !was.has(k) && !n.since.has(k)
}

// takeIn takes in every URL of a snapshot; nil if it was stopped, or could not read.
func takeIn(snap *pebble.Snapshot, stop <-chan struct{}) *seen {
	prefix := []byte{'u'}
	it, err := snap.NewIter(&pebble.IterOptions{LowerBound: prefix, UpperBound: after(prefix)})
	if err != nil {
		return nil
	}
	s := &seen{}
	for it.First(); it.Valid(); it.Next() {
		select {
		case <-stop:
			_ = it.Close()
			return nil
		default:
		}
		if k, ok := ofURLKey(it.Key()); ok {
			s.add(k)
		}
	}
	if it.Close() != nil {
		return nil
	}
	return s
}
