package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"argosy/internal/page/topic"
	"argosy/internal/plan/schedule"
)

// Focus is the experiment of the market paper: a few crawlers look for pages about one keyword of one topic in a web where links mostly
// stay on topic. All share the keyword; each has a part of the first URLs, its own queue and its own memory of what it has seen.
type Focus struct {
	Exchange schedule.ExchangeConfig
	Crawlers int
	Pages    int // of the web
	Topics   int
	Keywords int    // of a topic
	Seconds  int    // of an experiment
	Visit    int    // seconds a visit takes
	Topic    int    // that is looked for, from 0
	Keyword  int    // of it, from 0
	Seed     uint64 // of the web
}

// DefaultFocus is the paper's set-up: 5 crawlers, 12 topics of 5 keywords, 300 s. A market every 120 s means two in an experiment.
func DefaultFocus(seed uint64) Focus {
	return Focus{Exchange: schedule.DefaultExchange(), Crawlers: 5, Pages: 4000, Topics: 12, Keywords: 5, Seconds: 300, Visit: 6, Seed: seed}
}

// FocusMode is how the crawlers work together.
type FocusMode uint8

// Modes.
const (
	Alone   FocusMode = iota // the paper's B: nothing is exchanged
	Paper                    // its A: one URL a buyer and market
	Lots                     // many, by an auction with falling increments
	Breadth                  // the baselines have one queue, as Central has: first come, first served
	Depth                    // last come, first served
	Fuzzy                    // the best first by fuzzy rules over the anchor and the page that names a URL
	Central                  // one queue, the most promising URL first, for as many visits as Lots makes
)

// FocusResult counts what was visited. The first three shares are the paper's measures, under its names; precision
// rises when known pages are fetched again, so they are reported and never a goal.
type FocusResult struct {
	Visited, OnTopic, Saved, Repeated int // VC, CC, DTOC, RC: a page on the topic is saved, or it was saved before and is repeated
	Distinct                          int // relevant pages, each counted once
	Relevant                          int // that there are
	Trades                            int
}

func share(a, b int) float64 {
	if b == 0 {
		return 0
	}
	return float64(a) / float64(b)
}

// CR is what the paper calls precision.
func (r FocusResult) CR() float64 { return share(r.OnTopic, r.Visited) }

// RCR is what the paper calls recall: saved over visited.
func (r FocusResult) RCR() float64 { return share(r.Saved, r.Visited) }

// RR is the repetition rate.
func (r FocusResult) RR() float64 { return share(r.Repeated, r.Visited) }

// Harvest is distinct relevant pages for each visit.
func (r FocusResult) Harvest() float64 { return share(r.Distinct, r.Visited) }

// Recall is the share of all relevant pages that was found.
func (r FocusResult) Recall() float64 { return share(r.Distinct, r.Relevant) }

// relevantFrom is the similarity from which a page is on topic.
const relevantFrom = 0.4

// topicPage is a page of the made web.
type topicPage struct {
	topic, keyword int
	strength       float64
	links          []int
}

// queued is a URL in a queue and what its anchor promises.
type queued struct {
	page    int
	promise float64
	by      float64 // how much the page that named it is about the keyword
}

type focusWorld struct {
	f     Focus
	r     *rand.Rand
	pages []topicPage
}

