// Package ledger is the SQL record of a crawl: jobs, tasks, nodes, leases, reports, measurements and pages. It is a
// sink of the log: Apply writes entries in transactions of its own, with its own position, so that after a crash it
// goes on where it stood, whatever the frontier has seen. The first final outcome of a URL is the one that counts.
//
// It holds no policy and nothing in memory. SQLite is embedded; PostgreSQL holds the same schema for fleets with more
// than one coordinator. One process writes, any number read.
package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
	"unicode/utf8"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// Ledger is an open ledger. Apply and the other writers belong to one goroutine; readers are safe for concurrent use.
type Ledger struct {
	db     *sql.DB
	kind   dialect
	stream string
	seq    uint64

	idle time.Duration // how long PostgreSQL waits for the next word of a transaction

	writing sync.Mutex // held for a transaction: the connection is one for all of them
	conn    *sql.Conn  // nil: the next transaction opens it
	stmts   map[string]*sql.Stmt

	unsettled bool // entries were set aside, and no entry of the leader's says so yet, as far as is known
	remade    remade
}

// Close closes the ledger.
func (l *Ledger) Close() error {
	l.writing.Lock()
	defer l.writing.Unlock()
	return errors.Join(l.release(), l.db.Close())
}

// Position returns the stream and the sequence that have been applied.
func (l *Ledger) Position() (stream string, seq uint64) { return l.stream, l.seq }

// Refresh reads the position again: another process may have written since.
func (l *Ledger) Refresh(ctx context.Context) error {
	row := l.db.QueryRowContext(ctx, `SELECT stream, seq FROM position`)
	if err := row.Scan(&l.stream, &l.seq); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return l.wrap(err)
	}
	return nil
}

