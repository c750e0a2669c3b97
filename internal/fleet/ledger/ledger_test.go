package ledger_test

import (
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/pressly/goose/v3"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// both runs a test against SQLite and, where it is installed, PostgreSQL.
func both(t *testing.T, test func(t *testing.T, open func() *ledger.Ledger)) {
	t.Helper()
	opener := func(t *testing.T, place string) func() *ledger.Ledger {
		return func() *ledger.Ledger {
			l, err := ledger.Open(t.Context(), place)
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = l.Close() })
			return l
		}
	}
	t.Run("sqlite", func(t *testing.T) { test(t, opener(t, filepath.Join(t.TempDir(), "ledger.db"))) })
	t.Run("postgres", func(t *testing.T) {
		test(t, opener(t, ledger.Database(t)))
	})
}

func page(i int, state crawl.State) crawl.Outcome {
	u, _ := crawl.Parse(fmt.Sprintf("http://a.test/%d?x=\u00e9", i))
	o := crawl.Outcome{Key: u.Key(), URL: u.String(), State: state, Bytes: 100, HTML: true, Simhash: 1 << 63, Title: "nul \x00 and \xff"}
	if state == crawl.Fetched {
		o.Status, o.Record = 200, crawl.Location{File: "f", Offset: int64(i), Length: 9}
	} else {
		o.Reason = crawl.KindTimeout
	}
	return o
}

// entries are a short life of a job: submitted, granted, reported in two parts, recalled, and what is not to be believed.
func entries() []ledger.Applied {
	lease := crawl.Lease{ID: 1<<32 | 1, Job: 1, Task: 1, Site: "a.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 10, Targets: make([]crawl.Target, 3)}
	part := func(no uint32, os ...crawl.Outcome) crawl.Part {
		return crawl.Part{Lease: lease.ID, Attempt: 1, Epoch: 1, Secret: "s", No: no, Outcomes: os, Bytes: 100}
	}
	of := func(node string, ps ...crawl.Part) *crawl.Entry {
		return &crawl.Entry{Kind: crawl.EntryParts, Node: node, Incarnation: "i", Parts: ps}
	}
	last := part(2, page(2, crawl.Failed), page(1, crawl.Failed)) // 1 is final already: the first counts
	last.Final, last.Reason = true, crawl.EndDone
	last.Measures = []crawl.Measure{{Kind: crawl.MeasureBC, URL: "http://a.test/", Store: "st", Bits: 100, Seconds: 2}}
	forged := part(2, page(7, crawl.Fetched))
	forged.Secret = "guess"
	es := []*crawl.Entry{
		{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Name: "one", Limits: crawl.DefaultLimits()}},
		{Kind: crawl.EntryGrant, Leases: []crawl.Lease{lease}},
		of("n", part(1, page(1, crawl.Fetched))),
		of("n", part(1, page(8, crawl.Fetched))),  // a repeat
		of("n", forged),                           // a wrong secret
		of("m", part(2, page(9, crawl.Fetched))),  // somebody else
		of("n", part(3, page(10, crawl.Fetched))), // a gap
		{Kind: crawl.EntryMeasures, Node: "n", Measures: []crawl.Measure{{Kind: crawl.MeasurePing, Node: "m", MS: []float64{3, 4}}}},
		of("n", last),
		{Kind: crawl.EntryState, State: &crawl.JobState{Job: 1, State: crawl.JobLimited, Limit: crawl.LimitPages}},
	}
	var out []ledger.Applied
	for i, e := range es {
		e.Version = crawl.WireVersion
		out = append(out, ledger.Applied{Seq: uint64(i + 1), At: int64(1000 * (i + 1)), Entry: e})
	}
	return out
}

