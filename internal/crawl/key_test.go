package crawl

import (
	"bytes"
	"cmp"
	"math/rand/v2"
	"testing"
)

// A page's bytes are ordered as its numbers are, and give the page back; a zero layer costs two bytes.
func TestPageBytes(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	number := func() uint32 { return rng.Uint32() >> rng.IntN(33) }
	random := func() (p Page) {
		p.Owner, p.Gen = number(), number()
		p.Key[0], p.Key[15] = byte(rng.IntN(3)), byte(rng.IntN(256))
		return p
	}
	for range 20_000 {
		a, b := random(), random()
		if rng.IntN(2) == 0 {
			b.Owner = a.Owner
		}
		if got, ok := PageOf(a.Bytes()); !ok || got != a {
			t.Fatalf("%v became %v, %v", a, got, ok)
		}
		want := cmp.Or(cmp.Compare(a.Owner, b.Owner), cmp.Compare(a.Gen, b.Gen), bytes.Compare(a.Key[:], b.Key[:]))
		if got := bytes.Compare(a.Bytes(), b.Bytes()); got != want {
			t.Fatalf("%v and %v: %d, want %d", a, b, got, want)
		}
		for n := range a.Bytes() {
			if _, ok := PageOf(a.Bytes()[:n]); ok {
				t.Fatalf("%v: %d bytes are taken for a page", a, n)
			}
		}
	}
	if n := len(Page{}.Bytes()); n != 18 {
		t.Errorf("a page of the zero layer takes %d bytes", n)
	}
	if _, ok := PageOf(append([]byte{0xFF}, make([]byte, 40)...)); ok {
		t.Error("a number of eight bytes is taken")
	}
}
