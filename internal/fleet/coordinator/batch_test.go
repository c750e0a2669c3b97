package coordinator

import (
	"fmt"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
)

// A fleet's report waits for others for a moment, but not if a lease waits for what comes of it.
func TestReportsAreBatched(t *testing.T) {
	l := newDecider(t, vfs.NewMem(), 0)
	defer l.close()
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite}}
	for p := range 9 {
		job.Identity.Seeds = append(job.Identity.Seeds, fmt.Sprintf("http://s.test/%d", p))
	}
	l.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	l.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job})
	targets, err := l.f.Next(1, 9)
	if err != nil || len(targets) != 9 {
		t.Fatal(targets, err)
	}
	l.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{{
		ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 100, Targets: targets,
	}}})
	now := time.UnixMilli(1_700_000_000_000)
	fresh := func() *Coordinator {
		c := &Coordinator{cfg: Config{Serve: true}, f: l.f, open: newOpen(l.f.Lease)}
		c.sinks.leads = true
		return c
	}
	report := func(p crawl.Part) *entry {
		p.No = 1
		b, err := crawl.Marshal(&crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{p}})
		if err != nil {
			t.Fatal(err)
		}
		return &entry{node: "n", data: b}
	}
	outcomes := func(n int) (out []crawl.Outcome) {
		for i := range n {
			out = append(out, crawl.Outcome{Key: targets[i].Key, URL: targets[i].URL, State: crawl.Fetched, Status: 200})
		}
		return out
	}
	some := crawl.Part{Lease: 1, Outcomes: outcomes(4), Want: 12}
	c := fresh()
	if e := report(some); !c.batches(now, e) || len(c.batch.entries) != 1 || c.batch.left(now) != batchFor || c.batch.left(now.Add(batchFor)) != 0 {
		t.Errorf("%+v waits for %v", c.batch.entries, c.batch.left(now))
	}
	if c.batches(now.Add(batchFor), report(some)) {
		t.Error("a report waits with those whose time is over")
	}
	if !c.batches(now.Add(batchFor/2), report(some)) || c.batch.left(now.Add(batchFor)) != 0 || len(c.batch.drawn()) != 2 || c.batch.left(now) == 0 {
		t.Error("the second report waits for longer than the first, or they do not come in one")
	}
	for name, p := range map[string]crawl.Part{
		"that has nothing left":  {Lease: 1, Outcomes: outcomes(9)},
		"that asks late":         {Lease: 1, Outcomes: outcomes(6), Want: 12},
		"that has nothing to do": {Lease: 1, Starved: true},
		"that has ended":         {Lease: 1, Final: true, Reason: crawl.EndDone},
		"that nobody knows":      {Lease: 2},
	} {
		if fresh().batches(now, report(p)) {
			t.Errorf("the report of a lease %s waits", name)
		}
	}
	for name, change := range map[string]func(*Coordinator, *entry){
		"of one process":                    func(c *Coordinator, _ *entry) { c.cfg.Serve = false },
		"before somebody leads":             func(c *Coordinator, _ *entry) { c.sinks.leads = false },
		"behind what was appended":          func(c *Coordinator, _ *entry) { c.sinks.appended = 1 },
		"of a leader":                       func(_ *Coordinator, e *entry) { e.node = "" },
		"behind much":                       func(c *Coordinator, _ *entry) { c.batch.bytes = turnBytes + 1 },
		"while a lease lacks URLs":          func(c *Coordinator, _ *entry) { c.open.await(l.f.Lease(1), 1) },
		"that comes instead of what is not": func(_ *Coordinator, e *entry) { e.gap = crawl.ErrTrimmed },
	} {
		c, e := fresh(), report(some)
		if change(c, e); c.batches(now, e) {
			t.Errorf("a report %s waits", name)
		}
	}
}
