package frontier

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
	"argosy/internal/testkit/seeds"
)

// What is learned from a log is the same, byte for byte, live, after restarts with checkpoints at any time, and after power
// cuts, which take the view back to some earlier position.
func TestLearnedTheSameLiveAndAfterRestarts(t *testing.T) {
	for seed := range seeds.Of(4, 100) {
		log := script(t, seed, 150, -1)
		live := learn.New()
		f := open(t, vfs.NewMem())
		taken := 0
		for i := range log {
			fx, err := f.Apply(uint64(i+1), int64(1000*i), &log[i])
			if err != nil {
				t.Fatal(err)
			}
			for _, fact := range fx.Facts {
				live.Take(fact)
				taken++
			}
		}
		if taken == 0 {
			t.Fatalf("seed %d: nothing was measured", seed)
		}
		want := encode(t, live)
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}

		rng := rand.New(rand.NewPCG(seed, 1))
		fs := vfs.NewCrashableMem()
		f = open(t, fs)
		learner := learn.New()
		for f.Position().Seq < uint64(len(log)) {
			i := f.Position().Seq
			fx, err := f.Apply(i+1, int64(1000*i), &log[i])
			if err != nil {
				t.Fatal(err)
			}
			for _, fact := range fx.Facts {
				learner.Take(fact)
			}
			switch rng.IntN(25) {
			case 0:
				if err := f.KeepLearned(learner); err != nil {
					t.Fatal(err)
				}
			case 1:
				if err := f.Sync(); err != nil {
					t.Fatal(err)
				}
			case 2, 3: // the power is cut
				crashed := fs.CrashClone(vfs.CrashCloneCfg{UnsyncedDataPercent: rng.IntN(101), RNG: rng})
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				fs = crashed
				f = open(t, fs)
				if learner, err = f.Learner(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if got := encode(t, learner); !bytes.Equal(got, want) {
			t.Errorf("seed %d: what was learned differs after restarts", seed)
		}
		again, err := f.Learner()
		if err != nil {
			t.Fatal(err)
		}
		if got := encode(t, again); !bytes.Equal(got, want) {
			t.Errorf("seed %d: what was read back differs", seed)
		}
		if err := f.Rebase("another", 3); err != nil {
			t.Fatal(err)
		}
		if again, err = f.Learner(); err != nil {
			t.Fatal(err)
		}
		if got := encode(t, again); !bytes.Equal(got, want) {
			t.Errorf("seed %d: a move to another stream has lost what was learned", seed)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func encode(t *testing.T, l *learn.Learner) []byte {
	t.Helper()
	b, err := l.Encode()
	if err != nil {
		t.Fatal(err)
	}
	y, err := l.Tally().Encode()
	if err != nil {
		t.Fatal(err)
	}
	return append(b, y...)
}

// A probe that has measured nothing (its site refuses the node, or has no root page) is known to have been made, also when the frontier is
// opened again, with what was learned written down before or not.
func TestProbeThatMeasuredNothing(t *testing.T) {
	for _, kept := range []bool{false, true} {
		fs := vfs.NewCrashableMem()
		f := open(t, fs)
		for i, e := range []*crawl.Entry{
			{Kind: crawl.EntryTerm, Epoch: 1},
			{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}},
			{Kind: crawl.EntryGrant, Epoch: 1, Leases: []crawl.Lease{{
				ID: 1, Job: 1, Task: 1, Site: "s.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Probe: "http://s.test/",
			}}},
			{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{{Lease: 1, Attempt: 1, Epoch: 1, Secret: "s", No: 1, Final: true, Reason: crawl.EndDone}}},
		} {
			if fx, err := f.Apply(uint64(i+1), int64(i+1), e); err != nil || len(fx.Ignored) > 0 {
				t.Fatal(err, fx.Ignored)
			}
		}
		if kept {
			l, err := f.Learner()
			if err == nil {
				err = f.KeepLearned(l)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
		f = open(t, fs)
		l, err := f.Learner()
		if err = errors.Join(err, f.Close()); err != nil {
			t.Fatal(err)
		}
		r := l.Record()
		if node, site := r.Node("n"), r.Site("s.test"); !r.WasTried(node, site, false) || r.WasTried(node, site, true) || r.Probed(node, site) {
			t.Errorf("kept %v: a probe that has ended is not known, or another one is", kept)
		}
	}
}
