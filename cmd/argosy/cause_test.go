package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// noNames is a name server that knows no name.
func noNames(t *testing.T) string {
	t.Helper()
	c, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	go func() {
		b := make([]byte, 1500)
		for {
			n, from, err := c.ReadFrom(b)
			if err != nil {
				return
			}
			if n < 12 {
				continue
			}
			b[2], b[3] = b[2]|0x84, 0x83            // an answer, authoritative: NXDOMAIN (RFC 1035, section 4.1.1)
			copy(b[6:12], []byte{0, 0, 0, 0, 0, 0}) // no records
			end := 12                               // the question stays
			for end < n && b[end] != 0 {
				end += int(b[end]) + 1
			}
			_, _ = c.WriteTo(b[:min(n, end+5)], from)
		}
	}()
	return c.LocalAddr().String()
}

var farFuture = time.Now().Add(1000 * time.Hour)

// certified is an HTTPS server whose certificate, its own authority, is valid until a moment; pemFile holds it.
func certified(t *testing.T, until time.Time, wants tls.ClientAuthType) (url, pemFile string) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	c := &x509.Certificate{
		SerialNumber: big.NewInt(1), NotBefore: until.Add(-48 * time.Hour), NotAfter: until, IsCA: true, BasicConstraintsValid: true,
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, c, c, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("fine")) }))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.TLS = &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}, ClientAuth: wants}
	srv.StartTLS()
	t.Cleanup(srv.Close)
	pemFile = filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(pemFile, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644); err != nil {
		t.Fatal(err)
	}
	return srv.URL + "/", pemFile
}

// serves is a server that answers every path but robots.txt alike.
func serves(t *testing.T, robots string, page http.HandlerFunc) string {
	t.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			_, _ = w.Write([]byte(robots))
			return
		}
		page(w, r)
	}))
	t.Cleanup(srv.Close)
	return srv.URL + "/"
}

func answers(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }
}

// A crawl that brings nothing says why, with the step that helps, and fails; the ledger has the reason and the detail.
func TestFinalCauses(t *testing.T) {
	t.Parallel()
	const nobody = "http://127.0.0.1:1/" // no test beside this one is given so low a port
	untrusted, ca := certified(t, time.Now().Add(time.Hour), tls.RequestClientCert)
	expired, old := certified(t, time.Now().Add(-time.Hour), tls.NoClientCert)
	barred, _ := certified(t, time.Now().Add(time.Hour), tls.RequireAnyClientCert)
	login := func(w http.ResponseWriter, r *http.Request) {
		if u, p, _ := r.BasicAuth(); u != "me" || p != "s3cret:x" {
			w.WriteHeader(http.StatusUnauthorized)
		}
	}
	secret := serves(t, "", login)
	for _, c := range []struct {
		name   string
		args   []string
		code   int
		want   []string // on standard error
		reason string   // of the seed, and a part of its detail
		detail string
	}{
		{"no such name", []string{"http://nosuch.example/", "--dns", noNames(t)}, exitFailed, []string{"the name does not exist", "--resolve"}, "no-such-host", "no such host"},
		{"refused port", []string{nobody}, exitFailed, []string{"nothing listens there"}, "refused", "connection refused"},
		{"untrusted", []string{untrusted}, exitFailed, []string{"not trusted", "unknown authority", "--ca FILE", "--insecure"}, "certificate", "unknown authority"},
		{"untrusted, --ca", []string{untrusted, "--ca", ca}, exitDone, nil, "", ""},
		{"untrusted, --insecure", []string{untrusted, "--insecure"}, exitDone, nil, "", ""},
		{"expired", []string{expired, "--ca", old}, exitFailed, []string{"expired", "renew", "--insecure"}, "certificate-expired", "expired"},
		{"expired, --insecure", []string{expired, "--insecure"}, exitDone, nil, "", ""},
		{"a certificate of ours", []string{barred, "--insecure"}, exitFailed, []string{"wants a certificate of whoever asks", "--proxy"}, "wants-certificate", "certificate"},
		{"a page too large", []string{serves(t, "", func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write(make([]byte, 70_000)) }), "--max-body", "64KB"}, exitFailed, []string{"--max-body"}, "body-large", ""},
		{"private", []string{"http://127.0.0.1:1/", "--allow-private=10.0.0.0/8"}, exitFailed, []string{"--allow-private"}, "denied", "private"},
		{"401", []string{secret}, exitFailed, []string{"401", "--header", "USER:PASSWORD@"}, "", ""},
		{"401 to a password", []string{strings.Replace(secret, "//", "//me:wrong@", 1)}, exitFailed, []string{"the name or the password is refused (401)", "%40"}, "", ""},
		{"401, with a password", []string{strings.Replace(secret, "//", "//me:s3cret%3Ax@", 1)}, exitDone, nil, "", ""},
		{"403", []string{serves(t, "", answers(403))}, exitFailed, []string{"403", "--user-agent"}, "", ""},
		{"a redirect to itself", []string{serves(t, "", func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/", http.StatusFound) })},
			exitFailed, []string{"no page was had", "redirect", "argosy report"}, "", ""},
		{"robots.txt", []string{serves(t, "User-agent: *\nDisallow: /\n", answers(200))}, exitFailed, []string{"robots.txt", "forbids", "--ignore-robots"}, "robots", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "crawl")
			args := append([]string{"crawl", "-o", dir, "--delay", "0", "--json"}, c.args...)
			if !strings.Contains(strings.Join(args, " "), "--allow-private") {
				args = append(args, "--allow-private")
			}
			code, out, errs := apart(t, args...)
			if code != c.code {
				t.Fatalf("exit %d, want %d: %s%s", code, c.code, out, errs)
			}
			for _, want := range c.want {
				if !strings.Contains(errs, want) {
					t.Errorf("%q is missing in %q", want, errs)
				}
			}
			if strings.Contains(out+errs, "s3cret") {
				t.Errorf("the password is told: %s%s", out, errs)
			}
			_, out, _ = apart(t, "export", dir)
			var p ledger.Page
			if err := json.Unmarshal([]byte(out), &p); err != nil {
				t.Fatalf("%v: %s", err, out)
			}
			if c.reason != "" && (p.Reason != c.reason || !strings.Contains(p.Detail, c.detail)) {
				t.Errorf("the ledger says %q, %q; want %q, %q", p.Reason, p.Detail, c.reason, c.detail)
			}
		})
	}
}