// newFocusWorld makes the web of a seed. Of the links of a page three in ten lead to its keyword, three to its topic, the others anywhere.
func newFocusWorld(f Focus) *focusWorld {
	w := &focusWorld{f: f, r: rand.New(rand.NewPCG(f.Seed, 0x666f637573))}
	byTopic, byKeyword := make([][]int, f.Topics), make([][]int, f.Topics*f.Keywords)
	for p := range f.Pages {
		t, k := w.r.IntN(f.Topics), w.r.IntN(f.Keywords)
		byTopic[t] = append(byTopic[t], p)
		byKeyword[t*f.Keywords+k] = append(byKeyword[t*f.Keywords+k], p)
		w.pages = append(w.pages, topicPage{topic: t, keyword: k, strength: 0.4 + 0.6*w.r.Float64()})
	}
	for p := range w.pages {
		of := &w.pages[p]
		for range 8 {
			to, near := w.r.IntN(f.Pages), w.r.Float64()
			if own := byKeyword[of.topic*f.Keywords+of.keyword]; near < 0.3 {
				to = own[w.r.IntN(len(own))]
			} else if own := byTopic[of.topic]; near < 0.6 {
				to = own[w.r.IntN(len(own))]
			}
			of.links = append(of.links, to)
		}
	}
	w.r = rand.New(rand.NewPCG(f.Seed, uint64(f.Topic*f.Keywords+f.Keyword)))
	return w
}

// similarity of a page to the keyword of the run: pages about other keywords of its topic are something like it.
func (w *focusWorld) similarity(page int) float64 {
	p := &w.pages[page]
	switch {
	case p.topic != w.f.Topic:
		return 0.15 * p.strength
	case p.keyword != w.f.Keyword:
		return 0.6 * p.strength
	}
	return p.strength
}

func (w *focusWorld) relevant(page int) bool {
	return w.similarity(page) >= relevantFrom
}

// promise is what a crawler makes of an anchor: the page's similarity, through a glass.
func (w *focusWorld) promise(page int) float64 {
	return min(1, max(0, w.similarity(page)+0.15*w.r.NormFloat64()))
}

// focusCrawler is a pair of crawling and trading agent.
type focusCrawler struct {
	schedule.Trader
	queue []queued
	seen  map[int]bool
}

// Run runs an experiment.
func (f Focus) Run(mode FocusMode) (FocusResult, error) {
	w := newFocusWorld(f)
	cfg := f.Exchange
	cfg.Lots = mode == Lots
	var res FocusResult
	crawlers := w.crawlers(cfg)
	for p := range w.pages {
		if w.relevant(p) {
			res.Relevant++
		}
	}
	saved := map[int]int{}
	if mode >= Breadth {
		return w.central(mode, crawlers, cfg, res), nil
	}
	next := int(cfg.Interval.Seconds())
	for now := 0; now < f.Seconds; now += f.Visit {
		if now >= next && mode != Alone {
			next += int(cfg.Interval.Seconds())
			n, err := w.market(cfg, crawlers)
			if err != nil {
				return res, err
			}
			res.Trades += n
		}
		for b := range crawlers {
			c := &crawlers[b]
			done := mode != Alone && c.Pages >= c.Target // who has reached the target waits for the market
			if !c.Alive(cfg) || len(c.queue) == 0 || done {
				continue
			}
			q := c.queue[0]
			c.queue = c.queue[1:]
			w.visit(c, q.page, cfg, saved, &res)
		}
	}
	res.Distinct = len(saved)
	return res, nil
}

func (w *focusWorld) crawlers(cfg schedule.ExchangeConfig) []focusCrawler {
	out := make([]focusCrawler, w.f.Crawlers)
	taken := map[int]bool{} // the parts are disjoint
	var found []int         // what a search for the keyword finds
	for p := range w.pages {
		if w.relevant(p) {
			found = append(found, p)
		}
	}
	for b := range out {
		out[b] = focusCrawler{Trader: schedule.NewTrader(cfg), seen: map[int]bool{}}
		for len(out[b].queue) < 4 { // a seed subset: seven in ten on the topic
			p := w.r.IntN(len(w.pages))
			if len(found) > w.f.Crawlers*4 && w.r.Float64() < 0.7 {
				p = found[w.r.IntN(len(found))]
			}
			if taken[p] {
				continue
			}
			taken[p] = true
			out[b].queue = append(out[b].queue, queued{p, w.promise(p), 1})
			out[b].seen[p] = true
		}
	}
	return out
}

