package engine_test

import (
	"fmt"
	"strings"
	"testing"

	"argosy/internal/config"
	"argosy/internal/page/engine"
)

// sample is an answer of a shipped engine, cut down to what matters; those of programs are their own, those of public engines are
// written after their documentation.
type sample struct {
	asked  string // address of a search for "a b" on the second page, without a site where it cannot be restricted
	status int
	body   string
	want   string // verdict, addresses, stated number, next
}

var samples = map[string]sample{
	"mediawiki": {"http://p.example/w/index.php?title=Special:Search&profile=default&fulltext=1&search=a+b&limit=100&offset=100", 200,
		`<div class="results-info" data-mw-num-results-offset="0" data-mw-num-results-total="64">Results <strong>1 – 21</strong> of <strong>64</strong></div><ul class='mw-search-results'><li class="mw-search-result"><div class="mw-search-result-heading"><a href="/w/index.php/Article_1" title="Article 1" data-serp-pos="0">Article 1</a>    </div><div class="searchresult">...</div></li></ul><a href="/w/index.php?title=Special:Search&amp;limit=20&amp;offset=20&amp;search=a+b" rel="next" class="mw-nextlink">next 20</a>`,
		"found [http://p.example/w/index.php/Article_1] 64 http://p.example/w/index.php?title=Special:Search&limit=20&offset=20&search=a+b"},
	"mediawiki-api": {"http://p.example/w/api.php?action=query&list=search&srwhat=text&srsearch=a+b&srlimit=50&sroffset=50&format=json&formatversion=2", 200,
		`{"batchcomplete":true,"continue":{"sroffset":5,"continue":"-||"},"query":{"searchinfo":{"totalhits":64},"search":[{"ns":0,"title":"Article 1","pageid":2,"snippet":"x"}]}}`,
		"found [http://p.example/w/index.php?title=Article_1] 64 http://p.example/w/api.php?action=query&format=json&formatversion=2&list=search&srlimit=50&sroffset=5&srsearch=a+b&srwhat=text"},
	"searxng": {"http://p.example/w/search?q=a+b&pageno=2", 200,
		`<div id="sidebar"><small>Number of results: 1200</small></div><div id="urls"><article class="result result-default category-general"><a href="http://o.example/1" class="url_header">o.example</a><h3><a href="http://o.example/1" rel="noreferrer">One</a></h3><p class="content">text</p></article></div>`,
		"found [http://o.example/1] about 1200 "},
	"searxng-json": {"http://p.example/w/search?q=a+b&pageno=2&format=json", 200,
		`{"query": "a b", "number_of_results": 0, "results": [{"url": "http://o.example/1", "title": "One", "content": "x"}]}`, "found [http://o.example/1] no number "},
	"omega": {"http://p.example/w?P=a+b&DEFAULTOP=and&HITSPERPAGE=50&TOPDOC=50", 200,
		"<form name=P>\n<hr>\n 1-10 of about 30 matches\n<hr><table>\n<tr><td valign=top></td>\n<td><b><a href=\"http://o.example/1\">One</a></b><br><small>text</small><br><a href=\"http://o.example/1\">http://o.example/1</a></td></tr></table></form>",
		"found [http://o.example/1] about 30 "},
	"omega-xml": {"http://p.example/w?P=a+b&DEFAULTOP=and&FMT=xml&HITSPERPAGE=50&MINHITS=1000000&TOPDOC=50", 200,
		"<?xml version=\"1.0\"?>\n<results DBSize=\"1172\" Matches=\"40\" Last=\"15\">\n<hits>\n<hit id=\"25\" url=\"http://o.example/1\" title=\"One\"\n></hit></hits></results>", "found [http://o.example/1] 40 "},
	"opensearch-rss": {"http://p.example/w?q=a+b&startPage=2", 200,
		`<rss version="2.0" xmlns:openSearch="http://a9.com/-/spec/opensearch/1.1/"><channel><link>http://e.example/</link><openSearch:totalResults>40</openSearch:totalResults><item><title>One</title><link>http://o.example/1</link></item></channel></rss>`,
		"found [http://o.example/1] about 40 "},
	"opensearch-atom": {"http://p.example/w?q=a+b&startPage=2", 200,
		`<feed xmlns="http://www.w3.org/2005/Atom" xmlns:os="http://a9.com/-/spec/opensearch/1.1/"><link href="http://e.example/"/><os:totalResults>40</os:totalResults><entry><title>One</title><link rel="self" href="http://o.example/no"/><link href="http://o.example/1"/></entry></feed>`,
		"found [http://o.example/1] about 40 "},
	"wikipedia": {"https://en.wikipedia.org/w/api.php?action=query&list=search&srwhat=text&srsearch=a+b&srlimit=50&sroffset=50&format=json&formatversion=2", 200,
		`{"query":{"searchinfo":{"totalhits":1},"search":[{"title":"A b"}]}}`, "found [https://en.wikipedia.org/w/index.php?title=A_b] 1 "},
	"stackoverflow": {"https://api.stackexchange.com/2.3/search/advanced?site=stackoverflow&order=desc&sort=relevance&pagesize=50&q=a+b&page=2", 400,
		`{"error_id":502,"error_message":"too many requests from this IP","error_name":"throttle_violation"}`, "blocked [] no number "},
	"hackernews": {"https://hn.algolia.com/api/v1/search?query=a+b&hitsPerPage=50&page=1", 200,
		`{"hits":[{"objectID":"7","title":"One","url":null}],"nbHits":3,"page":0,"nbPages":1}`, "found [https://news.ycombinator.com/item?id=7] about 3 "},
	"crossref": {"https://api.crossref.org/works?query=a+b&rows=50&offset=50", 200,
		`{"status":"ok","message":{"total-results":2,"items":[{"DOI":"10.1/x","URL":"https://doi.org/10.1/x","title":["One"]}]}}`, "found [https://doi.org/10.1/x] 2 "},
	"arxiv": {"https://export.arxiv.org/api/query?search_query=all:a+AND+all%3Ab&start=50&max_results=50", 200,
		`<feed xmlns="http://www.w3.org/2005/Atom"><opensearch:totalResults xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/">1</opensearch:totalResults><entry><id>http://arxiv.org/abs/1</id><title>One</title><link href="http://arxiv.org/abs/1" rel="alternate"/><link title="pdf" href="http://arxiv.org/pdf/1" rel="related"/></entry></feed>`,
		"found [http://arxiv.org/abs/1] 1 "},
	"openalex": {"https://api.openalex.org/works?search=a+b&per-page=50&page=2", 200,
		`{"meta":{"count":12},"results":[{"id":"https://openalex.org/W1","display_name":"One"}]}`, "found [https://openalex.org/W1] 12 "},
	"internet-archive": {"https://archive.org/advancedsearch.php?q=a+AND+b&fl[]=identifier&fl[]=title&rows=50&output=json&page=2", 200,
		`{"response":{"numFound":9,"docs":[{"identifier":"one-1","title":"One"}]}}`, "found [https://archive.org/details/one-1] 9 "},
	"github": {"https://api.github.com/search/repositories?q=a+b&per_page=50&page=2", 200,
		`{"total_count":3,"incomplete_results":false,"items":[{"full_name":"a/b","html_url":"https://github.com/a/b","description":null}]}`, "found [https://github.com/a/b] 3 "},
	"marginalia": {"https://api.marginalia.nu/public/search/a%20b?count=50", 200, `{"query":"a b","results":[{"url":"http://o.example/1","title":"One"}]}`, "found [http://o.example/1] no number "},
	"baidu": {"https://www.baidu.com/s?wd=a+b&pn=10&ie=utf-8", 200,
		`<div id="content_left"><span class="hint_PIwZX c_font">百度为您找到相关结果约1,230,000个</span><div class="result c-container" mu="http://o.example/1"><h3><a href="http://www.baidu.com/link?url=x">一</a></h3></div></div>`, "found [http://o.example/1] about 1230000 "},
	"bing": {"https://www.bing.com/search?q=a+b&first=11", 200,
		`<span class="sb_count">About 1,200 results</span><ol id="b_results"><li class="b_algo"><h2><a href="https://www.bing.com/ck/a?!&amp;&amp;p=x&amp;u=a1aHR0cDovL28uZXhhbXBsZS8x&amp;ntb=1">One</a></h2></li><li class="b_ad"><h2><a href="http://ad.example/"></a></h2></li></ol>`, "found [http://o.example/1] about 1200 "},
	"duckduckgo": {"https://html.duckduckgo.com/html/?q=a+b", 200,
		`<div class="result results_links web-result"><h2><a class="result__a" href="//duckduckgo.com/l/?uddg=http%3A%2F%2Fo.example%2F1&amp;rut=x">One</a></h2></div><div class="result result--ad"><a class="result__a" href="http://ad.example/"></a></div>`, "found [http://o.example/1] no number "},
	"mojeek": {"https://www.mojeek.com/search?q=a+b&s=11", 200, `<ul class="results-standard"><li class="r1"><a class="ob" href="http://o.example/1"></a><h2><a class="title" href="http://o.example/1">One</a></h2><p class="s">x</p></li></ul>`, "found [http://o.example/1] no number "},
}

