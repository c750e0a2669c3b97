package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"argosy/internal/crawl"
)

// Task is a row of the tasks table.
type Task struct {
	ID    uint32 `json:"task"`
	Job   uint32 `json:"job"`
	Site  string `json:"site"`
	State string `json:"state"`
	crawl.Tally
	Attempts uint32       `json:"attempts"`
	Recalls  int          `json:"recalls"`
	History  []string     `json:"history,omitempty"`
	Traps    []crawl.Trap `json:"traps,omitempty"`  // not in the database: only a coordinator's answer has it
	Noted    []int64      `json:"noted,omitempty"`  // likewise, when the lines of History were written, Unix ms; 0: nobody knows
	Search   *Seeker      `json:"search,omitempty"` // likewise, of the task that asks for a search's result pages
	For      uint32       `json:"for,omitempty"`    // likewise, the search that a task fetches for
	Until    int64        `json:"until,omitempty"`  // likewise, Unix ms by the log's clock: its site rests until then; 0: it does not
	Lacks    string       `json:"lacks,omitempty"`  // likewise, the type of node that it waits for in vain

	Crawler uint32 `json:"crawler,omitempty"` // likewise, whose URLs these are of several crawlers
}

// PutTasks replaces the rows of tasks with a snapshot of their counts.
func (l *Ledger) PutTasks(ctx context.Context, tasks []Task) error {
	return l.write(ctx, func(w *writer) error {
		for i := range tasks {
			t := &tasks[i]
			err := w.exec(`INSERT INTO tasks (id, job, site, state, discovered, fetched, pages, duplicates, failed, excluded, pending,
overflow, bytes, attempts, recalls, reasons, history, relevant) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET site = excluded.site, state = excluded.state, discovered = excluded.discovered, fetched = excluded.fetched,
pages = excluded.pages, duplicates = excluded.duplicates, failed = excluded.failed, excluded = excluded.excluded,
pending = excluded.pending, overflow = excluded.overflow, bytes = excluded.bytes, attempts = excluded.attempts,
recalls = excluded.recalls, reasons = excluded.reasons, history = excluded.history, relevant = excluded.relevant`,
				t.ID, t.Job, t.Site, t.State, t.Discovered, t.Fetched, t.Pages, t.Duplicates, t.Failed, t.Excluded, t.Pending,
				t.Overflow, t.Bytes, t.Attempts, t.Recalls, asJSON(t.Reasons), asJSON(t.History), t.Relevant)
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Tasks calls fn for the tasks of a job as their rows are: up to date once the job has ended.
func (l *Ledger) Tasks(ctx context.Context, job uint32, fn func(Task) error) error {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT id, site, state, discovered, fetched, pages, duplicates, failed, excluded, overflow, bytes, attempts,
recalls, reasons, relevant FROM tasks WHERE job = ? ORDER BY id`), int64(job))
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		t := Task{Job: job}
		var c crawl.Counts
		var reasons sql.NullString
		err := rows.Scan(&t.ID, &t.Site, &t.State, &c.Discovered, &c.Fetched, &c.Pages, &c.Duplicates, &c.Failed, &c.Excluded, &c.Overflow, &c.Bytes, &t.Attempts,
			&t.Recalls, &reasons, &c.Relevant)
		if err != nil {
			return l.wrap(err)
		}
		of := map[string]int64{}
		if reasons.String != "" {
			if err := json.Unmarshal([]byte(reasons.String), &of); err != nil {
				return fmt.Errorf("ledger: reasons of task %d: %w", t.ID, err)
			}
		}
		t.Tally = crawl.TallyOf(c, of)
		if err := fn(t); err != nil {
			return err
		}
	}
	return l.wrap(rows.Err())
}

// PutDepths replaces the depths of pages: each calls set for every page whose depth has fallen since it was reported.
func (l *Ledger) PutDepths(ctx context.Context, job uint32, each func(set func(p crawl.Page, depth uint16) error) error) error {
	return l.write(ctx, func(w *writer) error {
		return each(func(p crawl.Page, depth uint16) error {
			return w.exec(`UPDATE pages SET depth = ? WHERE job = ? AND owner = ? AND gen = ? AND key = ? AND depth <> ?`, depth, job, p.Owner, p.Gen, p.Key[:], depth)
		})
	})
}

// Sums are the counts of a job's tasks, added up: rows that are out of date differ in them.
type Sums struct {
	crawl.Counts
	Manual, Attempts, Recalls int64
}

// Add adds a task.
func (s *Sums) Add(t *Task) {
	if t.State == crawl.TaskManual {
		s.Manual++
	}
	s.Counts = s.Counts.Add(t.Counts)
	s.Held = 0 // the database does not have it
	s.Attempts += int64(t.Attempts)
	s.Recalls += int64(t.Recalls)
}

// Sums returns the sums of every job that has rows of tasks.
func (l *Ledger) Sums(ctx context.Context) (map[uint32]Sums, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT job, sum(CASE WHEN state = 'manual' THEN 1 ELSE 0 END), sum(discovered), sum(fetched),
sum(failed), sum(excluded), sum(pages), sum(duplicates), sum(bytes), sum(overflow), sum(attempts), sum(recalls), sum(relevant) FROM tasks GROUP BY job`)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	out := map[uint32]Sums{}
	for rows.Next() {
		var job uint32
		var s Sums
		if err := rows.Scan(&job, &s.Manual, &s.Discovered, &s.Fetched, &s.Failed, &s.Excluded, &s.Pages, &s.Duplicates, &s.Bytes, &s.Overflow,
			&s.Attempts, &s.Recalls, &s.Relevant); err != nil {
			return nil, l.wrap(err)
		}
		out[job] = s
	}
	return out, l.wrap(rows.Err())
}

// Page is a row of the pages table, as export prints it.
type Page struct {
	URL       string  `json:"url"`
	State     string  `json:"state"`
	Reason    string  `json:"reason,omitempty"`
	Detail    string  `json:"detail,omitempty"`
	Status    int     `json:"status,omitempty"`
	Mime      string  `json:"mime,omitempty"`
	Charset   string  `json:"charset,omitempty"`
	HTML      bool    `json:"html,omitempty"`
	Title     string  `json:"title,omitempty"`
	Lang      string  `json:"lang,omitempty"`
	Simhash   int64   `json:"simhash,omitempty"`
	Digest    string  `json:"digest,omitempty"`
	Revisit   bool    `json:"revisit,omitempty"`
	NoIndex   bool    `json:"noindex,omitempty"`
	Bytes     int64   `json:"bytes,omitempty"`
	Links     int     `json:"links,omitempty"`
	Depth     int     `json:"depth"`
	Redirect  string  `json:"redirect,omitempty"`
	IP        string  `json:"ip,omitempty"`
	Proto     string  `json:"proto,omitempty"`
	WARC      string  `json:"warc,omitempty"`
	Offset    int64   `json:"offset,omitempty"`
	Length    int64   `json:"length,omitempty"`
	Text      string  `json:"text,omitempty"`
	TextAt    int64   `json:"text_offset,omitempty"`
	TextLen   int64   `json:"text_length,omitempty"`
	Site      string  `json:"site"`
	Node      string  `json:"node"`
	FetchedAt int64   `json:"fetched_at"`
	Truncated string  `json:"truncated,omitempty"` // why the archived body is not whole
	Score     float64 `json:"score,omitempty"`     // how much it is about the job's topic
	Expected  float64 `json:"expected,omitempty"`  // what was expected of it before it was fetched
	Timing    string  `json:"-"`                   // JSON, seven numbers in µs: resolve, connect, TLS, send, first byte, body, and what it took to open a connection that was open (six: by an older version); empty if nothing was fetched

	crawl.Layer

	Key crawl.Key `json:"-"`
}

// Captured reports whether something of the page is archived: all that was fetched, and what has come of those that
// failed when their body was under way.
func (p *Page) Captured() bool { return p.WARC != "" }

// Pages calls fn for every page of a job in the order in which they were reported.
func (l *Ledger) Pages(ctx context.Context, job uint32, fn func(*Page) error) error {
	return l.pages(ctx, ` ORDER BY seq, ord, owner, gen, key`, fn, int64(job))
}

// Page returns a page of a job, nil if there is no row of it.
func (l *Ledger) Page(ctx context.Context, job uint32, at crawl.Page) (out *Page, err error) {
	err = l.pages(ctx, ` AND owner = ? AND gen = ? AND key = ?`, func(p *Page) error {
		row := *p
		out = &row
		return nil
	}, int64(job), int64(at.Owner), int64(at.Gen), at.Key[:])
	return out, err
}

// selectPages begins the statements that read pages of a job.
const selectPages = `SELECT key, owner, gen, url, state, coalesce(reason, ''), coalesce(detail, ''), coalesce(status, 0),
coalesce(mime, ''), coalesce(charset, ''), coalesce(html, 0), coalesce(title, ''), coalesce(lang, ''), coalesce(simhash, 0),
coalesce(digest, ''), coalesce(revisit, 0), coalesce(noindex, 0), bytes, coalesce(links, 0), depth, coalesce(redirect, ''), coalesce(ip, ''),
coalesce(proto, ''), coalesce(warc, ''), warc_at, warc_len, coalesce(text, ''), coalesce(text_at, 0), coalesce(text_len, 0),
site, node, fetched_at, coalesce(score, 0), coalesce(expected, 0), coalesce(truncated, ''), coalesce(timing, '') FROM pages WHERE job = ?`

// pages calls fn for the pages of a job, the first argument, that more asks for with the others.
func (l *Ledger) pages(ctx context.Context, more string, fn func(*Page) error, args ...any) error {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(selectPages+more), args...)
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var p Page
		var key []byte
		err := rows.Scan(&key, &p.Owner, &p.Gen, &p.URL, &p.State, &p.Reason, &p.Detail, &p.Status, &p.Mime, &p.Charset, &p.HTML, &p.Title, &p.Lang,
			&p.Simhash, &p.Digest, &p.Revisit, &p.NoIndex, &p.Bytes, &p.Links, &p.Depth, &p.Redirect, &p.IP, &p.Proto, &p.WARC,
			&p.Offset, &p.Length, &p.Text, &p.TextAt, &p.TextLen, &p.Site, &p.Node, &p.FetchedAt, &p.Score, &p.Expected, &p.Truncated, &p.Timing)
		if err != nil {
			return l.wrap(err)
		}
		copy(p.Key[:], key)
		if err := fn(&p); err != nil {
			return err
		}
	}
	return l.wrap(rows.Err())
}

// Capture is an archived answer: a page's, or one beside the pages (robots.txt, and what was tried again).
type Capture struct {
	URL, Mime, Digest, Truncated string
	Status                       int
	Revisit, Page                bool
	WARC                         string
	Offset, Length               int64
	FetchedAt                    int64 // Unix ms
	Key                          crawl.Key

	crawl.Layer
}

// Captures calls fn for every capture of a job in the order of an index: by SURT, second of capture, URL and layer. The
// database sorts on disk what does not fit in its memory.
func (l *Ledger) Captures(ctx context.Context, job uint32, fn func(*Capture) error) error {
	const columns = `key, owner, gen, url, surt, coalesce(status, 0) AS status, coalesce(mime, '') AS mime, coalesce(digest, '') AS digest,
coalesce(revisit, 0) AS revisit, coalesce(truncated, '') AS truncated, warc, warc_at, warc_len, fetched_at`
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT page, key, owner, gen, url, status, mime, digest, revisit, truncated, warc, warc_at, warc_len,
fetched_at FROM (SELECT 1 AS page, `+columns+` FROM pages WHERE job = ? AND warc IS NOT NULL
UNION ALL SELECT 0 AS page, `+columns+` FROM captures WHERE job = ?) AS c
ORDER BY `+l.kind.bytewise("surt")+`, fetched_at / 1000, `+l.kind.bytewise("url")+`, owner, gen`), int64(job), int64(job))
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var c Capture
		var key []byte
		err := rows.Scan(&c.Page, &key, &c.Owner, &c.Gen, &c.URL, &c.Status, &c.Mime, &c.Digest, &c.Revisit, &c.Truncated, &c.WARC, &c.Offset,
			&c.Length, &c.FetchedAt)
		if err != nil {
			return l.wrap(err)
		}
		copy(c.Key[:], key)
		if err := fn(&c); err != nil {
			return err
		}
	}
	return l.wrap(rows.Err())
}

// Bill is what a node has cost for a while.
type Bill struct {
	Node, Store          string
	Incarnation          string
	Seen                 int64 // Unix ms
	PresentMS, WorkingMS int64
	Cost                 float64
}

// Charge adds bills to the nodes' accounts, and to the demand for how long (ms) so many nodes were at work at once.
func (l *Ledger) Charge(ctx context.Context, bills []Bill, atWork map[int]int64) error {
	if len(bills) == 0 {
		return nil
	}
	return l.write(ctx, func(w *writer) error {
		for n, ms := range atWork {
			err := w.exec(`INSERT INTO demand (nodes, ms) VALUES (?, ?) ON CONFLICT (nodes) DO UPDATE SET ms = demand.ms + excluded.ms`, n, ms)
			if err != nil {
				return err
			}
		}
		for _, b := range bills {
			err := w.exec(`INSERT INTO accounts (node, store, seen, present_ms, working_ms, cost) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (node) DO UPDATE SET store = excluded.store, seen = excluded.seen, present_ms = accounts.present_ms + excluded.present_ms,
working_ms = accounts.working_ms + excluded.working_ms, cost = accounts.cost + excluded.cost`,
				b.Node, b.Store, b.Seen, b.PresentMS, b.WorkingMS, b.Cost)
			if err == nil && b.Incarnation != "" { // a node that comes back may have another store
				err = w.exec(`INSERT INTO nodes (node, incarnation, first_seen, store) VALUES (?, ?, ?, ?)
ON CONFLICT (node, incarnation) DO UPDATE SET store = excluded.store`, b.Node, b.Incarnation, b.Seen, b.Store)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
}

// Earned is a node's account.
type Earned struct {
	Store                string
	Seen                 int64 // Unix ms
	PresentMS, WorkingMS int64
	Cost                 float64
	Pages, Bytes         int64
	Asked, Good          int64 // requests, and those of them that were answered with a status below 400
}

// Earned returns the accounts of all nodes there ever were.
func (l *Ledger) Earned(ctx context.Context) (map[string]Earned, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT node, store, seen, present_ms, working_ms, cost, pages, bytes, asked, good FROM accounts`)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	out := map[string]Earned{}
	for rows.Next() {
		var node string
		var e Earned
		if err := rows.Scan(&node, &e.Store, &e.Seen, &e.PresentMS, &e.WorkingMS, &e.Cost, &e.Pages, &e.Bytes, &e.Asked, &e.Good); err != nil {
			return nil, l.wrap(err)
		}
		out[node] = e
	}
	return out, l.wrap(rows.Err())
}

