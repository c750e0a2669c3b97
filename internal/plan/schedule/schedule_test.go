package schedule_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"argosy/internal/plan/predict"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

// Low completion gives fewer pages and high gives more; pages that come slowly get more time.
func TestModify(t *testing.T) {
	cfg := schedule.DefaultModify()
	base := schedule.Subtask{Quota: 100, Budget: time.Minute, Exist: 100, Collected: 80, Took: 80 * time.Second}
	q, b := schedule.Modify(cfg, base)
	if q != 100 {
		t.Errorf("at the target the quota stays, got %d", q)
	}
	low, high, slow := base, base, base
	low.Collected, low.Took = 20, 20*time.Second
	high.Collected, high.Took = 100, 100*time.Second
	slow.Took *= 4
	if got, _ := schedule.Modify(cfg, low); got >= q {
		t.Errorf("after a low completion rate %d pages", got)
	}
	if got, _ := schedule.Modify(cfg, high); got <= q {
		t.Errorf("after a high completion rate %d pages", got)
	}
	if _, got := schedule.Modify(cfg, slow); got <= b {
		t.Errorf("pages four times as slow get %v, were %v", got, b)
	}
	slow.Took = 5 * time.Hour
	if got, d := schedule.Modify(cfg, slow); got >= q || d <= b || d > cfg.MaxTime {
		t.Errorf("what does not fit into the longest time gives %d pages in %v", got, d)
	}
	out := schedule.Subtask{Quota: 10_000, Budget: 30 * time.Second, Exist: 100, Collected: 100, Took: 30 * time.Second, Out: true}
	if q, b = schedule.Modify(cfg, out); q != 110 || b > time.Minute {
		t.Errorf("after 100 pages in a lease that had no more time: %d pages in %v", q, b)
	}
	rapid.Check(t, func(t *rapid.T) {
		s := schedule.Subtask{
			Quota: rapid.IntRange(-5, 1e6).Draw(t, "quota"), Budget: time.Duration(rapid.Int64Range(-1, 1e14).Draw(t, "budget")),
			Exist: rapid.IntRange(-1, 1e6).Draw(t, "exist"), Collected: rapid.IntRange(0, 1e6).Draw(t, "collected"),
			Took: time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "took")), Out: rapid.Bool().Draw(t, "out"),
		}
		q, b := schedule.Modify(cfg, s)
		if q < cfg.MinPages || q > cfg.MaxPages || b < cfg.MinTime || b > cfg.MaxTime {
			t.Fatalf("%+v: %d pages in %v", s, q, b)
		}
	})
}

// A pair of which nothing is known gets one page, then what is known of it doubles; one that was bad gets few; without First nothing changes.
func TestShape(t *testing.T) {
	cfg := schedule.DefaultModify().Searches()
	job := schedule.Subtask{Quota: 100, Budget: time.Minute}
	if q, b := schedule.Shape(cfg, job, 0, 0); q != 100 || b != time.Minute {
		t.Errorf("published: %d pages in %v", q, b)
	}
	cfg.First, cfg.Gain = 1, 5
	all := 0.0
	for _, want := range []int{1, 2, 4, 8, 16, 32, 64} {
		q, b := schedule.Shape(cfg, job, all, all)
		if q != want || b != time.Minute {
			t.Errorf("after %g pages, all had: %d pages in %v, want %d", all, q, b, want)
		}
		all += float64(q)
	}
	if q, _ := schedule.Shape(cfg, job, 0, 30); q != 1 {
		t.Errorf("after 30 pages, none had: %d pages", q)
	}
	last := schedule.Subtask{Quota: 10, Exist: 10, Collected: 0, Took: time.Minute} // on another node
	if q, _ := schedule.Shape(cfg, last, 50, 50); q < 10 {
		t.Errorf("a good pair after a bad one: %d pages", q)
	}
}

