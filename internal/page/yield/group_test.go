package yield

import (
	"fmt"
	"slices"
	"testing"

	"argosy/internal/crawl"
)

func parsed(t *testing.T, s string) crawl.URL {
	t.Helper()
	u, err := crawl.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

func TestSiblings(t *testing.T) {
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"/wiki/One?action=history&offset=#", "/wiki/Two?action=history&offset=#", true},
		{"/tag/red/*", "/tag/green/*", true},
		{"/tag/red/*", "/tag/red/blue/*", false},
		{"/wiki/One?action=history", "/wiki/Two?action=edit", false},
		{"/post?mode=quote", "/post?mode=reply", false},
		{"/a/b/c", "/x/b/y", false},
		{"/red/*", "/reddish/*", true},
		{"/red", "/red", false},
		{"/red?a=#", "/redder?a=#", true},
	} {
		if got := siblings(c.a, c.b); got != c.same || siblings(c.b, c.a) != c.same {
			t.Errorf("siblings(%q, %q) = %v, want %v both ways", c.a, c.b, got, c.same)
		}
	}
}

// take has a Model judge pages without anything new, each named by the URL before it, until their group is cut, and returns how
// many answers that took. text says what each page's text is.
func take(t *testing.T, m *Model, url string, most int, text func(i int) uint64) int {
	t.Helper()
	for i := range most {
		u := parsed(t, fmt.Sprintf(url, i))
		id := m.Template(u)
		m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: text(i), Sample: []uint32{1, 2, 3}, Links: 1, Found: 1, Feeds: Feeds{Own: 1}})
		if m.groups[m.byID[id].Group].Cut {
			return i + 1
		}
	}
	return most
}

// A text that a template repeats costs more than one that stands in another corner of the site as well: two calendars have the same
// days.
func TestCopyOfAnotherCorner(t *testing.T) {
	same := func(i int) uint64 { return uint64(i + 1) }
	once := func(i int) uint64 { return 1 }
	m := New()
	first := take(t, m, "http://h.test/a?day=%d", 2*limit, same)
	second := take(t, m, "http://h.test/b?on=%d", 2*limit, same)
	if second < first-dryAfter {
		t.Errorf("a copy is cut after %d answers, what it is a copy of after %d", second, first)
	}
	if third := take(t, m, "http://h.test/c?at=%d", 2*limit, once); third > limit/knownCosts+dryAfter {
		t.Errorf("one text again and again is cut after %d answers", third)
	}
}

// What has nothing to read and names the next one of its kind, in the header of its answer, is a trap: a row of empty bodies, and
// one of bodies that differ in numbers only. It does not matter that none of them counts links on a page.
func TestWhatIsNoPageIsJudged(t *testing.T) {
	for name, c := range map[string]struct {
		most int
		a    func(i int) Answer
	}{
		"empty":   {limit/knownCosts + dryAfter, func(int) Answer { return Answer{Text: 1} }},
		"numbers": {limit + dryAfter, func(i int) Answer { return Answer{Text: uint64(i + 1), Sample: []uint32{7}, Page: true} }},
		"missing": {limit/knownCosts + dryAfter, func(int) Answer { return Answer{Text: 1, Missing: true} }},
	} {
		m, n := New(), 0
		for ; n < 2*limit && m.Cuts() == 0; n++ {
			a := c.a(n)
			a.URL = parsed(t, fmt.Sprintf("http://h.test/%d", n))
			a.Template = m.Template(a.URL)
			a.Via, a.Marked, a.Found, a.Feeds = a.Template, true, 1, Feeds{Own: 1, Led: 1, Same: 1}
			m.Take(&a)
		}
		if n > c.most {
			t.Errorf("%s: %d answers, want at most %d", name, n, c.most)
		}
	}
}

