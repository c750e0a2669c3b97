package yield

import (
	"fmt"
	"testing"
)

// A URL follows a page that bears if it is that of the next page, or the one after it; where a list counts entries, if that page has named it.
func TestFollows(t *testing.T) {
	m := New()
	page := func(url string) uint64 { return Lister(parsed(t, "http://h.test"+url).Key()) }
	article := m.of(parsed(t, "http://h.test/article/1"))
	for i, list := range []string{"/list?page=2&by=name", "/forum/7?start=20", "/blog/page/9/", "/poor?page=2"} {
		news := bearsFrom
		if list == "/poor?page=2" {
			news--
		}
		for k := range news {
			n := 10*i + k + 1
			m.Take(&Answer{URL: parsed(t, fmt.Sprintf("http://h.test/article/%d", n)), Template: article.ID, Via: article.ID, Lister: page(list), Page: true, Marked: true, Text: uint64(n) << 32, Sample: sorted(text(n))})
		}
	}
	for _, c := range []struct {
		url, parent string
		want        bool
	}{
		{"/list?page=3&by=name", "/list?by=name", true},
		{"/list?page=4&by=name", "/list?page=3&by=name", true}, // what page 3 has named may not be there yet
		{"/list?page=5&by=name", "/list?page=4&by=name", false},
		{"/list?page=3&by=date", "/list?page=2&by=name", false},
		{"/forum/7?start=40", "/forum/7?start=20", true},
		{"/forum/7?start=60", "/forum/7?start=20", false},
		{"/forum/8?start=40", "/forum/7?start=20", false},
		{"/blog/page/10/", "/blog/page/9/", true},
		{"/poor?page=3", "/poor?page=2", false},
		{"/list?page=03&by=name", "/list?by=name", false},
		{"/article", "/list?page=2&by=name", false},
	} {
		if got := m.Follows(parsed(t, "http://h.test"+c.url), parsed(t, "http://h.test"+c.parent)); got != c.want {
			t.Errorf("%s, named by %s, follows: %v", c.url, c.parent, got)
		}
	}
	if m.Begun() {
		t.Error("what waits is looked at, and nothing does")
	}
	m.cut(m.groups[article.Group], &Answer{URL: parsed(t, "http://h.test/article/1")})
	if kept := map[string][]byte{}; !restarted(t, m, kept).Begun() || !m.Begun() || m.Begun() || restarted(t, m, kept).Begun() {
		t.Error("what waits is not looked at once")
	}
}

// Of a bag that is cut those URLs go on whose form has brought something most of the time. What they bring says nothing of the others.
func TestGoodFormsAreNotCut(t *testing.T) {
	m := New()
	for i := 0; m.shapes[first([]byte("/r/"))] < maxShapes; i++ { // until all else is one bag
		m.of(parsed(t, fmt.Sprintf("http://h.test/r/v%c/?%c=%c", 'a'+i%8, 'b'+i/26, 'a'+i%26)))
	}
	issue, blame := "http://h.test/r/u/issues/%d", "http://h.test/r/u/blame/%d"
	bag := m.of(parsed(t, fmt.Sprintf(issue, 1)))
	if !bag.bag() || m.of(parsed(t, fmt.Sprintf(blame, 1))) != bag {
		t.Fatalf("%s is not a bag of both", bag.Pattern)
	}
	take := func(format string, n, of int) {
		m.Take(&Answer{URL: parsed(t, fmt.Sprintf(format, n)), Template: bag.ID, Via: bag.ID, Page: true, Marked: true, Text: uint64(of) << 32, Sample: sorted(text(of)), Links: 9})
	}
	waits := func(format string) bool { return m.Judge(parsed(t, fmt.Sprintf(format, 999)), bag.ID, false).Wait }
	for n := range formsFrom {
		take(issue, n, n+1)
	}
	g := m.groups[bag.Group]
	m.cut(g, &Answer{URL: parsed(t, fmt.Sprintf(blame, 1)), Template: bag.ID})
	g.Strangers, g.Newborns, g.Things = 0, 0, 0
	if waits(issue) || !waits(blame) {
		t.Fatalf("issues wait: %v; blame does: %v", waits(issue), waits(blame))
	}
	if take(issue, 100, 100); !g.Cut || !waits(blame) {
		t.Error("what a good form brings lets others go on")
	}
	for n := range formsFrom + 1 {
		take(issue, 200+n, 1)
	}
	if !waits(issue) {
		t.Error("a form goes on that has brought nothing more often than something")
	}
}

// Of views that ask for as little that one is heard first which was met first: a thing is before its views.
func TestMetFirstIsHeardFirst(t *testing.T) {
	m := New()
	for i := 0; m.shapes[first([]byte("/r/"))] < maxShapes; i++ {
		m.of(parsed(t, fmt.Sprintf("http://h.test/r/v%c/?%c=%c", 'a'+i%8, 'b'+i/26, 'a'+i%26)))
	}
	file := func(kind string) string { return "http://h.test/r/" + kind + "/x/f.txt" }
	bag := m.of(parsed(t, file("blame")))
	bag.Answers = 1
	m.cut(m.groups[bag.Group], &Answer{URL: parsed(t, file("blame")), Template: bag.ID})
	for i, kind := range []string{"tree", "blame", "plain", "tree"} {
		m.Answers = int64(i)
		u := parsed(t, file(kind))
		m.Defer(Verdict{Wait: true, Group: bag.Group}, u, u.Key())
	}
	if id := m.Hear(); id == 0 || m.byID[id].Pattern != "~r/tree/….txt" {
		t.Errorf("heard first: %v", m.byID[id])
	}
}

// text is a sample of a text that no other number has.
func text(n int) []uint32 {
	out := make([]uint32, 40)
	for i := range out {
		out[i] = uint32(n*1000+i)*0x9e3779b1 | 2
	}
	return out
}