// Of a seed without a scheme it is told that its certificate is not trusted, not what http says then.
func TestNoSchemeUntrusted(t *testing.T) {
	t.Parallel()
	untrusted, _ := certified(t, time.Now().Add(time.Hour), tls.RequestClientCert)
	dir := filepath.Join(t.TempDir(), "crawl")
	code, out, errs := apart(t, "crawl", "-o", dir, "--delay", "0", "--allow-private", strings.TrimPrefix(untrusted, "https://"))
	said := "not to be had by https: it is signed by an unknown authority (1 URL)\n    → the seed with https:// before it, and --ca FILE or --insecure"
	if code != exitFailed || !strings.Contains(out, said) || strings.Contains(out, "speaks TLS") {
		t.Errorf("exit %d: %s%s", code, out, errs)
	}
	if _, out, _ = apart(t, "export", dir, "--state", "excluded"); !strings.Contains(out, "unknown authority") {
		t.Errorf("its detail is not exported: %s", out)
	}
}

// A crawl that ends with its seeds says why there is no more, also where nothing has failed.
func TestSaysWhySeedsAreAll(t *testing.T) {
	t.Parallel()
	of := func(kind, body string) string {
		return serves(t, "", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", kind)
			if body == "" {
				w.WriteHeader(http.StatusNoContent)
			}
			_, _ = io.WriteString(w, body)
		})
	}
	for _, c := range []struct{ seed, want string }{
		{of("application/pdf", "%PDF-1.4 http://x.example/"), "not in PDF, plain text or pictures"},
		{of("text/plain", "http://x.example/"), "not in PDF, plain text or pictures"},
		{of("text/html", ""), "the answer to a seed is empty"},
		{of("text/html", "<p>nothing</p>"), "that page names no other"},
		{of("text/html", "<a href=/2>2</a>"), ""},
		{of("text/xml", `<rss><channel><link>/2</link></channel></rss>`), ""},
	} {
		code, out, errs := apart(t, "crawl", "-o", filepath.Join(t.TempDir(), "crawl"), "--delay", "0", "--allow-private", c.seed)
		if code != exitDone {
			t.Errorf("exit %d: %s%s", code, out, errs)
		}
		for _, why := range []string{"not in PDF", "is empty", "names no other"} {
			if said := strings.Contains(out, why); said != (c.want != "" && strings.Contains(c.want, why)) {
				t.Errorf("%q is said: %v; want %q in %s", why, said, c.want, out)
			}
		}
	}
}

// What a limit has cut off says nothing of its site: what had gone wrong before is told.
func TestLongLimitCutsAWait(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, flag string }{{"/robots.txt", "--strip-session"}, {"/", "--ignore-robots"}} {
		t.Run(c.flag, func(t *testing.T) {
			t.Parallel()
			asked := atomic.Int64{}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != c.path {
					return
				}
				if asked.Add(1) > 1 {
					<-r.Context().Done()
				}
				w.Header().Set("Content-Length", "100")
				_, _ = io.WriteString(w, "ends here") // and the connection with it
			}))
			t.Cleanup(srv.Close)
			dir := filepath.Join(t.TempDir(), "crawl")
			code, out, errs := apart(t, "crawl", "-o", dir, "--delay", "0", "--allow-private", "--max-time", "4s", c.flag, srv.URL+"/")
			for _, want := range []string{"--max-time has ended it", crawl.KindReset.Words()} {
				if !strings.Contains(out, want) || code != exitFailed {
					t.Errorf("exit %d, and %q is missing in %s%s", code, want, out, errs)
				}
			}
			if strings.Contains(out+errs, "closed network") || asked.Load() < 2 {
				t.Errorf("asked %d times: %s%s", asked.Load(), out, errs)
			}
		})
	}
}
