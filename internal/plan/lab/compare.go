package lab

import (
	"context"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"text/tabwriter"
	"time"

	"golang.org/x/sync/errgroup"

	"argosy/internal/plan/sim"
	"argosy/internal/plan/strategy"
)

// The protocol. Seeds are split in halves: constants of strategies were chosen on worlds of one half, and what is
// published comes from the other, and from kinds of worlds that nothing was chosen on. Every table has the controls.

// Half of the seeds.
type Half string

// Halves.
const (
	Publish Half = "publish" // of the figures that are shown
	Choose  Half = "choose"  // of the choice of constants
)

// seed is the k-th seed of a half: even ones publish, odd ones choose.
func (h Half) seed(k int) uint64 {
	if h == Choose {
		return uint64(2*k + 1)
	}
	return uint64(2 * k)
}

// oracle is flow with true figures: what it misses of the bound is not for want of knowledge.
const oracle = "oracle"

// controls, rivals and ablations of the comparison.
var (
	controls  = []string{"random", "roundrobin", "greedy"}
	rivals    = []string{"makespan", "makespan,batch=1", "nearest,top=auto", "nearest,landmarks=kcentre", "feedback", "feedback,load=on", "bandwidth", "packing", "geo"}
	ablations = []string{"flow,predict=off", "flow,probes=0", "flow,explore=0", "flow,solver=greedy"}
)

// standard are the strategies of the comparison: flow, what it could be, what it is held against, what it is without.
func standard() []string {
	return slices.Concat([]string{"flow", oracle}, controls, rivals, ablations)
}

// usualSeeds is how many worlds of each kind a comparison has, and a quick one, where nobody says; quickKinds are a quick one's kinds: one of each sort.
const (
	usualSeeds = 20
	quickSeeds = 4
)

var quickKinds = []string{"equal", "one-x30", "fifth-x5", "few-places", "drift", "blocked", "noisy", "arrivals", "drawn"}

// job is one run of a comparison.
type job struct {
	Kind string `json:"kind"`
	Spec string `json:"strategy"`
	Seed uint64 `json:"seed"`
}

// outcome is what is kept of a run.
type outcome struct {
	Share     float64 `json:"share"`         // of the bound
	Gap       float64 `json:"gap,omitempty"` // by which the bound may be above the optimum, a share
	Completed float64 `json:"completed,omitempty"`
	P95       float64 `json:"p95,omitempty"`
	Moves     int     `json:"moves"`
	Probes    int     `json:"probes"`
}

// Compare runs every strategy in every kind of worlds with every seed, and prints shares of the bound with intervals.
func Compare(ctx context.Context, cfg Config) error {
	kinds, err := chosen(cfg)
	if err != nil {
		return err
	}
	specs := cfg.Strategies
	if specs == nil {
		specs = standard()
	}
	if cfg.Seeds == 0 {
		cfg.Seeds = usualSeeds
		if cfg.Quick {
			cfg.Seeds = quickSeeds
		}
	}
	c := &comparison{cfg: cfg, kinds: kinds, specs: specs, got: map[job]outcome{}}
	if err := c.resume(); err != nil {
		return err
	}
	defer c.close()
	if err := c.run(ctx); err != nil {
		return err
	}
	return c.print()
}

// comparison is one in progress.
type comparison struct {
	cfg   Config
	kinds []sim.Kind
	specs []string

	mu   sync.Mutex
	got  map[job]outcome
	keep io.WriteCloser // what is had already; nil: nothing is kept
}

// CheckKinds finds which of the kinds of worlds that a configuration asks for there are not.
func CheckKinds(cfg Config) error {
	_, err := chosen(cfg)
	return err
}

// chosen are the kinds of worlds that a configuration asks for, those on recorded matrices where there is data.
func chosen(cfg Config) ([]sim.Kind, error) {
	all, err := kinds(cfg)
	if err != nil {
		return nil, err
	}
	only := cfg.Scenarios
	if len(only) == 0 && cfg.Quick {
		only = quickKinds
	}
	if len(only) == 0 {
		return all, nil
	}
	var out []sim.Kind
	for k, name := range only {
		i := slices.IndexFunc(all, func(k sim.Kind) bool { return k.Name == name })
		if i < 0 {
			var names []string
			for _, k := range all {
				names = append(names, k.Name)
			}
			return nil, fmt.Errorf("kind of worlds %q: allowed are %s", name, strings.Join(names, ", "))
		}
		if slices.Contains(only[:k], name) {
			return nil, fmt.Errorf("kind of worlds %q: it is named twice", name)
		}
		out = append(out, all[i])
	}
	return out, nil
}

