package yield

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/zeebo/xxh3"

	"argosy/internal/crawl"
)

// A part is learned only from URLs that differ in it: a session that makes no difference says nothing of the shop's name,
// which is the same in all of them; and what a template's answers added before the session was known is given back.
func TestPartIsLearnedFromWhatDiffersInIt(t *testing.T) {
	m := New()
	kinds := map[byte]int{}
	for i := range 400 {
		u, err := crawl.Parse(fmt.Sprintf("http://h.test/shop-1/item/%d;s=a%07xb%d", i%20, i*7919, i%7))
		if err != nil {
			t.Fatal(err)
		}
		id := m.Template(u)
		sample := make([]uint32, 12)
		for k := range sample {
			sample[k] = uint32(i%20*100 + k)
		}
		m.Take(&Answer{URL: u, Template: id, Via: id, Page: true, Marked: true, Text: uint64(i%20+1) << 40, Sample: sample, Links: 5, Found: 5})
	}
	for _, parts := range m.learned {
		for _, g := range parts {
			kinds[g.Part.Kind]++
		}
	}
	if len(kinds) != 1 || kinds[partInner] != 1 {
		t.Fatalf("learned %v, want the session alone", kinds)
	}
	for _, tm := range m.byID {
		if g := m.groups[tm.Group]; g.Cut || g.Sum > 0 {
			t.Errorf("template %s: sum %d, cut %v", tm.Pattern, g.Sum, g.Cut)
		}
	}
}

// Texts of which a quotation differs are the same where those of other articles are clearly different; where most of a text is
// the same on all pages and the rest on none, that two pages are nearly the same says nothing.
func TestPartIsLearnedFromTextsThatAreNearlyTheSame(t *testing.T) {
	for _, share := range []int{0, 36} { // phrases that all articles have in common
		m := New()
		rng := rand.New(rand.NewPCG(1, 1))
		for i := range 600 {
			u, err := crawl.Parse(fmt.Sprintf("http://h.test/item/%d;s=a%07xb%d", i*7%30, i*7919, i%7))
			if err != nil {
				t.Fatal(err)
			}
			sample := make([]uint32, 48)
			for k := range sample {
				switch {
				case k < share:
					sample[k] = xx(uint32(k))
				case k < 40 && share == 0:
					sample[k] = xx(uint32(i*7%30*100 + k))
				default:
					sample[k] = rng.Uint32()
				}
			}
			slices.Sort(sample)
			m.Take(&Answer{URL: u, Template: m.Template(u), Page: true, Marked: true, Text: rng.Uint64(), Sample: sample, Links: 5})
		}
		learned := 0
		for _, parts := range m.learned {
			learned += len(parts)
		}
		if want := share == 0; (learned > 0) != want {
			t.Errorf("%d of 48 phrases are in all texts: learned %d parts", share, learned)
		}
	}
}

