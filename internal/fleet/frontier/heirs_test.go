package frontier

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
)

func (s *searching) drop(r crawl.Release) Effects {
	s.t.Helper()
	r.Job, r.Why = 1, "test"
	return s.apply(crawl.Entry{Kind: crawl.EntryDrop, Release: &r})
}

func (s *searching) edit(no uint32, site string) Effects {
	s.t.Helper()
	seeker := s.Searching(1, no)
	changed := seeker.Of.Search
	changed.Site, changed.URL = site, fmt.Sprintf("http://e00.test/?q=y%d", no)
	return s.apply(crawl.Entry{Kind: crawl.EntryEdit, Edit: &crawl.Edit{Job: 1, Task: seeker.ID, Search: changed}})
}

// of is the task that fetches what a search has named, of one site.
func (s *searching) of(no uint32) *Task {
	for _, t := range s.targets() {
		if t.Search == no {
			return t
		}
	}
	return nil
}

// wantNext fails unless these are what a search has left to fetch.
func (s *searching) wantNext(no uint32, want ...string) {
	s.t.Helper()
	var got []string
	if own := s.of(no); own != nil {
		next, err := s.Next(own.ID, 10)
		if err != nil {
			s.t.Fatal(err)
		}
		for _, n := range next {
			got = append(got, n.URL)
		}
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.t.Errorf("search %d is to fetch %v, want %v", no, got, want)
	}
	check(s.t, s.Frontier)
}

// fetches has a search's task fetch all that it has left.
func (s *searching) fetches(no uint32) {
	s.t.Helper()
	task := s.of(no).ID
	next, err := s.Next(task, 10)
	if err != nil {
		s.t.Fatal(err)
	}
	var all []crawl.Outcome
	for _, n := range next {
		all = append(all, outcomeOf(s.t, n.URL, 200))
	}
	s.part(s.begin(task, "n"), crawl.Part{Final: true, Outcomes: all})
	check(s.t, s.Frontier)
}

// What a search that is dropped has named is fetched for others that have named it, before or after, also what a node has; the rest is not.
func TestDroppedSearchLeavesOthersTheirs(t *testing.T) {
	const page = "http://s.test/"
	s := newSearching(t, 3, "s.test")
	s.names(1, "n", page+"1", page+"2", page+"3", page+"4")
	s.names(2, "n", page+"1", page+"2")
	s.part(s.begin(s.of(1).ID, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, page+"1", 200)}})
	lease := s.begin(s.of(1).ID, "n")
	first, second := s.Searching(1, 1), s.Searching(1, 2)
	if fx := s.drop(crawl.Release{Tasks: []uint32{first.ID}}); len(fx.Recalled) != 1 || fx.Recalled[0].ID != lease {
		t.Errorf("taken back: %v", fx.Recalled)
	}
	s.wantNext(2, page+"2")
	if n, with := second.Of.SharedWith(); second.Status() != crawl.TaskSleeping || second.Of.Lost != 0 || n != 1 || with != 1 { // of 1, which was had
		t.Errorf("%s: %+v", second.Status(), second.Of)
	}
	s.names(3, "n", page+"2", page+"3")
	s.wantNext(3, page+"3")
	s.fetches(2)
	s.fetches(3)
	for no, want := range map[uint32]int64{2: 2, 3: 2} {
		if seeker := s.Searching(1, no); seeker.Status() != crawl.TaskDone || seeker.Of.Collected != want || seeker.Of.Lost != 0 {
			t.Errorf("search %d is %s: %d collected, %d lost, want %d", no, seeker.Status(), seeker.Of.Collected, seeker.Of.Lost, want)
		}
	}
	if old := s.of(1); first.Status() != crawl.TaskDropped || old.Fetched != 1 || old.Excluded != 1 {
		t.Errorf("%s: %+v", first.Status(), old.Counts)
	}
	if of := first.Of; of.Found != 4 || of.Collected != 1 || of.Lost != 3 || of.Shared != nil { // what others have fetched since is not its own
		t.Errorf("the dropped one counts %+v", of)
	}
}

