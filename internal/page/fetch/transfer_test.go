package fetch_test

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/zstd"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
)

// Transfer codings are undone whatever they are and in whatever order (RFC 9112, sections 6.1 and 7), also under a content coding and
// in a spooled body; what came is kept, and the sum is that of the body without them.
func TestTransferCodings(t *testing.T) {
	zip := func(b []byte) []byte {
		var out bytes.Buffer
		w := gzip.NewWriter(&out)
		_, _ = w.Write(b)
		_ = w.Close()
		return out.Bytes()
	}
	deflate := func(b []byte) []byte {
		var out bytes.Buffer
		w := zlib.NewWriter(&out)
		_, _ = w.Write(b)
		_ = w.Close()
		return out.Bytes()
	}
	bare := func(b []byte) []byte {
		var out bytes.Buffer
		w, _ := flate.NewWriter(&out, 6)
		_, _ = w.Write(b)
		_ = w.Close()
		return out.Bytes()
	}
	chunked := func(b []byte) []byte {
		var out bytes.Buffer
		w := httputil.NewChunkedWriter(&out)
		for len(b) > 0 {
			n := min(len(b), 4000)
			_, _ = w.Write(b[:n])
			b = b[n:]
		}
		_ = w.Close()
		out.WriteString("\r\n")
		return out.Bytes()
	}
	text := []byte(strings.Repeat("words and more words ", 500))
	long := make([]byte, 3<<20)
	rng := rand.NewChaCha8([32]byte{1})
	_, _ = rng.Read(long)
	twice := append(zip(text[:5000]), zip(text[5000:])...) // a file of two members, with what does not belong to it behind
	behind, zeros := append(slices.Clone(twice), "\r\n<!-- made in 3 ms -->"...), append(slices.Clone(twice), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
	var br bytes.Buffer
	packer := brotli.NewWriter(&br)
	_, _ = packer.Write(text)
	_ = packer.Close()
	brotlied := append(br.Bytes(), "\r\n<!-- made in 3 ms -->"...)
	framer, _ := zstd.NewWriter(nil)
	framed := framer.EncodeAll(text[5000:], framer.EncodeAll(text[:5000], nil))
	framed = append(framed, "\r\n<!-- made in 3 ms -->"...)
	cases := []struct {
		head       string
		body, wire []byte
		entity     []byte // with its content coding
	}{
		{"Transfer-Encoding: gzip, chunked", text, chunked(zip(text)), text},
		{"Transfer-Encoding: GZip\r\nTransfer-Encoding: Chunked", text, chunked(zip(text)), text},
		{"Transfer-Encoding: x-gzip, , chunked", text, chunked(zip(text)), text},
		{"Transfer-Encoding: deflate, chunked", text, chunked(deflate(text)), text},
		{"Transfer-Encoding: deflate, chunked", text, chunked(bare(text)), text},
		{"Transfer-Encoding: deflate, gzip, chunked", text, chunked(zip(deflate(text))), text},
		{"Transfer-Encoding: gzip", text, zip(text), text}, // until the connection ends
		{"Transfer-Encoding: gzip\r\nContent-Length: 3", text, zip(text), text},
		{"Transfer-Encoding: identity, chunked", text, chunked(text), text},
		{"Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", text, chunked(text), text},
		{"Content-Encoding: deflate\r\nTransfer-Encoding: gzip, chunked", text, chunked(zip(deflate(text))), deflate(text)},
		{"Transfer-Encoding: gzip, chunked", long, chunked(zip(long)), long},
		{"Content-Encoding: gzip\r\nTransfer-Encoding: chunked", text, chunked(twice), twice},
		{"Content-Encoding: gzip\r\nTransfer-Encoding: chunked", text, chunked(behind), behind},
		{"Content-Encoding: gzip\r\nTransfer-Encoding: chunked", text, chunked(zeros), zeros},
		{"Content-Encoding: br\r\nTransfer-Encoding: chunked", text, chunked(brotlied), brotlied},
		{"Content-Encoding: zstd\r\nTransfer-Encoding: chunked", text, chunked(framed), framed},
		{"Transfer-Encoding: gzip, chunked", nil, chunked(zip(nil)), nil},
		{"Content-Length: many", text, text, text}, // a length that is none: until the connection ends, as in browsers
		{"Content-Length: ", text, text, text},
		{"Content-Length: -1", text, text, text},
		{"Content-Length: 99999999999999999999", long, long, long},
		{"Content-Encoding: identity\r\nContent-Encoding: gzip", text, zip(text), zip(text)},
	}
	var at int
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		c, w, err := http.NewResponseController(rw).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		fmt.Fprintf(w, "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n%s\r\n\r\n", cases[at].head)
		_, _ = w.Write(cases[at].wire)
		_ = w.Flush()
	}))
	defer srv.Close()
	cl := client(t, func(c *fetch.Config) {
		c.Limits.MaxBody, c.Limits.MaxDecoded = 8<<20, 8<<20
		c.Spool = func() (fetch.Spool, error) { return new(memory), nil }
	})
	for i, c := range cases {
		at = i
		s := cl.Open(nil)
		defer s.Close()
		u, err := crawl.Parse(srv.URL + "/")
		if err != nil {
			t.Fatal(err)
		}
		r, err := s.Do(context.Background(), &fetch.Request{URL: u})
		if err != nil {
			t.Errorf("%q: %v", c.head, err)
			continue
		}
		body, err := r.Decoded(8 << 20)
		if err != nil {
			t.Errorf("%q: %v", c.head, err)
			continue
		}
		if !bytes.Equal(body, c.body) || r.Sum() != sha1.Sum(c.entity) {
			t.Errorf("%q: %d bytes, want %d; sum is that of the body: %v", c.head, len(body), len(c.body), r.Sum() == sha1.Sum(c.entity))
		}
		if again, err := r.Decoded(8 << 20); err != nil || !bytes.Equal(again, c.body) || r.Spool == nil && len(again) > 0 && &again[0] != &body[0] {
			t.Errorf("%q: what is in memory was decoded once more, or is another: %d bytes: %v", c.head, len(again), err)
		}
		if short, err := r.Decoded(max(1, int64(len(c.body))-1)); r.Coded() && len(c.body) > 1 && (err == nil || len(short) >= len(c.body)) {
			t.Errorf("%q: %d bytes of %d at most: %v", c.head, len(short), len(c.body)-1, err)
		}
		raw := r.Raw
		if r.Spool != nil {
			f, err := r.Spool.Open(int64(len(r.Head)))
			if err != nil {
				t.Fatal(err)
			}
			raw, _ = io.ReadAll(f)
			_ = f.Close()
		}
		if !bytes.Equal(raw, c.wire) || (r.Spool != nil) != (len(c.body) > 1<<20) {
			t.Errorf("%q: what is kept is not what came", c.head)
		}
		kept, err := fetch.ReadKept(io.MultiReader(bytes.NewReader(r.Head), bytes.NewReader(raw)), 8<<20)
		if err != nil {
			t.Errorf("%q, from an archive: %v", c.head, err)
			continue
		}
		if again, err := kept.Decoded(8 << 20); err != nil || !bytes.Equal(again, c.body) || kept.Status != 200 || kept.Get("content-type") != "text/html" {
			t.Errorf("%q, from an archive: status %d, %d bytes, want %d: %v", c.head, kept.Status, len(again), len(c.body), err)
		}
		kept.Release()
	}
}

