package crawl

import (
	"encoding/binary"
	"errors"
	"math"
)

// Marks are numbers that a page is told from others by. They stand in a message as an array of numbers; a page has dozens of them, so
// that they are read without reflection.
type Marks []uint32

var (
	errMarks = errors.New("want an array of numbers below 2^32")
	errMark  = errors.New("want a number below 2^8, or whether a mark is wanted")
	errKey   = errors.New("want a string of bytes")
)

// First bytes of CBOR items (RFC 8949), and the parts of one.
const (
	cborUint      = 0
	cborNegative  = 1
	cborBytes     = 2
	cborText      = 3
	cborArray     = 4
	cborMap       = 5
	cborSimple    = 7
	cborEndless   = 31 // a length that is not told
	cborEnd       = 0xff
	cborFalse     = 0xf4
	cborTrue      = 0xf5
	cborNull      = 0xf6
	cborFloat32   = 0xfa
	cborFloat64   = 0xfb
	cborUndefined = 0xf7
)

// head reads the head of an item: its major type, and its length or value. n is how many bytes that takes; 0: it is not one that tells it.
func head(b []byte) (major byte, v uint64, n int) {
	if len(b) == 0 {
		return 0, 0, 0
	}
	major, info := b[0]>>5, b[0]&31
	if info < 24 {
		return major, uint64(info), 1
	}
	if n = 1 << (info & 3); info > 27 || len(b) <= n {
		return 0, 0, 0
	}
	switch n {
	case 1:
		v = uint64(b[1])
	case 2:
		v = uint64(binary.BigEndian.Uint16(b[1:]))
	case 4:
		v = uint64(binary.BigEndian.Uint32(b[1:]))
	default:
		v = binary.BigEndian.Uint64(b[1:])
	}
	return major, v, n + 1
}

// UnmarshalCBOR reads an item that is known to be well-formed.
func (m *Marks) UnmarshalCBOR(b []byte) error {
	*m = nil
	if len(b) == 1 && (b[0] == cborNull || b[0] == cborUndefined) {
		return nil
	}
	endless := len(b) > 1 && b[0] == cborArray<<5|cborEndless && b[len(b)-1] == cborEnd
	if endless {
		b = b[1 : len(b)-1]
		*m = Marks{}
	} else {
		major, count, n := head(b)
		if n == 0 || major != cborArray || count > uint64(len(b)-n) { // each takes a byte at least
			return errMarks
		}
		b = b[n:]
		*m = make(Marks, 0, count)
	}
	for len(b) > 0 {
		major, v, n := head(b)
		if n == 0 || major != cborUint || v > math.MaxUint32 {
			*m = nil
			return errMarks
		}
		*m = append(*m, uint32(v))
		b = b[n:]
	}
	return nil
}

// UnmarshalCBOR reads an item that is known to be well-formed: a number, or, as 0.1.0 wrote it, whether a mark is wanted.
func (m *Mark) UnmarshalCBOR(b []byte) error {
	*m = MarkNone
	if len(b) == 1 && (b[0] == cborNull || b[0] == cborUndefined || b[0] == cborFalse) {
		return nil
	}
	if len(b) == 1 && b[0] == cborTrue {
		*m = MarkMust
		return nil
	}
	major, v, n := head(b)
	if n != len(b) || major != cborUint || v > math.MaxUint8 {
		return errMark
	}
	*m = Mark(v)
	return nil
}

// UnmarshalCBOR reads an item that is known to be well-formed: without reflection, as there is one for each page and each link.
func (k *Key) UnmarshalCBOR(b []byte) error {
	*k = Key{}
	if len(b) == 1 && (b[0] == cborNull || b[0] == cborUndefined) {
		return nil
	}
	major, size, n := head(b)
	if n == 0 || major != cborBytes || size != uint64(len(b)-n) {
		return errKey
	}
	copy(k[:], b[n:])
	return nil
}