// The days of a calendar, and its months, which name them, are one trap.
func TestCalendarIsOneTrap(t *testing.T) {
	m := New()
	answers, cut := 0, map[string]bool{}
	ask := func(url string, via uint32, found int) (uint32, bool) {
		u := parsed(t, url)
		id := m.Template(u)
		g := m.groups[m.byID[id].Group]
		if g.Cut {
			cut[m.byID[id].Pattern] = true
			return id, false
		}
		answers++
		m.Take(&Answer{URL: u, Template: id, Via: via, Page: true, Marked: true, Text: uint64(answers), Sample: []uint32{1, 2, 3}, Links: 32, Found: found, Feeds: Feeds{Own: found}})
		return id, true
	}
	ask("http://h.test/month?at=1999-12", 0, 32)
	months := m.Template(parsed(t, "http://h.test/month?at=1999-12"))
	for y := 2000; y < 2190 && len(cut) < 2; y++ {
		for month := range 12 {
			if _, ok := ask(fmt.Sprintf("http://h.test/month?at=%d-%02d", y, month+1), months, 1); !ok {
				break
			}
			for day := range 28 {
				if _, ok := ask(fmt.Sprintf("http://h.test/day?at=%d-%02d-%02d", y, month+1, day+1), months, 0); !ok {
					break
				}
			}
		}
	}
	if len(cut) < 2 || answers > 600 {
		t.Errorf("after %d answers %v are cut, want the days and the months after 600", answers, cut)
	}
}

// So are its days, weeks and months, which all name each other, of one path or one directory. What stands elsewhere is another.
func TestViewsOfACalendarAreOneTrap(t *testing.T) {
	for _, views := range [][]string{
		{"/c?view=day&y=%d&m=%d&d=%d", "/c?view=week&y=%d&m=%d&d=%d", "/c?view=agenda&y=%d&m=%d&d=%d"},
		{"/c/%d/%d/%d/", "/c/week/%d/%d/%d/", "/c?at=%d-%d-%d"},
	} {
		m, answers := New(), 0
		for i := 0; i < 3*limit && m.Cuts() < 1; i++ {
			for _, view := range views {
				u := parsed(t, "http://h.test"+fmt.Sprintf(view, 2000+i/336, 1+i/28%12, 1+i%28))
				id := m.Template(u)
				if m.groups[m.byID[id].Group].Cut {
					continue
				}
				answers++
				m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: uint64(answers), Sample: []uint32{1, 2, 3}, Links: 9, Found: 2, Feeds: Feeds{Own: 2}})
			}
		}
		if answers > limit+9 {
			t.Errorf("%s: cut after %d answers", views, answers)
		}
	}
}

// An article's page without a session is the one with any: once that is known, one of them is enough.
func TestPageWithoutSession(t *testing.T) {
	for _, forms := range [][2]string{
		{"http://h.test/shop/item/%d?zx=%s", "http://h.test/shop/item/%d"},
		{"http://h.test/shop/item/%d;zx=%s", "http://h.test/shop/item/%d"},
		{"http://h.test/shop/s/%[2]s/item/%[1]d", "http://h.test/shop/item/%d"},
		{"http://h.test/shop/%[2]s/item/%[1]d", "http://h.test/shop/item/%d"},
	} {
		m := New()
		ask := func(url string, item int) {
			u := parsed(t, url)
			id := m.Template(u)
			sample := make([]uint32, 12)
			for k := range sample {
				sample[k] = uint32(item*100 + k)
			}
			m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: uint64(item+1) << 40, Sample: sample, Links: 5, Found: 5})
		}
		session := func(i int) string { return fmt.Sprintf("a%07xb%dc", i*7919, i%7) }
		for i := range 60 {
			ask(fmt.Sprintf(forms[0], i%20, session(i)), i%20)
		}
		for i := range 20 {
			ask(fmt.Sprintf(forms[1], i), i)
		}
		with, ok := m.Rest(parsed(t, fmt.Sprintf(forms[0], 7, session(99))))
		without, ok2 := m.Rest(parsed(t, fmt.Sprintf(forms[1], 7)))
		other, _ := m.Rest(parsed(t, fmt.Sprintf(forms[1], 8)))
		if !ok || !ok2 || with.Key != without.Key || with.Key == other.Key {
			var learned []string
			for _, g := range m.allLearned() {
				learned = append(learned, g.Part.String())
			}
			slices.Sort(learned)
			t.Errorf("%s: with %v, without %v, another item %v; learned %q", forms[0], with, without, other, learned)
		}
	}
}

