// Package lab runs scenarios: the published experiments and our own comparisons in the simulated world and on the solvers,
// with the published figure beside ours, as tables and figures of a report. Recorded measurements come from a directory that the user names; without
// one, made worlds take their place and say so.
package lab

import (
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"argosy/internal/plan/dataset"
	"argosy/internal/plan/sim"
)

// Config of a run.
type Config struct {
	Data       string // directory of recorded measurements; empty is none
	Seeds      int
	Out        io.Writer
	Strategies []string  // of a comparison; nil is the standard list
	Scenarios  []string  // kinds of worlds by name; nil is all
	Half       Half      // of the seeds; empty is Publish
	Quick      bool      // a few kinds and seeds
	Results    string    // file that results are kept in as they come, and are not computed again from; empty is none
	Progress   io.Writer // of lines that say how far it is; nil is nobody
	Screen     bool      // Progress is a terminal, where a line can be written over
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

const (
	fleetSites   = 203
	fleetMinutes = 60
)

// kinds are the worlds of the comparison: made ones of every kind, and the seven that constants were first chosen on.
// Those on recorded matrices are there only where the data is.
func kinds(cfg Config) ([]sim.Kind, error) {
	china := func(seed uint64) sim.World {
		return sim.Throughput(sim.China(fleetSites, 0.3, seed), 2, fleetMinutes, seed)
	}
	out := append(sim.Kinds(), []sim.Kind{
		{Name: "china", About: "made fleet of four cities, capacity twice the mean demand", Tuned: true, World: china},
		{Name: "skewed", About: "the same, sites of very different size", Tuned: true, World: func(s uint64) sim.World { return sim.Skewed(china(s), 1) }},
		{Name: "turns-bad", About: "the same, three nodes become useless one after the other", Tuned: true, World: func(s uint64) sim.World { return sim.TurnsBad(china(s), 0, 5, 12) }},
		{Name: "coming", About: "the same, a third of the nodes joins late, a third leaves early", Tuned: true, World: func(s uint64) sim.World { return sim.Coming(china(s)) }},
		{Name: "changing", About: "30 nodes, 200 sites that change their mind 600 times in 5 hours, load 0.9", Tuned: true, World: func(s uint64) sim.World {
			return sim.Changing(30, 200, 600, 0.9, 5, s)
		}},
	}...)
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
		out = append(out, sim.Kind{
			Name: fmt.Sprintf("cloud-%gx", capacity), About: fmt.Sprintf("recorded cloud bandwidth and delay, capacity %g times the mean demand", capacity),
			Tuned: true, World: func(s uint64) sim.World {
				return sim.Throughput(sim.Recorded(names, speed, others, delay, 30, fleetSites, s), capacity, fleetMinutes, s)
			},
		})
	}
	return out, nil
}
