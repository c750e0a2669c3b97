package parse

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"
)

var (
	documents = flag.Int("documents", 3000, "how many generated documents are held against the tree")
	first     = flag.Uint64("first", 0, "the number of the first of them: from another one on they are others")
)

// generator writes documents: well formed ones, and ones as people write them. Every link has a number of its own.
type generator struct {
	*rand.Rand
	b      strings.Builder
	n      int
	broken bool // tags are left out, doubled and put in the wrong places
	chars  []string
	title  bool
	inner  bool

	foreign bool // there was svg or math: of a template in it, which may still be open, the tree builder drops what it holds
}

func (g *generator) one(list ...string) string { return list[g.IntN(len(list))] }

func (g *generator) chance(percent int) bool { return g.IntN(100) < percent }

// text writes characters that the document's encoding has, and references to some that it may not have.
func (g *generator) text() string {
	s := g.one("a", "word", "x y", "1 < 2", "&amp;", "&nbsp;", "&eacute;", "&#8364;", "\n", " ", "")
	if g.chance(30) {
		s += g.one(g.chars...)
	}
	return s
}

// url writes a reference as it stands in an attribute.
func (g *generator) url() string {
	g.n++
	s := fmt.Sprintf("%su%d", g.one("", "/", "./", "../", "http://other.example/", "//cdn.example/"), g.n)
	piece := func() string {
		return g.one("", "", "a", "caf&eacute;", "&#x20AC;", "&#233;", "&#x80;", "&amp;", "&amp;eacute;", "&copy", "&copy=1", "&notit;", "&#0;",
			"&#xD800;", "&bogus;", "%E9", "&lt", "&semi;", "&NotEqualTilde;", g.one(g.chars...))
	}
	s += piece()
	if g.chance(60) {
		s += "?q=" + piece() + piece()
	}
	if g.chance(20) {
		s += "#f" + piece()
	}
	return s
}

// attr writes an attribute in one of the ways in which one can be written.
func (g *generator) attr(name, val string) string {
	if g.chance(10) {
		name = strings.ToUpper(name)
	}
	eq := g.one("=", "=", "=", " = ", "=\n", "\t=")
	switch {
	case g.chance(60):
		return " " + name + eq + `"` + strings.ReplaceAll(val, `"`, "&quot;") + `"`
	case g.chance(50):
		return g.one(" ", "\n", " /", " / ") + name + eq + "'" + strings.ReplaceAll(val, "'", "&#39;") + "'"
	case !strings.ContainsAny(val, " \n\t\"'<>=`\f\r") && val != "":
		return " " + name + eq + val
	}
	return " " + name + eq + `"` + strings.ReplaceAll(val, `"`, "&#x22;") + `"` + g.one("", " ")
}

func (g *generator) link(name string) string {
	s := g.attr(name, g.url())
	if g.chance(10) {
		s += g.attr(name, "twice")
	}
	if g.chance(20) {
		s = g.attr(g.one("class", "id", "data-x", "title", "\"", "="), g.one("a>b", "x", "", "it's", "<a href=no>")) + s
	}
	return s
}

func (g *generator) open(tag string, attrs ...string) {
	if g.chance(5) {
		tag = strings.ToUpper(tag)
	}
	g.b.WriteString("<" + tag + strings.Join(attrs, "") + g.one("", "", "", " ", "\n") + ">")
}

func (g *generator) close(tag string) {
	if g.broken && g.chance(12) {
		return
	}
	g.b.WriteString("</" + tag + g.one("", "", "", " ", " x=y", "\n") + ">")
	if g.broken && g.chance(4) {
		g.b.WriteString("</" + tag + ">")
	}
}

