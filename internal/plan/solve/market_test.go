package solve

import (
	"fmt"
	"math"
	"reflect"
	"testing"

	"pgregory.net/rapid"
)

func matrix(rows ...[]float64) Matrix {
	m, err := FromRows(rows)
	if err != nil {
		panic(err)
	}
	return m
}

// The worked example: four rounds, prices (3, 1, 0), and the matching that the payoffs of the paper give.
func TestMarketExample(t *testing.T) {
	v := matrix([]float64{9, 5, 1}, []float64{7, 5, 2}, []float64{4, 3, 2})
	c, err := ClearMarket(v, MarketOptions{Step: 1, Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	var path []string
	for _, r := range c.Trace {
		path = append(path, fmt.Sprint(r.Prices))
	}
	if want := []string{"[0 0 0]", "[1 0 0]", "[2 0 0]", "[3 1 0]"}; !reflect.DeepEqual(path, want) {
		t.Errorf("prices by round %v, want %v", path, want)
	}
	if c.Rounds != 4 || fmt.Sprint(c.Item) != "[0 1 2]" || c.Valuation != 16 {
		t.Errorf("%d rounds, %v, worth %g", c.Rounds, c.Item, c.Valuation)
	}
	v.Set(2, 2, -1) // as printed in one row of the table
	if c, _ = ClearMarket(v, MarketOptions{Step: 1}); c.Rounds != 6 || fmt.Sprint(c.Prices) != "[5 3 0]" {
		t.Errorf("with the misprint: %d rounds, prices %v", c.Rounds, c.Prices)
	}
	v = matrix([]float64{1, .05}, []float64{1, .05}) // a step of 0.1 never meets these
	if c, err = ClearMarket(v, MarketOptions{Step: .1}); err != nil || c.Step != 0 || math.Abs(c.Prices[0]-.95) > 1e-9 {
		t.Errorf("%v, %v", c, err)
	}
}

// The published rule, by which every item that several buyers point at rises, takes the example's path too; on markets of equal numbers it
// ends, or says that the exact rule took over, with everybody getting what he wants most at its prices, and the best matching.
func TestPaperRule(t *testing.T) {
	v := matrix([]float64{9, 5, 1}, []float64{7, 5, 2}, []float64{4, 3, 2})
	c, err := ClearMarket(v, MarketOptions{Step: 1, Trace: true, Rule: RulePaper})
	if err != nil {
		t.Fatal(err)
	}
	var path []string
	for _, r := range c.Trace {
		path = append(path, fmt.Sprint(r.Prices, r.Raised))
	}
	if want := []string{"[0 0 0] [0]", "[1 0 0] [0]", "[2 0 0] [0 1]", "[3 1 0] []"}; !reflect.DeepEqual(path, want) || fmt.Sprint(c.Item) != "[0 1 2]" || c.TookOver != 0 {
		t.Errorf("%v, %v", path, c)
	}
	other := 0
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		v := NewMatrix(n, n)
		fine := rapid.Bool().Draw(t, "fractions")
		for k := range v.Data {
			if v.Data[k] = float64(rapid.IntRange(0, 12).Draw(t, "v")); fine {
				v.Data[k] = rapid.Float64Range(0, 1).Draw(t, "w")
			}
		}
		step := 1.0
		if fine {
			step = 0
		}
		c, err := ClearMarket(v, MarketOptions{Step: step, Rule: RulePaper})
		if err != nil {
			t.Fatal(err)
		}
		exact, err := ClearMarket(v, MarketOptions{Step: step})
		if err != nil {
			t.Fatal(err)
		}
		if c.Rounds != exact.Rounds || !reflect.DeepEqual(c.Prices, exact.Prices) {
			other++
		}
		if math.Abs(c.Valuation-exact.Valuation) > 1e-9*(1+exact.Valuation) {
			t.Fatalf("worth %g, the exact rule %g; %+v", c.Valuation, exact.Valuation, c)
		}
		for i, j := range c.Item {
			for k := range n {
				if v.At(i, k)-c.Prices[k] > v.At(i, j)-c.Prices[j]+1e-9 {
					t.Fatalf("buyer %d has item %d and wants %d: %+v", i, j, k, c)
				}
			}
		}
		if c.TookOver > 0 && c.TookOver != maxPaperRounds {
			t.Fatalf("the exact rule took over after %d rounds", c.TookOver)
		}
	})
	if other == 0 {
		t.Error("the published rule never differs from the exact one: it is not looked at")
	}
}

// vcg returns the Vickrey–Clarke–Groves payments by solving the market with and without each buyer.
func vcg(v Matrix, item []int) []float64 {
	worth := func(without int) float64 {
		m := NewMatrix(v.Rows, v.Cols+v.Rows) // a place for each buyer to take nothing
		for i := range v.Rows {
			for j := range v.Cols {
				m.Set(i, j, -v.At(i, j))
				if i == without {
					m.Set(i, j, 0)
				}
			}
		}
		a, _ := Assign(m)
		return -a.Total
	}
	all := worth(-1)
	out := make([]float64, v.Cols)
	for i, j := range item {
		if j >= 0 {
			out[j] = worth(i) - (all - v.At(i, j))
		}
	}
	return out
}

// In unit steps the prices are those of Vickrey, Clarke and Groves, and the matching is worth the most.
func TestMarketPricesAreVCG(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := NewMatrix(rapid.IntRange(1, 6).Draw(t, "buyers"), rapid.IntRange(1, 6).Draw(t, "items"))
		for k := range v.Data {
			v.Data[k] = float64(rapid.IntRange(0, 9).Draw(t, "v"))
		}
		c, err := ClearMarket(v, MarketOptions{Step: float64(rapid.IntRange(0, 1).Draw(t, "step")), Abstain: true})
		if err != nil {
			t.Fatal(err)
		}
		if want := vcg(v, c.Item); !near(c.Prices, want, 1e-9) {
			t.Fatalf("prices %v, VCG %v, items %v", c.Prices, want, c.Item)
		}
	})
}

