package assemble_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/webs"
)

// markup is a site whose pages are found in all places where a link can stand, in several languages and encodings.
var markup = map[string][2]string{
	"/": {"text/html; charset=utf-8", `<!doctype html><svg><title/><style/><a xlink:href="svg-a"></a></svg><a href="latin">x</a><a href="xhtml">
		<iframe srcdoc="<base href='/inner/'><a href=&quot;a?x&amp;amp;y&quot;>"></iframe><iframe srcdoc="<a href=beside>"></iframe>
		<form action="search"></form><form method=post action="no"></form><blockquote cite="cited"></blockquote><img src="i.png" longdesc="long">
		<link rel="up" href="up"><link rel=amphtml href="amp"><link rel=stylesheet href="css/s.css"><link rel=alternate href="feed">
		<link rel=alternate href="atom"><a href="drawing"></a><a href="refresh"></a><a href="` + strings.Repeat("x", 9000) + `"></a>
		<p style="background:url(p.png)"><a href="data:text/plain,` + strings.Repeat("x", 9000) + `"></a><link rel=manifest href=app>
		<link rel=preconnect href=no><a href="broken">`},
	"/latin": {"text/html; charset=iso-8859-1", "<a href=\"caf&eacute;.html\"></a><a href='caf\xe9.html?q=caf\xe9&#x20AC;&#26085;'></a><base href='/l/'><a href='#x'></a>"},
	"/xhtml": {"application/xhtml+xml", `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="x.js"/></head>
		<body><textarea/><a href="x?a&amp;b">x</a><A HREF="no">no</A><![CDATA[<a href="no">]]></body></html>`},
	"/broken":       {"application/xhtml+xml", `<html xmlns="http://www.w3.org/1999/xhtml"><br><a href="as-html">`},
	"/drawing":      {"image/svg+xml", `<svg xmlns="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink"><a l:href="drawn"/><image l:href="d.png"/></svg>`},
	"/feed":         {"application/rss+xml", `<rss><channel><item><link>/item?a&amp;b</link><guid>no</guid></item><item><link><![CDATA[/item2]]></link></item></channel></rss>`},
	"/atom":         {"text/xml", `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/blog/"><entry><link href="entry"/></entry></feed>`},
	"/refresh":      {"image/png", "\x89PNG"}, // its fields say more
	"/css/s.css":    {"text/css", `@import "more.css"; p { background: url( 'b.png' ) } /* url(no) */ @font-face { src: url(f\6fnt.woff) }`},
	"/css/more.css": {"text/css", `a { background: url(/c.png) }`},
	"/app":          {"application/manifest+json", `{"start_url":"start","icons":[{"src":"icon.png"}]}`},
}

const (
	markupPages = `/ /amp /as-html /atom /beside /blog/entry /broken /cited /drawing /drawn
		/feed /follows /inner/a?x&y /item2 /item?a&b /l/ /l/caf%C3%A9.html /l/caf%C3%A9.html?q=caf%E9%80%26%2326085%3B /latin /located /long /refresh /refreshed /robots.txt /search /svg-a /up /x?a&b /xhtml`
	markupParts = `/app /c.png /css/b.png /css/font.woff /css/more.css /css/s.css /d.png /head.css /i.png /icon.png /p.png /start /x.js`
)

// Pages are found wherever a link can stand, and with resources what they need; what is too long to be a URL is counted.
func TestMarkup(t *testing.T) {
	t.Parallel()
	for _, resources := range []bool{false, true} {
		w := webs.New()
		w.Sites["markup.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if r.URL.Path == "/refresh" {
				rw.Header().Set("Refresh", "5; url=refreshed")
				rw.Header().Set("Content-Location", "located")
				rw.Header().Set("Link", "<follows>; rel=next, <head.css>; rel=preload")
			}
			page, ok := markup[r.URL.Path]
			if !ok {
				page = [2]string{"text/html; charset=utf-8", "<title>" + r.URL.Path}
			}
			rw.Header().Set("Content-Type", page[0])
			_, _ = rw.Write([]byte(page[1]))
		})
		c, port := crawlOf(t, w, "markup.test")
		c.Job.Identity.Resources = resources
		sum := runConfig(t, c)
		if n := sum.Reasons[string(crawl.ReasonTrapLength)]; n != 1 {
			t.Errorf("%d links too long, want 1: %v", n, sum.Reasons)
		}
		want := strings.Fields(markupPages)
		if resources {
			want = append(want, strings.Fields(markupParts)...)
		}
		var got []string
		for _, h := range w.Hits("markup.test") {
			got = append(got, h.Path)
		}
		if !resources {
			fleettest.JudgeSites(t, c.Dir, c.Job.Identity.Seeds, port)
		}
		slices.Sort(got)
		got = slices.Compact(got)
		slices.Sort(want)
		for _, p := range got {
			if !slices.Contains(want, p) {
				t.Errorf("resources %v: %s was asked for", resources, p)
			}
		}
		for _, p := range want {
			if !slices.Contains(got, p) {
				t.Errorf("resources %v: %s was not asked for", resources, p)
			}
		}
	}
}

// What a page needs is as deep as the page: under a depth limit the last pages can be shown as well.
func TestResourcesUnderDepthLimit(t *testing.T) {
	t.Parallel()
	for depth, want := range []string{
		"/ /app /b.png /css/font.woff /css/more.css /css/s.css /robots.txt",
		"/ /app /b.png /c.png /css/font.woff /css/more.css /css/s.css /one /robots.txt",
	} {
		w := webs.New()
		w.Sites["markup.test"] = http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			page := markup[r.URL.Path]
			switch r.URL.Path {
			case "/":
				page = [2]string{"text/html", `<a href=b.png><img src=b.png></a><a href=c.png>c</a><a href=one></a><link rel=stylesheet href=css/s.css><link rel=manifest href=app>`}
			case "/one":
				page = [2]string{"text/html", `<link rel=stylesheet href=css/s.css><img src=c.png><a href=two></a>`}
			case "/app", "/css/more.css":
				page[1] = ""
			case "/css/s.css":
				page[1] = `@import "more.css"; @font-face { src: url(font.woff) }`
			}
			rw.Header().Set("Content-Type", page[0])
			_, _ = rw.Write([]byte(page[1]))
		})
		c, _ := crawlOf(t, w, "markup.test")
		c.Job.Identity.Resources = true
		c.Job.Limits.MaxDepth = depth
		runConfig(t, c)
		var got []string
		for _, h := range w.Hits("markup.test") {
			got = append(got, h.Path)
		}
		slices.Sort(got)
		if g := strings.Join(got, " "); g != want {
			t.Errorf("depth %d: %s, want %s", depth, g, want)
		}
	}
}
