package parse

import (
	"fmt"
	"strings"
	"testing"
)

// Of a large sitemap the first entries are taken and the others counted, in XML, in an index and in plain text.
func TestSitemapBeyondTheLimit(t *testing.T) {
	const n = MaxSitemapURLs + 123
	for _, c := range []struct{ head, entry, tail string }{
		{"<urlset>", "<url><loc>http://a/%d</loc></url>", "</urlset>"},
		{"<sitemapindex>", "<sitemap><loc>http://a/%d</loc></sitemap>", "</sitemapindex>"},
		{"", "http://a/%d\n", ""},
	} {
		var b strings.Builder
		b.WriteString(c.head)
		for i := range n {
			fmt.Fprintf(&b, c.entry, i)
		}
		b.WriteString(c.tail)
		if pages, maps, over := Sitemap([]byte(b.String())); len(pages)+len(maps) != MaxSitemapURLs || over != 123 {
			t.Errorf("%s: %d pages, %d sitemaps, %d over", c.head, len(pages), len(maps), over)
		}
	}
}

// Versions in other languages that are entries themselves count once, the others as many again as there may be entries.
func TestSitemapAlternates(t *testing.T) {
	build := func(entries, versions, apart int) string {
		var b strings.Builder
		b.WriteString(`<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:x="http://www.w3.org/1999/xhtml">`)
		for i := range entries {
			fmt.Fprintf(&b, "<url><loc>http://a/%d</loc>", i)
			for v := range versions {
				fmt.Fprintf(&b, `<x:link rel="alternate" hreflang="x%d" href="http://a/%d"/>`, v, (i+v)%entries)
			}
			if i < apart {
				fmt.Fprintf(&b, `<x:link rel="alternate" href="http://b/%d"/><x:link rel="alternate" href="http://b/%d"/>`, 2*i, 2*i+1)
			}
			b.WriteString("</url>")
		}
		return b.String() + "</urlset>"
	}
	for _, c := range []struct{ entries, versions, apart, pages, over int }{
		{100, 5, 0, 100, 0}, {100, 5, 10, 120, 0}, {30_000, 1, 30_000, 80_000, 10_000}, {MaxSitemapURLs + 10, 2, 0, MaxSitemapURLs, 10},
	} {
		if pages, _, over := Sitemap([]byte(build(c.entries, c.versions, c.apart))); len(pages) != c.pages || over != c.over {
			t.Errorf("%+v: %d pages, %d over", c, len(pages), over)
		}
	}
}
