package assemble_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/bus"
	"argosy/internal/fleet/mend"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/survey"
	"argosy/internal/webs"
)

// The figures of crawlers are those of the end of the crawl, and add up to those of the whole. A ledger that is made anew gives the same
// figures while the log has what the frontier has not; without the log, all but what was expected of pages and offered in markets.
func TestTopicFigures(t *testing.T) {
	t.Parallel()
	web := webs.NewTopical(webs.TopicalConfig{Seed: 4, Sites: 3, Pages: 100, Share: 0.1, Near: 0.6, Told: 0.5})
	port := served(t, web)
	for _, mode := range []crawl.MarketMode{crawl.MarketLots, crawl.MarketAlone} {
		dir := t.TempDir()
		topical(t, dir, web, port, func(j *crawl.Job) {
			m := crawl.DefaultMarket(mode)
			m.Beta, m.Space, m.Understanding = m.Beta*4, m.Space*4, 0
			j.Identity.Market, j.Limits.MaxPages = &m, 110
		})
		want := figures(t, dir)
		var sum survey.CrawlerStats
		for _, c := range want.Market.Crawlers {
			sum.Visited, sum.Saved, sum.Bought, sum.Sold = sum.Visited+c.Visited, sum.Saved+c.Saved, sum.Bought+c.Bought, sum.Sold+c.Sold
		}
		if want.CC == 0 || sum.Visited != want.VC || sum.Saved != want.CC || sum.Bought != want.Market.Sold || sum.Sold != want.Market.Sold {
			t.Errorf("%s: crawlers have %+v together, the crawl %+v with %+v", mode, sum, want, want.Market)
		}
		rebuild := func() survey.Stats {
			for _, more := range []string{"", "-wal", "-shm"} {
				_ = os.Remove(filepath.Join(dir, outdir.LedgerFile+more))
			}
			if _, err := mend.Ledger(t.Context(), dir, "", nil); err != nil {
				t.Fatal(err)
			}
			return figures(t, dir)
		}
		same := func(what string, got, want survey.Stats) {
			t.Helper()
			if !reflect.DeepEqual(got, want) {
				a, _ := json.Marshal(got)
				b, _ := json.Marshal(want)
				t.Errorf("%s, %s:\n%s\nwas\n%s", mode, what, a, b)
			}
		}
		same("rebuilt with the log", rebuild(), want)
		forget(t, dir)
		without := *want.Market
		without.Offered, without.Worth, without.TookOver, without.Unknown = 0, 0, 0, without.Markets
		want.AUC, want.Ranked, want.Market = 0, 0, &without
		same("rebuilt without the log", rebuild(), want)
	}
}

// figures returns the figures of the first job of a directory. In which order pages came that came together is not told twice alike.
func figures(t *testing.T, dir string) survey.Stats {
	t.Helper()
	s, err := survey.TopicStats(t.Context(), dir, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	s.Curve = nil
	return *s
}

// forget has the log of a directory forget all that was applied.
func forget(t *testing.T, dir string) {
	t.Helper()
	s, err := bus.Serve(bus.DefaultConfig(outdir.Bus(dir)))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := s.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	_, last, err := c.Refresh(t.Context())
	if err == nil {
		err = c.Trim(t.Context(), last)
	}
	if err != nil {
		t.Fatal(err)
	}
}
