// Command market compares crawlers that trade with one that has all, with crawlers that do not know of each other, and with simple orders, on
// webs that it makes and serves over HTTP: at equal numbers of fetches, a quarter of a web's pages, how many different pages on the topic
// each of them has. Crawls are paired by the seed of their web.
//
//	go run ./bench/market [-seeds 20] [-pages 5200] [-webkb DIR] [-only lots,central]
//	go run ./bench/market -paper [-seeds 1] [-pages 4000] [-html FILE]
//
// With -paper it runs the market paper's experiment instead: each keyword of 12 topics with and without the market, in the paper's table.
// With -webkb the texts of pages are drawn from the WebKB collection by class (files of a label, a tab and stemmed words a line).
package main

import (
	"context"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/page/topic"
	"argosy/internal/webs"
)

// web is a web with a topic.
type web struct {
	*webs.Topical
	about *crawl.Topic
}

// exampleTexts is how many texts of a class its topic is learned from, with as many of the others; no page is made of them.
const exampleTexts = 30

const crawlers = 5

// methods are what is compared; the first two are what the others are held against.
var methods = []struct {
	name   string
	change func(j *crawl.Job, budget int64)
}{
	{"central", func(*crawl.Job, int64) {}},
	{"rules", func(j *crawl.Job, _ int64) { j.Identity.ByRule = true }},
	{"fuzzy", func(j *crawl.Job, _ int64) { j.Identity.ByRule, j.Identity.Fuzzy = true, true }},
	{"lots", func(j *crawl.Job, _ int64) { market(j, crawl.MarketLots, 0) }},
	{"independent", func(j *crawl.Job, budget int64) { market(j, crawl.MarketAlone, budget) }},
	{"breadth", func(j *crawl.Job, _ int64) { j.Identity.Order = crawl.OrderBreadth }},
	{"depth", func(j *crawl.Job, _ int64) { j.Identity.Order = crawl.OrderDepth }},
}

// market gives a job five crawlers; without a market each has ability for its share of the budget, and no other bound.
func market(j *crawl.Job, mode crawl.MarketMode, budget int64) {
	m := crawl.DefaultMarket(mode)
	m.Crawlers = crawlers
	if mode == crawl.MarketAlone {
		m.Beta, m.Lifetime, m.Space, m.Understanding = m.Delta1*float64(budget/crawlers), 24*time.Hour, 1<<40, 0
	}
	j.Identity.Market = &m
}

// outcome is what a crawl has.
type outcome struct {
	fetched, relevant, distinct, twice float64
	auc                                float64
}

func main() {
	log.SetFlags(0)
	seeds := flag.Int("seeds", 20, "webs, each crawled by every method")
	first := flag.Int("first", 1, "seed of the first web")
	pages := flag.Int("pages", 5200, "pages of a web, on eight sites")
	webkb := flag.String("webkb", "", "directory of the WebKB collection; empty: made-up words")
	only := flag.String("only", "", "methods to run, with commas between; empty: all")
	near := flag.Float64("near", 0.3, "chance that a link of a page on the topic leads to another one")
	told := flag.Float64("told", 0.2, "chance that a link says what it leads to")
	links := flag.Int("links", 30, "links of a page")
	asPaper := flag.Bool("paper", false, "run the market paper's experiment instead, on so many webs of so many pages")
	html := flag.String("html", "", "with -paper: a file for the report with its charts")
	tmp := flag.String("tmp", "", "where crawls are kept while they run")
	flag.Parse()
	if *asPaper {
		if err := paper(*seeds, *first, *pages, *tmp, *html); err != nil {
			log.Fatal(err)
		}
		return
	}
	if err := run(*seeds, *first, *pages, *webkb, *only, *tmp, *near, *told, *links); err != nil {
		log.Fatal(err)
	}
}

func run(seeds, first, pages int, webkb, only, tmp string, near, told float64, links int) error {
	var texts map[string][][]string
	if webkb != "" {
		var err error
		if texts, err = readClasses(webkb); err != nil {
			return err
		}
	}
	got := map[string][]outcome{}
	var names []string
	for _, m := range methods {
		if only == "" || slices.Contains(strings.Split(only, ","), m.name) {
			names = append(names, m.name)
		}
	}
	fmt.Printf("%-6s %8s %7s", "seed", "relevant", "budget")
	for _, n := range names {
		fmt.Printf(" %12s", n)
	}
	fmt.Println()
	for seed := first; seed < first+seeds; seed++ {
		w, err := made(uint64(seed), pages, texts, near, told, links)
		if err != nil {
			return err
		}
		budget := int64(pages / 4)
		fmt.Printf("%-6d %8d %7d", seed, len(w.OnTopic("80")), budget)
		for _, m := range methods {
			if !slices.Contains(names, m.name) {
				continue
			}
			o, err := crawlOnce(w, tmp, budget, m.change)
			if err != nil {
				return fmt.Errorf("seed %d, %s: %w", seed, m.name, err)
			}
			got[m.name] = append(got[m.name], o)
			fmt.Printf(" %12.0f", o.distinct)
		}
		fmt.Println()
	}
	for _, n := range names {
		var sum outcome
		for _, o := range got[n] {
			sum.fetched, sum.relevant, sum.distinct, sum.twice, sum.auc = sum.fetched+o.fetched, sum.relevant+o.relevant, sum.distinct+o.distinct, sum.twice+o.twice, sum.auc+o.auc
		}
		fmt.Printf("%-12s %8.0f fetches, %6.0f different pages on the topic (%.3f a fetch), %5.0f had again, links judged beforehand: area %.3f\n",
			n, sum.fetched, sum.distinct, sum.distinct/math.Max(1, sum.fetched), sum.twice, sum.auc/float64(len(got[n])))
	}
	for _, p := range [][2]string{{"central", "rules"}, {"lots", "central"}, {"lots", "independent"}, {"central", "independent"}, {"central", "breadth"}, {"central", "depth"}} {
		a, b := got[p[0]], got[p[1]]
		if len(a) == 0 || len(b) == 0 {
			continue
		}
		mid, low, high := interval(a, b)
		fmt.Printf("%s / %s: %.3f, 95 %% interval %.3f to %.3f (bootstrap over %d webs)\n", p[0], p[1], mid, low, high, len(a))
	}
	return nil
}

