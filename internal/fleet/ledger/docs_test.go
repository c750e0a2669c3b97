package ledger_test

import (
	"database/sql"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/fleet/ledger"
)

// docs/ledger.md names every table and every column there is.
func TestColumnsAreDocumented(t *testing.T) {
	place := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile("../../../docs/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	db, err := sql.Open("sqlite", place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(`SELECT m.name, c.name FROM sqlite_master m, pragma_table_info(m.name) c
WHERE m.type IN ('table', 'view') AND m.name NOT LIKE 'goose%' AND m.name NOT LIKE 'sqlite%'`)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	n := 0
	for rows.Next() {
		var table, column string
		if err := rows.Scan(&table, &column); err != nil {
			t.Fatal(err)
		}
		n++
		about := section(text, table)
		if about == "" {
			t.Errorf("table %s is not documented", table)
		} else if !strings.Contains(about, "`"+column+"`") {
			t.Errorf("column %s of %s is not documented", column, table)
		}
	}
	if err := rows.Err(); err != nil || n < 50 {
		t.Errorf("%d columns: %v", n, err)
	}
}

// section returns what is written of a table: the section of its name, or its row.
func section(text, table string) string {
	if _, after, ok := strings.Cut(text, "\n## "+table+"\n"); ok {
		about, _, _ := strings.Cut(after, "\n## ")
		return about
	}
	if _, after, ok := strings.Cut(text, "\n| `"+table+"` |"); ok {
		about, _, _ := strings.Cut(after, "\n")
		return about
	}
	return ""
}
