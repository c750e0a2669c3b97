package agent

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// What may have a wall in its place is asked for again a delay later, or when the site says, and once.
func TestAsksAgainInItsTurn(t *testing.T) {
	const page = "<title>page</title><p>Here is what one came for, and some words more."
	for _, c := range []struct {
		name, wall string
		gap        time.Duration // between the page's first two requests
		asked      int
		state      crawl.State
	}{
		{"wall", "200 OK\r\nSet-Cookie: k=1", 2 * time.Second, 2, crawl.Fetched},
		{"stalls", "503 Service Unavailable\r\nSet-Cookie: k=1", 2 * time.Second, 2, crawl.Fetched},
		{"stalls for a while", "503 Service Unavailable\r\nSet-Cookie: k=1\r\nRetry-After: 7", 7 * time.Second, 2, crawl.Fetched},
		{"stalls for long", "503 Service Unavailable\r\nSet-Cookie: k=1\r\nRetry-After: 700", 0, 1, crawl.Retry},
		{"without a cookie", "200 OK", 0, 1, crawl.Fetched},
		{"is asked too much", "429 Too Many Requests\r\nSet-Cookie: k=1", 0, 1, crawl.Retry},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var asked []time.Time
				b, _ := runTargets(t, crawl.Target{}, []string{"/5"}, func(j *crawl.Job) { j.Limits.Delay = 2 * time.Second }, func(conn net.Conn) {
					defer conn.Close()
					br := bufio.NewReader(conn)
					for {
						req, err := http.ReadRequest(br)
						if err != nil {
							return
						}
						asked = append(asked, time.Now())
						status, body := "200 OK", page
						if req.Header.Get("Cookie") == "" {
							status, body = c.wall, "<p>Do you agree that we look at what you do?"
						}
						fmt.Fprintf(conn, "HTTP/1.1 %s\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n", status, len(body))
						io.WriteString(conn, body)
					}
				})
				if len(asked) != c.asked || c.gap > 0 && asked[1].Sub(asked[0]).Truncate(time.Second) != c.gap {
					t.Errorf("asked at %v", asked)
				}
				if i := slices.IndexFunc(b.outcomes, func(o crawl.Outcome) bool { return o.State == c.state }); i < 0 {
					t.Errorf("outcomes are %+v", b.outcomes)
				}
			})
		})
	}
}

// An answer is another one if it says or names mostly other things, whatever numbers, tokens in tags and addresses it has; and like another one if hardly a
// word differs.
func TestShown(t *testing.T) {
	of := func(path, body string) *shown {
		mark := parse.Mark([]byte(body), "http://site.test"+path, nil, false)
		return &shown{Text: crawl.Text{Sum: mark.Text, Sample: mark.Sample}}
	}
	const wall = "<h1>We value your privacy</h1><p>Our partners store information on a device. <b>Go on if you agree to it.</b>"
	asks := of("/5", wall)
	for _, c := range []struct {
		name, body  string
		other, like bool
	}{
		{"the same", wall, false, true},
		{"a token", wall + `<input type=hidden name=csrf value=a8f9c7>`, false, true},
		{"a time", wall + `<p>12:07:31`, false, true},
		{"a page", "<h1>How boats are built</h1><p>First one looks for a tree that is straight. <b>Then it has to dry for years.</b>", true, false},
	} {
		now := of("/5", c.body)
		if got := asks.other(now); got != c.other {
			t.Errorf("%s: other is %v", c.name, got)
		}
		if got := now.like(&asks.Text); got != c.like {
			t.Errorf("%s: like is %v", c.name, got)
		}
	}
	if !of("/boats/tar", wall+`<p>You came for /boats/tar`).like(&of("/trees/oak", wall+`<p>You came for /trees/oak`).Text) {
		t.Error("a wall that names what one came for is another one")
	}
	links := &shown{Text: crawl.Text{Sum: 1}, links: []crawl.Key{{1}, {2}, {3}}}
	if asks := (&shown{Text: crawl.Text{Sum: 2}, links: []crawl.Key{{1}}}); !asks.other(links) {
		t.Error("a page that names two others more is the same")
	}
}
