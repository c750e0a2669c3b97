package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"argosy/internal/plan/solve"
)

// packSeconds is how long each packing may be looked for, CPU seconds.
const packSeconds = 2.0

// packings packs items whose least number of bins is known, because bins were cut into them.
func (b *bench) packings() error {
	const seeds = 3
	fmt.Printf("\npacking with known optimum, %g CPU seconds each, bins of 1000 in each dimension, %d instances a line\n", packSeconds, seeds)
	fmt.Println("class     dims  items   bins at best  portfolio  within     optimal  bound")
	sum, n, worst := 0.0, 0, 0.0
	for _, class := range []struct {
		name string
		make func(n, dims int, r *rand.Rand) ([][]float64, int)
	}{{"triplets", triplets}, {"cut bins", cutBins}} {
		for _, dims := range []int{2, 3} {
			for _, items := range []int{60, 120, 249, 501} {
				var quick, found float64
				best, hit, proved := 0, 0, 0
				for seed := range uint64(seeds) {
					xs, optimum := class.make(items, dims, rand.New(rand.NewPCG(seed, uint64(items))))
					bins := make([]solve.Bin, len(xs))
					for i := range bins {
						bins[i].Capacity = slices.Repeat([]float64{size}, dims)
					}
					q, err := solve.Pack(bins, xs, solve.RulePortfolio)
					if err != nil {
						return err
					}
					start := cpu()
					p, err := solve.PackWithin(bins, xs, func() bool { return cpu()-start >= packSeconds })
					if err != nil {
						return err
					}
					ratio := float64(p.Used) / float64(optimum)
					quick, found, best = quick+float64(q.Used)/float64(optimum)/seeds, found+ratio/seeds, best+optimum
					sum, n, worst = sum+ratio, n+1, max(worst, ratio)
					if p.Used == optimum {
						hit++
					}
					if p.Bound == optimum {
						proved++
					}
				}
				fmt.Printf("%-9s %4d  %5d  %13.1f  %9.3f  %6.3f  %6d/%d  %d/%d tight\n", class.name, dims, items, float64(best)/seeds, quick, found, hit, seeds, proved, seeds)
			}
		}
	}
	fmt.Printf("all: %.4f of the optimum on average, %.3f at worst\n", sum/float64(n), worst)
	return nil
}

// size of a bin in each dimension.
const size = 1000

// triplets are three items a bin that fill it to the last unit in each dimension, each between a quarter and a half of it
// where that can be.
func triplets(n, dims int, r *rand.Rand) (items [][]float64, bins int) {
	for range n / 3 {
		x := [][]float64{make([]float64, dims), make([]float64, dims), make([]float64, dims)}
		for d := range dims {
			a := size/4 + r.IntN(size/4)
			b := size/4 + r.IntN(size-a-size/2)
			v := []int{a, b, size - a - b}
			r.Shuffle(3, func(i, j int) { v[i], v[j] = v[j], v[i] })
			for k := range x {
				x[k][d] = float64(v[k])
			}
		}
		items = append(items, x...)
	}
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items, n / 3
}

// cutBins are bins cut at random places in each dimension into two to six items.
func cutBins(n, dims int, r *rand.Rand) (items [][]float64, bins int) {
	for len(items) < n {
		k := min(2+r.IntN(5), n-len(items))
		x := make([][]float64, k)
		for i := range x {
			x[i] = make([]float64, dims)
		}
		for d := range dims {
			cuts := []int{0, size}
			for range k - 1 {
				cuts = append(cuts, r.IntN(size))
			}
			slices.Sort(cuts)
			for i := range k {
				x[i][d] = float64(cuts[i+1] - cuts[i])
			}
		}
		items = append(items, x...)
		bins++
	}
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items, bins
}
