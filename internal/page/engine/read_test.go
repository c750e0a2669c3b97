package engine

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"

	"argosy/internal/crawl"
)

const at = "http://e.example/s?q=x&p=1"

func page(body string) Answer {
	return Answer{URL: at, Status: 200, Type: "text/html; charset=utf-8", Body: []byte(body)}
}

func urls(r Reading) (out []string) {
	for _, one := range r.Results {
		out = append(out, one.URL)
	}
	return out
}

// The same results are found by every language.
func TestLanguages(t *testing.T) {
	const html = `<p>About 1,234 hits</p><ol><li><h3><a href="/1?a=1&amp;b=2">One  <b>1</b></a></h3><i>first</i></li><li><h3><a href="http://o.example/2">Two</a></h3><i>second</i></li>
<li><h3><a href="javascript:x">Three</a></h3></li><li>none</li><li><h3><a href="/1?a=1&amp;b=2#again">Again</a></h3></li></ol><a rel=next href="?q=x&amp;p=2">next</a>`
	want := Reading{Verdict: Found, Stated: crawl.Stated{N: 1234, Kind: crawl.StatedEstimate}, Dropped: 2, Next: "http://e.example/s?q=x&p=2", Results: []Result{
		{"http://e.example/1?a=1&b=2", "One 1", "first"}, {"http://o.example/2", "Two", "second"},
	}}
	for name, c := range map[string]struct {
		e    Engine
		body string
	}{
		"css": {Engine{
			Results: Results{Item: Selector{CSS: "ol > li"}, Link: Selector{CSS: "h3 a", Attr: "href"}, Title: Selector{CSS: "h3"}, Text: Selector{CSS: "i"}},
			Next:    Selector{CSS: "a[rel=next]", Attr: "href"}, Stated: Stated{At: Selector{CSS: "p"}, Estimate: "(?i)about"},
		}, html},
		"xpath": {Engine{
			Results: Results{Item: Selector{XPath: "//ol/li"}, Link: Selector{XPath: ".//a/@href"}, Title: Selector{XPath: "string(h3)"}, Text: Selector{XPath: "i"}},
			Next:    Selector{XPath: "//a[@rel='next']/@href"}, Stated: Stated{At: Selector{XPath: "//p"}, Estimate: "(?i)about"},
		}, html},
		"xml": {Engine{
			Format: "xml", Results: Results{Item: Selector{XPath: "//li"}, Link: Selector{XPath: ".//a/@href"}, Title: Selector{XPath: "h3"}, Text: Selector{XPath: "i"}},
			Next: Selector{XPath: "//a[@rel='next']/@href"}, Stated: Stated{At: Selector{XPath: "/x/o:p"}, Kind: "estimate"},
		}, `<?xml version="1.0"?><x xmlns:o="urn:o">` + strings.NewReplacer("<p>", "<o:p>", "</p>", "</o:p>", "rel=next", `rel="next"`).Replace(html) + "</x>"},
		"regex": {Engine{
			Results: Results{Item: Selector{Regex: "(?s)<li>.*?</li>"}, Link: Selector{Regex: `href="([^"]*)`}, Title: Selector{Regex: "<h3><a[^>]*>(One|Two)", Make: ""}, Text: Selector{Regex: "<i>(.*)</i>"}},
			Next:    Selector{Regex: `rel=next href="([^"]*)"`}, Stated: Stated{At: Selector{Regex: "About [0-9,]* hits"}, Estimate: "(?i)about"},
		}, strings.ReplaceAll(strings.ReplaceAll(html, "&amp;", "&"), "One  <b>1</b>", "One")},
		"json": {Engine{
			Format: "json", Results: Results{Item: Selector{JSON: "$.r[*]"}, Link: Selector{JSON: "$.u"}, Title: Selector{JSON: "$.t"}, Text: Selector{JSON: "$.x"}},
			Next: Selector{JSON: "$.next", Set: "p"}, Stated: Stated{At: Selector{JSON: "$.n"}, Kind: "estimate"},
		}, `{"n": 1234, "next": 2, "r": [{"u": "/1?a=1&b=2", "t": "One 1", "x": "first"}, {"u": "http://o.example/2", "t": "Two", "x": "second"}, {"u": "javascript:x"}, {"u": null}, {"u": "/1?a=1&b=2"}]}`},
	} {
		got := ready(t, c.e).Read(page(c.body), false)
		if name == "regex" {
			got.Results[0].Title += " 1"
		}
		if name == "json" {
			got.Next = strings.Replace(got.Next, "p=2&q=x", "q=x&p=2", 1)
		}
		if fmt.Sprintf("%+v", got) != fmt.Sprintf("%+v", want) {
			t.Errorf("%s:\n%+v\nwant\n%+v", name, got, want)
		}
	}
}

