package frontier

import (
	"fmt"
	"strings"
	"testing"

	"argosy/internal/crawl"
)

// shows has a node read the next result page of a search, which names pages, and others elsewhere, and a page behind it. It reports whether
// that one is to be read.
func (s *searching) shows(no uint32, off int, pages ...string) bool {
	s.t.Helper()
	t := s.Searching(1, no)
	next, err := s.Next(t.ID, 1)
	if err != nil || len(next) != 1 {
		s.t.Fatalf("%v, %v", next, err)
	}
	at := next[0]
	found := crawl.Found{Parent: at.Key}
	for _, p := range pages {
		found.Links = append(found.Links, crawl.Link{URL: p})
	}
	found.Links = append(found.Links, crawl.Link{URL: fmt.Sprintf("http://e%02d.test/?q=x&p=%d", no-1, at.Depth+1), Next: true})
	s.part(s.begin(t.ID, "n"), crawl.Part{Final: true, Found: []crawl.Found{found}, Outcomes: []crawl.Outcome{{
		Key: at.Key, URL: at.URL, State: crawl.Fetched, Status: 200, Owner: at.Owner, Gen: at.Gen, Depth: at.Depth,
		Answered: &crawl.Answered{Verdict: crawl.AnswerFound, Stated: crawl.Stated{Kind: crawl.StatedMissing}, Results: len(pages) + off, Off: off},
	}}})
	return t.Pending() > 0
}

// Paging ends when an engine repeats itself, and not where its results redirect to what is known, whoever has fetched that, or where some lie
// elsewhere.
func TestPagingGoesByAddresses(t *testing.T) {
	const page = "http://s.test/"
	s := newSearching(t, 2, "s.test")
	for no := range uint32(2) { // the second search finds all of it fetched
		if !s.shows(no+1, 0, page+"0", page+"1") || !s.shows(no+1, 0, page+"2") {
			t.Fatalf("search %d: %s", no+1, s.Searching(1, no+1).Of.Stop)
		}
		if no == 0 {
			moved := outcomeOf(t, page+"2", 301)
			moved.Redirect = page + "0"
			s.part(s.begin(s.of(1).ID, "n"), crawl.Part{Final: true, Found: []crawl.Found{{Parent: moved.Key, Links: []crawl.Link{{URL: page + "0", Redirect: true}}}},
				Outcomes: []crawl.Outcome{outcomeOf(t, page+"0", 200), outcomeOf(t, page+"1", 200), moved}})
		}
		if of := s.Searching(1, no+1).Of; of.Found != 3-1 {
			t.Errorf("search %d has found %d", no+1, of.Found)
		}
		if !s.shows(no+1, 4, page+"0") {
			t.Errorf("search %d: %s, though some of its results lie elsewhere", no+1, s.Searching(1, no+1).Of.Stop)
		}
		if s.shows(no+1, 0, page+"2", page+"0") || s.Searching(1, no+1).Of.Stop != "nothing new on its result pages" {
			t.Errorf("search %d goes on, though its engine repeats itself: %q", no+1, s.Searching(1, no+1).Of.Stop)
		}
	}
	check(t, s.Frontier)
	s.edit(1, "s.test")
	if !s.shows(1, 0, page+"0") {
		t.Errorf("a changed search does not begin anew: %s", s.Searching(1, 1).Of.Stop)
	}
}

// Result pages without end whose results lie elsewhere, but for what is known, are not read for ever.
func TestPagingEndsElsewhere(t *testing.T) {
	s := newSearching(t, 1, "s.test")
	s.shows(1, 9, "http://s.test/0")
	n := 1
	for s.shows(1, 9, "http://s.test/0") {
		if n++; n > 2*maxBarren {
			break
		}
	}
	if stop := s.Searching(1, 1).Of.Stop; n != maxBarren || !strings.Contains(stop, "on its site") {
		t.Errorf("%d result pages, then %q", n, stop)
	}
}

// A search whose engine could not be asked has read no pages, nor tried to: its history says what it was.
func TestUnaskedSearchSaysSo(t *testing.T) {
	s := newSearching(t, 1, "a.test")
	seeker := s.Searching(1, 1)
	s.part(s.begin(seeker.ID, "n"), crawl.Part{Final: true, Reason: crawl.EndFailed})
	if want := "attempt 1 on n could not ask the engine's site"; seeker.Of.Why != want {
		t.Errorf("%q, want %q", seeker.Of.Why, want)
	}
}
