package mend

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
	"argosy/internal/fleet/outdir"
)

// notCopied are names in a directory's state that a copy does not have: what belongs to a process, what is old, who looks, and the log. What
// follows on a copy of the view is had again, so that the log is not needed.
func notCopied(name string) bool {
	switch name {
	case "lock", "control.sock", "frontier", "bus", "checkpoint", outdir.SessionsFile:
		return true
	}
	return filepath.Ext(name) == ".old" || filepath.Ext(name) == ".sock"
}

// Backup copies what a directory cannot do without into another one that is not there yet, also while a process works there: the view,
// the ledger, keys and tokens. Archives are not copied, nor is a ledger in PostgreSQL.
func Backup(ctx context.Context, dir, to string) (err error) {
	if err := outdir.CheckFormat(dir); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(dir, outdir.FormatFile)); err != nil {
		return fmt.Errorf("%s: not the directory of a crawl or a coordinator: %w", dir, err)
	}
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%s: %w: a copy goes into a new directory", to, os.ErrExist)
	}
	if inside, err := within(to, dir); err != nil || inside {
		return errors.Join(err, fmt.Errorf("%s: %w: it lies in %s, and a copy goes into a directory beside that", to, os.ErrInvalid, dir))
	}
	if err := os.MkdirAll(outdir.State(to), 0o700); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.RemoveAll(to)) // half a copy is none
		}
	}()
	if err := copyView(ctx, dir, to); err != nil {
		return err
	}
	path := filepath.Join(dir, outdir.LedgerFile)
	if _, err := os.Stat(path); err == nil { // else it is in PostgreSQL
		if err := ledger.Copy(ctx, path, filepath.Join(to, outdir.LedgerFile)); err != nil {
			return outdir.Mend(dir, err)
		}
	}
	if err := copyState(outdir.State(dir), outdir.State(to)); err != nil {
		return err
	}
	return copyFile(filepath.Join(dir, outdir.FormatFile), filepath.Join(to, outdir.FormatFile))
}

// within reports whether a path, of which the end may not be there yet, lies in a directory, whatever links lead there.
func within(path, dir string) (bool, error) {
	at, err := os.Stat(dir)
	if err != nil {
		return false, err
	}
	for path, err = filepath.Abs(path); err == nil; path = filepath.Dir(path) {
		if real, err := filepath.EvalSymlinks(path); err == nil { // what is above it is real, too
			path = real
		}
		if info, err := os.Stat(path); err == nil && os.SameFile(info, at) {
			return true, nil
		}
		if filepath.Dir(path) == path {
			return false, nil
		}
	}
	return false, err
}

// copyView copies the frontier: by itself, or by the process that has it.
func copyView(ctx context.Context, dir, to string) error {
	at, err := filepath.Abs(outdir.Frontier(to))
	if err != nil {
		return err
	}
	if _, err := os.Stat(outdir.Frontier(dir)); err != nil {
		return err
	}
	lock, err := outdir.Lock(dir)
	if errors.Is(err, outdir.ErrInUse) {
		if err := outdir.Ask(ctx, dir, outdir.Checkpoint+at); err != nil {
			return fmt.Errorf("%s: the process that works there: %w", dir, err)
		}
		return nil
	}
	if err != nil {
		return err
	}
	f, err := frontier.Open(frontier.DefaultConfig(outdir.Frontier(dir)))
	if err != nil {
		return errors.Join(outdir.Mend(dir, err), lock.Close())
	}
	return errors.Join(f.Checkpoint(at), f.Close(), lock.Close())
}

// copyState copies the small files of a state.
func copyState(from, to string) error {
	return filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || path == from {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		switch {
		case filepath.Dir(name) == "." && notCopied(name):
			if d.IsDir() {
				return filepath.SkipDir
			}
			return nil
		case d.IsDir():
			return os.MkdirAll(filepath.Join(to, name), 0o700)
		case !d.Type().IsRegular():
			return nil
		}
		return copyFile(path, filepath.Join(to, name))
	})
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()
	info, err := in.Stat()
	if err != nil {
		return err
	}
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, info.Mode().Perm())
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}

