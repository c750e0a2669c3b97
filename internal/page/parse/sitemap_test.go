package parse

import (
	"encoding/binary"
	"fmt"
	"strings"
	"testing"
	"unicode/utf16"
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

// A sitemap is read in the encoding that its bytes are in, whatever its declaration says.
func TestSitemapEncodings(t *testing.T) {
	const doc = `<?xml version="1.0" encoding="%s"?><urlset><url><loc>http://a.test/%s</loc></url></urlset>`
	wide := func(s string, order binary.AppendByteOrder, mark bool) (out []byte) {
		if mark {
			s = "\ufeff" + s
		}
		for _, c := range utf16.Encode([]rune(s)) {
			out = order.AppendUint16(out, c)
		}
		return out
	}
	for name, body := range map[string][]byte{
		"UTF-16, little end first":     wide(fmt.Sprintf(doc, "UTF-16", "é"), binary.LittleEndian, true),
		"UTF-16, big end first":        wide(fmt.Sprintf(doc, "UTF-16", "é"), binary.BigEndian, true),
		"UTF-16 without a mark":        wide(fmt.Sprintf(doc, "UTF-16LE", "é"), binary.LittleEndian, false),
		"UTF-16 big without a mark":    wide(fmt.Sprintf(doc, "UTF-16BE", "é"), binary.BigEndian, false),
		"list in UTF-16":               wide("http://a.test/é\r\n", binary.LittleEndian, true),
		"UTF-8 that says UTF-16":       fmt.Appendf(nil, doc, "utf-16", "é"),
		"UTF-8 of an unknown label":    fmt.Appendf(nil, doc, "own", "é"),
		"Latin-1":                      fmt.Appendf(nil, doc, "ISO-8859-1", "\xe9"),
		"UTF-8 with a byte-order mark": fmt.Appendf([]byte("\ufeff"), doc, "UTF-8", "é"),
	} {
		if pages, _, _ := Sitemap(body); len(pages) != 1 || pages[0].Loc != "http://a.test/é" {
			t.Errorf("%s: %v", name, pages)
		}
	}
}

// Characters, references and elements that do not belong in an entry do not cost the others.
func TestSitemapDamage(t *testing.T) {
	for _, bad := range []string{
		"\xff", "\x00", "\x0b", "\ufffe", "&", "&nosuch;", "&eacute;", "<br>", "<a href=x y>", "\"", "<!-- x -->", "<loc/>", "<loc>http://a.test/twice</loc>",
	} {
		body := "<urlset><url><loc>http://a.test/1</loc></url><url><loc>http://a.test/" + bad + "</loc></url>" +
			"<url><loc>http://a.test/3</loc></url><url><loc>http://a.test/4</loc></url></urlset>"
		pages, _, _ := Sitemap([]byte(body))
		if len(pages) < 3 || pages[0].Loc != "http://a.test/1" || pages[len(pages)-1].Loc != "http://a.test/4" || pages[len(pages)-2].Loc != "http://a.test/3" {
			t.Errorf("%q: %v", bad, pages)
		}
	}
}
