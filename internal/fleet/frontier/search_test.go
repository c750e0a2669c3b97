package frontier

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// searching is a view of a job with searches, and its log.
type searching struct {
	*Frontier
	t   *testing.T
	seq uint64
}

// newSearching has a job whose searches ask as many engines about a site, or with site empty about any.
func newSearching(t *testing.T, searches int, site string) *searching {
	t.Helper()
	return newSearchingOn(t, vfs.NewMem(), searches, site)
}

func newSearchingOn(t *testing.T, fs vfs.FS, searches int, site string) *searching {
	t.Helper()
	c := &crawl.Collect{Engines: []crawl.Engine{{Name: "e"}}, Pages: 2}
	for i := range searches {
		u := fmt.Sprintf("http://e%02d.test/?q=x", i)
		c.Searches = append(c.Searches, crawl.Search{Task: 1, Product: fmt.Sprintf("p%02d", i), Words: []string{"x"}, Site: site, URL: u})
	}
	s := &searching{Frontier: open(t, fs), t: t}
	t.Cleanup(func() { s.Close() })
	s.apply(crawl.Entry{Kind: crawl.EntryTerm})
	s.apply(crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeAny, Collect: c}}})
	return s
}

func (s *searching) apply(e crawl.Entry) Effects {
	s.t.Helper()
	s.seq++
	e.Epoch = 1
	fx, err := s.Apply(s.seq, int64(1000*s.seq), &e)
	if err != nil {
		s.t.Fatal(err)
	}
	return fx
}

// begin leases what is queued of a task to a node.
func (s *searching) begin(task uint32, node string) uint64 {
	s.t.Helper()
	targets, err := s.Next(task, 100)
	if err != nil {
		s.t.Fatal(err)
	}
	t, id := s.Task(task), s.seq+1
	l := crawl.Lease{ID: id, Job: 1, Task: task, Site: t.Site, Node: node, Incarnation: "i", Epoch: 1, Attempt: t.Attempts + 1, Quota: 100, Targets: targets}
	s.apply(crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{l}})
	return id
}

// part reports of a lease, of which it is the first part.
func (s *searching) part(lease uint64, p crawl.Part) Effects {
	s.t.Helper()
	l := s.Lease(lease)
	p.Lease, p.Attempt, p.Epoch, p.No = lease, l.Attempt, l.Epoch, l.Parts+1
	return s.apply(crawl.Entry{Kind: crawl.EntryParts, Node: l.Node, Incarnation: l.Incarnation, Parts: []crawl.Part{p}})
}

// names has a search's first result page read by a node, which names pages.
func (s *searching) names(no uint32, node string, pages ...string) {
	s.t.Helper()
	t := s.Searching(1, no)
	asked, err := crawl.Parse(t.Of.URL)
	if err != nil {
		s.t.Fatal(err)
	}
	found := crawl.Found{Parent: asked.Key()}
	for _, p := range pages {
		found.Links = append(found.Links, crawl.Link{URL: p})
	}
	s.part(s.begin(t.ID, node), crawl.Part{Final: true, Found: []crawl.Found{found}, Outcomes: []crawl.Outcome{{
		Key: asked.Key(), URL: t.Of.URL, State: crawl.Fetched, Status: 200, Owner: no, Gen: t.Gen,
		Answered: &crawl.Answered{Verdict: crawl.AnswerFound, Stated: crawl.Stated{N: int64(len(pages)), Kind: crawl.StatedExact}, Results: len(pages)},
	}}})
}

// targets are the tasks that fetch what searches have named, by their sites.
func (s *searching) targets() []*Task {
	var out []*Task
	for _, t := range s.tasks {
		if t.Of == nil {
			out = append(out, t)
		}
	}
	slices.SortFunc(out, func(a, b *Task) int { return cmp.Compare(a.Site, b.Site) })
	return out
}

// fails has a task's lease end because its site does not answer, or answers 403 to everything, until a person has it.
func (s *searching) fails(task uint32) {
	s.t.Helper()
	for range 10 {
		if s.Task(task).State == crawl.TaskManual {
			return
		}
		s.part(s.begin(task, "n"), crawl.Part{Final: true, Reason: crawl.EndFailed})
	}
	s.t.Fatalf("nobody is asked about task %d: %v", task, s.Task(task).History)
}