// Demand returns for how long (ms) so many nodes were at work at once.
func (l *Ledger) Demand(ctx context.Context) (map[int]int64, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT nodes, ms FROM demand`)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	out := map[int]int64{}
	for rows.Next() {
		var n int
		var ms int64
		if err := rows.Scan(&n, &ms); err != nil {
			return nil, l.wrap(err)
		}
		out[n] = ms
	}
	return out, l.wrap(rows.Err())
}

// Stores returns where archives were written: every store that a node has named, and those that the ledger was made anew from.
func (l *Ledger) Stores(ctx context.Context) ([]string, error) {
	return column[string](ctx, l, `SELECT store FROM accounts WHERE store <> ''
UNION `+storesOfLeases+`
UNION SELECT store FROM stores ORDER BY store`)
}

// storesOfLeases are the stores into which leases have written, also those of a node's earlier lives.
const storesOfLeases = `SELECT DISTINCT n.store FROM nodes n JOIN leases l ON l.node = n.node AND l.incarnation = n.incarnation
WHERE (l.collected > 0 OR l.search IS NOT NULL) AND n.store <> '' AND n.store <> 'warc'`

// Unplaced returns the nodes that have archived something and whose store is not known, in order: the log does not name stores, and a ledger
// that was made anew from it has those of nodes that came back since.
func (l *Ledger) Unplaced(ctx context.Context) ([]string, error) {
	return column[string](ctx, l, `SELECT DISTINCT l.node FROM leases l LEFT JOIN accounts a ON a.node = l.node
LEFT JOIN nodes n ON n.node = l.node AND n.incarnation = l.incarnation
WHERE (l.collected > 0 OR l.search IS NOT NULL) AND coalesce(a.store, '') = '' AND coalesce(n.store, '') IN ('', 'warc') ORDER BY 1`)
}

// Jobs returns the numbers of all jobs, in order.
func (l *Ledger) Jobs(ctx context.Context) ([]uint32, error) {
	return column[uint32](ctx, l, `SELECT id FROM jobs ORDER BY id`)
}

// Sharing returns the jobs that had leases of a job's sites before a time (Unix ms), the newest first.
func (l *Ledger) Sharing(ctx context.Context, job uint32, before int64) ([]uint32, error) {
	return column[uint32](ctx, l, l.kind.bind(`SELECT DISTINCT job FROM leases WHERE job <> ? AND started < ? AND site IN (SELECT site FROM leases WHERE job = ?) ORDER BY job DESC`),
		int64(job), before, int64(job))
}

// EndedBefore returns the jobs that have ended before a time, in order.
func (l *Ledger) EndedBefore(ctx context.Context, at time.Time) ([]uint32, error) {
	return column[uint32](ctx, l, l.kind.bind(`SELECT id FROM jobs WHERE ended IS NOT NULL AND ended < ? ORDER BY id`), at.UnixMilli())
}

// column returns the values of a query's only column.
func column[T any](ctx context.Context, l *Ledger, query string, args ...any) (out []T, err error) {
	rows, err := l.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v T
		if err := rows.Scan(&v); err != nil {
			return nil, l.wrap(err)
		}
		out = append(out, v)
	}
	return out, l.wrap(rows.Err())
}

// OpenLeases returns the leases that have not ended, in order.
func (l *Ledger) OpenLeases(ctx context.Context) ([]uint64, error) {
	return column[uint64](ctx, l, `SELECT id FROM leases WHERE ended IS NULL ORDER BY id`)
}

// LeasesLost counts the leases of a job that ended without a final part: recalled, or given up with their node.
func (l *Ledger) LeasesLost(ctx context.Context, job uint32) (n int, err error) {
	row := l.db.QueryRowContext(ctx, l.kind.bind(`SELECT count(*) FROM leases WHERE job = ? AND reason IN (?, ?)`), int64(job), crawl.EndDead, crawl.EndRecalled)
	if err := row.Scan(&n); err != nil {
		return 0, l.wrap(err)
	}
	return n, nil
}

// Answers says how many URLs of a site were answered with a status.
type Answers struct {
	Status int
	URLs   int64
}

// Statuses returns the statuses of a job's answers, by site.
func (l *Ledger) Statuses(ctx context.Context, job uint32) (map[string][]Answers, error) {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT site, status, count(*) FROM pages
WHERE job = ? AND state = 'fetched' AND status IS NOT NULL GROUP BY site, status`), int64(job))
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	out := map[string][]Answers{}
	for rows.Next() {
		var site string
		var a Answers
		if err := rows.Scan(&site, &a.Status, &a.URLs); err != nil {
			return nil, l.wrap(err)
		}
		out[site] = append(out[site], a)
	}
	return out, l.wrap(rows.Err())
}

