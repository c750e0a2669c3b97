package coordinator

import (
	"math/rand/v2"
	"slices"
	"sync"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/testkit"
)

// changes is how many changes testkit.Mutate knows of a whole entry.
var changes = sync.OnceValue(func() int {
	for n := 0; ; n++ {
		e := whole(crawl.Lease{ID: 1, Attempt: 1}, 0)
		if _, ok := testkit.Mutate(&e, n); !ok {
			return n
		}
	}
})

// scramble changes bytes of a message as it goes over the wire.
func scramble(r *rand.Rand, b []byte) []byte {
	b = slices.Clone(b)
	for range 1 + r.IntN(4) {
		at := r.IntN(len(b))
		switch r.IntN(4) {
		case 0:
			b[at] = byte(r.Uint32())
		case 1:
			b[at] ^= 1 << r.IntN(8)
		case 2:
			b = slices.Delete(b, at, min(len(b), at+1+r.IntN(8)))
		case 3:
			b = slices.Insert(b, at, b[at:min(len(b), at+1+r.IntN(64))]...)
		}
		if len(b) == 0 {
			return []byte{0}
		}
	}
	return b
}

// Whatever is wrong in several fields of a message at once, or in its bytes: nothing panics, both twins take what is left of it, and
// what honest messages between them say is counted by both.
func FuzzWhatANodeSays(f *testing.F) {
	for seed := range uint64(3) {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		const messages = 150
		r := rand.New(rand.NewPCG(seed, 14))
		s := newTwins(t, 2*messages)
		honest := int64(0)
		for i := range messages {
			e := whole(s.grant(), 2*i)
			if r.IntN(3) > 0 {
				e.Kind = crawl.EntryParts
			} else {
				e.Kind = crawl.EntryMeasures
			}
			for range r.IntN(4) {
				testkit.Mutate(&e, r.IntN(changes()))
			}
			b, err := crawl.Marshal(&e)
			if err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 {
				b = scramble(r, b)
			}
			fx, _ := s.message("n", b)
			finite(t, "scrambled", fx)
			if i%5 == 0 {
				if _, refused := s.entry("n", whole(s.grant(), 2*i+1)); len(refused) > 0 {
					t.Fatalf("an honest message is refused: %v", refused)
				}
				honest++
			}
		}
		s.flush("all")
		for range 20 {
			if s.tell() == 0 {
				break
			}
			s.flush("what was set aside")
		}
		lost, _, err := s.co.sinks.differ(t.Context(), 1) // pages of URLs that the frontier has never heard of: what a node says of its lease is believed
		if err != nil {
			t.Fatal(err)
		}
		s.leader(crawl.Entry{Kind: crawl.EntryRetry, Release: &crawl.Release{Job: 1, Lost: lost, Mend: true}})
		s.flush("what was mended")
		if got := s.co.f.Counts(1).Fetched; got < honest {
			t.Errorf("%d pages are fetched, of %d that honest messages tell of", got, honest)
		}
		ended, err := s.co.sinks.ledger.Ended(t.Context(), 1)
		if err != nil || ended != s.co.f.Job(1).Ended {
			t.Errorf("the ledger has %+v, the frontier %+v: %v", ended, s.co.f.Job(1).Ended, err)
		}
	})
}
