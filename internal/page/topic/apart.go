package topic

import (
	"math"
	"slices"

	"argosy/internal/crawl"
)

// Topics of a few examples are made of the words that set these apart: that all of them use much, and few of the pages that are not on the topic.
// The powers, the number of words and the cut were chosen on 16 sections of Python's and PostgreSQL's documentation, and tried on 33 of others and
// on Cranfield's queries (go run ./bench/judge).
const (
	apartTerms  = 12
	usedPower   = 3 // of how much the examples use a word
	rarePower   = 2 // of how rare it is on the other pages (the logarithm of the inverse document frequency)
	apartUnit   = 6 // of the logistic curve, over the sum of the examples
	aloneShare  = 0.9
	aloneHalf   = 0.7
	besideShare = 0.7
	besideHalf  = 1.5
	besideFirst = 0.5
	besideFence = 3
	manyBeside  = 10
)

// apart makes a topic of a few documents that are on it, and of others that are not, as far as they are known: they may be any pages of the
// examples' sites, of which some are on it.
func apart(about string, on, off []*Doc) *crawl.Topic {
	t := &crawl.Topic{About: clip(about), Language: on[0].Language, Terms: setApart(on, off), Threshold: crawl.DefaultThreshold}
	own, beside := 0.0, make([]float64, len(off))
	for _, d := range on {
		own += sum(t, d) / float64(len(on))
	}
	for i, d := range off {
		beside[i] = sum(t, d)
	}
	slices.Sort(beside)
	// The more examples there are the less of what they have is theirs alone, and the nearer to them the cut may be.
	n := float64(len(on))
	cut := aloneShare * n / (n + aloneHalf) * own
	if len(off) > 0 {
		high := highest(beside)
		cut = high + besideShare*(n-besideFirst)/(n+besideHalf)*(own-high)
	}
	t.Cut, t.Gain = round(max(cut, 0.01)), round(apartUnit/max(own, 0.01))
	return t
}

// highest is the sum that pages which are not on a topic reach, by those of some pages, in order. Of many a few may be on it: then no more counts
// than what lies as far above the third quartile as sums that are alike do.
func highest(sums []float64) float64 {
	n := len(sums)
	if n < manyBeside {
		return sums[n-1]
	}
	middle, third := sums[n/2], sums[n*3/4]
	return min(sums[n-2], third+besideFence*(third-middle))
}

// setApart are the words that set documents apart from others, by weights that add up to 1.
func setApart(on, off []*Doc) []crawl.TopicTerm {
	used, in, beside := map[string]float64{}, map[string]int{}, map[string]int{}
	for _, d := range on {
		for w, x := range d.Terms {
			used[w] += x / float64(len(on))
			in[w]++
		}
	}
	for _, d := range off {
		for w := range d.Terms {
			beside[w]++
		}
	}
	var terms []crawl.TopicTerm
	for w, x := range used {
		if len(on) > 1 && in[w] < 2 || len(off) > 0 && beside[w] == len(off) {
			continue // it is that page's, or the site's, not the topic's
		}
		if rare := math.Log((float64(len(off)) + 1) / (float64(beside[w]) + 0.5)); rare > 0 {
			terms = append(terms, crawl.TopicTerm{Word: w, Weight: math.Pow(x*float64(in[w])/float64(len(on)), usedPower) * math.Pow(rare, rarePower)})
		}
	}
	terms = most(terms, apartTerms)
	norm := 0.0
	for _, t := range terms {
		norm += t.Weight
	}
	for i := range terms {
		terms[i].Weight = round(terms[i].Weight / norm)
	}
	return terms
}
