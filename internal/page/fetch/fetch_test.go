package fetch_test

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"
	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
	"argosy/internal/testkit"
)

func client(t *testing.T, change func(*fetch.Config)) *fetch.Client {
	t.Helper()
	c := fetch.Config{
		Limits: crawl.DefaultFetchLimits(), Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Resolve: map[string]netip.Addr{"*.test": netip.MustParseAddr("127.0.0.1")},
	}
	if change != nil {
		change(&c)
	}
	cl, err := fetch.NewClient(c)
	if err != nil {
		t.Fatal(err)
	}
	return cl
}

func get(t *testing.T, s *fetch.Session, url string) (*fetch.Response, []byte, error) {
	t.Helper()
	u, err := crawl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	r, err := s.Do(context.Background(), &fetch.Request{URL: u})
	if err != nil {
		return nil, nil, err
	}
	body, err := r.Decoded(testkit.HostileLimits().MaxDecoded)
	return r, body, err
}

// Every entry of the catalogue ends in time, with the right kind.
func TestCatalogue(t *testing.T) {
	t.Parallel()
	port, stop, err := testkit.ServeHostile()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop) // after the parallel subtests
	strict := client(t, func(c *fetch.Config) { c.Limits = testkit.HostileLimits() })
	patient := client(t, func(c *fetch.Config) { // of a machine that is busy: only what is to take too long is short of time
		c.Limits = testkit.HostileLimits()
		c.Limits.ConnectTimeout, c.Limits.TLSTimeout, c.Limits.HeaderTimeout, c.Limits.BodyTimeout = time.Minute, time.Minute, time.Minute, time.Minute
	})
	for i, h := range testkit.Catalogue() {
		cl := patient
		if h.Kind == crawl.KindTimeout {
			cl = strict
		}
		t.Run(h.Name, func(t *testing.T) {
			t.Parallel()
			s := cl.Open(nil)
			defer s.Close()
			_, _, err := get(t, s, "http://hostile.test:"+port+"/"+strconv.Itoa(i))
			if h.Kind == "" {
				if err != nil {
					t.Errorf("error %v, want none", err)
				}
				return
			}
			var e *crawl.Error
			if !errors.As(err, &e) || e.Kind != h.Kind {
				t.Errorf("error %v, want kind %s", err, h.Kind)
			}
		})
	}
}

// Private, loopback and link-local addresses are denied after DNS, whatever their spelling.
func TestGuard(t *testing.T) {
	cl := client(t, func(c *fetch.Config) {
		c.Allow = nil
		c.Resolve = map[string]netip.Addr{}
		for name, ip := range map[string]string{
			"loop.test": "127.0.0.1", "ten.test": "10.1.2.3", "link.test": "169.254.169.254", "six.test": "::1", "mapped.test": "::ffff:10.0.0.1",
			"ula.test": "fd00::1", "nat64.test": "64:ff9b::7f00:1", "six4.test": "2002:7f00:1::", "zero.test": "0.0.0.0", "cgn.test": "100.64.0.1",
		} {
			c.Resolve[name] = netip.MustParseAddr(ip)
		}
	})
	s := cl.Open(nil)
	defer s.Close()
	pinned := cl.Open([]netip.Addr{netip.MustParseAddr("127.0.0.1")})
	defer pinned.Close()
	for _, u := range []string{
		"http://loop.test/", "http://ten.test/", "http://link.test/", "http://six.test/", "http://mapped.test/", "http://ula.test/", "http://nat64.test/",
		"http://six4.test/", "http://zero.test/", "http://cgn.test/", "http://127.0.0.1/", "http://0x7f.1/", "http://[::1]/", "http://2130706433/",
	} {
		if _, _, err := get(t, s, u); crawl.KindOf(err) != crawl.KindDenied {
			t.Errorf("%s: %v, want denied", u, err)
		}
	}
	if _, _, err := get(t, pinned, "http://public.example/"); crawl.KindOf(err) != crawl.KindDenied {
		t.Errorf("a pinned loopback address: %v, want denied", err)
	}
}

// Content codings are decoded, over HTTP/1.1 and HTTP/2, and the bytes that came are kept.
func TestCodings(t *testing.T) {
	text := strings.Repeat("words and more words ", 500)
	encode := map[string]func(io.Writer) io.WriteCloser{
		"gzip": func(w io.Writer) io.WriteCloser { return gzip.NewWriter(w) },
		"br":   func(w io.Writer) io.WriteCloser { return brotli.NewWriter(w) },
		"zstd": func(w io.Writer) io.WriteCloser { z, _ := zstd.NewWriter(w); return z },
	}
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		coding := strings.TrimPrefix(r.URL.Path, "/")
		rw.Header().Set("Content-Type", "text/html")
		if enc := encode[coding]; enc != nil {
			rw.Header().Set("Content-Encoding", coding)
			w := enc(rw)
			_, _ = io.WriteString(w, text)
			_ = w.Close()
			return
		}
		_, _ = io.WriteString(rw, text)
	}))
	srv.EnableHTTP2 = true
	srv.StartTLS()
	defer srv.Close()
	plain := httptest.NewServer(srv.Config.Handler)
	defer plain.Close()
	cl := client(t, func(c *fetch.Config) { c.TLS = &tls.Config{InsecureSkipVerify: true} })
	for base, proto := range map[string]string{srv.URL: "HTTP/2.0", plain.URL: "HTTP/1.1"} {
		s := cl.Open(nil)
		for _, coding := range []string{"gzip", "br", "zstd", "identity"} {
			r, body, err := get(t, s, base+"/"+coding)
			if err != nil {
				t.Errorf("%s %s: %v", proto, coding, err)
				continue
			}
			if string(body) != text || r.Proto != proto || r.Status != 200 || !strings.HasSuffix(string(r.Head), "\r\n\r\n") {
				t.Errorf("%s %s: %s, status %d, %d bytes", proto, coding, r.Proto, r.Status, len(body))
			}
			if secure := proto == "HTTP/2.0"; secure != (r.TLS == tls.VersionTLS13) || secure != (r.Cipher != 0) {
				t.Errorf("%s %s: TLS version %x, suite %x", proto, coding, r.TLS, r.Cipher)
			}
			if coding != "identity" && len(r.Body) >= len(text) {
				t.Errorf("%s %s: the body kept is not the one that came", proto, coding)
			}
		}
		s.Close()
	}
}
