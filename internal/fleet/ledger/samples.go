package ledger

import "context"

// Sample is how far a job, or all jobs, were at a time.
type Sample struct {
	At         int64 `json:"at"` // Unix ms
	Fetched    int64 `json:"fetched"`
	Pages      int64 `json:"pages"`
	Failed     int64 `json:"failed"`
	Excluded   int64 `json:"excluded"`
	Discovered int64 `json:"discovered"`
	Bytes      int64 `json:"bytes"`
	Held       int64 `json:"held"`
}

// Samples are those of a job that are to be kept. Whole are all that there are, and take the place of what was kept; others are added.
type Samples struct {
	All   []Sample
	Whole bool
}

// PutSamples keeps samples, by job.
func (l *Ledger) PutSamples(ctx context.Context, of map[uint32]Samples) error {
	return l.write(ctx, func(w *writer) error {
		for job, s := range of {
			if s.Whole {
				if err := w.exec(`DELETE FROM samples WHERE job = ?`, job); err != nil {
					return err
				}
			}
			for _, v := range s.All {
				err := w.exec(`INSERT INTO samples (job, at, fetched, pages, failed, excluded, discovered, bytes, held)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING`, job, v.At, v.Fetched, v.Pages, v.Failed, v.Excluded, v.Discovered, v.Bytes, v.Held)
				if err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// Samples returns the samples that are kept, by job, the oldest first.
func (l *Ledger) Samples(ctx context.Context) (map[uint32][]Sample, error) {
	rows, err := l.db.QueryContext(ctx, `SELECT job, at, fetched, pages, failed, excluded, discovered, bytes, held FROM samples ORDER BY job, at`)
	if err != nil {
		return nil, l.wrap(err)
	}
	defer rows.Close()
	out := map[uint32][]Sample{}
	for rows.Next() {
		var job uint32
		var v Sample
		if err := rows.Scan(&job, &v.At, &v.Fetched, &v.Pages, &v.Failed, &v.Excluded, &v.Discovered, &v.Bytes, &v.Held); err != nil {
			return nil, l.wrap(err)
		}
		out[job] = append(out[job], v)
	}
	return out, l.wrap(rows.Err())
}
