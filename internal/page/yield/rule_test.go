package yield

import (
	"fmt"
	"slices"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/page/parse"
)

// rows has a Model judge answers of /row/0, /row/1, …, each named by the one before, until they are cut, and returns how many that took.
func rows(t *testing.T, most int, of func(i int) Answer) (n int) {
	t.Helper()
	m := New()
	for ; n < most && m.Cuts() == 0; n++ {
		a := of(n)
		a.URL = parsed(t, fmt.Sprintf("http://h.test/row/%d", n))
		a.Template = m.Template(a.URL)
		a.Via, a.Marked, a.Links, a.Found, a.Feeds = a.Template, true, 1, 1, Feeds{Own: 1, Led: 1, Same: 1}
		m.Take(&a)
	}
	return n
}

func TestRowsWithoutEnd(t *testing.T) {
	phrases := func(i, n int) (s []uint32) {
		for k := range n {
			s = append(s, xx(uint32(i*n+k))&^1)
		}
		return s
	}
	const never = 9 * limit
	for name, c := range map[string]struct {
		least, most int
		of          func(i int) Answer
	}{
		"the same words in another order": {100, limit + 2*dryAfter, func(i int) Answer {
			return Answer{Page: true, Text: 7<<32 | uint64(i), Sample: phrases(i, 20)}
		}},
		"four redirects to each page, which are equal": {100, limit, func(i int) Answer {
			if i%5 > 0 {
				return Answer{Moved: true, Text: uint64(i) << 32}
			}
			return Answer{Page: true, Text: 1 << 32, Sample: phrases(0, 20)}
		}},
		"new texts": {never, never, func(i int) Answer { return Answer{Page: true, Text: uint64(i+1) << 32, Sample: phrases(i, 20)} }},
		"new figures in sentences": {reportsCost * (limit - 2*newPays), reportsCost*limit + 2*dryAfter, func(i int) Answer {
			a := Answer{Page: true, Text: uint64(i+1) << 32, Sample: phrases(0, 20)}
			for _, f := range phrases(i, someSaid) {
				a.Figures = append(a.Figures, f|1)
			}
			return a
		}},
		"new pictures": {tablesCost * (limit - 3*newPays), tablesCost * (limit + 3*dryAfter), func(i int) Answer {
			return Answer{Page: true, Text: uint64(i+1) << 32, Sample: phrases(0, 20), Pictures: phrases(i, 1)}
		}},
		"new names": {tablesCost * (limit - 3*newPays), tablesCost * (limit + 3*dryAfter), func(i int) Answer {
			return Answer{Page: true, Text: uint64(i+1) << 32, Sample: phrases(0, 20), Names: phrases(i, 1)}
		}},
		"new names that stand in addresses": {tablesCost * (limit - 3*newPays), tablesCost * (limit + 3*dryAfter), func(i int) Answer {
			return Answer{Page: true, Text: uint64(i+1) << 32, Sample: phrases(0, 20), Names: []uint32{xx(uint32(i))&^3 | parse.NameOwn}}
		}},
		"new times of day in sentences": {tablesCost * (limit - 3*newPays), tablesCost * (limit + 3*dryAfter), func(i int) Answer {
			a := Answer{Page: true, Text: uint64(i+1) << 32, Sample: phrases(0, 20)}
			for _, f := range phrases(i, someFigures) {
				a.Figures = append(a.Figures, f|1)
			}
			return a
		}},
		"names that are drawn anew": {proven, limit + 2*proven, func(i int) Answer {
			a := Answer{Page: true, Text: uint64(i+1) << 32, Sample: phrases(0, 20), Names: phrases(i, 1)}
			if i > 2*proven && i%drawnSoon == 0 { // asked for twice, when the model wants it
				a.Twice, a.Changed, a.Names = true, true, nil
			}
			return a
		}},
		"few figures in sentences": {100, limit + 2*dryAfter, func(i int) Answer {
			a := Answer{Page: true, Text: uint64(i+1) << 32, Sample: phrases(0, 20)}
			for _, f := range phrases(i, someSaid-1) {
				a.Figures = append(a.Figures, f|1)
			}
			return a
		}},
	} {
		if n := rows(t, never, c.of); n < c.least || n > c.most {
			t.Errorf("%s: %d answers, want %d to %d", name, n, c.least, c.most)
		}
	}
}

