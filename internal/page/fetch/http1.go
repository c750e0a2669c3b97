package fetch

import (
	"bufio"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"slices"
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
	Fields []Field       // after Host and Accept-Encoding, which the client sends itself
	Again  int           // how often it has been sent before and come to nothing (ErrUnprocessed)
	Within time.Duration // to the end of the header; 0: the limit of its session
	May    func() bool   // whether it may be sent at this moment, once there is a connection for it; nil: always
	First  bool          // its site has never answered over this scheme
}

// within is the time from a request to the end of the header, within limits.
func (r *Request) within(lim *crawl.FetchLimits) time.Duration {
	if r.Within > 0 {
		return min(r.Within, lim.HeaderTimeout)
	}
	return lim.HeaderTimeout
}

// Timing is how long the phases of an exchange took. A phase that did not happen took no time. Opened is how long it took to open the connection, where another
// exchange had done that: connecting, and TLS.
type Timing struct{ Resolve, Connect, TLS, Send, FirstByte, Body, Opened time.Duration }

// Response is a response: a whole one, or, where an error comes with it, what has come of one. What lies in it may be used
// until Release. A body that is too long for memory lies in a spool.
type Response struct {
	Status  int
	Proto   string // "HTTP/1.1", "HTTP/2.0"
	Line    string // status line
	Head    []byte // header block as received, with the empty line at its end; for HTTP/2 written anew
	Raw     []byte // body as received, chunk framing included; nil if it is spooled
	Body    []byte // body without chunk framing, still coded; nil if it is spooled
	Spool   Spool  // Head and the body as received, if it is too long for memory; else nil
	Size    int64  // of the body without chunk framing, in bytes
	Wire    int64  // of the body as received
	Request []byte // request as sent
	Addr    netip.Addr
	TLS     uint16 // version and suite of the connection, as crypto/tls numbers them; 0: none
	Cipher  uint16
	Timing  Timing
	Beside  bool      // others of its session were under way when it began: it may have waited for them
	Date    time.Time // when the request had been sent, not before: the next one waits for its site's delay from here

	// Truncated says why the body is not whole, in the words of WARC 1.1, section 5.13: "length" (it is longer than the
	// limit), "time", "disconnect", "unspecified"; empty if it is whole.
	Truncated string

	fields   []Field
	start    []byte // of the body
	sum      [sha1.Size]byte
	chunked  bool
	transfer []string // transfer codings beside chunked, in the order in which they were applied
	held     int64    // of the client's memory for bodies
	text     *[]byte  // memory for what is decoded
	plain    []byte   // the body without its codings, if it was decoded and lies in text
	arena    *arena
	c        *Client
	sc       *scratch // the memory that the slices lie in
}

// Sum returns the SHA-1 of the body without chunk framing and, if they can be undone, other transfer codings.
func (r *Response) Sum() [sha1.Size]byte { return r.sum }

// Start returns the first bytes of the body, 512 if there are as many.
func (r *Response) Start() []byte { return r.start }

// Release gives the response's memory back for another one and removes its spool: nothing that lies in it may be used any
// more.
func (r *Response) Release() {
	if r == nil || r.sc == nil {
		return
	}
	if r.Spool != nil {
		_ = r.Spool.Close() // if it cannot be removed now it is swept at the next start
	}
	r.c.memory.give(r.held)
	r.arena.release()
	scratches.Put(r.sc)
	if r.text != nil && cap(*r.text) <= keepText {
		texts.Put(r.text)
	}
	r.sc, r.held, r.text, r.plain, r.arena = nil, 0, nil, nil, nil
}

// Redirects reports whether the status is one of those that may send elsewhere.
func (r *Response) Redirects() bool { return crawl.Redirects(r.Status) }

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
	head, raw, body, req []byte
	fields               []Field
}

var scratches = sync.Pool{New: func() any { return new(scratch) }}

