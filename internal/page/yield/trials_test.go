package yield

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
)

// Paths of many kinds that were cut with what has named them are heard by themselves: they go on if they have an end, and are cut again soon if
// they have none.
func TestBagIsHeard(t *testing.T) {
	for _, c := range []struct {
		name     string
		every    int // so many answers one names
		more     int // so many of its kind that were not there
		from, to int // answers that are had
	}{
		{"what has an end", limit, 0, limit - 1, limit},
		{"what names less and less", 4, 2, limit - 1, limit}, // one for two of its answers
		{"what has none", 1, 1, hearGrow, hearFirst + 4*hearGrow},
		{"what has none, by now and then", 3, 4, hearGrow, hearFirst + 2*hearBred},
		{"what has none, by seldom ones", 10, 15, hearGrow, hearFirst + 2*hearBred},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New()
			file := func(i int) crawl.URL {
				return parsed(t, fmt.Sprintf("http://h.test/r/x/x/f%c%c%c.txt", 'a'+i/676, 'a'+i/26%26, 'a'+i%26))
			}
			bag := m.of(file(0))
			list := m.of(parsed(t, "http://h.test/r/log?at=1"))
			if !bag.bag() || list.bag() {
				t.Fatalf("templates %q and %q", bag.Pattern, list.Pattern)
			}
			m.cut(m.join(bag, list), &Answer{URL: file(0), Template: bag.ID})
			bag.Answers, list.Answers = 1, 1
			m.groups[list.Group].Strangers, m.groups[list.Group].Newborns = 0, 0
			for i := range 2 * limit {
				v := m.Judge(file(i), list.ID, false)
				if !v.Wait {
					t.Fatalf("file %d does not wait", i)
				}
				m.Defer(v, file(i), file(i).Key())
			}
			n := 0
			for i := range 2 * limit {
				u := file(i)
				if m.Judge(u, bag.ID, false).Wait && m.Hear() != bag.ID {
					break
				}
				n++
				m.Resume(list.Group, u, u.Key())
				f := Feeds{}
				for k := range c.more {
					if i%c.every == 0 {
						m.Feed(&f, file(5000+c.more*i+k), bag.ID, u.String())
					}
				}
				m.Take(&Answer{URL: u, Template: bag.ID, Via: bag.ID, Page: true, Marked: true, Text: 1 << 32, Links: 9, Found: f.Own, Feeds: f})
			}
			if n < c.from || n > c.to {
				t.Errorf("%d answers, want %d to %d", n, c.from, c.to)
			}
		})
	}
}

// The group that what is heard was cut with may be gone when it is judged: all of its templates were let go, and nothing waits with it any more.
func TestHeardWithoutItsGroup(t *testing.T) {
	m := New()
	file := func(kind string, i int) crawl.URL {
		return parsed(t, fmt.Sprintf("http://h.test/r/x/x/f%c%c.%s", 'a'+i/26, 'a'+i%26, kind))
	}
	one, other := m.of(file("dat", 0)), m.of(file("txt", 0))
	one.Answers, other.Answers = 1, 1
	home := m.join(one, other)
	m.cut(home, &Answer{URL: file("dat", 0), Template: one.ID})
	home.Strangers, home.Newborns = 0, 0
	for _, kind := range []string{"txt", "dat"} {
		m.Defer(m.Judge(file(kind, 1), 0, false), file(kind, 1), file(kind, 1).Key())
	}
	if m.Hear() != one.ID {
		t.Fatal("the first is not heard")
	}
	m.alone(other, 0)
	for _, kind := range []string{"txt", "dat"} {
		m.Resume(home.ID, file(kind, 1), file(kind, 1).Key())
	}
	if err := m.Flush(func(_, _ []byte) error { return nil }, func([]byte) error { return nil }); err != nil || m.groups[home.ID] != nil {
		t.Fatalf("the group is there: %v", err)
	}
	n := 0
	for i := range 2 * limit {
		u := file("dat", i)
		if m.Judge(u, one.ID, false).Wait {
			break
		}
		n++
		m.Take(&Answer{URL: u, Template: one.ID, Via: one.ID, Page: true, Marked: true, Text: 1 << 32, Links: 9})
		m.Judge(parsed(t, fmt.Sprintf("http://h.test/other/%d?q=1", i)), one.ID, false)
	}
	if n == 0 || n > limit {
		t.Errorf("%d answers, want %d at most", n, limit)
	}
}

