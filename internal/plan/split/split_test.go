package split

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"argosy/internal/page/engine"
)

// links is what the engines here have in common: their answers are not read in these tests.
var links = engine.Results{Link: engine.Selector{CSS: "h3 a", Attr: "href"}}

var (
	web       = Use{Engine: engine.Engine{Name: "web", URL: "http://www.baidu.com/s?wd={query}&pn={page}&cl=0&ie=utf-8&lm=1", Step: new(10), Results: links}}
	plain     = Use{Engine: engine.Engine{Name: "plain", URL: "http://www.baidu.com/s?wd={query}&ie=utf-8", Results: links}, Whole: true}
	microblog = Use{Engine: engine.Engine{Name: "microblog", URL: "http://weibo.yunyun.com/Weibo.php?p={page}&q={query}&wbts=1", First: new(1), Query: "site:{site} {words}", And: "&", Results: links}, Type: "1"}
)

// split with no catalogue.
func split(v Virtual) ([]Task, error) {
	none, err := engine.Open()
	if err != nil {
		return nil, err
	}
	return Split(v, none, cut)
}

// cut is a segmenter that knows nothing.
func cut(s string) ([]string, error) { return strings.Fields(s), nil }

// The URLs that the paper prints (the first of its list, which is cut in print, completed like the others).
func TestPrintedURLs(t *testing.T) {
	for _, c := range []struct {
		e     Use
		words []string
		extra []string
		site  string
		want  string
	}{
		{plain, []string{"光明", "高钙", "牛奶"}, nil, "", "http://www.baidu.com/s?wd=%E5%85%89%E6%98%8E+%E9%AB%98%E9%92%99+%E7%89%9B%E5%A5%B6&ie=utf-8"},
		{plain, []string{"光明", "高钙", "牛奶"}, nil, "cca.org.cn", "http://www.baidu.com/s?wd=%E5%85%89%E6%98%8E+%E9%AB%98%E9%92%99+%E7%89%9B%E5%A5%B6+site%3Acca.org.cn&ie=utf-8"},
		{web, []string{"光明", "高钙", "牛奶"}, nil, "315tousu.org", "http://www.baidu.com/s?wd=%E5%85%89%E6%98%8E+%E9%AB%98%E9%92%99+%E7%89%9B%E5%A5%B6+site%3A315tousu.org&pn=0&cl=0&ie=utf-8&lm=1"},
		{web, []string{"蒙牛", "特仑苏"}, nil, "315tousu.org", "http://www.baidu.com/s?wd=%E8%92%99%E7%89%9B+%E7%89%B9%E4%BB%91%E8%8B%8F+site%3A315tousu.org&pn=0&cl=0&ie=utf-8&lm=1"},
		{web, []string{"蒙牛", "早餐奶"}, nil, "315zj.com/", "http://www.baidu.com/s?wd=%E8%92%99%E7%89%9B+%E6%97%A9%E9%A4%90%E5%A5%B6+site%3A315zj.com%2F&pn=0&cl=0&ie=utf-8&lm=1"},
		{web, []string{"蒙牛", "早餐奶"}, nil, "hd315.gov.cn", "http://www.baidu.com/s?wd=%E8%92%99%E7%89%9B+%E6%97%A9%E9%A4%90%E5%A5%B6+site%3Ahd315.gov.cn&pn=0&cl=0&ie=utf-8&lm=1"},
		{web, []string{"雀巢", "中老年", "奶粉"}, nil, "nettiger.cn", "http://www.baidu.com/s?wd=%E9%9B%80%E5%B7%A2+%E4%B8%AD%E8%80%81%E5%B9%B4+%E5%A5%B6%E7%B2%89+site%3Anettiger.cn&pn=0&cl=0&ie=utf-8&lm=1"},
		{microblog, []string{"光明", "高钙", "牛奶"}, []string{"投诉"}, "weibo.com", "http://weibo.yunyun.com/Weibo.php?p=1&q=site%3Aweibo.com+%E5%85%89%E6%98%8E%26%E9%AB%98%E9%92%99%26%E7%89%9B%E5%A5%B6%26%E6%8A%95%E8%AF%89&wbts=1"},
		{microblog, []string{"蒙牛", "特仑苏"}, []string{"投诉"}, "weibo.com", "http://weibo.yunyun.com/Weibo.php?p=1&q=site%3Aweibo.com+%E8%92%99%E7%89%9B%26%E7%89%B9%E4%BB%91%E8%8B%8F%26%E6%8A%95%E8%AF%89&wbts=1"},
		{microblog, []string{"雀巢", "中老年", "奶粉"}, nil, "weibo.com", "http://weibo.yunyun.com/Weibo.php?p=1&q=site%3Aweibo.com+%E9%9B%80%E5%B7%A2%26%E4%B8%AD%E8%80%81%E5%B9%B4%26%E5%A5%B6%E7%B2%89&wbts=1"},
	} {
		v := Virtual{Products: []Product{{Name: "p", Words: c.words, Keywords: map[string][]string{c.e.Name: c.extra}}}, Engines: []Use{c.e}}
		if c.site != "" {
			v.Sites = []string{c.site}
		}
		tasks, err := split(v)
		if err != nil {
			t.Fatal(err)
		}
		last := tasks[0].Searches[len(tasks[0].Searches)-1]
		if last.URL != c.want {
			t.Errorf("%v on %q:\n%s\nwant\n%s", c.words, c.site, last.URL, c.want)
		}
	}
}

