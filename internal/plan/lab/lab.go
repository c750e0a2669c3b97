// Package lab runs the published experiments and our own comparisons in the simulated world and on the solvers, and
// prints the published figure beside ours. Recorded measurements come from a directory that the user names; without
// one, made worlds take their place and say so.
package lab

import (
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"golang.org/x/sync/errgroup"

	"argosy/internal/plan/dataset"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

// Config of a run.
type Config struct {
	Data       string // directory of recorded measurements; empty is none
	Seeds      int
	Out        io.Writer
	Strategies []string // of a comparison; nil is the standard list
	Scenarios  []string // by name; nil is all
}

// Experiment is something that can be run.
type Experiment struct {
	Name    string
	Summary string
	Run     func(ctx context.Context, cfg Config) error
}

// Experiments lists all of them.
func Experiments() []Experiment {
	return []Experiment{
		{"papers", "every worked example, table and experiment of the five papers, the published figure beside ours", papers},
		{"strategies", "all strategies in the same worlds, as shares of what full knowledge could reach", compare},
	}
}

// row is one published figure and ours.
type row struct {
	what, paper, ours, note string
}

func printRows(w io.Writer, title string, rows []row) error {
	fmt.Fprintf(w, "\n%s\n", title)
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  figure\tpublished\tours\tremark")
	for _, r := range rows {
		fmt.Fprintf(t, "  %s\t%s\t%s\t%s\n", r.what, r.paper, r.ours, r.note)
	}
	return t.Flush()
}

// open opens a recorded file, compressed or not; ok is false where there is no data directory.
func (c Config) open(parts ...string) (io.ReadCloser, error) {
	f, err := os.Open(filepath.Join(append([]string{c.Data}, parts...)...))
	if err != nil {
		return nil, err
	}
	if !strings.HasSuffix(f.Name(), ".gz") {
		return f, nil
	}
	z, err := gzip.NewReader(f)
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("%s: %w", f.Name(), err)
	}
	return struct {
		io.Reader
		io.Closer
	}{z, f}, nil
}

func (c Config) delays() ([][]float64, error) {
	f, err := c.open("rtt-planetlab490", "PlanetLabData_1.gz")
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return dataset.Delays(f)
}

func (c Config) pairs(file, value string) ([]string, [][]float64, error) {
	f, err := c.open("bw-skyplane", file)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	return dataset.Pairs(f, "src_region", "dst_region", value)
}

// scenario is a world for each seed.
type scenario struct {
	name  string
	about string
	world func(seed uint64) sim.World
}

const (
	fleetSites   = 203
	fleetMinutes = 60
)

// scenarios are the worlds of the comparison. Those on recorded matrices are there only where the data is.
func scenarios(cfg Config) ([]scenario, error) {
	china := func(seed uint64) sim.World {
		return sim.Throughput(sim.China(fleetSites, 0.3, seed), 2, fleetMinutes, seed)
	}
	out := []scenario{
		{"china", "made fleet of four cities, capacity twice the mean demand", china},
		{"skewed", "the same, sites of very different size", func(s uint64) sim.World { return sim.Skewed(china(s), 1) }},
		{"turns-bad", "the same, three nodes become useless one after the other", func(s uint64) sim.World { return sim.TurnsBad(china(s), 0, 5, 12) }},
		{"coming", "the same, a third of the nodes joins late, a third leaves early", func(s uint64) sim.World { return sim.Coming(china(s)) }},
		{"changing", "30 nodes, 200 sites that change their mind 600 times in 5 hours, load 0.9", func(s uint64) sim.World {
			return sim.Changing(30, 200, 600, 0.9, 5, s)
		}},
	}
	if cfg.Data == "" {
		return out, nil
	}
	names, speed, err := cfg.pairs("throughput_2022-01.csv.gz", "throughput_received")
	if err != nil {
		return nil, err
	}
	others, delay, err := cfg.pairs("latency.csv.gz", "avg_rtt")
	if err != nil {
		return nil, err
	}
	for _, capacity := range []float64{4, 2, 1} {
		out = append(out, scenario{
			fmt.Sprintf("cloud-%gx", capacity), fmt.Sprintf("recorded cloud bandwidth and delay, capacity %g times the mean demand", capacity),
			func(s uint64) sim.World {
				return sim.Throughput(sim.Recorded(names, speed, others, delay, 30, fleetSites, s), capacity, fleetMinutes, s)
			},
		})
	}
	return out, nil
}

