package ledger

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
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
		if err := l.write(t.Context(), func(w *writer) error { return w.measure(1, 1, "n", "a.test", &m) }); err != nil {
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

// What was learned in one entry is read in the order in which it was, whatever the database thinks of rows that are alike.
func TestLearnedInOrder(t *testing.T) {
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ms := []float64{9, 3, 7, 1, 5}
	var measures []crawl.Measure
	for range 3 {
		measures = append(measures, crawl.Measure{Kind: crawl.MeasurePing, Node: "m", MS: ms})
	}
	if err := errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), []Applied{
		{Seq: 1, At: 1, Entry: &crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits()}}},
		{Seq: 2, At: 2, Entry: &crawl.Entry{Kind: crawl.EntryMeasures, Node: "n", Measures: measures}},
	})); err != nil {
		t.Fatal(err)
	}
	places, got := 0, []float64(nil)
	if err := l.db.QueryRowContext(t.Context(), `SELECT count(DISTINCT ord) FROM measurements`).Scan(&places); err != nil || places != 15 {
		t.Errorf("%d places for 15 values, %v", places, err)
	}
	if err := l.Facts(t.Context(), 1, func(f learn.Fact) error { got = append(got, f.Seconds*1000); return nil }); err != nil || !slices.Equal(got, slices.Concat(ms, ms, ms)) {
		t.Errorf("learned %v, %v", got, err)
	}
}

// What probes have fetched is read as it was learned, to the last bit, of the quotient that is written of it.
func TestProbesAsLearned(t *testing.T) {
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var measures []crawl.Measure
	for i := range int64(500) {
		measures = append(measures, crawl.Measure{Kind: crawl.MeasureBS, Store: "file:///s", Bits: 800_000 + 7*i, Seconds: 0.0123 + float64(i)/997})
	}
	e := &crawl.Entry{Kind: crawl.EntryMeasures, Node: "n", Measures: measures}
	if err := errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), []Applied{
		{Seq: 1, At: 1, Entry: &crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits()}}}, {Seq: 2, At: 2, Entry: e},
	})); err != nil {
		t.Fatal(err)
	}
	var got []learn.Fact
	if err := l.Facts(t.Context(), 1, func(f learn.Fact) error { got = append(got, f); return nil }); err != nil {
		t.Fatal(err)
	}
	if want := learn.OfMeasures("n", measures, 2); !slices.Equal(got, want) {
		t.Errorf("%d facts were read, %d learned, and they differ", len(got), len(want))
	}
}

// A recording's sites are at the addresses that their pages were had from, each once, and of one job alone.
func TestAddressesOfSites(t *testing.T) {
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i, p := range []struct {
		job      int
		site, ip any
	}{{1, "a.test", "192.0.2.1"}, {1, "a.test", "192.0.2.1"}, {1, "a.test", "192.0.2.0"}, {1, "b.test", "192.0.2.1"}, {1, "c.test", nil}, {1, nil, "192.0.2.9"}, {2, "d.test", "192.0.2.1"}} {
		if _, err := l.db.ExecContext(t.Context(), l.kind.bind(`INSERT INTO pages (job, key, url, surt, state, site, ip) VALUES (?, ?, '', '', 'fetched', ?, ?)`), p.job, []byte{byte(i)}, p.site, p.ip); err != nil {
			t.Fatal(err)
		}
	}
	got, err := l.Addresses(t.Context(), 1)
	if want := map[string][]string{"a.test": {"192.0.2.0", "192.0.2.1"}, "b.test": {"192.0.2.1"}}; err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%v (%v), want %v", got, err, want)
	}
}

