package yield

import (
	"fmt"
	"testing"

	"argosy/internal/crawl"
)

func TestTemplates(t *testing.T) {
	m := New()
	of := func(path string) uint32 {
		u, err := crawl.Parse("http://a.test" + path)
		if err != nil {
			t.Fatal(err)
		}
		return m.Template(u)
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"/page/1", "/page/22", true}, {"/page/1", "/story/1", false}, {"/a/item-5.html", "/a/item-77.html", true},
		{"/x;s=1a2b3c4d5e6f", "/y;s=00ff00ff00ff1", true}, {"/l?b=1&a=2", "/l?a=3&b=4", true}, {"/l?a=1", "/l?b=1", false},
		{"/r?t=mP3xAa8Zq1LkT2", "/r?t=PTHfUkTXUGPWjN", true}, {"/r?u=names", "/r?u=prices", false},
		{"/s/1a2b3c4d5e6f/item/5", "/s/99ab00cd11ef2/item/6", true}, {"/g/a/b/a/b/a/", "/g/b/b/a/a/b/b/", true},
		{"/wiki/File:Fire.png", "/wiki/File:Ice_17.png", true}, {"/wiki/Talk:Fire", "/wiki/Fire", false}, {"/wiki/Talk:Ice_17", "/wiki/Ice_17", false},
	} {
		if same := of(c.a) == of(c.b); same != c.same {
			t.Errorf("%s and %s: the same template: %v", c.a, c.b, same)
		}
	}
}

// A token of a segment is masked where it looks random and is not all of the name; what people write is not.
func TestMaskTokens(t *testing.T) {
	for s, want := range map[string]string{
		"5.1f3a9c0d.html": "5.*.html", "5&sid=1f3a9c0d2b": "5&sid=*", "~1f3a9c0d": "~*", "5,1f3a9c0d,0.html": "5,*,0.html", "a_Xk3pQ9rT2mZ7": "a_*",
		"1f3a9c0d.html": "", "apas02s01.html": "", "x.apas02s01.html": "", "ch10s03s02.de.html": "", "report.20240115123456.pdf": "", "v1.2.3-beta4": "",
		"page-17.html": "", "jquery.min.js": "", "Smith,_John_(1876).html": "", "12_34_56_78_90": "", "decade.facade00.html": "", "": "", ".": "", "~": "",
		"a.b.c.d.e.f.g.h.i.j": "", "%E4%B8%AD%E6%96%87.1f3a9c0d": "%E4%B8%AD%E6%96%87.*",
	} {
		got, ok := maskTokens(s)
		if want == "" && (ok || got != s) || want != "" && (!ok || got != want) {
			t.Errorf("%q is masked as %q, %v; want %q", s, got, ok, want)
		}
	}
}

func TestMoments(t *testing.T) {
	for s, want := range map[string]bool{
		"1732600000": true, "1732600000123": true, "1732600000123456": true, "732600000": false, "9781234567897": false, "1432600000": false,
		"17326000001": false, "173260000a": false, "": false, "2032600000": false,
	} {
		if got := moment(s); got != want {
			t.Errorf("%q is a moment: %v", s, got)
		}
	}
}

// A session beside a date is none of it; what a path ends with is a thing's name.
func TestDated(t *testing.T) {
	for path, want := range map[string]bool{
		"/2026/11/27": true, "/agenda/2026-11": true, "/c?view=day&y=2026&m=11&d=27": true, "/c?view=day&y=2026&m=11&d=27&PHPSESSID=4a3f990516b150c15e55884c16": true,
		"/4a3f990516b150c1/2026/11/27": true, "/c;s=4a3f990516b150c1?at=2026-11": true, "/c?at=1732600000": true, "/c?at=1132600000": true, "/c?at=2232600000": true, "/2026/11/4a3f990516b150c1": false,
		"/calendar.php?c=1&year=2026&month=5&day=2026-5-2": true, "/c?from=2025&to=2026-5": false,
		"/item?id=17": false, "/c?y=2026&m=11&n=123456": false, "/c?y=2026&m=11&n=123456789012": false, "/c?s=4a3f990516b150c15e55884c16": false,
	} {
		var p pieces
		if p.split(parsed(t, "http://h.test"+path)); p.dated() != want {
			t.Errorf("%s is a date: %v", path, !want)
		}
	}
}

