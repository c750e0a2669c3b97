package fetch_test

import (
	"bufio"
	"crypto/tls"
	"io"
	"net"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
)

// Who greets in another protocol is told by its greeting, though it then waits for more and its time would be long; and TLS asked by http is
// told as such, however the server ends it.
func TestOtherProtocols(t *testing.T) {
	now := time.Now()
	own := issued(t, "site.test", now.Add(-time.Hour), now.Add(time.Hour), nil)
	cfg := &tls.Config{Certificates: []tls.Certificate{own}}
	greets := func(with string) func(net.Conn) {
		return func(c net.Conn) {
			_, _ = io.WriteString(c, with)
			_, _ = io.Copy(io.Discard, c) // it waits for what a client of its protocol says
		}
	}
	for _, c := range []struct {
		name  string
		serve func(net.Conn)
		kind  crawl.Kind
		says  string
	}{
		{"SSH", greets("SSH-2.0-OpenSSH_9.2p1\r\n"), crawl.KindNotHTTP, `begins with "SSH-2.0-OpenSSH_9.2p1"`},
		{"SMTP", func(c net.Conn) {
			_, _ = io.WriteString(c, "220 mail.example ESMTP\r\n")
			for lines := bufio.NewScanner(c); lines.Scan(); {
				_, _ = io.WriteString(c, "502 not known\r\n")
			}
		}, crawl.KindNotHTTP, `begins with "220 mail.example ESMTP"`},
		{"MySQL, without a line's end", greets("\x4a\x00\x00\x00\x0a8.0.33\x00"), crawl.KindNotHTTP, `8.0.33`},
		{"no text", greets("\x00\x01\x02"), crawl.KindNotHTTP, "no text"},
		{"TLS that sends an alert", greets("\x15\x03\x01\x00\x02\x02\x46"), crawl.KindWantsTLS, "alert"},
		{"TLS that ends the connection", tlsOr(cfg, ""), crawl.KindWantsTLS, "shakes hands"},
		{"TLS that answers 400", tlsOr(cfg, "HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n"), crawl.KindWantsTLS, "400"},
		{"400, and no TLS", func(c net.Conn) {
			_, _ = c.Read(make([]byte, 4096))
			_, _ = io.WriteString(c, "HTTP/1.0 400 Bad Request\r\n\r\n")
		}, "", ""},
		{"both", tlsOr(cfg, "HTTP/1.0 200 OK\r\n\r\n"), "", ""},
		{"nothing but an end", func(c net.Conn) { _, _ = c.Read(make([]byte, 4096)) }, crawl.KindReset, ""},
		{"lines before the answer", greets("\r\nHTTP/1.1 204 No Content\r\n\r\n"), "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					go func() {
						defer conn.Close()
						c.serve(conn)
					}()
				}
			}()
			cl := client(t, func(fc *fetch.Config) {
				fc.Limits.ConnectTimeout, fc.Limits.HeaderTimeout, fc.Limits.BodyTimeout = time.Hour, time.Hour, time.Hour
			})
			s := cl.Open(nil)
			defer s.Close()
			_, port, _ := net.SplitHostPort(l.Addr().String())
			_, err = untilProcessed(t, s, "http://site.test:"+port+"/")
			if kind := crawl.KindOf(err); err == nil != (c.kind == "") || err != nil && kind != c.kind {
				t.Fatalf("%v (%s), want %q", err, kind, c.kind)
			}
			if err != nil && !strings.Contains(err.Error(), c.says) {
				t.Errorf("%v; want %q", err, c.says)
			}
		})
	}
}

// A server that has answered over http is not asked whether it speaks TLS when it ends a connection: nothing else comes between two
// turns of a site.
func TestWhoHasAnsweredIsNotAskedForTLS(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var came atomic.Int32
	go func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			came.Add(1)
			_, _ = conn.Read(make([]byte, 4096))
			conn.Close()
		}
	}()
	s := client(t, nil).Open(nil)
	defer s.Close()
	u, err := crawl.Parse("http://site.test:" + strconv.Itoa(l.Addr().(*net.TCPAddr).Port) + "/")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = s.Do(t.Context(), &fetch.Request{URL: u}); crawl.KindOf(err) != crawl.KindReset {
		t.Error(err)
	}
	l.Close()
	if n := came.Load(); n != 1 {
		t.Errorf("%d connections for a request", n)
	}
}

// tlsOr shakes hands by TLS, or says something to whoever speaks otherwise.
func tlsOr(cfg *tls.Config, otherwise string) func(net.Conn) {
	return func(c net.Conn) {
		in := bufio.NewReader(c)
		first, err := in.Peek(1)
		switch {
		case err != nil:
		case first[0] == 22:
			_ = tls.Server(&peeked{c, in}, cfg).Handshake()
		case otherwise != "":
			_, _ = in.ReadString('\n')
			_, _ = in.Discard(in.Buffered())
			_, _ = io.WriteString(c, otherwise)
		}
	}
}

// peeked is a connection of which something was looked at.
type peeked struct {
	net.Conn
	in *bufio.Reader
}

func (c *peeked) Read(b []byte) (int, error) { return c.in.Read(b) }

// Where the name server that was asked for does not answer, it is the one that is named, not the system's.
func TestNamesItsNameServer(t *testing.T) {
	c, err := fetch.NewClient(fetch.Config{DNS: "127.0.0.1:1", Limits: crawl.DefaultLimits().Fetch})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Lookup(t.Context(), "a.example"); err == nil || !strings.Contains(err.Error(), "on 127.0.0.1:1:") {
		t.Error(err)
	}
}
