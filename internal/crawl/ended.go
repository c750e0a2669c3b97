package crawl

import "encoding/binary"

// Ended is the set of a job's pages that a node's word has ended, in two numbers: frontier and ledger keep it entry by entry, and
// compare it before a job is called done. Sums of two different sets are the same once in 2^64.
type Ended struct {
	URLs int64 `cbor:"1,keyasint,omitempty" json:"urls"`
	Sum  int64 `cbor:"2,keyasint,omitempty" json:"sum"` // of the pages' marks, modulo 2^64
}

// EndedByNode reports whether it is a node's word that ends a URL so: the frontier refuses URLs for other reasons by itself, and
// the ledger has no row of them.
func EndedByNode(state State, reason Kind) bool {
	return state == Fetched || state == Failed || state == Excluded && (reason == ReasonRobots || reason == ReasonRobotsDown)
}

// Count adds a page that has ended so, n times; one that is taken back with n = -1.
func (e *Ended) Count(p Page, state State, reason Kind, n int64) {
	if EndedByNode(state, reason) {
		e.URLs += n
		e.Sum += n * mark(p, state)
	}
}

// Plus returns the union of two sets that have nothing in common.
func (e Ended) Plus(o Ended) Ended { return Ended{e.URLs + o.URLs, e.Sum + o.Sum} }

// Minus takes a part of a set away.
func (e Ended) Minus(o Ended) Ended { return Ended{e.URLs - o.URLs, e.Sum - o.Sum} }

// mark is a hash of a page and how it ended: keys are hashes already, and are mixed with the rest.
func mark(p Page, state State) int64 {
	x := binary.BigEndian.Uint64(p.Key[:8])
	for _, v := range [...]uint64{binary.BigEndian.Uint64(p.Key[8:]), uint64(p.Owner)<<32 | uint64(p.Gen), uint64(state)} {
		x = (x ^ x>>30) * 0xbf58476d1ce4e5b9 // the finalizer of SplitMix64
		x = (x ^ x>>27) * 0x94d049bb133111eb
		x ^= x>>31 ^ v
	}
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	return int64(x ^ x>>27)
}
