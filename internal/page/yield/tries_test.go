package yield

import (
	"fmt"
	"reflect"
	"testing"
)

// A session that each page draws anew makes no difference in any template: what others have tried in vain of it is not tried again by each, until
// something is new.
func TestSessionIsTriedLessInEachTemplate(t *testing.T) {
	m := New()
	group := func(i int, name string) *Group {
		u := parsed(t, fmt.Sprintf("http://h.test/%c%c/x?%s=1", 'a'+i/26, 'a'+i%26, name))
		part := Part{Kind: partParam, Name: name, Template: m.of(u).ID}
		g := m.newGroup()
		g.Part, g.Cut = &part, true
		m.cuts++
		m.learn(&guess{Part: part, Group: g.ID})
		for k := range rounds * trialSize {
			v := parsed(t, fmt.Sprintf("http://h.test/%c%c/x?%s=%dabc", 'a'+i/26, 'a'+i%26, name, k))
			m.Defer(Verdict{Wait: true, Group: g.ID}, v, v.Key())
		}
		return g
	}
	all := func() (n int) {
		for {
			keys, some := m.Trials(true)
			if n += len(keys); !some {
				return n
			}
		}
	}
	const own = rounds * trialSize
	sid := group(0, "sid")
	m.handed[sid.Part.named()] = &handed{with: handedFrom}
	if n := all(); n != own {
		t.Fatalf("%d of the first template are tried, want %d", n, own)
	}
	for i := 1; i < 40; i++ {
		group(i, "sid")
	}
	n := all()
	if most := triesInVain + 40*triesLeast; n > most {
		t.Errorf("%d of 39 more templates are tried, want %d at most", n, most)
	}
	last := group(40, "sid")
	if n := all(); n != triesLeast {
		t.Errorf("%d of one more template are tried, want %d", n, triesLeast)
	}
	group(41, "page")
	if n := all(); n != own {
		t.Errorf("%d of another part are tried, want %d", n, own)
	}
	back := restarted(t, m, map[string][]byte{})
	back.handed[sid.Part.named()] = &handed{with: handedFrom}
	if back.tries(back.groups[last.ID]) != 0 {
		t.Error("what was tried is forgotten by a restart")
	}
	m.despite(m.byID[last.Part.Template])
	for k := range own {
		v := parsed(t, fmt.Sprintf("http://h.test/bo/x?sid=%dnew", k))
		m.Defer(Verdict{Wait: true, Group: last.ID}, v, v.Key())
	}
	if n := all(); n < own/2 {
		t.Errorf("%d are tried after one was new, want many", n)
	}
}

// A session is drawn anew by each page, and the id of a commit is handed on to the views of the same commit.
func TestWhatIsDrawnAnew(t *testing.T) {
	for _, c := range []struct {
		url  string // of a page, with a value that looks random
		on   int    // of so many pages one names a URL with its own value
		want bool
	}{
		{"http://h.test/read?sid=%016x", 0, true},
		{"http://h.test/read?sid=%016x", 40, true}, // by chance, or the server's
		{"http://h.test/s/%016x/read", 0, true},
		{"http://h.test/read?sid=%016x", 2, false},
		{"http://h.test/s/%016x/read", 2, false},
	} {
		m, kept := New(), map[string][]byte{}
		at := func(k uint64) string { return fmt.Sprintf(c.url, k*0x9e3779b97f4a7c15|1<<63) }
		page := m.of(parsed(t, at(1)))
		part := candidates(page.ID, &m.pieces, true, false)[0]
		m.learn(&guess{Part: part, Group: m.newGroup().ID})
		m.guessOf(part).dirty = true
		for i := range uint64(80) {
			f := Feeds{}
			m.Feed(&f, parsed(t, at(1000+i)), page.ID, at(i))
			if c.on > 0 && i%uint64(c.on) == 0 {
				m.Feed(&f, parsed(t, at(i)+"?more=1"), page.ID, at(i))
				m.Feed(&f, parsed(t, at(i)+"&more=1"), page.ID, at(i))
			}
			if i == 40 {
				m = restarted(t, m, kept)
				m.learn(&guess{Part: part})
			}
		}
		if got := m.drawnAnew(part); got != c.want {
			t.Errorf("%s, one in %d hands its own on: drawn anew %v, want %v (%+v)", c.url, c.on, got, c.want, *m.handed[part.named()])
		}
	}
}

