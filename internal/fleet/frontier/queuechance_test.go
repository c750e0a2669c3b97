package frontier

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/page/topic"
	"argosy/internal/testkit/seeds"
)

// chance drives a view by whatever may happen to a job, in any order: several leases of one task, recalls, retries, other limits, restarts.
type chance struct {
	*walk
	rng     *rand.Rand
	mem     *vfs.MemFS
	leases  uint64
	held    map[uint64][]crawl.Target
	parts   map[uint64]uint32
	waited  int // entries of a queue that were remembered as waiting for room
	limited bool
}

// url draws a URL of a site: of templates that bring something, and of such as end up cut.
func (c *chance) url() string {
	return fmt.Sprintf([]string{
		"http://s%d.test/a/%d", "http://s%d.test/b?x=%d", "http://s%d.test/c/%d/d", "http://s%d.test/e?f=1&x=%d&y=3", "http://s%d.test/g%d.html",
	}[c.rng.IntN(5)], c.rng.IntN(2), c.rng.IntN(900))
}

// next asks for URLs with what is remembered and without it.
func (c *chance) next(task uint32, n int, least float64) []crawl.Target {
	c.t.Helper()
	got, err := c.f.NextAbove(task, n, least)
	if err != nil {
		c.t.Fatal(err)
	}
	t := c.f.Task(task)
	was := t.memory
	for _, e := range was.entries {
		if e.template != 0 {
			c.waited++
		}
	}
	t.memory = memory{}
	want, err := c.f.NextAbove(task, n, least)
	t.memory = was
	if err != nil || !reflect.DeepEqual(got, want) {
		c.t.Fatalf("entry %d: %d URLs of task %d, %d without what is remembered (%v)", c.seq, len(got), task, len(want), err)
	}
	return got
}

// grant gives a task one more lease, or a lease more URLs.
func (c *chance) grant() {
	var ids []uint32
	c.f.Tasks(func(t *Task) {
		if t.State == "" && t.Queued() > 0 {
			ids = append(ids, t.ID)
		}
	})
	if len(ids) == 0 {
		return
	}
	t := c.f.Task(ids[c.rng.IntN(len(ids))])
	least := 0.0
	if c.f.Job(1).Identity.Order == crawl.OrderBest && c.rng.IntN(3) == 0 {
		least = c.rng.Float64()
	}
	targets := c.next(t.ID, 1+c.rng.IntN(80), least)
	if len(targets) == 0 {
		return
	}
	e := &crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1}
	id := uint64(0)
	for _, l := range t.leaseIDs() {
		if c.rng.IntN(2) == 0 {
			id = l
		}
	}
	if id != 0 {
		e.Refills = []crawl.Refill{{Lease: id, Targets: targets}}
	} else if t.Leases() < 4 {
		c.leases++
		e.Leases = []crawl.Lease{{
			ID: c.leases, Job: 1, Task: t.ID, Site: t.Site, Node: "n", Incarnation: "i", Epoch: 1, Attempt: uint32(c.leases), Secret: "s", Quota: 1 << 20, Targets: targets,
		}}
	} else {
		return
	}
	if c.rng.IntN(4) == 0 { // something comes before the grant
		c.report()
	}
	fx := c.applied(e)
	for _, l := range fx.Granted {
		c.held[l.ID] = append(c.held[l.ID], l.Targets...)
	}
	for _, r := range fx.Refilled {
		c.held[r.Lease] = append(c.held[r.Lease], r.Targets...)
	}
}

