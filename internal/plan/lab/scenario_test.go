package lab

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"argosy/internal/plan/schedule"
	"argosy/internal/plan/strategy"
)

// small is a scenario that takes a moment.
func small() Scenario {
	three, twenty, two := 3, 20, 2
	s := NewScenario()
	s.Name, s.Experiment, s.Seeds, s.Strategies = "small", "worlds", 2, []string{"greedy", "random"}
	s.World, s.Vary = World{Nodes: &three, Sites: &twenty, Minutes: &two, Strong: new(1), Factor: new(2.0)}, Vary{Term: "factor", Values: []float64{1, 4}}
	return s
}

// An interrupted run goes on where it was and says the same; results of a scenario that was edited are not taken for its own.
func TestScenarioResumes(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results")
	run := func(s Scenario, results string) (string, string) {
		t.Helper()
		var out, told bytes.Buffer
		if _, err := RunScenarios(context.Background(), Config{Out: &out, Progress: &told, Results: results}, []Scenario{s}); err != nil {
			t.Fatal(err)
		}
		return out.String(), told.String()
	}
	whole, told := run(small(), "")
	if !strings.Contains(told, "4 runs") || !strings.Contains(whole, "factor = 4") {
		t.Errorf("it said %q, printed\n%s", told, whole)
	}
	half := small()
	half.Seeds = 1
	run(half, name)
	f, err := os.OpenFile(name, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.WriteString(`{"scenario":"sma`); err != nil { // it was killed while it wrote
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	if again, told := run(small(), name); again != whole || !strings.Contains(told, "2 results are there from before") {
		t.Errorf("resumed, it said %q, printed\n%s\nwant\n%s", told, again, whole)
	}
	other := small()
	other.Vary.Values = []float64{2, 4}
	if _, told := run(other, name); strings.Contains(told, "from before") {
		t.Error("results of another scenario are taken")
	}
	if err := os.WriteFile(name, []byte("{\"build\":\"another\"}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := RunScenarios(context.Background(), Config{Out: &bytes.Buffer{}, Results: name}, []Scenario{small()}); err == nil || !strings.Contains(err.Error(), "another build") {
		t.Errorf("results of another build are taken: %v", err)
	}
}

// What is wrong with a scenario is said before it runs.
func TestScenarioCheck(t *testing.T) {
	good := small()
	if err := good.Check(); err != nil {
		t.Error(err)
	}
	for want, spoil := range map[string]func(s *Scenario){
		"name":                  func(s *Scenario) { s.Name = "" },
		"experiment":            func(s *Scenario) { s.Experiment = "guess" },
		"strategies":            func(s *Scenario) { s.Strategies = []string{"guess"} },
		"world.kind":            func(s *Scenario) { s.World.Kind = "arrivals" },
		"vary.term":             func(s *Scenario) { s.Vary.Term = "limits" },
		"not a value of nodes":  func(s *Scenario) { s.Vary = Vary{"nodes", []float64{1.5}} },
		"allowed are 1 to 1000": func(s *Scenario) { s.Vary = Vary{"nodes", []float64{0}} },
		"allowed are 0 to 1":    func(s *Scenario) { s.Vary = Vary{"blocked", []float64{0.5, 2}} },
		"NaN is not a value":    func(s *Scenario) { s.Vary = Vary{"noise", []float64{math.NaN()}} },
		"2 is given twice":      func(s *Scenario) { s.Vary = Vary{"noise", []float64{1, 2, 2}} },
		"after the last comma":  func(s *Scenario) { s.Strategies = []string{"flow,"} },
		"no node n7: allowed":   func(s *Scenario) { s.Strategies = []string{"nearest,landmarks=n7+n8+n9"} },
		"no node node021": func(s *Scenario) {
			s.Strategies, s.Vary = []string{"nearest,landmarks=node001+node002+node021"}, Vary{"nodes", []float64{25, 20}}
		},
		"no node has the label": func(s *Scenario) { s.Strategies = []string{"hash,group=rack"} },
		"named twice":           func(s *Scenario) { s.Strategies = []string{"flow", "random", "flow"} },
		"with packing":          func(s *Scenario) { s.Packing.Nodes = 7 },
		"factor: it says nothing where strong is 0":   func(s *Scenario) { s.World.Strong = nil },
		"stores: it says nothing where capacity is 0": func(s *Scenario) { s.World.Capacity, s.World.Stores = new(0.0), new(0.5) },
		"strong: 4 strong nodes of 3":                 func(s *Scenario) { s.World.Strong = new(4) },
		"does not look at it":                         func(s *Scenario) { s.Experiment = "bandwidth" },
		"needs a term":                                func(s *Scenario) { s.Vary.Term = "" },
		"coordinates.dims":                            func(s *Scenario) { s.Experiment, s.Coordinates.Dims = "coordinates", []int{40} },
		"allowed are 3 to 20": func(s *Scenario) {
			s.Experiment, s.Coordinates = "coordinates", Coordinates{Hosts: 40, Landmarks: []int{21}}
		},
	} {
		s := small()
		if spoil(&s); s.Experiment == "coordinates" {
			s.Strategies, s.World, s.Vary = nil, World{}, Vary{}
		}
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
}

// Missing numbers survive being kept.
func TestRealsKeepWhatIsMissing(t *testing.T) {
	b, err := json.Marshal(figures{"a": {1.5, math.NaN(), math.Inf(1)}})
	if err != nil || string(b) != `{"a":[1.5,null,null]}` {
		t.Fatalf("%s, %v", b, err)
	}
	var f figures
	if err := json.Unmarshal(b, &f); err != nil || f["a"][0] != 1.5 || !math.IsNaN(f["a"][1]) {
		t.Errorf("%v, %v", f, err)
	}
}

// The patent's examples come out of the strategy as printed, through the scheduler's own cycle.
func TestPatentExamplesThroughTheScheduler(t *testing.T) {
	table, err := bandwidthExamples()
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range table.Rows[:6] {
		if r[1] != "" && r[1] != r[2] {
			t.Errorf("%s: published %s, ours %s", r[0], r[1], r[2])
		}
	}
	if r := table.Rows[7]; r[2] != "–" {
		t.Errorf("the fifth task under wait went to node %s", r[2])
	}
}

// Where nothing may be moved, a task is only with the node that had it first.
func TestPinnedMovesNothing(t *testing.T) {
	st, err := strategy.New("feedback")
	if err != nil {
		t.Fatal(err)
	}
	s := &schedule.Snapshot{Now: 1000, Seed: 1, PerSite: 1, Nodes: []schedule.Node{{ID: "a", Capacity: 1}, {ID: "b", Capacity: 2}}}
	for k, last := range []string{"b", "b", "b", "", "a"} {
		s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(k + 1), Site: string(rune('p' + k)), Last: last})
	}
	p, err := schedule.Cycle(s, pinned{st})
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range p.Assignments {
		if last := s.Tasks[a.Task].Last; last != "" && last != s.Nodes[a.Node].ID {
			t.Errorf("task %d moved from %s to %s", a.Task+1, last, s.Nodes[a.Node].ID)
		}
	}
	if len(p.Assignments) != 3 {
		t.Errorf("%d of 3 places are used: %v", len(p.Assignments), p.Assignments)
	}
}

// A report says what its worlds have, by the names that a scenario gives it, and nothing that they have not.
func TestToldTerms(t *testing.T) {
	sites := 120
	s := Scenario{World: World{Kind: "drift", Sites: &sites}, Vary: Vary{Term: "drift"}}
	got, err := s.told()
	if want := "nodes 20, sites 120, minutes 60, capacity 2, limits, tells 0.3, noise 0.2, drift varies"; err != nil || got != want {
		t.Errorf("%q (%v), want %q", got, err, want)
	}
}

// What leases may do by luck, where the bound goes by what pairs have on average, stands beside the bound.
func TestBoundsAndLuck(t *testing.T) {
	for noise, told := range map[float64]bool{0: false, 0.5: true} {
		s, out := small(), bytes.Buffer{}
		s.World.Noise = &noise
		if _, err := RunScenarios(context.Background(), Config{Out: &out, Progress: &bytes.Buffer{}}, []Scenario{s}); err != nil || strings.Contains(out.String(), "by luck") != told {
			t.Errorf("noise %g: %v\n%s", noise, err, out.String())
		}
	}
}

// Gains that nothing was measured of are no numbers, and say nothing of an order.
func TestGainsOfNothing(t *testing.T) {
	for want, gains := range map[string][3]float64{
		"holds: 3, 2, 1 %":                 {3, 2, 1},
		"does not hold: 3, 1, 2 %":         {3, 1, 2},
		"nothing to compare: –, –, 3128 %": {math.NaN(), math.NaN(), 3128},
	} {
		if got := inOrder(gains[0], gains[1], gains[2]); got != want {
			t.Errorf("%v: %q, want %q", gains, got, want)
		}
	}
}

// A node that is stronger by nothing said would be one without speed and without a limit of its bandwidth: no world that there is.
func TestStrongerByHowMuch(t *testing.T) {
	one, none, ten := 1, 0.0, 10.0
	for _, c := range []struct {
		world World
		vary  Vary
		ok    bool
	}{
		{World{Strong: &one}, Vary{}, false},
		{World{Strong: &one, Factor: &none}, Vary{}, false},
		{World{Strong: &one, Factor: &ten}, Vary{}, true},
		{World{Strong: &one}, Vary{Term: "factor", Values: []float64{1, 10}}, true},
		{World{Strong: &one}, Vary{Term: "factor", Values: []float64{0, 10}}, false},
		{World{Kind: "one-x10"}, Vary{Term: "strong", Values: []float64{0, 1}}, true},
		{World{}, Vary{Term: "strong", Values: []float64{0, 1}}, false},
	} {
		s := small()
		s.World, s.Vary = c.world, c.vary
		if err := s.Check(); (err == nil) != c.ok {
			t.Errorf("%+v, %+v: %v", c.world, c.vary, err)
		}
	}
}

// Two processes that add to one file of results would write over each other's: the second is refused, until the first is done.
func TestResultsHaveOneWriter(t *testing.T) {
	name := filepath.Join(t.TempDir(), "results")
	take := func([]byte) error { return nil }
	first, err := openResults(name, take)
	if err != nil {
		t.Fatal(err)
	}
	if f, err := openResults(name, take); err == nil {
		t.Error("a second one adds to it", f.Close())
	}
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := openResults(name, take)
	if err != nil {
		t.Fatal(err)
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
}

// A strategy that is told all runs where others do.
func TestThroughputOfAllThatIsCompared(t *testing.T) {
	c := Throughput{Sites: 12, Minutes: 2, Capacity: 1.5, Spread: 0.3}
	got, err := runThroughput(c, []string{oracle, "random"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	if told, chance := got[oracle][0], got["random"][0]; told < chance {
		t.Errorf("%.1f MB/min with true figures, %.1f by chance", told, chance)
	}
}

// How many seeds a run has is what somebody says of it, then what quick runs have at most, then what its scenario says.
func TestSeedsThatAreSaidCount(t *testing.T) {
	for want, cfg := range map[string]Config{"5 worlds": {Seeds: 5, Quick: true}, "3 worlds": {Quick: true}, "4 worlds": {}} {
		s, out := small(), &bytes.Buffer{}
		s.Seeds, s.Strategies = 4, []string{"random"}
		cfg.Out = out
		if _, err := RunScenarios(t.Context(), cfg, []Scenario{s}); err != nil || !strings.Contains(out.String(), want) {
			t.Errorf("%+v: %v, %s", cfg, err, out)
		}
	}
}
