package lab

import (
	"fmt"
	"math"
	"slices"

	"argosy/internal/plan/report"
	"argosy/internal/plan/sim"
)

// summary is the mean of the figures that are there, and half of its 95 % interval.
func (s sample) summary() (mean, half float64) {
	t := slices.DeleteFunc(slices.Clone(s), func(x float64) bool { return math.IsNaN(x) || math.IsInf(x, 0) })
	if len(t) == 0 {
		return math.NaN(), math.NaN()
	}
	return t.mean(), t.half()
}

// most is the largest of the figures that are there, at least 0.
func (s sample) most() (x float64) {
	for _, y := range s {
		if y > x {
			x = y
		}
	}
	return x
}

// text is a mean with its interval.
func (s sample) text(digits int) string {
	m, h := s.summary()
	switch {
	case math.IsNaN(m):
		return "–"
	case math.IsNaN(h):
		return fmt.Sprintf("%.*f", digits, m)
	}
	return fmt.Sprintf("%.*f ± %.*f", digits, m, digits, h)
}

// keysOf are the keys of a set of units that differ in the seed.
func keysOf(seeds int, name func(seed uint64) string) (out []string) {
	for k := range seeds {
		out = append(out, name(Publish.seed(k)))
	}
	return out
}

// spread is a point of a curve or a bar: the mean of a sample and its interval.
func (s sample) spread(x float64) report.Point {
	m, h := s.summary()
	return report.Spread(x, m, h)
}

// usual are the strategies that a scenario compares if it names none.
var usual = []string{"flow", oracle, "greedy", "nearest,top=auto", "feedback,load=on", "bandwidth", "random"}

// quiet are the controls, which figures draw thin.
var quiet = []string{oracle, "random", "roundrobin", "greedy"}

// planWorlds runs strategies in made worlds.
func planWorlds(s *Scenario, _ Config) ([]unit, func(r results) (report.Section, error), error) {
	specs := orSlice(s.Strategies, usual)
	values := orSlice(s.Vary.Values, []float64{math.NaN()})
	var units []unit
	for k := range s.Seeds {
		for _, x := range values {
			terms, err := s.World.terms()
			if err == nil && s.Vary.Term != "" {
				terms, err = s.varied(x)
			}
			if err != nil {
				return nil, nil, err
			}
			seed := Publish.seed(k)
			units = append(units, unit{worldKey(s, x, seed), func() (figures, error) { return runWorld(sim.Made(terms, seed), specs) }})
		}
	}
	finish := func(r results) (report.Section, error) {
		var sec report.Section
		if s.Vary.Term != "" {
			sec.Figures = append(sec.Figures, variedFigure(s, specs, values, r))
		} else {
			keys := keysOf(s.Seeds, func(seed uint64) string { return worldKey(s, 0, seed) })
			sec.Figures = append(sec.Figures, sharesOf(specs, r, keys), curvesOf(specs, r, keys, "collected over time"))
		}
		sec.Tables = worldTables(s, specs, values, r)
		terms, err := s.told()
		gap := 0.0
		for _, x := range values {
			gap = max(gap, r.sample("gap", 0, keysOf(s.Seeds, func(seed uint64) string { return worldKey(s, x, seed) })...).most())
		}
		luck := ""
		if s.noisy() {
			luck = " of what pairs have on average, which a few leases may pass by luck (noise)"
		}
		sec.Notes = append(sec.Notes, fmt.Sprintf("%s; %s; bounds are at most %.2f %% above the optimum%s; intervals are 95 %% by Student's t, differences are paired by world.", worldsOf(s.Seeds), terms, 100*gap, luck))
		return sec, err
	}
	return units, finish, nil
}

// noisy reports whether leases differ in speed from what their pairs have on average.
func (s *Scenario) noisy() bool {
	t, err := s.World.terms()
	return err == nil && (t.Noise > 0 || s.Vary.Term == "noise")
}

// worldsOf says how many worlds there are.
func worldsOf(n int) string {
	if n == 1 {
		return "1 world"
	}
	return fmt.Sprintf("%d worlds", n)
}

func worldKey(s *Scenario, x float64, seed uint64) string {
	if s.Vary.Term == "" {
		return fmt.Sprintf("seed %d", seed)
	}
	return fmt.Sprintf("%s %g, seed %d", s.Vary.Term, x, seed)
}

// runWorld runs strategies in one world, whose bound is computed once.
func runWorld(w sim.World, specs []string) (figures, error) {
	bound, gap, err := boundOf(w, boundTime)
	if err != nil {
		return nil, err
	}
	out := figures{"bound": {bound / 8e6}, "gap": {gap}}
	for _, spec := range specs {
		r, err := simulate(w, spec, bound)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", spec, err)
		}
		out[spec] = reals{r.Share(), float64(r.Moves), float64(r.Probes), r.ProbeBits / 8e6}
		out[spec+" curve"] = cumulative(r.Minutes)
	}
	return out, nil
}

