package ledger

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// PageQuery says which pages of a job are looked for. An empty field asks for nothing.
type PageQuery struct {
	State string // fetched, failed or excluded
	Class int    // of the status: 4 is 400 to 499
	Mime  string // begins with
	Site  string // stands in its name, in whatever case
	Node  string
	Find  string // stands in the URL or the title, in whatever case
	Limit int
	Skip  int
}

// FindPages calls fn for the pages of a job that a query asks for, those that were reported last first.
func (l *Ledger) FindPages(ctx context.Context, job uint32, q PageQuery, fn func(*Page) error) error {
	more, args := q.statement(job)
	return l.pages(ctx, more, fn, args...)
}

// statement is what follows on selectPages.
func (q *PageQuery) statement(job uint32) (more string, args []any) {
	var b strings.Builder
	args = []any{int64(job)}
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
		also(`site LIKE lower(?) ESCAPE '\'`, "%"+likely(q.Site)+"%") // names of sites are in lower case
	}
	if q.Node != "" {
		also("node = ?", q.Node)
	}
	if q.Find != "" {
		text := "%" + likely(q.Find) + "%"
		also(`(lower(url) LIKE lower(?) ESCAPE '\' OR lower(coalesce(title, '')) LIKE lower(?) ESCAPE '\')`, text, text)
	}
	return b.String() + " ORDER BY seq DESC, ord DESC, owner, gen, key LIMIT ? OFFSET ?", append(args, q.Limit, q.Skip)
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

// Shares are what a job has fetched, divided in three ways.
type Shares struct {
	Types    []Share // those with most bytes first
	Statuses []Share // of answers, in order
	Fetchers []Share // nodes, those with most URLs first
}

// Shares returns what a job has fetched by type, status and node, of one walk over its pages.
func (l *Ledger) Shares(ctx context.Context, job uint32) (s Shares, err error) {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT coalesce(mime, ''), coalesce(status, 0), coalesce(node, ''), count(*), coalesce(sum(bytes), 0)
FROM pages WHERE job = ? AND state = 'fetched' GROUP BY 1, 2, 3`), int64(job))
	if err != nil {
		return s, l.wrap(err)
	}
	defer rows.Close()
	types, statuses, fetchers := map[string]Share{}, map[string]Share{}, map[string]Share{}
	for rows.Next() {
		var mime, node string
		var status int
		var part Share
		if err := rows.Scan(&mime, &status, &node, &part.URLs, &part.Bytes); err != nil {
			return s, l.wrap(err)
		}
		part.addTo(types, mime)
		part.addTo(statuses, strconv.Itoa(status))
		if node != "" {
			part.addTo(fetchers, node)
		}
	}
	byName := func(a, b Share) int { return cmp.Compare(a.Name, b.Name) }
	s.Types = ordered(types, func(a, b Share) int { return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), byName(a, b)) })
	s.Statuses = ordered(statuses, byName)
	s.Fetchers = ordered(fetchers, func(a, b Share) int { return cmp.Or(cmp.Compare(b.URLs, a.URLs), byName(a, b)) })
	return s, l.wrap(rows.Err())
}

// addTo adds a share to the one of a name.
func (s Share) addTo(sums map[string]Share, name string) {
	was := sums[name]
	sums[name] = Share{Name: name, URLs: was.URLs + s.URLs, Bytes: was.Bytes + s.Bytes}
}

func ordered(sums map[string]Share, before func(a, b Share) int) []Share {
	out := make([]Share, 0, len(sums))
	for _, s := range sums {
		out = append(out, s)
	}
	slices.SortFunc(out, before)
	return out
}

// Bin is what was fetched in a stretch of time.
type Bin struct {
	At     int64 `json:"at"` // Unix ms, where it begins
	URLs   int64 `json:"urls"`
	Pages  int64 `json:"pages"`
	Errors int64 `json:"errors"` // with a status from 400 on
	Bytes  int64 `json:"bytes"`
	Work
}

// Work is what leases have reported, besides those that measure.
type Work struct {
	Asked    int64 `json:"asked"`     // requests
	Good     int64 `json:"good"`      // of them, those that gave a page: completion is Good of Asked
	WorkedMS int64 `json:"worked_ms"` // in which one was under way or was being stored: efficiency is WorkedMS a Good
}

func (w *Work) add(o Work) {
	w.Asked, w.Good, w.WorkedMS = w.Asked+o.Asked, w.Good+o.Good, w.WorkedMS+o.WorkedMS
}

// TimelineQuery says what a timeline is of. Empty fields are of all.
type TimelineQuery struct {
	Site, Node string
	Bins       int // at most so many
}

// Timeline returns what a job has done in at most q.Bins stretches of time, and how long each is, ms. What was fetched counts by the nodes'
// clocks, what leases have reported by the log's. Stretches in which there was nothing are left out.
func (l *Ledger) Timeline(ctx context.Context, job uint32, q TimelineQuery) (out []Bin, width int64, err error) {
	first, last, err := l.FetchSpan(ctx, job)
	if err != nil || first == 0 {
		return []Bin{}, 0, err
	}
	width = max(1000, (last-first)/int64(q.Bins)+1)
	bins := map[int64]*Bin{}
	at := func(n int64) *Bin {
		n = max(0, min(n, (last-first)/width))
		if bins[n] == nil {
			bins[n] = &Bin{At: first + n*width}
		}
		return bins[n]
	}
	if err := l.binPages(ctx, job, q, first, width, at); err != nil {
		return nil, 0, err
	}
	if err := l.binWork(ctx, job, q, first, width, at); err != nil {
		return nil, 0, err
	}
	out = make([]Bin, 0, len(bins))
	for _, n := range slices.Sorted(maps.Keys(bins)) {
		out = append(out, *bins[n])
	}
	return out, width, nil
}

// where returns the conditions of a query on a table, to stand behind others, and what they compare with.
func (q TimelineQuery) where(table string) (conditions string, args []any) {
	if q.Site != "" {
		conditions, args = conditions+" AND "+table+"site = ?", append(args, q.Site)
	}
	if q.Node != "" {
		conditions, args = conditions+" AND "+table+"node = ?", append(args, q.Node)
	}
	return conditions, args
}

// binPages counts what was fetched into stretches of time.
func (l *Ledger) binPages(ctx context.Context, job uint32, q TimelineQuery, first, width int64, at func(int64) *Bin) error {
	where, of := q.where("")
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT (fetched_at - ?) / ? AS bin, count(*), coalesce(sum(CASE WHEN html <> 0 AND status = 200 THEN 1 ELSE 0 END), 0),
coalesce(sum(CASE WHEN status >= 400 THEN 1 ELSE 0 END), 0), coalesce(sum(bytes), 0) FROM pages WHERE job = ? AND state = 'fetched'`+where+` GROUP BY bin`), append([]any{first, width, int64(job)}, of...)...)
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		var b Bin
		if err := rows.Scan(&n, &b.URLs, &b.Pages, &b.Errors, &b.Bytes); err != nil {
			return l.wrap(err)
		}
		to := at(n)
		to.URLs, to.Pages, to.Errors, to.Bytes = to.URLs+b.URLs, to.Pages+b.Pages, to.Errors+b.Errors, to.Bytes+b.Bytes
	}
	return l.wrap(rows.Err())
}