// Figures in sentences are what pages are about that a list names, if they are the same when they are asked for twice.
func TestFiguresThatStay(t *testing.T) {
	for name, changes := range map[string]bool{"the same twice": false, "others each time": true} {
		m, n := New(), 0
		list := m.Template(parsed(t, "http://h.test/list"))
		for ; n < 9*limit && m.Cuts() == 0; n++ {
			u := parsed(t, fmt.Sprintf("http://h.test/place/%d", n))
			a := Answer{URL: u, Template: m.Template(u), Via: list, Page: true, Marked: true, Text: uint64(n+2) << 32, Sample: []uint32{12, 14, 16, 18}, Links: 1, Found: 1, Feeds: Feeds{Own: 1, Led: 1}}
			if a.Twice = n >= drawnFrom && n%drawnSoon == 0; a.Twice && changes {
				a.Changed = true
			} else {
				for k := range someSaid {
					a.Figures = append(a.Figures, xx(uint32(n*someSaid+k))|1)
				}
			}
			m.Take(&a)
		}
		if least, most := tablesCost*(limit-3*newPays), reportsCost*limit; !changes && n < least || changes && n > most {
			t.Errorf("%s: cut after %d answers, want %d or more, or %d or less", name, n, least, most)
		}
	}
}

// A page that is called what its address says, in words alone, is what any address is answered with, if pages of its kind alone have named it. One whose
// address has a number, too, may be of a thing; and what others name is as much as they have.
func TestEchoes(t *testing.T) {
	for name, c := range map[string]struct {
		format string
		list   bool // names all
		least  int
		most   int
	}{
		"words":             {"/offers/%s", false, limit - 2*newPays, limit + 2*dryAfter},
		"a search":          {"/search?q=%s+and", false, limit - 2*newPays, limit + 2*dryAfter},
		"words by a number": {"/offers/%s-17", false, tablesCost * (limit - 3*newPays), tablesCost * (limit + 3*dryAfter)},
		"words of a list":   {"/offers/%s", true, tablesCost * (limit - 3*newPays), tablesCost * (limit + 3*dryAfter)},
	} {
		m, n := New(), 0
		list := m.Template(parsed(t, "http://h.test/list"))
		m.Take(&Answer{URL: parsed(t, "http://h.test/list"), Template: list, Page: true, Marked: true, Text: 1, Sample: []uint32{2, 4, 6, 8}, Found: 9 * limit, Links: 9 * limit})
		for ; n < 9*limit && m.Cuts() == 0; n++ {
			a := Answer{Page: true, Text: uint64(n+2) << 32, Sample: []uint32{12, 14, 16, 18}, Names: []uint32{xx(uint32(n))&^3 | parse.NameOwn}, Marked: true, Links: 1, Found: 1, Feeds: Feeds{Own: 1, Led: 1, Same: 1}}
			a.URL = parsed(t, fmt.Sprintf("http://h.test"+c.format, letters(n)))
			a.Template = m.Template(a.URL)
			if a.Via = a.Template; c.list {
				a.Via = list
			}
			m.Take(&a)
		}
		if n < c.least || n > c.most {
			t.Errorf("%s: %d answers, want %d to %d", name, n, c.least, c.most)
		}
	}
}

// letters writes a number in letters.
func letters(n int) string {
	b := []byte{}
	for ; n > 0 || len(b) < 4; n /= 26 {
		b = append(b, byte('a'+n%26))
	}
	return string(b)
}

