package lab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"

	"argosy/internal/plan/predict"
	"argosy/internal/plan/report"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/solve"
	"argosy/internal/plan/strategy"
)

// exampleTwo is a matrix with every fact that the patent's second example states; its figure is not in print.
var exampleTwo = [][]float64{{60, 60, 60, 20}, {40, 50, 80, 70}, {40, 40, 10, 30}, {80, 90, 20, 90}}

// bandwidthSpecs are held against each other in worlds, the patent's rule first.
var bandwidthSpecs = []string{"bandwidth", "bandwidth,leftover=wait", "bandwidth,probe=few", "random", "greedy", "flow"}

// stuckSizes are the sizes at which the patent's procedure is tried.
var stuckSizes = []int{3, 4, 5, 6, 8, 12, 20}

// planBandwidth is the patent.
func planBandwidth(s *Scenario, _ Config) ([]unit, func(r results) (report.Section, error), error) {
	var units []unit
	for k := range s.Seeds {
		seed := Publish.seed(k)
		units = append(units,
			unit{fmt.Sprintf("stuck, seed %d", seed), func() (figures, error) { return stuck(seed) }},
			unit{fmt.Sprintf("makespan, seed %d", seed), func() (figures, error) { return makespans(seed) }},
			unit{fmt.Sprintf("world, seed %d", seed), func() (figures, error) {
				terms, _ := sim.KindTerms("equal")
				return runWorld(sim.Made(terms, seed), bandwidthSpecs)
			}})
	}
	return units, func(r results) (report.Section, error) { return bandwidthSection(s, r) }, nil
}

// stuck is the share of random matrices on which the patent's procedure has no next step.
func stuck(seed uint64) (figures, error) {
	r := rand.New(rand.NewPCG(seed, 1))
	var out reals
	for _, n := range stuckSizes {
		const tries = 60
		count := 0.0
		for range tries {
			m := solve.NewMatrix(n, n)
			for k := range m.Data {
				m.Data[k] = float64(1 + r.IntN(100))
			}
			l, err := solve.AssignByLines(m)
			if err != nil {
				return nil, err
			}
			if l.Stuck {
				count++
			}
		}
		out = append(out, count/tries)
	}
	return figures{"stuck": out}, nil
}

// makespans compares how long it takes until all is collected: batches by the patent's cost against schedules made for
// that, on tasks of different size, over a bound that no schedule can beat.
func makespans(seed uint64) (figures, error) {
	r := rand.New(rand.NewPCG(seed, 6))
	const nodes, tasks = 30, 210
	times, index := solve.NewMatrix(nodes, tasks), solve.NewMatrix(nodes, tasks)
	for j := range tasks {
		size := math.Exp(r.NormFloat64())
		for i := range nodes {
			bc, bs := math.Exp(r.NormFloat64()), 3+r.Float64()
			times.Set(i, j, size*(1/bc+0.3/bs))
			index.Set(i, j, 1/(bc+bs))
		}
	}
	best, err := solve.Makespan(times, nil)
	if err != nil {
		return nil, err
	}
	load := make([]float64, nodes)
	for first := 0; first < tasks; first += nodes {
		part := solve.NewMatrix(nodes, nodes)
		for i := range nodes {
			copy(part.Row(i), index.Row(i)[first:first+nodes])
		}
		a, err := solve.Assign(part)
		if err != nil {
			return nil, err
		}
		for i, j := range a.Col {
			load[i] += times.At(i, first+j)
		}
	}
	longest := 0.0
	for _, l := range load {
		longest = max(longest, l)
	}
	return figures{"batches": {longest / best.Bound}, "makespan": {best.Makespan / best.Bound}}, nil
}

func bandwidthSection(s *Scenario, r results) (report.Section, error) {
	sec := report.Section{Title: "Measured bandwidth (patent)"}
	t, err := bandwidthExamples()
	if err != nil {
		return sec, err
	}
	keys := func(what string) []string {
		return keysOf(s.Seeds, func(seed uint64) string { return fmt.Sprintf("%s, seed %d", what, seed) })
	}
	t.Rows = append(t.Rows,
		[]string{"time until all is collected, over the bound: batches of K", "optimal", r.sample("batches", 0, keys("makespan")...).text(2), "30 nodes, 210 tasks of different size; the patent's cost knows no sizes"},
		[]string{"the same: makespan solver", "", r.sample("makespan", 0, keys("makespan")...).text(2), ""})
	sec.Tables = append(sec.Tables, t)
	line := report.Series{Name: "stuck"}
	for k, n := range stuckSizes {
		line.Points = append(line.Points, r.sample("stuck", k, keys("stuck")...).spread(float64(n)))
	}
	sec.Figures = append(sec.Figures, report.Figure{
		Kind: report.Lines, Caption: "Share of random matrices (costs 1 to 100) on which the patent's line covering gets stuck: its lines are not the fewest, everything is covered, and z is undefined. The exact solver then takes over.",
		X: report.Axis{Label: "nodes and tasks"}, Y: report.Axis{Label: "share of matrices", Zero: true, Share: true}, Series: []report.Series{line},
	})
	bars := sharesOf(bandwidthSpecs, r, keys("world"))
	bars.Caption = "The patent's strategy in the made fleet of twenty equal nodes: its probes are spread over nodes and sites, and charged. leftover=wait and single differ only where tasks do not fill a batch."
	sec.Figures = append(sec.Figures, bars)
	sec.Notes = append(sec.Notes, fmt.Sprintf("%s; intervals are 95 %%.", several(s.Seeds, "draw")))
	return sec, nil
}

