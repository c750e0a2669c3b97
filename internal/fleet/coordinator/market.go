package coordinator

import (
	"container/heap"
	"context"
	"math"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/schedule"
)

// The market between the crawlers of a job. What they are and what they have done follows from the log; the pure rules say who buys and who
// sells, and what comes of it is an entry of the log. Only the time that a job has run is the coordinator's own, and stands in that entry.

const (
	turnRest    = 250 * time.Millisecond // for which a crawler that has had its turn waits for others that go on: they may wait for its site
	marketRest  = 20 * time.Millisecond  // between two markets, at least
	lotURLs     = 4                      // URLs of a lot, at most
	paperOffers = 40                     // URLs that a crawler offers in a market of the published kind
)

// Stuck is why none of a job's crawlers can go on.
type Stuck struct {
	Lacked map[string]int `json:"lacked"` // how many crawlers lack what: ability, lifetime, space, alpha (they have saved what they were to save, and found nothing to buy) or urls (they have none left)
	More   crawl.Market   `json:"more"`   // with which each that has visited pages could do as much again; as it is if it would change nothing
}

// Stuck returns why a job's run has ended, if none of its crawlers could go on; nil: it did not end so.
func (w *window) Stuck(job uint32) *Stuck {
	of, _ := w.stuck.Load(job)
	s, _ := of.(*Stuck)
	return s
}

// limit returns what keeps all of them from going on, if it is one bound.
func (s *Stuck) limit() string {
	for lack := range s.Lacked {
		if len(s.Lacked) == 1 && lack != "urls" {
			return lack
		}
	}
	return crawl.LimitMarket
}

// stuck counts the crawlers of a job by what they lack to go on.
func (r *run) stuck(j *frontier.Job, ran time.Duration) *Stuck {
	m := j.Identity.Market
	s := &Stuck{Lacked: map[string]int{}, More: *m}
	for c := uint32(1); int(c) <= m.Crawlers; c++ {
		t := trader(j, c, ran)
		switch {
		case t.Ability < m.Delta1:
			s.Lacked["ability"]++
		case t.Time <= 0:
			s.Lacked["lifetime"]++
		case t.Space <= 0:
			s.Lacked["space"]++
		case m.Mode == crawl.MarketPaper && t.Pages >= t.Target:
			s.Lacked["alpha"]++
		default:
			s.Lacked["urls"]++
			continue
		}
		s.raise(j, c, ran)
	}
	return s
}

// raise doubles what a crawler may spend until it could do as much again as it has done, a page at least.
func (s *Stuck) raise(j *frontier.Job, c uint32, ran time.Duration) {
	n, a, m := j.Crawler(c), j.Account(c), &s.More
	m.Beta = doubled(m.Beta, m.Delta1*float64(max(2*visited(n), visited(n)+1)))
	time, space := m.Delta3*time.Duration(a.Bought), m.Delta4*a.Bought // that it has bought; what it has gone beyond its bounds by is not had again
	m.Lifetime = doubled(m.Lifetime, 2*min(ran, j.Identity.Market.Lifetime+time)-time)
	m.Space = doubled(m.Space, 2*min(n.Bytes, j.Identity.Market.Space+space)-space)
	if m.Mode == crawl.MarketPaper {
		m.Alpha = doubled(max(1, m.Alpha), int(max(2*n.Relevant, n.Relevant+1)-a.Bought))
	}
}

// doubled doubles a bound until it is enough; one that is 0 bounds nothing.
func doubled[T int | int64 | float64 | time.Duration](bound, enough T) T {
	for bound > 0 && bound < enough {
		bound *= 2
	}
	return bound
}

// exchange are the rules of a job's market.
func exchange(m *crawl.Market) schedule.ExchangeConfig {
	return schedule.ExchangeConfig{
		Alpha: m.Alpha, Beta: m.Beta, Delta1: m.Delta1, Delta2: m.Delta2, Delta3: m.Delta3, Delta4: m.Delta4, Understanding: m.Understanding,
		Lifetime: m.Lifetime, Space: m.Space, Interval: m.Interval, Lots: m.Mode == crawl.MarketLots, ReserveValue: m.Similarity,
	}
}

// visited is how many pages a crawler has asked for.
func visited(n crawl.Counts) int64 { return n.Fetched + n.Failed }

