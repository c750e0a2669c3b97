package ledger

import "context"

// setBack tells when the clock of a log was set back, by a second or more: the first report after that, as far as is known, and by how much, ms.
// What is told of a recording is told by a clock that is never set back, as coordinators go by one (frontier.Position): there is no telling how long
// something took else.
type setBack []struct{ seq, by int64 }

// leastBack is by how much, ms, a report must be older than the one of its lease before it: entries of one server may be dated a little out of turn.
const leastBack = 1000

// setBack finds that out. Reports of one lease are in one log, where those that come later have higher numbers; a lease that is younger than its first
// report tells of no other time than they do, if they tell of one.
func (l *Ledger) setBack(ctx context.Context) (out setBack, err error) {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT a.seq, b.seq, a.at - b.at FROM reports a JOIN reports b ON b.lease = a.lease AND b.part = a.part + 1
WHERE b.at < a.at - ?
UNION ALL SELECT 0, e.seq, l.started - e.at FROM leases l JOIN reports e ON e.lease = l.id AND e.part = 1 WHERE e.at < l.started - ? ORDER BY 2`), int64(leastBack), int64(leastBack))
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var last, seq, by int64
		if err := rows.Scan(&last, &seq, &by); err != nil {
			return nil, l.wrap(err)
		}
		if n := len(out); n > 0 && last < out[n-1].seq { // another lease tells of the same
			out[n-1].by = max(out[n-1].by, by)
			continue
		}
		out = append(out, struct{ seq, by int64 }{seq, by})
	}
	return out, l.wrap(rows.Err())
}

// SetBack returns by how much, ms, the clock of the log was set back, each time that it was, as far as reports tell it.
func (l *Ledger) SetBack(ctx context.Context) (by []int64, err error) {
	all, err := l.setBack(ctx)
	for _, s := range all {
		by = append(by, s.by)
	}
	return by, err
}

// steady is the time of what stands at a place of the log.
func (b setBack) steady(at, seq int64) int64 {
	for _, s := range b {
		if s.seq <= seq {
			at += s.by
		}
	}
	return at
}

// before is that of something before an entry: where it is younger than that, the clock was set back in between.
func (b setBack) before(at, seq, then int64) int64 {
	for n := len(b) - 1; n >= 0; n-- {
		if b[n].seq <= seq && at > then+leastBack {
			seq, then = b[n].seq-1, then+b[n].by
		}
	}
	return b.steady(at, seq)
}

// after is that of something after an entry, likewise.
func (b setBack) after(at, seq, then int64) int64 {
	for _, s := range b {
		if s.seq > seq && at < then-leastBack {
			seq, then = s.seq, then-s.by
		}
	}
	return b.steady(at, seq)
}

// edges are the places of a lease's first and last reports in the log, and when the first was stored.
type edges struct{ first, firstAt, last int64 }

// firstAndLast are they, and when the last was stored; zeros, where it has none.
const firstAndLast = `coalesce((SELECT e.seq FROM reports e WHERE e.lease = l.id ORDER BY e.part LIMIT 1), 0),
coalesce((SELECT e.at FROM reports e WHERE e.lease = l.id ORDER BY e.part LIMIT 1), 0),
coalesce((SELECT e.seq FROM reports e WHERE e.lease = l.id ORDER BY e.part DESC LIMIT 1), 0),
coalesce((SELECT e.at FROM reports e WHERE e.lease = l.id ORDER BY e.part DESC LIMIT 1), 0)`
