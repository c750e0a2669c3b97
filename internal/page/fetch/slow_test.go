package fetch_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
)

// A body of which nothing comes is told apart from one that comes too slowly: both take the same time, and have different causes.
func TestBodyThatDoesNotBegin(t *testing.T) {
	for _, c := range []struct {
		begins string
		want   string
	}{{"", "nothing of its body"}, {"x", "slower than the minimum rate"}} {
		synctest.Test(t, func(t *testing.T) {
			cl := client(t, func(fc *fetch.Config) {
				fc.Dial = func(context.Context, string, string) (net.Conn, error) {
					ours, theirs := net.Pipe()
					go func() {
						if _, err := http.ReadRequest(bufio.NewReader(theirs)); err == nil {
							_, _ = fmt.Fprintf(theirs, "HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n%s", c.begins)
						}
						_, _ = io.Copy(io.Discard, theirs)
					}()
					return ours, nil
				}
			})
			s := cl.Open(nil)
			defer s.Close()
			begin := time.Now()
			_, _, err := get(t, s, "http://a.test/")
			if crawl.KindOf(err) != crawl.KindSlow || !strings.Contains(err.Error(), c.want) || c.begins != "" && strings.Contains(err.Error(), "nothing") {
				t.Errorf("after %q: %v, want %s", c.begins, err, c.want)
			}
			if took := time.Since(begin); took < 5*time.Second || took > 20*time.Second {
				t.Errorf("given up after %v", took)
			}
		})
	}
}
