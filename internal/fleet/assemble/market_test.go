package assemble_test

import (
	"path/filepath"
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/verify"
	"argosy/internal/webs"
)

// Crawlers that remember together have nothing twice, trade, and have at their budget most of what one has that knows all; in the end every page
// was had once. Who remembers for himself fetches what others have.
func TestLongMarketCrawl(t *testing.T) {
	t.Parallel()
	const site = 300
	web := webs.NewTopical(webs.TopicalConfig{Seed: 3, Sites: 4, Pages: site, Share: 0.06, Near: 0.6, Told: 0.5})
	port := served(t, web)
	on := web.OnTopic(port)
	central, dir := t.TempDir(), t.TempDir()
	topical(t, central, web, port, func(j *crawl.Job) { j.Limits.MaxPages = site * 8 / 10 })
	_, alone, _, _ := had(t, central, on)

	lots := func(j *crawl.Job) {
		m := crawl.DefaultMarket(crawl.MarketLots)
		j.Identity.Market = &m
	}
	sum := topical(t, dir, web, port, func(j *crawl.Job) { lots(j); j.Limits.MaxPages = site * 8 / 10 })
	pages, truly, _, _ := had(t, dir, on)
	markets, sold := held(t, dir)
	t.Logf("of %d pages on the topic: one crawler %d, five %d in %d pages; %d markets, %d URLs sold", len(on), alone, truly, pages, markets, sold)
	if sum.State != crawl.JobLimited || markets < 3 || sold == 0 || truly < alone*5/10 {
		t.Errorf("%s", sum.State)
	}
	sum = topical(t, dir, web, port, lots)
	pages, truly, _, _ = had(t, dir, on)
	if sum.State != crawl.JobDone || pages != 4*site || truly != len(on) || sum.Pending != 0 {
		t.Errorf("gone on: %d pages, %d of %d on the topic, %+v", pages, truly, len(on), sum.JobCounts)
	}
	sound(t, dir)
}

// held returns how many markets a crawl's ledger tells of, and how many URLs changed hands in them.
func held(t *testing.T, dir string) (markets, sold int64) {
	t.Helper()
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	err = l.Markets(t.Context(), 1, func(m ledger.Held) error {
		if markets++; m.No != markets || len(m.Crawlers) != 5 {
			t.Errorf("market %d: %+v", markets, m)
		}
		sold += m.Sold
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return markets, sold
}

// sound fails if frontier, ledger, index and archives of a directory do not say the same.
func sound(t *testing.T, dir string) {
	t.Helper()
	if found, err := verify.Dir(t.Context(), dir); err != nil || !found.OK {
		t.Errorf("verify: %+v, %v", found, err)
	}
}

// As published: crawlers stop at their target and go on with what they buy; those that trade have less twice than those that do not.
func TestMarketAsPublished(t *testing.T) {
	t.Parallel()
	web := webs.NewTopical(webs.TopicalConfig{Seed: 5, Sites: 3, Pages: 200, Share: 0.2, Near: 0.7, Told: 0.8})
	port := served(t, web)
	for _, mode := range []crawl.MarketMode{crawl.MarketPaper, crawl.MarketAlone} {
		dir := t.TempDir()
		sum := topical(t, dir, web, port, func(j *crawl.Job) {
			m := crawl.DefaultMarket(mode)
			m.Interval = 200 * time.Millisecond // their lifetime is not what ends them, however busy the machine is
			j.Identity.Market = &m
		})
		pages, truly, _, _ := had(t, dir, web.OnTopic(port))
		markets, sold := held(t, dir)
		t.Logf("%s: %s, %d pages, %d on the topic, %d markets, %d URLs sold, %v", mode, sum.State, pages, truly, markets, sold, sum.Reasons)
		if sum.State != crawl.JobLimited || sum.Fetched+sum.Failed > 50 || (mode == crawl.MarketPaper) != (markets > 0 && sold > 0) {
			t.Errorf("%+v", sum.JobCounts)
		}
		sound(t, dir)
	}
}

// Lots end when nothing is left, or nobody may go on, not when nobody buys. What crawlers may spend can be raised, and the same crawl goes
// on to its end.
func TestLongLotsWithBounds(t *testing.T) {
	t.Parallel()
	web := webs.NewTopical(webs.TopicalConfig{Seed: 6, Sites: 3, Pages: 60, Share: 0.1, Near: 0.6, Told: 0.5})
	port := served(t, web)
	lots := func(dir string, alpha int, beta float64) assemble.Summary {
		return topical(t, dir, web, port, func(j *crawl.Job) {
			m := crawl.DefaultMarket(crawl.MarketLots)
			m.Crawlers, m.Alpha, m.Beta = 4, alpha, beta
			j.Identity.Market = &m
		})
	}
	if sum := lots(t.TempDir(), 5, 0); sum.State != crawl.JobDone || sum.Pages != 180 || sum.Stuck != nil {
		t.Errorf("with a target of 5: %s, %d pages, %v", sum.State, sum.Pages, sum.Stuck)
	}
	alone := t.TempDir()
	topical(t, alone, web, port, func(j *crawl.Job) {
		m := crawl.DefaultMarket(crawl.MarketLots)
		m.Crawlers, j.Identity.Market = 1, &m
	})
	if markets, _ := held(t, alone); markets > 0 {
		t.Errorf("one crawler has held %d markets with itself", markets)
	}
	dir := t.TempDir()
	if sum := lots(dir, 0, 10); sum.State != crawl.JobLimited || sum.Pages > 80 || sum.Stuck == nil || sum.Stuck.Lacked["ability"] != 4 {
		t.Errorf("with ability for 20 pages each: %s, %d pages, %v", sum.State, sum.Pages, sum.Stuck)
	}
	if sum := lots(dir, 0, 100); sum.State != crawl.JobDone || sum.Pages != 180 {
		t.Errorf("gone on with more: %s, %d pages, %v", sum.State, sum.Pages, sum.Stuck)
	}
	sound(t, dir)
}