// stray writes a tag or a piece of one in a place where it has no business.
func (g *generator) stray() {
	g.b.WriteString(g.one("</div>", "</p>", "</svg>", "</math>", "</b>", "</a>", "</span>", "</table>", "</td>", "</li>", "</desc>", "</foreignObject>",
		"</title>", "</style>", "</g>", "<b>", "<i>", "<div>", "<p>", "<li>", "<td>", "<tr>", "<table>", "<font>", "<font color=red>", "<svg>", "<math>",
		"</br>", "<br>", "<hr>", "</body>", "</html>", "<h1>", "</h2>", "<select>", "<option>", "<button>", "<nobr>", "<ruby><rt>", "</mi>", "<mi>",
		"<desc>", "<foreignObject>", "<title/>", "<style/>", "<script/>", "<![CDATA[ <a href=no> ]]>", "<!-- ", "<? <a href=no>", "<!x>", "< ", "&", "<",
		"</", "</>", "<em>", "</em>", "<p/>", "<dd>", "<dl>", "</dl>", "<object>", "</object>", "<marquee>", "<annotation-xml>", "</head>", "<head>",
		"<col>", "</tbody>", "<dt>", "<h3>", "</h1>", "<ul>", "</ul>", "<x-y>", "</x-y>", "</form>"))
}

func (g *generator) children(depth int, child func(int)) {
	for range g.IntN(4) {
		if g.broken && g.chance(12) {
			g.stray()
		}
		if depth > 7 {
			g.b.WriteString(g.text())
		} else {
			child(depth + 1)
		}
	}
}

func (g *generator) element(depth int, tag string, child func(int), attrs ...string) {
	g.open(tag, attrs...)
	g.children(depth, child)
	g.close(tag)
}

// raw writes an element whose text is not markup.
func (g *generator) raw(tag string, attrs ...string) {
	g.open(tag, attrs...)
	g.b.WriteString(g.one("", "x", "<a href=no>", "<!-- <a href=no> -->", "</b>", "a<b", "<svg><a href=no></svg>", "</"+tag[:3]+">"))
	if tag == "script" {
		g.b.WriteString(g.one("", "<!-- <script> </script> <a href=no> -->", "if (a < b) x = '</scr' + 'ipt>'"))
	}
	g.b.WriteString("</" + tag + ">")
}

// flow writes content of HTML.
func (g *generator) flow(depth int) {
	switch g.IntN(31) {
	case 0, 1, 2, 3:
		g.b.WriteString(g.text())
	case 4, 5, 6:
		g.element(depth, "a", g.phrase, g.link("href"))
	case 7, 8:
		g.element(depth, g.one("div", "p", "ul", "section", "center", "blockquote", "article", "pre", "h2", "dl", "menu"), g.flow)
	case 9:
		g.element(depth, g.one("b", "i", "em", "code", "font", "nobr", "u"), g.flow)
	case 10:
		g.element(depth, g.one("blockquote", "q", "ins", "del"), g.flow, g.link("cite"))
	case 11:
		g.open("img", g.link("src"), g.link("longdesc"))
	case 12:
		g.raw(g.one("script", "style", "textarea", "xmp", "noembed", "noframes"))
	case 13:
		g.raw("iframe", g.link("src"), g.srcdoc(depth))
	case 14:
		g.b.WriteString(g.one("<!-- <a href=no> -->", "<!--> <b>", "<!---->", "<!-- a -- b --!>", "<?pi <a href=no>", "<![CDATA[ x ]]>"))
	case 15:
		g.open("area", g.link("href"))
	case 16, 17, 18, 19, 20:
		g.svg(depth)
	case 21, 22:
		g.math(depth)
	case 23:
		g.table(depth)
	case 24:
		g.element(depth, "ul", func(d int) { g.element(d, "li", g.flow) })
	case 25:
		g.element(depth, g.one("object", "video", "audio"), g.flow, g.link(g.one("data", "src", "poster")))
	case 26:
		g.open("input", g.link("src"))
	case 27:
		g.element(depth, "noscript", g.phrase)
	case 28:
		g.element(depth, g.one("span", "label", "x-y", "button", "select", "ruby"), g.phrase)
	case 29:
		g.open("embed", g.link("src"))
	case 30:
		if !g.broken && !g.foreign {
			g.element(depth, "template", func(d int) {
				g.flow(d)
				g.open("base", g.link("href"))
			})
		}
	}
}

