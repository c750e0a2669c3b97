package main

import (
	"html"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"argosy/internal/testkit/seeds"
)

// large are webs whose search takes a sixth of a second to two, and so do those of shops; they have their turn at night, or when somebody who
// has changed them sets ARGOSY_NIGHTLY.
var large = []string{"narrow", "tags", "forum", "choices", "facets", "shelves", "diary", "columns", "listing-nav", "listing-words", "blog", "app", "cloud", "prices",
	"board", "sorted", "shop-zx-500-sticky", "shop-zx-100", "talk", "boards", "guide", "git", "forge", "git-code", "programme", "lost", "variants", "strip", "pictures", "pedigree", "intl", "lineage-ids", "lineage-spread", "lineage-known", "r", "reels", "census", "match", "deaths",
	"hg", "source", "records", "opac", "oops", "perhaps", "photobook", "society", "family"}

// likes are webs that are made like others: of those, other sizes and shares.
var likes = regexp.MustCompile(`^mixed$|-2000|-quote|-500(-[^s]|$)|^(fulltext|downloads|attachments|stock|shelf)-(30|200)$`)

// hrefs calls fn with what a page's links name.
func hrefs(body string, fn func(string)) {
	for {
		var found bool
		if _, body, found = strings.Cut(body, `href="`); !found {
			return
		}
		var to string
		to, body, _ = strings.Cut(body, `"`)
		if strings.Contains(to, "&") {
			to = html.UnescapeString(to)
		}
		fn(to)
	}
}

// search goes through a site breadth first, as a crawler with the whole truth would: it follows no link from an answer
// of a trap that has brought nothing more often than allowed. It stops when it has everything, or after so many answers.
func search(t *testing.T, s *site, allowed, most int) (missing []string) {
	t.Helper()
	want, said, known := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, p := range s.parts {
		for _, id := range p.real {
			if want[id] {
				t.Fatalf("%s is named twice", id)
			}
			want[id] = true
		}
	}
	wasted := map[string]int{}
	seen := map[string]bool{"/": true}
	for queue := []string{"/"}; len(queue) > 0 && len(want) > 0 && most > 0; most-- {
		u, err := url.Parse("http://h" + queue[0])
		if err != nil {
			t.Fatal(err)
		}
		queue = queue[1:]
		a := s.ask(u)
		drawn := slices.ContainsFunc(s.parts, func(p *part) bool { return p.drawn })
		if most%16 == 0 && !drawn && s.ask(u).body != a.body {
			t.Fatalf("%s says something else each time", u)
		}
		if a.status == 404 && a.next == "" {
			t.Fatalf("%s is not there", u)
		}
		isNew := !said[a.says]
		said[a.says] = true
		for _, id := range append(a.targets, a.real) {
			isNew = isNew || !known[id]
			known[id] = true
		}
		delete(want, a.real)
		if a.trap != "" && !isNew {
			if wasted[a.trap]++; wasted[a.trap] > allowed {
				continue
			}
		}
		follow := func(l string) {
			if l == "" || strings.HasPrefix(l, "/") && seen[l] { // as it stands most often
				return
			}
			to, err := u.Parse(l)
			if err != nil {
				t.Fatalf("%s links to %q: %v", u, l, err)
			}
			if uri := to.RequestURI(); !seen[uri] {
				seen[uri] = true
				queue = append(queue, uri)
			}
		}
		follow(a.location)
		follow(a.next)
		hrefs(a.body, follow)
	}
	for id := range want {
		missing = append(missing, id)
	}
	return missing
}

// TestLongReachable shows that the promises can be kept: everything real is found in the order of a breadth-first search
// although nothing is followed from a trap's answers beyond those that it is allowed to waste. By day that is every third web.
func TestLongReachable(t *testing.T) {
	for i, w := range webs() {
		if !seeds.Many() && i%3 > 0 {
			continue
		}
		if likes.MatchString(w.name) {
			continue
		}
		if !seeds.Many() && (slices.Contains(large, w.name) || strings.HasPrefix(w.name, "shop-") && !strings.Contains(w.name, "-zx-")) {
			continue
		}
		for host, s := range w.sites {
			t.Run(w.name+"/"+host, func(t *testing.T) {
				t.Parallel()
				if missing := search(t, s, 600, 60000); len(missing) > 0 {
					t.Errorf("%d real pages cannot be reached, such as %s", len(missing), missing[0])
				}
			})
		}
	}
}

