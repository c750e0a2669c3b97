package coordinator

import (
	"fmt"
	"log/slog"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
	"argosy/internal/testkit/seeds"
)

// decider is a coordinator as far as it decides how large leases are, from its start to its end.
type decider struct {
	t  *testing.T
	f  *frontier.Frontier
	k  *lore
	r  *reader
	no uint64 // entries that it has, with those of lives before it
}

func newDecider(t *testing.T, fs vfs.FS, no uint64) *decider {
	t.Helper()
	cfg := frontier.DefaultConfig("view")
	cfg.FS, cfg.Cache = fs, 1<<20
	f, err := frontier.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	learned, err := f.Learner()
	if err != nil {
		t.Fatal(err)
	}
	k := &lore{strategies: strategy.New, logger: slog.New(slog.DiscardHandler), learned: learned, readers: map[string]*reader{}}
	r, err := k.reader("feedback", &crawl.Placing{})
	if err != nil {
		t.Fatal(err)
	}
	return &decider{t, f, k, r, no}
}

// again is the life after this one, which may have written down what it has learned.
func (l *decider) again(fs vfs.FS, kept bool) *decider {
	l.t.Helper()
	if kept {
		if err := l.f.KeepLearned(l.k.learned); err != nil {
			l.t.Fatal(err)
		}
	}
	l.close()
	return newDecider(l.t, fs, l.no)
}

func (l *decider) apply(e *crawl.Entry) frontier.Effects {
	l.t.Helper()
	l.no++
	at := int64(1000 * l.no)
	fx, err := l.f.Apply(l.no, at, e)
	if err != nil || len(fx.Ignored) > 0 {
		l.t.Fatal(err, fx.Ignored)
	}
	l.k.take(&fx)
	return fx
}

// sizes has a life decide how large a lease is.
func (l *decider) sizes(lease crawl.Lease) (quota int, budget int64) {
	record := l.k.learned.Record()
	l.r.book.Fit()
	lease.Quota, lease.BudgetMS = 20, 60_000
	l.r.shape(&lease, l.f.Task(lease.Task), &schedule.Task{Site: lease.Site, Book: record.Site(lease.Site)}, record.Node(lease.Node), int64(1000*l.no))
	return lease.Quota, lease.BudgetMS
}

func (l *decider) close() {
	l.t.Helper()
	if err := l.f.Close(); err != nil {
		l.t.Fatal(err)
	}
}

// lived has a life that is not interrupted write a log: grants as it decides them, and what becomes of them by chance.
func lived(t *testing.T, seed uint64) (log []crawl.Entry) {
	l, rng := newDecider(t, vfs.NewMem(), 0), rand.New(rand.NewPCG(seed, 3))
	defer l.close()
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite}}
	for s := range 3 {
		for p := range 100 {
			job.Identity.Seeds = append(job.Identity.Seeds, fmt.Sprintf("http://s%d.test/%d", s, p))
		}
	}
	add := func(e crawl.Entry) frontier.Effects {
		log = append(log, e)
		return l.apply(&log[len(log)-1])
	}
	add(crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
	add(crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job})
	for id := uint64(1); id <= 30; id++ {
		task := l.f.Task(1 + uint32(rng.IntN(3)))
		if task.Queued() == 0 {
			continue
		}
		lease := crawl.Lease{ID: id, Job: 1, Task: task.ID, Site: task.Site, Node: fmt.Sprint("n", rng.IntN(3)), Incarnation: "i", Epoch: 1, Attempt: task.Attempts + 1, Secret: "s"}
		lease.Quota, lease.BudgetMS = l.sizes(lease)
		var err error
		if lease.Targets, err = l.f.Next(task.ID, lease.Quota); err != nil {
			t.Fatal(err)
		}
		held := add(crawl.Entry{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{lease}}).Granted[0].Targets
		if rng.IntN(5) == 0 {
			add(crawl.Entry{Kind: crawl.EntryRecall, Epoch: 1, Recalls: []crawl.Recall{{Lease: id, Reason: crawl.EndDead}}})
			continue
		}
		part := crawl.Part{Lease: id, Attempt: lease.Attempt, Epoch: 1, Secret: "s", No: 1, WorkedUS: 1000 * int64(1+rng.IntN(2000)), Final: true, Reason: crawl.EndDone}
		if rng.IntN(3) == 0 {
			held, part.Reason = held[:1+rng.IntN(len(held))], crawl.EndBudget
		}
		for _, g := range held {
			o := crawl.Outcome{Key: g.Key, URL: g.URL, State: crawl.Fetched, Status: 200, Bytes: 10_000}
			if rng.IntN(4) == 0 {
				o.Status = 404
			}
			part.Outcomes = append(part.Outcomes, o)
		}
		for range rng.IntN(20) { // time passes
			add(crawl.Entry{Kind: crawl.EntryMark, Epoch: 1})
		}
		add(crawl.Entry{Kind: crawl.EntryParts, Node: lease.Node, Incarnation: "i", Parts: []crawl.Part{part}})
	}
	return log
}

// How large leases are is decided from what is stored: a coordinator that begins anew after any entry, with what was learned written down before or
// not, goes on as the one before it would have.
func TestLeasesAreAsLargeAfterRestarts(t *testing.T) {
	for seed := range seeds.Of(3, 100) {
		log, rng := lived(t, seed), rand.New(rand.NewPCG(seed, 4))
		fs, fitted := vfs.NewMem(), 0
		l := newDecider(t, fs, 0)
		for i := range log {
			if rng.IntN(4) == 0 {
				l = l.again(fs, rng.IntN(2) == 0)
			}
			for _, lease := range log[i].Leases {
				if quota, budget := l.sizes(lease); quota != lease.Quota || budget != lease.BudgetMS {
					t.Errorf("seed %d, lease %d: %d pages in %d ms, and %d in %d without a restart", seed, lease.ID, quota, budget, lease.Quota, lease.BudgetMS)
				}
				if lease.Quota != 20 && lease.BudgetMS != 60_000 {
					fitted++
				}
			}
			l.apply(&log[i])
		}
		l.close()
		if fitted < 10 {
			t.Errorf("seed %d: %d leases are fitted to what the last one did", seed, fitted)
		}
	}
}
