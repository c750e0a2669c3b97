package main

import (
	"crypto/tls"
	"net"
	"net/http/httptest"
	"strings"
	"testing"
)

// An agent of which the bus shows a certificate that nobody has told it of ends with a line that says how it is told.
func TestBusOfUnknownCertificate(t *testing.T) {
	t.Parallel()
	known := httptest.NewTLSServer(nil)
	known.Close()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			_, _ = c.Write([]byte(`INFO {"server_id":"x","version":"2.10.0","proto":1,"max_payload":1048576,"tls_required":true}` + "\r\n"))
			_ = tls.Server(c, &tls.Config{Certificates: known.TLS.Certificates}).Handshake()
			_ = c.Close()
		}
	}()
	code, out, errs := apart(t, "agent", "--nats", "tls://"+l.Addr().String(), "--name", "x", "--store", t.TempDir())
	if code != exitUsage || !strings.Contains(errs, "--nats-ca") || strings.Count(strings.TrimSpace(errs), "\n") > 0 {
		t.Errorf("exit %d, %s%s", code, out, errs)
	}
}

// The same of a coordinator's certificate.
func TestCoordinatorOfUnknownCertificate(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(nil)
	defer s.Close()
	for _, join := range []string{s.URL, s.URL + ",http://127.0.0.1:1"} {
		code, out, errs := apart(t, "agent", "--join", join, "--name", "x", "--store", t.TempDir())
		if code != exitUsage || !strings.Contains(errs, "--ca") {
			t.Errorf("%s: exit %d, %s%s", join, code, out, errs)
		}
	}
}
