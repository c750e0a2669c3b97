package lab

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"

	"argosy/internal/plan/netcoord"
	"argosy/internal/plan/price"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/solve"
	"argosy/internal/plan/strategy"
)

// papers goes through the five systems.
func papers(ctx context.Context, cfg Config) error {
	for _, part := range []func(context.Context, Config) error{bandwidth, packing, feedback, market, nearest} {
		if err := part(ctx, cfg); err != nil {
			return err
		}
	}
	return nil
}

func ints(xs []int) string {
	var out []string
	for _, x := range xs {
		out = append(out, fmt.Sprint(x+1))
	}
	return strings.Join(out, " ")
}

// bandwidth is the patent: its two examples, and how often its procedure gets stuck.
func bandwidth(_ context.Context, cfg Config) error {
	one, err := solve.FromRows([][]float64{{30}, {30}, {20}, {40}, {10}, {30}})
	if err != nil {
		return err
	}
	a, err := solve.Assign(one)
	if err != nil {
		return err
	}
	node := -1
	for i, j := range a.Col {
		if j == 0 {
			node = i + 1
		}
	}
	two, err := solve.FromRows([][]float64{{60, 60, 60, 20}, {40, 50, 80, 70}, {40, 40, 10, 30}, {80, 90, 20, 90}})
	if err != nil {
		return err
	}
	l, err := solve.AssignByLines(two)
	if err != nil {
		return err
	}
	rows := []row{
		{"example 1: node of the task", "5", fmt.Sprint(node), ""},
		{"example 2: tasks of nodes 1 to 4", "4 1 2 3", ints(l.Col), "a matrix with every fact that the text states; its figure is not in print"},
		{"example 2: zeros under each line", "2 2 1", strings.Trim(fmt.Sprint(l.Steps[0].Sizes), "[]"), ""},
		{"example 2: z", "20", fmt.Sprint(l.Steps[0].Z), ""},
		{"example 2: total cost", "", fmt.Sprint(l.Total), "over C; the text sums over C', where it is 0"},
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, n := range []int{4, 8, 20} {
		stuck := 0
		const tries = 200
		for range tries {
			m := solve.NewMatrix(n, n)
			for k := range m.Data {
				m.Data[k] = float64(1 + r.IntN(100))
			}
			l, err := solve.AssignByLines(m)
			if err != nil {
				return err
			}
			if l.Stuck {
				stuck++
			}
		}
		rows = append(rows, row{fmt.Sprintf("procedure stuck, n = %d, costs 1 to 100", n), "never", fmt.Sprintf("%d %%", 100*stuck/tries), "greedy lines are not minimal; then z is undefined and the exact solver takes over"})
	}
	spans, err := makespans()
	if err != nil {
		return err
	}
	return printRows(cfg.Out, "1. Measured bandwidth (patent)", append(rows, spans...))
}

// makespans compares how long it takes until all is collected: batches by the patent's cost against schedules made for
// that, on tasks of different size, as shares of a bound that no schedule can beat.
func makespans() ([]row, error) {
	var batches, ours sample
	for seed := range uint64(6) {
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
		s, err := solve.Makespan(times, nil)
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
		batches, ours = append(batches, longest/s.Bound), append(ours, s.Makespan/s.Bound)
	}
	return []row{
		{"time until all is collected, over the bound: batches of K", "optimal", fmt.Sprintf("%.2f", batches.mean()), "30 nodes, 210 tasks of different size; the patent's cost knows no sizes"},
		{"the same: makespan solver", "", fmt.Sprintf("%.2f", ours.mean()), ""},
	}, nil
}

// packing is the cost curve.
func packing(_ context.Context, cfg Config) error {
	r := price.Rates{Reserve: 1, Use: 2, Surcharge: 5}
	c := r.Curves(20, price.Certain(8))
	d, err := price.Poisson(8)
	if err != nil {
		return err
	}
	n := r.Best(20, d)
	return printRows(cfg.Out, "2. Packing and the three prices", []row{
		{"shape of the total", "falls, then rises; least at the need", fmt.Sprintf("%g at 0, %g at 8, %g at 20", c[0].Total, c[8].Total, c[20].Total), "20 nodes, 8 needed, prices 1, 2 and 5"},
		{"best reservation, need known", "the need (8)", fmt.Sprint(r.Best(20, price.Certain(8))), ""},
		{"best reservation, need uncertain", "", fmt.Sprintf("%d, at %.2f instead of %.2f", n, r.Expect(n, d).Total, r.Expect(8, d).Total), "Poisson with mean 8: the quantile that the paper does not have"},
	})
}

// feedback is the rule in a world that changes, beside what beats it.
func feedback(ctx context.Context, cfg Config) error {
	var rows []row
	for _, w := range []struct {
		name  string
		world func(seed uint64) sim.World
	}{
		{"4 nodes, 5 sites, 6 changes, load 0.6", func(s uint64) sim.World { return sim.Changing(4, 5, 6, 0.6, 5, s) }},
		{"30 nodes, 200 sites, 240 changes in 2 h, load 0.9", func(s uint64) sim.World { return sim.Changing(30, 200, 240, 0.9, 2, s) }},
	} {
		specs := []string{"random", "feedback", "flow"}
		got, err := runAll(ctx, sim.Kind{Name: w.name, World: w.world}, specs, min(cfg.Seeds, 4))
		if err != nil {
			return err
		}
		for k, spec := range specs {
			rows = append(rows, row{fmt.Sprintf("%s: %s", w.name, spec), "curves only", fmt.Sprintf("%.3f of pages had, p95 %.0f s", got[k].completed.mean(), got[k].p95.mean()), ""})
		}
	}
	curves, err := completion()
	if err != nil {
		return err
	}
	return printRows(cfg.Out, "3. Dynamic feedback", append(rows, curves...))
}

// completion is the paper's two figures: how the completion rates of four nodes on the same five sites develop under its
// rule, and how many tasks each node took over and lost.
func completion() ([]row, error) {
	st, err := strategy.New("feedback")
	if err != nil {
		return nil, err
	}
	r, err := sim.Run(sim.Changing(4, 5, 6, 0.6, 5, 0), st)
	if err != nil {
		return nil, err
	}
	paper := []string{
		"rise: 12315.com, 315tousu.org; fall: t.163.com", "rise: 12315.com, t.163.com", "rise: 315tousu.org, t.163.com; fall: 12315.com",
		"rise: cca.org.cn, weibo.com; fall: t.163.com",
	}
	var rows []row
	var first, last, firstSeconds, lastSeconds float64
	for n, pairs := range r.Pairs {
		var text []string
		for s, p := range pairs {
			a, b := "–", "–"
			if x := p.Rate(0); x == x {
				a = fmt.Sprintf("%.2f", x)
			}
			if x := p.Rate(1); x == x {
				b = fmt.Sprintf("%.2f", x)
			}
			text = append(text, fmt.Sprintf("site %d %s→%s", s+1, a, b))
			first, last = first+p.Good[0], last+p.Good[1]
			firstSeconds, lastSeconds = firstSeconds+p.Seconds[0], lastSeconds+p.Seconds[1]
		}
		rows = append(rows, row{fmt.Sprintf("completion rate of node %d, first and last hour of five", n+1), paper[n], strings.Join(text, ", "), "made sites; – is a pair that was not used"},
			row{fmt.Sprintf("tasks moved in / out, node %d", n+1), "a figure without numbers", fmt.Sprintf("%d / %d", r.In[n], r.Out[n]), ""})
	}
	return append(rows, row{
		"seconds a page that was had, first and last hour, all tasks", "gain on the tasks that were moved", fmt.Sprintf("%.2f → %.2f", firstSeconds/first, lastSeconds/last),
		"all tasks and not only those that were moved, which would choose the winners",
	}), nil
}

// market is the worked example.
func market(_ context.Context, cfg Config) error {
	example := [][]float64{{9, 5, 1}, {7, 5, 2}, {4, 3, 2}}
	v, err := solve.FromRows(example)
	if err != nil {
		return err
	}
	c, err := solve.ClearMarket(v, solve.MarketOptions{Step: 1, Trace: true})
	if err != nil {
		return err
	}
	var path []string
	for _, r := range c.Trace {
		path = append(path, fmt.Sprint(r.Prices))
	}
	net := c.Valuation
	for _, p := range c.Prices {
		net -= p
	}
	v.Set(2, 2, -1)
	bad, err := solve.ClearMarket(v, solve.MarketOptions{Step: 1})
	if err != nil {
		return err
	}
	rows := []row{
		{"example: rounds", "4", fmt.Sprint(c.Rounds), ""},
		{"example: prices by round", "(0,0,0) (1,0,0) (2,0,0) (3,1,0)", strings.Join(path, " "), ""},
		{"example: items of buyers 1 to 3", "1 2 3", ints(c.Item), ""},
		{"example: sum of payoffs", "12", fmt.Sprint(net), ""},
		{"example with the printed −1", "", fmt.Sprintf("%d rounds, prices %v", bad.Rounds, bad.Prices), "so the −1 is a misprint for 2"},
	}
	focused, err := focus(cfg)
	if err != nil {
		return err
	}
	return printRows(cfg.Out, "4. Market matching", append(rows, focused...))
}

// focus is the crawling experiment with and without the market, on a made web: with the paper's parameters, and with
// ability for 120 visits a crawler, at which queues overlap and the difference shows.
func focus(cfg Config) ([]row, error) {
	var rows []row
	for _, size := range []struct {
		name string
		set  func(f *sim.Focus)
	}{
		{"50 visits", func(*sim.Focus) {}},
		{"600 visits", func(f *sim.Focus) {
			f.Exchange.Beta, f.Exchange.Alpha, f.Seconds, f.Exchange.Lifetime, f.Exchange.Space = 60, 40, 3600, time.Hour, 1<<30
		}},
	} {
		for _, mode := range []struct {
			name, paper string
			m           sim.FocusMode
		}{
			{"without the market (B)", "0.76 / 0.72 / 0.008", sim.Alone}, {"with the market (A)", "0.85 / 0.80 / 0.003", sim.Paper},
			{"market in lots", "", sim.Lots}, {"one queue, best first", "", sim.Central},
		} {
			var cr, rcr, rr, harvest, recall sample
			for seed := range 12 * cfg.Seeds {
				f := sim.DefaultFocus(uint64(seed))
				size.set(&f)
				r, err := f.Run(mode.m)
				if err != nil {
					return nil, err
				}
				cr, rcr, rr = append(cr, r.CR()), append(rcr, r.RCR()), append(rr, r.RR())
				harvest, recall = append(harvest, r.Harvest()), append(recall, r.Recall())
			}
			paper := mode.paper
			if size.name != "50 visits" {
				paper = ""
			}
			rows = append(rows, row{
				fmt.Sprintf("%s, %s: CR / RCR / RR", size.name, mode.name), paper,
				fmt.Sprintf("%.2f / %.2f / %.3f", cr.mean(), rcr.mean(), rr.mean()),
				fmt.Sprintf("harvest %.3f, true recall %.3f; made web, so take the order and not the level", harvest.mean(), recall.mean()),
			})
		}
	}
	return rows, nil
}

// nearest are the tables and the experiment of the coordinates paper.
func nearest(ctx context.Context, cfg Config) error {
	samples := []float64{51, 52, 53, 55, 58, 61, 62, 63, 64, 72, 75, 240, 3050}
	rows := []row{{"statistical weighted mean of an example", "", fmt.Sprintf("%.3f (median %g)", netcoord.StatisticalMean(samples, 10), netcoord.Median(samples)), "modulus 10"}}
	delay, source := madeDelays(), "made network"
	if cfg.Data != "" {
		var err error
		if delay, err = cfg.delays(); err != nil {
			return err
		}
		source = "PlanetLab, 490 hosts"
	}
	for _, c := range []struct {
		dim, marks int
		p30, p20   float64
	}{
		{2, 9, .685, .494}, {3, 9, .738, .600}, {4, 9, .740, .603}, {5, 9, .742, .605}, {6, 9, .742, .605}, {7, 9, .743, .605},
		{8, 9, .745, .608}, {6, 7, .506, .300}, {4, 7, .506, .300}, {4, 5, .421, .077},
	} {
		model := netcoord.Paper()
		model.Dim = c.dim
		e, err := netcoord.Evaluate(model, delay, nil, c.marks)
		if err != nil {
			return err
		}
		rows = append(rows, row{
			fmt.Sprintf("%d dimensions, %d landmarks: accuracy without 30 %% / 20 %%", c.dim, c.marks), fmt.Sprintf("%.3f / %.3f", c.p30, c.p20),
			fmt.Sprintf("%.3f / %.3f", netcoord.Accuracy(e.Errors, .3), netcoord.Accuracy(e.Errors, .2)), source,
		})
	}
	for _, m := range []struct {
		name string
		cfg  netcoord.Config
	}{{"paper's model", netcoord.Paper()}, {"model with heights", netcoord.WithHeights()}} {
		e, err := netcoord.Evaluate(m.cfg, delay, nil, 9)
		if err != nil {
			return err
		}
		rows = append(rows, row{m.name + ": median, 90th percentile of the error", "", fmt.Sprintf("%.3f, %.3f", e.Median, e.P90), source})
	}
	specs := []string{"random", "nearest,top=1", "nearest", "nearest,top=auto", "flow"}
	published := map[string]string{"random": "1.00 (198.8 MB/min)", "nearest,top=1": "1.22 (242.6)", "nearest": "1.36 (270.5)"}
	for _, capacity := range []float64{1, 1.5, 2} {
		got, err := runAll(ctx, sim.Kind{World: func(s uint64) sim.World {
			return sim.Throughput(sim.China(fleetSites, 0.3, s), capacity, 12, s)
		}}, specs, cfg.Seeds)
		if err != nil {
			return err
		}
		for k, spec := range specs {
			p := ""
			if capacity == 1.5 {
				p = published[spec]
			}
			rows = append(rows, row{
				fmt.Sprintf("30 nodes, 203 sites, capacity %g × mean demand: %s", capacity, spec), p,
				fmt.Sprintf("%.2f ± %.2f (%.3f of the bound)", got[k].share.mean()/got[0].share.mean(), got[k].share.sd()/got[0].share.mean(), got[k].share.mean()),
				remark(spec, capacity),
			})
		}
	}
	more, err := leads(cfg)
	if err != nil {
		return err
	}
	return printRows(cfg.Out, "5. Network coordinates", append(rows, more...))
}

// leads are how far the nearest nodes are ahead of random ones after 6 and 12 minutes, and what one site alone gives.
func leads(cfg Config) ([]row, error) {
	var top1, top3 [2]sample
	var alone sample
	for seed := range uint64(cfg.Seeds) {
		w := sim.Throughput(sim.China(fleetSites, 0.3, seed), 1.5, 12, seed)
		one := w
		one.Sites, one.Speed, one.Delay = w.Sites[:1], firstOf(w.Speed), firstOf(w.Delay)
		got := map[string]sim.Result{}
		single := map[string]float64{}
		for _, spec := range []string{"random", "nearest,top=1", "nearest"} {
			for k, world := range []sim.World{w, one} {
				st, err := strategy.New(spec)
				if err != nil {
					return nil, err
				}
				r, err := sim.Run(world, st)
				if err != nil {
					return nil, err
				}
				if k == 0 {
					got[spec] = r
				} else {
					single[spec] = r.Bits
				}
			}
		}
		for k, minutes := range []int{6, 12} {
			lead := func(spec string) (mb float64) {
				for m := range minutes {
					mb += (got[spec].Minutes[m] - got["random"].Minutes[m]) / 8e6
				}
				return mb
			}
			top1[k], top3[k] = append(top1[k], lead("nearest,top=1")), append(top3[k], lead("nearest"))
		}
		alone = append(alone, single["nearest"]/single["random"])
	}
	const note = "capacity 1.5 × mean demand; the published leads do not follow from the published rates"
	return []row{
		{"lead over random after 6 min, Top3 / Top1, MB", "436.5 / 411.1", fmt.Sprintf("%.0f / %.0f", top3[0].mean(), top1[0].mean()), note},
		{"lead over random after 12 min, Top3 / Top1, MB", "767.1 / 674.5", fmt.Sprintf("%.0f / %.0f", top3[1].mean(), top1[1].mean()), note},
		{"one site alone, Top3 over random", "5.3 (2.38 / 0.45 MB/min)", fmt.Sprintf("%.1f ± %.1f", alone.mean(), alone.sd()), "a site of each made web; the paper picked one"},
	}, nil
}

func firstOf(m [][]float64) [][]float64 {
	out := make([][]float64, len(m))
	for i := range m {
		out[i] = m[i][:1]
	}
	return out
}

func remark(spec string, capacity float64) string {
	if spec == "nearest" && capacity == 1.5 {
		return "at this capacity the paper's ratios are reached: the nearest nodes saturate"
	}
	return ""
}

// madeDelays are the delays of the made fleet and its sites, as if all of them were hosts.
func madeDelays() [][]float64 {
	m := sim.China(60, 0.3, 1)
	n := len(m.Nodes)
	out := make([][]float64, n+60)
	for i := range out {
		out[i] = make([]float64, n+60)
	}
	for i := range n {
		for k := range n {
			out[i][k] = m.Between[i][k]
		}
		for j := range 60 {
			out[i][n+j], out[n+j][i] = m.Delay[i][j], m.Delay[i][j]
		}
	}
	return out
}
