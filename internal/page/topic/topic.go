// Package topic tells how much a page is about a topic, and how much a page is worth fetching by what is known of the links
// to it. A topic is made of words, of a text or of example pages; whichever it is made of, it becomes a weighted sum over words
// (crawl.Topic), printable and storable, whose cut is set so that a score means the same: at the threshold, 0.2, a page just is
// on the topic.
//
// A page is judged by its title, its headings and its main text. How often a word stands there counts less and less (BM25's
// saturation, and its regard for a text's length), so that no word decides alone, and a page that repeats one ten thousand
// times loses by it. A Judge scores pages; Links, a linear model, scores links and learns from every page that was fetched.
//
// Everything is deterministic: the same pages in the same order give the same scores. The package is pure, and knows nothing
// of jobs, queues or sites.
package topic

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"argosy/internal/crawl"
)

// Topics of words: a page on the topic has about half of what it could have of the words, and pairs in their order.
const (
	wordsCut  = 0.40
	wordsGain = 14
	pairShare = 0.25 // of the weight, where there is more than one word
)

// Words makes a topic of key words. language is one of ISO 639-1; empty: it is guessed.
func Words(about, language string) (*crawl.Topic, error) {
	var words []string
	Each([]byte(about), func(w []byte) { words = append(words, string(w)) })
	if len(words) == 0 {
		return nil, errors.New("a topic of no words: give at least one that has letters")
	}
	if len(words) > maxWords {
		return nil, fmt.Errorf("%d words: as key words allowed are up to %d; more make a text, which is given in a file", len(words), maxWords)
	}
	language, err := checkLanguage(language, words)
	if err != nil {
		return nil, err
	}
	stems := meaningful(words, language)
	if len(stems) == 0 {
		return nil, fmt.Errorf("%q: words that every text has (language %s): give others, or the language %s, which takes them as they stand", clip(about), language, AsTheyStand)
	}
	t := &crawl.Topic{About: clip(strings.Join(strings.Fields(about), " ")), Language: language, Cut: wordsCut, Gain: wordsGain, Threshold: crawl.DefaultThreshold}
	single := 1.0
	if len(stems) > 1 {
		single = 1 - pairShare
	}
	seen := map[string]bool{}
	for _, s := range stems {
		seen[s] = true
	}
	each := single / float64(len(seen))
	for _, s := range stems {
		if seen[s] {
			seen[s] = false
			t.Terms = append(t.Terms, crawl.TopicTerm{Word: s, Weight: each})
		}
	}
	for i := 1; i < len(stems); i++ {
		t.Terms = append(t.Terms, crawl.TopicTerm{Word: stems[i-1], Next: stems[i], Weight: pairShare / float64(len(stems)-1)})
	}
	return t, nil
}

// maxWords bounds a topic of key words.
const maxWords = 40

func checkLanguage(language string, words []string) (string, error) {
	if language == "" {
		return guess(words), nil
	}
	_, known, paired := Languages()
	if allowed := append(known, paired...); language != AsTheyStand && !slices.Contains(allowed, language) {
		return "", fmt.Errorf("language %q: allowed are %s, or %s, by which words are compared as they stand", language, strings.Join(allowed, ", "), AsTheyStand)
	}
	return language, nil
}

// meaningful returns the stems of the words that say something.
func meaningful(words []string, language string) (out []string) {
	for _, w := range words {
		if !stops[language][w] {
			out = append(out, stem(w, language))
		}
	}
	return out
}

// Text makes a topic of a text: of the words that it uses most, but for those that every text uses.
func Text(about, text, language string) (*crawl.Topic, error) {
	d := NewDoc([]byte(text), false, language)
	if len(d.Terms) < LeastTerms {
		return nil, fmt.Errorf("a text of %d different words says too little: at least %d, or give key words", len(d.Terms), LeastTerms)
	}
	return apart(about, []*Doc{d}, nil), nil
}

// LeastTerms is how many different words a text or an example has, at least.
const LeastTerms = 5

// most returns the n terms whose weights are largest, in an order that depends on them alone.
func most(terms []crawl.TopicTerm, n int) []crawl.TopicTerm {
	slices.SortFunc(terms, func(a, b crawl.TopicTerm) int {
		if x, y := math.Abs(a.Weight), math.Abs(b.Weight); x != y {
			if x > y {
				return -1
			}
			return 1
		}
		return strings.Compare(a.Word, b.Word)
	})
	return terms[:min(n, len(terms))]
}

// sum is the weighted sum of a topic over a document's words.
func sum(t *crawl.Topic, d *Doc) (s float64) {
	for i := range t.Terms {
		if t.Terms[i].Next == "" {
			s += float64(t.Terms[i].Weight * d.Terms[t.Terms[i].Word])
		}
	}
	return s
}

// round keeps six digits: what is stored and printed is what is used.
func round(x float64) float64 {
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	power := int(math.Floor(math.Log10(math.Abs(x)))) - 5
	unit := 0.0
	if at := power + len(tens)/2; at >= 0 && at < len(tens) {
		unit = tens[at]
	} else {
		unit = math.Pow(10, float64(power))
	}
	return math.Round(x/unit) * unit
}

// tens are powers of ten, from -20 on: what round needs for scores and weights.
var tens = func() (t [41]float64) {
	for i := range t {
		t[i] = math.Pow(10, float64(i-len(t)/2))
	}
	return t
}()

// clip bounds what a topic is called.
func clip(s string) string {
	const most = 300
	if s == "" {
		return "examples"
	}
	if len(s) <= most {
		return s
	}
	s = s[:most]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}

// logistic is the logistic curve shifted so that it is the default threshold at 0.
func logistic(z float64) float64 { return 1 / (1 + math.Exp(-z+ln4)) }

const ln4 = 1.3862943611198906