// Choices in every order are paths of many shapes, none of which gets many answers before the next one comes. They are cut together, and
// what a productive page names below the same directory is tried a few times only.
func TestManyShapesAreOneTrap(t *testing.T) {
	const each = 12
	m := New()
	list := m.Template(parsed(t, "http://h.test/pick/list"))
	m.Take(&Answer{URL: parsed(t, "http://h.test/pick/list"), Template: list, Page: true, Marked: true, Text: 1 << 32, Sample: []uint32{2, 4, 6}})
	answers, passed := 0, 0
	for shape := range 200 {
		name := string(rune('a'+shape%10)) + string(rune('a'+shape/10))
		for i := range each {
			u := parsed(t, fmt.Sprintf("http://h.test/pick/%s/%s-x", name, string(rune('a'+i))))
			if m.Judge(u, list, false).Wait {
				continue
			}
			if m.Cuts() > 0 {
				passed++
			}
			answers++
			id := m.Template(u)
			m.Take(&Answer{URL: u, Template: id, Via: list, Page: true, Marked: true, Text: uint64(answers+1) << 32, Sample: []uint32{2, 4, 6}, Links: 10, Found: 5, Feeds: Feeds{Own: 5}})
			m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: uint64(answers+1) << 32, Sample: []uint32{2, 4, 6}, Links: 10, Found: 5, Feeds: Feeds{Own: 5}})
		}
	}
	if m.Cuts() == 0 || answers > limit {
		t.Errorf("%d cuts after %d answers", m.Cuts(), answers)
	}
	if passed > 2*strangers {
		t.Errorf("%d URLs of further shapes were asked for", passed)
	}
}

// Where many shapes below a directory are cut, one URL each is tried of a few new ones that a productive page names. What brings something goes on, however
// many URLs of the others wait.
func TestNewShapesAreTriedOnceEach(t *testing.T) {
	m := New()
	list := m.Template(parsed(t, "http://h.test/list"))
	m.Take(&Answer{URL: parsed(t, "http://h.test/list"), Template: list, Page: true, Marked: true, Text: 1 << 32, Sample: []uint32{2, 4, 6}})
	for shape := 0; m.Cuts() == 0; shape++ {
		for i := range 2 * kinSoon {
			u := parsed(t, fmt.Sprintf("http://h.test/forum/%c.php?%c=%d", 'a'+shape%26, 'a'+shape/26, i))
			id := m.Template(u)
			m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: uint64(shape*100+i+2) << 32, Sample: []uint32{2, 4, 6}, Links: 10, Found: 5, Feeds: Feeds{Own: 5}})
		}
	}
	tried := func(url string) bool { return !m.Judge(parsed(t, "http://h.test/forum/"+url), list, false).Wait }
	for i := range 40 {
		if asked := tried(fmt.Sprintf("quote.php?p=%d", i)); asked != (i == 0) {
			t.Errorf("page %d to quote is asked for: %v", i, asked)
		}
	}
	if !tried("topic.php?t=1&start=10") || tried("topic.php?t=2&start=10") {
		t.Error("of the second pages of topics one is to be tried")
	}
	u := parsed(t, "http://h.test/forum/topic.php?t=1&start=10")
	m.Take(&Answer{URL: u, Template: m.Template(u), Via: list, Page: true, Marked: true, Text: 1 << 60, Sample: []uint32{102, 104, 106}})
	if !tried("topic.php?t=3&start=10") {
		t.Error("a second page was new, and the next one waits")
	}
	more := 0
	for i := range 100 {
		if tried(fmt.Sprintf("more.php?%c=%c", 'a'+i%26, 'a'+i/26)) {
			more++
		}
	}
	if more > strangers {
		t.Errorf("%d of further shapes are asked for", more)
	}
}

// A page to print, whose text is that of the page itself, is told by the address of that page.
func TestPageToPrint(t *testing.T) {
	m := New()
	for i := range 20 {
		for _, form := range []string{"http://h.test/show?day=%d", "http://h.test/show?day=%d&print=1"} {
			u := parsed(t, fmt.Sprintf(form, i))
			id := m.Template(u)
			m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: uint64(i+1) << 32, Sample: []uint32{2, 4, 6}})
		}
	}
	rest, changed := m.Rest(parsed(t, "http://h.test/show?day=99&print=1"))
	if want := parsed(t, "http://h.test/show?day=99").Key(); !changed || rest.Bare != want {
		t.Errorf("changed %v, the page itself is %v, want %v", changed, rest.Bare, want)
	}
}

