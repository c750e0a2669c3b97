package assemble_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/outdir"
	"argosy/internal/testkit"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

func runConfig(t *testing.T, c assemble.Config) assemble.Summary {
	t.Helper()
	cr, err := assemble.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := cr.Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := cr.Close(); err != nil {
		t.Fatal(err)
	}
	checkCounts(t, sum)
	return sum
}

// A limit is kept to the page, and may be raised; a log that is gone, as after a power cut without it, is recognised,
// and what frontier and ledger have of it is not applied twice.
func TestLimitsAndLostLog(t *testing.T) {
	t.Parallel()
	_, port := serveRandom(t, webs.RandomConfig{Pages: of(60, 150), Links: 6, Seed: 11})
	c := fleettest.Crawl(t.TempDir(), port, 0, 2)
	for _, most := range []int{of(50, 100), of(77, 137), of(180, 400)} {
		n := int64(most)
		c.Job.Limits.MaxPages = n
		sum := runConfig(t, c)
		if sum.State != crawl.JobLimited || sum.Limited != crawl.LimitPages || sum.Fetched != n {
			t.Errorf("limit %d: %s by %q after %d", n, sum.State, sum.Limited, sum.Fetched)
		}
		if err := os.RemoveAll(filepath.Join(c.Dir, "state", "bus")); err != nil {
			t.Fatal(err)
		}
	}
	c.Job.Limits.MaxPages = 0
	if sum := runConfig(t, c); sum.State != crawl.JobDone || sum.Limited != "" {
		t.Errorf("%+v", sum)
	}
	fleettest.Judge(t, c.Dir, port)
}

// A depth limit that is raised brings in what it had kept out.
func TestDepthRaised(t *testing.T) {
	t.Parallel()
	_, port := serveRandom(t, webs.RandomConfig{Pages: of(50, 120), Links: 2, Seed: 13})
	c := fleettest.Crawl(t.TempDir(), port, 0, 2)
	for depth := 1; depth <= 3; depth++ {
		c.Job.Limits.MaxDepth = depth
		sum := runConfig(t, c)
		if want := len(within(t, port, depth)); sum.Fetched != int64(want) {
			t.Errorf("depth %d: %d URLs, want %d", depth, sum.Fetched, want)
		}
	}
	c.Job.Limits.MaxDepth = 60_000
	runConfig(t, c)
	fleettest.Judge(t, c.Dir, port)
}

// A seed without a scheme is asked by https, then by http; where a seed redirects joins the scope, also for links that
// were refused before.
func TestSeeds(t *testing.T) {
	t.Parallel()
	w := webs.New()
	html := func(body string) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprintf(rw, body, r.Host)
		})
	}
	w.Sites["www.second.test"] = html(`<title>%s</title><a href="/more">more</a>`)
	port := served(t, w)
	w.Sites["first.test"] = html(`%s<a href="http://www.second.test:` + port + `/deep">early link</a>`)
	w.Sites["second.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/robots.txt" {
			http.NotFound(rw, r)
			return
		}
		http.Redirect(rw, r, "http://www.second.test:"+port+"/", http.StatusFound)
	})
	c := fleettest.Crawl(t.TempDir(), port, 0, 1)
	c.Job.Identity.Seeds = []string{"http://first.test:" + port + "/", "https://second.test:" + port + "/"}
	c.Job.Identity.NoScheme = []bool{false, true}
	sum := runConfig(t, c)
	// first.test/, second.test/ by https (which it does not speak) and by http, www.second.test/, /deep and /more
	if sum.Fetched != 5 || sum.Failed != 0 || sum.Excluded != 1 || sum.Reasons["no-https"] != 1 || len(sum.Losses)+len(sum.Troubles) != 0 {
		t.Errorf("%+v", sum)
	}
}

