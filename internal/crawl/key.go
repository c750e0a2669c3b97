package crawl

import (
	"encoding/binary"
	"encoding/hex"
	"math/bits"

	"github.com/zeebo/xxh3"
)

// Key identifies a URL: four bytes of its site's hash, then twelve of its own. URLs of a site stand together on
// disk, so a site's records can be walked and its lookups stay in few blocks.
type Key [16]byte

// Key returns the key of u.
func (u URL) Key() Key { return KeyOf(u.Site(), u.s) }

// KeyOf returns the key of a canonical URL whose site is known.
func KeyOf(site, url string) Key {
	var k Key
	sum := xxh3.HashString128(url)
	binary.BigEndian.PutUint32(k[:], SiteHash(site))
	binary.BigEndian.PutUint64(k[4:], sum.Hi)
	binary.BigEndian.PutUint32(k[12:], uint32(sum.Lo))
	return k
}

// SiteHash is the first four bytes of the keys of a site's URLs, and what the shard of a site is derived from.
func SiteHash(site string) uint32 { return uint32(xxh3.HashString(site)) }

// String returns the key in hexadecimal.
func (k Key) String() string { return hex.EncodeToString(k[:]) }

// Layer says in whose view of the web a page lies, and of which crawl of it: a crawler that remembers for itself has an owner
// number of its own, a crawl that is made again a generation of its own. The same URL is another page in each layer.
// Everything is in the zero layer as long as nobody asks for more.
type Layer struct {
	Owner uint32 `cbor:"1,keyasint,omitempty" json:"owner,omitempty"`
	Gen   uint32 `cbor:"2,keyasint,omitempty" json:"gen,omitempty"`
}

// Page identifies a page of a job.
type Page struct {
	Layer
	Key Key `cbor:"3,keyasint"`
}

// Bytes returns the page's layer and key as they stand in keys on disk.
func (p Page) Bytes() []byte {
	return append(p.Layer.Append(make([]byte, 0, 2+len(p.Key))), p.Key[:]...)
}

// PageOf returns the page whose Bytes are b. It reports false of what Bytes does not return.
func PageOf(b []byte) (p Page, ok bool) {
	p.Layer, b, ok = CutLayer(b)
	if !ok || len(b) != len(p.Key) {
		return Page{}, false
	}
	p.Key = Key(b)
	return p, true
}

// Append adds the layer to a key on disk: a byte for each number below 248, else its length and its bytes, so that keys are
// ordered as the numbers are.
func (l Layer) Append(b []byte) []byte { return appendOrdered(appendOrdered(b, l.Owner), l.Gen) }

// CutLayer takes a layer from the front of what Append has written. It reports false of what Append does not write.
func CutLayer(b []byte) (l Layer, rest []byte, ok bool) {
	if l.Owner, b, ok = cutOrdered(b); ok {
		l.Gen, b, ok = cutOrdered(b)
	}
	return l, b, ok
}

// orderedByte is the first number that does not stand for itself in one byte.
const orderedByte = 0xF8

func appendOrdered(b []byte, n uint32) []byte {
	if n < orderedByte {
		return append(b, byte(n))
	}
	size := (bits.Len32(n) + 7) / 8
	b = append(b, byte(orderedByte+size-1))
	for i := size - 1; i >= 0; i-- {
		b = append(b, byte(n>>(8*i)))
	}
	return b
}

func cutOrdered(b []byte) (n uint32, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	if b[0] < orderedByte {
		return uint32(b[0]), b[1:], true
	}
	size := int(b[0]) - orderedByte + 1
	if size > 4 || len(b) < 1+size {
		return 0, nil, false
	}
	for _, c := range b[1 : 1+size] {
		n = n<<8 | uint32(c)
	}
	return n, b[1+size:], true
}

// Others returns those of keys that are of the site of k and not k itself, in a slice of its own.
func Others(keys []Key, k Key) (out []Key) {
	for _, v := range keys {
		if v != k && [4]byte(v[:4]) == [4]byte(k[:4]) { // a key begins with its site
			out = append(out, v)
		}
	}
	return out
}
