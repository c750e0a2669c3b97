package frontier

import (
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
)

// What has no record of its own is counted once for each page that named it, however often and in however many entries
// the page is reported, and does not take the place of refusals that have one.
func TestOmittedCountsOncePerPage(t *testing.T) {
	w := newWalk(t, -1)
	defer w.f.Close()
	w.f.Job(1).Limits.MaxRefusals = 2
	say := func(parent crawl.Key, counts ...map[crawl.Kind]int64) {
		e := &crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i"}
		for _, c := range counts {
			w.no++
			e.Parts = append(e.Parts, crawl.Part{
				Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: w.no, Found: []crawl.Found{{Parent: parent, Omitted: c}},
			})
		}
		w.apply(e)
	}
	long, many := crawl.ReasonTrapLength, crawl.ReasonTrapMap
	say(crawl.Key{}, map[crawl.Kind]int64{many: 7})
	say(key(t, "/"), map[crawl.Kind]int64{long: 3}, map[crawl.Kind]int64{long: 3})
	say(key(t, "/a"), map[crawl.Kind]int64{long: 4, many: 1})
	say(crawl.Key{}, map[crawl.Kind]int64{many: 5}, nil)
	say(key(t, "/b"), map[crawl.Kind]int64{long: -4, many: 0})
	c := w.f.Counts(1)
	if c.Discovered != 1+5+3+4+1 || c.Excluded != 13 || c.Pending != 1 || c.Overflow != 13 {
		t.Errorf("counts %+v", c)
	}
	if c.Reasons[string(long)] != 7 || c.Reasons[string(many)] != 6 || len(c.Reasons) != 2 {
		t.Errorf("reasons %v", c.Reasons)
	}
	w.found(page{"/", "/ok", false})
	if s := w.state("/ok"); s != crawl.Pending {
		t.Errorf("/ok is %s", s)
	}
	w.found(page{"/", ":81/refused", false})
	if got := w.f.Counts(1); got.Excluded != 14 || got.Overflow != 13 {
		t.Errorf("a refusal after counts without records: %+v", got)
	}
}

// The counts are in the view: they survive a restart, and the page that is reported again is still the same page.
func TestOmittedSurvivesARestart(t *testing.T) {
	fs := vfs.NewMem()
	w := &walk{t: t, f: open(t, fs)}
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}
	lease := crawl.Lease{ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 9}
	w.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	w.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job})
	w.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{lease}})
	say := func(no uint32, n int64) {
		w.apply(&crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{
			Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: no,
			Found: []crawl.Found{{Parent: key(t, "/"), Omitted: map[crawl.Kind]int64{crawl.ReasonTrapLength: n}}},
		}}})
	}
	say(1, 10)
	if err := w.f.Close(); err != nil {
		t.Fatal(err)
	}
	w.f = open(t, fs)
	defer w.f.Close()
	say(2, 12)
	if c := w.f.Counts(1); c.Excluded != 12 || c.Discovered != 13 || c.Overflow != 12 {
		t.Errorf("counts %+v", c)
	}
}
