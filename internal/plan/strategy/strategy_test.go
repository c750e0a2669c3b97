package strategy

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"argosy/internal/plan/predict"
	"argosy/internal/plan/price"
	"argosy/internal/plan/schedule"
)

// world draws a snapshot.
func world(t *rapid.T) *schedule.Snapshot {
	s := &schedule.Snapshot{Now: 1000, Seed: rapid.Uint64().Draw(t, "seed"), PerIP: rapid.IntRange(0, 3).Draw(t, "per-ip"), PerSite: rapid.IntRange(1, 2).Draw(t, "per-site")}
	var book *predict.Book
	if rapid.Bool().Draw(t, "measured") {
		book = predict.New(predict.Config{})
		s.Book = book
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "nodes") {
		capacity := rapid.IntRange(0, 6).Draw(t, "capacity")
		n := schedule.Node{ID: fmt.Sprint("n", i), Capacity: capacity, Running: rapid.IntRange(0, capacity).Draw(t, "running"), Draining: rapid.Bool().Draw(t, "draining")}
		n.Labels = map[string]string{"type": rapid.SampledFrom([]string{"", "web", "blog"}).Draw(t, "type"), "lat": "48", "lon": fmt.Sprint(i)}
		if rapid.Bool().Draw(t, "offers") {
			n.Offer = schedule.Vector{4, 1 << 30, 5e6}
		}
		if rapid.Bool().Draw(t, "requests") {
			n.Requests = rapid.Float64Range(0.5, 64).Draw(t, "at once")
		}
		n.Untried = rapid.Bool().Draw(t, "untried")
		n.Reserved = rapid.Bool().Draw(t, "reserved")
		n.Labels["region"] = rapid.SampledFrom([]string{"", "eu", "us"}).Draw(t, "region")
		if book != nil {
			n.Book = book.Node(n.ID)
		}
		s.Nodes = append(s.Nodes, n)
	}
	s.PerDomain = rapid.IntRange(0, 3).Draw(t, "per domain")
	addrs := []string{"a", "b", "c"}
	for i := range rapid.IntRange(0, 20).Draw(t, "tasks") {
		task := schedule.Task{ID: uint32(i), Site: fmt.Sprint("s", rapid.IntRange(0, 12).Draw(t, "site")), Since: int64(i)}
		task.Type = rapid.SampledFrom([]string{"", "", "web", "blog"}).Draw(t, "wants")
		if rapid.Bool().Draw(t, "states") {
			task.Need = schedule.Vector{rapid.Float64Range(0, 6).Draw(t, "cpu"), 1 << 28, 1e6}
		}
		if book != nil {
			task.Book = book.Site(task.Site)
			learn(t, book, len(s.Nodes), task.Book)
		}
		task.Width = rapid.SampledFrom([]float64{0, 0.1, 8}).Draw(t, "width")
		task.Domain = rapid.SampledFrom([]string{"", "x.test", "y.test"}).Draw(t, "domain")
		if rapid.Bool().Draw(t, "resolved") {
			task.Addrs = []string{rapid.SampledFrom(addrs).Draw(t, "addr")}
		}
		if rapid.Bool().Draw(t, "recalled") {
			task.Avoid = []string{fmt.Sprint("n", rapid.IntRange(0, 4).Draw(t, "from"))}
		}
		s.Tasks = append(s.Tasks, task)
	}
	for i := range rapid.IntRange(0, 4).Draw(t, "leases") {
		s.Running = append(s.Running, schedule.Running{Lease: uint64(i), Site: fmt.Sprint("s", rapid.IntRange(0, 12).Draw(t, "site")), Addrs: []string{rapid.SampledFrom(addrs).Draw(t, "addr")}})
	}
	return s
}

// learn puts a few measurements into a book.
func learn(t *rapid.T, b *predict.Book, nodes, site int) {
	for n := range nodes {
		switch rapid.IntRange(0, 3).Draw(t, "measured") {
		case 0:
			b.Crawled(n, site, rapid.Float64Range(1, 1e9).Draw(t, "bits"), rapid.Float64Range(1e-6, 1e4).Draw(t, "seconds"), false, 900)
		case 1:
			b.Delay(n, site, rapid.Float64Range(0.01, 1e5).Draw(t, "ms"), 900)
		case 2:
			b.Reported(n, site, predict.Report{Bits: 1e6, Seconds: 2, Good: 1, All: float64(rapid.IntRange(1, 9).Draw(t, "all"))}, 950)
			b.Took(predict.Kind{Site: site, Node: n}, 3, 2, [3]float64{}, 950)
		}
	}
	b.Fit()
}

