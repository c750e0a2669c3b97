package parse

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestMark(t *testing.T) {
	mark := func(body, url string) Phrases {
		var p Page
		Scan([]byte(body), Options{}, &p)
		return Mark([]byte(body), url, p.Links)
	}
	const a = "http://a.test/x/one-two"
	base := mark("<h1>Sorry</h1><p>There is no /x/one-two here</p>", a)
	for name, c := range map[string]struct {
		body, url         string
		sameText, sameAll bool // the text, and its phrases
	}{
		"itself":                    {"<h1>Sorry</h1><p>There is no /x/one-two here</p>", a, true, true},
		"markup":                    {"<div><h1 class=y>Sorry</h1></div><script>var x</script><!-- no --><p>There is no /x/one-two here", a, true, true},
		"its own address":           {"<h1>Sorry</h1><p>There is no /y/red-blue here</p>", "http://a.test/y/red-blue", false, true},
		"encoded address":           {"<h1>Sorry</h1><p>There is no /y/red blue here</p>", "http://a.test/y/red%20blue", false, true},
		"another word":              {"<h1>Sorry</h1><p>There is a /x/one-two here</p>", a, false, false},
		"words of what it links to": {"<h1>Sorry</h1><p>There is no /x/one-two here</p><a href=/far/away>far away</a>", a, false, false},
	} {
		m := mark(c.body, c.url)
		if (m.Text == base.Text) != c.sameText || slices.Equal(m.Sample, base.Sample) != c.sameAll {
			t.Errorf("%s: same text %v, same phrases %v", name, m.Text == base.Text, slices.Equal(m.Sample, base.Sample))
		}
	}
	if x, y := mark("<p>post 17</p>", a), mark("<p>post 18</p>", a); x.Text == y.Text || !slices.Equal(x.Sample, y.Sample) {
		t.Error("texts that differ in a number differ, and their phrases do not")
	}
}

// plainMarks are the marks of a word by their definition, which takes one look at it for each thing that it asks.
func plainMarks(word []byte) (exact, alike uint64) {
	const prime = 0x100000001b3
	exact, alike = 0xcbf29ce484222325, 0xcbf29ce484222325
	turns, digits, high := 0, 0, false
	for i, c := range word {
		exact = (exact ^ uint64(c)) * prime
		follows := i > 0 && isDigit(word[i-1])
		if i > 0 && isDigit(c) != follows {
			turns++
		}
		switch {
		case isDigit(c):
			digits++
			if follows {
				continue
			}
			c = '#'
		case c >= 0x80:
			high = true
		default:
			c |= 0x20
		}
		alike = (alike ^ uint64(c)) * prime
	}
	if digits == len(word) || turns > 1 && !high {
		alike = digitsWord
	}
	if turns > 2 && len(word) >= 8 && !high {
		exact = digitsWord
	}
	return exact, alike
}

func TestWordsHaveTheMarksOfTheirDefinition(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	const from = "aZk09175é\xff -/[`{@"
	for range 20_000 {
		text := make([]byte, rng.IntN(40))
		for i := range text {
			text[i] = from[rng.IntN(len(from))]
		}
		var want [][]byte
		start := -1
		for i, c := range append(slices.Clone(text), ' ') {
			in := isLetter(c) || isDigit(c) || c >= 0x80
			if in && start < 0 {
				start = i
			} else if !in && start >= 0 {
				want, start = append(want, text[start:i]), -1
			}
		}
		rest := text
		for _, w := range want {
			exact, alike, after, ok := nextWord(rest)
			if e, a := plainMarks(w); !ok || exact != e || alike != a {
				t.Fatalf("%q: word %q has marks %x, %x (%v), want %x, %x", text, w, exact, alike, ok, e, a)
			}
			rest = after
		}
		if _, _, _, ok := nextWord(rest); ok {
			t.Fatalf("%q: a word too many in %q", text, rest)
		}
	}
}

// What a page has left behind in a reader says nothing of the next.
func TestMarkIsOfOnePage(t *testing.T) {
	links := []Link{{Ref: []byte("/over/there")}}
	body := []byte("<p>what is over there is one thing, 17 of them here is another")
	first := Mark(body, "http://a.test/x", nil)
	Mark([]byte("<p>some other words and two"), "http://a.test/what/thing", links)
	if again := Mark(body, "http://a.test/x", nil); again.Text != first.Text || !slices.Equal(again.Sample, first.Sample) {
		t.Error("the same page has other phrases after another one")
	}
}
