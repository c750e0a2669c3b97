package fetch

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/netip"
	"strconv"
	"strings"
	"sync"
	"time"

	"argosy/internal/crawl"
)

// Field is a header field as it is sent or was received.
type Field struct{ Name, Value string }

// Request is a GET.
type Request struct {
	URL    crawl.URL
	Fields []Field // after Host and Accept-Encoding, which the client sends itself
	Again  int     // how often it has been sent before and come to nothing (ErrUnprocessed)
}

// Timing is how long the phases of an exchange took. A phase that did not happen took no time.
type Timing struct{ Resolve, Connect, TLS, Send, FirstByte, Body time.Duration }

// Response is a complete response. What lies in it may be used until Release.
type Response struct {
	Status  int
	Proto   string // "HTTP/1.1", "HTTP/2.0"
	Line    string // status line
	Head    []byte // header block as received, with the empty line at its end; for HTTP/2 written anew
	Raw     []byte // body as received, chunk framing included
	Body    []byte // body without chunk framing, still content-coded
	Request []byte // request as sent
	Addr    netip.Addr
	Timing  Timing
	Date    time.Time // when the request had been sent, not before: the next one waits for its site's delay from here

	fields []Field
	sc     *scratch // the memory that the slices lie in
}

// Release gives the response's memory back for another one: nothing that lies in it may be used any more. A response
// that is not released is merely garbage.
func (r *Response) Release() {
	if r != nil && r.sc != nil {
		scratches.Put(r.sc)
		r.sc = nil
	}
}

// Get returns the first value of a header field, "" if it is absent.
func (r *Response) Get(name string) string {
	for i := range r.fields {
		if strings.EqualFold(r.fields[i].Name, name) {
			return r.fields[i].Value
		}
	}
	return ""
}

// Values returns all values of a header field.
func (r *Response) Values(name string) (out []string) {
	for i := range r.fields {
		if strings.EqualFold(r.fields[i].Name, name) {
			out = append(out, r.fields[i].Value)
		}
	}
	return out
}

