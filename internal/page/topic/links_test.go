package topic

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Before anything is learned links are ordered by what they say: the words of the anchor before those of the URL, before the page
// that names them, before nothing.
func TestLinksByRules(t *testing.T) {
	m := NewLinks(words(t, "asynchronous iterators", "en"))
	order := []Evidence{
		{URL: "http://a.test/x/1.html", Anchor: "Asynchronous iterators", Page: 0.9},
		{URL: "http://a.test/x/1.html", Anchor: "Asynchronous iterators"},
		{URL: "http://a.test/asynchronous-iterators.html", Anchor: "here"},
		{URL: "http://a.test/x/1.html", Anchor: "here", Page: 0.8},
		{URL: "http://a.test/x/1.html", Anchor: "here", Around: "on asynchronous iterators and more"},
		{URL: "http://a.test/x/1.html", Anchor: "here"},
	}
	last := 1.0
	for i := range order {
		s := m.Score(&order[i], true)
		if s >= last || s <= 0 {
			t.Errorf("%+v: %.3f after %.3f", order[i], s, last)
		}
		last = s
		if read := m.Read(&order[i], true); m.ScoreBy(&read, &order[i], true) != s {
			t.Errorf("%+v: another score by signs that were read before", order[i])
		}
		if v := m.Explain(&order[i], true); v.Score != s {
			t.Errorf("%+v: explained as %v, scored %v", order[i], v.Score, s)
		}
	}
}

// What is learned of a link is explained sign by sign, each once, and adds up to what it is scored by.
func TestLinksExplained(t *testing.T) {
	m := NewLinks(words(t, "honey", "en"))
	e := Evidence{URL: "http://a.test/1/2/3", Anchor: "news 1, news 2, news 3", Around: "12 news of 34 news in 56"}
	for range 9 {
		m.Learn(&e, 0)
	}
	v := m.Explain(&e, true)
	seen, sum := map[string]bool{}, 0.0
	for _, x := range v.Learn {
		if sum += x.Adds; seen[x.Sign] {
			t.Errorf("%s twice: %+v", x.Sign, v.Learn)
		}
		seen[x.Sign] = true
	}
	if raw := m.sum(0, m.feats); len(seen) < 5 || math.Abs(sum-raw) > 0.001 {
		t.Errorf("%d signs add up to %.4f, the score is by %.4f", len(seen), sum, raw)
	}
}

// Where pages off the topic name each other by its words without end, an honest link that names nothing comes first after some tens of them, also
// by a model that was stored meanwhile. A few such pages say nothing yet.
func TestLinksThatBreakTheirWord(t *testing.T) {
	m := NewLinks(words(t, "row level security", "en"))
	spam := func(i int) *Evidence {
		return &Evidence{URL: fmt.Sprintf("http://a.test/r%d", i), Anchor: "row level security", Around: "row level security row level security", Page: 0.003, Off: min(i, 2)}
	}
	good := &Evidence{URL: "http://a.test/good", Anchor: "other", Around: "row level security row level security", Page: 0.003}
	for i := range 40 {
		if m.Learn(spam(i), 0); i == 3 && m.Explain(spam(99), true).Kept < 1 {
			t.Errorf("after 4 pages the rules count for %.2f", m.Explain(spam(99), true).Kept)
		}
	}
	var stored Links
	stored.judge = m.judge
	if err := stored.Unmarshal(m.Marshal()); err != nil {
		t.Fatal(err)
	}
	for _, m := range []*Links{m, &stored} {
		if bad, honest := m.Score(spam(99), true), m.Score(good, true); bad >= honest {
			t.Errorf("words that led nowhere 40 times promise %.3f, an honest link %.3f", bad, honest)
		}
	}
	if err := stored.Unmarshal(m.Marshal()[:40]); err == nil {
		t.Error("half a model was read")
	}
}

// site is a made-up site: pages of one folder are on the topic, and their links say nothing of it but by a word that is not the topic's.
func site(rng *rand.Rand, i int) (e Evidence, on float64) {
	if rng.IntN(10) == 0 {
		on = 1
	}
	e = Evidence{URL: fmt.Sprintf("http://a.test/b/p%d.html", i), Anchor: "read on", Page: 0.5 * rng.Float64()}
	if on == 1 && rng.IntN(5) > 0 || on == 0 && rng.IntN(20) == 0 {
		e.URL, e.Anchor = fmt.Sprintf("http://a.test/lib/await/p%d.html", i), "await them"
	}
	return e, on
}

// A model that has seen which links led to pages on the topic puts such links first, also if they never name it; what was
// learned survives being stored, to the bit.
func TestLinksLearn(t *testing.T) {
	j := words(t, "asynchronous iterators", "en")
	m := NewLinks(j)
	rng := rand.New(rand.NewPCG(5, 5))
	untaught, taught := 0.0, 0.0
	area := func() float64 {
		rng := rand.New(rand.NewPCG(9, 9))
		var on, off []float64
		for i := range 600 {
			e, y := site(rng, i)
			if s := m.Score(&e, true); y == 1 {
				on = append(on, s)
			} else {
				off = append(off, s)
			}
		}
		n := 0.0
		for _, a := range on {
			for _, b := range off {
				if a > b {
					n++
				} else if a == b {
					n += 0.5
				}
			}
		}
		return n / float64(len(on)*len(off))
	}
	untaught = area()
	for i := range 400 {
		e, on := site(rng, i)
		m.Learn(&e, on)
	}
	taught = area()
	if untaught > 0.6 || taught < 0.8 {
		t.Errorf("area under the curve %.3f before, %.3f after", untaught, taught)
	}
	other := NewLinks(j)
	if err := other.Unmarshal(m.Marshal()); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(other.Marshal(), m.Marshal()) || other.Seen() != 400 {
		t.Error("another model after being stored")
	}
	e, _ := site(rng, 1)
	if read := m.Read(&e, true); other.Score(&e, true) != m.Score(&e, true) || other.ScoreBy(&read, &e, true) != m.Score(&e, true) {
		t.Error("another score after being stored")
	}
	m.Learn(&e, 1)
	other.Learn(&e, 1)
	if !bytes.Equal(other.Marshal(), m.Marshal()) {
		t.Error("a model that was stored learns something else")
	}
	for _, bad := range [][]byte{nil, {9}, {linksVersion, 1}, append(slices.Clone(m.Marshal()), 1)} {
		if err := NewLinks(j).Unmarshal(bad); err == nil {
			t.Errorf("%d bytes are taken for a model", len(bad))
		}
	}
}

func BenchmarkLinkScore(b *testing.B) {
	m := NewLinks(words(b, "asynchronous iterators", "en"))
	e := Evidence{
		URL: "http://docs.test/3/library/collections.abc.html", Anchor: "collections.abc — Abstract Base Classes for Containers", Page: 0.3, Off: 1,
		Around: "Source code: this module provides abstract base classes that can be used to test", Known: 100, Rate: 0.1,
	}
	m.Learn(&e, 1)
	for b.Loop() {
		m.Score(&e, true)
	}
}
