package solve

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func idle(n int, capacity ...float64) []Bin {
	bins := make([]Bin, n)
	for i := range bins {
		bins[i].Capacity = capacity
	}
	return bins
}

// The paper's rule: the first task to the first node, then nodes in use, in order, then idle ones.
func TestWorkingFirst(t *testing.T) {
	bins := idle(4, 10, 10)
	bins[2].Working = true
	p, err := Pack(bins, [][]float64{{6, 1}, {5, 1}, {5, 9}, {4, 1}, {11, 1}, {10, 10}, {1, 1}}, RuleWorkingFirst)
	if err != nil {
		t.Fatal(err)
	}
	want := []int{2, 0, 0, 2, -1, 1, 3}
	for j, i := range p.Bin {
		if i != want[j] {
			t.Fatalf("placement %v, want %v", p.Bin, want)
		}
	}
	if len(p.TooBig) != 1 || p.TooBig[0] != 4 || p.Used != 4 || p.Opened != 3 {
		t.Errorf("%+v", p)
	}
}

// legal checks that no bin is exceeded and that the counts are those of the placement.
func legal(t interface{ Fatalf(string, ...any) }, bins []Bin, items [][]float64, p Packing) {
	left := make([][]float64, len(bins))
	used := map[int]bool{}
	for i, b := range bins {
		left[i] = append([]float64(nil), b.Capacity...)
	}
	for j, i := range p.Bin {
		if i < 0 {
			continue
		}
		used[i] = true
		for d, v := range items[j] {
			if left[i][d] -= v; left[i][d] < -1e-6 {
				t.Fatalf("bin %d is exceeded by %g", i, -left[i][d])
			}
		}
	}
	if len(used) != p.Used || len(p.Waiting) == 0 && p.Used < p.Bound {
		t.Fatalf("%d bins used, %d counted, bound %d", len(used), p.Used, p.Bound)
	}
}

// fewest finds the least number of bins by trying all partitions of the items.
func fewest(capacity []float64, items [][]float64) int {
	best := len(items)
	var left [][]float64
	var try func(j int)
	try = func(j int) {
		if len(left) >= best {
			return
		}
		if j == len(items) {
			best = len(left)
			return
		}
		for i := range left {
			if fits(items[j], left[i]) {
				for d, v := range items[j] {
					left[i][d] -= v
				}
				try(j + 1)
				for d, v := range items[j] {
					left[i][d] += v
				}
			}
		}
		fresh := append([]float64(nil), capacity...)
		for d, v := range items[j] {
			fresh[d] -= v
		}
		left = append(left, fresh)
		try(j + 1)
		left = left[:len(left)-1]
	}
	try(0)
	return best
}

func TestPortfolioNeverWorse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.IntRange(1, 3).Draw(t, "dims")
		bins := make([]Bin, rapid.IntRange(1, 12).Draw(t, "bins"))
		draw := func(hi int) []float64 {
			x := make([]float64, dims)
			for d := range x {
				x[d] = float64(rapid.IntRange(0, hi).Draw(t, "x"))
			}
			return x
		}
		for i := range bins {
			bins[i] = Bin{draw(20), rapid.Bool().Draw(t, "working")}
		}
		items := make([][]float64, rapid.IntRange(0, 14).Draw(t, "items"))
		for j := range items {
			items[j] = draw(12)
		}
		paper, err := Pack(bins, items, RuleWorkingFirst)
		if err != nil {
			t.Fatal(err)
		}
		ours, err := Pack(bins, items, RulePortfolio)
		if err != nil {
			t.Fatal(err)
		}
		legal(t, bins, items, paper)
		legal(t, bins, items, ours)
		if paper.better(ours) {
			t.Fatalf("the paper's rule: %+v, portfolio: %+v", paper, ours)
		}
		for _, r := range PackRules() {
			p, err := Pack(bins, items, r)
			if err != nil {
				t.Fatal(err)
			}
			legal(t, bins, items, p)
		}
	})
}

