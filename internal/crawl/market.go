package crawl

import (
	"fmt"
	"math"
	"time"
)

// MarketMode says how the crawlers of a job with a topic share what they find.
type MarketMode string

// Modes of a market.
const (
	MarketLots  MarketMode = "lots"        // one memory for all: several URLs of a site change hands as one lot, by an auction with falling increments
	MarketPaper MarketMode = "paper"       // as published: each crawler remembers for itself, and buys one URL a market
	MarketAlone MarketMode = "independent" // each crawler remembers for itself, and nothing is traded
)

// Division says which crawler gets a seed, or a URL that is dealt out as seeds are. The parts are disjoint, however many there are.
type Division string

// Divisions.
const (
	DivideTurn     Division = ""         // as published: in turn
	DivideKeyword  Division = "keyword"  // each crawler has words of the topic, and what names them
	DivideLikeness Division = "likeness" // what has words in common with each other comes to one crawler
)

// Market says how many crawlers a job with a topic has, and how they share its URLs. The names of the parameters are the published ones.
// In the mode lots a bound that is 0 is none. Mode, crawlers, understanding and division never change once a job is submitted; the others may when it
// goes on.
type Market struct {
	Mode          MarketMode    `cbor:"1,keyasint" json:"mode"`
	Crawlers      int           `cbor:"2,keyasint" json:"crawlers"`
	Alpha         int           `cbor:"3,keyasint,omitempty" json:"alpha"`           // pages that a crawler is to save; who has them buys
	Beta          float64       `cbor:"4,keyasint,omitempty" json:"beta"`            // ability of a crawler at first
	Delta1        float64       `cbor:"5,keyasint,omitempty" json:"delta1"`          // ability that a page costs
	Delta2        float64       `cbor:"6,keyasint,omitempty" json:"delta2"`          // step of prices
	Delta3        time.Duration `cbor:"7,keyasint,omitempty" json:"delta3_ns"`       // lifetime that a purchase brings its buyer
	Delta4        int64         `cbor:"8,keyasint,omitempty" json:"delta4"`          // space that a purchase brings its buyer, bytes
	Understanding float64       `cbor:"9,keyasint,omitempty" json:"understanding"`   // links that promise less are not followed
	Lifetime      time.Duration `cbor:"10,keyasint,omitempty" json:"lifetime_ns"`    // of a crawler
	Interval      time.Duration `cbor:"11,keyasint,omitempty" json:"interval_ns"`    // between two markets
	Space         int64         `cbor:"12,keyasint,omitempty" json:"space"`          // of a crawler at first, bytes
	Similarity    bool          `cbor:"13,keyasint,omitempty" json:"similarity"`     // prices begin at what a URL is worth to its seller, not at 0
	Turn          int           `cbor:"14,keyasint,omitempty" json:"turn,omitempty"` // lots: pages of a crawler between two markets
	Divide        Division      `cbor:"15,keyasint,omitempty" json:"divide,omitempty"`
	Speed         float64       `cbor:"16,keyasint,omitempty" json:"speed,omitempty"` // by how much of a valuation the speed of its buyer at the site decides, from 0 to 1
}

// Bounds of a market.
const (
	MaxCrawlers = 100
	MaxTurn     = 1000
)

// DefaultMarket returns the parameters of a mode: of the published one and of what it is compared with the published ones, with a space that
// is not published; lots has no bounds of its own, and nothing is gained with a purchase.
func DefaultMarket(mode MarketMode) Market {
	m := Market{
		Mode: mode, Crawlers: 5, Alpha: 5, Beta: 5, Delta1: 0.5, Delta2: 0.10, Delta3: 10 * time.Second, Delta4: 50_000, Understanding: 0.2,
		Lifetime: 600 * time.Second, Interval: 120 * time.Second, Space: 2_000_000,
	}
	if mode == MarketLots {
		m.Alpha, m.Beta, m.Understanding, m.Lifetime, m.Space, m.Interval, m.Turn = 0, 0, 0, 0, 0, 5*time.Second, 8
		m.Delta3, m.Delta4 = 0, 0 // all buy all the time: no bound of theirs would ever be reached
	}
	return m
}

