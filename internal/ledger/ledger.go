// Package ledger is the SQL record of a crawl: jobs, tasks, nodes, leases, reports, measurements and pages. It is a
// sink of the log: Apply writes entries in transactions of its own, with its own position, so that after a crash it
// goes on where it stood, whatever the frontier has seen. The first final outcome of a URL is the one that counts.
//
// It holds no policy and nothing in memory. SQLite is embedded; one process writes, any number read.
package ledger

import (
	"context"
	"database/sql"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/url"

	"github.com/pressly/goose/v3"
	_ "modernc.org/sqlite" // the driver "sqlite"

	"argosy/internal/crawl"
)

//go:embed migrations/*.sql
var migrations embed.FS

// Ledger is an open ledger. Apply and the other writers belong to one goroutine; readers are safe for concurrent use.
type Ledger struct {
	db     *sql.DB
	stream string
	seq    uint64
}

// Open opens or creates the ledger in a file and brings its schema up to date.
func Open(ctx context.Context, path string) (*Ledger, error) {
	dsn := "file:" + (&url.URL{Path: path}).EscapedPath() + "?_txlock=immediate&_pragma=journal_mode(WAL)" +
		"&_pragma=synchronous(FULL)&_pragma=busy_timeout(10000)&_pragma=cache_size(-16000)"
	db, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, fmt.Errorf("open ledger %s: %w", path, err)
	}
	db.SetMaxOpenConns(4)
	l := &Ledger{db: db}
	if err := l.migrate(ctx); err != nil {
		return nil, errors.Join(fmt.Errorf("open ledger %s: %w", path, err), db.Close())
	}
	row := db.QueryRowContext(ctx, `SELECT stream, seq FROM position`)
	if err := row.Scan(&l.stream, &l.seq); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, errors.Join(fmt.Errorf("open ledger %s: %w", path, err), db.Close())
	}
	return l, nil
}

func (l *Ledger) migrate(ctx context.Context) error {
	dir, err := fs.Sub(migrations, "migrations")
	if err != nil {
		return err
	}
	p, err := goose.NewProvider(goose.DialectSQLite3, l.db, dir)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// Close closes the ledger.
func (l *Ledger) Close() error { return l.db.Close() }

// Position returns the stream and the sequence that have been applied.
func (l *Ledger) Position() (stream string, seq uint64) { return l.stream, l.seq }

// Rebase moves the ledger to another stream, or back in its own.
func (l *Ledger) Rebase(ctx context.Context, stream string, seq uint64) error {
	if _, err := l.db.ExecContext(ctx, setPosition, stream, int64(seq)); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	l.stream, l.seq = stream, seq
	return nil
}

const setPosition = `INSERT INTO position (one, stream, seq) VALUES (1, ?, ?)
ON CONFLICT (one) DO UPDATE SET stream = excluded.stream, seq = excluded.seq`

// Applied is an entry with its place in the log and the time it was stored, Unix ms.
type Applied struct {
	Seq   uint64
	At    int64
	Entry *crawl.Entry
}

// Apply writes entries, in order, in one transaction that is on disk when it returns. Entries up to the position are
// skipped.
func (l *Ledger) Apply(ctx context.Context, entries []Applied) error {
	if len(entries) == 0 || entries[len(entries)-1].Seq <= l.seq {
		return nil
	}
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // after Commit it does nothing
	w := &writer{ctx: ctx, tx: tx, stmts: map[string]*sql.Stmt{}}
	last := l.seq
	for _, e := range entries {
		if e.Seq <= last {
			continue
		}
		if err := w.entry(e.At, e.Entry); err != nil {
			return fmt.Errorf("ledger: entry %d: %w", e.Seq, err)
		}
		last = e.Seq
	}
	if err := w.exec(setPosition, l.stream, int64(last)); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	l.seq = last
	return nil
}

// writer runs prepared statements in one transaction.
type writer struct {
	ctx   context.Context
	tx    *sql.Tx
	stmts map[string]*sql.Stmt
}

func (w *writer) exec(query string, args ...any) error {
	s := w.stmts[query]
	if s == nil {
		var err error
		if s, err = w.tx.PrepareContext(w.ctx, query); err != nil {
			return err
		}
		w.stmts[query] = s
	}
	_, err := s.ExecContext(w.ctx, args...)
	return err
}

func asJSON(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		return "null"
	}
	return string(b)
}

func (w *writer) entry(at int64, e *crawl.Entry) error {
	switch e.Kind {
	case crawl.EntrySubmit, crawl.EntryLimits:
		return w.exec(`INSERT INTO jobs (id, state, identity, limits, created) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET limits = excluded.limits, state = excluded.state, ended = NULL`,
			e.Job.ID, crawl.JobRunning, asJSON(e.Job.Identity), asJSON(e.Job.Limits), at)
	case crawl.EntryGrant:
		for i := range e.Leases {
			if err := w.grant(at, &e.Leases[i]); err != nil {
				return err
			}
		}
		for i := range e.Refills {
			r := &e.Refills[i]
			if err := w.exec(`UPDATE leases SET found = found + ? WHERE id = ?`, len(r.Targets), int64(r.Lease)); err != nil {
				return err
			}
		}
	case crawl.EntryParts:
		for i := range e.Parts {
			if err := w.part(at, e.Node, &e.Parts[i]); err != nil {
				return err
			}
		}
	case crawl.EntryRecall:
		for _, r := range e.Recalls {
			err := w.exec(`UPDATE leases SET ended = ?, reason = ? WHERE id = ? AND ended IS NULL`, at, r.Reason, int64(r.Lease))
			if err != nil {
				return err
			}
		}
	case crawl.EntryRetry:
		return w.retry(e.Release)
	case crawl.EntryFinish:
		return w.exec(`UPDATE jobs SET state = ?, ended = ? WHERE id = ?`, e.Finish.State, at, e.Finish.Job)
	}
	return nil
}