// run runs what is not had yet, all strategies of one world together: the world and its bound are made once.
func (c *comparison) run(ctx context.Context) error {
	type batch struct {
		kind sim.Kind
		seed uint64
		todo []string
	}
	var batches []batch
	left := 0
	for k := range c.cfg.Seeds {
		for _, kind := range c.kinds {
			b := batch{kind: kind, seed: c.cfg.Half.seed(k)}
			for _, spec := range c.specs {
				if _, had := c.got[job{kind.Name, spec, b.seed}]; !had {
					b.todo = append(b.todo, spec)
				}
			}
			if len(b.todo) > 0 {
				batches = append(batches, b)
				left += len(b.todo)
			}
		}
	}
	p := newProgress(c.cfg, left, len(c.got))
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(runtime.GOMAXPROCS(0))
	for _, b := range batches {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			w := b.kind.World(b.seed)
			bound, gap, err := boundOf(w, boundTime)
			if err != nil {
				return fmt.Errorf("%s, seed %d: bound: %w", b.kind.Name, b.seed, err)
			}
			for _, spec := range b.todo {
				if err := ctx.Err(); err != nil {
					return err
				}
				began := time.Now()
				r, err := simulate(w, spec, bound)
				if err != nil {
					return fmt.Errorf("%s, %s, seed %d: %w", b.kind.Name, spec, b.seed, err)
				}
				if err := c.take(job{b.kind.Name, spec, b.seed}, r, gap); err != nil {
					return err
				}
				p.did(b.kind.Name, spec, time.Since(began))
			}
			return nil
		})
	}
	err := g.Wait()
	p.end()
	return err
}

// boundTime is how long the bound of one world may take; then it is what it is, and its gap says how good.
const boundTime = time.Minute

// boundOf is the bound of a world, and how far it may be above the optimum, as a share of it: sim.BoundGap, or what was
// reached in time.
func boundOf(w sim.World, most time.Duration) (bound, gap float64, err error) {
	end := time.Now().Add(most)
	return w.Optimum(sim.BoundGap, func() bool { return time.Now().After(end) })
}

// gap says how far the bounds of a kind's worlds may be above the optimum; nothing where results of old do not tell.
func (c *comparison) gap(kind string) string {
	most := 0.0
	for j, o := range c.got {
		if j.Kind == kind {
			most = max(most, o.Gap)
		}
	}
	if most == 0 {
		return ""
	}
	return fmt.Sprintf("; bounds within %.2g %% of the optimum", 100*most)
}

// simulate runs one strategy, or the oracle, in one world.
func simulate(w sim.World, spec string, bound float64) (sim.Result, error) {
	st, knowing, err := named(spec)
	if err != nil {
		return sim.Result{}, err
	}
	return sim.RunBound(w, st, bound, knowing)
}

// Compares reports whether a comparison can run what a user names as a strategy.
func Compares(spec string) error {
	if spec == oracle {
		return nil
	}
	_, err := strategy.New(spec)
	return err
}

func (c *comparison) print() error {
	for _, kind := range c.kinds {
		if err := c.table(kind); err != nil {
			return err
		}
	}
	return c.summary()
}

func (c *comparison) shares(kind, spec string) (out sample) {
	for k := range c.cfg.Seeds {
		out = append(out, c.got[job{kind, spec, c.cfg.Half.seed(k)}].Share)
	}
	return out
}

