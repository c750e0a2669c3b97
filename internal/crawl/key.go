package crawl

import (
	"encoding/binary"
	"encoding/hex"

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
