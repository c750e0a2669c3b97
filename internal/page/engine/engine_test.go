package engine

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/encoding/htmlindex"

	"argosy/internal/crawl"
)

// ready opens one engine.
func ready(t *testing.T, e Engine) *Ready {
	t.Helper()
	if e.Name == "" {
		e.Name = "e"
	}
	if e.URL == "" {
		e.URL = "http://e.example/?q={query}"
	}
	c, err := Open([]Engine{e})
	if err != nil {
		t.Fatal(err)
	}
	r, err := c.Get(e.Name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var anyLink = Results{Link: Selector{CSS: "a", Attr: "href"}}

func TestAddress(t *testing.T) {
	for _, c := range []struct {
		e    Engine
		s    Search
		page int
		want string
	}{
		{Engine{URL: "http://e.example/s?wd={query}&pn={page}", Step: new(10)}, Search{[]string{"高钙", "a&b"}, ""}, 2, "http://e.example/s?wd=%E9%AB%98%E9%92%99+a%26b&pn=20"},
		{Engine{URL: "http://e.example/{query}/{page}", First: new(1)}, Search{[]string{"a b", "c/d"}, ""}, 0, "http://e.example/a%20b%20c%2Fd/1"},
		{Engine{And: "+"}, Search{Words: []string{"a", "b"}}, 0, "http://e.example/?q=a+b"},
		{Engine{And: "%26"}, Search{Words: []string{"a", "b"}}, 0, "http://e.example/?q=a%26b"},
		{Engine{And: "%2B"}, Search{Words: []string{"a", "b"}}, 0, "http://e.example/?q=a%2Bb"},
		{Engine{Query: "site:{site} {words}", And: "&"}, Search{[]string{"a", "b"}, "x.example/n/"}, 0, "http://e.example/?q=site%3Ax.example%2Fn%2F+a%26b"},
		{Engine{Query: "{words}", URL: "http://e.example/?q={query}&on={site}"}, Search{[]string{"a"}, "x.example"}, 0, "http://e.example/?q=a&on=x.example"},
		{Engine{URL: "{base}/s?q={query}", Base: "http://e.example:81/w/"}, Search{[]string{"{page}"}, ""}, 0, "http://e.example:81/w/s?q=%7Bpage%7D"},
	} {
		c.e.Results = anyLink
		if got, err := ready(t, c.e).Address(c.s, c.page); err != nil || got != c.want {
			t.Errorf("%s: %s, %v, want %s", c.e.URL, got, err, c.want)
		}
	}
}

// Words come back out of URLs in every encoding that can hold them; those that it cannot hold are refused with their name.
func TestEncodings(t *testing.T) {
	for label, words := range map[string]string{
		"gbk": "光明高钙牛奶", "gb18030": "光明😀牛奶", "big5": "高鈣牛奶", "shift_jis": "牛乳カルシウム", "euc-jp": "牛乳", "iso-2022-jp": "牛乳 abc", "euc-kr": "우유", "windows-1251": "молоко", "iso-8859-1": "Köln",
	} {
		r := ready(t, Engine{Encoding: label, Results: anyLink})
		got, err := r.Address(Search{Words: []string{words}}, 0)
		if err != nil {
			t.Errorf("%s: %v", label, err)
			continue
		}
		u, err := url.Parse(got)
		if err != nil {
			t.Fatal(err)
		}
		enc, err := htmlindex.Get(label)
		if err != nil {
			t.Fatal(err)
		}
		back, err := enc.NewDecoder().String(u.Query().Get("q"))
		if err != nil || back != words {
			t.Errorf("%s: %s is %q, %v, want %q", label, got, back, err, words)
		}
	}
	for label, words := range map[string]string{"gbk": "우유", "shift_jis": "高钙", "iso-8859-1": "牛奶", "us-ascii": "牛奶"} {
		r := ready(t, Engine{Encoding: label, Results: anyLink})
		if got, err := r.Address(Search{Words: []string{words}}, 0); err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), label) {
			t.Errorf("%s: %s, %v", label, got, err)
		}
	}
}

