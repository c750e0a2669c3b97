package agent

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/net/http2"

	"argosy/internal/crawl"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
)

// bench is what an agent stands between in these tests: a dispatcher of one lease, and a log of what it reports.
type bench struct {
	dispatch crawl.Dispatch
	stop     context.CancelFunc

	mu       sync.Mutex
	outcomes []crawl.Outcome
	found    []crawl.Found
	rest     time.Duration // that the site is to have

	dir string        // of the archive
	way time.Duration // that the hint took

	dials  func()        // before there is a connection; nil: nothing
	frozen chan struct{} // while it is open nothing is reported; nil: at once

	agent   *Agent
	reports func()        // before something is reported; nil: nothing
	moved   time.Time     // when a part last showed progress
	still   time.Duration // the longest that none did
}

func (b *bench) Receive(ctx context.Context, _ string, fn func([]byte, time.Duration) error) error {
	msg, err := crawl.Marshal(&b.dispatch)
	if err == nil {
		err = fn(msg, b.way)
	}
	<-ctx.Done()
	return err
}

func (b *bench) Report(_ context.Context, _ string, entry []byte) error {
	var e crawl.Entry
	if err := crawl.Unmarshal(entry, &e); err != nil {
		return err
	}
	if b.frozen != nil {
		<-b.frozen
	}
	if b.reports != nil {
		b.reports()
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range e.Parts {
		if p.Progress(false) {
			if !b.moved.IsZero() {
				b.still = max(b.still, time.Since(b.moved))
			}
			b.moved = time.Now()
		}
		b.outcomes = append(b.outcomes, p.Outcomes...)
		b.found = append(b.found, p.Found...)
		if p.Site != nil {
			b.rest = max(b.rest, time.Duration(p.Site.BackoffMS)*time.Millisecond)
		}
		if p.Starved || p.Final {
			b.stop()
		}
	}
	return nil
}

// runLease runs a lease of a site's paths to its end against a server of connections, and returns what it has reported
// and what the agent has counted.
func runLease(t *testing.T, paths []string, change func(*crawl.Job), serve func(net.Conn)) (*bench, Stats) {
	t.Helper()
	return runTargets(t, crawl.Target{}, paths, change, serve)
}

// runTargets is runLease for targets that are like one: with its tries and flags.
func runTargets(t *testing.T, like crawl.Target, paths []string, change func(*crawl.Job), serve func(net.Conn), more ...func(*bench)) (*bench, Stats) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	b := &bench{stop: stop, dir: t.TempDir()}
	spools, err := archive.OpenSpools(filepath.Join(b.dir, "spool"))
	if err != nil {
		t.Fatal(err)
	}
	job := crawl.Job{ID: 1, Identity: crawl.Identity{IgnoreRobots: true, UserAgent: "argosy-test"}, Limits: crawl.DefaultLimits()}
	change(&job)
	lease := crawl.Lease{ID: 1, Job: 1, Site: "site.test", Node: "n", BudgetMS: time.Hour.Milliseconds(), Quota: 1000}
	for i, p := range paths {
		u, err := crawl.Parse("http://site.test" + p)
		if err != nil {
			t.Fatal(err)
		}
		lease.Targets = append(lease.Targets, crawl.Target{Key: u.Key(), URL: u.String(), Seq: uint64(i), Tries: like.Tries, Flags: like.Flags, Mark: like.Mark})
	}
	b.dispatch = crawl.Dispatch{
		Version: crawl.WireVersion, Kind: crawl.DispatchLease, Lease: &lease, Job: &job, Site: &crawl.SiteState{},
	}
	for _, m := range more {
		m(b)
	}
	client, err := fetch.NewClient(fetch.Config{
		Limits: job.Limits.Fetch, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Resolve: map[string]netip.Addr{"*": netip.MustParseAddr("127.0.0.1")},
		Dial: func(context.Context, string, string) (net.Conn, error) {
			if b.dials != nil {
				b.dials()
			}
			here, there := net.Pipe()
			go serve(there)
			return here, nil
		},
		Spool: func() (fetch.Spool, error) { return spools.Create() },
	})
	if err != nil {
		t.Fatal(err)
	}
	w := archive.NewWriter(archive.WriterConfig{Dir: b.dir, Prefix: "test", MaxSize: 1 << 30})
	a := New(DefaultConfig(crawl.NodeInfo{Node: "n"}), b, b, client, w)
	b.agent = a
	if err := a.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(b.dir, "spool", "*")); len(left) > 0 {
		t.Errorf("spools are left: %v", left)
	}
	return b, a.Stats()
}

