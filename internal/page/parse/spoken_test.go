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

// Two games of the same few moves are told apart by every third of their moves, and so is one that has no full stop but behind numbers; a move that
// differs changes two marks at most.
func TestMovesAreMarked(t *testing.T) {
	draw := rand.New(rand.NewPCG(7, 1))
	stock := strings.Fields("e4 e5 d4 d5 c4 Nf3 Nc6 Nf6 Bb5 a6 Ba4 Be7 Re1 b5 Bb3 d6 c3 h3 Nb8 Nbd7")
	moves := func() (out []string) {
		for i := range 24 {
			out = append(out, fmt.Sprintf("%d.", i+1), stock[draw.IntN(len(stock))], stock[draw.IntN(len(stock))])
		}
		return out
	}
	names := func(moves []string) []uint32 {
		return Mark([]byte("<p>"+strings.Join(moves, " ")+" 1-0</p>"), "http://a.test/game", nil, true).Names
	}
	known := map[uint32]bool{}
	for range 400 {
		game := moves()
		marks := names(game)
		fresh := slices.DeleteFunc(slices.Clone(marks), func(m uint32) bool { return known[m] })
		if len(fresh) != spokenMarks {
			t.Fatalf("%d new marks of a new game", len(fresh))
		}
		for _, mark := range marks {
			known[mark] = true
		}
		game[1+3*draw.IntN(24)] = "Qh9"
		if same := slices.DeleteFunc(names(game), func(m uint32) bool { return !known[m] }); len(same) == 0 {
			t.Fatal("one move changes all marks")
		}
	}
}

func TestSentenceEnd(t *testing.T) {
	for text, want := range map[string]string{
		"Come. Go.":                "Come.",
		"1. e4 e5 2. Nf3 Nc6. End": "1. e4 e5 2. Nf3 Nc6.",
		"Am 3. Mai. Dann":          "Am 3. Mai.",
		"Born in 1743. He lived":   "Born in 1743.",
		"Of A12. Not of B":         "Of A12.",
		"What? This":               "What?",
	} {
		if got := text[:sentenceEnd([]byte(text))]; got != want {
			t.Errorf("%s: ends behind %q", text, got)
		}
	}
}