// A list whose pages go on naming something, if seldom, is not cut with the orders of it that name nothing: when what they cost
// together leads to a cut, it is judged alone. It is cut when it has named nothing for long.
func TestSteadyListIsJudgedAlone(t *testing.T) {
	m := New()
	answer := func(url string, via uint32, text int, phrases ...uint32) uint32 {
		u := parsed(t, url)
		id := m.Template(u)
		m.Take(&Answer{URL: u, Template: id, Via: via, Page: true, Marked: true, Text: uint64(text+1) << 32, Sample: phrases, Links: 9, Found: 3, Feeds: Feeds{Own: 3}})
		return id
	}
	n := 0
	list := answer("http://h.test/list?page=0", 0, n, 2, 4, 6)
	order := list
	page := func(items bool) {
		n++
		answer(fmt.Sprintf("http://h.test/list?page=%d", n), list, n, 2, 4, 6)
		for i := range 2 {
			order = answer(fmt.Sprintf("http://h.test/list?page=%d&sort=%d", n, i), order, n, 2, 4, 6)
		}
		if items {
			x := uint32(100 * n)
			answer(fmt.Sprintf("http://h.test/item/%d", n), list, n+1e6, x, x+2, x+4, x+6)
		}
	}
	cut := func(id uint32) bool { return m.groups[m.byID[id].Group].Cut }
	for range 3 * limit {
		page(n%10 == 9)
	}
	if !cut(order) || cut(list) {
		t.Errorf("orders cut: %v, want true; the list: %v, want false", cut(order), cut(list))
	}
	for range limit {
		page(false)
	}
	if !cut(list) {
		t.Error("a list that names nothing any more is not cut")
	}
}

// Of what waits, that is tried first which a page names that brings something itself.
func TestHopefulIsTriedFirst(t *testing.T) {
	m := New()
	for i := range 4 {
		u := parsed(t, fmt.Sprintf("http://h.test/story/%d", i))
		m.Take(&Answer{URL: u, Template: m.Template(u), Page: true, Marked: true, Text: uint64(1000+i) << 32, Sample: []uint32{uint32(2000 + 2*i)}})
	}
	story := m.Find(parsed(t, "http://h.test/story/9"))
	take(t, m, "http://h.test/day?at=%d", limit, func(int) uint64 { return 1 })
	day := m.Find(parsed(t, "http://h.test/day?at=1"))
	m.groups[m.byID[day].Group].Strangers = 0
	want := parsed(t, "http://h.test/day?at=5000")
	for i := range 100 {
		u, via := parsed(t, fmt.Sprintf("http://h.test/day?at=%d", 4990+i)), day
		if u == want {
			via = story
		}
		v := m.Judge(u, via, false)
		if !v.Wait || v.Hopeful != (u == want) {
			t.Fatalf("%s: %+v", u, v)
		}
		m.Defer(v, u, u.Key())
	}
	if keys, _ := m.Trials(true); len(keys) != trialSize || keys[0] != want.Key() {
		t.Errorf("%d are tried, first %v; want %d and %v", len(keys), keys[0], trialSize, want.Key())
	}
}

// A number in the address that only says what a reader saw before changes a few words of a page. Articles that were not had are asked
// for before such as were, under whatever number; a series of pages that differ in numbers is not held for such a part.
func TestArticlesNotSeenComeFirst(t *testing.T) {
	common := func(of uint32, n int) (s []uint32) {
		for k := range n {
			s = append(s, xx(of*100+uint32(k))&^1)
		}
		slices.Sort(s)
		return slices.Compact(s)
	}
	for _, words := range []bool{true, false} {
		m := New()
		for i := range 300 {
			article := uint32(i % 12)
			u := parsed(t, fmt.Sprintf("http://h.test/blog/%d?seen=%d.%d", article, i, i%7))
			s := common(article+1, 40)
			if words {
				s = append(s, common(uint32(50+i%7), 6)...)
			}
			m.Take(&Answer{URL: u, Template: m.Template(u), Page: true, Marked: true, Text: uint64(i+1) << 32, Sample: sorted(s), Links: 4, Found: 1, Feeds: Feeds{Own: 1, Same: 1}})
		}
		id := m.Find(parsed(t, "http://h.test/blog/3?seen=1.2"))
		_, had := m.LeadsOn(parsed(t, "http://h.test/blog/3?seen=9.9"), id)
		_, other := m.LeadsOn(parsed(t, "http://h.test/blog/40?seen=9.9"), id)
		if had || other != words {
			t.Errorf("pages differ in words: %v; an article that was had comes first: %v, another: %v", words, had, other)
		}
	}
}

