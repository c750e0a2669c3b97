// Package inflate undoes gzip (RFC 1952, RFC 1951) where everything is at hand: all of the file, and room for what it holds, whose
// size stands at its end. Without streams between them the decoder's loop needs no window and no calls, and takes half the time
// of one that reads and writes pieces. Where a file is not of that kind, or broken, it says only that it did not do it.
package inflate

import (
	"encoding/binary"
	"hash/crc32"
)

// Bits of codes that the first table of each alphabet covers; longer codes have a second one.
const (
	literalBits  = 11
	distanceBits = 8
	codeBits     = 7  // of the code in which lengths of codes are written: all of it
	longest      = 15 // bits of a code
)

// An entry of a table. What it stands for takes, code and extra bits, so many bits of the input as its lowest six say, and the code
// alone those of the next four. Above 16 bits stands the literal, the least length or distance, or where the second table
// begins.
const (
	isLiteral = 1 << 12
	isSpecial = 1 << 13 // one of the two below, or, if neither is set, no code
	isEnd     = 1 << 14 // of a block
	isSecond  = 1 << 15 // the code goes on in a second table
)

// Decoder has the tables of a block. It may be used again, by one goroutine at a time.
type Decoder struct {
	// The second tables: each is for at least two codes that share their first bits.
	literals  [1<<literalBits + literalCodes/2<<(longest-literalBits)]uint32
	distances [1<<distanceBits + distanceCodes/2<<(longest-distanceBits)]uint32
	codes     [1 << codeBits]uint32
	lengths   [literalCodes + distanceCodes]uint8

	in   []byte
	at   int    // of the next byte in in
	bits uint64 // the next ones, lowest first
	n    int    // how many of them count; below zero: more were taken than there are
}

const (
	literalCodes  = 288
	distanceCodes = 32
	lengthCodes   = 19
)

// slack is the room behind the output that may be written to: by copies in words, and by literals before they are counted.
const slack = 64

// Size returns how many bytes a gzip file says at its end that it holds (modulo 2^32, and only of the last of its members).
func Size(file []byte) int64 {
	if len(file) < 18 {
		return -1
	}
	return int64(binary.LittleEndian.Uint32(file[len(file)-4:]))
}

// Gzip returns what a gzip file of one member holds, in dst if it has room for it. It returns false if the file is anything else,
// such as cut short, or of several members; dst may have been written to.
func (d *Decoder) Gzip(dst, file []byte) ([]byte, bool) {
	size := int(Size(file))
	start := header(file)
	// Two bits for 258 bytes is the most that there can be: what claims more is not worth the memory.
	if size < 0 || start == 0 || size/1032 > len(file) {
		return dst, false
	}
	if cap(dst) < size+slack {
		dst = make([]byte, 0, size+slack)
	}
	d.in, d.at, d.bits, d.n = file, start, 0, 0
	n, ok := d.blocks(dst[:size+slack], size)
	d.at -= max(0, d.n) / 8
	d.in = nil
	dst = dst[:n]
	if !ok || d.n < 0 || n != size || d.at != len(file)-8 {
		return dst, false
	}
	return dst, crc32.ChecksumIEEE(dst) == binary.LittleEndian.Uint32(file[d.at:])
}

// Flags of a gzip header (RFC 1952, section 2.3.1).
const (
	hasExtra   = 1 << 2
	hasName    = 1 << 3
	hasComment = 1 << 4
	notKnown   = 0xff &^ (hasExtra | hasName | hasComment | 1) // a checksum of the header among them, which nobody writes
)

// header returns the length of a file's header; 0 if it is not one that is known.
func header(file []byte) int {
	if len(file) < 18 || file[0] != 0x1f || file[1] != 0x8b || file[2] != 8 || file[3]&notKnown != 0 {
		return 0
	}
	at, flags := 10, file[3]
	if flags&hasExtra != 0 {
		at += 2 + int(binary.LittleEndian.Uint16(file[at:]))
	}
	for _, f := range [...]byte{hasName, hasComment} {
		if flags&f == 0 {
			continue
		}
		for {
			if at >= len(file) {
				return 0
			}
			at++
			if file[at-1] == 0 {
				break
			}
		}
	}
	if at > len(file)-8 {
		return 0
	}
	return at
}