func (g *generator) phrase(depth int) {
	switch g.IntN(8) {
	case 0, 1, 2:
		g.b.WriteString(g.text())
	case 3, 4:
		g.element(depth, g.one("b", "i", "span", "em", "code"), g.phrase)
	case 5:
		g.svg(depth)
	case 6:
		g.open("img", g.link("src"))
	case 7:
		g.flow(depth)
	}
}

func (g *generator) srcdoc(depth int) string {
	if g.inner || g.chance(70) {
		return ""
	}
	in := &generator{Rand: g.Rand, n: g.n, broken: g.broken, chars: g.chars, inner: true, title: true}
	if g.chance(30) {
		in.open("base", in.link("href"))
	}
	in.children(depth+3, in.flow)
	g.n = in.n
	return g.attr("srcdoc", strings.ReplaceAll(in.b.String(), "&", g.one("&amp;", "&#38;")))
}

func (g *generator) table(depth int) {
	g.open("table", g.link("background"))
	for range g.IntN(3) {
		g.open("tr")
		for range 1 + g.IntN(2) {
			if g.broken { // the tree drops cells outside of tables
				g.element(depth, "td", g.flow)
			} else {
				g.element(depth, "td", g.flow, g.link("background"))
			}
		}
		if g.chance(50) {
			g.close("tr")
		}
	}
	if g.broken && g.chance(10) {
		g.flow(depth + 1)
	}
	g.close("table")
}

func (g *generator) selfClosed(tag string, attrs ...string) {
	g.b.WriteString("<" + tag + strings.Join(attrs, "") + g.one(" />", "\n/>"))
}

func (g *generator) svg(depth int) {
	g.foreign = true
	if g.chance(5) {
		g.selfClosed("svg")
		return
	}
	g.element(depth, "svg", g.vector, g.one("", ` viewBox="0 0 1 1"`, " xmlns='http://www.w3.org/2000/svg'"))
}

func (g *generator) vector(depth int) {
	switch g.IntN(14) {
	case 0, 1:
		g.element(depth, "a", g.vector, g.link(g.one("href", "xlink:href", "XLINK:HREF")))
	case 2:
		g.selfClosed(g.one("path", "title", "style", "script", "rect", "desc", "foreignObject", "textarea", "xmp", "iframe"))
	case 3:
		g.element(depth, g.one("title", "desc"), func(int) { g.b.WriteString(g.text()) })
	case 4:
		g.element(depth, g.one("foreignObject", "foreignobject", "desc", "title"), g.flow)
	case 5:
		g.element(depth, g.one("style", "script", "textarea", "xmp", "iframe", "noembed", "plaintext"), g.vector)
	case 6:
		g.b.WriteString("<![CDATA[" + g.one("<a href=no>", "x", "]]", "</svg>", "") + "]]>")
	case 7:
		g.selfClosed(g.one("image", "use", "feImage"), g.link(g.one("href", "xlink:href")))
	case 8:
		g.n++
		with := g.one("fill", "stroke", "mask", "clip-path", "filter", "cursor", "marker", "marker-start", "marker-mid", "marker-end", "opacity")
		g.element(depth, g.one("g", "path", "text", "defs"), g.vector, g.attr(with, fmt.Sprintf(g.one("url&#40;u%d#p)", "url&#40;#p%d)", "url&#40;'u%d') red", "n%d")+" none", g.n)))
	case 9:
		g.svg(depth)
	case 10:
		g.b.WriteString(g.one("<!-- <a href=no> -->", "<!--x-->"))
	default:
		g.b.WriteString(g.text())
	}
}

func (g *generator) math(depth int) {
	g.foreign = true
	g.element(depth, "math", g.formula)
}