// What Modify says that it maximises is largest where it says, of all quotas and budgets in whole seconds that there are.
func TestModifyIsBest(t *testing.T) {
	cfg := schedule.ModifyConfig{Target: 0.8, Gain: 0.5, MinPages: 2, MaxPages: 40, MinTime: 3 * time.Second, MaxTime: 50 * time.Second, Safety: 1.5}
	rapid.Check(t, func(t *rapid.T) {
		s := schedule.Subtask{Quota: rapid.IntRange(2, 40).Draw(t, "quota"), Took: time.Duration(rapid.Int64Range(1, 3e5).Draw(t, "took, ms")) * time.Millisecond}
		s.Exist = rapid.IntRange(1, s.Quota).Draw(t, "exist")
		s.Collected = rapid.IntRange(1, s.Exist).Draw(t, "collected")
		rate := float64(s.Collected) / float64(s.Exist)
		each := cfg.Safety * s.Took.Seconds() / float64(s.Collected) * max(rate, 0.1)
		worth := func(q, b int) float64 {
			n := min(float64(q), math.Floor(float64(b)/each+1e-9))
			return (1+cfg.Gain*(rate-cfg.Target))*n - n*n/(2*float64(s.Quota))
		}
		q, b := schedule.Modify(cfg, s)
		if each*float64(cfg.MinPages) > cfg.MaxTime.Seconds()+1e-9 {
			if q != cfg.MinPages || b != cfg.MaxTime {
				t.Fatalf("%+v: %d pages in %v, though none fits", s, q, b)
			}
			return
		}
		got, seconds := worth(q, int(b.Seconds())), int(b.Seconds())
		for oq := cfg.MinPages; oq <= cfg.MaxPages; oq++ {
			for ob := 3; ob <= 50; ob++ {
				other := worth(oq, ob)
				if other > got+1e-9 || math.Abs(other-got) <= 1e-9 && (ob < seconds || ob == seconds && oq < q) {
					t.Fatalf("%+v: %d pages in %d s are worth %g, %d in %d s %g", s, q, seconds, got, oq, ob, other)
				}
			}
		}
	})
}

func TestRecycle(t *testing.T) {
	cfg := schedule.DefaultRecycle()
	if v := schedule.Recycle(cfg, 59*time.Second); !v.OK() {
		t.Errorf("after 59 s: %v", v)
	}
	if v := schedule.Recycle(cfg, 61*time.Second); v.Reason != schedule.Recalled {
		t.Errorf("after 61 s: %v", v)
	}
	for n := range 5 {
		if schedule.AfterFailure(cfg, n) != schedule.Recalled {
			t.Errorf("a task recycled %d times goes to a person", n)
		}
	}
	if schedule.AfterFailure(cfg, 5) != schedule.Manual {
		t.Error("a task recycled 5 times does not go to a person")
	}
}

// The paper's market: three crawlers at their target, three URLs of one that is out of ability, the worked example.
func TestExchange(t *testing.T) {
	cfg := schedule.DefaultExchange()
	cfg.Delta2 = 1
	full := schedule.NewTrader(cfg)
	full.Pages = cfg.Alpha
	seller := schedule.NewTrader(cfg)
	seller.Ability, seller.Queue = 0.2, 3
	if !full.Buys(cfg) || full.Sells(cfg) || seller.Buys(cfg) || !seller.Sells(cfg) {
		t.Fatal("who buys and who sells")
	}
	traders := []schedule.Trader{full, full, full, seller}
	items := []schedule.ForSale{
		{"s1", 3, []float64{9, 7, 4, 0}}, {"s2", 3, []float64{5, 5, 3, 0}}, {"s3", 3, []float64{1, 2, 2, 0}},
	}
	r, err := schedule.Exchange(cfg, traders, items)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Held || r.Rounds != 4 || len(r.Trades) != 3 || r.Value != 16 || len(r.Unsold) != 0 {
		t.Errorf("%+v", r)
	}
	for k, want := range []schedule.Trade{{0, 0, 3}, {1, 1, 1}, {2, 2, 0}} {
		if r.Trades[k] != want {
			t.Errorf("trade %d: %+v, want %+v", k, r.Trades[k], want)
		}
	}
	b := traders[0]
	if b.Time != full.Time+10*time.Second || b.Space != full.Space+50_000 || b.Queue != 1 || traders[3].Queue != 0 {
		t.Errorf("rewards: %+v, seller %+v", b, traders[3])
	}
	if r, err = schedule.Exchange(cfg, []schedule.Trader{seller}, []schedule.ForSale{{"x", 0, []float64{1}}}); err != nil || r.Held {
		t.Errorf("a market without buyers: %+v, %v", r, err)
	}
	if _, err = schedule.Exchange(cfg, traders, []schedule.ForSale{{"x", 9, nil}}); err == nil {
		t.Error("an item without values is accepted")
	}
}

