package ledger

import "context"

// Order is what somebody has asked the coordinator for.
type Order struct {
	Seq  uint64 `json:"seq"` // of its entry in the log
	At   int64  `json:"at"`  // Unix ms
	Who  string `json:"who"`
	What string `json:"what"`
}

// Orders returns the last n orders, the newest first.
func (l *Ledger) Orders(ctx context.Context, n int) ([]Order, error) {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT seq, at, who, what FROM orders ORDER BY at DESC, seq DESC LIMIT ?`), n)
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
