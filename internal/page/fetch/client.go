// Package fetch is Argosy's HTTP client: HTTP/1.1 of its own, because a crawler wants the bytes as they came, limits
// on everything and the time of every phase; HTTP/2 by golang.org/x/net. It resolves, guards against private
// addresses after resolving, dials, and decodes. It follows no redirect, keeps no cookie, and has no opinion on when
// anybody may be asked.
//
// A Session holds the connections of one lease to one site. Every error is a *crawl.Error with a kind.
package fetch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/http2"
	"golang.org/x/net/proxy"

	"argosy/internal/crawl"
)

// Config says how a node reaches the network.
type Config struct {
	Limits   crawl.FetchLimits     // of lookups, probes, and sessions that have none of their own
	Allow    []netip.Prefix        // private addresses that may be reached
	Resolve  map[string]netip.Addr // fixed names; "*.example" and "*" match what no longer key does
	DNS      string                // server, "host:port"; empty is the system's
	Bind     netip.Addr            // local address; the zero Addr is any
	Proxy    *url.URL              // http or socks5; nil is none
	ProxyDNS bool                  // the proxy resolves names, unguarded
	TLS      *tls.Config           // nil is the default

	// Spool begins a spool for a body that is too long for memory; nil keeps them all there. Any goroutine may call it.
	Spool func() (Spool, error)

	// Dial opens connections; nil is the network. Tests put pipes here.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

// streamWindow and connWindow are how many bytes an HTTP/2 server may send before they are read: they lie in memory.
const (
	streamWindow = 512 << 10
	connWindow   = 4 << 20
)

// AddrTTL is how long an answer of the resolver is believed: the system's resolver gives no time to live.
const AddrTTL = 10 * time.Minute

// failureTTL is how long a failure of the resolver is believed: many URLs of a site fail together, and the site is asked
// again no sooner.
const failureTTL = 400 * time.Millisecond

// Client opens sessions. It is safe for concurrent use.
type Client struct {
	cfg      Config
	resolver *net.Resolver
	server   string // that the resolver asks; empty: the system's
	dial     func(ctx context.Context, network, addr string) (net.Conn, error)
	//lint:ignore SA1019 net/http's ClientConn dials by itself; ours is dialled, checked and handshaken before
	h2  *http2.Transport
	tls *tls.Config

	memory budget // of the bodies of responses that are not released
	arenas arenas

	mu    sync.Mutex
	cache map[string]answer
}

type answer struct {
	addrs   []netip.Addr
	err     error
	expires time.Time
}

// NewClient returns a Client.
func NewClient(c Config) (*Client, error) {
	cl := &Client{cfg: c, resolver: net.DefaultResolver, dial: c.Dial, cache: map[string]answer{}}
	if c.DNS != "" {
		server := c.DNS
		if _, _, err := net.SplitHostPort(server); err != nil {
			server = net.JoinHostPort(server, "53")
		}
		cl.server = server
		cl.resolver = &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, network, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, network, server)
		}}
	}
	if cl.dial == nil {
		d := &net.Dialer{KeepAlive: -1}
		if c.Bind.IsValid() {
			d.LocalAddr = &net.TCPAddr{IP: c.Bind.AsSlice()}
		}
		cl.dial = d.DialContext
	}
	cl.tls = &tls.Config{ClientSessionCache: tls.NewLRUClientSessionCache(1024)}
	if c.TLS != nil {
		cl.tls = c.TLS.Clone()
	}
	cl.tls.NextProtos = []string{"h2", "http/1.1"}
	var err error
	//lint:ignore SA1019 as above
	cl.h2, err = http2.ConfigureTransports(&http.Transport{HTTP2: &http.HTTP2Config{
		MaxReceiveBufferPerStream: streamWindow, MaxReceiveBufferPerConnection: connWindow,
	}})
	if err != nil {
		return nil, err
	}
	//lint:ignore SA1019 as above
	cl.h2.DisableCompression, cl.h2.MaxHeaderListSize = true, uint32(c.Limits.MaxHeader)
	if p := c.Proxy; p != nil && p.Scheme != "http" && p.Scheme != "socks5" {
		return nil, fmt.Errorf("proxy %s: allowed are http://host:port and socks5://host:port", p.Redacted())
	}
	return cl, nil
}

