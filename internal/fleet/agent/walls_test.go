package agent

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/fetch"
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

// A page that redirects to where a cookie comes from is asked again, also where that cookie comes while the page's own answer is archived:
// what is asked again because of a cookie has ended before, or is not.
func TestOvertakenByACookie(t *testing.T) {
	url := func(path string) crawl.URL {
		u, err := crawl.Parse("http://site.test" + path)
		if err != nil {
			t.Fatal(err)
		}
		return u
	}
	gate, page1 := url("/gate"), url("/1")
	for _, c := range []struct {
		name   string
		before bool   // it ends before the cookie has come
		sent   string // the cookies that it was asked with
		state  crawl.State
		again  bool
	}{
		{name: "ends before", before: true, state: crawl.Fetched},
		{name: "ends behind", state: crawl.Fetched, again: true},
		{name: "was asked with it", sent: "k=0", state: crawl.Fetched},
		{name: "failed", state: crawl.Failed},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &lease{a: &Agent{}, l: crawl.Lease{Site: "site.test"}}
			l.more = sync.NewCond(&l.mu)
			l.rep.begin()
			p := &page{url: page1, onto: gate.Key(), sent: c.sent, outcome: &crawl.Outcome{State: c.state}, target: crawl.Target{Key: page1.Key()}}
			if c.before {
				l.ends(p)
			}
			l.jar.set(gate, []string{"k=1; Path=/"}, time.Now())
			told := l.ledTo(&crawl.Target{Key: gate.Key()})
			if !c.before {
				l.ends(p)
			}
			if got := slices.Contains(told, page1.Key()); got != c.before {
				t.Errorf("the cookie's answer has it asked again: %v", got)
			}
			if got := len(l.queue) == 1 && l.queue[0].Again; got != c.again || (p.outcome.State == crawl.Beside) != c.again {
				t.Errorf("it is asked again: %v; its answer is %v", got, p.outcome.State)
			}
		})
	}
}

// What led to a gate is asked again with all cookies also where the last of them came while the gate itself was under way, or waited.
func TestCatchesUp(t *testing.T) {
	at := func(path string) *page {
		u, err := crawl.Parse("http://site.test" + path)
		if err != nil {
			t.Fatal(err)
		}
		return &page{url: u, outcome: &crawl.Outcome{State: crawl.Fetched}, target: crawl.Target{Key: u.Key()}}
	}
	for _, c := range []struct {
		name       string
		sent       string // the cookies that the page was asked with
		again      bool   // the gate is asked again because of a cookie
		opened     bool   // one has come of where the gate leads
		chain, in  bool   // an earlier lease saw the page lead to the gate; the gate leads nowhere now
		hops       uint8
		askedAgain bool
	}{
		{name: "asked again", again: true, askedAgain: true},
		{name: "leads to an open one", opened: true, askedAgain: true},
		{name: "leads nowhere now", again: true, in: true, askedAgain: true},
		{name: "nothing has come"},
		{name: "had all cookies", sent: "k=1", again: true, opened: true},
		{name: "too far", again: true, hops: crawl.MaxRedirects},
		{name: "of an earlier lease", again: true, chain: true, askedAgain: true},
		{name: "of an earlier lease, in", again: true, chain: true, in: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := &lease{a: &Agent{}, l: crawl.Lease{Site: "site.test"}}
			l.more = sync.NewCond(&l.mu)
			l.rep.begin()
			first, gate, inner := at("/1"), at("/gate"), at("/inner")
			if first.onto, first.sent = gate.url.Key(), c.sent; c.chain {
				gate.target.Chain = []crawl.Key{first.url.Key()}
			} else {
				l.ends(first)
			}
			l.jar.set(inner.url, []string{"k=1; Path=/"}, time.Now())
			if c.opened {
				l.ledTo(&crawl.Target{Key: inner.url.Key()})
			}
			if gate.target.Again, gate.target.Hops, gate.sent = c.again, c.hops, "k=1"; !c.in {
				gate.onto = inner.url.Key()
			}
			l.ends(gate)
			if got := slices.Contains(gate.outcome.Again, first.url.Key()); got != c.askedAgain {
				t.Errorf("the page that led to the gate is asked again: %v", got)
			}
		})
	}
}

// A page for which the lease went through the gates itself brings their cookies: what had led to them is asked again because of it.
func TestGatesOnTheWayAbout(t *testing.T) {
	first, err := crawl.Parse("http://site.test/1")
	if err != nil {
		t.Fatal(err)
	}
	l := &lease{l: crawl.Lease{Site: "site.test"}}
	gate := crawl.Key{1}
	l.leadsTo(&page{url: first, onto: gate})
	p := &page{resp: &fetch.Response{Status: http.StatusOK}, outcome: &crawl.Outcome{State: crawl.Fetched}, cookie: true, gates: []crawl.Key{gate}}
	if l.comeBack(p); !slices.Contains(p.outcome.Again, first.Key()) {
		t.Error("what had led to the gate is not asked again")
	}
}

