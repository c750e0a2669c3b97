package assemble_test

import (
	"database/sql"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/outdir"
	"argosy/internal/plan/strategy"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// Whatever the strategy, a crawl with several nodes ends and reaches what a search of its own reaches.
func TestLongEveryStrategyCrawls(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 9, 10)
	truth := fleettest.Search(t, fleettest.Crawl("", port, 0, 1).Job.Identity.Seeds, port)
	for _, name := range strategy.Names() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			c := fleettest.Crawl(dir, port, 0, 3)
			c.Strategy = name
			c.Job.Placing.Places = map[string]crawl.Place{"127.0.0.1": {Lat: 47, Lon: 8}} // geo wants to know where a site is
			sum := runConfig(t, c)
			if sum.State != crawl.JobDone || sum.Pending != 0 || sum.Strategy != name {
				t.Errorf("%+v", sum)
			}
			truth.Judge(t, dir)
		})
	}
}

// With --probe all every node measures every site, on the site's clock, before it is crawled; what it says is in the
// ledger, and the crawl reaches the same.
func TestProbesAreMeasuredPolitely(t *testing.T) {
	t.Parallel()
	w, port := serveRandom(t, webs.RandomConfig{Pages: 10, Links: 5, Seed: 10})
	dir := t.TempDir()
	const delay = 100 * time.Millisecond
	c := fleettest.Crawl(dir, port, delay, 3)
	c.Strategy, c.Probe = "bandwidth", "all"
	late := lateness()
	sum := runConfig(t, c)
	if sum.State != crawl.JobDone {
		t.Errorf("%+v", sum)
	}
	db, err := sql.Open("sqlite", filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for kind, want := range map[string]int{"bc": 3 * fleettest.Sites, "bs": 3 * fleettest.Sites} {
		var n, positive int
		row := db.QueryRowContext(t.Context(), `SELECT count(*), sum(value > 0) FROM measurements WHERE kind = ? AND url <> ''`, kind)
		if err := row.Scan(&n, &positive); err != nil {
			t.Fatal(err)
		}
		if n != want || positive != n {
			t.Errorf("%s: %d measurements, %d above 0, want %d", kind, n, positive, want)
		}
	}
	var stores int
	if err := db.QueryRowContext(t.Context(), `SELECT count(DISTINCT value) FROM measurements WHERE kind = 'bs'`).Scan(&stores); err != nil || stores != 1 {
		t.Errorf("nodes of one process, which write to the same store, have %d measurements of it, want 1 (%v)", stores, err)
	}
	var seeds int
	if err := db.QueryRowContext(t.Context(), `SELECT count(*) FROM seeds WHERE bc > 0 AND bs > 0`).Scan(&seeds); err != nil || seeds != 3*fleettest.Sites {
		t.Errorf("the seed table has %d rows with BC and BS, want %d (%v)", seeds, 3*fleettest.Sites, err)
	}
	noise := 2 * late()
	for s := range fleettest.Sites {
		if gap, n := w.MinGap(fmt.Sprintf("s%d.test", s)); n > 1 && gap < delay*7/10-noise {
			t.Errorf("site %d: %v between two requests", s, gap)
		}
	}
}

// What a site says that refuses a probe, or that has no root page, is small and quick: it is no measurement of a bandwidth. That it was refused
// is in the ledger.
func TestRefusedProbesAreNoBandwidth(t *testing.T) {
	t.Parallel()
	for status, refused := range map[int]float64{http.StatusForbidden: crawl.ProbeTries, http.StatusNotFound: 0} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/robots.txt" {
				http.NotFound(w, r)
				return
			}
			w.WriteHeader(status)
		}))
		defer srv.Close()
		_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		c := fleettest.Crawl(dir, port, 0, 2)
		c.Job.Identity.Seeds = c.Job.Identity.Seeds[:1]
		c.Probe = "all"
		runConfig(t, c)
		db, err := sql.Open("sqlite", filepath.Join(dir, outdir.LedgerFile))
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var speeds, refusals, delays int
		var tries float64
		row := db.QueryRowContext(t.Context(), `SELECT coalesce(sum(kind = 'bc'), 0), coalesce(sum(kind = 'refused'), 0), coalesce(sum(kind = 'httpping'), 0),
coalesce(max(CASE WHEN kind = 'refused' THEN value END), 0) FROM measurements`)
		if err := row.Scan(&speeds, &refusals, &delays, &tries); err != nil {
			t.Fatal(err)
		}
		if speeds != 0 || tries != refused || (refusals > 0) != (refused > 0) || delays == 0 {
			t.Errorf("answered %d: %d bandwidths, %d refusals of %v tries, %d delays", status, speeds, refusals, tries, delays)
		}
	}
}

// A probe that is told to wait makes the whole fleet wait, like any other request.
func TestProbesHeedRetryAfter(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var told, next time.Time
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case r.URL.Path == "/robots.txt":
			http.NotFound(w, r)
		case told.IsZero():
			told = time.Now()
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		case next.IsZero():
			next = time.Now()
		}
	}))
	defer srv.Close()
	_, port, err := net.SplitHostPort(srv.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c := fleettest.Crawl(t.TempDir(), port, 0, 2)
	c.Job.Identity.Seeds = c.Job.Identity.Seeds[:1]
	c.Probe = "all"
	runConfig(t, c)
	if next.IsZero() || next.Sub(told) < 950*time.Millisecond {
		t.Errorf("asked to wait a second, the site was asked again after %v", next.Sub(told))
	}
}