// Every search is in one task, tasks are of one engine and no larger than a subset, products choose sites and engines.
func TestSubsets(t *testing.T) {
	v := Virtual{
		Products: []Product{{Name: "a b"}, {Name: "x", Sites: []string{"s1.cn"}, Engines: []string{"web"}}},
		Aliases:  map[string][]string{"x": {"brand", "x"}},
		Sites:    []string{"s1.cn", "s2.cn", "s3.cn", "s4.cn", "s5.cn"}, Engines: []Use{web, microblog}, Subset: 2,
	}
	tasks, err := split(v)
	if err != nil {
		t.Fatal(err)
	}
	seen, n := map[string]bool{}, 0
	for k, task := range tasks {
		if task.Number != k+1 || len(task.Searches) > 2 || len(task.Searches) == 0 {
			t.Errorf("%+v", task)
		}
		for _, s := range task.Searches {
			n++
			seen[s.URL] = true
			if s.Engine != task.Engine {
				t.Errorf("%s in a task of %s", s.Engine, task.Engine)
			}
		}
	}
	if n != 11 || len(seen) != 11 || len(tasks) != 6 {
		t.Errorf("%d searches, %d different, %d tasks", n, len(seen), len(tasks))
	}
	if last := tasks[2].Searches[len(tasks[2].Searches)-1]; fmt.Sprint(last.Words) != "[brand x]" || last.Site != "s1.cn" {
		t.Errorf("%+v", last)
	}
	if tasks[5].Type != "1" {
		t.Error("a microblog task has lost its type")
	}
}

func TestEncodings(t *testing.T) {
	e := Use{Engine: engine.Engine{Name: "old", URL: "http://s.example/?q={query}", Encoding: "gbk", Results: links}}
	v := Virtual{Products: []Product{{Name: "牛奶"}}, Engines: []Use{e}}
	tasks, err := split(v)
	if err != nil || tasks[0].Searches[0].URL != "http://s.example/?q=%C5%A3%C4%CC" {
		t.Errorf("%v, %v", tasks, err)
	}
	v.Engines[0].Encoding = "iso-8859-1"
	if _, err := split(v); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("%v", err)
	}
}

