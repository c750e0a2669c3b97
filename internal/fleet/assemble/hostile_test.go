package assemble_test

import (
	"net/netip"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/testkit"
)

// aloneEnv says to a test that this process is its own.
const aloneEnv = "ARGOSY_TEST_ALONE"

// A crawl of the whole catalogue of hostile servers ends, with a reason in the ledger for everything that is not a page,
// and without holding on to memory; a name that resolves to a private address is denied. It runs in a process of its own: what others take
// beside it would count.
func TestHostileWeb(t *testing.T) {
	t.Parallel()
	if os.Getenv(aloneEnv) == "" {
		c := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$")
		c.Env = append(os.Environ(), aloneEnv+"=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	port, stop, err := testkit.ServeHostile()
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	c := assemble.DefaultConfig(t.TempDir())
	c.Job.Identity = crawl.Identity{
		Seeds: []string{"http://hostile.test:" + port + "/", "http://inside.test/", "http://nowhere.test/"},
		Scope: crawl.ScopeSite, UserAgent: "argosy-test",
	}
	c.Job.Limits.Delay, c.Job.Limits.Backoff, c.Job.Limits.Retries = 0, 10*time.Millisecond, 1
	c.Job.Limits.Fetch = testkit.HostileLimits()
	c.Fetch.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Fetch.Resolve = map[string]netip.Addr{"hostile.test": netip.MustParseAddr("127.0.0.1"), "inside.test": netip.MustParseAddr("10.0.0.1")}
	c.Fetch.DNS = "127.0.0.1:1" // nobody answers
	sum := runConfig(t, c)
	if sum.State != crawl.JobDone || sum.Pending != 0 {
		t.Errorf("summary %+v", sum)
	}
	l, err := ledger.Open(t.Context(), filepath.Join(c.Dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	got := map[string]string{}
	err = l.Pages(t.Context(), 1, func(p *ledger.Page) error {
		got[p.URL] = p.Reason
		if p.State != "fetched" && p.Reason == "" {
			t.Errorf("%s is %s without a reason", p.URL, p.State)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, h := range testkit.Catalogue() {
		u := "http://hostile.test:" + port + "/" + strconv.Itoa(i)
		reason, ok := got[u]
		busy := h.Kind == crawl.KindBodyLarge && reason == string(crawl.KindTimeout) // time was short; fetch's own tests leave enough
		if !ok || h.Kind != "" && reason != string(h.Kind.Of(true)) && !busy {
			t.Errorf("%s (%s): reason %q, want %q", u, h.Name, reason, h.Kind)
		}
	}
	nowhere := got["http://nowhere.test/"]
	if got["http://inside.test/"] != string(crawl.KindDenied) || nowhere != string(crawl.KindNoHost) && nowhere != string(crawl.KindDNS) { // the latter without a name server
		t.Errorf("reasons %q and %q, want denied and no-such-host", got["http://inside.test/"], nowhere)
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 200<<20 {
		t.Errorf("%d MiB are in use after the crawl", m.HeapAlloc>>20)
	}
}
