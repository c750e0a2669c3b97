package yield

import (
	"fmt"
	"testing"
)

// Names in a place that make no difference are learned where nearly all of them say the same: languages into which nothing was translated. Nothing is
// learned where three in 13 say something else, nor where one page in 20 does, nor of a few names, nor from pages that are equally empty.
func TestNamesThatMakeNoDifference(t *testing.T) {
	const pages = 40
	for name, c := range map[string]struct {
		names int
		shows func(name, page int) string
		some  bool
	}{
		"untranslated":          {13, func(_, page int) string { return fmt.Sprint("chapter ", wording(page)) }, true},
		"one was translated":    {13, func(name, page int) string { return fmt.Sprint(wording(name/12), wording(page)) }, false},
		"three were translated": {13, func(name, page int) string { return fmt.Sprint(wording(max(name, 9)), wording(page)) }, false},
		"a page in 20 was": {13, func(name, page int) string {
			return fmt.Sprint(wording(name*(1-min(1, (name+page)%20))), wording(page))
		}, false},
		"few names": {placeNames - 1, func(_, page int) string { return fmt.Sprint("chapter ", wording(page)) }, false},
		"empty":     {13, func(int, int) string { return "nothing" }, false},
	} {
		m, kept := New(), map[string][]byte{}
		for i := range c.names * pages {
			at, page := i%c.names, i/c.names
			if at == 0 && page%8 == 5 {
				m = restarted(t, m, kept)
			}
			likeness(t, m, fmt.Sprintf("http://h.test/%s/%s.html", wording(at), wording(page)), c.shows(at, page))
		}
		learned := 0
		for _, parts := range m.learned {
			for _, g := range parts {
				if g.Part.Kind == partPlace {
					learned++
				}
			}
		}
		if c.some && learned < c.names-1 || !c.some && learned > 0 {
			t.Errorf("%s: learned of %d templates", name, learned)
		}
	}
}