func sorted(s []uint32) []uint32 { slices.Sort(s); return slices.Compact(s) }

// Pages whose picture is drawn anew for each reader end as soon as those with the same one, once a few were asked for twice; those whose
// pictures stay go on.
func TestDrawnPictures(t *testing.T) {
	for _, c := range []struct {
		drawn       bool
		least, most int
	}{{true, 250, 400}, {false, 4 * limit, 4 * limit}} {
		m := New()
		n, twice := 0, 0
		for ; n < 4*limit && m.Cuts() == 0; n++ {
			a := Answer{URL: parsed(t, fmt.Sprintf("http://h.test/row/%d", n)), Page: true, Marked: true, Text: uint64(n+1) << 32, Sample: []uint32{2, 4, 6, 8}, Pictures: []uint32{xx(uint32(n)) | 1}}
			a.Template = m.Template(a.URL)
			a.Via, a.Links, a.Found, a.Feeds = a.Template, 1, 1, Feeds{Own: 1, Led: 1, Same: 1}
			if m.Want(a.Template, a.Via, a.URL.Key()).Mark == crawl.MarkTwice {
				a.Twice, twice = true, twice+1
				if c.drawn {
					a.Text, a.Pictures, a.Changed = 1<<32, nil, true
				}
			}
			m.Take(&a)
		}
		if n < c.least || n > c.most || twice > n/drawnEvery+3*drawnEnough {
			t.Errorf("drawn %v: cut after %d answers, of which %d were asked for twice", c.drawn, n, twice)
		}
	}
}

// lists has a Model judge a page of a list that names the next one, unless it lets it wait; a page without a mark is the same as the others without.
func lists(t *testing.T, m *Model, url string, mark uint32) (asked bool) {
	u := parsed(t, url)
	if m.Judge(u, m.Find(u), false).Wait {
		return false
	}
	id := m.Template(u)
	a := Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: 9 << 32, Sample: []uint32{2, 4, 6}, Links: 1, Found: 1, Feeds: Feeds{Own: 1, Led: 1, Same: 1}}
	if mark > 0 {
		a.Text, a.Sample = uint64(mark)<<32, []uint32{mark, mark + 2, mark + 4}
	}
	m.Take(&a)
	return true
}

// Lists that go on behind their ends cost together what one of them costs: they differ in what they ask for only.
func TestVersionsAreOneTrap(t *testing.T) {
	m := New()
	answers := 0
	for page := range 1000 {
		for _, letter := range []string{"A", "B", "C", "D", "E"} {
			var mark uint32
			if page < 3 {
				mark = xx(uint32(answers + 1))
			}
			if lists(t, m, fmt.Sprintf("http://h.test/list?letter=%s&page=%d", letter, page), mark) {
				answers++
			}
		}
	}
	if most := limit/knownCosts + 5*(3+dryAfter); answers > most {
		t.Errorf("%d answers, want %d at most", answers, most)
	}
}

// A list whose pages are the same for a while, amid new ones, is not taken for one that goes on behind its end because a list beside it does.
func TestListOutlivesItsSibling(t *testing.T) {
	m, page := New(), 0
	room := func(name string, n int, isNew bool) (asked int) {
		for range n {
			var mark uint32
			if page++; isNew {
				mark = xx(uint32(page))
			}
			if lists(t, m, fmt.Sprintf("http://h.test/week?room=%s&n=%d", name, page), mark) {
				asked++
			}
		}
		return asked
	}
	room("A", 400, true)
	room("B", 400, true)
	if room("A", 2*limit, false); m.Cuts() == 0 {
		t.Fatal("a list that goes on behind its end is not cut")
	}
	for _, gap := range []int{12, 20, 40} {
		if room("B", gap, false); room("B", 300, true) != 300 {
			t.Errorf("a list with a gap of %d pages waits", gap)
		}
	}
}

