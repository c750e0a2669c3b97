package parse

import (
	"slices"
	"testing"
)

// kindOfNames returns the marks of one kind of what a page is called.
func kindOfNames(kind uint32, url, body string) (of []uint32) {
	var page Page
	Scan([]byte(body), Options{}, &page)
	for _, m := range Mark([]byte(body), url, page.Links, false).Names {
		if m&3 == kind {
			of = append(of, m)
		}
	}
	return of
}

// What a page is called are the words of its title and first headings that are neither numbers nor stand in addresses.
func TestNames(t *testing.T) {
	same := func(a, b string) bool {
		return slices.Equal(kindOfNames(NamePlain, "http://h/7", a), kindOfNames(NamePlain, "http://h/8", b))
	}
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
	all := kindOfNames(NamePlain, "http://h/7", "<title>Did you mean this</title>")
	for _, word := range []string{"did", "you", "mean", "this"} { // of which one stands in an address
		few := kindOfNames(NamePlain, "http://h/7", "<title>Did you mean this</title><a href=/"+word+">x</a>")
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

// The name of a page may be what its address was made of: it counts, unless it is repeated as it stands there.
func TestNamesOfAddresses(t *testing.T) {
	for body, want := range map[string]int{
		"<title>Mara Thorne</title>":                      1,
		"<title>Mara</title>":                             1,
		"<title>Profile of Mara Thorne here</title>":      3, // with the words beside it
		"<h1>Not here: /people/mara-thorne</h1>":          0,
		"<h1>mara-thorne</h1>":                            0,
		"<h1>mara_thorne?</h1>":                           0,
		"<h1>Nobody</h1><p>Mara Thorne":                   0,
		"<title>People</title><a href=/x>Mara Thorne</a>": 1,
	} {
		if got := kindOfNames(NameOwn, "http://h/people/mara-thorne", body); len(got) != want {
			t.Errorf("%s: %d marks, want %d", body, len(got), want)
		}
	}
}

// Short texts that lead nowhere say what a page is of, as do the codes in them.
func TestShortTexts(t *testing.T) {
	for _, c := range []struct {
		body string
		want int
	}{
		{"<td>Mara Thorne<td>Berlin", 2},
		{"<b>zebra</b>: striped horse", 2},
		{"<p>Line 7 of Mara", 2},
		{"<p>These are too many words to be a value.", 0},
		{"<a href=/m>Mara Thorne</a><option>red<option>blue</option><label>green</label><button>Go</button>", 0},
		{"<td>17<td>foo", 0}, // stands in the address
		{"<li>AK-12345<li>AK-12346", 2},
		{"<li>B1234<li>B1235", 2},
		{"<td>22-Nov-2026<td>v12", 2}, // the month and the letter
		{"<td>Nov-2026<td>Nov-2027", 1},
	} {
		if got := kindOfNames(NameValue, "http://h/foo/17", c.body); len(got) != c.want {
			t.Errorf("%s: %d marks, want %d", c.body, len(got), c.want)
		}
	}
}