// On small problems the portfolio finds the optimum, proved by trying everything.
func TestPortfolioFindsOptimum(t *testing.T) {
	hit, all := 0, 0
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 3))
		items := make([][]float64, 9+int(seed%3))
		for j := range items {
			items[j] = []float64{float64(5 + r.IntN(70)), float64(5 + r.IntN(70))}
			if seed%4 == 1 { // anti-correlated
				items[j][1] = 80 - items[j][0] + float64(r.IntN(10))
			}
		}
		p, err := Pack(idle(12, 100, 100), items, RulePortfolio)
		if err != nil {
			t.Fatal(err)
		}
		best := fewest([]float64{100, 100}, items)
		if all++; p.Used == best {
			hit++
		} else if p.Used < best || p.Searched || p.Bound > best {
			t.Fatalf("seed %d: %d bins (searched %v, bound %d), optimum %d", seed, p.Used, p.Searched, p.Bound, best)
		}
	}
	if hit*10 < all*9 {
		t.Errorf("the optimum in %d of %d", hit, all)
	}
}

func TestPackRefuses(t *testing.T) {
	for _, c := range []struct {
		bins  []Bin
		items [][]float64
		rule  string
	}{
		{nil, nil, RulePortfolio}, {idle(1), nil, RulePortfolio}, {idle(1, 1), [][]float64{{1, 2}}, RulePortfolio},
		{idle(1, 1), [][]float64{{-1}}, RulePortfolio}, {idle(1, math.NaN()), nil, RulePortfolio}, {idle(1, 1), nil, "guess"},
	} {
		if _, err := Pack(c.bins, c.items, c.rule); err == nil {
			t.Errorf("%v is accepted", c)
		}
	}
}

// bruteMakespan tries every schedule.
func bruteMakespan(m Matrix, load []float64) float64 {
	best := math.Inf(1)
	use := append([]float64(nil), load...)
	var try func(j int)
	try = func(j int) {
		if largest(use) >= best {
			return
		}
		if j == m.Cols {
			best = largest(use)
			return
		}
		for i := range m.Rows {
			if x := m.At(i, j); !math.IsInf(x, 1) {
				use[i] += x
				try(j + 1)
				use[i] -= x
			}
		}
	}
	try(0)
	return best
}

func TestMakespanAgainstBruteForce(t *testing.T) {
	hit, all := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		m := NewMatrix(rapid.IntRange(1, 4).Draw(t, "machines"), rapid.IntRange(1, 7).Draw(t, "jobs"))
		load := make([]float64, m.Rows)
		for i := range load {
			load[i] = float64(rapid.IntRange(0, 5).Draw(t, "load"))
		}
		for k := range m.Data {
			m.Data[k] = float64(rapid.IntRange(0, 20).Draw(t, "x"))
			if k >= m.Cols && rapid.IntRange(0, 9).Draw(t, "f") == 0 {
				m.Data[k] = math.Inf(1)
			}
		}
		s, err := Makespan(m, load)
		if err != nil {
			t.Fatal(err)
		}
		use := append([]float64(nil), load...)
		for j, i := range s.Machine {
			use[i] += m.At(i, j)
		}
		best := bruteMakespan(m, load)
		if math.Abs(largest(use)-s.Makespan) > 1e-9 || s.Bound > best+1e-6 || s.Makespan < best-1e-9 || s.Makespan > 2*best+1e-9 {
			t.Fatalf("%g (recounted %g), bound %g, optimum %g", s.Makespan, largest(use), s.Bound, best)
		}
		if all++; s.Makespan < best+1e-9 {
			hit++
		}
	})
	if hit*10 < all*8 {
		t.Errorf("the optimum in %d of %d", hit, all)
	}
}

