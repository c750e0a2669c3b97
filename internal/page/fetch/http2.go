package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"golang.org/x/net/http2"

	"argosy/internal/crawl"
)

// doH2 sends a request over an HTTP/2 connection. The header block is written as HTTP/1.1 would have it, since WARC
// knows no other.
func (s *Session) doH2(ctx context.Context, h *http2Conn, req *Request, r *Response, sc *scratch) error {
	lim := s.lim
	answered := false
	defer func() { s.finished(h, answered) }()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	timer := time.AfterFunc(req.within(&lim), func() { cancel(errTimeout) })
	defer timer.Stop()
	fail := func(op string, kind crawl.Kind, err error) error {
		switch cause := context.Cause(ctx); {
		case errors.Is(cause, errTimeout):
			kind, err = crawl.KindTimeout, cause
		case errors.Is(cause, errSlow):
			kind, err = crawl.KindSlow, cause
		}
		return &crawl.Error{Op: op, Host: req.URL.Host(), Kind: kind, Err: err}
	}
	hr, err := h2Request(ctx, req)
	if err != nil {
		return fail("send", crawl.KindProtocol, err)
	}
	sc.req = appendRequest(sc.req[:0], req)
	r.Request, r.Addr, r.Date, r.TLS, r.Cipher = sc.req, h.addr, time.Now(), h.sec.version, h.sec.cipher
	var sent atomic.Pointer[time.Time]
	hr = hr.WithContext(httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) {
		now := time.Now()
		sent.Store(&now)
	}}))
	if req.May != nil && !req.May() {
		return ErrNotSent
	}
	resp, err := h.cc.RoundTrip(hr)
	if err != nil {
		late := context.Cause(ctx) != nil
		if alert := s.refusal(h); alert != nil {
			err = alert
		}
		err = fail("read header", h.sec.h2Kind(err), err)
		if late {
			s.distrust(h)
		} else if s.unprocessed(h, req, err) {
			err = fmt.Errorf("%w: %w", ErrUnprocessed, err)
		}
		return err
	}
	answered = true
	defer resp.Body.Close()
	first := time.Now()
	if at := sent.Load(); at != nil {
		r.Timing.Send, r.Date = at.Sub(r.Date), *at
	}
	r.Timing.FirstByte = first.Sub(r.Date)
	if resp.StatusCode == http.StatusMisdirectedRequest && s.misdirected(req, false, h) {
		return fmt.Errorf("%w: %w", ErrUnprocessed, fail("read header", crawl.KindReset, errMisdirected))
	}
	if !h2Head(resp, r, sc, lim.MaxHeader) {
		return fail("read header", crawl.KindHeaderLarge, nil)
	}
	b := h2Body{in: s.c.newIntake(r, sc, lim), from: resp.Body, lim: lim, start: first, timer: timer, cancel: cancel}
	err = b.read(resp.ContentLength)
	if e := b.in.end(); err == nil {
		err = e
	}
	r.Timing.Body = time.Since(first)
	switch kind := crawl.KindOf(err); {
	case err == nil:
		return nil
	case kind == crawl.KindArchive:
		return err
	case kind == crawl.KindInternal:
		err = fail("read body", h.sec.h2Kind(err), err)
	default:
		err = fail("read body", kind, err)
	}
	e := err.(*crawl.Error)
	r.cutShort(&e.Kind, resp.ContentLength > lim.MaxBody)
	return e
}

// h2Body reads the body of an HTTP/2 response within its limits.
type h2Body struct {
	in     *intake
	from   io.Reader
	lim    crawl.FetchLimits
	start  time.Time
	timer  *time.Timer // ends the exchange when its time is over
	cancel context.CancelCauseFunc
}

