package frontier

import (
	"fmt"
	"testing"

	"argosy/internal/crawl"
)

// many is a view with a job of sites that name each so many pages, of which the first failed and the second was fetched.
func many(t *testing.T, sites, pages int) (f *Frontier, apply func(crawl.Entry)) {
	t.Helper()
	f, err := Open(DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	seq := uint64(0)
	apply = func(e crawl.Entry) {
		t.Helper()
		seq++
		e.Version = crawl.WireVersion
		if _, err := f.Apply(seq, int64(seq)*1000, &e); err != nil {
			t.Fatal(err)
		}
	}
	apply(crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	job := crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, UserAgent: "t"}}
	for s := range sites {
		job.Identity.Seeds = append(job.Identity.Seeds, fmt.Sprintf("http://s%d.test/", s))
	}
	apply(crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: &job})
	for s := range sites {
		site := fmt.Sprintf("s%d.test", s)
		id := uint64(1<<32 | s + 1)
		task := f.byName[taskName{space: space{job: 1}, site: site}]
		next, err := f.Next(task, 1)
		if err != nil || len(next) != 1 {
			t.Fatalf("%d targets of %s: %v", len(next), site, err)
		}
		apply(crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{{ID: id, Job: 1, Task: task, Site: site, Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Targets: next}}})
		found := crawl.Found{Parent: next[0].Key}
		for p := range pages {
			found.Links = append(found.Links, crawl.Link{URL: fmt.Sprintf("http://%s/p%d", site, p)})
		}
		page := func(p int, state crawl.State, why crawl.Kind) crawl.Outcome {
			u, err := crawl.Parse(found.Links[p].URL)
			if err != nil {
				t.Fatal(err)
			}
			return crawl.Outcome{Key: u.Key(), URL: u.String(), State: state, Reason: why, Status: 200}
		}
		part := func(no uint32) crawl.Part {
			return crawl.Part{Lease: id, Attempt: 1, Epoch: 1, No: no}
		}
		first, second := part(1), part(2)
		first.Found = []crawl.Found{found}
		first.Outcomes = []crawl.Outcome{{Key: next[0].Key, URL: next[0].URL, State: crawl.Fetched, Status: 200}}
		second.Outcomes = []crawl.Outcome{page(0, crawl.Failed, crawl.KindTimeout), page(1, crawl.Fetched, "")}
		parts := func(ps ...crawl.Part) {
			apply(crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: ps})
		}
		parts(first)
		if next, err = f.Next(task, 8); err != nil || len(next) == 0 {
			t.Fatalf("%d targets of %s: %v", len(next), site, err)
		}
		apply(crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Refills: []crawl.Refill{{Lease: id, Targets: next}}})
		parts(second)
	}
	return f, apply
}

// tally are the states of a job's URLs, one by one, with their reasons.
func tally(t *testing.T, f *Frontier) map[string]int64 {
	t.Helper()
	out := map[string]int64{}
	err := f.URLs(1, func(u URL) error {
		out[fmt.Sprint(u.State, u.Reason)]++
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// To cancel a job costs the same whatever waits, and leaves every URL that waited or was held refused, also in a view that is opened anew.
func TestCancelAtOnce(t *testing.T) {
	written := func(pages int) uint64 {
		f, apply := many(t, 4, pages)
		before := tally(t, f)
		waited := before[fmt.Sprint(crawl.Pending)]
		if waited < int64(4*(pages-3)) {
			t.Fatalf("only %d URLs wait: %v", waited, before)
		}
		was := f.db.Metrics().WAL.BytesIn
		apply(crawl.Entry{Kind: crawl.EntryState, Epoch: 1, State: &crawl.JobState{Job: 1, State: crawl.JobCancelled}})
		cost := f.db.Metrics().WAL.BytesIn - was
		check := func(f *Frontier) {
			t.Helper()
			got, c := tally(t, f), f.Counts(1)
			if got[fmt.Sprint(crawl.Pending)] != 0 || got[fmt.Sprint(crawl.Excluded, crawl.ReasonDropped)] != waited {
				t.Errorf("%d waited, after the cancel there are %v", waited, got)
			}
			if c.Pending != 0 || c.Held != 0 || c.Excluded != waited || c.Reasons[string(crawl.ReasonDropped)] != waited || c.Fetched != 8 || c.Failed != 4 {
				t.Errorf("%d waited, after the cancel the counts are %+v", waited, c)
			}
			if next, err := f.Next(1, 10); err != nil || len(next) != 0 {
				t.Errorf("%d URLs are given out, %v", len(next), err)
			}
		}
		check(f)
		// What nodes report late of what they held changes nothing any more.
		l := uint64(1<<32 | 1)
		u, err := crawl.Parse("http://s0.test/p2")
		if err != nil {
			t.Fatal(err)
		}
		apply(crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{Lease: l, Attempt: 1, Epoch: 1, No: 3, Outcomes: []crawl.Outcome{{Key: u.Key(), URL: u.String(), State: crawl.Fetched, Status: 200}}}}})
		check(f)
		dir := t.TempDir() + "/copy"
		if err := f.Checkpoint(dir); err != nil {
			t.Fatal(err)
		}
		again, err := Open(DefaultConfig(dir))
		if err != nil {
			t.Fatal(err)
		}
		check(again)
		if err := again.Close(); err != nil {
			t.Fatal(err)
		}
		return cost
	}
	few, more := written(20), written(2000)
	if more > few+few/10+200 {
		t.Errorf("the cancel wrote %d bytes with 20 pages a site, and %d with 2000", few, more)
	}
}

// A retry of many URLs is done in pieces; whatever is between them, each URL that had failed is tried again, once.
func TestRetryInPieces(t *testing.T) {
	const sites, pages = 12, 2000
	f, apply := many(t, sites, pages)
	apply(crawl.Entry{Kind: crawl.EntryRetry, Epoch: 1, Release: &crawl.Release{Job: 1}})
	steps := 0
	for last := int64(0); f.jobs[1].Walk != nil; steps++ {
		w := f.jobs[1].Walk
		if w.Looked-last > walkAtOnce || w.Looked > w.Of || steps > 10 {
			t.Fatalf("step %d: %+v", steps, w)
		}
		last = w.Looked
		if c, n := f.Counts(1), tally(t, f); c.Failed != n[fmt.Sprint(crawl.Failed, crawl.KindTimeout)] || c.Pending != n[fmt.Sprint(crawl.Pending)] {
			t.Fatalf("step %d: counts %+v, URLs %v", steps, c, n)
		}
		apply(crawl.Entry{Kind: crawl.EntryWalk, Epoch: 1, Release: &crawl.Release{Job: 1}})
	}
	if c := f.Counts(1); steps < 1 || c.Failed != 0 || c.Pending != sites*(pages-1) || c.Fetched != 2*sites {
		t.Errorf("after %d pieces: %+v", steps, c)
	}
}
