package coordinator

import (
	"maps"
	"path/filepath"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// A ledger that is made anew from the log gets exactly what was believed when it came, whatever the frontier knows by now: what a search
// was before a person changed it, and not what a node had said of a URL that nobody had named then.
func TestLedgerMadeAnewBelievesTheSame(t *testing.T) {
	key := func(url string) crawl.Key {
		u, err := crawl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		return u.Key()
	}
	const asked, early = "http://e.test/?q=x", "http://s.test/early"
	s := newTwins(t, 1)
	c := &crawl.Collect{Engines: []crawl.Engine{{Name: "e"}}, Pages: 2, Searches: []crawl.Search{{Task: 1, Product: "p", Words: []string{"x"}, Site: "s.test", URL: asked}}}
	s.leader(crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 2, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeAny, Collect: c}}})
	lease := func(job, task uint32) crawl.Lease {
		targets, err := s.co.f.Next(task, 10)
		if err != nil {
			t.Fatal(err)
		}
		s.lease++
		l := crawl.Lease{ID: s.lease, Job: job, Task: task, Site: s.co.f.Task(task).Site, Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 10, Targets: targets}
		s.leader(crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{l}})
		return l
	}
	part := func(l crawl.Lease, no uint32, p crawl.Part) []crawl.Refusal {
		p.Lease, p.Attempt, p.Epoch, p.Secret, p.No = l.ID, l.Attempt, 1, "s", no
		_, refused := s.entry("n", crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{p}})
		return refused
	}
	outcome := func(url string) crawl.Outcome {
		return crawl.Outcome{Key: key(url), URL: url, State: crawl.Failed, Reason: crawl.KindTimeout}
	}

	site := lease(1, 1)
	if refused := part(site, 1, crawl.Part{Outcomes: []crawl.Outcome{outcome(early), outcome(seed(0))}}); len(refused) != 1 {
		t.Errorf("of a URL that nobody has named: %v", refused)
	}
	part(site, 2, crawl.Part{Final: true, Found: []crawl.Found{{Parent: key(seed(0)), Links: []crawl.Link{{URL: early}}}}})

	seeker := s.co.f.Searching(2, 1)
	answer := outcome(asked)
	answer.Owner = 1
	first := lease(2, seeker.ID)
	if refused := part(first, 1, crawl.Part{Final: true, Outcomes: []crawl.Outcome{answer}}); len(refused) > 0 {
		t.Fatalf("a result page: %v", refused[0].Fault)
	}
	changed := seeker.Of.Search
	changed.URL = "http://e.test/?q=y"
	s.leader(crawl.Entry{Kind: crawl.EntryEdit, Edit: &crawl.Edit{Job: 2, Task: seeker.ID, Search: changed}})
	if refused := part(first, 2, crawl.Part{Outcomes: []crawl.Outcome{answer}}); len(refused) > 0 { // of a lease that ended before: nobody's fault
		t.Errorf("a late word of the search as it was: %v", refused[0].Fault)
	}
	s.flush("first")

	anew, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer anew.Close()
	if err := anew.Rebase(t.Context(), "log", 0); err != nil {
		t.Fatal(err)
	}
	var log []ledger.Applied
	for _, e := range s.stored {
		en, _, err := s.co.take(e)
		if err != nil {
			t.Fatal(err)
		}
		log = append(log, ledger.Applied{Seq: e.seq, At: int64(e.seq) * 1000, Entry: en})
	}
	if err := anew.Apply(t.Context(), log); err != nil {
		t.Fatal(err)
	}
	for job := range uint32(2) {
		has := func(l *ledger.Ledger) map[crawl.Page]crawl.State {
			out := map[crawl.Page]crawl.State{}
			err := l.Ends(t.Context(), job+1, func(p crawl.Page, state crawl.State, _ crawl.Kind) error { out[p] = state; return nil })
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		was, is := has(s.co.sinks.ledger), has(anew)
		if len(was) != 1 || !maps.Equal(was, is) {
			t.Errorf("job %d: the ledger had %v, and made anew %v", job+1, was, is)
		}
	}
}
