package coordinator

import (
	"reflect"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/plan/schedule"
)

// What a shadow would have done otherwise follows from the log: a coordinator that begins anew goes on counting where the last one had given
// something out. Another shadow begins at nothing, and so does the strategy of which the job makes its own.
func TestShadowGoesOnAfterRestarts(t *testing.T) {
	said := func(n int64) *crawl.Otherwise {
		return &crawl.Otherwise{Strategy: "hash", Cycles: n, Skipped: 1, Same: 3 * n, Other: 2 * n, Waits: 4, Gives: 5, Real: 1e6 * float64(n), Shadow: 2e6 * float64(n)}
	}
	lease := crawl.Lease{ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 1, Probe: "http://s.test/"}
	later := lease
	later.ID, later.Attempt = 2, 2
	log := []crawl.Entry{
		{Kind: crawl.EntryTerm, Epoch: 1},
		{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}},
		{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{lease}, Otherwise: said(1)},
		{Kind: crawl.EntryRecall, Epoch: 1, Recalls: []crawl.Recall{{Lease: 1, Reason: crawl.EndDead}}},
		{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{later}}, // of a coordinator without a shadow
		{Kind: crawl.EntryState, Epoch: 1, State: &crawl.JobState{Job: 1, State: crawl.JobPaused}, Otherwise: said(7)},
	}
	want := []*crawl.Otherwise{nil, nil, said(1), said(1), said(1), said(7)}
	fs := vfs.NewMem()
	for i := range log {
		l := newDecider(t, fs, uint64(i))
		l.apply(&log[i])
		l.close()
		l = newDecider(t, fs, l.no)
		j := l.f.Job(1)
		for shadow, of := range map[string]*crawl.Otherwise{"hash": want[i], "random": nil} {
			if j == nil {
				continue
			}
			if of == nil {
				of = &crawl.Otherwise{Strategy: shadow}
			}
			c := &Coordinator{cfg: Config{Shadow: shadow}, f: l.f, shadows: map[uint32]*schedule.Difference{}, lore: *l.k}
			if w, err := c.shadow(time.UnixMilli(1), j, "nearest"); err != nil || !reflect.DeepEqual(w.diff, &schedule.Difference{Otherwise: *of}) {
				t.Errorf("after %d entries and a restart %s has %+v (%v), want %+v", i+1, shadow, w.diff, err, of)
			}
			if w, err := c.shadow(time.UnixMilli(1), j, shadow); w != nil || err != nil || len(c.shadows) > 0 {
				t.Errorf("%s is its own shadow: %+v, %v", shadow, w, err)
			}
		}
		l.close()
	}
}
