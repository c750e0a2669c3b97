package lab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"argosy/internal/plan/report"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

// The three mechanisms, each of which is taken away for the counterfactual.
var mechanisms = []string{"moving", "modifying", "recycling"}

// unrecycled is for how long a lease that makes no progress holds its node where nobody recalls it: as long as the longest
// time-outs that servers and proxies are usually run with.
const unrecycled = 10 * time.Minute

// completionStep is how long a step of the completion curves is, ms.
const completionStep = 15 * 60_000

// planFeedback is the feedback paper: one run with everything, and one without each mechanism, in the same world.
func planFeedback(s *Scenario, _ Config) ([]unit, func(r results) (report.Section, error), error) {
	f := s.Feedback
	var units []unit
	for k := range s.Seeds {
		seed := Publish.seed(k)
		units = append(units, unit{fmt.Sprintf("seed %d", seed), func() (figures, error) { return runFeedback(f, seed) }})
		units = append(units, policyUnits(f, policySeed(k))...)
		for _, spec := range feedbackSpecs {
			units = append(units, unit{fmt.Sprintf("%s, seed %d", spec, seed), func() (figures, error) {
				w := feedbackWorld(f, seed)
				r, err := simulate(w, spec, 0)
				if err != nil {
					return nil, err
				}
				return figures{"run": {r.Completed / r.Asked, r.P95, float64(r.Moves), float64(r.Recycled), float64(r.Manual)}}, nil
			}})
		}
	}
	return units, func(r results) (report.Section, error) { return feedbackSection(s, f, r), nil }, nil
}

var feedbackSpecs = []string{"feedback", "flow", "greedy", "random"}

// feedbackWorld is a world of tasks that come to sites which treat nodes differently and change their mind; on some pairs
// leases get stuck now and then.
func feedbackWorld(f Feedback, seed uint64) sim.World {
	w := sim.Changing(f.Nodes, f.Sites, f.Changes, f.Load, f.Hours, seed)
	r := rand.New(rand.NewPCG(seed, 0x737475))
	w.Modify, w.Cycle, w.Window, w.Part = true, 250, 2*f.Nodes*f.Slots, 0 // hours in which dozens of leases end each second, seconds after they began
	w.Tasks.Spread, w.Apart = f.Spread, f.Gap > 0
	for i := range w.Nodes {
		if w.Nodes[i].Slots = f.Slots; f.Slots > 1 {
			w.Nodes[i].Bandwidth = w.Page * w.Tasks.PerSecond * float64(w.Tasks.Pages) / (f.Load * float64(f.Nodes))
		}
	}
	for j := 0; j < f.Sites; j += 3 {
		w.Sites[j].Gap = f.Gap
	}
	for range f.Nodes {
		row := make([]float64, f.Sites)
		for j := range row {
			if r.Float64() < f.Stuck {
				row[j] = 0.15
			}
		}
		w.Stuck = append(w.Stuck, row)
	}
	return w
}

// runFeedback runs the paper's rule with all of its mechanisms and without each of them.
func runFeedback(f Feedback, seed uint64) (figures, error) {
	out := figures{}
	whole, ends, err := feedbackRun(f, seed, "")
	if err != nil {
		return nil, err
	}
	attribute(f, ends, out)
	completionCurves(f, ends, out)
	for _, without := range mechanisms {
		other, _, err := feedbackRun(f, seed, without)
		if err != nil {
			return nil, err
		}
		gain := make(reals, f.Nodes+1)
		for n := range gain {
			gain[n] = 100 * (whole[n]/other[n] - 1)
		}
		out["without "+without] = gain
	}
	return out, nil
}

// feedbackRun returns each node's useful pages for an hour of its leases, and last the share of all pages that was had.
func feedbackRun(f Feedback, seed uint64, without string) (reals, []sim.End, error) {
	w := feedbackWorld(f, seed)
	st, err := strategy.New("feedback")
	if err != nil {
		return nil, nil, err
	}
	switch without {
	case "moving":
		st = pinned{st}
	case "modifying":
		w.Modify = false
	case "recycling": // a lease that is stuck holds its node until others would have given up
		w.Recycle = schedule.DefaultRecycle()
		w.Recycle.After = unrecycled
	}
	var ends []sim.End
	w.Ended = func(e sim.End) { ends = append(ends, e) }
	r, err := sim.RunBound(w, st, 0, false)
	if err != nil {
		return nil, nil, err
	}
	good, hours := make([]float64, f.Nodes), make([]float64, f.Nodes)
	for _, e := range ends {
		good[e.Node] += e.Good
		hours[e.Node] += e.Seconds / 3600
	}
	out := make(reals, f.Nodes+1)
	for n := range f.Nodes {
		out[n] = good[n] / hours[n]
	}
	out[f.Nodes] = r.Completed / r.Asked
	return out, ends, nil
}

// pinned is a strategy under which nothing is moved: a task stays with the node that had it first, and waits for it.
type pinned struct{ schedule.Strategy }

