package fetch

import (
	"crypto/sha1"
	"io"
	"strconv"
	"strings"

	"argosy/internal/crawl"
)

// transferCodings takes in the transfer codings that fields name (RFC 9112, section 7), and reports whether the last of them is
// chunked. The others are undone when the body is read, as content codings are; the archive has it as it came.
func (r *Response) transferCodings(fields []string) (chunked bool, err error) {
	for _, v := range fields {
		for c := range strings.SplitSeq(v, ",") {
			switch c = strings.ToLower(strings.TrimSpace(c)); {
			case c == "" || c == "identity", chunked && c == "chunked": // a proxy has added what was there
			case chunked:
				return false, protocolError("transfer coding after chunked: " + strings.Join(fields, ", "))
			case c == "chunked":
				chunked = true
			default: // one that nobody knows as well: what came is kept, and read if it is text after all
				r.transfer = append(r.transfer, c)
			}
		}
	}
	if len(r.transfer) > maxCodings {
		return false, protocolError("too many transfer codings")
	}
	return chunked, nil
}

// isCoding reports whether a transfer coding is one: a body that has it ends with its connection, whatever length is given (RFC 9112,
// section 6.3).
func isCoding(name string) bool { return name == "gzip" || name == "x-gzip" || name == "deflate" }

// contentLength returns the length that fields give, -1 if they give none: also where one is no number, as browsers have it. The same
// again is allowed (RFC 9110, section 8.6), another one is not: nobody knows which of them holds.
func contentLength(fields []string) (length int64, err error) {
	length = -1
	for _, v := range fields {
		for one := range strings.SplitSeq(v, ",") {
			n, err := strconv.ParseInt(strings.TrimSpace(one), 10, 64)
			if err != nil || n < 0 {
				return -1, nil
			}
			if length >= 0 && n != length {
				return -1, protocolError("Content-Length " + v)
			}
			length = n
		}
	}
	return length, nil
}

// sumTransferred makes the sum that of the body without its transfer codings, as a payload's digest is. A body whose codings cannot
// be undone keeps the one of what has come. The error is one of the spool.
func (r *Response) sumTransferred(max int64) error {
	d := decoder{max: max}
	defer d.close()
	in, err := r.payload(&d)
	if err != nil {
		return err
	}
	for i := len(r.transfer) - 1; i >= 0; i-- {
		if in, err = d.undo(r.transfer[i], in); err != nil {
			return nil
		}
	}
	h := sha1.New()
	if _, err := io.Copy(h, in); crawl.KindOf(err) == crawl.KindArchive {
		return err
	} else if err == nil {
		h.Sum(r.sum[:0])
	}
	return nil
}
