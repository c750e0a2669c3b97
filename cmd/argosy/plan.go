package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"github.com/spf13/cobra"

	"argosy/internal/plan/dataset"
	"argosy/internal/plan/price"
	"argosy/internal/plan/solve"
)

func newPlan() *cobra.Command {
	var nodes int
	var demand, tasks, svg string
	var poisson, asJSON bool
	r := price.Rates{}
	c := &cobra.Command{
		Use: "plan", Short: "Say how many nodes to reserve, and draw what each choice costs", Args: cobra.NoArgs,
		Long: `Plan computes the cost of reserving 0 to N nodes from three prices: of a node that is reserved, used or not; of a
reserved node while it works; and of a node taken on beyond those. The demand is a number, a file of demands that were
seen (the best reservation is then a quantile), a mean with --poisson, or the nodes that a file of tasks needs when it
is packed.`,
		Example: "  argosy plan --nodes 20 --demand 8 --reserve 1 --use 2 --surcharge 5 --svg plan.svg\n  argosy plan --nodes 20 --demand 8 --poisson --reserve 1 --use 2 --surcharge 5\n  argosy plan --tasks pods.json --reserve 1 --use 2 --surcharge 5",
		RunE: func(c *cobra.Command, _ []string) error {
			if err := r.Validate(); err != nil {
				return usage("%v", err)
			}
			d, n, err := planDemand(c, demand, tasks, poisson, nodes)
			if err != nil {
				return err
			}
			points := r.Curves(n, d)
			best := r.Best(n, d)
			if svg != "" {
				if err := os.WriteFile(svg, drawCurves(points, best), 0o644); err != nil {
					return usage("--svg: %v", err)
				}
			}
			return printPlan(c.OutOrStdout(), r, d, points, best, asJSON)
		},
	}
	f := c.Flags()
	f.IntVar(&nodes, "nodes", 0, "nodes that could be reserved (default: twice the demand)")
	f.StringVar(&demand, "demand", "", "nodes needed: a number, or a file of numbers that were seen")
	f.BoolVar(&poisson, "poisson", false, "--demand is the mean of a Poisson distribution")
	f.StringVar(&tasks, "tasks", "", "file of nodes and tasks (as for solve pack): the demand is what packing them needs")
	f.Float64Var(&r.Reserve, "reserve", 0, "price of a reserved node")
	f.Float64Var(&r.Use, "use", 0, "price of a reserved node that works")
	f.Float64Var(&r.Surcharge, "surcharge", 0, "price of a node taken on beyond those reserved")
	f.StringVar(&svg, "svg", "", "draw the four curves into this file")
	f.BoolVar(&asJSON, "json", false, "print one JSON object")
	return c
}

// maxPlanNodes bounds the curves.
const maxPlanNodes = 100_000

func planDemand(c *cobra.Command, demand, tasks string, poisson bool, nodes int) (d price.Demand, n int, err error) {
	if (demand == "") == (tasks == "") {
		return d, 0, usage("give either --demand or --tasks")
	}
	if nodes < 0 || nodes > maxPlanNodes {
		return d, 0, usage("--nodes %d: want 0 to %d", nodes, maxPlanNodes)
	}
	x, isNumber := strconv.ParseFloat(demand, 64)
	switch {
	case tasks != "":
		d, n, err = packedDemand(c, tasks)
	case isNumber == nil && poisson:
		d, err = price.Poisson(x)
	case isNumber == nil:
		if x < 0 || x != float64(int(x)) || x > maxPlanNodes {
			return d, 0, usage("--demand %s: want a whole number from 0 to %d, or a file", demand, maxPlanNodes)
		}
		d = price.Certain(int(x))
	case poisson:
		return d, 0, usage("--poisson: --demand must be a number, the mean")
	default:
		var counts []int
		if counts, err = readInput(c, demand, dataset.Counts); err == nil {
			d, err = price.Observed(counts)
		}
	}
	if err != nil {
		return d, 0, usage("%v", err)
	}
	if nodes > 0 {
		n = nodes
	} else if n == 0 {
		n = max(10, int(2*d.Mean()))
	}
	return d, min(n, maxPlanNodes), nil
}

