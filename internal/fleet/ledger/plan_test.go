package ledger

import (
	"path/filepath"
	"strings"
	"testing"
)

// Who looks at the pages that were reported last does not wait until all pages of a job have been read and sorted, whatever he asks for.
func TestLastPagesHaveAnIndex(t *testing.T) {
	l, err := Open(t.Context(), filepath.Join(t.TempDir(), "ledger.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, q := range []PageQuery{{}, {State: "failed"}, {Class: 4, Mime: "text/"}, {Site: "s.test"}, {Node: "n"}, {Find: "a"}} {
		more, args := q.statement(1)
		rows, err := l.db.QueryContext(t.Context(), "EXPLAIN QUERY PLAN "+selectPages+more, args...)
		if err != nil {
			t.Fatal(err)
		}
		var plan []string
		for rows.Next() {
			var id, parent, unused int
			var step string
			if err := rows.Scan(&id, &parent, &unused, &step); err != nil {
				t.Fatal(err)
			}
			plan = append(plan, step)
		}
		if err := rows.Err(); err != nil || !strings.Contains(strings.Join(plan, "; "), "USING INDEX pages_reported (job=?)") {
			t.Errorf("%+v: %v, %v", q, err, plan)
		}
	}
}
