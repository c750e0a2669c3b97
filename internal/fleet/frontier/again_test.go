package frontier

import (
	"slices"
	"strings"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
)

// A target is told of all URLs of its site that lead to it, however many steps lie between and whichever way they lead: by a redirect or a
// Refresh, and also of those that led to one of the steps when that had been answered.
func TestLedFromAfar(t *testing.T) {
	t.Parallel()
	f := open(t, vfs.NewMem())
	walk := &walk{t: t, f: f}
	walk.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	walk.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{
		Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/a", "http://s.test/b", "http://s.test/c"}, Tunnel: -1,
	}}})
	next := func() map[string]crawl.Target {
		targets, err := f.Next(1, 9)
		if err != nil {
			t.Fatal(err)
		}
		out := map[string]crawl.Target{}
		for _, g := range targets {
			out[strings.TrimPrefix(g.URL, "http://s.test")] = g
		}
		return out
	}
	lease := uint64(0)
	leads := func(g crawl.Target, to string, redirect bool) { // in a lease of its own
		lease++
		walk.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{{
			ID: lease, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 9, Targets: []crawl.Target{g},
		}}})
		walk.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{
			Lease: lease, Attempt: 1, Epoch: 1, Secret: "s", No: 1, Final: true,
			Found:    []crawl.Found{{Parent: g.Key, Links: []crawl.Link{{URL: "http://s.test" + to, Redirect: redirect}}}},
			Outcomes: []crawl.Outcome{{Key: g.Key, URL: g.URL, State: crawl.Fetched, Status: 200, Depth: g.Depth, Redirect: "http://s.test" + to}},
		}}})
	}
	at := next()
	a, b, c := at["/a"], at["/b"], at["/c"]
	told := func(path string, want ...crawl.Target) {
		t.Helper()
		g, ok := next()[path]
		if !ok || len(g.Chain) != len(want) {
			t.Errorf("%s waits: %v; it is told of %d, want %d", path, ok, len(g.Chain), len(want))
		}
		for _, w := range want {
			if !slices.Contains(g.Chain, w.Key) {
				t.Errorf("%s is not told of %s", path, w.URL)
			}
		}
	}
	leads(a, "/gate0", false)
	told("/gate0", a)
	leads(b, "/gate0", false)
	told("/gate0", a, b)
	gate0 := next()["/gate0"]
	leads(gate0, "/gate1", false)
	told("/gate1", a, b, gate0)
	leads(c, "/gate0", true)
	told("/gate1", a, b, c, gate0)
}