func TestSites(t *testing.T) {
	for _, good := range []string{"example.org", "315zj.com/", "example.org/a/b", "127.0.0.1:8080", "127.0.0.1:8080/w", "пример.рф", "localhost"} {
		if err := CheckSite(good); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range []string{"", "http://example.org", "example.org?x", "a b.org", "user@example.org", "example", "example.org#f", "a.org:x", "a.org//b", "-", "*.a.org", "a..org", ".a.org", "a-.org", "a.org/\a", "a.org/\x7f", "a*.org", "a.org\x00", strings.Repeat("a", 600) + ".org"} {
		if err := CheckSite(bad); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v", bad, err)
		}
	}
	for _, c := range []struct {
		site, url string
		want      bool
	}{
		{"a.org", "https://a.org/x", true}, {"a.org", "http://www.a.org/", true}, {"a.org", "http://ba.org/", false},
		{"a.org/n", "http://a.org/n", true}, {"a.org/n", "http://a.org/n/1", true}, {"a.org/n/", "http://a.org/new", false}, {"a.org/", "http://b.a.org/x", true},
	} {
		u, err := crawl.Parse(c.url)
		if err != nil {
			t.Fatal(err)
		}
		if On(c.site, u) != c.want {
			t.Errorf("%s on %s: %v", c.url, c.site, !c.want)
		}
	}
}

// Every mistake is said in one line that names the engine and the key.
func TestMistakes(t *testing.T) {
	for want, e := range map[string]Engine{
		"engine e: url: there is a user or a password in it":                          {URL: "http://user:pw@e.example/?q={query}"},
		"engine e: base: there is a user or a password in it":                         {URL: "{base}/?q={query}", Base: "http://user:pw@e.example"},
		`engine e: url: "http://e.example/": {query} is missing`:                      {URL: "http://e.example/"},
		`engine e: url: "/{query}": not the address of a search`:                      {URL: "/{query}"},
		`engine e: url: "http://x.example/{query}{foo}": allowed`:                     {URL: "http://x.example/{query}{foo}"},
		`engine e: url: "http://e.example/#q={query}": {query} stands behind #`:       {URL: "http://e.example/#q={query}"},
		`engine e: url: "http://e.example/?q={query}#{page}": {page} stands behind #`: {URL: "http://e.example/?q={query}#{page}"},
		`engine e: query: "site:{site}": {words} is missing`:                          {Query: "site:{site}"},
		`engine e: encoding: "klingon": not known`:                                    {Encoding: "klingon"},
		`engine e: encoding: "utf-16": URLs are not written in it`:                    {Encoding: "utf-16"},
		`engine e: base: "nowhere": not an address`:                                   {Base: "nowhere"},
		`engine e: step: first 0, step -1`:                                            {Step: new(-1)},
		`engine e: limit: -1`:                                                         {Limit: -1},
		`engine e: format: "pdf": allowed are`:                                        {Format: "pdf"},
		`engine e: results.link: want one of css, xpath, json and regex`:              {Results: Results{Title: Selector{CSS: "a"}}},
		`engine e: results.link: css "a[": `:                                          {Results: Results{Link: Selector{CSS: "a["}}},
		`engine e: results.link: xpath "//a[": `:                                      {Results: Results{Link: Selector{XPath: "//a["}}},
		`engine e: results.link: json: answers in html are not`:                       {Results: Results{Link: Selector{JSON: "$.a"}}},
		`engine e: results.link: json "$.a[": `:                                       {Format: "json", Results: Results{Link: Selector{JSON: "$.a["}}},
		`engine e: results.link: css: answers in xml are not`:                         {Format: "xml", Results: Results{Link: Selector{CSS: "a"}}},
		`engine e: results.link: regex "(": `:                                         {Results: Results{Link: Selector{Regex: "("}}},
		`engine e: results.link: css and regex: want one of them`:                     {Results: Results{Link: Selector{CSS: "a", Regex: "a"}}},
		`engine e: results.link: attr: only with css`:                                 {Results: Results{Link: Selector{XPath: "//a", Attr: "href"}}},
		`engine e: results.link: space: only with make`:                               {Results: Results{Link: Selector{CSS: "a", Space: "_"}}},
		`engine e: results.link: make "x": {value} is missing`:                        {Results: Results{Link: Selector{CSS: "a", Make: "x"}}},
		`engine e: results.link: decode "rot13": allowed are`:                         {Results: Results{Link: Selector{CSS: "a", Decode: "rot13"}}},
		`engine e: results.link: set: only the next page`:                             {Results: Results{Link: Selector{CSS: "a", Set: "p"}}},
		`engine e: results.unwrap[0]: match "(": `:                                    {Results: Results{Link: anyLink.Link, Unwrap: []Unwrap{{Match: "("}}}},
		`engine e: results.unwrap[0]: match is missing`:                               {Results: Results{Link: anyLink.Link, Unwrap: []Unwrap{{}}}},
		`engine e: results.any: links are found in html only`:                         {Format: "json", Results: Results{Any: true}},
		`engine e: next: css "{": `:                                                   {Results: anyLink, Next: Selector{CSS: "{"}},
		`engine e: stated.at: match "(": `:                                            {Results: anyLink, Stated: Stated{At: Selector{CSS: "b", Match: "("}}},
		`engine e: stated.kind: "many": allowed are`:                                  {Results: anyLink, Stated: Stated{Kind: "many"}},
		`engine e: stated: more "(": `:                                                {Results: anyLink, Stated: Stated{More: "("}},
		`engine e: empty[0]: want status, location or at`:                             {Results: anyLink, Empty: []Sign{{Says: "x"}}},
		`engine e: blocked[1].at: css "]": `:                                          {Results: anyLink, Blocked: []Sign{{Status: 418}, {At: Selector{CSS: "]"}}}},
		`engine e: blocked[0]: location "(": `:                                        {Results: anyLink, Blocked: []Sign{{Location: "("}}},
		`engine e: like: there is no engine "moon"`:                                   {Like: "moon"},
		`engine e: results.link: css: longer than`:                                    {Results: Results{Link: Selector{CSS: strings.Repeat("a", maxSelector+1)}}},
		`engine e: results.link: xpath "count(": `:                                    {Results: Results{Link: Selector{XPath: "count("}}},
		`engine e: results.item: want one of css, xpath, json and regex`:              {Results: Results{Item: Selector{Attr: "x"}, Link: anyLink.Link}},
	} {
		e.Name = "e"
		if e.URL == "" && e.Like == "" {
			e.URL = "http://e.example/?q={query}"
		}
		_, err := Open([]Engine{e})
		var bad *Error
		if !errors.As(err, &bad) || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v, want %s…", err, want)
		}
	}
	for _, list := range [][]Engine{{{URL: "x"}}, {{Name: "a b"}}, {{Name: "a", URL: "http://e.example/{query}", Results: anyLink}, {Name: "a"}}} {
		if _, err := Open(list); err == nil || !strings.Contains(err.Error(), "name") {
			t.Errorf("%v", err)
		}
	}
}