// made makes the web of a seed: a twentieth of its pages, or one class of WebKB's, is on the topic.
func made(seed uint64, pages int, texts map[string][][]string, near, told float64, links int) (*web, error) {
	cfg := webs.TopicalConfig{Seed: seed, Sites: 8, Pages: pages / 8, Share: 0.05, Near: near, Told: told, Links: links}
	if texts == nil {
		about, err := topic.Words(webs.TopicalWords, "en")
		return &web{webs.NewTopical(cfg), about}, err
	}
	classes := []string{"course", "faculty", "project", "student"}
	class := classes[seed%uint64(len(classes))]
	cfg.On = texts[class][exampleTexts:]
	on, off := docs(texts[class][:exampleTexts]), []*topic.Doc(nil)
	for _, c := range classes {
		if c != class {
			off = append(off, docs(texts[c][:exampleTexts/3])...)
			cfg.Off = append(cfg.Off, texts[c][exampleTexts:]...)
		}
	}
	about, err := topic.Examples("pages like those of "+class, on, off)
	return &web{webs.NewTopical(cfg), about}, err
}

// docs are texts as topics are made of them. Their words are stems already.
func docs(texts [][]string) (out []*topic.Doc) {
	for _, words := range texts {
		out = append(out, topic.NewDoc([]byte(strings.Join(words, " ")), false, "none"))
	}
	return out
}

// crawlOnce crawls a web with one method.
func crawlOnce(w *web, tmp string, budget int64, change func(*crawl.Job, int64)) (o outcome, err error) {
	port, stop, err := w.Serve("127.0.0.1:0")
	if err != nil {
		return o, err
	}
	defer stop()
	dir, err := os.MkdirTemp(tmp, "argosy-market")
	if err != nil {
		return o, err
	}
	defer os.RemoveAll(dir)
	c := assemble.DefaultConfig(dir)
	id := &c.Job.Identity
	id.Seeds, id.Scope, id.UserAgent, id.Topic, id.Order, id.Tunnel = w.Seeds(port), crawl.ScopeSite, "argosy-bench", w.about, crawl.OrderBest, -1
	c.Job.Limits.PerIP, c.Job.Limits.Delay, c.Job.Limits.MaxPages, c.Job.Limits.SiteConnections = 0, 0, budget, 1
	c.Fetch.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Fetch.Resolve = map[string]netip.Addr{"*.test": netip.MustParseAddr("127.0.0.1")}
	change(&c.Job, budget)
	cr, err := assemble.Open(context.Background(), c)
	if err != nil {
		return o, err
	}
	_, err = cr.Run(context.Background(), nil)
	if cerr := cr.Close(); err == nil {
		err = cerr
	}
	if err != nil {
		return o, err
	}
	return judged(dir, w.OnTopic(port))
}

// judged counts what a crawl has, by what the web knows to be on the topic.
func judged(dir string, on map[string]bool) (o outcome, err error) {
	ctx := context.Background()
	l, err := ledger.Open(ctx, filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		return o, err
	}
	defer l.Close()
	had := map[string]int{}
	var expected [2][]float64 // of pages that are off and on the topic
	err = l.Pages(ctx, 1, func(p *ledger.Page) error {
		if p.State != crawl.Fetched.String() || p.Status != 200 {
			return nil
		}
		o.fetched++
		side := 0
		if on[p.URL] {
			o.relevant++
			side = 1
		}
		if had[p.URL]++; had[p.URL] > 1 {
			o.twice++
		} else if on[p.URL] {
			o.distinct++
		}
		if p.Expected > 0 && p.Expected < 0.999 {
			expected[side] = append(expected[side], p.Expected)
		}
		return nil
	})
	above, pairs := 0.0, 0.0
	for _, x := range expected[1] {
		for _, y := range expected[0] {
			pairs++
			if x > y {
				above++
			} else if x == y {
				above += 0.5
			}
		}
	}
	o.auc = above / math.Max(1, pairs)
	return o, err
}

// interval is the ratio of two sums over pairs of crawls, with a 95 % interval by the bootstrap.
func interval(a, b []outcome) (mid, low, high float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	ratio := func(pick func(int) int) float64 {
		x, y := 0.0, 0.0
		for i := range a {
			x += a[pick(i)].distinct
			y += b[pick(i)].distinct
		}
		return x / math.Max(1, y)
	}
	mid = ratio(func(i int) int { return i })
	const draws = 4000
	all := make([]float64, draws)
	for d := range all {
		picks := make([]int, len(a))
		for i := range picks {
			picks[i] = rng.IntN(len(a))
		}
		all[d] = ratio(func(i int) int { return picks[i] })
	}
	slices.Sort(all)
	return mid, all[draws/40], all[draws-draws/40-1]
}