// trader is a crawler of a job that has run for so long.
func trader(j *frontier.Job, c uint32, ran time.Duration) schedule.Trader {
	m, n, a := j.Identity.Market, j.Crawler(c), j.Account(c)
	t := schedule.Trader{
		Pages: int(n.Relevant), Target: m.Alpha, Ability: math.Inf(1), Time: math.MaxInt64, Space: math.MaxInt64, Queue: int(n.Pending() - n.Held),
	}
	if m.Alpha > 0 {
		t.Target += int(a.Bought)
	}
	if m.Beta > 0 {
		t.Ability = m.Beta - m.Delta1*float64(visited(n))
	}
	if m.Lifetime > 0 {
		t.Time = m.Lifetime - ran + m.Delta3*time.Duration(a.Bought)
	}
	if m.Space > 0 {
		t.Space = m.Space - n.Bytes + m.Delta4*a.Bought
	}
	return t
}

// freed has the tasks looked at that other crawlers have at the site of a lease that has ended: they do not wait until they would have looked
// by themselves.
func (r *run) freed(f *frontier.Frontier, l *frontier.Lease) {
	for i := range r.due {
		if t := f.Task(r.due[i].id); t != nil && t.Crawler() > 0 && t.Site == l.Site {
			r.due[i].at = 0
			heap.Fix(&r.due, i)
			return // who has waited longest; the others go on waiting
		}
	}
}

// market holds a market of a job's crawlers, if it is time for one.
func (c *Coordinator) market(ctx context.Context, now time.Time, j *frontier.Job, r *run) error {
	m := j.Identity.Market
	if m == nil || m.Mode == crawl.MarketAlone || m.Mode == crawl.MarketLots && m.Crawlers == 1 || j.State != crawl.JobRunning || j.Sowing() || r.limited != "" || c.stage.drained ||
		now.Sub(r.traded) < marketRest || !r.marketDue(j, r.ran(now)) {
		return nil
	}
	r.traded, r.hadTurn = now, 0
	round, err := c.hold1(j, r.ran(now))
	if err != nil {
		return err
	}
	return c.sinks.append(ctx, &crawl.Entry{Kind: crawl.EntryRound, Round: round})
}

// marketDue reports whether a market is to be held: as published when the interval is over; in lots besides when a crawler has had its turn, or
// has nothing to do while others have more than they can do in theirs.
func (r *run) marketDue(j *frontier.Job, ran time.Duration) bool {
	m := j.Identity.Market
	since := ran - time.Duration(j.Last.RanMS)*time.Millisecond
	if j.Rounds > 0 && j.Last.Sold == 0 && !moved(j) {
		return false // nothing has changed
	}
	if since >= m.Interval {
		return true
	}
	if m.Mode != crawl.MarketLots {
		return false
	}
	idle, more, had, goes := false, false, false, false
	for c := uint32(1); int(c) <= m.Crawlers; c++ {
		n := j.Crawler(c)
		queue := n.Pending() - n.Held
		switch {
		case n.Held > r.slow[c] || queue > 0 && r.may(j, c, ran) > 0:
			goes = true
		case queue > 0:
			had = true
		}
		idle = idle || queue == 0 && n.Held == 0 && trader(j, c, ran).Buys(exchange(m))
		more = more || queue > int64(m.Turn)
	}
	if !had {
		r.hadTurn = 0
	} else if r.hadTurn == 0 {
		r.hadTurn = ran
	}
	return idle && more || had && (!goes || ran-r.hadTurn >= turnRest)
}

// moved reports whether a crawler has visited a page since the last market.
func moved(j *frontier.Job) bool {
	for c := range j.Last.Visited {
		if visited(j.Crawler(uint32(c)+1)) != j.Last.Visited[c] {
			return true
		}
	}
	return false
}

// over reports whether no crawler of a job can go on, and no market could change that. Nothing of the job is under way.
func (r *run) over(j *frontier.Job, ran time.Duration) bool {
	m := j.Identity.Market
	if m == nil || j.Totals.Held > 0 || j.Totals.Pending() == 0 {
		return false
	}
	buys, sells := false, false
	for c := uint32(1); int(c) <= m.Crawlers; c++ {
		t := trader(j, c, ran)
		if t.Queue > 0 && (r.may(j, c, ran) > 0 || m.Mode == crawl.MarketLots && t.Alive(exchange(m))) {
			return false // in lots the next market gives it another turn, whatever is sold
		}
		buys, sells = buys || t.Buys(exchange(m)), sells || t.Sells(exchange(m)) || m.Mode == crawl.MarketLots && t.Queue > 0
	}
	return m.Mode == crawl.MarketAlone || !buys || !sells || j.Rounds > 0 && j.Last.Sold == 0 && !moved(j)
}