// Addresses that lead through the engine are undone, those made of a value are made, a base element counts.
func TestLinks(t *testing.T) {
	for _, c := range []struct {
		r    Results
		body string
		want string
	}{
		{Results{Link: anyLink.Link, Unwrap: []Unwrap{{Match: `[?&]uddg=([^&]+)`, Decode: "percent"}}}, `<a href="//d.example/l/?uddg=https%3A%2F%2Fo.example%2Fa%3Fb&rut=1">`, "[https://o.example/a?b]"},
		{Results{Link: anyLink.Link, Unwrap: []Unwrap{{Match: `[?&]u=a1([^&]+)`, Decode: "base64"}}}, `<a href="/ck/a?u=a1aHR0cHM6Ly9vLmV4YW1wbGUv&x=1"><a href="http://p.example/">`, "[https://o.example/ http://p.example/]"},
		{Results{Item: Selector{CSS: "div"}, Link: Selector{Attr: "mu"}}, `<div mu="http://o.example/1"></div><div></div>`, "[http://o.example/1]"},
		{Results{Link: Selector{CSS: "b", Make: "index.php?title={value}"}}, `<b>Ä & b</b>`, "[http://e.example/index.php?title=%C3%84+%26+b]"},
		{Results{Link: Selector{CSS: "b", Make: "index.php?title={value}", Space: "_"}}, `<b>Ä & b</b>`, "[http://e.example/index.php?title=%C3%84_%26_b]"},
		{Results{Link: Selector{CSS: "b", Match: "id=([0-9]+)", Make: "/x/{value}"}}, `<b>id=7</b><b>no</b>`, "[http://e.example/x/7]"},
		{Results{Link: anyLink.Link}, `<base href="http://f.example/d/"><a href=x>`, "[http://f.example/d/x]"},
		{Results{Any: true}, `<a href="/more"><a href="http://o.example/1"><a href="http://o.example/1#x"><a href="mailto:x@y.example"><a name=x>`, "[http://o.example/1]"},
	} {
		got := ready(t, Engine{Results: c.r}).Read(page(c.body), false)
		if fmt.Sprint(urls(got)) != c.want || got.Verdict != Found {
			t.Errorf("%s: %+v, want %s", c.body, got, c.want)
		}
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]crawl.Stated{
		"45": {N: 45, Kind: crawl.StatedExact}, "Results 1 – 20 of 1,234": {N: 1234, Kind: crawl.StatedExact}, "1.234.567 Ergebnisse": {N: 1234567, Kind: crawl.StatedExact}, "12\u00a0345 résultats": {N: 12345, Kind: crawl.StatedExact}, "1'000": {N: 1000, Kind: crawl.StatedExact},
		"约1,230,000个": {N: 1230000, Kind: crawl.StatedEstimate}, "About 20 results (0.3 s)": {N: 20, Kind: crawl.StatedEstimate}, "1.2万条": {N: 12000, Kind: crawl.StatedEstimate}, "3亿": {N: 300_000_000, Kind: crawl.StatedEstimate}, "12.5K posts": {N: 12500, Kind: crawl.StatedEstimate},
		"more than 1,000": {N: 1000, Kind: crawl.StatedMore}, "no number": {N: 0, Kind: crawl.StatedMissing}, "99999999999999999999": {N: 0, Kind: crawl.StatedMissing}, "0": {N: 0, Kind: crawl.StatedExact}, "12,34,567": {N: 1234567, Kind: crawl.StatedExact}, "5 million": {N: 5e6, Kind: crawl.StatedEstimate}, "1.5 Mio. Treffer": {N: 15e5, Kind: crawl.StatedEstimate}, "5 millionaires": {N: 5, Kind: crawl.StatedExact}, "1 200 results": {N: 1200, Kind: crawl.StatedExact}, "12 345kr": {N: 12345, Kind: crawl.StatedExact}, "about 1 234 567": {N: 1234567, Kind: crawl.StatedEstimate}, "1,000,000,000,000": {N: 1e12, Kind: crawl.StatedExact}, "23 results of model 3e5, -7 degrees": {N: 23, Kind: crawl.StatedExact}, "7 km": {N: 7, Kind: crawl.StatedExact},
		"3 tis. výsledků": {N: 3000, Kind: crawl.StatedEstimate}, "3,5 tys. wyników": {N: 3500, Kind: crawl.StatedEstimate}, "12 тыс. ответов": {N: 12000, Kind: crawl.StatedEstimate}, "2 млн": {N: 2e6, Kind: crawl.StatedEstimate}, "3 tisknout": {N: 3, Kind: crawl.StatedExact},
	} {
		e := ready(t, Engine{Results: anyLink, Stated: Stated{At: Selector{CSS: "p", Match: `(?:^Results .* of )?(\d.*)`}, Estimate: "(?i)about|约", More: "more than"}})
		got := e.Read(page("<p>"+text+"</p><a href=/1>"), false).Stated
		if got != want {
			t.Errorf("%q: %v %v, want %v %v", text, got.N, got.Kind, want.N, want.Kind)
		}
	}
	for _, text := range []string{"-7", "1e30", "1E+2", "12 3456", "1,2345", "1.2.3", "5 10 results", "about −3", "1000000000001", "9000000000000000000", "900,000,000,000亿", "99999999999999999999M"} {
		e := ready(t, Engine{Results: anyLink, Stated: Stated{At: Selector{CSS: "p"}}})
		if got := e.Read(page("<p>"+text+"</p><a href=/1>"), false).Stated; got.Kind != crawl.StatedMissing {
			t.Errorf("%q: %v %v", text, got.N, got.Kind)
		}
	}
	for _, c := range []struct {
		n     crawl.Stated
		had   int64
		share float64
		known bool
	}{{crawl.Stated{N: 10, Kind: crawl.StatedExact}, 5, 0.5, true}, {crawl.Stated{N: 10, Kind: crawl.StatedEstimate}, 12, 1, true}, {crawl.Stated{N: 0, Kind: crawl.StatedExact}, 0, 0, false}, {crawl.Stated{N: 0, Kind: crawl.StatedEstimate}, 5, 0, false}, {crawl.Stated{N: 10, Kind: crawl.StatedMore}, 5, 0, false}, {crawl.Stated{N: 0, Kind: crawl.StatedMissing}, 5, 0, false}} {
		if share, known := c.n.Completion(c.had, c.had); share != c.share || known != c.known {
			t.Errorf("%v of %v: %v, %v", c.had, c.n, share, known)
		}
	}
}