// refill makes sure that at least 49 bits are at hand, or all that there are.
func (d *Decoder) refill() {
	for d.n <= 48 && d.at < len(d.in) {
		d.bits |= uint64(d.in[d.at]) << d.n
		d.at++
		d.n += 8
	}
}

// take takes bits, 32 at most.
func (d *Decoder) take(n int) uint32 {
	if d.n < n {
		d.refill()
	}
	v := uint32(d.bits & (1<<n - 1))
	d.bits >>= n
	d.n -= n
	return v
}

// blocks decodes until the last block's end, at most size bytes. It returns how many there were.
func (d *Decoder) blocks(out []byte, size int) (o int, ok bool) {
	for ok = true; ok; {
		last := d.take(1) == 1
		switch d.take(2) {
		case 0:
			o, ok = d.stored(out[:size], o)
		case 1:
			d.fixed()
			o, ok = d.block(out, o, size)
		case 2:
			if ok = d.dynamic(); ok {
				o, ok = d.block(out, o, size)
			}
		default:
			ok = false
		}
		if last || d.n < 0 {
			return o, ok
		}
	}
	return o, false
}

// stored copies a block that is not compressed (RFC 1951, section 3.2.4).
func (d *Decoder) stored(out []byte, o int) (int, bool) {
	d.take(max(0, d.n) % 8)
	n, not := d.take(16), d.take(16)
	if d.n < 0 || n != not^0xffff {
		return o, false
	}
	d.at -= d.n / 8
	d.bits, d.n = 0, 0
	if int(n) > len(d.in)-d.at || int(n) > len(out)-o {
		return o, false
	}
	copy(out[o:], d.in[d.at:d.at+int(n)])
	d.at += int(n)
	return o + int(n), true
}

// fixed makes the tables of the code that everybody knows (RFC 1951, section 3.2.6).
func (d *Decoder) fixed() {
	l := d.lengths[:literalCodes]
	for i := range l {
		switch {
		case i < 144, i >= 280:
			l[i] = 8
		case i < 256:
			l[i] = 9
		default:
			l[i] = 7
		}
	}
	table(d.literals[:], literalBits, l, &literalValues)
	for i := range l[:distanceCodes] {
		l[i] = 5
	}
	table(d.distances[:], distanceBits, l[:distanceCodes], &distanceValues)
}

// codeOrder is the order in which lengths of the code for lengths are written.
var codeOrder = [lengthCodes]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// dynamic reads the lengths of a block's codes and makes its tables (RFC 1951, section 3.2.7).
func (d *Decoder) dynamic() bool {
	literals, distances, codes := int(d.take(5))+257, int(d.take(5))+1, int(d.take(4))+4
	var l [lengthCodes]uint8
	for _, i := range codeOrder[:codes] {
		l[i] = uint8(d.take(3))
	}
	if literals > literalCodes-2 || distances > distanceCodes-2 || !table(d.codes[:], codeBits, l[:], &codeValues) {
		return false
	}
	all := d.lengths[:literals+distances]
	for i := 0; i < len(all); {
		d.refill()
		e := d.codes[d.bits&(1<<codeBits-1)]
		d.take(int(e & 63))
		v, times := uint8(e>>16), 1
		switch {
		case e&isSpecial != 0 || d.n < 0:
			return false
		case v < 16:
		case v == 16 && i == 0:
			return false
		case v == 16:
			v, times = all[i-1], 3+int(d.take(2))
		case v == 17:
			v, times = 0, 3+int(d.take(3))
		default:
			v, times = 0, 11+int(d.take(7))
		}
		if times > len(all)-i {
			return false
		}
		for range times {
			all[i] = v
			i++
		}
	}
	return table(d.literals[:], literalBits, all[:literals], &literalValues) && table(d.distances[:], distanceBits, all[literals:], &distanceValues)
}

// What symbols stand for: entries without the code's bits.
var (
	codeValues     [literalCodes]uint32
	literalValues  [literalCodes]uint32
	distanceValues [literalCodes]uint32
)

