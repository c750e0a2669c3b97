package topic

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Pages say the same if their main texts are the same, whatever their titles, links, markup, spaces and what stands around; another word in the
// text is another text.
func TestSaid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.StringMatching(`[a-zéж]{3,9}`)
		text := rapid.SliceOfN(word, 120, 200).Draw(t, "text")
		page := func(text []string, name string) []byte {
			links, space := rapid.IntRange(0, 5).Draw(t, "links "+name), rapid.SampledFrom([]string{" ", "\n", "  \t"}).Draw(t, "space "+name)
			var b strings.Builder
			fmt.Fprintf(&b, "<title>%s</title><nav>%s</nav><h1>%s</h1><main>", name, name, name)
			for i, w := range text {
				switch rapid.IntRange(0, 9).Draw(t, "markup") {
				case 0:
					w = "<em>" + w + "</em>"
				case 1:
					w = "<p>" + w
				}
				b.WriteString(w + space)
				if i < links {
					fmt.Fprintf(&b, `<a href="/%s%d">more on %s</a> `, name, i, name)
				}
			}
			return []byte(b.String())
		}
		one, two := Said(page(text, "one")), Said(page(text, "two"))
		if one == 0 || one != two {
			t.Fatalf("the same text is %x and %x", one, two)
		}
		other := append([]string{}, text...)
		other[rapid.IntRange(0, len(text)-1).Draw(t, "changed")] = "otherwise"
		if x := Said(page(other, "one")); x == one {
			t.Fatalf("another text is %x, too", x)
		}
		if x := Said(page(text[:20], "one")); x != 0 {
			t.Fatalf("twenty words are %x", x)
		}
	})
}
