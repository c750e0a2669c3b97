package fetch

import (
	"bufio"
	"bytes"
	"compress/zlib"
	"errors"
	"fmt"
	"io"
	"net/http/httputil"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"argosy/internal/crawl"
	"argosy/internal/page/inflate"
)

const maxCodings = 3

// Coded reports whether the body has a content coding or a transfer coding beside chunked: it is compressed already.
func (r *Response) Coded() bool {
	for _, f := range r.fields {
		if strings.EqualFold(f.Name, "Content-Encoding") && f.Value != "" && !strings.EqualFold(f.Value, "identity") {
			return true
		}
	}
	return len(r.transfer) > 0
}

// Decoded returns the body without its codings, at most max bytes of it. With an error of kind KindBomb (it is
// longer), KindEncoding (a coding is unknown or broken) or KindReset (it was cut short) it returns what could be had: of a
// text that has none of the codings that its header names all of it, and the error is ErrNotCoded.
// Beyond a few megabytes it lies outside the heap, in memory of which there is one piece for all: the next one who needs
// it waits for this response's Release. What lies in the heap is decoded once: the next call returns it again.
func (r *Response) Decoded(max int64) ([]byte, error) { return r.decoded(max, false) }

// Unpacked is Decoded for what may be a gzip file besides, as sitemaps are.
func (r *Response) Unpacked(max int64) ([]byte, error) { return r.decoded(max, true) }

// ErrNotCoded says that a body is plain text, although its header names content codings.
var ErrNotCoded = errors.New("plain text without the content coding of its header")

func (r *Response) decoded(max int64, unpack bool) ([]byte, error) {
	if r.plain != nil && !unpack && int64(len(r.plain)) <= max {
		return r.plain, nil
	}
	r.plain = nil // its memory is used again
	out, err := r.undone(max, unpack)
	if crawl.KindOf(err) != crawl.KindEncoding || !isText(r.start) {
		return out, err
	}
	err = &crawl.Error{Op: "decode", Kind: crawl.KindEncoding, Err: fmt.Errorf("%w: %w", ErrNotCoded, errors.Unwrap(err))}
	if r.Spool == nil {
		return r.Body, err
	}
	d := decoder{max: max}
	defer d.close()
	in, e := r.payload(&d)
	if e != nil {
		return nil, e
	}
	if out, e = r.fill(in, max); e != nil && r.Truncated == "" {
		return out, decodeError(e)
	}
	return out, err
}

// isText reports whether the beginning of a body has none of the bytes that make it binary data (WHATWG MIME Sniffing,
// section 3). What is compressed has some.
func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\t' && c != '\n' && c != '\f' && c != '\r' && c != 0x1b {
			return false
		}
	}
	return len(b) > 0
}

// undone returns the body with its codings undone.
func (r *Response) undone(max int64, unpack bool) ([]byte, error) {
	unpack = unpack && (r.Coded() || bytes.HasPrefix(r.start, gzipMagic))
	if r.Spool == nil && (len(r.Body) == 0 || !r.Coded() && !unpack) {
		return r.Body, nil
	}
	codings, err := r.codings()
	if err != nil {
		return nil, err
	}
	if len(codings) == 1 && !unpack {
		if out, ok := r.whole(codings[0], max); ok {
			return out, nil
		}
	}
	d := decoder{max: max}
	defer d.close()
	in, err := r.payload(&d)
	if err != nil {
		return nil, err
	}
	for i := len(codings) - 1; i >= 0; i-- {
		if in, err = d.undo(codings[i], in); err != nil {
			return nil, decodeError(err)
		}
	}
	if unpack {
		b := bufio.NewReader(in)
		in = b
		if start, _ := b.Peek(2); bytes.Equal(start, gzipMagic) {
			if in, err = d.undo("gzip", b); err != nil {
				return nil, decodeError(err)
			}
		}
	}
	out, err := r.fill(in, max)
	if err == nil && !unpack && r.arena == nil {
		r.plain = out
	}
	if err != nil && r.Truncated != "" && !errors.Is(err, errTooLarge) {
		return out, &crawl.Error{Op: "decode", Kind: crawl.KindReset, Err: err}
	}
	return out, decodeError(err)
}

