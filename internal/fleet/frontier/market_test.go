package frontier

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/page/topic"
)

// traded is a job of three crawlers whose first has fetched its seed, which names eight pages; a lease holds the first of those.
func traded(t *testing.T, mem *vfs.MemFS, mode crawl.MarketMode) *walk {
	t.Helper()
	return tradedBy(t, mem, mode, 3)
}

func tradedBy(t *testing.T, mem *vfs.MemFS, mode crawl.MarketMode, crawlers int, links ...string) *walk {
	t.Helper()
	return tradedWith(t, mem, func(m *crawl.Market) {
		*m = crawl.DefaultMarket(mode)
		m.Crawlers, m.Understanding = crawlers, 0
	}, links...)
}

// tradedWith is the same with a market in lots that set changes.
func tradedWith(t *testing.T, mem *vfs.MemFS, set func(m *crawl.Market), links ...string) *walk {
	t.Helper()
	about, err := topic.Words("asynchronous iterators", "en")
	if err != nil {
		t.Fatal(err)
	}
	m := crawl.DefaultMarket(crawl.MarketLots)
	set(&m)
	w := &walk{t: t, f: open(t, mem)}
	w.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	w.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{
		Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/", "http://s.test/x", "http://s.test/y"}, Topic: about, Order: crawl.OrderBest, Tunnel: -1, Market: &m,
	}}})
	grant := func(lease uint64) []crawl.Target {
		ts, err := w.f.Next(1, 1)
		if err != nil || len(ts) != 1 {
			t.Fatal(ts, err)
		}
		w.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{{
			ID: lease, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 100, Targets: ts,
		}}})
		return ts
	}
	g := grant(1)[0]
	part := crawl.Part{Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: 1, Final: true}
	found := crawl.Found{Parent: g.Key, Score: 0.5}
	for i := range 8 {
		found.Links = append(found.Links, crawl.Link{URL: fmt.Sprintf("http://s.test/p%d", i), Anchor: "words"})
	}
	for _, url := range links {
		found.Links = append(found.Links, crawl.Link{URL: url, Anchor: "words"})
	}
	part.Found = []crawl.Found{found}
	part.Outcomes = []crawl.Outcome{{Key: g.Key, Owner: g.Owner, URL: g.URL, State: crawl.Fetched, Status: 200, HTML: true, Score: 0.5}}
	w.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{part}})
	grant(2)
	return w
}

// Where seeds are fewer than crawlers what a seed names is dealt out, but for seeds: each is one crawler's.
func TestSeedsAreNotDealtOut(t *testing.T) {
	for crawlers := 4; crawlers < 8; crawlers++ {
		w := tradedBy(t, vfs.NewMem(), crawl.MarketPaper, crawlers, "http://s.test/", "http://s.test/x", "http://s.test/y")
		if n := w.f.Job(1).Totals.Discovered; n != 3+8 {
			t.Errorf("%d crawlers know %d URLs of 11", crawlers, n)
		}
		if err := w.f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// What is sold is its buyer's, once, also when it is told of twice or the view is opened anew; what a lease holds stays with its seller.
func TestOwnershipIsAFactOfTheLog(t *testing.T) {
	for _, mode := range []crawl.MarketMode{crawl.MarketLots, crawl.MarketPaper} {
		mem := vfs.NewMem()
		w := traded(t, mem, mode)
		offers, _, err := w.f.Offers(1, 1, 100)
		if err != nil || len(offers) != 7 || len(offers[0].Values) != 3 {
			t.Fatalf("%s: offers %+v, %v", mode, offers, err)
		}
		held, err := w.f.Held(2)
		if err != nil || len(held) != 1 {
			t.Fatal(held, err)
		}
		lot := crawl.Lot{Seller: 1, Buyer: 3, Site: "s.test", Price: 0.5, Pages: []crawl.Page{{Layer: offers[0].Page.Layer, Key: held[0].Key}}}
		for _, o := range offers[:4] {
			lot.Pages = append(lot.Pages, o.Page)
		}
		round := &crawl.Round{Job: 1, No: 1, Crawlers: make([]crawl.Trader, 3), Lots: []crawl.Lot{lot}}
		w.apply(&crawl.Entry{Kind: crawl.EntryRound, Epoch: 1, Round: round})
		w.apply(&crawl.Entry{Kind: crawl.EntryRound, Epoch: 1, Round: round}) // nothing more
		for range 2 {
			j := w.f.Job(1)
			if s, b := j.Crawler(1), j.Crawler(3); s.Pending() != 4 || b.Pending() != 5 || j.Totals.Pending() != 10 {
				t.Errorf("%s: seller %+v, buyer %+v, all %+v", mode, s, b, j.Totals)
			}
			if s, b := j.Account(1), j.Account(3); s.Sold != 4 || b.Bought != 4 || b.Paid != 0.5 || s.Earned != 0.5 || j.Last.Sold != 4 || j.Rounds != 1 {
				t.Errorf("%s: accounts %+v, %+v, %+v", mode, s, b, j.Last)
			}
			had := map[string]int{}
			for c := uint32(1); c <= 3; c++ {
				all, _, err := w.f.Offers(1, c, 100)
				if err != nil {
					t.Fatal(err)
				}
				for _, o := range all {
					had[o.URL]++
				}
			}
			if len(had) != 7 {
				t.Errorf("%s: %d URLs wait: %v", mode, len(had), had)
			}
			for url, n := range had {
				if n != 1 {
					t.Errorf("%s: %s waits for %d crawlers", mode, url, n)
				}
			}
			if err := w.f.Close(); err != nil {
				t.Fatal(err)
			}
			w.f = open(t, mem)
		}
		if err := w.f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
