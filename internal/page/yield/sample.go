package yield

import (
	"math"
	"slices"

	"argosy/internal/page/parse"
)

// What the sample of a page says of its text.

const (
	boundStep  = 10      // a step of the bound is one part in so many of it at most,
	boundSteps = 4       // and later so many parts of it for all samples so far,
	leastStep  = 1 << 20 // one in so many at least
	boundShare = 19      // one that ends before it counts against so many that do not: it is where a twentieth ends
	evidence   = 8       // marks of a sample that are looked at even if they are behind the bound
)

// bounded takes in where the sample of a page of a template ends, and returns how many of its marks are evidence. A sample holds the least marks
// of a page's phrases, so that of a long text ends early. A short one, such as a list of what a choice leaves, has marks behind that end which
// the long one has as well: that they are not remembered says nothing. The bound is where a twentieth of the samples of the page's template end,
// or of the template that has named it, whichever comes first (a quantile by stochastic approximation: Robbins and Monro 1951).
func (t *Template) bounded(via *Template, sample []uint32) int {
	n := len(sample)
	end := uint32(math.MaxUint32)
	if n >= parse.MaxPhrases {
		end = sample[n-1]
	}
	if t.Bound > 0 || n >= parse.MaxPhrases {
		t.Sampled++
		step := uint32(min(max(boundStep, t.Sampled/boundSteps), leastStep))
		switch {
		case t.Bound == 0:
			t.Bound = end
		case end < t.Bound:
			t.Bound -= t.Bound / step
		default:
			t.Bound += min(t.Bound/step/boundShare, math.MaxUint32-t.Bound)
		}
	}
	bound := t.Bound
	if via != nil && via.Bound > 0 && (bound == 0 || via.Bound < bound) {
		bound = via.Bound
	}
	if bound == 0 {
		return n
	}
	of, _ := slices.BinarySearch(sample, bound)
	return min(n, max(of, evidence))
}

// freshPhrases remembers marks of phrases. It returns how many of those that are evidence were not there, how many are evidence, and how many of all were
// not there. Those of links say what another page is: they count while it may be one that was not there, and is not just more of the page's kind.
func (m *Model) freshPhrases(a *Answer) (n, of, all int) {
	of = m.byID[a.Template].bounded(m.byID[a.Via], a.Sample)
	feeding := m.Feeding(a.Template)
	led, allLed := 0, 0
	for i, mark := range a.Sample {
		k := m.fresh(0, a.Sample[i:i+1])
		all, allLed = all+k, allLed+k*int(mark&1)
		if i < of {
			n, led = n+k, led+k*int(mark&1)
		}
	}
	if all >= partPhrases && all-allLed < partPhrases {
		m.byID[a.Template].Called++
	}
	if feeding && a.Found <= a.Own {
		n, all = n-led, all-allLed
	}
	return n, of, all
}
