package topic

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
)

// Words that are read in blocks are those that are read one by one, with the same neighbours: of texts of all kinds, cut anywhere.
func TestBlocks(t *testing.T) {
	parts := []string{
		"dying", "Die", "iterators", "Asynchronous", "iterator", "a", "C", "as", "it", " ", "  ", ", ", "-", "\n", "2", "42", "né", "naïve", "光明", "x", "ITERATING",
		"e\u0301", "\xff", "word", "another", "lorem", strings.Repeat("long", 15), strings.Repeat("long", 16), strings.Repeat("z", 200), "[", "@", "`", "{", "/",
	}
	rng := rand.New(rand.NewPCG(7, 7))
	topics := map[string][]string{
		"en": {"asynchronous iterators", "die", "c", "42", "naïve word"}, "fr": {"itérateurs", "42"}, "none": {"asynchronous iterator", "dying", "long"},
	}
	topics["en "] = []string{"asynchronous iterators", "die"}
	for _, language := range slices.Sorted(maps.Keys(topics)) {
		words := topics[language]
		language = strings.TrimSpace(language)
		topic := &crawl.Topic{Language: language, Cut: 1, Gain: 1}
		for _, w := range words {
			one, next, _ := strings.Cut(w, " ")
			topic.Terms = append(topic.Terms, crawl.TopicTerm{Word: stem(one, language), Weight: 1})
			if next != "" {
				topic.Terms = append(topic.Terms, crawl.TopicTerm{Word: stem(one, language), Next: stem(next, language), Weight: 2})
			}
		}
		judge := NewJudge(topic)
		for range 3000 {
			var text strings.Builder
			for range rng.IntN(60) {
				text.WriteString(parts[rng.IntN(len(parts))])
				if rng.IntN(3) > 0 {
					text.WriteByte(' ')
				}
			}
			b := []byte(text.String())
			fast, slow := judge.reader(), judge.reader()
			fast.text(b, 0, len(b))
			Each(b, func(word []byte) {
				slow.word(1)
				slow.take(word)
			})
			if got, want := fmt.Sprint(fast.of, fast.main), fmt.Sprint(slow.of, slow.main); got != want {
				t.Fatalf("%s: %q:\n%s\nwant\n%s", language, b, got, want)
			}
			if !judge.may(b) && slow.found {
				t.Fatalf("%s: %q: at a glance it has no word of the topic", language, b)
			}
			judge.readers.Put(fast)
			judge.readers.Put(slow)
		}
	}
}

// No English stemmer changes the first two letters of a word, but for y and i: blocks rely on it.
func TestStemsBegin(t *testing.T) {
	letters, ends := "abcdefghijklmnopqrstuvwxyz", []string{"", "s", "ies", "ied", "ing", "ed", "ly", "ational", "ness", "y", "ying"}
	same := func(b byte) byte {
		if b == 'y' {
			return 'i'
		}
		return b
	}
	words := strings.Fields("skis skies dying lying tying idly gently ugly early only singly sky news howe atlas cosmos bias andes generous communism arsenal yes youth yyy")
	rng := rand.New(rand.NewPCG(3, 3))
	for range 200_000 {
		var b []byte
		for range 1 + rng.IntN(6) {
			b = append(b, letters[rng.IntN(len(letters))])
		}
		words = append(words, string(b)+ends[rng.IntN(len(ends))])
	}
	for _, w := range slices.Compact(words) {
		s := stem(w, "en")
		if s[0] != w[0] || len(s) > 1 && same(s[1]) != same(w[1]) {
			t.Fatalf("%s: %s", w, s)
		}
	}
}