// A group whose templates went over to others is shown by the template of what waits with it, in words that anyone can read.
func TestTrapWithoutTemplates(t *testing.T) {
	m := New()
	u := parsed(t, "http://h.test/day?at=7")
	take(t, m, "http://h.test/day?at=%d", 10, func(i int) uint64 { return uint64(i + 1) })
	empty := m.newGroup()
	m.Defer(Verdict{Group: empty.ID}, u, u.Key())
	deep := parsed(t, "http://h.test/x/a/b/a/b/c")
	id := m.Template(deep)
	m.Take(&Answer{URL: deep, Template: id, Page: true, Marked: true, Text: 1, Sample: []uint32{1}})
	m.Defer(Verdict{Group: m.byID[id].Group}, deep, deep.Key())
	want := map[string]string{"/day?at=#": "http://h.test/day?at=7", "/x/…": "http://h.test/x/a/b/a/b/c"}
	traps := m.Traps()
	if len(traps) != len(want) {
		t.Fatalf("%+v, want two", traps)
	}
	for _, r := range traps {
		if want[r.Template] != r.Example || r.Answers == 0 {
			t.Errorf("%+v, want one of %v, and its answers", r, want)
		}
	}
}

// URLs of several templates wait with one group: each is told of by itself, with what its own answers were.
func TestTrapsOfOneGroupAreToldApart(t *testing.T) {
	m := New()
	take(t, m, "http://h.test/claim?firm=%d", 20, func(int) uint64 { return 1 })
	claim := m.Find(parsed(t, "http://h.test/claim?firm=1"))
	v := Verdict{Group: m.byID[claim].Group}
	deferred := func(format string, n int) {
		for i := range n {
			u := parsed(t, fmt.Sprintf(format, 1000+i))
			m.Defer(v, u, u.Key())
		}
	}
	deferred("http://h.test/firm/%d", 50)
	deferred("http://h.test/claim?firm=%d", 30)
	gone := parsed(t, "http://h.test/firm/1007")
	m.Resume(v.Group, gone, gone.Key())
	traps := m.Traps()
	if len(traps) != 2 || traps[0].Template != "/firm/#" || traps[0].Waiting != 49 || traps[0].Answers != 0 || traps[1].Template != "/claim?firm=#" || traps[1].Waiting != 30 || traps[1].Answers != 20 {
		t.Errorf("%+v, want 49 firms, then 30 claims of whose URLs 20 were asked for", traps)
	}
}

// What waits is counted under the shape that it has when it is told of: a place that has many names has none of its own after a while.
func TestWaitingUnderOtherNames(t *testing.T) {
	m := New()
	take(t, m, "http://h.test/claim?firm=%d", 20, func(int) uint64 { return 1 })
	v := Verdict{Group: m.byID[m.Find(parsed(t, "http://h.test/claim?firm=1"))].Group}
	urls := func(format string, n int, do func(u crawl.URL)) {
		for i := range n {
			do(parsed(t, fmt.Sprintf(format, 1000+i)))
		}
	}
	waits := func(u crawl.URL) { m.Defer(v, u, u.Key()) }
	urls("http://h.test/w/zzz/%d", 50, waits)
	urls("http://h.test/claim?firm=%d", 80, waits)
	for i := range 40 {
		m.Template(parsed(t, fmt.Sprintf("http://h.test/w/name%c%c/1", 'a'+i/6, 'a'+i%6)))
	}
	urls("http://h.test/w/zzz/%d", 50, func(u crawl.URL) { m.Resume(v.Group, u, u.Key()) })
	traps := m.Traps()
	if len(traps) != 1 || traps[0].Template != "/claim?firm=#" || traps[0].Waiting != 80 {
		t.Errorf("%+v, want 80 claims", traps)
	}
}

// What waits is told apart anew when there are new templates, and not for each URL that goes on: a million may.
func TestWaitingIsToldApartOnce(t *testing.T) {
	m := New()
	take(t, m, "http://h.test/claim?firm=%d", 20, func(int) uint64 { return 1 })
	v := Verdict{Group: m.byID[m.Find(parsed(t, "http://h.test/claim?firm=1"))].Group}
	for i := range maxBehind {
		u := parsed(t, fmt.Sprintf("http://h.test/%c%c", 'a'+i/26, 'a'+i%26))
		m.Defer(v, u, u.Key())
	}
	strange := parsed(t, "http://h.test/strange/place")
	if n := testing.AllocsPerRun(100, func() { m.Resume(v.Group, strange, strange.Key()) }); n >= 1 {
		t.Errorf("%v allocations for each URL of a shape that is not told apart", n)
	}
}

