package ledger

import (
	"errors"
	"path/filepath"
	"testing"
)

// A database that may not be written says so in words, not by SQLite's number alone.
func TestReadOnly(t *testing.T) {
	l, err := Open(t.Context(), filepath.Join(t.TempDir(), "argosy.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	l.db.SetMaxOpenConns(1)
	if _, err := l.db.ExecContext(t.Context(), "PRAGMA query_only = 1"); err != nil {
		t.Fatal(err)
	}
	_, err = l.db.ExecContext(t.Context(), "DELETE FROM pages")
	if err := l.wrap(err); !errors.Is(err, ErrReadOnly) {
		t.Error(err)
	}
}
