package netcoord

import (
	"math"
	"slices"
	"sort"
)

// Median returns the middle of samples, NaN of none. It is the best of the summaries of repeated delays that we know.
func Median(samples []float64) float64 {
	n := len(samples)
	if n == 0 {
		return math.NaN()
	}
	var room [32]float64 // of what is kept of a pair no more is needed
	s := append(room[:0], samples...)
	slices.Sort(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

// StatisticalMean is the statistical weighted mean of the paper: samples are put into bins as wide as the modulus, and
// those in the three most populous bins are averaged, which throws out the spikes of lost packets. Among bins of equal
// number the lower counts. NaN of none.
func StatisticalMean(samples []float64, modulus float64) float64 {
	if len(samples) == 0 || modulus <= 0 {
		return math.NaN()
	}
	type bin struct {
		at  float64
		n   int
		sum float64
	}
	var bins []bin
	sorted := append([]float64(nil), samples...)
	sort.Float64s(sorted)
	for _, x := range sorted {
		at := math.Floor(x / modulus)
		if k := len(bins); k == 0 || bins[k-1].at != at {
			bins = append(bins, bin{at: at})
		}
		b := &bins[len(bins)-1]
		b.n++
		b.sum += x
	}
	sort.SliceStable(bins, func(a, b int) bool { return bins[a].n > bins[b].n })
	sum, n := 0.0, 0
	for _, b := range bins[:min(3, len(bins))] {
		sum += b.sum
		n += b.n
	}
	return sum / float64(n)
}

// DefaultModulus is the bin of the statistical weighted mean where too few samples say what it should be, in ms.
const DefaultModulus = 10

// Modulus chooses one bin width for all pairs from how the samples of each pair lie around its median: twice the
// quartile range over the cube root of the number (Freedman and Diaconis, 1981), rounded to 1, 2 or 5 times a power
// of ten.
func Modulus(pairs [][]float64) float64 {
	var off []float64
	n := 0
	for _, s := range pairs {
		if len(s) < 3 {
			continue
		}
		m := Median(s)
		for _, x := range s {
			off = append(off, x-m)
		}
		n++
	}
	if len(off) < 20 {
		return DefaultModulus
	}
	sort.Float64s(off)
	spread := off[len(off)*3/4] - off[len(off)/4]
	w := 2 * spread / math.Cbrt(float64(len(off))/float64(n))
	if w <= 0 {
		return DefaultModulus
	}
	p := math.Pow(10, math.Floor(math.Log10(w)))
	for _, m := range []float64{1, 2, 5, 10} {
		if w <= m*p*1.5 {
			return m * p
		}
	}
	return 10 * p
}

// Accuracy is the paper's measure of a model, as far as its text allows to tell: one less the mean relative error of
// the pairs that are left when a share of them, the worst, has been dropped.
func Accuracy(errors []float64, dropped float64) float64 {
	s := append([]float64(nil), errors...)
	sort.Float64s(s)
	s = s[:len(s)-int(math.Round(dropped*float64(len(s))))]
	if len(s) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for _, e := range s {
		sum += e
	}
	return 1 - sum/float64(len(s))
}

// Quantile returns a quantile of values, NaN of none.
func Quantile(values []float64, q float64) float64 {
	if len(values) == 0 {
		return math.NaN()
	}
	s := append([]float64(nil), values...)
	sort.Float64s(s)
	return s[min(len(s)-1, int(q*float64(len(s))))]
}
