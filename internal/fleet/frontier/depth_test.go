package frontier

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
)

// walk is a view with one lease on one site, for tests that say what its pages link to.
type walk struct {
	t   *testing.T
	f   *Frontier
	seq uint64
	no  uint32
}

func newWalk(t *testing.T, depth int) *walk {
	w := &walk{t: t, f: open(t, vfs.NewMem())}
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}
	job.Limits.MaxDepth = depth
	w.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	w.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job})
	ts, err := w.f.Next(1, 1)
	if err != nil {
		t.Fatal(err)
	}
	w.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{{
		ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 100, Targets: ts,
	}}})
	return w
}

func (w *walk) apply(e *crawl.Entry) { w.t.Helper(); w.applied(e) }

// applied applies an entry and returns what that means to a coordinator.
func (w *walk) applied(e *crawl.Entry) Effects {
	w.t.Helper()
	w.seq++
	fx, err := w.f.Apply(w.seq, int64(1000*w.seq), e)
	if err != nil {
		w.t.Fatal(err)
	}
	return fx
}

func key(t *testing.T, path string) crawl.Key {
	t.Helper()
	u, err := crawl.Parse("http://s.test" + path)
	if err != nil {
		t.Fatal(err)
	}
	return u.Key()
}

// page is a page and one link on it, or where it redirects.
type page struct {
	from, to string
	redirect bool
}

// found applies one entry with a part for each page.
func (w *walk) found(pages ...page) {
	w.t.Helper()
	e := &crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i"}
	for _, p := range pages {
		w.no++
		e.Parts = append(e.Parts, crawl.Part{
			Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: w.no,
			Found: []crawl.Found{{Parent: key(w.t, p.from), Links: []crawl.Link{{URL: "http://s.test" + p.to, Redirect: p.redirect}}}},
		})
	}
	w.apply(e)
}

func (w *walk) state(path string) crawl.State { w.t.Helper(); return w.record(path).State }

func (w *walk) record(path string) *record {
	w.t.Helper()
	tx := &tx{f: w.f, recs: map[recKey]*record{}}
	r, err := tx.record(space{job: 1}, key(w.t, path))
	if err != nil || r == nil {
		w.t.Fatalf("%s: %v, %v", path, r, err)
	}
	return r
}

// A shorter path that comes in the same entry as the page's own links shortens the paths of those too.
func TestPathIsShortenedWithinAnEntry(t *testing.T) {
	w := newWalk(t, 2)
	defer w.f.Close()
	w.found(page{"/", "/a", false})
	w.found(page{"/a", "/p", false})
	w.found(page{"/p", "/c", false}, page{"/", "/p", false})
	if s := w.state("/c"); s != crawl.Pending {
		t.Errorf("/c is two links away and %v", s)
	}
}

// Where a redirect leads comes nearer when the redirect does.
func TestPathIsShortenedThroughARedirect(t *testing.T) {
	w := newWalk(t, 2)
	defer w.f.Close()
	w.found(page{"/", "/a", false})
	w.found(page{"/a", "/r", false})
	w.found(page{"/r", "/t", true})
	w.found(page{"/t", "/c", false})
	if s := w.state("/c"); s != crawl.Excluded {
		t.Fatalf("/c is three links away and %v", s)
	}
	w.found(page{"/", "/r", false})
	if s := w.state("/c"); s != crawl.Pending {
		t.Errorf("/c is two links and a redirect away and %v", s)
	}
}

// Without a depth limit a URL that is named again from nearer is as deep as that says, and so is what it names from then on. The ledger is told where it
// has had another depth.
func TestPathIsShortenedWithoutALimit(t *testing.T) {
	w := newWalk(t, -1)
	defer w.f.Close()
	w.found(page{"/", "/a", false})
	w.found(page{"/a", "/b", false})
	w.found(page{"/b", "/p", false})
	w.found(page{"/", "/p", false})
	w.found(page{"/p", "/c", false})
	if p, c := w.record("/p").Depth, w.record("/c").Depth; p != 1 || c != 2 {
		t.Errorf("a page that waits is %d deep and what it names %d, want 1 and 2", p, c)
	}
	w.no++
	w.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{
		Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: w.no,
		Outcomes: []crawl.Outcome{{Key: key(t, "/b"), URL: "http://s.test/b", State: crawl.Fetched, Status: 200, Depth: 2}},
	}}})
	w.found(page{"/", "/b", false})
	told := map[crawl.Key]uint16{}
	err := w.f.Nearer(1, func(p crawl.Page, depth uint16) error { told[p.Key] = depth; return nil })
	if err != nil || len(told) != 1 || told[key(t, "/b")] != 1 {
		t.Errorf("one page has come nearer since it was had, and the ledger is told of %v: %v", told, err)
	}
}
