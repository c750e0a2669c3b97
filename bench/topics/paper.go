package main

import (
	"context"
	"fmt"
	"net/netip"
	"os"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/survey"
	"argosy/internal/page/topic"
	"argosy/internal/plan/lab"
	"argosy/internal/plan/report"
	"argosy/internal/webs"
)

// The market paper's experiment by real crawls: for each keyword of each topic five crawlers, with the market and without, on a web that is
// served over HTTP. A second of the crawl stands for a minute of the paper: 300 s are 5 s, a market each 2 s, a page at least a tenth.
const (
	paperTopics, paperKeywords = 12, 5
	paperScale                 = 60
	paperTime                  = 300 * time.Second / paperScale
	paperVisit                 = 6 * time.Second / paperScale
	paperFound                 = 20 // URLs that a search for a keyword finds, dealt out to five crawlers
)

// paper runs the experiment on as many webs as there are seeds, and writes a report.
func paper(seeds, first, pages int, tmp, html string) error {
	got := map[string][]*survey.Stats{}
	key := func(topic, keyword int, way string) string { return fmt.Sprint(topic, keyword, way) }
	distinct := map[string]int64{}
	for seed := first; seed < first+seeds; seed++ {
		web := webs.NewKeyworded(webs.KeywordsConfig{Seed: uint64(seed), Sites: 8, Pages: pages / 8, Topics: paperTopics, Keywords: paperKeywords})
		port, stop, err := web.Serve("127.0.0.1:0")
		if err != nil {
			return err
		}
		for t := range paperTopics {
			for k := range paperKeywords {
				for way, mode := range map[string]crawl.MarketMode{"A": crawl.MarketPaper, "B": crawl.MarketAlone} {
					s, err := paperCrawl(web, port, t, k, mode, tmp)
					if err != nil {
						stop()
						return fmt.Errorf("topic %d, keyword %d, %s: %w", t+1, k+1, way, err)
					}
					got[key(t+1, k+1, way)] = append(got[key(t+1, k+1, way)], s)
					distinct[way] += s.DTOC
				}
			}
			fmt.Fprintf(os.Stderr, "web %d, topic %d of %d\n", seed, t+1, paperTopics)
		}
		stop()
	}
	caption := fmt.Sprintf("With the market (A) and without (B), in %%: %d topics of %d keywords, %d crawlers, %v for 300 s, over HTTP, on %d webs of %d pages", paperTopics, paperKeywords, crawlers, paperTime, seeds, pages)
	table, charts := lab.PaperMarket(caption, paperTopics, paperKeywords, seeds, func(topic, keyword int, way string, measure, web int) float64 {
		s := got[key(topic, keyword, way)][web]
		return 100 * [3]float64{s.CR, s.RCR, s.RR}[measure]
	})
	r := report.Report{Title: "Crawlers with and without a market", Sections: []report.Section{{Title: "Over HTTP", Tables: []report.Table{table}, Figures: charts, Notes: []string{
		fmt.Sprintf("Pages on the topic that were saved once, in all runs: %d with the market, %d without.", distinct["A"], distinct["B"]),
	}}}}
	if html != "" {
		out, err := os.Create(html)
		if err != nil {
			return err
		}
		if err := r.HTML(out); err != nil {
			return err
		}
		if err := out.Close(); err != nil {
			return err
		}
	}
	return r.Sections[0].Text(os.Stdout)
}

// paperCrawl looks for pages about a keyword.
func paperCrawl(web *webs.Keyworded, port string, t, k int, mode crawl.MarketMode, tmp string) (*survey.Stats, error) {
	about, err := topic.Words(web.Words(t, k), "none")
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(tmp, "argosy-paper")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	c := assemble.DefaultConfig(dir)
	m := crawl.DefaultMarket(mode)
	m.Lifetime, m.Interval, m.Delta3 = m.Lifetime/paperScale, m.Interval/paperScale, m.Delta3/paperScale
	id := &c.Job.Identity
	id.Seeds, id.Scope, id.UserAgent, id.Topic, id.Order, id.Tunnel, id.Market = web.Found(t, k, paperFound, port), crawl.ScopeAny, "argosy-bench", about, crawl.OrderBest, -1, &m
	c.Job.Limits.PerIP, c.Job.Limits.Delay, c.Job.Limits.MaxTime = 0, paperVisit, paperTime
	c.Fetch.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Fetch.Resolve = map[string]netip.Addr{"*.test": netip.MustParseAddr("127.0.0.1")}
	cr, err := assemble.Open(context.Background(), c)
	if err != nil {
		return nil, err
	}
	_, err = cr.Run(context.Background(), nil)
	if cerr := cr.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return nil, err
	}
	return survey.TopicStats(context.Background(), dir, "", 1)
}
