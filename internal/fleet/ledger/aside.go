package ledger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgconn"
	driver "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"argosy/internal/crawl"
)

// inEntry reports whether a database refuses a statement for the values in it, so that trying again cannot help: by the result
// codes of SQLite, and PostgreSQL's SQLSTATE classes 22 (data), 23 (constraints) and 54 (limits of the program).
func (l *Ledger) inEntry(err error) bool {
	var lite *driver.Error
	if errors.As(err, &lite) {
		return slices.Contains([]int{sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_TOOBIG, sqlite3.SQLITE_MISMATCH, sqlite3.SQLITE_RANGE}, lite.Code()&0xff)
	}
	var said *pgconn.PgError
	return errors.As(err, &said) && len(said.Code) == 5 && slices.Contains([]string{"22", "23", "54"}, said.Code[:2])
}

// ErrDamaged says that what lies on the disk is not what was written.
var ErrDamaged = errors.New("the ledger is damaged")

// ErrBehind says that the ledger lacks entries which the log no longer has: it was deleted, or restored from a copy that is too old.
var ErrBehind = errors.New("the ledger lacks what the log has forgotten")

// ErrReadOnly says that this user may not write where the ledger lies. Who only reads it must, too: SQLite keeps files beside a database.
var ErrReadOnly = errors.New("this user may not write there, which reading it takes as well: argosy works on a copy of the directory")

// isReadOnly reports whether SQLite says that it may not write.
func isReadOnly(err error) bool {
	var lite *driver.Error
	return errors.As(err, &lite) && (lite.Code()&0xff == sqlite3.SQLITE_READONLY || lite.Code()&0xff == sqlite3.SQLITE_PERM)
}

// isFull reports whether SQLite says that a disk has no room left, be it only for the index of its log, which it makes whoever reads.
func isFull(err error) bool {
	var lite *driver.Error
	return errors.As(err, &lite) && (lite.Code()&0xff == sqlite3.SQLITE_FULL || lite.Code() == sqlite3.SQLITE_IOERR_SHMSIZE)
}

// isDamaged reports whether SQLite says that a file is not a database, or not a whole one.
func isDamaged(err error) bool {
	var lite *driver.Error
	return errors.As(err, &lite) && (lite.Code()&0xff == sqlite3.SQLITE_CORRUPT || lite.Code()&0xff == sqlite3.SQLITE_NOTADB)
}

// broken reports whether SQLite, asked to look at the whole file, finds that it is damaged.
func (l *Ledger) broken(ctx context.Context) bool {
	if l.kind == postgres {
		return false
	}
	var said string
	err := l.db.QueryRowContext(ctx, `PRAGMA quick_check(1)`).Scan(&said)
	return isDamaged(err) || err == nil && said != "ok"
}

// maxFlaws bounds how many flaws of a file are told: one is enough for it to be made anew.
const maxFlaws = 3

// Flaws looks at the whole file of a ledger in SQLite, and at whether its indexes have what its tables have, and says what is wrong. Of one in
// PostgreSQL it says nothing: that server looks after its own files.
func (l *Ledger) Flaws(ctx context.Context) (flaws []string, err error) {
	if l.kind == postgres {
		return nil, nil
	}
	rows, err := l.db.QueryContext(ctx, fmt.Sprintf(`PRAGMA integrity_check(%d)`, maxFlaws))
	if err == nil {
		defer rows.Close()
		for rows.Next() {
			var said string
			if err := rows.Scan(&said); err != nil {
				return nil, err
			}
			if said != "ok" {
				flaws = append(flaws, strings.ReplaceAll(said, "\n", " "))
			}
		}
		err = rows.Err()
	}
	if isDamaged(err) {
		return append(flaws, err.Error()), nil
	}
	return flaws, err
}

// maxWhy bounds what is kept of a database's words, in bytes.
const maxWhy = 500

