package fetch_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/http2/hpack"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
)

// frugal is an HTTP/2 server that takes so many requests on a connection, and then says which was the last: as nginx does
// with keepalive_requests. What comes after that one it does not process.
type frugal struct {
	most  int    // requests on a connection
	reset bool   // further ones are refused one by one instead
	never string // a path that is refused always

	conns, seen atomic.Int64
	mu          sync.Mutex
	served      map[string]int // by path
}

func serveFrugal(t *testing.T, f *frugal) (addr string) {
	t.Helper()
	f.served = map[string]int{}
	cert := httptest.NewTLSServer(nil)
	config := &tls.Config{Certificates: cert.TLS.Certificates, NextProtos: []string{"h2"}}
	cert.Close()
	l, err := tls.Listen("tcp", "127.0.0.1:0", config)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go f.serve(c)
		}
	}()
	return l.Addr().String()
}

func (f *frugal) serve(c net.Conn) {
	defer c.Close()
	f.conns.Add(1)
	preface := make([]byte, len(http2.ClientPreface))
	if _, err := c.Read(preface); err != nil {
		return
	}
	fr := http2.NewFramer(c, c)
	fr.ReadMetaHeaders = hpack.NewDecoder(4096, nil)
	_ = fr.WriteSettings()
	for taken := 0; ; {
		frame, err := fr.ReadFrame()
		if err != nil {
			return
		}
		switch frame := frame.(type) {
		case *http2.SettingsFrame:
			if !frame.IsAck() {
				_ = fr.WriteSettingsAck()
			}
		case *http2.MetaHeadersFrame:
			f.seen.Add(1)
			never := frame.PseudoValue("path") == f.never
			if taken++; taken > f.most || never {
				if f.reset || never {
					_ = fr.WriteRSTStream(frame.StreamID, http2.ErrCodeRefusedStream)
				}
				continue
			}
			f.mu.Lock()
			f.served[frame.PseudoValue("path")]++
			f.mu.Unlock()
			if taken == f.most && !f.reset {
				_ = fr.WriteGoAway(frame.StreamID, http2.ErrCodeNo, nil)
			}
			var head bytes.Buffer
			_ = hpack.NewEncoder(&head).WriteField(hpack.HeaderField{Name: ":status", Value: "200"})
			_ = fr.WriteHeaders(http2.HeadersFrameParam{StreamID: frame.StreamID, BlockFragment: head.Bytes(), EndHeaders: true})
			_ = fr.WriteData(frame.StreamID, true, []byte("ok"))
		}
	}
}

// ask asks for a URL until the server has processed the request.
func ask(ctx context.Context, s *fetch.Session, url string) (sent int, err error) {
	u, err := crawl.Parse(url)
	if err != nil {
		return 0, err
	}
	for again := 0; ; again++ {
		r, err := s.Do(ctx, &fetch.Request{URL: u, Again: again})
		if errors.Is(err, fetch.ErrUnprocessed) {
			continue
		}
		if err == nil && string(r.Body) != "ok" {
			err = fmt.Errorf("body %q", r.Body)
		}
		r.Release()
		return again + 1, err
	}
}

// Requests that an HTTP/2 server does not process are sent again on new connections, as long as it processes others; each
// is processed once, and after a few connections no more are sent on one than the server takes.
func TestUnprocessed(t *testing.T) {
	const pages, workers = 301, 32
	for _, f := range []*frugal{{most: 7}, {most: 100}, {most: 7, reset: true}} {
		addr := serveFrugal(t, f)
		cl := client(t, func(c *fetch.Config) {
			c.TLS = &tls.Config{InsecureSkipVerify: true}
		})
		s := cl.Open(nil)
		var wg sync.WaitGroup
		var next atomic.Int64
		for range workers {
			wg.Go(func() {
				for i := next.Add(1); i <= pages; i = next.Add(1) {
					if _, err := ask(t.Context(), s, fmt.Sprintf("https://%s/%d", addr, i)); err != nil {
						t.Errorf("%d on a connection, page %d: %v", f.most, i, err)
					}
				}
			})
		}
		wg.Wait()
		s.Close()
		for path, n := range f.served {
			if n != 1 {
				t.Errorf("%d on a connection: %s was processed %d times", f.most, path, n)
			}
		}
		least := int64((pages + f.most - 1) / f.most)
		if conns := f.conns.Load(); len(f.served) != pages || conns < least || conns > least+least/4+2 {
			t.Errorf("%d on a connection: %d of %d pages over %d connections, want %d connections", f.most, len(f.served), pages, conns, least)
		}
		if most := int64(pages + 6*workers); f.seen.Load() > most {
			t.Errorf("%d on a connection: %d requests were sent, want at most %d", f.most, f.seen.Load(), most)
		}
	}
}

// A request that may not be sent any more when it has a connection is not sent, over either protocol; the next one is.
func TestNotSentAnyMore(t *testing.T) {
	for _, h2 := range []bool{false, true} {
		var asked atomic.Int64
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
		srv.EnableHTTP2 = h2
		srv.StartTLS()
		s := client(t, func(c *fetch.Config) { c.TLS = &tls.Config{InsecureSkipVerify: true} }).Open(nil)
		u, err := crawl.Parse(srv.URL + "/")
		if err != nil {
			t.Fatal(err)
		}
		for i, may := range []bool{false, true, false} {
			r, err := s.Do(t.Context(), &fetch.Request{URL: u, May: func() bool { return may }})
			if sent := !errors.Is(err, fetch.ErrNotSent); sent != may || sent && err != nil {
				t.Errorf("HTTP/2 %v, request %d, which may be sent: %v: %v", h2, i, may, err)
			}
			r.Release()
		}
		if asked.Load() != 1 {
			t.Errorf("HTTP/2 %v: %d requests", h2, asked.Load())
		}
		s.Close()
		srv.Close()
	}
}

