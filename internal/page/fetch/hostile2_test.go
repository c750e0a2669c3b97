package fetch_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
	"argosy/internal/testkit"
)

// stream is a request as a server of HTTP/2 sees it, which answers with frames as it likes.
type stream struct {
	*http2.Framer
	c   net.Conn
	id  uint32
	nth int64 // connection, from 1
}

// block encodes header fields, names and values in turn.
func block(fields ...string) []byte {
	var b bytes.Buffer
	e := hpack.NewEncoder(&b)
	for i := 0; i < len(fields); i += 2 {
		_ = e.WriteField(hpack.HeaderField{Name: fields[i], Value: fields[i+1]})
	}
	return b.Bytes()
}

// head sends a header block.
func (s *stream) head(end bool, fields ...string) {
	_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: block(fields...), EndHeaders: true, EndStream: end})
}

// ok answers as a good server does.
func (s *stream) ok() {
	s.head(false, ":status", "200", "content-type", "text/plain")
	_ = s.WriteData(s.id, true, []byte("ok"))
}

// wait reads, and answers nothing, until the client has had enough.
func (s *stream) wait() {
	for {
		if _, err := s.ReadFrame(); err != nil {
			return
		}
	}
}

// oddStreams are the ways in which servers of HTTP/2 misbehave, with the kind of the error; empty: the answer is whole.
var oddStreams = []struct {
	name  string
	write func(s *stream)
	kind  crawl.Kind
}{
	{"well", func(s *stream) { s.ok() }, ""},
	{"silence", func(s *stream) { s.wait() }, crawl.KindTimeout},
	{"silence on the first connection only", func(s *stream) {
		if s.nth == 1 {
			s.wait()
		}
		s.ok()
	}, crawl.KindTimeout},
	{"closes at once", func(s *stream) { _ = s.c.Close() }, crawl.KindReset},
	{"goes away before it began", func(s *stream) {
		if s.nth > 1 {
			s.ok()
			return
		}
		_ = s.WriteGoAway(0, http2.ErrCodeNo, nil)
		_ = s.c.Close()
	}, ""},
	{"goes away with an error", func(s *stream) {
		_ = s.WriteGoAway(0, http2.ErrCodeEnhanceYourCalm, []byte("too_many_pings"))
		_ = s.c.Close()
	}, crawl.KindReset},
	{"goes away in the middle of a body, and ends it", func(s *stream) {
		s.head(false, ":status", "200")
		_ = s.WriteData(s.id, false, []byte("o"))
		_ = s.WriteGoAway(s.id, http2.ErrCodeNo, nil)
		_ = s.WriteData(s.id, true, []byte("k"))
	}, ""},
	{"goes away in the middle of a body", func(s *stream) {
		s.head(false, ":status", "200")
		_ = s.WriteData(s.id, false, []byte("o"))
		_ = s.WriteGoAway(s.id, http2.ErrCodeInternal, nil)
		_ = s.c.Close()
	}, crawl.KindReset},
	{"reset before the head", func(s *stream) { _ = s.WriteRSTStream(s.id, http2.ErrCodeInternal) }, crawl.KindReset},
	{"reset in the middle of a body", func(s *stream) {
		s.head(false, ":status", "200", "content-length", "10")
		_ = s.WriteData(s.id, false, []byte("ok"))
		_ = s.WriteRSTStream(s.id, http2.ErrCodeCancel)
	}, crawl.KindReset},
	{"reset with no error after the end", func(s *stream) {
		s.ok()
		_ = s.WriteRSTStream(s.id, http2.ErrCodeNo)
	}, ""},
	{"stalls in the middle of a body", func(s *stream) {
		s.head(false, ":status", "200", "content-length", "10")
		_ = s.WriteData(s.id, false, []byte("ok"))
		s.wait()
	}, crawl.KindTimeout},
	{"empty frames without end", func(s *stream) {
		s.head(false, ":status", "200")
		for s.WriteData(s.id, false, nil) == nil {
			time.Sleep(time.Millisecond)
		}
	}, crawl.KindTimeout},
	{"pings without end", func(s *stream) {
		for s.WritePing(false, [8]byte{}) == nil {
			time.Sleep(time.Millisecond)
		}
	}, crawl.KindTimeout},
	{"a body without end", func(s *stream) {
		s.head(false, ":status", "200")
		var reading sync.WaitGroup
		reading.Go(s.wait)
		for s.WriteData(s.id, false, make([]byte, 16<<10)) == nil {
			time.Sleep(time.Millisecond) // in place of its windows
		}
		reading.Wait()
	}, crawl.KindBodyLarge},
	{"shorter than its length", func(s *stream) {
		s.head(false, ":status", "200", "content-length", "10")
		_ = s.WriteData(s.id, true, []byte("ok"))
	}, crawl.KindReset},
	{"longer than its length", func(s *stream) {
		s.head(false, ":status", "200", "content-length", "1")
		_ = s.WriteData(s.id, true, []byte("ok"))
	}, crawl.KindReset},
	{"a header list too large", func(s *stream) {
		s.head(true, ":status", "200", "x-large", strings.Repeat("a", 10_000), "x-too", strings.Repeat("a", 10_000))
	}, crawl.KindHeaderLarge},
	{"a header block too large", func(s *stream) {
		b := block(":status", "200", "x-large", strings.Repeat("x", 60_000))
		_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: b[:100]})
		for b = b[100:]; len(b) > 0; {
			n := min(len(b), 16_000)
			_ = s.WriteContinuation(s.id, n == len(b), b[:n])
			b = b[n:]
		}
	}, crawl.KindProtocol},
	{"continuation without end", func(s *stream) {
		_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: block(":status", "200")})
		for s.WriteContinuation(s.id, false, block("x", "y")) == nil {
			time.Sleep(100 * time.Microsecond)
		}
	}, crawl.KindProtocol},
	{"continuation of nothing", func(s *stream) { _ = s.WriteContinuation(s.id, true, block(":status", "200")) }, crawl.KindProtocol},
	{"no status", func(s *stream) { s.head(true, "content-type", "text/html") }, crawl.KindProtocol},
	{"a status of letters", func(s *stream) { s.head(true, ":status", "abc") }, crawl.KindProtocol},
	{"a name in capitals", func(s *stream) { s.head(true, ":status", "200", "X-Up", "y") }, crawl.KindProtocol},
	{"a header block that cannot be decoded", func(s *stream) {
		_ = s.WriteHeaders(http2.HeadersFrameParam{StreamID: s.id, BlockFragment: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, EndHeaders: true})
	}, crawl.KindProtocol},
	{"informational first", func(s *stream) {
		s.head(false, ":status", "103", "link", "</x>")
		s.ok()
	}, ""},
	{"only informational", func(s *stream) {
		for range 2000 {
			s.head(false, ":status", "103", "link", "</"+strings.Repeat("x", 100)+">")
		}
	}, crawl.KindHeaderLarge},
	{"trailers", func(s *stream) {
		s.head(false, ":status", "200", "trailer", "x-sum")
		_ = s.WriteData(s.id, false, []byte("ok"))
		s.head(true, "x-sum", "1")
	}, ""},
	{"fields of a connection", func(s *stream) {
		s.head(false, ":status", "200", "connection", "close", "transfer-encoding", "chunked", "keep-alive", "timeout=5")
		_ = s.WriteData(s.id, true, []byte("ok"))
	}, ""},
	{"a push", func(s *stream) {
		_ = s.WritePushPromise(http2.PushPromiseParam{StreamID: s.id, PromiseID: 2, BlockFragment: block(":method", "GET"), EndHeaders: true})
		s.ok()
	}, crawl.KindProtocol},
	{"takes no streams", func(s *stream) {
		_ = s.WriteSettings(http2.Setting{ID: http2.SettingMaxConcurrentStreams, Val: 0})
		s.ok()
	}, ""},
	{"padding", func(s *stream) {
		s.head(false, ":status", "200")
		_ = s.WriteDataPadded(s.id, true, []byte("ok"), make([]byte, 200))
	}, ""},
	{"HTTP/1.1 after all", func(s *stream) { _, _ = io.WriteString(s.c, "HTTP/1.1 400 Bad Request\r\nContent-Length: 2\r\n\r\nok") }, crawl.KindProtocol},
	{"frames of nonsense", func(s *stream) { _, _ = s.c.Write(bytes.Repeat([]byte{0xfe}, 4096)) }, crawl.KindProtocol},
	{"a cut frame", func(s *stream) {
		s.head(false, ":status", "200")
		_, _ = s.c.Write([]byte{0, 0, 10, 0, 0, 0, 0, 0, byte(s.id), 'o', 'k'})
		_ = s.c.Close()
	}, crawl.KindReset},
	{"asks for HTTP/1.1", func(s *stream) { _ = s.WriteRSTStream(s.id, http2.ErrCodeHTTP11Required) }, ""},
	{"goes away for HTTP/1.1", func(s *stream) {
		_ = s.WriteGoAway(0, http2.ErrCodeHTTP11Required, nil)
		_ = s.c.Close()
	}, ""},
}

