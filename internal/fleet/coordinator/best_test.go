package coordinator

import (
	"testing"
	"time"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/page/topic"
)

// topical returns an empty frontier, and a job for a topic that begins at two sites.
func topical(t *testing.T) (*frontier.Frontier, *crawl.Job) {
	t.Helper()
	f, err := frontier.Open(frontier.DefaultConfig(t.TempDir()))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = f.Close() })
	about, err := topic.Words("asynchronous iterators", "en")
	if err != nil {
		t.Fatal(err)
	}
	return f, &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{
		Scope: crawl.ScopeSite, Seeds: []string{"http://a.test/", "http://b.test/"}, Topic: about, Order: crawl.OrderBest, Tunnel: -1,
	}}
}

// A site that did not answer the last time keeps nobody waiting for what it promises; one that has not been asked does.
func TestCutBesideFailing(t *testing.T) {
	t.Parallel()
	f, job := topical(t)
	now := time.UnixMilli(1e6)
	for i, e := range []crawl.Entry{{Kind: crawl.EntryTerm, Epoch: 1}, {Kind: crawl.EntrySubmit, Epoch: 1, Job: job}} {
		if _, err := f.Apply(uint64(i+1), now.UnixMilli(), &e); err != nil {
			t.Fatal(err)
		}
	}
	least := func() float64 {
		t.Helper()
		c := &Coordinator{f: f}
		c.clock.Saw(now.UnixMilli(), now)
		x, err := c.least(f.Job(1), &run{cuts: map[uint32]cut{}, spread: newSpread(f.Task)}, 0, 1, now)
		if err != nil {
			t.Fatal(err)
		}
		return x
	}
	if x := least(); x <= 0 {
		t.Errorf("of two sites one URL is wanted, and the cut is %v", x)
	}
	f.Site("a.test").Fails = 1 // and may be asked again at once
	if x := least(); x != 0 {
		t.Errorf("the other one waits for a site that fails: the cut is %v", x)
	}
}