// Every preset's plan is legal for every snapshot, names every task once, and is the same for the same snapshot.
func TestPlansAreLegalAndDeterministic(t *testing.T) {
	specs := append(Names(), "bandwidth,leftover=wait,method=patent", "feedback,load=on,explore=0.2", "feedback,unknown=expected,first=1", "flow,candidates=0,price=1",
		"flow,explore=0,fair=0", "hash,group=type", "nearest,top=auto", "suffix,group=region")
	for _, name := range specs {
		st, err := New(name)
		if err != nil {
			t.Fatal(err)
		}
		rapid.Check(t, func(t *rapid.T) {
			s := world(t)
			p, err := schedule.Cycle(s, st)
			if err != nil {
				t.Fatal(err)
			}
			again, err := schedule.Cycle(s, st)
			if err != nil || !reflect.DeepEqual(p, again) {
				t.Fatalf("two plans of one snapshot: %v, %v", p, again)
			}
			if len(p.Assignments)+len(p.Waiting)+len(p.Refused) != len(s.Tasks) {
				t.Fatalf("%s: %d assigned, %d waiting, %d refused, of %d tasks", name, len(p.Assignments), len(p.Waiting), len(p.Refused), len(s.Tasks))
			}
			explained, err := schedule.Explained(s, st)
			if err != nil || fmt.Sprint(explained.Assignments) != fmt.Sprint(p.Assignments) {
				t.Fatalf("%s: explaining changes the plan: %v, %v, %v", name, p.Assignments, explained.Assignments, err)
			}
			for _, d := range explained.Decisions {
				if d.Node == "" && d.Waits == "" {
					t.Fatalf("%s: task %d has no node and no reason", name, d.Task)
				}
			}
			if p.Memory != nil { // the next cycle starts from what this one left
				next := *s
				next.Memory = p.Memory
				if _, err := schedule.Cycle(&next, st); err != nil {
					t.Fatal(err)
				}
			}
			for _, w := range p.Waiting {
				if w.Verdict.OK() {
					t.Fatalf("task %d waits without a reason", w.Task)
				}
			}
		})
	}
}

// The node that is most efficient for a product and site has failed with a task: the other one may have it, however slow it is, for
// the two rules must not exclude everybody between them.
func TestFeedbackLeavesANode(t *testing.T) {
	book := predict.New(predict.Config{})
	s := &schedule.Snapshot{Book: book, Tasks: []schedule.Task{{ID: 1, Site: "a", Avoid: []string{"fast"}}}}
	s.Tasks[0].Book = book.Site("a")
	for n, seconds := range []float64{1, 100} {
		s.Nodes = append(s.Nodes, schedule.Node{ID: []string{"fast", "slow"}[n], Book: book.Node([]string{"fast", "slow"}[n]), Capacity: 4})
		book.Took(predict.Kind{Site: s.Tasks[0].Book, Node: n}, 10*seconds, 10, [3]float64{}, 0)
	}
	st, err := New("feedback")
	if err != nil {
		t.Fatal(err)
	}
	for _, avoid := range [][]string{{"fast"}, nil} {
		s.Tasks[0].Avoid = avoid
		p, err := schedule.Cycle(s, st)
		if want := map[bool]int{true: 1, false: 0}[avoid != nil]; err != nil || len(p.Assignments) != 1 || p.Assignments[0].Node != want {
			t.Errorf("failed on %v: %v %+v", avoid, err, p)
		}
	}
}

