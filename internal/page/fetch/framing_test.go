package fetch

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"io"
	"net"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
)

// lent is a spool in memory.
type lent struct{ bytes.Buffer }

func (l *lent) Open(at int64) (io.ReadCloser, error) {
	return io.NopCloser(bytes.NewReader(l.Bytes()[at:])), nil
}
func (l *lent) Close() error { return nil }

// Framing is bounded as the body is: without a bound one small page takes all memory. Where there is much of it the answer is
// spooled before the body itself is long.
func TestFramingIsBounded(t *testing.T) {
	ext := strings.Repeat("x", 3000)
	for name, c := range map[string]struct {
		chunk   string
		chunks  int
		refused bool
		spooled bool
	}{
		"extensions without end":    {"1;" + ext + "\r\na\r\n", 20_000, true, false},
		"an extension now and then": {"400;" + ext[:500] + "\r\n" + strings.Repeat("a", 0x400) + "\r\n", 100, false, false},
		"chunks of a byte":          {"1\r\na\r\n", 300_000, false, true},
		"zeros before the size":     {strings.Repeat("0", 200) + "1\r\na\r\n", 20_000, true, false},
		"few chunks of a byte":      {"1\r\na\r\n", 3000, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			addr := serveRaw(t, false, func(c2 net.Conn, _ int) {
				r := bufio.NewReader(c2)
				for {
					if line, err := r.ReadString('\n'); err != nil || line == "\r\n" {
						break
					}
				}
				w := bufio.NewWriterSize(c2, 1<<16)
				_, _ = w.WriteString("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n")
				for range c.chunks {
					if _, err := w.WriteString(c.chunk); err != nil {
						return
					}
				}
				_, _ = w.WriteString("0\r\n\r\n")
				_ = w.Flush()
			})
			client, err := NewClient(Config{
				Limits: crawl.DefaultFetchLimits(), Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
				Spool: func() (Spool, error) { return new(lent), nil },
			})
			if err != nil {
				t.Fatal(err)
			}
			u, err := crawl.Parse("http://" + addr + "/")
			if err != nil {
				t.Fatal(err)
			}
			s := client.Open(nil)
			defer s.Close()
			r, err := s.Do(context.Background(), &Request{URL: u})
			defer r.Release()
			if c.refused {
				if crawl.KindOf(err) != crawl.KindProtocol || r.Wire > 1<<20 {
					t.Fatalf("%v after %d bytes", err, r.Wire)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if want := int64(len(c.chunk)*c.chunks + len("0\r\n\r\n")); r.Wire != want || (r.Spool != nil) != c.spooled {
				t.Fatalf("%d bytes of %d, spooled %v", r.Wire, want, r.Spool != nil)
			}
		})
	}
}

// counted counts the deadlines that are set and the reads.
type counted struct {
	net.Conn
	in               io.Reader
	deadlines, reads int
}

func (c *counted) Read(p []byte) (int, error) { c.reads++; return c.in.Read(p) }

func (c *counted) SetReadDeadline(time.Time) error { c.deadlines++; return nil }

// A deadline is set for what waits for the network, and not for each chunk that is there already; nor is a body copied for each of
// its chunks. Twenty million chunks of a byte took a minute of processor time.
func TestCostOfChunks(t *testing.T) {
	const chunks = 10_000
	cl, lim := &Client{}, crawl.DefaultFetchLimits()
	allocs := testing.AllocsPerRun(1, func() {
		nc := &counted{in: strings.NewReader(strings.Repeat("1\r\na\r\n", chunks) + "0\r\n\r\n")}
		c := &conn{nc: nc}
		c.r = bufio.NewReaderSize(c, readBuffer)
		r := &Response{Proto: "HTTP/1.1", Status: 200, fields: []Field{{"Transfer-Encoding", "chunked"}}}
		b := bodyReader{c: c, r: r, lim: lim, start: time.Now(), in: cl.newIntake(r, new(scratch), lim)}
		if _, err := b.read(); err != nil {
			t.Fatal(err)
		}
		if err := b.in.end(); err != nil || len(r.Body) != chunks {
			t.Fatal(err, len(r.Body))
		}
		if nc.deadlines != nc.reads {
			t.Errorf("%d deadlines, %d reads", nc.deadlines, nc.reads)
		}
	})
	if allocs > chunks/50 {
		t.Errorf("%.0f allocations for %d chunks", allocs, chunks)
	}
}

// serveRaw serves connections, with TLS or without; nth counts them from 1.
func serveRaw(t *testing.T, secure bool, serve func(c net.Conn, nth int)) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	if secure {
		own := httptest.NewTLSServer(nil)
		own.Close()
		l = tls.NewListener(l, &tls.Config{Certificates: own.TLS.Certificates, NextProtos: []string{"http/1.1"}})
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for nth := 1; ; nth++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(c, nth)
			}()
		}
	}()
	return l.Addr().String()
}
