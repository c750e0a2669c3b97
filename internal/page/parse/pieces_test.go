package parse

import (
	"bytes"
	"fmt"
	"reflect"
	"strings"
	"testing"
)

// However few links are kept of a page, it gives all of them, in their order, and says the same otherwise.
func TestPieces(t *testing.T) {
	of := func(kind Type, doc string, most int) (links []string, p Page) {
		defer func(was int) { maxLinks = was }(maxLinks)
		maxLinks = most
		Read(kind, []byte(doc), Options{Resources: true, Product: "argosy"}, &p)
		if len(p.Links) > most {
			t.Errorf("%d links are kept, not %d, of %q", len(p.Links), most, doc)
		}
		p.Each(func(some []Link) bool {
			for _, l := range some {
				links = append(links, fmt.Sprintf("%q %d %d %d", l.Ref, l.Kind, l.Base, l.text))
			}
			return true
		})
		if p.Count() != len(links) {
			t.Errorf("%d links are counted, and %d are given, of %q", p.Count(), len(links), doc)
		}
		links = append(links, fmt.Sprint(MarkPage([]byte(doc), "http://site.test/a", &p, true)))
		p.Links, p.pieces = nil, pieces{}
		return links, p
	}
	judge := func(kind Type, doc string) {
		t.Helper()
		want, whole := of(kind, doc, 1<<17)
		for most := 1; most <= 5; most += 2 {
			if links, p := of(kind, doc, most); !reflect.DeepEqual(links, want) || !reflect.DeepEqual(p, whole) {
				t.Errorf("%d links are kept: %q, want %q, of %q", most, links, want, doc)
			}
		}
	}
	for seed := range uint64(300) {
		doc, _ := generate(seed)
		judge(HTML, doc)
		doc, _ = generateXHTML(seed)
		judge(XML, doc)
	}
	many := strings.Repeat("<a href=/1>x</a><img src=/2 srcset='/3 1x, /4 2x'>", 4)
	for _, doc := range []string{
		many + "<base href=/late/>" + many,
		"<iframe srcdoc='" + strings.ReplaceAll(many, "'", "&#39;") + "<base href=/late/>'></iframe>" + many,
		many + "<iframe srcdoc='" + strings.ReplaceAll(many, "'", "&#39;") + "<svg><a href=/5 /><p></svg><a href=/6>'></iframe>" + many,
		many + "<table><svg><p></table>" + many, // which takes a whole tree
		"<form action=/f><input type=hidden name=a value=b><button name=c>" + many + "<button name=d></form>" + many,
		many + "<style>" + strings.Repeat("a{background:url(/7)}", 9) + "</style>",
	} {
		judge(HTML, doc)
		judge(XML, "<rss version='2.0'><channel>"+strings.Repeat("<item><link>/8</link><description><![CDATA["+doc+"]]></description></item>", 3)+"</channel></rss>")
		judge(XML, "<html xmlns='http://www.w3.org/1999/xhtml'>"+doc) // which is not well-formed
	}
	large := strings.Repeat("<a href=&quot;/1?a&amp;amp;b&quot;>x</a>", largeText/30)
	judge(HTML, "<iframe srcdoc='"+large+"'></iframe><iframe srcdoc='"+large+"<base href=/b/>'></iframe>")
	judge(Stylesheet, strings.Repeat("@import '/9.css'; b{background:url(/10)}\x00", 9))
}

// A page of any size is in memory once, beside few of its links.
func TestLinksInMemory(t *testing.T) {
	defer func(was int) { maxLinks = was }(maxLinks)
	maxLinks = 1000
	for kind, doc := range map[Type]string{
		HTML: "<form action='/1?a&amp;b'></form>", XML: "<item><link>/1?a&amp;b</link><description>&lt;a href='/2'&gt;</description></item>",
	} {
		body := bytes.Repeat([]byte(doc), 10*maxLinks)
		if kind == XML {
			body = append([]byte("<rss version='2.0'><channel>"), body...)
		}
		var p Page
		Read(kind, body, Options{}, &p)
		if cap(p.Links) > 2*maxLinks || p.Count() < 10*maxLinks {
			t.Errorf("there is room for %d links of %d", cap(p.Links), p.Count())
		}
		n, most := 0, 0
		p.Each(func(some []Link) bool {
			n, most = n+len(some), max(most, cap(some))
			return true
		})
		if n != p.Count() || most > 2*maxLinks {
			t.Errorf("%d links of %d are given, with room for %d at once", n, p.Count(), most)
		}
	}
}