func (g *generator) formula(depth int) {
	switch g.IntN(9) {
	case 0:
		g.element(depth, g.one("mi", "mo", "mn", "ms", "mtext"), g.phrase)
	case 1:
		g.element(depth, g.one("mrow", "msup", "semantics", "xmp", "style"), g.formula, g.link(g.one("href", "xlink:href")))
	case 2:
		g.element(depth, "annotation-xml", g.flow, g.attr("encoding", g.one("text/html", "application/xhtml+xml", "TEXT/HTML")))
	case 3:
		g.element(depth, "annotation-xml", func(d int) {
			if g.chance(30) {
				g.svg(d)
			} else {
				g.formula(d)
			}
		}, g.attr("encoding", g.one("MathML-Content", "x", "")))
	case 4:
		g.element(depth, "mtext", func(int) { g.selfClosed(g.one("mglyph", "malignmark"), g.link("href")) })
	case 5:
		g.b.WriteString("<![CDATA[" + g.one("<a href=no>", "x") + "]]>")
	case 6:
		g.selfClosed(g.one("mspace", "title", "style"))
	default:
		g.b.WriteString(g.text())
	}
}

// document writes a whole document.
func (g *generator) document() string {
	g.b.WriteString(g.one("<!doctype html>", "<!DOCTYPE html>\n", "", "<!doctype html SYSTEM 'about:legacy-compat'>"))
	if g.chance(80) {
		g.open("html", g.one("", " lang=en"))
		g.open("head")
		if g.chance(80) {
			g.open("title")
			g.b.WriteString(g.text() + g.text())
			g.b.WriteString("</title>")
		}
		for range g.IntN(4) {
			switch g.IntN(6) {
			case 0:
				g.open("link", g.attr("rel", g.one("next", "PREV", "up contents", "stylesheet", "alternate stylesheet", "amphtml", "preconnect", "icon")), g.link("href"))
			case 1:
				g.open("meta", g.attr("http-equiv", "refresh"), g.attr("content", "5;url="+g.url()))
			case 2:
				g.raw(g.one("script", "style"))
			case 3:
				g.open("base", g.link("href"))
			case 4:
				g.element(5, "noscript", func(int) { g.open("link", g.attr("rel", "next"), g.link("href")) })
			case 5:
				g.b.WriteString("<template>")
				g.open("base", g.link("href"))
				g.b.WriteString("</template>")
			}
		}
		g.close("head")
		g.open("body", g.link("background"))
	}
	for range 1 + g.IntN(6) {
		g.flow(0)
	}
	if g.chance(30) {
		g.b.WriteString(g.one("<form action=last1>", "<form method=post action=last2>", "<FORM METHOD=get ACTION='last3'>"))
	}
	return g.b.String()
}

var encodings = []struct {
	name  string
	chars []string
}{
	{"utf-8", []string{"é", "日本", "€", "\U0001F600", "z"}},
	{"windows-1252", []string{"é", "ü", "€", "z"}},
	{"windows-1251", []string{"Москва", "ж", "z"}},
	{"iso-8859-2", []string{"ł", "ő", "z"}},
	{"shift_jis", []string{"日本", "表", "ソ", "z"}},
	{"gbk", []string{"中文", "丂", "z"}},
	{"euc-kr", []string{"한국", "z"}},
	{"big5", []string{"中文", "功", "z"}},
}

func generate(seed uint64) (doc, charset string) {
	r := rand.New(rand.NewPCG(seed, 7))
	e := encodings[r.IntN(len(encodings))]
	g := &generator{Rand: r, broken: seed%3 == 0, chars: e.chars}
	return g.document(), e.name
}

// Generated documents give the same links, base and title to the scanner as to a full tree builder.
func TestGenerated(t *testing.T) {
	judged, shown := 0, 0
	for seed := *first; seed < *first+uint64(*documents); seed++ {
		doc, charset := generate(seed)
		o := Options{Resources: seed%2 == 0}
		diff, ok := differs(doc, charset, o)
		if !ok {
			continue
		}
		judged++
		if diff != "" {
			small := minimise(doc, func(d string) bool { s, ok := differs(d, charset, o); return ok && s == diff })
			t.Errorf("document %d (%s, resources %v): %s in %q", seed, charset, o.Resources, diff, small)
			if shown++; shown == 10 {
				break
			}
		}
	}
	t.Logf("%d documents of %d judged", judged, *documents)
	if judged < *documents*9/10 {
		t.Errorf("only %d documents of %d could be judged", judged, *documents)
	}
}

