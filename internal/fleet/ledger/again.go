package ledger

import (
	"errors"
	"fmt"
	"strings"

	"argosy/internal/crawl"
)

// forget deletes pages.
func (w *writer) forget(job uint32, pages []crawl.Page) error {
	const one = `owner = ? AND gen = ? AND key = ?`
	for _, p := range pages {
		if err := w.delete(job, one, int64(p.Owner), int64(p.Gen), p.Key[:]); err != nil {
			return err
		}
		if err := w.exec(`DELETE FROM captures WHERE job = ? AND `+one, job, p.Owner, p.Gen, p.Key[:]); err != nil { // of what is not a page nothing is had again
			return err
		}
	}
	return nil
}

// pagesKept begins the statement that keeps what was archived of pages beside them.
const pagesKept = `INSERT INTO captures (job, owner, gen, key, url, surt, why, status, mime, digest, revisit, truncated, bytes, warc, warc_at,
warc_len, site, node, lease, fetched_at) SELECT job, owner, gen, key, url, surt, coalesce(reason, ''), coalesce(status, 0), coalesce(mime, ''),
coalesce(digest, ''), coalesce(revisit, 0), coalesce(truncated, ''), bytes, warc, warc_at, warc_len, site, node, lease, fetched_at`

// setBeside forgets how pages ended; what was archived of them counts beside the pages from then on.
func (w *writer) setBeside(job uint32, pages []crawl.Page) error {
	const one = `owner = ? AND gen = ? AND key = ?`
	for _, p := range pages {
		if err := w.exec(pagesKept+` FROM pages WHERE job = ? AND `+one+` AND warc IS NOT NULL ON CONFLICT DO NOTHING`, job, p.Owner, p.Gen, p.Key[:]); err != nil {
			return err
		}
		if err := w.delete(job, one, int64(p.Owner), int64(p.Gen), p.Key[:]); err != nil {
			return err
		}
	}
	return nil
}

// unname forgets records beside the pages: by file where they stood.
func (w *writer) unname(job uint32, gone map[string][]int64) error {
	for file, offsets := range gone {
		for _, at := range offsets {
			if err := w.exec(`DELETE FROM captures WHERE job = ? AND warc = ? AND warc_at = ?`, job, file, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// retry forgets the final outcomes that a person wants to see tried again, as the frontier does. What was archived of them
// counts beside the pages from then on.
func (w *writer) retry(r *crawl.Release) error {
	if err := w.flush(); err != nil {
		return err
	}
	switch {
	case r.Cut && !r.Mend: // what waits goes on, and nothing that has ended is asked for again
		return nil
	case len(r.Lost) > 0 && r.Keep, len(r.Gone) > 0:
		return errors.Join(w.setBeside(r.Job, r.Lost), w.unname(r.Job, r.Gone))
	case len(r.Lost) > 0:
		return w.forget(r.Job, r.Lost)
	}
	const (
		failed = `(state = 'failed' OR state = 'excluded' AND reason = 'robots-down')`
		again  = ` FROM pages WHERE job = ? AND ` + failed
		keep   = pagesKept +
			again + ` AND warc IS NOT NULL`
		conflict = ` ON CONFLICT DO NOTHING`
	)
	if len(r.Tasks) == 0 {
		others := but(r.Dropped)
		return errors.Join(w.exec(keep+others+conflict, r.Job), w.delete(r.Job, failed+others))
	}
	for _, t := range r.Tasks {
		const of = ` AND (lease IN (SELECT id FROM leases WHERE task = ?) OR lease = ?)` // see Restorer.Page
		none := -int64(t)
		if err := errors.Join(w.exec(keep+of+conflict, r.Job, t, none), w.delete(r.Job, failed+of, int64(t), none)); err != nil {
			return err
		}
	}
	return nil
}

// but is the condition that pages are not of these tasks.
func but(tasks []uint32) string {
	if len(tasks) == 0 {
		return ""
	}
	ids := strings.ReplaceAll(strings.Trim(fmt.Sprint(tasks), "[]"), " ", ", ")
	return ` AND (lease IS NULL OR lease NOT IN (SELECT id FROM leases WHERE task IN (` + ids + `)) AND -lease NOT IN (` + ids + `))`
}

// askAgain keeps beside the pages what URLs answered that are asked again since an outcome, as the frontier does.
func (w *writer) askAgain(job uint32, o *crawl.Outcome) error {
	if len(o.Again)+len(o.Walled) == 0 {
		return nil
	}
	if err := w.flush(); err != nil {
		return err
	}
	const one = `job = ? AND owner = ? AND gen = ? AND key = ?`
	var known int
	err := w.tx.QueryRowContext(w.ctx, w.kind.bind(`SELECT count(*) FROM pages WHERE `+one), int64(job), int64(o.Owner), int64(o.Gen), o.Key[:]).Scan(&known)
	if err != nil || known > 0 { // a repeat, of which nothing follows
		return err
	}
	const (
		had   = `owner = ? AND gen = ? AND key = ? AND state = 'fetched'`
		moved = had + ` AND redirect IS NOT NULL`
	)
	undo := func(which string, keys []crawl.Key) error {
		for _, k := range keys {
			if err := w.exec(pagesKept+` FROM pages WHERE job = ? AND `+which+` AND warc IS NOT NULL ON CONFLICT DO NOTHING`, job, o.Owner, o.Gen, k[:]); err != nil {
				return err
			}
			if err := w.delete(job, which, int64(o.Owner), int64(o.Gen), k[:]); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.Join(undo(moved, o.Again), undo(had, crawl.Others(o.Walled, o.Key)))
}
