package parse

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/net/html"
)

// No document makes a scan quadratic: it takes no more than a multiple of what a tokenizer takes for as many bytes of text, and
// that by far less than what one step for each pair of tags would.
func TestLongLinear(t *testing.T) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	const n = 30_000
	rep := func(s string) string { return strings.Repeat(s, n) }
	distinct := func(format string) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i)
		}
		return b.String()
	}
	lost := "<svg></i>" // makes the scanner follow the whole stack
	docs := map[string]string{
		"svg in svg":                rep("<svg>"),
		"svg closed":                rep("<svg/>"),
		"integration points":        rep("<svg><desc>"),
		"HTML in SVG in HTML":       rep("<svg><foreignObject><div>"),
		"math":                      rep("<math><mi>"),
		"ends of nothing":           lost + rep("</p>") + rep("</b>"),
		"deep, and ends of nothing": lost + strings.Repeat("<div>", 511) + rep("</span>"),
		"paragraphs in b":           lost + rep("<b><p>"),
		"anchors":                   lost + rep("<a>"),
		"anchors with blocks":       lost + rep("<a><div>"),
		"fonts":                     lost + distinct("<font size=%d><p>"),
		"fonts, closed":             lost + distinct("<font size=%d>") + rep("<p></p>x"),
		"tables":                    lost + rep("<table><tr><td>"),
		"tables, text":              lost + rep("<table>x<b>"),
		"templates":                 lost + rep("<template>") + rep("</template>"),
		"lists":                     lost + rep("<li><ul>"),
		"lost again and again":      rep("<svg></i>"),
		"sections":                  rep("<svg><![CDATA["),
		"sections in style":         rep("<svg><style><![CDATA["),
		"style in svg":              "<svg>" + rep("<style>"),
		"comments":                  rep("<!--"),
		"srcdoc":                    rep("<iframe srcdoc='<svg></i><a href=x>'></iframe>"),
		"srcdoc with bases":         rep("<iframe srcdoc='<base href=y><a href=x>'></iframe>"),
		"srcdoc in srcdoc":          `<iframe srcdoc="` + rep("<iframe srcdoc=&quot;<svg></i>") + `">`,
		"attributes":                "<a " + distinct("a%d ") + ">",
		"ampersands":                "<a href='" + rep("&") + "'>",
		"names of references":       "<a href='&x" + rep("&notanameofareference;") + "'>",
		"digits":                    "<a href='&#" + rep("1") + "'>",
		"srcset":                    "<img srcset='" + rep(",") + rep("a (") + "'>",
		"links":                     distinct("<a href=%d>"),
		"url(":                      "<style>" + rep("url(") + "</style>",
		`url("`:                     "<style>" + rep("url(\"\n") + "</style>",
		"css comments":              "<style>" + rep("/*") + "</style>",
		"backslashes":               "<style>" + rep(`\`) + "</style>",
		"css strings":               "<style>" + rep("'") + rep("image-set('") + "</style>",
		"escapes in scripts":        "<script>" + rep(`\'`),
		"escapes in fields":         rep(`<input value="` + strings.Repeat(`\u`, 20) + `">`),
		"strings of scripts":        "<script>" + rep(`'"a" b c d e f g h i j k l`),
		"XML elements":              rep("<a>"),
		"namespaces":                rep("<a xmlns:x='y'>"),
		"namespaces, ended":         distinct("<x:a xmlns:y%d='y'>") + rep("</x:a>"),
		"bases":                     rep("<a xml:base='x'>"),
		"entities":                  "<!DOCTYPE x [" + distinct("<!ENTITY a%d 'x'>") + "]>",
		"laughs":                    `<!DOCTYPE x [<!ENTITY a "` + strings.Repeat("&b;", 1000) + `"><!ENTITY b "` + strings.Repeat("&a;", 1000) + `">]><rss><link>` + rep("&a;"),
		"document type":             rep("<!DOCTYPE x ["),
		"RSS":                       "<rss>" + rep("<link>"),
		"RSS sections":              "<rss>" + rep("<link><![CDATA["),
		"instructions":              rep("<?xml-stylesheet "),
		"quotes":                    rep("<a b='"),
		"locations":                 rep("<loc>"),
		"an endless location":       "<loc>" + rep("x<"),
		"what was asked for":        strings.Repeat(rep("日本語文"), 4),
	}
	for name, doc := range docs {
		start := worked(t)
		z := html.NewTokenizer(strings.NewReader(strings.Repeat("<p class=a>x ", len(doc)/13+1)))
		for z.Next() != html.ErrorToken {
		}
		if z.Err() != io.EOF {
			t.Fatal(z.Err())
		}
		peer := worked(t) - start
		within := func(as string, read func()) {
			start := worked(t)
			read()
			if took := worked(t) - start; took > 100*peer+time.Second {
				t.Errorf("%s, as %s: %v for %d bytes; a tokenizer takes %v", name, as, took, len(doc), peer)
			} else if testing.Verbose() {
				t.Logf("%s, as %s: %v, %.1f times a tokenizer", name, as, took, float64(took)/float64(peer))
			}
		}
		for _, kind := range []Type{HTML, XML, Stylesheet} {
			within(fmt.Sprint(kind), func() {
				var p Page
				Read(kind, []byte(doc), Options{Resources: true}, &p)
				for i := range min(1000, len(p.Links)) {
					DecodeRef(p.Links[i].Ref, "windows-1252")
					p.AnchorText(p.Links[i], "utf-8")
				}
			})
		}
		within("what it shows", func() { Mark([]byte(doc), "http://a.test/"+ownRunsOfMany, nil, false) })
		within("a sitemap", func() { Sitemap([]byte(doc), "") })
		within("in a sitemap", func() { Sitemap([]byte("<urlset><url>"+doc), "") })
	}
}

// ownRunsOfMany are runs of an address, the first of which a document has again and again, and the others never.
const ownRunsOfMany = "日本語/甲乙/丙丁/戊己/庚辛/壬癸/子丑/寅卯"

// worked is the processor time of this thread so far: how busy the machine is does not count.
func worked(t *testing.T) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(1, &u); err != nil { // RUSAGE_THREAD
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