func outcomeOf(t *testing.T, page string, status int) crawl.Outcome {
	t.Helper()
	u, err := crawl.Parse(page)
	if err != nil {
		t.Fatal(err)
	}
	return crawl.Outcome{Key: u.Key(), URL: page, State: crawl.Fetched, Status: status}
}

// A site that was given up because its robots.txt cannot be had, or its name is not found, is tried again for a search that a person releases or
// changes, and by a search of that very site once it has rested.
func TestSitesGivenUpAreTriedAgain(t *testing.T) {
	const page = "http://s.test/1"
	down := &crawl.SiteChange{SinceStartMS: -1, ResolveFailed: crawl.KindDNS,
		Robots: &crawl.RobotsChange{State: crawl.RobotsUnavailable, Why: crawl.ReasonRobotsDown, Gone: true}}
	gone := func(s *searching, site string) bool {
		return s.Site(site).RobotsGone || s.Site(site).RobotsState == crawl.RobotsUnavailable || s.Site(site).ResolveWhy != ""
	}
	for _, order := range []string{"release", "edit"} {
		s := newSearching(t, 2, "s.test")
		s.names(1, "n", page)
		s.names(2, "n", page)
		lost := outcomeOf(t, page, 0)
		lost.State, lost.Reason = crawl.Excluded, crawl.ReasonRobotsDown
		s.part(s.begin(s.of(1).ID, "n"), crawl.Part{Final: true, Site: down, Outcomes: []crawl.Outcome{lost}})
		seeker := s.Searching(1, 2) // whose page the task of the first fetches
		if seeker.Status() != crawl.TaskManual || !gone(s, "s.test") {
			t.Fatalf("%s: %+v", seeker.Status(), s.Site("s.test"))
		}
		if order == "release" {
			s.apply(crawl.Entry{Kind: crawl.EntryRetry, Release: &crawl.Release{Job: 1, Tasks: []uint32{seeker.ID}}})
		} else {
			s.edit(2, "s.test")
			s.names(2, "n", page)
		}
		if gone(s, "s.test") || seeker.Status() != crawl.TaskSleeping {
			t.Errorf("%s: %s, %+v", order, seeker.Status(), s.Site("s.test"))
		}
		s.part(s.begin(s.of(1).ID, "n"), crawl.Part{Final: true, Reason: crawl.EndFailed})
		s.part(s.begin(s.of(1).ID, "m"), crawl.Part{Final: true, Site: down, Outcomes: []crawl.Outcome{lost}}) // as before
		for no := range uint32(2) {
			if of := s.Searching(1, no+1); of.Status() != crawl.TaskManual || !strings.HasPrefix(of.Of.Why, "nothing of what it has named could be had") {
				t.Errorf("%s, search %d: %s, %s", order, no+1, of.Status(), of.Of.Why)
			}
		}
	}
	s := newSearching(t, 1, "s.test")
	s.names(1, "n", page, page+"2", page+"3")
	lost := outcomeOf(t, page, 0)
	lost.State, lost.Reason = crawl.Excluded, crawl.ReasonRobotsDown
	s.part(s.begin(s.of(1).ID, "n"), crawl.Part{Final: true, Site: down, Outcomes: []crawl.Outcome{outcomeOf(t, page+"2", 200), outcomeOf(t, page+"3", 500), lost}})
	s.apply(crawl.Entry{Kind: crawl.EntryRetry, Release: &crawl.Release{Job: 1, Tasks: []uint32{s.Searching(1, 1).ID}}})
	if s.wantNext(1, page); gone(s, "s.test") {
		t.Errorf("a search that had pages: %+v", s.Site("s.test"))
	}
	s = newSearching(t, 1, "s.test")
	seeker := s.Searching(1, 1)
	failed := outcomeOf(t, seeker.Of.URL, 0)
	failed.State, failed.Owner, failed.Retryable = crawl.Retry, 1, 60_000
	failed.Answered = &crawl.Answered{Verdict: crawl.AnswerFailed, Reason: "its robots.txt cannot be had"}
	s.part(s.begin(seeker.ID, "n"), crawl.Part{Final: true, Reason: crawl.EndFailed, Site: down, Outcomes: []crawl.Outcome{failed}})
	if gone(s, seeker.Site) || seeker.Status() != crawl.TaskFailed {
		t.Errorf("%s: %+v", seeker.Status(), s.Site(seeker.Site))
	}
}

