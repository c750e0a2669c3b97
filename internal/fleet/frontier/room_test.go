package frontier

import (
	"errors"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"

	"argosy/internal/crawl"
)

// A process that died has left a store whose log is to be written to tables. Where the disk is full, opening it fails, at once, or waits for room,
// as the caller likes; with room it holds what it held.
func TestFullDiskOpens(t *testing.T) {
	for _, waits := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			mem := vfs.NewCrashableMem()
			w := &walk{t: t, f: open(t, mem)}
			w.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
			w.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}})
			if err := w.f.Sync(); err != nil {
				t.Fatal(err)
			}
			left := mem.CrashClone(vfs.CrashCloneCfg{})
			if err := w.f.Close(); err != nil {
				t.Fatal(err)
			}
			var room atomic.Bool
			cfg := DefaultConfig("f")
			cfg.FS = errorfs.Wrap(left, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if op.Kind == errorfs.OpFileWrite && !room.Load() {
					return syscall.ENOSPC
				}
				return nil
			}))
			asked := 0
			cfg.Await = func() bool {
				asked++
				room.Store(waits && asked > 3)
				return waits
			}
			f, err := Open(cfg)
			if !waits {
				if !errors.Is(err, syscall.ENOSPC) || asked != 1 {
					t.Fatalf("after %d questions: %v", asked, err)
				}
				room.Store(true)
				time.Sleep(2 * roomEvery) // what was begun ends by itself
				f, err = Open(cfg)
			}
			if f == nil || err != nil || f.Job(1) == nil {
				t.Fatalf("with room: %v, %v", f, err)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Where the disk becomes full, whatever a store is about to write, who has opened it is told before Pebble is: that would panic while it
// holds locks, or try for ever. What was synced is there when there is room.
func TestFullDiskIsFatal(t *testing.T) {
	for _, kind := range []string{".log", ".sst", "MANIFEST"} {
		synctest.Test(t, func(t *testing.T) {
			mem := vfs.NewCrashableMem()
			var full atomic.Bool
			fatal, room := make(chan error, 1), make(chan struct{})
			cfg := DefaultConfig("f")
			cfg.FS = errorfs.Wrap(mem, errorfs.InjectorFunc(func(op errorfs.Op) error {
				if full.Load() && op.Kind.ReadOrWrite() == errorfs.OpIsWrite && strings.Contains(op.Path, kind) {
					return syscall.ENOSPC
				}
				return nil
			}))
			cfg.Fatal = func(err error) {
				fatal <- err
				<-room // a process would have ended
			}
			f, err := Open(cfg)
			if err != nil {
				t.Fatal(err)
			}
			w := &walk{t: t, f: f}
			w.apply(&crawl.Entry{Kind: crawl.EntryTerm, Epoch: 1})
			w.apply(&crawl.Entry{Kind: crawl.EntrySubmit, Epoch: 1, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits(), Identity: crawl.Identity{Scope: crawl.ScopeSite, Seeds: []string{"http://s.test/"}}}})
			if err := f.Sync(); err != nil {
				t.Fatal(err)
			}
			full.Store(true)
			flushed := make(chan error, 1)
			go func() { flushed <- f.db.Flush() }() // as when a table in memory is full: another log, a table, a manifest
			if err := <-fatal; !errors.Is(err, syscall.ENOSPC) {
				t.Errorf("%s: %v", kind, err)
			}
			left := DefaultConfig("f")
			left.FS = mem.CrashClone(vfs.CrashCloneCfg{})
			again, err := Open(left)
			if err != nil || again.Job(1) == nil {
				t.Fatalf("%s: with room: %v, %v", kind, again, err)
			}
			full.Store(false)
			close(room)
			if err := errors.Join(again.Close(), <-flushed, f.Close()); err != nil {
				t.Error(err)
			}
		})
	}
}
