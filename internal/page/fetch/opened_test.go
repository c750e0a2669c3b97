package fetch_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
)

// An answer over a connection that was open says how long it took to open it, as the answer says that has opened it: over plain HTTP, TLS and HTTP/2.
func TestOpenedIsRemembered(t *testing.T) {
	for name, start := range map[string]func(*httptest.Server){
		"plain": (*httptest.Server).Start,
		"tls":   (*httptest.Server).StartTLS,
		"h2":    func(s *httptest.Server) { s.EnableHTTP2 = true; s.StartTLS() },
	} {
		t.Run(name, func(t *testing.T) {
			srv := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte("ok")) }))
			start(srv)
			defer srv.Close()
			s := client(t, func(c *fetch.Config) { c.TLS = &tls.Config{InsecureSkipVerify: true} }).Open(nil)
			defer s.Close()
			u, err := crawl.Parse(srv.URL + "/")
			if err != nil {
				t.Fatal(err)
			}
			var all []fetch.Timing
			for range 3 {
				r, err := s.Do(t.Context(), &fetch.Request{URL: u})
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, r.Timing)
				r.Release()
			}
			took := all[0].Connect + all[0].TLS
			if took <= 0 || all[0].Opened != 0 {
				t.Errorf("the first: %+v", all[0])
			}
			for _, x := range all[1:] {
				if x.Opened != took || x.Connect != 0 || x.TLS != 0 {
					t.Errorf("a later one: %+v, want opened %v", x, took)
				}
			}
		})
	}
}

// An answer says whether others of its session were under way when it was asked for: then it may have waited for them.
func TestBesideOthers(t *testing.T) {
	first, second := make(chan struct{}), make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/first" {
			close(first)
			<-second
		}
		_, _ = rw.Write([]byte("ok"))
	}))
	defer srv.Close()
	s := client(t, nil).Open(nil)
	defer s.Close()
	ask := func(path string) bool {
		u, err := crawl.Parse(srv.URL + path)
		if err != nil {
			t.Error(err)
			return false
		}
		r, err := s.Do(t.Context(), &fetch.Request{URL: u})
		if err != nil {
			t.Error(err)
			return false
		}
		defer r.Release()
		return r.Beside
	}
	alone := make(chan bool)
	go func() { alone <- !ask("/first") }()
	<-first
	if !ask("/second") {
		t.Error("the second is not beside the first")
	}
	close(second)
	if !<-alone {
		t.Error("the first is beside another")
	}
	if ask("/third") {
		t.Error("the third is beside another")
	}
}
