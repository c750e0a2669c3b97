package engine

import (
	"fmt"
	"math/rand/v2"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"argosy/internal/crawl"
)

// index is a made-up engine that holds n results and shows size of them on a page, up to most.
type index struct {
	n, size, most int
	stated        string // format of the number
	links         bool   // pages name the next one
	wraps         bool   // beyond the last page is the last page
	overlap       int    // results that a page repeats of the one before
}

func (x index) answer(address string) Answer {
	u, err := url.Parse(address)
	if err != nil {
		return Answer{URL: address, Status: 400}
	}
	p, _ := strconv.Atoi(u.Query().Get("p"))
	shown := min(x.n, x.most)
	if last := max(0, (shown-1)/x.size); x.wraps && p > last {
		p = last
	}
	var b strings.Builder
	fmt.Fprintf(&b, "<b id=n>"+x.stated+"</b>", x.n)
	for i := max(0, p*x.size-x.overlap); i < min(shown, (p+1)*x.size); i++ {
		fmt.Fprintf(&b, "<li><a href=/%d>x</a>", i)
	}
	if x.links && (p+1)*x.size < shown {
		fmt.Fprintf(&b, "<a class=next href='?q=x&p=%d'>", p+1)
	}
	return Answer{URL: address, Status: 200, Type: "text/html", Body: []byte(b.String())}
}

// engine reads the made-up one.
func (x index) engine(t *testing.T) *Ready {
	e := Engine{
		URL: "http://e.example/?q={query}&p={page}", Results: Results{Item: Selector{CSS: "li"}, Link: Selector{CSS: "a", Attr: "href"}},
		Stated: Stated{At: Selector{CSS: "#n"}, Estimate: "about", More: "over"}, Limit: x.most,
	}
	if x.links {
		e.Next = Selector{CSS: "a.next", Attr: "href"}
	}
	return ready(t, e)
}

// Whatever an engine is like, a walk finds all that it shows, each once, and ends.
func TestWalk(t *testing.T) {
	for seed := range uint64(500) {
		r := rand.New(rand.NewPCG(seed, 7))
		x := index{
			n: r.IntN(60), size: 1 + r.IntN(12), most: 1 + r.IntN(80), stated: []string{"%d", "about %d", "over %d", "some", "%d0 of about"}[r.IntN(5)],
			links: r.IntN(2) == 0, wraps: r.IntN(2) == 0, overlap: r.IntN(3),
		}
		if x.stated == "some" {
			x.stated = "some%.0d"
		}
		w, err := NewWalk(x.engine(t), Search{Words: []string{"x"}}, 200)
		if err != nil {
			t.Fatal(err)
		}
		for a, ok := w.Next(); ok; a, ok = w.Next() {
			w.Take(x.answer(a))
		}
		want := min(x.n, x.most)
		if len(w.Results) != want || w.Pages > want/x.size+3 || w.Stop == "" || w.Last != Found && w.Last != Empty && (w.Last != Changed || x.n > 0) {
			t.Errorf("seed %d: %+v: %d results on %d pages, want %d; %s", seed, x, len(w.Results), w.Pages, want, w.Stop)
		}
		if share, known := w.Stated.Completion(int64(len(w.Results)), int64(len(w.Results))); known && share > 1 {
			t.Errorf("seed %d: completion %v", seed, share)
		}
	}
}

// A walk keeps to its quota, to the site of the engine, and to pages that it has not asked.
func TestWalkEnds(t *testing.T) {
	x := index{n: 100, size: 10, most: 1000, stated: "%d", links: true}
	for _, c := range []struct {
		quota int
		spoil string // put in the place of the next link's address
		pages int
		says  string
	}{
		{3, "", 3, "as many pages as were asked for: 3"}, {50, "", 10, "all that the engine states"}, {50, "http://o.example/?p=1", 1, "no next page"},
		{50, "?q=x&p=0", 1, "no next page"}, {50, "?q=x&p=00", 2, "a page without a new result"}, {50, "ftp://e.example/", 1, "no next page"},
	} {
		w, err := NewWalk(x.engine(t), Search{Words: []string{"x"}}, c.quota)
		if err != nil {
			t.Fatal(err)
		}
		for a, ok := w.Next(); ok; a, ok = w.Next() {
			answer := x.answer(a)
			if c.spoil != "" {
				answer.Body = []byte(strings.Replace(string(answer.Body), "?q=x&p=1'", c.spoil+"'", 1))
			}
			w.Take(answer)
		}
		if w.Pages != c.pages || w.Stop != c.says {
			t.Errorf("%+v: %d pages, %s", c, w.Pages, w.Stop)
		}
	}
	if _, err := NewWalk(x.engine(t), Search{Words: []string{"x"}}, 0); err == nil {
		t.Error("a quota of no pages is taken")
	}
	for _, words := range [][]string{nil, {""}, {" ", ""}} {
		if _, err := NewWalk(x.engine(t), Search{Words: words}, 1); err == nil {
			t.Errorf("a search for nothing is taken: %q", words)
		}
	}
}

