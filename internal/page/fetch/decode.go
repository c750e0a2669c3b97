package fetch

import (
	"bytes"
	"compress/zlib"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/flate"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"argosy/internal/crawl"
)

const maxCodings = 3

// Coded reports whether the body has a content coding: it is compressed already.
func (r *Response) Coded() bool {
	v := r.Get("Content-Encoding")
	return v != "" && !strings.EqualFold(v, "identity")
}

// Decoded returns the body without its content codings, at most max bytes.
func (r *Response) Decoded(max int64) ([]byte, error) {
	if !r.Coded() || len(r.Body) == 0 {
		return r.Body, nil
	}
	var codings []string
	for _, v := range r.Values("Content-Encoding") {
		for c := range strings.SplitSeq(v, ",") {
			if c = strings.ToLower(strings.TrimSpace(c)); c != "" && c != "identity" {
				codings = append(codings, c)
			}
		}
	}
	if len(codings) > maxCodings {
		return nil, &crawl.Error{Op: "decode", Kind: crawl.KindEncoding, Err: errors.New("too many content codings")}
	}
	body, sc := r.Body, r.sc
	for i := len(codings) - 1; i >= 0; i-- {
		out, err := decode(sc.decoded[:0], body, codings[i], max)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			body = bytes.Clone(out)
		} else {
			body = out
		}
		sc.decoded = out
	}
	return body, nil
}

var (
	gzips   = sync.Pool{New: func() any { return new(gzip.Reader) }}
	brotlis = sync.Pool{New: func() any { return brotli.NewReader(nil) }}
	zstds   = sync.Pool{New: func() any {
		d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(8<<20), zstd.WithDecoderLowmem(true))
		if err != nil {
			panic(err) // the options are constants
		}
		return d
	}}
)

func decode(dst, body []byte, coding string, max int64) ([]byte, error) {
	in := bytes.NewReader(body)
	var err error
	switch coding {
	case "gzip", "x-gzip":
		z := gzips.Get().(*gzip.Reader)
		defer gzips.Put(z)
		if err = z.Reset(in); err == nil {
			dst, err = readLimited(dst, z, max, 4*len(body))
		}
	case "br":
		z := brotlis.Get().(*brotli.Reader)
		defer brotlis.Put(z)
		if err = z.Reset(in); err == nil {
			dst, err = readLimited(dst, z, max, 4*len(body))
		}
	case "zstd":
		z := zstds.Get().(*zstd.Decoder)
		defer zstds.Put(z)
		if err = z.Reset(in); err == nil {
			dst, err = readLimited(dst, z, max, 4*len(body))
		}
	case "deflate": // zlib by the book, raw deflate in the wild
		var z io.ReadCloser
		if z, err = zlib.NewReader(in); err != nil {
			z = flate.NewReader(bytes.NewReader(body))
		}
		dst, err = readLimited(dst, z, max, 4*len(body))
	default:
		err = errors.New("unknown content coding " + coding)
	}
	if err != nil {
		kind := crawl.KindEncoding
		if errors.Is(err, errTooLarge) {
			kind = crawl.KindBomb
		}
		return nil, &crawl.Error{Op: "decode", Kind: kind, Err: err}
	}
	return dst, nil
}

var errTooLarge = errors.New("larger than the limit once decompressed")

func readLimited(dst []byte, r io.Reader, max int64, guess int) ([]byte, error) {
	if cap(dst) == 0 {
		dst = make([]byte, 0, min(int64(guess)+512, max+1, 1<<20))
	}
	for {
		if len(dst) == cap(dst) {
			dst = append(dst, 0)[:len(dst)]
		}
		n, err := r.Read(dst[len(dst):cap(dst)])
		dst = dst[:len(dst)+n]
		if int64(len(dst)) > max {
			return nil, errTooLarge
		}
		if errors.Is(err, io.EOF) {
			return dst, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Ungzip decompresses a gzip file, of which at most max bytes may come: for sitemaps that are served as files.
func Ungzip(b []byte, max int64) ([]byte, error) { return decode(nil, b, "gzip", max) }