// What an entry says of several searches is said in their order, whoever plays the log: what is learned from it depends on that.
func TestSearchesSettleInOrder(t *testing.T) {
	const page = "http://s.test/1"
	s := newSearching(t, 20, "s.test")
	for no := range 20 {
		s.names(uint32(no+1), "n", page)
	}
	fx := s.part(s.begin(s.targets()[0].ID, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, page, 200)}})
	var told []string
	for _, f := range fx.Facts {
		if f.Product != "" {
			told = append(told, f.Product)
		}
	}
	if len(told) != 20 || !slices.IsSorted(told) {
		t.Errorf("told of %v", told)
	}
}

// Leases of a task that is dropped are closed in their order.
func TestDroppedLeasesInOrder(t *testing.T) {
	s := newSearching(t, 1, "s.test")
	var pages []string
	for i := range 20 {
		pages = append(pages, fmt.Sprintf("http://s.test/%d", i))
	}
	s.names(1, "n", pages...)
	task := s.targets()[0].ID
	for range 20 {
		targets, err := s.Next(task, 1)
		if err != nil {
			t.Fatal(err)
		}
		s.apply(crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{{ID: s.seq + 1, Job: 1, Task: task, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Targets: targets}}})
	}
	fx := s.apply(crawl.Entry{Kind: crawl.EntryDrop, Release: &crawl.Release{Job: 1, Tasks: []uint32{task}, Why: "test"}})
	if len(fx.Recalled) != 20 || !slices.IsSortedFunc(fx.Recalled, func(a, b *Lease) int { return cmp.Compare(a.ID, b.ID) }) {
		t.Errorf("%d leases are taken back: %+v", len(fx.Recalled), fx.Recalled)
	}
}

// What a search has named is asked for anew when a person releases it: that nodes were refused before counts no more, or a page would be
// given up by the first node that is refused it again.
func TestReleasedPagesBeginAnew(t *testing.T) {
	const page = "http://s.test/1"
	s := newSearching(t, 1, "s.test")
	s.names(1, "n", page)
	task := s.targets()[0].ID
	refused := outcomeOf(t, page, 403)
	refused.State, refused.Reason = crawl.Retry, crawl.KindStatus
	for range 2 {
		s.part(s.begin(task, "n"), crawl.Part{Final: true, Reason: crawl.EndFailed, Outcomes: []crawl.Outcome{refused}})
	}
	s.fails(task)
	s.apply(crawl.Entry{Kind: crawl.EntryRetry, Release: &crawl.Release{Job: 1, Tasks: []uint32{task}}})
	targets, err := s.Next(task, 10)
	if err != nil || len(targets) != 1 || targets[0].Tries != 0 {
		t.Errorf("%+v, %v", targets, err)
	}
}

// What a lease has shown of a node is told when the lease ends, not when all that the search has named was had: the searches that are placed
// meanwhile go by it.
func TestLeasesTellAtOnce(t *testing.T) {
	s := newSearching(t, 1, "s.test")
	s.names(1, "n", "http://s.test/1", "http://s.test/2", "http://s.test/3")
	fx := s.part(s.begin(s.targets()[0].ID, "n"), crawl.Part{Final: true, Reason: crawl.EndQuota, Outcomes: []crawl.Outcome{outcomeOf(t, "http://s.test/1", 200)}})
	seconds, pages, good := 0.0, 0.0, 0.0
	for _, f := range fx.Facts {
		if f.Kind == learn.Searched {
			seconds, pages, good = seconds+f.Seconds, pages+f.Pages, good+f.Good
		}
	}
	if seconds <= 0 || pages != 1 || good != 1 {
		t.Errorf("%v s, %v pages, %v had of the search", seconds, pages, good)
	}
}

