package engine

import (
	"reflect"
	"strings"
	"testing"

	"argosy/internal/crawl"
)

func TestDescribe(t *testing.T) {
	at, err := crawl.Parse("http://e.example/opensearch.xml")
	if err != nil {
		t.Fatal(err)
	}
	const head = `<?xml version="1.0"?><OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/"><ShortName>An  Engine!</ShortName><Description>all of it</Description>`
	for _, c := range []struct {
		body string
		want Engine
		note bool
	}{
		{`<Url type="text/html" template="http://e.example/?q={searchTerms}&amp;p={startPage?}&amp;l={language?}&amp;x={foo:bar?}"/>`,
			Engine{URL: "http://e.example/?q={query}&p={page}&l=*&x=", First: new(1), Step: new(1), Query: "{words}", Results: Results{Any: true}}, true},
		{`<Url type="text/html" template="http://e.example/{searchTerms}"/><Url type="application/rss+xml" indexOffset="0" template="http://e.example/rss?q={searchTerms}&amp;n={count}&amp;i={startIndex}"/>`,
			Engine{URL: "http://e.example/rss?q={query}&n=50&i={page}", Like: "opensearch-rss", First: new(0), Step: new(50), Query: "{words}"}, false},
		{`<InputEncoding>GBK</InputEncoding><Url type="application/atom+xml; charset=gbk" rel="results" template="http://e.example/atom"><Param name="q" value="{searchTerms}"/><Param name="p" value="{startPage?}"/></Url>`,
			Engine{URL: "http://e.example/atom?q={query}&p={page}", Like: "opensearch-atom", First: new(1), Step: new(1), Query: "{words}", Encoding: "GBK"}, false},
		{`<InputEncoding>Shift_JIS</InputEncoding><Url type="application/rss+xml" template="/rss?q={searchTerms}&amp;ie={inputEncoding}&amp;i={startIndex?}"/>`,
			Engine{URL: "http://e.example/rss?q={query}&ie=Shift_JIS&i={page}", Like: "opensearch-rss", First: new(1), Step: new(0), Query: "{words}", Encoding: "Shift_JIS"}, false},
		{`<InputEncoding>GBK</InputEncoding><InputEncoding>UTF-8</InputEncoding><Url type="application/rss+xml" template="//r.example/{searchTerms}?ie={inputEncoding}"/>`,
			Engine{URL: "http://r.example/{query}?ie=UTF-8", Like: "opensearch-rss", Query: "{words}"}, false},
		{`<Url type="text/html" template="https://w.example/w/index.php?title=Special:Search&amp;search={searchTerms}"/>`, Engine{Like: "mediawiki", Base: "https://w.example/w"}, false},
		{`<LongName>SearXNG metasearch</LongName><Url rel="results" type="text/html" template="https://s.example/x/search?q={searchTerms}"/>`, Engine{Like: "searxng", Base: "https://s.example/x"}, false},
	} {
		c.want.Name, c.want.About = "an-engine", "all of it"
		got, note, err := Describe([]byte(head+c.body+"</OpenSearchDescription>"), "", at)
		if err != nil || !reflect.DeepEqual(got, c.want) || (note != "") != c.note {
			t.Errorf("%s:\n%+v, %q, %v\nwant\n%+v", c.body, got, note, err, c.want)
		}
	}
	for want, body := range map[string]string{
		"not an OpenSearch description": "<html>", "no template": head + `<Url type="text/html" method="post" template="http://e.example/{searchTerms}"/></OpenSearchDescription>`,
		"has no {searchTerms}":               head + `<Url type="text/html" template="http://e.example/find"/></OpenSearchDescription>`,
		"what is to be put in for {foo:bar}": head + `<Url type="text/html" template="http://e.example/{searchTerms}{foo:bar}"/></OpenSearchDescription>`,
		"more than":                          strings.Repeat("x", maxDescription+1),
	} {
		if _, _, err := Describe([]byte(body), "", at); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want %s", body, err, want)
		}
	}
	u, ok := DescriptionLink([]byte(`<html><link rel="stylesheet search" type="application/opensearchdescription+xml" href="/o.xml">`), "text/html", at)
	if !ok || u.String() != "http://e.example/o.xml" {
		t.Errorf("%v, %v", u, ok)
	}
	if u, ok := DescriptionLink([]byte(`<link rel="search" href="/o.xml">`), "text/html", at); ok {
		t.Error(u)
	}
	if got := nameOf("搜索", at); got != "e.example" {
		t.Error(got)
	}
}

// equal compares what descriptions give.