// As published, a node that was not tried is the best of all; with unknown=expected it is taken only where those that were tried have less
// than is expected of it.
func TestFeedbackExpects(t *testing.T) {
	for _, c := range []struct {
		spec string
		had  float64 // of 40 pages, by the node that was tried
		want int
	}{{"feedback", 39, 1}, {"feedback,time=0.4,unknown=expected", 39, 0}, {"feedback,time=0.4,unknown=expected", 20, 1}} {
		book := predict.New(predict.Config{})
		s := &schedule.Snapshot{Book: book, Tasks: []schedule.Task{{ID: 1, Site: "a", Book: book.Site("a")}}}
		for _, id := range []string{"tried", "untried"} {
			s.Nodes = append(s.Nodes, schedule.Node{ID: id, Book: book.Node(id), Capacity: 4})
		}
		book.Reported(0, s.Tasks[0].Book, predict.Report{Bits: 8e5, Seconds: 40, Good: c.had, All: 40}, 0)
		book.Took(predict.Kind{Site: s.Tasks[0].Book, Node: 0}, 40, c.had, [3]float64{}, 0)
		st, err := New(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		p, err := schedule.Cycle(s, st)
		if err != nil || len(p.Assignments) != 1 || p.Assignments[0].Node != c.want {
			t.Errorf("%s, %g of 40 pages had: %v, %+v", c.spec, c.had, err, p.Assignments)
		}
	}
}

// What nodes were like for a site's searches of other subjects is known of them before the first search of a new one, and a node that
// was slow is tried again once that was long ago.
func TestFeedbackKnowsNodesByOtherSubjects(t *testing.T) {
	const minute = 60_000
	for _, c := range []struct {
		about   string
		spec    string
		product string
		after   int64
		want    int
	}{
		{"another subject", "feedback,time=0.4,unknown=expected", "new", minute, 1},
		{"the same subject, as published", "feedback", "old", minute, 1},
		{"long after, as published", "feedback", "old", 100 * minute, 0},
	} {
		book := predict.New(predict.Config{})
		s := &schedule.Snapshot{Now: minute + c.after, Book: book, Tasks: []schedule.Task{{ID: 1, Site: "a", Product: c.product, Book: book.Site("a")}}}
		for n, seconds := range []float64{1.5, 0.1} {
			id := []string{"slow", "fast"}[n]
			s.Nodes = append(s.Nodes, schedule.Node{ID: id, Book: book.Node(id), Capacity: 4})
			had := 20 - float64(n) // the slow one has had one more
			book.Reported(n, s.Tasks[0].Book, predict.Report{Bits: 8e5, Seconds: 20 * seconds, Good: had, All: 20}, minute)
			for _, product := range []string{"", "old"} {
				book.Took(predict.Kind{Product: product, Site: s.Tasks[0].Book, Node: n}, 20*seconds, 20, [3]float64{}, minute)
			}
		}
		st, err := New(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		p, err := schedule.Cycle(s, st)
		if err != nil || len(p.Assignments) != 1 || p.Assignments[0].Node != c.want {
			t.Errorf("%s: %v, %+v, want node %d", c.about, err, p.Assignments, c.want)
		}
	}
}

// Where the site has shut out the node that was fast, one that was not tried comes before one that has all, but slowly.
func TestFeedbackLooksForAFastNode(t *testing.T) {
	book := predict.New(predict.Config{})
	s := &schedule.Snapshot{Book: book, Tasks: []schedule.Task{{ID: 1, Site: "a", Product: "p", Book: book.Site("a")}}}
	site := s.Tasks[0].Book
	for n, id := range []string{"shut", "slow", "untried"} {
		s.Nodes = append(s.Nodes, schedule.Node{ID: id, Book: book.Node(id), Capacity: 4})
		if n == 2 {
			continue
		}
		seconds := []float64{2, 50}[n]
		book.Reported(n, site, predict.Report{Bits: 8e5, Seconds: seconds, Good: float64(25 * n), All: 25}, 0)
		book.Took(predict.Kind{Site: site, Node: n}, seconds, 25, [3]float64{}, 0)
	}
	st, err := New("feedback,time=0.4,unknown=expected")
	if err != nil {
		t.Fatal(err)
	}
	p, err := schedule.Cycle(s, st)
	if err != nil || len(p.Assignments) != 1 || p.Assignments[0].Node != 2 {
		t.Errorf("%v, %+v", err, p.Assignments)
	}
}

// Verify refuses what a broken strategy might plan.
func TestVerifyRefuses(t *testing.T) {
	s := &schedule.Snapshot{
		PerIP: 1, PerSite: 1, Nodes: []schedule.Node{{ID: "n", Capacity: 2}},
		Tasks:   []schedule.Task{{ID: 1, Site: "a", Addrs: []string{"x"}}, {ID: 2, Site: "b", Addrs: []string{"x"}}, {ID: 3, Site: "a"}, {ID: 4, Site: "c"}, {ID: 5, Site: "d"}, {ID: 6, Site: "busy"}},
		Running: []schedule.Running{{Site: "busy"}},
	}
	type as = []schedule.Assignment
	for want, p := range map[string]as{
		"two owners":   {{Task: 0, Node: 0}, {Task: 0, Node: 0}},
		"per-ip":       {{Task: 0, Node: 0}, {Task: 1, Node: 0}},
		"per-site":     {{Task: 5, Node: 0}},
		"more than":    {{Task: 0, Node: 0}, {Task: 3, Node: 0}, {Task: 4, Node: 0}},
		"out of range": {{Task: 9, Node: 0}},
		"range":        {{Task: 0, Node: 1}},
	} {
		if err := schedule.Verify(s, schedule.Plan{Assignments: p}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want an error with %q", p, err, want)
		}
	}
	if err := schedule.Verify(s, schedule.Plan{Assignments: as{{Task: 0, Node: 0}, {Task: 3, Node: 0}}}); err != nil {
		t.Error(err)
	}
}

func TestUnknown(t *testing.T) {
	for _, spec := range []string{
		"guess", "roundrobin,x=1", "roundrobin,x", "", "nearest,top=0", "nearest,top=many", "hash,by=moon", "flow,probes=-1",
		"nearest,top=1,top=2", "feedback,slow=NaN", "feedback,first=0.5", "flow,probes=1.5", "packing,cpu=1e9", "market", "market,mode=lots", "independent", "hash,by=url", "suffix,by=type",
	} {
		if _, err := New(spec); err == nil {
			t.Errorf("%q is accepted", spec)
		} else if strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: more than one line: %v", spec, err)
		}
	}
}

// Who gives options as lists of strategies have them is told how they are given here.
func TestPlusSignsAreNoCommas(t *testing.T) {
	for spec, want := range map[string]string{
		"flow+move=1": "did you mean flow,move=1?", "nearest+landmarks=a+b+top=2": "did you mean nearest,landmarks=a+b,top=2?",
		"flow+mvoe=1": `no option "mvoe": allowed are probes`, "flow+": "options follow a comma", "guess+move=1": "allowed are bandwidth",
	} {
		if _, err := New(spec); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want one line with %q", spec, err, want)
		}
	}
}

