package main

import (
	"cmp"
	"errors"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/lab"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/split"
)

// nodeGains are what a node gained by the policies, as the feedback paper measures it.
type nodeGains struct {
	Node  string             `json:"node"`
	Gain  map[string]float64 `json:"gain_percent"` // by indicator; without those that nothing can be compared of
	Count map[string]int     `json:"concerned"`    // leases

	Replayed map[string]replayedGain `json:"replayed,omitempty"` // by policy: against the run replayed without it
}

// replayedGain is a gain in percent with half of its 95 % interval, over replays.
type replayedGain struct {
	Gain float64 `json:"gain_percent"`
	Half float64 `json:"half"`
}

// counterfactual replays a recorded run with each policy off, and puts what comes of it beside the gains of the nodes. A record in which
// nothing was had says nothing.
func counterfactual(runs []ledger.Run, searches []ledger.Task, spec string, gains []nodeGains) (c lab.Counterfactual, err error) {
	of := sim.Searched{Pages: map[uint32]float64{}}
	for _, t := range searches {
		if t.Search != nil {
			of.Pages[t.Search.No] = float64(t.Search.Found)
		}
	}
	var quotas []int64
	for _, r := range runs {
		if r.Asks || r.Ended == 0 {
			continue
		}
		quotas = append(quotas, r.Quota)
		of.Runs = append(of.Runs, sim.SearchedRun{
			Search: r.Search, Node: r.Node, Site: r.Site, Started: r.Started, Ended: r.Ended, Given: float64(r.Given), Good: float64(r.Good), Stuck: r.Good == 0 && (r.Reason == crawl.EndRecalled || r.Reason == crawl.EndDead),
		})
	}
	if len(quotas) == 0 {
		return c, nil
	}
	slices.Sort(quotas)
	of.Quota = float64(quotas[len(quotas)/2])
	c, err = lab.Replayed(&of, orElse(spec, split.Strategy))
	if errors.Is(err, sim.ErrNothingRecorded) {
		return lab.Counterfactual{}, nil
	}
	for _, n := range c.Nodes {
		k := slices.IndexFunc(gains, func(g nodeGains) bool { return g.Node == n.Node })
		gains[k].Replayed = map[string]replayedGain{}
		for p, what := range lab.Policies {
			if g := n.Gain[p]; !math.IsNaN(g.Gain) && !math.IsNaN(g.Half) {
				gains[k].Replayed[what] = replayedGain{g.Gain, g.Half}
			}
		}
	}
	return c, err
}

// printReplayed prints the counterfactual as a table.
func printReplayed(w io.Writer, c *lab.Counterfactual) error {
	if len(c.Nodes) == 0 {
		return nil
	}
	fmt.Fprintf(w, "\nThe counterfactual: efficiency in %d replays of the recorded run with all policies,\nagainst replays without one (95 %% intervals over what is drawn). %d of %d pairs of\nnodes and sites are in the record; the others have what the site gave others.\n", c.Draws, c.Tried, c.Pairs)
	t := newColumns(w)
	fmt.Fprintln(t, strings.ToUpper("node\t"+strings.Join(lab.Policies[:], "\t")))
	line := func(node string, gains [len(lab.Policies)]lab.Without) {
		for _, g := range gains {
			if math.IsNaN(g.Gain) || math.IsNaN(g.Half) {
				node += "\t-"
			} else {
				node += fmt.Sprintf("\t%+.1f ± %.1f %%", g.Gain, g.Half)
			}
		}
		fmt.Fprintln(t, node)
	}
	for _, n := range c.Nodes {
		line(n.Node, n.Gain)
	}
	line("all", c.Fleet)
	return t.Flush()
}

// takenBack reports whether a lease ended without having anything because it, its node or its site failed.
func takenBack(r *ledger.Run) bool {
	return r.Good == 0 && slices.Contains([]string{crawl.EndRecalled, crawl.EndDead, crawl.EndFailed}, r.Reason)
}

// gainsOf compares each lease of a search with the one before it: on another node, with other limits, or after one that was taken back.
func gainsOf(runs []ledger.Run) (out []nodeGains) {
	runs = slices.DeleteFunc(slices.Clone(runs), func(r ledger.Run) bool { return r.Ended == 0 })
	slices.SortStableFunc(runs, func(a, b ledger.Run) int { return cmp.Compare(a.Ended, b.Ended) })
	number, names := map[string]int{}, []string{}
	before := map[uint32]ledger.Run{}
	var ends []sim.End
	for _, r := range runs {
		n, ok := number[r.Node]
		if !ok {
			n = len(names)
			number[r.Node], names = n, append(names, r.Node)
		}
		last, known := before[r.Task]
		ends = append(ends, sim.End{
			At: r.Ended, Task: r.Task, Node: n, Seconds: float64(r.Ended-r.Started) / 1000, Good: float64(r.Good), Pages: float64(r.Given),
			Moved: known && last.Node != r.Node, Modified: known && (last.Quota != r.Quota || last.BudgetMS != r.BudgetMS),
			Recycled: takenBack(&r),
		})
		before[r.Task] = r
	}
	for n, g := range sim.Attribute(ends, len(names)) {
		one := nodeGains{Node: names[n], Gain: map[string]float64{}, Count: map[string]int{}}
		for k, what := range sim.Indicators {
			if one.Count[what] = g.Count[k]; !math.IsNaN(g.Gain[k]) {
				one.Gain[what] = g.Gain[k]
			}
		}
		out = append(out, one)
	}
	slices.SortFunc(out, func(a, b nodeGains) int { return strings.Compare(a.Node, b.Node) })
	return out
}

