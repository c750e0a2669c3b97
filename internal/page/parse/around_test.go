package parse

import "testing"

// The words around an anchor are those of its own block, without tags, in the page's encoding, and bounded.
func TestAroundText(t *testing.T) {
	long := "0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789"
	for _, c := range []struct{ name, page, charset, want string }{
		{"both sides", `<p>See <b>also</b> the <a href=x>guide</a> to <i>iterators</i>, please.</p>`, "utf-8", "See also the to iterators , please."},
		{"only its block", `<ul><li>other<li>one <a href=x>a</a> two<li>three</ul>`, "utf-8", "one two"},
		{"a tag cut in two by the window's start", `<p title="` + long + long + long + long + long + `">words <a href=x>a</a></p>`, "utf-8", "words"},
		{"bounded", `<p>` + long + ` <a href=x>a</a> ` + long, "utf-8",
			"0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789 0123456789"},
		{"its encoding", "<p>caf\xe9 <a href=x>a</a>", "windows-1252", "café"},
		{"entities", `<p>R&amp;D <a href=x>a</a>`, "utf-8", "R&D"},
		{"nested elements", `<p><a href=x><b>bold</b> and <img src=y></a> behind`, "utf-8", "behind"},
		{"not closed", `<p>before <a href=x>text without an end`, "utf-8", "before text without an end"},
		{"alone", `<a href=x>a</a>`, "utf-8", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			var p Page
			Scan([]byte(c.page), Options{}, &p)
			if len(p.Links) != 1 {
				t.Fatalf("%d links", len(p.Links))
			}
			if got := p.AroundText(p.Links[0], c.charset); got != c.want {
				t.Errorf("%q, want %q", got, c.want)
			}
		})
	}
}

// Whatever stands on a page, the words around its links are bounded text.
func FuzzAroundText(f *testing.F) {
	f.Add([]byte(`<p>a <a href=x>b</a> c`))
	f.Add([]byte("<a href=x><</a><a href=y></a></<"))
	f.Fuzz(func(t *testing.T, page []byte) {
		var p Page
		Scan(page, Options{}, &p)
		for _, l := range p.Links {
			if s := p.AroundText(l, "utf-8"); len(s) > 2*MaxAround+1 {
				t.Fatalf("%d bytes", len(s))
			}
		}
	})
}