// Each way in which a search can fail has its verdict and says why.
func TestVerdicts(t *testing.T) {
	e := Engine{
		Results: Results{Item: Selector{CSS: "li"}, Link: Selector{CSS: "a", Attr: "href"}}, Stated: Stated{At: Selector{CSS: "#n"}},
		Empty:   []Sign{{At: Selector{CSS: ".none"}}},
		Blocked: []Sign{{At: Selector{CSS: "#captcha"}, Says: "it asks for a captcha"}, {Location: "/sorry/"}, {Status: 202, At: Selector{Regex: "wait"}}},
	}
	for _, c := range []struct {
		a     Answer
		later bool
		want  Verdict
		says  string
	}{
		{page("<b id=n>1</b><li><a href=/1>"), false, Found, ""},
		{page("<b id=n>0</b>"), false, Empty, "no results"},
		{page("<p class=none>"), false, Empty, "no results"},
		{page("<p class=none>"), true, Empty, "no more results"},
		{page("<b id=n>12</b><div>"), false, Changed, "12 results stated, none found in the answer"},
		{page("<b id=n>12</b><div>"), true, Empty, "no more results"},
		{page("<b id=n>12</b><li>x<li><a href='javascript:'>"), false, Changed, "2 results, none with an address that can be fetched"},
		{page("<p>hello"), false, Changed, "neither results nor what an answer without results has"},
		{page("<p id=captcha>"), false, Blocked, "it asks for a captcha"},
		{Answer{URL: "http://e.example/sorry/index", Status: 200, Body: []byte("<li><a href=/1>")}, false, Blocked, `the answer came from an address like "/sorry/"`},
		{Answer{URL: at, Status: 202, Body: []byte("please wait")}, false, Blocked, `the answer has regex "wait"`},
		{Answer{URL: at, Status: 202, Body: []byte("ok")}, false, Failed, "answered 202"},
		{Answer{URL: at, Status: 429}, false, Blocked, "answered 429 Too Many Requests"},
		{Answer{URL: at, Status: 403, Body: []byte("<b id=captcha>")}, false, Blocked, "it asks for a captcha"},
		{Answer{URL: at, Status: 500}, false, Failed, "answered 500 Internal Server Error"},
		{Answer{URL: "nowhere", Status: 200}, false, Failed, `"nowhere" is not an address`},
	} {
		if got := ready(t, e).Read(c.a, c.later); got.Verdict != c.want || got.Reason != c.says {
			t.Errorf("%.30s: %s %q, want %s %q", c.a.Body, got.Verdict, got.Reason, c.want, c.says)
		}
	}
	for format, body := range map[string]string{"json": "<html>", "xml": "<a><b></a>"} {
		r := ready(t, Engine{Format: format, Results: Results{Link: Selector{Regex: "x"}}})
		if got := r.Read(page(body), false); got.Verdict != Failed || !strings.Contains(got.Reason, "not "+strings.ToUpper(format)) {
			t.Errorf("%s: %+v", format, got)
		}
	}
}