// What is settled of a scheme over which a site has never answered is tried again soon, whatever it has answered over the other one.
func TestSchemesAnswerForThemselves(t *testing.T) {
	lim := crawl.DefaultLimits()
	for _, c := range []struct {
		heard crawl.Heard
		want  time.Duration
	}{
		{crawl.HeardHTTP | crawl.HeardPage, time.Second}, {crawl.HeardHTTPS | crawl.HeardPage, lim.Backoff}, {0, lim.Backoff}, // noted by a version that did not say
	} {
		b, _ := runTargets(t, crawl.Target{}, []string{"/"}, func(*crawl.Job) {}, func(c net.Conn) {
			go io.Copy(io.Discard, c)
			fmt.Fprint(c, "HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n") // no TLS
			c.Close()
		}, func(b *bench) {
			b.dispatch.Site = &crawl.SiteState{LatencyUS: 1000, Heard: c.heard}
			b.dispatch.Lease.Targets[0].URL = "https://site.test/"
		})
		if len(b.outcomes) != 1 || b.outcomes[0].State != crawl.Retry || !b.outcomes[0].Reason.Settled() || b.rest == 0 || (b.rest <= time.Second) != (c.want <= time.Second) {
			t.Errorf("heard %b: %+v, then %v, want %v at most", c.heard, b.outcomes, b.rest, c.want)
		}
	}
}

// A lease whose message is so old that somebody else may have the site is given back, and nothing is asked.
func TestOldHints(t *testing.T) {
	term := crawl.DefaultLimits().RecycleAfter
	for _, c := range []struct {
		age, way time.Duration
		asks     bool
	}{
		{0, 0, true}, {term / 3, term / 3, true}, {term, 0, false}, {0, term, false}, {term / 2, term / 2, false}, {1<<63 - 1, 1<<63 - 1, false}, {-term, 0, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			asked := 0
			b, _ := runTargets(t, crawl.Target{}, []string{"/"}, func(*crawl.Job) {}, func(conn net.Conn) {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					asked++
					fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
				}
			}, func(b *bench) { b.dispatch.AgeMS, b.way = c.age.Milliseconds(), c.way })
			if (asked == 1) != c.asks || (len(b.outcomes) == 1) != c.asks {
				t.Errorf("aged %v, %v on its way: %d requests, %d outcomes", c.age, c.way, asked, len(b.outcomes))
			}
		})
	}
}

// A node that is frozen while it connects asks nothing once it goes on after its lease's term: somebody else may have the site.
func TestFrozenWhileItConnects(t *testing.T) {
	for _, asks := range []bool{true, false} {
		synctest.Test(t, func(t *testing.T) {
			var asked atomic.Int64
			b, stats := runTargets(t, crawl.Target{}, []string{"/"}, func(*crawl.Job) {}, func(conn net.Conn) {
				defer conn.Close()
				if _, err := http.ReadRequest(bufio.NewReader(conn)); err == nil {
					asked.Add(1)
					fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
				}
			}, func(b *bench) {
				b.frozen = make(chan struct{})
				b.dials = func() {
					time.Sleep(crawl.DefaultLimits().RecycleAfter - time.Second)
					if !asks {
						time.Sleep(2 * time.Second)
					}
					close(b.frozen)
				}
			})
			if (asked.Load() == 1) != asks || (len(b.outcomes) == 1) != asks || stats.Escaped > 0 {
				t.Errorf("within its term: %v; %d requests, %d outcomes, %d escaped", asks, asked.Load(), len(b.outcomes), stats.Escaped)
			}
		})
	}
}

// A server that cuts kept connections when the next request comes is asked again when its turn comes: never two requests
// closer than the delay, all of them counted, and no page has failed or used up a try.
func TestCutConnectionsKeepTheDelay(t *testing.T) {
	const delay = 700 * time.Millisecond
	for most := 1; most <= 3; most++ {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var at []time.Time
			serve := func(c net.Conn) {
				defer c.Close()
				br := bufio.NewReader(c)
				for n := 0; ; n++ {
					if _, err := http.ReadRequest(br); err != nil {
						return
					}
					mu.Lock()
					at = append(at, time.Now())
					mu.Unlock()
					if n == most {
						return
					}
					fmt.Fprintf(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
				}
			}
			var paths []string
			for i := range 20 {
				paths = append(paths, fmt.Sprintf("/%d", i))
			}
			b, stats := runLease(t, paths, func(j *crawl.Job) { j.Limits.Delay = delay }, serve)
			for i := 1; i < len(at); i++ {
				if gap := at[i].Sub(at[i-1]); gap < delay {
					t.Errorf("%d a connection: %v between requests %d and %d, want %v", most, gap, i-1, i, delay)
				}
			}
			if stats.Requests != int64(len(at)) || len(at) <= len(paths) {
				t.Errorf("%d a connection: %d requests are counted, the server has seen %d", most, stats.Requests, len(at))
			}
			if len(b.outcomes) != len(paths) {
				t.Errorf("%d a connection: %d outcomes of %d", most, len(b.outcomes), len(paths))
			}
			for _, o := range b.outcomes {
				if o.State != crawl.Fetched {
					t.Errorf("%d a connection: %s is %v: %s", most, o.URL, o.State, o.Detail)
				}
			}
		})
	}
}

