package parse

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"

	"golang.org/x/net/html"
	"pgregory.net/rapid"
)

// compare fails when Scan and the tree find different links. It passes over what the tree builder drops where the scanner,
// which repairs nothing, does not: frames without a frameset, forms in forms, and templates and framesets as a whole.
func compare(t interface{ Fatalf(string, ...any) }, body []byte) {
	low := bytes.ToLower(body)
	if !utf8.Valid(body) || bytes.Contains(low, []byte("frame")) && !bytes.Contains(low, []byte("<iframe")) || bytes.Count(low, []byte("frame")) > 2 ||
		bytes.Contains(low, []byte("<template")) || bytes.Count(low, []byte("<form")) > 1 {
		return
	}
	for _, s := range []string{"formaction", "srcset", "refresh", "manifest", "prefetch", "property", "twitter", "itemprop", "param", "archive", "data-", "style"} {
		if bytes.Contains(low, []byte(s)) { // of these the tree's judge knows only the simple forms, or nothing
			return
		}
	}
	for _, o := range []Options{{}, {Resources: true}} {
		if diff, ok := differs(string(body), "utf-8", o); ok && diff != "" {
			t.Fatalf("%s in %.3000q", diff, body)
		}
	}
}

// compareXML fails when ScanXML and an XML parser find different links in well-formed XHTML. It passes over what only one of
// them knows: document types, and bytes that are not UTF-8.
func compareXML(t interface{ Fatalf(string, ...any) }, body []byte) {
	if !utf8.Valid(body) || !bytes.Contains(body, []byte(uriHTML)) || bytes.ContainsAny(body, "\x00&") || bytes.Contains(body, []byte("<!DOCTYPE")) ||
		bytes.Contains(body, []byte("xml")) && bytes.Count(body, []byte("xml")) > 1 || bytes.Contains(body, []byte("style")) {
		return
	}
	want := builder{charset: "utf-8"}
	if want.xhtml(body) != nil {
		return
	}
	want.title = ""
	got := scanned(body, "utf-8", Options{}, ScanXML)
	got.title = ""
	if diff := want.diff(got); diff != "" {
		t.Fatalf("as XML: %s in %.3000q", diff, body)
	}
}

var traps = []string{
	`<a href=x>`, `<A HREF='x'>`, `<a href="a&amp;b">`, `<a href="a&b=1&copy=2&lt">`, `<a href=a/>`, `<a / href=x>`, `<a href = "x" >`,
	`<a title="a>b" href=x>`, `<a title='"' href="y">`, `<a href=x href=y>`, `<a "href=x>`, `<a =href=x>`, `<a href>`, `<a href=>`, `<a href="">`,
	`<!-- <a href=no> -->`, `<!--> <a href=yes> -->`, `<!---> <a href=yes>`, `<!-- --!> <a href=yes>`, `<!-- -- <a href=no> -->`,
	`<!doctype html><a href=x>`, `<! <a href=no><a href=yes>`, `<? <a href=no><a href=yes>`, `</ <a href=no><a href=yes>`, `</><a href=x>`,
	`<script><a href=no></script><a href=x>`, `<script><!-- <script> </script> <a href=no> --></script><a href=x>`,
	`<script><!-- </script><a href=x>`, `<script>"</scr"</script ><a href=x>`, `<style><a href=no></style><a href=x>`,
	`<textarea><a href=no></textarea><a href=x>`, `<title>a</b><a href=no></title><a href=x>`, `<noscript><a href=x></noscript>`,
	`<iframe src=x><a href=no></iframe><a href=y>`, `<xmp><a href=no></xmp>`, `<noframes><a href=no></noframes><a href=y>`, `<plaintext><a href=no>`,
	`<a href=x`, `<a href="x`, `<area href=x><frame src=y>`, `<base href=z><base href=w>`, `<link rel="NEXT foo" href=x>`,
	`<link rel=stylesheet href=no>`, `<svg><a href=x></svg>`, `<ahref=no>`, `<a\nhref=x>`, "<a\thref\n=\r'x'>", `a < b <a href=x>`, `<1><a href=x>`,
	`<title/>x</title>`, `<script/>no</script><a href=x>`, `<a href='x'title=y>`, `<a href=x<b>`, `<div <a href=x>`, `<p title=<a href=x>>`, "<a href=\x00x>",
	`<math href=x /><svg></d>`, `<a href=x><math href=y /><table><svg></table>`, `<select><math href=x /></select><svg></d>`,
}

func TestScanTraps(t *testing.T) {
	for _, s := range traps {
		compare(t, []byte(s))
	}
}

func TestScanAgrees(t *testing.T) {
	piece := rapid.SampledFrom(append([]string{
		"<", ">", "</", "/", "=", "\"", "'", " ", "-", "--", "!", "<!--", "-->", "script", "<script", "</script", "</script>", "a", "href", "src", "x",
		"<title>", "</title>", "&amp;", "&", "&#65;", "\n", "<style>", "</style>", "<noscript>", "</noscript>", "<textarea", "</textarea>", "<a href=",
	}, traps...))
	rapid.Check(t, func(t *rapid.T) {
		compare(t, []byte(strings.Join(rapid.SliceOfN(piece, 0, 14).Draw(t, "pieces"), "")))
	})
}