// setAside notes that an entry of a node cannot be applied, and what it said that was to be believed. Its parts count as
// applied, as they do in the frontier: what follows on them is believed or not by both alike.
func (w *writer) setAside(a *Applied, why error) error {
	said := crawl.Aside{Seq: a.Seq, Node: a.Entry.Node, Why: strings.ToValidUTF8(why.Error()[:min(len(why.Error()), maxWhy)], "\uFFFD")}
	pages := 0
	for i := range a.Entry.Parts {
		p := &a.Entry.Parts[i]
		of, err := w.believes(a.Entry, p)
		if err != nil {
			return err
		}
		if of == nil {
			continue
		}
		of.took(p, 0)
		part := crawl.AsidePart{Lease: p.Lease, Job: of.job}
		for j := range p.Outcomes {
			if o := &p.Outcomes[j]; o.State.Final() {
				part.Pages = append(part.Pages, crawl.Page{Layer: o.Layer(), Key: o.Key})
			}
		}
		pages += len(part.Pages)
		said.Parts = append(said.Parts, part)
	}
	b, err := crawl.Marshal(&said)
	if err != nil {
		return err
	}
	return w.exec(`INSERT INTO quarantine (seq, at, node, why, pages, entry) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (seq) DO NOTHING`,
		int64(a.Seq), a.At, said.Node, said.Why, pages, b)
}

// settle takes back what an entry said that was set aside, as the frontier does.
func (w *writer) settle(a *crawl.Aside) error {
	if a == nil {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	for i := range a.Parts {
		p := &a.Parts[i]
		if err := w.forget(p.Job, p.Pages); err != nil {
			return err
		}
		if len(p.Pages) > 0 {
			if err := w.exec(`UPDATE jobs SET state = ?, ended = NULL, limited = '' WHERE id = ? AND state = ?`, crawl.JobRunning, p.Job, crawl.JobDone); err != nil {
				return err
			}
		}
		err := w.exec(`UPDATE leases SET ended = (SELECT at FROM quarantine WHERE seq = ?), reason = ? WHERE id = ? AND ended IS NULL`,
			int64(a.Seq), crawl.EndRefused, int64(p.Lease))
		if err != nil {
			return err
		}
	}
	return w.exec(`UPDATE quarantine SET settled = ? WHERE seq = ?`, int64(w.seq), int64(a.Seq))
}

// HasUnsettled reports whether entries were set aside of which no entry of a leader's is known.
func (l *Ledger) HasUnsettled() bool { return l.unsettled }

// Unsettled returns entries that were set aside and of which no entry of a leader's has told yet, the oldest first, at most
// sixteen.
func (l *Ledger) Unsettled(ctx context.Context) (out []crawl.Aside, err error) {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT entry FROM quarantine WHERE settled IS NULL ORDER BY seq LIMIT 16`))
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var b []byte
		if err := rows.Scan(&b); err != nil {
			return nil, l.wrap(err)
		}
		var a crawl.Aside
		if err := crawl.Unmarshal(b, &a); err != nil {
			return nil, l.wrap(err)
		}
		out = append(out, a)
	}
	l.unsettled = len(out) > 0
	return out, l.wrap(rows.Err())
}

// Quarantine is what was set aside of a node's entries.
type Quarantine struct {
	Entries int64  `json:"entries"`
	Pages   int64  `json:"pages"` // that were pending again
	Last    string `json:"last,omitempty"`
}

// Quarantined returns what was set aside, by node.
func (l *Ledger) Quarantined(ctx context.Context) (map[string]Quarantine, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT node, why, pages FROM quarantine ORDER BY seq`)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	out := map[string]Quarantine{}
	for rows.Next() {
		var node, why string
		var pages int64
		if err := rows.Scan(&node, &why, &pages); err != nil {
			return nil, l.wrap(err)
		}
		q := out[node]
		out[node] = Quarantine{q.Entries + 1, q.Pages + pages, why}
	}
	return out, l.wrap(rows.Err())
}