// What means nothing is refused, with what and where: an option without a word, without a value, without the other option that it goes with, and landmarks
// that are none. Jobs and recordings of versions that took it in silence still run, as they did.
func TestMeaningless(t *testing.T) {
	for spec, want := range map[string]string{
		"flow,": "after the last comma", "flow,,fair=1": "between two commas", "hash,group=": "group", "nearest,landmarks=": "landmarks", "nearest,landmarks=+": "landmarks",
		"nearest,landmarks=a+b+": "landmarks", "nearest,landmarks=a+a": "a is named twice", "nearest,landmarks=a+b+c+d,count=3": "count", "feedback,full=2": "load=on",
		"feedback,modify=off,gain=1": "modify=on", "feedback,modify=off,first=1": "modify=on", "flow,solver=greedy,width=0.1": "solver=flow",
		"flow,solver=greedy,fair=0": "solver=flow", "flow,candidates=8,solver=greedy": "solver=flow",
	} {
		if _, err := New(spec); err == nil {
			t.Errorf("%q is accepted", spec)
		} else if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%q: %v, want one line with %q", spec, err, want)
		}
		if _, err := Recorded(spec); err != nil {
			t.Errorf("%q, recorded: %v", spec, err)
		}
	}
	for _, spec := range []string{"feedback,load=on,full=2", "feedback,gain=1", "flow,solver=flow,width=0.1", "nearest,landmarks=a+b+c,count=3", "nearest,landmarks=kcentre,count=3"} {
		if _, err := New(spec); err != nil {
			t.Errorf("%q: %v", spec, err)
		}
	}
	for _, spec := range []string{"guess", "nearest,top=many", "flow,x=1"} {
		if _, err := Recorded(spec); err == nil {
			t.Errorf("%q, recorded, is accepted", spec)
		}
	}
}

