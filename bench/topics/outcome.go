package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/survey"
	"path/filepath"
)

// outcome is what a crawl has.
type outcome struct {
	Name                       string
	Wanted                     float64 // pages on the topic that there are
	Fetched, Distinct, Twice   float64
	Expected, Parent, ByChance area
}

// area is the chance that of two pages, one on the topic and one not, a score given beforehand is higher for the former; and over how many
// pairs that is known.
type area struct{ Above, Pairs float64 }

func (a area) String() string {
	if a.Pairs == 0 {
		return "     -"
	}
	return fmt.Sprintf("%6.3f", a.Above/a.Pairs)
}

func (a area) plus(b area) area { return area{a.Above + b.Above, a.Pairs + b.Pairs} }

// areaOf compares all pairs of two sides; equal scores count half.
func areaOf(on, off []float64) (a area) {
	slices.Sort(off)
	for _, x := range on {
		below, _ := slices.BinarySearch(off, x)
		upTo, _ := slices.BinarySearchFunc(off, x, func(y, x float64) int {
			if y <= x {
				return -1
			}
			return 1
		})
		a.Above += float64(below) + float64(upTo-below)/2
		a.Pairs += float64(len(off))
	}
	return a
}

// judged counts what a crawl has, by what is known to be on the topic.
func judged(dir string, on map[string]bool) (o outcome, err error) {
	ctx := context.Background()
	l, err := ledger.Open(ctx, filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		return o, err
	}
	defer l.Close()
	had := map[string]int{}
	expected := map[string]float64{}
	err = l.Pages(ctx, 1, func(p *ledger.Page) error {
		if p.State != crawl.Fetched.String() || p.Status != 200 {
			return nil
		}
		o.Fetched++
		if had[p.URL]++; had[p.URL] > 1 {
			o.Twice++
		} else if on[p.URL] {
			o.Distinct++
		}
		if p.Expected > 0 && p.Expected < 0.999 { // seeds come first whatever is expected of them
			expected[p.URL] = p.Expected
		}
		return nil
	})
	if err != nil {
		return o, err
	}
	paths, err := survey.SearchTree(ctx, dir, 1, false)
	if err != nil {
		return o, err
	}
	o.compare(paths.Roots, expected, on)
	return o, nil
}

// compare judges what was expected of pages, the score of the page that named each first, and chance, by the same pages.
func (o *outcome) compare(roots []*survey.Branch, expected map[string]float64, on map[string]bool) {
	var by [3][2][]float64 // expected, parent, chance; off and on the topic
	rng := rand.New(rand.NewPCG(1, 2))
	for todo := slices.Clone(roots); len(todo) > 0; {
		parent := todo[len(todo)-1]
		todo = append(todo[:len(todo)-1], parent.Under...)
		for _, b := range parent.Under {
			x, ok := expected[b.URL]
			if !ok {
				continue
			}
			side := 0
			if on[b.URL] {
				side = 1
			}
			for k, score := range []float64{x, parent.Score, rng.Float64()} {
				by[k][side] = append(by[k][side], score)
			}
		}
	}
	o.Expected, o.Parent, o.ByChance = areaOf(by[0][1], by[0][0]), areaOf(by[1][1], by[1][0]), areaOf(by[2][1], by[2][0])
}

// summary prints what methods have found in all trials, and how they compare.
func (b *bench) summary(got map[string][]outcome) {
	fmt.Printf("\n%-12s %8s %9s %8s %7s %18s %s\n", "in all", "fetches", "on topic", "a fetch", "again", "", "area: expected, parent's score, chance")
	for _, n := range b.methods {
		var sum outcome
		for _, o := range got[n] {
			sum.Fetched, sum.Distinct, sum.Twice = sum.Fetched+o.Fetched, sum.Distinct+o.Distinct, sum.Twice+o.Twice
			sum.Expected, sum.Parent, sum.ByChance = sum.Expected.plus(o.Expected), sum.Parent.plus(o.Parent), sum.ByChance.plus(o.ByChance)
		}
		if len(got[n]) > 0 {
			fmt.Printf("%-12s %8.0f %9.0f %8.3f %7.0f %18s %v %v %v\n", n, sum.Fetched, sum.Distinct, sum.Distinct/math.Max(1, sum.Fetched), sum.Twice, "", sum.Expected, sum.Parent, sum.ByChance)
		}
	}
	b.byName(got)
	for _, p := range compared {
		x, y := got[p[0]], got[p[1]]
		if len(x) == 0 || len(y) == 0 {
			continue
		}
		mid, low, high := interval(x, y)
		fmt.Printf("%s / %s: %.3f, 95 %% interval %.3f to %.3f (bootstrap over %d pairs)\n", p[0], p[1], mid, low, high, len(x))
	}
	fmt.Println()
}

// byName prints what was found of each topic, on average, where there are several.
func (b *bench) byName(got map[string][]outcome) {
	var names []string
	wanted := map[string]float64{}
	for _, o := range got[b.methods[0]] {
		if !slices.Contains(names, o.Name) {
			names = append(names, o.Name)
			wanted[o.Name] = o.Wanted
		}
	}
	if len(names) < 2 {
		return
	}
	slices.SortStableFunc(names, cmp.Compare[string])
	fmt.Printf("\n%-34s %8s", "by topic, on average", "on topic")
	for _, n := range b.methods {
		fmt.Printf(" %*s", max(8, len(n)), n)
	}
	fmt.Println()
	for _, name := range names {
		fmt.Printf("%-34s %8.0f", name, wanted[name])
		for _, m := range b.methods {
			sum, n := 0.0, 0.0
			for _, o := range got[m] {
				if o.Name == name {
					sum, n = sum+o.Distinct, n+1
				}
			}
			fmt.Printf(" %*.1f", max(8, len(m)), sum/math.Max(1, n))
		}
		fmt.Println()
	}
	fmt.Println()
}

// interval is the ratio of two sums over pairs of crawls, with a 95 % interval by the bootstrap.
func interval(a, b []outcome) (mid, low, high float64) {
	rng := rand.New(rand.NewPCG(1, 1))
	ratio := func(pick func(int) int) float64 {
		x, y := 0.0, 0.0
		for i := range a {
			x += a[pick(i)].Distinct
			y += b[pick(i)].Distinct
		}
		return x / math.Max(1, y)
	}
	mid = ratio(func(i int) int { return i })
	const draws = 4000
	all := make([]float64, draws)
	for d := range all {
		picks := make([]int, len(a))
		for i := range picks {
			picks[i] = rng.IntN(len(a))
		}
		all[d] = ratio(func(i int) int { return picks[i] })
	}
	slices.Sort(all)
	return mid, all[draws/40], all[draws-draws/40-1]
}