// report has a lease say what became of some of its URLs.
func (c *chance) report() {
	var ids []uint64
	c.f.Leases(func(l *Lease) {
		if l.ClosedAt == 0 {
			ids = append(ids, l.ID)
		}
	})
	if len(ids) == 0 {
		return
	}
	id := ids[c.rng.IntN(len(ids))]
	c.parts[id]++
	p := crawl.Part{Lease: id, Attempt: uint32(id), Epoch: 1, Secret: "s", No: c.parts[id]}
	n := min(len(c.held[id]), 1+c.rng.IntN(20))
	for _, g := range c.held[id][:n] {
		o := crawl.Outcome{Key: g.Key, URL: g.URL, State: crawl.Fetched, Status: 200, HTML: true, Depth: g.Depth, Score: c.rng.Float32()}
		found := crawl.Found{Parent: g.Key, Score: o.Score}
		if g.Mark != crawl.MarkNone {
			o.Shows, o.Sample = 1+c.rng.Uint64N(400), []uint32{c.rng.Uint32N(600), c.rng.Uint32N(50)}
			if c.rng.IntN(3) == 0 {
				o.Shows = 7 // a page that many URLs show
			}
		}
		switch c.rng.IntN(12) {
		case 0:
			o.State, o.Reason = crawl.Failed, crawl.KindReset
		case 1:
			o.State, o.Reason = crawl.Retry, crawl.KindTimeout
		}
		for range c.rng.IntN(16) {
			found.Links = append(found.Links, crawl.Link{URL: c.url(), Anchor: fmt.Sprint("word", c.rng.IntN(9)), Redirect: c.rng.IntN(30) == 0, NoFollow: c.rng.IntN(30) == 0})
		}
		o.Links = len(found.Links)
		p.Found, p.Outcomes = append(p.Found, found), append(p.Outcomes, o)
	}
	c.held[id] = c.held[id][n:]
	if p.Final = len(c.held[id]) == 0 && c.rng.IntN(2) == 0; p.Final {
		p.Reason = crawl.EndDone
	}
	c.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{p}})
}

// happens does one thing at random.
func (c *chance) happens() {
	switch k := c.rng.IntN(100); {
	case k < 45:
		c.grant()
	case k < 90:
		c.report()
	case k < 94: // a lease is taken back
		c.f.Leases(func(l *Lease) {
			if l.ClosedAt == 0 && c.rng.IntN(3) == 0 {
				c.held[l.ID] = nil
				c.apply(&crawl.Entry{Kind: crawl.EntryRecall, Epoch: 1, Recalls: []crawl.Recall{{Lease: l.ID, Reason: "test"}}})
			}
		})
	case k < 96: // a person tries again what failed, or what was cut
		c.apply(&crawl.Entry{Kind: crawl.EntryRetry, Epoch: 1, Release: &crawl.Release{Job: 1, Cut: c.rng.IntN(2) == 0}})
	case k < 98: // a person has changed the limits
		job := c.f.Job(1).Job
		job.Limits.MaxDepth = []int{job.Limits.MaxDepth, 2, 4, 9}[c.rng.IntN(4)]
		if !c.limited {
			job.Limits.MaxDepth = -1
		}
		job.Limits.SitePages = []int64{0, 300, 900}[c.rng.IntN(3)]
		c.apply(&crawl.Entry{Kind: crawl.EntryLimits, Epoch: 1, Job: &job})
	default: // the process begins anew
		if err := c.f.Close(); err != nil {
			c.t.Fatal(err)
		}
		c.f = openSmall(c.t, c.mem, 200, 500)
	}
}

// What is remembered of a queue changes nothing, whatever happens to a job between two questions.
func TestChanceChangesNoAnswer(t *testing.T) {
	t.Parallel()
	waited := 0
	for seed := range seeds.Of(6, 300) {
		c := &chance{walk: &walk{t: t}, rng: rand.New(rand.NewPCG(seed, 5)), mem: vfs.NewMem(), held: map[uint64][]crawl.Target{}, parts: map[uint64]uint32{}, limited: seed%2 == 0}
		c.f = openSmall(t, c.mem, 200, 500)
		job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{
			Scope: crawl.ScopeAny, Seeds: []string{"http://s0.test/", "http://s1.test/"}, Tunnel: -1, Order: []crawl.QueueOrder{crawl.OrderBreadth, crawl.OrderDepth, crawl.OrderBest}[seed%3],
		}}
		if job.Limits.MaxDepth = -1; c.limited {
			job.Limits.MaxDepth = 6
		}
		if job.Identity.Order == crawl.OrderBest {
			about, err := topic.Words("asynchronous iterators", "en")
			if err != nil {
				t.Fatal(err)
			}
			job.Identity.Topic = about
		}
		c.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
		c.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job})
		for range 400 {
			c.happens()
		}
		check(t, c.f)
		waited += c.waited
		if err := c.f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if waited < 500 {
		t.Errorf("only %d entries waited for room: nothing was put to the test", waited)
	}
}
