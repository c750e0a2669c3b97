package prometheus

import (
	"math"
	"testing"
)

// Bounds begin and end where they should, evenly, or by an even factor.
func TestBuckets(t *testing.T) {
	lines, powers := LinearBuckets(1, 2, 4), ExponentialBucketsRange(1, 1000, 4)
	for i, want := range []float64{1, 3, 5, 7} {
		if lines[i] != want || math.Abs(powers[i]-math.Pow(10, float64(i))) > 1e-9*powers[i] {
			t.Error(i, lines, powers)
		}
	}
}
