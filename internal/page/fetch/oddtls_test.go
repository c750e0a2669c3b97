package fetch_test

import (
	"bufio"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"io"
	"math/big"
	"net"
	"strings"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
	"argosy/internal/testkit"
)

// issued returns a certificate for a name, from a parent or, without one, of itself.
func issued(t *testing.T, name string, from, to time.Time, parent *tls.Certificate) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, DNSNames: []string{name}, NotBefore: from, NotAfter: to,
		IsCA: parent == nil, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	signer, by := tmpl, any(key)
	if parent != nil {
		signer, by = parent.Leaf, parent.PrivateKey
	}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, signer, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key, Leaf: leaf}
}

// Whatever a server does with TLS, a request ends in time and says why.
func TestOddTLS(t *testing.T) {
	t.Parallel()
	now, day := time.Now(), 24*time.Hour
	ca := issued(t, "authority", now.Add(-day), now.Add(day), nil)
	good := issued(t, "site.test", now.Add(-day), now.Add(day), &ca)
	with := func(c tls.Certificate, change func(*tls.Config)) *tls.Config {
		cfg := &tls.Config{Certificates: []tls.Certificate{c}}
		if change != nil {
			change(cfg)
		}
		return cfg
	}
	answer := func(text string) func(net.Conn, *tls.Config) {
		return func(c net.Conn, cfg *tls.Config) {
			tc := tls.Server(c, cfg)
			if tc.Handshake() != nil {
				return
			}
			b := bufio.NewReader(tc)
			for line := ""; line != "\r\n"; {
				var err error
				if line, err = b.ReadString('\n'); err != nil {
					return
				}
			}
			_, _ = io.WriteString(tc, text)
			_ = c.Close() // without close_notify
		}
	}
	ok := answer("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
	says := map[string]string{ // beside the words of the kind
		"expired":         "it expired on " + now.Add(-day).UTC().Format(time.DateOnly),
		"not valid yet":   "it is valid only from " + now.Add(day).UTC().Format(time.DateOnly) + " on",
		"of another name": "it is for other.test",
		"of itself":       "it is signed by an unknown authority",
	}
	for _, c := range []struct {
		name  string
		cfg   *tls.Config
		serve func(net.Conn, *tls.Config)
		kind  crawl.Kind
	}{
		{"well", with(good, nil), ok, ""},
		{"expired", with(issued(t, "site.test", now.Add(-2*day), now.Add(-day), &ca), nil), ok, crawl.KindExpired},
		{"not valid yet", with(issued(t, "site.test", now.Add(day), now.Add(2*day), &ca), nil), ok, crawl.KindExpired},
		{"of another name", with(issued(t, "other.test", now.Add(-day), now.Add(day), &ca), nil), ok, crawl.KindOtherName},
		{"of itself", with(issued(t, "site.test", now.Add(-day), now.Add(day), nil), nil), ok, crawl.KindCertificate},
		{"only old versions", with(good, func(c *tls.Config) { c.MinVersion, c.MaxVersion = tls.VersionTLS10, tls.VersionTLS10 }), ok, crawl.KindNoTLS},
		{"wants a certificate", with(good, func(c *tls.Config) { c.ClientAuth = tls.RequireAnyClientCert }), ok, crawl.KindWantsCert},
		{"wants a certificate, by TLS 1.2", with(good, func(c *tls.Config) { c.ClientAuth, c.MaxVersion = tls.RequireAnyClientCert, tls.VersionTLS12 }), ok, crawl.KindWantsCert},
		{"wants a certificate, by HTTP/2", with(good, func(c *tls.Config) { c.ClientAuth, c.NextProtos = tls.RequireAnyClientCert, []string{"h2"} }), ok, crawl.KindWantsCert},
		{"would like a certificate", with(good, func(c *tls.Config) { c.ClientAuth = tls.RequestClientCert }), ok, ""},
		{"would like a certificate, and ends", with(good, func(c *tls.Config) { c.ClientAuth = tls.RequestClientCert }), answer(""), crawl.KindReset},
		{"another protocol than was offered", with(good, func(c *tls.Config) { c.NextProtos = []string{"h3"} }), ok, crawl.KindNoTLS},
		{"no TLS", nil, func(c net.Conn, _ *tls.Config) { _, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") }, crawl.KindNoTLS},
		{"closes in the handshake", nil, func(c net.Conn, _ *tls.Config) { _, _ = c.Read(make([]byte, 10)) }, crawl.KindTLS},
		{"silence in the handshake", nil, func(c net.Conn, _ *tls.Config) { _, _ = io.Copy(io.Discard, c) }, crawl.KindTimeout},
		{"an alert", nil, func(c net.Conn, _ *tls.Config) { _, _ = c.Write([]byte{21, 3, 3, 0, 2, 2, 40}) }, crawl.KindNoTLS},
		{"cut in a body with a length", with(good, nil), answer("HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\nok"), crawl.KindReset},
		{"cut in a chunk", with(good, nil), answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9\r\nok"), crawl.KindReset},
		{"cut in the head", with(good, nil), answer("HTTP/1.1 200 OK\r\nContent-"), crawl.KindReset},
		{"cut where a body may end", with(good, nil), answer("HTTP/1.1 200 OK\r\n\r\nok"), ""}, // as browsers: many servers end so
		{"cut in a record", with(good, nil), func(c net.Conn, cfg *tls.Config) {
			torn := &tearing{Conn: c}
			tc := tls.Server(torn, cfg)
			if tc.Handshake() != nil {
				return
			}
			_, _ = tc.Read(make([]byte, 4096))
			torn.most = 60
			_, _ = io.WriteString(tc, "HTTP/1.1 200 OK\r\n\r\n"+strings.Repeat("ok", 500))
		}, crawl.KindReset},
		{"cut before an answer", with(good, nil), answer(""), crawl.KindReset},
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
						c.serve(conn, c.cfg)
					}()
				}
			}()
			pool := x509.NewCertPool()
			pool.AddCert(ca.Leaf)
			cl := client(t, func(fc *fetch.Config) {
				fc.TLS, fc.Limits = &tls.Config{RootCAs: pool}, testkit.HostileLimits()
				fc.Limits.ConnectTimeout, fc.Limits.HeaderTimeout, fc.Limits.BodyTimeout = time.Minute, time.Minute, time.Minute
				if c.kind != crawl.KindTimeout {
					fc.Limits.TLSTimeout = time.Minute
				}
			})
			s := cl.Open(nil)
			defer s.Close()
			_, port, _ := net.SplitHostPort(l.Addr().String())
			r, err := untilProcessed(t, s, "https://site.test:"+port+"/")
			if kind := crawl.KindOf(err); err == nil != (c.kind == "") || err != nil && kind != c.kind {
				t.Fatalf("%v (%s), want %q", err, kind, c.kind)
			}
			if err == nil && string(r.Body) != "ok" {
				t.Errorf("%q", r.Body)
			}
			if want := says[c.name]; want != "" && crawl.Brief(err.Error()) != want {
				t.Errorf("%q, want %q", crawl.Brief(err.Error()), want)
			}
		})
	}
}

// tearing ends a connection after so many more bytes have been written, in the middle of what is written then.
type tearing struct {
	net.Conn
	most int // 0: no end
}

func (c *tearing) Write(b []byte) (int, error) {
	if c.most == 0 || len(b) <= c.most {
		return c.Conn.Write(b)
	}
	n, _ := c.Conn.Write(b[:c.most])
	_ = c.Close()
	return n, io.ErrClosedPipe
}