// How far the times of a site's requests lie apart is told within leases: that one node is slower than another is not it. What has no time, or was
// the only page of its lease, tells nothing.
func TestTimesOfSitesLieApart(t *testing.T) {
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	const e = math.E
	for i, p := range []struct {
		job, lease int
		site       string
		us         float64
	}{
		{1, 1, "a.test", 1e5 * e}, {1, 1, "a.test", 1e5 / e}, {1, 2, "a.test", 1e7 * e}, {1, 2, "a.test", 1e7 / e}, {1, 3, "a.test", 5e8}, {1, 4, "b.test", 100}, {1, 4, "b.test", 0},
		{1, 5, "c.test", 300}, {1, 5, "c.test", 300}, {2, 6, "d.test", 1}, {2, 6, "d.test", 9},
	} {
		if _, err := l.db.ExecContext(t.Context(), l.kind.bind(`INSERT INTO pages (job, key, url, surt, state, site, lease, timing) VALUES (?, ?, '', '', 'fetched', ?, ?, ?)`),
			p.job, []byte{byte(i)}, p.site, p.lease, fmt.Sprintf("[0,0,0,0,%d,%d]", int(p.us)/2, int(p.us)-int(p.us)/2)); err != nil {
			t.Fatal(err)
		}
	}
	got, err := l.Times(t.Context(), 1)
	if err != nil || len(got) != 3 || math.Abs(got["a.test"].Varies-math.Sqrt2) > 1e-4 || got["b.test"].Varies >= 0 || math.Abs(got["c.test"].Varies) > 1e-6 {
		t.Errorf("%v (%v)", got, err)
	}
}

// Which share of an httpping the answer takes is told by requests of whose connection it is known what it took to open it.
func TestAnswersOfSites(t *testing.T) {
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for i, timing := range []string{"[7,100,100,20,80,900]", "[0,0,0,10,990,5]", "[0,200,0,0,100,5,0]", "[0,0,0,40,60,5,200]"} {
		if _, err := l.db.ExecContext(t.Context(), l.kind.bind(`INSERT INTO pages (job, key, url, surt, state, site, lease, timing) VALUES (1, ?, '', '', 'fetched', ?, 1, ?)`),
			[]byte{byte(i)}, []string{"a.test", "a.test", "b.test", "b.test"}[i], timing); err != nil {
			t.Fatal(err)
		}
	}
	got, err := l.Times(t.Context(), 1)
	if err != nil || math.Abs(got["a.test"].Answers-1.0/3) > 1e-6 || math.Abs(got["b.test"].Answers-1.0/3) > 1e-6 {
		t.Errorf("%v (%v), want a third of each", got, err)
	}
}

// Delays that nobody asked for are read as they were learned: of pages that opened their connection, and of those that came over one that was open.
func TestDelaysAsLearned(t *testing.T) {
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	outcome := func(url string, state crawl.State, reason crawl.Kind, timing [6]int32) crawl.Outcome {
		u, err := crawl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		return crawl.Outcome{Key: u.Key(), URL: url, State: state, Reason: reason, Status: 200, Timing: timing, Record: crawl.Location{File: "f", Length: 1}, Date: 3}
	}
	part := crawl.Part{Lease: 1, No: 1, WorkedUS: 1e6, Outcomes: []crawl.Outcome{
		outcome("http://a.test/robots.txt", crawl.Beside, crawl.ReasonRobots, [6]int32{5, 10_007, 0, 13, 11_111, 5}),
		outcome("http://a.test/", crawl.Fetched, "", [6]int32{0, 0, 0, 13, 11_111, 5}),
		outcome("http://a.test/a", crawl.Fetched, "", [6]int32{0, 0, 0, 13, 11_117, 5}),
		outcome("http://a.test/b", crawl.Fetched, "", [6]int32{0, 10_003, 20_001, 11, 11_113, 5}),
		outcome("http://a.test/c", crawl.Fetched, "", [6]int32{0, 10_003, 20_001, 11, 11_113, 5}),
	}}
	part.Outcomes[4].Beside = true
	part.Outcomes[2].Opened = 10_007
	lease := &crawl.Lease{ID: 1, Job: 1, Site: "a.test", Node: "n"}
	if err := errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), []Applied{
		{Seq: 1, At: 1, Entry: &crawl.Entry{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Limits: crawl.DefaultLimits()}}},
		{Seq: 2, At: 2, Entry: &crawl.Entry{Kind: crawl.EntryGrant, Leases: []crawl.Lease{*lease}}},
		{Seq: 3, At: 3, Entry: &crawl.Entry{Kind: crawl.EntryParts, Node: "n", Parts: []crawl.Part{part}}},
	})); err != nil {
		t.Fatal(err)
	}
	var got []learn.Fact
	if err := l.Facts(t.Context(), 1, func(f learn.Fact) error { got = append(got, f); return nil }); err != nil {
		t.Fatal(err)
	}
	want := learn.OfPart(learn.Worker{Node: "n", Site: "a.test"}, &part, 3)
	if len(want) != 3 || !slices.Equal(got, want) {
		t.Errorf("read %+v,\nlearned %+v", got, want)
	}
}