// In the paper's form a crawler that sells and buys has its one purchase of another crawler, though its own URLs are worth more to it.
func TestNobodyBuysOfItself(t *testing.T) {
	for _, similarity := range []bool{false, true} {
		cfg := schedule.DefaultExchange()
		cfg.ReserveValue = similarity
		both := schedule.NewTrader(cfg)
		both.Pages, both.Queue = cfg.Alpha, 100
		seller := schedule.NewTrader(cfg)
		seller.Ability, seller.Queue = 0, 1
		items := []schedule.ForSale{{"own", 0, []float64{.9, .8}}, {"other", 1, []float64{.5, .3}}}
		traders := []schedule.Trader{both, seller}
		r, err := schedule.Exchange(cfg, traders, items)
		if err != nil || len(r.Trades) != 1 || r.Trades[0].Item != 1 || r.Trades[0].Buyer != 0 || traders[0].Queue != 101 {
			t.Errorf("%+v, %v", r, err)
		}
		traders = []schedule.Trader{both, seller}
		if r, err = schedule.Exchange(cfg, traders, items[:1]); err != nil || len(r.Trades) != 0 || len(r.Unsold) != 1 || traders[0] != both {
			t.Errorf("of nothing but its own: %+v, %v", r, err)
		}
	}
}

// Numbers are made equal in the paper's form; lots sell all that ability and value allow. Nothing is sold twice, and
// lots are worth at least as much.
func TestExchangeForms(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := schedule.DefaultExchange()
		cfg.ReserveValue = rapid.Bool().Draw(t, "reserve")
		var traders []schedule.Trader
		for range rapid.IntRange(1, 5).Draw(t, "traders") {
			tr := schedule.NewTrader(cfg)
			tr.Pages, tr.Ability = rapid.IntRange(3, 6).Draw(t, "pages"), float64(rapid.IntRange(0, 10).Draw(t, "ability"))/2
			traders = append(traders, tr)
		}
		var items []schedule.ForSale
		for range rapid.IntRange(0, 8).Draw(t, "items") {
			it := schedule.ForSale{Seller: rapid.IntRange(0, len(traders)-1).Draw(t, "seller")}
			for range traders {
				it.Values = append(it.Values, float64(rapid.IntRange(0, 10).Draw(t, "v"))/10)
			}
			items = append(items, it)
		}
		worth := map[bool]float64{}
		for _, lots := range []bool{false, true} {
			cfg.Lots = lots
			r, err := schedule.Exchange(cfg, append([]schedule.Trader(nil), traders...), items)
			if err != nil {
				t.Fatal(err)
			}
			sold := map[int]bool{}
			for _, x := range r.Trades {
				if sold[x.Item] || !traders[x.Buyer].Buys(cfg) {
					t.Fatalf("%+v", r)
				}
				sold[x.Item] = true
				worth[lots] += items[x.Item].Values[x.Buyer]
			}
			if len(sold)+len(r.Unsold) != len(items) {
				t.Fatalf("%d sold, %d not, of %d", len(sold), len(r.Unsold), len(items))
			}
		}
		if !cfg.ReserveValue && worth[true] < worth[false]-0.01 {
			t.Fatalf("lots are worth %g, one each %g", worth[true], worth[false])
		}
	})
}

// A decision names who was left out and why, and marks every figure as measured, predicted or default.
func TestExplained(t *testing.T) {
	book := predict.New(predict.Config{})
	s := &schedule.Snapshot{Now: 5000, PerSite: 1, Book: book}
	for _, id := range []string{"a", "b", "c"} {
		s.Nodes = append(s.Nodes, schedule.Node{ID: id, Capacity: 2, Book: book.Node(id), Draining: id == "c"})
	}
	site := book.Site("site.example")
	book.Crawled(0, site, 9e6, 1, false, 4000)
	book.Stored(0, 8e6, 1)
	s.Tasks = []schedule.Task{{ID: 7, Site: "site.example", Book: site}}
	for _, spec := range []string{"flow,explore=0", "bandwidth"} {
		st, err := strategy.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		p, err := schedule.Explained(s, st)
		if err != nil {
			t.Fatal(err)
		}
		d := p.Decisions[0]
		b, err := json.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{`"node":"a"`, `"reason":"draining"`, `"source":"measured"`, `"source":"default"`} {
			if !strings.Contains(string(b), want) {
				t.Errorf("%s: %s is missing in %s", spec, want, b)
			}
		}
		if len(d.Filtered) != 1 || len(d.Candidates) != 2 || d.Candidates[0].Cost == nil || *d.Candidates[0].Cost > *d.Candidates[1].Cost {
			t.Errorf("%s: %+v", spec, d)
		}
	}
}

