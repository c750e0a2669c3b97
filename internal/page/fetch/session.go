package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
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

	asking atomic.Int32 // exchanges that are under way

	mu      sync.Mutex
	idle    []*conn
	open    map[*conn]bool
	cut     int // kept connections in a row that ended without an answer
	h2      *http2Conn
	h1      bool         // with TLS too
	plain   bool         // HTTP/2 is not offered: the server has asked for that
	flight  *opening     // of the connection that tells which HTTP the server speaks, or that is to be shared
	answers bool         // over HTTP/2
	past    []*http2Conn // that the server has ended; the last three
	limit   int          // requests that the server takes on an HTTP/2 connection; 0: not known
	misled  int          // requests in vain on a connection of their own, since one that was used is not for them (421)
	closed  bool
}

// opening is a connection on its way that others wait for.
type opening struct {
	done chan struct{}
	err  error // what those who have waited are told
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
	sec    security
	scheme string
	auth   string        // host and port it was opened to
	opened time.Duration // it took
	used   bool
	since  time.Time   // idle since
	waits  func() bool // whether something has come that nobody has read; nil where that cannot be seen
	arm    func()      // sets the deadline of the read that follows; nil where one has been set for all
}

// Read reads from the network: r calls it where it has nothing left.
func (c *conn) Read(p []byte) (int, error) {
	if c.arm != nil {
		c.arm()
	}
	return c.nc.Read(p)
}

// security is how a connection is encrypted; zero is not at all.
type security struct {
	version, cipher uint16
	wanted          bool // the site has asked for a certificate of ours, and we have none
}

func securityOf(tc *tls.Conn, wanted bool) security {
	st := tc.ConnectionState()
	return security{st.Version, st.CipherSuite, wanted}
}

type http2Conn struct {
	//lint:ignore SA1019 see Client.h2
	cc   *http2.ClientConn
	tc   *alerted // what it runs over
	addr netip.Addr
	sec  security
	auth string

	opened time.Duration // it took

	// The session's mutex guards what follows.
	begun, ended, answered int  // requests
	refused                bool // the server has said that it processes no more
	retired                bool // another one has taken its place: it is closed after its last request
}

// takes reports whether another request may be sent, for all that is known; the session's mutex is held.
func (h *http2Conn) takes(limit int) bool {
	return !h.refused && (limit == 0 || h.begun < limit) && h.cc.CanTakeNewRequest()
}

const (
	idleTimeout = 45 * time.Second
	readBuffer  = 8 << 10
)

var readers = sync.Pool{New: func() any { return bufio.NewReaderSize(nil, readBuffer) }}

// connection returns a connection for a request: one that was kept or is shared, or a new one. One HTTP/2 connection is
// opened at a time, for all.
func (s *Session) connection(ctx context.Context, req *Request, t *Timing) (*conn, *http2Conn, error) {
	u := req.URL
	for {
		if req.Again == 0 {
			if c := s.take(u); c != nil {
				return c, nil, nil
			}
		}
		s.mu.Lock()
		if s.h1 || u.Scheme() != "https" {
			s.mu.Unlock()
			return s.dial(ctx, u, t)
		}
		if h := s.h2; h != nil && h.auth == u.Authority() && h.takes(s.limit) {
			h.begun++
			s.mu.Unlock()
			return nil, h, nil
		}
		if f := s.flight; f != nil {
			s.mu.Unlock()
			select {
			case <-f.done:
			case <-ctx.Done():
				return nil, nil, &crawl.Error{Op: "dial", Host: u.Host(), Kind: crawl.KindReset, Err: ctx.Err()}
			}
			if f.err != nil {
				return nil, nil, f.err
			}
			continue
		}
		f := &opening{done: make(chan struct{})}
		s.flight = f
		s.mu.Unlock()
		c, h, err := s.dial(ctx, u, t)
		s.mu.Lock()
		f.err, s.flight = err, nil
		s.h1 = c != nil
		if h != nil {
			h.begun++
		}
		s.mu.Unlock()
		close(f.done)
		return c, h, err
	}
}

// rested is how long a connection has been idle when it is looked at before it is used again, where a look takes time.
const rested = 50 * time.Millisecond

// take returns an idle connection for a URL, or nil. One that the server has closed meanwhile is not used: a request
// on it would cost the site's turn and bring nothing. Nor is one over which something has come that nobody asked for: it
// would be taken for the answer.
func (s *Session) take(u crawl.URL) *conn {
	for {
		c := s.idleFor(u)
		if c == nil {
			return nil
		}
		idle := time.Since(c.since)
		if idle <= idleTimeout && c.silent(idle) {
			return c
		}
		s.discard(c)
	}
}

func (s *Session) idleFor(u crawl.URL) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := len(s.idle) - 1; i >= 0; i-- {
		if c := s.idle[i]; c.scheme == u.Scheme() && c.auth == u.Authority() {
			s.idle = append(s.idle[:i], s.idle[i+1:]...)
			return c
		}
	}
	return nil
}

// silent reports whether nothing has come over an idle connection: neither its end nor what nobody has asked for.
func (c *conn) silent(idle time.Duration) bool {
	secure := c.sec.version != 0
	switch {
	case c.waits == nil:
		return idle < rested || !c.says(time.Millisecond)
	case c.waits():
		return secure && !c.says(time.Millisecond) // TLS has things of its own to say
	default:
		return !secure || !c.says(-time.Second) // it may have read ahead
	}
}

