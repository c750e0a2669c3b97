package webs

import (
	"bytes"
	"compress/gzip"
	"io"
	"testing"
)

// What the demo's bomb is made of is one gzip member of so many zeros, by its own checksum and length.
func TestZipped(t *testing.T) {
	z, err := gzip.NewReader(bytes.NewReader(zipped(3)))
	if err != nil {
		t.Fatal(err)
	}
	z.Multistream(false)
	b, err := io.ReadAll(z)
	if err != nil || !bytes.Equal(b, make([]byte, 3<<20)) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}
