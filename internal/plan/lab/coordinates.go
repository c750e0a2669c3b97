package lab

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"argosy/internal/plan/netcoord"
	"argosy/internal/plan/report"
	"argosy/internal/plan/sim"
)

func (c Coordinates) filled() Coordinates {
	c.Dims, c.Landmarks = orSlice(c.Dims, []int{2, 3, 4, 5, 6, 7, 8}), orSlice(c.Landmarks, []int{9, 7, 5})
	return c
}

// publishedAccuracy is the paper's two tables: by dimensions and landmarks, without the worst 30 and 20 %.
var publishedAccuracy = map[[2]int][2]float64{
	{2, 9}: {.685, .494}, {3, 9}: {.738, .600}, {4, 9}: {.740, .603}, {5, 9}: {.742, .605}, {6, 9}: {.742, .605}, {7, 9}: {.743, .605},
	{8, 9}: {.745, .608}, {6, 7}: {.506, .300}, {4, 7}: {.506, .300}, {4, 5}: {.421, .077},
}

// errorSteps are the quantiles at which distributions of errors are kept.
const errorSteps = 50

// planCoordinates fits the paper's model to draws of hosts, with landmarks drawn anew each time.
func planCoordinates(s *Scenario, cfg Config) ([]unit, func(r results) (report.Section, error), error) {
	c := s.Coordinates.filled()
	var recorded [][]float64
	source := "a made network of four cities"
	if cfg.Data != "" {
		var err error
		if recorded, err = cfg.delays(); err != nil {
			return nil, nil, err
		}
		source = fmt.Sprintf("draws of %d of %d PlanetLab hosts", c.Hosts, len(recorded))
	}
	var units []unit
	for k := range s.Seeds {
		seed := Publish.seed(k)
		units = append(units, unit{fmt.Sprintf("seed %d", seed), func() (figures, error) {
			delay, city := drawHosts(recorded, c.Hosts, seed)
			return runCoordinates(c, delay, city, seed)
		}})
	}
	return units, func(r results) (report.Section, error) { return coordinatesSection(s, c, source, r), nil }, nil
}

// drawHosts draws hosts from a recorded network, or makes them. city is where each made host is, -1 where nobody knows.
func drawHosts(recorded [][]float64, n int, seed uint64) (delay [][]float64, city []int) {
	if recorded == nil {
		return madeDelays(max(n-30, 10), seed)
	}
	r := rand.New(rand.NewPCG(seed, 0x686f7374))
	pick := r.Perm(len(recorded))[:min(n, len(recorded))]
	for _, i := range pick {
		row := make([]float64, len(pick))
		for x, j := range pick {
			row[x] = recorded[i][j]
		}
		delay, city = append(delay, row), append(city, -1)
	}
	return delay, city
}

func runCoordinates(c Coordinates, delay [][]float64, city []int, seed uint64) (figures, error) {
	r := rand.New(rand.NewPCG(seed, 0x6d61726b))
	var order []int // hosts that can be landmarks: they have measured enough of the others
	for _, h := range r.Perm(len(delay)) {
		known := 0
		for _, d := range delay[h] {
			if d > 0 {
				known++
			}
		}
		if 2*known >= len(delay) {
			order = append(order, h)
		}
	}
	out := figures{"triangles": {netcoord.Triangles(delay)}}
	for _, marks := range c.Landmarks {
		given := order[:min(marks, len(order))] // each smaller set is part of the larger ones
		for _, dim := range c.Dims {
			m := netcoord.Paper()
			m.Dim, m.Seed = dim, seed
			e, err := netcoord.Evaluate(m, delay, given, 0)
			if err != nil {
				return nil, err
			}
			out[fmt.Sprintf("%d %d", dim, marks)] = reals{netcoord.Accuracy(e.Errors, .3), netcoord.Accuracy(e.Errors, .2)}
		}
	}
	for name, m := range map[string]netcoord.Config{"paper's model": netcoord.Paper(), "with heights": netcoord.WithHeights()} {
		e, err := netcoord.Evaluate(m, delay, nil, min(9, len(delay)/3))
		if err != nil {
			return nil, err
		}
		q := make(reals, errorSteps+1)
		slices.Sort(e.Errors)
		for k := range q {
			q[k] = e.Errors[min(len(e.Errors)-1, k*len(e.Errors)/errorSteps)]
		}
		out[name] = q
	}
	flat := netcoord.Paper()
	flat.Dim = 2
	e, err := netcoord.Evaluate(flat, delay, nil, min(9, len(delay)/3))
	if err != nil {
		return nil, err
	}
	var xs, ys, kind reals
	for h, p := range e.Coords {
		if !p.Known() {
			continue
		}
		xs, ys = append(xs, p.X[0]), append(ys, p.X[1])
		k := float64(city[h])
		if slices.Contains(e.Landmarks, h) {
			k = -2
		}
		kind = append(kind, k)
	}
	out["x"], out["y"], out["kind"] = xs, ys, kind
	return out, nil
}