// Answered returns the pages of a job that were answered with one of some statuses, in no particular order.
func (l *Ledger) Answered(ctx context.Context, job uint32, statuses []int) (out []crawl.Page, err error) {
	args := []any{int64(job)}
	for _, status := range statuses {
		args = append(args, status)
	}
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT owner, gen, key FROM pages WHERE job = ? AND state = 'fetched' AND status IN (`+
		strings.Join(slices.Repeat([]string{"?"}, len(statuses)), ", ")+`)`), args...)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var p crawl.Page
		var key []byte
		if err := rows.Scan(&p.Owner, &p.Gen, &key); err != nil {
			return nil, l.wrap(err)
		}
		copy(p.Key[:], key)
		out = append(out, p)
	}
	return out, l.wrap(rows.Err())
}

// LossEmpty is why a seed, or where it leads, brought nothing: an answer without a body.
const LossEmpty = "empty"

// Loss says how many URLs of a site ended for a reason other than a page.
type Loss struct {
	Site    string
	Why     string // a crawl.Kind, a status from 400 on, or LossEmpty
	URLs    int64
	Example string // one of them
	Detail  string // of all of them, where it is the same
}

// Losses calls fn for what sites of a job lost, in no particular order: URLs that failed, that robots.txt forbids, that were read in
// part, or whose answer is an error.
func (l *Ledger) Losses(ctx context.Context, job uint32, fn func(Loss)) error {
	const why = `coalesce(reason, CASE WHEN status < 300 THEN '` + LossEmpty + `' ELSE CAST(status AS TEXT) END)`
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT site, `+why+` AS why, count(*), min(url), min(coalesce(detail, '')), max(coalesce(detail, ''))
FROM pages WHERE job = ? AND (reason IS NOT NULL OR status >= 400 OR status BETWEEN 200 AND 299 AND bytes = 0 AND depth = 0) GROUP BY site, `+why), int64(job))
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var v Loss
		var other string
		if err := rows.Scan(&v.Site, &v.Why, &v.URLs, &v.Example, &v.Detail, &other); err != nil {
			return l.wrap(err)
		}
		if v.Detail != other {
			v.Detail = ""
		}
		fn(v)
	}
	return l.wrap(rows.Err())
}

