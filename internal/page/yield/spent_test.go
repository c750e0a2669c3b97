package yield

import (
	"fmt"
	"testing"
)

// faint has a model judge an answer that says nothing new but its address, named by a page of a template, and returns the answer's template.
func faint(t *testing.T, m *Model, url string, via uint32, own int) *Template {
	t.Helper()
	u := parsed(t, url)
	id := m.Template(u)
	if via == 0 {
		via = id
	}
	m.Take(&Answer{
		URL: u, Template: id, Via: via, Page: true, Marked: true, Text: uint64(xx(uint32(m.Answers))) << 32, Sample: []uint32{2, 4, 6, 8}, Links: 3, Found: 3,
		Feeds: Feeds{Own: own, Led: own, Same: own},
	})
	return m.byID[id]
}

// fresh has a model judge an answer with a text that was not there.
func fresh(t *testing.T, m *Model, url string, via uint32) *Template {
	t.Helper()
	u := parsed(t, url)
	id := m.Template(u)
	var sample []uint32
	for k := range 8 {
		sample = append(sample, xx(uint32(m.Answers*8)+uint32(k)+1<<20)&^1)
	}
	m.Take(&Answer{URL: u, Template: id, Via: via, Page: true, Marked: true, Text: uint64(xx(uint32(m.Answers))) << 32, Sample: sample, Links: 3})
	return m.byID[id]
}

// What leads into a trap that is cut is the same trap, though it names that only since the cut: it goes on for a while, not for as long again.
func TestWaysIntoWhatIsCut(t *testing.T) {
	m := New()
	for i := 0; m.Cuts() == 0; i++ {
		faint(t, m, fmt.Sprintf("http://h.test/archive/%d", i), 0, 1)
	}
	answers := 0
	for ; m.Cuts() == 1 && answers < 2*limit; answers++ {
		page := faint(t, m, fmt.Sprintf("http://h.test/page/%d", answers), 0, 1)
		if v := m.Judge(parsed(t, fmt.Sprintf("http://h.test/archive/%d", 10*limit+answers)), page.ID, false); answers > 2*strangers && !v.Wait && !v.Try {
			t.Fatal("what is cut goes on")
		}
	}
	if answers > 2*minLimit {
		t.Errorf("%d answers of what leads into it, want %d at most", answers, 2*minLimit)
	}
}

// Two kinds of pages that lead to each other are one trap, though one was new now and then.
func TestWaysOfATrapAreOne(t *testing.T) {
	m := New()
	answers := 0
	left, right := uint32(0), uint32(0)
	for ; m.Cuts() < 1 && answers < 4*limit; answers += 2 {
		one := fmt.Sprintf("http://h.test/old/%d", answers)
		if answers < 4 {
			left, right = fresh(t, m, one, right).ID, fresh(t, m, fmt.Sprintf("http://h.test/lost/%d", answers), left).ID
			continue
		}
		left = faint(t, m, one, right, 1).ID
		right = faint(t, m, fmt.Sprintf("http://h.test/lost/%d", answers), left, 1).ID
	}
	if answers > limit+4*sameAfter {
		t.Errorf("%d answers until one is cut, want %d at most", answers, limit+4*sameAfter)
	}
	if m.byID[left].Group != m.byID[right].Group {
		t.Error("they are two traps")
	}
}

// Lists that repeat behind their ends are one trap, though some of their pages differed in numbers before.
func TestVersionsWithFaintPages(t *testing.T) {
	m := New()
	list := func(letter string) (asked int) {
		for page := range limit {
			u := parsed(t, fmt.Sprintf("http://h.test/list?letter=%s&page=%d", letter, page))
			if page < 5 {
				faint(t, m, u.String(), 0, 1)
			} else if v := m.Judge(u, m.Find(u), false); !v.Wait {
				id := m.Template(u)
				m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: 9 << 32, Sample: []uint32{2, 4, 6, 8}, Links: 1, Found: 1, Feeds: Feeds{Own: 1, Led: 1, Same: 1}})
				asked++
			}
		}
		return asked
	}
	list("a")
	if m.Cuts() != 1 {
		t.Fatal("the first is not cut")
	}
	if asked := list("b"); asked > 4*dryAfter {
		t.Errorf("%d pages of the second, want %d at most", asked, 4*dryAfter)
	}
}