func TestLedger(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		ctx := t.Context()
		l := open()
		if err := l.Rebase(ctx, "stream", 0); err != nil {
			t.Fatal(err)
		}
		es := entries()
		for _, n := range []int{4, 2, len(es)} { // in pieces, with repeats
			if err := l.Apply(ctx, es[:n]); err != nil {
				t.Fatal(err)
			}
		}
		second := open() // as a coordinator that takes over: it goes on where the first stopped, and both may write
		if s, seq := second.Position(); s != "stream" || seq != uint64(len(es)) {
			t.Errorf("position %s %d", s, seq)
		}
		if err := second.Apply(ctx, es); err != nil {
			t.Fatal(err)
		}
		var got []string
		err := second.Pages(ctx, 1, func(p *ledger.Page) error {
			got = append(got, fmt.Sprintf("%s %s %s %d", p.URL, p.State, p.Title, p.Simhash))
			return nil
		})
		want := []string{
			"http://a.test/1?x=%C3%A9 fetched nul  and \uFFFD -9223372036854775808",
			"http://a.test/2?x=%C3%A9 failed nul  and \uFFFD -9223372036854775808",
		}
		if d := cmp.Diff(want, got); err != nil || d != "" {
			t.Errorf("pages: %v %s", err, d)
		}
		if err := second.Charge(ctx, []ledger.Bill{{Node: "n", Store: "st", Cost: 1.5, PresentMS: 10, WorkingMS: 5}, {Node: "n", Cost: 1, Store: "st"}}, map[int]int64{0: 5, 2: 7}); err != nil {
			t.Fatal(err)
		}
		if err := second.Charge(ctx, []ledger.Bill{{Node: "n", Store: "st"}}, map[int]int64{2: 3}); err != nil {
			t.Fatal(err)
		}
		if d, err := second.Demand(ctx); err != nil || d[0] != 5 || d[2] != 10 || len(d) != 2 {
			t.Errorf("demand %v, %v", d, err)
		}
		earned, err := second.Earned(ctx)
		if e := earned["n"]; err != nil || e.Pages != 1 || e.Bytes != 100 || e.Asked != 3 || e.Good != 1 || e.Cost != 2.5 || e.PresentMS != 10 || len(earned) != 1 {
			t.Errorf("earned %+v, %v", earned, err)
		}
		if err := second.PutTasks(ctx, []ledger.Task{{ID: 1, Job: 1, Site: "a.test", State: "done", Tally: crawl.TallyOf(crawl.Counts{}, map[string]int64{"timeout": 1})}}); err != nil {
			t.Error(err)
		}
		err = second.PutTasks(ctx, []ledger.Task{
			{ID: 1, Job: 1, Site: "a.test", State: "manual", Attempts: 4, Recalls: 5, Tally: crawl.TallyOf(crawl.Counts{Pages: 1, Discovered: 7, Fetched: 1, Failed: 2, Excluded: 3, Bytes: 1 << 40, Duplicates: 4, Overflow: 5, Held: 9}, nil)}, {ID: 2, Job: 1, Tally: crawl.TallyOf(crawl.Counts{Discovered: 1}, nil)},
		})
		if err != nil {
			t.Error(err)
		}
		sums, err := second.Sums(ctx)
		if want := map[uint32]ledger.Sums{1: {Manual: 1, Attempts: 4, Recalls: 5, Counts: crawl.Counts{Pages: 1, Discovered: 8, Fetched: 1, Failed: 2, Excluded: 3, Bytes: 1 << 40, Duplicates: 4, Overflow: 5}}}; err != nil || !cmp.Equal(sums, want) {
			t.Errorf("sums %v, %v", sums, err)
		}
	})
}

