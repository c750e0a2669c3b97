package schedule

import (
	"fmt"
	"slices"
	"sort"
	"time"

	"argosy/internal/plan/solve"
)

// ExchangeConfig are the parameters of the market between crawlers, under the paper's names.
type ExchangeConfig struct {
	Alpha         int           // a crawler's page target
	Beta          float64       // its initial ability
	Delta1        float64       // ability spent on a page
	Delta2        float64       // price step; 0 takes the smallest rise
	Delta3        time.Duration // lifetime gained with a purchase
	Delta4        int64         // space gained with a purchase, bytes
	Understanding float64       // relevance from which a page is on topic
	Lifetime      time.Duration
	Space         int64 // initial space, bytes; the paper gives none
	Interval      time.Duration
	Lots          bool // many-to-one by an auction with falling increments, instead of one URL a buyer
	ReserveValue  bool // start prices at a URL's similarity to its seller's topic instead of 0
}

// DefaultExchange are the paper's parameters; the space is ours.
func DefaultExchange() ExchangeConfig {
	return ExchangeConfig{
		Alpha: 5, Beta: 5, Delta1: 0.5, Delta2: 0.10, Delta3: 10 * time.Second, Delta4: 50_000, Understanding: 0.2,
		Lifetime: 600 * time.Second, Space: 2_000_000, Interval: 120 * time.Second,
	}
}

// Trader is a crawler as the market sees it.
type Trader struct {
	Pages   int     // saved, of Target
	Target  int     // more than Alpha after purchases
	Ability float64 // left
	Time    time.Duration
	Space   int64
	Queue   int // URLs that it has not visited
	Places  int // lots: so many of them it takes at once; 0: as many as it has ability for
}

// NewTrader is a crawler at the start.
func NewTrader(cfg ExchangeConfig) Trader {
	return Trader{Target: cfg.Alpha, Ability: cfg.Beta, Time: cfg.Lifetime, Space: cfg.Space}
}

// Alive tells whether a crawler can fetch another page: it stops when ability, time or space runs out.
func (t Trader) Alive(cfg ExchangeConfig) bool {
	return t.Ability >= cfg.Delta1 && t.Time > 0 && t.Space > 0
}

// Visits is how many pages a crawler has ability for.
func (t Trader) Visits(cfg ExchangeConfig) int {
	return int(min(maxVisits, t.Ability/cfg.Delta1+1e-9))
}

// maxVisits stands for ability without a bound.
const maxVisits = 1 << 30

// Sells tells whether a crawler has URLs that it cannot visit itself.
func (t Trader) Sells(cfg ExchangeConfig) bool {
	return t.Queue > 0 && (!t.Alive(cfg) || t.Queue > t.Visits(cfg))
}

// Buys tells whether a crawler has reached its target and can go on.
func (t Trader) Buys(cfg ExchangeConfig) bool { return t.Pages >= t.Target && t.Alive(cfg) }

// ForSale is a URL that its crawler cannot visit.
type ForSale struct {
	URL    string
	Seller int
	Values []float64 // similarity to each trader's topic
}

// to is what a URL is worth to a buyer. In the paper's form its own is worth nothing to it: it has one purchase, and would gain nothing by that.
func (s ForSale) to(b int, cfg ExchangeConfig) float64 {
	if !cfg.Lots && b == s.Seller {
		return 0
	}
	return s.Values[b]
}

// Trade is a URL that changed hands.
type Trade struct {
	Item, Buyer int
	Price       float64
}

// Round is the outcome of one market.
type Round struct {
	Held   bool // there was a buyer and something to buy
	Trades []Trade
	Unsold []int
	Rounds int // of the ascending auction, bids of the other
	Value  float64

	Offered  []int       // items that were bidden for
	Prices   [][]float64 // their prices, by round; of the auction with falling increments, by increment
	TookOver int         // round after which the exact rule took over from the published one; 0: it did not
}

// Exchange holds a market. In the paper's form numbers are made equal: with more buyers than URLs those with most
// ability left bid, with more URLs than buyers the most valued of them are offered and the surplus stays; nobody buys of
// itself. A buyer gains lifetime and space with each purchase; traders are changed accordingly.
func Exchange(cfg ExchangeConfig, traders []Trader, items []ForSale) (Round, error) {
	for i, it := range items {
		if len(it.Values) != len(traders) || it.Seller < 0 || it.Seller >= len(traders) {
			return Round{}, fmt.Errorf("item %d: %d values and seller %d for %d traders", i+1, len(it.Values), it.Seller, len(traders))
		}
	}
	var buyers, offered []int
	for b, t := range traders {
		if t.Buys(cfg) {
			buyers = append(buyers, b)
		}
	}
	for i := range items {
		offered = append(offered, i)
	}
	if len(buyers) == 0 || len(offered) == 0 {
		return Round{Unsold: offered}, nil
	}
	if cfg.Lots {
		offered = wanted(cfg, traders, items, buyers)
	} else {
		buyers, offered = equalNumbers(cfg, traders, items, buyers, offered)
	}
	r := Round{Held: true}
	v := solve.NewMatrix(len(buyers), len(offered))
	reserve := make([]float64, len(offered))
	for j, i := range offered {
		for k, b := range buyers {
			v.Set(k, j, items[i].to(b, cfg))
		}
		if cfg.ReserveValue {
			reserve[j] = items[i].Values[items[i].Seller]
		}
	}
	if err := r.clear(cfg, traders, items, buyers, offered, v, reserve); err != nil {
		return Round{}, err
	}
	sold := map[int]bool{}
	for _, t := range r.Trades {
		sold[t.Item] = true
		b := &traders[t.Buyer]
		b.Time += cfg.Delta3
		b.Space += cfg.Delta4
		b.Target++
		b.Queue++
		if s := &traders[items[t.Item].Seller]; s.Queue > 0 {
			s.Queue--
		}
	}
	for i := range items {
		if !sold[i] {
			r.Unsold = append(r.Unsold, i)
		}
	}
	return r, nil
}