// restarted returns the Model that a process has which starts with the records of one that has ended; kept are those of the ones before.
func restarted(t *testing.T, m *Model, kept map[string][]byte) *Model {
	t.Helper()
	put := func(k, v []byte) error { kept[string(k)] = slices.Clone(v); return nil }
	drop := func(prefix []byte) error {
		maps.DeleteFunc(kept, func(k string, _ []byte) bool { return strings.HasPrefix(k, string(prefix)) })
		return nil
	}
	if err := m.Flush(put, drop); err != nil {
		t.Fatal(err)
	}
	next := New()
	for _, k := range slices.Sorted(maps.Keys(kept)) {
		if err := next.Load([]byte(k), kept[k]); err != nil {
			t.Fatal(err)
		}
	}
	return next
}

// What a program shows of one thing is heard view by view: first a little of each, then all of what has brought something, then the others; also
// where the process ends in between, and where all views were cut by themselves.
func TestViewsAreHeard(t *testing.T) {
	for _, alone := range []bool{false, true} {
		for _, pages := range []string{"http://h.test/r/%s/a%c/f%c%c.txt", "http://h.test/r/?a=%s&of=a%c/f%c%c.txt"} {
			t.Run(fmt.Sprintf("%s, alone %v", pages, alone), func(t *testing.T) { viewsAreHeard(t, pages, alone) })
		}
	}
}

func viewsAreHeard(t *testing.T, pages string, alone bool) {
	m := New()
	kinds := []string{"blame", "log", "tree"}
	page := func(kind string, i int) crawl.URL {
		return parsed(t, fmt.Sprintf(pages, kind, 'a'+i%4, 'a'+i/26, 'a'+i%26))
	}
	for i := 0; m.shapes[first([]byte("/r/"))] < maxShapes; i++ { // until all else is one bag
		m.of(parsed(t, fmt.Sprintf("http://h.test/r/%s/?%c=%c", kinds[i%3], 'b'+i/26, 'a'+i%26)))
		m.of(parsed(t, "http://h.test/r/?a="+kinds[i%3]))
	}
	bag, list := m.of(page("tree", 0)), m.of(parsed(t, "http://h.test/r/log/?b=a"))
	if bag != m.of(page("log", 0)) || !bag.bag() {
		t.Fatalf("%q is not one bag", bag.Pattern)
	}
	home := m.groups[bag.Group]
	if !alone {
		home = m.join(list, bag)
	}
	bag.Answers, list.Answers = 1, 1
	m.cut(home, &Answer{URL: page("tree", 0), Template: bag.ID})
	home.Strangers, home.Newborns = 0, 0
	const files = 40
	for _, kind := range kinds {
		for i := range files {
			m.Defer(m.Judge(page(kind, i), list.ID, false), page(kind, i), page(kind, i).Key())
		}
	}
	var order []string
	had := map[string]int{}
	kept := map[string][]byte{}
	for {
		at, views := m.Find(page(kinds[0], 0)), m.Views()
		id := m.Hear()
		if id == 0 {
			break
		}
		if m.Find(page(kinds[0], 0)) != at && m.Views() == views {
			t.Error("a URL is of another template, and nothing says so")
		}
		m = restarted(t, m, kept)
		if m.Views() < views {
			t.Errorf("%d views were let go, and %d after a restart", views, m.Views())
		}
		view := m.byID[id]
		for _, kind := range kinds {
			for i := had[kind]; i < files; i++ {
				u := page(kind, i)
				if m.Find(u) != id || m.Judge(u, list.ID, false).Wait {
					break
				}
				if had[kind]++; len(order) == 0 || order[len(order)-1] != view.Pattern {
					order = append(order, view.Pattern)
				}
				m.Resume(home.ID, u, u.Key())
				a := Answer{URL: u, Template: id, Page: true, Marked: true, Text: 1 << 32, Links: 9}
				if kind == "tree" && i == 5 {
					a.Text, a.Sample = 7<<32, []uint32{xx(7) &^ 1, xx(1007) &^ 1, xx(2007) &^ 1, xx(3007) &^ 1}
				}
				m.Take(&a)
			}
		}
	}
	want := []string{"~r/blame/….txt", "~r/log/….txt", "~r/tree/….txt", "~r/blame/….txt", "~r/log/….txt"}
	if strings.Contains(pages, "?") {
		want = []string{"~r/…?a=blame&of", "~r/…?a=log&of", "~r/…?a=tree&of", "~r/…?a=blame&of", "~r/…?a=log&of"}
	}
	if !slices.Equal(order, want) {
		t.Errorf("heard %q, want %q", order, want)
	}
	for _, kind := range kinds {
		if had[kind] != files {
			t.Errorf("%d of %d of %s were had", had[kind], files, kind)
		}
	}
}