// Where the small page of a seed sends its reader on by a Refresh joins the scope, as where it redirects does, if that is its host with or without www.
func TestSeedRefreshes(t *testing.T) {
	t.Parallel()
	w := webs.New()
	page := func(body string) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			rw.Header().Set("Content-Type", "text/html")
			_, _ = rw.Write([]byte(body))
		})
	}
	port, stop, err := w.Serve("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	w.Sites["on.first.test"] = page("not asked for")
	w.Sites["www.first.test"] = page(`<a href="/more">more</a> <meta http-equiv=refresh content="60; url=http://on.first.test:` + port + `/">`)
	enter := http.NewServeMux() // by way of a page of the seed's own host
	enter.Handle("/", page(`<meta http-equiv=refresh content="0; url=/enter">`))
	enter.Handle("/enter", page(`<meta http-equiv=refresh content="0; url=http://www.first.test:`+port+`/in">`))
	w.Sites["first.test"] = enter
	w.Sites["empty.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("Refresh", "0; url=http://www.empty.test:"+port+"/")
	})
	w.Sites["www.empty.test"] = page("here")
	c := fleettest.Crawl(t.TempDir(), port, 0, 1)
	c.Job.Identity.Seeds = []string{"http://first.test:" + port + "/", "http://empty.test:" + port + "/"}
	if sum := runConfig(t, c); sum.Fetched != 6 {
		t.Errorf("%+v", sum)
	}
}

// A task whose lease shows no progress is recalled; after the limit of recalls it waits for a person, who releases it.
func TestStuckSiteGoesToAPerson(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	var well atomic.Bool
	w := webs.New()
	w.Sites["s0.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if !well.Load() && r.URL.Path != "/robots.txt" {
			select { // neither answers nor closes
			case <-release:
			case <-r.Context().Done():
			}
			return
		}
		_, _ = rw.Write([]byte("fine"))
	})
	port := served(t, w)
	c := fleettest.Crawl(t.TempDir(), port, 0, 2)
	c.Job.Identity.Seeds = c.Job.Identity.Seeds[:1]
	c.Job.Limits.RecycleAfter, c.Job.Limits.RecycleLimit = 400e6, 1
	sum := runConfig(t, c)
	if sum.State != crawl.JobManual || sum.Manual != 1 || sum.Pending != 1 {
		t.Errorf("%+v", sum)
	}
	well.Store(true)
	close(release)
	retry(t, c.Dir, crawl.Release{})
	if sum := runConfig(t, c); sum.State != crawl.JobDone || sum.Fetched != 1 {
		t.Errorf("after its release: %+v", sum)
	}
	sound(t, c.Dir)
}

// A site that asks to be left alone with 503 and Retry-After is, and its page is fetched afterwards.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	var asked atomic.Int64
	w := webs.New()
	w.Sites["s0.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/" && asked.Add(1) == 1 {
			rw.Header().Set("Retry-After", "1")
			http.Error(rw, "later", http.StatusServiceUnavailable)
			return
		}
		_, _ = rw.Write([]byte("fine"))
	})
	port := served(t, w)
	c := fleettest.Crawl(t.TempDir(), port, 0, 2)
	c.Job.Identity.Seeds = c.Job.Identity.Seeds[:1]
	if sum := runConfig(t, c); sum.Fetched != 1 || sum.Failed != 0 {
		t.Errorf("%+v", sum)
	}
	hits := w.Hits("s0.test") // robots.txt, the page refused, the page
	if len(hits) != 3 || hits[2].At.Sub(hits[1].At) < time.Second {
		t.Errorf("%d requests, the last one %s after it was refused", len(hits), hits[len(hits)-1].At.Sub(hits[1].At))
	}
}

// Whoever looks at a crawl's directory in the moment in which its process ends, and answers nobody any more, looks at it at rest.
func TestViewWhileItEnds(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 45, 5)
	dir := t.TempDir()
	want := runConfig(t, fleettest.Crawl(dir, port, 0, 1))
	lock, err := outdir.Lock(dir)
	if err != nil {
		t.Fatal(err)
	}
	seen := make(chan error, 1)
	go func() {
		seen <- assemble.View(t.Context(), assemble.DefaultConfig(dir), func(f *frontier.Frontier, running bool) error {
			if n := f.Counts(1); running || n.Fetched != want.Fetched {
				return fmt.Errorf("running %v, %+v", running, n)
			}
			return nil
		})
	}()
	testkit.Eventually(t, "it asks the process", func() bool {
		dirs, _ := filepath.Glob(filepath.Join(outdir.State(dir), "view-*"))
		return len(dirs) > 0
	})
	if err := errors.Join(lock.Close(), <-seen); err != nil {
		t.Error(err)
	}
}

// runInPieces runs a crawl to its end, in up to two runs before that end after so many pages, by chance.
func runInPieces(t *testing.T, c assemble.Config, chance *rand.Rand, least, more int) {
	t.Helper()
	for range chance.IntN(3) {
		c.Job.Limits.MaxPages += int64(least + chance.IntN(more))
		runConfig(t, c)
	}
	c.Job.Limits.MaxPages = 0
	runConfig(t, c)
}
