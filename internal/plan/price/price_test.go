package price

import (
	"math"
	"testing"

	"pgregory.net/rapid"
)

// The worked figure: 20 nodes, 8 needed, prices 1, 2 and 5.
func TestPaperCurve(t *testing.T) {
	r := Rates{1, 2, 5}
	c := r.Curves(20, Certain(8))
	if c[0].Total != 40 || c[8].Total != 24 || c[20].Total != 36 {
		t.Errorf("totals %g, %g, %g", c[0].Total, c[8].Total, c[20].Total)
	}
	for n := 1; n <= 20; n++ {
		a, b := c[n-1], c[n]
		if b.Reserve <= a.Reserve || n <= 8 && (b.Use <= a.Use || b.Surcharge >= a.Surcharge || b.Total >= a.Total) ||
			n > 8 && (b.Use != a.Use || b.Surcharge != 0 || b.Total <= a.Total) {
			t.Errorf("the curves from %d to %d nodes: %+v, %+v", n-1, n, a, b)
		}
	}
	if got := r.Best(20, Certain(8)); got != 8 {
		t.Errorf("best reservation %d", got)
	}
}

func TestPoissonReservation(t *testing.T) {
	r := Rates{1, 2, 5}
	d, err := Poisson(8)
	if err != nil {
		t.Fatal(err)
	}
	if got := r.Best(30, d); got != 9 {
		t.Errorf("best reservation %d, want 9", got)
	}
	if a, b := r.Expect(9, d).Total, r.Expect(8, d).Total; math.Abs(a-27.13) > .01 || math.Abs(b-27.36) > .01 {
		t.Errorf("expected cost %.3f and %.3f, want 27.13 and 27.36", a, b)
	}
}

// The quantile is as cheap as the best of all reservations.
func TestBestAgainstBruteForce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := Rates{Reserve: rapid.Float64Range(0, 9).Draw(t, "reserve"), Use: rapid.Float64Range(0, 9).Draw(t, "use")}
		r.Surcharge = r.Reserve + r.Use + rapid.Float64Range(.01, 9).Draw(t, "more")
		counts := rapid.SliceOfN(rapid.IntRange(0, 12), 1, 20).Draw(t, "demand")
		d, err := Observed(counts)
		if err != nil {
			t.Fatal(err)
		}
		spans := map[int]float64{}
		for _, n := range counts {
			spans[n] += 2.5
		}
		if w, err := Weighted(spans); err != nil || len(w.P) != len(d.P) || math.Abs(w.Mean()-d.Mean()) > 1e-9 {
			t.Fatalf("weighted %v, counted %v, %v", w, d, err)
		}
		n := rapid.IntRange(0, 15).Draw(t, "nodes")
		best := math.Inf(1)
		for _, p := range r.Curves(n, d) {
			best = min(best, p.Total)
		}
		if got := r.Expect(r.Best(n, d), d).Total; got > best+1e-9 {
			t.Fatalf("%d reserved cost %g, the best %g", r.Best(n, d), got, best)
		}
	})
}

func TestRefuses(t *testing.T) {
	for _, r := range []Rates{{1, 2, 3}, {-1, 2, 9}, {1, math.NaN(), 9}, {1, 2, math.Inf(1)}} {
		if r.Validate() == nil {
			t.Errorf("%v is accepted", r)
		}
	}
	if _, err := Observed(nil); err == nil {
		t.Error("no demand is accepted")
	}
	if _, err := Observed([]int{-1}); err == nil {
		t.Error("a negative demand is accepted")
	}
	if _, err := Poisson(-1); err == nil {
		t.Error("a negative mean is accepted")
	}
}
