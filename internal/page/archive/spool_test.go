package archive

import (
	"bytes"
	stdgzip "compress/gzip"
	"errors"
	"hash/crc32"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"argosy/internal/crawl"
)

// mixed returns n bytes of which stretches get smaller by compression and others do not.
func mixed(rng *rand.Rand, n int) []byte {
	b := make([]byte, 0, n+100_000)
	for len(b) < n {
		stretch := make([]byte, 1+rng.IntN(100_000))
		kinds := 1 + rng.IntN(256)
		for i := range stretch {
			stretch[i] = byte(rng.IntN(kinds))
		}
		b = append(b, stretch...)
	}
	return b[:n]
}

// spooled writes a block in pieces of any size.
func spooled(t *testing.T, s *Spools, rng *rand.Rand, block []byte) *Spool {
	t.Helper()
	sp, err := s.Create()
	if err != nil {
		t.Fatal(err)
	}
	for len(block) > 0 {
		k := min(len(block), 1+rng.IntN(300_000))
		if n, err := sp.Write(block[:k]); n != k || err != nil {
			t.Fatal(n, err)
		}
		block = block[k:]
	}
	return sp
}

// Spooled records are read back as they were written, with the records before and after them, whether they are copied into
// a file or become one of their own; nothing is left of their spools. Another gzip reader finds the same bytes.
func TestSpooled(t *testing.T) {
	for _, remote := range []bool{false, true} {
		dir := t.TempDir()
		c := WriterConfig{Dir: dir, Prefix: "x", MaxSize: 1 << 30, Info: map[string]string{"software": "test"}}
		where := dir
		if remote {
			where = t.TempDir()
			c.Store = Dir(where)
		}
		spools, err := OpenSpools(filepath.Join(dir, "spool"))
		if err != nil {
			t.Fatal(err)
		}
		w := NewWriter(c)
		rng := rand.New(rand.NewPCG(1, 7))
		type written struct {
			loc   crawl.Location
			block []byte
		}
		var all []written
		for i, n := range []int{1, 100, 65_534, 65_536, 1_000_000, 3_000_000, syncEvery + 2_000_000} {
			head, body := []byte("HTTP/1.1 200 OK\r\n\r\n"), mixed(rng, n)
			if n > ownFile {
				body = make([]byte, n)
				_, _ = rand.NewChaCha8([32]byte{}).Read(body)
			}
			block := append(head, body...)
			sp := spooled(t, spools, rng, block)
			r, other := record(i, nil, false), record(i, []byte("after it"), false)
			r.Payload, r.Truncated = Digest(body), []string{"", "length"}[i%2]
			from := rng.IntN(len(block))
			back, err := sp.Open(int64(from))
			if err != nil {
				t.Fatal(err)
			}
			if rest, err := io.ReadAll(back); err != nil || !bytes.Equal(rest, block[from:]) || sp.Size() != int64(len(block)) {
				t.Errorf("%d bytes: read back from %d: %d bytes, %v", n, from, len(rest), err)
			}
			locs, err := w.AppendSpooled(&r, sp, other.Encode(nil))
			if err != nil {
				t.Fatal(err)
			}
			if err := back.Close(); err != nil {
				t.Error(err)
			}
			if err := sp.Close(); err != nil {
				t.Error(err)
			}
			all = append(all, written{locs[0], block}, written{locs[1], bytes.Join(other.Blocks, nil)})
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		for _, a := range all {
			rec, block, err := readFrom(t.Context(), Dir(where), a.loc.File, a.loc.Offset, syncEvery*2)
			if err != nil {
				t.Fatalf("%+v: %v", a.loc, err)
			}
			if !bytes.Equal(block, a.block) || !rec.BlockOK() || rec.Length != a.loc.Length {
				t.Errorf("%+v: %d bytes of %d, length %d, digest right: %v", a.loc, len(block), len(a.block), rec.Length, rec.BlockOK())
			}
		}
		if files, _ := filepath.Glob(filepath.Join(where, "*.warc.gz")); len(files) != 2 {
			t.Errorf("%d files, want one and one that a spool has become", len(files))
		} else {
			for _, name := range files {
				f, err := os.Open(name)
				if err != nil {
					t.Fatal(err)
				}
				z, err := stdgzip.NewReader(f)
				if err == nil {
					_, err = io.Copy(io.Discard, z)
				}
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				_ = f.Close()
			}
		}
		if left, _ := filepath.Glob(filepath.Join(dir, "spool", "*")); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	}
}

// What compresses is compressed, what does not costs almost nothing more than its length.
func TestSpoolSizes(t *testing.T) {
	spools, err := OpenSpools(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	const n = 4 << 20
	noise := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(noise)
	text := bytes.Repeat([]byte("a line of text that comes again, and again "), n/43)
	for _, c := range []struct {
		name  string
		block []byte
		most  int64
	}{{"noise", noise, n + n/1000}, {"text", text, n / 20}, {"noise, then text", append(noise[:n/2:n/2], text[:n/2]...), n * 5 / 8}} {
		sp, err := spools.Create()
		if err != nil {
			t.Fatal(err)
		}
		for p := c.block; len(p) > 0; {
			k := min(len(p), 128<<10)
			if _, err := sp.Write(p[:k]); err != nil {
				t.Fatal(err)
			}
			p = p[k:]
		}
		if size := sp.at - spoolRoom; size > c.most {
			t.Errorf("%s: %d bytes take %d, want at most %d", c.name, len(c.block), size, c.most)
		}
		if err := sp.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A disk says once that it could not write: what a sync beside the writing was told fails the next piece, or the record.
func TestSpoolSyncFails(t *testing.T) {
	dir := t.TempDir()
	spools, err := OpenSpools(filepath.Join(dir, "spool"))
	if err != nil {
		t.Fatal(err)
	}
	bad := errors.New("no disk")
	w := NewWriter(WriterConfig{Dir: dir, Prefix: "x", MaxSize: 1 << 30})
	for _, more := range []bool{false, true} {
		sp := spooled(t, spools, rand.New(rand.NewPCG(3, 4)), make([]byte, 1000))
		if sp.at += ownFile; more {
			sp.at += syncEvery
		}
		sp.syncing = make(chan error, 1)
		sp.syncing <- bad
		if more {
			_, err = sp.Write([]byte("more"))
		} else {
			r := record(0, nil, false)
			_, err = w.AppendSpooled(&r, sp)
		}
		if !errors.Is(err, bad) {
			t.Errorf("written to afterwards %v: %v", more, err)
		}
		if err := sp.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A header that leaves no room for itself before a large spool, because its URL is that long, is copied with it instead.
func TestSpooledLongHeader(t *testing.T) {
	dir := t.TempDir()
	spools, err := OpenSpools(filepath.Join(dir, "spool"))
	if err != nil {
		t.Fatal(err)
	}
	w := NewWriter(WriterConfig{Dir: dir, Prefix: "x", MaxSize: 1 << 30})
	block := make([]byte, ownFile+1)
	_, _ = rand.NewChaCha8([32]byte{2}).Read(block)
	for i, long := range []int{spoolRoom - 900, spoolRoom - 700, spoolRoom - 650, spoolRoom - 600, spoolRoom + 1} {
		sp := spooled(t, spools, rand.New(rand.NewPCG(3, 3)), block)
		r := record(i, nil, false)
		r.URI = "http://a.test/" + string(bytes.Repeat([]byte("x"), long))
		locs, err := w.AppendSpooled(&r, sp)
		if err != nil {
			t.Fatal(err)
		}
		_ = sp.Close()
		if err := w.Sync(); err != nil {
			t.Fatal(err)
		}
		rec, got, err := readFrom(t.Context(), Dir(dir), locs[0].File, locs[0].Offset, 2*ownFile)
		if err != nil || !bytes.Equal(got, block) || rec.URI() != r.URI || rec.Length != locs[0].Length {
			t.Errorf("URL of %d bytes: %v", long, err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// What a dead process has left is swept, and nothing else.
func TestSpoolsAreSwept(t *testing.T) {
	dir := t.TempDir()
	s, err := OpenSpools(dir)
	if err != nil {
		t.Fatal(err)
	}
	sp := spooled(t, s, rand.New(rand.NewPCG(1, 1)), []byte("never reported"))
	if err := os.WriteFile(filepath.Join(dir, "mine.txt"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenSpools(dir); err != nil {
		t.Fatal(err)
	}
	left, _ := filepath.Glob(filepath.Join(dir, "*"))
	if len(left) != 1 || filepath.Base(left[0]) != "mine.txt" {
		t.Errorf("left: %v", left)
	}
	_ = sp.f.Close()
}

// The checksum of a concatenation follows from those of its pieces.
func TestCombineCRC(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 500 {
		a, b := mixed(rng, rng.IntN(3000)), mixed(rng, rng.IntN(3000))
		want := crc32.ChecksumIEEE(append(bytes.Clone(a), b...))
		if got := combineCRC(crc32.ChecksumIEEE(a), crc32.ChecksumIEEE(b), int64(len(b))); got != want {
			t.Fatalf("%d and %d bytes: %08x, want %08x", len(a), len(b), got, want)
		}
	}
}