// Answers in other encodings are read in them.
func TestAnswerEncodings(t *testing.T) {
	for _, c := range []struct{ format, kind, body string }{
		{"html", "text/html; charset=gbk", "<li>\xc5\xa3\xc4\xcc<a href=/1></a>"},
		{"html", "text/html", "<meta charset=gbk><li>\xc5\xa3\xc4\xcc<a href=/1></a>"},
		{"html", "text/html; charset=shift_jis", "<li>\x8b\x8d\x93\xfb<a href=/1></a>"},
		{"xml", "application/xml", "<?xml version='1.0' encoding='gbk'?><li>\xc5\xa3\xc4\xcc<a href='/1'></a></li>"},
	} {
		r := ready(t, Engine{Format: c.format, Results: Results{Item: Selector{XPath: "//li"}, Link: Selector{XPath: "a/@href"}, Title: Selector{XPath: "text()"}}})
		got := r.Read(Answer{URL: at, Status: 200, Type: c.kind, Body: []byte(c.body)}, false)
		if len(got.Results) != 1 || got.Results[0].Title != "牛奶" && got.Results[0].Title != "牛乳" {
			t.Errorf("%s: %+v", c.kind, got)
		}
	}
}

// An answer that is made to cost much is refused, by what it is, not by a clock.
func TestLongHostile(t *testing.T) {
	var bold strings.Builder
	for i := range 480 {
		fmt.Fprintf(&bold, "<b a=%d>", i)
	}
	var attributes strings.Builder
	for i := range 20_000 {
		fmt.Fprintf(&attributes, " a%d", i)
	}
	css := Engine{Results: anyLink}
	slow := Engine{Results: Results{Link: Selector{XPath: "//a[count(//a[count(//a) > 1]) > 1]/@href"}}}
	list := Engine{Format: "json", Results: Results{Link: Selector{JSON: "$..u"}}}
	feed := Engine{Format: "xml", Results: Results{Link: Selector{XPath: "//a"}}}
	for name, c := range map[string]struct {
		e    Engine
		body string
	}{
		"too long": {css, strings.Repeat("x", MaxAnswer+1)}, "deep": {css, strings.Repeat("<div>", 5000)},
		"formatting":           {css, bold.String() + strings.Repeat("<p>x", 100_000)},
		"formatting in cells":  {css, bold.String() + "<table><tr><td>" + strings.Repeat("</b>", 480) + "</table>" + strings.Repeat("<p>x", 100_000)},
		"formatting in select": {css, bold.String() + "<select>" + strings.Repeat("</b>", 480) + "</select>" + strings.Repeat("<p>x", 100_000)},
		"children":             {css, strings.Repeat("<br>", maxChildren+1)}, "nodes": {css, strings.Repeat("<i><br></i><p></p>", maxNodes/3)},
		"steps": {slow, strings.Repeat("<a href=/1>x</a>", 400)}, "deep json": {list, strings.Repeat("[", 9000) + strings.Repeat("]", 9000)},
		"deeper json": {list, strings.Repeat("[", 2_000_000)}, "values": {list, "[" + strings.Repeat("1,", maxNodes) + "1]"},
		"attributes":    {css, "<div><b" + attributes.String() + "></div>" + strings.Repeat("<div>x</div>", 3000)},
		"nth of many":   {Engine{Results: Results{Link: Selector{CSS: "div:nth-child(2n) p:nth-last-child(2n+1):nth-of-type(3n+1)"}}}, strings.Repeat("<div>"+strings.Repeat("<p>", 9000)+"</div>", 10)},
		"texts":         {Engine{Results: Results{Link: Selector{CSS: "div:contains('zz'):contains('y')"}}}, strings.Repeat("<div>", 450) + strings.Repeat("text<i></i>", 90_000)},
		"source again":  {Engine{Results: Results{Item: Selector{CSS: "div"}, Link: Selector{Regex: "zz"}}}, strings.Repeat("<div>", 450) + strings.Repeat("x", 3_000_000)},
		"large program": {Engine{Results: Results{Link: Selector{Regex: "(?s)(?:[a-z]{0,90}){4}Q"}}}, strings.Repeat("x", 4_000_000)},
		"many matches":  {Engine{Results: Results{Item: Selector{CSS: "i"}, Link: Selector{XPath: "//b/@a", Match: "(?s)(?:[a-z]{0,90}){4}Q"}}}, strings.Repeat("<i></i>", 900) + "<b a=" + strings.Repeat("x", 1_000_000) + ">"},
		"values again":  {Engine{Format: "json", Results: Results{Link: Selector{JSON: "$" + strings.Repeat("[*,*]", 30)}}}, strings.Repeat("[", 40) + strings.Repeat("]", 40)},
		"deep again":    {Engine{Format: "json", Results: Results{Link: Selector{JSON: "$..*..*..*"}}}, strings.Repeat("[1,", 450) + "1" + strings.Repeat("]", 450)},
		"filters":       {Engine{Format: "json", Results: Results{Link: Selector{JSON: "$..[?@[*][*] && $.x[0] == 1]"}}}, `{"x": [` + strings.Repeat("[[1]],", 30_000) + "1]}"},
		"deep xml":      {feed, strings.Repeat("<a>", 600) + strings.Repeat("</a>", 600)}, "xml nodes": {feed, "<r>" + strings.Repeat("<a/>", maxNodes) + "</r>"},
	} {
		if got := ready(t, c.e).Read(page(c.body), false); got.Verdict != Failed {
			t.Errorf("%s: %s %s, %d results", name, got.Verdict, got.Reason, len(got.Results))
		}
	}
	nested := strings.Repeat(strings.Repeat("<div><i></i>", 450)+"<a href=/x>x</a>"+strings.Repeat("</div>", 450), 110)
	for name, c := range map[string]struct {
		e    Engine
		body string
	}{
		"descendants": {Engine{Results: Results{Link: Selector{CSS: "#main div div div div a"}}}, nested},
		"has in has":  {Engine{Results: Results{Link: Selector{CSS: "div:has(div:has(div:has(div:has(div:has(b)))))"}}}, nested},
		"siblings":    {Engine{Results: Results{Link: Selector{CSS: "p ~ p ~ p ~ p ~ p ~ b ~ i"}}}, strings.Repeat("<p></p>", 9000) + "<i></i>"},
		"items":       {Engine{Results: Results{Item: Selector{CSS: "div"}, Link: Selector{Attr: "class"}, Title: Selector{CSS: "i"}, Text: Selector{XPath: "p"}}}, nested},
	} { // these are read, for they need not cost much
		if got := ready(t, c.e).Read(page(c.body), false); got.Verdict == Failed {
			t.Errorf("%s: %s %s", name, got.Verdict, got.Reason)
		}
	}
	many := ready(t, css).Read(page("<ul>"+strings.Repeat("<li><a href=/1>", 100)+"</ul>"+bold.String()), false)
	if many.Verdict != Found {
		t.Errorf("an honest page: %+v", many.Reason)
	}
	var results strings.Builder
	for i := range MaxResults + 50 {
		fmt.Fprintf(&results, "<p><a href=/%d>x</a></p>", i)
	}
	if got := ready(t, css).Read(page(results.String()), false); len(got.Results) != MaxResults {
		t.Errorf("%d results", len(got.Results))
	}
}

