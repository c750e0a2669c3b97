package ledger

import (
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/plan/learn"
)

// As many values are written of what a node says that it has measured as are learned from it: a replay takes them for facts.
func TestMeasuredAsLearned(t *testing.T) {
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i, m := range []crawl.Measure{
		{Kind: crawl.MeasureBC, Bits: 8000, Seconds: 2, Refused: 1},
		{Kind: crawl.MeasureBC, Refused: 3},
		{Kind: crawl.MeasureBC, Seconds: 2, Refused: 3},
		{Kind: crawl.MeasurePing, MS: []float64{5, 6}, Refused: 3},
	} {
		if err := l.write(t.Context(), func(w *writer) error { return w.measure(1, "n", "a.test", &m) }); err != nil {
			t.Fatal(err)
		}
		var rows int
		if err := l.db.QueryRowContext(t.Context(), `SELECT count(*) FROM measurements`).Scan(&rows); err != nil {
			t.Fatal(err)
		}
		facts := learn.OfPart(learn.Worker{Node: "n", Site: "a.test"}, &crawl.Part{Measures: []crawl.Measure{m}}, 1)
		if rows != len(facts) {
			t.Errorf("measure %d: %d rows, %d facts", i, rows, len(facts))
		}
		if _, err := l.db.ExecContext(t.Context(), `DELETE FROM measurements`); err != nil {
			t.Fatal(err)
		}
	}
}
