package coordinator

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/schedule"
)

// The published worked example through the code that a crawl runs: four rounds, prices (3, 1, 0), each buyer its item, payoffs 6, 4 and 2.
func TestMarketOfTheWorkedExample(t *testing.T) {
	m := crawl.DefaultMarket(crawl.MarketPaper)
	m.Delta2 = 1
	cfg := exchange(&m)
	buyer := schedule.NewTrader(cfg)
	buyer.Pages = m.Alpha
	seller := schedule.NewTrader(cfg)
	seller.Ability, seller.Queue = 0, 3
	round := &crawl.Round{}
	for i, values := range [][]float32{{9, 7, 4, 0}, {5, 5, 3, 0}, {1, 2, 2, 0}} {
		round.Lots = append(round.Lots, crawl.Lot{Seller: 4, URL: fmt.Sprintf("http://s.test/%d", i+1), Values: values})
	}
	if err := clearMarket(cfg, []schedule.Trader{buyer, buyer, buyer, seller}, round); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(round.Prices), "[[0 0 0] [1 0 0] [2 0 0] [3 1 0]]"; got != want || round.Rounds != 4 || round.TookOver != 0 || fmt.Sprint(round.Bidden) != "[0 1 2]" {
		t.Errorf("prices %s, %d rounds, of lots %v", got, round.Rounds, round.Bidden)
	}
	payoff := float32(0)
	for i, l := range round.Lots {
		if l.Buyer != uint32(i)+1 || !l.Sold() {
			t.Errorf("lot %d goes to %d", i+1, l.Buyer)
		}
		payoff += l.Values[l.Buyer-1] - l.Price
	}
	if payoff != 12 || round.Value != 16 {
		t.Errorf("payoffs %g, worth %g", payoff, round.Value)
	}
}

// What crawlers buy of each other in lots is no reason to live longer: when their lifetime is over the crawl is, and it is offered as much again.
func TestLifetimeEndsLots(t *testing.T) {
	m := crawl.DefaultMarket(crawl.MarketLots)
	m.Crawlers, m.Lifetime = 2, 3*time.Second
	j := &frontier.Job{Job: crawl.Job{Identity: crawl.Identity{Market: &m, Order: crawl.OrderBest}}, Accounts: []frontier.Account{{Bought: 1000}, {}}}
	r := &run{}
	for no, ran := range map[uint32]time.Duration{1: 3100 * time.Millisecond, 2: 3 * time.Second} {
		if may := r.may(j, no, ran); may != 0 {
			t.Errorf("crawler %d may have %d URLs after %v", no, may, ran)
		}
	}
	if may := r.may(j, 1, 2900*time.Millisecond); may != m.Turn {
		t.Errorf("it may have %d before", may)
	}
	if s := r.stuck(j, 3100*time.Millisecond); s.More.Lifetime != 6*time.Second || s.limit() != "lifetime" {
		t.Errorf("%s ends it, as much again is %v", s.limit(), s.More.Lifetime)
	}
}