func near(a, b []float64, eps float64) bool {
	for i := range a {
		if math.Abs(a[i]-b[i]) > eps {
			return false
		}
	}
	return len(a) == len(b)
}

// Any valuations clear: everybody gets what he wants most at the prices, items without a buyer cost their reserve.
func TestMarketAlwaysClears(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := NewMatrix(rapid.IntRange(1, 8).Draw(t, "buyers"), rapid.IntRange(1, 8).Draw(t, "items"))
		for k := range v.Data {
			v.Data[k] = rapid.Float64Range(-2, 5).Draw(t, "v")
		}
		o := MarketOptions{Step: rapid.SampledFrom([]float64{0, .1, 1}).Draw(t, "step"), Abstain: rapid.Bool().Draw(t, "abstain")}
		if rapid.Bool().Draw(t, "reserve") {
			for range v.Cols {
				o.Reserve = append(o.Reserve, rapid.Float64Range(0, 3).Draw(t, "r"))
			}
		}
		c, err := ClearMarket(v, o)
		if err != nil {
			t.Fatal(err)
		}
		sold := map[int]bool{}
		for i, j := range c.Item {
			best := math.Inf(-1)
			if o.Abstain || v.Rows > v.Cols {
				best = 0
			}
			for k := range v.Cols {
				best = max(best, v.At(i, k)-c.Prices[k])
			}
			got := 0.0
			if j >= 0 {
				if got = v.At(i, j) - c.Prices[j]; sold[j] {
					t.Fatalf("item %d is sold twice", j)
				}
				sold[j] = true
			} else if !o.Abstain && v.Rows <= v.Cols {
				t.Fatalf("buyer %d got nothing", i)
			}
			if got < best-1e-8 {
				t.Fatalf("buyer %d gains %g, could gain %g", i, got, best)
			}
		}
		for j, p := range c.Prices {
			r := 0.0
			if o.Reserve != nil {
				r = o.Reserve[j]
			}
			if !sold[j] && math.Abs(p-r) > 1e-8 {
				t.Fatalf("item %d is not sold at %g, reserve %g", j, p, r)
			}
		}
	})
}

func TestLotsAgainstCapacitated(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := NewMatrix(rapid.IntRange(1, 5).Draw(t, "buyers"), rapid.IntRange(1, 12).Draw(t, "items"))
		for k := range v.Data {
			v.Data[k] = float64(rapid.IntRange(-3, 9).Draw(t, "v"))
		}
		places := make([]int, v.Rows)
		p := Capacitated{Cap: places, Start: []int32{0}, Alone: make([]float64, v.Cols)}
		for b := range places {
			places[b] = rapid.IntRange(0, 4).Draw(t, "places")
		}
		for j := range v.Cols {
			for b := range v.Rows {
				p.Bin, p.Cost = append(p.Bin, int32(b)), append(p.Cost, -v.At(b, j))
			}
			p.Start = append(p.Start, int32(len(p.Bin)))
		}
		exact, err := AssignCapacitated(p)
		if err != nil {
			t.Fatal(err)
		}
		eps := rapid.SampledFrom([]float64{0, .01, .5}).Draw(t, "eps")
		c, err := ClearLots(v, places, eps)
		if err != nil {
			t.Fatal(err)
		}
		load, sum := make([]int, v.Rows), 0.0
		for j, b := range c.Buyer {
			if b >= 0 {
				load[b]++
				sum += v.At(b, j)
			}
		}
		for b, n := range load {
			if n > places[b] {
				t.Fatalf("buyer %d has %d of %d places", b, n, places[b])
			}
		}
		if math.Abs(sum-c.Valuation) > 1e-9 || c.Valuation > -exact.Total+1e-9 || c.Valuation+c.Bound < -exact.Total-1e-9 {
			t.Fatalf("worth %g (sum %g), best %g, bound %g", c.Valuation, sum, -exact.Total, c.Bound)
		}
		if eps == .01 && c.Valuation != -exact.Total {
			t.Fatalf("integers are exact with epsilon below 1/n: %g, want %g", c.Valuation, -exact.Total)
		}
	})
}

// The auctions end on whatever a fuzzer finds, or say what is wrong with it.
func FuzzMarkets(f *testing.F) {
	f.Add([]byte{2, 100, 5, 100, 5}, 0.1)
	f.Add([]byte{3, 9, 5, 1, 7, 5, 2, 4, 3, 2}, 1.0)
	f.Fuzz(func(t *testing.T, b []byte, step float64) {
		if len(b) < 2 || b[0] == 0 || len(b) > 200 {
			return
		}
		cols := int(b[0])
		rows := (len(b) - 1) / cols
		if rows == 0 {
			return
		}
		v := NewMatrix(rows, cols)
		for k := range v.Data {
			v.Data[k] = float64(int8(b[1+k])) * step * 1.37
		}
		_, err := ClearMarket(v, MarketOptions{})
		_, err2 := ClearLots(v, make([]int, rows), step)
		if paper, err := ClearMarket(v, MarketOptions{Rule: RulePaper, Reserve: v.Data[:cols]}); err == nil && paper.Rounds > maxPaperRounds && paper.TookOver == 0 {
			t.Fatalf("the published rule went on for %d rounds", paper.Rounds)
		}
		if step == step && math.Abs(step) < 1e300 && err != nil {
			t.Fatal(err, err2)
		}
		places := make([]int, rows)
		for i := range places {
			places[i] = i % 3
		}
		_, _ = ClearLots(v, places, math.Abs(step)/100)
	})
}