// Searches that are dropped together leave each other nothing, nor does a whole site.
func TestDroppedTogether(t *testing.T) {
	for _, sites := range []bool{false, true} {
		s := newSearching(t, 2, "s.test")
		s.names(1, "n", "http://s.test/1")
		s.names(2, "n", "http://s.test/1")
		tasks := []uint32{s.Searching(1, 1).ID, s.Searching(1, 2).ID}
		if sites {
			tasks = []uint32{s.of(1).ID}
		}
		s.drop(crawl.Release{Tasks: tasks, Sites: sites})
		if own := s.of(2); own != nil {
			t.Errorf("sites %v: %+v", sites, own)
		}
		check(t, s.Frontier)
	}
}

// What could not be had of a task that was dropped since is asked for again by a search that a person releases, or changes.
func TestLostPagesOfADroppedSearch(t *testing.T) {
	const page = "http://s.test/1"
	for _, edited := range []bool{false, true} {
		s := newSearching(t, 2, "s.test")
		s.names(1, "n", page)
		s.names(2, "n", page)
		s.part(s.begin(s.of(1).ID, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, page, 500)}})
		s.drop(crawl.Release{Tasks: []uint32{s.Searching(1, 1).ID, s.of(1).ID}})
		second := s.Searching(1, 2)
		if edited {
			s.edit(2, "s.test")
			s.names(2, "n", page)
		} else {
			s.apply(crawl.Entry{Kind: crawl.EntryRetry, Release: &crawl.Release{Job: 1, Tasks: []uint32{second.ID}}})
		}
		s.wantNext(2, page)
		s.fetches(2)
		if second.Status() != crawl.TaskDone || second.Of.Collected != 1 || second.Of.Lost != 0 {
			t.Errorf("edited %v: %s: %+v", edited, second.Status(), second.Of)
		}
	}
}

// A search can be changed in each queue, as long as it is not over and no node has it.
func TestWhenASearchIsChanged(t *testing.T) {
	s := newSearching(t, 1, "s.test")
	seeker := s.Searching(1, 1)
	changed := func(state, fixed string) {
		t.Helper()
		if seeker.Status() != state || seeker.Fixed() != fixed {
			t.Errorf("%s: %q, want %s: %q", seeker.Status(), seeker.Fixed(), state, fixed)
		}
		if fixed == "" {
			s.edit(1, "s.test")
		}
	}
	changed(crawl.TaskWaiting, "")
	lease := s.begin(seeker.ID, "n")
	changed(crawl.TaskCrawling, "is being read by a node; once its lease has ended it can")
	s.apply(crawl.Entry{Kind: crawl.EntryRecall, Recalls: []crawl.Recall{{Lease: lease, Reason: crawl.EndRecalled, Counts: true}}})
	changed(crawl.TaskFailed, "")
	s.names(1, "n", "http://s.test/1", "http://s.test/2")
	changed(crawl.TaskSleeping, "")
	s.names(1, "n", "http://s.test/2")
	s.fetches(1)
	changed(crawl.TaskDone, "is done")
	s.drop(crawl.Release{Tasks: []uint32{seeker.ID}})
	changed(crawl.TaskDropped, "is dropped")
	if seeker.Gen != 3 || seeker.Of.Collected != 1 {
		t.Errorf("%d changes, %+v", seeker.Gen, seeker.Of)
	}
}

// What a search that a person changes had named, and another one has, too, is fetched and recorded for that one from then on.
func TestChangedSearchLeavesOthersTheirs(t *testing.T) {
	const page = "http://s.test/1"
	s := newSearching(t, 3, "s.test")
	for no := range uint32(3) {
		s.names(no+1, "n", page)
	}
	lease := s.begin(s.of(1).ID, "n")
	if fx := s.edit(1, "other.test"); len(fx.Recalled) != 1 || fx.Recalled[0].ID != lease {
		t.Errorf("taken back: %v", fx.Recalled)
	}
	s.wantNext(2, page)
	for no, want := range map[uint32]int64{2: 0, 3: 1} {
		if n, with := s.Searching(1, no).Of.SharedWith(); n != want || n > 0 && with != 2 {
			t.Errorf("search %d shares %d pages with %d", no, n, with)
		}
	}
	if old := s.of(1); old.Pending() != 0 || old.Discovered != 0 {
		t.Errorf("left to the changed one: %+v", old.Counts)
	}
	s.fetches(2)
	if of := s.Searching(1, 3).Of; of.Collected != 1 || s.Searching(1, 1).Of.Collected != 0 {
		t.Errorf("%+v", of)
	}
}

