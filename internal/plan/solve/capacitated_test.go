package solve

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// spread makes the one-to-one problem that is the same as a capacitated one: a row for each place of a bin.
func spread(m Matrix, capacity []int) Matrix {
	var rows [][]float64
	for i, c := range capacity {
		for range c {
			rows = append(rows, m.Row(i))
		}
	}
	if len(rows) == 0 {
		return Matrix{}
	}
	out, _ := FromRows(rows)
	return out
}

func TestCapacitatedAgainstAssignment(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMatrix(t, 12)
		capacity := make([]int, m.Rows)
		for i := range capacity {
			capacity[i] = rapid.IntRange(0, 5).Draw(t, "cap")
		}
		p, err := DenseCapacitated(m, capacity)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "warm") {
			for range capacity {
				p.Prices = append(p.Prices, float64(rapid.IntRange(-1, 9).Draw(t, "price")))
			}
		}
		a, err := AssignCapacitated(p)
		if err != nil {
			t.Fatal(err)
		}
		certifyCapacitated(t, p, a)
		want, total := 0, 0.0
		if w := spread(m, capacity); w.Rows > 0 {
			b, err := Assign(w)
			if err != nil {
				t.Fatal(err)
			}
			total = b.Total
			for _, j := range b.Col {
				if j >= 0 {
					want++
				}
			}
		}
		if m.Cols-a.Alone != want || math.Abs(a.Total-total) > 1e-6 {
			t.Fatalf("%d assigned at %g, want %d at %g", m.Cols-a.Alone, a.Total, want, total)
		}
	})
}

// certifyCapacitated checks a solution by its prices alone.
func certifyCapacitated(t interface{ Fatalf(string, ...any) }, p Capacitated, a CapacitatedAssignment) {
	load := make([]int, len(p.Cap))
	scale := 1.0
	for _, c := range p.Cost {
		scale = max(scale, math.Abs(c))
	}
	eps := 1e-9 * scale * float64(len(p.Cap)+1)
	for j, i := range a.Bin {
		own, best := math.Inf(1), math.Inf(1)
		for e := p.Start[j]; e < p.Start[j+1]; e++ {
			c := p.Cost[e] + a.Prices[p.Bin[e]]
			best = min(best, c)
			if p.Bin[e] == i {
				own = min(own, c)
			}
		}
		if p.Alone != nil {
			best = min(best, p.Alone[j])
			if i < 0 {
				own = p.Alone[j]
			}
		} else if i < 0 {
			continue // the cost of being alone is the solver's own
		}
		if own > best+eps {
			t.Fatalf("item %d in bin %d costs %g, could cost %g", j, i, own, best)
		}
		if i >= 0 {
			load[i]++
		}
	}
	for i, n := range load {
		if n > p.Cap[i] || n < p.Cap[i] && a.Prices[i] != 0 || a.Prices[i] < 0 {
			t.Fatalf("bin %d: %d of %d, price %g", i, n, p.Cap[i], a.Prices[i])
		}
	}
}

// sparse draws a problem with the few cheapest bins of each item, as a scheduler would give it.
func sparseProblem(bins, items, candidates int, r *rand.Rand) Capacitated {
	p := Capacitated{Start: []int32{0}, Cap: make([]int, bins)}
	for i := range p.Cap {
		p.Cap[i] = r.IntN(2 * items / bins)
	}
	for range items {
		for _, i := range r.Perm(bins)[:candidates] {
			p.Bin, p.Cost = append(p.Bin, int32(i)), append(p.Cost, math.Exp(r.NormFloat64()))
		}
		p.Start = append(p.Start, int32(len(p.Bin)))
		p.Alone = append(p.Alone, 50)
	}
	return p
}

func TestCapacitatedCertifies(t *testing.T) {
	for seed := range uint64(5) {
		p := sparseProblem(20, 3000, 6, rand.New(rand.NewPCG(seed, 1)))
		a, err := AssignCapacitated(p)
		if err != nil {
			t.Fatal(err)
		}
		certifyCapacitated(t, p, a)
		p.Prices = a.Prices
		b, err := AssignCapacitated(p)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(a.Total-b.Total) > 1e-6 || b.Moves > a.Moves/2+20 {
			t.Errorf("again from its own prices: %g after %d moves, was %g after %d", b.Total, b.Moves, a.Total, a.Moves)
		}
	}
}

func TestCapacitatedWithoutBins(t *testing.T) {
	for _, items := range []int{0, 5, 3000} {
		a, err := AssignCapacitated(Capacitated{Start: make([]int32, items+1)})
		if err != nil || a.Alone != items {
			t.Errorf("%d items: %d alone, %v", items, a.Alone, err)
		}
	}
}

func BenchmarkCapacitated(b *testing.B) {
	for _, size := range [][2]int{{30, 10_000}, {100, 10_000}, {30, 100_000}} {
		r := rand.New(rand.NewPCG(1, 2))
		m := NewMatrix(size[0], size[1])
		for k := range m.Data {
			m.Data[k] = r.Float64()
		}
		capacity := make([]int, size[0])
		for i := range capacity {
			capacity[i] = size[1]/size[0] + 1
		}
		b.Run(itoa(size[0])+"x"+itoa(size[1]), func(b *testing.B) {
			for b.Loop() {
				p, err := DenseCapacitated(m, capacity)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := AssignCapacitated(p); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
