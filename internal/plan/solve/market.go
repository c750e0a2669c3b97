package solve

import (
	"fmt"
	"math"
	"strconv"
)

// MarketOptions say how a market is cleared round by round.
type MarketOptions struct {
	// Step by which prices rise. 0 takes the smallest rise that changes a demand, which always ends and is exact. A
	// step is honoured where it divides every valuation and reserve, for otherwise demands can pass each other without
	// ever being equal; where it does not, the smallest rise is taken and Clearing.Step is 0.
	Step    float64
	Reserve []float64 // starting prices, nil for zeros
	// Abstain lets a buyer take nothing rather than lose. The published rule knows no such choice. It is always
	// there when there are more buyers than items.
	Abstain bool
	Trace   bool       // keep every round
	Rule    MarketRule // which prices rise
}

// MarketRule says which prices rise in a round.
type MarketRule string

// Rules of the ascending auction.
const (
	// RuleExact raises an over-demanded set: with a step a minimal one, as the textbook has it. It always ends, at the smallest prices
	// that clear the market.
	RuleExact MarketRule = ""
	// RulePaper raises every item that more than one buyer points at, as the published system does. Prices may
	// rise higher than they need to, and nobody has shown that it always ends: after maxPaperRounds rounds the exact rule begins anew.
	RulePaper MarketRule = "paper"
)

// MarketRound is one round of the ascending auction.
type MarketRound struct {
	Prices    []float64 // of items, during the round
	Preferred [][]int   // items that each buyer wants most, empty if none is worth its price
	Raised    []int     // the over-demanded set whose prices rise next; empty in the last round
}

// Clearing is the outcome of a market: prices at which everybody gets what he wants most.
type Clearing struct {
	Item      []int // of each buyer, -1 if he takes nothing
	Prices    []float64
	Valuation float64 // sum of the buyers' valuations of what they got
	Rounds    int     // the last, in which the market clears, counted
	Step      float64 // as honoured; 0: the smallest rise
	TookOver  int     // round at whose end the exact rule took over from the published one; 0: it did not
	Trace     []MarketRound
}

// Limits of the ascending auction. It is there to be followed by eye; ClearLots does the large markets.
const (
	maxMarketCells  = 250_000
	maxMarketRounds = 200_000
	maxPaperRounds  = 5_000
)

// ClearMarket runs the ascending auction of Demange, Gale and Sotomayor (1986), as in Easley and Kleinberg, Networks,
// Crowds, and Markets, chapter 10: each buyer points at the items with the largest valuation less price; while these
// demands allow no perfect matching, the prices of an over-demanded set rise. Values are rounded to 40 bits below the
// largest, so that equality is exact and the auction ends; integers are not rounded. The prices are the smallest that
// clear the market, which are those of Vickrey, Clarke and Groves.
func ClearMarket(v Matrix, o MarketOptions) (Clearing, error) {
	r, err := v.check()
	if err != nil {
		return Clearing{}, err
	}
	switch {
	case r.forbid:
		return Clearing{}, fmt.Errorf("valuations must be finite")
	case len(v.Data) > maxMarketCells:
		return Clearing{}, fmt.Errorf("%d × %d valuations: round by round at most %d, use lots", v.Rows, v.Cols, maxMarketCells)
	case o.Reserve != nil && len(o.Reserve) != v.Cols:
		return Clearing{}, fmt.Errorf("reserve prices: %d for %d items", len(o.Reserve), v.Cols)
	case o.Rule != RuleExact && o.Rule != RulePaper:
		return Clearing{}, fmt.Errorf("rule %q: allowed are exact and paper", o.Rule)
	case o.Step < 0 || o.Step != o.Step || math.IsInf(o.Step, 0):
		return Clearing{}, fmt.Errorf("step %g: want a number above 0, or 0 for the smallest rise", o.Step)
	}
	for j, x := range o.Reserve {
		if x != x || math.Abs(x) > math.MaxFloat64/1e6 {
			return Clearing{}, fmt.Errorf("reserve price %d: %g", j+1, x)
		}
	}
	m := newMarket(v, r, o)
	if err := m.run(); err != nil {
		return Clearing{}, err
	}
	return m.clearing(v), nil
}

// market is the state of an ascending auction, in whole units.
type market struct {
	rows, cols int
	unit       float64 // value of one unit
	step       int64   // 0: the smallest rise
	abstain    bool
	trace      bool
	paper      bool
	reserve    []float64
	v          []int64
	price      []int64
	item       []int // of each buyer, noItem or nothing
	buyer      []int // of each item, -1
	want       [][]int
	out        Clearing
}

const (
	noItem  = -1 // not matched
	nothing = -2 // content with nothing
)