// One thing varies where a name has a number of its own: /people/mara-17/ is of people, and not of all numbers of all names; and where each
// thing has pages of several kinds.
func TestSingle(t *testing.T) {
	m := New()
	for path, want := range map[string]bool{
		"/people/mara-17/": true, "/people/jon-18/": true, "/person?id=7": true, "/chart?id=7": true, "/lists/17/18": false, "/lists?a=17&b=18": false,
	} {
		if is := m.byID[m.Template(parsed(t, "http://h.test"+path))].single(); is != want {
			t.Errorf("%s: %v, want %v", path, is, want)
		}
	}
}

// Of persons of whom two in three are private, and say the same but for their numbers, the others have names: their template is not cut before
// there have been as many of these as of a chain of names alone. Charts beside them say nothing else.
func TestNamesBesidePrivatePages(t *testing.T) {
	m := New()
	for i := range 6000 {
		person, chart := parsed(t, fmt.Sprint("http://h.test/person?id=", i)), parsed(t, fmt.Sprint("http://h.test/chart?id=", i))
		id := m.Template(person)
		a := Answer{URL: person, Template: id, Via: id, Page: true, Marked: true, Text: uint64(2*i+1) << 32, Sample: []uint32{2, 4, 6}, Links: 3, Found: 3, Feeds: Feeds{Own: 2, Led: 2, Same: 2}}
		if i%3 == 0 {
			a.Names = []uint32{xx(uint32(i)) &^ 3}
		}
		m.Take(&a)
		if m.IsCut(person) != 0 {
			t.Fatalf("cut after %d persons", i+1)
		}
		m.Take(&Answer{URL: chart, Template: m.Template(chart), Via: id, Page: true, Marked: true, Text: uint64(2*i+2) << 32, Sample: []uint32{2, 4, 6}})
	}
}

// Pages that are new by their figures share what may be had of such with the ends of ways that they name, once these are more than a page
// each: histories without end name revisions, tables have buttons.
func TestEndsOfWaysShareTheCost(t *testing.T) {
	for ends, had := range map[int]struct{ least, most int }{0: {4000, 8000}, 1: {4000, 16000}, 5: {1000, 4000}, 20: {200, 1000}} {
		m := New()
		pages := 0
		for ; pages <= had.most; pages++ {
			page := parsed(t, fmt.Sprint("http://h.test/page?n=", pages))
			id := m.Template(page)
			if m.IsCut(page) != 0 {
				break
			}
			x := xx(uint32(pages))
			m.Take(&Answer{URL: page, Template: id, Via: id, Page: true, Marked: true, Text: uint64(x) << 32, Sample: []uint32{2, 4, 6}, Figures: []uint32{x, x + 2, x + 4, x + 6, x + 8, x + 10}, Links: 1 + ends, Found: 1 + ends, Feeds: Feeds{Own: 1, Led: 1, Same: 1}})
			for i := range ends {
				end := parsed(t, fmt.Sprintf("http://h.test/end?n=%d&of=%d", i, pages))
				m.Take(&Answer{URL: end, Template: m.Template(end), Via: id, Page: true, Marked: true, Text: uint64(x+uint32(i)+1) << 32, Sample: []uint32{8, 10, 12}})
			}
		}
		if pages < had.least || pages > had.most {
			t.Errorf("with %d ends each: cut after %d pages, want %d to %d", ends, pages, had.least, had.most)
		}
	}
}

// What links are called does not make pages new that lead to nothing but more of their kind: a page that is not there proposes what is, under
// names that it makes up.
func TestLabelsOfKnownLinks(t *testing.T) {
	n := rows(t, 9*limit, func(i int) Answer {
		a := Answer{Page: true, Text: uint64(i+1) << 32, Sample: []uint32{2, 4, 6}, Links: 8, Found: 5, Feeds: Feeds{Own: 5, Led: 5, Same: 5}}
		for k := range partPhrases {
			a.Sample = append(a.Sample, xx(uint32(i*partPhrases+k))|1)
		}
		return a
	})
	if n > limit+4*sameAfter {
		t.Errorf("%d answers", n)
	}
}

