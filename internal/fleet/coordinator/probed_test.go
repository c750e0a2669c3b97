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
			out[node] = fmt.Sprintf("%+v", y.Nodes()[node])
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
		part := crawl.Part{Lease: id, Attempt: lease.Attempt, Epoch: 1, Secret: "s", No: 1, Final: true, Reason: []string{crawl.EndDone, crawl.EndDrained}[rng.IntN(2)]}
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

// probeLease is a lease that measures a pair.
func probeLease(id uint64, attempt uint32, ping bool) crawl.Lease {
	return crawl.Lease{ID: id, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: attempt, Secret: "s", Probe: "http://s.test/", Ping: ping}
}

// A measurement that was cut short is made again, whoever cut it short; one that has done what it could is not, whatever it has measured.
func TestProbesThatWereCutShortAreMadeAgain(t *testing.T) {
	recalled := func(why string) crawl.Entry {
		return crawl.Entry{Kind: crawl.EntryRecall, Epoch: 1, Recalls: []crawl.Recall{{Lease: 1, Reason: why}}}
	}
	ended := func(why string) crawl.Entry {
		return crawl.Entry{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: 1, Final: true, Reason: why}}}
	}
	for _, c := range []struct {
		what  string
		end   crawl.Entry
		again bool
	}{
		{"its node has gone", recalled(crawl.EndDead), true},
		{"taken back, silent", recalled(crawl.EndRecalled), true},
		{"taken back, without an end", recalled(crawl.EndOverdue), true},
		{"taken back, refused", recalled(crawl.EndRefused), true},
		{"taken back at a limit", recalled(crawl.EndDrained), true},
		{"its task was dropped", crawl.Entry{Kind: crawl.EntryDrop, Epoch: 1, Release: &crawl.Release{Job: 1, Tasks: []uint32{1}, Why: "test"}}, true},
		{"its job was cancelled", crawl.Entry{Kind: crawl.EntryState, Epoch: 1, State: &crawl.JobState{Job: 1, State: crawl.JobCancelled}}, true},
		{"its node was drained", ended(crawl.EndDrained), true},
		{"its node could not report", ended(crawl.EndStale), true},
		{"its time was over", ended(crawl.EndBudget), true},
		{"it was done", ended(crawl.EndDone), false},
		{"its site could not be asked", ended(crawl.EndFailed), false},
		{"its site wants to be left alone", ended(crawl.EndWait), false},
	} {
		for _, ping := range []bool{false, true} {
			l := newDecider(t, vfs.NewMem(), 0)
			for _, e := range probedSite(probeLease(1, 1, ping)) {
				l.apply(&e)
			}
			site, node := l.k.learned.Record().Site("s.test"), l.k.learned.Record().Node("n")
			if !l.k.isProbed(site, node, ping) || l.k.isProbed(site, node, !ping) {
				t.Error("a probe that is under way is made once more, or another one is not")
			}
			l.apply(&c.end)
			if got := !l.k.isProbed(site, node, ping); got != c.again {
				t.Errorf("%s, delay %v: made again %v, want %v", c.what, ping, got, c.again)
			}
			l.close()
		}
	}
}

// probedSite is a log in which a job's only site is measured.
func probedSite(lease crawl.Lease) []crawl.Entry {
	return []crawl.Entry{
		{Kind: crawl.EntryTerm, Epoch: 1},
		{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}},
		{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{lease}},
	}
}

// A pair whose measurement is cut short each time is left alone in the end, with restarts and without.
func TestProbesThatAreAlwaysCutShortHaveAnEnd(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		fs := vfs.NewMem()
		l, made := newDecider(t, fs, 0), uint64(1)
		log := probedSite(probeLease(1, 1, false))
		for _, e := range log {
			l.apply(&e)
		}
		for ; made < 20; made++ {
			l.apply(&crawl.Entry{Kind: crawl.EntryRecall, Epoch: 1, Recalls: []crawl.Recall{{Lease: made, Reason: crawl.EndDead}}})
			if restarts {
				l = l.again(fs, made%2 == 0)
			}
			if l.k.isProbed(l.k.learned.Record().Site("s.test"), l.k.learned.Record().Node("n"), false) {
				break
			}
			l.apply(&crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{probeLease(made+1, uint32(made+1), false)}})
		}
		if made != 3 {
			t.Errorf("restarts %v: made %d times, want 3", restarts, made)
		}
		l.close()
	}
}