func newMarket(v Matrix, r extent, o MarketOptions) *market {
	m := &market{
		rows: v.Rows, cols: v.Cols, abstain: o.Abstain || v.Rows > v.Cols, trace: o.Trace, paper: o.Rule == RulePaper,
		v: make([]int64, len(v.Data)), price: make([]int64, v.Cols), item: make([]int, v.Rows),
		buyer: make([]int, v.Cols), want: make([][]int, v.Rows),
	}
	all := append(append([]float64{}, v.Data...), o.Reserve...)
	if o.Step > 0 && divides(o.Step, all) {
		m.unit, m.step, m.out.Step = o.Step, 1, o.Step
	} else {
		m.unit = exactUnit(all)
	}
	for k, x := range v.Data {
		m.v[k] = int64(math.Round(x / m.unit))
	}
	m.reserve = o.Reserve
	m.begin()
	return m
}

// begin sets the starting prices; nobody has anything.
func (m *market) begin() {
	clear(m.price)
	for j, x := range m.reserve {
		m.price[j] = int64(math.Round(x / m.unit))
	}
	for i := range m.item {
		m.item[i] = noItem
	}
	for j := range m.buyer {
		m.buyer[j] = -1
	}
}

// divides tells whether every number is a multiple of step, as far as decimals can be told in floats.
func divides(step float64, xs []float64) bool {
	for _, x := range xs {
		q := x / step
		if math.Abs(q) > 1<<40 || math.Abs(q-math.Round(q)) > 1e-9*(1+math.Abs(q)) {
			return false
		}
	}
	return true
}

// exactUnit returns 1 for integers, else a power of two that makes the largest number about 2^40 units.
func exactUnit(xs []float64) float64 {
	hi, whole := 0.0, true
	for _, x := range xs {
		hi = max(hi, math.Abs(x))
		whole = whole && x == math.Trunc(x)
	}
	if whole && hi < 1<<50 || hi == 0 {
		return 1
	}
	_, exp := math.Frexp(hi)
	return math.Ldexp(1, exp-40)
}

func (m *market) run() error {
	for {
		m.out.Rounds++
		if m.out.Rounds > maxMarketRounds {
			return fmt.Errorf("the market did not clear within %d rounds; use a larger step, the smallest rise, or lots", maxMarketRounds)
		}
		if m.paper && m.out.Rounds > maxPaperRounds {
			m.paper, m.out.TookOver = false, m.out.Rounds-1
			m.step, m.out.Step = 0, 0 // by the smallest rise it always ends
			m.begin()
		}
		m.demand()
		raised, buyers := m.overDemanded()
		if m.trace {
			m.note(raised)
		}
		if raised == nil {
			return nil
		}
		by := m.step
		if by == 0 {
			by = m.smallestRise(raised, buyers)
		}
		for j, in := range raised {
			if in {
				m.price[j] += by
			}
		}
	}
}

// demand lists what each buyer wants most and extends the matching. Prices rise for items whose buyers want nothing
// else, so who was matched stays so.
func (m *market) demand() {
	for i := range m.rows {
		best := int64(math.MinInt64)
		for j := range m.cols {
			best = max(best, m.v[i*m.cols+j]-m.price[j])
		}
		m.want[i] = m.want[i][:0]
		if m.abstain && best < 0 {
			m.release(i, nothing)
			continue
		}
		for j := range m.cols {
			if m.v[i*m.cols+j]-m.price[j] == best {
				m.want[i] = append(m.want[i], j)
			}
		}
		if m.item[i] >= 0 && m.v[i*m.cols+m.item[i]]-m.price[m.item[i]] != best {
			m.release(i, noItem)
		}
		if m.item[i] == nothing {
			m.item[i] = noItem
		}
	}
	seen := make([]bool, m.cols)
	for i := range m.rows {
		if m.item[i] == noItem {
			clear(seen)
			if !m.try(i, seen) && m.indifferent(i) {
				m.yield(i)
			}
		}
	}
}

func (m *market) release(i, to int) {
	if j := m.item[i]; j >= 0 {
		m.buyer[j] = -1
	}
	m.item[i] = to
}

func (m *market) indifferent(i int) bool {
	return m.abstain && len(m.want[i]) > 0 && m.v[i*m.cols+m.want[i][0]] == m.price[m.want[i][0]]
}

// yield makes a buyer content with nothing, who loses nothing by it.
func (m *market) yield(i int) { m.item[i] = nothing }

