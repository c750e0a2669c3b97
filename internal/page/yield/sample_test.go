package yield

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"argosy/internal/page/parse"
)

// Long lists show twenty things each, and what a choice leaves of one is three of its things. The sample of a short page reaches further than
// that of a list: marks behind the list's end are of things that were shown all the same. Pages that say something of their own are new, however short.
func TestShortPageOfKnownThings(t *testing.T) {
	const lists, things, words, choices = 60, 20, 30, 400
	rng := rand.New(rand.NewPCG(7, 7))
	thing := func() (marks []uint32) {
		for range words {
			marks = append(marks, rng.Uint32()&^1)
		}
		return marks
	}
	frame := thing()
	m := New()
	judged := func(url string, text int, shown ...[]uint32) kind {
		sample := sorted(slices.Concat(append(shown, frame)...))
		sample = sample[:min(len(sample), parse.MaxPhrases)]
		u, list := parsed(t, url), parsed(t, "http://h.test/list/0")
		a := Answer{URL: u, Template: m.Template(u), Via: m.Template(list), Page: true, Marked: true, Text: uint64(text) << 32, Sample: sample}
		m.pieces.split(u)
		return m.novelty(&a)
	}
	var shown [][][]uint32
	for i := range lists {
		var list [][]uint32
		for range things {
			list = append(list, thing())
		}
		shown = append(shown, list)
		if k := judged(fmt.Sprintf("http://h.test/list/%d", i), i+1, list...); !k.brings() {
			t.Fatalf("list %d is %d", i, k)
		}
	}
	few, own := 0, 0
	for i := range choices {
		at := rng.IntN(things - 3)
		if judged(fmt.Sprintf("http://h.test/choice/%d", i), 1e6+i, shown[rng.IntN(lists)][at:at+3]...) == isNew {
			few++
		}
		if judged(fmt.Sprintf("http://h.test/page/%d", i), 2e6+i, thing(), thing()) == isNew {
			own++
		}
	}
	t.Logf("of %d pages each, %d of known things are new, and %d of others", choices, few, own)
	if few > choices/4 || own < choices-choices/50 {
		t.Error("too many of the former, or too few of the latter")
	}
}
