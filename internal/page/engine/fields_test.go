package engine

import (
	"reflect"
	"strings"
	"testing"
)

// Fields are what their selectors find, made into what is wanted; what is not there has no value.
func TestFields(t *testing.T) {
	const page = `<meta charset=utf-8><h1> 光明 <b>牛奶</b> </h1><p class=d>发布：2013年5月4日 10:00</p><p class=p>￥1,234.50 元</p>
<ul><li>one<li>two</ul><a href="/x?id=17">more</a>`
	fs, err := NewFields([]Field{
		{Name: "title", Selector: Selector{CSS: "h1"}}, {Name: "date", Selector: Selector{XPath: "//p[@class='d']"}, As: "date"},
		{Name: "price", Selector: Selector{CSS: ".p"}, As: "number"}, {Name: "items", Selector: Selector{CSS: "li"}, All: true},
		{Name: "id", Selector: Selector{CSS: "a", Attr: "href", Match: `id=(\d+)`}}, {Name: "none", Selector: Selector{CSS: ".none"}},
		{Name: "no date", Selector: Selector{CSS: "h1"}, As: "date"}, {Name: "raw", Selector: Selector{Regex: `class=(\w)>￥`}},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, unread, err := fs.Of([]byte(page), "text/html")
	want := [][]string{{"光明 牛奶"}, {"2013-05-04"}, {"1234.50"}, {"one", "two"}, {"17"}, nil, nil, {"p"}}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v %q\nwant %q", err, got, want)
	}
	if want := []string{6: "光明 牛奶", 7: ""}; !reflect.DeepEqual(unread, want) {
		t.Errorf("%q are not read, want %q", unread, want)
	}
	for wrong, f := range map[string]Field{
		"[0]: name": {Selector: Selector{CSS: "p"}}, `[0]: css "p["`: {Name: "a", Selector: Selector{CSS: "p["}}, "[0]: want one of": {Name: "a"},
		"[0]: as": {Name: "a", Selector: Selector{CSS: "p"}, As: "money"}, "[0]: json": {Name: "a", Selector: Selector{JSON: "$"}},
		`[0]: name "url"`: {Name: "url", Selector: Selector{CSS: "p"}},
	} {
		if _, err := NewFields([]Field{f}); err == nil || !strings.Contains(err.Error(), wrong) {
			t.Errorf("%v: want %s", err, wrong)
		}
	}
	list := []Field{{Name: "title", Selector: Selector{CSS: "h1"}, All: true}}
	b, err := EncodeFields(list)
	if err != nil {
		t.Fatal(err)
	}
	if back, err := DecodeFields(b); err != nil || back.list[0].Field != list[0] {
		t.Errorf("%v %+v", err, back)
	}
}

// An expression that would take many seconds is not held against a large page.
func TestNestedExpression(t *testing.T) {
	fs, err := NewFields([]Field{{Name: "a", Selector: Selector{Regex: "(a*a*a*a*a*a*a*a*){8}x"}}})
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := fs.Of([]byte(strings.Repeat("ab,a", 750_000)), "text/html"); err == nil || !strings.Contains(err.Error(), "too many steps") {
		t.Error(err)
	}
}

// A group that took part in a match and is empty is empty; only where no group did the whole match counts.
func TestEmptyGroups(t *testing.T) {
	for expr, want := range map[string][]string{
		"<h1>([^<]*)": nil, "<h1>(x)?([^<]*)": nil, "<p>(z)?(y)?n": {"<p>n"}, "<p>(z)?(n*)": {"n"},
	} {
		fs, err := NewFields([]Field{{Name: "a", Selector: Selector{Regex: expr}}, {Name: "b", Selector: Selector{CSS: "p", Match: "n(x*)"}}})
		if err != nil {
			t.Fatal(err)
		}
		if got, _, err := fs.Of([]byte("<h1></h1><p>n</p>"), "text/html"); err != nil || !reflect.DeepEqual(got, [][]string{want, nil}) {
			t.Errorf("%s: %v %q, want %q", expr, err, got, want)
		}
	}
}

// Numbers and dates are those that were written, or none.
func TestMade(t *testing.T) {
	for as, cases := range map[string]map[string]string{
		"number": {"1,234.50 €": "1234.50", "1.234,50 €": "1234.50", "1.234.567": "1234567", "12,5": "12.5", "1,234": "1234", "-3.5": "-3.5", "1,234,567 km": "1234567", "no": "",
			"12 345,60 €": "12345.60", "12\u00a0345 kr": "12345", "12 345": "12345", "12'345.60": "12345.60", "12 3456": "", "2013 100": "", "12 345kr": "12345", "12 345 kr": "12345", "5 10": "", "1 234 56": "", "2013, 5": "2013", "−7": "-7",
			"v2.3.4": "", "2.3.4": "", "3-4": "", "1e6": "", "１２３": "123", "12:30": "", "1/2": "", "1,2,3": "", "1.23.456": "", "12,3456,789": "", "A4": "", "price9": "", "3月5日": "", "2013-05-04": "",
			"€19,99": "19.99", "EUR19.99": "19.99", "US$1,234": "1234", "价格123元": "123", "12GB": "12", "5 of 10": "5", "1,23,456.7": "123456.7", "-5": "-5", "(-5)": "-5", "9.": "9", "٣٤": "", "x -3": "-3", "1.234.567,8": "1234567.8"},
		"date": {"2013年5月4日": "2013-05-04", "on 2013/12/31": "2013-12-31", "2013-99-99": "", "2013-02-30": "",
			"May 3, 2013": "2013-05-03", "3. Mai 2013": "2013-05-03", "3 мая 2013": "2013-05-03", "13/05/2013 14:20": "2013-05-13",
			"05/13/2013": "2013-05-13", "4.5.2013": "2013-05-04", "5/4/2013": "", "1er août 2013": "2013-08-01", "1 de mayo de 2013": "2013-05-01",
			"page 3 2013": "", "room 12 2013": "", "Sept. 3rd, 2013, was 2014-01-01": "2013-09-03", "31 listopada 2013": "", "20130504": ""},
	} {
		for text, want := range cases {
			f := field{Field: Field{As: as}}
			if got, ok := f.made(text); ok != (want != "") || ok && got != want {
				t.Errorf("%s %q: %q, want %q", as, text, got, want)
			}
		}
	}
}
