// Package prometheus is what Pebble calls of github.com/prometheus/client_golang/prometheus: the bounds of buckets, and
// histograms, which here take what is observed and keep nothing, for nobody reads them.
package prometheus

import "math"

// Histogram takes observations.
type Histogram interface{ Observe(value float64) }

// HistogramOpts says how a histogram would be kept.
type HistogramOpts struct {
	Namespace, Subsystem, Name, Help string
	Buckets                          []float64
}

// unread is a histogram that nobody reads.
type unread struct{}

func (unread) Observe(float64) {}

// NewHistogram is a histogram.
func NewHistogram(HistogramOpts) Histogram { return unread{} }

// LinearBuckets are count bounds from start on, width apart.
func LinearBuckets(start, width float64, count int) []float64 {
	out := make([]float64, count)
	for i := range out {
		out[i] = start + float64(i)*width
	}
	return out
}

// ExponentialBucketsRange are count bounds from least to most, each the same multiple of the one before.
func ExponentialBucketsRange(least, most float64, count int) []float64 {
	out := make([]float64, count)
	for i := range out {
		out[i] = least * math.Pow(most/least, float64(i)/float64(count-1))
	}
	return out
}