// A server that refuses everything is not asked for ever.
func TestRefusesEverything(t *testing.T) {
	addr := serveFrugal(t, &frugal{most: 0, reset: true})
	cl := client(t, func(c *fetch.Config) { c.TLS = &tls.Config{InsecureSkipVerify: true} })
	s := cl.Open(nil)
	defer s.Close()
	if sent, err := ask(t.Context(), s, "https://"+addr+"/"); crawl.KindOf(err) != crawl.KindReset || sent > 5 {
		t.Errorf("asked %d times: %v, want reset", sent, err)
	}
}

// A stream that a server refuses always is asked for a few times, also where it answers all others: before it, or beside it on the same
// connections.
func TestRefusesOneStream(t *testing.T) {
	for _, c := range []struct{ beside, most int }{{0, 4}, {8, 11}} {
		addr := serveFrugal(t, &frugal{most: 1 << 30, never: "/never"})
		s := client(t, func(c *fetch.Config) { c.TLS = &tls.Config{InsecureSkipVerify: true} }).Open(nil)
		if _, err := ask(t.Context(), s, "https://"+addr+"/"); err != nil {
			t.Fatal(err)
		}
		var wg sync.WaitGroup
		var over atomic.Bool
		for range c.beside {
			wg.Go(func() {
				for !over.Load() {
					if _, err := ask(t.Context(), s, "https://"+addr+"/other"); err != nil {
						t.Error(err)
						return
					}
				}
			})
		}
		sent, err := ask(t.Context(), s, "https://"+addr+"/never")
		over.Store(true)
		wg.Wait()
		s.Close()
		if crawl.KindOf(err) != crawl.KindReset || sent > c.most {
			t.Errorf("with %d others beside it was asked for %d times, want at most %d: %v", c.beside, sent, c.most, err)
		}
	}
}

// onceEach answers one request on each connection and ends it with the next request, or so long after the answer.
func onceEach(c net.Conn, after time.Duration, seen *atomic.Int64) {
	defer c.Close()
	buf := make([]byte, 4096)
	if _, err := c.Read(buf); err != nil {
		return
	}
	seen.Add(1)
	_, _ = c.Write([]byte("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"))
	if after > 0 {
		_ = c.SetReadDeadline(time.Now().Add(after))
	}
	if n, _ := c.Read(buf); n > 0 {
		seen.Add(1)
	}
}

// A server that ends a kept connection by a 408 has not answered the request that it crosses, which is to be sent again; one that answers so
// on another connection has.
func TestKeptConnectionEndsByTimeout(t *testing.T) {
	for _, always := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			cl := client(t, func(fc *fetch.Config) {
				fc.Dial = func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					go func() {
						defer there.Close()
						buf := make([]byte, 4096)
						for n := 0; ; n++ {
							if _, err := there.Read(buf); err != nil {
								return
							}
							if n > 0 || always {
								_, _ = io.WriteString(there, "HTTP/1.1 408 Request Timeout\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
								return
							}
							_, _ = io.WriteString(there, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
						}
					}()
					return here, nil
				}
			})
			s := cl.Open(nil)
			defer s.Close()
			for range 6 {
				r, err := untilProcessed(t, s, "http://127.0.0.1/")
				if err != nil || (r.Status == 200) == always {
					t.Errorf("always %v: %+v, %v", always, r, err)
				}
				r.Release()
			}
		})
	}
}

// A kept connection that the server ends when the next request comes is not a failure: that request is to be sent again. One
// that the server has ended long ago is not used; and where kept connections always end, none are kept.
func TestKeptConnectionEnds(t *testing.T) {
	for _, c := range []struct {
		after, rest time.Duration
		want        int // requests for six pages
	}{{0, 0, 6 + 3}, {0, time.Minute, 6}, {5 * time.Second, 10 * time.Second, 6}, {0, 10 * time.Second, 6 + 3}} {
		synctest.Test(t, func(t *testing.T) {
			var seen atomic.Int64
			cl := client(t, func(fc *fetch.Config) {
				fc.Dial = func(context.Context, string, string) (net.Conn, error) {
					here, there := net.Pipe()
					go onceEach(there, c.after, &seen)
					return here, nil
				}
			})
			s := cl.Open(nil)
			total := 0
			for range 6 {
				sent, err := ask(t.Context(), s, "http://127.0.0.1/")
				if err != nil {
					t.Errorf("%+v: %v", c, err)
				}
				total += sent
				time.Sleep(c.rest)
			}
			s.Close()
			if total != c.want || seen.Load() != int64(total) {
				t.Errorf("%+v: %d requests were sent and %d seen", c, total, seen.Load())
			}
		})
	}
}

// Requests that come at once to a site of which nothing is known share its HTTP/2 connection.
func TestOneConnectionIsOpened(t *testing.T) {
	var conns atomic.Int64
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("ok")) }))
	srv.EnableHTTP2 = true
	srv.Config.ConnState = func(_ net.Conn, st http.ConnState) {
		if st == http.StateNew {
			conns.Add(1)
		}
	}
	srv.StartTLS()
	defer srv.Close()
	cl := client(t, func(c *fetch.Config) {
		c.TLS = &tls.Config{InsecureSkipVerify: true}
		c.Limits.HeaderTimeout, c.Limits.TLSTimeout = time.Minute, time.Minute
	})
	s := cl.Open(nil)
	defer s.Close()
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			if _, err := ask(t.Context(), s, srv.URL+"/"); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if conns.Load() != 1 || !strings.HasPrefix(srv.URL, "https:") {
		t.Errorf("%d connections, want one", conns.Load())
	}
}