func (r *Round) clear(cfg ExchangeConfig, traders []Trader, items []ForSale, buyers, offered []int, v solve.Matrix, reserve []float64) error {
	if cfg.Lots {
		places := make([]int, len(buyers))
		for k, b := range buyers {
			places[k] = traders[b].places(cfg)
		}
		if cfg.ReserveValue {
			for j := range offered {
				for k := range buyers {
					v.Set(k, j, v.At(k, j)-reserve[j])
				}
			}
		}
		c, err := solve.ClearLots(v, places, 0)
		if err != nil {
			return err
		}
		r.Rounds, r.Value, r.Offered = c.Bids, c.Valuation, offered
		for _, prices := range c.Rounds {
			r.Prices = append(r.Prices, sum(prices, reserve))
		}
		paid := sum(c.Prices, reserve)
		for j, k := range c.Buyer {
			if k >= 0 {
				r.Trades = append(r.Trades, Trade{offered[j], buyers[k], paid[j]})
			}
		}
		return nil
	}
	c, err := solve.ClearMarket(v, solve.MarketOptions{Step: cfg.Delta2, Reserve: reserve, Abstain: cfg.ReserveValue, Rule: solve.RulePaper, Trace: len(offered) <= maxTraced})
	if err != nil {
		return err
	}
	r.Rounds, r.Value, r.Offered, r.TookOver = c.Rounds, c.Valuation, offered, c.TookOver
	for _, round := range c.Trace[:min(maxTraced, len(c.Trace))] {
		r.Prices = append(r.Prices, round.Prices)
	}
	for k, j := range c.Item {
		if j >= 0 && buyers[k] != items[offered[j]].Seller {
			r.Trades = append(r.Trades, Trade{offered[j], buyers[k], c.Prices[j]})
		}
	}
	return nil
}

// sum adds two vectors of one length.
func sum(a, b []float64) []float64 {
	out := slices.Clone(a)
	for j := range out {
		out[j] += b[j]
	}
	return out
}

// maxTraced bounds of how many items, and of how many rounds, prices are told.
const maxTraced = 50

// places is how many lots a buyer takes at once.
func (t Trader) places(cfg ExchangeConfig) int {
	if n := t.Visits(cfg); t.Places == 0 || n < t.Places {
		return n
	}
	return t.Places
}

// wanted are the lots that some buyer could get: no more are sold than there are places, so that nobody needs to look further down his list
// than that, and one more for each buyer, by which prices are made.
func wanted(cfg ExchangeConfig, traders []Trader, items []ForSale, buyers []int) []int {
	most := len(buyers)
	for _, b := range buyers {
		most += min(len(items), traders[b].places(cfg))
	}
	out := make([]int, 0, len(items))
	if most >= len(items) {
		for i := range items {
			out = append(out, i)
		}
		return out
	}
	in := make([]bool, len(items))
	values := make([]float64, len(items))
	for _, b := range buyers {
		for i := range items {
			values[i] = -items[i].Values[b]
		}
		sort.Float64s(values)
		least := -values[most-1]
		equal := most - sort.SearchFloat64s(values, -least) // of those that are worth as much as the last, the first ones
		for i := range items {
			if v := items[i].Values[b]; v > least {
				in[i] = true
			} else if v == least && equal > 0 {
				in[i] = true
				equal--
			}
		}
	}
	for i := range items {
		if in[i] {
			out = append(out, i)
		}
	}
	return out
}

// equalNumbers makes as many buyers as items.
func equalNumbers(cfg ExchangeConfig, traders []Trader, items []ForSale, buyers, offered []int) ([]int, []int) {
	n := min(len(buyers), len(offered))
	sort.SliceStable(buyers, func(a, b int) bool { return traders[buyers[a]].Ability > traders[buyers[b]].Ability })
	most := func(i int) (m float64) {
		for _, b := range buyers {
			m = max(m, items[i].to(b, cfg))
		}
		return m
	}
	sort.SliceStable(offered, func(a, b int) bool { return most(offered[a]) > most(offered[b]) })
	buyers, offered = buyers[:n], offered[:n]
	sort.Ints(buyers)
	sort.Ints(offered)
	return buyers, offered
}
