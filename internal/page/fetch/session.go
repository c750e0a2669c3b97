package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"time"

	"golang.org/x/net/http2"

	"argosy/internal/crawl"
)

// Session holds the connections to one site. It is safe for concurrent use; Close closes everything, and makes
// requests that are under way fail.
type Session struct {
	c     *Client
	lim   crawl.FetchLimits
	addrs []netip.Addr // the only ones to dial; nil resolves

	mu     sync.Mutex
	idle   []*conn
	open   map[*conn]bool
	h2     *http2Conn
	closed bool
}

// Open returns a session that dials only the given addresses, or those that the name resolves to if there are none.
func (c *Client) Open(addrs []netip.Addr) *Session { return c.OpenFor(c.cfg.Limits, addrs) }

// OpenFor is Open with a job's limits instead of the client's own.
func (c *Client) OpenFor(lim crawl.FetchLimits, addrs []netip.Addr) *Session {
	return &Session{c: c, lim: lim, addrs: addrs, open: map[*conn]bool{}}
}

// Close closes the session's connections.
func (s *Session) Close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	for c := range s.open {
		_ = c.nc.Close()
	}
	if s.h2 != nil {
		_ = s.h2.cc.Close()
	}
}

// conn is an HTTP/1.1 connection.
type conn struct {
	nc     net.Conn
	r      *bufio.Reader
	addr   netip.Addr
	scheme string
	auth   string // host and port it was opened to
	used   bool
	since  time.Time // idle since
}

type http2Conn struct {
	//lint:ignore SA1019 see Client.h2
	cc   *http2.ClientConn
	addr netip.Addr
	auth string
}

const (
	idleTimeout = 45 * time.Second
	readBuffer  = 8 << 10
)

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readBuffer) }}

// take returns an idle connection for a URL, or nil.
func (s *Session) take(u crawl.URL) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.idle) - 1; i >= 0; i-- {
		c := s.idle[i]
		if c.scheme != u.Scheme() || c.auth != u.Authority() {
			continue
		}
		s.idle = append(s.idle[:i], s.idle[i+1:]...)
		if time.Since(c.since) > idleTimeout {
			s.drop(c)
			continue
		}
		return c
	}
	return nil
}

// put gives a connection back for the next request.
func (s *Session) put(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		s.drop(c)
		return
	}
	c.used, c.since = true, time.Now()
	s.idle = append(s.idle, c)
}

// discard closes a connection.
func (s *Session) discard(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(c)
}

// drop closes a connection; mu is held.
func (s *Session) drop(c *conn) {
	_ = c.nc.Close()
	delete(s.open, c)
	c.r.Reset(nil)
	readers.Put(c.r)
}

// dial opens a connection for a URL: HTTP/1.1, or, with TLS, HTTP/2 where the server speaks it.
func (s *Session) dial(ctx context.Context, u crawl.URL, t *Timing) (*conn, *http2Conn, error) {
	addrs := s.addrs
	if len(addrs) == 0 && !s.c.cfg.ProxyDNS {
		start := time.Now()
		var err error
		if addrs, err = s.c.Lookup(ctx, u.Host()); err != nil {
			return nil, nil, err
		}
		t.Resolve = time.Since(start)
	}
	nc, addr, err := s.c.connect(ctx, s.lim, u, addrs, t)
	if err != nil {
		return nil, nil, err
	}
	if u.Scheme() == "https" {
		start := time.Now()
		tc, err := s.handshake(ctx, nc, u)
		t.TLS = time.Since(start)
		if err != nil {
			_ = nc.Close()
			kind := crawl.KindTLS
			if isTimeout(err) || errors.Is(err, context.DeadlineExceeded) {
				kind = crawl.KindTimeout
			}
			return nil, nil, &crawl.Error{Op: "TLS", Host: u.Host(), Kind: kind, Err: err}
		}
		nc = tc
		if tc.ConnectionState().NegotiatedProtocol == "h2" {
			h, err := s.openH2(tc, addr, u)
			return nil, h, err
		}
	}
	c := &conn{nc: nc, addr: addr, scheme: u.Scheme(), auth: u.Authority(), r: readers.Get().(*bufio.Reader)}
	c.r.Reset(nc)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = nc.Close()
		return nil, nil, &crawl.Error{Op: "dial", Host: u.Host(), Kind: crawl.KindReset, Err: net.ErrClosed}
	}
	s.open[c] = true
	return c, nil, nil
}

func (s *Session) handshake(ctx context.Context, nc net.Conn, u crawl.URL) (*tls.Conn, error) {
	cfg := s.c.tls.Clone()
	cfg.ServerName = trimBrackets(u.Host())
	tc := tls.Client(nc, cfg)
	ctx, cancel := context.WithTimeout(ctx, s.lim.TLSTimeout)
	defer cancel()
	return tc, tc.HandshakeContext(ctx)
}

func (s *Session) openH2(tc *tls.Conn, addr netip.Addr, u crawl.URL) (*http2Conn, error) {
	//lint:ignore SA1019 see Client.h2
	cc, err := s.c.h2.NewClientConn(tc)
	if err != nil {
		_ = tc.Close()
		return nil, &crawl.Error{Op: "HTTP/2", Host: u.Host(), Kind: crawl.KindProtocol, Err: err}
	}
	h := &http2Conn{cc: cc, addr: addr, auth: u.Authority()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = cc.Close()
		return nil, &crawl.Error{Op: "dial", Host: u.Host(), Kind: crawl.KindReset, Err: net.ErrClosed}
	}
	if s.h2 != nil && s.h2.auth == h.auth && s.h2.cc.CanTakeNewRequest() {
		_ = cc.Close() // two workers have dialled at once: one connection is enough
		return s.h2, nil
	}
	if s.h2 != nil {
		go s.h2.cc.Shutdown(context.Background()) //nolint:errcheck // it ends when its last request has
	}
	s.h2 = h
	return h, nil
}

// tunnel asks an HTTP proxy for a connection to target.
func tunnel(nc net.Conn, p *url.URL, target string, lim crawl.FetchLimits) error {
	_ = nc.SetDeadline(time.Now().Add(lim.ConnectTimeout))
	var b strings.Builder
	fmt.Fprintf(&b, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n", target, target)
	if p.User != nil {
		pw, _ := p.User.Password()
		cred := base64.StdEncoding.EncodeToString([]byte(p.User.Username() + ":" + pw))
		fmt.Fprintf(&b, "Proxy-Authorization: Basic %s\r\n", cred)
	}
	b.WriteString("\r\n")
	if _, err := nc.Write([]byte(b.String())); err != nil {
		return err
	}
	var head []byte
	for one := make([]byte, 1); !strings.HasSuffix(string(head), "\r\n\r\n"); {
		if len(head) > 16<<10 {
			return errors.New("answer to CONNECT is too long")
		}
		if _, err := nc.Read(one); err != nil {
			return err
		}
		head = append(head, one[0])
	}
	if f := strings.Fields(string(head)); len(f) < 2 || f[1] != "200" {
		line, _, _ := strings.Cut(string(head), "\r\n")
		return fmt.Errorf("answers %q to CONNECT", line)
	}
	return nc.SetDeadline(time.Time{})
}
