package ledger

import (
	"context"
	"database/sql"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// Seeker is a search of a virtual task as people see it. It is not in the database: a coordinator's answer has it.
type Seeker struct {
	crawl.Search
	No         uint32       `json:"search"`
	EngineName string       `json:"engine_name"`
	Stated     crawl.Stated `json:"stated"`
	Found      int64        `json:"found"`
	Collected  int64        `json:"collected"`
	Lost       int64        `json:"lost"`
	Read       int64        `json:"result_pages"`
	Subtasks   int64        `json:"subtasks"`
	Node       string       `json:"node,omitempty"`
	Why        string       `json:"why,omitempty"`    // of its last move from one queue to another
	Moved      int64        `json:"moved"`            // when that was, Unix ms
	Shared     int64        `json:"shared,omitempty"` // pages that it has named and that are fetched for another search,
	With       uint32       `json:"with,omitempty"`   // that one
	Trail      learn.Trail  `json:"trail,omitempty"`
}

// asked writes what a lease is for.
func (w *writer) asked(l *crawl.Lease) error {
	a := l.Asked
	if a == nil {
		return nil
	}
	var existing, stated any
	if a.Stated.Kind != "" {
		existing, stated = a.Stated.N, a.Stated.Kind
	}
	return w.exec(`UPDATE leases SET search = ?, asks = ?, engine = ?, product = ?, about = ?, keywords = ?, type = ?, existing = ?, stated = ? WHERE id = ?`,
		a.No, a.Asks, a.Engine, a.Product, a.Site, strings.Join(a.Words, " "), a.Type, existing, stated, int64(l.ID))
}

// answered writes what an engine has stated.
func (w *writer) answered(lease uint64, o *crawl.Outcome) error {
	if o.Answered == nil || o.Answered.Stated.Kind == "" {
		return nil
	}
	return w.exec(`UPDATE leases SET existing = ?, stated = ? WHERE id = ?`, o.Answered.Stated.N, o.Answered.Stated.Kind, int64(lease))
}

// Run is a lease of a virtual task with all its parameters: the paper's record of a subtask.
type Run struct {
	Lease    int64  `json:"lease"`
	Task     uint32 `json:"task"`
	Search   uint32 `json:"search"`
	Asks     bool   `json:"asks"` // it asked for result pages; else it fetched what they named
	Node     string `json:"node"`
	Type     string `json:"type,omitempty"`
	Engine   string `json:"engine"`
	Site     string `json:"site"`
	Product  string `json:"product"`
	Keywords string `json:"keywords"`
	Attempt  uint32 `json:"attempt"`
	Quota    int64  `json:"quota"`
	BudgetMS int64  `json:"budget_ms"`
	Existing int64  `json:"existing"`
	Stated   string `json:"stated,omitempty"`
	Given    int64  `json:"given"`
	Good     int64  `json:"collected"` // answers with a status below 300, or 304
	Started  int64  `json:"started"`   // Unix ms
	Ended    int64  `json:"ended,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// Runs calls fn for the leases of a job's searches, of one of them if search is not 0, in their order.
func (l *Ledger) Runs(ctx context.Context, job, search uint32, fn func(Run) error) error {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT id, task, search, asks, node, type, engine, about, product, keywords, attempt, quota, budget_ms,
existing, stated, found, collected, started, ended, reason
FROM leases WHERE job = ? AND search IS NOT NULL AND (search = ? OR ? = 0) AND coalesce(probe, 0) = 0 ORDER BY started, id`), int64(job), int64(search), int64(search))
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var r Run
		var asks int
		var existing, good, ended sql.NullInt64
		var stated, reason sql.NullString
		err := rows.Scan(&r.Lease, &r.Task, &r.Search, &asks, &r.Node, &r.Type, &r.Engine, &r.Site, &r.Product, &r.Keywords, &r.Attempt, &r.Quota, &r.BudgetMS,
			&existing, &stated, &r.Given, &good, &r.Started, &ended, &reason)
		if err != nil {
			return l.wrap(err)
		}
		r.Asks, r.Existing, r.Good, r.Ended, r.Stated, r.Reason = asks != 0, existing.Int64, good.Int64, ended.Int64, stated.String, reason.String
		if err := fn(r); err != nil {
			return err
		}
	}
	return l.wrap(rows.Err())
}
