package parse

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// places are all places where a link can stand, with what is taken from each: always, and besides that with resources.
var places = []struct {
	kind                  Type
	doc                   string
	always, withResources string
}{
	// HTML: links to pages.
	{HTML, `<a href=x>`, "x", ""},
	{HTML, `<a href=x ping=no>`, "x", ""},
	{HTML, `<map><area href=x></map>`, "x", ""},
	{HTML, `<frameset><frame src=x longdesc=y></frameset>`, "x y", ""},
	{HTML, `<iframe src=x></iframe>`, "x", ""},
	{HTML, `<iframe srcdoc="<a href=&quot;x&quot;>"></iframe>`, "x", ""},
	{HTML, `<iframe srcdoc="&lt;a href='x?a&amp;amp;b'>"></iframe>`, "x?a&b", ""},
	{HTML, `<link rel=canonical href=x>`, "x", ""},
	{HTML, `<link rel="next" href=x><link rel=prev href=y>`, "x y", ""},
	{HTML, `<link rel="alternate" hreflang=de href=x>`, "x", ""},
	{HTML, `<link rel=up href=a><link rel=contents href=b><link rel=start href=c><link rel=help href=d><link rel=author href=e>`, "a b c d e", ""},
	{HTML, `<link rel=license href=a><link rel=amphtml href=b><link rel=shortlink href=c>`, "a b c", ""},
	{HTML, `<link rel=preconnect href=no><link rel=dns-prefetch href=no><link rel=pingback href=no><link href=no>`, "", ""},
	{HTML, `<meta http-equiv=refresh content="0; url='x'">`, "x", ""},
	{HTML, `<form action=x></form><form method=GET action=y></form><form method=post action=no></form>`, "x y", ""},
	{HTML, `<form action=x><button formaction=y></button><input type=submit formaction=z></form>`, "x y z", ""},
	{HTML, `<form method=post action=no><button formaction=no></button><button formmethod=get formaction=y></button></form>`, "y", ""},
	{HTML, `<blockquote cite=x></blockquote><q cite=y></q><ins cite=z></ins><del cite=w></del>`, "x y z w", ""},
	{HTML, `<img longdesc=x>`, "x", ""},
	{HTML, `<svg><a href=x xlink:href=no></a><a xlink:href=y></a></svg>`, "x y", ""},
	{HTML, `<math><mi href=x></mi></math>`, "x", ""},
	{HTML, `<noscript><a href=x></noscript><template><a href=y></template>`, "x y", ""},
	{HTML, `<base href=/b/><a href=x>`, "x", ""},
	{HTML, `<object data=x type=text/html></object><object data=y.htm></object><embed src=/z/><embed src="w.jpg" type="application/xhtml+xml; charset=x">`, "x y.htm /z/ w.jpg", ""},
	{HTML, `<embed src="//a.test"><embed src="http://a.test/x.PHP?y=z.swf"><object data="c#d.pdf"></object><object></object>`, "//a.test http://a.test/x.PHP?y=z.swf c#d.pdf", ""},
	// HTML: what a page needs.
	{HTML, `<img src=a srcset="b 1x, c 2x" lowsrc=d dynsrc=e>`, "", "a b c d e"},
	{HTML, `<image src=a><IMAGE srcset="b 1x">`, "", "a b"},
	{HTML, `<picture><source srcset=a></picture><video src=b poster=c><track src=d></video><audio src=e></audio><embed src=f.swf>`, "", "a b c d e f.swf"},
	{HTML, `<script src=a></script><input type=image src=b><object data=c.pdf><param name=movie value=d></object><applet archive=e></applet><object data=f type=application/pdf></object>`, "", "a b c.pdf d e f"},
	{HTML, `<link rel=stylesheet href=a><link rel=icon href=b><link rel=manifest href=c><link rel=preload as=image href=d imagesrcset="e 1x">`, "", "a b c d e"},
	{HTML, `<link rel="alternate stylesheet" href=a><link rel="apple-touch-icon" href=b><link rel=prefetch href=c>`, "", "a b c"},
	{HTML, `<body background=a><table background=b><tr><td background=c></table>`, "", "a b c"},
	{HTML, `<style>@import "a"; @import url(b) screen; p { background: url('c'), url( d ) }</style>`, "", "a b c d"},
	{HTML, `<p style="background: url(&quot;a&quot;)">`, "", "a"},
	{HTML, `<img data-src=a data-srcset="b 1x"><div data-background=c></div><img data-original=d><img data-lazy-src=e data-lazy-srcset="f 1x, g 2x">`, "", "a b c d e f g"},
	{HTML, `<svg><image href=a /><use xlink:href="b#i"/><style>p{fill:url(c)}</style><script href=d /></svg>`, "", "a b#i c d"},
	{HTML, `<svg><path fill="url(a#p)" stroke="URL('b.svg#p') red" mask=url(c) clip-path="url( d )" filter="blur(2px) url(&quot;e&quot;)" cursor="url(f), auto"/></svg>`, "", "a#p b.svg#p c d e f"},
	{HTML, `<svg><path marker=url(a) marker-start=url(b) marker-mid=url(c) MARKER-END=url&#40;d) fill="url(#here)" style="fill:url(e)"/></svg><p fill=url(no)>`, "", "a b c d e"},
	{HTML, `<meta property="og:image" content=a><meta name="twitter:image" content=b><meta itemprop=image content=c>`, "", "a b c"},
	{HTML, `<html manifest=a>`, "", "a"},
	// XHTML.
	{XML, `<html xmlns="http://www.w3.org/1999/xhtml"><head><title/><script src="s"/></head><body><a href="x"/><A HREF="no"/><textarea/><a href="y">z</a></body></html>`, "x y", "s"},
	{XML, `<h:html xmlns:h="http://www.w3.org/1999/xhtml"><h:a href="x?a&amp;b"/><a href="no"/></h:html>`, "x?a&b", ""},
	{XML, `<html xmlns="http://www.w3.org/1999/xhtml"><!-- <a href="no"/> --><![CDATA[ <a href="no"/> ]]><style><![CDATA[p{background:url(a)}]]></style><p style="background:url(b)"/></html>`, "", "a b"},
	{XML, `<html xmlns="http://www.w3.org/1999/xhtml"><s:svg xmlns:s="http://www.w3.org/2000/svg" xmlns:l="http://www.w3.org/1999/xlink"><s:a l:href="x"/><s:image l:href="i"/></s:svg></html>`, "x", "i"},
	{XML, `<html xmlns="http://www.w3.org/1999/xhtml"><br><a href="x">`, "x", ""}, // not well-formed: as HTML
	{XML, `<!DOCTYPE html [<!ENTITY e "x&#38;amp;y">]><html xmlns="http://www.w3.org/1999/xhtml"><a href="?&e;"/></html>`, "?x&y", ""},
	// Other XML.
	{XML, `<svg xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"><a xlink:href="x"/><image xlink:href="i"/></svg>`, "x", "i"},
	{XML, `<svg xmlns="http://www.w3.org/2000/svg"><rect fill="url(a)" filter="url('b#c')" Mask="url(no)"/></svg>`, "", "a b#c"},
	{XML, `<!DOCTYPE svg [<!ENTITY ns "http://www.w3.org/2000/svg">]><svg xmlns="&ns;"><a href="x"/></svg>`, "x", ""},
	{XML, `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="s"?><d xmlns:xlink="http://www.w3.org/1999/xlink"><l xlink:href="x"/></d>`, "x", "s"},
	{XML, `<rss version="2.0"><channel><link>http://a/</link><image><url>i</url></image><item><link><![CDATA[http://a/1?x&y]]></link><comments>c</comments><guid>http://a/2</guid><guid>no</guid><enclosure url="e"/></item></channel></rss>`,
		"http://a/ http://a/1?x&y c http://a/2 e", "i"},
	{XML, `<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/b/"><link rel="hub" href="no"/><logo>l</logo><entry xml:base="c/"><link href="x"/><content src="y"/></entry><link href="z"/></feed>`, "x y z", "l"},
	{XML, `<rss version="2.0"><channel><item><link>l</link><description>&lt;a href="d"&gt;x&lt;/a> &lt;a href='q?a&amp;amp;b'></description></item></channel></rss>`, "l d q?a&b", ""},
	{XML, `<rss xmlns:content="http://purl.org/rss/1.0/modules/content/"><channel><item><description/><content:encoded> <![CDATA[<a href="e">x</a><img src=i>]]></content:encoded></item></channel></rss>`, "e", "i"},
	{XML, `<rss><channel><item><description>&lt;a href="a">x&lt;/a> <![CDATA[<a href="b?x&amp;y">]]> &lt;a href=c> <!-- no --><![CDATA[<a href=]]>d&gt;</description><link> <![CDATA[l?a&]]>b&amp;c</link></item></channel></rss>`, "a b?x&y c d l?a&b&c", ""},
	{XML, `<feed xmlns="http://www.w3.org/2005/Atom"><entry><summary type="html">&lt;a href="s"></summary><summary>&lt;a href="no"></summary><content type="html"><![CDATA[<a href=c>]]></content></entry></feed>`, "s c", ""},
	{XML, `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><item rdf:about="no"><link>x</link></item></rdf:RDF>`, "x", ""},
	{XML, `<rss><channel><item><guid isPermaLink="false">http://a/?p=1</guid><guid isPermaLink="true">http://a/2</guid></item></channel></rss>`, "http://a/2", ""},
	// Feeds that are served as pages.
	{HTML, `<?xml version="1.0"?><!-- <html> --><rss version="2.0"><channel><item><link>http://a/1</link></item></channel></rss>`, "http://a/1", ""},
	{HTML, "\xef\xbb\xbf\n <!DOCTYPE x><feed xmlns=\"http://www.w3.org/2005/Atom\"><entry><content src='y'/></entry></feed>", "y", ""},
	{HTML, `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/"><item><link>x</link></item></rdf:RDF>`, "x", ""},
	{HTML, `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#"><a href=x></a></rdf:RDF>`, "x", ""},
	{HTML, `<!-- <rss> --><html><rss><a href=x></a><link>no</link></rss>`, "x", ""},
	{HTML, `text <rss><a href=x></a><link>no</link></rss>`, "x", ""},
	{HTML, `<!-- <rss><link>no</link></rss>`, "", ""},
	// Style sheets and manifests; the former are only read for resources.
	{Stylesheet, `@charset "utf-8"; @import 'a' layer(no); @import url("b"); @font-face { src: url(c) format("no"), local("no") } /* url(no) */`, "a b c", ""},
	{Stylesheet, `@namespace svg url(http://no/); p { content: "url(no)"; background: UR\4c(a\29 b) , url(  'c\
d' ); cursor: image-set("e" 1x type("no"), url(f) 2x) }`, "a)b cd e f", ""},
	{AppManifest, `{"start_url":"x","icons":[{"src":"a"}],"shortcuts":[{"url":"y","icons":[{"src":"b"}]}],"screenshots":[{"src":"c"}]}`, "x y", "a b c"},
}

