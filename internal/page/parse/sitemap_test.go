package parse

import (
	"encoding/binary"
	"encoding/xml"
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"golang.org/x/text/encoding/htmlindex"
)

// Of a large sitemap the first entries are taken and the others counted, in XML, in an index and in plain text.
// A list of URLs may end its lines by carriage returns.
func TestSitemapLines(t *testing.T) {
	pages, _, _ := Sitemap([]byte("\xef\xbb\xbfhttp://a.test/1\r\nhttp://a.test/2\r\r http://a.test/3 \nno URL\nhttp://a.test/4"), "")
	var locs []string
	for _, p := range pages {
		locs = append(locs, strings.TrimPrefix(p.Loc, "http://a.test/"))
	}
	if got := strings.Join(locs, " "); got != "1 2 3 4" {
		t.Errorf("%q", got)
	}
}

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
		if pages, maps, over := Sitemap([]byte(b.String()), ""); len(pages)+len(maps) != MaxSitemapURLs || over != 123 {
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
		if pages, _, over := Sitemap([]byte(build(c.entries, c.versions, c.apart)), ""); len(pages) != c.pages || over != c.over {
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
		if pages, _, _ := Sitemap(body, ""); len(pages) != 1 || pages[0].Loc != "http://a.test/é" {
			t.Errorf("%s: %v", name, pages)
		}
	}
}