// Equal pages that productive ones name are as many as these, and are asked for: some of them may differ. Not one of 500 in a row has, so
// that fewer than one in a hundred of the others do, and they wait. The pages that name them are not traps.
func TestEqualPagesAside(t *testing.T) {
	m := New()
	cutAt := 0
	for i := range 3 * limit {
		u := parsed(t, fmt.Sprintf("http://h.test/entry/%d", i))
		entry := m.Template(u)
		m.Take(&Answer{URL: u, Template: entry, Page: true, Marked: true, Text: uint64(i+10) << 32, Sample: []uint32{xx(uint32(i)), xx(uint32(i)) + 2}})
		form := parsed(t, fmt.Sprintf("http://h.test/reply?to=%d", i))
		if m.Judge(form, entry, false).Wait {
			if cutAt == 0 {
				cutAt = i
			}
			continue
		}
		m.Take(&Answer{URL: form, Template: m.Template(form), Via: entry, Page: true, Marked: true, Text: 1 << 32, Sample: []uint32{2, 4, 6}})
	}
	if cutAt < limit || cutAt > limit+2*bucketSize+dryAfter+strangers {
		t.Errorf("forms wait from %d on, want %d", cutAt, limit)
	}
	if g := m.groups[m.byID[m.Find(parsed(t, "http://h.test/entry/7"))].Group]; g.Cut || g.Less > 0 {
		t.Errorf("entries: cut %v, %d less", g.Cut, g.Less)
	}
}

// Of the pages beside things one in a hundred has a name that was not there, the others are all equal: no 500 in a row are, so all are asked for.
// If the names end, so do the pages.
func TestEqualPagesNowAndThenNew(t *testing.T) {
	const things, every = 4 * limit, 100
	for where, url := range map[string]string{"a parameter": "http://h.test/stock?of=%d", "a directory": "http://h.test/thing/%d/stock"} {
		for _, until := range []int{things, limit} {
			m, asked := New(), 0
			for i := range things {
				u := parsed(t, fmt.Sprintf("http://h.test/thing/%d", i))
				thing := m.Template(u)
				m.Take(&Answer{URL: u, Template: thing, Page: true, Marked: true, Text: uint64(i+10) << 32, Sample: []uint32{xx(uint32(i)), xx(uint32(i)) + 2}})
				beside := parsed(t, fmt.Sprintf(url, i))
				if m.Judge(beside, thing, false).Wait {
					continue
				}
				asked++
				a := Answer{URL: beside, Parent: u, Template: m.Template(beside), Via: thing, Page: true, Marked: true, Text: 1 << 32, Sample: []uint32{2, 4, 6}}
				if i%every == 7 && i < until {
					a.Text, a.Names = uint64(i+1e6)<<32, []uint32{xx(uint32(i)) &^ 3}
				}
				m.Take(&a)
			}
			switch most := until + limit + 2*bucketSize + strangers; {
			case until == things && asked < things:
				t.Errorf("%s: %d of %d asked for", where, asked, things)
			case until < things && asked > most:
				t.Errorf("%s, names up to %d: %d asked for, want %d at most", where, until, asked, most)
			}
		}
	}
}

// What a list has named comes late: it says nothing for the pages behind its end, which lead nowhere and are asked for meanwhile.
func TestLateCredit(t *testing.T) {
	m := New()
	n := 0
	for ; n < 4*limit && m.Cuts() == 0; n++ {
		u := parsed(t, fmt.Sprintf("http://h.test/list?page=%d", n))
		id := m.Template(u)
		a := Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: 9 << 32, Sample: []uint32{2, 4, 6}, Links: 1, Found: 1, Feeds: Feeds{Own: 1, Led: 1, Same: 1}}
		if n < 20 {
			x := xx(uint32(n))
			a.Text, a.Sample, a.Found = uint64(n+10)<<32, []uint32{x, x + 2, x + 4}, 11
		}
		m.Take(&a)
		item := parsed(t, fmt.Sprintf("http://h.test/item/%d", n))
		x := xx(uint32(n + 5000))
		m.Take(&Answer{URL: item, Template: m.Template(item), Via: id, Page: true, Marked: true, Text: uint64(n+9000) << 32, Sample: []uint32{x, x + 2, x + 4}})
	}
	if most := 20 + limit/knownCosts + dryAfter; n > most {
		t.Errorf("cut after %d answers, want %d at most", n, most)
	}
}
