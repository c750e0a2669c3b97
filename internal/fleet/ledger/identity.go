package ledger

import (
	"context"
	"database/sql"
	"errors"
)

// Identity returns what tells this ledger from others; empty: no coordinator has taken it for its fleet's since ledgers have one.
func (l *Ledger) Identity(ctx context.Context) (id string, err error) {
	err = l.db.QueryRowContext(ctx, selectIdentity).Scan(&id)
	if errors.Is(err, sql.ErrNoRows) {
		return "", nil
	}
	return id, l.wrap(err)
}

const selectIdentity = `SELECT id FROM ledger`

// Identify gives a ledger that has no identity this one, and returns the one that it has.
func (l *Ledger) Identify(ctx context.Context, id string) (is string, err error) {
	err = l.write(ctx, func(w *writer) error {
		if err := w.exec(`INSERT INTO ledger (one, id) VALUES (1, ?) ON CONFLICT DO NOTHING`, id); err != nil {
			return err
		}
		return w.tx.QueryRowContext(w.ctx, selectIdentity).Scan(&is)
	})
	return is, err
}

// Empty reports whether nothing was ever written into the ledger but, perhaps, its identity.
func (l *Ledger) Empty(ctx context.Context) (bool, error) {
	if l.stream != "" {
		return false, nil
	}
	jobs, err := l.Jobs(ctx)
	return len(jobs) == 0, err
}