// Nodes and labels that a strategy names must be there, as far as nodes are known.
func TestNamesMustBeKnown(t *testing.T) {
	nodes := []schedule.Node{{ID: "a", Labels: map[string]string{"type": "web"}}, {ID: "b"}, {ID: "c", Labels: map[string]string{"region": "eu", "city": ""}}}
	for _, c := range []struct {
		spec  string
		nodes []schedule.Node
		all   string // that is refused where no other node can come
		yet   string // where others can
	}{
		{"flow", nodes, "", ""},
		{"nearest,landmarks=a+b+c", nodes, "", ""},
		{"nearest,landmarks=a+b+z", nodes, "there is no node z: allowed are a, b, c", ""},
		{"nearest,landmarks=x+y+z", nodes, "there is no node x: allowed are a, b, c", "there is no node x"},
		{"nearest,landmarks=x+y+z", nil, "", ""},
		{"hash,group=type", nodes, "", ""},
		{"suffix,group=region", nodes, "", ""},
		{"hash,group=city", nodes, "no node has the label city: allowed are region, type", "no node has the label city"},
		{"suffix,group=city", nodes[1:2], "no node has the label city, nor any other", "no node has the label city"},
		{"hash,group=city", nil, "", ""},
		{"geo", nodes, "", ""},
		{"geo", nodes[:2], "no node says where it is: allowed are the labels lat and lon", "no node says where it is"},
		{"geo", nodes[:1], "", ""},
		{"geo", nil, "", ""},
		{"flow,price=2", nodes, "no node says what it costs", "no node says what it costs"},
		{"flow,price=2", append(nodes[:2:2], schedule.Node{ID: "d", Prices: price.Rates{Use: 1}}), "", ""},
		{"flow,price=2", nil, "", ""},
		{"flow,price=0", nodes, "", ""},
	} {
		st, err := New(c.spec)
		if err != nil {
			t.Fatal(err)
		}
		for all, want := range map[bool]string{true: c.all, false: c.yet} {
			err := schedule.CheckNames(st, nil, c.nodes, all)
			if (err != nil) != (want != "") || err != nil && (!strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), c.spec)) {
				t.Errorf("%s of %d nodes, all of them %v: %v, want %q", c.spec, len(c.nodes), all, err, want)
			}
		}
	}
	st, err := New("nearest")
	if err != nil {
		t.Fatal(err)
	}
	if err := schedule.CheckNames(st, []string{"z"}, nodes, true); err == nil || !strings.Contains(err.Error(), "landmarks") {
		t.Errorf("a job's landmarks: %v", err)
	}
}

func TestRoundRobinSpreads(t *testing.T) {
	st, err := New("roundrobin")
	if err != nil {
		t.Fatal(err)
	}
	s := &schedule.Snapshot{PerSite: 1, Nodes: []schedule.Node{{ID: "a", Capacity: 10}, {ID: "b", Capacity: 10}, {ID: "c", Capacity: 10}}}
	for i := range 9 {
		s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(i), Site: fmt.Sprint(i)})
	}
	p, err := schedule.Cycle(s, st)
	if err != nil {
		t.Fatal(err)
	}
	per := map[int]int{}
	for _, a := range p.Assignments {
		per[a.Node]++
	}
	if per[0] != 3 || per[1] != 3 || per[2] != 3 {
		t.Errorf("%v", per)
	}
}

// Nodes that are paid for come before those that cost a surcharge, working ones before idle ones.
func TestPackingTakesOnLast(t *testing.T) {
	st, err := New("packing")
	if err != nil {
		t.Fatal(err)
	}
	rates := price.Rates{Reserve: 1, Use: 1, Surcharge: 5}
	s := &schedule.Snapshot{PerSite: 1, Nodes: []schedule.Node{
		{ID: "a", Capacity: 2, Prices: rates}, {ID: "b", Capacity: 2, Prices: rates, Reserved: true}, {ID: "c", Capacity: 3, Running: 1, Prices: rates, Reserved: true},
	}}
	for i := range 6 {
		s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(i), Site: fmt.Sprint(i)})
	}
	p, err := schedule.Cycle(s, st)
	if err != nil {
		t.Fatal(err)
	}
	var got []int
	for _, a := range p.Assignments {
		got = append(got, a.Node)
	}
	if want := []int{2, 2, 1, 1, 0, 0}; !slices.Equal(got, want) {
		t.Errorf("nodes %v, want %v: working, reserved, taken on", got, want)
	}
}

