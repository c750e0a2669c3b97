package topic

import (
	"errors"
	"fmt"
	"math"

	"argosy/internal/crawl"
)

// Training of a topic by examples: logistic regression, a few hundred words, in an order that never changes.
const (
	trainTerms  = 400
	trainRounds = 60
	trainRate   = 0.5
	trainDecay  = 0.002 // of weights, each round
	folds       = 5
	rare        = 0.01 // share of the pages that are on a topic, by which its cut is set
)

// learnFrom is how many examples of each side let a topic be learned. With fewer, words that set the one side apart tell as well or better
// (go run ./bench/judge).
const learnFrom = 10

// Examples makes a topic of example pages: those that are on it, and others, most of which are not. With fewer than ten of either its words are
// those that set the former apart; with more they are learned.
func Examples(about string, on, off []*Doc) (*crawl.Topic, error) {
	if len(on) == 0 {
		return nil, errors.New("no example of a page that is on the topic: give at least one")
	}
	for i, d := range on {
		if len(d.Terms) < LeastTerms {
			return nil, fmt.Errorf("example %d has %d different words, which says too little: at least %d", i+1, len(d.Terms), LeastTerms)
		}
	}
	if len(on) < learnFrom || len(off) < learnFrom {
		t := apart(about, on, off)
		if len(t.Terms) == 0 {
			return nil, errors.New("no word sets the examples apart: what they have in common stands on the other pages too")
		}
		return t, nil
	}
	t := &crawl.Topic{About: clip(about), Language: on[0].Language, Threshold: crawl.DefaultThreshold}
	var held [2][]float64 // sums of documents that were not trained with: off and on
	for fold := range min(folds, len(on), len(off)) {
		m := fit(t, part(on, fold, false), part(off, fold, false))
		for side, docs := range [2][]*Doc{part(off, fold, true), part(on, fold, true)} {
			for _, d := range docs {
				held[side] = append(held[side], sum(m, d))
			}
		}
	}
	m := fit(t, on, off)
	m.Cut, m.Gain = cutAt(held[0], held[1])
	return m, nil
}

// part returns the documents of a fold, or all others.
func part(docs []*Doc, fold int, of bool) (out []*Doc) {
	n := min(folds, len(docs))
	for i, d := range docs {
		if i%n == fold == of {
			out = append(out, d)
		}
	}
	return out
}

// fit trains a topic's weights.
func fit(t *crawl.Topic, on, off []*Doc) *crawl.Topic {
	m := *t
	m.Terms = candidates(on, off)
	w, bias := make([]float64, len(m.Terms)), 0.0
	x := make([][]float64, 0, len(on)+len(off))
	for _, d := range append(append([]*Doc{}, off...), on...) {
		row := make([]float64, len(m.Terms))
		for i := range m.Terms {
			row[i] = d.Terms[m.Terms[i].Word]
		}
		x = append(x, row)
	}
	weight := [2]float64{0.5 / float64(len(off)), 0.5 / float64(len(on))} // both sides count alike
	scale := float64(len(x))
	for round := range trainRounds {
		rate := trainRate / (1 + float64(round)/20)
		for n := range x {
			k := (n*7919 + round) % len(x) // both sides in turn
			side := 0
			if k >= len(off) {
				side = 1
			}
			z := bias
			for i, v := range x[k] {
				z += float64(w[i] * v)
			}
			g := (float64(side) - 1/(1+math.Exp(-z))) * float64(weight[side]*scale) * rate
			bias += g
			for i, v := range x[k] {
				if v != 0 {
					w[i] += float64(g * v)
				}
			}
		}
		for i := range w {
			w[i] *= 1 - trainDecay
		}
	}
	for i := range w {
		m.Terms[i].Weight = round(w[i])
	}
	return &m
}

// candidates are the words in which the two sides differ most.
func candidates(on, off []*Doc) []crawl.TopicTerm {
	type side struct{ sum, squares float64 }
	stats := map[string]*[2]side{}
	for s, docs := range [2][]*Doc{off, on} {
		for _, d := range docs {
			for w, x := range d.Terms {
				if stats[w] == nil {
					stats[w] = &[2]side{}
				}
				stats[w][s].sum += x
				stats[w][s].squares += x * x
			}
		}
	}
	n := [2]float64{float64(len(off)), float64(len(on))}
	var terms []crawl.TopicTerm
	for w, of := range stats {
		var mean, spread [2]float64
		for s := range of {
			mean[s] = of[s].sum / n[s]
			spread[s] = max(0, of[s].squares/n[s]-mean[s]*mean[s]) / n[s]
		}
		terms = append(terms, crawl.TopicTerm{Word: w, Weight: math.Abs(mean[1]-mean[0]) / math.Sqrt(spread[0]+spread[1]+0.01/min(n[0], n[1]))})
	}
	return most(terms, trainTerms)
}

// cutAt returns the sum at which a topic is cut, and its gain: where precision and recall together (F1) are best if only a hundredth
// of the pages are on it. Few examples do not show such a precision, so that sums are taken to be spread normally.
func cutAt(off, on []float64) (cut, gain float64) {
	offMean, offSpread := spread(off)
	onMean, onSpread := spread(on)
	const steps = 400
	lo, hi := offMean, onMean+2*onSpread
	at := func(i int) float64 { return lo + (hi-lo)*float64(i)/(steps-1) }
	var f [steps]float64
	best := 0.0
	for i := range f {
		right, wrong := rare*beyond(at(i), onMean, onSpread), (1-rare)*beyond(at(i), offMean, offSpread)
		f[i] = 2 * right / (rare + right + wrong)
		best = max(best, f[i])
	}
	first, last := -1, 0
	for i := range f {
		if f[i] >= best-0.005 {
			if last = i; first < 0 {
				first = i
			}
		}
	}
	cut = at((first + last) / 2) // of many that are as good the one in the middle
	return round(cut), round(min(1e5, 3/max(1e-6, (onSpread+offSpread)/2)))
}

// spread returns mean and standard deviation, which is not taken to be less than a few examples can show.
func spread(x []float64) (mean, dev float64) {
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		dev += (v - mean) * (v - mean) / float64(len(x))
	}
	return mean, max(math.Sqrt(dev), 1e-3+0.05*math.Abs(mean))
}

// beyond is the share of a normal distribution above c.
func beyond(c, mean, dev float64) float64 { return 0.5 * math.Erfc((c-mean)/dev/math.Sqrt2) }
