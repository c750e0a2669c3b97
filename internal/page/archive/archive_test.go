package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"time"

	"argosy/internal/crawl"
)

func record(i int, body []byte, packed bool) Record {
	return Record{
		Type: "response", ID: NewID(), Date: time.UnixMilli(1_700_000_000_123 + int64(i)), URI: "http://a.test/" + string(rune('a'+i%26)),
		ContentType: TypeResponse, IP: "127.0.0.1", Payload: Digest(body), Blocks: [][]byte{[]byte("HTTP/1.1 200 OK\r\n\r\n"), body}, Compressed: packed,
	}
}

// What is written is read back, stored and deflated, small and larger than a deflate block.
func TestRoundTrip(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(WriterConfig{Dir: dir, Prefix: "x", MaxSize: 300_000, Info: map[string]string{"software": "test"}})
	rng := rand.New(rand.NewPCG(1, 2))
	var recs []Record
	var locs []crawl.Location
	for i := range 60 {
		body := make([]byte, rng.IntN(5000))
		if i%7 == 0 {
			body = make([]byte, 60_000+rng.IntN(90_000))
		}
		for j := range body {
			body[j] = byte(rng.IntN(1 + i*5))
		}
		r := record(i, body, i%2 == 0)
		l, err := w.Append(r.Encode(nil))
		if err != nil {
			t.Fatal(err)
		}
		recs, locs = append(recs, r), append(locs, l[0])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for i, l := range locs {
		rec, block, err := readFrom(t.Context(), Dir(dir), l.File, l.Offset, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(block, bytes.Join(recs[i].Blocks, nil)) || rec.Length != l.Length || !rec.BlockOK() || rec.URI() != recs[i].URI {
			t.Errorf("record %d is not what was written: %+v", i, rec)
		}
		if got := rec.Header.Get("WARC-Date"); got != recs[i].Date.UTC().Format(dateLayout) {
			t.Errorf("date %s", got)
		}
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil || len(files) < 3 {
		t.Errorf("%d files, %v: no rotation", len(files), err)
	}
}

// A file cut anywhere is mended to its whole records, and nothing before the cut is lost.
func TestRecover(t *testing.T) {
	dir := t.TempDir()
	w := NewWriter(WriterConfig{Dir: dir, Prefix: "x", MaxSize: 1 << 30})
	var ends []int64
	for i := range 10 {
		r := record(i, bytes.Repeat([]byte{byte(i)}, 700*i), i%2 == 0)
		l, err := w.Append(r.Encode(nil))
		if err != nil {
			t.Fatal(err)
		}
		ends = append(ends, l[0].Offset+l[0].Length)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.warc.gz"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	whole, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	for cut := 0; cut <= len(whole); cut += 37 {
		d := t.TempDir()
		name := filepath.Join(d, "y.warc.gz")
		if err := os.WriteFile(name+openSuffix, whole[:cut], 0o644); err != nil {
			t.Fatal(err)
		}
		if _, err := Recover(d); err != nil {
			t.Fatalf("cut at %d: %v", cut, err)
		}
		want := 0
		for _, e := range ends {
			if e <= int64(cut) {
				want++
			}
		}
		b, err := os.ReadFile(name)
		if errors.Is(err, os.ErrNotExist) && want == 0 {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		got := -1 // the warcinfo record
		rd := NewReader(bytes.NewReader(b))
		for {
			rec, err := rd.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil {
				err = rec.Discard()
			}
			if err != nil {
				t.Fatalf("cut at %d: mended file: %v", cut, err)
			}
			got++
		}
		if got != want {
			t.Errorf("cut at %d: %d records, want %d", cut, got, want)
		}
	}
}

// readFrom reads the record at a location in a store, with its whole block of at most max bytes.
func readFrom(ctx context.Context, s Store, file string, offset, max int64) (*ReadRecord, []byte, error) {
	f, err := s.Open(ctx, file, offset)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	rec, err := NewReader(f).Next()
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", file, err)
	}
	block, err := io.ReadAll(io.LimitReader(rec, max+1))
	if err == nil && int64(len(block)) > max {
		err = fmt.Errorf("record at %d: larger than %d bytes", offset, max)
	}
	return rec, block, err
}