// The answers of what waits with a group, and belongs to another one, are not the group's.
func TestToldWithoutOthersAnswers(t *testing.T) {
	m := New()
	take(t, m, "http://h.test/firm/%d", 150, func(i int) uint64 { return uint64(i) + 100 })
	take(t, m, "http://h.test/claim?firm=%d", 20, func(int) uint64 { return 1 })
	v := Verdict{Group: m.byID[m.Find(parsed(t, "http://h.test/claim?firm=1"))].Group}
	for i := range 10 {
		for _, format := range []string{"http://h.test/firm/%d", "http://h.test/claim?firm=%d"} {
			u := parsed(t, fmt.Sprintf(format, 1000+i))
			m.Defer(v, u, u.Key())
		}
	}
	for _, trap := range m.Traps() {
		if trap.Template == "/claim?firm=#" && trap.Answers != 20 {
			t.Errorf("%+v, want 20 answers", trap)
		}
	}
}

// Of a template that has brought much, or of which hardly any answer counted as nothing, though most of its pages say nothing new, one answer in
// four is marked: marks cost a fifth of a page. One that has proved nothing yet has all of its answers marked, and so has one whose last answer
// brought nothing, or of which most that is new is little. Of one that was spared since it is finite a sample is enough.
func TestMixedTemplateIsSampled(t *testing.T) {
	for _, c := range []struct {
		new, little, barren, dry int64
		spared                   bool
		from, to                 int // of 256 answers
	}{
		{new: proven, barren: proven / 4, from: 64, to: 96}, // and as it wavers, one in eight of the rest
		{new: proven, from: 64, to: 64},
		{new: proven - 1, from: 64, to: 64},
		{new: proven - 1, barren: proven / 2, from: 256, to: 256},
		{new: proven - 1, little: proven / 2, from: 256, to: 256},
		{new: proven, dry: 1, from: 256, to: 256},
		{new: proven, barren: 11 * proven, dry: limit, from: 256, to: 256},
		{new: proven, barren: 11 * proven, dry: limit, spared: true, from: 64, to: 64},
	} {
		m := New()
		id := m.Template(parsed(t, "http://a/page/1"))
		x := m.byID[id]
		x.Twice, x.Stable = drawnEnough, drawnEnough // so that its pages are not drawn
		m.groups[x.Group].Spared, m.groups[x.Group].Buckets = c.spared, []bucket{{Pages: bucketSize, Sound: bucketSize}}
		x.New, x.Little, x.Barren, x.Dry, x.Marked, x.Answers = c.new, c.little, c.barren, c.dry, 3*c.new, 3*c.new
		marked := 0
		for i := range 256 {
			if m.Want(id, 0, crawl.Key{15: byte(i)}).Mark == crawl.MarkMust {
				marked++
			}
		}
		if marked < c.from || marked > c.to {
			t.Errorf("%+v of %d: %d of 256 are marked, want %d to %d", c, 3*c.new, marked, c.from, c.to)
		}
	}
}

// A marked answer of a group that was spared since it is finite stands for those before it that were not: it costs, and pays, as if all were marked.
func TestSampleStandsForAll(t *testing.T) {
	for _, c := range []struct {
		spared  bool
		skipped int
		want    int64
	}{{true, 0, knownCosts}, {true, 2, 3 * knownCosts}, {true, 9, markMixed * knownCosts}, {false, 9, knownCosts}} {
		m := New()
		take(t, m, "http://a/page/%d", proven, func(i int) uint64 { return uint64(i) + 100 })
		u := parsed(t, "http://a/page/1")
		id := m.Find(u)
		x := m.byID[id]
		g := m.groups[x.Group]
		g.Spared, g.Buckets, g.Sum = c.spared, []bucket{{Pages: bucketSize, Sound: bucketSize}}, newPays+1
		for range c.skipped {
			m.Take(&Answer{URL: u, Template: id, Via: id, Page: true})
		}
		m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: 100, Sample: []uint32{100}})
		if got := g.Sum - newPays - 1; got != c.want {
			t.Errorf("%+v: it cost %d", c, got)
		}
	}
}

