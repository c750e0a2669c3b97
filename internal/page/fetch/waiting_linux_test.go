package fetch

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"runtime"
	"testing"

	"argosy/internal/crawl"
)

// What comes over a kept connection before anybody has asked is no answer to the next request, also where that follows at
// once: a server that has sent more than it announced, or twice, would have its pages exchanged.
func TestUnaskedIsNoAnswer(t *testing.T) {
	for name, unasked := range map[string]string{
		"another answer":       "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong",
		"the rest of a body":   "rest of a body that was announced too short",
		"an answer to a pause": "HTTP/1.1 500 Wrong\r\nContent-Length: 0\r\n\r\n",
	} {
		for _, scheme := range []string{"http", "https"} {
			t.Run(name+" by "+scheme, func(t *testing.T) {
				had := make(chan bool)
				addr := serveRaw(t, scheme == "https", func(c net.Conn, nth int) {
					for r := bufio.NewReader(c); ; {
						req, err := http.ReadRequest(r)
						if err != nil {
							return
						}
						_, _ = fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(req.URL.Path), req.URL.Path)
						if nth == 1 {
							<-had
							_, _ = c.Write([]byte(unasked))
						}
					}
				})
				client, err := NewClient(Config{
					Limits: crawl.DefaultFetchLimits(), Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
					TLS: &tls.Config{InsecureSkipVerify: true},
				})
				if err != nil {
					t.Fatal(err)
				}
				s := client.Open(nil)
				defer s.Close()
				for _, path := range []string{"/first", "/second"} {
					u, err := crawl.Parse(scheme + "://" + addr + path)
					if err != nil {
						t.Fatal(err)
					}
					r, err := s.Do(context.Background(), &Request{URL: u})
					if err != nil {
						t.Fatalf("%s: %v", path, err)
					}
					if r.Status != 200 || string(r.Body) != path {
						t.Fatalf("%s: %d, %q", path, r.Status, r.Body)
					}
					r.Release()
					if path == "/first" {
						kept := s.idle[0]
						had <- true
						for !kept.waits() { // until it has come
							runtime.Gosched()
						}
					}
				}
			})
		}
	}
}
