package ledger_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
)

// shop is a job whose pages differ in everything that can be looked for.
func shop(t *testing.T, l *ledger.Ledger) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	lease := crawl.Lease{ID: 1<<32 | 1, Job: 1, Task: 1, Site: "a.test", Node: "n", Incarnation: "i", Epoch: 1, Attempt: 1, Secret: "s", Quota: 1000, Targets: make([]crawl.Target, 200)}
	part := crawl.Part{Lease: lease.ID, Attempt: 1, Epoch: 1, Secret: "s", No: 1, WorkedUS: 70_000_000}
	for i := range 200 {
		u, _ := crawl.Parse(fmt.Sprintf("http://a.test/%d/100%%25_%c", i, 'a'+rune(i%26)))
		o := crawl.Outcome{Key: u.Key(), URL: u.String(), State: crawl.Fetched, Bytes: rng.Int64N(1000), Date: 1_000_000 + rng.Int64N(100_000), Status: []int{200, 301, 404, 500}[rng.IntN(4)],
			Mime: []string{"text/html", "text/css", "image/png"}[rng.IntN(3)], Title: fmt.Sprintf("Title %c_%d Обзор Übersicht", 'A'+rune(i%3), i), Record: crawl.Location{File: "f", Offset: int64(i), Length: 9}}
		o.HTML = o.Mime == "text/html"
		if i%9 == 0 {
			o.State, o.Status, o.Reason, o.Record = crawl.Failed, 0, crawl.KindTimeout, crawl.Location{}
		}
		part.Outcomes = append(part.Outcomes, o)
	}
	es := []*crawl.Entry{
		{Kind: crawl.EntrySubmit, Job: &crawl.Job{ID: 1, Name: "one", Limits: crawl.DefaultLimits()}}, {Kind: crawl.EntryGrant, Leases: []crawl.Lease{lease}},
		{Kind: crawl.EntryParts, Node: "n", Incarnation: "i", Parts: []crawl.Part{part}},
	}
	var all []ledger.Applied
	for i, e := range es {
		e.Epoch = 1
		all = append(all, ledger.Applied{Seq: uint64(i + 1), At: 1000, Entry: e})
	}
	if err := l.Apply(t.Context(), all); err != nil {
		t.Fatal(err)
	}
}

