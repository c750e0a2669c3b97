package ledger

import (
	"context"
	"encoding/json"
	"errors"

	"argosy/internal/crawl"
)

// Restorer writes a ledger anew, from what else is left of a crawl.
type Restorer struct{ w *writer }

// Restore runs fn in a transaction, after which the ledger stands at a place of a log. The ledger must be empty.
func (l *Ledger) Restore(ctx context.Context, stream string, seq uint64, fn func(*Restorer) error) error {
	err := l.write(ctx, func(w *writer) error {
		if err := fn(&Restorer{w}); err != nil {
			return err
		}
		if err := w.flush(); err != nil {
			return err
		}
		return w.exec(setPosition, stream, int64(seq))
	})
	l.remade.state.Store(0)
	if err == nil {
		l.stream, l.seq = stream, seq
	}
	return err
}

// Job writes a job that began at a time, Unix ms, and its state.
func (r *Restorer) Job(at int64, j *crawl.Job, state string) error {
	return errors.Join(r.w.entry(at, &crawl.Entry{Kind: crawl.EntrySubmit, Job: j}),
		r.w.entry(at, &crawl.Entry{Kind: crawl.EntryState, State: &crawl.JobState{Job: j.ID, State: state}}))
}

// Page writes a page of a job, as a node's outcome of a URL of a task. Nobody knows its lease any more: the task's number stands there, below 0.
func (r *Restorer) Page(job, task uint32, site string, o *crawl.Outcome) error {
	return r.w.page(job, site, "", uint64(-int64(task)), o.Date, o)
}

// Lease writes a lease that is open, of which so many parts have been applied.
func (r *Restorer) Lease(at int64, l *crawl.Lease, parts uint32) error {
	if err := r.w.grant(at, l); err != nil {
		return err
	}
	return r.w.exec(`UPDATE leases SET parts = ?, ended = NULL, reason = NULL WHERE id = ?`, parts, int64(l.ID))
}

// Capture writes an answer that was archived beside the pages of a site: its robots.txt, or one to what was asked again.
func (r *Restorer) Capture(job uint32, site string, o *crawl.Outcome) error {
	return r.w.capture(job, site, "", 0, o)
}

// Store writes where archives lie.
func (r *Restorer) Store(url string) error {
	return r.w.exec(`INSERT INTO stores (store) VALUES (?) ON CONFLICT DO NOTHING`, url)
}

// Market writes a market that was held at a time, Unix ms.
func (r *Restorer) Market(at int64, m *crawl.Round) error { return r.w.market(at, m) }

// Kept is a job as the ledger has it.
type Kept struct {
	crawl.Job
	State string
	At    int64 // when it was submitted, Unix ms
}

// KeptJobs returns all jobs, in the order of their numbers.
func (l *Ledger) KeptJobs(ctx context.Context) (out []Kept, err error) {
	rows, err := l.db.QueryContext(ctx, `SELECT id, state, identity, limits, name, placement, created FROM jobs ORDER BY id`)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var k Kept
		var identity, limits, placing []byte
		if err := rows.Scan(&k.ID, &k.State, &identity, &limits, &k.Name, &placing, &k.At); err != nil {
			return nil, l.wrap(err)
		}
		if err := errors.Join(json.Unmarshal(identity, &k.Identity), json.Unmarshal(limits, &k.Limits), json.Unmarshal(placing, &k.Placing)); err != nil {
			return nil, l.wrap(err)
		}
		out = append(out, k)
	}
	return out, l.wrap(rows.Err())
}

// Again forgets how the URLs of all jobs have ended, and what has been applied of the log: everything is had again. What was archived
// stays in the index.
func (l *Ledger) Again(ctx context.Context) error {
	return l.write(ctx, func(w *writer) error {
		for _, query := range []string{
			pagesKept + ` FROM pages WHERE warc IS NOT NULL ON CONFLICT DO NOTHING`,
			`INSERT INTO stores (store) ` + storesOfLeases + ` ON CONFLICT DO NOTHING`,
			`DELETE FROM pages`, `DELETE FROM ended`, `DELETE FROM tasks`, `DELETE FROM leases`, `DELETE FROM reports`, `DELETE FROM quarantine`,
			`DELETE FROM markets`, `DELETE FROM lots`,
			`DELETE FROM position`,
		} {
			if err := w.exec(query); err != nil {
				return err
			}
		}
		return nil
	})
}

// Copy copies an SQLite ledger into a file that is not there yet, as it is at this moment; another process may write meanwhile.
func Copy(ctx context.Context, from, to string) error {
	l, err := Open(ctx, from)
	if err != nil {
		return err
	}
	defer l.Close()
	_, err = l.db.ExecContext(ctx, `VACUUM INTO ?`, to)
	return l.wrap(err)
}
