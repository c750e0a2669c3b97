package assemble_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/assemble"
	"argosy/internal/fleet/mend"
	"argosy/internal/fleet/outdir"
	"argosy/internal/fleet/verify"
	"argosy/internal/testkit/fleettest"
	"argosy/internal/testkit/seeds"
)

// hurtDir is the directory of a crawl that was stopped in the middle, with a copy of what it was earlier.
type hurtDir struct {
	t    *testing.T
	dir  string
	port string
	rng  *rand.Rand
	kept string
}

func (h *hurtDir) fail(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatal(err)
	}
}

// files returns the files below a part of the directory whose names end so, the largest first.
func (h *hurtDir) files(part, ext string) (out []string) {
	size := map[string]int64{}
	h.fail(filepath.WalkDir(filepath.Join(h.dir, part), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() && strings.HasSuffix(path, ext) {
			info, err := d.Info()
			if err != nil {
				return err
			}
			size[path] = info.Size()
			out = append(out, path)
		}
		return err
	}))
	if len(out) == 0 {
		h.t.Fatalf("no file %s below %s", ext, part)
	}
	slices.SortFunc(out, func(a, b string) int { return int(size[b] - size[a]) })
	return out
}

// cut takes bytes from the end of a file.
func (h *hurtDir) cut(path string, n int64) {
	info, err := os.Stat(path)
	h.fail(err)
	h.fail(os.Truncate(path, max(0, info.Size()-n)))
}

// flip changes a byte of a file, in its middle. It is none of a gzip member's header: time, flags and system there mean nothing to a reader
// (RFC 1952, 2.3.1).
func (h *hurtDir) flip(path string) {
	b, err := os.ReadFile(path)
	h.fail(err)
	at := len(b)/3 + h.rng.IntN(len(b)/3)
	if head := bytes.LastIndex(b[:at+1], []byte{0x1f, 0x8b, 8}); head >= 0 && at-head < 10 {
		at = head + 10
	}
	b[at] ^= 0xff
	h.fail(os.WriteFile(path, b, 0o600))
}

// zero makes a block of a file zero, the i-th of k that are spread over it: what some disks give for one that they cannot read.
func (h *hurtDir) zero(path string, n, i, k int) {
	b, err := os.ReadFile(path)
	h.fail(err)
	at := (len(b)/n*i/k + 1) * n
	clear(b[at : at+n])
	h.fail(os.WriteFile(path, b, 0o600))
}

// older puts parts back as they were when the copy was made.
func (h *hurtDir) older(parts ...string) {
	for _, part := range parts {
		to := filepath.Join(h.dir, part)
		for _, more := range []string{"", "-wal", "-shm"} {
			h.fail(os.RemoveAll(to + more))
		}
		from := filepath.Join(h.kept, part)
		info, err := os.Stat(from)
		h.fail(err)
		if info.IsDir() {
			h.fail(os.CopyFS(to, os.DirFS(from)))
			continue
		}
		b, err := os.ReadFile(from)
		h.fail(err)
		h.fail(os.WriteFile(to, b, 0o600))
	}
}

// trim has the log forget all that was applied.
func (h *hurtDir) trim() { forget(h.t, h.dir) }

// heal crawls until the job is done, with the commands that refusals name, and a retry of what verify says is lost. It returns the
// commands.
func (h *hurtDir) heal() (commands []string) {
	for range 6 {
		sum, err := runOnce(h.t.Context(), h.dir, h.port, 0, 2)
		if err != nil {
			commands = append(commands, h.rebuild(err.Error()))
			continue
		}
		r, err := verify.Dir(h.t.Context(), h.dir)
		h.fail(err)
		if sum.State == crawl.JobDone && r.OK && r.Lost == 0 {
			return commands
		}
		if r.Lost > 0 {
			commands = append(commands, "retry --lost")
			retry(h.t, h.dir, r.Again(1))
			continue
		}
		if !r.OK {
			commands = append(commands, h.rebuild(r.Details[0]))
		}
	}
	h.t.Fatal("it does not heal")
	return nil
}