// A selector that could cost without bounds whatever the answer is refused with the entry.
func TestRefusedSelectors(t *testing.T) {
	for _, c := range []struct {
		s    Selector
		says string
	}{
		{Selector{CSS: "p:matches((x+x+)+y)"}, "use match"}, {Selector{CSS: "a[href#=(x)]"}, "use match"}, {Selector{CSS: "p:not(:matchesOwn(x))"}, "use match"},
		{Selector{XPath: "replace(//a, 'a', 'aaaa')"}, "XPath 1.0 has no replace()"}, {Selector{XPath: "//a[matches (., 'x')]"}, "XPath 1.0 has no matches()"},
		{Selector{JSON: "$..[?search(@.u, 'x')]"}, `a filter with "search("`}, {Selector{JSON: "$.a[?@..b]"}, `a filter with ".."`}, {Selector{JSON: "$.a[?@[?@.b]]"}, `a filter with "?"`},
		{Selector{Regex: "(x|y|z){900}"}, "too large"}, {Selector{CSS: "a", Match: "(?:[a-z]{0,600}){1}[0-9]{600}"}, "too large"},
	} {
		format := "html"
		if c.s.JSON != "" {
			format = "json"
		}
		if _, err := c.s.read(format, false); err == nil || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%+v: %v", c.s, err)
		}
	}
	for _, ok := range []Selector{
		{XPath: "//li[contains(@class, 'replace(x)') and position() < last()]/text()"}, {XPath: "//a[not(@x) or (@y)]/.."}, {Regex: `(?i)\p{L}{1,20}[^"]+`},
		{CSS: `a[title="x, y > (z)"]:not(.b > i, [c~='d:e']):has(> i)`}, {CSS: `#a\:b.c\,d`},
	} {
		if _, err := ok.read("html", false); err != nil && !strings.Contains(ok.CSS, "has(>") {
			t.Errorf("%+v: %v", ok, err)
		}
	}
}