func init() {
	for i := range lengthCodes {
		codeValues[i] = uint32(i) << 16
	}
	for i := range 256 {
		literalValues[i] = uint32(i)<<16 | isLiteral
	}
	literalValues[256] = isSpecial | isEnd
	least := uint32(3) // RFC 1951, section 3.2.5
	for i := 257; i < 285; i++ {
		extra := uint32(max(0, (i-261)/4))
		literalValues[i] = least<<16 | extra
		least += 1 << extra
	}
	literalValues[285], literalValues[286], literalValues[287] = 258<<16, isSpecial, isSpecial
	least = 1
	for i := range 30 {
		extra := uint32(max(0, (i-2)/2))
		distanceValues[i] = least<<16 | extra
		least += 1 << extra
	}
	distanceValues[30], distanceValues[31] = isSpecial, isSpecial
}

// block decodes a compressed block into out from o on. Beyond size it may write slack bytes at most.
func (d *Decoder) block(out []byte, o, size int) (int, bool) {
	in, at, buf, n := d.in, d.at, d.bits, d.n
	literals, distances := &d.literals, &d.distances
	ok := false
loop:
	for o <= size {
		// A word is read whole where there is one: what it has beyond n bits is read again next time, and the same.
		if at+8 <= len(in) {
			buf |= binary.LittleEndian.Uint64(in[at:]) << (n & 63)
			at += (63 - n) >> 3
			n |= 56
		} else {
			for ; n <= 48 && at < len(in); n += 8 {
				buf |= uint64(in[at]) << n
				at++
			}
			if n < 0 {
				break
			}
		}
		e := literals[buf&(1<<literalBits-1)]
		was := o
		for e&isLiteral != 0 {
			out[o] = byte(e >> 16)
			o++
			buf >>= e & 63
			if n -= int(e & 63); n < literalBits {
				continue loop
			}
			e = literals[buf&(1<<literalBits-1)]
		}
		if n < 48 && o > was {
			continue // a length with its distance takes up to 48 bits
		}
		if e&isSpecial != 0 {
			if e&isSecond != 0 {
				buf >>= literalBits
				n -= literalBits
				e = literals[int(e>>16)+int(buf&(1<<(e&63)-1))]
			}
			switch {
			case e&isLiteral != 0:
				out[o] = byte(e >> 16)
				o++
				buf, n = buf>>(e&63), n-int(e&63)
				continue
			case e&isEnd != 0:
				buf, n = buf>>(e&63), n-int(e&63)
				ok = true
				break loop
			case e&isSpecial != 0:
				break loop
			}
		}
		length := int(e>>16) + int(buf&(1<<(e&63)-1)>>(e>>6&15))
		buf, n = buf>>(e&63), n-int(e&63)
		e = distances[buf&(1<<distanceBits-1)]
		if e&isSpecial != 0 {
			if e&isSecond == 0 {
				break
			}
			buf >>= distanceBits
			n -= distanceBits
			if e = distances[int(e>>16)+int(buf&(1<<(e&63)-1))]; e&isSpecial != 0 {
				break
			}
		}
		distance := int(e>>16) + int(buf&(1<<(e&63)-1)>>(e>>6&15))
		buf, n = buf>>(e&63), n-int(e&63)
		if distance > o || length > size-o {
			break
		}
		repeat(out, o, distance, length)
		o += length
	}
	d.at, d.bits, d.n = at, buf, n
	return min(o, size), ok && o <= size
}

// repeat copies what stands a distance before o in out to o, in words where it can, up to slack bytes beyond its end.
func repeat(out []byte, o, distance, length int) {
	from, to := out[o-distance:], out[o:]
	switch {
	case distance >= 8:
		word(to, from, 0)
		word(to, from, 8)
		if length <= 16 {
			return
		}
		if distance >= length {
			copy(to[16:length], from[16:])
			return
		}
		for i := 16; i < length; i += 8 {
			word(to, from, i)
		}
	default:
		for i := range length {
			to[i] = from[i]
		}
	}
}

func word(to, from []byte, i int) {
	binary.LittleEndian.PutUint64(to[i:], binary.LittleEndian.Uint64(from[i:]))
}