// rebuild does what a refusal, or a finding of verify's, names, and returns it.
func (h *hurtDir) rebuild(said string) string {
	_, after, ok := strings.Cut(said, "argosy rebuild ")
	what, _, _ := strings.Cut(after, " ")
	of := map[string]func(context.Context, string) (mend.Result, error){
		"frontier": func(ctx context.Context, dir string) (mend.Result, error) { return mend.Frontier(ctx, dir, "") },
		"ledger":   func(ctx context.Context, dir string) (mend.Result, error) { return mend.Ledger(ctx, dir, "", nil) },
	}[what]
	if !ok || of == nil || strings.Contains(said, "\n") {
		h.t.Fatalf("no command is named in a line: %s", said)
	}
	if _, err := of(h.t.Context(), h.dir); err != nil {
		h.t.Fatalf("rebuild %s: %v", what, err)
	}
	return "rebuild " + what
}

// Whatever is damaged, cut, deleted or older than the rest: the crawl ends with what it would have ended with, or it refuses to start
// and names the command after which it does. verify is never clean before.
func TestLongDamageHeals(t *testing.T) {
	t.Parallel()
	const frontier, ledger, log = "state/frontier", outdir.LedgerFile, "state/bus"
	_, port := serveWeb(t, 14, of(7, 12))
	whole := filepath.Join(t.TempDir(), "c")
	kept, backup := whole+".kept", whole+".backup"
	cfg := fleettest.Crawl(whole, port, 0, 2)
	cfg.Job.Limits.MaxPages = int64(of(12, 20))
	runConfig(t, cfg)
	if err := errors.Join(os.CopyFS(kept, os.DirFS(whole)), mend.Backup(t.Context(), whole, backup)); err != nil {
		t.Fatal(err)
	}
	cfg.Job.Limits.MaxPages = int64(of(27, 45))
	runConfig(t, cfg)
	truth := fleettest.Search(t, cfg.Job.Identity.Seeds, port)
	remove := func(h *hurtDir, parts ...string) {
		for _, part := range parts {
			h.fail(os.RemoveAll(filepath.Join(h.dir, part)))
		}
	}
	cases := map[string]struct {
		hurt func(h *hurtDir)
		want string // the commands
	}{
		"nothing":                       {func(*hurtDir) {}, ""},
		"log cut by 4 KB":               {func(h *hurtDir) { h.cut(h.files(log, ".blk")[0], 4<<10) }, ""},
		"log cut by 64 KB":              {func(h *hurtDir) { h.cut(h.files(log, ".blk")[0], 64<<10) }, ""},
		"a byte of the log":             {func(h *hurtDir) { h.flip(h.files(log, ".blk")[0]) }, ""},
		"no log":                        {func(h *hurtDir) { remove(h, log) }, ""},
		"ledger behind, log cut":        {func(h *hurtDir) { h.older(ledger, log) }, ""},
		"frontier behind, log cut":      {func(h *hurtDir) { h.older(frontier, log) }, ""},
		"both behind, no log":           {func(h *hurtDir) { h.older(frontier, ledger); remove(h, log) }, ""},
		"log behind":                    {func(h *hurtDir) { h.older(log) }, ""},
		"ledger behind, log cut 4 KB":   {func(h *hurtDir) { h.older(ledger); h.cut(h.files(log, ".blk")[0], 4<<10) }, ""},
		"frontier deleted":              {func(h *hurtDir) { remove(h, frontier) }, ""},
		"ledger deleted":                {func(h *hurtDir) { remove(h, ledger) }, ""},
		"ledger and log deleted":        {func(h *hurtDir) { remove(h, ledger, log) }, "rebuild ledger"},
		"frontier deleted, log trimmed": {func(h *hurtDir) { h.trim(); remove(h, frontier) }, "rebuild frontier"},
		"ledger deleted, log trimmed":   {func(h *hurtDir) { h.trim(); remove(h, ledger) }, "rebuild ledger"},
		"frontier older, log trimmed":   {func(h *hurtDir) { h.trim(); h.older(frontier) }, "rebuild frontier"},
		"ledger older, log trimmed":     {func(h *hurtDir) { h.trim(); h.older(ledger) }, "rebuild ledger"},
		"a byte of the ledger's header": {func(h *hurtDir) {
			b, err := os.ReadFile(filepath.Join(h.dir, ledger))
			h.fail(err)
			b[3] ^= 0xff
			h.fail(os.WriteFile(filepath.Join(h.dir, ledger), b, 0o600))
		}, "rebuild ledger"},
		"a byte of the frontier's manifest": {func(h *hurtDir) {
			for _, f := range h.files(frontier, "") {
				if strings.HasPrefix(filepath.Base(f), "MANIFEST") {
					h.flip(f)
				}
			}
		}, "rebuild frontier"},
		"a byte of the frontier's data": {func(h *hurtDir) {
			for _, f := range h.files(frontier, ".sst") {
				h.flip(f)
			}
		}, "rebuild frontier"},
		"a byte of an archive": {func(h *hurtDir) { h.flip(h.files(outdir.WARCDir, "")[0]) }, "retry --lost"},
		"archives deleted":     {func(h *hurtDir) { remove(h, outdir.WARCDir) }, "retry --lost"},
		"state deleted":        {func(h *hurtDir) { remove(h, "state") }, ""},
		"an older backup": {func(h *hurtDir) {
			remove(h, "state", ledger)
			h.fail(mend.Restore(h.t.Context(), h.kept, h.dir))
		}, ""},
	}
	for i := range int(seeds.Of(2, 6)) { // which page it is decides whether the database notices at once, later, or whether it is of no use any more
		c := cases["nothing"]
		c.hurt = func(h *hurtDir) { h.zero(filepath.Join(h.dir, ledger), 4096, 5*i%6, 6) }
		c.want = "any"
		cases[fmt.Sprintf("a page of the ledger, %d", i)] = c
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			h := &hurtDir{t: t, dir: filepath.Join(t.TempDir(), "c"), port: port, rng: rand.New(rand.NewPCG(14, 0)), kept: kept}
			if strings.Contains(name, "backup") {
				h.kept = backup
			}
			h.fail(os.CopyFS(h.dir, os.DirFS(whole)))
			c.hurt(h)
			got := slices.Compact(h.heal())
			if strings.Join(got, ", ") != c.want && (c.want != "" || name != "a byte of the log") && c.want != "any" {
				t.Errorf("commands %q, want %q", got, c.want)
			}
			truth.Compare(t, h.dir) // it was verified when it had healed
		})
	}
}

