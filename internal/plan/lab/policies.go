package lab

import (
	"fmt"

	"argosy/internal/plan/report"
	"argosy/internal/plan/schedule"
	"argosy/internal/plan/sim"
	"argosy/internal/plan/split"
	"argosy/internal/plan/strategy"
)

// policySteps are the three policies switched on one after another, and beside them random placement and the bare rule with all else on.
// The last step is told the true figures of all pairs, as they change: what it has more than the third is the price of learning them.
var policySteps = []struct {
	name, spec                  string
	modifies, recycles, knowing bool
}{
	{"none: random placement", "random", false, false, false},
	{"+ assignment (" + split.Strategy + ")", split.Strategy, false, false, false},
	{"+ modification", split.Strategy, true, false, false},
	{"+ recycling", split.Strategy, true, true, false},
	{"random placement, and recycling", "random", false, true, false},
	{"the bare rule (feedback), modification and recycling", "feedback", true, true, false},
	{"all three, true figures told", split.Strategy, true, true, true},
}

// runPolicies runs one of the steps: the share of pages that was had, and the 95th percentile of latency in seconds.
func runPolicies(f Feedback, seed uint64, k int) (figures, error) {
	w, step := feedbackWorld(f, seed), policySteps[k]
	w.Modify = step.modifies
	if !step.recycles {
		w.Recycle = schedule.DefaultRecycle()
		w.Recycle.After = unrecycled
	}
	st, err := strategy.New(step.spec)
	if err != nil {
		return nil, err
	}
	r, err := sim.RunBound(w, st, 0, step.knowing)
	if err != nil {
		return nil, err
	}
	return figures{"run": {r.Completed / r.Asked, r.P95}}, nil
}

// policyUnits runs each of the steps in the world of a seed.
func policyUnits(f Feedback, seed uint64) (out []unit) {
	for k := range policySteps {
		out = append(out, unit{policyUnit(k, seed), func() (figures, error) { return runPolicies(f, seed, k) }})
	}
	return out
}

// policySeed is the seed of a world: of those that publish without the first, which was looked at when the world was made.
func policySeed(k int) uint64 { return Publish.seed(k + 1) }

func policyUnit(k int, seed uint64) string { return fmt.Sprintf("policies %d, seed %d", k, seed) }

// planPolicies is the three policies alone, which a large fleet takes less time for than all of the feedback paper.
func planPolicies(s *Scenario, _ Config) ([]unit, func(r results) (report.Section, error), error) {
	f := s.Feedback
	var units []unit
	for k := range s.Seeds {
		units = append(units, policyUnits(f, policySeed(k))...)
	}
	return units, func(r results) (report.Section, error) {
		return report.Section{Title: "Three policies", Tables: []report.Table{policiesTable(s, r)}}, nil
	}, nil
}

// policiesTable shows what each step has gained, seed by seed.
func policiesTable(s *Scenario, r results) report.Table {
	t := report.Table{
		Caption: "The policies, switched on one after another in the same worlds (means with 95 % intervals over seeds)",
		Head:    []string{"policies", "pages had, of those asked for", "gain over the line before", "times random placement", "95th percentile of latency, s", "shorter than the line before by, s"},
	}
	of := func(figure, k int) sample {
		var keys []string
		for i := range s.Seeds {
			keys = append(keys, policyUnit(k, policySeed(i)))
		}
		return r.sample("run", figure, keys...)
	}
	random := of(0, 4)
	for k, step := range policySteps {
		gain, shorter := "", ""
		if k > 0 && k < 4 {
			gain, shorter = of(0, k).less(of(0, k-1)).text(4), of(1, k-1).less(of(1, k)).text(1)
		}
		t.Rows = append(t.Rows, []string{step.name, of(0, k).text(3), gain, of(0, k).over(random).text(2), of(1, k).text(1), shorter})
	}
	return t
}
