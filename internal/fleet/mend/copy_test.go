package mend

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// A copy that cannot be restored is refused with the reason, and the directory stays what it was: one copy may be all that there is.
func TestRestoreOfWhatIsNoCopy(t *testing.T) {
	for name, hurt := range map[string]func(t *testing.T, from, dir string) (restore string){
		"the directory itself": func(_ *testing.T, _, dir string) string { return dir + "/." },
		"a ledger that is cut": func(t *testing.T, from, _ string) string {
			if err := os.Truncate(filepath.Join(from, outdir.LedgerFile), 5000); err != nil {
				t.Fatal(err)
			}
			return from
		},
		"a frontier without a file": func(t *testing.T, from, _ string) string {
			found, err := filepath.Glob(filepath.Join(outdir.Frontier(from), "MANIFEST*"))
			if err != nil || len(found) == 0 {
				t.Fatal(found, err)
			}
			for _, path := range found {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
			return from
		},
	} {
		dir, from := t.TempDir(), filepath.Join(t.TempDir(), "copy")
		fill(t, dir)
		if err := Backup(t.Context(), dir, from); err != nil {
			t.Fatal(err)
		}
		what := hurt(t, from, dir)
		was := namesIn(t, dir)
		if err := Restore(t.Context(), what, dir); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", name, err)
		}
		if is := namesIn(t, dir); is != was {
			t.Errorf("%s: of\n%s\nthere is now\n%s", name, was, is)
		}
	}
}

// A whole copy is restored, from a directory and into one of another name as well.
func TestRestore(t *testing.T) {
	dir, to, from := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "copy")
	fill(t, dir)
	if err := errors.Join(Backup(t.Context(), dir, from), Restore(t.Context(), from, dir), Restore(t.Context(), from, to)); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, to} {
		l, err := ledger.Open(t.Context(), filepath.Join(d, outdir.LedgerFile))
		if err != nil {
			t.Fatal(err)
		}
		if jobs, err := l.Jobs(t.Context()); err != nil || len(jobs) != 1 {
			t.Errorf("jobs %v, %v", jobs, err)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A copy does not go into what it is of: it would be copied with it the next time, and be gone with it.
func TestCopyIntoItself(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "dir")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	fill(t, dir)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(outdir.State(dir), link); err != nil {
		t.Fatal(err)
	}
	before := namesIn(t, dir)
	for _, to := range []string{filepath.Join(dir, "x"), filepath.Join(dir, "..", "dir", "a", "b"), filepath.Join(outdir.State(dir), "x"), filepath.Join(link, "x")} {
		if err := Backup(t.Context(), dir, to); !errors.Is(err, os.ErrInvalid) {
			t.Errorf("%s: %v", to, err)
		}
	}
	if after := namesIn(t, dir); after != before {
		t.Errorf("there is %s, there was %s", after, before)
	}
	if err := Backup(t.Context(), dir, filepath.Join(filepath.Dir(dir), "dir-copy")); err != nil {
		t.Error(err)
	}
}

// fill makes a directory with a job in frontier and ledger.
func fill(t *testing.T, dir string) {
	t.Helper()
	if err := errors.Join(os.Mkdir(outdir.State(dir), 0o700), outdir.OpenFormat(dir, outdir.Version)); err != nil {
		t.Fatal(err)
	}
	f, err := frontier.Open(frontier.DefaultConfig(outdir.Frontier(dir)))
	if err != nil {
		t.Fatal(err)
	}
	l, err := ledger.Open(t.Context(), filepath.Join(dir, outdir.LedgerFile))
	if err != nil {
		t.Fatal(err)
	}
	job := &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}
	e := &crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: job}
	if err := errors.Join(f.Rebase("log", 0), l.Rebase(t.Context(), "log", 0)); err != nil {
		t.Fatal(err)
	}
	_, applied := f.Apply(1, 1000, e)
	if err := errors.Join(applied, l.Apply(t.Context(), []ledger.Applied{{Seq: 1, At: 1000, Entry: e}}), f.Sync(), f.Close(), l.Close()); err != nil {
		t.Fatal(err)
	}
}

// namesIn lists all files below a directory.
func namesIn(t *testing.T, dir string) string {
	t.Helper()
	var names []string
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if !strings.HasSuffix(path, "-wal") && !strings.HasSuffix(path, "-shm") && !strings.HasSuffix(path, "lock") { // whoever looks makes those
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, "\n")
}
