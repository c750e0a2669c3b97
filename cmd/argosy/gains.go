package main

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"math"
	"slices"
	"strings"

	"argosy/internal/crawl"
	"argosy/internal/fleet/ledger"
	"argosy/internal/plan/sim"
)

// nodeGains are what a node gained by the policies, as the feedback paper measures it.
type nodeGains struct {
	Node  string             `json:"node"`
	Gain  map[string]float64 `json:"gain_percent"` // by indicator; without those that nothing can be compared of
	Count map[string]int     `json:"concerned"`    // leases
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
			Recycled: r.Good == 0 && slices.Contains([]string{crawl.EndRecalled, crawl.EndDead, crawl.EndFailed}, r.Reason),
		})
		before[r.Task] = r
	}
	for n, g := range sim.Attribute(ends, len(names)) {
		one := nodeGains{names[n], map[string]float64{}, map[string]int{}}
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

// drawGains draws the gains as bars: a group a node, a bar an indicator; it returns what it has drawn and how high that is.
func drawGains(gains []nodeGains, x, y int) (drawing string, height int) {
	const barW, gap, wide, tall = 26, 20, 4, 120
	most := 1.0
	for _, g := range gains {
		for _, v := range g.Gain {
			most = max(most, math.Abs(v))
		}
	}
	colours := [...]string{"#1f77b4", "#17becf", "#2ca02c", "#ff7f0e"}
	var b strings.Builder
	zero := float64(y + 20 + tall/2)
	fmt.Fprintf(&b, `<text x="%d" y="%d">gain in efficiency of the tasks concerned, the lease after against the lease before, %% (biased)</text>`+"\n", x, y)
	for n, g := range gains {
		left := x + n*(wide*barW+gap)
		for k, what := range sim.Indicators {
			v, ok := g.Gain[what]
			if !ok {
				continue
			}
			h := math.Abs(v) / most * tall / 2
			top := zero - h
			if v < 0 {
				top = zero
			}
			fmt.Fprintf(&b, `<rect x="%d" y="%.1f" width="%d" height="%.1f" fill="%s"><title>%s, %s: %+.0f %% (%d leases)</title></rect>`+"\n",
				left+k*barW, top, barW-4, h, colours[k], html.EscapeString(g.Node), what, v, g.Count[what])
			fmt.Fprintf(&b, `<text x="%d" y="%.1f" font-size="9">%+.0f</text>`+"\n", left+k*barW, top-2, v)
		}
		fmt.Fprintf(&b, `<line x1="%d" y1="%.1f" x2="%d" y2="%.1f" stroke="#888"/>`+"\n", left-4, zero, left+wide*barW, zero)
		fmt.Fprintf(&b, `<text x="%d" y="%d">%s</text>`+"\n", left, y+tall+36, html.EscapeString(g.Node))
	}
	for k, what := range sim.Indicators {
		fmt.Fprintf(&b, `<rect x="%d" y="%d" width="10" height="10" fill="%s"/><text x="%d" y="%d">%s</text>`+"\n", x+k*100, y+tall+46, colours[k], x+k*100+14, y+tall+55, what)
	}
	return b.String(), tall + 70
}
