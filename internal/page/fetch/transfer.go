package fetch

import (
	"crypto/sha1"
	"io"
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
			case c == "gzip" || c == "x-gzip" || c == "deflate":
				r.transfer = append(r.transfer, c)
			default:
				return false, protocolError("transfer coding " + strings.Join(fields, ", "))
			}
		}
	}
	if len(r.transfer) > maxCodings {
		return false, protocolError("too many transfer codings")
	}
	return chunked, nil
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
