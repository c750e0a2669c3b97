package survey

import (
	"fmt"
	"testing"

	"argosy/internal/crawl"
)

// Pages that say next to nothing count towards what is kept of all, too: there may be any number of them.
func TestTextsAreBounded(t *testing.T) {
	for name, body := range map[string]string{"nothing": "<p>Hello", "little": "<p>one two three four"} {
		g := &gatherer{marks: maxMarks - 100*pageMarks}
		for i := range 1000 {
			u, err := crawl.Parse(fmt.Sprintf("http://a.test/%d", i))
			if err != nil {
				t.Fatal(err)
			}
			g.text(u, []byte(body))
		}
		if len(g.texts) > 100 {
			t.Errorf("%s: %d pages are kept where there is room for 100", name, len(g.texts))
		}
	}
}