// That something was new both times by chance does not end the question whether a template's pages are drawn: it is asked until it is known, at
// most drawnMost times. Where that happens often they are not.
func TestOneChanceEndsNoQuestion(t *testing.T) {
	for _, c := range []struct {
		twice, changed, stable int64
		asks                   bool
	}{
		{drawnEnough - 1, 0, 0, true},
		{drawnEnough, 0, 0, false},
		{12, 12, 1, true},                 // one in 16 would be few, and is not known yet
		{17, 17, 1, false},                // it is drawn
		{12, 12, 3, false},                // a page in four is new both times
		{drawnMost, 2 * 16, 2 * 2, false}, // it was asked often enough
	} {
		x := &Template{Shown: 40, Marked: 60, Twice: c.twice, Changed: c.changed, Stable: c.stable}
		if got := x.uncertain(); got != c.asks {
			t.Errorf("%+v: uncertain %v", c, got)
		}
	}
}

// The first answers of a template are marked, whatever else the node has to read: what it repeats later is told by them.
func TestFirstAnswersAreMarked(t *testing.T) {
	m := New()
	u := parsed(t, "http://a/page/1")
	id := m.Template(u)
	for i := range markAll + 8 {
		want := crawl.MarkMay
		if i > 0 && i < markFirst {
			want = crawl.MarkMust
		} else if i >= markAll {
			want = crawl.MarkNone
		}
		if got := m.Want(id, 0, crawl.Key{15: 1}).Mark; got != want {
			t.Errorf("after %d answers that were new: mark %d is wanted, want %d", i, got, want)
		}
		sample := make([]uint32, 20)
		for k := range sample {
			sample[k] = xx(uint32(i*20+k)) &^ 1
		}
		m.Take(&Answer{URL: u, Template: id, Page: true, Marked: true, Text: uint64(i+1) << 32, Sample: sample})
	}
}

// Of a template that may be about to run dry few URLs are out at a time: what those that nobody marks bring is known late. The more it has
// found, the more may be out.
func TestWaveringTemplateHasFewOut(t *testing.T) {
	for _, c := range []struct {
		answers, barren, partly int64
		room                    int
	}{{160, 0, 0, 336}, {160, 24, 0, unsureFlight}, {160, 0, 40, unsureFlight}, {800, 200, 0, 150}, {8_000, 2_000, 0, mostUnsure}} {
		m := New()
		x := m.byID[m.Template(parsed(t, "http://a/page/1"))]
		x.Answers, x.Marked, x.New, x.Barren, x.Partly = c.answers, c.answers, c.answers-c.barren, c.barren, c.partly
		m.groups[x.Group].New = c.answers
		if w := m.Want(x.ID, 0, crawl.Key{}); w.Room != c.room {
			t.Errorf("%d of %d answers barren, %d partly new: room for %d, want %d", c.barren, c.answers, c.partly, w.Room, c.room)
		}
	}
}

// Templates below one first segment that are cut say of a further path there that it brings nothing only if they are of many paths: the choices of one list
// say nothing of the pages of another.
func TestKinIsOfManyPaths(t *testing.T) {
	for _, c := range []struct {
		name, cut string // a pattern with a number in it
		kin       bool
	}{
		{"choices of one list", "http://h.test/wares/find?c%c=1", false},
		{"paths", "http://h.test/wares/by%c/all", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := New()
			var group *Group
			for i := range kinCut {
				one := m.of(parsed(t, fmt.Sprintf(c.cut, 'a'+i)))
				one.Dry, one.Barren, one.Marked, one.Cost = 100, 100, 100, 100
				if group == nil {
					group = m.groups[one.Group]
				} else {
					m.move(one, m.groups[one.Group], group)
				}
			}
			m.cut(group, &Answer{URL: parsed(t, fmt.Sprintf(c.cut, 'a')), Template: 1})
			via := m.of(parsed(t, "http://h.test/"))
			if v := m.Judge(parsed(t, "http://h.test/wares/list/all?p=2"), via.ID, false); (v != Verdict{}) != c.kin {
				t.Errorf("a page of another list: %+v", v)
			}
			if v := m.Judge(parsed(t, fmt.Sprintf(c.cut, 'z')), via.ID, false); v == (Verdict{}) {
				t.Errorf("one more of them: %+v", v)
			}
		})
	}
}