func TestPlaces(t *testing.T) {
	for _, c := range places {
		for _, resources := range []bool{false, true} {
			want := strings.Fields(c.always)
			if resources {
				want = append(want, strings.Fields(c.withResources)...)
			}
			var p Page
			Read(c.kind, []byte(c.doc), Options{Resources: resources}, &p)
			var got []string
			for _, l := range p.Links {
				got = append(got, string(l.Ref))
			}
			slices.Sort(want)
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Errorf("resources %v: %q, want %q, in %s", resources, got, want, c.doc)
			}
		}
	}
}

// What stands in a template says nothing of the page, as in browsers; its links count.
func TestTemplatesSayNothing(t *testing.T) {
	const inside = `<title>no</title><base href=/no/><meta name=robots content="noindex, nofollow"><meta http-equiv=refresh content=1><a href=in></a>`
	for doc, says := range map[string]bool{
		inside:                                true,
		`<template>` + inside + `</template>`: false,
		`<template><template></template>` + inside + `</template>`:                                  false,
		`<TEMPLATE class=x>` + inside + `<svg><desc>` + inside + `</desc></svg></Template>`:         false,
		`<template><svg><desc><template></template></desc></svg>` + inside:                          false,
		`<svg><desc><template>` + inside + `</template></desc></svg>`:                               false,
		`<svg><desc><template><p></template></desc></svg>` + inside:                                 true,
		`<svg><desc><template></template>` + inside + `</desc></svg>`:                               true,
		`<template></template></template>` + inside:                                                 true,
		`<script><template></script><!-- <template> -->` + inside:                                   true,
		`<template><svg></template>` + inside:                                                       true,
		`<iframe srcdoc="<template>"></iframe>` + inside:                                            true,
		`<!doctype html><svg><desc><template><b></p></desc></svg>` + inside:                         false,
		`<html xmlns="http://www.w3.org/1999/xhtml"><template><b/>` + inside + `</template></html>`: false,
	} {
		var p Page
		Scan([]byte(doc), Options{}, &p)
		if got := []bool{p.Title != nil, p.Base != nil, p.NoFollow, p.NoIndex, p.Reload}; !slices.Equal(got, slices.Repeat([]bool{says}, len(got))) {
			t.Errorf("title, base, nofollow, noindex, refresh: %v in %s", got, doc)
		}
		if len(p.Links) == 0 {
			t.Errorf("no links in %s", doc)
		}
	}
	const xhtml = `<html xmlns="http://www.w3.org/1999/xhtml"><head><template><title>no</title><b/><base href="/no/"/></template>%s</head></html>`
	var p Page
	if ScanXML(fmt.Appendf(nil, xhtml, ""), Options{}, &p); p.Title != nil || p.Base != nil {
		t.Errorf("title %q, base %q", p.Title, p.Base)
	}
	if ScanXML(fmt.Appendf(nil, xhtml, `<title>t</title><base href="/b/"/>`), Options{}, &p); string(p.Title) != "t" || string(p.Base) != "/b/" {
		t.Errorf("title %q, base %q", p.Title, p.Base)
	}
}

