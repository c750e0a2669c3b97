package main

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"testing"
)

// An application that is too busy for a moment has not answered: its pages must not be missing from one order of a crawl. One that goes on like
// that is named, and nothing is judged.
func TestLiveAsksAgain(t *testing.T) {
	fails := map[string]int{"/busy": 1, "/cut": 2, "/gone": 1 << 30}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if fails[r.URL.Path]--; fails[r.URL.Path] < 0 {
			_, _ = w.Write([]byte("a page"))
			return
		}
		if r.URL.Path == "/busy" {
			http.Error(w, "busy", http.StatusBadGateway)
			return
		}
		w.Header().Set("Content-Length", "100")
		_, _ = w.Write([]byte("half"))
	}))
	defer srv.Close()
	truth := filepath.Join(t.TempDir(), "truth.txt")
	if err := os.WriteFile(truth, []byte(srv.URL+"/busy\n"+srv.URL+"/cut\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := live(srv.URL+"/", truth)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(path string) *answer { return w.sites["live"].ask(&url.URL{Path: path}) }
	for _, path := range []string{"/busy", "/cut"} {
		if a := ask(path); a.body != "a page" || a.real != srv.URL+path {
			t.Errorf("%s: status %d, %q, real %q", path, a.status, a.body, a.real)
		}
	}
	if w.failed != nil {
		t.Error(w.failed)
	}
	if a := ask("/gone"); a.real != "" || w.failed == nil {
		t.Errorf("%q, real %q, and the web says %v", a.body, a.real, w.failed)
	}
}