// cumulative is what was collected until the end of each minute, MB, from 0.
func cumulative(minutes []float64) reals {
	out, sum := reals{0}, 0.0
	for _, bits := range minutes {
		sum += bits / 8e6
		out = append(out, sum)
	}
	if n := len(minutes); n > 1 { // the last holds what is counted at the very end
		out[n-1] = out[n]
		out = out[:n]
	}
	return out
}

// sharesOf draws shares of the bound as bars.
func sharesOf(specs []string, r results, keys []string) report.Figure {
	f := report.Figure{
		Kind: report.Bars, Caption: "Useful bits as a share of the bound, the most that anybody could collect who knew the world. Whiskers: 95 % interval of the mean.",
		Y: report.Axis{Label: "share of the bound", Share: true}, Categories: specs, Marks: []report.Mark{{Name: "bound", At: 1}},
	}
	one := report.Series{Name: "share"}
	for k, spec := range specs {
		p := r.sample(spec, 0, keys...).spread(float64(k))
		p.Label = fmt.Sprintf("%.3f", p.Y)
		one.Points = append(one.Points, p)
	}
	f.Series = []report.Series{one}
	return f
}

// curvesOf draws what was collected over time, with the spread over worlds.
func curvesOf(specs []string, r results, keys []string, what string) report.Figure {
	f := report.Figure{
		Kind: report.Lines, Caption: "Megabytes " + what + ": means, with 95 % intervals of the mean as bands.",
		X: report.Axis{Label: "minutes", Zero: true}, Y: report.Axis{Label: "MB", Zero: true},
	}
	length := 0
	for _, spec := range specs {
		length = max(length, len(r[keys[0]][spec+" curve"]))
		one := report.Series{Name: spec, Quiet: slices.Contains(quiet, spec)}
		for m := range r[keys[0]][spec+" curve"] {
			one.Points = append(one.Points, r.sample(spec+" curve", m, keys...).spread(float64(m)))
		}
		f.Series = append(f.Series, one)
	}
	bound, _ := r.sample("bound", 0, keys...).summary()
	if length > 1 && !math.IsNaN(bound) {
		f.Series = append(f.Series, report.Series{Name: "bound", Quiet: true, Points: []report.Point{report.At(0, 0), report.At(float64(length-1), bound)}})
	}
	return f
}

func variedFigure(s *Scenario, specs []string, values []float64, r results) report.Figure {
	lo, hi := slices.Min(values), slices.Max(values)
	f := report.Figure{
		Kind: report.Lines, Caption: fmt.Sprintf("Share of the bound as %s varies: means of %s each, with 95 %% intervals as bands.", s.Vary.Term, worldsOf(s.Seeds)),
		X: report.Axis{Label: s.Vary.Term, Log: lo > 0 && hi/lo >= 20}, Y: report.Axis{Label: "share of the bound", Zero: true, Share: true}, Marks: []report.Mark{{Name: "bound", At: 1}},
	}
	for _, spec := range specs {
		one := report.Series{Name: spec, Quiet: slices.Contains(quiet, spec)}
		for _, x := range values {
			one.Points = append(one.Points, r.sample(spec, 0, keysOf(s.Seeds, func(seed uint64) string { return worldKey(s, x, seed) })...).spread(x))
		}
		f.Series = append(f.Series, one)
	}
	return f
}

func worldTables(s *Scenario, specs []string, values []float64, r results) (out []report.Table) {
	for _, x := range values {
		keys := keysOf(s.Seeds, func(seed uint64) string { return worldKey(s, x, seed) })
		t := report.Table{Caption: "Shares of the bound, and what they cost", Head: []string{"strategy", "of the bound", specs[0] + " less it, paired", "moves", "probes", "probes, MB"}}
		if s.Vary.Term != "" {
			t.Caption = fmt.Sprintf("%s = %g", s.Vary.Term, x)
		}
		first := r.sample(specs[0], 0, keys...)
		for k, spec := range specs {
			share := r.sample(spec, 0, keys...)
			paired := ""
			if k > 0 {
				paired = first.less(share).text(3)
			}
			t.Rows = append(t.Rows, []string{spec, share.text(3), paired, r.sample(spec, 1, keys...).count(), r.sample(spec, 2, keys...).count(), r.sample(spec, 3, keys...).count()})
		}
		out = append(out, t)
	}
	return out
}

// count is a mean without digits.
func (s sample) count() string {
	m, _ := s.summary()
	return fmt.Sprintf("%.0f", m)
}
