package yield

import (
	"fmt"
	"testing"

	"argosy/internal/crawl"
)

// bagOf returns a model in which all below /t/ is one bag, and that.
func bagOf(t *testing.T, like string) (*Model, *Template) {
	t.Helper()
	m := New()
	for i := 0; m.shapes[first([]byte("/t/"))] < maxShapes+maxSlugged; i++ {
		m.of(parsed(t, fmt.Sprintf("http://h.test/t/v%c/?%c=%c", 'a'+i%8, 'b'+i/26, 'a'+i%26)))
	}
	bag := m.of(parsed(t, like))
	if !bag.bag() {
		t.Fatalf("%s is not a bag", bag.Pattern)
	}
	return m, bag
}

func named(format string, i int) string {
	return fmt.Sprintf("http://h.test/t/"+format, string(rune('a'+i%26))+"-"+string(rune('a'+i/26%26))+"-topic", i)
}

// In a bag each name may stand once: what has another name in its place is of the same wider form. Topics go on, what is behind each of them waits, and
// what nothing is known of waits with the bag.
func TestWiderFormsDecideWhereNarrowOnesAreNew(t *testing.T) {
	topic, post, feed, other := "%s/%d", "%s/%d/7", "%s/%d/feed", "%s/x/y/%d"
	m, bag := bagOf(t, named(topic, 0))
	answer := func(url string, text uint64) {
		a := Answer{URL: parsed(t, url), Template: bag.ID, Via: bag.ID, Page: true, Marked: true, Text: text << 32, Links: 9}
		for k := range 40 {
			a.Sample = append(a.Sample, uint32(text*1000+uint64(k))*0x9e3779b1|2)
		}
		a.Sample = sorted(a.Sample)
		m.Take(&a)
	}
	for i := range formsVain {
		answer(named(topic, i), uint64(i+1))
		answer(named(post, i), 1)
		answer(named(feed, i), 1)
	}
	waits := func(format string) bool { return m.Judge(parsed(t, named(format, 500)), bag.ID, false).Wait }
	if waits(topic) || waits(post) {
		t.Fatal("what is not cut waits")
	}
	g := m.groups[bag.Group]
	if !g.Cut {
		m.cut(g, &Answer{URL: parsed(t, named(post, 1)), Template: bag.ID})
	}
	g.Strangers, g.Newborns, g.Things = 0, 0, 0
	if waits(topic) || !waits(post) || !waits(feed) || !waits(other) {
		t.Errorf("topics wait: %v, posts %v, feeds %v, others %v", waits(topic), waits(post), waits(feed), waits(other))
	}
	for i := range formsFrom + formsBound {
		answer(named(topic, 100+i), 1)
	}
	if !waits(topic) {
		t.Error("topics that bring nothing go on for ever")
	}
}

// A directory's last name stands before its slash: what is behind another name there is of another form.
func TestDirectoriesHaveFormsByTheirLastNames(t *testing.T) {
	m, bag := bagOf(t, named("%s/amp/x/y/%d/", 0))
	photo, copies := "%s/photo-%d/", "%s/%d/amp/"
	for i := range 2 * formsVain {
		m.pieces.split(parsed(t, named(photo, i)))
		m.formed(bag, true)
		m.pieces.split(parsed(t, named(copies, i)))
		m.formed(bag, false)
	}
	if photos, amp := m.Good(parsed(t, named(photo, 500))), m.Good(parsed(t, named(copies, 500))); !photos || amp {
		t.Errorf("photos go on: %v, copies: %v", photos, amp)
	}
}