// says reports whether something can be read within so long; where that is over, whether it has been received already.
func (c *conn) says(within time.Duration) bool {
	_ = c.nc.SetReadDeadline(time.Now().Add(within))
	_, err := c.r.Peek(1)
	return !isTimeout(err)
}

// maxCut is how many kept connections in a row may end without an answer before no more are kept.
const maxCut = 3

// ended notes whether a kept connection has ended without an answer. A server whose kept connections always do is asked
// on new ones: otherwise every request would be sent twice.
func (s *Session) ended(cut bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !cut {
		s.cut = 0
	} else {
		s.cut++
	}
}

// put gives a connection back for the next request.
func (s *Session) put(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.cut >= maxCut {
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
	waits := waiting(nc)
	nc = promptly(nc)
	var sec security
	if u.Scheme() == "https" {
		start := time.Now()
		tc, wanted, err := s.handshake(ctx, nc, u)
		t.TLS = time.Since(start)
		if err != nil {
			_ = nc.Close()
			kind := crawl.KindTLS
			switch bad := (*tls.CertificateVerificationError)(nil); {
			case errors.As(err, &bad):
				kind, err = untrusted(bad)
			case isTimeout(err) || errors.Is(err, context.DeadlineExceeded):
				kind = crawl.KindTimeout
			case wanted && isAlert(err):
				kind = crawl.KindWantsCert
			case isFinal(err):
				kind = crawl.KindNoTLS
			}
			return nil, nil, &crawl.Error{Op: "TLS", Host: u.Host(), Kind: kind, Err: err}
		}
		nc, sec = tc, securityOf(tc, wanted)
		if tc.ConnectionState().NegotiatedProtocol == "h2" {
			h, err := s.openH2(tc, addr, sec, u)
			if h != nil {
				h.opened = t.Connect + t.TLS
			}
			return nil, h, err
		}
	}
	c := &conn{nc: nc, addr: addr, sec: sec, scheme: u.Scheme(), auth: u.Authority(), opened: t.Connect + t.TLS, waits: waits, r: readers.Get().(*bufio.Reader)}
	c.r.Reset(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = nc.Close()
		return nil, nil, &crawl.Error{Op: "dial", Host: u.Host(), Kind: crawl.KindReset, Err: net.ErrClosed}
	}
	s.open[c] = true
	return c, nil, nil
}

// isFinal reports whether a handshake would fail again: the other side answered something else than TLS, or with an alert, or we do not
// agree with it. A connection that just ended is none of these.
func isFinal(err error) bool {
	if op := (*net.OpError)(nil); errors.As(err, &op) {
		return isAlert(err) || op.Op == "local error" // so crypto/tls marks alerts of its own
	}
	return !errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, net.ErrClosed) && !errors.Is(err, context.Canceled)
}

// handshake agrees on a TLS session; wanted says that the site has asked for a certificate of ours meanwhile.
func (s *Session) handshake(ctx context.Context, nc net.Conn, u crawl.URL) (tc *tls.Conn, wanted bool, err error) {
	cfg := s.c.tls.Clone()
	cfg.GetClientCertificate = func(*tls.CertificateRequestInfo) (*tls.Certificate, error) {
		wanted = true
		return &tls.Certificate{}, nil // none: many sites only ask
	}
	cfg.ServerName = trimBrackets(u.Host())
	s.mu.Lock()
	if s.plain {
		cfg.NextProtos = []string{"http/1.1"}
	}
	s.mu.Unlock()
	tc = tls.Client(nc, cfg)
	ctx, cancel := context.WithTimeout(ctx, s.lim.TLSTimeout)
	defer cancel()
	err = tc.HandshakeContext(ctx)
	return tc, wanted, err
}

func (s *Session) openH2(tc *tls.Conn, addr netip.Addr, sec security, u crawl.URL) (*http2Conn, error) {
	kept := newAlerted(tc)
	//lint:ignore SA1019 see Client.h2
	cc, err := s.c.h2.NewClientConn(kept)
	if err != nil {
		_ = tc.Close()
		kind := crawl.KindProtocol
		if isAlert(err) {
			kind = sec.endKind(err)
		}
		return nil, &crawl.Error{Op: "HTTP/2", Host: u.Host(), Kind: kind, Err: err}
	}
	h := &http2Conn{cc: cc, tc: kept, addr: addr, sec: sec, auth: u.Authority()}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed {
		_ = cc.Close()
		return nil, &crawl.Error{Op: "dial", Host: u.Host(), Kind: crawl.KindReset, Err: net.ErrClosed}
	}
	if old := s.h2; old != nil {
		s.learn(old)
		old.retired = true
		old.closeIfDone()
	}
	s.h2 = h
	return h, nil
}

// finished counts a request that was sent on an HTTP/2 connection.
func (s *Session) finished(h *http2Conn, answered bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	h.ended++
	if answered {
		h.answered++
		s.answers = true
	}
	h.closeIfDone()
}

func (h *http2Conn) closeIfDone() {
	if h.retired && h.begun == h.ended {
		_ = h.cc.Close()
	}
}

// learn takes in how many requests an HTTP/2 connection has answered that the server has ended. When two in a row have
// answered the same number, that is how many the server takes (nginx: keepalive_requests), and no more are sent on the
// next ones. The last one may still be answering; mu is held.
func (s *Session) learn(h *http2Conn) {
	if s.limit > 0 {
		return
	}
	if s.past = append(s.past, h); len(s.past) > 3 {
		s.past = s.past[1:]
	}
	if len(s.past) == 3 && s.past[0].answered == s.past[1].answered {
		s.limit = s.past[0].answered
	}
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
