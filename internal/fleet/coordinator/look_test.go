package coordinator

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/schedule"
)

// What happens before a watcher looks is told once, and nobody waits for one that never looks.
func TestWatch(t *testing.T) {
	c := &Coordinator{}
	c.watchers.tell(&Changes{Nodes: true}) // nobody watches
	a, b := c.Watch(), c.Watch()
	for i := range 1000 {
		c.watchers.tell(&Changes{Jobs: []uint32{uint32(i%3 + 1)}, Tasks: 2})
	}
	c.watchers.tell(&Changes{Nodes: true})
	select {
	case <-a.Ready():
	default:
		t.Fatal("it is not told that there is something")
	}
	select {
	case <-a.Ready():
		t.Fatal("it is told twice")
	default:
	}
	if got := a.Take(); !slices.Equal(got.Jobs, []uint32{1, 2, 3}) || got.Tasks != 2000 || !got.Nodes || got.Status {
		t.Errorf("%+v", got)
	}
	if got := a.Take(); len(got.Jobs) > 0 || got.Tasks > 0 || got.Nodes {
		t.Errorf("a second time: %+v", got)
	}
	b.Close()
	c.watchers.tell(&Changes{Status: true})
	if got := b.Take(); got.Status {
		t.Error("one that has closed is told")
	}
	if a.Take(); c.watchers.count.Load() != 1 {
		t.Errorf("%d watch", c.watchers.count.Load())
	}
}

// A series covers everything since it began, in at most so many samples, with equal spans between them.
func TestSeriesIsBounded(t *testing.T) {
	c := &Coordinator{}
	begin := time.UnixMilli(1_000_000)
	for i := range 10_000 {
		c.series.see(begin.Add(time.Duration(i)*time.Second), 0, true, crawl.Counts{Fetched: int64(i)})
	}
	all := c.Series(0, 0)
	if len(all) > maxSamples || len(all) < maxSamples/3 || all[0].Fetched != 0 || all[len(all)-1].Fetched < 9900 {
		t.Fatalf("%d samples, from %+v to %+v", len(all), all[0], all[len(all)-1])
	}
	for i := 1; i < len(all); i++ {
		if all[i].At-all[i-1].At != all[1].At-all[0].At {
			t.Fatalf("samples %d and %d are %d ms apart", i-1, i, all[i].At-all[i-1].At)
		}
	}
	if rest := c.Series(0, all[len(all)-3].At); len(rest) != 2 || rest[1] != all[len(all)-1] {
		t.Errorf("after the third from last: %+v", rest)
	}
}

// What a coordinator has seen is there after it, however often the next ones begin anew, and little is written of what was written before.
func TestSeriesOutlive(t *testing.T) {
	begin, kept, wrote := time.UnixMilli(1_000_000), map[uint32][]Sample{}, 0
	var s *series
	for i := range 4900 {
		if i%700 == 0 { // another coordinator
			s = &series{}
			s.recollect(kept)
		}
		now := begin.Add(time.Duration(i) * time.Second)
		s.see(now, 1, true, crawl.Counts{Fetched: int64(i)})
		s.see(now, 0, true, crawl.Counts{Fetched: int64(i)})
		if i%60 != 59 && i%700 != 699 {
			continue
		}
		of := s.fresh()
		for job, v := range of {
			if v.Whole {
				kept[job] = nil
			}
			kept[job] = append(kept[job], v.All...)
			wrote += len(v.All)
		}
		s.wrote(of)
	}
	for job, all := range kept {
		if len(all) < maxSamples/3 || len(all) > maxSamples || all[0].Fetched != 0 || all[len(all)-1].Fetched < 4800 {
			t.Errorf("job %d: %d samples, from %+v to %+v", job, len(all), all[0], all[len(all)-1])
		}
		if got := s.of[job].all; !slices.Equal(got, all) {
			t.Errorf("job %d: %d samples are kept of %d", job, len(all), len(got))
		}
	}
	if len(kept) != 2 || wrote > 10*maxSamples {
		t.Errorf("%d jobs, %d samples were written", len(kept), wrote)
	}
	s.see(begin.Add(6000*time.Second), 0, true, crawl.Counts{})
	if of := s.fresh(); len(of) != 0 {
		t.Errorf("where no job gets on there is something to write: %v", of)
	}
}