// So is a session that stands in a segment with something else, and the moment when an answer was made, although that is a number; but not a
// number of which more things may have one text.
func TestSessionsInNamesAndMoments(t *testing.T) {
	for _, c := range []struct {
		url  string // of a thing and an id; {/} is a number of slashes, {w} are words, {v} one of a few, {25} is as often so, and {C} a word in any case
		kind byte   // that is learned, 0 for nothing
	}{
		{"/items{/}%[1]d", partSlash}, {"/a{/}items/{/}%[1]d/x", partSlash},
		{"/item/%d.a%07xb1.html", partToken}, {"/item/%d&sid=4a%07x", partToken}, {"/item/%d/~4a%07xb", partToken}, {"/item/%d,a%07xb1,0.html", partToken},
		{"/item%d^a%07xb1", partToken}, {"/item/%d|a%07xb1.html", partToken}, {"/item/%d+a%07xb1", partToken},
		{"/173%010[2]d/item/%[1]d", partDir}, {"/item/%d?t=173%010d", partParam},
		{"/{C}/item-%[1]d", partCase}, {"/Shop/{C}.html?id=%[1]d", partCase}, {"/{C}/%[1]d", partCase},
		{"/item?{C}=%[1]d", partNames}, {"/%[1]d?{C}=x&b=%[1]d", partNames}, {"/item?a={C}-%[1]d", partValues}, {"/%[1]d?a={C}", partValues},
		{"/a%%{25}20b/%[1]d", partAgain}, {"/item?a=%[1]d%%{25}26x", partAgain},
		{"/%[1]d-{w}", partSlug}, {"/{w}-%[1]d.html", partSlug}, {"/item/%[1]d/{w}", partSlug}, {"/item?story=%[1]d-{w}", partSlug},
		{"/item/%d?c=%06x", partParam}, {"/item/%d?from=list&c=%06x", partParam}, // of six digits one in 17 is a number
		{"/item/%[1]d/{v}", 0}, {"/item/%[1]d-{v}", 0},
		{"/%[1]d;s=4a%07[2]xb", partInner}, {"/%[1]d?s=4a%07[2]xb", partParam}, {"/a/%[1]d?s=4a%07[2]xb", partParam}, // of which next to nothing is left
		{"/373%010[2]d/item/%[1]d", 0}, {"/item/%d?t=373%010d", 0},
	} {
		m := New()
		for i := range 400 {
			url := strings.NewReplacer("{/}", strings.Repeat("/", 1+i%9), "{w}", wording(i), "{v}", wording(i%4), "{25}", strings.Repeat("25", i%9), "{C}", anyCase("things", i)).Replace(c.url)
			u := parsed(t, "http://h.test"+fmt.Sprintf(url, i*7%20, i*7919))
			sample := make([]uint32, 12)
			for k := range sample {
				sample[k] = uint32(i*7%20*100 + k)
			}
			m.Take(&Answer{URL: u, Template: m.Template(u), Page: true, Marked: true, Text: uint64(i*7%20+1) << 40, Sample: sample, Links: 5, Found: 5})
			for _, g := range m.guesses {
				if g.wrong() && (g.proven(0) || g.proven(1)) {
					t.Fatalf("%s: %s is both proven and wrong", c.url, g.Part)
				}
			}
		}
		kinds := map[byte]bool{}
		for _, parts := range m.learned {
			for _, g := range parts {
				kinds[g.Part.Kind] = true
			}
		}
		if c.kind != 0 && !kinds[c.kind] || c.kind == 0 && len(kinds) > 0 {
			t.Errorf("%s: learned %v, want %q", c.url, kinds, c.kind)
		}
	}
}

// A server may tell apart how a URL is written: then each way is a page of its own.
func TestWritingThatMakesADifference(t *testing.T) {
	for _, format := range []string{"/a%%{25}20b/%[1]d", "/item?a={C}-%[1]d", "/{C}/%[1]d"} {
		m := New()
		for i := range 400 {
			url := fmt.Sprintf(strings.NewReplacer("{25}", strings.Repeat("25", i%9), "{C}", anyCase("things", i)).Replace(format), i*7%20)
			likeness(t, m, "http://h.test"+url, url)
		}
		for _, parts := range m.learned {
			for _, g := range parts {
				t.Errorf("%s: learned %s", format, g.Part)
			}
		}
	}
}

// wording makes words of a number.
func wording(n int) string {
	letters := func(n int) string {
		return strings.Map(func(c rune) rune { return c - '0' + 'k' }, fmt.Sprint(1000+n*7919%9000))
	}
	return letters(n) + "-" + letters(n*31+7)
}

