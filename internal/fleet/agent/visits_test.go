package agent

import (
	"bufio"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/archive"
	"argosy/internal/page/fetch"
)

// several gives an agent leases of several sites, and stops it when all have ended.
type several struct {
	dispatches []crawl.Dispatch
	stop       context.CancelFunc

	mu       sync.Mutex
	ended    int
	outcomes []crawl.Outcome
}

func (s *several) Receive(ctx context.Context, _ string, fn func([]byte, time.Duration) error) error {
	for i := range s.dispatches {
		msg, err := crawl.Marshal(&s.dispatches[i])
		if err != nil {
			return err
		}
		if err := fn(msg, 0); err != nil {
			return err
		}
	}
	<-ctx.Done()
	return nil
}

func (s *several) Report(_ context.Context, _ string, entry []byte) error {
	var e crawl.Entry
	if err := crawl.Unmarshal(entry, &e); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range e.Parts {
		s.outcomes = append(s.outcomes, p.Outcomes...)
		if p.Starved || p.Final {
			s.ended++
		}
	}
	if s.ended >= len(s.dispatches) {
		s.stop()
	}
	return nil
}

// run has an agent work through the dispatches, with servers that dial connects it to, until all leases have ended.
func (s *several) run(t *testing.T, job *crawl.Job, dial func(address string) net.Conn) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	s.stop = stop
	client, err := fetch.NewClient(fetch.Config{
		Limits: job.Limits.Fetch, Allow: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}, TLS: &tls.Config{InsecureSkipVerify: true, NextProtos: []string{"http/1.1"}},
		Resolve: map[string]netip.Addr{"*": netip.MustParseAddr("127.0.0.1")},
		Dial:    func(_ context.Context, _, address string) (net.Conn, error) { return dial(address), nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	w := archive.NewWriter(archive.WriterConfig{Dir: t.TempDir(), Prefix: "test", MaxSize: 1 << 30})
	if err := New(DefaultConfig(crawl.NodeInfo{Node: "n"}), s, s, client, w).Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// Sites whose robots.txt redirects to one site ask that no faster than its own pace is, beside its own lease as well, and for one file once.
// Two files are two requests.
func TestRobotsElsewhereKeepThePace(t *testing.T) {
	const delay = time.Second
	for _, c := range []struct {
		files   int
		connect time.Duration
	}{{1, 100 * time.Millisecond}, {2, 100 * time.Millisecond}, {2, 0}, {1, 3 * delay / 2}, {2, 3 * delay / 2}} {
		files := c.files
		synctest.Test(t, func(t *testing.T) {
			in := &several{}
			job := crawl.Job{ID: 1, Identity: crawl.Identity{UserAgent: "argosy-test"}, Limits: crawl.DefaultLimits()}
			job.Limits.Delay = delay
			var mu sync.Mutex
			asked := map[string][]time.Time{} // sites
			last := map[string]int{}          // paths of the one
			serve := func(c net.Conn) {
				defer c.Close()
				br := bufio.NewReader(c)
				for {
					r, err := http.ReadRequest(br)
					if err != nil {
						return
					}
					mu.Lock()
					asked[r.Host] = append(asked[r.Host], time.Now())
					if r.Host == "one.test" {
						last[r.URL.Path]++
					}
					mu.Unlock()
					switch {
					case r.Host != "one.test" && r.URL.Path == robotsPath:
						fmt.Fprintf(c, "HTTP/1.1 301 Moved\r\nLocation: http://one.test/rules%d\r\nContent-Length: 0\r\n\r\n", int(r.Host[1]-'0')%files)
					case r.Host == "one.test" && r.URL.Path[1] == 'r':
						fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 26\r\n\r\nUser-agent: *\nDisallow: /2")
					default:
						fmt.Fprint(c, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\nok")
					}
				}
			}
			for i, site := range []string{"one.test", "s0.test", "s1.test", "s2.test", "s3.test", "s4.test", "s5.test"} {
				lease := crawl.Lease{ID: uint64(i + 1), Job: 1, Site: site, Node: "n", BudgetMS: time.Hour.Milliseconds(), Quota: 1000}
				for n := range 4 {
					u, err := crawl.Parse(fmt.Sprintf("http://%s/%d", site, n))
					if err != nil {
						t.Fatal(err)
					}
					lease.Targets = append(lease.Targets, crawl.Target{Key: u.Key(), URL: u.String(), Seq: uint64(n)})
				}
				in.dispatches = append(in.dispatches, crawl.Dispatch{Version: crawl.WireVersion, Kind: crawl.DispatchLease, Lease: &lease, Job: &job, Site: &crawl.SiteState{}})
			}
			in.run(t, &job, func(string) net.Conn {
				here, there := net.Pipe()
				time.Sleep(c.connect)
				go serve(there)
				return here
			})
			for site, at := range asked {
				for i := 1; i < len(at); i++ {
					if gap := at[i].Sub(at[i-1]); gap < delay {
						t.Errorf("%d files: %v between requests %d and %d to %s", files, gap, i-1, i, site)
					}
				}
			}
			for f := range files {
				if n := last[fmt.Sprintf("/rules%d", f)]; n != 1 && c.connect < delay {
					t.Errorf("%d files: rules %d were asked for %d times", files, f, n)
				}
			}
			fetched, refused := 0, 0
			for _, o := range in.outcomes {
				switch o.State {
				case crawl.Fetched:
					fetched++
				case crawl.Excluded:
					refused++
				}
			}
			if c.connect < delay && (fetched != 7*3 || refused != 7) { // else leases end that have the turn too late, and go on in the next one
				t.Errorf("%d files: %d fetched, %d refused of %d", files, fetched, refused, len(in.outcomes))
			}
		})
	}
}
