package zstd

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// blocks are what a table holds: text that repeats, noise that cannot be made smaller, one byte, nothing, and more than a block of zstd.
func blocks() map[string][]byte {
	noise := make([]byte, 300<<10)
	random := rand.New(rand.NewPCG(1, 2))
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	return map[string][]byte{"text": bytes.Repeat([]byte("http://a.example/page?id=1 "), 2000), "noise": noise, "little noise": noise[:700], "one": {7}, "nothing": {}}
}

// TestIntoThePlace holds what Pebble relies on: whatever is compressed fits into CompressBound and stands where it was to stand, at every
// level and with a context that was used at another before; the library reads it, and it comes back into a place of its size.
func TestIntoThePlace(t *testing.T) {
	reader, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	c := NewCtx()
	for name, want := range blocks() {
		for level := 1; level <= 22; level++ {
			place := make([]byte, CompressBound(len(want)))
			frame, err := c.CompressLevel(place, want, level)
			if err != nil || len(frame) == 0 || &frame[0] != &place[0] {
				t.Fatalf("%s, level %d: %d bytes, %v: not in the place", name, level, len(frame), err)
			}
			if got, err := reader.DecodeAll(frame, nil); err != nil || !bytes.Equal(got, want) {
				t.Fatalf("%s, level %d: the library reads %d bytes, %v", name, level, len(got), err)
			}
			back := make([]byte, len(want))
			if n, err := c.DecompressInto(back, frame); err != nil || n != len(want) || !bytes.Equal(back, want) {
				t.Fatalf("%s, level %d: %d of %d bytes came back, %v", name, level, n, len(want), err)
			}
		}
	}
}

// TestOthersFrames: a frame with a checksum and several blocks, as others write it.
func TestOthersFrames(t *testing.T) {
	writer, err := zstd.NewWriter(nil, zstd.WithEncoderCRC(true))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range blocks() {
		back := make([]byte, len(want))
		if n, err := NewCtx().DecompressInto(back, writer.EncodeAll(want, nil)); err != nil || n != len(want) || !bytes.Equal(back, want) {
			t.Errorf("%s: %d of %d bytes, %v", name, n, len(want), err)
		}
	}
}

// TestDamage: neither a place that is too small nor damaged bytes are written past, or pass for what was there.
func TestDamage(t *testing.T) {
	c, want := NewCtx(), blocks()["text"]
	frame, err := c.CompressLevel(nil, want, 3)
	if err != nil {
		t.Fatal(err)
	}
	place := bytes.Repeat([]byte{9}, len(want))
	if _, err := c.DecompressInto(place[:100], frame); !errors.Is(err, zstd.ErrDecoderSizeExceeded) || place[100] != 9 {
		t.Errorf("into 100 of %d bytes: %v", len(want), err)
	}
	if _, err := c.DecompressInto(place, frame[:len(frame)-1]); err == nil {
		t.Error("a frame without its end was read")
	}
	if _, err := c.DecompressInto(place, []byte("no frame at all")); err == nil {
		t.Error("text was read as a frame")
	}
	if n, err := c.DecompressInto(place, frame); err != nil || n != len(want) {
		t.Errorf("after damage: %d bytes, %v", n, err)
	}
}