func packedDemand(c *cobra.Command, path string) (price.Demand, int, error) {
	type problem struct {
		bins  []solve.Bin
		tasks [][]float64
	}
	p, err := readInput(c, path, func(r io.Reader) (p problem, err error) {
		p.bins, p.tasks, err = dataset.Packing(r)
		return p, err
	})
	if err != nil {
		return price.Demand{}, 0, err
	}
	start := time.Now()
	got, err := solve.PackWithin(p.bins, p.tasks, func() bool { return time.Since(start) >= packTime })
	if err != nil {
		return price.Demand{}, 0, err
	}
	if n := len(got.Waiting) + len(got.TooBig); n > 0 {
		return price.Demand{}, 0, fmt.Errorf("%s: %d tasks find no place on its %d nodes", path, n, len(p.bins))
	}
	return price.Certain(got.Used), len(p.bins), nil
}

func printPlan(w io.Writer, r price.Rates, d price.Demand, points []price.Point, best int, asJSON bool) error {
	at := points[best]
	if asJSON {
		return printJSON(w, struct {
			Rates  price.Rates   `json:"prices"`
			Demand float64       `json:"mean_demand"`
			Best   int           `json:"best_reservation"`
			Cost   float64       `json:"cost"`
			Curves []price.Point `json:"curves"`
		}{r, d.Mean(), best, at.Total, points})
	}
	t := tabwriter.NewWriter(w, 0, 0, 3, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "reserved\treserve\tuse\tsurcharge\ttotal\tused\ttaken on\t")
	step := max(1, (len(points)-1)/40)
	for k, p := range points {
		if k%step != 0 && k != best && k != len(points)-1 {
			continue
		}
		mark := ""
		if k == best {
			mark = "◄ best"
		}
		fmt.Fprintf(t, "%d\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%.4g\t%s\n", p.Reserved, p.Reserve, p.Use, p.Surcharge, p.Total, p.Used, p.TakenOn, mark)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "Reserve %d nodes: %.4g of them will work, %.4g more will be taken on, at a cost of %.4g (%.4g needed on average).\n",
		best, at.Used, at.TakenOn, at.Total, d.Mean())
	return err
}

// drawCurves draws the paper's four curves.
func drawCurves(points []price.Point, best int) []byte {
	const width, height, left, right, top, bottom = 760, 440, 70, 130, 30, 50
	hi := 1e-9
	for _, p := range points {
		hi = max(hi, p.Total)
	}
	n := float64(max(1, len(points)-1))
	x := func(k float64) float64 { return left + k/n*(width-left-right) }
	y := func(v float64) float64 { return height - bottom - v/hi*(height-top-bottom) }
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="13">`+"\n", width, height)
	fmt.Fprintf(&b, `<rect width="%d" height="%d" fill="#fff"/>`+"\n", width, height)
	for k := range 6 {
		v := hi * float64(k) / 5
		fmt.Fprintf(&b, `<path d="M%d %.1fH%d" stroke="#e5e7eb"/><text x="%d" y="%.1f" text-anchor="end" fill="#6b7280">%.4g</text>`+"\n",
			left, y(v), width-right, left-8, y(v)+4, v)
		r := n * float64(k) / 5
		fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#6b7280">%.4g</text>`+"\n", x(r), height-bottom+20, r)
	}
	fmt.Fprintf(&b, `<text x="%.1f" y="%d" text-anchor="middle" fill="#374151">nodes reserved</text>`+"\n", x(n/2), height-10)
	last := -100.0
	for _, c := range []struct {
		name, colour string
		of           func(price.Point) float64
	}{
		{"total", "#111827", func(p price.Point) float64 { return p.Total }},
		{"reserve", "#2563eb", func(p price.Point) float64 { return p.Reserve }},
		{"use", "#059669", func(p price.Point) float64 { return p.Use }},
		{"surcharge", "#dc2626", func(p price.Point) float64 { return p.Surcharge }},
	} {
		var path strings.Builder
		for k, p := range points {
			fmt.Fprintf(&path, "%c%.1f %.1f", "ML"[min(k, 1)], x(float64(k)), y(c.of(p)))
		}
		end := y(c.of(points[len(points)-1]))
		if end-last < 16 && end > last-16 { // labels must not cover each other
			end = last + 16
		}
		last = end
		fmt.Fprintf(&b, `<path d="%s" fill="none" stroke="%s" stroke-width="2"/><text x="%d" y="%.1f" fill="%s">%s</text>`+"\n",
			path.String(), c.colour, width-right+8, end+4, c.colour, c.name)
	}
	fmt.Fprintf(&b, `<path d="M%.1f %dV%d" stroke="#9ca3af" stroke-dasharray="4 4"/><text x="%.1f" y="%d" text-anchor="middle" fill="#374151">best: %d</text>`+"\n",
		x(float64(best)), top, height-bottom, x(float64(best)), top-8, best)
	b.WriteString("</svg>\n")
	return []byte(b.String())
}
