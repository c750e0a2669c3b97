package ledger

import (
	"context"
	"database/sql"
	"errors"

	"argosy/internal/crawl"
)

// Ended returns what has ended of a job, as the pages say: it is counted with every page that is written or forgotten.
func (l *Ledger) Ended(ctx context.Context, job uint32) (e crawl.Ended, err error) {
	row := l.db.QueryRowContext(ctx, l.kind.bind(`SELECT urls, sum FROM ended WHERE job = ?`), int64(job))
	if err = row.Scan(&e.URLs, &e.Sum); !errors.Is(err, sql.ErrNoRows) {
		return e, l.wrap(err)
	}
	err = l.write(ctx, func(w *writer) error {
		c, err := w.ended(job)
		if err == nil {
			e, err = *c, w.flush()
		}
		return err
	})
	return e, err
}

// Ends calls fn for every page of a job with how it has ended, in no particular order.
func (l *Ledger) Ends(ctx context.Context, job uint32, fn func(p crawl.Page, state crawl.State, reason crawl.Kind) error) error {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(selectEnds), int64(job))
	if err != nil {
		return l.wrap(err)
	}
	return l.wrap(ends(rows, fn))
}

const selectEnds = `SELECT owner, gen, key, state, coalesce(reason, '') FROM pages WHERE job = ?`

// ends reads rows of layer, key, state and reason, and closes them.
func ends(rows *sql.Rows, fn func(crawl.Page, crawl.State, crawl.Kind) error) error {
	defer rows.Close()
	for rows.Next() {
		var p crawl.Page
		var key []byte
		var state string
		var reason crawl.Kind
		if err := rows.Scan(&p.Owner, &p.Gen, &key, &state, &reason); err != nil {
			return err
		}
		copy(p.Key[:], key)
		if err := fn(p, stateOf(state), reason); err != nil {
			return err
		}
	}
	return rows.Err()
}

// stateOf is the final state of a word in the pages.
func stateOf(word string) crawl.State {
	for _, s := range []crawl.State{crawl.Fetched, crawl.Failed, crawl.Excluded} {
		if s.String() == word {
			return s
		}
	}
	return 0
}

// count is what is known of the pages of one job since the transaction began.
type count struct {
	crawl.Ended
	dirty bool
}

// ended returns the count of a job, of all that is in the database by now.
func (w *writer) ended(job uint32) (*crawl.Ended, error) {
	if c := w.counts[job]; c != nil {
		return &c.Ended, nil
	}
	c := &count{}
	row, err := w.prepare(`SELECT urls, sum FROM ended WHERE job = ?`)
	if err != nil {
		return nil, err
	}
	err = row.QueryRowContext(w.ctx, int64(job)).Scan(&c.URLs, &c.Sum)
	if errors.Is(err, sql.ErrNoRows) { // of a ledger that an older version has written, or of a new job
		var all *sql.Stmt
		if all, err = w.prepare(selectEnds); err != nil {
			return nil, err
		}
		var rows *sql.Rows
		if rows, err = all.QueryContext(w.ctx, int64(job)); err != nil {
			return nil, err
		}
		c.dirty = true
		err = ends(rows, func(p crawl.Page, s crawl.State, why crawl.Kind) error {
			c.Count(p, s, why, 1)
			return nil
		})
	}
	if err != nil {
		return nil, err
	}
	w.counts[job] = c
	return &c.Ended, nil
}

// pending is a row of pages that is not written yet, as it counts.
type pending struct {
	job    uint32
	page   crawl.Page
	state  crawl.State
	reason crawl.Kind
	lease  uint64 // that has reported it, in which entry, and as which page of that
	seq    uint64
	ord    int
}

// insert writes rows of pages and counts them; pages that have a row already keep it.
func (w *writer) insert(query string, args []any, rows []pending) error {
	for i := range rows { // before the rows are there: what is in the database is counted once
		if _, err := w.ended(rows[i].job); err != nil {
			return err
		}
	}
	for i, a := range args {
		args[i] = plain(a)
	}
	s, err := w.prepare(query)
	if err != nil {
		return err
	}
	done, err := s.ExecContext(w.ctx, args...)
	if err != nil {
		return err
	}
	written, err := done.RowsAffected()
	if err != nil {
		return err
	}
	for i := range rows {
		r := &rows[i]
		if written < int64(len(rows)) { // seldom: to have each row tell that it was written would cost a third as much again as to write it
			if ours, err := w.wrote(r); !ours || err != nil {
				if err != nil {
					return err
				}
				continue
			}
		}
		c := w.counts[r.job]
		c.Count(r.page, r.state, r.reason, 1)
		c.dirty = true
	}
	return nil
}

// wrote reports whether the row of a page is the one that was to be written, and not an earlier one. Nothing is written twice of one part
// of a lease.
func (w *writer) wrote(r *pending) (bool, error) {
	s, err := w.prepare(`SELECT count(*) FROM pages WHERE job = ? AND owner = ? AND gen = ? AND key = ? AND lease = ? AND seq = ? AND ord = ?`)
	if err != nil {
		return false, err
	}
	var ours int
	err = s.QueryRowContext(w.ctx, int64(r.job), int64(r.page.Owner), int64(r.page.Gen), r.page.Key[:], int64(r.lease), int64(r.seq), r.ord).Scan(&ours)
	return ours > 0, err
}

// delete deletes the pages of a job that a condition names, and counts them out.
func (w *writer) delete(job uint32, condition string, args ...any) error {
	if _, err := w.ended(job); err != nil {
		return err
	}
	s, err := w.prepare(`DELETE FROM pages WHERE job = ? AND ` + condition + ` RETURNING owner, gen, key, state, coalesce(reason, '')`)
	if err != nil {
		return err
	}
	rows, err := s.QueryContext(w.ctx, append([]any{int64(job)}, args...)...)
	if err != nil {
		return err
	}
	c := w.counts[job]
	return ends(rows, func(p crawl.Page, s crawl.State, why crawl.Kind) error {
		c.Count(p, s, why, -1)
		c.dirty = true
		return nil
	})
}

// flushCounts writes what has changed of the counts.
func (w *writer) flushCounts() error {
	for job, c := range w.counts {
		if !c.dirty {
			continue
		}
		c.dirty = false
		err := w.exec(`INSERT INTO ended (job, urls, sum) VALUES (?, ?, ?) ON CONFLICT (job) DO UPDATE SET urls = excluded.urls, sum = excluded.sum`,
			job, c.URLs, c.Sum)
		if err != nil {
			return err
		}
	}
	return nil
}

// Adopt writes what the frontier has and the log may have lost: jobs, and leases that are open, with how many parts of each have been
// applied.
func (l *Ledger) Adopt(ctx context.Context, jobs []Kept, leases []crawl.Lease, parts []uint32, at int64) error {
	return l.write(ctx, func(w *writer) error {
		for i := range jobs {
			if err := (&Restorer{w}).Job(jobs[i].At, &jobs[i].Job, jobs[i].State); err != nil {
				return err
			}
		}
		for i := range leases {
			if err := (&Restorer{w}).Lease(at, &leases[i], parts[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// Epoch returns the last term of which the ledger has a lease.
func (l *Ledger) Epoch(ctx context.Context) (epoch uint64, err error) {
	var e int64
	err = l.db.QueryRowContext(ctx, `SELECT coalesce(max(epoch), 0) FROM leases`).Scan(&e)
	return uint64(e), l.wrap(err)
}