// Links of parts with a base of their own say what they are relative to.
func TestBases(t *testing.T) {
	for doc, want := range map[string]string{
		`<base href=/b/><iframe srcdoc="<a href=x>"></iframe>`:                                         "x from ",
		`<iframe srcdoc="<a href=x><base href=c/>"></iframe><base href=/b/><a href=y>`:                 "x from c/, y from ",
		`<iframe srcdoc="<base href=c/><iframe srcdoc='<a href=x><base href=d/>'></iframe>"></iframe>`: "x from d/ c/",
		`<iframe srcdoc="<iframe srcdoc='<base href=d/><a href=x>'></iframe><base href=c/>"></iframe>`: "x from d/ c/",
	} {
		var p Page
		Scan([]byte(doc), Options{}, &p)
		if got := strings.Join(describe(&p), ", "); got != want {
			t.Errorf("%q, want %q, in %s", got, want, doc)
		}
	}
	var p Page
	ScanXML([]byte(`<feed xmlns="http://www.w3.org/2005/Atom" xml:base="/b/"><entry xml:base="c/"><link href="x"/></entry><link href="y"/></feed>`), Options{}, &p)
	if got := strings.Join(describe(&p), ", "); got != "x from c/ /b/, y from /b/" {
		t.Errorf("%q", got)
	}
}

