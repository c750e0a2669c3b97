package topic

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// No stemmer changes the first letter of a word that begins in ASCII: words that begin with none of the topic's letters are passed by.
func TestStemsKeepTheFirstLetter(t *testing.T) {
	languages, _, _ := Languages()
	for _, language := range languages {
		rapid.Check(t, func(t *rapid.T) {
			word := rapid.StringMatching(`[a-z0-9][a-zàáâäåæçèéêëíîïñóôöøúûüýűő]{0,12}`).Draw(t, "word")
			if s := stem(word, language); s != "" && s[0] != word[0] {
				t.Fatalf("%s: %q becomes %q", language, word, s)
			}
		})
	}
}

// Passing by the words that the topic cannot have changes nothing: neither counts nor scores.
func TestPassedWordsCount(t *testing.T) {
	quick, slow := words(t, "enzyme kinetics été", "en"), words(t, "enzyme kinetics été", "en")
	for b := range slow.first {
		slow.first[b] = true
	}
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{
			"enzyme", "Enzymes", "kinetics", "café", "été", "x", "word", " ", "-", "光明", strings.Repeat("z", maxWord), strings.Repeat("z", maxWord+1), "\xff", "<b>", "</p>", "é", "7",
		}), 0, 40).Draw(t, "pieces")
		page := []byte(strings.Join(pieces, ""))
		a, b := quick.Explain(page, true), slow.Explain(page, true)
		if a.Score != b.Score || a.Words != b.Words || !slices.Equal(a.Parts, b.Parts) {
			t.Fatalf("%q: %+v, want %+v", page, a, b)
		}
	})
}