// Of the cheapest node that a task did not get it is said whose leases ran there and who got its places now.
func TestPassedNamesThoseThatHaveThePlaces(t *testing.T) {
	book := predict.New(predict.Config{})
	s := &schedule.Snapshot{Now: 5000, PerSite: 1, Book: book}
	for _, id := range []string{"slow", "fast"} {
		s.Nodes = append(s.Nodes, schedule.Node{ID: id, Capacity: 2, Book: book.Node(id)})
	}
	s.Nodes[1].Running = 1
	s.Running = []schedule.Running{{Task: 9, Lease: 1, Site: "old.test", Node: "fast", Book: book.Site("old.test")}}
	for i, name := range []string{"one.test", "two.test"} {
		site := book.Site(name)
		book.Crawled(0, site, 1e6, 1, false, 4000)
		book.Crawled(1, site, 9e6, 1, false, 4000)
		s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(i), Site: name, Book: site})
	}
	for _, spec := range []string{"greedy", "flow", "makespan"} {
		st, err := strategy.New(spec)
		if err != nil {
			t.Fatal(err)
		}
		p, err := schedule.Explained(s, st)
		if err != nil {
			t.Fatal(err)
		}
		first, second := p.Decisions[0], p.Decisions[1]
		if first.Node != "fast" {
			first, second = second, first
		}
		passed := second.Passed
		if passed == nil || passed.Node != "fast" || passed.Taken != 2 || !slices.Equal(passed.Held, []string{"old.test"}) || !slices.Equal(passed.By, []string{first.Site}) {
			t.Errorf("%s: %+v, of %+v", spec, passed, p.Decisions)
		}
	}
}

// Of nodes that cost the same none was passed over: any of them costs least.
func TestEqualCandidatesAreNotPassed(t *testing.T) {
	book := predict.New(predict.Config{})
	s := &schedule.Snapshot{Now: 5000, PerSite: 1, Book: book, Seed: 3}
	for _, id := range []string{"a", "b", "c", "d"} {
		s.Nodes = append(s.Nodes, schedule.Node{ID: id, Capacity: 1, Book: book.Node(id)})
	}
	for i := range 4 {
		s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(i + 1), Site: fmt.Sprintf("s%d.test", i), Book: book.Site(fmt.Sprintf("s%d.test", i))})
	}
	st, err := strategy.New("flow")
	if err != nil {
		t.Fatal(err)
	}
	p, err := schedule.Explained(s, st)
	if err != nil {
		t.Fatal(err)
	}
	other := 0
	for _, d := range p.Decisions {
		if d.Node != d.Candidates[0].Node {
			other++
		}
		if d.Passed != nil {
			t.Errorf("task %d went to %s, and of %s it is said that it costs less: %+v", d.Task, d.Node, d.Passed.Node, d.Candidates)
		}
	}
	if other == 0 {
		t.Error("all went to the first candidate")
	}
}

// The patent's two worked examples, through the strategy.
func TestBandwidthExamples(t *testing.T) {
	st, err := strategy.New("bandwidth")
	if err != nil {
		t.Fatal(err)
	}
	plan := func(cost [][]float64) []int {
		book := predict.New(predict.Config{})
		s := &schedule.Snapshot{PerSite: 1, Book: book}
		for i := range cost {
			id := string(rune('a' + i))
			s.Nodes = append(s.Nodes, schedule.Node{ID: id, Capacity: 9, Book: book.Node(id)})
		}
		for j := range cost[0] {
			name := string(rune('A' + j))
			s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(j), Site: name, Book: book.Site(name)})
			for i := range cost {
				book.Crawled(i, j, 0.5e9/cost[i][j], 1e3, false, 0) // BC and BS such that 1/(BC+BS) is the cost, in s/Mbit
			}
		}
		for i := range cost {
			book.Stored(i, 1, 1e6)
		}
		p, err := schedule.Cycle(s, st)
		if err != nil {
			t.Fatal(err)
		}
		out := make([]int, len(s.Tasks))
		for _, a := range p.Assignments {
			out[a.Task] = a.Node + 1
		}
		return out
	}
	if got := plan([][]float64{{30}, {30}, {20}, {40}, {10}, {30}}); got[0] != 5 {
		t.Errorf("example 1: node %d, want 5", got[0])
	}
	got := plan([][]float64{{60, 60, 60, 20, 90}, {40, 50, 80, 70, 90}, {40, 40, 10, 30, 90}, {80, 90, 20, 90, 1}})
	for j, want := range []int{2, 3, 4, 1, 4} { // A1→T4, A2→T1, A3→T2, A4→T3; the fifth is left over and goes by itself
		if got[j] != want {
			t.Errorf("example 2: task %d to node %d, want %d (%v)", j+1, got[j], want, got)
		}
	}
}