// A search that is dropped says so, and not that it is done.
func TestDroppedSearchIsNotDone(t *testing.T) {
	s := newSearching(t, 1, "s.test")
	s.names(1, "n", "http://s.test/1")
	seeker := s.Searching(1, 1)
	s.apply(crawl.Entry{Kind: crawl.EntryDrop, Release: &crawl.Release{Job: 1, Tasks: []uint32{seeker.ID}, Why: "not wanted"}})
	if seeker.Status() != crawl.TaskDropped || seeker.Of.Why != "dropped: not wanted" {
		t.Errorf("%s: %s", seeker.Status(), seeker.Of.Why)
	}
}

// A search waits for a person only as long as a task does that fetches what it has named: one that was released, or has gone on, is no
// reason, and why the last page was lost is another thing.
func TestSearchWaitsForAPersonWithItsTargets(t *testing.T) {
	s := newSearching(t, 1, "")
	s.names(1, "n", "http://a.test/1", "http://b.test/1", "http://c.test/1", "http://c.test/2")
	all := s.targets()
	a, b, c := all[0].ID, all[1].ID, all[2].ID
	seeker := s.Searching(1, 1)
	release := func(id uint32) {
		s.apply(crawl.Entry{Kind: crawl.EntryRetry, Release: &crawl.Release{Job: 1, Tasks: []uint32{id}}})
	}
	s.part(s.begin(c, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, "http://c.test/1", 200), outcomeOf(t, "http://c.test/2", 404)}})
	lost := seeker.Of.Loss
	s.fails(a)
	if seeker.State != "" || lost == "" || seeker.Of.Loss != lost {
		t.Errorf("b.test is to be had: state %q, loss %q, then %q", seeker.State, lost, seeker.Of.Loss)
	}
	release(a)
	s.fails(b)
	if seeker.State != "" {
		t.Errorf("a.test is to be had again: %q, %s", seeker.State, seeker.Of.Why)
	}
	s.fails(a)
	if seeker.State != crawl.TaskManual || !strings.Contains(seeker.Of.Why, fmt.Sprintf("task %d", b)) && !strings.Contains(seeker.Of.Why, fmt.Sprintf("task %d", a)) {
		t.Errorf("nothing is left to be had: %q, %s", seeker.State, seeker.Of.Why)
	}
	release(a)
	s.part(s.begin(a, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, "http://a.test/1", 200)}})
	if seeker.State != crawl.TaskManual || !strings.Contains(seeker.Of.Why, fmt.Sprintf("task %d,", b)) {
		t.Errorf("b.test waits for a person: %q, %s", seeker.State, seeker.Of.Why)
	}
	release(b)
	if seeker.State != "" {
		t.Errorf("all was released: %q, %s", seeker.State, seeker.Of.Why)
	}
	s.part(s.begin(b, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, "http://b.test/1", 200)}})
	if got := seeker.Status(); got != crawl.TaskDone || seeker.Of.Collected != 3 || seeker.Of.Lost != 1 {
		t.Errorf("%s, %+v", got, seeker.Of)
	}
}

// A search that a person changes is not kept by tasks that waited for that person: they go on with it.
func TestEditedSearchGoesOn(t *testing.T) {
	s := newSearching(t, 1, "s.test")
	s.names(1, "n", "http://s.test/1")
	target, seeker := s.targets()[0], s.Searching(1, 1)
	s.fails(target.ID)
	if by, _ := s.StuckBy(seeker); seeker.State != crawl.TaskManual || by != target {
		t.Fatalf("%q, by %+v", seeker.State, by)
	}
	s.Site(target.Site).Fails, s.Site(target.Site).BackoffUntil = 9, 1e9
	changed := seeker.Of.Search
	changed.URL = "http://e00.test/?q=y"
	fx := s.apply(crawl.Entry{Kind: crawl.EntryEdit, Edit: &crawl.Edit{Job: 1, Task: seeker.ID, Search: changed}})
	if at := s.Site(target.Site); at.Fails > 0 || at.BackoffUntil > 0 || !slices.Contains(fx.Freed, target.ID) {
		t.Errorf("its target's site is left with %d failures, back-off until %d, freed %v", at.Fails, at.BackoffUntil, fx.Freed)
	}
	s.names(1, "n", "http://s.test/2")
	if target.State != "" || seeker.Status() != crawl.TaskSleeping {
		t.Errorf("%q, %s", target.State, seeker.Status())
	}
}