// Plan implements schedule.Strategy.
func (p pinned) Plan(s *schedule.Snapshot, record bool) schedule.Plan {
	fresh := *s
	fresh.Tasks = nil
	var number []int
	left := make([]int, len(s.Nodes))
	at := map[string]int{}
	for n := range s.Nodes {
		left[n], at[s.Nodes[n].ID] = s.Nodes[n].Capacity-s.Nodes[n].Running, n
	}
	var out schedule.Plan
	fresh.Nodes = append([]schedule.Node(nil), s.Nodes...)
	for t := range s.Tasks {
		n, known := at[s.Tasks[t].Last]
		switch {
		case !known || len(s.Tasks[t].Avoid) > 0: // one that was recalled must go elsewhere
			fresh.Tasks, number = append(fresh.Tasks, s.Tasks[t]), append(number, t)
		case left[n] > 0:
			left[n]--
			fresh.Nodes[n].Running++
			out.Assignments = append(out.Assignments, schedule.Assignment{Task: t, Node: n})
		}
	}
	rest := p.Strategy.Plan(&fresh, record)
	for _, a := range rest.Assignments {
		out.Assignments = append(out.Assignments, schedule.Assignment{Task: number[a.Task], Node: a.Node})
	}
	out.Memory = rest.Memory
	return out
}

// Modifies implements schedule.Modifier.
func (p pinned) Modifies() (schedule.ModifyConfig, bool) {
	if m, ok := p.Strategy.(schedule.Modifier); ok {
		return m.Modifies()
	}
	return schedule.ModifyConfig{}, false
}

// attribute is the paper's second figure: the gains of each node by indicator. It chooses whom to look at by what happened to them, and
// so is biased; that is how the paper has it.
func attribute(f Feedback, ends []sim.End, out figures) {
	for n, g := range sim.Attribute(ends, f.Nodes) {
		counts := make(reals, len(g.Count))
		for k, c := range g.Count {
			counts[k] = float64(c)
		}
		out[fmt.Sprintf("gains %d", n)], out[fmt.Sprintf("counts %d", n)] = g.Gain[:], counts
	}
}

// completionCurves is the paper's first figure: completion rates of each node and site in the last hour, step by step.
func completionCurves(f Feedback, ends []sim.End, out figures) {
	steps := f.Hours * 3_600_000 / completionStep
	for n := range f.Nodes {
		for j := range f.Sites {
			had, asked := make([]float64, steps+1), make([]float64, steps+1)
			for _, e := range ends {
				if e.Node == n && e.Site == j {
					k := min(steps, int(e.At/completionStep)+1)
					had[k] += e.Good
					asked[k] += e.Pages
				}
			}
			rates := make(reals, steps+1)
			for k := range rates {
				sumHad, sumAsked := 0.0, 0.0
				for i := 0; i <= k; i++ {
					sumHad, sumAsked = sumHad+had[i], sumAsked+asked[i]
				}
				if rates[k] = math.NaN(); sumAsked > 0 {
					rates[k] = sumHad / sumAsked
				}
			}
			out[fmt.Sprintf("completion %d %d", n, j)] = rates
		}
	}
}

func feedbackSection(s *Scenario, f Feedback, r results) report.Section {
	keys := keysOf(s.Seeds, func(seed uint64) string { return fmt.Sprintf("seed %d", seed) })
	sec := report.Section{Title: "Dynamic feedback"}
	var nodes []string
	for n := range f.Nodes {
		nodes = append(nodes, fmt.Sprintf("node %d", n+1))
	}
	gains := func(caption string) report.Figure {
		return report.Figure{Kind: report.Bars, Caption: caption, Y: report.Axis{Label: "gain, %"}, Categories: nodes}
	}
	const biased = "As published: gain in efficiency (useful pages a second) of the tasks concerned, the lease after against the lease before. Biased: tasks are chosen by what happened to them."
	const honestly = "The counterfactual: useful pages for an hour of each node's work with everything, against the same world without one mechanism. Bars to the left: it costs that node more than it brings."
	paper, recycled := gains(biased), gains("The same of tasks that were recycled, in a scale of its own: before, a minute brought nothing.")
	honest, unstuck := gains(honestly), gains("The same without recycling, in a scale of its own: a lease that is stuck then holds its node for ten minutes.")
	counts := report.Table{Caption: "Leases concerned, a run", Head: []string{"node"}}
	counts.Head = append(counts.Head, sim.Indicators[:]...)
	for n := range f.Nodes {
		row := []string{fmt.Sprint(n + 1)}
		for k := range sim.Indicators {
			row = append(row, r.sample(fmt.Sprintf("counts %d", n), k, keys...).count())
		}
		counts.Rows = append(counts.Rows, row)
	}
	for k, what := range sim.Indicators {
		one := report.Series{Name: what}
		for n := range f.Nodes {
			one.Points = append(one.Points, r.sample(fmt.Sprintf("gains %d", n), k, keys...).spread(float64(n)))
		}
		if what == "recycled" {
			recycled.Series = append(recycled.Series, one)
		} else {
			paper.Series = append(paper.Series, one)
		}
	}
	for _, what := range mechanisms {
		one := report.Series{Name: what}
		for n := range f.Nodes {
			one.Points = append(one.Points, r.sample("without "+what, n, keys...).spread(float64(n)))
		}
		if what == "recycling" {
			unstuck.Series = append(unstuck.Series, one)
		} else {
			honest.Series = append(honest.Series, one)
		}
	}
	for n := range min(f.Nodes, 4) {
		sec.Figures = append(sec.Figures, completionFigure(f, r[keys[0]], n))
	}
	sec.Figures = append(sec.Figures, paper, recycled, honest, unstuck)
	sec.Tables = append(sec.Tables, counts, policiesTable(s, r), feedbackTable(s, r), verdicts(f, r, keys))
	sec.Notes = append(sec.Notes, "How much recycling brings is set by how often leases get stuck, which the paper does not say; here they do in 15 of 100 on a fifth of the pairs.")
	return sec
}