// serveOdd answers every request with frames of one kind; over HTTP/1.1, where that is all that a client speaks, well.
func serveOdd(t *testing.T, write func(*stream)) (url string) {
	t.Helper()
	cert := httptest.NewTLSServer(nil)
	config := &tls.Config{Certificates: cert.TLS.Certificates, NextProtos: []string{"h2", "http/1.1"}}
	cert.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var conns atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			n := conns.Add(1)
			go func() {
				defer c.Close()
				oddConn(c.(*tls.Conn), n, write)
			}()
		}
	}()
	return "https://" + l.Addr().String() + "/"
}

func oddConn(c *tls.Conn, nth int64, write func(*stream)) {
	if c.Handshake() != nil {
		return
	}
	if c.ConnectionState().NegotiatedProtocol != "h2" {
		b := make([]byte, 4096)
		if _, err := c.Read(b); err == nil {
			_, _ = io.WriteString(c, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
		}
		return
	}
	if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
		return
	}
	fr := http2.NewFramer(c, c)
	fr.AllowIllegalWrites = true
	fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = fr.WriteSettings()
	for {
		frame, err := fr.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = fr.WriteSettingsAck()
			}
		case *http2.PingFrame:
			if !frame.IsAck() {
				_ = fr.WritePing(true, frame.Data)
			}
		case *http2.MetaHeadersFrame:
			write(&stream{fr, c, frame.StreamID, nth})
		}
	}
}