// A job's series holds what that job has done; one that rests has no more samples, and of many jobs those that got on last are kept.
func TestSeriesOfJobs(t *testing.T) {
	c := &Coordinator{}
	at := func(i int) time.Time { return time.UnixMilli(1_000_000).Add(time.Duration(i) * time.Second) }
	for i := range 20 {
		c.series.see(at(i), 1, true, crawl.Counts{Fetched: int64(i)})
		c.series.see(at(i), 2, i < 5, crawl.Counts{Fetched: int64(min(i, 5)) * 100})
		c.series.see(at(i), 3, false, crawl.Counts{Fetched: 7})
	}
	if one := c.Series(1, 0); len(one) != 20 || one[19].Fetched != 19 {
		t.Errorf("job 1: %+v", one)
	}
	if two := c.Series(2, 0); len(two) != 6 || two[5].Fetched != 500 {
		t.Errorf("job 2, which ended: %+v", two)
	}
	if three := c.Series(3, 0); len(three) != 0 {
		t.Errorf("job 3, which had ended before: %+v", three)
	}
	for i := range uint32(3 * maxTracks) {
		c.series.see(at(100+int(i)), 10+i, true, crawl.Counts{})
	}
	if len(c.series.of) > maxTracks+1 || len(c.Series(9+3*maxTracks, 0)) != 1 || len(c.Series(1, 0)) != 0 {
		t.Errorf("%d jobs have a series", len(c.series.of))
	}
}

// Of more decisions than are remembered the oldest are forgotten; those of a task stay in order, and one that waits for the same reason
// again and again counts once.
func TestDecided(t *testing.T) {
	var d decided
	for i := range uint32(3 * maxDecided) {
		d.take(&schedule.Decision{Task: 100 + i, Node: "a"})
		d.take(&schedule.Decision{Task: 7, Waits: schedule.ReasonPerSite, At: int64(i)})
		if i%1000 == 0 {
			d.take(&schedule.Decision{Task: 7, Node: "b", At: int64(i), Attempt: i})
		}
	}
	n := 0
	for _, of := range d.of {
		n += len(of)
	}
	if len(d.all) != maxDecided || n != maxDecided {
		t.Errorf("%d are remembered, of tasks %d", len(d.all), n)
	}
	if got := d.last(99 + 3*maxDecided); got == nil || got.Node != "a" {
		t.Errorf("the last: %+v", got)
	}
	if got := d.last(7); got == nil || got.At != 3*maxDecided-1 {
		t.Errorf("one that is decided again and again: %+v", got)
	}
	if of := d.of[7]; len(of) < 2 || of[len(of)-2].Attempt != 5000 {
		t.Errorf("%d about one task: %+v", len(of), of)
	}
}

// A part of what is found is the same part of all of it, sorted.
func TestShortlist(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 50 {
		all := make([]place, r.IntN(5*shortSlack))
		for i := range all {
			all[i] = place{id: uint64(i), n: int64(r.IntN(7)), site: []string{"a", "b"}[r.IntN(2)]}
		}
		skip, limit := r.IntN(3*shortSlack), r.IntN(200)
		list := newShortlist(skip, limit)
		for _, p := range all {
			list.add(p)
		}
		slices.SortFunc(all, comparePlaces)
		want := all[min(skip, len(all)):]
		if limit > 0 {
			want = want[:min(limit, len(want))]
		}
		if got := list.after(skip); !slices.Equal(got, want) || list.found != len(all) {
			t.Fatalf("%d of %d after %d: %d, of %d", limit, len(all), skip, len(got), list.found)
		}
	}
}

// A task whose site another job has asked says which lease that is, not when the site might be asked.
func TestTaskSaysWhoHasItsSite(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, dir)
		s.start()
		for _, line := range []string{"node a", "submit s.test / /1", "wait 1s a", "submit s.test /2", "wait 3s a"} {
			s.play(line)
		}
		v, err := s.co.Task(t.Context(), 2)
		if err != nil || v.Waits != waitsOther || v.Holder == nil || v.Holder.Job != 1 || v.Holder.Node != "a" {
			t.Errorf("%+v, %v", v, err)
		}
		if v, err = s.co.Task(t.Context(), 1); err != nil || v.Waits == waitsOther || v.Holder != nil {
			t.Errorf("the one that has it: %+v, %v", v, err)
		}
		s.halt()
	})
}

// A queue that falls by one a second ends in as many seconds as it has URLs; one that grows does not.
func TestEnding(t *testing.T) {
	var c Coordinator
	for i := range int64(30) {
		at := time.UnixMilli(1_000_000 + 1000*i)
		c.series.see(at, 1, true, crawl.Counts{Discovered: 100, Fetched: i})
		c.series.see(at, 2, true, crawl.Counts{Discovered: 100 + 2*i, Fetched: i})
	}
	if at, ok := c.Ending(1); !ok || at != 1_029_000+71_000 {
		t.Errorf("%d, %v", at, ok)
	}
	if _, ok := c.Ending(2); ok {
		t.Error("a queue that grows ends")
	}
	if _, ok := c.Ending(3); ok {
		t.Error("a job of which nothing is known ends")
	}
}

