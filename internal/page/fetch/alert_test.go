package fetch_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
)

// A server that wants a certificate may say so, and end the connection, before the request is written: the alert that waits is the reason,
// not that the request could not be written.
func TestAlertBeforeRequest(t *testing.T) {
	t.Parallel()
	now, day := time.Now(), 24*time.Hour
	ca := issued(t, "authority", now.Add(-day), now.Add(day), nil)
	good := issued(t, "site.test", now.Add(-day), now.Add(day), &ca)
	pool := x509.NewCertPool()
	pool.AddCert(ca.Leaf)
	for _, proto := range []string{"http/1.1", "h2"} {
		t.Run(proto, func(t *testing.T) {
			t.Parallel()
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
			ended := make(chan struct{}, 100)
			go func() {
				for {
					conn, err := l.Accept()
					if err != nil {
						return
					}
					tc := tls.Server(conn, &tls.Config{Certificates: []tls.Certificate{good}, ClientAuth: tls.RequireAnyClientCert, NextProtos: []string{proto}})
					_ = tc.Handshake()
					_ = conn.(*net.TCPConn).SetLinger(0) // what is written next fails at once
					_ = conn.Close()
					ended <- struct{}{}
				}
			}()
			s := client(t, func(c *fetch.Config) { c.TLS = &tls.Config{RootCAs: pool} }).Open(nil)
			defer s.Close()
			_, port, _ := net.SplitHostPort(l.Addr().String())
			u, err := crawl.Parse("https://site.test:" + port + "/")
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Do(context.Background(), &fetch.Request{URL: u, First: true, May: func() bool { <-ended; return true }})
			if errors.Is(err, fetch.ErrUnprocessed) {
				t.Errorf("it would be asked again: %v", err)
			}
			if kind := crawl.KindOf(err); kind != crawl.KindWantsCert {
				t.Errorf("%v (%s), want %q", err, kind, crawl.KindWantsCert)
			}
		})
	}
}
