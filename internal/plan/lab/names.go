package lab

import (
	"fmt"

	"argosy/internal/plan/schedule"
	"argosy/internal/plan/sim"
)

// CheckNames refuses strategies that go by nodes or by a label which a world that they would run in does not have.
func CheckNames(cfg Config) error {
	kinds, err := chosen(cfg)
	if err != nil {
		return err
	}
	for _, spec := range cfg.Strategies {
		for _, k := range kinds {
			if err := lives(spec, func() (sim.World, error) { return k.World(cfg.Half.seed(0)), nil }); err != nil {
				return fmt.Errorf("%w, in worlds of the kind %s", err, k.Name)
			}
		}
	}
	return nil
}

// checkNames does so for a scenario.
func (s *Scenario) checkNames() error {
	for _, spec := range s.Strategies {
		for _, x := range orSlice(s.Vary.Values, []float64{0}) {
			err := lives(spec, func() (sim.World, error) {
				if s.Experiment == "throughput" {
					return sim.Throughput(sim.China(s.Throughput.Sites, s.Throughput.Spread, 0), s.Throughput.Capacity, 1, 0), nil
				}
				terms, err := s.World.terms()
				if err == nil && s.Vary.Term != "" {
					terms, err = s.varied(x)
				}
				return sim.Made(terms, 0), err
			})
			if err != nil {
				return fmt.Errorf("strategies: %w", err)
			}
		}
	}
	return nil
}

// lives refuses a strategy in a world without what it names. The world is made only where it names anything.
func lives(spec string, world func() (sim.World, error)) error {
	st, _, err := named(spec)
	if err != nil {
		return err
	}
	if c, ok := st.(schedule.Composition); !ok || c.Label == "" && len(c.Wants.Landmark.Given) == 0 {
		return nil
	}
	w, err := world()
	if err != nil {
		return err
	}
	return schedule.CheckNames(st, nil, w.Fleet(), true)
}