// denied are the address ranges that are nobody's web site: private, local, reserved, documentation.
var denied = func() (out []netip.Prefix) {
	for _, s := range []string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
		"192.0.2.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		"::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "2001:db8::/32", "fc00::/7", "fe80::/10", "ff00::/8",
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
}()

// embedded are IPv6 ranges whose addresses carry an IPv4 address, and where.
var embedded = []struct {
	prefix netip.Prefix
	at     int
}{
	{netip.MustParsePrefix("64:ff9b::/96"), 12}, // NAT64
	{netip.MustParsePrefix("2002::/16"), 2},     // 6to4
	{netip.MustParsePrefix("::/96"), 12},        // IPv4-compatible
}

// allowed reports whether an address may be dialled.
func (c *Client) allowed(a netip.Addr) bool {
	a = a.Unmap().WithZone("")
	for _, p := range c.cfg.Allow {
		if p.Contains(a) {
			return true
		}
	}
	for _, p := range denied {
		if p.Contains(a) {
			return false
		}
	}
	if a.Is6() {
		for _, e := range embedded {
			if e.prefix.Contains(a) {
				b := a.As16()
				return c.allowed(netip.AddrFrom4([4]byte(b[e.at : e.at+4])))
			}
		}
	}
	return true
}

// Lookup returns the addresses of a host that may be dialled. What the resolver says is kept for AddrTTL, a failure
// for failureTTL.
func (c *Client) Lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	now := time.Now()
	c.mu.Lock()
	a, ok := c.cache[host]
	c.mu.Unlock()
	if ok && now.Before(a.expires) {
		return a.addrs, a.err
	}
	a = answer{expires: now.Add(AddrTTL)}
	a.addrs, a.err = c.lookup(ctx, host)
	if a.err != nil {
		if ctx.Err() != nil {
			return nil, a.err
		}
		a.expires = now.Add(failureTTL)
	}
	c.mu.Lock()
	if len(c.cache) >= 10_000 {
		clear(c.cache) // bounded, and cheap to fill again
	}
	c.cache[host] = a
	c.mu.Unlock()
	return a.addrs, a.err
}