// Description is what the ledger says of a job for people.
type Description struct {
	ID       uint32
	Name     string
	State    string
	Identity crawl.Identity
	Created  int64 // Unix ms
	Ended    int64 // 0 while it runs
}

// Describe returns what is said of a job, nil if there is none of the number.
func (l *Ledger) Describe(ctx context.Context, id uint32) (*Description, error) {
	j := Description{ID: id}
	var identity string
	row := l.db.QueryRowContext(ctx, l.kind.bind(`SELECT coalesce(name, ''), state, identity, created, coalesce(ended, 0) FROM jobs WHERE id = ?`), int64(id))
	err := row.Scan(&j.Name, &j.State, &identity, &j.Created, &j.Ended)
	if errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	}
	if err == nil {
		err = json.Unmarshal([]byte(identity), &j.Identity)
	}
	if err != nil {
		return nil, l.wrap(err)
	}
	return &j, nil
}

// Same is a set of URLs of a job whose answers had the same bytes.
type Same struct {
	Digest  string
	URLs    int64
	Bytes   int64  // of one
	Example string // the first by name
}

// Duplicates returns the largest sets of URLs with equal bodies that are not empty, at most so many.
func (l *Ledger) Duplicates(ctx context.Context, job uint32, most int) (out []Same, err error) {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT digest, count(*) AS n, max(bytes), min(url) FROM pages
WHERE job = ? AND state = 'fetched' AND status = 200 AND digest IS NOT NULL AND bytes > 0 GROUP BY digest HAVING count(*) > 1 ORDER BY n DESC, min(url) LIMIT ?`), int64(job), most)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var s Same
		if err := rows.Scan(&s.Digest, &s.URLs, &s.Bytes, &s.Example); err != nil {
			return nil, l.wrap(err)
		}
		out = append(out, s)
	}
	return out, l.wrap(rows.Err())
}

// FetchSpan returns when the first and the last page of a job were fetched, Unix ms by the nodes' clocks; zeros if none was.
func (l *Ledger) FetchSpan(ctx context.Context, job uint32) (first, last int64, err error) {
	row := l.db.QueryRowContext(ctx, l.kind.bind(`SELECT coalesce(min(fetched_at), 0), coalesce(max(fetched_at), 0) FROM pages WHERE job = ? AND state = 'fetched'`), int64(job))
	return first, last, l.wrap(row.Scan(&first, &last))
}