// anyCase writes some letters of a word in upper case, as the bits of a number say.
func anyCase(s string, bits int) string {
	b := []byte(s)
	for i := range b {
		if bits>>i&1 == 1 {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// Views of things that are equally empty, but for some, may be any: neither their names nor what they are of makes no difference.
func TestEmptyViewsProveNothing(t *testing.T) {
	const things, views = 40, 60 // more than are told apart by their names
	for format, one := range map[string]uint32{"/thing/%d/%s": 150, "/thing/%d-%s": 30, "/%s-%d.html": 30} {
		m := New()
		for i := range things * views {
			thing, view := i/views, wording(i%views)
			args := []any{thing, view}
			if format[1] == '%' {
				args = []any{view, thing}
			}
			a := Answer{URL: parsed(t, "http://h.test"+fmt.Sprintf(format, args...)), Page: true, Marked: true, Text: 7 << 40, Sample: []uint32{2, 4, 6, 8}, Links: 5}
			if xx(uint32(i))%one == 0 {
				a.Text, a.Sample = uint64(i+9)<<40, []uint32{xx(uint32(i)), xx(uint32(i + 1)), xx(uint32(i + 2)), xx(uint32(i + 3))}
			}
			a.Template = m.Template(a.URL)
			m.Take(&a)
		}
		for _, g := range m.guesses {
			if g.Was && (g.Part.Kind == partSlug || one < 64) { // of numbers one in 64 may be another thing
				t.Errorf("%s: %s was held to make no difference", format, g.Part)
			}
		}
	}
}

// What is encoded has no case, and of a name with words and numbers the numbers stay.
func TestWritten(t *testing.T) {
	for in, want := range map[string]string{"": "", "abc": "abc", "ABC": "abc", "a%C3%A9B": "a%C3%A9b", "%2F": "%2F", "X%": "x%", "A%C": "a%C"} {
		if got := lower(in); got != want {
			t.Errorf("%q in lower case is %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"a%20b": "a%20b", "a%2520b": "a%20b", "%252525c3%25a9": "%C3%A9", "100%25": "100%25", "100%2525": "100%25", "%25": "%25", "%25%2541": "%25%41", "%252": "%252"} {
		if got := once(in); got != want {
			t.Errorf("%q encoded once is %q, want %q", in, got, want)
		}
	}
	for in, want := range map[string]string{"12-any-words": "12", "any-words-12.html": "12.html", "words": "", "12": "", "12.html": "", "a%C3%A912": "12", "page-3_of-7": "3-7"} {
		got, ok := wordless(in)
		if ok != (want != "") || ok && got != want {
			t.Errorf("%q without its words is %q, %v, want %q", in, got, ok, want)
		}
	}
}

func xx(n uint32) uint32 { return uint32(xxh3.HashString(fmt.Sprint(n))) }

// Values that differ in a number are of a series, not of sessions: pages whose texts differ in the same number are of different
// things, whatever stands around the number.
func TestStemsOfASeries(t *testing.T) {
	for _, series := range [][]string{{"3.html", "14.html"}, {"page-3", "page-77"}, {"v1.2", "v1.30"}} {
		if a, b := stem(series[0]), stem(series[1]); a == 0 || a != b {
			t.Errorf("%q: %d and %d", series, a, b)
		}
	}
	for _, ids := range [][]string{{"a1b2c3d4", "9f8e7d6c"}, {"words", "words"}} {
		if a, b := stem(ids[0]), stem(ids[1]); a != 0 && a == b {
			t.Errorf("%q: one stem, %d", ids, a)
		}
	}
}

// likeness has a model judge pages, and returns it: each URL shows the text of a name, all different.
func likeness(t *testing.T, m *Model, url, name string) {
	t.Helper()
	a := textOf(t, url, name)
	a.Template = m.Template(a.URL)
	m.Take(&a)
}

// textOf is an answer whose text a name stands for.
func textOf(t *testing.T, url, name string) Answer {
	t.Helper()
	sample := make([]uint32, 20)
	for k := range sample {
		sample[k] = uint32(xxh3.HashStringSeed(name, uint64(k)))
	}
	slices.Sort(sample)
	return Answer{URL: parsed(t, url), Page: true, Marked: true, Text: xxh3.HashString(name), Sample: sample, Links: 3}
}

// An archive that is there within itself under another name, over any number of levels, is had once; where one page in 20 of such a
// directory is its own, all of it is.
func TestDirectoryThatMakesNoDifference(t *testing.T) {
	for _, own := range []int{0, 20} {
		m := New()
		for i := range 60 {
			file := fmt.Sprintf("d%d/f%d.html", i/10, i)
			likeness(t, m, "http://h.test/pub/"+file, file)
			name := file
			if own > 0 && i%own == 3 {
				name = "another " + file
			}
			likeness(t, m, "http://h.test/pub/mirror/"+file, name)
		}
		r, changed := m.Rest(parsed(t, "http://h.test/pub/mirror/d7/f70.html"))
		bare := parsed(t, "http://h.test/pub/d7/f70.html").Key()
		if want := own == 0; changed != want || want && (r.Bare != bare || !m.OfPart(r.Part)) {
			t.Errorf("one page in %d of the directory is its own: learned %v, the rest is %+v", own, changed, r)
		}
	}
}

// What lies within itself in many templates is one trap: what waits of it is tried as one.
func TestDirectoryIsOneTrap(t *testing.T) {
	m := New()
	groups := map[uint32]bool{}
	for _, kind := range []string{"f%d.html", "?sort=%d", "f%d.jpg/about"} {
		for i := range 40 {
			name := fmt.Sprintf("d%d/"+kind, i/10, i)
			likeness(t, m, "http://h.test/pub/"+name, name)
			likeness(t, m, "http://h.test/pub/mirror/"+name, name)
		}
		r, changed := m.Rest(parsed(t, "http://h.test/pub/mirror/d9/"+fmt.Sprintf(kind, 99)))
		if groups[r.Part] = true; !changed {
			t.Errorf("%s: it makes a difference", kind)
		}
	}
	if len(groups) != 1 || m.Cuts() != 1 {
		t.Errorf("%d groups, %d cuts, want one", len(groups), m.Cuts())
	}
	m.Release()
	if _, changed := m.Rest(parsed(t, "http://h.test/pub/mirror/d9/f99.html")); changed || m.Cuts() != 0 {
		t.Errorf("released by a person, %d groups are cut", m.Cuts())
	}
}

// A list in a URL says the same in every order, if it does.
func TestOrderOfWhatIsListed(t *testing.T) {
	all := []string{"red", "long", "warm", "loud", "calm", "late", "cold", "blue"}
	for _, same := range []bool{true, false} {
		m := New()
		for i := range all {
			for k := range i {
				one, two := all[i]+"%2C"+all[k], all[k]+"%2C"+all[i]
				likeness(t, m, "http://h.test/list?of="+one, one)
				if same {
					likeness(t, m, "http://h.test/list?of="+two, one)
				} else {
					likeness(t, m, "http://h.test/list?of="+two, two)
				}
			}
		}
		x, _ := m.Rest(parsed(t, "http://h.test/list?of=a%2Cb%2Cc"))
		y, changed := m.Rest(parsed(t, "http://h.test/list?of=c%2Cb%2Ca"))
		if changed != same || same && x.Key != y.Key {
			t.Errorf("the same in every order: %v; learned %v", same, changed)
		}
	}
}

// What a part explains is given back once: of one that is learned, found wrong and learned again the second time explains nothing.
func TestPartGivesBackOnce(t *testing.T) {
	m := New()
	u := parsed(t, "http://h.test/item?s=1")
	x := m.byID[m.Template(u)]
	g := &guess{Part: Part{Kind: partParam, Name: "s", Template: x.ID}}
	for i, want := range []int64{0, 100} {
		x.New, x.Cost = 1, 100
		m.groups[x.Group].Sum = 100
		g.Agree, g.URLs, g.Differ = agreeOther, urlsOther, 0
		if m.weigh(g) != Learned {
			t.Fatal("it is not learned")
		}
		if sum := m.groups[x.Group].Sum; sum != want {
			t.Errorf("learned for time %d: the sum is %d, want %d", i+1, sum, want)
		}
		if g.Differ, g.Unlike = g.Agree, 1; m.weigh(g) != Lifted {
			t.Fatal("it is not found wrong")
		}
	}
}

// A template whose URLs say the same in every order is of combinations: that its pages lead nowhere new is not a sign of an end.
func TestCombinations(t *testing.T) {
	m := New()
	id := m.Template(parsed(t, "http://h.test/find?a=1&b=2"))
	if m.combines(m.byID[id]) {
		t.Fatal("it combines before anything was seen")
	}
	for i := range 2 * agreeOrder {
		name := fmt.Sprint(i)
		likeness(t, m, fmt.Sprintf("http://h.test/find?a=%d&b=2", i), name)
		likeness(t, m, fmt.Sprintf("http://h.test/find?b=2&a=%d", i), name)
	}
	if !m.combines(m.byID[id]) {
		t.Error("the order of parameters makes no difference, and it does not combine")
	}
}

// The order of choices is known by pairs of all kinds of URLs together, and what waits for it is one trap: each two of six choices are a kind.
func TestOrderOfParametersIsOneTrap(t *testing.T) {
	m := New()
	names := []string{"brand", "colour", "form", "material", "price", "size"}
	for i := range names {
		for k := range i {
			for v := range agreeNamed + 1 {
				of := fmt.Sprint(i, k, v)
				likeness(t, m, fmt.Sprintf("http://h.test/find?%s=%d&%s=%d", names[k], v, names[i], v), of)
				likeness(t, m, fmt.Sprintf("http://h.test/find?%s=%d&%s=%d", names[i], v, names[k], v), of)
			}
		}
	}
	x, _ := m.Rest(parsed(t, "http://h.test/find?price=7&size=8"))
	y, changed := m.Rest(parsed(t, "http://h.test/find?size=8&price=7"))
	if !changed || x.Key != y.Key {
		t.Fatal("the order makes a difference")
	}
	groups := map[uint32]bool{}
	for _, g := range m.allLearned() {
		if g.Part.Kind == partOrder {
			groups[g.Group] = true
		}
	}
	if len(groups) != 1 {
		t.Errorf("they wait in %d groups, want one", len(groups))
	}
}

// A server that looks at the end of a path alone shows the same behind all that stands before it, though that has numbers and each page leads to
// longer paths of other kinds.
func TestPathThatGrowsHasNumbers(t *testing.T) {
	m := New()
	for i := range 2 * agreeOther {
		a := textOf(t, fmt.Sprintf("http://h.test/site/docs/some-name-%d/docs/page-%d/", i, i%urlsOther), fmt.Sprint(i%urlsOther))
		a.Template = m.Template(a.URL)
		a.Links, a.Found, a.Feeds = 5, 3, Feeds{Same: 1}
		m.Take(&a)
	}
	if _, changed := m.Rest(parsed(t, "http://h.test/site/docs/other-name-77/docs/page-1/")); !changed {
		t.Error("what stands before the end of the path makes a difference")
	}
}

// Of articles most have one page, and say the same whatever page is asked for; some have more. A view that each has is told from that.
func TestPagesOfFewArticlesAreNoOtherNames(t *testing.T) {
	for _, c := range []struct {
		url  string
		want bool
	}{{"http://h.test/article?id=%d&p=%d", false}, {"http://h.test/article?id=%d&print=1", true}} {
		m := New()
		for i := range 20 {
			name := fmt.Sprint("article ", i)
			likeness(t, m, fmt.Sprintf("http://h.test/article?id=%d", i), name)
			for k := 2; k < 4; k++ {
				u, _, _ := strings.Cut(fmt.Sprintf(c.url, i, k), "%!")
				likeness(t, m, u, name)
			}
		}
		u, _, _ := strings.Cut(fmt.Sprintf(c.url, 50, 2), "%!")
		if _, changed := m.Rest(parsed(t, u)); changed != c.want {
			t.Errorf("%s: it makes no difference: %v, want %v", c.url, changed, c.want)
		}
	}
}

// Directories that have nearly the same files are told apart where there are few of them for many files; where each visit has one of its own they
// make no difference.
func TestDirectoriesThatRepeat(t *testing.T) {
	g := guess{Part: Part{Kind: partDir, Seg: 2, Template: 7}, Differ: 15, Alike: 14, AlikeURLs: 14, Values: 10, Random: true}
	for plain, want := range map[int64]bool{60: true, 6143: false} {
		g.Plain = plain
		if got := g.proven(0); got != want {
			t.Errorf("ten names in %d paths: %v", plain, got)
		}
	}
}