// Whatever a server of HTTP/2 sends, an exchange ends in time and says why, and what came whole is kept as an archive can hold it.
func TestOddStreams(t *testing.T) {
	t.Parallel()
	for _, c := range oddStreams {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			url := serveOdd(t, c.write)
			twice := strings.Contains(c.name, "first connection only")
			cl := client(t, func(fc *fetch.Config) {
				fc.TLS, fc.Limits = &tls.Config{InsecureSkipVerify: true}, testkit.HostileLimits()
				fc.Limits.TLSTimeout, fc.Limits.ConnectTimeout = time.Minute, time.Minute
				switch {
				case twice:
					fc.Limits.HeaderTimeout = 2 * time.Second
				case c.kind != crawl.KindTimeout: // only what is to take too long is short of time
					fc.Limits.HeaderTimeout, fc.Limits.BodyTimeout = time.Minute, time.Minute
				}
			})
			s := cl.Open(nil)
			defer s.Close()
			r, err := untilProcessed(t, s, url)
			if kind := crawl.KindOf(err); err == nil != (c.kind == "") || err != nil && kind != c.kind {
				t.Fatalf("%v (%s), want %q", err, kind, c.kind)
			}
			if err == nil {
				kept, err := fetch.ReadKept(io.MultiReader(bytes.NewReader(r.Head), bytes.NewReader(r.Raw)), 1000)
				if err != nil || string(r.Body) != "ok" || string(kept.Body) != "ok" {
					t.Errorf("%q; an archive would have %q\n%s", r.Body, kept.Body, r.Head)
				}
			}
			if twice {
				if r, err = untilProcessed(t, s, url); err != nil || string(r.Body) != "ok" {
					t.Errorf("after a timeout the same connection is asked: %v", err)
				}
			}
		})
	}
}

// untilProcessed asks for a URL until it was processed.
func untilProcessed(t *testing.T, s *fetch.Session, url string) (*fetch.Response, error) {
	t.Helper()
	u, err := crawl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	for again := 0; ; again++ {
		r, err := s.Do(context.Background(), &fetch.Request{URL: u, Again: again, First: true})
		if !errors.Is(err, fetch.ErrUnprocessed) {
			return r, err
		}
		if again > 40 {
			return r, fmt.Errorf("asked for ever: %w", err)
		}
	}
}