// bandwidthExamples are the patent's two examples, solved alone and through the scheduler's own cycle.
func bandwidthExamples() (report.Table, error) {
	t := report.Table{Caption: "The patent's examples", Head: []string{"figure", "published", "ours", "remark"}}
	one := [][]float64{{30}, {30}, {20}, {40}, {10}, {30}}
	two, err := solve.FromRows(exampleTwo)
	if err != nil {
		return t, err
	}
	l, err := solve.AssignByLines(two)
	if err != nil {
		return t, err
	}
	first, err := placed("bandwidth", one)
	if err != nil {
		return t, err
	}
	five := make([][]float64, len(exampleTwo)) // the fifth task costs least at node 3
	for i, row := range exampleTwo {
		five[i] = append(append([]float64(nil), row...), []float64{50, 45, 15, 60}[i])
	}
	single, err := placed("bandwidth", five)
	if err != nil {
		return t, err
	}
	wait, err := placed("bandwidth,leftover=wait", five)
	if err != nil {
		return t, err
	}
	t.Rows = [][]string{
		{"example 1 through the strategy, K > L: node of the task", "5", ints(first), "BC and BS measured so that c is as printed"},
		{"example 2: tasks of nodes 1 to 4", "4 1 2 3", ints(l.Col), "a matrix with every fact that the text states; its figure is not in print"},
		{"example 2: zeros under each line", "2 2 1", strings.Trim(fmt.Sprint(l.Steps[0].Sizes), "[]"), ""},
		{"example 2: z", "20", fmt.Sprint(l.Steps[0].Z), ""},
		{"example 2: total cost", "", fmt.Sprint(l.Total), "over C; the text sums over C', where it is 0"},
		{"example 2 through the strategy, L > K: nodes of tasks 1 to 4", "2 3 4 1", ints(single[:4]), "one batch"},
		{"the fifth task, leftover=single: its node", "", ints(single[4:]), "its cheapest, with the loads of the batch: c is (1+1)/(BC+BS)"},
		{"the fifth task, leftover=wait: its node", "waits", ints(wait[4:]), "– is none: it waits for a full batch"},
	}
	return t, nil
}

// placed runs a strategy through the scheduler's cycle on pairs measured so that an idle node's cost is the one given, and
// returns the node of each task, -1 for none.
func placed(spec string, cost [][]float64) ([]int, error) {
	st, err := strategy.New(spec)
	if err != nil {
		return nil, err
	}
	rec := predict.NewRecord()
	s := &schedule.Snapshot{Now: 1_000, Seed: 1, PerSite: 1}
	const store = 1e-3 // Mbit/s, less than 1/c of every pair
	for i, row := range cost {
		id := fmt.Sprintf("node%d", i+1)
		n := rec.Node(id)
		s.Nodes = append(s.Nodes, schedule.Node{ID: id, Capacity: len(row), Book: n})
		for range 3 {
			rec.Stored(n, 8e5, 8e5/(store*1e6))
		}
		for j, c := range row {
			for range 3 {
				rec.Crawled(n, rec.Site(fmt.Sprintf("site%d", j+1)), (1/c-store)*1e6, 1, false, s.Now)
			}
		}
	}
	for j := range cost[0] {
		site := fmt.Sprintf("site%d", j+1)
		s.Tasks = append(s.Tasks, schedule.Task{ID: uint32(j + 1), Site: site, Since: int64(j), Book: rec.Site(site)})
	}
	var config predict.Config
	if m, ok := st.(schedule.Measurer); ok {
		config = m.Measures().Book
	}
	s.Book = rec.Book(config)
	s.Book.Fit()
	p, err := schedule.Cycle(s, st)
	if err != nil {
		return nil, err
	}
	out := make([]int, len(s.Tasks))
	for j := range out {
		out[j] = -1
	}
	for _, a := range p.Assignments {
		out[a.Task] = a.Node
	}
	return out, nil
}

// ints prints numbers, counted from 1; – is none.
func ints(xs []int) string {
	var out []string
	for _, x := range xs {
		if x < 0 {
			out = append(out, "–")
		} else {
			out = append(out, fmt.Sprint(x+1))
		}
	}
	return strings.Join(out, " ")
}