// What leases that run are known to take is taken off their nodes, whichever cycle they come from, and none is thought to take more than any
// node has.
func TestPackingCountsWhatRuns(t *testing.T) {
	st, err := New("packing")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		cores float64
		held  []string
		want  []int
	}{{0.6, []string{"a"}, []int{1}}, {0.4, []string{"a"}, []int{0, 1, 1}}, {900, nil, []int{0, 1}}, {900, []string{"a"}, []int{1}}} {
		book := predict.New(predict.Config{})
		book.Took(predict.Kind{Site: -1, Node: -1}, 1, 1, [3]float64{c.cores, 1e6, 1e5}, 1)
		s := &schedule.Snapshot{PerSite: 1, Now: 1, Book: book}
		for _, id := range []string{"a", "b"} {
			s.Nodes = append(s.Nodes, schedule.Node{ID: id, Capacity: 10, Offer: schedule.Vector{1, 1e9, 1e9}, Book: book.Node(id)})
		}
		for i, node := range c.held {
			s.Running = append(s.Running, schedule.Running{Lease: uint64(i + 1), Task: uint32(100 + i), Site: "r", Node: node, Book: book.Site("r")})
			s.Nodes[slices.IndexFunc(s.Nodes, func(n schedule.Node) bool { return n.ID == node })].Running++
		}
		for i := range 3 {
			site := fmt.Sprint(i)
			s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(i), Site: site, Book: book.Site(site)})
		}
		p, err := schedule.Cycle(s, st)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for _, a := range p.Assignments {
			got = append(got, a.Node)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("tasks of %v cores, leases at %v: nodes %v, want %v", c.cores, c.held, got, c.want)
		}
	}
}

// A strategy that decides by where sites are is refused where nothing says that: all nodes would be as near as each other.
func TestPlacesMustBeKnown(t *testing.T) {
	for _, name := range Names() {
		st, err := New(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := schedule.CheckPlaces(st, false); (err != nil) != (name == "geo") {
			t.Errorf("%s without places: %v", name, err)
		}
		if err := schedule.CheckPlaces(st, true); err != nil {
			t.Errorf("%s with places: %v", name, err)
		}
	}
}

// However much nodes can take in, flow gives a site to the one with the faster path, though the other has nothing to do: store and line
// of a node in a rack are a thousand times as fast as a site.
func TestFlowTakesTheFasterPath(t *testing.T) {
	for _, carries := range []float64{1e8, 1e10, 1e12} {
		b := predict.New(predict.Config{})
		s := &schedule.Snapshot{Now: 10_000, Seed: 3, PerSite: 1, Book: b}
		for i := range 2 {
			n := schedule.Node{ID: fmt.Sprint("n", i), Capacity: 50, Offer: schedule.Vector{schedule.Bandwidth: carries}}
			n.Book = b.Node(n.ID)
			s.Nodes = append(s.Nodes, n)
		}
		for k := range 9 {
			site := fmt.Sprint("s", k)
			for range 3 {
				b.Crawled(0, b.Site(site), 3e6, 1, false, 9000)
				b.Crawled(1, b.Site(site), 1e6, 1, false, 9000)
			}
			if k < 8 {
				s.Running = append(s.Running, schedule.Running{Lease: uint64(k + 1), Site: site, Node: "n0", Book: b.Site(site)})
				s.Nodes[0].Running++
				continue
			}
			s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(k), Site: site, Book: b.Site(site)})
		}
		st, err := New("flow,explore=0")
		if err != nil {
			t.Fatal(err)
		}
		p, err := schedule.Cycle(s, st)
		if err != nil || len(p.Assignments) != 1 {
			t.Fatal(p, err)
		}
		if n := s.Nodes[p.Assignments[0].Node].ID; n != "n0" {
			t.Errorf("nodes that take in %.0e bits/s: the site goes to %s, where it is three times slower", carries, n)
		}
	}
}

