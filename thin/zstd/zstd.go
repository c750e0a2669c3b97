// Package zstd has the part of github.com/DataDog/zstd that Pebble calls where a C compiler is, over the library in Go that Argosy uses
// everywhere else. Both write the frames of RFC 8878, so either reads what the other wrote.
package zstd

import "github.com/klauspost/compress/zstd"

// A Ctx compresses and decompresses single frames. It is for one goroutine at a time; Pebble keeps those that nobody uses in a pool.
type Ctx interface {
	// CompressLevel compresses src at a level of zstd (1 to 22) into dst, which it returns cut to what was written. A dst of CompressBound
	// bytes is always enough; a smaller one is left alone where the frame does not fit, and another returned.
	CompressLevel(dst, src []byte, level int) ([]byte, error)
	// DecompressInto decompresses the frames of src into dst and returns the number of bytes written; an error where src is damaged, or
	// holds more than dst has room for.
	DecompressInto(dst, src []byte) (int, error)
}

// NewCtx returns a context without tables: these are made when they are first needed.
func NewCtx() Ctx { return &ctx{} }

// CompressBound returns the room that a frame of n bytes can take: at most 18 bytes of header and 4 of checksum (RFC 8878, section 3.1.1),
// three bytes of header for each block (section 3.1.1.2), of which only the last has less than 1 KiB here, and the bytes themselves.
func CompressBound(n int) int { return n + 18 + 4 + 3*(n>>10+1) }

type ctx struct {
	encoder *zstd.Encoder
	level   zstd.EncoderLevel
	decoder *zstd.Decoder
}

func (c *ctx) CompressLevel(dst, src []byte, level int) ([]byte, error) {
	if speed := zstd.EncoderLevelFromZstd(level); c.encoder == nil || c.level != speed {
		encoder, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(speed), zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
			zstd.WithEncoderCRC(false), zstd.WithZeroFrames(true)) // Pebble has checksums of its own
		if err != nil {
			return nil, err
		}
		c.encoder, c.level = encoder, speed
	}
	return c.encoder.EncodeAll(src, dst[:0]), nil
}

func (c *ctx) DecompressInto(dst, src []byte) (int, error) {
	if c.decoder == nil {
		decoder, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true), zstd.WithDecodeAllCapLimit(true))
		if err != nil {
			return 0, err
		}
		c.decoder = decoder
	}
	out, err := c.decoder.DecodeAll(src, dst[:0:len(dst)])
	return len(out), err
}
