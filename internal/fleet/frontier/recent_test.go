package frontier

import (
	"encoding/binary"
	"testing"
)

// What leases have stays at hand, however much is found meanwhile: it is reported soon. What they had does not.
func TestHeldStaysAtHand(t *testing.T) {
	key := func(i int) (k recKey) {
		binary.BigEndian.PutUint32(k.key[:], uint32(i))
		return k
	}
	const size = 64
	c := newRecent(size)
	held, free := &record{lease: 1}, &record{}
	c.put(key(0), held)
	c.put(key(1), free)
	for i := range 10 * size {
		c.put(key(2+i), &record{})
	}
	if c.get(key(0)) != held || c.get(key(1)) != nil {
		t.Error("what a lease has is forgotten, or what none has is kept")
	}
	if n := len(c.new) + len(c.old); n > 2*size {
		t.Errorf("%d records of at most %d", n, 2*size)
	}
	held.lease = 0
	for i := range 10 * size {
		c.put(key(2+i), &record{})
	}
	if c.new[key(0)] != nil || c.old[key(0)] != nil {
		t.Error("what no lease has any more is kept")
	}
	for i := range 10 * size {
		c.put(key(2+i), &record{lease: 1})
	}
	if n := len(c.new) + len(c.old); n > 2*size {
		t.Errorf("%d held records of at most %d", n, 2*size)
	}
}
