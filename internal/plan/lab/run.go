package lab

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"argosy/internal/plan/report"
)

// An experiment is planned as units, each of which gives figures and needs no other; so they run side by side, are kept one
// by one, and an interrupted run goes on where it was. What the figures say together is a section of a report.

// figures are what a unit gives, by name.
type figures map[string]reals

// reals are numbers of which some may be missing (NaN), which JSON has no word for.
type reals []float64

// MarshalJSON writes missing numbers as null.
func (r reals) MarshalJSON() ([]byte, error) {
	out := make([]*float64, len(r))
	for k := range r {
		if !math.IsNaN(r[k]) && !math.IsInf(r[k], 0) {
			out[k] = &r[k]
		}
	}
	return json.Marshal(out)
}

// UnmarshalJSON reads null as a missing number.
func (r *reals) UnmarshalJSON(b []byte) error {
	var in []*float64
	if err := json.Unmarshal(b, &in); err != nil {
		return err
	}
	*r = make(reals, len(in))
	for k, x := range in {
		if (*r)[k] = math.NaN(); x != nil {
			(*r)[k] = *x
		}
	}
	return nil
}

// unit is a piece of an experiment.
type unit struct {
	key string // what it is, in words
	run func() (figures, error)
}

// results are the figures of units by their keys.
type results map[string]figures

// sample collects one number of several units, in the order of their keys.
func (r results) sample(name string, k int, keys ...string) (out sample) {
	for _, key := range keys {
		x := math.NaN()
		if f := r[key][name]; k < len(f) {
			x = f[k]
		}
		out = append(out, x)
	}
	return out
}

// experiment plans units and says what their figures mean.
type experiment struct {
	about string
	seeds int // where the scenario does not say
	plan  func(s *Scenario, cfg Config) ([]unit, func(r results) (report.Section, error), error)
}

// experiments by the names that scenarios call them.
var experiments map[string]experiment

func init() { // the table names functions that read it
	experiments = map[string]experiment{
		"worlds":      {"strategies in made worlds, as shares of what full knowledge could reach", 10, planWorlds},
		"bandwidth":   {"the patent: its examples, how often its procedure gets stuck, its rule in the scheduler, what order of probes does", 6, planBandwidth},
		"packing":     {"the need found by running the allocation, then the cost curves; working nodes first against any node", 10, planPacking},
		"feedback":    {"completion rates over time; gains by moving, modifying and recycling, beside what would have been without", 6, planFeedback},
		"policies":    {"what assignment, modification and recycling bring, switched on one after another", 20, planPolicies},
		"market":      {"the worked example, and crawling with and without the market", 48, planMarket},
		"coordinates": {"accuracy by dimensions and landmarks over draws, errors, and a map", 8, planCoordinates},
		"throughput":  {"megabytes over time of random, nearest and three nearest nodes, of all sites and of one, and what measuring costs", 10, planThroughput},
		"volatile":    {"a network that changes: which model predicts what was left out", 24, planVolatile},
	}
}

func experimentNames() []string { return slices.Sorted(maps.Keys(experiments)) }

// quickDraws is how many seeds a quick run has.
const quickDraws = 3

// RunScenarios runs scenarios one after the other and returns their sections, which it also prints to cfg.Out.
func RunScenarios(ctx context.Context, cfg Config, all []Scenario) ([]report.Section, error) {
	keep, err := openStore(cfg.Results)
	if err != nil {
		return nil, err
	}
	defer keep.close()
	type planned struct {
		s      *Scenario
		id     string
		units  []unit
		finish func(r results) (report.Section, error)
	}
	var plans []planned
	left, had := 0, 0
	for i := range all {
		s := all[i]
		s.Seeds = orDefault(s.Seeds, experiments[s.Experiment].seeds)
		if cfg.Seeds > 0 {
			s.Seeds = cfg.Seeds
		} else if cfg.Quick {
			s.Seeds = min(s.Seeds, quickDraws)
		}
		units, finish, err := experiments[s.Experiment].plan(&s, cfg)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", s.Name, err)
		}
		id := s.id(cfg)
		for _, u := range units {
			if keep.has(id, u.key) {
				had++
			} else {
				left++
			}
		}
		plans = append(plans, planned{&s, id, units, finish})
	}
	p := cfg.progress(left)
	if p.w != nil && had > 0 {
		fmt.Fprintf(p.w, "%d results are there from before\n", had)
	}
	var jobs []piece
	for _, pl := range plans {
		for _, u := range pl.units {
			jobs = append(jobs, piece{pl.s.Name, pl.id, u})
		}
	}
	if err := runUnits(ctx, jobs, keep, p); err != nil {
		return nil, err
	}
	var out []report.Section
	for _, pl := range plans {
		got := results{}
		for _, u := range pl.units {
			got[u.key] = keep.got[stored{Scenario: pl.id, Unit: u.key}]
		}
		sec, err := pl.finish(got)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", pl.s.Name, err)
		}
		sec.Title, sec.About = orDefault(pl.s.Title, orDefault(sec.Title, pl.s.Name)), orDefault(pl.s.About, sec.About)
		if err := sec.Text(cfg.Out); err != nil {
			return nil, err
		}
		out = append(out, sec)
	}
	return out, nil
}

