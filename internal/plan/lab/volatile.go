package lab

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"path"
	"strconv"
	"strings"

	"argosy/internal/plan/dataset"
	"argosy/internal/plan/netcoord"
	"argosy/internal/plan/report"
)

// chosenOn are the slices of the recorded volatile network on which the blend was composed; figures come from others.
var chosenOn = map[int]bool{1: true, 13: true, 65: true, 96: true, 160: true, 191: true, 221: true, 252: true, 283: true, 313: true, 344: true}

// auto is the model that what was left out chooses.
const auto = "chosen"

// planVolatile holds models against each other on a network whose delays change from one measurement to the next: each draw
// is one slice of time, of which models see the delays to nine landmarks, and the choice among them a tenth of the others.
func planVolatile(s *Scenario, cfg Config) ([]unit, func(r results) (report.Section, error), error) {
	source := "a made network of hosts behind lines of their own, each measured delay e^N(0, 0.6) off, a tenth missing"
	var slices map[int][][]float64
	if cfg.Data != "" {
		var err error
		if slices, err = cfg.volatile(); err != nil {
			return nil, nil, err
		}
		source = fmt.Sprintf("%d slices of time of 99 personal devices (Seattle), none of them among those that the blend was composed on", s.Seeds)
	}
	var units []unit
	for k := range s.Seeds {
		seed := Publish.seed(k)
		units = append(units, unit{fmt.Sprintf("seed %d", seed), func() (figures, error) {
			delay := madeVolatile(99, seed)
			if slices != nil {
				at := heldOut(slices, k, s.Seeds)
				if delay = slices[at]; delay == nil {
					return nil, fmt.Errorf("no slice %d", at)
				}
			}
			return runVolatile(delay, seed)
		}})
	}
	return units, func(r results) (report.Section, error) { return volatileSection(s, source, r), nil }, nil
}

// heldOut is the k-th of n slices, spread over those that nothing was chosen on.
func heldOut(all map[int][][]float64, k, n int) int {
	var free []int
	for i := 1; i <= maxSlices; i++ {
		if all[i] != nil && !chosenOn[i] {
			free = append(free, i)
		}
	}
	if len(free) == 0 {
		return 0
	}
	return free[k*len(free)/max(n, 1)%len(free)]
}

// maxSlices bounds what is read of a recorded volatile network.
const maxSlices = 2000

// volatile reads the slices of a recorded volatile network, ms.
func (c Config) volatile() (map[int][][]float64, error) {
	f, err := c.open("rtt-seattle99", "SeattleData_1-344.tar.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	out := map[int][][]float64{}
	for t := tar.NewReader(f); len(out) < maxSlices; {
		h, err := t.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, fmt.Errorf("rtt-seattle99: %w", err)
		}
		_, number, ok := strings.Cut(path.Base(h.Name), "_")
		n, bad := strconv.Atoi(number)
		if h.Typeflag != tar.TypeReg || !ok || bad != nil {
			continue
		}
		d, err := dataset.Delays(io.LimitReader(t, 16<<20))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", h.Name, err)
		}
		for i := range d {
			for j := range d[i] {
				d[i][j] *= 1000
			}
		}
		out[n] = d
	}
	return out, nil
}

// madeVolatile makes one slice of a volatile network.
func madeVolatile(n int, seed uint64) [][]float64 {
	r := rand.New(rand.NewPCG(seed, 0x766f6c))
	at := make([][3]float64, n)
	for i := range at {
		at[i] = [3]float64{60 * r.NormFloat64(), 40 * r.NormFloat64(), 15 * math.Exp(r.NormFloat64())}
	}
	out := make([][]float64, n)
	for i := range out {
		out[i] = make([]float64, n)
		for j := range i {
			d := (math.Hypot(at[i][0]-at[j][0], at[i][1]-at[j][1]) + at[i][2] + at[j][2]) * math.Exp(0.6*r.NormFloat64())
			if r.Float64() < 0.1 {
				d = math.NaN()
			}
			out[i][j], out[j][i] = d, d
		}
	}
	return out
}

func runVolatile(delay [][]float64, seed uint64) (figures, error) {
	marks := netcoord.Spread(delay, 9)
	if len(marks) < 9 {
		return nil, fmt.Errorf("only %d hosts can be landmarks", len(marks))
	}
	models, left := netcoord.Models(), netcoord.Tenth(seed)
	best, scores, err := netcoord.Choose(models, delay, marks, left)
	if err != nil {
		return nil, err
	}
	out := figures{"scores": scores}
	for _, m := range models {
		p, err := netcoord.Predict(m, delay, marks)
		if err != nil {
			return nil, err
		}
		v := p.Judge(delay, func(h, g int) bool { return !left(h, g) })
		out[m.Name] = reals{v.P90, v.Median, v.Hits}
		if m.Name == best.Model.Name {
			out[auto] = out[m.Name]
		}
	}
	return out, nil
}

func volatileSection(s *Scenario, source string, r results) report.Section {
	keys := keysOf(s.Seeds, func(seed uint64) string { return fmt.Sprintf("seed %d", seed) })
	sec := report.Section{Title: "Network coordinates: a volatile network"}
	names := []string{}
	for _, m := range netcoord.Models() {
		names = append(names, m.Name)
	}
	names = append(names, auto)
	t := report.Table{Caption: "Models fitted to nine landmarks, on " + source, Head: []string{
		"model", "90th percentile of |p − t| / min(p, t)", "chosen less it, paired", "median", "hits of the truly nearest", "chosen less it, paired", "on the tenth that it was chosen by",
	}}
	chosen := func(k int) sample { return r.sample(auto, k, keys...) }
	worse := report.Figure{Kind: report.Bars, Caption: "90th percentile of |p − t| / min(p, t) over the pairs that were not measured: less is better. Whiskers: 95 % intervals over slices.", Y: report.Axis{Label: "|p − t| / min(p, t)"}, Categories: names}
	one := report.Series{Name: "p90"}
	for k, name := range names {
		row := []string{name, r.sample(name, 0, keys...).text(3), "", r.sample(name, 1, keys...).text(3), r.sample(name, 2, keys...).text(3), "", ""}
		if name != auto {
			row[2], row[5], row[6] = chosen(0).less(r.sample(name, 0, keys...)).text(3), chosen(2).less(r.sample(name, 2, keys...)).text(3), r.sample("scores", k, keys...).text(3)
		}
		t.Rows = append(t.Rows, row)
		one.Points = append(one.Points, r.sample(name, 0, keys...).spread(float64(k)))
	}
	worse.Series = []report.Series{one}
	sec.Figures, sec.Tables = []report.Figure{worse}, []report.Table{t}
	sec.Notes = []string{"The chosen model is, in each slice, the one that does best on a tenth of the pairs that were measured besides; figures are of the other nine tenths, which neither a fit nor the choice has seen."}
	return sec
}
