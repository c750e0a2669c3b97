package solve

import (
	"fmt"
	"math"
)

// LotsClearing is the outcome of a many-to-one market.
type LotsClearing struct {
	Buyer     []int // of each item, -1 if nobody takes it
	Valuation float64
	// Worth of one more place at each buyer; the price of an item is what the best other use of it would bring.
	Worth  []float64
	Prices []float64
	Rounds [][]float64 // those prices after each phase, the last of which is Prices
	Bids   int
	Bound  float64 // no clearing can be worth more than Valuation + Bound
}

// ClearLots sells items to buyers who take up to places[b] each, by an auction with falling increments in which items
// bid for places (Bertsekas and Castañón, Annals of Operations Research 20, 1989). v has a row for each buyer and a
// column for each item; a pair worth less than nothing is not made. It ends on every input, and the valuation is
// within Bound = n·epsilon of the best, n being the number of items and places. epsilon 0 takes a thousandth of the
// largest valuation over n; integers are exact with epsilon < 1/n.
func ClearLots(v Matrix, places []int, epsilon float64) (LotsClearing, error) {
	r, err := v.check()
	if err != nil {
		return LotsClearing{}, err
	}
	if v.Cols == 0 {
		return LotsClearing{}, fmt.Errorf("no items")
	}
	if r.forbid {
		return LotsClearing{}, fmt.Errorf("valuations must be finite")
	}
	if len(places) != v.Rows {
		return LotsClearing{}, fmt.Errorf("places: %d for %d buyers", len(places), v.Rows)
	}
	if epsilon < 0 || epsilon != epsilon || math.IsInf(epsilon, 0) {
		return LotsClearing{}, fmt.Errorf("epsilon %g: want a number above 0, or 0 for a small one", epsilon)
	}
	all := 0
	for b, n := range places {
		if n < 0 {
			return LotsClearing{}, fmt.Errorf("buyer %d: %d places", b+1, n)
		}
		all += min(n, v.Cols)
	}
	top := max(r.hi, 0)
	n := float64(v.Cols + all)
	if epsilon == 0 {
		epsilon = top / n / 1000
	}
	epsilon = max(epsilon, top*1e-12, math.SmallestNonzeroFloat64*1e20) // below that a bid would not change a price
	l := newLots(v, places, all)
	var rounds [][]float64
	for e := top / 4; e > epsilon; e /= 5 {
		l.phase(e)
		rounds = append(rounds, l.prices(l.worth()))
	}
	l.phase(epsilon)
	c := l.clearing(n * epsilon)
	c.Rounds = append(rounds, c.Prices)
	return c, nil
}

// lots is the state of the auction. The last buyer is the outside, with a place for every item, where everything is
// worth nothing. Bidders are the items and, so that every place is sold whatever the prices of an earlier phase, as
// many fillers as there are places at the real buyers, who gain nothing anywhere.
type lots struct {
	v      Matrix // a row for each item
	buyers []placeHeap
	at     []int32 // buyer of each bidder
	bids   int
}

// place is a place at a buyer: its price and who holds it.
type place struct {
	price float64
	who   int32 // -1 nobody
}

func newLots(v Matrix, places []int, fill int) *lots {
	l := &lots{v: v.Transpose(), buyers: make([]placeHeap, v.Rows+1), at: make([]int32, v.Cols+fill)}
	for b, n := range places {
		l.buyers[b] = make([]place, min(n, v.Cols))
	}
	l.buyers[v.Rows] = make([]place, v.Cols)
	return l
}

// phase sells everything anew at the prices of the last phase, with increments of at least eps.
func (l *lots) phase(eps float64) {
	for _, h := range l.buyers {
		for k := range h {
			h[k].who = -1
		}
	}
	queue := make([]int32, len(l.at))
	for w := range queue {
		queue[w] = int32(len(queue) - 1 - w)
	}
	for len(queue) > 0 {
		w := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		l.bids++
		if out := l.bid(w, eps); out >= 0 {
			queue = append(queue, out)
		}
	}
}

func (l *lots) value(w int32, b int) float64 {
	if int(w) < l.v.Rows && b < l.v.Cols {
		return l.v.At(int(w), b)
	}
	return 0
}

// bid gives a bidder its best place at a price that leaves it eps below its second best, and returns who must go.
func (l *lots) bid(w int32, eps float64) (out int32) {
	best, second, at := math.Inf(-1), math.Inf(-1), -1
	for b, h := range l.buyers {
		if len(h) == 0 {
			continue
		}
		value := l.value(w, b)
		switch gain := value - h[0].price; {
		case gain > best:
			best, second, at = gain, best, b
			if len(h) > 1 { // the second best may be the next place of the same buyer
				second = max(second, value-h.second())
			}
		case gain > second:
			second = gain
		}
	}
	if math.IsInf(second, -1) {
		second = best // one place in all the world
	}
	h := l.buyers[at]
	out = h[0].who
	h.raise(h[0].price+best-second+eps, w)
	l.at[w] = int32(at)
	return out
}

// worth is what one more place at each buyer is worth.
func (l *lots) worth() []float64 {
	out := make([]float64, len(l.buyers)-1)
	free := l.buyers[len(out)][0].price // what a place costs that is worth nothing
	for b := range out {
		if h := l.buyers[b]; len(h) > 0 {
			out[b] = max(0, h[0].price-free)
		}
	}
	return out
}

// prices is what the best other use of each item would bring, worth being what places are.
func (l *lots) prices(worth []float64) []float64 {
	out := make([]float64, l.v.Rows)
	for w := range out {
		for b := range worth {
			if len(l.buyers[b]) > 0 {
				out[w] = max(out[w], l.v.At(w, b)-worth[b])
			}
		}
	}
	return out
}

func (l *lots) clearing(bound float64) LotsClearing {
	worth := l.worth()
	c := LotsClearing{Buyer: make([]int, l.v.Rows), Worth: worth, Prices: l.prices(worth), Bids: l.bids, Bound: bound}
	for w := range c.Buyer {
		c.Buyer[w] = -1
		if b := int(l.at[w]); b < len(worth) && l.v.At(w, b) >= 0 {
			c.Buyer[w] = b
			c.Valuation += l.v.At(w, b)
		}
	}
	return c
}

// placeHeap is a min-heap of places by price, then by number.
type placeHeap []place

func (h placeHeap) second() float64 {
	if len(h) == 2 {
		return h[1].price
	}
	return min(h[1].price, h[2].price)
}

// raise gives the cheapest place a new price and holder.
func (h placeHeap) raise(price float64, who int32) {
	i := 0
	for {
		c := 2*i + 1
		if c >= len(h) {
			break
		}
		if c+1 < len(h) && h[c+1].price < h[c].price {
			c++
		}
		if h[c].price >= price {
			break
		}
		h[i] = h[c]
		i = c
	}
	h[i] = place{price, who}
}