// A node makes so many requests at once, however fast its line is: sites that answer late fill it before their bytes do.
func TestFlowCountsRequestsBesideBandwidth(t *testing.T) {
	b := predict.New(predict.Config{})
	s := &schedule.Snapshot{Now: 10_000, Seed: 3, PerSite: 1, Book: b}
	for i := range 2 {
		id := fmt.Sprint("n", i)
		s.Nodes = append(s.Nodes, schedule.Node{ID: id, Capacity: 64, Requests: 2, Offer: schedule.Vector{schedule.Bandwidth: 1e9}, Book: b.Node(id)})
	}
	for k := range 8 {
		site := fmt.Sprint("s", k)
		for range 3 {
			b.Crawled(0, b.Site(site), 1.2e4, 1, false, 9000) // the same for both, but for a little
			b.Crawled(1, b.Site(site), 1e4, 1, false, 9000)
		}
		if k < 4 {
			s.Running = append(s.Running, schedule.Running{Lease: uint64(k + 1), Site: site, Node: "n0", Book: b.Site(site), Width: 0.5})
			s.Nodes[0].Running++
			continue
		}
		s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(k), Site: site, Book: b.Site(site), Width: 0.5})
	}
	st, err := New("flow,explore=0")
	if err != nil {
		t.Fatal(err)
	}
	p, err := schedule.Cycle(s, st)
	if err != nil || len(p.Assignments) != 4 {
		t.Fatal(p, err)
	}
	for _, a := range p.Assignments {
		if n := s.Nodes[a.Node].ID; n != "n1" {
			t.Errorf("%s goes to %s, which makes as many requests as it can", s.Tasks[a.Task].Site, n)
		}
	}
}

// What exploring is worth is the solver's business: with greedy it is refused by whoever asks for it, and runs as it did where it is on record.
func TestExploringGoesWithTheSolver(t *testing.T) {
	const spec = "flow,solver=greedy,explore=worth"
	if _, err := New(spec); err == nil || !strings.Contains(err.Error(), "explore=worth says nothing with solver=greedy") {
		t.Errorf("%s: %v", spec, err)
	}
	if _, err := Recorded(spec); err != nil {
		t.Errorf("%s, recorded: %v", spec, err)
	}
	for _, fine := range []string{"flow,solver=greedy", "flow,explore=worth", "flow,solver=greedy,explore=0.5"} {
		if _, err := New(fine); err != nil {
			t.Errorf("%s: %v", fine, err)
		}
	}
}

// A site's pauses bound what a pair brings, and that is said apart from how fast the pair is.
func TestPausesAreNotSpeeds(t *testing.T) {
	for _, spec := range []string{"flow", "greedy", "makespan"} {
		st, err := New(spec)
		if err != nil {
			t.Fatal(err)
		}
		book := predict.New(predict.Config{})
		s := &schedule.Snapshot{Now: 1_000_000, Seed: 1, PerSite: 1, Book: book}
		for i := range 20 {
			id := fmt.Sprintf("n%02d", i)
			s.Nodes = append(s.Nodes, schedule.Node{ID: id, Capacity: 4, Book: book.Node(id), Offer: schedule.Vector{schedule.Bandwidth: 100e6}})
		}
		for j, gap := range []float64{0, 100} {
			site := book.Site(fmt.Sprintf("s%d.test", j))
			for i := range 5 * len(s.Nodes) {
				node := i % len(s.Nodes)
				book.Crawled(node, site, 4e6*math.Exp(float64(node)/100), 1, false, s.Now)
			}
			s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(j + 1), Site: fmt.Sprintf("s%d.test", j), Gap: gap, Book: site, Pending: 50})
		}
		book.Fit()
		plan, err := schedule.Explained(s, st)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range plan.Decisions {
			for _, c := range d.Candidates {
				said := map[string]float64{}
				for _, p := range c.Parts {
					said[p.Name] = p.Value
				}
				allowed, bounded := said["the site's pauses allow"]
				if speed := said["speed"]; speed < 2 || speed > 8 || bounded != (d.Task == 2) || bounded && allowed > 0.1 {
					t.Errorf("%s, task %d: %v", spec, d.Task, said)
				}
			}
		}
	}
}