func coordinatesSection(s *Scenario, c Coordinates, source string, r results) report.Section {
	keys := keysOf(s.Seeds, func(seed uint64) string { return fmt.Sprintf("seed %d", seed) })
	sec := report.Section{Title: "Network coordinates: how well they predict"}
	lines := report.Figure{
		Kind: report.Lines, Caption: "Accuracy (1 less the mean relative error) without the worst 30 % of pairs, by dimensions and landmarks: means over draws with 95 % intervals. On " + source + ".",
		X: report.Axis{Label: "dimensions"}, Y: report.Axis{Label: "accuracy"},
	}
	t := report.Table{Caption: "Accuracy without the worst 30 % / 20 %, averaged over draws of hosts and landmarks, on " + source, Head: []string{"landmarks", "dimensions", "published", "without 30 %", "without 20 %"}}
	for _, marks := range c.Landmarks {
		one := report.Series{Name: fmt.Sprintf("%d landmarks", marks)}
		for _, dim := range c.Dims {
			at := fmt.Sprintf("%d %d", dim, marks)
			one.Points = append(one.Points, r.sample(at, 0, keys...).spread(float64(dim)))
			paper := ""
			if p, ok := publishedAccuracy[[2]int{dim, marks}]; ok {
				paper = fmt.Sprintf("%.3f / %.3f", p[0], p[1])
			}
			t.Rows = append(t.Rows, []string{fmt.Sprint(marks), fmt.Sprint(dim), paper, r.sample(at, 0, keys...).text(3), r.sample(at, 1, keys...).text(3)})
		}
		lines.Series = append(lines.Series, one)
	}
	cdf := report.Figure{
		Kind: report.Lines, Caption: "Distribution of relative errors over the pairs that were not measured, nine landmarks chosen by the greedy k-centre rule: share of pairs with at most this error (95 % of them shown).",
		X: report.Axis{Label: "relative error"}, Y: report.Axis{Label: "share of pairs", Zero: true, Share: true},
	}
	for _, name := range []string{"paper's model", "with heights"} {
		one := report.Series{Name: name}
		for k := 0; k*100 <= errorSteps*95; k++ {
			x, _ := r.sample(name, k, keys...).summary()
			one.Points = append(one.Points, report.At(x, float64(k)/errorSteps))
		}
		cdf.Series = append(cdf.Series, one)
	}
	sec.Figures = append(sec.Figures, lines, cdf, mapFigure(r[keys[0]]))
	sec.Tables = append(sec.Tables, t)
	sec.Notes = append(sec.Notes,
		fmt.Sprintf("Triangles that violate the triangle inequality: %s of all; no coordinates can predict them.", r.sample("triangles", 0, keys...).text(4)),
		"Published figures fall steeply with fewer landmarks; ours do not: a fit that is carried to its optimum from several starts loses little with seven or five, and the published tables look like a local search that was stopped early. One draw can reverse the order of neighbouring rows, which is why these are averages.")
	return sec
}

// mapFigure is the plane of the first draw.
func mapFigure(got figures) report.Figure {
	f := report.Figure{
		Kind: report.Map, Caption: "Hosts of the first draw in a plane: the distance of two is the delay that is predicted between them.",
		X: report.Axis{Label: "ms"}, Y: report.Axis{Label: "ms"},
	}
	groups := map[float64]*report.Series{}
	for k := range got["x"] {
		at := got["kind"][k]
		if groups[at] == nil {
			groups[at] = &report.Series{Name: cityName(at)}
		}
		p := report.At(got["x"][k], got["y"][k])
		p.Label = fmt.Sprintf("host %d, %s", k+1, cityName(at))
		groups[at].Points = append(groups[at].Points, p)
	}
	var order []float64
	for at := range groups {
		order = append(order, at)
	}
	slices.Sort(order)
	for _, at := range order {
		f.Series = append(f.Series, *groups[at])
	}
	return f
}

func cityName(at float64) string {
	switch {
	case at == -2:
		return "landmark"
	case at < 0:
		return "host"
	}
	return sim.City(int(math.Round(at)))
}

// madeDelays are the delays of the made fleet and its sites, as if all of them were hosts, and the city of each.
func madeDelays(sites int, seed uint64) (out [][]float64, city []int) {
	m := sim.China(sites, 0.3, seed)
	n := len(m.Nodes)
	out = make([][]float64, n+sites)
	for i := range out {
		out[i] = make([]float64, n+sites)
		for j := range out[i] {
			if i != j {
				out[i][j] = math.NaN() // between sites nobody measures
			}
		}
		if i < n {
			city = append(city, sim.CityOf(m.Nodes[i].Labels["city"]))
		} else {
			city = append(city, sim.CityOf(m.Sites[i-n].Place.Region))
		}
	}
	for i := range n {
		for k := range n {
			out[i][k] = m.Between[i][k]
		}
		for j := range sites {
			out[i][n+j], out[n+j][i] = m.Delay[i][j], m.Delay[i][j]
		}
	}
	return out, city
}
