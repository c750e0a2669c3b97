package archive

import (
	"bytes"
	"fmt"
	"runtime"
	"testing"
)

// A header that does not end is not read into memory; a block may be longer than any header.
func TestHeaderIsBounded(t *testing.T) {
	for _, head := range []string{"", "WARC/1.1\r\n", "WARC/1.1\r\nWARC-Target-URI: "} {
		member := appendDeflated(nil, [][]byte{[]byte(head), bytes.Repeat([]byte("a"), 32<<20)})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := NewReader(bytes.NewReader(member)).Next()
		runtime.ReadMemStats(&after)
		if took := after.TotalAlloc - before.TotalAlloc; err == nil || len(err.Error()) > 300 || took > 20*maxHeader {
			t.Errorf("%q: %.100s, with %d bytes", head, fmt.Sprint(err), took)
		}
	}
	long := Record{Type: "response", ID: NewID(), URI: "http://a.test/", Blocks: [][]byte{bytes.Repeat([]byte("a"), 3*maxHeader)}}
	rec, err := NewReader(bytes.NewReader(long.Encode(nil))).Next()
	if err == nil {
		err = rec.Discard()
	}
	if err != nil || !rec.BlockOK() {
		t.Errorf("a long block: %v", err)
	}
}