// A task too big for every node is refused at once, with a reason; it does not wait for ever.
func TestTooBigIsRefused(t *testing.T) {
	st, err := strategy.New("packing")
	if err != nil {
		t.Fatal(err)
	}
	s := &schedule.Snapshot{PerSite: 1, Nodes: []schedule.Node{{ID: "n", Capacity: 2, Offer: schedule.Vector{2, 1 << 30, 1e8}}}}
	s.Tasks = []schedule.Task{{ID: 1, Site: "small"}, {ID: 2, Site: "huge", Need: schedule.Vector{3, 0, 0}}}
	p, err := schedule.Cycle(s, st)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Assignments) != 1 || len(p.Refused)+len(p.Waiting) != 1 {
		t.Errorf("%+v", p)
	}
	if len(p.Refused) != 1 || p.Refused[0].Verdict.Reason != schedule.ReasonTooBig {
		t.Errorf("a task that no node can hold: refused %v, waiting %v", p.Refused, p.Waiting)
	}
}

// A place is not left free because tasks that are a thousand times as fast elsewhere make it dear: slow tasks have nothing
// to wait for.
func TestFlowFillsPlaces(t *testing.T) {
	book := predict.New(predict.Config{})
	s := &schedule.Snapshot{PerSite: 1, Book: book, Now: 1000, Nodes: []schedule.Node{
		{ID: "slow", Capacity: 2, Book: book.Node("slow")}, {ID: "fast for some", Capacity: 1, Book: book.Node("fast for some")},
	}}
	for j, logs := range [][2]float64{{10, 10}, {10, 10}, {10, 18}, {10, 18}, {10, 18}, {10.5, 10}} {
		site := string(rune('A' + j))
		s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(j), Site: site, Since: 1000, Book: book.Site(site)})
		for i, x := range logs {
			book.Crawled(i, j, math.Exp(x), 1, false, 900)
		}
	}
	st, err := strategy.New("flow,explore=0,fair=0")
	if err != nil {
		t.Fatal(err)
	}
	p, err := schedule.Cycle(s, st)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Assignments) != 3 {
		t.Errorf("%v for 3 places", p.Assignments)
	}
}

// flow takes the cheap pairs under capacities: its plan is never worth less than one at a time.
func TestFlowAgainstGreedy(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		book := predict.New(predict.Config{})
		s := &schedule.Snapshot{PerSite: 1, Book: book, Now: 1000}
		nodes := rapid.IntRange(1, 5).Draw(t, "nodes")
		for i := range nodes {
			id := string(rune('a' + i))
			s.Nodes = append(s.Nodes, schedule.Node{ID: id, Capacity: rapid.IntRange(0, 3).Draw(t, "capacity"), Book: book.Node(id)})
		}
		for j := range rapid.IntRange(1, 8).Draw(t, "tasks") {
			name := string(rune('A' + j))
			s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(j), Site: name, Since: 1000, Book: book.Site(name)})
			for i := range nodes {
				book.Crawled(i, j, math.Exp(rapid.Float64Range(10, 18).Draw(t, "rate")), 1, false, 900)
			}
		}
		st, err := strategy.New("flow,explore=0,fair=0")
		if err != nil {
			t.Fatal(err)
		}
		p, err := schedule.Cycle(s, st)
		if err != nil {
			t.Fatal(err)
		}
		room := 0
		for _, n := range s.Nodes {
			room += n.Capacity
		}
		if len(p.Assignments) != min(room, len(s.Tasks)) {
			t.Fatalf("%d assigned, %d tasks, room for %d", len(p.Assignments), len(s.Tasks), room)
		}
	})
}