// read reads the body to its end. length is what the server has announced, -1 if it has not.
func (b *h2Body) read(length int64) error {
	var late atomic.Pointer[error] // why the exchange ends when its time is over
	late.Store(&errTimeout)
	b.timer.Stop()
	timer := time.AfterFunc(time.Until(b.start.Add(b.lim.BodyTimeout)), func() { b.cancel(*late.Load()) })
	defer timer.Stop()
	for {
		want := int64(-1)
		if length > b.in.n {
			want = length - b.in.n
		}
		space, err := b.in.space(want)
		if err != nil {
			return err
		}
		full := len(space) == 0
		if full { // as long as it may be: it is whole only if it ends here
			space = make([]byte, 1)
		}
		if b.lim.MinRate > 0 {
			slow := b.start.Add(rateGrace + time.Duration(b.in.n)*time.Second/time.Duration(b.lim.MinRate))
			if end := b.start.Add(b.lim.BodyTimeout); slow.Before(end) {
				late.Store(b.in.slow())
				timer.Reset(time.Until(slow))
			} else {
				late.Store(&errTimeout)
				timer.Reset(time.Until(end))
			}
		}
		n, err := b.from.Read(space)
		if full && n > 0 {
			return &crawl.Error{Op: "read", Kind: crawl.KindBodyLarge}
		}
		if !full {
			b.in.took(n)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// maxAgain bounds how often a request is sent again that a server does not process: beside others on its connection, of which a server takes
// only so many (Session.learn knows after three connections), and where there is nothing but the request that can be refused.
const (
	maxAgain      = 10
	maxAgainFirst = 3
)

// h2Kind tells what a server sent that it may not (protocol, header-large) from a connection or a stream that it ended (reset).
func (s security) h2Kind(err error) crawl.Kind {
	var ours http2.ConnectionError
	var stream http2.StreamError
	said := err.Error()
	switch {
	case strings.Contains(said, "header list larger") || strings.Contains(said, "header list too large"):
		return crawl.KindHeaderLarge
	case errors.As(err, &ours), errors.Is(err, http2.ErrFrameTooLarge):
		return crawl.KindProtocol
	case errors.As(err, &stream) && stream.Cause != nil && stream.Cause.Error() != "received from peer":
		return crawl.KindProtocol
	}
	return s.endKind(err)
}

// refusal returns the alert by which a server has ended a connection before it answered anything on it, or nil. The package http2 may say
// only that the connection cannot be used.
func (s *Session) refusal(h *http2Conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h.answered > 0 {
		return nil
	}
	return h.tc.alert()
}

// distrust has the next request sent on another connection: nothing has come in time on this one, and perhaps nothing does any more.
func (s *Session) distrust(h *http2Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.refused = true
}

// wantsHTTP1 reports whether a server says that it answers over HTTP/1.1 only (RFC 9113, section 7).
func wantsHTTP1(err error) bool {
	return strings.Contains(err.Error(), http2.ErrCodeHTTP11Required.String())
}

// WantsCalm reports whether a server has ended requests because it is asked too much (RFC 9113, section 7).
func WantsCalm(err error) bool {
	return strings.Contains(err.Error(), http2.ErrCodeEnhanceYourCalm.String())
}

// unprocessed reports whether a request that failed on a connection is to be sent again. Such a connection is not used
// for another.
func (s *Session) unprocessed(h *http2Conn, req *Request, err error) bool {
	var stream http2.StreamError
	refused := errors.As(err, &stream) && stream.Code == http2.ErrCodeRefusedStream
	for _, said := range unprocessedErrors {
		refused = refused || strings.Contains(err.Error(), said)
	}
	ended := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
	s.mu.Lock()
	defer s.mu.Unlock()
	if wantsHTTP1(err) {
		again := !s.plain
		h.refused, s.plain, s.h1 = true, true, true
		return again
	}
	h.refused = h.refused || refused || ended
	if ended && !refused { // as with a kept connection of HTTP/1.1: once
		return h.answered > 0 && req.Again == 0
	}
	return refused && (req.Again < maxAgainFirst || s.answers && h.begun > 1 && req.Again < maxAgain)
}

// unprocessedErrors are what golang.org/x/net/http2 says, in errors that it does not export, of streams beyond the last
// one of a GOAWAY and of connections that have had one.
var unprocessedErrors = []string{"graceful shutdown GOAWAY", "client conn not usable"}

var (
	errTimeout = errors.New("timed out")
	errSlow    = errors.New("slower than the minimum rate")
	errNoBody  = fmt.Errorf("its headers came, and nothing of its body: %w", errSlow)
)

// slow returns what is wrong with a body that comes too slowly.
func (in *intake) slow() *error {
	if in.n == 0 {
		return &errNoBody
	}
	return &errSlow
}

func h2Request(ctx context.Context, req *Request) (*http.Request, error) {
	u, err := url.Parse(req.URL.String())
	if err != nil {
		return nil, err
	}
	hr := &http.Request{Method: http.MethodGet, URL: u, Host: req.URL.Authority(), Header: http.Header{}, Proto: "HTTP/2.0", ProtoMajor: 2}
	hr.Header.Set("Accept-Encoding", acceptEncoding)
	for _, f := range req.Fields {
		hr.Header.Add(f.Name, f.Value)
	}
	return hr.WithContext(ctx), nil
}

// h2Head writes the header block of an HTTP/2 response; false if it is too large.
func h2Head(resp *http.Response, r *Response, sc *scratch, max int) bool {
	r.Status, r.Proto = resp.StatusCode, "HTTP/2.0"
	r.Line = fmt.Sprintf("HTTP/1.1 %d %s", resp.StatusCode, http.StatusText(resp.StatusCode))
	head := append(append(sc.head[:0], r.Line...), "\r\n"...)
	names := make([]string, 0, len(resp.Header))
	for n := range resp.Header {
		names = append(names, n)
	}
	sort.Strings(names)
	r.fields = r.fields[:0]
	for _, n := range names {
		for _, v := range resp.Header[n] {
			head = append(append(append(append(head, n...), ": "...), v...), "\r\n"...)
			r.fields = append(r.fields, Field{n, v})
		}
	}
	head = append(head, "\r\n"...)
	sc.head, r.Head, sc.fields = head, head, r.fields
	return len(head) <= max
}