// shrink lets go of buffers that one large page has blown up.
func (s *scratch) shrink() {
	const keep = 256 << 10
	for _, b := range []*[]byte{&s.head, &s.raw, &s.body} {
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

// ErrNotSent says that a request was not sent: by the time that there was a connection it might not be any more (Request.May).
var ErrNotSent = errors.New("not sent: it came too late")

// Do sends a request and reads the whole response. It returns ErrUnprocessed when the request is to be sent again. Where
// the head came whole and the body did not, what has come is returned beside the error, and Truncated says why. The memory for the response is taken only here, so that whoever waits for a site's turn needs none; the caller gives it
// back by the response's Release.
func (s *Session) Do(ctx context.Context, req *Request) (*Response, error) {
	sc := scratches.Get().(*scratch)
	sc.shrink()
	r := &Response{fields: sc.fields[:0], sc: sc, c: s.c, Beside: s.asking.Add(1) > 1}
	defer s.asking.Add(-1)
	err := s.do(ctx, req, r, sc)
	if err != nil && r.Truncated == "" {
		r.Release()
		return nil, err
	}
	return r, err
}

func (s *Session) do(ctx context.Context, req *Request, r *Response, sc *scratch) error {
	c, h, err := s.connection(ctx, req, &r.Timing)
	if err != nil {
		return err
	}
	if h != nil {
		if r.Timing.Connect == 0 {
			r.Timing.Opened = h.opened
		}
		return s.doH2(ctx, h, req, r, sc)
	}
	reused := c.used
	if reused {
		r.Timing.Opened = c.opened
	}
	keep, err := s.exchange(c, req, r, sc)
	if err == nil && req.First && r.Status == http.StatusBadRequest && s.wantsTLS(req) {
		err = &crawl.Error{Op: "read header", Host: req.URL.Host(), Kind: crawl.KindWantsTLS, Err: errors.New("it answers 400, and shakes hands by TLS")}
	}
	if err != nil {
		s.discard(c)
		if reused && errors.Is(err, errIdleClosed) && ctx.Err() == nil {
			s.ended(true)
			return fmt.Errorf("%w: %w", ErrUnprocessed, err)
		}
		return err
	}
	if reused && r.Status == http.StatusRequestTimeout && req.Again == 0 { // of the connection, as it seems (RFC 9110, section 15.5.9), and not of this request
		s.discard(c)
		s.ended(true)
		return fmt.Errorf("%w: %w", ErrUnprocessed, &crawl.Error{Op: "read header", Host: req.URL.Host(), Kind: crawl.KindReset, Err: errIdleClosed})
	}
	if r.Status == http.StatusMisdirectedRequest && s.misdirected(req, reused, nil) {
		s.discard(c)
		return fmt.Errorf("%w: %w", ErrUnprocessed, &crawl.Error{Op: "read header", Host: req.URL.Host(), Kind: crawl.KindReset, Err: errMisdirected})
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

// write writes a request; errIdleClosed is in the error if the connection was used before.
func (c *conn) write(req []byte) error {
	_, err := c.nc.Write(req)
	if err != nil && c.sec.version != 0 && !isTimeout(err) {
		err = cause(c.nc, err)
	}
	if err != nil && c.used {
		err = errors.Join(errIdleClosed, err)
	}
	return err
}

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
	r.Request, r.Addr, r.TLS, r.Cipher = sc.req, c.addr, c.sec.version, c.sec.cipher
	start := time.Now()
	_ = c.nc.SetDeadline(start.Add(req.within(&lim)))
	if req.May != nil && !req.May() {
		return false, ErrNotSent
	}
	if err := c.write(sc.req); err != nil {
		return fail("send", c.sec.endKind(err), err)
	}
	sent := time.Now()
	r.Date, r.Timing.Send = sent, sent.Sub(start)
	if _, err := c.r.Peek(1); err != nil {
		if c.used && !isTimeout(err) {
			err = errors.Join(errIdleClosed, err)
		}
		kind := c.sec.endKind(err)
		if req.First && !c.used && kind == crawl.KindReset && !isTimeout(err) && s.wantsTLS(req) {
			kind, err = crawl.KindWantsTLS, errors.New("it ended the connection without a word, and shakes hands by TLS")
		}
		return fail("read header", kind, err)
	}
	if !c.used {
		if kind, err := greeting(c.r); err != nil {
			return fail("read header", kind, err)
		}
	}
	first := time.Now()
	r.Timing.FirstByte = first.Sub(sent)
	for range 32 { // informational responses come before the one that counts
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
	b := bodyReader{c: c, r: r, lim: lim, start: first, in: s.c.newIntake(r, sc, lim)}
	keep, err = b.read()
	if e := b.in.end(); err == nil {
		err = e
	}
	if err == nil && len(r.transfer) > 0 {
		err = r.sumTransferred(lim.MaxDecoded)
	}
	r.Timing.Body = time.Since(first)
	if err != nil {
		kind := crawl.KindOf(err)
		switch {
		case kind == crawl.KindArchive:
			return false, err
		case isTimeout(err) && b.slow():
			kind, err = crawl.KindSlow, *b.in.slow()
		case isTimeout(err):
			kind = crawl.KindTimeout
		case kind == crawl.KindInternal:
			kind = crawl.KindReset
		}
		r.cutShort(&kind, b.tooLong)
		return false, &crawl.Error{Op: "read body", Host: req.URL.Host(), Kind: kind, Err: err}
	}
	return keep && c.r.Buffered() == 0, nil
}

// cutShort notes why a body is not whole. One that would have been too long anyway has failed for that reason, whatever
// has ended it.
func (r *Response) cutShort(kind *crawl.Kind, tooLong bool) {
	switch *kind {
	case crawl.KindBodyLarge:
		r.Truncated = "length"
	case crawl.KindTimeout, crawl.KindSlow:
		r.Truncated = "time"
	case crawl.KindReset:
		r.Truncated = "disconnect"
	default:
		r.Truncated = "unspecified"
	}
	if tooLong {
		*kind = crawl.KindBodyLarge
	}
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

// isAlert reports whether the other side ended a TLS session by an alert.
func isAlert(err error) bool {
	op := (*net.OpError)(nil)
	return errors.As(err, &op) && op.Op == "remote error" // so crypto/tls marks alerts
}

// endKind tells a connection that was ended by a TLS alert (tls), or for the certificate that we do not have (wants-certificate), from one
// that just ended (reset). By TLS 1.3 a server looks at our certificate after we have begun to ask (RFC 8446, section 4.4.2.4).
func (s security) endKind(err error) crawl.Kind {
	switch {
	case !isAlert(err):
		return crawl.KindReset
	case s.wanted:
		return crawl.KindWantsCert
	}
	return crawl.KindTLS
}

func protocolError(msg string) error {
	return &crawl.Error{Op: "parse", Kind: crawl.KindProtocol, Err: errors.New(msg)}
}

// httpMark is how each answer begins.
const httpMark = "HTTP/"

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
			if begin := head[:min(len(head), len(httpMark))]; len(ends) == 0 && string(begin) != httpMark[:len(begin)] {
				return protocolError("not HTTP")
			}
			return err // what has come may go on as HTTP
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
	if len(proto) != len("HTTP/1.1") || !strings.HasPrefix(proto, "HTTP/1.") || proto[7] < '0' || proto[7] > '9' || len(code) != 3 || err != nil || status < 100 {
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
			continue // what is not a field is kept in the archive and ignored here
		}
		r.fields = append(r.fields, Field{strings.TrimRight(name, " \t"), strings.Trim(value, " \t")})
	}
	sc.fields = r.fields
	return nil
}

// bodyReader reads a body within its limits.
type bodyReader struct {
	c       *conn
	r       *Response
	in      *intake
	lim     crawl.FetchLimits
	start   time.Time
	n       int64     // bytes received
	due     time.Time // the deadline that was set last
	tooLong bool      // its length, which the server has given, is over the limit
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
	b.c.arm = b.arm
	defer func() { b.c.arm = nil }()
	te := r.Values("Transfer-Encoding")
	chunked, err := r.transferCodings(te)
	if err != nil {
		return false, err
	}
	if chunked {
		return keep && r.Get("Content-Length") == "", b.chunked()
	}
	length := int64(-1) // the body ends with the connection
	if !slices.ContainsFunc(r.transfer, isCoding) {
		if length, err = contentLength(r.Values("Content-Length")); err != nil {
			return false, err
		}
	}
	b.tooLong = length > b.lim.MaxBody
	if length < 0 || len(r.transfer) > 0 {
		keep = false
	}
	for length < 0 || b.in.n < length {
		want := int64(-1)
		if length >= 0 {
			want = length - b.in.n
		}
		if err := b.more(want); err != nil {
			if errors.Is(err, io.EOF) && length < 0 {
				break
			}
			return false, noEOF(err)
		}
	}
	return keep, nil
}

func noEOF(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

// more reads once, at most want bytes of the body (-1: whatever comes).
func (b *bodyReader) more(want int64) error {
	space, err := b.in.space(want)
	if err != nil {
		return err
	}
	if len(space) == 0 { // as long as it may be: it is whole only if it ends here
		if _, err := b.c.r.Peek(1); err != nil {
			return err
		}
		return &crawl.Error{Op: "read", Kind: crawl.KindBodyLarge}
	}
	n, err := b.c.r.Read(space)
	b.in.took(n)
	b.n += int64(n)
	if int64(n) == want && errors.Is(err, io.EOF) {
		err = nil
	}
	return err
}