// binWork counts what leases have reported into stretches of time.
func (l *Ledger) binWork(ctx context.Context, job uint32, q TimelineQuery, first, width int64, at func(int64) *Bin) error {
	where, of := q.where("l.")
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT (r.at - ?) / ? AS bin, sum(r.asked), sum(r.good), sum(r.worked_us)
FROM leases l JOIN reports r ON r.lease = l.id WHERE l.job = ? AND l.probe = 0`+where+` GROUP BY bin`), append([]any{first, width, int64(job)}, of...)...)
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var n int64
		var w Work
		if err := rows.Scan(&n, &w.Asked, &w.Good, &w.WorkedMS); err != nil {
			return l.wrap(err)
		}
		w.WorkedMS /= 1000 // us
		if w != (Work{}) {
			at(n).add(w)
		}
	}
	return l.wrap(rows.Err())
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
	Work
}

// Cells returns who has fetched what of the sites of a job, the sites with most URLs, at most so many of those. It goes through the pages
// once.
func (l *Ledger) Cells(ctx context.Context, job uint32, sites int) ([]Cell, error) {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`WITH cells AS MATERIALIZED (SELECT site, node, count(*) AS pages, sum(CASE WHEN state = 'fetched' THEN 1 ELSE 0 END) AS fetched,
sum(CASE WHEN state = 'failed' THEN 1 ELSE 0 END) AS failed, coalesce(sum(bytes), 0) AS bytes, min(fetched_at) AS first, max(fetched_at) AS last
FROM pages WHERE job = ? GROUP BY site, node)
SELECT site, node, fetched, failed, bytes, first, last FROM cells
WHERE node <> '' AND site IN (SELECT site FROM cells GROUP BY site ORDER BY sum(pages) DESC, site LIMIT ?) ORDER BY site, node`), int64(job), sites)
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
	if err := rows.Err(); err != nil {
		return nil, l.wrap(err)
	}
	return out, l.workOf(ctx, job, out)
}

// workOf fills in what leases have reported of cells, which are in order.
func (l *Ledger) workOf(ctx context.Context, job uint32, cells []Cell) error {
	of := []any{int64(job)} // the sites' leases alone: each lease more is a look into the reports
	for i := range cells {
		if i == 0 || cells[i].Site != cells[i-1].Site {
			of = append(of, cells[i].Site)
		}
	}
	if len(of) == 1 {
		return nil
	}
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT l.site, l.node, sum(r.asked), sum(r.good), sum(r.worked_us)
FROM leases l JOIN reports r ON r.lease = l.id WHERE l.job = ? AND l.probe = 0 AND l.site IN (?`+strings.Repeat(", ?", len(of)-2)+`) GROUP BY l.site, l.node`), of...)
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	type place struct{ site, node string }
	at := make(map[place]*Cell, len(cells))
	for i := range cells {
		at[place{cells[i].Site, cells[i].Node}] = &cells[i]
	}
	for rows.Next() {
		var p place
		var w Work
		if err := rows.Scan(&p.site, &p.node, &w.Asked, &w.Good, &w.WorkedMS); err != nil {
			return l.wrap(err)
		}
		w.WorkedMS /= 1000 // us
		if c := at[p]; c != nil {
			c.Work = w
		}
	}
	return l.wrap(rows.Err())
}
