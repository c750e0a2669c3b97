package coordinator

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"
	"testing/synctest"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// Whoever asks is answered while the loop is at something that takes long, and sees what it has ordered.
func TestAnswersWithoutTheLoop(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, dir)
		s.start()
		s.play("node a")
		s.play("submit s.test / /a /b")
		time.Sleep(time.Second)
		ctx := t.Context()
		busy, free := make(chan struct{}), make(chan struct{})
		go func() {
			_ = s.co.desk.do(ctx, func(time.Time) error {
				close(busy)
				<-free
				return nil
			})
		}()
		<-busy
		begin := time.Now()
		jobs, err := s.co.Jobs(ctx)
		if err != nil || len(jobs) != 1 || jobs[0].Counts.Pending != 3 || jobs[0].Counts.Sites != 1 {
			t.Errorf("jobs: %+v, %v", jobs, err)
		}
		tasks, err := s.co.Tasks(ctx, TasksQuery{Job: 1})
		if err != nil || len(tasks) != 1 || tasks[0].Site != "s.test:80" && tasks[0].Site != "s.test" {
			t.Errorf("tasks: %+v, %v", tasks, err)
		}
		nodes, err := s.co.Nodes(ctx)
		if err != nil || len(nodes) != 1 || nodes[0].Held != 1 {
			t.Errorf("nodes: %+v, %v", nodes, err)
		}
		leases, found, err := s.co.Leases(ctx, LeasesQuery{Job: 1, Limit: 10})
		if err != nil || found != 1 || len(leases) != 1 || leases[0].Node != "a" || leases[0].Held != 3 {
			t.Errorf("leases: %d, %+v, %v", found, leases, err)
		}
		if _, err := s.co.Reserve(ctx); err != nil {
			t.Error(err)
		}
		if took := time.Since(begin); took > 0 {
			t.Errorf("they took %s", took)
		}
		close(free)
		s.play("state 1 paused")
		if jobs, err = s.co.Jobs(ctx); err != nil || jobs[0].State != crawl.JobPaused {
			t.Errorf("paused: %+v, %v", jobs, err)
		}
		s.halt()
	})
}

// A site that another job has been told to leave alone is shown as resting in each job that waits for it, and no longer once it may be asked.
func TestRestIsShownInAllJobs(t *testing.T) {
	co := &Coordinator{}
	co.board.init()
	close(co.board.ready)
	for _, rest := range []int64{5000, 0} {
		for job := uint32(2); job >= 1; job-- {
			if rest == 0 && job == 1 {
				break // nothing is told of it
			}
			co.board.job(job).put(&shownTask{row: ledger.Task{ID: job, Job: job, Site: "s.test", State: crawl.TaskWaiting}})
			co.board.rests.note("s.test", rest)
		}
		if rows, err := co.Tasks(t.Context(), TasksQuery{Job: 1}); err != nil || len(rows) != 1 || rows[0].Until != rest {
			t.Errorf("%v, %+v", err, rows)
		}
	}
}

// However rows come and change, a job's sums are those of its rows, and pages of them are all of them, once.
func TestBoardAddsUp(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	states := []string{crawl.TaskManual, crawl.TaskWaiting, crawl.TaskCrawling, crawl.TaskDone, crawl.TaskFailed, crawl.TaskSleeping, crawl.TaskDropped}
	co := &Coordinator{}
	co.board.init()
	b := &co.board
	for range 3000 {
		c := crawl.Counts{Discovered: 100 + r.Int64N(100), Fetched: r.Int64N(50), Failed: r.Int64N(3), Excluded: r.Int64N(4), Bytes: r.Int64N(9)}
		task := shownTask{row: ledger.Task{ID: 1 + r.Uint32N(300), Job: 1, Site: fmt.Sprint(r.IntN(200)), State: states[r.IntN(len(states))], Tally: crawl.TallyOf(c, map[string]int64{fmt.Sprint(r.IntN(3)): r.Int64N(3) + 1})}}
		b.job(1).put(&task)
	}
	var want crawl.JobCounts
	sites, in := map[string]bool{}, map[string]int64{}
	for _, row := range b.jobs[1].rows {
		want.Tally.Add(row.Counts, row.Reasons)
		sites[row.Site] = true
		in[row.State]++
	}
	want.Sites, want.Tasks = int64(len(sites)), int64(len(b.jobs[1].rows)) // several tasks have the same site
	want.Waiting, want.Crawling, want.Sleeping, want.Returned = in[crawl.TaskWaiting], in[crawl.TaskCrawling], in[crawl.TaskSleeping], in[crawl.TaskFailed]
	want.Done, want.Manual, want.Dropped = in[crawl.TaskDone], in[crawl.TaskManual], in[crawl.TaskDropped]
	if got := b.jobs[1].sums; !reflect.DeepEqual(got, want) {
		t.Errorf("sums are %+v, want %+v", got, want)
	}
	close(b.ready)
	var all []ledger.Task
	for last := uint32(0); ; {
		page, err := co.Tasks(t.Context(), TasksQuery{Job: 1, After: last, Limit: 7})
		if err != nil {
			t.Fatal(err)
		}
		if all = append(all, page...); len(page) < 7 {
			break
		}
		last = page[len(page)-1].ID
	}
	if !reflect.DeepEqual(all, b.jobs[1].rows) {
		t.Errorf("%d rows in pages of %d", len(all), len(b.jobs[1].rows))
	}
}

