package frontier

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/google/go-cmp/cmp"

	"argosy/internal/crawl"
	"argosy/internal/testkit/seeds"
)

// listed is a job whose n seeds follow it, and the entries that bring them, at most three in one.
func listed(scope crawl.Scope, seeds []string) (job *crawl.Job, chunks []crawl.SeedChunk) {
	var d crawl.SeedDigest
	for i, s := range seeds {
		d.Add(s, i%5 == 1)
		if i%3 == 0 {
			chunks = append(chunks, crawl.SeedChunk{Job: 1, From: int64(i)})
		}
		last, size := &chunks[len(chunks)-1], 0
		last.Add(s, i%5 == 1, &size)
	}
	list := d.List()
	return &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: scope, List: &list}}, chunks
}

// urls returns what the frontier holds, with its flags.
func urls(t *testing.T, f *Frontier) map[string]uint8 {
	t.Helper()
	out, look := map[string]uint8{}, &finder{db: f.db}
	err := f.each(jobURLs(1), func(key, v []byte) error {
		k, _ := ofURLKey(key)
		r, err := f.load1(look, k)
		if err == nil {
			out[r.URL] = r.Flags
		}
		return err
	})
	if err = errors.Join(err, look.close()); err != nil {
		t.Fatal(err)
	}
	return out
}

// A list of seeds that comes in pieces, some twice, some too early, with restarts in between, is as if it had stood in the job:
// the same URLs, and the same scope.
func TestSeedsInPieces(t *testing.T) {
	for seed := range seeds.Of(6, 100) {
		rnd := rand.New(rand.NewPCG(seed, 1))
		var seeds []string
		for i := range 40 {
			seeds = append(seeds, fmt.Sprintf("http://s%d.test/%d/x", rnd.IntN(9), i))
		}
		scope := []crawl.Scope{crawl.ScopeSite, crawl.ScopeHost, crawl.ScopeDomain, crawl.ScopePrefix, crawl.ScopeAny}[seed%5]
		job, chunks := listed(scope, seeds)
		fs := vfs.NewMem()
		f := open(t, fs)
		seq := uint64(0)
		apply := func(e crawl.Entry) {
			t.Helper()
			seq++
			if _, err := f.Apply(seq, int64(seq), &e); err != nil {
				t.Fatal(err)
			}
		}
		apply(crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
		apply(crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job})
		for next := 0; next < len(chunks); {
			i := min(max(0, next-2+rnd.IntN(4)), len(chunks)-1)
			was := f.Job(1).Sown
			apply(crawl.Entry{Kind: crawl.EntrySeeds, Epoch: 1, Seeds: &chunks[i]})
			if i == next {
				next++
			} else if f.Job(1).Sown != was {
				t.Fatalf("piece %d is taken instead of %d", i, next)
			}
			if sowing := next < len(chunks); f.Job(1).Sowing() != sowing {
				t.Fatalf("after %d of %d pieces: sowing is %v", next, len(chunks), !sowing)
			}
			if rnd.IntN(4) == 0 {
				if err := f.Close(); err != nil {
					t.Fatal(err)
				}
				f = open(t, fs)
			}
		}
		inline := *job
		inline.Identity.List, inline.Identity.Seeds = nil, seeds
		for i := range seeds {
			inline.Identity.NoScheme = append(inline.Identity.NoScheme, i%5 == 1)
		}
		g := open(t, vfs.NewMem())
		for i, e := range []crawl.Entry{{Kind: crawl.EntryTerm, Epoch: 1}, {Kind: crawl.EntrySubmit, Epoch: 1, Job: &inline}} {
			if _, err := g.Apply(uint64(i+1), 1, &e); err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(urls(t, g), urls(t, f)); d != "" {
			t.Error(d)
		}
		for i := range 60 {
			u, err := crawl.Parse(fmt.Sprintf("http://%ss%d.test/%d/y", []string{"", "www."}[i%2], i%12, i))
			if err != nil {
				t.Fatal(err)
			}
			if in := f.Job(1).rules.InScope(u); in != g.Job(1).rules.InScope(u) {
				t.Errorf("scope %s: %s is in scope: %v", scope, u, in)
			}
		}
		check(t, f)
		_, _ = f.Close(), g.Close()
	}
}

// Seeds that stand in a job are there after a restart, and what is written when the job changes does not hold them.
func TestSeedsAreWrittenOnce(t *testing.T) {
	w := newWalk(t, -1)
	want := slices.Clone(w.f.Job(1).Identity.Seeds)
	w.limit(func(l *crawl.Limits) { l.MaxPages = 7 })
	var kept Job
	if err := w.f.get(jobKey(1), &kept); err != nil || len(kept.Identity.Seeds) > 0 || kept.Limits.MaxPages != 7 {
		t.Errorf("%v: %+v", err, kept)
	}
	again := &Job{Job: crawl.Job{ID: 1, Identity: crawl.Identity{Scope: crawl.ScopeSite}, Limits: crawl.DefaultLimits()}}
	if err := w.f.loadSeeds(again); err != nil || !slices.Equal(again.Identity.Seeds, want) || len(want) == 0 {
		t.Errorf("%v: %q, want %q", err, again.Identity.Seeds, want)
	}
	if got := slices.Collect(maps.Keys(urls(t, w.f))); len(got) != len(want) {
		t.Errorf("%q", got)
	}
}