// A coordinator that was replaced without knowing it adds nothing that its successor has, and loses nothing.
func TestTwoWriters(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		ctx := t.Context()
		old, es := open(), entries()
		if err := old.Rebase(ctx, "stream", 0); err != nil {
			t.Fatal(err)
		}
		next := open()
		if err := next.Apply(ctx, es[:7]); err != nil {
			t.Fatal(err)
		}
		if err := old.Apply(ctx, es); err != nil { // it believes that it stands at 0
			t.Fatal(err)
		}
		if err := next.Refresh(ctx); err != nil {
			t.Fatal(err)
		}
		if _, seq := next.Position(); seq != uint64(len(es)) {
			t.Errorf("position %d", seq)
		}
		earned, err := next.Earned(ctx)
		if err != nil || earned["n"].Pages != 1 {
			t.Errorf("a page counts %d times (%v)", earned["n"].Pages, err)
		}
		other := open()
		if err := other.Rebase(ctx, "another", 0); err != nil {
			t.Fatal(err)
		}
		if err := next.Apply(ctx, append(es, ledger.Applied{Seq: 99, Entry: &crawl.Entry{}})); err == nil {
			t.Error("a ledger takes entries of two logs")
		}
	})
}

// Entries leave the same rows whether they are written together or one by one: of a URL that has two final outcomes the
// first counts, unless it was released in between.
func TestTogetherAsApart(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		ctx := t.Context()
		rng := rand.New(rand.NewPCG(1, 2))
		l := open()
		if err := l.Rebase(ctx, "stream", 0); err != nil {
			t.Fatal(err)
		}
		const jobs = 2 // one written together, one apart
		grants := crawl.Entry{Kind: crawl.EntryGrant}
		for job := range uint32(jobs) {
			grants.Leases = append(grants.Leases, crawl.Lease{ID: uint64(job + 1), Job: job + 1, Site: "a.test", Node: fmt.Sprintf("n%d", job+1), Incarnation: "i", Secret: "s"})
		}
		seq := uint64(1)
		if err := l.Apply(ctx, []ledger.Applied{{Seq: seq, Entry: &grants}}); err != nil {
			t.Fatal(err)
		}
		var round [jobs][]crawl.Entry
		for no := range uint32(60) {
			var outcomes []crawl.Outcome
			for range rng.IntN(12) {
				outcomes = append(outcomes, page(rng.IntN(150), []crawl.State{crawl.Fetched, crawl.Failed}[rng.IntN(2)]))
			}
			for job := range uint32(jobs) {
				p := crawl.Part{Lease: uint64(job + 1), No: no + 1, Secret: "s", Outcomes: outcomes}
				round[job] = append(round[job], crawl.Entry{Kind: crawl.EntryParts, Node: fmt.Sprintf("n%d", job+1), Incarnation: "i", Parts: []crawl.Part{p}})
				if no%20 == 19 {
					round[job] = append(round[job], crawl.Entry{Kind: crawl.EntryRetry, Release: &crawl.Release{Job: job + 1}})
				}
			}
		}
		for job, es := range round {
			var applied []ledger.Applied
			for i := range es {
				seq++
				applied = append(applied, ledger.Applied{Seq: seq, Entry: &es[i]})
			}
			size := []int{len(applied), 1}[job]
			for batch := range slices.Chunk(applied, size) {
				if err := l.Apply(ctx, batch); err != nil {
					t.Fatal(err)
				}
			}
		}
		var rows [jobs][]string
		for job := range uint32(jobs) {
			err := l.Pages(ctx, job+1, func(p *ledger.Page) error {
				rows[job] = append(rows[job], fmt.Sprint(p.URL, p.State, p.Status))
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		if d := cmp.Diff(rows[0], rows[1]); d != "" || len(rows[0]) < 50 {
			t.Errorf("%d rows together, %d apart: %s", len(rows[0]), len(rows[1]), d)
		}
		for job := range uint32(jobs) { // repeats are not counted
			var want crawl.Ended
			err := l.Ends(ctx, job+1, func(p crawl.Page, s crawl.State, why crawl.Kind) error {
				want.Count(p, s, why, 1)
				return nil
			})
			if got, err2 := l.Ended(ctx, job+1); err != nil || err2 != nil || got != want {
				t.Errorf("job %d: %+v counted, %+v there: %v %v", job+1, got, want, err, err2)
			}
		}
		earned, err := l.Earned(ctx)
		if err != nil || earned["n1"] != earned["n2"] || earned["n1"].Pages < 50 {
			t.Errorf("earned %+v, %v", earned, err)
		}
	})
}

// The same URL in two layers is two pages; what is lost of one leaves the other alone.
func TestLayers(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		l := open()
		if err := l.Rebase(t.Context(), "stream", 0); err != nil {
			t.Fatal(err)
		}
		es := entries()[:3]
		again := page(1, crawl.Fetched)
		again.Owner, again.Gen = 7, 1
		es[2].Entry.Parts[0].Outcomes = append(es[2].Entry.Parts[0].Outcomes, again, again)
		if err := l.Apply(t.Context(), es); err != nil {
			t.Fatal(err)
		}
		layers := func() (got []crawl.Layer) {
			if err := l.Pages(t.Context(), 1, func(p *ledger.Page) error { got = append(got, p.Layer); return nil }); err != nil {
				t.Fatal(err)
			}
			return got
		}
		if d := cmp.Diff([]crawl.Layer{{}, {Owner: 7, Gen: 1}}, layers()); d != "" {
			t.Error(d)
		}
		lost := &crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryRetry, Release: &crawl.Release{Job: 1, Lost: []crawl.Page{{Key: again.Key, Layer: again.Layer()}}}}
		if err := l.Apply(t.Context(), []ledger.Applied{{Seq: 4, At: 4000, Entry: lost}}); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]crawl.Layer{{}}, layers()); d != "" {
			t.Error(d)
		}
	})
}