// What is wrong is said with its place.
func TestRefuses(t *testing.T) {
	good := func() Virtual { return Virtual{Products: []Product{{Name: "p"}}, Engines: []Use{web}} }
	for what, c := range map[string]struct {
		spoil func(*Virtual)
		want  string
	}{
		"no products": {func(v *Virtual) { v.Products = nil }, "products: none"},
		"no engines":  {func(v *Virtual) { v.Engines = nil }, "engines: none"},
		"no query": {func(v *Virtual) {
			v.Engines = []Use{{Engine: engine.Engine{Name: "e", URL: "http://x/", Results: links}}}
		}, "engines[0].url: \"http://x/\": {query} is missing"},
		"no url": {func(v *Virtual) {
			v.Engines = []Use{web, {Engine: engine.Engine{Name: "e", URL: "{query}", Results: links}}}
		}, "engines[1].url:"},
		"unknown":    {func(v *Virtual) { v.Engines = []Use{{Engine: engine.Engine{Name: "moon"}}} }, `engines[0]: there is no engine "moon"`},
		"twice":      {func(v *Virtual) { v.Engines = []Use{web, web} }, "engines[1].name"},
		"no words":   {func(v *Virtual) { v.Products[0].Name = " " }, "products[0]: product  : 0 words"},
		"nameless":   {func(v *Virtual) { v.Products[0].Name = "" }, "products[0]"},
		"negative":   {func(v *Virtual) { v.Subset = -1 }, "subset: -1"},
		"encoding":   {func(v *Virtual) { v.Engines[0].Encoding = "klingon" }, "engines[0].encoding"},
		"engine":     {func(v *Virtual) { v.Products[0].Engines = []string{"moon"} }, `products[0]: product p: the virtual task has no engine "moon"`},
		"site":       {func(v *Virtual) { v.Sites = []string{"a.cn", "http://b.cn/"} }, `sites[1]: site "http://b.cn/": want a host or a host and a path`},
		"other site": {func(v *Virtual) { v.Products[0].Sites = []string{"c.cn"} }, "products[0].sites[0]"},
		"selector":   {func(v *Virtual) { v.Engines[0].Results = engine.Results{Link: engine.Selector{CSS: "a["}} }, `engines[0].results.link: css "a["`},
		"whole only": {func(v *Virtual) {
			v.Engines[0].Query, v.Engines[0].Sites = "{words}", []string{"a.cn"}
		}, "engines[0].sites: engine web cannot be restricted"},
	} {
		v := good()
		c.spoil(&v)
		if _, err := split(v); err == nil || strings.Contains(err.Error(), "\n") || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s…", what, err, c.want)
		}
	}
}

// An engine of the catalogue is used by its name, with keys of the virtual task's own; one that cannot be restricted is asked once.
func TestCatalogue(t *testing.T) {
	c, err := engine.Open([]engine.Engine{web.Engine, {Name: "wiki", URL: "{base}/?q={query}", Query: "{words}", Results: links}})
	if err != nil {
		t.Fatal(err)
	}
	v := Virtual{Products: []Product{{Name: "milk"}}, Sites: []string{"a.cn", "b.cn"}, Engines: []Use{
		{Engine: engine.Engine{Name: "web", And: "+"}}, {Engine: engine.Engine{Name: "ours", Like: "wiki", Base: "http://w.example/"}},
	}}
	tasks, err := Split(v, c, cut)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, task := range tasks {
		for _, s := range task.Searches {
			got = append(got, s.URL)
		}
	}
	want := []string{"http://www.baidu.com/s?wd=milk+site%3Aa.cn&pn=0&cl=0&ie=utf-8&lm=1", "http://www.baidu.com/s?wd=milk+site%3Ab.cn&pn=0&cl=0&ie=utf-8&lm=1", "http://w.example/?q=milk"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// A virtual task is listed with the words that all engines share, what each adds, and its searches in their tasks.
func TestList(t *testing.T) {
	v := Virtual{
		Products: []Product{{Name: "a b", Keywords: map[string][]string{"microblog": {"c"}}}, {Name: "d"}},
		Sites:    []string{"s1.cn", "s2.cn"}, Engines: []Use{web, microblog}, Subset: 3,
	}
	tasks, err := split(v)
	if err != nil {
		t.Fatal(err)
	}
	l := List(v, tasks)
	if len(l) != 2 || fmt.Sprint(l[0].Words, l[0].Added, l[1].Words, l[1].Added) != "[a b] map[microblog:[c]] [d] map[]" {
		t.Errorf("%+v", l)
	}
	var numbers []int
	for _, one := range l {
		for _, s := range one.Searches {
			if s.Product != one.Product || !slices.ContainsFunc(tasks[s.Task-1].Searches, func(of Search) bool { return of.URL == s.URL }) {
				t.Errorf("%+v is not in task %d", s, s.Task)
			}
			numbers = append(numbers, s.Task)
		}
	}
	if fmt.Sprint(numbers) != "[1 1 3 3 1 2 3 4]" {
		t.Errorf("tasks %v", numbers)
	}
}