// TestLongPromises plays crawls of one web of each kind: the frontier and the scanner are the real ones. By day that is every other web; those of
// the frontier's own tests are of every kind of trap.
func TestLongPromises(t *testing.T) {
	for i, p := range []*part{
		chain(500), gallery(200), listing("number", 60), growing(60), noisy("clock", growing(60)), softErrors(100), sections(30, 20),
		sessions("segment", 200, false), noisy("quote", sessions("zx", 200, false)), slides(6, 60), echo(100), cloud(100),
		calendar("months"), agenda(), wiki(80), sessions("segment", 200, true), packages(900), stubs(700), trail(100), votes(200),
		history(60, 40), diary(3), year(), programme(90), bodies("empty"), bodies("image"), firms(600), society(600), spares(600), departures(600),
		lineage("ids", 700), parish(700), weeks(), astray(300),
	} {
		if !seeds.Many() && i%2 > 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds.Of(1, 5) {
				j := newJudge(single(p.name, p, library(100)), 8000)
				keepsPromises(t, j, seed)
			}
		})
	}
}

// A node that has read so much that it marks few of the pages that need not be marked ends these, too.
func TestPromises(t *testing.T) {
	for _, p := range []*part{calendar("months"), sessions("segment", 200, false), gallery(200)} {
		t.Run(p.name, func(t *testing.T) {
			t.Parallel()
			for seed := range seeds.Of(2, 5) {
				j := newJudge(single(p.name, p, library(100)), 8000)
				j.spent = true
				keepsPromises(t, j, seed)
			}
		})
	}
}

// The edition of a manual that was not translated is had, though its bytes are those of another one, on a node that has read much and on a fresh one.
func TestUntranslatedEdition(t *testing.T) {
	for _, spent := range []bool{false, true} {
		for seed := range seeds.Of(1, 20) {
			j := newJudge(single("edition", edition(700)), 8000)
			j.spent = spent
			keepsPromises(t, j, seed)
		}
	}
}

// TestJudge shows that answers of a trap are counted when they bring nothing, and only then.
func TestJudge(t *testing.T) {
	s := newSite("judge", sessions("zx", 20, false))
	j := newJudge(&web{name: "judge", sites: map[string]*site{"judge": s}}, 1000)
	for _, step := range []struct {
		uri             string
		answers, wasted int
	}{
		{"/", 0, 0},                                // honest
		{"/shop-zx-20/cat/0?zx=a", 1, 0},           // its articles are new
		{"/shop-zx-20/cat/0?zx=b", 2, 1},           // the same
		{"/shop-zx-20/item/3?zx=b", 3, 1},          // text is new
		{"/shop-zx-20/item/3?zx=c", 4, 2},          // the same
		{"/shop-zx-20/item/3", 5, 3},               // the same, by its bare name
		{"/shop-zx-20/nothing", 5, 3},              // not found
		{"/shop-zx-20/item/4?zx=0a1b2c3d4e", 6, 3}, // another
	} {
		u, err := url.Parse("http://judge" + step.uri)
		if err != nil {
			t.Fatal(err)
		}
		j.note("judge", s, step.uri, s.ask(u))
		got := tally{}
		if n := j.traps["judge shop-zx-20 session ids"]; n != nil {
			got = *n
		}
		if got.answers != step.answers || got.wasted != step.wasted {
			t.Errorf("after %s: %d answers, %d wasted; want %d, %d", step.uri, got.answers, got.wasted, step.answers, step.wasted)
		}
	}
	if !j.had["judge shop-zx-20/item3"] || j.had["judge shop-zx-20/item5"] {
		t.Error("what was had is not what was shown")
	}
}

// keepsPromises plays a crawl and says which promises it broke.
func keepsPromises(t *testing.T, j *judge, seed uint64) {
	t.Helper()
	v, err := j.play(seed)
	if err != nil {
		t.Fatal(err)
	}
	ended, rows := j.rows(v, 600)
	for _, r := range append(rows, ended) {
		if r.broken {
			t.Errorf("seed %d: %s: %d of %d real pages, %d answers, %d wasted: %s", seed, r.name, r.had, r.real, r.answers, r.wasted, r.promise)
		}
	}
}