// A market ends whatever is offered, to whoever: nobody gets what nobody offered, or more than he has places for, and who has no ability gets nothing.
func TestEveryMarketEnds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := crawl.DefaultMarket(rapid.SampledFrom([]crawl.MarketMode{crawl.MarketLots, crawl.MarketPaper}).Draw(t, "mode"))
		m.Similarity, m.Delta2 = rapid.Bool().Draw(t, "reserve"), rapid.SampledFrom([]float64{0, 0.1, 1}).Draw(t, "step")
		cfg := exchange(&m)
		traders := make([]schedule.Trader, rapid.IntRange(1, 8).Draw(t, "crawlers"))
		for b := range traders {
			traders[b] = schedule.Trader{
				Pages: rapid.IntRange(0, 8).Draw(t, "saved"), Target: m.Alpha, Ability: rapid.SampledFrom([]float64{0, 0.4, 0.5, 5, math.Inf(1)}).Draw(t, "ability"),
				Time: time.Duration(rapid.IntRange(-1, 5).Draw(t, "time")) * time.Second, Space: rapid.Int64Range(-1, 5).Draw(t, "space"), Queue: 9,
			}
			if cfg.Lots {
				traders[b].Places = rapid.IntRange(1, 3).Draw(t, "places")
			}
		}
		round := &crawl.Round{}
		for range rapid.IntRange(0, 12).Draw(t, "lots") {
			l := crawl.Lot{Seller: uint32(rapid.IntRange(1, len(traders)).Draw(t, "seller"))}
			for range traders {
				l.Values = append(l.Values, rapid.SampledFrom([]float32{0, 0.003, 0.05, 0.1, 0.2, 0.25, 0.3, 0.99999, 1, 4}).Draw(t, "value"))
			}
			round.Lots = append(round.Lots, l)
		}
		before := append([]schedule.Trader(nil), traders...)
		if err := clearMarket(cfg, traders, round); err != nil {
			t.Fatal(err)
		}
		for no, prices := range round.Prices {
			if len(prices) != len(round.Bidden) {
				t.Fatalf("round %d has %d prices of %d lots", no+1, len(prices), len(round.Bidden))
			}
		}
		got := make([]int, len(traders))
		for k, l := range round.Lots {
			if at := slices.Index(round.Bidden, k); l.Buyer > 0 && cfg.Lots && (at < 0 || round.Prices[len(round.Prices)-1][at] != l.Price) {
				t.Fatalf("lot %d costs %v; of %v the prices were %v", k+1, l.Price, round.Bidden, round.Prices)
			}
			if l.Buyer == 0 {
				continue
			}
			if got[l.Buyer-1]++; !before[l.Buyer-1].Buys(cfg) {
				t.Fatalf("crawler %d buys: %+v", l.Buyer, before[l.Buyer-1])
			}
		}
		for b, n := range got {
			if most := max(1, before[b].Places); n > most {
				t.Fatalf("crawler %d gets %d lots, has places for %d", b+1, n, most)
			}
		}
	})
}

// A crawler that has nothing to do is given what waits for it at once, however busy another one is.
func TestIdleCrawlerIsWoken(t *testing.T) {
	f, job := topical(t)
	m := crawl.DefaultMarket(crawl.MarketLots)
	m.Crawlers = 2
	job.Identity.Market = &m
	now := time.UnixMilli(1e6)
	lease := crawl.Lease{ID: 1, Job: 1, Task: 1, Site: "a.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 1}
	for i, e := range []crawl.Entry{{Kind: crawl.EntryTerm, Epoch: 1}, {Kind: crawl.EntrySubmit, Epoch: 1, Job: job}, {Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{lease}}} {
		if e.Kind == crawl.EntryGrant {
			targets, err := f.Next(1, 1)
			if err != nil {
				t.Fatal(err)
			}
			e.Leases[0].Targets = targets
		}
		if _, err := f.Apply(uint64(i+1), now.UnixMilli(), &e); err != nil {
			t.Fatal(err)
		}
	}
	j, idle := f.Job(1), f.Task(2)
	if j.Crawler(1).Held != 1 || idle.Crawler() != 2 || idle.Queued() != 1 {
		t.Fatalf("held %+v, the other one's %+v", j.Crawler(1), idle)
	}
	c := &Coordinator{f: f}
	c.jobs.runs = map[uint32]*run{1: {begun: now}}
	for after, want := range map[time.Duration]string{0: waitsNode, 2 * time.Minute: waitsMarket} { // what keeps it is its crawler's lifetime, not a node
		m.Lifetime = time.Minute
		if got := c.waits(now.Add(after), idle, j, &TaskView{}); got != want {
			t.Errorf("after %v it waits for %q, want %q", after, got, want)
		}
		m.Lifetime = 0
	}
	r := &run{inDue: map[uint32]bool{}, short: shorts{}, gave: map[uint32]int{}, slow: map[uint32]int64{}, cuts: map[uint32]cut{}, spread: newSpread(f.Task), begun: now}
	c.jobs = jobs{f: f, runs: map[uint32]*run{1: r}, now: now}
	r.short.add(idle)
	for _, s := range r.short {
		s.woke, s.took = now, time.Hour // just now, and it was dear
	}
	if err := c.wake(j, r, now); err != nil || r.short.has(idle) || !r.inDue[idle.ID] {
		t.Errorf("%v; it waits for its crawler: %v, for a node: %v", err, r.short.has(idle), r.inDue)
	}
}
