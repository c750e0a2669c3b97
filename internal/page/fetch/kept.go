package fetch

import (
	"bufio"
	"io"
	"net/http/httputil"
)

// keeper owns the memory of answers that are read from archives; maxKeptHead bounds a header block there, in bytes.
var keeper = &Client{}

const maxKeptHead = 16 << 20

// ReadKept reads an answer that was kept as it came: its header block, and at most max bytes of its body without chunk framing. Of a
// body that was cut short, or whose transfer coding is unknown, it is what there is. Release gives its memory back.
func ReadKept(in io.Reader, max int64) (*Response, error) {
	r := &Response{c: keeper, sc: scratches.Get().(*scratch)}
	br := bufio.NewReader(in)
	if err := readHead(br, r, r.sc, maxKeptHead); err != nil {
		r.Release()
		return nil, err
	}
	chunked, err := r.transferCodings(r.Values("Transfer-Encoding"))
	if err != nil || max <= 0 {
		return r, nil
	}
	body := io.Reader(br)
	if chunked {
		body = httputil.NewChunkedReader(br)
	}
	if r.Body, err = io.ReadAll(io.LimitReader(body, max)); err != nil {
		r.Truncated = "unspecified"
	}
	r.Size, r.start = int64(len(r.Body)), r.Body[:min(len(r.Body), startSize)]
	return r, nil
}