// Where views go on to name more, no other is heard after a few of them, but for the first answers of each.
func TestEndlessViewsAreHeardOnce(t *testing.T) {
	m := New()
	page := func(kind, i int) crawl.URL {
		return parsed(t, fmt.Sprintf("http://h.test/r/v%c/a%c/f%c%c.txt", 'a'+kind, 'a'+i%4, 'a'+i/26%26, 'a'+i%26))
	}
	for i := 0; m.shapes[first([]byte("/r/"))] < maxShapes; i++ { // until all else is one bag
		m.of(parsed(t, fmt.Sprintf("http://h.test/r/v%c/?%c=%c", 'a'+i%(2*hearEndless), 'b'+i/26, 'a'+i%26)))
	}
	bag := m.of(page(0, 0))
	home := m.groups[bag.Group]
	bag.Answers = 1
	m.cut(home, &Answer{URL: page(0, 0), Template: bag.ID})
	home.Strangers, home.Newborns = 0, 0
	for kind := range 2 * hearEndless {
		for i := range 60 {
			m.Defer(m.Judge(page(kind, i), bag.ID, false), page(kind, i), page(kind, i).Key())
		}
	}
	had := map[int]int{}
	heard, answers := 0, 0
	for id := m.Hear(); id != 0; id = m.Hear() {
		heard++
		kind := int(m.byID[id].Pattern[len("~r/v")] - 'a')
		for ; had[kind] < 60 && !m.Judge(page(kind, had[kind]), bag.ID, false).Wait; had[kind]++ {
			i := had[kind]
			m.Resume(home.ID, page(kind, i), page(kind, i).Key())
			var f Feeds
			for k := range 3 {
				m.Feed(&f, page(kind, 100+3*i+k), id, page(kind, i).String())
			}
			m.Take(&Answer{URL: page(kind, i), Template: id, Via: id, Page: true, Marked: true, Text: 1 << 32, Links: 9, Found: f.Own, Feeds: f})
			answers++
		}
	}
	if heard != 3*hearEndless || answers > 4*hearFirst*hearEndless {
		t.Errorf("%d hearings with %d answers, want one of each of %d views and another of %d", heard, answers, 2*hearEndless, hearEndless)
	}
}

// What pages without end have named pays back what they have cost, and is spent all the same: a web of paths that are not there, each of which
// proposes more of them and now and then what is there, costs no more than one that proposes nothing.
func TestWhatIsPaidBackIsSpent(t *testing.T) {
	m := New()
	path := func(i int) crawl.URL {
		return parsed(t, fmt.Sprintf("http://h.test/r/a%c/b%s.html", 'a'+i%4, letters(i)))
	}
	for i := 0; m.shapes[first([]byte("/r/"))] < maxShapes; i++ { // until all else is one bag
		m.of(parsed(t, fmt.Sprintf("http://h.test/r/?%c=%c", 'a'+i/26, 'a'+i%26)))
	}
	bag := m.of(path(0))
	if !bag.bag() {
		t.Fatalf("%q is not a bag", bag.Pattern)
	}
	paid := int64(0)
	for i := 0; m.Cuts() == 0 && i < 9*limit; i++ {
		a := Answer{URL: path(i), Template: bag.ID, Via: bag.ID, Page: true, Marked: true, Text: uint64(i+1) << 32, Sample: []uint32{2, 4, 6}, Links: 9, Found: 3}
		if a.Feeds = (Feeds{Own: 3}); m.Watches(bag.ID) { // as the frontier counts them
			a.Feeds = Feeds{Own: 3, Led: 3, Same: 3}
		}
		m.Take(&a)
		if before := m.groups[bag.Group].Sum; i%3 == 0 {
			u := parsed(t, fmt.Sprintf("http://h.test/article/%d", i))
			own := []uint32{xx(uint32(i)) &^ 1, xx(uint32(i+99999)) &^ 1}
			m.Take(&Answer{URL: u, Template: m.Template(u), Via: bag.ID, Page: true, Marked: true, Text: uint64(i+77777) << 32, Sample: own})
			paid += before - m.groups[bag.Group].Sum
		}
	}
	if m.Cuts() == 0 || paid == 0 || bag.Barren > limit {
		t.Errorf("%d answers that brought nothing (%d were paid back), want %d at most", bag.Barren, paid, limit)
	}
}
