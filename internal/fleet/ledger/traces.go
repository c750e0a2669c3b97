package ledger

import (
	"context"
	"database/sql"
)

// Trace is a lease from when it was planned to when its last report was written, and the reports.
type Trace struct {
	Lease   int64
	Task    uint32
	Node    string
	Site    string
	Attempt int64
	Started int64 // Unix ms
	Ended   int64 // Unix ms; 0: it goes on
	Reason  string
	Parts   []Part
}

// Part is a report about a lease.
type Part struct {
	At       int64 // Unix ms
	WorkedUS int64
	Asked    int64 // requests
	Good     int64 // answers with a status below 400
	Bits     int64
}

// Traces calls fn for the leases of a job that began at some time (Unix ms) or later, in their order.
func (l *Ledger) Traces(ctx context.Context, job uint32, since int64, fn func(*Trace) error) error {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT l.id, l.task, l.node, l.site, l.attempt, l.started, l.ended, l.reason, r.at, r.worked_us, r.asked, r.good, r.bits
FROM leases l LEFT JOIN reports r ON r.lease = l.id WHERE l.job = ? AND l.started >= ? ORDER BY l.started, l.id, r.at`), int64(job), since)
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	var t *Trace
	for rows.Next() {
		var next Trace
		var ended, at, worked, asked, good, bits sql.NullInt64
		var reason sql.NullString
		if err := rows.Scan(&next.Lease, &next.Task, &next.Node, &next.Site, &next.Attempt, &next.Started, &ended, &reason, &at, &worked, &asked, &good, &bits); err != nil {
			return l.wrap(err)
		}
		if t == nil || t.Lease != next.Lease {
			if t != nil {
				if err := fn(t); err != nil {
					return err
				}
			}
			next.Ended, next.Reason = ended.Int64, reason.String
			t = &next
		}
		if at.Valid {
			t.Parts = append(t.Parts, Part{at.Int64, worked.Int64, asked.Int64, good.Int64, bits.Int64})
		}
	}
	if err := rows.Err(); err != nil {
		return l.wrap(err)
	}
	if t != nil {
		return fn(t)
	}
	return nil
}