func TestMakespanNearBound(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 4))
		m := NewMatrix(30, 203)
		for k := range m.Data {
			m.Data[k] = math.Exp(r.NormFloat64())
		}
		s, err := Makespan(m, nil)
		if err != nil {
			t.Fatal(err)
		}
		if s.Makespan > 1.15*s.Bound || s.Bound > s.Makespan {
			t.Errorf("seed %d: %g, bound %g: %.3f", seed, s.Makespan, s.Bound, s.Makespan/s.Bound)
		}
		t.Logf("makespan / bound %.3f", s.Makespan/s.Bound)
	}
}

// Looking longer is never worse, and what is found is a packing, whatever the bins and whenever it is stopped.
func TestPackWithinNeverWorse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dims := rapid.IntRange(1, 3).Draw(t, "dims")
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		bins := make([]Bin, 20)
		draw := func(lo, hi int) []float64 {
			x := make([]float64, dims)
			for d := range x {
				x[d] = float64(lo + r.IntN(hi))
			}
			return x
		}
		for i := range bins {
			bins[i] = Bin{draw(20, 30), r.IntN(3) == 0}
		}
		items := make([][]float64, 41+r.IntN(10)) // too many for the search through all packings
		for j := range items {
			items[j] = draw(1, 16)
			if r.IntN(20) == 0 {
				items[j] = make([]float64, dims)
			}
		}
		quick, err := Pack(bins, items, RulePortfolio)
		if err != nil {
			t.Fatal(err)
		}
		asked, last := 0, rapid.IntRange(0, 40).Draw(t, "stop")
		got, err := PackWithin(bins, items, func() bool { asked++; return asked > last })
		if err != nil {
			t.Fatal(err)
		}
		legal(t, bins, items, got)
		if quick.better(got) || len(got.Bin) != len(items) {
			t.Fatalf("%+v, without looking longer %+v", got, quick)
		}
	})
}

// A packing of many tasks, or of tasks with many dimensions, ends when it is told to: what it has then is what the published rule gives,
// and nothing is said to be proved.
func TestPackWithinEndsWhenTold(t *testing.T) {
	for _, c := range []struct{ bins, items, dims int }{{6000, 6000, 1}, {20, 36, 60_000}} {
		r := rand.New(rand.NewPCG(uint64(c.items), 2))
		bins := idle(c.bins, slices.Repeat([]float64{1000}, c.dims)...)
		items := make([][]float64, c.items)
		for j := range items {
			items[j] = make([]float64, c.dims)
			for d := range items[j] {
				items[j][d] = float64(1 + r.IntN(350))
			}
			items[j][0] = float64(200 + r.IntN(500))
		}
		first, err := Pack(bins, items, RuleWorkingFirst)
		if err != nil {
			t.Fatal(err)
		}
		got, err := PackWithin(bins, items, func() bool { return true })
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Bin, first.Bin) || got.Searched || got.Used == got.Bound {
			t.Errorf("%d tasks of %d dimensions: %d bins, proved %v, bound %d; the published rule has %d, and nothing else was to be tried", c.items, c.dims, got.Used, got.Searched, got.Bound, first.Used)
		}
	}
}

// Sixty items that fill twenty bins to the last unit are packed as they were made.
func TestPackWithinFindsTriplets(t *testing.T) {
	for seed := range uint64(3) {
		r := rand.New(rand.NewPCG(seed, 9))
		var items [][]float64
		for range 20 {
			x := [3][]float64{{0, 0}, {0, 0}, {0, 0}}
			for d := range 2 {
				a := 250 + r.IntN(250)
				b := 250 + r.IntN(500-a)
				x[0][d], x[1][d], x[2][d] = float64(a), float64(b), float64(1000-a-b)
			}
			items = append(items, x[:]...)
		}
		asked := 0
		got, err := PackWithin(idle(60, 1000, 1000), items, func() bool { asked++; return asked > 5000 })
		if err != nil {
			t.Fatal(err)
		}
		legal(t, idle(60, 1000, 1000), items, got)
		if got.Used != 20 || !got.Searched {
			t.Errorf("seed %d: %d bins, proved %v, want 20", seed, got.Used, got.Searched)
		}
	}
}