// CSS selectors find what cascadia finds, in any tree and within any element.
func TestCSS(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	var tree, compound, group func(deep int) string
	tree = func(deep int) (out string) {
		for range r.IntN(4) {
			tag := pick("div", "p", "i", "li", "x")
			out += fmt.Sprintf("<%s class='%s' id=%s>%s", tag, pick("a", "b", "a b"), pick("u", "v"), pick("", "t", "<!--c-->", "a, b"))
			if deep > 0 {
				out += tree(deep - 1)
			}
			out += "</" + tag + ">" + pick("", " ", "text")
		}
		return out
	}
	compound = func(deep int) string {
		out := pick("div", "p", "*", ".a", ".b", "#u", "[class~=b]", `[class="a b"]`, "i.a", "x:first-child", "p:nth-child(2n + 1)", ":last-child", "li:nth-of-type(2)", ":empty", ":only-child", "p:contains('a, b')")
		if deep > 0 && r.IntN(3) == 0 {
			out += pick(":not(", ":has(", ":haschild(") + group(deep-1) + ")" + pick("", ".a")
		}
		return out
	}
	group = func(deep int) string {
		out := compound(deep)
		for range r.IntN(4) {
			out += pick(" ", ">", " > ", "~", " + ", ", ", " /* > */ ") + compound(deep)
		}
		return out
	}
	for range 3000 {
		text := group(2)
		s, err := Selector{CSS: text}.read("html", false)
		if err != nil {
			if strings.Contains(text, "/*") {
				continue
			}
			t.Fatalf("%s: %v", text, err)
		}
		d, err := open("html", []byte(tree(4)), "text/html")
		if err != nil {
			t.Fatal(err)
		}
		within := d.tree
		if all := cascadia.QueryAll(d.tree, cascadia.MustCompile("*")); r.IntN(2) == 0 {
			within = all[r.IntN(len(all))]
		}
		var got []*html.Node
		for _, f := range d.query(s, within) {
			got = append(got, f.node)
		}
		want := slices.DeleteFunc(cascadia.QueryAll(within, cascadia.MustCompile(text)), func(n *html.Node) bool { return n.Type != html.ElementNode })
		if !slices.Equal(got, want) {
			t.Fatalf("%s: %d, want %d", text, len(got), len(want))
		}
	}
}