// visit fetches a page, saves it if it is on topic, and queues its links that promise enough.
func (w *focusWorld) visit(c *focusCrawler, page int, cfg schedule.ExchangeConfig, saved map[int]int, res *FocusResult) {
	res.Visited++
	c.Ability -= cfg.Delta1
	c.Time -= time.Duration(w.f.Visit) * time.Second
	if !w.relevant(page) {
		return
	}
	res.OnTopic++
	c.Pages++
	c.Space -= 20_000
	if saved[page]++; saved[page] > 1 {
		res.Repeated++
	} else {
		res.Saved++
	}
	for _, to := range w.pages[page].links {
		if p := w.promise(to); p >= cfg.Understanding && !c.seen[to] {
			c.seen[to] = true
			c.queue = append(c.queue, queued{to, p, w.similarity(page)})
		}
	}
}

// market lets crawlers that cannot finish sell what they have in their queues.
func (w *focusWorld) market(cfg schedule.ExchangeConfig, crawlers []focusCrawler) (int, error) {
	traders := make([]schedule.Trader, len(crawlers))
	var items []schedule.ForSale
	var pages []int
	for b := range crawlers {
		c := &crawlers[b]
		c.Queue = len(c.queue)
		traders[b] = c.Trader
		if !c.Sells(cfg) {
			continue
		}
		keep := 0
		if c.Alive(cfg) {
			keep = c.Visits(cfg)
		}
		for _, q := range c.queue[min(keep, len(c.queue)):] {
			it := schedule.ForSale{Seller: b}
			for range crawlers { // each reads the anchor by itself
				it.Values = append(it.Values, w.promise(q.page))
			}
			items, pages = append(items, it), append(pages, q.page)
		}
	}
	r, err := schedule.Exchange(cfg, traders, items)
	if err != nil {
		return 0, err
	}
	n := 0
	for _, t := range r.Trades {
		p := pages[t.Item]
		crawlers[items[t.Item].Seller].remove(p)
		if b := &crawlers[t.Buyer]; !b.seen[p] {
			b.seen[p] = true
			b.queue = append([]queued{{p, 1, 1}}, b.queue...)
			n++
		}
	}
	for b := range crawlers {
		crawlers[b].Trader = traders[b]
	}
	return n, nil
}

func (c *focusCrawler) remove(page int) {
	for k, q := range c.queue {
		if q.page == page {
			c.queue = append(c.queue[:k], c.queue[k+1:]...)
			return
		}
	}
}

// central is one queue for all, the most promising URL first or as a baseline has it, each page once, for as many visits as the crawlers
// have ability for. Those that look at no promise follow every link.
func (w *focusWorld) central(mode FocusMode, crawlers []focusCrawler, cfg schedule.ExchangeConfig, res FocusResult) FocusResult {
	all := focusCrawler{Trader: schedule.NewTrader(cfg), seen: map[int]bool{}}
	visits := 0
	for b := range crawlers {
		visits += crawlers[b].Visits(cfg)
		for _, q := range crawlers[b].queue {
			if !all.seen[q.page] {
				all.seen[q.page] = true
				all.queue = append(all.queue, q)
			}
		}
	}
	if mode == Breadth || mode == Depth {
		cfg.Understanding = 0
	}
	saved := map[int]int{}
	for range visits {
		if len(all.queue) == 0 {
			break
		}
		q := all.next(mode)
		w.visit(&all, q.page, cfg, saved, &res)
	}
	res.Distinct = len(saved)
	return res
}

// next takes the URL out of a queue that is visited next.
func (c *focusCrawler) next(mode FocusMode) queued {
	best, most := 0, -1.0
	for k := range c.queue {
		worth := c.queue[k].promise
		switch mode {
		case Breadth:
			worth = 0
		case Depth:
			worth = float64(k)
		case Fuzzy:
			worth = topic.Fuzzy(worth, 0, 0, c.queue[k].by)
		}
		if worth > most {
			best, most = k, worth
		}
	}
	q := c.queue[best]
	c.queue = slices.Delete(c.queue, best, best+1)
	return q
}