// What a search had named before a person changed it is not asked for any more, also where a node has it already, unless another search has named
// it; a search that names it later has it asked for.
func TestChangedSearchWantsOtherPages(t *testing.T) {
	s := newSearching(t, 2, "")
	s.names(1, "n", "http://s.test/1", "http://s.test/2", "http://s.test/3", "http://s.test/4")
	s.names(2, "n", "http://s.test/2")
	target := s.targets()[0]
	s.part(s.begin(target.ID, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, "http://s.test/4", 200)}})
	lease := s.begin(target.ID, "n")
	left := func(what string, excluded int64, want ...string) {
		t.Helper()
		var got []string
		var all crawl.Counts
		for _, of := range s.targets() {
			next, err := s.Next(of.ID, 10)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range next {
				got = append(got, n.URL)
			}
			all = all.Add(of.Counts)
		}
		if slices.Sort(got); !slices.Equal(got, want) || all.Pending() != int64(len(want)) || all.Excluded != excluded {
			t.Errorf("%s: %v, %d pending, %d excluded", what, got, all.Pending(), all.Excluded)
		}
		check(t, s.Frontier)
	}
	if fx := s.edit(1, ""); len(fx.Recalled) != 1 || fx.Recalled[0].ID != lease {
		t.Errorf("taken back: %v", fx.Recalled)
	}
	left("changed", 2, "http://s.test/2")
	s.names(1, "n", "http://s.test/3", "http://s.test/4")
	left("named again", 1, "http://s.test/2", "http://s.test/3")
	s.names(2, "n", "http://s.test/1") // its next page
	s.edit(2, "")
	left("the other one changed, too", 2, "http://s.test/3")
	s.part(s.begin(target.ID, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, "http://s.test/3", 200)}})
	if of := s.Searching(1, 1).Of; of.Found != 2 || of.Collected != 2 || of.Lost != 0 {
		t.Errorf("%d found, %d collected, %d lost", of.Found, of.Collected, of.Lost)
	}
}

// A page that a search gives up while a node has it is counted once, also where it lies beyond a limit by then.
func TestChangedSearchGivesUpOnce(t *testing.T) {
	s := newSearching(t, 1, "")
	s.names(1, "n", "http://s.test/"+strings.Repeat("long", 20))
	target := s.targets()[0]
	s.begin(target.ID, "n")
	job := s.Job(1).Job
	job.Limits.MaxURLLength = 50
	s.apply(crawl.Entry{Kind: crawl.EntryLimits, Job: &job})
	seeker := s.Searching(1, 1)
	changed := seeker.Of.Search
	changed.URL = "http://e00.test/?q=y"
	s.apply(crawl.Entry{Kind: crawl.EntryEdit, Edit: &crawl.Edit{Job: 1, Task: seeker.ID, Search: changed}})
	if target.Excluded != 1 || target.Pending() != 0 {
		t.Errorf("%d excluded, %d pending", target.Excluded, target.Pending())
	}
	check(t, s.Frontier)
}

// A search that a person has changed asks again for the pages that it names and that could not be had, whoever had named them; and other
// searches that wait for a person for want of them are done once they are had.
func TestChangedSearchAsksAgain(t *testing.T) {
	s := newSearching(t, 2, "s.test")
	const page = "http://s.test/1"
	s.names(1, "n", page)
	s.names(2, "n", page)
	s.part(s.begin(s.targets()[0].ID, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, page, 500)}})
	first, second := s.Searching(1, 1), s.Searching(1, 2)
	if first.State != crawl.TaskManual || second.State != crawl.TaskManual {
		t.Fatalf("%q, %q", first.State, second.State)
	}
	changed := second.Of.Search
	changed.URL = "http://e00.test/?q=y"
	s.apply(crawl.Entry{Kind: crawl.EntryEdit, Edit: &crawl.Edit{Job: 1, Task: second.ID, Search: changed}})
	s.names(2, "n", page)
	s.part(s.begin(s.targets()[0].ID, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, page, 200)}})
	for _, seeker := range []*Task{first, second} {
		if of := seeker.Of; seeker.State != "" || of.Found != 1 || of.Collected != 1 || of.Lost != 0 {
			t.Errorf("search %d: %q, %s: %d found, %d collected, %d lost", of.No, seeker.State, of.Why, of.Found, of.Collected, of.Lost)
		}
	}
}

