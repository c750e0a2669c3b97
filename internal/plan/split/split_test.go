package split

import (
	"fmt"
	"strings"
	"testing"
)

var (
	web       = Engine{Name: "web", URL: "http://www.baidu.com/s?wd={query}&pn=0&cl=0&ie=utf-8&lm=1"}
	plain     = Engine{Name: "plain", URL: "http://www.baidu.com/s?wd={query}&ie=utf-8", Whole: true}
	microblog = Engine{Name: "microblog", URL: "http://weibo.yunyun.com/Weibo.php?p=1&q={query}&wbts=1", Query: "site:{site} {words}", And: "&", Type: "1"}
)

// cut is a segmenter that knows nothing.
func cut(s string) ([]string, error) { return strings.Fields(s), nil }

// The URLs that the paper prints (the first of its list, which is cut in print, completed like the others).
func TestPrintedURLs(t *testing.T) {
	for _, c := range []struct {
		e     Engine
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
		v := Virtual{Products: []Product{{Name: "p", Words: c.words, Keywords: map[string][]string{c.e.Name: c.extra}}}, Engines: []Engine{c.e}}
		if c.site != "" {
			v.Sites = []string{c.site}
		}
		tasks, err := Split(v, cut)
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
		Products: []Product{{Name: "a b"}, {Name: "x", Sites: []string{"s1"}, Engines: []string{"web"}}},
		Aliases:  map[string][]string{"x": {"brand", "x"}},
		Sites:    []string{"s1", "s2", "s3", "s4", "s5"}, Engines: []Engine{web, microblog}, Subset: 2,
	}
	tasks, err := Split(v, cut)
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
	if last := tasks[2].Searches[len(tasks[2].Searches)-1]; fmt.Sprint(last.Words) != "[brand x]" || last.Site != "s1" {
		t.Errorf("%+v", last)
	}
	if tasks[5].Type != "1" {
		t.Error("a microblog task has lost its type")
	}
}

func TestEncodings(t *testing.T) {
	e := Engine{Name: "old", URL: "http://s.example/?q={query}", Encoding: "gbk", Whole: true}
	v := Virtual{Products: []Product{{Name: "牛奶"}}, Engines: []Engine{e}}
	tasks, err := Split(v, cut)
	if err != nil || tasks[0].Searches[0].URL != "http://s.example/?q=%C5%A3%C4%CC" {
		t.Errorf("%v, %v", tasks, err)
	}
	v.Engines[0].Encoding = "iso-8859-1"
	if _, err := Split(v, cut); err == nil || !strings.Contains(err.Error(), "cannot be written") {
		t.Errorf("%v", err)
	}
}

func TestRefuses(t *testing.T) {
	good := func() Virtual { return Virtual{Products: []Product{{Name: "p"}}, Engines: []Engine{web}} }
	for what, spoil := range map[string]func(*Virtual){
		"no products": func(v *Virtual) { v.Products = nil }, "no engines": func(v *Virtual) { v.Engines = nil },
		"no query": func(v *Virtual) { v.Engines = []Engine{{Name: "e", URL: "http://x/"}} },
		"no url":   func(v *Virtual) { v.Engines = []Engine{{Name: "e", URL: "{query}"}} },
		"twice":    func(v *Virtual) { v.Engines = []Engine{web, web} }, "no words": func(v *Virtual) { v.Products[0].Name = " " },
		"nameless": func(v *Virtual) { v.Products[0].Name = "" }, "negative": func(v *Virtual) { v.Subset = -1 },
		"encoding": func(v *Virtual) { v.Engines[0].Encoding = "klingon" }, "engine": func(v *Virtual) { v.Products[0].Engines = []string{"moon"} },
	} {
		v := good()
		spoil(&v)
		if _, err := Split(v, cut); err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", what, err)
		}
	}
}
