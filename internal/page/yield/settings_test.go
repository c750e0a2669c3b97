package yield

import (
	"fmt"
	"testing"
)

// Settings that all change with each link are learned at once, beside what the page is of, and but for one that makes a difference; nothing is
// learned where all do, nor from what is equally empty everywhere.
func TestSettings(t *testing.T) {
	words := func(i int, from byte) string { return string([]byte{from + byte(i%5), 'o', 'p'}) }
	for name, c := range map[string]struct {
		format string // of a thing, two settings and a third
		shows  string // what a page shows of these
		name   string // of the part that is learned
		none   bool
	}{
		"in the path":  {"/thing-%s?tone=%s&width=%s&menu=%s", "%[1]s", "", false},
		"in the query": {"/thing?of=%s&tone=%s&width=%s&menu=%s", "%[1]s", "of", false},
		"but one":      {"/thing-%s?tone=%s&width=%s&menu=%s", "%[1]s of %[3]s", "width", false},
		"none":         {"/thing-%s?tone=%s&width=%s&menu=%s", "%[1]s of %[2]s, %[3]s, %[4]s", "", true},
		"all empty":    {"/thing-%s?tone=%s&width=%s&menu=%s", "nothing", "", true},
	} {
		m := New()
		for i := range 600 {
			thing, seed := wording(i*7%20), int(xx(uint32(i)))
			args := []any{thing, words(seed, 'a'), words(seed/7, 'f'), words(seed/77, 'k')}
			likeness(t, m, "http://h.test"+fmt.Sprintf(c.format, args...), fmt.Sprintf(c.shows+"%.0[1]s%.0[2]s%.0[3]s%.0[4]s", args...))
		}
		got := map[string]bool{}
		for _, parts := range m.learned {
			for _, g := range parts {
				if g.Part.Kind == partSettings {
					got[g.Part.Name] = true
				}
			}
		}
		if c.none && len(got) > 0 || !c.none && (len(got) != 1 || !got[c.name]) {
			t.Errorf("%s: learned %v, want %q", name, got, c.name)
		}
	}
}
