// Command topics compares ways to crawl for a topic at equal numbers of fetches, a quarter of the pages that there are where nothing else is said, by real crawls over
// HTTP: what is learned with rules, with key words and with simple orders; crawlers that trade with one that has all, and with crawlers that
// do not know of each other. It counts different pages on the topic, paired by seed, in six families of webs, and the default as users
// run it with one crawler that asks for one URL of a site at a time:
//
//	made   webs that it makes, of made-up words
//	few    the same on a hundred sites, from one front page and from three
//	spam   300 fetches beside sites without end that are made to look as if they were on the topic, of a kind in each
//	one    400 fetches where nineteen in twenty pages on the topic lie on one site, beside a hundred small ones
//	webkb  the same with texts of the WebKB collection, drawn by class (-webkb DIR: files of a label, a tab and stemmed words a line)
//	docs   Python's and PostgreSQL's documentation (Debian: python3-doc, postgresql-doc-15), judged by its own index of terms, which crawls
//	       do not see
//
//	go run ./bench/topics [-family made,few,spam,one,webkb,docs] [-seeds 20] [-only lots,central] [-webkb DIR] [-keep FILE] [-cpuprofile FILE]
//	go run ./bench/topics -paper [-seeds 1] [-pages 4000] [-html FILE]
//	go run ./bench/topics -kill 10 [-seeds 5] [-market lots]
//
// With -paper it runs the market paper's experiment instead: each keyword of 12 topics with and without the market, in the paper's table. With
// -kill it kills crawls with SIGKILL in the middle of markets, and says what was asked for twice and whether anything is lost.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"net/netip"
	"os"
	"runtime/pprof"
	"slices"
	"strings"
	"time"

	"argosy/internal/config"
	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
)

// trial is a web, and what is looked for in it.
type trial struct {
	name   string
	serve  func() (port string, stop func(), err error)
	seeds  func(port string) []string
	on     func(port string) map[string]bool // the addresses of pages on the topic
	about  *crawl.Topic
	words  *crawl.Topic // key words for it, where about is more than key words
	not    []string     // what crawls do not see
	budget int64
	scope  crawl.Scope
}

// family is a kind of webs. trials returns those of a seed.
type family struct {
	name   string
	trials func(seed uint64) ([]*trial, error)
}

const crawlers = 5

// methods are what is compared.
var methods = []struct {
	name   string
	change func(j *crawl.Job, t *trial)
}{
	{"central", func(j *crawl.Job, _ *trial) { j.Limits.LeasePages = 1 }}, // each URL is chosen when it is asked for
	{"default", func(j *crawl.Job, _ *trial) {
		j.Limits.SiteConnections, j.Identity.Tunnel = crawl.DefaultLimits().SiteConnections, config.DefaultTunnel
	}},
	{"rules", func(j *crawl.Job, _ *trial) { j.Identity.ByRule = true }},
	{"keywords", func(j *crawl.Job, t *trial) { j.Identity.Topic, j.Identity.ByRule = t.words, true }},
	{"fuzzy", func(j *crawl.Job, _ *trial) { j.Identity.ByRule, j.Identity.Fuzzy = true, true }},
	{"lots", func(j *crawl.Job, t *trial) { market(j, crawl.MarketLots, t.budget) }},
	{"independent", func(j *crawl.Job, t *trial) { market(j, crawl.MarketAlone, t.budget) }},
	{"breadth", func(j *crawl.Job, _ *trial) { j.Identity.Order = crawl.OrderBreadth }},
	{"depth", func(j *crawl.Job, _ *trial) { j.Identity.Order = crawl.OrderDepth }},
}