// An engine takes what it does not say from the one that it is like, also through several, and from the one that it replaces.
func TestLike(t *testing.T) {
	shipped := []Engine{
		{Name: "a", URL: "http://a.example/?q={query}&p={page}", First: new(1), Step: new(10), And: "+", Results: anyLink, IgnoreRobots: true},
		{Name: "b", Like: "a", Encoding: "gbk"},
	}
	c, err := Open(shipped, []Engine{{Name: "b", URL: "http://b.example/?q={query}&p={page}", Like: "b"}, {Name: "a", And: "-"}})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := c.Get("a")
	b, _ := c.Get("b")
	if got, _ := a.Address(Search{Words: []string{"x", "y"}}, 1); got != "http://a.example/?q=x-y&p=11" {
		t.Error(got)
	}
	if got, _ := b.Address(Search{Words: []string{"x", "奶"}}, 1); got != "http://b.example/?q=x-%C4%CC&p=11" {
		t.Error(got) // first and step are a's: keys that are not given
	}
	if a.IgnoreRobots || b.IgnoreRobots {
		t.Error("robots.txt is disregarded by those who do not say so")
	}
	if _, err := Open([]Engine{{Name: "a", Like: "b"}, {Name: "b", Like: "a"}}); err == nil || !strings.Contains(err.Error(), "circle") {
		t.Error(err)
	}
	if _, err := c.Get("moon"); err == nil || !strings.Contains(err.Error(), `"moon"; allowed are a, b`) {
		t.Error(err)
	}
	if got := fmt.Sprint(c.Names()); got != "[a b]" {
		t.Error(got)
	}
}

// Lists are extended without changing the catalogue.
func TestWith(t *testing.T) {
	c, err := Open([]Engine{{Name: "a", URL: "http://a.example/{query}", Results: anyLink}})
	if err != nil {
		t.Fatal(err)
	}
	d, err := c.With([]Engine{{Name: "b", Like: "a"}})
	if err != nil || !slices.Equal(d.Names(), []string{"a", "b"}) || !slices.Equal(c.Names(), []string{"a"}) {
		t.Errorf("%v, %v", d, err)
	}
}