// Whoever is told of a change finds it.
func TestWatchersSeeWhatTheyAreToldOf(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, dir)
		s.start()
		watch := s.co.Watch()
		defer watch.Close()
		first := func(is func(Changes) bool) {
			for {
				select {
				case <-watch.Ready():
				case <-time.After(time.Minute):
					t.Fatal("nothing is told")
				}
				if is(watch.Take()) {
					return
				}
			}
		}
		go func() {
			s.log.nodes <- nodeEvent{crawl.NodeInfo{Node: "a", Incarnation: "a-1", Leases: 4, Concurrency: 4, Store: "file:///s"}, crawl.SignRenewed}
		}()
		first(func(c Changes) bool { return c.Nodes })
		if nodes, err := s.co.Nodes(t.Context()); err != nil || len(nodes) != 1 {
			t.Errorf("told of a node; shown are %d, %v", len(nodes), err)
		}
		submitted := make(chan error, 1)
		go func() {
			_, err := s.co.Submit(t.Context(), crawl.Job{Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, UserAgent: "t", Seeds: []string{"http://s.test/"}}})
			submitted <- err
		}()
		first(func(c Changes) bool { return len(c.Jobs) > 0 })
		if jobs, err := s.co.Jobs(t.Context()); err != nil || len(jobs) != 1 {
			t.Errorf("told of a job; shown are %d, %v", len(jobs), err)
		}
		s.fail(<-submitted)
		time.Sleep(2 * time.Second)
		s.halt()
	})
}

// What was left out of a task is not told any more once nothing of it is.
func TestTrapsThatAreLetGo(t *testing.T) {
	s := newTwins(t, 2)
	b := &s.co.board
	told := func() int { return len(b.jobs[1].rows[0].Traps) }
	s.co.show(time.Unix(1, 0), true)
	b.job(1).setTraps(b.jobs[1].rows[0].ID, []crawl.Trap{{Site: "s.test", Template: "/#", Waiting: 676}})
	s.co.show(time.Unix(2, 0), true)
	if told() != 1 {
		t.Fatal("nothing has changed, and the trap is gone")
	}
	b.dirty[b.jobs[1].rows[0].ID] = true
	s.co.show(time.Unix(3, 0), true)
	if told() != 0 {
		t.Error("a trap of which nothing waits is told of")
	}
}

// What a node has measured is shown as long as the node is, also when it has gone, and after a restart.
func TestWhatGoneNodesMeasuredIsShown(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		s := newScene(t, dir)
		s.start()
		s.play("node a")
		b, err := crawl.Marshal(&crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryMeasures, Node: "a", Incarnation: "a-1", Measures: []crawl.Measure{
			{Kind: crawl.MeasureBS, Store: "file:///s", Bits: 1e6, Seconds: 1}, {Kind: crawl.MeasurePing, Node: "b", MS: []float64{7, 8}},
		}})
		s.fail(err)
		s.log.add("a", b)
		s.play("submit s.test /")
		s.play("wait 1s")
		s.play("part a 1.1 fetched / final")
		look := func(when string, gone bool) {
			t.Helper()
			nodes, err := s.co.Nodes(t.Context())
			if err != nil || len(nodes) != 1 || (nodes[0].State == nodeGone) != gone || nodes[0].Measured.Stores != 1 || nodes[0].Measured.Between != 2 {
				t.Errorf("%s: %+v, %v", when, nodes, err)
			}
		}
		s.play("wait 1m a")
		look("there", false)
		s.play("wait 5m")
		look("gone", true)
		s.play("halt")
		s.play("start")
		s.play("wait 1s")
		look("gone, after a restart", true)
		s.halt()
	})
}
