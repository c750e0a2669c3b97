package coordinator

import (
	"context"
	"fmt"
	"log/slog"
	"math"
	"testing"

	"argosy/internal/crawl"
	"argosy/internal/fleet/frontier"
	"argosy/internal/plan/learn"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

// What was expected is noted before it is learned, in the order in which it was measured, and of the last ones only.
func TestForecasts(t *testing.T) {
	k := &lore{strategies: strategy.New, logger: slog.New(slog.DiscardHandler), learned: learn.New(), readers: map[string]*reader{}}
	r, err := k.reader("greedy", &crawl.Placing{})
	if err != nil {
		t.Fatal(err)
	}
	tell := func(fs ...learn.Fact) { k.take(&frontier.Effects{Facts: fs}) }
	const n = maxForecasts + 7
	for i := range n {
		site := fmt.Sprintf("s%d.test", i%50)
		tell(learn.Fact{At: int64(1000 * i), Kind: learn.Delay, Node: "a", Site: site, Seconds: 0.02},
			learn.Fact{At: int64(1000 * i), Kind: learn.Report, Node: "a", Site: site, Bits: 8e6, Seconds: 2, Good: 10, All: 10})
	}
	for i := range 3 { // of a pair the first delay counts
		tell(learn.Fact{Kind: learn.Store, Node: "b", Bits: 1e6, Seconds: 1}, learn.Fact{Kind: learn.Delay, Node: "b", Site: fmt.Sprintf("s%d.test", i/2), Seconds: 0.01})
	}
	tell(learn.Fact{Kind: learn.Report, Node: "a", Site: "s1.test", All: 3}, learn.Fact{Kind: learn.Report, Node: "a", Site: "s1.test", Bits: math.NaN(), Seconds: 1})
	all := r.told.all()
	speeds, last := 0, int64(-1)
	for _, f := range all {
		if f.What == delayForecast {
			continue
		}
		if speeds++; f.Was != 4e6 || f.At <= last {
			t.Fatalf("%+v after %d", f, last)
		}
		last = f.At
	}
	if speeds != maxForecasts || last != 1000*(n-1) || len(all)-speeds != 2 { // of sites nothing was known when their first delay came
		t.Fatalf("%d forecasts of speed, %d of delays, the last one at %d", speeds, len(all)-speeds, last)
	}
	if f := all[speeds-1]; f.Source != "measured" || math.Abs(f.Expected/4e6-1) > 0.1 {
		t.Errorf("of a pair that was always as fast: %+v", f)
	}
	for _, a := range accuracy(all) {
		if a.What == speedForecast && a.Source == "measured" && (a.Factor > 1.1 || a.N < 400 || a.Within < 0.9) {
			t.Errorf("%+v", a)
		}
	}
}

// A share within sigma and a factor are what they say.
func TestAccuracy(t *testing.T) {
	var all []Forecast
	for i := range 10 {
		all = append(all, Forecast{What: speedForecast, Source: "predicted", Expected: 100, Was: 100 * math.Exp(float64(i-5)/10), Sigma: 0.25})
	}
	got := accuracy(append(all, Forecast{What: delayForecast, Source: "default", Expected: 100, Was: 50, Sigma: 1.5}))
	if len(got) != 2 || got[0].What != speedForecast || got[0].N != 10 || got[0].Within != 0.5 || math.Abs(got[0].Factor-math.Exp(0.2)) > 1e-9 || got[1].Factor != 2 || got[1].Within != 1 {
		t.Errorf("%+v", got)
	}
}

// Two jobs in turn, one of which names its landmarks, keep theirs: no cycle of the one chooses those of the other anew.
func TestLandmarksOfJobsInTurn(t *testing.T) {
	chosen := 0
	k := &lore{strategies: strategy.New, logger: slog.New(counting{&chosen}), learned: learn.New(), readers: map[string]*reader{}}
	var nodes []schedule.Node
	for _, id := range []string{"a", "b", "c", "d", "e"} {
		nodes = append(nodes, schedule.Node{ID: id, Book: k.learned.Record().Node(id)})
	}
	jobs, stored := []crawl.Placing{{Landmarks: []string{"d", "e", "a"}}, {}, {Store: "s3://one"}}, nodes[:4]
	for turn := range 5 {
		for i := range jobs {
			r, err := k.reader("nearest", &jobs[i])
			if err != nil {
				t.Fatal(err)
			}
			of := nodes
			if jobs[i].Store != "" {
				of = stored
			}
			if got, want := len(k.landmarks(r, jobs[i].Landmarks, of, 1)), []int{3, 5, 4}[i]; got != want {
				t.Errorf("turn %d, job %d: %d landmarks, want %d", turn, i, got, want)
			}
		}
	}
	if chosen != len(jobs) {
		t.Errorf("landmarks were chosen %d times for %d jobs", chosen, len(jobs))
	}
	if one, _ := k.reader("random", &jobs[0]); one == nil || one != k.readers["random"] {
		t.Error("a strategy without landmarks has a book for each job that names some")
	}
}

// counting counts what is logged.
type counting struct{ n *int }

func (c counting) Enabled(context.Context, slog.Level) bool { return true }
func (c counting) Handle(context.Context, slog.Record) error {
	*c.n++
	return nil
}
func (c counting) WithAttrs([]slog.Attr) slog.Handler { return c }
func (c counting) WithGroup(string) slog.Handler      { return c }
