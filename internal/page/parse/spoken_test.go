package parse

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// sentenceOf returns a sentence of so many words that are not in others.
func sentenceOf(seed, words int) string {
	var b strings.Builder
	draw := rand.New(rand.NewPCG(uint64(seed), 1))
	for range words {
		b.WriteString(" ")
		for range 4 {
			b.WriteByte("bcdfghjklmnprstvwz"[draw.IntN(18)])
			b.WriteByte("aeiou"[draw.IntN(5)])
		}
	}
	return strings.TrimSpace(b.String())
}

// Of a page that differs from others in a sentence of ten words among four hundred, three marks are new that are not on the others, and of one that
// differs in a word of a sentence two at most.
func TestSentencesAreMarked(t *testing.T) {
	var same []string
	for i := range 30 {
		same = append(same, sentenceOf(i, 14)+".")
	}
	frame := strings.Join(same, " ")
	page := func(say string) []uint32 {
		return Mark([]byte("<title>Notice</title><p>"+frame+"</p><p>"+say+" "+frame+"</p><a href=/x>"+sentenceOf(999, 12)+"</a>"), "http://a.test/notice/1", nil, true).Names
	}
	fresh := func(marks, known []uint32) (n int) {
		for _, mark := range marks {
			if !slices.Contains(known, mark) {
				n++
			}
		}
		return n
	}
	seen, most := 0, 0
	const rounds = 40
	for i := range rounds {
		known := page("")
		if fresh(page(sentenceOf(100+i, 10)+"."), known) >= spokenMarks {
			seen++
		}
		words := strings.Fields(same[i%len(same)])
		words[i%len(words)] = sentenceOf(200+i, 1)
		most = max(most, fresh(page(strings.Join(words, " ")+"."), page(same[i%len(same)])))
	}
	if seen < rounds*9/10 || most >= spokenMarks {
		t.Errorf("seen %d of %d sentences; a word changes %d marks", seen, rounds, most)
	}
	if plain := Mark([]byte("<p>"+frame), "http://a.test/", nil, false); len(plain.Names) > 0 {
		t.Errorf("%d marks that nobody asked for", len(plain.Names))
	}
}

// A sentence ends at its stop, in scripts without spaces as well; numbers and words of the page's address say nothing.
func TestSentencesEnd(t *testing.T) {
	marks := func(text string) int {
		return len(Mark([]byte("<p>"+text), "http://a.test/lost-harbour/3", nil, true).Names)
	}
	one := sentenceOf(1, spokenWords)
	for text, want := range map[string]int{
		one: spokenMarks, one + ". " + sentenceOf(2, 8) + "! ": 2 * spokenMarks, one + "." + sentenceOf(2, 8): spokenMarks,
		one + ". " + one: spokenMarks,
		"私たちの図書館は毎週月曜日に休館します。来月の展覧会では古い地図と写真が展示されます。": 2 * spokenMarks,
	} {
		if got := marks(text); got != want {
			t.Errorf("%q: %d marks, want %d", text, got, want)
		}
	}
	like := func(text string) []uint32 {
		return Mark([]byte("<p>"+text), "http://a.test/lost-harbour/3", nil, true).Names
	}
	if !slices.Equal(like("the page lost is not here since 1999 my friend"), like("the page harbour is not here since 2024 my friend")) {
		t.Error("the address and numbers count")
	}
	var long strings.Builder
	for i := range 2 * maxSpoken {
		fmt.Fprint(&long, sentenceOf(i, 9), ". ")
	}
	if got := marks(long.String()); got != maxSpoken*spokenMarks {
		t.Errorf("%d marks of %d sentences", got, 2*maxSpoken)
	}
}