// compared are the pairs of methods whose ratio is printed.
var compared = [][2]string{
	{"default", "central"}, {"central", "rules"}, {"central", "keywords"}, {"central", "fuzzy"}, {"lots", "central"}, {"lots", "independent"}, {"central", "independent"},
	{"central", "breadth"}, {"central", "depth"},
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

func main() {
	log.SetFlags(0)
	names := flag.String("family", "made,few,spam,one,webkb,docs", "kinds of webs, with commas between")
	seeds := flag.Int("seeds", 20, "webs of a kind, or pages from which documentation is crawled")
	first := flag.Int("first", 1, "the first seed")
	only := flag.String("only", "", "methods to run, with commas between; empty: all")
	asPaper := flag.Bool("paper", false, "run the market paper's experiment instead, on so many webs of so many pages")
	kills := flag.Int("kill", 0, "kill a crawl of five crawlers so many times instead, and say what is asked for twice")
	mode := flag.String("market", "lots", "with -kill: the crawlers' market, as --market has it")
	argosy := flag.String("argosy", "", "with -kill: the binary (default: one that is built)")
	html := flag.String("html", "", "with -paper: a file for the report with its charts")
	tmp := flag.String("tmp", "", "where crawls are kept while they run")
	keep := flag.String("keep", "", "a file for what each crawl has found, which another run with it takes from there: a long run goes on where it was ended")
	profile := flag.String("cpuprofile", "", "a file for what the processor did")
	var c madeConfig
	c.register(flag.CommandLine)
	flag.Parse()
	stop, err := profiled(*profile)
	switch {
	case err != nil:
	case *kills > 0:
		for seed := *first; seed < *first+*seeds && err == nil; seed++ {
			err = killed(uint64(seed), *kills, *mode, *argosy, *tmp)
		}
	case *asPaper:
		err = paper(*seeds, *first, c.pages, *tmp, *html)
	default:
		b := bench{tmp: *tmp, seeds: *seeds, first: *first}
		for _, m := range methods {
			if *only == "" || slices.Contains(strings.Split(*only, ","), m.name) {
				b.methods = append(b.methods, m.name)
			}
		}
		if b.kept, err = openKept(*keep); err != nil {
			break
		}
		err = b.all(map[string]func() (family, error){"made": c.made, "few": c.fewSeeds, "spam": c.beside, "one": c.oneSite, "webkb": c.drawn, "docs": docsFamily}, *names)
	}
	if stop != nil {
		err = errors.Join(err, stop())
	}
	if err != nil {
		log.Fatal(err)
	}
}

// profiled notes in a file what the processor does until stop is called; without a name nothing is noted.
func profiled(name string) (stop func() error, err error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	stop = func() error { pprof.StopCPUProfile(); return f.Close() }
	return stop, pprof.StartCPUProfile(f)
}

// bench runs methods on trials.
type bench struct {
	tmp          string
	seeds, first int
	methods      []string
	kept         *kept
}

// all runs families by their names.
func (b *bench) all(families map[string]func() (family, error), names string) error {
	for _, name := range strings.Split(names, ",") {
		open := families[name]
		if open == nil {
			return fmt.Errorf("-family %q: there are made, few, spam, one, webkb and docs", name)
		}
		f, err := open()
		if err == nil {
			err = b.run(f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// run prints what each method finds in a family of webs, seed by seed, and what that comes to.
func (b *bench) run(f family) error {
	fmt.Printf("%s, by seed: different pages on the topic\n%4s %8s %7s", f.name, "seed", "on topic", "fetches")
	for _, n := range b.methods {
		fmt.Printf(" %*s", max(8, len(n)), n)
	}
	fmt.Println()
	got := map[string][]outcome{}
	for seed := b.first; seed < b.first+b.seeds; seed++ {
		trials, err := f.trials(uint64(seed))
		if err != nil {
			return err
		}
		var relevant, budget int64
		for _, t := range trials {
			relevant, budget = relevant+int64(len(t.on("80"))), budget+t.budget
		}
		fmt.Printf("%4d %8d %7d", seed, relevant, budget)
		for _, m := range methods {
			if !slices.Contains(b.methods, m.name) {
				continue
			}
			sum := 0.0
			for _, t := range trials {
				if m.name == "keywords" && t.words == nil {
					continue
				}
				o, err := b.kept.or(fmt.Sprint(f.name, ", seed ", seed, ", ", t.name, ", ", m.name), func() (outcome, error) {
					o, err := b.crawl(t, m.change)
					o.Name, o.Wanted = t.name, float64(len(t.on("80")))
					return o, err
				})
				if err != nil {
					return err
				}
				got[m.name] = append(got[m.name], o)
				sum += o.Distinct
			}
			fmt.Printf(" %*.0f", max(8, len(m.name)), sum)
		}
		fmt.Println()
	}
	b.summary(got)
	return nil
}

// crawl crawls a web with one method.
func (b *bench) crawl(t *trial, change func(*crawl.Job, *trial)) (o outcome, err error) {
	port, stop, err := t.serve()
	if err != nil {
		return o, err
	}
	defer stop()
	dir, err := os.MkdirTemp(b.tmp, "argosy-topics")
	if err != nil {
		return o, err
	}
	defer os.RemoveAll(dir)
	c := assemble.DefaultConfig(dir)
	id := &c.Job.Identity
	id.Seeds, id.Scope, id.UserAgent, id.Topic, id.Order, id.Tunnel, id.Exclude = t.seeds(port), t.scope, "argosy-bench", t.about, crawl.OrderBest, -1, t.not
	c.Job.Limits.PerIP, c.Job.Limits.Delay, c.Job.Limits.MaxPages, c.Job.Limits.SiteConnections = 0, 0, t.budget, 1
	c.Fetch.Allow = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}
	c.Fetch.Resolve = map[string]netip.Addr{"*.test": netip.MustParseAddr("127.0.0.1")}
	change(&c.Job, t)
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
	return judged(dir, t.on(port))
}
