package main

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"argosy/internal/plan/solve"
)

// packSeconds is how long each packing may be looked for, CPU seconds.
const packSeconds = 2.0

// family is a published kind of instances. Its optimum is known where bins were cut into the items (bins > 0); else what was
// found is held against the lower bound.
type family struct {
	name     string
	capacity float64
	dims     []int
	items    []int
	make     func(n, dims int, r *rand.Rand) (items [][]float64, bins int)
}

var families = []family{
	{"triplets", size, []int{1, 2, 3}, []int{60, 120, 249, 501}, triplets},
	{"cut bins", size, []int{1, 2, 3}, []int{60, 120, 249, 501}, cutBins},
	{"uniform", uniformBin, []int{1}, []int{60, 120, 250, 500}, uniform},
	{"vectors", size, []int{2, 3}, []int{60, 120, 250, 500}, vectors},
}

// packings packs the families: how far what is found is above the optimum, and above the bound, which is what a user is told.
func (b *bench) packings() error {
	const seeds = 3
	fmt.Printf("\npacking, %g CPU seconds each, %d instances a line; the optimum is known of triplets and cut bins\n", packSeconds, seeds)
	fmt.Println("family    dims  items   bins at best  portfolio  within     optimal  bound      gap told")
	var known, told total
	for _, f := range families {
		for _, dims := range f.dims {
			for _, items := range f.items {
				var quick, found, least, gap float64
				hit, proved := 0, 0
				for seed := range uint64(seeds) {
					xs, optimum := f.make(items, dims, rand.New(rand.NewPCG(seed, uint64(items))))
					bins := make([]solve.Bin, len(xs))
					for i := range bins {
						bins[i].Capacity = slices.Repeat([]float64{f.capacity}, dims)
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
					if p.Bound == optimum {
						proved++
					}
					gap += told.add(p.Used, p.Bound) / seeds
					if optimum == 0 {
						optimum = p.Bound
					} else {
						known.add(p.Used, optimum)
					}
					quick, found, least = quick+float64(q.Used)/float64(optimum)/seeds, found+float64(p.Used)/float64(optimum)/seeds, least+float64(optimum)/seeds
					if p.Used == optimum {
						hit++
					}
				}
				tight := "-"
				if f.bins() {
					tight = fmt.Sprintf("%d/%d tight", proved, seeds)
				}
				fmt.Printf("%-9s %4d  %5d  %13.1f  %9.3f  %6.3f  %6d/%d  %-9s  %.3f\n", f.name, dims, items, least, quick, found, hit, seeds, tight, gap-1)
			}
		}
	}
	fmt.Printf("known optimum: %s\nall, over the bound: %s\n", known, told)
	return nil
}

// bins says whether a family's optimum is known.
func (f family) bins() bool { return f.name == "triplets" || f.name == "cut bins" }

// total is how far packings are above something.
type total struct {
	sum, worst float64
	n, above   int
}

// mostAbove is how far above its optimum a packing should be at most.
const mostAbove = 1.03

func (t *total) add(used, least int) float64 {
	ratio := float64(used) / float64(least)
	t.sum, t.n, t.worst = t.sum+ratio, t.n+1, max(t.worst, ratio)
	if ratio > mostAbove {
		t.above++
	}
	return ratio
}

func (t total) String() string {
	return fmt.Sprintf("%.4f on average of %d, %.3f at worst, %d above %g", t.sum/float64(t.n), t.n, t.worst, t.above, mostAbove)
}

// size of a bin in each dimension.
const size = 1000

// uniformBin is the bin of the uniform family: items of 20 to 100 in bins of 150 (Falkenauer, Journal of Heuristics 2, 1996).
const uniformBin = 150

func uniform(n, _ int, r *rand.Rand) (items [][]float64, bins int) {
	for range n {
		items = append(items, []float64{float64(20 + r.IntN(81))})
	}
	return items, 0
}

// vectors need a tenth to four tenths of a bin in each dimension, independently (as of Caprara and Toth, Discrete Applied Mathematics 111, 2001).
func vectors(n, dims int, r *rand.Rand) (items [][]float64, bins int) {
	for range n {
		x := make([]float64, dims)
		for d := range x {
			x[d] = float64(size/10 + r.IntN(3*size/10+1))
		}
		items = append(items, x)
	}
	return items, 0
}

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