// A number that results have refuted is what there are more than from then on, whatever later pages say again, unless that is larger.
func TestWalkRefutesForGood(t *testing.T) {
	for _, stated := range []string{"about 20", "20"} {
		x := index{n: 31, size: 5, most: 1000, stated: stated + "<!--%d-->", links: true}
		w, err := NewWalk(x.engine(t), Search{Words: []string{"x"}}, 9)
		if err != nil {
			t.Fatal(err)
		}
		for a, ok := w.Next(); ok; a, ok = w.Next() {
			w.Take(x.answer(a))
		}
		if len(w.Results) != 31 || w.Stated != (crawl.Stated{N: 20, Kind: crawl.StatedMore}) {
			t.Errorf("%s: %d results, %s", stated, len(w.Results), w.Stated)
		}
		for to, want := range map[crawl.Stated]bool{{N: 20, Kind: crawl.StatedExact}: false, {N: 25, Kind: crawl.StatedEstimate}: true, {Kind: crawl.StatedMissing}: false} {
			if w.Stated.GivesWay(to) != want {
				t.Errorf("%s gives way to %s: %v", w.Stated, to, !want)
			}
		}
	}
}

// An exact number of a later page replaces an estimate.
func TestWalkStates(t *testing.T) {
	x := index{n: 25, size: 10, most: 1000, stated: "about %d"}
	w, err := NewWalk(x.engine(t), Search{Words: []string{"x"}}, 9)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for a, ok := w.Next(); ok; a, ok = w.Next() {
		w.Take(x.answer(a))
		if kinds = append(kinds, w.Stated.Kind); w.Pages == 2 {
			x.stated = "%d"
		}
	}
	if !slices.Equal(kinds, []string{crawl.StatedEstimate, crawl.StatedEstimate, crawl.StatedExact}) || w.Stop != "all that the engine states" {
		t.Errorf("%v, %s", kinds, w.Stop)
	}
}

// A number that the results refute ends nothing, whether pages are named or counted, and is not exact any more.
func TestWalkRefutes(t *testing.T) {
	for _, links := range []bool{true, false} {
		for _, stated := range []int{0, 5, 10, 12} {
			x := index{n: 23, size: 10, most: 1000, stated: fmt.Sprint(stated) + "<!--%d-->", links: links}
			w, err := NewWalk(x.engine(t), Search{Words: []string{"x"}}, 9)
			if err != nil {
				t.Fatal(err)
			}
			for a, ok := w.Next(); ok; a, ok = w.Next() {
				w.Take(x.answer(a))
			}
			if stated == 10 && !links { // nothing says that there is more
				continue
			}
			if len(w.Results) != 23 || w.Stated != (crawl.Stated{N: int64(stated), Kind: crawl.StatedMore}) {
				t.Errorf("%d stated, links %v: %d results, stated: %v; %s", stated, links, len(w.Results), w.Stated, w.Stop)
			}
		}
	}
}

// Of exact numbers the last counts; one that fewer results than are known refute is refuted also when a search is resumed.
func TestWalkStatesAnew(t *testing.T) {
	x := index{n: 23, size: 10, most: 1000, links: true}
	w, err := NewWalk(x.engine(t), Search{Words: []string{"x"}}, 9)
	if err != nil {
		t.Fatal(err)
	}
	for a, ok := w.Next(); ok; a, ok = w.Next() {
		x.stated = []string{"100", "30", "23"}[w.Pages] + "<!--%d-->"
		w.Take(x.answer(a))
	}
	if w.Stated != (crawl.Stated{N: 23, Kind: crawl.StatedExact}) || w.Stop != "all that the engine states" {
		t.Errorf("%v, %s", w.Stated, w.Stop)
	}
	x.stated = "10<!--%d-->"
	w = x.engine(t).Resume(Search{Words: []string{"x"}}, 2, "http://e.example/?q=x&p=2", 20, crawl.Stated{})
	w.Take(x.answer("http://e.example/?q=x&p=2"))
	if w.Stated != (crawl.Stated{N: 10, Kind: crawl.StatedMore}) {
		t.Errorf("resumed: %v", w.Stated)
	}
}

// More results on a page than are read are said, whether the page is the last or not.
func TestWalkCut(t *testing.T) {
	for _, n := range []int{MaxResults, MaxResults + 1, 3000} {
		x := index{n: n, size: 2000, most: 10000, stated: "about %d", links: true}
		w, err := NewWalk(x.engine(t), Search{Words: []string{"x"}}, 9)
		if err != nil {
			t.Fatal(err)
		}
		var cut bool
		for a, ok := w.Next(); ok; a, ok = w.Next() {
			cut = w.Take(x.answer(a)).Cut || cut
		}
		if want := n > MaxResults; cut != want || strings.Contains(w.Stop, "more than 1000 results the others were not read") != want {
			t.Errorf("%d: %s", n, w.Stop)
		}
	}
}

