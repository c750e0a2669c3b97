package agent

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
)

// Pages that are named only to a reader without a cookie are had also where the answer to the reader that comes back does not count: a lease
// that asks again later has the cookie.
func TestNamedBeforeAWall(t *testing.T) {
	const first = "HTTP/1.1 200 OK\r\nSet-Cookie: k=1\r\nContent-Type: text/html\r\n"
	body := `<meta http-equiv=refresh content=0><a href="/once">once</a>`
	for _, c := range []struct {
		name, then string
		delay      time.Duration
		state      crawl.State // of the page; 0: it has none yet
		tries      uint8
	}{
		{"busy", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", 0, crawl.Retry, 0},
		{"cut", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n", 0, crawl.Retry, 0},
		{"cut at last", "HTTP/1.1 200", 0, crawl.Fetched, uint8(crawl.DefaultLimits().Retries)},
		{"elsewhere", "HTTP/1.1 302 Found\r\nLocation: /in\r\nContent-Length: 0\r\n\r\n", 0, crawl.Fetched, 0},
		{"image", "HTTP/1.1 200 OK\r\nContent-Type: image/png\r\nContent-Length: 1\r\n\r\n.", 0, crawl.Fetched, 0},
		{"lease ends", "", time.Hour, 0, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, _ := runTargets(t, crawl.Target{Tries: c.tries}, []string{"/"}, func(j *crawl.Job) { j.Limits.Delay = c.delay }, func(conn net.Conn) {
					defer conn.Close()
					br := bufio.NewReader(conn)
					for {
						req, err := http.ReadRequest(br)
						if err != nil {
							return
						}
						if req.Header.Get("Cookie") != "" {
							io.WriteString(conn, c.then)
							return
						}
						fmt.Fprintf(conn, "%sContent-Length: %d\r\n\r\n%s", first, len(body), body)
					}
				})
				named := 0
				for _, f := range b.found {
					for _, link := range f.Links {
						if link.URL == "http://site.test/once" {
							named++
						}
					}
				}
				if named != 1 {
					t.Errorf("what is named once was reported %d times", named)
				}
				var state crawl.State
				for _, o := range b.outcomes {
					if o.State != crawl.Beside {
						state = o.State
					}
				}
				if state != c.state {
					t.Errorf("the page is %v, want %v: %+v", state, c.state, b.outcomes)
				}
			})
		})
	}
}