func completionFigure(f Feedback, got figures, n int) report.Figure {
	fig := report.Figure{
		Kind: report.Lines, Caption: fmt.Sprintf("Node %d: pages had of those asked for since the beginning, by site, in the first world (made sites).", n+1),
		X: report.Axis{Label: "hours"}, Y: report.Axis{Label: "completion rate", Zero: true, Share: true},
	}
	for j := range min(f.Sites, 8) {
		one := report.Series{Name: fmt.Sprintf("site %d", j+1)}
		for k, x := range got[fmt.Sprintf("completion %d %d", n, j)] {
			one.Points = append(one.Points, report.At(float64(k)*completionStep/3_600_000, x))
		}
		fig.Series = append(fig.Series, one)
	}
	return fig
}

func feedbackTable(s *Scenario, r results) report.Table {
	t := report.Table{Caption: "All tasks, the paper's rule and others in the same worlds", Head: []string{"strategy", "pages had, of those asked for", "95th percentile of latency, s", "moves", "recalls", "to a person"}}
	for _, spec := range feedbackSpecs {
		keys := keysOf(s.Seeds, func(seed uint64) string { return fmt.Sprintf("%s, seed %d", spec, seed) })
		t.Rows = append(t.Rows, []string{
			spec, r.sample("run", 0, keys...).text(3), r.sample("run", 1, keys...).count(), r.sample("run", 2, keys...).count(), r.sample("run", 3, keys...).count(), r.sample("run", 4, keys...).count(),
		})
	}
	return t
}

// verdicts says whether the paper's claims hold.
func verdicts(f Feedback, r results, keys []string) report.Table {
	over := func(name string, k int) float64 { // the mean over nodes that have a figure
		var all sample
		for n := range f.Nodes {
			at := name
			if k >= 0 {
				at = fmt.Sprintf("%s %d", name, n)
			}
			m, _ := r.sample(at, map[bool]int{true: k, false: n}[k >= 0], keys...).summary()
			all = append(all, m)
		}
		m, _ := all.summary()
		return m
	}
	moving, modifying, recycling := (over("gains", 0)+over("gains", 1))/2, over("gains", 2), over("gains", 3)
	var honest [3]float64
	for k, what := range mechanisms {
		honest[k] = over("without "+what, -1)
	}
	gaining := 0
	for n := range f.Nodes {
		sum := 0.0
		for _, what := range mechanisms {
			m, _ := r.sample("without "+what, n, keys...).summary()
			sum += m
		}
		if sum > 0 {
			gaining++
		}
	}
	return report.Table{Caption: "What the paper says of its second figure, on average over nodes", Head: []string{"claim", "measured as published (biased)", "counterfactual"}, Rows: [][]string{
		{"moving helps most, modifying next, recycling least", inOrder(moving, modifying, recycling), inOrder(honest[0], honest[1], honest[2])},
		{"all nodes gain", "", fmt.Sprintf("%s: %d of %d (the three mechanisms together)", holds[gaining == f.Nodes], gaining, f.Nodes)},
	}}
}

var holds = map[bool]string{true: "holds", false: "does not hold"}

// inOrder says whether gains of three mechanisms, in percent, are in the paper's order, of which one may not have happened.
func inOrder(moving, modifying, recycling float64) string {
	each, said := [3]string{}, true
	for k, gain := range [3]float64{moving, modifying, recycling} {
		if each[k] = fmt.Sprintf("%.0f", gain); math.IsNaN(gain) {
			each[k], said = "–", false
		}
	}
	verdict := holds[moving > modifying && modifying > recycling]
	if !said {
		verdict = "nothing to compare"
	}
	return fmt.Sprintf("%s: %s %%", verdict, strings.Join(each[:], ", "))
}