// Layered reports whether each crawler remembers for itself: the owner of a page's layer is its crawler's number, from 1.
func (m *Market) Layered() bool { return m != nil && m.Mode != MarketLots }

// A bound of a parameter: what it may be. Of the published kind and of what is compared with it some may not be 0, which is "without a bound".
type marketBound struct {
	name        string
	of          func(*Market) float64
	least, most float64
	needed      bool // but in lots
}

var marketBounds = []marketBound{
	{"crawlers", func(m *Market) float64 { return float64(m.Crawlers) }, 1, MaxCrawlers, false},
	{"alpha", func(m *Market) float64 { return float64(m.Alpha) }, 0, maxCount, false},
	{"beta", func(m *Market) float64 { return m.Beta }, 0, maxCount, true},
	{"delta1", func(m *Market) float64 { return m.Delta1 }, 1e-6, maxCount, false},
	{"delta2", func(m *Market) float64 { return m.Delta2 }, 0, maxWeight, false},
	{"delta3", func(m *Market) float64 { return m.Delta3.Seconds() }, 0, maxSeconds, false},
	{"delta4", func(m *Market) float64 { return float64(m.Delta4) }, 0, maxBytes, false},
	{"understanding", func(m *Market) float64 { return m.Understanding }, 0, 1, false},
	{"lifetime", func(m *Market) float64 { return m.Lifetime.Seconds() }, 0, maxSeconds, true},
	{"interval", func(m *Market) float64 { return m.Interval.Seconds() }, 0.001, maxSeconds, false},
	{"space", func(m *Market) float64 { return float64(m.Space) }, 0, maxBytes, true},
	{"turn", func(m *Market) float64 { return float64(m.Turn) }, 0, MaxTurn, false},
	{"speed", func(m *Market) float64 { return m.Speed }, 0, 1, false},
}

// bad returns the first parameter that is not what it may be; nil: there is none.
func (m *Market) bad() *marketBound {
	for i := range marketBounds {
		b := &marketBounds[i]
		x := b.of(m)
		if math.IsNaN(x) || x < b.least || x > b.most || x == 0 && b.needed && m.Mode != MarketLots || b.name == "turn" && x < 1 && m.Mode == MarketLots {
			return b
		}
	}
	return nil
}

// Check returns why something is not a market, with what is allowed; nil: it is one.
func (m *Market) Check() error {
	if m.Mode != MarketLots && m.Mode != MarketPaper && m.Mode != MarketAlone {
		return &Fault{Field: "mode", Rule: RuleName}
	}
	if !m.Divide.known() {
		return &Fault{Field: "divide", Rule: RuleName}
	}
	b := m.bad()
	if b == nil {
		return nil
	}
	unit, least := "", fmt.Sprintf("%g", b.least)
	switch b.name {
	case "delta3", "lifetime", "interval":
		unit = " seconds"
	case "delta4", "space":
		unit = " bytes"
	}
	if b.needed && m.Mode != MarketLots || b.name == "turn" && m.Mode == MarketLots {
		least = "more than 0"
	}
	return fmt.Errorf("%s: %g%s: allowed are %s to %.0f", b.name, b.of(m), unit, least, b.most)
}

func (d Division) known() bool { return d == DivideTurn || d == DivideKeyword || d == DivideLikeness }

func (c *check) market(m *Market) {
	if !m.Divide.known() {
		c.fail("market: divide", RuleName)
	}
	if m.Mode != MarketLots && m.Mode != MarketPaper && m.Mode != MarketAlone {
		c.fail("market: mode", RuleName)
	}
	if b := m.bad(); b != nil {
		c.fail("market: "+b.name, RuleRange)
	}
}

// SameKind reports whether two markets differ in nothing but what may change when a job goes on: what crawlers may spend, and when they trade.
func (m *Market) SameKind(o *Market) bool {
	if m == nil || o == nil {
		return m == o
	}
	return m.Mode == o.Mode && m.Crawlers == o.Crawlers && m.Understanding == o.Understanding && m.Divide == o.Divide
}

