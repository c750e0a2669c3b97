package ledger

import (
	"context"
	"database/sql"
	"errors"
)

// Order is what somebody has asked the coordinator for.
type Order struct {
	Seq  uint64 `json:"seq"` // of its entry in the log
	At   int64  `json:"at"`  // Unix ms
	Who  string `json:"who"`
	What string `json:"what"`
	Sum  string `json:"-"` // a hash of all that was sent with it, if it had a key
}

// OrderQuery says which orders are asked for.
type OrderQuery struct {
	Find  string // stands in who or what, in any case; empty: all
	Skip  int    // not the newest so many
	Limit int    // at most so many
}

// Orders returns orders, the newest first.
func (l *Ledger) Orders(ctx context.Context, q OrderQuery) ([]Order, error) {
	text := "%" + likely(q.Find) + "%"
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT seq, at, who, what FROM orders WHERE lower(who) LIKE lower(?) ESCAPE '\' OR lower(what) LIKE lower(?) ESCAPE '\'
ORDER BY at DESC, seq DESC LIMIT ? OFFSET ?`), text, text, q.Limit, q.Skip)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	out := []Order{}
	for rows.Next() {
		var o Order
		var seq int64
		if err := rows.Scan(&seq, &o.At, &o.Who, &o.What); err != nil {
			return nil, l.wrap(err)
		}
		o.Seq = uint64(seq)
		out = append(out, o)
	}
	return out, l.wrap(rows.Err())
}

// Ordered returns the last order that was given with a key since then (Unix ms); nil if there is none, or it was not done.
func (l *Ledger) Ordered(ctx context.Context, key string, since int64) (*Order, error) {
	var o Order
	var seq int64
	var undone bool
	row := l.db.QueryRowContext(ctx, l.kind.bind(`SELECT seq, at, who, what, sum, undone FROM orders WHERE once = ? AND once <> '' AND at >= ? ORDER BY at DESC, seq DESC LIMIT 1`), key, since)
	err := row.Scan(&seq, &o.At, &o.Who, &o.What, &o.Sum, &undone)
	if errors.Is(err, sql.ErrNoRows) || undone {
		return nil, nil
	}
	if err != nil {
		return nil, l.wrap(err)
	}
	o.Seq = uint64(seq)
	return &o, nil
}