// What a list names that has nothing itself, and that says as little, does not pay for the list.
func TestSparedDoesNotPay(t *testing.T) {
	m := New()
	story := fresh(t, m, "http://h.test/story/0", 0)
	var list *Template
	for i := range 3 * sameAfter {
		list = faint(t, m, fmt.Sprintf("http://h.test/list/%d", i), 0, 1)
	}
	sum := m.groups[list.Group].Sum
	for i := range sameAfter {
		faint(t, m, fmt.Sprintf("http://h.test/story/%d", i+1), list.ID, 0)
	}
	if story.Spared != sameAfter || list.Named > 0 || m.groups[list.Group].Sum < sum {
		t.Errorf("%d of %d stories were spared; the list has named %d, and its sum went from %d to %d", story.Spared, sameAfter, list.Named, sum, m.groups[list.Group].Sum)
	}
}

// Of what was cut with others, and has hardly brought anything, others' finds go on one by one, not all of it. As many are tried at once as there
// were finds, up to a bound.
func TestOthersFindsLiftNothing(t *testing.T) {
	m := New()
	list := fresh(t, m, "http://h.test/", 0).ID
	other := faint(t, m, "http://h.test/archive/0", 0, 1)
	post := fresh(t, m, "http://h.test/blog/0", list)
	for i := 0; !m.groups[other.Group].Cut; i++ {
		faint(t, m, fmt.Sprintf("http://h.test/blog/%d", i+1), other.ID, 1)
		faint(t, m, fmt.Sprintf("http://h.test/archive/%d", i+1), post.ID, 1)
	}
	if g := m.groups[post.Group]; !g.Cut || g.Members != 2 {
		t.Fatalf("they were not cut together: %+v", g)
	}
	for i := range strangeMax {
		fresh(t, m, fmt.Sprintf("http://h.test/blog/new%d", i), list)
		if g := m.groups[post.Group]; i < 8 && !g.Cut || g.Cut && g.Strangers > strangeMax {
			t.Fatalf("after %d finds: cut %v, %d more are tried", i+1, g.Cut, g.Strangers)
		}
	}
}

// The chapters after the end of each of many books are one trap, though every book had chapters of its own. A book that goes on is not cut with the others.
func TestBooksThatRunOn(t *testing.T) {
	const books, long = 20, 10 * limit
	m, empty, had := New(), 0, 0
	left := map[int]bool{}
	for i := range books {
		left[i] = true
	}
	for chapter := 1; len(left) > 0 && chapter < long; chapter++ {
		for i := range books {
			url := fmt.Sprintf("http://h.test/read/%s?chapter=%d", letters(i), chapter)
			u := parsed(t, url)
			if left[i] && m.Judge(u, m.Find(u), false).Wait {
				delete(left, i)
			}
			switch via := m.Find(u); {
			case !left[i]:
			case chapter <= 4+i/2 || i == 0 && chapter < 60:
				fresh(t, m, url, via)
				had++
			default:
				faint(t, m, url, via, 1)
				empty++
			}
		}
	}
	if empty > 2*limit || had < 59+books*4 {
		t.Errorf("%d chapters had, %d after the end", had, empty)
	}
}

// Relative links that grow pass through all first segments: they are one trap, which is not heard again.
func TestPassesAreOne(t *testing.T) {
	m, answers := New(), 0
	for step := 2; m.Cuts() == 0 && answers < 9*limit; step++ {
		for i := range 8 {
			path := "/" + letters(i)
			for k := range 2 + step%9 {
				path += fmt.Sprintf("/%s/%s", letters(100+k%3), letters(200+step))
			}
			if u := parsed(t, "http://h.test"+path); !m.Judge(u, m.Find(u), false).Wait {
				faint(t, m, u.String(), 0, 1)
				answers++
			}
		}
	}
	if m.Cuts() == 0 || answers > limit+8*2*sameAfter {
		t.Errorf("%d answers before %d cuts", answers, m.Cuts())
	}
	below := map[uint32]map[uint64]bool{}
	for _, u := range m.byID {
		if u.passes() && m.groups[u.Group].Cut {
			if below[u.Group] == nil {
				below[u.Group] = map[uint64]bool{}
			}
			below[u.Group][u.First] = true
		}
	}
	for id, firsts := range below {
		if m.relative(m.groups[id]) != (len(firsts) > 1) || len(firsts) < 4 {
			t.Errorf("what lies below %d first segments is relative: %v", len(firsts), m.relative(m.groups[id]))
		}
	}
}