func describe(p *Page) (out []string) {
	for _, l := range p.Links {
		var from []string
		for b := l.Base; b > 0; b = p.Bases[b-1].Outer {
			from = append(from, string(p.Bases[b-1].Ref))
		}
		out = append(out, string(l.Ref)+" from "+strings.Join(from, " "))
	}
	return out
}

// References are resolved once: the path is decoded, the query stays in the page's encoding (URL Standard, query state).
func TestReferences(t *testing.T) {
	for _, c := range []struct{ charset, href, want string }{
		{"windows-1252", "caf&eacute;.html", "café.html"},
		{"windows-1252", "caf\xe9.html", "café.html"},
		{"windows-1252", "q?x=caf&eacute;", "q?x=caf%E9"},
		{"windows-1252", "q?x=caf\xe9&#x20AC;", "q?x=caf%E9%80"},
		{"windows-1252", "\xe9?x=&#26085;&amp;y", "é?x=%26%2326085%3B&y"},
		{"windows-1252", "x#?caf&eacute;", "x"},
		{"windows-1251", "q?&#x416;\xc6", "q?%C6%C6"},
		{"shift_jis", "q?\x95\x5c&#x8868;", "q?%95\\%95\\"},
		{"gbk", "q?&#233;\xa8\xa6", "q?%A8%A6%A8%A6"},
		{"iso-2022-jp", "q?\u65e5", "q?%1B$BF|%1B(B"},
		{"utf-16le", "q?\u65e5", "q?日"},
		{"utf-8", "q?caf&eacute;\u00e9", "q?caféé"},
		{"utf-8", "a&#0;b\x00", "a\uFFFDb\uFFFD"},
		{"utf-8", "&copy=1&copy;&copy&copyx&AMP&notit;&bogus;&semi;&#x80;", "&copy=1©©&copyx&&notit;&bogus;;€"},
	} {
		var p Page
		Scan([]byte(`<a href="`+c.href+`">`), Options{}, &p)
		if got := DecodeRef(p.Links[0].Ref, c.charset); got != c.want {
			t.Errorf("%s %q: %q, want %q", c.charset, c.href, got, c.want)
		}
	}
}