// What is found, and in which order, is what a walk over all pages finds.
func TestFindPages(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		l := open()
		shop(t, l)
		var all []ledger.Page
		if err := l.Pages(t.Context(), 1, func(p *ledger.Page) error { all = append(all, *p); return nil }); err != nil || len(all) != 200 {
			t.Fatal(len(all), err)
		}
		slices.Reverse(all)
		for _, q := range []ledger.PageQuery{
			{}, {State: "failed"}, {State: "fetched", Class: 4}, {Class: 2, Mime: "text/"}, {Mime: "text/h"}, {Mime: "%"}, {Site: "a.test", Node: "n"}, {Site: "b.test"}, {Site: "B.TE"}, {Site: ".t"}, {Site: "%"}, {Site: "a_test"}, {Node: "m"},
			{Find: "title b"}, {Find: "TITLE"}, {Find: "_a"}, {Find: "100%"}, {Find: `\`}, {Find: "/7/"}, {Find: "e_a", Class: 3}, {Find: "Обзор"}, {Find: "оБЗОР"},
		} {
			if q.Find == "оБЗОР" && strings.Contains(t.Name(), "postgres") {
				continue // it folds what its locale knows, which of the tests' is ASCII
			}
			var want []string
			for _, p := range all {
				find := strings.ToLower(q.Find)
				if (q.State == "" || p.State == q.State) && (q.Class == 0 || p.Status/100 == q.Class) && strings.HasPrefix(p.Mime, q.Mime) && strings.Contains(p.Site, strings.ToLower(q.Site)) && (q.Node == "" || p.Node == q.Node) &&
					(strings.Contains(strings.ToLower(p.URL), find) || strings.Contains(strings.ToLower(p.Title), find)) {
					want = append(want, p.URL)
				}
			}
			var got []string
			for q.Limit, q.Skip = 7, 0; ; q.Skip += 7 {
				n := len(got)
				if err := l.FindPages(t.Context(), 1, q, func(p *ledger.Page) error { got = append(got, p.URL); return nil }); err != nil {
					t.Fatalf("%+v: %v", q, err)
				}
				if len(got)-n < 7 {
					break
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: %d found, want %d", q, len(got), len(want))
			}
		}
		judgeShares(t, l, all)
	})
}

// judgeShares compares what is summed up with sums over all pages.
func judgeShares(t *testing.T, l *ledger.Ledger, all []ledger.Page) {
	t.Helper()
	types, nodes, codes, fetched, bytes := map[string]ledger.Share{}, map[string]ledger.Share{}, map[string]int64{}, ledger.Bin{}, int64(0)
	cell := ledger.Cell{Site: "a.test", Node: "n", Work: ledger.Work{Asked: int64(len(all)), WorkedMS: 70_000}}
	for _, p := range all {
		bytes += p.Bytes
		if p.State == "fetched" && p.Status < 400 {
			cell.Good++
		}
		if p.State != "fetched" {
			cell.Failed++
			continue
		}
		cell.URLs++
		s := types[p.Mime]
		types[p.Mime] = ledger.Share{Name: p.Mime, URLs: s.URLs + 1, Bytes: s.Bytes + p.Bytes}
		if s := nodes[p.Node]; p.Node != "" {
			nodes[p.Node] = ledger.Share{Name: p.Node, URLs: s.URLs + 1, Bytes: s.Bytes + p.Bytes}
		}
		codes[fmt.Sprint(p.Status)]++
		fetched.URLs++
		fetched.Bytes += p.Bytes
		if p.HTML && p.Status == 200 {
			fetched.Pages++
		}
		if p.Status >= 400 {
			fetched.Errors++
		}
	}
	shares, err := l.Shares(t.Context(), 1)
	got, answered := shares.Types, shares.Statuses
	if err != nil || len(got) != len(types) || len(answered) != len(codes) {
		t.Fatal(shares, err)
	}
	for i, s := range got {
		if s != types[s.Name] || i > 0 && got[i-1].Bytes < s.Bytes {
			t.Errorf("type %+v, want %+v", s, types[s.Name])
		}
	}
	for _, s := range answered {
		if s.URLs != codes[s.Name] {
			t.Errorf("status %+v, want %d", s, codes[s.Name])
		}
	}
	for i, s := range shares.Fetchers {
		if s != nodes[s.Name] || len(shares.Fetchers) != len(nodes) || i > 0 && shares.Fetchers[i-1].URLs < s.URLs {
			t.Errorf("node %+v, want %+v", s, nodes[s.Name])
		}
	}
	for _, most := range []int{1, 7, 1000} {
		bins, width, err := l.Timeline(t.Context(), 1, ledger.TimelineQuery{Bins: most})
		if err != nil || len(bins) == 0 || len(bins) > most || width < 1000 {
			t.Fatalf("%d bins of %d ms: %v", len(bins), width, err)
		}
		sum, work := ledger.Bin{}, ledger.Work{}
		for i, b := range bins {
			if i > 0 && (b.At <= bins[i-1].At || (b.At-bins[0].At)%width != 0) {
				t.Errorf("bin %d begins at %d, the one before at %d", i, b.At, bins[i-1].At)
			}
			sum.URLs, sum.Pages, sum.Errors, sum.Bytes = sum.URLs+b.URLs, sum.Pages+b.Pages, sum.Errors+b.Errors, sum.Bytes+b.Bytes
			work.Asked, work.Good, work.WorkedMS = work.Asked+b.Asked, work.Good+b.Good, work.WorkedMS+b.WorkedMS
		}
		if sum != fetched || work != cell.Work {
			t.Errorf("over time %+v, %+v, want %+v, %+v", sum, work, fetched, cell.Work)
		}
	}
	for _, q := range []ledger.TimelineQuery{{Site: "b.test", Bins: 9}, {Node: "m", Bins: 9}} {
		if bins, _, err := l.Timeline(t.Context(), 1, q); err != nil || len(bins) > 0 {
			t.Errorf("%+v: %+v, %v", q, bins, err)
		}
	}
	if bins, _, err := l.Timeline(t.Context(), 1, ledger.TimelineQuery{Site: "a.test", Node: "n", Bins: 1}); err != nil || len(bins) != 1 || bins[0].Work != cell.Work || bins[0].URLs != cell.URLs {
		t.Errorf("of the cell: %+v, %v", bins, err)
	}
	cells, err := l.Cells(t.Context(), 1, 10)
	if err != nil || len(cells) != 1 {
		t.Fatal(cells, err)
	}
	cell.Bytes, cell.First, cell.Last = bytes, cells[0].First, cells[0].Last
	if cells[0] != cell || cell.First > cell.Last {
		t.Errorf("%+v, want %+v", cells[0], cell)
	}
}

// The log of orders is had in parts, the newest first, and by what stands in it, in any case.
func TestOrdersInParts(t *testing.T) {
	t.Parallel()
	l, err := ledger.Open(t.Context(), filepath.Join(t.TempDir(), "l.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	var all []ledger.Applied
	for i := range 30 {
		what := fmt.Sprintf("drain node n%d", i)
		if i%10 == 3 {
			what = fmt.Sprintf("Pause 100%% of job %d", i)
		}
		all = append(all, ledger.Applied{Seq: uint64(i + 1), At: int64(1000 + i), Entry: &crawl.Entry{Kind: crawl.EntryOrder, Epoch: 1, Order: crawl.NewOrder("uid 0", what)}})
	}
	if err := errors.Join(l.Rebase(t.Context(), "log", 0), l.Apply(t.Context(), all)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		q    ledger.OrderQuery
		want []uint64
	}{
		{ledger.OrderQuery{Limit: 2}, []uint64{30, 29}},
		{ledger.OrderQuery{Limit: 2, Skip: 28}, []uint64{2, 1}},
		{ledger.OrderQuery{Limit: 9, Skip: 30}, nil},
		{ledger.OrderQuery{Limit: 9, Find: "PAUSE 100%"}, []uint64{24, 14, 4}},
		{ledger.OrderQuery{Limit: 9, Find: "100_"}, nil},
		{ledger.OrderQuery{Limit: 1, Skip: 1, Find: "Uid 0"}, []uint64{29}},
	} {
		os, err := l.Orders(t.Context(), c.q)
		var got []uint64
		for _, o := range os {
			got = append(got, o.Seq)
		}
		if err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%+v: %v, %v; want %v", c.q, got, err, c.want)
		}
	}
}

// The last order that was given with a key tells whether the key is used; after one that was not done, or too long ago, it is not.
func TestOrdered(t *testing.T) {
	both(t, func(t *testing.T, open func() *ledger.Ledger) {
		l := open()
		var all []ledger.Applied
		for i, o := range []crawl.Order{
			{What: "without a key"}, {What: "first", Key: "a", Sum: "1"}, {What: "tried", Key: "b", Sum: "2"}, {What: "not done: tried", Key: "b", Sum: "2", Undone: true},
			{What: "tried in vain", Key: "c", Sum: "3"}, {What: "not done", Key: "c", Sum: "3", Undone: true}, {What: "tried again", Key: "c", Sum: "4"},
		} {
			o.Who = "uid 0"
			all = append(all, ledger.Applied{Seq: uint64(i + 1), At: int64(1000 + i), Entry: &crawl.Entry{Kind: crawl.EntryOrder, Epoch: 1, Order: &o}})
		}
		if err := l.Apply(t.Context(), all); err != nil {
			t.Fatal(err)
		}
		for _, c := range []struct {
			key   string
			since int64
			want  string
		}{{"a", 0, "first 1"}, {"a", 1001, "first 1"}, {"a", 1002, ""}, {"b", 0, ""}, {"c", 0, "tried again 4"}, {"d", 0, ""}, {"", 0, ""}} {
			o, err := l.Ordered(t.Context(), c.key, c.since)
			got := ""
			if o != nil {
				got = o.What + " " + o.Sum
			}
			if err != nil || got != c.want {
				t.Errorf("%+v: %q, %v", c, got, err)
			}
		}
	})
}
