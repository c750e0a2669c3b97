package assemble_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	whatwg "github.com/nlnwa/whatwg-url/url"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/testkit/scratch"
	"argosy/internal/webs"
)

// crawlDirEnv makes the test binary crawl the web at crawlAddrEnv into a directory instead of testing: the process
// that the kill test kills.
const (
	crawlDirEnv  = "ARGOSY_TEST_DIR"
	crawlPortEnv = "ARGOSY_TEST_PORT"
	crawlDelay   = "ARGOSY_TEST_DELAY"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(crawlDirEnv); dir != "" {
		delay, err := time.ParseDuration(os.Getenv(crawlDelay))
		if err == nil {
			_, err = runOnce(context.Background(), dir, os.Getenv(crawlPortEnv), delay, 2)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(scratch.Run(m, databases.Stop))
}

var killed = flag.Int("kills", 6, "how often a crawl is killed that must lose nothing; make nightly kills it 20 times")

func runOnce(ctx context.Context, dir, port string, delay time.Duration, agents int) (sum assemble.Summary, err error) {
	cr, err := assemble.Open(ctx, fleettest.Crawl(dir, port, delay, agents))
	if err != nil {
		return sum, err
	}
	sum, err = cr.Run(ctx, nil)
	if cerr := cr.Close(); err == nil {
		err = cerr
	}
	return sum, err
}

func checkCounts(t *testing.T, s assemble.Summary) {
	t.Helper()
	if s.Discovered != s.Fetched+s.Failed+s.Excluded+s.Pending {
		t.Errorf("discovered %d is not fetched %d + failed %d + excluded %d + pending %d", s.Discovered, s.Fetched, s.Failed, s.Excluded, s.Pending)
	}
}

// A crawl reaches exactly what a search of its own reaches, with one node and with several.
func TestCompleteAndExact(t *testing.T) {
	t.Parallel()
	for agents := 1; agents <= 3; agents += 2 {
		w := webs.Random(webs.RandomConfig{Sites: fleettest.Sites, Pages: of(40, 80), Links: 6, Seed: uint64(agents)})
		port, stop, err := w.Serve("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		sum, err := runOnce(t.Context(), dir, port, 0, agents)
		if err != nil {
			t.Fatal(err)
		}
		checkCounts(t, sum)
		if sum.State != crawl.JobDone || sum.Pending != 0 || sum.Failed != 0 {
			t.Errorf("summary %+v", sum)
		}
		fleettest.Judge(t, dir, port)
		again, err := runOnce(t.Context(), dir, port, 0, agents)
		if err != nil {
			t.Fatal(err)
		}
		if again.Requests != 0 || again.Fetched != sum.Fetched {
			t.Errorf("a finished crawl, run again, sends %d requests and has %d URLs, not %d", again.Requests, again.Fetched, sum.Fetched)
		}
		stop()
	}
}

// The depth limit keeps exactly the URLs that are within reach, whatever the order in which pages came, and the ledger has
// the least depth of each.
func TestLongDepthIsMinimal(t *testing.T) {
	t.Parallel()
	_, port := serveRandom(t, webs.RandomConfig{Pages: of(60, 150), Links: 2, Seed: 7})
	nearest := map[string]int{} // by an independent search within each depth
	for depth := 4; depth >= 0; depth-- {
		for u := range within(t, port, depth) {
			nearest[u] = depth
		}
	}
	for depth := 1; depth <= 4; depth++ {
		c := fleettest.Crawl(t.TempDir(), port, 0, 3)
		c.Job.Limits.MaxDepth = depth
		runConfig(t, c)
		want := within(t, port, depth)
		l, err := ledger.Open(t.Context(), filepath.Join(c.Dir, outdir.LedgerFile))
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]bool{}
		err = l.Pages(t.Context(), 1, func(p *ledger.Page) error {
			if p.State == "fetched" {
				got[p.URL] = true
				if least, ok := nearest[p.URL]; ok && least != p.Depth {
					t.Errorf("limit %d: %s is %d deep in the ledger, %d by the search", depth, p.URL, p.Depth, least)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		for u := range want {
			if !got[u] {
				t.Errorf("depth %d: %s is missing", depth, u)
			}
		}
		if len(got) != len(want) {
			t.Errorf("depth %d: %d URLs, want %d", depth, len(got), len(want))
		}
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// within returns the URLs that an independent search finds within a depth; a redirect costs none.
func within(t *testing.T, port string, depth int) map[string]bool {
	t.Helper()
	o := &testkit.Oracle{Addr: "127.0.0.1:" + port, Workers: 8, MaxDepth: depth + 1, Allowed: func(u *whatwg.Url) bool {
		return strings.HasSuffix(u.Hostname(), ".test") && !strings.HasPrefix(u.Pathname(), "/private/")
	}}
	visits, err := o.Crawl(t.Context(), fleettest.Crawl("", port, 0, 1).Job.Identity.Seeds)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]bool{}
	for s := range visits {
		u, err := crawl.Parse(s)
		if err != nil {
			t.Fatal(err)
		}
		out[u.String()] = true
	}
	return out
}

// lateness measures by how much this machine runs a timer late. The function that it returns ends that and returns the most.
func lateness() func() time.Duration {
	const every = 5 * time.Millisecond
	end, most := make(chan struct{}), make(chan time.Duration)
	go func() {
		tick, last, late := time.NewTicker(every), time.Now(), time.Duration(0)
		defer tick.Stop()
		for {
			select {
			case <-end:
				most <- late
				return
			case <-tick.C:
				now := time.Now()
				late, last = max(late, now.Sub(last)-every), now
			}
		}
	}()
	return func() time.Duration {
		close(end)
		return <-most
	}
}

// Killed at random moments and started again each time, a crawl loses nothing, and asks no site before its time.
func TestLongKilledItLosesNothing(t *testing.T) {
	t.Parallel()
	for _, delay := range []time.Duration{0, 100 * time.Millisecond} {
		pages := 200
		if delay > 0 {
			pages = 12
		}
		w := webs.Random(webs.RandomConfig{Sites: fleettest.Sites, Pages: pages, Links: 5, Seed: 3, Latency: 4 * time.Millisecond})
		port, stop, err := w.Serve("127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		late := lateness()
		rng := rand.New(rand.NewPCG(1, uint64(delay)))
		kills := 0
		for run := 0; ; run++ {
			if run > 60 {
				t.Fatal("the crawl does not end")
			}
			ctx, cancel := context.WithCancel(t.Context())
			if kills < *killed {
				ctx, cancel = context.WithTimeout(t.Context(), time.Duration(100+rng.IntN(350))*time.Millisecond)
			}
			cmd := exec.CommandContext(ctx, os.Args[0], "-test.run=^$") // CommandContext kills with SIGKILL
			cmd.Env = append(os.Environ(), crawlDirEnv+"="+dir, crawlPortEnv+"="+port, crawlDelay+"="+delay.String())
			out, err := cmd.CombinedOutput()
			killed := ctx.Err() != nil
			cancel()
			if !killed && err != nil {
				t.Fatalf("run %d: %v\n%s", run, err, out)
			}
			if !killed {
				break
			}
			kills++
		}
		requests, noise := 0, 2*late() // of two processes, when one request is seen late and the next is not
		for s := range fleettest.Sites {
			gap, n := w.MinGap(fmt.Sprintf("s%d.test", s))
			requests += n
			if gap < delay*85/100-noise {
				t.Errorf("delay %s: two requests to s%d.test were %s apart, and the machine was late by %s", delay, s, gap, noise/2)
			}
		}
		fleettest.Judge(t, dir, port)
		stop()
		t.Logf("delay %s: %d kills, %d requests", delay, kills, requests)
	}
}