// What probes would fetch where none was made is known by the root pages that were had: neither by other pages, nor by those of other jobs, nor by errors.
func TestRootPages(t *testing.T) {
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if bits, err := l.Root(t.Context(), 1); err != nil || bits != 0 {
		t.Errorf("%v bits of nothing (%v)", bits, err)
	}
	for i, p := range []struct {
		job           int
		url, state    string
		status, bytes int
	}{
		{1, "http://a.test/", "fetched", 200, 1000}, {1, "https://b.test:8443/", "fetched", 200, 2000}, {1, "http://a.test/x", "fetched", 200, 90_000},
		{1, "http://a.test/x/", "fetched", 200, 90_000}, {1, "http://c.test/", "fetched", 404, 90_000}, {1, "http://d.test/", "failed", 0, 90_000}, {2, "http://a.test/", "fetched", 200, 90_000},
	} {
		if _, err := l.db.ExecContext(t.Context(), l.kind.bind(`INSERT INTO pages (job, key, url, surt, state, status, bytes) VALUES (?, ?, ?, '', ?, ?, ?)`),
			p.job, []byte{byte(i)}, p.url, p.state, p.status, p.bytes); err != nil {
			t.Fatal(err)
		}
	}
	if bits, err := l.Root(t.Context(), 1); err != nil || bits != 8*1500 {
		t.Errorf("%v bits, want those of two pages (%v)", bits, err)
	}
}

// A job has gone on when somebody had it resumed or its pages tried again: not another job, and not what was not done.
func TestGoneOn(t *testing.T) {
	t.Parallel()
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var all []Applied
	for i, what := range []string{
		"resume job 1", "pause job 1", "resume job 12", "retry job 1", "retry job 1: a.test", "retry job 1, what was cut", "retry job 12: a.test",
		"drop job 1: a.test", "not done: resume job 1: no such job", "limits job 1",
	} {
		all = append(all, Applied{Seq: uint64(i + 1), At: int64(i + 1), Entry: &crawl.Entry{Kind: crawl.EntryOrder, Epoch: 1, Order: crawl.NewOrder("uid 0", what)}})
	}
	if err := errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), all)); err != nil {
		t.Fatal(err)
	}
	if at, err := l.GoneOn(t.Context(), 1); err != nil || !slices.Equal(at, []int64{1, 4, 5, 6}) {
		t.Errorf("%v, %v", at, err)
	}
}

// A node that was gone for ten seconds or more and came back was absent; one that begins anew at once was not, and neither was one that is gone.
func TestAbsences(t *testing.T) {
	t.Parallel()
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for at, there := range [][]string{{"a", "b", "c"}, {"a"}, {"a", "b"}, {"b"}, {"a", "b"}, {"a"}} {
		ms := int64([]int{0, 20, 25, 30, 45, 50}[at]) * 1000
		var nodes []crawl.NodeInfo
		for _, name := range there {
			nodes = append(nodes, crawl.NodeInfo{Node: name})
		}
		if err := l.PutFleet(t.Context(), 1e12+ms, nodes, nil); err != nil {
			t.Fatal(err)
		}
	}
	nodes, err := l.Fleet(t.Context())
	if err != nil || len(nodes) != 3 {
		t.Fatalf("%v, %v", nodes, err)
	}
	for i, want := range [][][2]int64{{{1e12 + 30_000, 1e12 + 45_000}}, nil, nil} {
		if n := &nodes[i]; !reflect.DeepEqual(n.Away, want) {
			t.Errorf("%s: %v, want %v", n.Info.Node, n.Away, want)
		}
	}
}

// What is not as it was written is told as damage, with the place.
func TestWhatCannotBeReadIsDamaged(t *testing.T) {
	l, err := Open(t.Context(), Database(t))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	if _, err := l.db.ExecContext(t.Context(), l.kind.bind(`INSERT INTO pages (job, key, url, surt, state, site, lease, timing) VALUES (1, ?, '', '', 'fetched', 'a.test', 1, '[1,(')`), []byte{1}); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Times(t.Context(), 1); !errors.Is(err, ErrDamaged) || !strings.Contains(err.Error(), "the ledger is damaged: the times of a page of a.test cannot be read: ") {
		t.Error(err)
	}
}
