package ledger_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// queries are the statements of docs/ledger.md.
func queries(t *testing.T) (out []string) {
	t.Helper()
	b, err := os.ReadFile("../../../docs/ledger.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(b), "\n## Ten queries\n")
	for _, part := range strings.Split(text, "```sql\n")[1:] {
		q, _, _ := strings.Cut(part, "```")
		out = append(out, q)
	}
	return out
}

// filled fills a ledger with a page of each kind, and a lease that came to nothing.
func filled(t *testing.T, place string) {
	t.Helper()
	l, err := ledger.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	all := entries()
	for i := range all {
		for j := range all[i].Entry.Parts {
			p := &all[i].Entry.Parts[j]
			for k := range p.Outcomes {
				o := &p.Outcomes[k]
				if o.State != crawl.Fetched {
					continue
				}
				o.Digest, o.Mime, o.Date = "sha1:SAME", "text/html", 1_000_000
				if k == 1 {
					o.Status, o.Redirect = 301, "http://a.test/"
				}
			}
		}
	}
	if err := l.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// Each query of the documentation runs, on both databases alike.
func TestDocumentedQueries(t *testing.T) {
	all := queries(t)
	if len(all) != 12 {
		t.Fatalf("%d queries in docs/ledger.md", len(all))
	}
	run := func(t *testing.T, driver, place string) (rows []int) {
		filled(t, place)
		db, err := sql.Open(driver, place)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		for _, q := range all {
			r, err := db.QueryContext(t.Context(), q)
			if err != nil {
				t.Fatalf("%s: %v", q, err)
			}
			n := 0
			for r.Next() {
				n++
			}
			if err := errors.Join(r.Err(), r.Close()); err != nil {
				t.Errorf("%s: %v", q, err)
			}
			rows = append(rows, n)
		}
		if rows[0] < 2 || rows[1] == 0 || rows[2] == 0 {
			t.Errorf("queries that must find something give %v rows", rows)
		}
		return rows
	}
	var lite []int
	t.Run("sqlite", func(t *testing.T) { lite = run(t, "sqlite", filepath.Join(t.TempDir(), "ledger.db")) })
	t.Run("postgres", func(t *testing.T) {
		for i, n := range run(t, "pgx", ledger.Database(t)) {
			if n != lite[i] {
				t.Errorf("%s\ngives %d rows on PostgreSQL, %d on SQLite", all[i], n, lite[i])
			}
		}
	})
}