// The encoding that a sitemap's Content-Type names counts where nothing in the file says otherwise: no mark, no declaration that fits the
// bytes, and not that they are UTF-8, as the protocol wants them (sitemaps.org, "Entity escaping"), in whatever a server says all its files are.
func TestEncodingOfASitemapsType(t *testing.T) {
	const list, doc = "http://a.test/é\n", `<?xml version="1.0"%s?><urlset><url><loc>http://a.test/é</loc></url></urlset>`
	in := func(charset, text string) string {
		e, err := htmlindex.Get(charset)
		if err != nil {
			t.Fatal(err)
		}
		b, err := e.NewEncoder().String(text)
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	for name, c := range map[string]struct{ body, charset, want string }{
		"a list in Latin-1":                {in("iso-8859-1", list), "iso-8859-1", "é"},
		"a list in Cyrillic":               {in("koi8-r", "http://a.test/ж\r\n"), "KOI8-R", "ж"},
		"a list in Japanese":               {in("shift_jis", "http://a.test/日本\n"), "Shift_JIS", "日本"},
		"a list with escapes":              {in("iso-2022-jp", "http://a.test/日本\n"), "iso-2022-jp", "日本"},
		"a list in UTF-16 without a mark":  {"h\x00t\x00t\x00p\x00:\x00/\x00/\x00a\x00.\x00t\x00e\x00s\x00t\x00/\x00\xe9\x00", "utf-16le", "é"},
		"a list in UTF-8 that is not said": {list, "iso-8859-1", "é"},
		"a list in UTF-8 said to be wide":  {list, "utf-16", "é"},
		"a list of an unknown encoding":    {list, "own", "é"},
		"a mark, and a byte that is wrong": {"\ufeff" + list + "http://a.test/\xff\n", "iso-8859-1", "é"},
		"XML in Latin-1":                   {in("iso-8859-1", fmt.Sprintf(doc, "")), "iso-8859-1", "é"},
		"XML in Latin-1 that says UTF-8":   {in("iso-8859-1", fmt.Sprintf(doc, ` encoding="UTF-8"`)), "iso-8859-1", "é"},
		"XML that says Latin-1":            {in("iso-8859-1", fmt.Sprintf(doc, ` encoding="ISO-8859-1"`)), "utf-8", "é"},
		"XML in UTF-8 that is not said":    {fmt.Sprintf(doc, ""), "iso-8859-1", "é"},
	} {
		if pages, _, _ := Sitemap([]byte(c.body), "text/plain; charset="+c.charset); len(pages) == 0 || pages[0].Loc != "http://a.test/"+c.want {
			t.Errorf("%s: %+q", name, fmt.Sprint(pages))
		}
	}
}

// Characters, references and elements that do not belong in an entry do not cost the others.
func TestSitemapDamage(t *testing.T) {
	for _, bad := range []string{
		"\xff", "\x00", "\x0b", "\ufffe", "&", "&nosuch;", "&eacute;", "<br>", "<a href=x y>", "\"", "<!-- x -->", "<loc/>", "<loc>http://a.test/twice</loc>",
		"</b>", "</url>", "]]>", "a < b", "a<b", "<", "<a href='", "<!--", "<![CDATA[", "<?", "<!", "</", "<a", "<x:y z>", "</loc", "<url>", "<sitemap>", "</loc></url></urlset>",
		"<a xmlns='http://other.test/'>", "<x:a xmlns='http://other.test/' xmlns:x='http://x.test/'>",
	} {
		body := "<urlset><url><loc>http://a.test/1</loc></url><url><loc>http://a.test/" + bad + "</loc></url>" +
			"<url><loc>http://a.test/3</loc></url><url><loc>http://a.test/4</loc></url></urlset>"
		pages, _, _ := Sitemap([]byte(body), "")
		if len(pages) < 3 || pages[0].Loc != "http://a.test/1" || pages[len(pages)-1].Loc != "http://a.test/4" || pages[len(pages)-2].Loc != "http://a.test/3" {
			t.Errorf("%q: %v", bad, pages)
		}
	}
}

// What damage leaves of an entry's address is what is read of it.
func TestSitemapDamagedAddress(t *testing.T) {
	for bad, want := range map[string]string{
		"x</b>y": "xy", "a < b": "a < b", "x]]>": "x]]>", "a&b=1&amp;c": "a&b=1&c", "a&#233;": "aé", "<![CDATA[a&amp;<b>]]>c": "a&amp;<b>c", "a\x01": "a\ufffd",
	} {
		body := "<urlset xmlns='http://www.sitemaps.org/schemas/sitemap/0.9'><url><loc>\n http://a.test/" + bad + "\n</loc></url></urlset>"
		if pages, _, _ := Sitemap([]byte(body), ""); len(pages) != 1 || pages[0].Loc != "http://a.test/"+want {
			t.Errorf("%q: %v", bad, pages)
		}
	}
}

// Whatever is cut out of a sitemap or put into it costs the entry where it happens, and the next one at most.
func TestSitemapDamageAnywhere(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	scraps := []string{"<", ">", "</", "\"", "'", "&", "-->", "]]>", "?>", "</url>", "<loc>", "</urlset>", "\x00", "=", "/"}
	for n := range 3000 {
		body := sitemapOf(rng, 7, false)
		ends := regexp.MustCompile("</(s:)?url ?>").FindAllIndex(body, -1)
		at := ends[2][1] + rng.IntN(ends[3][1]-ends[2][1]) // in the fourth
		var hurt []byte
		switch rng.IntN(3) {
		case 0:
			hurt = append(append(append(hurt, body[:at]...), scraps[rng.IntN(len(scraps))]...), body[at:]...)
		case 1:
			hurt = append(append(hurt, body[:at]...), body[min(ends[3][1]-1, at+1+rng.IntN(9)):]...)
		default:
			hurt = append(append(hurt, body[:at]...), body[max(ends[2][1], at-rng.IntN(9)):]...)
		}
		had := map[string]bool{}
		pages, _, _ := Sitemap(hurt, "")
		for _, p := range pages {
			had[p.Loc] = true
		}
		whole, _, _ := Sitemap(body, "")
		for i, p := range whole[:7] {
			if i != 3 && i != 4 && !had[p.Loc] {
				t.Fatalf("damage %d: entry %d of\n%s\nis not had, but %v", n, i, hurt, pages)
			}
		}
	}
}

// sitemapOf makes a sitemap of n entries, well-formed and in all the ways in which XML lets it be written; without sections
// nothing in it hides what follows.
func sitemapOf(rng *rand.Rand, n int, sections bool) []byte {
	pick := func(s ...string) string {
		for {
			if c := s[rng.IntN(len(s))]; sections || !strings.Contains(c, "<!") && !strings.Contains(c, "<?") {
				return c
			}
		}
	}
	var b strings.Builder
	p := pick("", "", "s:")
	fmt.Fprintf(&b, "%s%s<%surlset %s='http://www.sitemaps.org/schemas/sitemap/0.9' xmlns:i=\"http://www.google.com/schemas/sitemap-image/1.1\" xmlns:h='http://www.w3.org/1999/xhtml'>",
		pick("", "<?xml version='1.0' encoding=\"UTF-8\"?>\n"), pick("", "<!-- <url> -->", "<?style <url>?>"), p, strings.TrimSuffix("xmlns:"+p, ":"))
	for i := range n {
		fmt.Fprintf(&b, "%s<%surl%s>", pick("", "\n  "), p, pick("", " a='>'", "\n"))
		loc := fmt.Sprintf("http://a.test/%d", i)
		loc = pick(loc, loc+"?a=1&amp;b='2'", "<![CDATA["+loc+"?a&b>]]>", "\n"+loc+"&#x2f;\n", loc+"<!-- > -->x", loc+"é")
		fmt.Fprintf(&b, "<%sloc>%s</%sloc>", p, loc, p)
		for range rng.IntN(3) {
			b.WriteString(pick(
				fmt.Sprintf("<h:link rel=\"alternate\" hreflang='de' href=\"http://a.test/de/%d?x&amp;y\" />", i), "<i:image><i:loc>http://a.test/i.png</i:loc></i:image>",
				fmt.Sprintf("<%slastmod>2024-05-0%d</%slastmod>", p, 1+i%9, p), fmt.Sprintf("<%schangefreq>daily</%schangefreq>", p, p), "<!--<loc>no</loc>-->",
				"<image xmlns='http://www.google.com/schemas/sitemap-image/1.1'><loc>http://a.test/no.png</loc></image>", "<h:link rel='alternate' href='http://a.test/0'/>",
			))
		}
		fmt.Fprintf(&b, "</%surl%s>", p, pick("", " "))
	}
	fmt.Fprintf(&b, "</%surlset>", p)
	return []byte(b.String())
}

// A well-formed sitemap says what a strict parser of XML reads in it.
func TestSitemapAgainstStrictParser(t *testing.T) {
	type set struct {
		URLs []struct {
			Loc     []string `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 loc"`
			LastMod []string `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 lastmod"`
			Links   []struct {
				Href string `xml:"href,attr"`
			} `xml:"http://www.w3.org/1999/xhtml link"`
		} `xml:"http://www.sitemaps.org/schemas/sitemap/0.9 url"`
	}
	rng := rand.New(rand.NewPCG(3, 4))
	for range 2000 {
		body := sitemapOf(rng, 1+rng.IntN(6), true)
		var s set
		if err := xml.Unmarshal(body, &s); err != nil {
			t.Fatalf("%v in\n%s", err, body)
		}
		var want, links []SitemapEntry
		seen := map[string]bool{}
		for _, u := range s.URLs {
			e := SitemapEntry{Loc: strings.TrimSpace(u.Loc[0])}
			if len(u.LastMod) > 0 {
				e.LastMod = w3cTime(u.LastMod[0])
			}
			want = append(want, e)
			seen[e.Loc] = true
		}
		for _, u := range s.URLs {
			for _, l := range u.Links {
				if !seen[l.Href] {
					seen[l.Href] = true
					links = append(links, SitemapEntry{Loc: l.Href})
				}
			}
		}
		if pages, _, _ := Sitemap(body, ""); !slices.Equal(pages, append(want, links...)) {
			t.Fatalf("%s\nhas %v\nwant %v", body, pages, append(want, links...))
		}
	}
}
