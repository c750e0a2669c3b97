package coordinator

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/plan/schedule"
	"argosy/internal/testkit/seeds"
)

const probedSites, probedNodes = 6, 3

// asks is what a life decides measuring by: of each pair whether it is to be measured, of each site whether one probe more is allowed, and what each
// node has measured.
func (l *decider) asks() map[string]string {
	out, y, rec := map[string]string{}, l.k.learned.Tally(), l.k.learned.Record()
	for s := range probedSites {
		name := fmt.Sprintf("s%d.test", s)
		pays := ""
		for known := 0.0; known <= 300; known += 30 {
			pays += fmt.Sprint(y.Spent().Pays(&schedule.Task{Book: rec.Site(name), Known: known}), " ")
		}
		out[name] = pays
		for n := range probedNodes {
			node := fmt.Sprint("n", n)
			for _, ping := range []bool{false, true} {
				out[fmt.Sprint(name, node, ping)] = fmt.Sprint(l.k.isProbed(rec.Site(name), rec.Node(node), ping))
			}
			out[node] = fmt.Sprintf("%+v", y.Node(node))
		}
	}
	_, early := y.Spent().Counted()
	out["early"] = fmt.Sprint(early)
	return out
}

// probed is a log of leases that measure, and of what becomes of them by chance, with what a life that is not interrupted decides by after each entry.
func probed(t *testing.T, seed uint64) (log []crawl.Entry, asks []map[string]string) {
	l, rng := newDecider(t, vfs.NewMem(), 0), rand.New(rand.NewPCG(seed, 5))
	defer l.close()
	add := func(e crawl.Entry) {
		log = append(log, e)
		l.apply(&log[len(log)-1])
		asks = append(asks, l.asks())
	}
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite}}
	for s := range probedSites {
		job.Identity.Seeds = append(job.Identity.Seeds, fmt.Sprintf("http://s%d.test/", s))
	}
	add(crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	add(crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job})
	for id := uint64(1); id <= 40; id++ {
		task := l.f.Task(1 + uint32(rng.IntN(probedSites)))
		lease := crawl.Lease{
			ID: id, Job: 1, Task: task.ID, Site: task.Site, Node: fmt.Sprint("n", rng.IntN(probedNodes)), Incarnation: "i", Epoch: 1, Attempt: task.Attempts + 1, Secret: "s",
			Probe: "http://" + task.Site + "/", Ping: rng.IntN(2) == 0, Early: rng.IntN(2) == 0,
		}
		add(crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{lease}})
		if n := rng.IntN(6); n < 2 {
			add(crawl.Entry{Kind: crawl.EntryRecall, Epoch: 1, Recalls: []crawl.Recall{{Lease: id, Reason: []string{crawl.EndDead, crawl.EndRecalled}[n]}}})
			continue
		}
		part := crawl.Part{Lease: id, Attempt: lease.Attempt, Epoch: 1, Secret: "s", No: 1, Final: true, Reason: crawl.EndDone}
		if rng.IntN(4) > 0 {
			m := crawl.Measure{Kind: crawl.MeasureBC, URL: lease.Probe, Bits: 1e6, Seconds: 1}
			if lease.Ping {
				m = crawl.Measure{Kind: crawl.MeasurePing, URL: lease.Probe, MS: []float64{10, 11}}
			}
			part.Measures = []crawl.Measure{m}
		}
		add(crawl.Entry{Kind: crawl.EntryParts, Node: lease.Node, Incarnation: "i", Parts: []crawl.Part{part}})
		if rng.IntN(4) == 0 {
			add(crawl.Entry{Kind: crawl.EntryMeasures, Node: lease.Node, Incarnation: "i", Measures: []crawl.Measure{
				{Kind: crawl.MeasureBS, Store: "file:///s", Bits: 1e6, Seconds: 1}, {Kind: crawl.MeasurePing, Node: "n9", MS: []float64{7}},
			}})
		}
	}
	return log, asks
}

// What is measured next is decided from what is stored: a coordinator that begins anew after any entry, with what was learned written down before or
// not, measures no pair twice that the one before it would not have, asks no site more for it, and counts on.
func TestMeasuringGoesOnAfterRestarts(t *testing.T) {
	for seed := range seeds.Of(4, 200) {
		log, want := probed(t, seed)
		rng, fs := rand.New(rand.NewPCG(seed, 6)), vfs.NewMem()
		l := newDecider(t, fs, 0)
		for i := range log {
			l.apply(&log[i])
			if rng.IntN(4) == 0 {
				l = l.again(fs, rng.IntN(2) == 0)
			}
			if got := l.asks(); !maps.Equal(got, want[i]) {
				for what := range want[i] {
					if got[what] != want[i][what] {
						t.Errorf("seed %d, entry %d, %s: %s, and %s without a restart", seed, i, what, got[what], want[i][what])
					}
				}
				break
			}
		}
		l.close()
		if last := want[len(want)-1]; last["early"] == "0" || last["n0"] == fmt.Sprintf("%+v", schedule.Measured{}) {
			t.Errorf("seed %d: nothing was measured: %v", seed, last)
		}
	}
}

// A pair whose node has gone before it was measured is measured again; one that a lease was taken back from is not, while its node is there.
func TestLostProbesAreMadeAgain(t *testing.T) {
	for reason, again := range map[string]bool{crawl.EndDead: true, crawl.EndRecalled: false} {
		l := newDecider(t, vfs.NewMem(), 0)
		lease := crawl.Lease{ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Probe: "http://s.test/"}
		for _, e := range []crawl.Entry{
			{Kind: crawl.EntryTerm, Epoch: 1},
			{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}},
			{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{lease}},
		} {
			l.apply(&e)
		}
		rec := l.k.learned.Record()
		if !l.k.isProbed(rec.Site("s.test"), rec.Node("n"), false) || l.k.isProbed(rec.Site("s.test"), rec.Node("n"), true) {
			t.Error("a probe that is under way is made once more, or another one is not")
		}
		l.apply(&crawl.Entry{Kind: crawl.EntryRecall, Epoch: 1, Recalls: []crawl.Recall{{Lease: 1, Reason: reason}}})
		if got := !l.k.isProbed(rec.Site("s.test"), rec.Node("n"), false); got != again {
			t.Errorf("%s: made again %v, want %v", reason, got, again)
		}
		l.close()
	}
}
