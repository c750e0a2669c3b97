package frontier

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"argosy/internal/crawl"
)

// The same URL is another page in each layer: it is queued, found, finished and tried again on its own, also after a restart.
func TestLayersAreApart(t *testing.T) {
	mem := vfs.NewMem()
	w := &walk{t: t, f: open(t, mem)}
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}
	job.Limits.MaxDepth = 3
	w.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	w.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job})
	other := crawl.Layer{Owner: 3, Gen: 300}
	w.seed(other, "http://s.test/")
	if first, second := w.f.tasks[1], w.f.tasks[2]; first.space().Layer != (crawl.Layer{}) || second.space().Layer != other || second.Site != "s.test" {
		t.Fatalf("tasks %+v and %+v", first, second)
	}
	for id := range uint64(2) {
		ts, err := w.f.Next(uint32(id+1), 5)
		if err != nil || len(ts) != 1 {
			t.Fatalf("task %d has %v, %v", id+1, ts, err)
		}
		w.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{{
			ID: id + 1, Job: 1, Task: uint32(id + 1), Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 100, Targets: ts,
		}}})
	}
	root := key(t, "/")
	part := func(lease uint64, o crawl.Outcome, links ...string) {
		p := crawl.Part{Lease: lease, Attempt: 1, Epoch: 1, Secret: "s", No: 1, Outcomes: []crawl.Outcome{o}}
		for _, l := range links {
			p.Found = append(p.Found, crawl.Found{Parent: root, Links: []crawl.Link{{URL: "http://s.test" + l}}})
		}
		w.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{p}})
	}
	part(1, crawl.Outcome{Key: root, State: crawl.Fetched, Owner: other.Owner, Gen: other.Gen}) // not of this lease's layer
	part(2, crawl.Outcome{Key: root, State: crawl.Failed, Reason: crawl.KindTimeout, Owner: other.Owner, Gen: other.Gen}, "/a")

	want := map[string]crawl.State{"zero /": crawl.Pending, "other /": crawl.Failed, "other /a": crawl.Pending}
	if d := cmp.Diff(want, w.urls()); d != "" {
		t.Errorf("states: %s", d)
	}
	if err := w.f.Close(); err != nil {
		t.Fatal(err)
	}
	w.f = open(t, mem)
	defer w.f.Close()
	w.apply(&crawl.Entry{Kind: crawl.EntryRetry, Epoch: 1, Release: &crawl.Release{Job: 1}})
	want["other /"] = crawl.Pending
	if d := cmp.Diff(want, w.urls()); d != "" {
		t.Errorf("states after a retry: %s", d)
	}
	for id, urls := range map[uint32]int64{1: 1, 2: 2} {
		if n := w.f.tasks[id].Pending(); n != urls {
			t.Errorf("task %d: %d pending, want %d", id, n, urls)
		}
	}
}

// seed puts a URL into a layer, as whoever crawls again or for another crawler does.
func (w *walk) seed(l crawl.Layer, url string) {
	w.t.Helper()
	u, err := crawl.Parse(url)
	if err != nil {
		w.t.Fatal(err)
	}
	x := &tx{
		f: w.f, b: w.f.db.NewBatch(), at: 1, recs: map[recKey]*record{}, tasks: map[uint32]*Task{}, sites: map[string]*crawl.Site{},
		look: finder{db: w.f.db},
	}
	t := x.task(space{1, l}, 0, u.Site())
	if err := x.add(w.f.jobs[1], t, crawl.Key{}, u, &record{Flags: crawl.FlagSeed}); err != nil {
		w.t.Fatal(err)
	}
	if err := x.look.close(); err != nil {
		w.t.Fatal(err)
	}
	if err := x.write(); err != nil {
		w.t.Fatal(err)
	}
}

// urls returns the state of every URL by layer and path.
func (w *walk) urls() map[string]crawl.State {
	w.t.Helper()
	out := map[string]crawl.State{}
	err := w.f.URLs(1, func(u URL) error {
		at := "zero "
		if u.Layer == (crawl.Layer{Owner: 3, Gen: 300}) {
			at = "other "
		}
		out[at+u.URL[len("http://s.test"):]] = u.State
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}