// Rebase moves the ledger to another stream, or back in its own.
func (l *Ledger) Rebase(ctx context.Context, stream string, seq uint64) error {
	err := l.write(ctx, func(w *writer) error { return w.exec(setPosition, stream, int64(seq)) })
	if err != nil {
		return err
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

// Lean lets go of what is only counted here: the texts of links and targets, which are most of an entry while it waits to
// be written. Whoever calls it has the entry for itself.
func (a *Applied) Lean() {
	for i := range a.Entry.Parts {
		for j := range a.Entry.Parts[i].Found {
			f := &a.Entry.Parts[i].Found[j]
			f.Links = blanks(&blankLinks, len(f.Links))
			f.Known = nil
		}
	}
	for i := range a.Entry.Leases {
		a.Entry.Leases[i].Targets = blanks(&blankTargets, len(a.Entry.Leases[i].Targets))
	}
	for i := range a.Entry.Refills {
		a.Entry.Refills[i].Targets = blanks(&blankTargets, len(a.Entry.Refills[i].Targets))
	}
}

// What is only counted stands for the same blank links and targets in all entries: nobody writes into them.
var (
	blankLinks   atomic.Pointer[[]crawl.Link]
	blankTargets atomic.Pointer[[]crawl.Target]
)

// blanks returns n zero values that are shared with others.
func blanks[T any](all *atomic.Pointer[[]T], n int) []T {
	have := all.Load()
	if have == nil || len(*have) < n {
		more := make([]T, max(1024, 2*n))
		have = &more
		all.Store(have)
	}
	return (*have)[:n:n]
}

// Apply writes entries, in order, in one transaction that is on disk when it returns. Entries up to the position are
// skipped. The position is read again inside the transaction: a coordinator that was replaced without knowing it writes
// what its successor has not, and nothing else, for both read the same log.
//
// An entry of a node that the database refuses for what it says is set aside, in the same transaction: Unsettled tells of it.
func (l *Ledger) Apply(ctx context.Context, entries []Applied) error {
	if len(entries) == 0 || entries[len(entries)-1].Seq <= l.seq {
		return nil
	}
	aside := map[uint64]error{}
	for careful := false; ; careful = true {
		bad, err := l.apply(ctx, entries, aside, careful)
		switch {
		case err == nil:
			l.unsettled = l.unsettled || len(aside) > 0
			return nil
		case !l.inEntry(err):
			return err
		case careful && (bad == nil || bad.Entry.Node == "" || aside[bad.Seq] != nil):
			return err
		case careful:
			aside[bad.Seq] = err
		}
	}
}

// apply writes entries but those that are set aside. If it is careful, nothing of an entry waits to be written with the next
// one, so that bad is the one that could not be written.
func (l *Ledger) apply(ctx context.Context, entries []Applied, aside map[uint64]error, careful bool) (bad *Applied, err error) {
	last := l.seq
	err = l.write(ctx, func(w *writer) error {
		var stream string
		row := w.tx.QueryRowContext(w.ctx, w.kind.lock(`SELECT stream, seq FROM position`))
		if err := row.Scan(&stream, &last); err != nil && !errors.Is(err, sql.ErrNoRows) {
			return err
		}
		if stream != "" && stream != l.stream {
			return fmt.Errorf("holds log %s, not %s: another fleet uses it", stream, l.stream)
		}
		if err := w.loadLeases(entries, last); err != nil {
			return err
		}
		for i := range entries {
			e := &entries[i]
			if e.Seq <= last {
				continue
			}
			w.seq, w.ord = e.Seq, 0
			err := error(nil)
			if why := aside[e.Seq]; why != nil {
				err = w.setAside(e, why)
			} else {
				err = w.entry(e.At, e.Entry)
			}
			if err == nil && careful {
				err = w.flush()
			}
			if err != nil {
				bad = e
				return fmt.Errorf("entry %d: %w", e.Seq, err)
			}
			last = e.Seq
		}
		if err := w.flush(); err != nil {
			return err
		}
		return w.exec(setPosition, l.stream, int64(last))
	})
	if err == nil {
		l.seq = last
	}
	return bad, err
}

// flush writes what has gathered.
func (w *writer) flush() error {
	for node, a := range w.accounts {
		err := w.exec(`INSERT INTO accounts (node, pages, bytes, asked, good) VALUES (?, ?, ?, ?, ?) ON CONFLICT (node) DO UPDATE
SET pages = accounts.pages + excluded.pages, bytes = accounts.bytes + excluded.bytes, asked = accounts.asked + excluded.asked,
good = accounts.good + excluded.good`, node, a.pages, a.bytes, a.asked, a.good)
		if err != nil {
			return err
		}
	}
	clear(w.accounts)
	for _, flush := range []func() error{w.flushPages, w.flushReports, w.flushLeases} {
		if err := flush(); err != nil {
			return err
		}
	}
	return w.flushCounts()
}

func (w *writer) flushPages() error {
	for len(w.pages) > 0 {
		n := atOnce(len(w.rows))
		if err := w.insert(insertPages[w.kind][n], w.pages[:n*pageColumns], w.rows[:n]); err != nil {
			return err
		}
		w.pages = append(w.pages[:0], w.pages[n*pageColumns:]...)
		w.rows = append(w.rows[:0], w.rows[n:]...)
	}
	w.pages, w.rows = w.pages[:0], w.rows[:0]
	return w.nameOnce()
}

// plain turns a value into one that both databases take for their columns: text without NUL, numbers for bools.
func plain(a any) any {
	switch v := a.(type) {
	case bool:
		if v {
			return 1
		}
		return 0
	case string:
		if strings.IndexByte(v, 0) < 0 && utf8.ValidString(v) {
			return a
		}
		return strings.ToValidUTF8(strings.ReplaceAll(v, "\x00", ""), "\uFFFD")
	case uint32:
		return int64(v)
	}
	return a
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
		return w.exec(`INSERT INTO jobs (id, state, identity, limits, created, name, placement) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET identity = excluded.identity, limits = excluded.limits, placement = excluded.placement`,
			e.Job.ID, crawl.JobRunning, asJSON(e.Job.Identity), asJSON(e.Job.Limits), at, e.Job.Name, asJSON(e.Job.Placing))
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
			if err := w.part(at, e, &e.Parts[i]); err != nil {
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
	case crawl.EntryState:
		var ended any = at
		if e.State.State == crawl.JobRunning || e.State.State == crawl.JobPaused {
			ended = nil
		}
		return w.exec(`UPDATE jobs SET state = ?, ended = ?, limited = ? WHERE id = ?`, e.State.State, ended, e.State.Limit, e.State.Job)
	case crawl.EntryRound:
		return w.market(at, e.Round)
	case crawl.EntryAside:
		return w.settle(e.Aside)
	case crawl.EntryOrder:
		return w.exec(`INSERT INTO orders (seq, at, who, what, once, sum, undone) VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
			int64(w.seq), at, e.Order.Who, e.Order.What, e.Order.Key, e.Order.Sum, e.Order.Undone)
	case crawl.EntryMeasures:
		for i := range e.Measures {
			if err := w.measure(at, 0, e.Node, "", &e.Measures[i]); err != nil {
				return err
			}
		}
	}
	return nil
}

// What leases do in place of fetching pages (leases.probe). Older versions wrote resolves for all of it.
const (
	nothing = iota
	resolves
	speed
	delay
)

// probeOf is what a lease does in place of fetching pages.
func probeOf(l *crawl.Lease) int {
	switch {
	case l.Probe != "" && l.Ping:
		return delay
	case l.Probe != "":
		return speed
	case l.Resolve:
		return resolves
	}
	return nothing
}

func (w *writer) grant(at int64, l *crawl.Lease) error {
	err := w.exec(`INSERT INTO nodes (node, incarnation, first_seen, store) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		l.Node, l.Incarnation, at, "warc")
	if err != nil {
		return err
	}
	err = w.exec(`INSERT INTO leases (id, job, task, site, node, incarnation, attempt, found, quota, budget_ms, started, epoch,
secret, probe) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, int64(l.ID), l.Job, l.Task, l.Site, l.Node,
		l.Incarnation, l.Attempt, len(l.Targets), l.Quota, l.BudgetMS, at, int64(l.Epoch), l.Secret, probeOf(l))
	if err != nil {
		return err
	}
	return w.asked(l)
}

// measure writes a measurement: bits/s, or ms for each httpping, or tries that were refused. The job is that of the lease which measured, 0
// where a node did by itself.
func (w *writer) measure(at int64, job uint32, node, site string, m *crawl.Measure) error {
	values := m.MS
	if m.Kind != crawl.MeasurePing && m.Kind != crawl.MeasureConn {
		if values = nil; m.Seconds > 0 && m.Bits > 0 {
			values = []float64{float64(m.Bits) / m.Seconds}
		}
	}
	if m.Kind == crawl.MeasureBC && m.Refused > 0 {
		refused := crawl.Measure{Kind: crawl.MeasureRefused, URL: m.URL, MS: []float64{float64(m.Refused)}}
		if err := w.measured(at, job, node, site, &refused, refused.MS); err != nil {
			return err
		}
	}
	return w.measured(at, job, node, site, m, values)
}

// measured writes the values of a measurement.
func (w *writer) measured(at int64, job uint32, node, site string, m *crawl.Measure, values []float64) error {
	for _, v := range values {
		w.ord++
		err := w.exec(`INSERT INTO measurements (node, kind, site, url, store, value, at, to_node, seq, ord, seconds, limited, job)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`, node, m.Kind, site, m.URL, m.Store, v, at, m.Node, int64(w.seq), w.ord, m.Seconds, m.Limited, job)
		if err != nil {
			return err
		}
	}
	return nil
}

const pageInto = ` INTO pages (job, key, url, surt, state, reason, detail, status, mime, charset, html, title, lang, simhash,
digest, revisit, noindex, bytes, links, depth, redirect, ip, proto, etag, modified, warc, warc_at, warc_len, text, text_at,
text_len, site, node, lease, fetched_at, timing, seq, ord, owner, gen, truncated, score, expected) VALUES `

const pageColumns = 43

// rowsAtOnce are how many rows a statement may be for, the most first: one for many costs half as much as one for each.
var rowsAtOnce = []int{32, 8, 1}

// atOnce returns for how many of so many rows the next statement is.
func atOnce(rows int) int {
	return rowsAtOnce[slices.IndexFunc(rowsAtOnce, func(n int) bool { return n <= rows })]
}

// insertPages are the statements, by how many rows they are for.
var insertPages = map[dialect]map[int]string{sqlite: insertOf("INSERT OR FAIL"), postgres: insertOf("INSERT")}

// insertOf returns the statements that begin with a word. SQLite's OR FAIL lets it keep no copies of what a statement changes, to undo that
// alone: with an error the whole transaction is undone.
func insertOf(word string) map[int]string {
	row, of := "(?"+strings.Repeat(", ?", pageColumns-1)+")", map[int]string{}
	for _, rows := range rowsAtOnce {
		of[rows] = word + pageInto + row + strings.Repeat(", "+row, rows-1) + " ON CONFLICT (job, owner, gen, key) DO NOTHING"
	}
	return of
}

func (w *writer) page(job uint32, site, node string, lease uint64, at int64, o *crawl.Outcome) error {
	date := o.Date
	if date == 0 {
		date = at
	}
	var timing any
	if o.Record.File != "" {
		b := append(make([]byte, 0, 64), '[')
		for _, took := range o.Timing {
			b = append(strconv.AppendInt(b, int64(took), 10), ',')
		}
		timing = string(append(strconv.AppendInt(b, int64(learn.Opened(o)), 10), ']'))
	}
	w.ord++
	surt := surtOf(o.URL)
	w.pages = append(w.pages, job, o.Key[:], o.URL, surt, o.State.String(), null(string(o.Reason)), null(o.Detail), null(o.Status),
		null(o.Mime), null(o.Charset), o.HTML, null(o.Title), null(o.Lang), null(int64(o.Simhash)), null(o.Digest), o.Revisit,
		o.NoIndex, o.Bytes, null(o.Links), o.Depth, null(o.Redirect), null(o.IP), null(o.Proto), null(o.ETag), null(o.LastMod),
		null(o.Record.File), o.Record.Offset, o.Record.Length, null(o.Text.File), null(o.Text.Offset), null(o.Text.Length),
		site, node, int64(lease), date, timing, int64(w.seq), w.ord, o.Owner, o.Gen, null(o.Truncated), null(digits(o.Score)), null(digits(o.Expected)))
	w.rows = append(w.rows, pending{job, crawl.Page{Layer: o.Layer(), Key: o.Key}, o.State, o.Reason, lease, w.seq, w.ord})
	if o.Record.File != "" && w.remade.is() {
		w.named = append(w.named, named{job, o.Record})
	}
	if len(w.rows) < rowsAtOnce[0] {
		return nil
	}
	return w.flushPages()
}

// capture writes an answer that was archived and is not a page.
func (w *writer) capture(job uint32, site, node string, lease uint64, o *crawl.Outcome) error {
	revisit := 0
	if o.Revisit {
		revisit = 1
	}
	return w.exec(`INSERT INTO captures (job, owner, gen, key, url, surt, why, status, mime, digest, revisit, truncated, bytes, warc, warc_at,
warc_len, site, node, lease, fetched_at) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`,
		job, o.Owner, o.Gen, o.Key[:], o.URL, surtOf(o.URL), string(o.Reason), o.Status, o.Mime, o.Digest, revisit, o.Truncated, o.Bytes, o.Record.File,
		o.Record.Offset, o.Record.Length, site, node, int64(lease), o.Date)
}

func surtOf(url string) string {
	u, err := crawl.Parse(url)
	if err != nil {
		return url
	}
	return u.SURT()
}

// digits keeps of a score what a person can use.
func digits(score float32) float64 { return math.Round(float64(score)*1e4) / 1e4 }

// null turns a zero value into NULL.
func null[T comparable](v T) any {
	var zero T
	if v == zero {
		return nil
	}
	return v
}