func TestClassify(t *testing.T) {
	for s, want := range map[string]class{
		"about": word, "page-17.html": mixed, "17": number, "1f3a9c0d": opaque, "17641234567890": opaque,
		"(S(d0123456789012345))": opaque, "(S(lit3py55t21z5v55vlm25s55))": opaque, "(F(8f3a9c0d1122))": opaque, "(1)": mixed, "(s)": word,
	} {
		if got := classify(s); got != want {
			t.Errorf("%s is of class %d, want %d", s, got, want)
		}
	}
}

// Once there are too many shapes below a first segment to tell them apart, any words may stand beside numbers in its paths. What has none of these is
// of paths whose order says nothing, and so is what repeats names, or has ever more levels.
func TestWordsBesideNumbersOfManyPaths(t *testing.T) {
	m := New()
	of := func(path string) *Template { return m.of(parsed(t, "http://a.test"+path)) }
	town := func(state, town int) string {
		return fmt.Sprintf("/shops/%s-%d/%s-%d/", letters(state), state, letters(100+town), town)
	}
	for i := range maxShapes {
		of(town(i, i) + fmt.Sprintf("view%s/", letters(i)))
	}
	shop, other, list := of(town(50, 60)+"4711/"), of(town(51, 61)+"4712/"), of(town(50, 60))
	if shop.bag() || shop != other || shop == list {
		t.Errorf("shops are %s and %s, their list is %s", shop.Pattern, other.Pattern, list.Pattern)
	}
	if names, again := of("/shops/red/large/cotton/"), of(town(50, 60)+town(50, 60)); !names.bag() || !again.bag() {
		t.Errorf("names are %s, what repeats names %s", names.Pattern, again.Pattern)
	}
	for i := range maxValues {
		of(fmt.Sprintf("/shops/%s/open", letters(i)))
	}
	if a, b, names := of("/shops/here/any-words-7/menu"), of("/shops/there/other-words-8/menu"), of("/shops/there/menu/today/only"); a != b || a.bag() || !names.bag() {
		t.Errorf("menus are %s and %s, names %s", a.Pattern, b.Pattern, names.Pattern)
	}
	for i := range 2 * maxSlugged {
		of(town(70+i, i) + fmt.Sprintf("4711/x%s/", letters(i)))
	}
	if last := of(town(52, 62) + "4711/unseen/"); !last.bag() {
		t.Errorf("any number of shapes is told apart: %s", last.Pattern)
	}
}

// What a thing is called beside its number is no list of others, whatever stands between its words.
func TestTitled(t *testing.T) {
	for s, want := range map[string]bool{
		"12-any-words": true, "any_words_12": true, "Frank+Falham_40695": true, "Andr%C3%A9,+Zo%C3%AB-7": true, "Frank%20Falham%2040695": true, "2.3.4": false,
		"red+blue": false, "v12": false, "ab-12": false, "12": false, "1f3a-9c0d": false, "": false, "%": false,
	} {
		if got := titled(s); got != want {
			t.Errorf("%q is words and a number: %v", s, got)
		}
		var p pieces
		if p.split(parsed(t, "http://h.test/x/"+s)); want && p.lists() {
			t.Errorf("%q is a list", s)
		}
	}
}

// Pages and posts of topics, whose names are any words and a number, are told apart where there are too many shapes: their own names stand in many places.
func TestPagesOfThingsOfManyNames(t *testing.T) {
	m := New()
	of := func(format string, args ...any) *Template {
		return m.of(parsed(t, "http://a.test/topics/"+fmt.Sprintf(format, args...)))
	}
	for i := range maxShapes {
		for _, view := range []string{"page-2", "post-17", "latest", ""} {
			of("%s-words.%d/%s", letters(i), i, view)
		}
	}
	page, again, post, last, topic := of("unseen-words.900/page-3"), of("other-words.901/page-4"), of("any-words.902/post-77"), of("any-words.903/latest"), of("any-words.904/")
	if page != again || page == post || page == last || post == last || topic == page || page.bag() || post.bag() || last.bag() || topic.bag() {
		t.Errorf("pages are %s and %s, posts %s, the last %s, topics %s", page.Pattern, again.Pattern, post.Pattern, last.Pattern, topic.Pattern)
	}
}
