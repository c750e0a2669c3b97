package survey

import (
	"math"
	"math/rand/v2"
	"testing"
)

// The area by ranks is the share of pairs that are in the right order, ties counting half.
func TestAUC(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var r []ranked
		for range 1 + rng.IntN(40) {
			r = append(r, ranked{float64(rng.IntN(8)) / 8, rng.IntN(3) == 0})
		}
		want, pairs := 0.0, 0.0
		for _, a := range r {
			for _, b := range r {
				if a.on && !b.on {
					pairs++
					if a.expected > b.expected {
						want++
					} else if a.expected == b.expected {
						want += 0.5
					}
				}
			}
		}
		if pairs > 0 {
			want /= pairs
		}
		if got := auc(r); math.Abs(got-want) > 1e-12 {
			t.Fatalf("%v, by pairs %v: %v", got, want, r)
		}
	}
}

// A curve ends with all pages and all that are on the topic, in at most twenty steps.
func TestCurve(t *testing.T) {
	for n := range 130 {
		on := make([]bool, n)
		relevant := int64(0)
		for i := range on {
			if on[i] = i%3 == 0; on[i] {
				relevant++
			}
		}
		c := curve(on)
		if len(c) > curveSteps || n > 0 && (len(c) == 0 || c[len(c)-1] != Harvest{int64(n), relevant}) {
			t.Fatalf("%d pages: %v", n, c)
		}
	}
}
