package frontier

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"

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
	return b
}
