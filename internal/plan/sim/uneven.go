package sim

import (
	"math"

	"argosy/internal/plan/learn"
)

// Pages of a site are large and small, and some take longer than others of their size, so that the parts of a lease tell of a pair's speed more and
// less than there is of it. Who plans by what they tell thinks less of a pair than of one that always tells the same.

// segment is of how many requests a speed is learned (predict.Reported).
const segment = 8

// fewSegments is how many must be told for them to say how uneven parts are.
const fewSegments = 10

// uneven is how far what a single request tells of its pair's speed lies around that, as the variance of its share: as segments of a lease's requests
// lie around what more of its parts tell together. 0 is not known.
func uneven(told map[[2]int][]group) float64 {
	square, free, segments := 0.0, 0.0, 0
	for _, of := range told {
		for i := range of {
			s, f, n := of[i].uneven()
			square, free, segments = square+s, free+f, segments+n
		}
	}
	if segments < fewSegments || free <= 0 {
		return 0
	}
	return segment * math.Expm1(min(1, square/free/segment))
}

// uneven sums up the squares of how far the segments of some parts are off them all, as logarithms, each times its requests; how many of them are free
// of each other; and their number.
func (g *group) uneven() (square, free float64, n int) {
	if g.bits <= 0 || g.good <= 0 || g.worked <= 0 {
		return 0, 0, 0
	}
	mean := g.bits / g.good * g.all / g.worked
	var bits, good, all, worked float64
	for i := range g.parts {
		f := &g.parts[i]
		bits, good, all, worked = bits+f.Bits, good+f.Good, all+f.All, worked+f.Seconds
		if all < segment || bits <= 0 || good <= 0 || worked <= 0 {
			continue
		}
		off := math.Log(bits / good * all / worked / mean)
		square, free, n = square+off*off*all, free+1-all/g.all, n+1
		bits, good, all, worked = 0, 0, 0, 0
	}
	if n < 2 {
		return 0, 0, 0
	}
	return square, free, n
}

// tells is what a part of some pages tells of the bits that it has had.
func (e *engine) tells(bits, pages float64) float64 {
	if e.w.Uneven <= 0 || bits <= 0 || pages <= 0 {
		return bits
	}
	square := math.Log1p(e.w.Uneven / pages)
	return bits * math.Exp(math.Sqrt(square)*e.rng.NormFloat64()-square/2)
}

// whole is how many pages of a lease that is under way may be told: in worlds in which parts are uneven those that were had, for one is told with the part in
// which it ends.
func (e *engine) whole(l *lease) float64 {
	pages := (l.done - l.toldDone) / e.w.page(l.site)
	if e.w.Uneven > 0 {
		return math.Floor(pages)
	}
	return pages
}

// leastPart is after how many ms leases tell what they have done at least.
const leastPart = 100

// partEvery is after how many ms leases have told what they had done, on average: those that have next to nothing to fetch tell what they
// have found at once.
func (r *Recording) partEvery() int64 {
	lasted, parts := int64(0), int64(0)
	for i := range r.Leases {
		lasted += max(0, r.Leases[i].Ended-r.Leases[i].Started)
	}
	for i := range r.Facts {
		if r.Facts[i].Kind == learn.Report {
			parts++
		}
	}
	return min(partEach, max(leastPart, lasted/max(1, parts)))
}