// A ledger that was made anew names every record that the old one named, and the stores in which they are.
func TestRebuiltLedgerIsWhole(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 16, 10)
	dir := filepath.Join(t.TempDir(), "c")
	runConfig(t, fleettest.Crawl(dir, port, 0, 2))
	was, err := verify.Dir(t.Context(), dir)
	if err != nil || !was.OK || was.Beside == 0 {
		t.Fatalf("%+v, %v", was, err)
	}
	store := dir + ".store"
	if err := errors.Join(os.Rename(filepath.Join(dir, outdir.WARCDir), store), os.Remove(filepath.Join(dir, outdir.LedgerFile))); err != nil {
		t.Fatal(err)
	}
	made, err := mend.Ledger(t.Context(), dir, "", []string{store})
	if err != nil || made.Again > 0 {
		t.Fatalf("%+v, %v", made, err)
	}
	is, err := verify.Dir(t.Context(), dir) // no store is named
	if err != nil || !is.OK || is.Pages != was.Pages || is.Beside != was.Beside {
		t.Errorf("%+v, %v; it was %+v", is, err, was)
	}
}

// A copy is made beside the process that works in the directory, and what follows on it ends with the same set.
func TestBackupOfARunningCrawl(t *testing.T) {
	t.Parallel()
	_, port := serveWeb(t, 15, 60)
	dir := filepath.Join(t.TempDir(), "c")
	copied := make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	cfg := fleettest.Crawl(dir, port, 0, 2)
	cfg.Begun = func() error {
		go func() {
			copied <- mend.Backup(t.Context(), dir, dir+".copy")
			stop()
		}()
		return nil
	}
	cr := errors.Join(func() error {
		c, err := assemble.Open(t.Context(), cfg)
		if err != nil {
			return err
		}
		_, err = c.Run(ctx, nil)
		return errors.Join(err, c.Close())
	}(), <-copied)
	if cr != nil {
		t.Fatal(cr)
	}
	if err := mend.Backup(t.Context(), dir, dir+".copy"); !errors.Is(err, os.ErrExist) {
		t.Errorf("over another copy: %v", err)
	}
	if err := mend.Restore(t.Context(), dir+".copy", dir); err != nil {
		t.Fatal(err)
	}
	h := &hurtDir{t: t, dir: dir, port: port}
	if got := h.heal(); len(got) > 0 {
		t.Errorf("it needed %q", got)
	}
	fleettest.Judge(t, dir, port)
}