// Every engine of the shipped catalogue writes the address and reads the answer as its sample says; none is without one.
func TestShipped(t *testing.T) {
	c, err := config.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range c.Names() {
		s, ok := samples[name]
		if !ok {
			t.Errorf("%s: no sample", name)
			continue
		}
		e, err := c.Get(name)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(e.URL, "{base}") && e.Base == "" {
			with, err := c.With([]engine.Engine{{Name: name, Base: "http://p.example/w/"}})
			if err != nil {
				t.Fatal(err)
			}
			e, _ = with.Get(name)
		}
		asked, err := e.Address(engine.Search{Words: []string{"a", "b"}}, 1)
		if err != nil || asked != s.asked {
			t.Errorf("%s: asks %s, %v, want %s", name, asked, err, s.asked)
		}
		r := e.Read(engine.Answer{URL: asked, Status: s.status, Body: []byte(s.body)}, false)
		var found []string
		for _, one := range r.Results {
			found = append(found, one.URL)
			if one.Title == "" {
				t.Errorf("%s: %s has no title", name, one.URL)
			}
		}
		if got := fmt.Sprintf("%s %v %s %s", r.Verdict, found, r.Stated, r.Next); got != s.want {
			t.Errorf("%s: %s (%s), want %s", name, got, r.Reason, s.want)
		}
		if e.About == "" {
			t.Errorf("%s does not say what it is", name)
		}
	}
}