// A result page of a search as it was before a person changed it is not asked for again, by whoever it was lost: it is given up.
func TestLostPagesOfAChangedSearch(t *testing.T) {
	s := newSearching(t, 1, "s.test")
	s.names(1, "n", "http://s.test/1")
	seeker := s.Searching(1, 1)
	old := outcomeOf(t, seeker.Of.URL, 200)
	changed := seeker.Of.Search
	changed.URL = "http://e00.test/?q=y"
	s.apply(crawl.Entry{Kind: crawl.EntryEdit, Edit: &crawl.Edit{Job: 1, Task: seeker.ID, Search: changed}})
	s.apply(crawl.Entry{Kind: crawl.EntryRetry, Release: &crawl.Release{Job: 1, Mend: true, Lost: []crawl.Page{{Layer: crawl.Layer{Owner: 1}, Key: old.Key}}}})
	targets, err := s.Next(seeker.ID, 10)
	if err != nil || len(targets) != 1 || targets[0].URL != changed.URL || seeker.Pending() != 1 {
		t.Errorf("%d pending, next %v, %v", seeker.Pending(), targets, err)
	}
	if ended := s.Job(1).Ended; ended != (crawl.Ended{}) {
		t.Errorf("%+v has ended, although it is given up", ended)
	}
	check(t, s.Frontier)
}

// A place in a queue without a URL keeps nothing from those behind it, and is told of once.
func TestQueueWithAnUnknownURL(t *testing.T) {
	s := newSearching(t, 1, "s.test")
	seeker := s.Searching(1, 1)
	stray := outcomeOf(t, "http://e00.test/?q=gone", 200).Key
	if err := s.db.Set(queueKey(seeker.ID, 0), stray[:], nil); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		targets, err := s.Next(seeker.ID, 10)
		if err != nil || len(targets) != 1 || targets[0].URL != seeker.Of.URL {
			t.Fatalf("%v, %v", targets, err)
		}
	}
	if strays := s.Strays(); len(strays) != 1 || strays[0] != (Stray{seeker.ID, stray}) {
		t.Errorf("told of %v", strays)
	}
	if strays := s.Strays(); len(strays) != 0 {
		t.Errorf("told again of %v", strays)
	}
}

// A page that redirects is the one that it leads to, for a search that names it in the very entry in which that comes to light, too.
func TestRedirectInOneEntry(t *testing.T) {
	for _, first := range []bool{true, false} {
		s := newSearching(t, 2, "s.test")
		const from, to = "http://s.test/1", "http://s.test/2"
		s.names(1, "n", from)
		seeker := s.Searching(1, 2)
		asks, gets := s.begin(seeker.ID, "n"), s.begin(s.targets()[0].ID, "n")
		asked, _ := crawl.Parse(seeker.Of.URL)
		moved := outcomeOf(t, from, 301)
		moved.Redirect = to
		parts := []crawl.Part{
			{Lease: asks, Found: []crawl.Found{{Parent: asked.Key(), Links: []crawl.Link{{URL: from}}}}, Outcomes: []crawl.Outcome{{
				Key: asked.Key(), URL: seeker.Of.URL, State: crawl.Fetched, Status: 200, Owner: 2,
				Answered: &crawl.Answered{Verdict: crawl.AnswerFound, Stated: crawl.Stated{N: 1, Kind: crawl.StatedExact}, Results: 1},
			}}},
			{Lease: gets, Found: []crawl.Found{{Parent: moved.Key, Links: []crawl.Link{{URL: to, Redirect: true}}}}, Outcomes: []crawl.Outcome{moved}},
		}
		if !first {
			slices.Reverse(parts)
		}
		for i := range parts {
			parts[i].Attempt, parts[i].Epoch, parts[i].No, parts[i].Final = 1, 1, 1, true
		}
		s.apply(crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: parts})
		s.part(s.begin(s.targets()[0].ID, "n"), crawl.Part{Final: true, Outcomes: []crawl.Outcome{outcomeOf(t, to, 200)}})
		for no := range uint32(2) {
			if of := s.Searching(1, no+1).Of; of.Found != 1 || of.Collected != 1 || of.Lost != 0 {
				t.Errorf("named first %v, search %d: %d found, %d collected, %d lost", first, no+1, of.Found, of.Collected, of.Lost)
			}
		}
	}
}

