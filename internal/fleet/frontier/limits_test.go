package frontier

import (
	"fmt"
	"testing"

	"argosy/internal/crawl"
)

// limit gives the job other limits.
func (w *walk) limit(change func(*crawl.Limits)) {
	w.t.Helper()
	job := w.f.Job(1).Job
	change(&job.Limits)
	w.apply(&crawl.Entry{Kind: crawl.EntryLimits, Epoch: 1, Job: &job})
}

func (w *walk) depth(n int) { w.t.Helper(); w.limit(func(l *crawl.Limits) { l.MaxDepth = n }) }

// next returns the URLs that are given out now.
func (w *walk) next() (urls []string) {
	w.t.Helper()
	ts, err := w.f.Next(1, 1000)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, t := range ts {
		urls = append(urls, t.URL)
	}
	return urls
}

// What waits deeper than a lower limit is refused, and waits again when the limit is raised: as if it had been so from the
// beginning.
func TestLowerDepthHoldsBackWhatWaits(t *testing.T) {
	for _, was := range []int{-1, 5} {
		w := newWalk(t, was)
		w.links("/", to("/1"), to("/2"))
		w.links("/1", to("/11"), to("/12"))
		w.links("/11", to("/111"))
		for _, step := range []struct {
			depth   int
			pending int64 // besides the seed
			reason  map[string]int64
		}{
			{1, 2, map[string]int64{"depth": 3}}, {0, 0, map[string]int64{"depth": 5}}, {2, 4, map[string]int64{"depth": 1}},
			{0, 0, map[string]int64{"depth": 5}}, {-1, 5, nil}, {3, 5, nil},
		} {
			w.depth(step.depth)
			c := w.f.Counts(1)
			if c.Pending != 1+step.pending || c.Discovered != 6 || fmt.Sprint(c.Reasons) != fmt.Sprint(step.reason) {
				t.Errorf("from %d, limit %d: %+v", was, step.depth, c)
			}
			if next := w.next(); int64(len(next)) != step.pending {
				t.Errorf("from %d, limit %d: %v are given out", was, step.depth, next)
			}
			check(t, w.f)
		}
		if err := w.f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A URL that a lease has when the limit is lowered is refused when it comes back without an answer.
func TestLowerDepthHoldsBackWhatComesBack(t *testing.T) {
	for name, back := range map[string]func(w *walk){
		"recall": func(w *walk) {
			w.apply(&crawl.Entry{Kind: crawl.EntryRecall, Epoch: 1, Recalls: []crawl.Recall{{Lease: 1, Reason: "test"}}})
		},
		"retry": func(w *walk) {
			w.no++
			e := &crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{
				Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: w.no,
				Outcomes: []crawl.Outcome{{Key: key(w.t, "/1"), State: crawl.Retry, Reason: crawl.KindTimeout}},
			}}}
			w.apply(e)
		},
	} {
		w := newWalk(t, -1)
		w.links("/", to("/1"))
		ts, err := w.f.Next(1, 10)
		if err != nil || len(ts) != 1 {
			t.Fatal(ts, err)
		}
		w.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Refills: []crawl.Refill{{Lease: 1, Targets: ts}}})
		w.depth(0)
		if s := w.state("/1"); s != crawl.Pending {
			t.Errorf("%s: /1 is %v while a lease has it", name, s)
		}
		back(w)
		if s := w.state("/1"); s != crawl.Excluded {
			t.Errorf("%s: /1 came back and is %v", name, s)
		}
		check(t, w.f)
		w.depth(1)
		if s := w.state("/1"); s != crawl.Pending {
			t.Errorf("%s: the limit was raised, and /1 is %v", name, s)
		}
		check(t, w.f)
		if err := w.f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// A lower limit of pages a site holds back what lies last in its queue; a shorter longest URL what is longer.
