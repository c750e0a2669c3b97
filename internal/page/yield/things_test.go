package yield

import (
	"fmt"
	"slices"
	"testing"

	"argosy/internal/crawl"
)

// opaqueID is the id of a thing, which looks random.
func opaqueID(i int) string { return fmt.Sprintf("%016x", uint64(i+1)*0x9e3779b97f4a7c15|1<<63) }

// nearly is an answer whose text, but for a phrase, a name stands for: the frame around it has changed since.
func nearly(t *testing.T, url, name string, i int) Answer {
	t.Helper()
	a := textOf(t, url, name)
	a.Text ^= uint64(i+1) << 32
	a.Sample[len(a.Sample)-1] = xx(uint32(i)) | 1<<31
	slices.Sort(a.Sample)
	return a
}

// Views of things, of which each says nearly the same for all, are no sign that the thing makes no difference: a thing has a few. Nearly the same texts
// of many pages under any session are.
func TestViewsOfThings(t *testing.T) {
	for _, views := range []int{3, 2 * urlsAlike} {
		m := New()
		for i := range 40 {
			for k := range views {
				a := nearly(t, fmt.Sprintf("http://h.test/event/%s/view%c", opaqueID(i), 'a'+k), fmt.Sprint("view ", k), i*views+k)
				a.Template = m.Template(a.URL)
				m.Take(&a)
			}
		}
		_, makesNone := m.Rest(parsed(t, "http://h.test/event/"+opaqueID(99)+"/viewa"))
		if want := views > urlsAlike; makesNone != want {
			t.Errorf("%d views: the id makes no difference %v, want %v", views, makesNone, want)
		}
	}
}

// A value of a parameter that is a word makes no difference if its own pairs have shown it: reading a patch and saving it is the same, and says nothing
// of the commit.
func TestWordsThatMakeNoDifference(t *testing.T) {
	m := New()
	at := func(word string, i int) crawl.URL { return parsed(t, fmt.Sprintf("http://h.test/?a=%s&h=%d", word, i)) }
	for word, same := range map[string]bool{"patch": true, "plain": true, "commit": false} {
		g := m.guessOf(Part{Kind: partParam, Name: "a", Template: m.of(at(word, 1)).ID})
		g.Plain, g.Agree, g.Group = 100, agreeNumber, m.newGroup().ID
		for range 2 * agreeVouch {
			m.vouch(g, word, same)
		}
		m.learn(g)
	}
	for _, m := range []*Model{m, restarted(t, m, map[string][]byte{})} {
		rest := func(word string) crawl.Key { r, _ := m.Rest(at(word, 7)); return r.Key }
		if rest("patch") != rest("plain") || rest("patch") == rest("commit") || rest("other") == rest("patch") {
			t.Error("a word is left out that has shown nothing, or is not that has")
		}
	}
}

// Numbers that do not follow from that of an address are new whatever words stand beside that number, of a person or in a name, or before such a name.
func TestNumbersBesideNames(t *testing.T) {
	for _, format := range []string{"/person/%d/%s%[3].0s", "/wiki/%[2]s_%[1]d%[3].0s", "/person/%[2]s+too_%[1]d%[3].0s", "/eat/%[3]stown/%[2]s-%[1]d"} {
		m, n := New(), 0
		for ; n < 3000 && m.Cuts() == 0; n++ {
			of := func(k int) uint32 { return 1000 + xx(uint32(7*n+k))%9000 }
			a := Answer{URL: parsed(t, fmt.Sprintf("http://h.test"+format, n, letters(n), letters(n*7%30))), Page: true, Marked: true, Text: uint64(n+1) << 32, Sample: []uint32{2, 4, 6, 8}, Numbers: []uint32{of(1), of(2)}}
			a.Template = m.Template(a.URL)
			a.Via, a.Links, a.Found, a.Feeds = a.Template, 1, 1, Feeds{Own: 1, Led: 1, Same: 1}
			a.Twice = m.Want(a.Template, a.Via, a.URL.Key()).Mark == crawl.MarkTwice
			m.Take(&a)
		}
		if n < 3000 {
			t.Errorf("%s: cut after %d answers", format, n)
		}
	}
}

// What goes on bringing something is not cut for the view beside each thing that says the same of all things, and is cut.
func TestThingIsNoTrapWithItsView(t *testing.T) {
	m := New()
	take := func(a Answer, url string) uint32 {
		a.URL, a.Page, a.Marked = parsed(t, url), true, true
		a.Template = m.Template(a.URL)
		m.Take(&a)
		return a.Template
	}
	for i := range limit {
		of := func(k int) uint32 { return 1000 + xx(uint32(7*i+k))%9000 }
		url := fmt.Sprintf("http://h.test/record/%d/%s", i, letters(i))
		thing := take(Answer{Text: uint64(i+10) << 32, Sample: []uint32{2, 4, 6, 8}, Numbers: []uint32{of(1), of(2)}, Links: 1, Found: 1, Feeds: Feeds{Own: 1}}, url)
		take(Answer{Via: thing, Text: uint64(i+10) << 32, Sample: []uint32{2, 4, 6, 8}, Links: 1, Found: 1, Feeds: Feeds{Own: 1}}, url+"/view")
	}
	if m.Cuts() == 0 {
		t.Fatal("the view is not cut")
	}
	if m.IsCut(parsed(t, "http://h.test/record/9999/name")) != 0 {
		t.Error("the thing is cut with its view")
	}
}

// Pages whose addresses are names have no neighbours. What numbers they say is new as long as no other page of their kind has said the same ones, and
// nothing once it is known to be drawn for each reader.
func TestNumbersOfNames(t *testing.T) {
	for _, c := range []struct {
		format string
		drawn  bool
	}{{"/event/%s", false}, {"/from/here/to/%s", false}, {"/event/%s", true}} {
		m, n := New(), 0
		for ; n < 3000 && m.Cuts() == 0; n++ {
			of := func(k int) uint32 { return 1000 + xx(uint32(7*n+k))%9000 }
			a := Answer{URL: parsed(t, fmt.Sprintf("http://h.test"+c.format, letters(n))), Page: true, Marked: true, Text: uint64(n+1) << 32, Sample: []uint32{2, 4, 6, 8}, Numbers: []uint32{of(1), of(2)}}
			a.Template = m.Template(a.URL)
			a.Via, a.Links, a.Found, a.Feeds = a.Template, 1, 1, Feeds{Own: 1, Led: 1, Same: 1}
			if a.Twice = m.Want(a.Template, a.Via, a.URL.Key()).Mark == crawl.MarkTwice; a.Twice && c.drawn {
				a.Changed, a.Text, a.Numbers = true, 1<<32, nil
			}
			m.Take(&a)
		}
		if (n < 3000) != c.drawn {
			t.Errorf("%+v: %d answers, cut %v", c, n, m.Cuts() > 0)
		}
	}
}
