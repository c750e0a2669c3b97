// Package outdir knows the directory that a crawl or a coordinator leaves: the names of what lies in it, its format, its lock,
// whose it is, and the index, which is written from the ledger.
package outdir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/fleet/ledger"
)

// Names of what lies in a directory.
const (
	WARCDir    = "warc"       // archives of a crawl in one process
	IndexFile  = "index.cdxj" // of such a crawl; JobIndex names that of a fleet's job
	LedgerFile = "argosy.db"
	StateDir   = "state" // what only argosy reads, and only its owner may

	lockFile  = "lock"
	fleetMark = "fleet"
)

// ErrInUse says that another process works in the directory, ErrShown that it only shows it.
var (
	ErrInUse = errors.New("in use by another argosy process")
	ErrShown = fmt.Errorf("%w: argosy view shows it; end that first", ErrInUse)
)

// ErrOtherJob says that the directory belongs to another job.
var ErrOtherJob = errors.New("belongs to another job")

// Mend adds to an error the command that mends what it says is damaged in a directory, if there is one.
func Mend(dir string, err error) error {
	what := ""
	switch {
	case errors.Is(err, frontier.ErrDamaged), errors.Is(err, frontier.ErrBehind):
		what = "frontier"
	case errors.Is(err, ledger.ErrDamaged), errors.Is(err, ledger.ErrBehind):
		what = "ledger"
	default:
		return err
	}
	how := "mends it"
	if LedgerElsewhere(dir) != "" && what == "ledger" {
		how = "--ledger URL --store PLACE (each store) mends it, into an empty database"
	} else if LedgerElsewhere(dir) != "" {
		how = "--ledger URL mends it"
	}
	return fmt.Errorf("%w; argosy rebuild %s %s %s", err, what, crawl.Arg(dir), how)
}

// errStateGone says that the view of a log is empty, though the ledger was made of one that was not.
var errStateGone = fmt.Errorf("what was known of its URLs is gone, though the ledger has some: %w", frontier.ErrBehind)

// Bereft returns why the view of a directory cannot be read that knows no job while the ledger does, with the command that makes it anew.
func Bereft(ctx context.Context, dir string, f *frontier.Frontier, l *ledger.Ledger) error {
	known := false
	f.Jobs(func(*frontier.Job) { known = true })
	if known {
		return nil
	}
	jobs, err := l.Jobs(ctx)
	if err == nil && len(jobs) > 0 {
		err = Mend(dir, fmt.Errorf("%s: %w", dir, errStateGone))
	}
	return err
}

// State returns the directory of what only argosy reads.
func State(dir string) string { return filepath.Join(dir, StateDir) }

// Frontier returns the directory of the view of the log.
func Frontier(dir string) string { return filepath.Join(dir, StateDir, "frontier") }

// Bus returns the directory of the embedded bus, with the log.
func Bus(dir string) string { return filepath.Join(dir, StateDir, "bus") }

// Lock takes a directory for this process, until the result is closed. The error is ErrInUse where another process has it, and
// ErrShown, which is one, where that only shows it.
func Lock(dir string) (io.Closer, error) {
	l, err := frontier.Lock(filepath.Join(dir, StateDir, lockFile))
	switch {
	case err == nil:
		return l, nil
	case NotOurs(err):
		return nil, err
	case rests(dir):
		return nil, fmt.Errorf("%s: %w", dir, ErrShown)
	}
	return nil, fmt.Errorf("%s: %w", dir, ErrInUse)
}

// Running reports whether a process works in a directory. One that only shows it does not, though it holds the lock. Where this user may not
// have the lock, nobody can say, and what is asked for next fails for that.
func Running(dir string) bool {
	l, err := frontier.Lock(filepath.Join(dir, StateDir, lockFile))
	switch {
	case err == nil:
		_ = l.Close()
		return false
	case NotOurs(err), errors.Is(err, fs.ErrNotExist): // or its state is gone
		return false
	}
	return !rests(dir)
}

// NotOurs reports whether an error says that this user may not write somewhere, or nobody may.
func NotOurs(err error) bool {
	return errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// KeysFile is where a coordinator with a bus of its own keeps that bus's keys, in the directory of its state.
const KeysFile = "keys.json"

// AccessFile is where a coordinator keeps a copy of its records of access, which are on the bus, in the directory of its state.
const AccessFile = "access"

// SessionsFile is where sessions of browsers are kept, in the directory of the state.
const SessionsFile = "sessions.json"

// Fleet reports whether a directory is a coordinator's: by its mark, or by what no crawl in one process makes, where the mark is gone.
func Fleet(dir string) bool {
	for _, name := range []string{filepath.Join(StateDir, fleetMark), filepath.Join(StateDir, KeysFile), jobsDir} {
		if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
			return true
		}
	}
	return false
}

const (
	markText   = "the directory of a coordinator\n"
	markLedger = "ledger "
)

// Claim makes a directory a coordinator's, unless it is that of a crawl in one process, which must not take it for its own. It notes where the
// ledger is if that is elsewhere: a database's URL, of which the password is left out.
func Claim(dir, elsewhere string) error {
	mark, text := filepath.Join(dir, StateDir, fleetMark), markText
	if elsewhere != "" {
		text += markLedger + ledger.WithoutPassword(elsewhere) + "\n"
	}
	was, err := os.ReadFile(mark)
	if err == nil && string(was) == text {
		return nil
	}
	if _, there := os.Stat(Frontier(dir)); err != nil && there == nil && !Fleet(dir) {
		return fmt.Errorf("%s: %w: it is that of argosy crawl; use another -o", dir, ErrOtherJob)
	}
	return os.WriteFile(mark, []byte(text), 0o600)
}

// LedgerElsewhere returns the URL of the database that is the ledger of a coordinator's directory, without its password; empty: it is in the
// directory.
func LedgerElsewhere(dir string) string {
	b, err := os.ReadFile(filepath.Join(dir, StateDir, fleetMark))
	if err != nil {
		return ""
	}
	_, place, _ := strings.Cut(string(b), "\n"+markLedger)
	return strings.TrimSpace(place)
}

// jobsDir is where a coordinator keeps what belongs to one job.
const jobsDir = "jobs"

// JobIndex is the index of a job of a fleet, in the coordinator's directory.
func JobIndex(dir string, job uint32) string {
	return filepath.Join(dir, jobsDir, fmt.Sprint(job), IndexFile)
}
