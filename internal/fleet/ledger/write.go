package ledger

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// writersCache is what the connection of transactions keeps of the database, in KiB: the upper parts of its indexes. Other connections
// have a sixth, which is also what they sort in: what does not fit is sorted on disk.
const writersCache = `PRAGMA cache_size = -12000`

// write runs fn in a transaction that is on disk when it returns. SQLite is not interrupted: it waits for other
// processes for ten seconds at most.
func (l *Ledger) write(ctx context.Context, fn func(*writer) error) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if l.kind == sqlite {
		ctx = context.WithoutCancel(ctx)
	}
	tx, err := l.begin(ctx)
	if err != nil {
		return l.wrap(err)
	}
	w := &writer{ctx: ctx, tx: tx, conn: l.conn, kind: l.kind, kept: l.stmts, stmts: map[string]*sql.Stmt{}, accounts: map[string]account{}, counts: map[uint32]*count{}, leases: map[uint64]*leaseOf{}, remade: &l.remade}
	if err = fn(w); err == nil {
		err = tx.Commit()
	}
	if err != nil {
		_ = tx.Rollback() // after a Commit that was begun it does nothing
		_ = l.release()   // what has failed on it is not known to be over
	}
	return l.wrap(err)
}

// begin begins a transaction on the connection that is kept for them: its statements are prepared once. One that has ended since the last
// transaction is replaced, as are those that others have used and given back, of which there are two at most.
func (l *Ledger) begin(ctx context.Context) (tx *sql.Tx, err error) {
	for left := 3; ; left-- {
		if l.conn == nil {
			if l.conn, err = l.db.Conn(ctx); err != nil {
				l.conn = nil
				return nil, err
			}
			l.stmts = map[string]*sql.Stmt{}
			if l.kind == sqlite {
				if _, err = l.conn.ExecContext(ctx, writersCache); err != nil {
					_ = l.release()
					return nil, err
				}
			}
		}
		if tx, err = l.conn.BeginTx(ctx, nil); err == nil && l.kind == postgres {
			if _, err = tx.ExecContext(ctx, fmt.Sprintf("SET LOCAL idle_in_transaction_session_timeout = %d", l.idle.Milliseconds())); err != nil {
				_ = tx.Rollback()
			}
		}
		if err == nil {
			return tx, nil
		}
		_ = l.release()
		if left == 0 || l.kind == sqlite || ctx.Err() != nil {
			return nil, err
		}
	}
}

// release gives the connection of transactions back.
func (l *Ledger) release() (err error) {
	for _, s := range l.stmts {
		_ = s.Close() // they end with the connection, too
	}
	if l.conn != nil {
		err = l.conn.Close()
	}
	if l.conn, l.stmts = nil, nil; errors.Is(err, sql.ErrConnDone) {
		return nil
	}
	return err
}

// idleMost is how long a coordinator may say nothing in the middle of a transaction before the database gives it up: one whose machine has
// stopped would keep the next one from writing for as long as it stands still.
const idleMost = 5 * time.Second

// writer runs prepared statements in one transaction.
type writer struct {
	ctx   context.Context
	tx    *sql.Tx
	conn  *sql.Conn // that tx is on
	kind  dialect
	kept  map[string]*sql.Stmt // of the connection, for further transactions
	stmts map[string]*sql.Stmt // of this transaction
	seq   uint64               // of the entry
	ord   int                  // pages, values and reports of it so far
	pages []any                // values of rows that are not written yet: a statement for many costs less than one for each

	rows     []pending          // the same rows, as they count
	counts   map[uint32]*count  // of the pages of jobs
	accounts map[string]account // what nodes have earned since the transaction began
	reports  []any              // values of rows that are not written yet
	leases   map[uint64]*leaseOf

	remade *remade
	named  []named // records of rows that are not written yet, in a ledger that was made anew
}

// account is what a node has earned.
type account struct{ pages, bytes, asked, good int64 }

// maxKept bounds the statements that are kept: some name tasks, and no later transaction has those again. There are some thirty others.
const maxKept = 64

func (w *writer) prepare(query string) (s *sql.Stmt, err error) {
	if s = w.kept[query]; s != nil {
		return s, nil
	}
	if s = w.stmts[query]; s != nil {
		return s, nil
	}
	if len(w.kept) < maxKept {
		if s, err = w.conn.PrepareContext(w.ctx, w.kind.bind(query)); err == nil {
			w.kept[query] = s
		}
		return s, err
	}
	if s, err = w.tx.PrepareContext(w.ctx, w.kind.bind(query)); err == nil {
		w.stmts[query] = s
	}
	return s, err
}

func (w *writer) exec(query string, args ...any) error {
	s, err := w.prepare(query)
	if err != nil {
		return err
	}
	for i, a := range args {
		args[i] = plain(a)
	}
	_, err = s.ExecContext(w.ctx, args...)
	return err
}
