package frontier

import (
	"fmt"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
)

// What is shown of a queue are all that wait, in their order: those that a node would get now, and those that wait for others like them.
func TestQueueShowsAllThatWait(t *testing.T) {
	t.Parallel()
	const urls = 60
	f := open(t, vfs.NewMem())
	walk := &walk{t: t, f: f}
	walk.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	walk.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{
		Scope: crawl.ScopeAny, Seeds: []string{"http://s.test/"}, Tunnel: -1,
	}}})
	seed, err := f.Next(1, 1)
	if err != nil || len(seed) != 1 {
		t.Fatal(seed, err)
	}
	walk.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{{
		ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 9, Targets: seed,
	}}})
	found := crawl.Found{Parent: seed[0].Key}
	for i := range urls {
		found.Links = append(found.Links, crawl.Link{URL: fmt.Sprintf("http://s.test/list?id=%d", i)})
	}
	walk.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{
		Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: 1, Final: true, Found: []crawl.Found{found},
		Outcomes: []crawl.Outcome{{Key: seed[0].Key, URL: seed[0].URL, State: crawl.Fetched, Status: 200, HTML: true}},
	}}})
	next, err := f.Next(1, 100)
	if err != nil || len(next) == 0 || len(next) == urls {
		t.Fatalf("%d are next: %v", len(next), err)
	}
	for _, most := range []int{100, 20} {
		queue, err := f.Queue(1, most)
		if err != nil || len(queue) != min(most, urls) {
			t.Fatalf("%d of %d: %v", len(queue), min(most, urls), err)
		}
		due := 0
		for i := range queue {
			if i > 0 && queue[i].Seq <= queue[i-1].Seq {
				t.Errorf("%s stands behind %s", queue[i].URL, queue[i-1].URL)
			}
			if queue[i].Waits == "" {
				due++
			}
		}
		if due != min(most, len(next)) {
			t.Errorf("%d of %d are due, want %d", due, most, len(next))
		}
	}
}