// scratch is memory that exchanges are read into, one after the other.
type scratch struct {
	head, raw, body, req, decoded []byte
	fields                        []Field
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// shrink lets go of buffers that one large page has blown up.
func (s *scratch) shrink() {
	const keep = 256 << 10
	for _, b := range []*[]byte{&s.head, &s.raw, &s.body, &s.decoded} {
		if cap(*b) > keep {
			*b = nil
		}
	}
}

const acceptEncoding = "gzip, br, zstd"

// ErrUnprocessed says that a request came to nothing through no fault of its own: a connection that had been kept ended
// before a single byte of the response, or the server said that it did not process the request (HTTP/2: GOAWAY, RFC 9113,
// section 6.8; REFUSED_STREAM, section 8.7). Whoever asked asks again when it is the site's turn: the request may have
// been on the wire. It is bounded by the session, which after a while returns such an error as an ordinary one.
var ErrUnprocessed = errors.New("not processed by the server")

// Do sends a request and reads the whole response. It returns ErrUnprocessed when the request is to be sent again. The
// memory for the response is taken only here, so that whoever waits for a site's turn needs none; the caller gives it
// back by the response's Release.
func (s *Session) Do(ctx context.Context, req *Request) (*Response, error) {
	sc := scratches.Get().(*scratch)
	sc.shrink()
	r := &Response{fields: sc.fields[:0], sc: sc}
	if err := s.do(ctx, req, r, sc); err != nil {
		r.Release()
		return nil, err
	}
	return r, nil
}

func (s *Session) do(ctx context.Context, req *Request, r *Response, sc *scratch) error {
	c, h, err := s.connection(ctx, req, &r.Timing)
	if err != nil {
		return err
	}
	if h != nil {
		return s.doH2(ctx, h, req, r, sc)
	}
	reused := c.used
	keep, err := s.exchange(c, req, r, sc)
	if err != nil {
		s.discard(c)
		if reused && errors.Is(err, errIdleClosed) && ctx.Err() == nil {
			s.ended(true)
			return fmt.Errorf("%w: %w", ErrUnprocessed, err)
		}
		return err
	}
	if reused {
		s.ended(false)
	}
	if keep {
		s.put(c)
	} else {
		s.discard(c)
	}
	return nil
}

// errIdleClosed says that a connection ended before a single byte of the response.
var errIdleClosed = errors.New("connection closed while idle")

// exchange writes a request and reads its response; keep says whether the connection can be used again.
func (s *Session) exchange(c *conn, req *Request, r *Response, sc *scratch) (keep bool, err error) {
	lim := s.lim
	fail := func(op string, kind crawl.Kind, err error) (bool, error) {
		if isTimeout(err) {
			kind = crawl.KindTimeout
		}
		return false, &crawl.Error{Op: op, Host: req.URL.Host(), Kind: kind, Err: err}
	}
	sc.req = appendRequest(sc.req[:0], req)
	r.Request, r.Addr = sc.req, c.addr
	start := time.Now()
	_ = c.nc.SetDeadline(start.Add(lim.HeaderTimeout))
	if _, err := c.nc.Write(sc.req); err != nil {
		if c.used {
			err = errors.Join(errIdleClosed, err)
		}
		return fail("send", crawl.KindReset, err)
	}
	sent := time.Now()
	r.Date, r.Timing.Send = sent, sent.Sub(start)
	if _, err := c.r.Peek(1); err != nil {
		if c.used && !isTimeout(err) {
			err = errors.Join(errIdleClosed, err)
		}
		return fail("read header", crawl.KindReset, err)
	}
	first := time.Now()
	r.Timing.FirstByte = first.Sub(sent)
	for range 6 { // informational responses come before the one that counts
		if err := readHead(c.r, r, sc, lim.MaxHeader); err != nil {
			kind := crawl.KindOf(err)
			if kind == crawl.KindInternal {
				kind = crawl.KindReset
			}
			return fail("read header", kind, err)
		}
		if r.Status >= 200 {
			break
		}
	}
	if r.Status < 200 {
		return fail("read header", crawl.KindProtocol, errors.New("only informational responses"))
	}
	b := bodyReader{c: c, r: r, sc: sc, lim: lim, start: first}
	keep, err = b.read()
	r.Timing.Body = time.Since(first)
	if err != nil {
		kind := crawl.KindOf(err)
		if kind == crawl.KindInternal {
			kind = crawl.KindReset
		}
		if isTimeout(err) && b.slow() {
			return false, &crawl.Error{Op: "read body", Host: req.URL.Host(), Kind: crawl.KindSlow, Err: err}
		}
		return fail("read body", kind, err)
	}
	return keep && c.r.Buffered() == 0, nil
}

// appendRequest writes the request head.
func appendRequest(b []byte, req *Request) []byte {
	b = append(append(append(b, "GET "...), req.URL.RequestURI()...), " HTTP/1.1\r\nHost: "...)
	b = append(append(b, req.URL.Authority()...), "\r\n"...)
	b = append(b, "Accept-Encoding: "+acceptEncoding+"\r\n"...)
	for _, f := range req.Fields {
		b = append(append(append(append(b, f.Name...), ": "...), f.Value...), "\r\n"...)
	}
	return append(b, "\r\n"...)
}

func protocolError(msg string) error {
	return &crawl.Error{Op: "parse", Kind: crawl.KindProtocol, Err: errors.New(msg)}
}

// readHead reads a status line and header fields, keeping them as they came.
func readHead(br *bufio.Reader, r *Response, sc *scratch, max int) error {
	head := sc.head[:0]
	var ends []int // where lines end
	for {
		line, err := br.ReadSlice('\n')
		head = append(head, line...)
		if len(head) > max {
			return &crawl.Error{Op: "read", Kind: crawl.KindHeaderLarge}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if err != nil {
			if len(ends) == 0 && !bytes.HasPrefix(head, []byte("HTTP/")) {
				return protocolError("not HTTP")
			}
			return err
		}
		start := 0
		if len(ends) > 0 {
			start = ends[len(ends)-1]
		}
		ends = append(ends, len(head))
		if l := head[start:]; len(l) == 1 || len(l) == 2 && l[0] == '\r' {
			if len(ends) == 1 {
				head, ends = head[:0], ends[:0] // an empty line before the status line is forgiven
				continue
			}
			break
		}
	}
	sc.head = head
	r.Head = head
	text := string(head) // one copy that all fields share
	line := strings.TrimRight(text[:ends[0]], "\r\n")
	proto, rest, _ := strings.Cut(line, " ")
	code, _, _ := strings.Cut(strings.TrimLeft(rest, " "), " ")
	status, err := strconv.Atoi(code)
	if !strings.HasPrefix(proto, "HTTP/1.") || len(code) != 3 || err != nil || status < 100 {
		return protocolError("malformed status line")
	}
	r.Status, r.Proto, r.Line = status, proto, line
	r.fields = r.fields[:0]
	for i := 1; i < len(ends)-1; i++ {
		l := strings.TrimRight(text[ends[i-1]:ends[i]], "\r\n")
		if (l[:min(1, len(l))] == " " || l[:min(1, len(l))] == "\t") && len(r.fields) > 0 { // folded (RFC 9112, section 5.2)
			f := &r.fields[len(r.fields)-1]
			f.Value += " " + strings.Trim(l, " \t")
			continue
		}
		name, value, ok := strings.Cut(l, ":")
		if !ok {
			continue // what is no field is kept in the archive and ignored here
		}
		r.fields = append(r.fields, Field{strings.TrimRight(name, " \t"), strings.Trim(value, " \t")})
	}
	sc.fields = r.fields
	return nil
}

// bodyReader reads a body within its limits.
type bodyReader struct {
	c     *conn
	r     *Response
	sc    *scratch
	lim   crawl.FetchLimits
	start time.Time
	n     int64     // bytes received
	due   time.Time // the deadline that was set last
}

const rateGrace = 10 * time.Second

// arm sets the deadline of the next read: the body's, or the moment at which its rate will have been too low.
func (b *bodyReader) arm() {
	b.due = b.start.Add(b.lim.BodyTimeout)
	if b.lim.MinRate > 0 {
		slow := b.start.Add(rateGrace + time.Duration(b.n)*time.Second/time.Duration(b.lim.MinRate))
		if slow.Before(b.due) {
			b.due = slow
		}
	}
	_ = b.c.nc.SetReadDeadline(b.due)
}

// slow reports whether the deadline that passed was one of rate.
func (b *bodyReader) slow() bool { return b.due.Before(b.start.Add(b.lim.BodyTimeout)) }

func (b *bodyReader) read() (keep bool, err error) {
	r := b.r
	r.Raw, r.Body = nil, nil
	keep = r.Proto != "HTTP/1.0"
	for _, v := range r.Values("Connection") {
		for t := range strings.SplitSeq(v, ",") {
			switch t = strings.TrimSpace(t); {
			case strings.EqualFold(t, "close"):
				keep = false
			case strings.EqualFold(t, "keep-alive") && r.Proto == "HTTP/1.0":
				keep = true
			}
		}
	}
	if r.Status == 204 || r.Status == 304 {
		return keep, nil
	}
	b.arm()
	if te := r.Values("Transfer-Encoding"); len(te) > 0 {
		if !strings.EqualFold(te[len(te)-1], "chunked") || len(te) > 1 {
			return false, protocolError("transfer coding " + strings.Join(te, ", "))
		}
		err := b.chunked()
		return keep && r.Get("Content-Length") == "", err
	}
	length := int64(-1)
	for _, v := range r.Values("Content-Length") {
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil || n < 0 || length >= 0 && n != length {
			return false, protocolError("Content-Length " + v)
		}
		length = n
	}
	if length > b.lim.MaxBody {
		return false, &crawl.Error{Op: "read", Kind: crawl.KindBodyLarge}
	}
	buf := b.sc.body[:0]
	if length < 0 {
		keep = false
	}
	for length < 0 || int64(len(buf)) < length {
		if buf, err = b.more(buf, length); err != nil {
			if errors.Is(err, io.EOF) && length < 0 {
				break
			}
			return false, noEOF(err)
		}
	}
	b.sc.body = buf
	r.Body, r.Raw = buf, buf
	return keep, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// more reads once into buf, up to length in all (-1: whatever comes).
func (b *bodyReader) more(buf []byte, length int64) ([]byte, error) {
	if len(buf) == cap(buf) {
		grow := max(4096, min(int64(len(buf)), 4<<20))
		if length > 0 {
			grow = min(length-int64(len(buf)), max(grow, 1<<20)) // a length is believed as far as bytes have come
		}
		buf = append(make([]byte, 0, int64(len(buf))+grow), buf...)
	}
	end := cap(buf)
	if length >= 0 && int64(end) > length {
		end = int(length)
	}
	n, err := b.c.r.Read(buf[len(buf):end])
	buf = buf[:len(buf)+n]
	b.n += int64(n)
	if int64(len(buf)) > b.lim.MaxBody {
		return buf, &crawl.Error{Op: "read", Kind: crawl.KindBodyLarge}
	}
	if n > 0 {
		if length < 0 || int64(len(buf)) < length {
			b.arm()
		}
		if errors.Is(err, io.EOF) && length >= 0 && int64(len(buf)) == length {
			err = nil
		}
	}
	return buf, err
}

// chunked reads a chunked body, once as it came and once without its framing (RFC 9112, section 7.1).
func (b *bodyReader) chunked() error {
	raw, body := b.sc.raw[:0], b.sc.body[:0]
	defer func() { b.sc.raw, b.sc.body = raw, body }()
	line := func() ([]byte, error) {
		start := len(raw)
		l, err := b.c.r.ReadSlice('\n')
		raw = append(raw, l...)
		if errors.Is(err, bufio.ErrBufferFull) {
			return nil, protocolError("chunk line too long")
		}
		if err != nil {
			return nil, noEOF(err)
		}
		return bytes.TrimRight(raw[start:], "\r\n"), nil
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
		if int64(len(body))+n > b.lim.MaxBody {
			return &crawl.Error{Op: "read", Kind: crawl.KindBodyLarge}
		}
		if n == 0 {
			break
		}
		for end := int64(len(body)) + n; int64(len(body)) < end; {
			was := len(body)
			if body, err = b.more(body, end); err != nil {
				return noEOF(err)
			}
			raw = append(raw, body[was:]...)
		}
		if l, err = line(); err != nil {
			return err
		}
		if len(l) > 0 {
			return protocolError("chunk without end")
		}
		b.arm()
	}
	for trailer := 0; ; trailer++ {
		l, err := line()
		if err != nil {
			return err
		}
		if len(l) == 0 {
			break
		}
		if trailer > 100 {
			return protocolError("too many trailers")
		}
	}
	b.r.Raw, b.r.Body = raw, body
	return nil
}