// whole undoes the coding of nearly all pages at once: gzip, and neither long nor broken. It returns false for what is read as a
// stream.
func (r *Response) whole(coding string, max int64) ([]byte, bool) {
	if coding != "gzip" && coding != "x-gzip" || r.Spool != nil || inflate.Size(r.Body) > min(max, largeDecoded) {
		return nil, false
	}
	d := inflaters.Get().(*inflate.Decoder)
	defer inflaters.Put(d)
	out, ok := d.Gzip(r.room(), r.Body)
	*r.text = out
	if ok {
		r.plain = out
	}
	return out, ok
}

// room returns memory for a text.
func (r *Response) room() []byte {
	if r.text == nil {
		r.text = texts.Get().(*[]byte)
	}
	return (*r.text)[:0]
}

// texts are memory that bodies are decoded into: there are fewer of them than exchanges. What one large page has blown up is
// let go of.
var texts = sync.Pool{New: func() any { return new([]byte) }}

const keepText = 1 << 20

var gzipMagic = []byte{0x1f, 0x8b}

// codings returns the body's content codings and then its transfer codings, in the order in which they were applied.
func (r *Response) codings() (out []string, err error) {
	for _, v := range r.Values("Content-Encoding") {
		for c := range strings.SplitSeq(v, ",") {
			if c = strings.ToLower(strings.TrimSpace(c)); c != "" && c != "identity" {
				out = append(out, c)
			}
		}
	}
	if len(out) > maxCodings {
		return nil, &crawl.Error{Op: "decode", Kind: crawl.KindEncoding, Err: errors.New("too many content codings")}
	}
	return append(out, r.transfer...), nil
}

// payload returns a reader of the body without chunk framing.
func (r *Response) payload(d *decoder) (io.Reader, error) {
	if r.Spool == nil {
		return bytes.NewReader(r.Body), nil
	}
	f, err := r.Spool.Open(int64(len(r.Head)))
	if err != nil {
		return nil, spoolError(err)
	}
	d.later = append(d.later, func() { _ = f.Close() })
	if r.chunked {
		return httputil.NewChunkedReader(bufio.NewReader(f)), nil
	}
	return f, nil
}

// largeDecoded is the size from which what is decoded lies outside the heap.
const largeDecoded = 4 << 20

// fill reads at most max bytes; errTooLarge if there are more.
func (r *Response) fill(in io.Reader, max int64) ([]byte, error) {
	dst, large := r.room(), false
	if cap(dst) == 0 {
		dst = make([]byte, 0, min(4*r.Size+512, max+1, 256<<10))
	}
	for {
		if len(dst) == cap(dst) && (large || len(dst) < largeDecoded) {
			dst = append(dst, 0)[:len(dst)] // of what is large: not before max is reached
		} else if len(dst) == cap(dst) {
			if r.arena == nil {
				r.arena = r.c.arenas.take(max + 1)
			}
			large = true
			dst = append(r.arena.mem[:0:max+1], dst...)
		}
		n, err := in.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if !large {
			*r.text = dst
		}
		if int64(len(dst)) > max {
			return dst[:max], errTooLarge
		}
		if errors.Is(err, io.EOF) {
			return dst, nil
		}
		if err != nil {
			return dst, err
		}
	}
}

func decodeError(err error) error {
	var e *crawl.Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	kind := crawl.KindEncoding
	if errors.Is(err, errTooLarge) {
		kind = crawl.KindBomb
	}
	return &crawl.Error{Op: "decode", Kind: kind, Err: err}
}

// arenas give out memory outside the heap for one large page at a time.
type arenas struct {
	mu  sync.Mutex
	one arena
}

type arena struct {
	all  *arenas
	mem  []byte
	free func() // gives its room back to the system
}

func (a *arenas) take(n int64) *arena {
	a.mu.Lock()
	if int64(len(a.one.mem)) < n {
		mem, free := reserve(n)
		a.one = arena{a, mem, free}
	}
	return &a.one
}

