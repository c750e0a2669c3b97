package ledger

import (
	"context"
	"strings"
)

// PageQuery says which pages of a job are looked for. An empty field asks for nothing.
type PageQuery struct {
	State string // fetched, failed or excluded
	Class int    // of the status: 4 is 400 to 499
	Mime  string // begins with
	Site  string
	Node  string
	Find  string // stands in the URL or the title, in whatever case
	Limit int
	Skip  int
}

// FindPages calls fn for the pages of a job that a query asks for, those that were reported last first.
func (l *Ledger) FindPages(ctx context.Context, job uint32, q PageQuery, fn func(*Page) error) error {
	var b strings.Builder
	args := []any{int64(job)}
	also := func(text string, values ...any) {
		b.WriteString(" AND " + text)
		args = append(args, values...)
	}
	if q.State != "" {
		also("state = ?", q.State)
	}
	if q.Class > 0 {
		also("status >= ? AND status < ?", q.Class*100, q.Class*100+100)
	}
	if q.Mime != "" {
		also(`mime LIKE ? ESCAPE '\'`, likely(q.Mime)+"%")
	}
	if q.Site != "" {
		also("site = ?", q.Site)
	}
	if q.Node != "" {
		also("node = ?", q.Node)
	}
	if q.Find != "" {
		text := "%" + likely(strings.ToLower(q.Find)) + "%"
		also(`(lower(url) LIKE ? ESCAPE '\' OR lower(coalesce(title, '')) LIKE ? ESCAPE '\')`, text, text)
	}
	args = append(args, q.Limit, q.Skip)
	return l.pages(ctx, b.String()+" ORDER BY seq DESC, ord DESC, owner, gen, key LIMIT ? OFFSET ?", fn, args...)
}

// likely makes a text stand for itself in a LIKE.
func likely(s string) string {
	return strings.NewReplacer(`\`, `\\`, `%`, `\%`, `_`, `\_`).Replace(s)
}

// Share is a part of what was fetched: URLs with something in common, and their bytes.
type Share struct {
	Name  string `json:"name"`
	URLs  int64  `json:"urls"`
	Bytes int64  `json:"bytes"`
}

// Types returns what a job has fetched by its type, the largest first.
func (l *Ledger) Types(ctx context.Context, job uint32) ([]Share, error) {
	return l.shares(ctx, `SELECT coalesce(mime, '') AS what, count(*), coalesce(sum(bytes), 0) AS n FROM pages WHERE job = ? AND state = 'fetched' GROUP BY what ORDER BY n DESC, what`, int64(job))
}

// Answered returns what a job has fetched by the status of the answer, in order.
func (l *Ledger) Answered(ctx context.Context, job uint32) ([]Share, error) {
	return l.shares(ctx, `SELECT CAST(coalesce(status, 0) AS TEXT) AS what, count(*), coalesce(sum(bytes), 0) FROM pages WHERE job = ? AND state = 'fetched' GROUP BY what ORDER BY what`, int64(job))
}

func (l *Ledger) shares(ctx context.Context, query string, args ...any) ([]Share, error) {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(query), args...)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	out := []Share{}
	for rows.Next() {
		var s Share
		if err := rows.Scan(&s.Name, &s.URLs, &s.Bytes); err != nil {
			return nil, l.wrap(err)
		}
		out = append(out, s)
	}
	return out, l.wrap(rows.Err())
}

// Bin is what was fetched in a stretch of time.
type Bin struct {
	At     int64 `json:"at"` // Unix ms, where it begins
	URLs   int64 `json:"urls"`
	Pages  int64 `json:"pages"`
	Errors int64 `json:"errors"` // with a status from 400 on
	Bytes  int64 `json:"bytes"`
}

// Timeline returns what a job has fetched in at most so many stretches of time, by the nodes' clocks, and how long each is, ms. Those in
// which nothing was fetched are left out.
func (l *Ledger) Timeline(ctx context.Context, job uint32, bins int) (out []Bin, width int64, err error) {
	first, last, err := l.FetchSpan(ctx, job)
	if err != nil || first == 0 {
		return []Bin{}, 0, err
	}
	width = max(1000, (last-first)/int64(bins)+1)
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT (fetched_at - ?) / ? AS bin, count(*), coalesce(sum(CASE WHEN html <> 0 AND status = 200 THEN 1 ELSE 0 END), 0),
coalesce(sum(CASE WHEN status >= 400 THEN 1 ELSE 0 END), 0), coalesce(sum(bytes), 0) FROM pages WHERE job = ? AND state = 'fetched' GROUP BY bin ORDER BY bin`), first, width, int64(job))
	if err != nil {
		return nil, 0, l.wrap(err)
	}
	defer rows.Close()
	out = []Bin{}
	for rows.Next() {
		var b Bin
		if err := rows.Scan(&b.At, &b.URLs, &b.Pages, &b.Errors, &b.Bytes); err != nil {
			return nil, 0, l.wrap(err)
		}
		b.At = first + b.At*width
		out = append(out, b)
	}
	return out, width, l.wrap(rows.Err())
}

// Cell is what a node has fetched of a site.
type Cell struct {
	Site   string `json:"site"`
	Node   string `json:"node"`
	URLs   int64  `json:"urls"`
	Failed int64  `json:"failed"` // besides
	Bytes  int64  `json:"bytes"`
	First  int64  `json:"first"` // Unix ms
	Last   int64  `json:"last"`
}

// Cells returns who has fetched what of the sites of a job, the sites with most URLs first, at most so many of those.
func (l *Ledger) Cells(ctx context.Context, job uint32, sites int) ([]Cell, error) {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT site, node, sum(CASE WHEN state = 'fetched' THEN 1 ELSE 0 END),
sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END), coalesce(sum(bytes), 0), min(fetched_at), max(fetched_at)
FROM pages WHERE job = ? AND node <> '' AND site IN (SELECT site FROM pages WHERE job = ? GROUP BY site ORDER BY count(*) DESC, site LIMIT ?)
GROUP BY site, node ORDER BY site, node`), int64(job), int64(job), sites)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	out := []Cell{}
	for rows.Next() {
		var c Cell
		if err := rows.Scan(&c.Site, &c.Node, &c.URLs, &c.Failed, &c.Bytes, &c.First, &c.Last); err != nil {
			return nil, l.wrap(err)
		}
		out = append(out, c)
	}
	return out, l.wrap(rows.Err())
}