// saysForeign has a node report of a lease that it holds, and of a URL that is none of the lease's.
func (s *searching) saysForeign(t *testing.T, lease uint64) *crawl.Entry {
	l := s.Lease(lease)
	p := crawl.Part{Lease: lease, Attempt: l.Attempt, Epoch: l.Epoch, No: 1, Outcomes: []crawl.Outcome{outcomeOf(t, "http://bank.example/", 200)}}
	return &crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Epoch: 1, Parts: []crawl.Part{p}}
}

// A version that kept no verdicts has refused what a node said: read again, that is not believed, nor what this version refused before and
// after.
func TestForeignOfAnOlderVersion(t *testing.T) {
	s := newSearching(t, 1, "s.test")
	id := s.begin(s.Searching(1, 1).ID, "n")
	refused := func(seq uint64) int {
		t.Helper()
		no, err := s.Foreign(seq, s.saysForeign(t, id))
		if err != nil {
			t.Fatal(err)
		}
		return len(no)
	}
	says := func() {
		t.Helper()
		e := s.saysForeign(t, id)
		if _, err := s.Foreign(s.seq+1, e); err != nil {
			t.Fatal(err)
		}
		s.apply(*e)
	}
	says()
	first := s.seq
	older := func() { // it does not know the mark, and keeps nothing
		s.pos.Judged = 0
		if err := s.Trimmed(s.seq); err != nil {
			t.Fatal(err)
		}
	}
	older()
	says()
	second := s.seq
	if s.pos.Judged != second {
		t.Errorf("judged from %d on, want %d", s.pos.Judged, second)
	}
	for _, seq := range []uint64{first, second} {
		if refused(seq) != 1 {
			t.Errorf("entry %d is believed, which was refused", seq)
		}
	}
	if err := s.Trimmed(s.seq); err != nil {
		t.Fatal(err)
	}
	if refused(second) != 0 {
		t.Error("what was judged is judged again")
	}
	s.pos.Judged = second + 1 // until then an older version was at work; now the log loses its end
	if err := s.Rebase("", second-1); err != nil {
		t.Fatal(err)
	}
	s.seq = second - 1
	says()
	if err := s.Trimmed(second); err != nil {
		t.Fatal(err)
	}
	if refused(second) != 0 {
		t.Error("what was judged once more since the log lost its end is judged again")
	}
}

// What was foreign in an entry is kept until the log is trimmed, or is another one.
func TestForeignIsKeptAsLongAsTheLog(t *testing.T) {
	s := newSearching(t, 1, "s.test")
	seeker := s.Searching(1, 1)
	id := s.begin(seeker.ID, "n")
	l := s.Lease(id)
	said := func() *crawl.Entry {
		p := crawl.Part{Lease: id, Attempt: l.Attempt, Epoch: l.Epoch, No: 1, Outcomes: []crawl.Outcome{outcomeOf(t, "http://bank.example/", 200)}}
		return &crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Epoch: 1, Parts: []crawl.Part{p}}
	}
	seq := s.seq + 1
	judge := func(want int, when string) *crawl.Entry {
		t.Helper()
		e := said()
		refused, err := s.Foreign(seq, e)
		if err != nil || len(refused) != want || len(e.Parts[0].Outcomes) != 1-want {
			t.Errorf("%s: %d refused, %d left, %v", when, len(refused), len(e.Parts[0].Outcomes), err)
		}
		return e
	}
	s.apply(*judge(1, "first"))
	delete(s.leases, id) // as it is long after it was closed
	judge(1, "read again")
	if err := errors.Join(s.Rebase("", seq), s.Trimmed(seq-1)); err != nil {
		t.Fatal(err)
	}
	judge(1, "read again from there")
	if err := s.Trimmed(seq); err != nil {
		t.Fatal(err)
	}
	judge(0, "after the log was trimmed")
}
