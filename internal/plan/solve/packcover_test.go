package solve

import (
	"math/rand/v2"
	"slices"
	"testing"

	"argosy/internal/testkit/seeds"
)

// cut makes items of full bins, cut at random places in each dimension into two to most items each, in any order.
func cut(r *rand.Rand, bins, dims, most int) (items [][]float64) {
	const size = 1000
	for range bins {
		x := make([][]float64, 2+r.IntN(most-1))
		for i := range x {
			x[i] = make([]float64, dims)
		}
		for d := range dims {
			cuts := []int{0, size}
			for range len(x) - 1 {
				cuts = append(cuts, r.IntN(size))
			}
			slices.Sort(cuts)
			for i := range x {
				x[i][d] = float64(cuts[i+1] - cuts[i])
			}
		}
		items = append(items, x...)
	}
	r.Shuffle(len(items), func(i, j int) { items[i], items[j] = items[j], items[i] })
	return items
}

// Most bins that were cut into some 110 items are found again, though nothing may be left of any; of the others one more is wanted.
func TestPackWithinFindsCutBins(t *testing.T) {
	found, all := 0, 0
	for seed := range seeds.Of(2, 20) {
		for dims := 2; dims <= 3; dims++ {
			items := cut(rand.New(rand.NewPCG(seed, 120)), 28, dims, 6)
			asked := 0
			got, err := PackWithin(idle(60, slices.Repeat([]float64{1000}, dims)...), items, func() bool { asked++; return asked > 1000 })
			if err != nil {
				t.Fatal(err)
			}
			legal(t, idle(60, slices.Repeat([]float64{1000}, dims)...), items, got)
			if all++; got.Used == 28 {
				found++
			} else if got.Used != 29 {
				t.Errorf("seed %d, %d dimensions: %d items in %d bins, want 28 or 29", seed, dims, len(items), got.Used)
			}
		}
	}
	if 3*found < 2*all {
		t.Errorf("%d of %d are found", found, all)
	}
}

// A cover is a packing whenever it is found, also beside items that need nothing, or that fit nowhere, and where bins work already; and it is
// found where little is left.
func TestCover(t *testing.T) {
	found := 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 9))
		dims, n := 1+r.IntN(3), 3+r.IntN(12)
		items := cut(r, n, dims, 5)
		if seed%3 == 0 { // something is left
			items[0] = slices.Repeat([]float64{1}, dims)
		}
		if seed%5 == 0 {
			items = append(items, make([]float64, dims), slices.Repeat([]float64{1001}, dims))
		}
		bins := idle(n+3, slices.Repeat([]float64{1000}, dims)...)
		for i := range bins {
			bins[i].Working = r.IntN(3) == 0
		}
		p, err := newPacker(bins, items)
		if err != nil {
			t.Fatal(err)
		}
		from := p.portfolio()
		from.Bound = p.bound()
		got := p.exactly(from, func() bool { return false })
		legal(t, bins, items, got)
		if from.better(got) {
			t.Fatalf("seed %d: %d bins, %d before", seed, got.Used, from.Used)
		}
		if got.Used < from.Used {
			found++
		}
	}
	if found < 5 {
		t.Errorf("it found %d packings only", found)
	}
}

// Where nodes are unequal a few large ones hold what many small ones do: no order of the file keeps them from being used.
func TestLargeNodesAreUsedFirst(t *testing.T) {
	for seed := range uint64(4) {
		r := rand.New(rand.NewPCG(seed, 0x6c61726765))
		bins, items := make([]Bin, 120), make([][]float64, 240)
		for i := range bins {
			bins[i] = Bin{Capacity: []float64{1 + 7*r.Float64(), 1 + 31*r.Float64()}, Working: r.IntN(5) == 0}
		}
		for j := range items {
			items[j] = []float64{r.Float64(), 4 * r.Float64()}
		}
		got, err := Pack(bins, items, RulePortfolio)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Waiting) > 0 || float64(got.Used) > 1.4*float64(got.Bound) {
			t.Errorf("seed %d: %d nodes, %d tasks wait; no packing uses fewer than %d", seed, got.Used, len(got.Waiting), got.Bound)
		}
	}
}