// Pages that searches ask for again stand in the view until the log has told the ledger: whoever leads by then can do so, and nobody does it twice.
func TestAskedAgainIsTold(t *testing.T) {
	const page = "http://s.test/1"
	fs := vfs.NewMem()
	s := newSearchingOn(t, fs, 1, "s.test")
	s.names(1, "n", page)
	s.part(s.begin(s.of(1).ID, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, page, 500)}})
	s.apply(crawl.Entry{Kind: crawl.EntryRetry, Release: &crawl.Release{Job: 1, Tasks: []uint32{s.Searching(1, 1).ID}}})
	again := slices.Clone(s.Job(1).Again)
	if len(again) != 1 {
		t.Fatalf("asked again are %v", again)
	}
	if err := s.Close(); err != nil { // before anything of it is in the log
		t.Fatal(err)
	}
	s.Frontier = open(t, fs)
	if !slices.Equal(s.Job(1).Again, again) {
		t.Errorf("who leads next is to tell of %v, want %v", s.Job(1).Again, again)
	}
	told := &crawl.Release{Job: 1, Lost: again, Mend: true, Keep: true}
	s.apply(crawl.Entry{Kind: crawl.EntryRetry, Release: told})
	if left := s.Job(1).Again; len(left) > 0 {
		t.Errorf("left are %v", left)
	}
	s.wantNext(1, page)
}

// A page that had ended when a search named it was never counted as fetched for another one: to fetch it again for a third one takes nothing
// from those that were.
func TestSharesOfWhatHadEnded(t *testing.T) {
	const had, lost = "http://s.test/had", "http://s.test/lost"
	s := newSearching(t, 4, "s.test")
	s.names(1, "n", had, lost)
	s.part(s.begin(s.of(1).ID, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, lost, 500)}})
	s.names(2, "n", had, lost)
	want := func(pages int64) {
		t.Helper()
		if n, _ := s.Searching(1, 2).Of.SharedWith(); n != pages {
			t.Errorf("%d pages are fetched for others, want %d: %v", n, pages, s.Searching(1, 2).Of.Shared)
		}
	}
	want(1)
	s.fetches(1)
	s.drop(crawl.Release{Tasks: []uint32{s.Searching(1, 1).ID, s.of(1).ID}})
	for _, no := range []uint32{3, 4} { // the first of the two has it from now on, the other one waits for it
		s.edit(no, "s.test")
		s.names(no, "n", lost)
		want(2)
	}
}

// What a search has called is forgotten with it.
func TestDroppedSearchForgetsWhatItCalled(t *testing.T) {
	s := newSearching(t, 2, "s.test")
	s.names(1, "n", "http://s.test/1", "http://s.test/2")
	s.names(2, "n", "http://s.test/1")
	first, second := s.Searching(1, 1), s.Searching(1, 2)
	called := func(of *Task) (n int) {
		t.Helper()
		if err := s.each(namedKey(of, crawl.Key{})[:5], func(_, _ []byte) error { n++; return nil }); err != nil {
			t.Fatal(err)
		}
		return n
	}
	if called(first) != 2 || called(second) != 1 {
		t.Fatalf("they have called %d and %d", called(first), called(second))
	}
	s.drop(crawl.Release{Tasks: []uint32{first.ID}})
	if called(first) != 0 || called(second) != 1 {
		t.Errorf("after the first was dropped %d and %d are kept", called(first), called(second))
	}
}