// try extends the matching by an augmenting path from buyer i. It may end at a buyer who is content with nothing.
func (m *market) try(i int, seen []bool) bool {
	for _, j := range m.want[i] {
		if seen[j] {
			continue
		}
		seen[j] = true
		b := m.buyer[j]
		if b < 0 || m.try(b, seen) {
			m.item[i], m.buyer[j] = j, i
			return true
		}
		if m.indifferent(b) {
			m.yield(b)
			m.item[i], m.buyer[j] = j, i
			return true
		}
	}
	return false
}

// overDemanded returns a set of items that too many buyers want, and the buyers who want nothing outside it; nil if
// the market is clear. What alternating paths reach from one buyer without an item is such a set, and the smallest of
// those is a minimal one, as the published rule asks. Minimal sets can outbid each other in tiny turns, so the
// smallest rise takes all that is reached: every part of it is wanted by more buyers than it has items, which leads to
// the same prices (Andersson, Andersson and Talman, Annals of Operations Research 211, 2013) in few rounds.
func (m *market) overDemanded() (items, buyers []bool) {
	if m.paper {
		if items, buyers = m.pointedAt(); items != nil {
			return items, buyers
		}
	}
	if m.step == 0 {
		return m.reach(m.lacking(), math.MaxInt)
	}
	size := math.MaxInt
	for _, i := range m.lacking() {
		if in, who := m.reach([]int{i}, size); in != nil {
			items, buyers, size = in, who, len(places(in))
		}
	}
	return items, buyers
}

// pointedAt returns the items that more than one buyer points at, as long as somebody has nothing, and the buyers who point at
// nothing else; nil if there is no such item.
func (m *market) pointedAt() (items, buyers []bool) {
	if len(m.lacking()) == 0 {
		return nil, nil
	}
	by := make([]int, m.cols)
	for _, want := range m.want {
		for _, j := range want {
			by[j]++
		}
	}
	items, buyers = make([]bool, m.cols), make([]bool, m.rows)
	some := false
	for j, n := range by {
		items[j] = n > 1
		some = some || items[j]
	}
	if !some {
		return nil, nil
	}
	for i, want := range m.want {
		buyers[i] = len(want) > 0
		for _, j := range want {
			buyers[i] = buyers[i] && items[j]
		}
	}
	return items, buyers
}

// lacking returns the buyers without an item who want one.
func (m *market) lacking() (out []int) {
	for i, j := range m.item {
		if j == noItem {
			out = append(out, i)
		}
	}
	return out
}

// reach follows alternating paths; nil if it finds size items or more, or starts nowhere.
func (m *market) reach(from []int, size int) (items, buyers []bool) {
	if len(from) == 0 {
		return nil, nil
	}
	items, buyers = make([]bool, m.cols), make([]bool, m.rows)
	for _, i := range from {
		buyers[i] = true
	}
	n := 0
	for stack := from; len(stack) > 0; {
		b := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		for _, j := range m.want[b] {
			if items[j] {
				continue
			}
			items[j] = true
			if n++; n >= size {
				return nil, nil
			}
			if next := m.buyer[j]; !buyers[next] {
				buyers[next] = true
				stack = append(stack, next)
			}
		}
	}
	return items, buyers
}

// smallestRise returns by how much the prices must rise for one of the buyers to want something else as much.
func (m *market) smallestRise(items, buyers []bool) int64 {
	by := int64(math.MaxInt64)
	for i, in := range buyers {
		if !in {
			continue
		}
		best := m.v[i*m.cols+m.want[i][0]] - m.price[m.want[i][0]]
		if m.abstain {
			by = min(by, best)
		}
		for j := range m.cols {
			if !items[j] {
				by = min(by, best-(m.v[i*m.cols+j]-m.price[j]))
			}
		}
	}
	if by == math.MaxInt64 { // everybody points at something else as well
		return 1
	}
	return max(1, by)
}

func (m *market) note(raised []bool) {
	r := MarketRound{Prices: m.prices(), Raised: places(raised)}
	for _, w := range m.want {
		r.Preferred = append(r.Preferred, append([]int{}, w...))
	}
	m.out.Trace = append(m.out.Trace, r)
}

func (m *market) prices() []float64 {
	out := make([]float64, m.cols)
	for j, p := range m.price {
		out[j] = float64(p) * m.unit
		if m.unit < 1 && m.step == 0 { // the last of the 40 bits are the rounding's, not the market's
			out[j], _ = strconv.ParseFloat(strconv.FormatFloat(out[j], 'g', 11, 64), 64)
		}
	}
	return out
}

func (m *market) clearing(v Matrix) Clearing {
	c := m.out
	c.Prices = m.prices()
	c.Item = make([]int, m.rows)
	for i, j := range m.item {
		c.Item[i] = max(j, -1)
		if j >= 0 {
			c.Valuation += v.At(i, j)
		}
	}
	return c
}
