package fetch_test

import (
	"crypto/tls"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"

	"argosy/internal/page/fetch"
)

// A 421 on a connection that was used before is not the page's answer (RFC 9110, section 15.5.20): the page is to be asked for again, on
// a connection of its own. Where that helps nothing, it is the answer, and soon each page is asked for once.
func TestMisdirected(t *testing.T) {
	const pages = 20
	for _, c := range []struct{ h2, always bool }{{true, false}, {true, true}, {false, false}, {false, true}} {
		var asked atomic.Int64
		var mu sync.Mutex
		used := map[string]int{} // requests by connection
		srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			mu.Lock()
			used[r.RemoteAddr]++
			n := used[r.RemoteAddr]
			mu.Unlock()
			if n > 3 || c.always {
				w.WriteHeader(http.StatusMisdirectedRequest)
			}
			_, _ = w.Write([]byte("ok"))
		}))
		srv.EnableHTTP2 = c.h2
		srv.StartTLS()
		s := client(t, func(fc *fetch.Config) { fc.TLS = &tls.Config{InsecureSkipVerify: true} }).Open(nil)
		for i := range pages {
			r, err := untilProcessed(t, s, srv.URL+"/")
			if err != nil {
				t.Fatal(err)
			}
			if misdirected := r.Status == http.StatusMisdirectedRequest; misdirected != c.always || string(r.Body) != "ok" {
				t.Errorf("HTTP/2 %v, always %v, page %d: %d, %q", c.h2, c.always, i, r.Status, r.Body)
			}
			r.Release()
		}
		want := int64(pages + (pages-1)/3)
		if c.always {
			want = pages + 3
		}
		if n := asked.Load(); n != want {
			t.Errorf("HTTP/2 %v, always %v: %d requests for %d pages, want %d", c.h2, c.always, n, pages, want)
		}
		s.Close()
		srv.Close()
	}
}