// A session that each page draws anew is known by the pairs of all templates together, where each article is one; and so it is in paths of many kinds,
// of which no other segment is held to make no difference. An id that pages hand on is known by neither.
func TestSessionOfArticlesOfOneEach(t *testing.T) {
	for _, drawn := range []bool{true, false} {
		m := New()
		sid := func(i int) string { return fmt.Sprintf("%016x", uint64(i)*0x9e3779b97f4a7c15|1<<63) }
		article := func(i, k int) string {
			return fmt.Sprintf("http://h.test/%s/article-%c/text", sid(100*i+k), 'a'+i)
		}
		for i := range 6 {
			for k := range 3 {
				url := article(i, k)
				likeness(t, m, url, fmt.Sprint("article ", i))
				f, next := Feeds{}, url+"?more=1"
				if drawn {
					next = article(i, 50+k)
				}
				m.Feed(&f, parsed(t, next), m.Template(parsed(t, url)), url)
			}
		}
		_, changed := m.Rest(parsed(t, article(0, 99)))
		if changed != drawn {
			t.Errorf("drawn anew %v: it makes no difference %v", drawn, changed)
		}
		name := m.guesses[candidates(m.Template(parsed(t, article(0, 0))), &m.pieces, true, false)[0].hash()].Part.named()
		if was, is := *m.handed[name], *restarted(t, m, map[string][]byte{}).handed[name]; !reflect.DeepEqual(was, is) {
			t.Errorf("after a restart %+v is known, %+v before", is, was)
		}
		for i := 0; m.shapes[first([]byte("/*/"))] < maxShapes; i++ {
			m.of(parsed(t, fmt.Sprintf("http://h.test/%s/x%c/y?%c=1", sid(i), 'a'+i%26, 'a'+i/26)))
		}
		story := func(i, k int) string { return fmt.Sprintf("http://h.test/%s/s/%s", sid(5000+k), sid(9000+i)) }
		if bag := m.of(parsed(t, story(0, 0))); !bag.bag() {
			t.Fatalf("stories are %s", bag.Pattern)
		}
		for i := range 8 {
			likeness(t, m, story(i, 2*i), fmt.Sprint("story ", i))
			likeness(t, m, story(i, 2*i+1), fmt.Sprint("story ", i))
		}
		one, changed := m.Rest(parsed(t, story(50, 50)))
		two, _ := m.Rest(parsed(t, story(51, 51)))
		if changed != drawn || drawn && one.Key == two.Key {
			t.Errorf("drawn anew %v, in paths of many kinds: it makes no difference %v, two stories are one: %v", drawn, changed, one.Key == two.Key)
		}
	}
}

// An id and a token of a visitor, both numbers, are new on each link, so no two URLs differ in one of them alone. They make no difference together, if each
// page draws them anew; numbers of things that are handed on, or that pages name for what they are, do.
func TestNumbersDrawnTogether(t *testing.T) {
	for _, c := range []struct {
		drawn, same, want bool
	}{{true, true, true}, {true, false, false}, {false, true, false}} {
		m := New()
		long := func(i, k int) uint32 { return 1_000_000 + xx(uint32(5000*i+k))%8_000_000 }
		at := func(i, draw int) string {
			return fmt.Sprintf("http://h.test/shop?do=show&id=%d&visitor=%d&token=%d", i, long(1, draw), long(2, draw))
		}
		for draw := range 60 {
			i := draw % 15
			says := fmt.Sprint("thing ", i)
			if !c.same {
				says = fmt.Sprint("thing ", draw)
			}
			likeness(t, m, at(i, draw), says)
			next := at(i+1, draw)
			if c.drawn {
				next = at(i+1, 1000+draw)
			}
			m.Feed(&Feeds{}, parsed(t, next), m.Template(parsed(t, at(i, draw))), at(i, draw))
		}
		part := Part{Kind: partDrawn, Template: m.Template(parsed(t, at(3, 3)))}
		if got := m.guesses[part.hash()].Group != 0; got != c.want {
			t.Errorf("%+v: they make no difference %v", c, got)
		}
		one, _ := m.Rest(parsed(t, at(3, 5000)))
		two, _ := m.Rest(parsed(t, at(3, 6000)))
		other, _ := m.Rest(parsed(t, at(4, 6000)))
		if c.want && (one.Key != two.Key || one.Key == other.Key) {
			t.Errorf("what is left of one thing is the same %v, of two %v", one.Key == two.Key, one.Key == other.Key)
		}
	}
}