// standard are the strategies of the comparison.
var standard = []string{
	"random", "roundrobin", "hash", "geo", "packing", "bandwidth", "feedback", "feedback,load=on", "market", "market,mode=lots",
	"nearest,top=1", "nearest", "nearest,top=auto", "flow",
}

// outcome are the results of one strategy in one scenario over all seeds.
type outcome struct {
	share, completed, p95, moves, probes sample
}

type sample []float64

func (s sample) mean() (m float64) {
	for _, x := range s {
		m += x / float64(len(s))
	}
	return m
}

func (s sample) sd() float64 {
	m, v := s.mean(), 0.0
	for _, x := range s {
		v += (x - m) * (x - m)
	}
	return math.Sqrt(v / float64(max(1, len(s)-1)))
}

// compare runs every strategy in every scenario with every seed.
func compare(ctx context.Context, cfg Config) error {
	all, err := scenarios(cfg)
	if err != nil {
		return err
	}
	specs := cfg.Strategies
	if specs == nil {
		specs = standard
	}
	for _, sc := range all {
		if len(cfg.Scenarios) > 0 && !slices.Contains(cfg.Scenarios, sc.name) {
			continue
		}
		got, err := runAll(ctx, sc, specs, cfg.Seeds)
		if err != nil {
			return err
		}
		fmt.Fprintf(cfg.Out, "\n%s: %s (%d seeds)\n", sc.name, sc.about, cfg.Seeds)
		t := tabwriter.NewWriter(cfg.Out, 0, 0, 2, ' ', 0)
		fmt.Fprintln(t, "  strategy\tof the bound\t± seeds\tagainst random\tcompleted\tp95 s\tmoves\tprobes")
		base := 0.0
		for k, spec := range specs {
			if spec == "random" {
				base = got[k].share.mean()
			}
		}
		for k, spec := range specs {
			o := got[k]
			line := fmt.Sprintf("  %s\t%.3f\t%.3f\t", spec, o.share.mean(), o.share.sd())
			if base > 0 {
				line += fmt.Sprintf("%.2f", o.share.mean()/base)
			}
			if len(o.completed) > 0 {
				line += fmt.Sprintf("\t%.3f\t%.0f", o.completed.mean(), o.p95.mean())
			} else {
				line += "\t\t"
			}
			fmt.Fprintf(t, "%s\t%.0f\t%.0f\n", line, o.moves.mean(), o.probes.mean())
		}
		if err := t.Flush(); err != nil {
			return err
		}
	}
	return nil
}

// runAll runs the worlds of a scenario, as many at once as there are processors. The order of the results does not
// depend on who was first.
func runAll(ctx context.Context, sc scenario, specs []string, seeds int) ([]outcome, error) {
	results := make([][]sim.Result, len(specs))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for k, spec := range specs {
		results[k] = make([]sim.Result, seeds)
		for seed := range seeds {
			g.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				st, err := strategy.New(spec)
				if err != nil {
					return err
				}
				r, err := sim.Run(sc.world(uint64(seed)), st)
				if err != nil {
					return fmt.Errorf("%s, %s, seed %d: %w", sc.name, spec, seed, err)
				}
				results[k][seed] = r
				return nil
			})
		}
	}
	if err := g.Wait(); err != nil {
		return nil, err
	}
	out := make([]outcome, len(specs))
	for k, rs := range results {
		for _, r := range rs {
			o := &out[k]
			o.share = append(o.share, r.Share())
			o.moves, o.probes = append(o.moves, float64(r.Moves)), append(o.probes, float64(r.Probes))
			if r.Asked > 0 {
				o.completed, o.p95 = append(o.completed, r.Completed/r.Asked), append(o.p95, r.P95)
			}
		}
	}
	return out, nil
}