// memory is a spool in memory.
type memory struct{ bytes.Buffer }

func (m *memory) Open(at int64) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(m.Bytes()[at:])), nil
}

func (m *memory) Close() error { return nil }

// What an archive has of an answer is read as far as it goes: a body that was cut short, is plain where its header says otherwise, or
// has a coding that nobody knows.
func TestKeptInPart(t *testing.T) {
	for in, want := range map[string]string{
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n9\r\nfgh":        "abcdefgh",
		"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc":                                  "abc",
		"HTTP/1.1 200\r\nContent-Encoding: gzip\r\nnot a field\r\n\r\nplain":                 "plain",
		"HTTP/1.1 200 OK\r\nTransfer-Encoding: lzma, chunked\r\n\r\n5\r\nabcde\r\n0\r\n\r\n": "abcde",
		"HTTP/1.0 200 OK\nX: 1\n\n0123456789abcdef":                                          "0123456789", // no more than asked for
	} {
		r, err := fetch.ReadKept(strings.NewReader(in), 10)
		if err != nil {
			t.Errorf("%q: %v", in, err)
			continue
		}
		if got, _ := r.Decoded(10); string(got) != want || r.Status != 200 {
			t.Errorf("%q: status %d, %q, want %q", in, r.Status, got, want)
		}
		r.Release()
	}
	if _, err := fetch.ReadKept(strings.NewReader("<html>"), 10); crawl.KindOf(err) != crawl.KindProtocol {
		t.Errorf("what is not HTTP: %v", err)
	}
}

// A transfer coding that nobody knows is one of the answer, not an end of it: its text is had, up to the length that is given.
func TestUnknownTransferCoding(t *testing.T) {
	for head, want := range map[string]string{"Transfer-Encoding: utf-8": "the text", "Transfer-Encoding: binary\r\nContent-Length: 3": "the"} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			c, w2, err := w.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			_, _ = w2.WriteString("HTTP/1.1 200 OK\r\n" + head + "\r\n\r\nthe text")
			_ = w2.Flush()
		}))
		s := client(t, nil).Open(nil)
		r, err := untilProcessed(t, s, srv.URL+"/")
		if err != nil {
			t.Fatalf("%s: %v", head, err)
		}
		if body, err := r.Decoded(100); string(body) != want || !errors.Is(err, fetch.ErrNotCoded) {
			t.Errorf("%s: %q, %v", head, body, err)
		}
		s.Close()
		srv.Close()
	}
}

// A coding that is none leaves the length as it is: what follows on the connection is not the body's.
func TestIdentityIsNoTransferCoding(t *testing.T) {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, w2, err := w.(http.Hijacker).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		_, _ = w2.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: identity\r\nContent-Length: 4\r\n\r\nbodyHTTP/1.1")
		_ = w2.Flush()
	}))
	defer srv.Close()
	s := client(t, nil).Open(nil)
	defer s.Close()
	r, err := untilProcessed(t, s, srv.URL+"/")
	if err != nil || string(r.Body) != "body" {
		t.Fatalf("%v, %v; want the four bytes of the body", r, err)
	}
}
