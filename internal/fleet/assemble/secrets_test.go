package assemble_test

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// connectProxy is an HTTP proxy that knows CONNECT; it returns its address and how often it was used.
func connectProxy(t *testing.T) (addr string, used *atomic.Int64) {
	t.Helper()
	used = new(atomic.Int64)
	srv := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		used.Add(1)
		out, err := net.Dial("tcp", r.Host)
		if err != nil || r.Method != http.MethodConnect {
			http.Error(rw, "no", http.StatusBadGateway)
			return
		}
		rw.WriteHeader(http.StatusOK)
		in, _, err := rw.(http.Hijacker).Hijack()
		if err != nil {
			return
		}
		go func() { _, _ = io.Copy(out, in); _ = out.Close() }()
		_, _ = io.Copy(in, out)
		_ = in.Close()
	})}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = srv.Serve(l) }() // until Close
	t.Cleanup(func() { _ = srv.Close() })
	return l.Addr().String(), used
}

// Secret fields and cookies go to the seeds' sites only and are redacted in archives; cookies that a site sets come
// back to it, a redirect to itself that sets one is followed once; all of it through a proxy.
func TestSecretsCookiesProxy(t *testing.T) {
	t.Parallel()
	w := webs.New()
	var leaked atomic.Bool
	w.Sites["s0.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		session, err := r.Cookie("session")
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(rw, r)
		case r.Header.Get("X-Token") != "hush-hush" || !strings.Contains(r.Header.Get("Cookie"), "login=very-secret"):
			http.Error(rw, "who are you?", http.StatusForbidden)
		case r.URL.Path == "/wall" && (err != nil || session.Value != "7"):
			http.SetCookie(rw, &http.Cookie{Name: "session", Value: "7", Path: "/"})
			http.Redirect(rw, r, "/wall", http.StatusFound)
		default:
			rw.Header().Set("Content-Type", "text/html")
			_, _ = rw.Write([]byte(`<a href="/wall">wall</a> <a href="http://` + strings.Replace(r.Host, "s0", "s1", 1) + `/">other</a>`))
		}
	})
	w.Sites["s1.test"] = http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		if r.Header.Get("X-Token") != "" || r.Header.Get("Cookie") != "" {
			leaked.Store(true)
		}
	})
	port := served(t, w)
	proxy, used := connectProxy(t)
	c := fleettest.Crawl(t.TempDir(), port, 0, 1)
	c.Job.Identity.Seeds, c.Job.Identity.Scope = c.Job.Identity.Seeds[:1], crawl.ScopeAny
	c.Headers, c.Cookies = []fetch.Field{{Name: "X-Token", Value: "hush-hush"}}, "login=very-secret"
	c.Fetch.Proxy = &url.URL{Scheme: "http", Host: proxy}
	sum := runConfig(t, c)
	if sum.Fetched != 3 || sum.Pages != 2 || leaked.Load() || used.Load() == 0 {
		t.Errorf("leaked %v, proxy used %d times, %+v", leaked.Load(), used.Load(), sum)
	}
	files, err := filepath.Glob(filepath.Join(c.Dir, "warc", "*.warc.gz"))
	if err != nil || len(files) != 1 {
		t.Fatal(files, err)
	}
	f, err := os.Open(files[0])
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rd := archive.NewReader(f)
	redacted := 0
	for {
		rec, err := rd.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(rec)
		if err != nil {
			t.Fatal(err)
		}
		redacted += bytes.Count(b, []byte("[redacted]"))
		if bytes.Contains(b, []byte("hush-hush")) || bytes.Contains(b, []byte("very-secret")) {
			t.Errorf("a secret stands in the archive: %.300q", b)
		}
	}
	if redacted != 8 { // two fields in the requests for /robots.txt, /, and /wall before and behind it
		t.Errorf("%d fields are redacted, want 8", redacted)
	}
}
