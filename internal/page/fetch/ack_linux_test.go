package fetch_test

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"
)

// A server that writes head and body apart and waits for an acknowledgement in between holds back the first response of a
// connection at most, and a few that the system did not acknowledge at once all the same.
func TestHeldBack(t *testing.T) {
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		rw.Header().Set("Content-Length", "12")
		rw.(http.Flusher).Flush()
		_, _ = rw.Write([]byte("Hello, World"))
	}))
	srv.Config.ConnContext = func(ctx context.Context, c net.Conn) context.Context {
		if err := c.(*net.TCPConn).SetNoDelay(false); err != nil { // Nagle's algorithm, as it is where nobody has thought of it
			t.Error(err)
		}
		return ctx
	}
	srv.Start()
	defer srv.Close()
	s := client(t, nil).Open(nil)
	defer s.Close()
	const all = 60
	late := 0
	for range all {
		begin := time.Now()
		if _, body, err := get(t, s, strings.Replace(srv.URL, "127.0.0.1", "a.test", 1)); err != nil || string(body) != "Hello, World" {
			t.Fatalf("%q, %v", body, err)
		}
		if time.Since(begin) > 35*time.Millisecond {
			late++
		}
	}
	if late > all/6 {
		t.Errorf("%d of %d responses were held back", late, all)
	}
}