// A metasearch whose own engines are down or suspend it says so where results would stand: that is not an answer without results. Beside
// results it tells the same of some of them, and what it has found counts.
func TestBehindMetasearch(t *testing.T) {
	c, err := config.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	one := `<article class="result"><h3><a href="http://o.example/1">One</a></h3></article>`
	down := `<p><strong>Error!</strong> Engines cannot retrieve results.</p><p>wiki (timeout)</p>`
	for _, s := range []struct {
		name, body string
		want       engine.Verdict
	}{
		{"searxng", `<div id="results"><div id="urls"><div class="dialog-error" role="alert">` + down + `</div></div></div>`, engine.Blocked},
		{"searxng", `<div id="results"><div id="sidebar"><div class="dialog-error">` + down + `</div></div><div id="urls">` + one + `</div></div>`, engine.Found},
		{"searxng", `<div id="sidebar_results"></div><div id="main_results"><div class="alert alert-danger fade in" role="alert">` + down + `</div></div>`, engine.Blocked}, // oscar
		{"searxng", `<div id="main_results"><div class="result"><h4 class="result_header"><a href="http://o.example/1">One</a></h4></div><div class="alert">` + down + `</div></div>`, engine.Found},
		{"searxng", `<div id="urls"><div class="dialog-error"><p><strong>Sorry!</strong></p><p>we didn't find any results.</p></div></div>`, engine.Empty},
		{"searxng-json", `{"query": "a", "number_of_results": 0, "results": [], "unresponsive_engines": [["wiki", "timeout"]]}`, engine.Blocked},
		{"searxng-json", `{"query": "a", "results": [{"url": "http://o.example/1"}], "unresponsive_engines": [["wiki", "timeout"]]}`, engine.Found},
		{"searxng-json", `{"query": "a", "number_of_results": 0, "results": [], "unresponsive_engines": []}`, engine.Empty},
	} {
		e, err := c.Get(s.name)
		if err != nil {
			t.Fatal(err)
		}
		for _, later := range []bool{false, true} {
			r := e.Read(engine.Answer{URL: "http://p.example/w/search?q=a", Status: 200, Body: []byte(s.body)}, later)
			if r.Verdict != s.want {
				t.Errorf("%s: %s: %s (%s), want %s", s.name, s.body, r.Verdict, r.Reason, s.want)
			}
		}
	}
}
