package coordinator

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
)

// What waits for the rest of --max-pages is not looked at in every step: not where nothing has changed, and seldom where that takes long.
func TestRestIsNotLookedAtInEveryStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // a look takes no time
		f, err := frontier.Open(frontier.DefaultConfig(t.TempDir()))
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		now := time.UnixMilli(1e6)
		job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://a.test/", "http://b.test/"}}}
		job.Limits.MaxPages = 3
		var seq uint64
		apply := func(e crawl.Entry) {
			t.Helper()
			seq, e.Epoch = seq+1, 1
			if _, err := f.Apply(seq, now.UnixMilli(), &e); err != nil {
				t.Fatal(err)
			}
		}
		apply(crawl.Entry{Kind: crawl.EntryTerm})
		apply(crawl.Entry{Kind: crawl.EntrySubmit, Job: job})
		targets, err := f.Next(1, 1)
		if err != nil {
			t.Fatal(err)
		}
		apply(crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{{ID: 1, Job: 1, Task: 1, Site: "a.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 1, Targets: targets}}})
		c, r := &Coordinator{f: f}, &run{}
		for step, s := range []struct {
			after time.Duration
			looks bool
		}{{0, true}, {restMost / 2, false}, {restMost, true}} {
			at, was := now.Add(s.after), r.rest.at
			r.busy = at
			r.applied()
			if n := c.left(at, f.Job(1), r, f.Task(2), 1); n != 1 || r.rest.at.Equal(was) == s.looks {
				t.Errorf("step %d: %d left, looked at %v after %v", step, n, r.rest.at, was)
			}
		}
		at := now.Add(restMost + time.Second)
		apply(crawl.Entry{Kind: crawl.EntryMark})
		r.rest.took = time.Second // it is a large job
		if r.busy = at; c.left(at, f.Job(1), r, f.Task(2), 1) != 1 || r.rest.at.Equal(at) {
			t.Error("what takes a second is looked at every second")
		}
	})
}

// A lease that is to end at once is taken back if its node is heard and does not end it. That of a node that is not heard, which may be
// asking the site still, is waited for as long as any.
func TestLeaseOfASilentNodeIsNotTakenBack(t *testing.T) {
	for _, c := range []struct {
		wait  string
		taken bool
	}{{"wait 40s a", true}, {"wait 40s", false}} {
		synctest.Test(t, func(t *testing.T) {
			s := newScene(t, t.TempDir())
			s.start()
			defer s.halt()
			s.play("node a")
			j := crawl.Job{Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, UserAgent: "t", Seeds: []string{"http://s.test/"}}}
			j.Limits.MaxTime = 10 * time.Second
			_, err := s.co.Submit(t.Context(), j)
			s.fail(err)
			s.play(c.wait)
			s.log.mu.Lock()
			defer s.log.mu.Unlock()
			hurried := slices.Contains(s.log.said, "a: drain 1.1")
			if taken := slices.Contains(s.log.said, "log: recall 1.1: drained, counts false"); !hurried || taken != c.taken {
				t.Errorf("%s: taken back: %v\n%s", c.wait, taken, strings.Join(s.log.said, "\n"))
			}
		})
	}
}

// Whoever opens a directory later is told the limit that has ended a job; a state of an older log, which names none, is read as well.
func TestLimitIsNamedLater(t *testing.T) {
	for _, limit := range []string{crawl.LimitBytes, ""} {
		dir := t.TempDir()
		f, err := frontier.Open(frontier.DefaultConfig(dir))
		if err != nil {
			t.Fatal(err)
		}
		job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://a.test/"}}}
		for i, e := range []crawl.Entry{{Kind: crawl.EntryTerm}, {Kind: crawl.EntrySubmit, Job: job}, {Kind: crawl.EntryState, State: &crawl.JobState{Job: 1, State: crawl.JobLimited, Limit: limit}}} {
			e.Epoch = 1
			if _, err := f.Apply(uint64(i)+1, 1e6, &e); err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		if f, err = frontier.Open(frontier.DefaultConfig(dir)); err != nil {
			t.Fatal(err)
		}
		c := &Coordinator{f: f, jobs: jobs{f: f}}
		if v := c.shownJob(time.UnixMilli(2e6), f.Job(1)); v.State != crawl.JobLimited || v.Limited != limit {
			t.Errorf("%s by %q instead of %q", v.State, v.Limited, limit)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}
