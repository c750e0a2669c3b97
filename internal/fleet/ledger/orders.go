package ledger

import "context"

// Order is what somebody has asked the coordinator for.
type Order struct {
	Seq  uint64 `json:"seq"` // of its entry in the log
	At   int64  `json:"at"`  // Unix ms
	Who  string `json:"who"`
	What string `json:"what"`
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
