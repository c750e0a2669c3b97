package sim

import (
	"math"
	"math/rand/v2"
	"testing"
)

// What a site's pairs have says nothing of its other pairs where sites do not differ by more than their pairs do by chance: or one that was left for being slow
// would be drawn slow for having been so. Where sites differ it says nearly all.
func TestSitesAreAsTheyDiffer(t *testing.T) {
	const sites, pairs = 60, 3
	for _, apartBy := range []float64{0, 3} {
		rng := rand.New(rand.NewPCG(7, 7))
		off, truth := make([][]apart, sites), make([]float64, sites)
		var means []float64
		for j := range off {
			truth[j] = apartBy * rng.NormFloat64()
			for range pairs {
				x := truth[j] + rng.NormFloat64()
				off[j] = append(off[j], apart{x, x * x})
				means = append(means, x)
			}
		}
		d := &drawing{}
		d.sites(off, means, 0)
		square := 0.0
		for j, x := range d.shift {
			square += (x - truth[j]) * (x - truth[j]) / sites
		}
		if wrong := math.Sqrt(square); wrong > map[float64]float64{0: 0.2, 3: 0.7}[apartBy] {
			t.Errorf("sites that are %v apart: they are taken for %.2f off what they are, by pairs that are 1 apart", apartBy, wrong)
		}
	}
}

// A pair that was tried for being fast is after a change as any is; what it was in each time between changes counts for itself. A change by which little is
// forgotten makes no other pair of it.
func TestErasCountForThemselves(t *testing.T) {
	forgets := []float64{0, 0, 0, 0.1, 0.1, 3, 3, 3}
	of := eras(forgets)
	if of[4] != 0 || of[5] != 1 || of[7] != 1 {
		t.Fatalf("eras %v", of)
	}
	x := &piecePair{bits: make([]float64, len(of)), seconds: make([]float64, len(of))}
	for k, ln := range []float64{3, 3, 0, 3, 3, 1, 0, 0} {
		if ln > 0 {
			x.bits[k], x.seconds[k] = math.Exp(ln), 1
		}
	}
	got := x.means(of, 2)
	if len(got) != 2 || math.Abs(got[0].mean-1) > 1e-9 || math.Abs(got[1].mean+1) > 1e-9 || math.Abs(got[0].square-1) > 1e-9 {
		t.Errorf("%+v", got)
	}
}

// Of few pairs that all change at once as much is forgotten as they say: that most of the time nothing does is asked of when, not of how much. And what
// all of so few have become slower by, by chance, is not what the others have.
func TestFewPairsThatChange(t *testing.T) {
	const worlds, pairs, n, change = 200, 9, 24, 12
	rng := rand.New(rand.NewPCG(5, 5))
	forgot, slower := 0.0, 0.0
	for range worlds {
		var told [][]figure
		for range pairs {
			before, after := rng.NormFloat64(), rng.NormFloat64()
			told = append(told, changing(rng, before, after, n, change))
		}
		forgets, level := moves(told, n, 3, 1)
		if forgets[n-1] > anew {
			forgot += 1.0 / worlds
		}
		slower += level[n-1] * level[n-1] / worlds
	}
	if forgot < 0.65 || math.Sqrt(slower) > 0.22 {
		t.Errorf("most is forgotten in %.2f of worlds, all are faster or slower by %.2f", forgot, math.Sqrt(slower))
	}
}

// changing returns n figures of a pair, with noise, which are of one level before a change and of another from it on.
func changing(rng *rand.Rand, before, after float64, n, change int) (of []figure) {
	for k := range n {
		ln := before
		if k >= change {
			ln = after
		}
		of = append(of, figure{k, ln + 0.1*rng.NormFloat64()})
	}
	return of
}
