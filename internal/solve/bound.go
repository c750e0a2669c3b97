package solve

import "math"

// FractionalBound is an upper bound on a fractional allocation: maximise Σ value·y where y ≥ 0, the use of each row,
// Σ weight·y over its columns, is at most rowCap, and the use of each column is at most its caps. A column may have
// several caps, each a matrix of uses and a vector of limits; every one alone bounds what the column can bring.
//
// Prices λ of the rows prove it: whatever they are, no allocation brings more than Σ λ·rowCap plus, for each column, the
// most that its caps allow at values reduced by λ·weight. A subgradient method looks for the prices that prove most.
func FractionalBound(value, weight Matrix, rowCap []float64, caps []ColumnCap) (bound float64, prices []float64) {
	n := value.Rows
	prices = make([]float64, n)
	trial := make([]float64, n)
	use := make([]float64, n)
	scale := 0.0 // of prices: value over weight
	for k, v := range value.Data {
		if w := weight.Data[k]; w > 0 {
			scale = max(scale, v/w)
		}
	}
	bound = math.Inf(1)
	const rounds = 600
	v, w := value.Transpose(), weight.Transpose()
	for k := range rounds {
		clear(use)
		total := 0.0
		for i, p := range trial {
			total += p * rowCap[i]
		}
		for j := range v.Rows {
			best, at, y := math.Inf(1), -1, 0.0
			for _, c := range caps {
				gain, i, amount := c.most(j, v.Row(j), w.Row(j), trial)
				if gain < best {
					best, at, y = gain, i, amount
				}
			}
			total += best
			if at >= 0 {
				use[at] += w.Row(j)[at] * y
			}
		}
		if total < bound {
			bound = total
			copy(prices, trial)
		}
		step := 0.5 * scale / math.Pow(float64(k+2), 0.75)
		for i := range trial {
			if rowCap[i] > 0 {
				trial[i] = min(scale, max(0, trial[i]+step*min(1, use[i]/rowCap[i]-1)))
			} else {
				trial[i] = scale
			}
		}
	}
	return bound, prices
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