func FuzzScan(f *testing.F) {
	for _, s := range traps {
		f.Add([]byte(s))
	}
	for _, c := range places {
		f.Add([]byte(c.doc))
	}
	for seed := range uint64(20) {
		doc, _ := generate(seed)
		f.Add([]byte(doc))
		doc, _ = generateXHTML(seed)
		f.Add([]byte(doc))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		compare(t, body)
		compareXML(t, body)
		var p Page
		for _, kind := range []Type{HTML, XML, Stylesheet, AppManifest} {
			Read(kind, body, Options{Resources: true}, &p)
			for _, l := range p.Links {
				DecodeRef(l.Ref, "windows-1252")
				p.AnchorText(l, "shift_jis")
				if int(l.Base) > len(p.Bases) {
					t.Fatalf("base %d of %d", l.Base, len(p.Bases))
				}
			}
		}
		Text(body, 1<<16)
		Sitemap(body, "")
		Charset(body, "", p.Charset)
	})
}

// An image says in an anchor what stands for it, and so does an area of a map.
func TestAnchorTextOfImages(t *testing.T) {
	for doc, want := range map[string]string{
		`<a href=x>a <b>bold</b>  word</a> more`:                         "a bold word",
		`<a href=x><img src=i.png alt="picture 2"></a>`:                  "picture 2",
		`<a href=x>see<IMG ALT='a &amp; b' src=i>here</a>`:               "see a & b here",
		`<a href=x><img src=i alt><img src=j></a>`:                       "",
		`<a href=x><image src=i></a>`:                                    "",
		`<map><area href=x shape=rect alt="north wing"><area></map>end`:  "north wing",
		`<map><area href=x></map>end`:                                    "",
		`<a href=x><img alt="` + strings.Repeat("long ", 400) + `"></a>`: strings.TrimSpace(strings.Repeat("long ", MaxAnchor/5)),
	} {
		var p Page
		Scan([]byte(doc), Options{}, &p)
		if got := p.AnchorText(p.Links[0], "utf-8"); got != want {
			t.Errorf("%s: %q, want %q", doc, got, want)
		}
		p.AroundText(p.Links[0], "utf-8")
	}
}

func TestValues(t *testing.T) {
	var p Page
	Scan([]byte(`<html lang=de><meta charset="Shift_JIS"><meta name=ROBOTS content="NoIndex, nofollow"><meta http-equiv=refresh content="5; URL='/next'">
<img src=a.png srcset="b.png 1x, data:image/gif;base64,AA,BB 2x,c.png"><script src=d.js></script><link rel=stylesheet href=e.css>`), Options{Resources: true}, &p)
	var refs []string
	for _, l := range p.Links {
		refs = append(refs, string(l.Ref))
	}
	if got := strings.Join(refs, " "); got != "/next a.png b.png data:image/gif;base64,AA,BB c.png d.js e.css" {
		t.Errorf("links %q", got)
	}
	if string(p.Charset) != "Shift_JIS" || string(p.Lang) != "de" || !p.NoIndex || !p.NoFollow {
		t.Errorf("%q %q %v %v", p.Charset, p.Lang, p.NoIndex, p.NoFollow)
	}
	for in, want := range map[string]string{
		"0;url=x": "x", "0, url = 'a b'": "a b", "5;x": "x", "5": "", "5 ; url=''": "", "x": "none", ";url=x": "none", "1x": "none", "1.5 URL=y": "y", `3; url="q`: "q",
	} {
		got, ok := refreshURL([]byte(in))
		Scan([]byte("<meta http-equiv=Refresh content=\""+strings.ReplaceAll(in, `"`, "&quot;")+"\">"), Options{}, &p)
		if ok != (want != "none") || ok && string(got) != want || p.Reload != (want == "") {
			t.Errorf("refresh %q: %q %v, want %q; comes back: %v", in, got, ok, want, p.Reload)
		}
	}
	for _, value := range []string{`</4>;title="a; rel=x";rel=next`, `</4>; title="a \", </5>; rel=x"; rel="next"`, `</4>; title="a; rel=next`} {
		if got := LinkHeader(value, false); len(got) != 1 || string(got[0].Ref) != "/4" {
			t.Errorf("%s: %v", value, got)
		}
	}
	if got := LinkHeader(`</a>; rel=next, <b,c>; title="x, y"; rel="foo canonical", </no>; rel=stylesheet`, false); len(got) != 2 || string(got[0].Ref) != "/a" || string(got[1].Ref) != "b,c" {
		t.Errorf("Link header: %+v", got)
	}
	for in, want := range map[string]Directives{
		"noindex": {NoIndex: true}, "argosy: nofollow": {NoFollow: true}, "otherbot: noindex, nofollow": {}, "none": {true, true},
		"badbot: noindex, argosy: nofollow": {NoFollow: true}, "BadBot: noindex, Argosy: nofollow, otherbot: noindex": {NoFollow: true},
		"noindex, otherbot: nofollow": {NoIndex: true}, "unavailable_after: Wednesday, 25 Jun 2030 15:00:00 PST, nofollow": {NoFollow: true},
		"otherbot: nofollow, unavailable_after: 25 Jun 2030 15:00:00 PST, noindex": {}, "otherbot: none, max-snippet: 5, none": {},
		"unavailable_after: 25 Jun 2030": {}, "max-snippet:-1, noindex": {NoIndex: true},
	} {
		if got := RobotsTag(in, "argosy"); got != want {
			t.Errorf("X-Robots-Tag %q: %v, want %v", in, got, want)
		}
	}
}

