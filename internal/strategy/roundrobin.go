package strategy

import "argosy/internal/schedule"

// newRoundRobin is the baseline that spreads tasks evenly: each goes, first in, first out, to the node that holds the
// fewest for its size, in the order of their ids among equals.
func newRoundRobin(c Config) (schedule.Strategy, error) {
	if err := unknown("roundrobin", c); err != nil {
		return nil, err
	}
	return schedule.Composition{
		Preset:  "roundrobin",
		Filters: []schedule.Filter{schedule.NotDraining, schedule.NotRecalled},
		Cost: schedule.Cost{Name: "load", Of: func(_ *schedule.Snapshot, _ *schedule.Task, n *schedule.Node, load int) float64 {
			return float64(load+1) / float64(n.Capacity)
		}},
		Solver: schedule.Greedy,
	}, nil
}
