package agent

import (
	"bufio"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/page/robots"
)

// Each scheme of a site has the rules of its own robots.txt, whichever was asked for first, in this lease or another; http that redirects to
// that of https has said both. One that cannot be had forbids its scheme alone.
func TestEachSchemeHasItsRules(t *testing.T) {
	srv := httptest.NewTLSServer(nil)
	certificates := srv.TLS.Certificates
	srv.Close()
	plain, secure := "User-agent: *\nDisallow: /a\n", "User-agent: *\nDisallow: /b\nCrawl-delay: 2\n"
	first := robots.Parse([]byte(plain), "argosy-test").Encode()
	for name, c := range map[string]struct {
		plain, secure string // answers
		known         crawl.SiteState
		order         string // of schemes
		want          string // what is fetched
		asked         int    // times for a robots.txt
	}{
		"http first":    {plain, secure, crawl.SiteState{}, "http https", "http:/b http:/c https:/a https:/c", 2},
		"https first":   {plain, secure, crawl.SiteState{}, "https http", "http:/b http:/c https:/a https:/c", 2},
		"known":         {"503", secure, crawl.SiteState{Robots: first, RobotsState: crawl.RobotsRules, RobotsFor: "argosy-test", RobotsBy: "http", RobotsTTLMS: 1e6}, "https http", "http:/b http:/c https:/a https:/c", 1},
		"known for all": {"503", secure, crawl.SiteState{Robots: first, RobotsState: crawl.RobotsRules, RobotsFor: "argosy-test", RobotsTTLMS: 1e6}, "https http", "http:/b http:/c https:/b https:/c", 0},
		"http leads":    {"https://site.test/robots.txt", secure, crawl.SiteState{}, "http https", "http:/a http:/c https:/a https:/c", 2},
		"none":          {plain, "404", crawl.SiteState{}, "http https", "http:/b http:/c https:/a https:/b https:/c", 2},
		"down":          {plain, "503", crawl.SiteState{}, "http https", "http:/b http:/c", 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			in := &several{}
			job := crawl.Job{ID: 1, Identity: crawl.Identity{UserAgent: "argosy-test"}, Limits: crawl.DefaultLimits()}
			job.Limits.Retries = 0
			var mu sync.Mutex
			asked := 0
			var last time.Time
			serve := func(conn net.Conn, scheme string) {
				defer conn.Close()
				br := bufio.NewReader(conn)
				for {
					r, err := http.ReadRequest(br)
					if err != nil {
						return
					}
					mu.Lock()
					if now := time.Now(); now.Sub(last) < job.Limits.Delay {
						t.Errorf("%s: %v after the last request", name, now.Sub(last))
					}
					last = time.Now()
					says := "page " + scheme + r.URL.Path
					if r.URL.Path == robotsPath {
						asked++
						says = map[string]string{"http": c.plain, "https": c.secure}[scheme]
					}
					mu.Unlock()
					switch {
					case len(says) == 3:
						fmt.Fprintf(conn, "HTTP/1.1 %s So\r\nContent-Length: 0\r\n\r\n", says)
					case strings.HasPrefix(says, "https:"):
						fmt.Fprintf(conn, "HTTP/1.1 301 Moved\r\nLocation: %s\r\nContent-Length: 0\r\n\r\n", says)
					default:
						fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: %d\r\n\r\n%s", len(says), says)
					}
				}
			}
			lease := crawl.Lease{ID: 1, Job: 1, Site: "site.test", Node: "n", BudgetMS: time.Hour.Milliseconds(), Quota: 1000}
			for _, scheme := range strings.Fields(c.order) {
				for _, path := range []string{"/a", "/b", "/c"} {
					u, err := crawl.Parse(scheme + "://site.test" + path)
					if err != nil {
						t.Fatal(err)
					}
					lease.Targets = append(lease.Targets, crawl.Target{Key: u.Key(), URL: u.String()})
				}
			}
			in.dispatches = []crawl.Dispatch{{Version: crawl.WireVersion, Kind: crawl.DispatchLease, Lease: &lease, Job: &job, Site: &c.known}}
			in.run(t, &job, func(address string) net.Conn {
				here, there := net.Pipe()
				if strings.HasSuffix(address, ":443") {
					go serve(tls.Server(there, &tls.Config{Certificates: certificates}), "https")
				} else {
					go serve(there, "http")
				}
				return here
			})
			var got []string
			for _, o := range in.outcomes {
				if o.State == crawl.Fetched {
					got = append(got, strings.Replace(o.URL, "//site.test", "", 1))
				}
			}
			if all := sorted(got); all != c.want || asked != c.asked {
				t.Errorf("%s: fetched %s, want %s; robots.txt was asked for %d times, want %d", name, all, c.want, asked, c.asked)
			}
		})
	}
}

func sorted(words []string) string {
	slices.Sort(words)
	return strings.Join(words, " ")
}