// manyForSale is a market of many URLs, of which each crawler has places for eight.
func manyForSale(seed uint64, buyers, urls int) (schedule.ExchangeConfig, []schedule.Trader, []schedule.ForSale) {
	rng := rand.New(rand.NewPCG(seed, 4))
	cfg := schedule.DefaultExchange()
	cfg.Lots, cfg.Alpha, cfg.Beta = true, 0, math.Inf(1)
	traders := make([]schedule.Trader, buyers)
	for b := range traders {
		traders[b] = schedule.NewTrader(cfg)
		traders[b].Places = 8
	}
	items := make([]schedule.ForSale, urls)
	for i := range items {
		items[i].Seller = i % buyers
		base := rng.Float64()
		for range buyers {
			items[i].Values = append(items[i].Values, base*(0.5+0.5*rng.Float64()))
		}
	}
	return cfg, traders, items
}

// Twenty crawlers and ten thousand URLs for sale: every place that somebody can use is sold.
func TestExchangeOfMany(t *testing.T) {
	cfg, traders, items := manyForSale(1, 20, 10_000)
	r, err := schedule.Exchange(cfg, slices.Clone(traders), items)
	if err != nil || len(r.Trades) != 160 {
		t.Fatalf("%d trades, %v", len(r.Trades), err)
	}
	for i := range items { // of lots that are all worth the same, too
		for b := range items[i].Values {
			items[i].Values[b] = 0.5
		}
	}
	if r, err = schedule.Exchange(cfg, traders, items); err != nil || len(r.Trades) != 160 || len(r.Unsold) != 9840 {
		t.Fatalf("%d trades of equal lots, %d unsold, %v", len(r.Trades), len(r.Unsold), err)
	}
}

// A step so small that the published rule reaches its bound ends by the exact rule, also where the step divides all valuations.
func TestExchangeOfTinySteps(t *testing.T) {
	cfg, traders, items := manyForSale(1, 20, 10_000)
	cfg.Lots, cfg.Delta2 = false, 1e-9
	for i := range items {
		for b := range items[i].Values {
			items[i].Values[b] = math.Round(items[i].Values[b]*100) / 100
		}
	}
	r, err := schedule.Exchange(cfg, slices.Clone(traders), items)
	if err != nil || len(r.Trades) != 20 || r.TookOver == 0 {
		t.Fatalf("%d trades, the exact rule took over after round %d, %v", len(r.Trades), r.TookOver, err)
	}
	cfg.Delta2 = 0
	if exact, err := schedule.Exchange(cfg, traders, items); err != nil || math.Abs(exact.Value-r.Value) > 1e-9 {
		t.Fatalf("worth %v, by the smallest rise %v, %v", r.Value, exact.Value, err)
	}
}

// Twenty crawlers and ten thousand URLs for sale: in lots, as published, and where all URLs are worth nearly the same, by which bids go on for longest.
func BenchmarkExchange(b *testing.B) {
	cfg, traders, items := manyForSale(1, 20, 10_000)
	published, contested := cfg, slices.Clone(items)
	published.Lots = false
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range contested {
		contested[i].Values = slices.Clone(items[i].Values)
		for c := range contested[i].Values {
			contested[i].Values[c] = 0.5 + 1e-6*rng.Float64()
		}
	}
	for _, of := range []struct {
		name  string
		cfg   schedule.ExchangeConfig
		items []schedule.ForSale
	}{{"lots", cfg, items}, {"lots-contested", cfg, contested}, {"paper", published, items}, {"paper-contested", published, contested}} {
		b.Run(of.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := schedule.Exchange(of.cfg, slices.Clone(traders), of.items); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// The quota of a search rises from a single result page and falls to one, by the gain that virtual tasks have; with the default gain, a
// few pages stay a few whatever they bring.
func TestModifySearches(t *testing.T) {
	cfg := schedule.DefaultModify().Searches()
	cfg.Gain = 5
	s := schedule.Subtask{Quota: 1, Exist: 10, Took: time.Second, Rated: true, Rate: 1}
	for _, want := range []int{2, 4, 8} {
		s.Collected = s.Quota
		if s.Quota, s.Budget = schedule.Modify(cfg, s); s.Quota != want {
			t.Fatalf("%d pages, want %d", s.Quota, want)
		}
	}
	s.Rate = 0.5
	if s.Quota, _ = schedule.Modify(cfg, s); s.Quota != 1 {
		t.Errorf("after a low rate: %d pages, want 1", s.Quota)
	}
}
