package coordinator

import (
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
)

// A coordinator that begins anew waits a moment for the nodes that hold leases before it gives anything out: they register one after the other.
func TestNodesWithLeasesAreWaitedFor(t *testing.T) {
	l := newDecider(t, vfs.NewMem(), 0)
	defer l.close()
	lease := crawl.Lease{ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 1}
	for _, e := range []crawl.Entry{
		{Kind: crawl.EntryTerm, Epoch: 1},
		{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}},
		{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{lease}},
	} {
		l.apply(&e)
	}
	began := time.UnixMilli(1_700_000_000_000)
	c := &Coordinator{f: l.f, fleet: newFleet(l.k.logger, nil)}
	c.hearing.Began = began
	come := func(name string) {
		c.fleet.registered(began, began, crawl.NodeInfo{Node: name, Incarnation: "i"}, crawl.SignKnown, l.f.Leases)
	}
	if come("m"); c.gathered(began.Add(meetMost)) {
		t.Error("the node that holds a lease is not waited for")
	}
	if !c.gathered(began.Add(meetMost + 1)) {
		t.Error("a node that does not come is waited for")
	}
	if come("n"); !c.gathered(began.Add(1)) {
		t.Error("all have come, and somebody is waited for")
	}
}
