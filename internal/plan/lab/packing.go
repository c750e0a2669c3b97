package lab

import (
	"fmt"
	"math"

	"argosy/internal/plan/price"
	"argosy/internal/plan/report"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

// packers are the allocations that are held against each other: the paper's, and its predecessor, which takes any node.
var packers = []string{"packing", "random"}

// planPacking finds how many nodes an allocation needs by running it, and what that costs.
func planPacking(s *Scenario, _ Config) ([]unit, func(r results) (report.Section, error), error) {
	p := s.Packing
	rates := price.Rates{Reserve: p.Reserve, Use: p.Use, Surcharge: p.Surcharge}
	if err := rates.Validate(); err != nil {
		return nil, nil, fmt.Errorf("packing: %w", err)
	}
	var units []unit
	for k := range s.Seeds {
		seed := Publish.seed(k)
		units = append(units, unit{fmt.Sprintf("seed %d", seed), func() (figures, error) {
			o := sim.MakeOccupancy(p.Nodes, p.Tasks, p.Load, p.Unequal, seed)
			out := figures{}
			for _, spec := range packers {
				st, err := strategy.New(spec)
				if err != nil {
					return nil, err
				}
				r, err := o.Run(st)
				if err != nil {
					return nil, fmt.Errorf("%s: %w", spec, err)
				}
				spans := make(reals, p.Nodes+1)
				for n, seconds := range r.Spans {
					spans[n] = seconds
				}
				d, err := price.Weighted(r.Spans)
				if err != nil {
					return nil, err
				}
				best := rates.Best(p.Nodes, d)
				out[spec] = reals{
					r.Mean, float64(r.Most), r.Utilisation[0], r.Utilisation[1], r.Utilisation[2], r.Waited, r.Hours,
					rates.At(r.Most, r.Most).Total, rates.Expect(best, d).Total, float64(best), r.Carried[0] / 3600,
				}
				out[spec+" spans"] = spans
			}
			return out, nil
		}})
	}
	return units, func(r results) (report.Section, error) { return packingSection(s, p, rates, r) }, nil
}

func packingSection(s *Scenario, p Packing, rates price.Rates, r results) (report.Section, error) {
	keys := keysOf(s.Seeds, func(seed uint64) string { return fmt.Sprintf("seed %d", seed) })
	sec := report.Section{Title: "Packing and the three prices"}
	first := keys[0]
	need := int(r[first]["packing"][1])
	other := int(r[first]["random"][1])
	sec.Figures = append(sec.Figures,
		costFigure(rates, p.Nodes, need, fmt.Sprintf("What reserving so many nodes costs when %d are needed, which is what working-first occupies at most in the first draw. The total is least at the need.", need)),
		needFigure(p, r, keys), useFigure(r, keys))
	t := report.Table{Caption: fmt.Sprintf("%d unequal nodes, %d tasks that come and go, %s; prices %g, %g and %g a node", p.Nodes, p.Tasks, several(s.Seeds, "draw"), p.Reserve, p.Use, p.Surcharge), Head: []string{"figure", "working first", "any node at random", "less, paired"}}
	for k, what := range []string{
		"nodes occupied, over time", "nodes needed (at most at once)", "CPU of occupied nodes used", "memory of occupied nodes used", "bandwidth of occupied nodes used",
		"seconds that tasks waited, all together", "hours until the last was released", "cost as published, all needed nodes reserved, regardless of time",
		"cost an hour, the best number reserved", "that number", "load carried, core hours",
	} {
		a, b := r.sample("packing", k, keys...), r.sample("random", k, keys...)
		digits := 2
		if k >= 5 && k <= 6 || k >= 9 {
			digits = 1
		}
		t.Rows = append(t.Rows, []string{what, a.text(digits), b.text(digits), a.less(b).text(digits)})
	}
	sec.Tables = append(sec.Tables, t)
	d, err := price.Poisson(float64(need))
	if err != nil {
		return sec, err
	}
	n := rates.Best(3*need+10, d)
	c := rates.Curves(p.Nodes, price.Certain(need))
	sec.Tables = append(sec.Tables, report.Table{
		Caption: "The published shape, and what it does not say", Head: []string{"figure", "published", "ours"},
		Rows: [][]string{
			{"shape of the total", "falls, then rises; least at the need", fmt.Sprintf("%g at 0, %g at %d, %g at %d", c[0].Total, c[min(need, p.Nodes)].Total, need, c[p.Nodes].Total, p.Nodes)},
			{"nodes needed: working first, any node", "fewer", fmt.Sprintf("%d, %d in the first draw", need, other)},
			{"best reservation, need known", "the need", fmt.Sprint(rates.Best(p.Nodes, price.Certain(need)))},
			{"best reservation, need uncertain (Poisson)", "", fmt.Sprintf("%d, at %.2f instead of %.2f", n, rates.Expect(n, d).Total, rates.Expect(need, d).Total)},
		},
	})
	sec.Notes = append(sec.Notes,
		"Both allocations go through the scheduler's own cycle; tasks say what they need of CPU, memory and bandwidth, hold it, and are released.",
		"As published the cost counts nodes and not time; by the hour a node that is occupied longer costs more, and the number to reserve is a quantile of how many were occupied.")
	return sec, nil
}

// costFigure is the paper's: four curves against how many are reserved.
func costFigure(rates price.Rates, nodes, need int, caption string) report.Figure {
	f := report.Figure{
		Kind: report.Lines, Caption: caption, X: report.Axis{Label: "nodes reserved"}, Y: report.Axis{Label: "cost", Zero: true},
	}
	points := rates.Curves(nodes, price.Certain(need))
	for _, c := range []struct {
		name string
		of   func(price.Point) float64
	}{
		{"total", func(p price.Point) float64 { return p.Total }}, {"reserve", func(p price.Point) float64 { return p.Reserve }},
		{"use", func(p price.Point) float64 { return p.Use }}, {"surcharge", func(p price.Point) float64 { return p.Surcharge }},
	} {
		one := report.Series{Name: c.name, Quiet: c.name != "total"}
		for n, p := range points {
			one.Points = append(one.Points, report.At(float64(n), c.of(p)))
		}
		f.Series = append(f.Series, one)
	}
	return f
}

// needFigure is for how much of the time more than so many nodes were occupied.
func needFigure(p Packing, r results, keys []string) report.Figure {
	f := report.Figure{
		Kind: report.Lines, Caption: "Share of the time in which more than so many nodes are occupied: means over draws with 95 % intervals.",
		X: report.Axis{Label: "nodes"}, Y: report.Axis{Label: "share of the time", Zero: true, Share: true},
	}
	for _, spec := range packers {
		one := report.Series{Name: map[string]string{"packing": "working first", "random": "any node"}[spec]}
		for n := range p.Nodes + 1 {
			var above sample
			for _, k := range keys {
				spans := r[k][spec+" spans"]
				total, more := 0.0, 0.0
				for m, x := range spans {
					total += x
					if m > n {
						more += x
					}
				}
				above = append(above, more/math.Max(total, 1e-9))
			}
			pt := above.spread(float64(n))
			one.Points = append(one.Points, pt)
		}
		f.Series = append(f.Series, one)
	}
	return f
}

// useFigure is how well occupied nodes are used, by dimension.
func useFigure(r results, keys []string) report.Figure {
	f := report.Figure{Kind: report.Bars, Caption: "Share of the occupied nodes' resources that tasks hold, over time. Whiskers: 95 % intervals.", Y: report.Axis{Label: "share used", Share: true}, Categories: []string{"CPU", "memory", "bandwidth"}}
	for _, spec := range packers {
		one := report.Series{Name: map[string]string{"packing": "working first", "random": "any node"}[spec]}
		for d := range 3 {
			one.Points = append(one.Points, r.sample(spec, 2+d, keys...).spread(float64(d)))
		}
		f.Series = append(f.Series, one)
	}
	return f
}