// A ledger whose schema is newer than what this version knows is refused, and left as it is.
func TestNewerSchemaIsRefused(t *testing.T) {
	place := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := sql.Open("sqlite", place)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(`INSERT INTO goose_db_version (version_id, is_applied) VALUES (999, 1)`); err != nil {
		t.Fatal(err)
	}
	if _, err := ledger.Open(t.Context(), place); !errors.Is(err, ledger.ErrNewer) {
		t.Errorf("opened: %v", err)
	}
}

var writeSchema = flag.Bool("schema.write", false, "write schema.sql anew from the migrations")

// A new ledger is what its migrations make one after the other, and they find nothing left to do.
func TestNewIsMigrated(t *testing.T) {
	list := func(db *sql.DB, query string) (out []string) {
		rows, err := db.Query(query)
		if err != nil {
			t.Fatal(err)
		}
		defer rows.Close()
		for rows.Next() {
			var row string
			if err := rows.Scan(&row); err != nil {
				t.Fatal(err)
			}
			out = append(out, row)
		}
		return out
	}
	dump := func(place string, make func(db *sql.DB)) (out []string) {
		db, err := sql.Open("sqlite", place)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		make(db)
		out = list(db, `SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_master
UNION ALL SELECT 'version ' || version_id || ' ' || is_applied FROM goose_db_version ORDER BY 1`)
		for _, name := range list(db, `SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY 1`) {
			out = append(out, list(db, `SELECT 'rows of `+name+` ' || count(*) FROM `+name)...)
		}
		return out
	}
	migrate := func(db *sql.DB) (done int) {
		p, err := goose.NewProvider(goose.DialectSQLite3, db, os.DirFS("migrations"))
		if err != nil {
			t.Fatal(err)
		}
		all, err := p.Up(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return len(all)
	}
	want := dump(filepath.Join(t.TempDir(), "migrated.db"), func(db *sql.DB) {
		migrate(db)
		if !*writeSchema {
			return
		}
		made := list(db, `SELECT sql || ';' FROM sqlite_master WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite%' AND name NOT LIKE 'goose%' ORDER BY rowid`)
		head := "-- What all migrations together make of an empty file. Written by go test ./internal/fleet/ledger -run NewIsMigrated -schema.write\n"
		if err := os.WriteFile("schema.sql", []byte(head+strings.Join(made, "\n\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	})
	place := filepath.Join(t.TempDir(), "ledger.db")
	l, err := ledger.Open(t.Context(), place)
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	got := dump(place, func(db *sql.DB) {
		if n := migrate(db); n > 0 {
			t.Errorf("%d migrations were left to do", n)
		}
	})
	if d := cmp.Diff(want, got); d != "" || len(want) < 20 {
		t.Errorf("%d tables and versions; a new ledger differs (go test ./internal/fleet/ledger -run NewIsMigrated -schema.write):\n%s", len(want), d)
	}
}

// A ledger of lean entries is the same as one of whole ones.
func TestLean(t *testing.T) {
	dump := func(lean bool) string {
		file := filepath.Join(t.TempDir(), "ledger.db")
		l, err := ledger.Open(t.Context(), file)
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		es := entries()
		found := crawl.Found{Links: []crawl.Link{{URL: "http://a.test/1", Anchor: "one"}, {URL: "http://a.test/2"}}, Known: make([]crawl.Key, 5)}
		es[2].Entry.Parts[0].Found = []crawl.Found{found, found}
		es[7].Entry = &crawl.Entry{Version: crawl.WireVersion, Kind: crawl.EntryGrant, Refills: []crawl.Refill{{Lease: 1<<32 | 1, Targets: make([]crawl.Target, 4)}}}
		for i := range es {
			if lean {
				es[i].Lean()
			}
		}
		if lean && es[2].Entry.Parts[0].Found[0].Links[0].URL != "" {
			t.Error("a lean entry has a link's URL")
		}
		if err := l.Apply(t.Context(), es); err != nil {
			t.Fatal(err)
		}
		db, err := sql.Open("sqlite", file)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		var out strings.Builder
		for _, table := range []string{"leases", "reports", "pages", "jobs", "measurements"} {
			rows, err := db.QueryContext(t.Context(), "SELECT * FROM "+table)
			if err != nil {
				t.Fatal(err)
			}
			defer rows.Close()
			cols, _ := rows.Columns()
			for rows.Next() {
				vals, ptrs := make([]any, len(cols)), make([]any, len(cols))
				for i := range vals {
					ptrs[i] = &vals[i]
				}
				if err := rows.Scan(ptrs...); err != nil {
					t.Fatal(err)
				}
				fmt.Fprintf(&out, "%s %v\n", table, vals)
			}
			if err := rows.Err(); err != nil {
				t.Fatal(err)
			}
		}
		return out.String()
	}
	whole := dump(false)
	if d := cmp.Diff(whole, dump(true)); d != "" || !strings.Contains(whole, "reports ") || !strings.Contains(whole, "pages ") {
		t.Errorf("lean and whole differ: %s\n%s", d, whole)
	}
}

// A node that comes back with another store keeps the one where its earlier pages are; one where it never wrote is not named.
func TestStoresOfANode(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		l := open()
		if err := l.Rebase(t.Context(), "log", 0); err != nil {
			t.Fatal(err)
		}
		lives := func(incarnation, store string) {
			t.Helper()
			if err := l.Charge(t.Context(), []ledger.Bill{{Node: "n", Incarnation: incarnation, Store: store}}, nil); err != nil {
				t.Fatal(err)
			}
		}
		lives("i", "file:///a")
		if err := l.Apply(t.Context(), entries()); err != nil {
			t.Fatal(err)
		}
		lives("idle", "file:///b")
		lives("last", "file:///c")
		for _, when := range []string{"first", "when all is had again"} { // what was archived is still there
			if got, err := l.Stores(t.Context()); err != nil || !slices.Equal(got, []string{"file:///a", "file:///c"}) {
				t.Errorf("%s: %q, %v", when, got, err)
			}
			if err := l.Again(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	})
}