func (a *arena) release() {
	if a != nil {
		a.free()
		a.all.mu.Unlock()
	}
}

var (
	inflaters = sync.Pool{New: func() any { return new(inflate.Decoder) }}
	gzips     = sync.Pool{New: func() any { return new(gzip.Reader) }}
	brotlis   = sync.Pool{New: func() any { return brotli.NewReader(nil) }}
	zstds     = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			panic(err) // the options are constants
		}
		return d
	}}
)

// decoder is a chain of decompressors.
type decoder struct {
	max   int64
	later []func() // gives them back
}

func (d *decoder) close() {
	for _, f := range d.later {
		f()
	}
}

// undo returns a reader of what in holds without a coding. A step that gives more than the limit, which is also reached
// where the next one makes nothing of it, ends with errTooLarge.
func (d *decoder) undo(coding string, in io.Reader) (io.Reader, error) {
	switch coding {
	case "gzip", "x-gzip":
		z := gzips.Get().(*gzip.Reader)
		d.later = append(d.later, func() { gzips.Put(z) })
		m := &members{bufio.NewReader(in), z}
		if err := m.next(); err != nil {
			return nil, err
		}
		in = m
	case "br":
		z := brotlis.Get().(*brotli.Reader)
		d.later = append(d.later, func() { brotlis.Put(z) })
		if err := z.Reset(in); err != nil {
			return nil, err
		}
		in = &ending{z, false, func(err error) bool { return err.Error() == brotliBehind }}
	case "zstd":
		z := zstds.Get().(*zstd.Decoder)
		d.later = append(d.later, func() { _ = z.Reset(nil); zstds.Put(z) })
		if err := z.Reset(in); err != nil {
			return nil, err
		}
		in = &ending{z, false, func(err error) bool { return errors.Is(err, zstd.ErrMagicMismatch) }}
	case "deflate": // zlib by the book (RFC 9110, section 8.4.1.2), raw deflate in the wild
		b := bufio.NewReader(in)
		in = flate.NewReader(b)
		if h, _ := b.Peek(2); len(h) == 2 && h[0]&0xf == 8 && (uint(h[0])<<8|uint(h[1]))%31 == 0 {
			z, err := zlib.NewReader(b)
			if err != nil {
				return nil, err
			}
			in = z
		}
	default:
		return nil, errors.New("unknown content coding " + coding)
	}
	return &limited{in, d.max}, nil
}

// members reads what the members of a gzip file hold, one after the other (RFC 1952, section 2.2). What does not begin as one
// ends the file, as in browsers: scripts write behind what they have compressed.
type members struct {
	b *bufio.Reader
	z *gzip.Reader
}

func (m *members) next() error {
	if err := m.z.Reset(m.b); err != nil {
		return err
	}
	m.z.Multistream(false)
	return nil
}

func (m *members) Read(p []byte) (int, error) {
	n, err := m.z.Read(p)
	if errors.Is(err, io.EOF) {
		if start, _ := m.b.Peek(len(gzipMagic)); bytes.Equal(start, gzipMagic) {
			err = m.next()
		}
	}
	return n, err
}

// brotliBehind is what the package says of bytes behind the last block: it has no name for it.
const brotliBehind = "brotli: excessive input"

// ending ends where something stands behind what is compressed, as a file of members does.
type ending struct {
	r      io.Reader
	begun  bool
	behind func(error) bool
}

func (e *ending) Read(p []byte) (int, error) {
	n, err := e.r.Read(p)
	if e.begun = e.begun || n > 0; err != nil && e.begun && e.behind(err) {
		err = io.EOF
	}
	return n, err
}

var errTooLarge = errors.New("larger than the limit once decompressed")

// limited gives at most so many bytes more than the limit.
type limited struct {
	r    io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left < 0 {
		return 0, errTooLarge
	}
	if int64(len(p)) > l.left+1 {
		p = p[:l.left+1]
	}
	n, err := l.r.Read(p)
	l.left -= int64(n)
	return n, err
}