// Restore puts a copy that Backup has made into a directory, in the place of what is there: that is kept beside, with ".old" behind its
// name. Archives in the directory stay. A copy that is not whole is refused, and nothing changes.
func Restore(ctx context.Context, from, dir string) error {
	if err := outdir.CheckFormat(from); err != nil {
		return err
	}
	for _, path := range []string{filepath.Join(from, outdir.FormatFile), outdir.Frontier(from)} {
		if _, err := os.Stat(path); err != nil {
			return fmt.Errorf("%s: not a copy that argosy backup has made: %w", from, err)
		}
	}
	if a, err := os.Stat(from); err != nil {
		return err
	} else if b, err := os.Stat(dir); err == nil && os.SameFile(a, b) {
		return fmt.Errorf("%s: it is the directory itself, not a copy of it", from)
	}
	if err := os.MkdirAll(outdir.State(dir), 0o700); err != nil {
		return err
	}
	lock, err := outdir.Lock(dir)
	if err != nil {
		return err
	}
	err = func() error {
		view, book := staged(outdir.Frontier(dir)), staged(filepath.Join(dir, outdir.LedgerFile))
		if err := stage(ctx, from, view, book); err != nil {
			return errors.Join(err, os.RemoveAll(view), os.RemoveAll(book))
		}
		names := []string{outdir.FormatFile}
		for _, more := range sqliteFiles {
			names = append(names, outdir.LedgerFile+more)
		}
		for _, name := range []string{"frontier", "bus"} {
			names = append(names, filepath.Join(outdir.StateDir, name))
		}
		for _, name := range names {
			if err := away(filepath.Join(dir, name)); err != nil {
				return err
			}
		}
		state, err := os.ReadDir(outdir.State(from))
		if err != nil {
			return err
		}
		for _, e := range state { // what the copy has as well
			if !notCopied(e.Name()) {
				if err := away(filepath.Join(outdir.State(dir), e.Name())); err != nil {
					return err
				}
			}
		}
		if err := copyState(outdir.State(from), outdir.State(dir)); err != nil {
			return err
		}
		if err := os.Rename(view, outdir.Frontier(dir)); err != nil {
			return err
		}
		if err := os.Rename(book, filepath.Join(dir, outdir.LedgerFile)); err != nil && !errors.Is(err, os.ErrNotExist) { // it is in PostgreSQL
			return err
		}
		return copyFile(filepath.Join(from, outdir.FormatFile), filepath.Join(dir, outdir.FormatFile))
	}()
	return errors.Join(err, lock.Close())
}

// staged is where something is put until it is known to be whole.
func staged(path string) string { return path + ".new" }

// stage copies the frontier and the ledger of a copy, and looks whether they are whole.
func stage(ctx context.Context, from, view, book string) error {
	if err := errors.Join(os.RemoveAll(view), os.RemoveAll(book), os.MkdirAll(view, 0o700)); err != nil {
		return err
	}
	if err := copyState(outdir.Frontier(from), view); err != nil {
		return err
	}
	c := frontier.DefaultConfig(view)
	c.ReadOnly = true
	f, err := frontier.Open(c)
	if err != nil {
		return fmt.Errorf("%s: not a whole copy: %w", from, err)
	}
	if err := f.Close(); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(from, outdir.LedgerFile)); err != nil {
		return nil // it is in PostgreSQL
	}
	if err := copyFile(filepath.Join(from, outdir.LedgerFile), book); err != nil {
		return err
	}
	l, err := ledger.Open(ctx, book)
	if err != nil {
		return fmt.Errorf("%s: not a whole copy: %w", from, err)
	}
	flaws, err := l.Flaws(ctx)
	if len(flaws) > 0 {
		err = fmt.Errorf("%s: not a whole copy: %w: %s", from, ledger.ErrDamaged, flaws[0])
	}
	return errors.Join(err, l.Close())
}
