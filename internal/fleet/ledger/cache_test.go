package ledger

import (
	"path/filepath"
	"testing"
)

// The connection of transactions keeps more of a SQLite file in memory than those that read, which also sort in what they have.
func TestCaches(t *testing.T) {
	ctx := t.Context()
	l, err := Open(ctx, filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if err := l.write(ctx, func(*writer) error { return nil }); err != nil {
		t.Fatal(err)
	}
	var writes, reads int
	if err := l.conn.QueryRowContext(ctx, `PRAGMA cache_size`).Scan(&writes); err != nil {
		t.Fatal(err)
	}
	if err := l.db.QueryRowContext(ctx, `PRAGMA cache_size`).Scan(&reads); err != nil || writes != -12000 || reads != -2000 {
		t.Errorf("caches of %d and %d, %v", writes, reads, err)
	}
}