func TestLowerBudgetAndLength(t *testing.T) {
	w := newWalk(t, -1)
	defer w.f.Close()
	for i := range 9 {
		w.links("/", to(fmt.Sprintf("/page%d", i)))
	}
	w.links("/page0", to("/below"), to("/a-very-long-name-that-is-longer-than-the-others"))
	w.limit(func(l *crawl.Limits) { l.SitePages = 5 })
	if c := w.f.Counts(1); c.Pending != 5 || c.Reasons["site-budget"] != 7 {
		t.Errorf("five pages a site: %+v", c)
	}
	if next := fmt.Sprint(w.next()); next != "[http://s.test/page0 http://s.test/page1 http://s.test/page2 http://s.test/page3]" {
		t.Errorf("five pages a site: %s", next)
	}
	check(t, w.f)
	w.limit(func(l *crawl.Limits) { l.SitePages, l.MaxURLLength = 0, 40 })
	if c := w.f.Counts(1); c.Pending != 11 || c.Reasons["trap-length"] != 1 {
		t.Errorf("40 bytes a URL: %+v", c)
	}
	check(t, w.f)
}

// A URL that is refused because its site has had its pages counts at that site, also where another one names it first for another reason.
func TestBudgetIsRefusedAtItsSite(t *testing.T) {
	w := newWalk(t, -1)
	defer w.f.Close()
	at := func(path string, nofollow bool) crawl.Link {
		return crawl.Link{URL: "http://other.test" + path, NoFollow: nofollow}
	}
	job := w.f.Job(1)
	job.Identity.Scope = crawl.ScopeAny
	if err := job.compile(); err != nil {
		t.Fatal(err)
	}
	w.limit(func(l *crawl.Limits) { l.SitePages = 2 })
	w.links("/", at("/late", true), at("/1", false), at("/2", false), at("/3", false), at("/4", false))
	w.links("/x", at("/late", false))
	w.f.Tasks(func(task *Task) {
		traps, err := w.f.Traps(task.ID)
		want := map[string]int64{"other.test": 3}[task.Site]
		if n := task.Reasons[string(crawl.ReasonSiteBudget)]; err != nil || n != want || task.Excluded != want {
			t.Errorf("%s: %d refused of %d, want %d (%v)", task.Site, n, task.Excluded, want, err)
		}
		if want > 0 && (len(traps) != 1 || !traps[0].Budget || traps[0].Waiting != want) {
			t.Errorf("%s: %+v", task.Site, traps)
		}
	})
	if c := w.f.Counts(1); c.Discovered != 6 || c.Excluded != 3 || c.Pending != 3 {
		t.Errorf("%+v", c)
	}
	check(t, w.f)
	w.limit(func(l *crawl.Limits) { l.SitePages = 0 })
	if c := w.f.Counts(1); c.Discovered != 6 || c.Excluded != 0 || c.Pending != 6 {
		t.Errorf("without a limit: %+v", c)
	}
	check(t, w.f)
}

// A site's own number of pages holds instead of the job's: what was refused waits again when it is raised, and what waits beyond is
// refused when it falls.
func TestPagesOfASite(t *testing.T) {
	w := newWalk(t, -1)
	pages := func(n int64, hosts ...string) {
		t.Helper()
		job := w.f.Job(1).Job
		job.Sites = []crawl.SiteRule{{Hosts: hosts, Limits: map[string]int64{"site_pages": n}}}
		w.apply(&crawl.Entry{Kind: crawl.EntryLimits, Epoch: 1, Job: &job})
	}
	w.limit(func(l *crawl.Limits) { l.SitePages = 2 })
	pages(4, "s.test")
	w.links("/", to("/1"), to("/2"), to("/3"), to("/4"), to("/5"))
	for _, step := range []struct {
		n       int64
		host    string
		refused int64
	}{{4, "s.test", 2}, {3, "*", 3}, {100, "s.test", 0}, {100, "other.test", 4}, {5, "*.test", 1}} {
		pages(step.n, step.host)
		if c := w.f.Counts(1); c.Discovered != 6 || c.Reasons["site-budget"] != step.refused || c.Pending != 6-step.refused {
			t.Errorf("%d on %s: %+v", step.n, step.host, c)
		}
		check(t, w.f)
	}
}