// What stands below names that are seen for the first time is of a form all the same: of a code host's lists of issues nine in ten may be empty. It is
// worth what the others name, until so many were empty as end it.
func TestFormsAreWorthWhatTheirPagesName(t *testing.T) {
	const every, leads = 10, 8
	m := New()
	bag := &Template{ID: 1, Pattern: bagPrefix + "*/…", Hash: 11}
	m.byID[bag.ID] = bag
	list := func(i int, below string) crawl.URL {
		return parsed(t, fmt.Sprintf("http://h.test/%c%c%c-owner/some-name/%s", 'a'+i%26, 'a'+i/26%26, 'a'+i/676, below))
	}
	answer := func(i int, below string, named int) {
		m.pieces.split(list(i, below))
		m.formed(bag, false)
		for range named {
			m.nameForms(bag, &Answer{URL: list(i, below+"/7"), Parent: list(i, below)})
		}
	}
	for i := range 50 * every {
		names := 0
		if i%every == 0 {
			names = leads
		}
		answer(i, "issues", names)
		answer(i, "stars", 0)
	}
	other := &Template{ID: 2, Pattern: bagPrefix + "someone/…", Hash: 12}
	good := func(t *Template, u crawl.URL) bool { m.pieces.split(u); return m.good(t) }
	if issues, stars := good(other, list(9000, "issues")), good(other, list(9000, "stars")); !issues || stars {
		t.Errorf("below a new name issues go on: %v, stars: %v", issues, stars)
	}
	for i := range formsBound {
		answer(10_000+i, "issues", 0)
	}
	if good(bag, list(9000, "issues")) {
		t.Error("lists that name nothing go on for ever")
	}
}

// What a page names whose group is cut goes on all the same if others of its form were new, though nothing of its own template was had.
func TestWhatCutListsNameIsToldByItsForm(t *testing.T) {
	m := New()
	list := m.of(parsed(t, "http://h.test/some-owner/some-thing/issues"))
	g := m.groups[list.Group]
	m.cut(g, &Answer{URL: parsed(t, "http://h.test/some-owner/some-thing/issues"), Template: list.ID})
	g.Newborns = 0
	waits := func(url string) bool { return m.Judge(parsed(t, url), list.ID, false).Wait }
	const issue, person = "http://h.test/another/thing/issues/9", "http://h.test/another/thing/issues/by-someone"
	if !waits(issue) || !waits(person) {
		t.Fatal("what nothing is known of goes on")
	}
	for i := range formsFrom {
		u := parsed(t, fmt.Sprintf("http://h.test/third/%c-thing/issues/%d", 'a'+i, i))
		from := m.of(u)
		m.pieces.split(u)
		m.formed(from, true)
	}
	if waits(issue) || !waits(person) {
		t.Errorf("issues wait: %v, others: %v", waits(issue), waits(person))
	}
}

// Pages of one kind that differ by little have their sentences marked, and no others.
func TestPagesThatDifferByLittleAreMarkedClosely(t *testing.T) {
	for url, single := range map[string]bool{"http://a/notice/1": true, "http://a/photo?album=1&pos=2": false} {
		m := New()
		x := m.byID[m.Template(parsed(t, url))]
		x.Answers, x.Marked, x.Dry = 20, 20, 20
		for _, faint := range []int64{0, dryAfter} {
			x.Faint = faint
			if got := m.Want(x.ID, 0, crawl.Key{}).Mark == crawl.MarkClosely; got != (single && faint > 0) {
				t.Errorf("%s, %d faint: closely %v", url, faint, got)
			}
			if m.Want(x.ID, x.ID, crawl.Key{}).Mark == crawl.MarkClosely {
				t.Errorf("%s, named by its own kind: closely", url)
			}
		}
	}
}

// A page with a picture and a name that are new is one of a thing, whatever its address is made of; with a picture alone it may be one of many sizes.
func TestPicturesWithNamesAreThings(t *testing.T) {
	m := New()
	known := sorted(text(1))
	take := func(pos int, picture, name uint32) kind {
		u := parsed(t, fmt.Sprintf("http://a/photo?album=1&pos=%d", pos))
		m.of(u)
		return m.novelty(&Answer{URL: u, Template: m.Template(u), Page: true, Marked: true, Text: uint64(pos+1) << 32, Sample: known, Pictures: []uint32{picture}, Names: []uint32{name &^ 3}})
	}
	take(1, 2, 4)
	for _, c := range []struct {
		picture, name uint32
		want          kind
	}{{12, 44, isNamed}, {22, 44, isShown}, {22, 64, isFaint}} {
		if got := take(int(c.picture+c.name), c.picture, c.name); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}