// What the scanner finds a refresh in may have one, and hardly anything else.
func TestMayRefresh(t *testing.T) {
	has, may := 0, 0
	for seed := *first; seed < *first+uint64(*documents); seed++ {
		doc, _ := generate(seed)
		var p Page
		Scan([]byte(doc), Options{}, &p)
		refreshes := p.Reload || slices.ContainsFunc(p.Links, func(l Link) bool { return l.Kind == Refresh })
		if refreshes {
			has++
		}
		if MayRefresh([]byte(doc)) {
			may++
		} else if refreshes {
			t.Fatalf("document %d: it has none: %q", seed, doc)
		}
	}
	if has == 0 || may > 2*has {
		t.Errorf("%d documents of %d have one, %d may", has, *documents, may)
	}
	for doc, want := range map[string]bool{
		"":                      false,
		"<meta http-eq":         false,
		"<META HTTP-EQUIV=REFR": false,
		"quick <p>refresh q":    false,
		"<META HTTP-EQUIV\n= \"ReFresh\" content=1>":              true,
		"<meta http-equiv=content-type><meta http-equiv=refresh>": true,
	} {
		if got := MayRefresh([]byte(doc)); got != want {
			t.Errorf("%q: %v", doc, got)
		}
	}
}

// xhtml writes a well-formed document of XHTML, SVG, MathML and others, with namespaces in all ways.
type xhtml struct {
	*rand.Rand
	b     strings.Builder
	n     int
	chars []string
}

func (g *xhtml) one(list ...string) string { return list[g.IntN(len(list))] }

func (g *xhtml) attr(name string) string {
	g.n++
	v := fmt.Sprintf("u%d", g.n) + g.one("", "?a&amp;b", "caf&#233;", "&eacute;", "?&#x20AC;", "&lt;", "&amp;copy;", "&#x80;", g.one(g.chars...), "?"+g.one(g.chars...))
	q := g.one(`"`, "'")
	return g.one(" ", "\n ", "\t") + name + g.one("=", " = ", "=\n") + q + g.one("", " ", "\n") + v + g.one("", "\t") + q
}

// element writes an element whose name has the prefix of space in scope.
func (g *xhtml) element(depth int, prefixes map[string]string) {
	space := g.one(uriHTML, uriHTML, uriHTML, uriSVG, uriMath, "urn:other")
	names := map[string][]string{
		uriHTML: {"a", "p", "div", "A", "script", "style", "textarea", "iframe", "img", "blockquote", "link", "form", "table", "br", "input"},
		uriSVG:  {"svg", "a", "title", "style", "image", "use", "foreignObject", "g"},
		uriMath: {"math", "mi", "mtext", "annotation-xml"}, "urn:other": {"a", "link", "title", "html"},
	}[space]
	name := g.one(names...)
	mine := map[string]string{}
	for p, u := range prefixes {
		mine[p] = u
	}
	prefix, decl, known := "", "", false
	for _, p := range []string{"", "h", "s", "x"} {
		if mine[p] == space {
			prefix, known = p, true
		}
	}
	if !known || g.IntN(10) == 0 {
		prefix = g.one("", "h", "s", "x")
		mine[prefix] = space
		decl = " xmlns" + strings.Replace(":"+prefix, ":", map[bool]string{true: "", false: ":"}[prefix == ""], 1) + `="` + space + `"`
	}
	tag := strings.TrimPrefix(prefix+":"+name, ":")
	attrs := ""
	for _, a := range []string{"href", "src", "xlink:href", "cite", "action", "HREF"} {
		if g.IntN(3) == 0 {
			attrs += g.attr(a)
		}
	}
	if g.IntN(4) == 0 {
		g.n++
		attrs += fmt.Sprintf(` %s="url(u%d)"`, g.one("fill", "mask", "filter", "x"), g.n)
	}
	if name == "link" {
		attrs += g.one(` rel="next"`, ` rel='stylesheet'`, "")
	}
	if g.IntN(2) == 0 {
		attrs, decl = decl, attrs
	}
	if g.IntN(4) == 0 || depth > 6 {
		g.b.WriteString("<" + tag + attrs + decl + g.one("/>", " />", "\n/>"))
		return
	}
	g.b.WriteString("<" + tag + attrs + decl + g.one(">", " >"))
	for range g.IntN(4) {
		g.content(depth+1, mine)
	}
	g.b.WriteString("</" + tag + g.one(">", " >"))
}