func TestCharsets(t *testing.T) {
	for _, c := range []struct{ body, header, meta, want, text string }{
		{"\x93\xfa\x96\x7b", "text/html; charset=shift_jis", "", "shift_jis", "日本"},
		{"\xcc\xee\xf1\xea\xe2\xe0", "text/html", "windows-1251", "windows-1251", "Москва"},
		{"Gr\xc3\xbc\xc3\x9fe", "", "", "utf-8", "Grüße"},
		{"\xff\xfea\x00b\x00", "", "", "utf-16le", "ab"},
		{"caf\xe9", "text/html; charset=latin1", "", "windows-1252", "café"},
	} {
		var meta []byte
		if c.meta != "" {
			meta = []byte(c.meta)
		}
		got := Charset([]byte(c.body), c.header, meta)
		if got != c.want || Decode([]byte(c.body), got) != c.text {
			t.Errorf("%q: %s %q, want %s %q", c.body, got, Decode([]byte(c.body), got), c.want, c.text)
		}
	}
	if got := DecodeRef([]byte("/\xfc?q=\xfc"), "windows-1252"); got != "/ü?q=%FC" {
		t.Errorf("DecodeRef: %q", got)
	}
}

func TestSitemap(t *testing.T) {
	pages, maps, _ := Sitemap([]byte(`<?xml version="1.0"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:image="http://www.google.com/schemas/sitemap-image/1.1">
<url><loc> http://a/1?x=1&amp;y=2 </loc><lastmod>2026-02-01</lastmod><image:image><image:loc>http://a/i.png</image:loc></image:image></url><url><loc>http://a/2</loc></url>`), "")
	if len(maps) != 0 || len(pages) != 2 || pages[0].Loc != "http://a/1?x=1&y=2" || pages[0].LastMod != 1769904000 || pages[1].Loc != "http://a/2" {
		t.Errorf("%+v %+v", pages, maps)
	}
	if _, maps, _ := Sitemap([]byte(`<sitemapindex><sitemap><loc>http://a/s.xml</loc></sitemap></sitemapindex>`), ""); len(maps) != 1 {
		t.Errorf("%+v", maps)
	}
	if pages, _, _ := Sitemap([]byte("http://a/1\nnonsense\nhttp://a/2\n"), ""); len(pages) != 2 {
		t.Errorf("%+v", pages)
	}
}

func TestText(t *testing.T) {
	got := Text([]byte("<title>T</title><p>a  <b>b</b>\nc</p><script>no</script><ul><li>x<li>y</ul>&amp;z"), 1000)
	if got != "T\na b c\nx\ny\n&z" {
		t.Errorf("%q", got)
	}
	same, other := Simhash(strings.Repeat("the quick brown fox jumps over the lazy dog ", 5)), Simhash("an entirely different text about crawling the web politely")
	if same == other || same == 0 {
		t.Errorf("marks %x %x", same, other)
	}
	if l := Language("", "Dies ist ein deutscher Satz, der lang genug ist, um ihn an seinen Wörtern und Endungen zu erkennen."); l != "de" {
		t.Errorf("language %q", l)
	}
}

// benchPage is a page of documentation.
func benchPage() []byte {
	return []byte("<!doctype html><html><head><title>x</title></head><body>" + strings.Repeat(
		`<div class="entry" id="n"><p>Some words of text, as documentation has them. <a class="reference internal" href="../library/os.html#os.path">os.path</a></p></div>`+"\n", 250))
}

func BenchmarkScan(b *testing.B) {
	page := benchPage()
	b.SetBytes(int64(len(page)))
	b.Run("scan", func(b *testing.B) {
		var p Page
		for b.Loop() {
			Scan(page, Options{}, &p)
		}
	})
	b.Run("tokenizer", func(b *testing.B) {
		for b.Loop() {
			z := html.NewTokenizer(bytes.NewReader(page))
			for z.Next() != html.ErrorToken {
				for _, more := z.TagName(); more; {
					_, _, more = z.TagAttr()
				}
			}
		}
	})
}