// What an object holds is found in one order, whatever the order in memory.
func TestJSONOrder(t *testing.T) {
	e := ready(t, Engine{Format: "json", Results: Results{Link: Selector{JSON: "$..u"}}})
	for range 20 {
		got := e.Read(page(`{"c": {"u": "/3"}, "a": {"u": "/1"}, "b": [{"u": "/2"}, {"v": 1}]}`), false)
		if fmt.Sprint(urls(got)) != "[http://e.example/1 http://e.example/2 http://e.example/3]" {
			t.Fatal(urls(got))
		}
	}
	filter := ready(t, Engine{Format: "json", Results: Results{Link: Selector{JSON: `$.r[?@.kind == "?.." && count(@.x[*]) > 1].u`}}})
	if got := filter.Read(page(`{"r": [{"u": "/1", "kind": "?..", "x": [1, 2]}, {"u": "/2", "x": [1, 2]}, {"u": "/3", "kind": "?..", "x": [1]}]}`), false); fmt.Sprint(urls(got)) != "[http://e.example/1]" {
		t.Errorf("%+v", got)
	}
}

// No answer makes the reader panic.
func FuzzRead(f *testing.F) {
	f.Add("<ul><li><a href=/1>x</a></ul>", uint8(0))
	f.Add(`{"a": [{"u": "/1"}], "n": 3}`, uint8(1))
	f.Add(`<?xml version="1.0"?><a x="1"><b:c>&lt;</b:c></a>`, uint8(2))
	engines := make([]*Ready, 3)
	for i, e := range []Engine{
		{Results: Results{Item: Selector{CSS: "li, tr:nth-child(2n+1)"}, Link: Selector{XPath: ".//a/@href | ../a"}}, Next: Selector{CSS: "a:last-child", Attr: "href"}, Stated: Stated{At: Selector{XPath: "count(//li)"}}},
		{Format: "json", Results: Results{Item: Selector{JSON: "$..a[?@.u]"}, Link: Selector{JSON: "$.u"}}, Stated: Stated{At: Selector{JSON: "$.n"}}},
		{Format: "xml", Results: Results{Link: Selector{XPath: "//@x"}}, Stated: Stated{At: Selector{XPath: "//b:c[last()]"}}},
	} {
		e.Name, e.URL = "e", "http://e.example/?q={query}"
		c, err := Open([]Engine{e})
		if err != nil {
			f.Fatal(err)
		}
		engines[i], _ = c.Get("e")
	}
	f.Fuzz(func(t *testing.T, body string, which uint8) {
		r := engines[int(which)%len(engines)].Read(page(body), false)
		if (r.Verdict == Found) != (len(r.Results) > 0) {
			t.Errorf("%+v", r)
		}
		for _, one := range r.Results {
			if u, err := crawl.Parse(one.URL); err != nil || u.String() != one.URL {
				t.Errorf("%q is not canonical: %v", one.URL, err)
			}
		}
		seen := urls(r)
		slices.Sort(seen)
		if len(slices.Compact(seen)) != len(r.Results) {
			t.Errorf("an address twice: %v", seen)
		}
	})
}