// hold1 holds a market, and returns what came of it.
func (c *Coordinator) hold1(j *frontier.Job, ran time.Duration) (*crawl.Round, error) {
	m := j.Identity.Market
	cfg := exchange(m)
	round := &crawl.Round{Job: j.ID, No: j.Rounds + 1, RanMS: ran.Milliseconds()}
	traders := make([]schedule.Trader, m.Crawlers)
	size := max(1, min(lotURLs, m.Turn/2)) // of a lot
	if !cfg.Lots {
		size = 1
	}
	for b := range traders {
		no := uint32(b) + 1
		t := trader(j, no, ran)
		if t.Places = max(1, m.Turn/size); !cfg.Lots {
			t.Places = 0
		}
		traders[b] = t
		n := j.Crawler(no)
		round.Crawlers = append(round.Crawlers, crawl.Trader{
			Visited: visited(n), Saved: n.Relevant, Queue: int64(t.Queue), Ability: crawl.Finite(t.Ability), TimeMS: int64(crawl.Finite(unbounded(t.Time, time.Millisecond))),
			Space: int64(crawl.Finite(unbounded(t.Space, 1))), Sells: t.Sells(cfg) || cfg.Lots && t.Queue > 0, Buys: t.Buys(cfg),
		})
		first, most := 0, m.Turn*min(m.Crawlers, 8) // in lots a crawler bids for its own, too: it buys what is better only
		if !cfg.Lots {
			if !t.Sells(cfg) {
				continue
			}
			if t.Alive(cfg) {
				first = t.Visits(cfg)
			}
			most = first + paperOffers
		}
		offers, learned, err := c.f.Offers(j.ID, no, most)
		if err != nil {
			return nil, err
		}
		round.Learned = learned
		round.Lots = append(round.Lots, lots(no, offers[min(first, len(offers)):], size)...)
	}
	if m.Speed > 0 {
		c.timesOf(j, round)
	}
	return round, clearMarket(cfg, traders, round)
}

// timesOf tells of each crawler how long pages took it at the sites of what is offered.
func (c *Coordinator) timesOf(j *frontier.Job, round *crawl.Round) {
	for b := range round.Crawlers {
		of := &round.Crawlers[b]
		of.SiteMS = map[string]float64{}
		for i := range round.Lots {
			if ms := c.f.SiteMS(j, uint32(b)+1, round.Lots[i].Site); ms > 0 {
				of.SiteMS[round.Lots[i].Site] = math.Round(ms*1000) / 1000
			}
		}
	}
}

// unbounded returns a number in a unit; infinity for one without a bound.
func unbounded[T ~int64](x, unit T) float64 {
	if x == math.MaxInt64 {
		return math.Inf(1)
	}
	return float64(x / unit)
}

// lots puts URLs of a site that follow each other into lots.
func lots(seller uint32, offers []frontier.Offer, size int) (out []crawl.Lot) {
	open := map[string]int{} // by site: the lot that is not full
	for i := range offers {
		o := &offers[i]
		k, ok := open[o.Site]
		if !ok {
			k = len(out)
			open[o.Site] = k
			out = append(out, crawl.Lot{Seller: seller, Site: o.Site, URL: o.URL, Values: make([]float32, len(o.Values))})
		}
		l := &out[k]
		l.Pages = append(l.Pages, o.Page)
		for b, v := range o.Values {
			l.Values[b] += float32(v)
		}
		if len(l.Pages) == size {
			delete(open, o.Site)
		}
	}
	return out
}

// clearMarket has the rules say who gets what.
func clearMarket(cfg schedule.ExchangeConfig, traders []schedule.Trader, round *crawl.Round) error {
	items := make([]schedule.ForSale, len(round.Lots))
	for i := range items {
		l := &round.Lots[i]
		items[i] = schedule.ForSale{URL: l.URL, Seller: int(l.Seller) - 1}
		for _, v := range l.Values {
			items[i].Values = append(items[i].Values, float64(v))
		}
		if cfg.ReserveValue {
			l.Reserve = l.Values[l.Seller-1]
		}
	}
	res, err := schedule.Exchange(cfg, traders, items)
	if err != nil {
		return err
	}
	round.Rounds, round.Value, round.TookOver, round.Bidden = res.Rounds, res.Value, res.TookOver, res.Offered
	for _, prices := range res.Prices {
		row := make([]float32, len(prices))
		for i, p := range prices {
			row[i] = float32(p)
		}
		round.Prices = append(round.Prices, row)
	}
	for _, t := range res.Trades {
		l := &round.Lots[t.Item]
		if cfg.Lots || l.Values[t.Buyer] > 0 { // who knows a URL himself gains nothing by it
			l.Buyer, l.Price = uint32(t.Buyer)+1, float32(t.Price)
		}
	}
	return nil
}
