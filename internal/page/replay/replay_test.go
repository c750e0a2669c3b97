package replay

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"net/url"
	"strings"
	"testing"

	"golang.org/x/net/html"

	"argosy/internal/crawl"
)

const here = "http://a.test/dir/page.html"

func at(t testing.TB) crawl.URL {
	t.Helper()
	u, err := crawl.Parse(here)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func copyAt(u string) string { return "/archive/T?u=" + url.QueryEscape(u) }

// written returns what is written of a document.
func written(t testing.TB, fn func(io.Writer, []byte, crawl.URL, To) error, in string) string {
	t.Helper()
	var b bytes.Buffer
	if err := fn(&b, []byte(in), at(t), copyAt); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestHTML(t *testing.T) {
	for in, want := range map[string]string{
		`<p>plain &amp; simple</p>`:                                   `<p>plain &amp; simple</p>`,
		`<a href="../x?a=1&amp;b=2#f">x</a>`:                          `<a href="` + html.EscapeString(copyAt("http://a.test/x?a=1&b=2")) + `#f">x</a>`,
		`<a href="#f">x</a>`:                                          `<a href="#f">x</a>`,
		`<a href="javascript:alert(1)">x</a>`:                         `<a>x</a>`,
		`<IMG SRC=i.png onerror=alert(1)>`:                            `<img src="` + copyAt("http://a.test/dir/i.png") + `">`,
		`<img srcset="a.png 1x, b.png 2x,c.png">`:                     `<img srcset="` + copyAt("http://a.test/dir/a.png") + ` 1x, ` + copyAt("http://a.test/dir/b.png") + ` 2x, ` + copyAt("http://a.test/dir/c.png") + `">`,
		`<img src="data:image/png;base64,AA==">`:                      `<img src="data:image/png;base64,AA==">`,
		`<script>alert("</p>")</script>after`:                         `after`,
		`<script src=x></script>after`:                                `after`,
		`<noscript><img src=i.png></noscript>`:                        `<noscript><img src="` + copyAt("http://a.test/dir/i.png") + `"></noscript>`,
		`<base href="http://b.test/c/"><img src=i.png>`:               `<img src="` + copyAt("http://b.test/c/i.png") + `">`,
		`<base target=_top><base href=c/><base href=d/><img src=i>`:   `<img src="` + copyAt("http://a.test/dir/c/i") + `">`, // the first one with an address counts
		`<base href="data:,x"><base href=d/><img src=i>`:              `<img src="` + copyAt("http://a.test/dir/i") + `">`,
		`<meta http-equiv=refresh content="0;url=http://b.test">`:     ``,
		`<meta charset=gbk><meta name=viewport content=y>`:            `<meta name="viewport" content="y">`,
		`<meta name=referrer content=unsafe-url>`:                     ``,
		`<link rel="preload stylesheet" href=s.css integrity=x>`:      `<link rel="stylesheet" href="` + copyAt("http://a.test/dir/s.css") + `">`,
		`<link rel=preconnect href=//b.test>`:                         ``,
		`<style>p{background:url(i.png)}</style>`:                     `<style>p{background:url("` + copyAt("http://a.test/dir/i.png") + `")}</style>`,
		`<p style="background:url('i.png')">`:                         `<p style="background:url(&#34;` + copyAt("http://a.test/dir/i.png") + `&#34;)">`,
		`<form action="http://b.test/"><input formaction=x></form>`:   `<form><input></form>`,
		`<iframe srcdoc="<script>1</script>" src=f></iframe>`:         `<iframe src="` + copyAt("http://a.test/dir/f") + `"></iframe>`,
		`<object data=x><p>inside</object>after`:                      `after`,
		`<!-- a <script> in a comment -->x`:                           `x`,
		`<!DOCTYPE html><title>a < b</title>`:                         `<!DOCTYPE html><title>a &lt; b</title>`,
		`<svg><style><link rel=preconnect href=//b.test></style>`:     `<svg><style>\3c link rel=preconnect href=//b.test></style>`,
		`<svg><title><link rel=preconnect href=//b.test></title>`:     `<svg><title>&lt;link rel=preconnect href=//b.test&gt;</title>`,
		`<math><mtext><xmp><link rel=preconnect href=//b></xmp>x`:     `<math><mtext>x`,
		`<svg><![CDATA[<link rel=preconnect href=//b.test>]]>`:        `<svg>]]&gt;`,
		`<svg><a href=x><animate attributeName=href values=//b.test>`: `<svg><a href="` + copyAt("http://a.test/dir/x") + `">`,
		`<svg><script href=x /><g fill="url(#a)"/></svg>`:             `<svg><g fill="url(&#34;#a&#34;)"/></svg>`,
		`<a href="data:text/html,x">x</a>`:                            `<a>x</a>`,
		`<img attributionsrc=//b.test unknown=//b.test title=//b>`:    `<img title="//b">`,
		`<iframe><link rel=preconnect href=//b.test></iframe>`:        `<iframe></iframe>`,
		`<style><!-- a{b:c} --></style>`:                              `<style>/**/ a{b:c} /**/</style>`,
		`<a href=x href=//b.test>`:                                    `<a href="` + copyAt("http://a.test/dir/x") + `">`,
		`<svg><use xlink:href="#a"/><image xlink:href=i.png /></svg>`: `<svg><use xlink:href="#a"/><image xlink:href="` + copyAt("http://a.test/dir/i.png") + `"/></svg>`,
	} {
		if got := written(t, HTML, in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestCSS(t *testing.T) {
	for in, want := range map[string]string{
		`a{b:url( "x y.png" )}`:            `a{b:url("` + copyAt("http://a.test/dir/x%20y.png") + `")}`,
		`@import 's.css' screen; a{b:"x"}`: `@import "` + copyAt("http://a.test/dir/s.css") + `" screen; a{b:"x"}`,
		`@IMPORT URL(s.css);`:              `@IMPORT url("` + copyAt("http://a.test/dir/s.css") + `");`,
		`/* url(x) */a{}`:                  `/**/a{}`,
		`a{b:ur/**/l(x)}`:                  `a{b:ur/**/l(x)}`,
		`<!--a{b:c}-->`:                    `/**/a{b:c}/**/`,
		`a{b:image-set("p.png" 1x, 'q.png' type("image/png") 2x)}`: `a{b:image-set("` + copyAt("http://a.test/dir/p.png") + `" 1x, "` + copyAt("http://a.test/dir/q.png") + `" type("image/png") 2x)}`,
		`a{b:\75rl(x);c:u\72 l("\e9.png")}`:                        `a{b:url("` + copyAt("http://a.test/dir/x") + `");c:url("` + copyAt("http://a.test/dir/%C3%A9.png") + `")}`,
		`a{b:-webkit-image-set(url(p) 1x)}`:                        `a{b:-webkit-image-set(url("` + copyAt("http://a.test/dir/p") + `") 1x)}`,
		`a\\<b`:                                                    `a\\\3c b`,
		`a{content:"url(x)"}`:                                      `a{content:"url(x)"}`,
		`a{b:curl(x)}`:                                             `a{b:curl(x)}`,
		`a{b:url(javascript:1)}`:                                   `a{b:url("about:invalid")}`,
		`a{b:url(x`:                                                `a{b:url("` + copyAt("http://a.test/dir/x") + `")`,
		`@media(width<9px){a:b}`:                                   `@media(width<9px){a:b}`,
		`a{b:"</style><link>"}`:                                    `a{b:"\3c /style>\3c link>"}`,
		`a{b:url(data:image/png,x)}`:                               `a{b:url("data:image/png,x")}`,
	} {
		if got := written(t, CSS, in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// Of an SVG document what is drawn stays, whatever prefixes it uses.
func TestSVG(t *testing.T) {
	const svg, link = `<svg xmlns="http://www.w3.org/2000/svg"`, ` xmlns:x="http://www.w3.org/1999/xlink"`
	for in, want := range map[string]string{
		`<?xml version="1.0" encoding="GBK"?><!DOCTYPE svg>` + svg + `><g fill="url(#a)">a&lt;b</g></svg>`:                      svg + `><g fill="url(&#34;#a&#34;)">a&lt;b</g></svg>`,
		`<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:linearGradient id="a"/></s:svg>`:                                        svg + `><linearGradient id="a"></linearGradient></svg>`,
		svg + ` xmlns:h="http://www.w3.org/1999/xhtml"><h:link rel="preconnect" href="//b.test"/><g/></svg>`:                    svg + `><g></g></svg>`,
		svg + ` xmlns:h="http://www.w3.org/1999/xhtml"><foreignObject><h:P onclick="x">t</h:P></foreignObject></svg>`:           svg + `><foreignObject><p xmlns="http://www.w3.org/1999/xhtml">t</p></foreignObject></svg>`,
		svg + link + `><a x:href="../y"><set attributeName="href" to="//b"/></a><script>1</script></svg>`:                       svg + `><a href="` + copyAt("http://a.test/y") + `"></a></svg>`,
		svg + `><style><![CDATA[a{b:url(i.png)}]]></style><other:thing xmlns:other="u"><g/></other:thing><g onload="x"/></svg>`: svg + `><style>a{b:url(&#34;` + copyAt("http://a.test/dir/i.png") + `&#34;)}</style><g></g></svg>`,
		`<?xml-stylesheet href="//b.test"?>` + svg + `><g><b></g>`:                                                              svg + `><g><b></b></g></svg>`,
		svg + `></svg>` + svg + `></svg>`:                                              svg + `></svg>`,
		`<html xmlns="http://www.w3.org/1999/xhtml"><script>1</script><p>x</p></html>`: `<html xmlns="http://www.w3.org/1999/xhtml"><p>x</p></html>`,
	} {
		if got := written(t, SVG, in); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// full is a writer that has room for so many bytes.
type full struct{ room int }

func (f *full) Write(p []byte) (int, error) {
	if f.room -= len(p); f.room < 0 {
		return 0, errLong
	}
	return len(p), nil
}

// A small page that becomes a large one ends with its writer, and none of its attributes grows without end.
func TestExpansion(t *testing.T) {
	long, err := crawl.Parse("http://a.test/" + strings.Repeat("d", 1500) + "/")
	if err != nil {
		t.Fatal(err)
	}
	many := strings.Repeat("url(a)", 1<<17)
	for in, fn := range map[string]func(io.Writer, []byte, crawl.URL, To) error{
		"<style>" + many + "</style>":       HTML,
		strings.Repeat("<a href=a>", 1<<16): HTML,
		many:                                CSS,
		`<svg xmlns="http://www.w3.org/2000/svg">` + strings.Repeat(`<a href="a"/>`, 1<<16): SVG,
	} {
		made := 0
		w := &full{1 << 20}
		err := fn(w, []byte(in), long, func(u string) string { made += len(u); return copyAt(u) })
		if !errors.Is(err, errLong) || made > 4<<20 {
			t.Errorf("%.20q: %v, %d bytes of URLs", in, err, made)
		}
	}
	for _, in := range []string{`<p style="` + many + `" id="a">`, `<img srcset="` + strings.Repeat("a,b ,", 1<<16) + `" id="a">`} {
		var b bytes.Buffer
		if err := HTML(&b, []byte(in), long, copyAt); err != nil || b.String() != in[:strings.Index(in, " ")]+` id="a">` {
			t.Errorf("%.20q: %d bytes, %v", in, b.Len(), err)
		}
	}
}

// Whatever the page is: what is left has no script, no handler, nothing that connects in advance, and no URL that is not a copy's. That
// holds however a browser reads it: with scripts, without, and within SVG.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{`<a href=//x><img src=y onload=z>`, `<svg><script>x</script></svg>`, `<style>@import "x";</style><p style=a:url(b)>`, `<noscript><script>x`, `<textarea><script>`, `<math><mtext><script>`, `<plaintext><script>`, `<!--><script>-->`, `<title><img onerror=x>`,
		`<svg><style><link rel=preconnect href=//b>`, `<svg><title><link rel=dns-prefetch href=//b>`, `<math><mtext><xmp><link rel=preconnect href=//b>`, `<svg><desc><noembed><link rel=preconnect href=//b>`, `<svg><![CDATA[><link rel=preconnect href=//b>]]>`,
		`<select><style></select><link rel=preconnect href=//b>`, `<svg></p><style><a id="</style><link rel=preconnect href=//b>">`, `<math><mtext><table><mglyph><style><!--</style><link title="--&gt;<link rel=preconnect href=//b>">`, `<noscript><p title="</noscript><link rel=preconnect href=//b>">`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out := written(t, HTML, in)
		for _, around := range []string{"%", "<svg>%", "<math><mtext>%", "<svg><foreignObject>%"} {
			for _, scripts := range []bool{true, false} {
				doc, err := html.ParseWithOptions(strings.NewReader(strings.Replace(around, "%", out, 1)), html.ParseOptionEnableScripting(scripts))
				if err != nil {
					continue
				}
				for n := range doc.Descendants() {
					if bad := harm(n); bad != "" {
						t.Fatalf("%q leaves %s in %q", in, bad, out)
					}
				}
			}
		}
	})
}

// harm names what a node does that it must not do.
func harm(n *html.Node) string {
	if n.Type != html.ElementNode {
		return ""
	}
	switch n.Data {
	case "script", "base", "object", "embed", "animate", "set", "template":
		return "<" + n.Data + ">"
	}
	for _, a := range n.Attr {
		switch {
		case strings.HasPrefix(a.Key, "on") || a.Key == "srcdoc" || a.Key == "action" || a.Key == "http-equiv" || n.Data == "meta" && a.Val == "referrer":
			return a.Key
		case n.Data == "link" && a.Key == "rel" && strings.Trim(strings.NewReplacer("stylesheet", "", "icon", "", "alternate", "").Replace(a.Val), " ") != "":
			return "rel=" + a.Val
		case (a.Key == "src" || a.Key == "href") && !strings.HasPrefix(a.Val, "/archive/") && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(strings.ToLower(a.Val), "data:"):
			return a.Key + "=" + a.Val
		}
	}
	return ""
}

// Whatever the document is: what is left is XML, and has nothing in it that runs, connects in advance, or leads elsewhere.
func FuzzSVG(f *testing.F) {
	for _, s := range []string{`<svg xmlns="http://www.w3.org/2000/svg"><a href="//b"/></svg>`, `<s:svg xmlns:s="http://www.w3.org/2000/svg" xmlns:h="http://www.w3.org/1999/xhtml"><h:link rel="preconnect"/></s:svg>`, `<svg xmlns="http://www.w3.org/2000/svg"><style>a</style>&x;`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, in string) {
		out := written(t, SVG, in)
		for d := xml.NewDecoder(strings.NewReader(out)); ; {
			tok, err := d.Token()
			if err == io.EOF {
				return
			}
			if err != nil {
				t.Fatalf("%q gives %q: %v", in, out, err)
			}
			if e, ok := tok.(xml.StartElement); ok {
				n := &html.Node{Type: html.ElementNode, Data: strings.ToLower(e.Name.Local)}
				for _, a := range e.Attr {
					n.Attr = append(n.Attr, html.Attribute{Key: strings.ToLower(a.Name.Local), Val: a.Value})
				}
				if bad := harm(n); bad != "" || e.Name.Space != svgSpace && e.Name.Space != htmlSpace {
					t.Fatalf("%q leaves %s of %s in %q", in, bad, e.Name.Space, out)
				}
			}
		}
	})
}