// A probe is a decision as a lease is: it has an attempt and a reason.
func TestProbesAreExplained(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, dir)
		s.start()
		s.play("node a")
		s.play("node b")
		j := crawl.Job{Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, UserAgent: "t", Seeds: []string{"http://s.test/"}}}
		j.Limits.PerIP, j.Limits.Delay, j.Placing.Strategy, j.Placing.Probe = 0, 0, "bandwidth", "all"
		if _, err := s.co.Submit(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		s.play("wait 2s a b")
		ds, n, err := s.co.Decisions(t.Context(), DecisionsQuery{Job: 1, Only: "probes", Find: "S.Test"})
		if err != nil || n != 1 || ds[0].Attempt != 1 || ds[0].Lease == 0 || ds[0].Probe != schedule.ProbeBandwidth || ds[0].Why != schedule.WhyAll {
			t.Errorf("%d: %+v, %v", n, ds, err)
		}
		for find, want := range map[string]int{"S.TEST": 1, "s.t": 1, "x": 0} {
			if rows, n, err := s.co.FindTasks(t.Context(), TasksQuery{Job: 1, Find: find, Limit: 9}); err != nil || len(rows) != want || n != want {
				t.Errorf("%d of %d tasks are found by %s, %v", len(rows), n, find, err)
			}
		}
		plans, _, err := s.co.Plans(t.Context(), 1, 0, 0)
		if err != nil || len(plans) == 0 || plans[len(plans)-1].Probes != 1 {
			t.Errorf("plans: %+v, %v", plans, err)
		}
		s.halt()
	})
}

// When a lease began is told by the coordinator's clock, to which who looks compares it: the log's may be hours ahead.
func TestLeaseBeganByOurClock(t *testing.T) {
	s := newTwins(t, 1)
	now := time.Now()
	ahead := now.Add(3 * time.Hour).UnixMilli()
	s.co.clock.Saw(ahead, now)
	if v := s.co.leaseView(&frontier.Lease{StartMS: ahead - 5000}); v.Start != now.UnixMilli()-5000 {
		t.Errorf("it began %v ago, want 5s", now.Sub(time.UnixMilli(v.Start)))
	}
}

// A task is found by its site, and one that asks for result pages by what it searches for as well.
func TestTasksAreFoundByTheirSearches(t *testing.T) {
	search := &ledger.Task{Site: "engine.test", Search: &ledger.Seeker{Search: crawl.Search{Words: []string{"Fresh", "milk"}, Product: "Käse", Site: "shop.test"}}}
	for find, want := range map[string]bool{"": true, "engine": true, "fresh milk": true, "käse": true, "shop.t": true, "bread": false} {
		if got := isNamed(search, find); got != want {
			t.Errorf("the search by %q: %v", find, got)
		}
	}
	if site := (&ledger.Task{Site: "shop.test"}); !isNamed(site, "shop") || isNamed(site, "milk") {
		t.Error("a site is found by what it is not called, or not by what it is")
	}
}

// Why a lease went to its node is known after a restart as well, with the candidates. Where it is not, as of long ago, it is known where a task's
// leases are, and who has measured its site.
func TestDecisionsOutliveTheCoordinator(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, dir)
		s.start()
		s.play("node a")
		s.play("node b")
		j := crawl.Job{Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, UserAgent: "t", Seeds: []string{"http://s.test/"}}, Placing: crawl.Placing{Strategy: "flow"}}
		j.Limits.PerIP, j.Limits.Delay = 0, 0
		if _, err := s.co.Submit(t.Context(), j); err != nil {
			t.Fatal(err)
		}
		s.play("wait 1s a b")
		decisions := func() *schedule.Decision {
			t.Helper()
			all, n, err := s.co.Decisions(t.Context(), DecisionsQuery{Task: 1})
			if err != nil || n != 1 || len(all) != 1 {
				t.Fatalf("%+v, %v", all, err)
			}
			return &all[0]
		}
		was := decisions()
		if was.Why != "" || len(was.Candidates) != 2 || len(was.Candidates[0].Parts) == 0 {
			t.Fatalf("%+v", was)
		}
		s.halt()
		s.start()
		s.play("wait 1s a b")
		was.Measured, was.Known = nil, nil
		if is := decisions(); !reflect.DeepEqual(is, was) {
			t.Errorf("it was %+v, and is %+v", was, is)
		}
		err := s.co.desk.ask(t.Context(), func(time.Time) error { s.co.decided = decided{}; return nil })
		is := decisions()
		if err != nil || is.Why != schedule.WhyEarlier || is.Node != was.Node || is.Lease != was.Lease || is.Attempt != was.Attempt || is.Site != was.Site || is.Strategy != "flow" || is.At < was.At {
			t.Errorf("it was %+v, and is %+v", was, is)
		}
		s.halt()
	})
}
