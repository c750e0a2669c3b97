package coordinator

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/bus"
)

// Where a drop leaves a page to another search that waits for it, a job that was done goes on; one that has reached a limit had such pages
// before, and stays as it ended.
func TestDropLetsAJobGoOn(t *testing.T) {
	s := twoSearches(t)
	s.leader(crawl.Entry{Kind: crawl.EntryDrop, Release: &crawl.Release{Job: 2, Tasks: []uint32{s.co.f.Searching(2, 1).ID}, Why: "test"}})
	for state, want := range map[string]bool{crawl.JobDone: true, crawl.JobManual: true, crawl.JobLimited: false} {
		s.leader(crawl.Entry{Kind: crawl.EntryState, State: &crawl.JobState{Job: 2, State: state}})
		if got := s.co.goesOn(crawl.EntryDrop, s.co.f.Job(2)); got != want {
			t.Errorf("a job that was %s goes on: %v", state, got)
		}
	}
}

// A drop that names a site and a task gives up the site for every search, and the task for its own.
func TestDropOfSitesAndTasks(t *testing.T) {
	s := twoSearches(t)
	seeker := s.co.f.Searching(2, 1).ID
	pieces, n, err := s.co.ordered(crawl.EntryDrop, []string{"s.test"}, crawl.Release{Job: 2, Tasks: []uint32{seeker}, Why: "test"})
	if err != nil || len(pieces) != 2 || n.Tasks != len(pieces[0].Tasks)+1 {
		t.Fatalf("%d tasks, %+v, %v", n.Tasks, pieces, err)
	}
	if sites, tasks := pieces[0], pieces[1]; !sites.Sites || slices.Contains(sites.Tasks, seeker) || tasks.Sites || !slices.Equal(tasks.Tasks, []uint32{seeker}) {
		t.Errorf("%+v", pieces)
	}
}

// An order that names several tasks is about those to which it does something, and says why the others stay as they are; one that does
// nothing to any is refused, and so is one that names what is not there.
func TestOrdersLeaveWhatStays(t *testing.T) {
	s := twoSearches(t)
	first, second := s.co.f.Searching(2, 1).ID, s.co.f.Searching(2, 2).ID
	s.leader(crawl.Entry{Kind: crawl.EntryDrop, Release: &crawl.Release{Job: 2, Tasks: []uint32{first}, Why: "test"}})
	for _, c := range []struct {
		kind  crawl.EntryKind
		tasks []uint32
		about []uint32
		left  []string
		err   error
	}{
		{crawl.EntryDrop, []uint32{first, second}, []uint32{second}, []string{"it was dropped, for good"}, nil},
		{crawl.EntryDrop, []uint32{first}, nil, nil, ErrDropped},
		{crawl.EntryRetry, []uint32{second}, nil, nil, ErrIdle},
		{crawl.EntryRetry, []uint32{second, first}, nil, nil, ErrIdle},
		{crawl.EntryDrop, []uint32{second, 999}, nil, nil, ErrNoTask},
	} {
		pieces, of, err := s.co.ordered(c.kind, nil, crawl.Release{Job: 2, Tasks: c.tasks, Why: "test"})
		if !errors.Is(err, c.err) || err == nil && (len(pieces) != 1 || !slices.Equal(pieces[0].Tasks, c.about) || of.Tasks != len(c.about)) {
			t.Errorf("%v of %v: %+v, %+v, %v", c.kind, c.tasks, pieces, of, err)
			continue
		}
		for i, want := range c.left {
			if len(of.Left) != len(c.left) || !strings.Contains(of.Left[i], want) {
				t.Errorf("%v of %v: left are %q", c.kind, c.tasks, of.Left)
			}
		}
	}
}

// A retry of all names those dropped tasks alone of which a page failed, and no more tasks than fit an entry.
func TestRetryNamesFewTasks(t *testing.T) {
	s := twoSearches(t)
	s.leader(crawl.Entry{Kind: crawl.EntryDrop, Release: &crawl.Release{Job: 2, Tasks: []uint32{s.co.f.Searching(2, 1).ID}, Why: "test"}})
	pieces, _, err := s.co.ordered(crawl.EntryRetry, nil, crawl.Release{Job: 2})
	if err != nil || len(pieces) != 1 || len(pieces[0].Dropped) > 0 {
		t.Errorf("%+v, %v", pieces, err)
	}
	many := make([]uint32, maxNumbers+1)
	for i := range many {
		many[i] = uint32(1<<32 - 1 - i)
	}
	for _, r := range []*crawl.Release{{Tasks: many}, {Dropped: many}} {
		if err := countable(r); !errors.Is(err, ErrState) {
			t.Errorf("one too many: %v", err)
		}
	}
	fits := crawl.Release{Dropped: many[1:]}
	b, err := crawl.Marshal(&crawl.Entry{Kind: crawl.EntryRetry, Release: &fits})
	if err = errors.Join(err, countable(&fits)); err != nil || len(b) > bus.MaxPart {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// twoSearches have found the same page of a site.
func twoSearches(t *testing.T) *twins {
	t.Helper()
	const asked, page = "http://e.test/?q=", "http://s.test/page"
	s := newTwins(t, 1)
	c := &crawl.Collect{Engines: []crawl.Engine{{Name: "e"}}, Pages: 2}
	for no, words := range []string{"x", "y"} {
		c.Searches = append(c.Searches, crawl.Search{Task: uint32(no + 1), Product: "p", Words: []string{words}, Site: "s.test", URL: asked + words})
	}
	s.leader(crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 2, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeAny, Collect: c}}})
	for no := range uint32(2) {
		seeker := s.co.f.Searching(2, no+1)
		targets, err := s.co.f.Next(seeker.ID, 1)
		if err != nil {
			t.Fatal(err)
		}
		l := crawl.Lease{ID: uint64(no + 1), Job: 2, Task: seeker.ID, Site: seeker.Site, Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 10, Targets: targets}
		s.leader(crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{l}})
		s.entry("n", crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{
			Lease: l.ID, Attempt: 1, Epoch: 1, Secret: "s", No: 1, Final: true, Found: []crawl.Found{{Parent: targets[0].Key, Links: []crawl.Link{{URL: page}}}},
			Outcomes: []crawl.Outcome{{Key: targets[0].Key, URL: targets[0].URL, State: crawl.Fetched, Status: 200, Owner: targets[0].Owner, Answered: &crawl.Answered{Verdict: crawl.AnswerFound, Results: 1}}},
		}}})
	}
	return s
}
