package ledger

import (
	"context"
	"database/sql"
	"fmt"

	"argosy/internal/crawl"
)

// Task is a row of the tasks table.
type Task struct {
	ID         uint32           `json:"task"`
	Job        uint32           `json:"job"`
	Site       string           `json:"site"`
	State      string           `json:"state"`
	Discovered int64            `json:"discovered"`
	Fetched    int64            `json:"fetched"`
	Pages      int64            `json:"pages"`
	Duplicates int64            `json:"duplicates"`
	Failed     int64            `json:"failed"`
	Excluded   int64            `json:"excluded"`
	Pending    int64            `json:"pending"`
	Overflow   int64            `json:"overflow"`
	Bytes      int64            `json:"bytes"`
	Attempts   uint32           `json:"attempts"`
	Recalls    int              `json:"recalls"`
	Reasons    map[string]int64 `json:"reasons,omitempty"`
	History    []string         `json:"history,omitempty"`
}

// PutTasks replaces the rows of tasks with a snapshot of their counts.
func (l *Ledger) PutTasks(ctx context.Context, tasks []Task) error {
	tx, err := l.db.BeginTx(ctx, nil)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	defer func() { _ = tx.Rollback() }()
	w := &writer{ctx: ctx, tx: tx, stmts: map[string]*sql.Stmt{}}
	for i := range tasks {
		t := &tasks[i]
		err := w.exec(`INSERT OR REPLACE INTO tasks (id, job, site, state, discovered, fetched, pages, duplicates, failed, excluded,
pending, overflow, bytes, attempts, recalls, reasons, history) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
			t.ID, t.Job, t.Site, t.State, t.Discovered, t.Fetched, t.Pages, t.Duplicates, t.Failed, t.Excluded, t.Pending,
			t.Overflow, t.Bytes, t.Attempts, t.Recalls, asJSON(t.Reasons), asJSON(t.History))
		if err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
	}
	return tx.Commit()
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
	Score     float64 `json:"score,omitempty"`

	Key crawl.Key `json:"-"`
}

// Pages calls fn for every page of a job in the order in which they were reported.
func (l *Ledger) Pages(ctx context.Context, job uint32, fn func(*Page) error) error {
	return l.pages(ctx, job, ` ORDER BY rowid`, fn)
}

// Sorted calls fn for every page of a job in the order of an index: by SURT, second of capture and URL. SQLite sorts on
// disk what does not fit in its cache.
func (l *Ledger) Sorted(ctx context.Context, job uint32, fn func(*Page) error) error {
	return l.pages(ctx, job, ` ORDER BY surt, fetched_at / 1000, url`, fn)
}

func (l *Ledger) pages(ctx context.Context, job uint32, order string, fn func(*Page) error) error {
	rows, err := l.db.QueryContext(ctx, `SELECT key, url, state, coalesce(reason, ''), coalesce(detail, ''), coalesce(status, 0),
coalesce(mime, ''), coalesce(charset, ''), html, coalesce(title, ''), coalesce(lang, ''), coalesce(simhash, 0),
coalesce(digest, ''), revisit, noindex, bytes, coalesce(links, 0), depth, coalesce(redirect, ''), coalesce(ip, ''),
coalesce(proto, ''), coalesce(warc, ''), warc_at, warc_len, coalesce(text, ''), coalesce(text_at, 0), coalesce(text_len, 0),
site, node, fetched_at, coalesce(score, 0) FROM pages WHERE job = ?`+order, job)
	if err != nil {
		return fmt.Errorf("ledger: %w", err)
	}
	defer rows.Close()
	for rows.Next() {
		var p Page
		var key []byte
		err := rows.Scan(&key, &p.URL, &p.State, &p.Reason, &p.Detail, &p.Status, &p.Mime, &p.Charset, &p.HTML, &p.Title, &p.Lang,
			&p.Simhash, &p.Digest, &p.Revisit, &p.NoIndex, &p.Bytes, &p.Links, &p.Depth, &p.Redirect, &p.IP, &p.Proto, &p.WARC,
			&p.Offset, &p.Length, &p.Text, &p.TextAt, &p.TextLen, &p.Site, &p.Node, &p.FetchedAt, &p.Score)
		if err != nil {
			return fmt.Errorf("ledger: %w", err)
		}
		copy(p.Key[:], key)
		if err := fn(&p); err != nil {
			return err
		}
	}
	return rows.Err()
}
