package topic

import (
	"testing"

	"pgregory.net/rapid"
)

// No stemmer changes the first letter of a word that begins in ASCII: words that begin with none of the topic's letters are passed by.
func TestStemsKeepTheFirstLetter(t *testing.T) {
	languages, _ := Languages()
	for _, language := range languages {
		rapid.Check(t, func(t *rapid.T) {
			word := rapid.StringMatching(`[a-z0-9][a-zàáâäåæçèéêëíîïñóôöøúûüýűő]{0,12}`).Draw(t, "word")
			if s := stem(word, language); s != "" && s[0] != word[0] {
				t.Fatalf("%s: %q becomes %q", language, word, s)
			}
		})
	}
}
