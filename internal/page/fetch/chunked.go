package fetch

import (
	"bufio"
	"bytes"
	"errors"
	"strconv"
)

const (
	// plainLine is what a line of chunk framing may take, in bytes: that of a chunk without extensions has at most 16 digits. What is
	// beyond it is excess, which the body makes up for. maxExcess bounds it: a server that frames nothing has no end.
	plainLine = 18
	maxExcess = 64 << 10
)

// chunked reads a chunked body, once as it came and once without its framing (RFC 9112, section 7.1).
func (b *bodyReader) chunked() error {
	b.in.chunked = true
	excess := 0
	line := func() ([]byte, error) {
		l, err := b.c.r.ReadSlice('\n')
		if excess = max(0, excess+len(l)-plainLine); excess > maxExcess {
			return nil, protocolError("more framing than body")
		}
		if e := b.in.framing(l); e != nil {
			return nil, e
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, protocolError("chunk line too long")
		}
		if err != nil {
			return nil, noEOF(err)
		}
		return bytes.TrimRight(l, "\r\n"), nil
	}
	for {
		l, err := line()
		if err != nil {
			return err
		}
		size, _, _ := bytes.Cut(l, []byte(";"))
		n, err := strconv.ParseInt(string(bytes.TrimSpace(size)), 16, 64)
		if err != nil || n < 0 {
			return protocolError("chunk size")
		}
		if n == 0 {
			break
		}
		for n > 0 {
			was := b.in.n
			if err = b.more(n); err != nil {
				return noEOF(err)
			}
			n -= b.in.n - was
			excess = max(0, excess-int(b.in.n-was))
		}
		if l, err = line(); err != nil {
			return err
		}
		if len(l) > 0 {
			return protocolError("chunk without end")
		}
	}
	for trailer := 0; ; trailer++ {
		l, err := line()
		if err != nil {
			return err
		}
		if len(l) == 0 {
			return nil
		}
		if trailer > 100 {
			return protocolError("too many trailers")
		}
	}
}