func (g *xhtml) content(depth int, prefixes map[string]string) {
	switch g.IntN(9) {
	case 0:
		g.b.WriteString(g.one("text", "&amp;", "&nbsp;", "&#8364;", "\n") + g.one(g.chars...))
	case 1:
		g.b.WriteString("<!-- <a href=\"no\"/> & -->")
	case 2:
		g.b.WriteString("<![CDATA[ <a href=\"no\"> </p> & ]] > ]]>")
	case 3:
		g.b.WriteString("<?pi <a href=\"no\"/> ?>")
	default:
		g.element(depth, prefixes)
	}
}

func generateXHTML(seed uint64) (doc, charset string) {
	r := rand.New(rand.NewPCG(seed, 11))
	e := encodings[r.IntN(len(encodings))]
	g := &xhtml{Rand: r, chars: e.chars}
	g.b.WriteString(g.one("", "<?xml version=\"1.0\" encoding=\""+e.name+"\"?>\n"))
	g.b.WriteString(g.one("", "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"x.dtd\">", "<!DOCTYPE html [ <!-- <a> ]> --> <!ENTITY unused '\">'> ]>"))
	g.b.WriteString(`<html xmlns:xlink="http://www.w3.org/1999/xlink" xmlns="` + uriHTML + `"><head>` + g.one("<title>T &amp; "+g.chars[0]+"</title>", "<title/>", "") + "</head><body>")
	for range 1 + g.IntN(6) {
		g.content(1, map[string]string{"": uriHTML})
	}
	g.b.WriteString("</body></html>\n")
	return g.b.String(), e.name
}

// Generated XHTML gives the same links and title to the scanner as to an XML parser.
func TestGeneratedXHTML(t *testing.T) {
	shown := 0
	for seed := *first; seed < *first+uint64(*documents); seed++ {
		doc, charset := generateXHTML(seed)
		o := Options{Resources: seed%2 == 0}
		differ := func(doc string) string {
			want := builder{o: o, charset: charset}
			if err := want.xhtml([]byte(doc)); err != nil {
				return "not well-formed: " + err.Error()
			}
			e, err := htmlindex.Get(charset)
			if err != nil {
				t.Fatal(err)
			}
			body, err := e.NewEncoder().Bytes([]byte(doc))
			if err != nil {
				return ""
			}
			return want.diff(scanned(body, charset, o, ScanXML))
		}
		if diff := differ(doc); diff != "" {
			small := minimise(doc, func(d string) bool { return differ(d) == diff })
			t.Errorf("document %d (%s, resources %v): %s in %q", seed, charset, o.Resources, diff, small)
			if shown++; shown == 10 {
				return
			}
		}
	}
}

// minimise removes pieces of a document as long as it stays wrong.
func minimise(doc string, wrong func(string) bool) string {
	for size := len(doc) / 2; size > 0; size /= 2 {
		for i := 0; i+size <= len(doc); {
			if d := doc[:i] + doc[i+size:]; wrong(d) {
				doc = d
			} else {
				i += size
			}
		}
	}
	return doc
}