// A page further on without anything that can be read is a change of markup, if the engine states more than it has shown and says
// otherwise when it has nothing.
func TestWalkChanged(t *testing.T) {
	for _, c := range []struct {
		stated string
		sign   string // of an answer without results, in the entry
		says   string // the page further on
		want   Verdict
	}{
		{"%d", "p.none", "<article>a new design</article>", Changed}, {"%d", "p.none", "<p class=none>nothing more", Empty},
		{"about %d", "p.none", "", Empty}, {"%d", "", "", Empty},
	} {
		x := index{n: 23, size: 10, most: 1000, stated: c.stated, links: true}
		e := x.engine(t).Engine
		if c.sign != "" {
			e.Empty = []Sign{{At: Selector{CSS: c.sign}}}
		}
		w, err := NewWalk(ready(t, e), Search{Words: []string{"x"}}, 9)
		if err != nil {
			t.Fatal(err)
		}
		for a, ok := w.Next(); ok; a, ok = w.Next() {
			answer := x.answer(a)
			if w.Pages == 1 {
				answer.Body = []byte(c.says)
			}
			w.Take(answer)
		}
		if w.Last != c.want || w.Pages != 2 || len(w.Results) != 10 {
			t.Errorf("%+v: %s, %d pages: %s", c, w.Last, w.Pages, w.Stop)
		}
	}
}

// A page further on whose markup has changed is not the end: it was named as the next page and states more than was shown. Beyond what
// an engine shows, pages that are counted end the walk.
func TestWalkFindsChangedMarkup(t *testing.T) {
	for _, c := range []struct {
		links  bool
		stated string
		says   string // the changed page, of what there is
		want   Verdict
	}{
		{true, "%d", "100", Changed}, {false, "%d", "100", Empty}, {true, "about %d", "about 100", Changed}, {true, "over %d", "over 90", Changed},
		{true, "about %d", "about 30", Empty}, {true, "about %d", "", Empty}, {false, "about %d", "about 100", Empty},
	} {
		x := index{n: 100, size: 10, most: 1000, stated: c.stated, links: c.links}
		w, err := NewWalk(x.engine(t), Search{Words: []string{"x"}}, 50)
		if err != nil {
			t.Fatal(err)
		}
		for a, ok := w.Next(); ok; a, ok = w.Next() {
			answer := x.answer(a)
			if w.Pages == 3 {
				answer.Body = []byte("<b id=n>" + c.says + "</b><article><a href=/other>x</a></article>")
			}
			w.Take(answer)
		}
		if w.Last != c.want || len(w.Results) != 30 {
			t.Errorf("%+v: %s, %d results, %s", c, w.Last, len(w.Results), w.Stop)
		}
	}
}

// Where pages are asked for by their first result and nobody knows how many each has, a walk passes none over, also one that goes on in the middle.
func TestWalkByResults(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 11))
		all, size, first := 1+r.IntN(60), 1+r.IntN(12), r.IntN(2)
		e := ready(t, Engine{
			URL: "http://e.example/{query}?from={page}", First: &first, Step: new(0),
			Results: Results{Item: Selector{CSS: "li"}, Link: Selector{CSS: "a", Attr: "href"}}, Empty: []Sign{{At: Selector{CSS: "i"}}},
		})
		search, got := Search{Words: []string{"ü x"}}, map[string]bool{}
		w, err := NewWalk(e, search, 1000)
		if err != nil {
			t.Fatal(err)
		}
		for address, more := w.Next(); more; address, more = w.Next() {
			u, err := crawl.Parse(address)
			if err != nil {
				t.Fatal(err)
			}
			if r.IntN(2) == 0 { // another lease goes on; nothing on the site of the search was found yet
				w = e.Resume(search, w.Pages, u.String(), 0, w.Stated)
			}
			var b strings.Builder
			_, number, _ := strings.Cut(address, "from=")
			from, _ := strconv.Atoi(number)
			for i := from - first; i < min(all, from-first+size); i++ {
				fmt.Fprintf(&b, "<li><a href=/%d>x</a>", i)
			}
			if b.Len() == 0 {
				b.WriteString("<i>")
			}
			for _, found := range w.Take(Answer{URL: address, Status: 200, Type: "text/html", Body: []byte(b.String())}).Results {
				got[found.URL] = true
			}
		}
		if len(got) != all || w.Last != Empty {
			t.Fatalf("seed %d: %d of %d results, %d of them on a page, %s", seed, len(got), all, size, w.Stop)
		}
	}
}
