package parse

import (
	"slices"
	"testing"
)

// What a page is called are the words of its title and first headings that are neither numbers nor stand in addresses.
func TestNames(t *testing.T) {
	mark := func(url, body string) []uint32 {
		var page Page
		Scan([]byte(body), Options{}, &page)
		return Mark([]byte(body), url, page.Links).Names
	}
	same := func(a, b string) bool { return slices.Equal(mark("http://h/7", a), mark("http://h/8", b)) }
	for name, c := range map[string]struct {
		a, b string
		same bool
	}{
		"a name":                  {"<title>Mara Thorne</title><p>nothing", "<title>Jon Velk</title><p>nothing", false},
		"a heading":               {"<h1>Mara Thorne</h1>", "<h1 class=x>Jon Velk</h1>", false},
		"the text says it":        {"<h1>A reader</h1><p>Mara Thorne", "<h1>A reader</h1><p>Jon Velk", true},
		"a smaller heading":       {"<h2>Mara</h2>", "<h2>Jon</h2>", true},
		"a number":                {"<title>Page 7 of 90</title>", "<title>Page 8 of 91</title>", true},
		"words of addresses":      {"<title>Not here: foo</title><a href=/foo>", "<title>Not here: bar</title><a href=/bar>", true},
		"an element that is open": {"<title>Mara<h1>Thorne</h1>", "<title>Mara<h1>Velk</h1>", false},
	} {
		if got := same(c.a, c.b); got != c.same {
			t.Errorf("%s: the same: %v, want %v", name, got, c.same)
		}
	}
	all := mark("http://h/7", "<title>Did you mean this</title>")
	for _, word := range []string{"did", "you", "mean", "this"} { // of which one stands in an address
		few := mark("http://h/7", "<title>Did you mean this</title><a href=/"+word+">x</a>")
		new := 0
		for _, m := range few {
			if !slices.Contains(all, m) {
				new++
			}
		}
		if new > 1 {
			t.Errorf("without %q there are %d marks that the whole title has not", word, new)
		}
	}
}
