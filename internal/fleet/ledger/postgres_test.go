package ledger

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"testing"

	"argosy/internal/testkit"
	"argosy/internal/testkit/scratch"
)

var databases testkit.Databases

func TestMain(m *testing.M) { os.Exit(scratch.Run(m, databases.Stop)) }

// Database returns the URL of an empty database of PostgreSQL; the test is skipped where that is not installed.
func Database(t *testing.T) string {
	t.Helper()
	return databases.New(t)
}

// A database that takes nothing is waited for, and goes on when it does again; what it takes for a mistake is not waited for.
func TestReadOnlyForAWhile(t *testing.T) {
	place := Database(t)
	l, err := Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	db, err := sql.Open("pgx", place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	says := func(statement string) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
		l.db.SetMaxIdleConns(0) // what is connected knows nothing of it
		l.db.SetMaxIdleConns(2)
	}
	var name string
	if err := db.QueryRowContext(t.Context(), "SELECT current_database()").Scan(&name); err != nil {
		t.Fatal(err)
	}
	says("ALTER DATABASE " + name + " SET default_transaction_read_only = on")
	if err := l.Rebase(t.Context(), "log", 1); !errors.Is(err, ErrAway) {
		t.Errorf("read-only: %v", err)
	}
	says("ALTER DATABASE " + name + " RESET default_transaction_read_only")
	if err := l.Rebase(t.Context(), "log", 1); err != nil {
		t.Errorf("again: %v", err)
	}
	if _, err := l.db.ExecContext(t.Context(), "SELECT nothing FROM nowhere"); errors.Is(l.wrap(err), ErrAway) {
		t.Errorf("a mistake is waited for: %v", err)
	}
}

// A connection that the database has ended between two transactions is replaced: nobody hears of it.
func TestConnectionIsReplaced(t *testing.T) {
	place := Database(t)
	l, err := Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	db, err := sql.Open("pgx", place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for seq := range uint64(3) {
		if err := l.Rebase(t.Context(), "log", seq+1); err != nil {
			t.Fatalf("transaction %d: %v", seq+1, err)
		}
		_, err := db.ExecContext(t.Context(), "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()")
		if err != nil {
			t.Fatal(err)
		}
	}
}

// Statements are prepared once for all transactions, so many as are kept; the rest goes on.
func TestStatementsAreKept(t *testing.T) {
	l, err := Open(t.Context(), t.TempDir()+"/l.db")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	prepared := func(n int) (first *sql.Stmt) {
		t.Helper()
		err := l.write(t.Context(), func(w *writer) (err error) {
			for i := range n {
				s, err := w.prepare(fmt.Sprintf("SELECT %d", i))
				if err != nil {
					return err
				}
				if i == 0 {
					first = s
				}
				var got int
				if err := s.QueryRowContext(t.Context()).Scan(&got); err != nil || got != i {
					t.Errorf("statement %d says %d, %v", i, got, err)
				}
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		return first
	}
	if first := prepared(maxKept + 3); prepared(1) != first {
		t.Error("it is prepared again in the next transaction")
	}
	if len(l.stmts) != maxKept {
		t.Errorf("%d statements are kept, of at most %d", len(l.stmts), maxKept)
	}
}