// id tells a scenario from others of its name: results of one that was edited are not those of this one.
func (s *Scenario) id(cfg Config) string {
	same := *s
	same.Seeds, same.Title, same.About = 0, "", ""
	b, err := json.Marshal(same)
	if err != nil {
		return s.Name // it holds plain values
	}
	h := fnv.New64a()
	_, _ = h.Write(append(b, cfg.Data...))
	return fmt.Sprintf("%s %x", s.Name, h.Sum64())
}

// piece is a unit of a scenario.
type piece struct {
	name, id string
	unit
}

// sort is what a unit is, but for its seed: units of one sort take about as long.
func (j piece) sort() string {
	what, _, _ := strings.Cut(j.key, "seed ")
	return j.id + " " + what
}

// runUnits runs those units that are not had yet: first one of each sort, which says how long the rest takes, then the rest.
func runUnits(ctx context.Context, jobs []piece, keep *store, p *progress) error {
	var pilots, rest []piece
	took := map[string]float64{} // seconds, of a unit of each sort
	for _, j := range jobs {
		if keep.has(j.id, j.key) {
			continue
		}
		if _, known := took[j.sort()]; known {
			rest = append(rest, j)
		} else {
			took[j.sort()] = 0
			pilots = append(pilots, j)
		}
	}
	if p.w != nil && p.left > 0 {
		fmt.Fprintf(p.w, "%s; one of each of %s first, to tell how long the others take\n", several(p.left, "run"), several(len(pilots), "sort"))
	}
	var mu sync.Mutex
	all := func(jobs []piece) error {
		g, ctx := errgroup.WithContext(ctx)
		g.SetLimit(runtime.GOMAXPROCS(0))
		for _, j := range jobs {
			g.Go(func() error {
				if err := ctx.Err(); err != nil {
					return err
				}
				began := time.Now()
				f, err := j.run()
				if err != nil {
					return fmt.Errorf("%s, %s: %w", j.name, j.key, err)
				}
				mu.Lock()
				took[j.sort()] = time.Since(began).Seconds()
				mu.Unlock()
				p.did(j.name, j.key, time.Since(began))
				return keep.take(j.id, j.key, f)
			})
		}
		return g.Wait()
	}
	defer p.end()
	if err := all(pilots); err != nil || len(rest) == 0 {
		return err
	}
	left := 0.0
	for _, j := range rest {
		left += took[j.sort()]
	}
	p.end()
	if p.w != nil {
		procs := runtime.GOMAXPROCS(0)
		fmt.Fprintf(p.w, "%s left, about %s on %s\n", several(len(rest), "run"), roughly(time.Duration(left*float64(time.Second)/float64(procs))), several(procs, "processor"))
	}
	return all(rest)
}

// stored names a result.
type stored struct {
	Scenario string `json:"scenario"`
	Unit     string `json:"unit"`
}

// store keeps results in a file as they come; without a file, in memory.
type store struct {
	mu  sync.Mutex
	f   *os.File
	got map[stored]figures
}

type storedLine struct {
	stored
	Figures figures `json:"figures"`
}

// openStore reads what is kept in a file and opens it to add to it (openResults). Results of a comparison of strategies are refused.
func openStore(name string) (*store, error) {
	s := &store{got: map[stored]figures{}}
	if name == "" {
		return s, nil
	}
	f, err := openResults(name, func(line []byte) error {
		var l storedLine
		if err := json.Unmarshal(line, &l); err != nil || l.Scenario == "" {
			return errors.New("not a result of a scenario")
		}
		s.got[l.stored] = l.Figures
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.f = f
	return s, nil
}

func (s *store) has(scenario, key string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, ok := s.got[stored{scenario, key}]
	return ok
}

func (s *store) take(scenario, key string, f figures) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := stored{scenario, key}
	s.got[at] = f
	if s.f == nil {
		return nil
	}
	b, err := json.Marshal(storedLine{at, f})
	if err == nil {
		_, err = s.f.Write(append(b, '\n'))
	}
	return err
}

func (s *store) close() {
	if s.f != nil {
		_ = s.f.Close() // every line is written as it comes
	}
}
