package coordinator

import (
	"testing"

	"argosy/internal/crawl"
)

// Where a drop leaves a page to another search that waits for it, a job that was done goes on; one that has reached a limit had such pages
// before, and stays as it ended.
func TestDropLetsAJobGoOn(t *testing.T) {
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
	s.leader(crawl.Entry{Kind: crawl.EntryDrop, Release: &crawl.Release{Job: 2, Tasks: []uint32{s.co.f.Searching(2, 1).ID}, Why: "test"}})
	for state, want := range map[string]bool{crawl.JobDone: true, crawl.JobManual: true, crawl.JobLimited: false} {
		s.leader(crawl.Entry{Kind: crawl.EntryState, State: &crawl.JobState{Job: 2, State: state}})
		if got := s.co.goesOn(crawl.EntryDrop, s.co.f.Job(2)); got != want {
			t.Errorf("a job that was %s goes on: %v", state, got)
		}
	}
}
