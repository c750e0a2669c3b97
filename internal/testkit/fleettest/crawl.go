package fleettest

import (
	"fmt"
	"net/netip"
	"path/filepath"
	"strings"
	"testing"
	"time"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/verify"
	"argosy/internal/testkit"
)

// Sites is how many sites the webs of these tests have: s0.test to s4.test.
const Sites = 5

// Crawl is a crawl of a random web of such sites that listens on a port of this machine, with a delay between two requests to a site.
func Crawl(dir, port string, delay time.Duration, agents int) assemble.Config {
	c := assemble.DefaultConfig(dir)
	for s := range Sites {
		c.Job.Identity.Seeds = append(c.Job.Identity.Seeds, fmt.Sprintf("http://s%d.test:%s/", s, port))
	}
	c.Job.Identity.Scope = crawl.ScopeSite
	c.Job.Identity.UserAgent = "argosy-test"
	c.Job.Limits.Delay = delay
	c.Job.Limits.PerIP = 0
	c.Job.Limits.Backoff = 50 * time.Millisecond
	c.Agents = agents
	c.Fetch.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Fetch.Resolve = map[string]netip.Addr{"*.test": netip.MustParseAddr("127.0.0.1")}
	return c
}

// Judge compares what a crawl has left with an independent search of the same web.
func Judge(t *testing.T, dir, port string) {
	t.Helper()
	JudgeSites(t, dir, Crawl(dir, port, 0, 1).Job.Identity.Seeds, port)
}

// JudgeSites is Judge for other seeds.
func JudgeSites(t *testing.T, dir string, seeds []string, port string) {
	t.Helper()
	Search(t, seeds, port).Judge(t, dir)
}

// Truth is what a crawl should find: the status of each URL.
type Truth map[string]int

// Search has a web searched that is served on a port. Where many crawls of one web are judged, once is enough.
func Search(t *testing.T, seeds []string, port string) Truth {
	t.Helper()
	o := &testkit.Oracle{Addr: "127.0.0.1:" + port, Workers: 8, Allowed: func(u *whatwg.Url) bool {
		return len(u.Href(true)) <= crawl.MaxURLLength && strings.HasSuffix(u.Hostname(), ".test") && !strings.HasPrefix(u.Pathname(), "/private/")
	}}
	visits, err := o.Crawl(t.Context(), seeds)
	if err != nil {
		t.Fatal(err)
	}
	want := Truth{}
	for s, v := range visits {
		u, err := crawl.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		want[u.String()] = v.Status
	}
	return want
}

// Judge compares what lies in a directory with what there is to be found, and has the directory verified.
func (want Truth) Judge(t *testing.T, dir string) {
	t.Helper()
	want.Compare(t, dir)
	r, err := verify.Dir(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	if !r.OK || r.Lost > 0 {
		t.Errorf("verify: %+v", r)
	}
}

// Compare is Judge of a directory that was verified already.
func (want Truth) Compare(t *testing.T, dir string) {
	t.Helper()
	ctx := t.Context()
	l, err := ledger.Open(ctx, filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := 0
	err = l.Pages(ctx, 1, func(p *ledger.Page) error {
		if p.State == "excluded" && p.Reason == "robots" {
			return nil
		}
		got++
		if s, ok := want[p.URL]; !ok || s != p.Status {
			t.Errorf("%s: %s %s, status %d; the search says %d (found %v)", p.URL, p.State, p.Reason, p.Status, s, ok)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if got != len(want) {
		t.Errorf("the crawl has %d URLs, the search %d", got, len(want))
	}
}
