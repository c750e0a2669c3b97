package solve

import "math"

// FractionalBound is an upper bound on a fractional allocation: maximise Σ value·y where y ≥ 0, the use of each row,
// Σ weight·y over its columns, is at most rowCap, and the use of each column is at most its caps. A column may have
// several caps, each a matrix of uses and a vector of limits; every one alone bounds what the column can bring.
//
// Prices λ of the rows prove it: whatever they are, no allocation brings more than Σ λ·rowCap plus, for each column, the
// most that its caps allow at values reduced by λ·weight. A subgradient method looks for the prices that prove most,
// from start on (nil: from 0), in fewer rounds where there is a start.
func FractionalBound(value, weight Matrix, rowCap []float64, caps []ColumnCap, start []float64) (bound float64, prices []float64) {
	d := &dual{v: value.Transpose(), w: weight.Transpose(), rowCap: rowCap, caps: caps, use: make([]float64, value.Rows)}
	for k, v := range value.Data {
		if w := weight.Data[k]; w > 0 {
			d.top = max(d.top, v/w)
		}
	}
	rounds := 400
	trial := make([]float64, value.Rows)
	if start != nil {
		copy(trial, start)
		rounds = 80
	}
	bound = math.Inf(1)
	prices = append([]float64(nil), trial...)
	hope, stale := 0.05, 0 // by what share the bound is hoped to fall: Polyak's step to a level that is lowered or raised
	for range rounds {
		total := d.at(trial)
		if total < bound*(1-1e-9) {
			if total < bound*(1-hope/4) {
				stale = 0
			}
			bound = total
			copy(prices, trial)
		}
		if stale++; stale > 8 {
			hope, stale = hope/2, 0
			copy(trial, prices)
			total = d.at(trial)
		}
		norm := 0.0
		for i, c := range rowCap {
			g := c - d.use[i]
			if g > 0 && trial[i] == 0 {
				g = 0
			}
			norm += g * g
		}
		if norm == 0 || hope < 1e-5 {
			break
		}
		step := (total - bound*(1-hope)) / norm
		for i, c := range rowCap {
			trial[i] = min(d.top, max(0, trial[i]-step*(c-d.use[i])))
		}
	}
	for i := range trial { // the same price for all is a good guess where everything is scarce
		trial[i] = d.top
	}
	if total := d.at(trial); total < bound {
		bound = total
		copy(prices, trial)
	}
	return bound, prices
}

// dual is the Lagrangian dual of a fractional allocation.
type dual struct {
	v, w   Matrix // a row for each column
	rowCap []float64
	caps   []ColumnCap
	top    float64 // a price above which no row is used
	use    []float64
}

// at returns the bound that prices prove, and leaves in use what the best allocation at them takes of each row.
func (d *dual) at(price []float64) (total float64) {
	clear(d.use)
	for i, p := range price {
		total += p * d.rowCap[i]
	}
	for j := range d.v.Rows {
		best, at, y := math.Inf(1), -1, 0.0
		for _, c := range d.caps {
			gain, i, amount := c.most(j, d.v.Row(j), d.w.Row(j), price)
			if gain < best {
				best, at, y = gain, i, amount
			}
		}
		total += best
		if at >= 0 {
			d.use[at] += d.w.Row(j)[at] * y
		}
	}
	return total
}

// ColumnCap limits what columns can use.
type ColumnCap struct {
	Use   Matrix // of each pair, for one unit of y
	Limit []float64
}

// most returns the most that one cap lets a column bring, where, and how much of it.
func (c ColumnCap) most(j int, value, weight, price []float64) (gain float64, at int, amount float64) {
	at = -1
	for i, v := range value {
		u := c.Use.At(i, j)
		if u <= 0 {
			continue
		}
		y := c.Limit[j] / u
		if g := (v - price[i]*weight[i]) * y; g > gain {
			gain, at, amount = g, i, y
		}
	}
	return gain, at, amount
}