// String returns the market as --market has it, with what cannot change when a job goes on.
func (m *Market) String() string {
	if m == nil {
		return "none"
	}
	text := fmt.Sprintf("%s,crawlers=%d", m.Mode, m.Crawlers)
	if m.Mode != MarketLots {
		text += fmt.Sprintf(",understanding=%g", m.Understanding)
	}
	if m.Divide != DivideTurn {
		text += ",divide=" + string(m.Divide)
	}
	return text
}

// Round is a market that was held, as the log tells of it: what was offered, what it was worth to whom, and who has got it.
type Round struct {
	Job      uint32      `cbor:"1,keyasint" json:"job"`
	No       uint32      `cbor:"2,keyasint" json:"no"`                  // from 1
	Learned  int64       `cbor:"3,keyasint,omitempty" json:"learned"`   // pages that had been learned from when links were scored last: the scorer's version
	RanMS    int64       `cbor:"4,keyasint,omitempty" json:"ran_ms"`    // how long the job had run
	Crawlers []Trader    `cbor:"5,keyasint" json:"crawlers"`            // before the market
	Lots     []Lot       `cbor:"6,keyasint,omitempty" json:"lots"`      // what was offered
	Prices   [][]float32 `cbor:"7,keyasint,omitempty" json:"prices"`    // of the lots that were bidden for, by round of the auction; in lots by its increments
	Bidden   []int       `cbor:"11,keyasint,omitempty" json:"bidden"`   // which lots those were
	Rounds   int         `cbor:"8,keyasint,omitempty" json:"rounds"`    // of the auction; lots: bids
	TookOver int         `cbor:"9,keyasint,omitempty" json:"took_over"` // round after which the exact rule took over from the published one
	Value    float64     `cbor:"10,keyasint,omitempty" json:"value"`    // of what was got, to those who got it
}

// Trader is a crawler when a market is held.
type Trader struct {
	Visited int64   `cbor:"1,keyasint,omitempty" json:"visited"` // pages, whatever came of them
	Saved   int64   `cbor:"2,keyasint,omitempty" json:"saved"`   // of them, on the topic
	Queue   int64   `cbor:"3,keyasint,omitempty" json:"queue"`   // URLs that it has not visited
	Ability float64 `cbor:"4,keyasint,omitempty" json:"ability"` // that is left; -1: without a bound
	TimeMS  int64   `cbor:"5,keyasint,omitempty" json:"time_ms"` // the same
	Space   int64   `cbor:"6,keyasint,omitempty" json:"space"`   // the same
	Sells   bool    `cbor:"7,keyasint,omitempty" json:"sells"`
	Buys    bool    `cbor:"8,keyasint,omitempty" json:"buys"`

	SiteMS map[string]float64 `cbor:"9,keyasint,omitempty" json:"site_ms,omitempty"` // where speed counts: ms that a page has taken it at sites of what is offered; those that it does not know are not in it
}

// Lot is what is sold as one: URLs of a site that a crawler has.
type Lot struct {
	Seller  uint32    `cbor:"1,keyasint" json:"seller"`
	Buyer   uint32    `cbor:"2,keyasint,omitempty" json:"buyer"` // 0: it stays with its seller
	Site    string    `cbor:"3,keyasint" json:"site"`
	URL     string    `cbor:"4,keyasint" json:"url"` // the first
	Pages   []Page    `cbor:"5,keyasint" json:"-"`
	Values  []float32 `cbor:"6,keyasint,omitempty" json:"values"` // to each crawler
	Reserve float32   `cbor:"7,keyasint,omitempty" json:"reserve"`
	Price   float32   `cbor:"8,keyasint,omitempty" json:"price"`
}

// Sold reports whether the lot changes hands.
func (l *Lot) Sold() bool { return l.Buyer != 0 && l.Buyer != l.Seller }

// Finite returns a number as a round tells of it: -1 for one without a bound.
func Finite(x float64) float64 {
	if math.IsInf(x, 0) || x > maxBytes {
		return -1
	}
	return x
}