func (w *writer) grant(at int64, l *crawl.Lease) error {
	err := w.exec(`INSERT OR IGNORE INTO nodes (node, incarnation, first_seen, store) VALUES (?, ?, ?, ?)`,
		l.Node, l.Incarnation, at, "warc")
	if err != nil {
		return err
	}
	return w.exec(`INSERT OR IGNORE INTO leases (id, job, task, site, node, incarnation, attempt, found, quota, budget_ms, started)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, int64(l.ID), l.Job, l.Task, l.Site, l.Node, l.Incarnation, l.Attempt,
		len(l.Targets), l.Quota, l.BudgetMS, at)
}

// measure writes a measurement: bits/s, or ms for each httpping.
func (w *writer) measure(at int64, node, site string, m *crawl.Measure) error {
	values := m.MS
	if m.Kind != crawl.MeasurePing && m.Seconds > 0 {
		values = []float64{float64(m.Bits) / m.Seconds}
	}
	for _, v := range values {
		err := w.exec(`INSERT INTO measurements (node, kind, site, url, store, value, at) VALUES (?, ?, ?, ?, ?, ?, ?)`,
			node, m.Kind, site, m.URL, m.Store, v, at)
		if err != nil {
			return err
		}
	}
	return nil
}

// part writes what a part says. The lease's node and job stand in the leases table.
func (w *writer) part(at int64, node string, p *crawl.Part) error {
	links := 0
	for i := range p.Found {
		links += len(p.Found[i].Links)
	}
	err := w.exec(`INSERT OR IGNORE INTO reports (lease, part, at, outcomes, links, bytes, final) VALUES (?, ?, ?, ?, ?, ?, ?)`,
		int64(p.Lease), p.No, at, len(p.Outcomes), links, p.Bytes, p.Final)
	if err != nil {
		return err
	}
	var job uint32
	var site string
	if len(p.Outcomes)+len(p.Measures) > 0 {
		row := w.tx.QueryRowContext(w.ctx, `SELECT job, site FROM leases WHERE id = ?`, int64(p.Lease))
		if err := row.Scan(&job, &site); errors.Is(err, sql.ErrNoRows) {
			return nil // not a lease of this log
		} else if err != nil {
			return err
		}
	}
	for i := range p.Measures {
		if err := w.measure(at, node, site, &p.Measures[i]); err != nil {
			return err
		}
	}
	collected := 0
	for i := range p.Outcomes {
		o := &p.Outcomes[i]
		if o.State.Final() {
			if err := w.page(job, site, node, p.Lease, at, o); err != nil {
				return err
			}
		}
		if o.State == crawl.Fetched {
			collected++
		}
	}
	if collected > 0 {
		if err := w.exec(`UPDATE leases SET collected = collected + ? WHERE id = ?`, collected, int64(p.Lease)); err != nil {
			return err
		}
	}
	if p.Final {
		return w.exec(`UPDATE leases SET ended = ?, reason = ? WHERE id = ? AND ended IS NULL`, at, p.Reason, int64(p.Lease))
	}
	return nil
}

const insertPage = `INSERT INTO pages (job, key, url, surt, state, reason, detail, status, mime, charset, html, title, lang, simhash,
digest, revisit, noindex, bytes, links, depth, redirect, ip, proto, etag, modified, warc, warc_at, warc_len, text, text_at,
text_len, site, node, lease, fetched_at, timing) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT (job, key) DO NOTHING`

func (w *writer) page(job uint32, site, node string, lease uint64, at int64, o *crawl.Outcome) error {
	date := o.Date
	if date == 0 {
		date = at
	}
	var timing any
	if o.State == crawl.Fetched {
		t := o.Timing
		timing = fmt.Sprintf("[%d,%d,%d,%d,%d,%d]", t[0], t[1], t[2], t[3], t[4], t[5])
	}
	surt := o.URL
	if u, err := crawl.Parse(o.URL); err == nil {
		surt = u.SURT()
	}
	return w.exec(insertPage, job, o.Key[:], o.URL, surt, o.State.String(), null(string(o.Reason)), null(o.Detail), null(o.Status),
		null(o.Mime), null(o.Charset), o.HTML, null(o.Title), null(o.Lang), null(int64(o.Simhash)), null(o.Digest), o.Revisit,
		o.NoIndex, o.Bytes, null(o.Links), o.Depth, null(o.Redirect), null(o.IP), null(o.Proto), null(o.ETag), null(o.LastMod),
		null(o.Record.File), o.Record.Offset, o.Record.Length, null(o.Text.File), null(o.Text.Offset), null(o.Text.Length),
		site, node, int64(lease), date, timing)
}

// null turns a zero value into NULL.
func null[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}

// retry forgets the final outcomes that a person wants to see tried again, as the frontier does.
func (w *writer) retry(r *crawl.Release) error {
	if len(r.Lost) > 0 {
		for _, k := range r.Lost {
			if err := w.exec(`DELETE FROM pages WHERE job = ? AND key = ?`, r.Job, k[:]); err != nil {
				return err
			}
		}
		return nil
	}
	const again = `DELETE FROM pages WHERE job = ? AND (state = 'failed' OR state = 'excluded' AND reason = 'robots-down')`
	if len(r.Tasks) == 0 {
		return w.exec(again, r.Job)
	}
	for _, t := range r.Tasks {
		if err := w.exec(again+` AND lease IN (SELECT id FROM leases WHERE task = ?)`, r.Job, t); err != nil {
			return err
		}
	}
	return nil
}