// A cookie of a new name is told with the outcome of the page that it came with, and not before: a lease that follows one that died between them has it
// come once more, and so asks again what led to the page.
func TestCookieIsToldWithItsPage(t *testing.T) {
	l := &lease{a: &Agent{}, l: crawl.Lease{Site: "site.test"}}
	l.more = sync.NewCond(&l.mu)
	l.rep.begin()
	gate := at("", "/gate")
	l.jar.hold(gate.Key(), l.jar.set(gate, []string{"k=1; Path=/"}, time.Now()))
	told := func() bool {
		p, _ := l.cut(time.Now())
		return p.Site.CookiesSet && len(p.Site.Cookies) > 0
	}
	if told() {
		t.Error("it is told before there is an outcome")
	}
	for _, state := range []crawl.State{crawl.Beside, crawl.Retry} {
		if l.outcome(&crawl.Outcome{Key: gate.Key(), State: state}, nil); told() {
			t.Errorf("it is told with an outcome that is not the last: %v", state)
		}
	}
	if !l.jar.holds(gate.Key()) {
		t.Error("that it has come is forgotten")
	}
	if l.outcome(&crawl.Outcome{Key: gate.Key(), State: crawl.Fetched}, nil); !told() {
		t.Error("it is not told with the page's outcome")
	}
}

// A gate is known without the address in its query, and so is what leads to one.
func TestGateKeys(t *testing.T) {
	for _, c := range []struct{ url, known string }{
		{"/gate", "/gate"},
		{"/gate?back=/5", "/gate"},
		{"/gate?lang=en&back=%2Fa%2Fb", "/gate"},
		{"/gate?back=http%3A%2F%2Fsite.test%2F5", "/gate"},
		{"/index.php?page=gate", "/index.php?page=gate"},
		{"/gate?/5", "/gate?/5"},
	} {
		if gateKey(at("", c.url)) != at("", c.known).Key() {
			t.Errorf("%s is not known as %s", c.url, c.known)
		}
	}
	l := &lease{l: crawl.Lease{Site: "site.test"}}
	l.gates.learn(at("", "/inner").Key())
	l.leadsOn(&page{url: at("", "/outer?back=/5")}, at("", "/inner?back=/5"))
	l.leadsOn(&page{url: at("", "/page?id=5")}, at("", "/inner?back=/5"))
	if len(l.gates.Keys) != 2 || l.gates.trial(at("", "/outer").Key()) == nil {
		t.Errorf("%d gates are known", len(l.gates.Keys))
	}
}

// A page that the lease goes about for is asked for again where the lease ends on the way, or the site cannot answer there: what it answered says
// nothing of it yet.
func TestWayAboutThatEnds(t *testing.T) {
	for _, c := range []struct {
		name, gate string
		delay      time.Duration
		tries      uint8
		state      crawl.State // of the page; 0: it has none yet
		status     int
	}{
		{"through", "HTTP/1.1 302 Found\r\nLocation: /\r\nSet-Cookie: s=2; Path=/\r\nContent-Length: 0\r\n\r\n", 0, 0, crawl.Fetched, 200},
		{"lease ends", "", time.Hour, 0, 0, 0},
		{"busy", "HTTP/1.1 503 Service Unavailable\r\nContent-Length: 0\r\n\r\n", 0, 0, crawl.Retry, 302},
		{"cut", "HTTP/1.1 302", 0, 0, crawl.Retry, 0},
		{"cut at last", "HTTP/1.1 302", 0, uint8(crawl.DefaultLimits().Retries), crawl.Fetched, 302},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				serve := func(conn net.Conn) {
					defer conn.Close()
					br := bufio.NewReader(conn)
					for {
						req, err := http.ReadRequest(br)
						switch {
						case err != nil:
							return
						case req.URL.Path == "/gate":
							io.WriteString(conn, c.gate)
							if !strings.HasSuffix(c.gate, "\n") {
								return
							}
						case req.Header.Get("Cookie") == "s=2":
							io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin")
						default:
							io.WriteString(conn, "HTTP/1.1 302 Found\r\nLocation: /gate\r\nContent-Length: 0\r\n\r\n")
						}
					}
				}
				b, _ := runTargets(t, crawl.Target{Tries: c.tries}, []string{"/5"}, func(j *crawl.Job) { j.Limits.Delay = c.delay }, serve, func(b *bench) {
					b.dispatch.Site.Gates = &crawl.Gates{Keys: []crawl.Key{at("", "/gate").Key()}}
					b.dispatch.Site.Cookies = []crawl.Cookie{{Name: "s", Value: "1", Path: "/"}}
				})
				var last crawl.Outcome
				for _, o := range b.outcomes {
					if o.State != crawl.Beside {
						last = o
					}
				}
				if last.State != c.state || last.Status != c.status {
					t.Errorf("the page is %v with status %d, want %v with %d", last.State, last.Status, c.state, c.status)
				}
			})
		})
	}
}

// A wall that only has a script to come back is no page where the lease ends before it is asked for again.
func TestLeaseEndsBeforeAWall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const body = "<script>location.reload()</script>"
		b, _ := runTargets(t, crawl.Target{}, []string{"/5"}, func(j *crawl.Job) { j.Limits.Delay = time.Hour }, func(conn net.Conn) {
			defer conn.Close()
			if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
				fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nSet-Cookie: k=1\r\nContent-Type: text/html\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
			}
		})
		for _, o := range b.outcomes {
			if o.State.Final() {
				t.Errorf("the wall is the page: %+v", o)
			}
		}
	})
}
