package robots

import (
	"encoding/binary"
	"errors"
	"fmt"
	"time"
)

// The binary form of rules: version, flags, delay in nanoseconds, then rules (twice the length of the value, one more for
// an allow, and the value), sitemaps, and the number of sitemaps left out. Numbers are uvarints; all but the first two are
// counted or preceded by their length.
const (
	encodingVersion = 1
	flagDelay       = 1
)

// MaxEncoded bounds the binary form of the rules of any file, in bytes: an entry of it is never longer than its line.
const MaxEncoded = MaxSize + 64

// ErrEncoding is the error of Decode for what Encode has not made.
var ErrEncoding = errors.New("not an encoded robots.txt")

// Encode returns the rules in a form that Decode reads: all of them, whatever their number. It is at most MaxEncoded
// bytes long.
func (r Rules) Encode() []byte {
	b := []byte{encodingVersion, 0}
	if r.HasDelay {
		b[1] = flagDelay
	}
	b = binary.AppendUvarint(b, uint64(r.Delay))
	b = binary.AppendUvarint(b, uint64(len(r.rules)))
	for i := range r.rules {
		v := r.rules[i].wire()
		n := uint64(len(v)) << 1
		if r.rules[i].allow {
			n |= 1
		}
		b = append(binary.AppendUvarint(b, n), v...)
	}
	b = binary.AppendUvarint(b, uint64(len(r.Sitemaps)))
	for _, s := range r.Sitemaps {
		b = append(binary.AppendUvarint(b, uint64(len(s))), s...)
	}
	return binary.AppendUvarint(b, uint64(r.SitemapsLeft))
}

// Decode returns the rules that Encode has written: they decide as those did about every path. The error wraps
// ErrEncoding; then the rules are not known, which is not the same as that there are none.
func Decode(b []byte) (Rules, error) {
	if len(b) > MaxEncoded {
		return Rules{}, fmt.Errorf("%w: %d bytes, at most %d are allowed", ErrEncoding, len(b), MaxEncoded)
	}
	if len(b) < 2 || b[0] != encodingVersion || b[1]&^flagDelay != 0 {
		return Rules{}, fmt.Errorf("%w: another version", ErrEncoding)
	}
	d := decoder{b: b[2:]}
	r := Rules{HasDelay: b[1]&flagDelay != 0, Delay: time.Duration(d.number(maxDelay * uint64(time.Second)))}
	for n := d.count(); n > 0 && !d.bad; n-- {
		head := d.number(MaxSize << 1)
		v := d.string(head >> 1)
		d.bad = d.bad || v == ""
		r.rules = append(r.rules, newRule(head&1 != 0, v))
	}
	for n := d.count(); n > 0 && !d.bad; n-- {
		s := d.string(d.number(maxSitemap))
		d.bad = d.bad || s == "" || len(r.Sitemaps) >= maxSitemaps
		r.Sitemaps = append(r.Sitemaps, s)
	}
	r.SitemapsLeft = int(d.number(MaxSize))
	if d.bad || len(d.b) > 0 {
		return Rules{}, fmt.Errorf("%w: damaged", ErrEncoding)
	}
	r.rules = inOrder(r.rules)
	return r, nil
}

// decoder reads from b until something is wrong.
type decoder struct {
	b   []byte
	bad bool
}

// number reads one that is at most max.
func (d *decoder) number(max uint64) uint64 {
	v, n := binary.Uvarint(d.b)
	if n <= 0 || v > max || d.bad {
		d.bad = true
		return 0
	}
	d.b = d.b[n:]
	return v
}

// count reads the number of things that follow, each of at least a byte.
func (d *decoder) count() uint64 { return d.number(uint64(len(d.b))) }

func (d *decoder) string(n uint64) string {
	if n > uint64(len(d.b)) {
		d.bad = true
	}
	if d.bad {
		return ""
	}
	s := string(d.b[:n])
	d.b = d.b[n:]
	return s
}
