package replay

import (
	"bytes"
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
		`<meta http-equiv=refresh content="0;url=http://b.test">`:     ``,
		`<meta charset=gbk><meta name=x content=y>`:                   `<meta name="x" content="y">`,
		`<link rel="preload stylesheet" href=s.css integrity=x>`:      `<link rel="preload stylesheet" href="` + copyAt("http://a.test/dir/s.css") + `">`,
		`<link rel=preconnect href=//b.test>`:                         ``,
		`<style>p{background:url(i.png)}</style>`:                     `<style>p{background:url("` + copyAt("http://a.test/dir/i.png") + `")}</style>`,
		`<p style="background:url('i.png')">`:                         `<p style="background:url(&#34;` + copyAt("http://a.test/dir/i.png") + `&#34;)">`,
		`<form action="http://b.test/"><input formaction=x></form>`:   `<form><input></form>`,
		`<iframe srcdoc="<script>1</script>" src=f></iframe>`:         `<iframe src="` + copyAt("http://a.test/dir/f") + `"></iframe>`,
		`<object data=x><p>inside</object>after`:                      `after`,
		`<!-- a <script> in a comment -->x`:                           `x`,
		`<svg><use xlink:href="#a"/><image xlink:href=i.png /></svg>`: `<svg><use xlink:href="#a"/><image xlink:href="` + copyAt("http://a.test/dir/i.png") + `"/></svg>`,
	} {
		if got := string(HTML([]byte(in), at(t), copyAt)); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

func TestCSS(t *testing.T) {
	for in, want := range map[string]string{
		`a{b:url( "x y.png" )}`:            `a{b:url("` + copyAt("http://a.test/dir/x%20y.png") + `")}`,
		`@import 's.css' screen; a{b:"x"}`: `@import "` + copyAt("http://a.test/dir/s.css") + `" screen; a{b:"x"}`,
		`@IMPORT URL(s.css);`:              `@IMPORT url("` + copyAt("http://a.test/dir/s.css") + `");`,
		`/* url(x) */a{}`:                  `a{}`,
		`a{content:"url(x)"}`:              `a{content:"url(x)"}`,
		`a{b:curl(x)}`:                     `a{b:curl(x)}`,
		`a{b:url(javascript:1)}`:           `a{b:url("about:invalid")}`,
		`a{b:url(x`:                        `a{b:`,
		`a{b:url(data:image/png,x)}`:       `a{b:url("data:image/png,x")}`,
	} {
		if got := string(CSS([]byte(in), at(t), copyAt)); got != want {
			t.Errorf("%s\n got %s\nwant %s", in, got, want)
		}
	}
}

// Whatever the page is: what is left has no script, no handler, and no URL that is not a copy's.
func FuzzHTML(f *testing.F) {
	for _, s := range []string{`<a href=//x><img src=y onload=z>`, `<svg><script>x</script></svg>`, `<style>@import "x";</style><p style=a:url(b)>`, `<noscript><script>x`, `<textarea><script>`, `<math><mtext><script>`, `<plaintext><script>`, `<!--><script>-->`, `<title><img onerror=x>`} {
		f.Add(s)
	}
	page := at(f)
	f.Fuzz(func(t *testing.T, in string) {
		doc, err := html.Parse(bytes.NewReader(HTML([]byte(in), page, copyAt)))
		if err != nil {
			return
		}
		for n := range doc.Descendants() {
			if n.Type != html.ElementNode {
				continue
			}
			if n.Data == "script" || n.Data == "base" || n.Data == "object" {
				t.Fatalf("%q leaves <%s>", in, n.Data)
			}
			for _, a := range n.Attr {
				if strings.HasPrefix(a.Key, "on") || a.Key == "srcdoc" || a.Key == "action" {
					t.Fatalf("%q leaves %s of <%s>", in, a.Key, n.Data)
				}
				if (a.Key == "src" || a.Key == "href") && !strings.HasPrefix(a.Val, "/archive/") && !strings.HasPrefix(a.Val, "#") && !strings.HasPrefix(strings.ToLower(a.Val), "data:") {
					t.Fatalf("%q leaves %s=%q", in, a.Key, a.Val)
				}
			}
		}
	})
}