// printGains prints the gains as a table; it is quiet where no policy has changed anything.
func printGains(w io.Writer, gains []nodeGains) error {
	changed := slices.ContainsFunc(gains, func(g nodeGains) bool {
		for _, n := range g.Count {
			if n > 0 {
				return true
			}
		}
		return false
	})
	if !changed {
		return nil
	}
	fmt.Fprintln(w, "\nGain in efficiency (pages a second), the lease after against the lease before, of the\ntasks concerned (leases): as the paper has it, which is biased by the choice of tasks.")
	t := newColumns(w)
	fmt.Fprintln(t, strings.ToUpper("node\t"+strings.Join(sim.Indicators[:], "\t")))
	for _, g := range gains {
		row := g.Node
		for _, what := range sim.Indicators {
			gain, ok := g.Gain[what]
			switch {
			case ok:
				row += fmt.Sprintf("\t%+.0f %% (%d)", gain, g.Count[what])
			default:
				row += fmt.Sprintf("\t- (%d)", g.Count[what])
			}
		}
		fmt.Fprintln(t, row)
	}
	return t.Flush()
}

// drawGains draws the gains as bars, as the paper measures them, and below them the counterfactual; it returns what it has drawn and how
// high that is.
func drawGains(gains []nodeGains, x, y int) (drawing string, height int) {
	drawing, height = drawBars("gain in efficiency of the tasks concerned, the lease after against the lease before, % (biased)", sim.Indicators[:], gains, func(g *nodeGains, what string) (float64, string, bool) {
		v, ok := g.Gain[what]
		return v, plural(int64(g.Count[what]), "lease"), ok
	}, x, y)
	if !slices.ContainsFunc(gains, func(g nodeGains) bool { return len(g.Replayed) > 0 }) {
		return drawing, height
	}
	more, high := drawBars("the counterfactual: efficiency with all policies against the run replayed without one, %", lab.Policies[:], gains, func(g *nodeGains, what string) (float64, string, bool) {
		v, ok := g.Replayed[what]
		return v.Gain, fmt.Sprintf("± %.1f", v.Half), ok
	}, x, y+height+10)
	return drawing + more, height + 10 + high
}

// drawBars draws a group of bars a node; of says how high one is, and what more there is to say of it.
func drawBars(title string, whats []string, gains []nodeGains, of func(g *nodeGains, what string) (float64, string, bool), x, y int) (drawing string, height int) {
	const barW, gap, tall = 26, 20, 120
	wide, most, least := len(whats), 1.0, 0.0
	for i := range gains {
		for _, what := range whats {
			if v, _, ok := of(&gains[i], what); ok {
				most, least = max(most, v), min(least, v)
			}
		}
	}
	colours := [...]string{"#1f77b4", "#17becf", "#2ca02c", "#ff7f0e"}
	var b strings.Builder
	scale := tall / (most - least)
	zero := float64(y+20) + most*scale
	fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", x, y, html.EscapeString(title))
	for n := range gains {
		g := &gains[n]
		left := x + n*(wide*barW+gap)
		for k, what := range whats {
			v, more, ok := of(g, what)
			if !ok {
				continue
			}
			h := math.Abs(v) * scale
			top, says := zero-h, zero-h-2
			if v < 0 {
				top, says = zero, zero+h+9
			}
			fmt.Fprintf(&b, `<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="%s"><title>%s, %s: %+.0f %% (%s)</title></rect>`+"\n",
				left+k*barW, top, barW-4, h, colours[k], html.EscapeString(g.Node), what, v, more)
			fmt.Fprintf(&b, `<text x="%d" y="%.1f" font-size="9">%+.0f</text>`+"\n", left+k*barW, says, v)
		}
		fmt.Fprintf(&b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#888"/>`+"\n", left-4, zero, left+wide*barW, zero)
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", left, y+tall+44, html.EscapeString(g.Node))
	}
	for k, what := range whats {
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="10" height="10" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n", x+k*100, y+tall+54, colours[k], x+k*100+14, y+tall+63, what)
	}
	return b.String(), tall + 78
}
