package agent

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

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

	dir string // of the archive
}

func (b *bench) Receive(ctx context.Context, _ string, fn func([]byte) error) error {
	msg, err := crawl.Marshal(&b.dispatch)
	if err == nil {
		err = fn(msg)
	}
	<-ctx.Done()
	return err
}

func (b *bench) Report(_ context.Context, _ string, entry []byte) error {
	var e crawl.Entry
	if err := crawl.Unmarshal(entry, &e); err != nil {
		return err
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, p := range e.Parts {
		b.outcomes = append(b.outcomes, p.Outcomes...)
		b.found = append(b.found, p.Found...)
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
func runTargets(t *testing.T, like crawl.Target, paths []string, change func(*crawl.Job), serve func(net.Conn)) (*bench, Stats) {
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
		lease.Targets = append(lease.Targets, crawl.Target{Key: u.Key(), URL: u.String(), Seq: uint64(i), Tries: like.Tries, Flags: like.Flags})
	}
	b.dispatch = crawl.Dispatch{
		Version: crawl.WireVersion, Kind: crawl.DispatchLease, Lease: &lease, Job: &job, Site: &crawl.SiteState{},
	}
	client, err := fetch.NewClient(fetch.Config{
		Limits: job.Limits.Fetch, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")},
		Resolve: map[string]netip.Addr{"*": netip.MustParseAddr("127.0.0.1")},
		Dial: func(context.Context, string, string) (net.Conn, error) {
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