// table prints one kind of worlds.
func (c *comparison) table(kind sim.Kind) error {
	held := "nothing was chosen on this kind"
	if kind.Tuned {
		held = "constants were chosen on this kind, with other seeds"
	}
	fmt.Fprintf(c.cfg.Out, "\n%s: %s (%s to %s; %s%s)\n", kind.Name, kind.About, several(c.cfg.Seeds, "seed"), c.cfg.Half, held, c.gap(kind.Name))
	t := tabwriter.NewWriter(c.cfg.Out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  strategy\tof the bound\t95 %\tflow less it, paired\tcompleted\tp95 s\tmoves\tprobes")
	paired := slices.Contains(c.specs, "flow")
	flow := c.shares(kind.Name, "flow")
	for _, spec := range c.specs {
		s := c.shares(kind.Name, spec)
		fmt.Fprintf(t, "  %s\t%.3f\t%s\t", spec, s.mean(), s.margin())
		if paired && spec != "flow" {
			d := flow.less(s)
			fmt.Fprintf(t, "%+.3f %s", d.mean(), d.margin())
		}
		var completed, p95, moves, probes sample
		for k := range c.cfg.Seeds {
			o := c.got[job{kind.Name, spec, c.cfg.Half.seed(k)}]
			moves, probes = append(moves, float64(o.Moves)), append(probes, float64(o.Probes))
			if o.Completed > 0 {
				completed, p95 = append(completed, o.Completed), append(p95, o.P95)
			}
		}
		if len(completed) > 0 {
			fmt.Fprintf(t, "\t%.3f\t%.0f", completed.mean(), p95.mean())
		} else {
			fmt.Fprint(t, "\t\t")
		}
		fmt.Fprintf(t, "\t%.0f\t%.0f\n", moves.mean(), probes.mean())
	}
	return t.Flush()
}

// summary says in which kinds of worlds flow reaches what it should.
func (c *comparison) summary() error {
	if !slices.Contains(c.specs, "flow") {
		return nil
	}
	w := c.cfg.Out
	fmt.Fprintf(w, "\nAll kinds: flow, of oracle, and less the best of the others (ablations apart), paired, 95 %%\n")
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "  kind\tflow\toracle\tof oracle\tbest of the others\tflow less it\tflow less random\t")
	below, lost := 0, 0
	for _, kind := range c.kinds {
		flow := c.shares(kind.Name, "flow")
		fmt.Fprintf(t, "  %s\t%.3f %s", kind.Name, flow.mean(), flow.margin())
		if slices.Contains(c.specs, oracle) {
			o := c.shares(kind.Name, oracle)
			fmt.Fprintf(t, "\t%.3f\t%.3f", o.mean(), flow.mean()/o.mean())
		} else {
			fmt.Fprint(t, "\t\t")
		}
		best, at := math.Inf(-1), ""
		for _, spec := range c.specs {
			if spec == "flow" || spec == oracle || slices.Contains(ablations, spec) {
				continue
			}
			if m := c.shares(kind.Name, spec).mean(); m > best {
				best, at = m, spec
			}
		}
		mark := ""
		if at != "" {
			d := flow.less(c.shares(kind.Name, at))
			fmt.Fprintf(t, "\t%s %.3f\t%+.3f %s", at, best, d.mean(), d.margin())
			if d.mean()+d.half() < 0 {
				mark = "below"
				lost++
			}
		} else {
			fmt.Fprint(t, "\t\t")
		}
		if slices.Contains(c.specs, "random") {
			d := flow.less(c.shares(kind.Name, "random"))
			fmt.Fprintf(t, "\t%+.3f %s", d.mean(), d.margin())
			if d.mean() < 0 {
				below++
			}
		} else {
			fmt.Fprint(t, "\t")
		}
		fmt.Fprintf(t, "\t%s\n", mark)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	_, err := fmt.Fprintf(w, "Of %s flow is below the best of the others by more than the interval in %d, below random in %d.\n", several(len(c.kinds), "kind"), lost, below)
	return err
}

// sample are figures of several seeds, in their order.
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

// less is a sample of differences, seed by seed.
func (s sample) less(o sample) sample {
	out := make(sample, len(s))
	for k := range s {
		out[k] = s[k] - o[k]
	}
	return out
}

// margin is half of the interval as text, none of a single figure.
func (s sample) margin() string {
	if h := s.half(); !math.IsNaN(h) {
		return fmt.Sprintf("± %.3f", h)
	}
	return ""
}

// half is half the width of the mean's 95 % interval, by Student's t; NaN of a single figure.
func (s sample) half() float64 {
	n := len(s)
	if n < 2 {
		return math.NaN()
	}
	return student(n-1) * s.sd() / math.Sqrt(float64(n))
}

// student is the 97.5 % quantile of Student's t: by table, then by the first terms of its expansion in 1/df (Fisher).
func student(df int) float64 {
	table := []float64{12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228}
	if df <= len(table) {
		return table[df-1]
	}
	const z = 1.959964
	d := float64(df)
	return z + (z*z*z+z)/(4*d) + (5*math.Pow(z, 5)+16*z*z*z+3*z)/(96*d*d)
}
