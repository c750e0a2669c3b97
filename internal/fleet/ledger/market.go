package ledger

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"

	"argosy/internal/crawl"
)

// market writes a market that was held.
func (w *writer) market(at int64, r *crawl.Round) error {
	var bidden, prices any
	if len(r.Prices) > 0 {
		bidden, prices = asJSON(r.Bidden), asJSON(r.Prices)
	}
	err := w.exec(`INSERT INTO markets (job, market, at, ran_ms, learned, crawlers, rounds, took_over, worth, bidden, prices)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, r.Job, r.No, at, r.RanMS, r.Learned, asJSON(r.Crawlers), r.Rounds, r.TookOver, r.Value, bidden, prices)
	if err != nil {
		return err
	}
	for i := range r.Lots {
		l := &r.Lots[i]
		err := w.exec(`INSERT INTO lots (job, market, lot, seller, buyer, site, url, urls, worth, reserve, price)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, r.Job, r.No, i, l.Seller, null(int64(l.Buyer)), l.Site, l.URL, len(l.Pages), asJSON(l.Values),
			float64(l.Reserve), float64(l.Price))
		if err != nil {
			return err
		}
	}
	return nil
}

// Held sums up a market that was held.
type Held struct {
	No       int64          `json:"market"`
	At       int64          `json:"at"` // Unix ms
	RanMS    int64          `json:"ran_ms"`
	Learned  int64          `json:"learned"`
	Crawlers []crawl.Trader `json:"crawlers"`
	Rounds   int64          `json:"rounds"`
	TookOver int64          `json:"took_over,omitempty"`
	Worth    float64        `json:"worth"`
	Offered  int64          `json:"offered"` // URLs
	Sold     int64          `json:"sold"`    // URLs that changed hands
	Paid     float64        `json:"paid"`
}

// Markets calls fn for the markets of a job, in order.
func (l *Ledger) Markets(ctx context.Context, job uint32, fn func(Held) error) error {
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT m.market, m.at, m.ran_ms, m.learned, m.crawlers, m.rounds, m.took_over, m.worth,
coalesce(sum(o.urls), 0), coalesce(sum(CASE WHEN o.buyer <> o.seller THEN o.urls ELSE 0 END), 0),
coalesce(sum(CASE WHEN o.buyer <> o.seller THEN o.price ELSE 0 END), 0)
FROM markets m LEFT JOIN lots o ON o.job = m.job AND o.market = m.market WHERE m.job = ?
GROUP BY m.market, m.at, m.ran_ms, m.learned, m.crawlers, m.rounds, m.took_over, m.worth ORDER BY m.market`), int64(job))
	if err != nil {
		return l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var m Held
		var crawlers sql.RawBytes
		if err := rows.Scan(&m.No, &m.At, &m.RanMS, &m.Learned, &crawlers, &m.Rounds, &m.TookOver, &m.Worth, &m.Offered, &m.Sold, &m.Paid); err != nil {
			return l.wrap(err)
		}
		if err := json.Unmarshal(crawlers, &m.Crawlers); err != nil {
			return l.wrap(err)
		}
		if err := fn(m); err != nil {
			return err
		}
	}
	return l.wrap(rows.Err())
}

// Lot is what was offered in a market.
type Lot struct {
	No      int64     `json:"lot"`
	Seller  int64     `json:"seller"`
	Buyer   int64     `json:"buyer,omitempty"` // 0: nobody
	Site    string    `json:"site"`
	URL     string    `json:"url"` // the first
	URLs    int64     `json:"urls"`
	Worth   []float64 `json:"worth"` // to each crawler
	Reserve float64   `json:"reserve"`
	Price   float64   `json:"price"`
}

// Auction is what was offered in a market, and how prices rose.
type Auction struct {
	Lots   []Lot       `json:"lots"`
	Bidden []int       `json:"bidden,omitempty"` // the lots that were bidden for, by their numbers
	Prices [][]float64 `json:"prices,omitempty"` // theirs, round by round
}

// Auction returns a market of a job; nil if there was none of that number.
func (l *Ledger) Auction(ctx context.Context, job uint32, market int64) (*Auction, error) {
	var bidden, prices sql.NullString
	row := l.db.QueryRowContext(ctx, l.kind.bind(`SELECT bidden, prices FROM markets WHERE job = ? AND market = ?`), int64(job), market)
	if err := row.Scan(&bidden, &prices); errors.Is(err, sql.ErrNoRows) {
		return nil, nil
	} else if err != nil {
		return nil, l.wrap(err)
	}
	a := &Auction{Lots: []Lot{}}
	if prices.Valid {
		if err := errors.Join(json.Unmarshal([]byte(bidden.String), &a.Bidden), json.Unmarshal([]byte(prices.String), &a.Prices)); err != nil {
			return nil, l.wrap(err)
		}
	}
	rows, err := l.db.QueryContext(ctx, l.kind.bind(`SELECT lot, seller, coalesce(buyer, 0), site, url, urls, worth, reserve, price FROM lots
WHERE job = ? AND market = ? ORDER BY lot`), int64(job), market)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	for rows.Next() {
		var o Lot
		var worth sql.RawBytes
		if err := rows.Scan(&o.No, &o.Seller, &o.Buyer, &o.Site, &o.URL, &o.URLs, &worth, &o.Reserve, &o.Price); err != nil {
			return nil, l.wrap(err)
		}
		if err := json.Unmarshal(worth, &o.Worth); err != nil {
			return nil, l.wrap(err)
		}
		a.Lots = append(a.Lots, o)
	}
	return a, l.wrap(rows.Err())
}