func (c *Client) lookup(ctx context.Context, host string) ([]netip.Addr, error) {
	var found []netip.Addr
	if ip, ok := c.fixed(host); ok {
		found = []netip.Addr{ip}
	} else if ip, err := netip.ParseAddr(trimBrackets(host)); err == nil {
		found = []netip.Addr{ip}
	} else {
		ctx, cancel := context.WithTimeout(ctx, c.cfg.Limits.ConnectTimeout)
		defer cancel()
		if found, err = c.resolver.LookupNetIP(ctx, "ip", host); err != nil {
			kind := crawl.KindDNS
			if d := (*net.DNSError)(nil); errors.As(err, &d) {
				if d.IsNotFound {
					kind = crawl.KindNoHost
				}
				if c.server != "" {
					d.Server = c.server // it names the system's
				}
			}
			return nil, &crawl.Error{Op: "resolve", Host: host, Kind: kind, Err: err}
		}
	}
	var out []netip.Addr
	for _, a := range found {
		if a = a.Unmap(); c.allowed(a) {
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		err := errors.New("no address")
		kind := crawl.KindNoHost
		if len(found) > 0 {
			kind = crawl.KindDenied
			err = fmt.Errorf("%s is a private or reserved address; --allow-private allows it", found[0])
		}
		return nil, &crawl.Error{Op: "resolve", Host: host, Kind: kind, Err: err}
	}
	return out, nil
}

func trimBrackets(host string) string {
	if len(host) > 2 && host[0] == '[' {
		return host[1 : len(host)-1]
	}
	return host
}

// fixed answers from the names that the user has fixed.
func (c *Client) fixed(host string) (netip.Addr, bool) {
	if len(c.cfg.Resolve) == 0 {
		return netip.Addr{}, false
	}
	if a, ok := c.cfg.Resolve[host]; ok {
		return a, true
	}
	for i := 0; i < len(host); i++ {
		if host[i] == '.' {
			if a, ok := c.cfg.Resolve["*"+host[i:]]; ok {
				return a, true
			}
		}
	}
	a, ok := c.cfg.Resolve["*"]
	return a, ok
}

// connect opens a connection to one of the addresses of a URL's host.
func (c *Client) connect(ctx context.Context, lim crawl.FetchLimits, u crawl.URL, addrs []netip.Addr, t *Timing) (net.Conn, netip.Addr, error) {
	host := u.Host()
	if p := c.cfg.Proxy; p != nil {
		conn, err := c.viaProxy(ctx, lim, p, u, addrs)
		return conn, netip.Addr{}, err
	}
	var last error
	for i, a := range addrs {
		if i == 3 {
			break
		}
		if !c.allowed(a) { // also what a lease has pinned is checked here, where it is dialled
			last = &crawl.Error{Op: "dial", Host: host, Kind: crawl.KindDenied, Err: fmt.Errorf("%s", a)}
			continue
		}
		start := time.Now()
		dctx, cancel := context.WithTimeout(ctx, lim.ConnectTimeout)
		conn, err := c.dial(dctx, "tcp", net.JoinHostPort(a.String(), u.Port()))
		cancel()
		t.Connect += time.Since(start)
		if err == nil {
			return conn, a, nil
		}
		kind := crawl.KindConnect
		switch {
		case errors.Is(err, context.DeadlineExceeded) || isTimeout(err):
			kind = crawl.KindTimeout
		case errors.Is(err, syscall.ECONNREFUSED):
			kind = crawl.KindRefused
		}
		last = &crawl.Error{Op: "dial", Host: host, Kind: kind, Err: err}
	}
	if last == nil {
		last = &crawl.Error{Op: "dial", Host: host, Kind: crawl.KindDNS, Err: errors.New("no address")}
	}
	return nil, netip.Addr{}, last
}

// viaProxy opens a tunnel. Names are resolved here and checked, unless the proxy is to resolve them.
func (c *Client) viaProxy(ctx context.Context, lim crawl.FetchLimits, p *url.URL, u crawl.URL, addrs []netip.Addr) (net.Conn, error) {
	target := net.JoinHostPort(trimBrackets(u.Host()), u.Port())
	if !c.cfg.ProxyDNS {
		if len(addrs) == 0 || !c.allowed(addrs[0]) {
			return nil, &crawl.Error{Op: "dial", Host: u.Host(), Kind: crawl.KindDenied}
		}
		target = net.JoinHostPort(addrs[0].String(), u.Port())
	}
	ctx, cancel := context.WithTimeout(ctx, lim.ConnectTimeout)
	defer cancel()
	fail := func(err error) (net.Conn, error) {
		return nil, &crawl.Error{Op: "proxy", Host: p.Host, Kind: crawl.KindProxy, Err: err}
	}
	if p.Scheme == "socks5" {
		var auth *proxy.Auth
		if p.User != nil {
			pw, _ := p.User.Password()
			auth = &proxy.Auth{User: p.User.Username(), Password: pw}
		}
		d, err := proxy.SOCKS5("tcp", p.Host, auth, dialer{c.dial})
		if err != nil {
			return fail(err)
		}
		conn, err := d.(proxy.ContextDialer).DialContext(ctx, "tcp", target)
		if err != nil {
			return fail(err)
		}
		return conn, nil
	}
	conn, err := c.dial(ctx, "tcp", p.Host)
	if err != nil {
		return fail(err)
	}
	if err := tunnel(conn, p, target, lim); err != nil {
		_ = conn.Close()
		return fail(err)
	}
	return conn, nil
}

type dialer struct {
	dial func(ctx context.Context, network, addr string) (net.Conn, error)
}

func (d dialer) Dial(network, addr string) (net.Conn, error) {
	return d.dial(context.Background(), network, addr)
}

func (d dialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	return d.dial(ctx, network, addr)
}

func isTimeout(err error) bool {
	var n net.Error
	return errors.As(err, &n) && n.Timeout()
}