// A field that is given stands in place of ours of that name, and no field is sent twice: cookies that are given go before those that the
// site has set.
func TestFieldsAreSentOnce(t *testing.T) {
	u, err := crawl.Parse("http://site.test/")
	if err != nil {
		t.Fatal(err)
	}
	given := []fetch.Field{{Name: "user-agent", Value: "other/1"}, {Name: "X-One", Value: "1"}, {Name: "X-One", Value: "2"}, {Name: "cookie", Value: "a=1"}, {Name: "Authorization", Value: "Bearer x"}}
	l := &lease{a: &Agent{}, l: crawl.Lease{Site: "site.test"}, site: crawl.SiteState{SeedSite: true, Headers: []crawl.Header{{Name: "Accept", Value: "*/*"}, {Name: "X-One", Value: "0"}}}}
	l.job.Identity.UserAgent, l.a.cfg.Headers, l.a.cfg.Logins = "argosy-test", given, map[string]string{"site.test": "me:secret"}
	l.jar.load([]crawl.Cookie{{Name: "b", Value: "2", Path: "/"}})
	got := map[string]string{}
	for _, f := range l.request(u).Fields {
		got[strings.ToLower(f.Name)] += f.Value + ","
	}
	want := map[string]string{"user-agent": "other/1,", "accept": "*/*,", "x-one": "1,2,", "cookie": "a=1; b=2,", "authorization": "Bearer x,"}
	if !maps.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// A server that ends all its connections at once has failed once: its site is not left alone as after many failures in a row. One that
// does so again and again is.
func TestCutTogetherIsOneFailure(t *testing.T) {
	for _, always := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			const whole = "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 4\r\n\r\npage"
			paths := []string{"/first"}
			for i := range 64 {
				paths = append(paths, fmt.Sprintf("/%d", i))
			}
			begun := time.Now()
			var soon atomic.Int64 // requests before anybody has waited
			runLease(t, paths, func(j *crawl.Job) { j.Limits.Delay, j.Limits.SiteConnections = 0, 8 }, func(c net.Conn) {
				defer c.Close()
				br := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(br)
					if err != nil {
						return
					}
					if time.Since(begun) < 5*time.Second {
						soon.Add(1)
					}
					if r.URL.Path == "/first" || time.Since(begun) >= time.Second && !always {
						time.Sleep(50 * time.Millisecond)
						_, _ = io.WriteString(c, whole)
						continue
					}
					_, _ = io.WriteString(c, whole[:len(whole)-2])
					time.Sleep(max(time.Second-time.Since(begun), 10*time.Millisecond))
					return
				}
			})
			if n := soon.Load(); !always && n != 65 || always && (n < 9 || n > 41) {
				t.Errorf("always: %v: %d requests of 65 without a wait", always, n)
			}
		})
	}
}

// Requests that end together because the server is asked too much are as many failures: its site is left alone.
func TestAskedTooMuchIsNoRestart(t *testing.T) {
	restarts := error(&crawl.Error{Op: "read header", Kind: crawl.KindReset, Err: io.ErrUnexpectedEOF})
	//lint:ignore SA1019 it is what the connections of HTTP/2 give (see fetch.Client.h2)
	tooMuch := error(&crawl.Error{Op: "read header", Kind: crawl.KindReset, Err: http2.GoAwayError{ErrCode: http2.ErrCodeEnhanceYourCalm}})
	for _, err := range []error{restarts, tooMuch} {
		l, began := &lease{}, time.Now()
		_ = l.together(began, err)
		if one := errors.As(l.together(began, err), new(cutTogether)); one != (err == restarts) {
			t.Errorf("%v: is one failure with the one before: %v", err, one)
		}
	}
}
